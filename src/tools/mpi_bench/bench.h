/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h: what a test of mpi_bench is, and what it may use.
 *
 * Nothing but mpi.h and libc: the same sources compile with any MPI-3.0 library,
 *   mpicc -O2 -o mpi_bench src/tools/mpi_bench/ *.c   (without the space)
 * A test is a row of its file's table. The engine (bench_engine.c) calls, on all ranks of MPI_COMM_WORLD and for
 * each n (bytes or depth):
 * before(n); round(n) as often as fills the time of a point, in several blocks; after(n). A round that has parts
 * which do not count adds what counts to `counted` on rank 0. value(n, seconds a round) makes the figure. A test
 * whose point is more than that has `run` instead. */
#ifndef MPI_BENCH_H
#define MPI_BENCH_H

#include <mpi.h>
#include <stddef.h>

enum { WINDOW_MOST = 4096 };

enum by { BYTES, DEPTH, NOTHING }; /* what n of a test means; NOTHING: it is 0 */

struct test {
    const char *group, *name, *unit, *about;
    enum by by;
    long least; /* of n */
    int least_ranks;
    int on_demand;          /* 1: only if its own name is asked for */
    int own_clock;          /* 1: rounds add to `counted` */
    int together;           /* 1: a round is a collective call of all ranks (--apart) */
    size_t (*room)(long n); /* bytes of a and of b; NULL: n */
    void (*before)(long n);
    void (*round)(long n);
    void (*after)(long n);
    double (*value)(long n, double seconds);
    void (*run)(const struct test *t, long n);
};

struct table {
    const struct test *rows;
    int n;
};
extern const struct table pt2pt_tests, match_tests, coll_tests, overlap_tests, type_tests, part_tests;

extern int rank, size;
extern char *a, *b; /* to send from, to receive into: zeros at first */
extern int window;  /* messages under way in tests of bandwidth and rate */
extern double counted;
extern int one_side; /* derived types on rank 0 only */

/* Seconds a round, the most of all ranks: rounds enough to fill `time`, after two that do not count. The same on
 * all ranks. */
double seconds_a_round(void (*round)(long n), long n, double time, int own_clock);

/* Measures n of t with its round and prints the figure under this name. */
void point(const struct test *t, const char *name, long n);

/* Prints the median, the least and the most of values[n]. */
void report(const struct test *t, const char *name, long by, double *values, int n);

double point_time(void); /* what -t says */

/* Values of tests. */
double microseconds(long n, double seconds);
double half_microseconds(long n, double seconds);

#endif
