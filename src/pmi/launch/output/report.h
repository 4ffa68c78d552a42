/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h: what mpiexec says about ranks: their messages, merged, and how they ended. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <sys/types.h>

enum failure_kind {
    FAILED_CODE,         /* value: the exit code */
    FAILED_SIGNAL,       /* value: the signal */
    FAILED_NOT_FINALIZED /* exit code 0 between init and finalize */
};

struct launch;
void report_init(const struct launch *l);

/* Whatever is reported is kept until report_flush; what is equal of several ranks becomes one.  `after`: the rank
 * had found another gone before, so that this may be a consequence: it is shown after the causes, and not at
 * length.
 *
 * A rank's message (PMI_MESSAGE, PMI_ABORT). */
void report_text(int rank, const char *text, size_t len, bool after);
/* The rank says what others have said and what has not been shown yet; false: none has. */
bool report_more(int rank, const char *text, size_t len);
/* "rank 3" or "ranks 0-2, 5", of a set of `n` of `of` ranks, a bit each.  To be freed. */
char *rank_words(const unsigned char *bits, int n, int of);

/* A rank ended badly by itself. */
struct failure_facts {
    enum failure_kind kind;
    int value;
    bool core, mpi;  /* mpi: between init and finalize */
    bool goes_on;    /* the job does, without it */
    const char *why; /* what mpiexec knows besides (crew_why); NULL: nothing */
    const char *program;
};
void report_failure(int rank, const struct failure_facts *facts, pid_t pid, bool after);

/* A host is lost, or cannot be reached. */
void report_host(const char *name, const char *why);

/* The user sent `sig`: that ranks died of it is no news. */
void report_forget(int sig);

/* Seconds (now()) at which report_flush is due, or 0 if nothing waits. */
double report_due(void);

/* Show all that was kept. */
void report_flush(void);

/* How the lines of places begin that stand below a rank's words (hang/trace.c): the first and the others. */
#define TRACE_FIRST "\nmpiexec:   at "
#define TRACE_MORE "\nmpiexec:   called from "

#endif
