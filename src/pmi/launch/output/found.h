/* SPDX-License-Identifier: BSD-3-Clause */
/* found.h: the faults that ranks have found in their program (mpiexec -check): shown once, counted, and summed up. */
#ifndef FOUND_H
#define FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/faults.h"

struct launch;
void found_init(const struct launch *l);

/* A rank's record: a fault (PMI_FAULT), or how often it has met one so far (PMI_TIMES). */
void found_take(int rank, const char *bytes, size_t len);
void found_times(int rank, const char *bytes, size_t len);

/* So many ranks or, of a fault, so many times: "ranks 0-2, 5". */
struct fault_ranks {
    unsigned char *bits;
    int n;
};

/* What was found: distinct by kind, call and places. */
struct found {
    struct found *next;
    enum ku_fault_kind kind;
    char *call, *argument, *here, *there;
    char *text;    /* the first rank's */
    int texts;     /* how many different ones were shown */
    int64_t times; /* in all ranks */
    struct fault_ranks ranks;
};
const struct found *found_all(void);

/* What mpiexec itself has found of a rank's call, and shows in another way; place: "" if it is not known. */
void found_own(enum ku_fault_kind kind, int rank, const char *call, const char *place, const char *text);

/* No more ranks: what is to be said at the end, and the summary, where there is something to sum up.  True: the
 * exit code is to tell of errors. */
bool found_end(void);

/* found_write.c: write the files of -check-output.  code: the job's exit code; -1: it begins.  False: one could
 * not be written, which has been said. */
bool found_write(const struct launch *l, int code);
bool found_format(const char *suffix);

/* suppress.c: read a file of faults that are not to be told.  What is wrong with it, to be freed; NULL: nothing. */
char *suppress_read(const char *file);
/* Is it one that is not to be told?  Tell the lines that nothing has fitted. */
bool suppressed(int rank, const struct ku_fault_words *f);
void suppress_unused(void (*tell)(const char *place, const char *text));

#endif
