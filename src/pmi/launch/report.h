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

void report_init(int nranks, const char *host);

/* A rank's message (PMI_MESSAGE, PMI_ABORT): kept until report_flush, equal texts of several ranks become
 * one. */
void report_text(int rank, const char *text, size_t len);

/* A rank ended badly by itself. `mpi`: between init and finalize. */
void report_failure(int rank, enum failure_kind kind, int value, bool core, bool mpi, pid_t pid,
                    const char *program);

/* The user sent `sig`: that ranks died of it is no news. */
void report_forget(int sig);

/* Seconds (now()) at which report_flush is due, or 0 if nothing waits. */
double report_due(void);

/* Show all that was kept. */
void report_flush(void);

#endif
