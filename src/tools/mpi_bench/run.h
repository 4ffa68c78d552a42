/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h: what the parts of mpi_bench that are no tests have in common. */
#ifndef MPI_BENCH_RUN_H
#define MPI_BENCH_RUN_H

#include <stddef.h>

enum { BLOCKS = 5, MOST_NUMBERS = 128 };
enum format { TABLE, CSV, JSON };

struct numbers {
    long of[MOST_NUMBERS];
    int n;
};

struct options {
    enum format format;
    const char *output, *label;
    double time, limit; /* seconds a point; seconds of the run, 0: no limit */
    size_t memory;      /* bytes of the buffers of a rank */
    struct numbers bytes, depths;
    int apart; /* all ranks begin at one time each round of a test in which all take part */
    int list, help, version;
    char **words; /* what to run; ends with NULL; none: all */
};
extern struct options opt;

/* 0, or why the arguments are wrong. */
const char *read_options(int argc, char **argv);
extern const char usage[];

/* What a call in which all take part takes from its first rank's beginning to its last one's end; the ranks begin
 * at one time. The same on all ranks. */
double seconds_apart(void (*call)(long n), long n);

int make_room(size_t bytes);
void free_room(void);

/* On rank 0; 0 if the file cannot be written. */
int open_output(void);
int close_output(void);
int reported(void); /* how many figures */

#endif
