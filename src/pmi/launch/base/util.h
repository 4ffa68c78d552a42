/* SPDX-License-Identifier: BSD-3-Clause */
/* util.h: what every room of mpiexec uses: exit codes, memory, messages, descriptors, time. */
#ifndef LAUNCH_UTIL_H
#define LAUNCH_UTIL_H

#include <stddef.h>

/* Exit codes of mpiexec's own making (those of env(1), timeout(1) and the shell). */
enum {
    EXIT_HANG = 122,          /* the job hung, and was ended for it */
    EXIT_NOT_FINALIZED = 123, /* a rank exited with 0 between MPI_Init and MPI_Finalize */
    EXIT_TIMEOUT = 124,
    EXIT_MPIEXEC = 125,   /* mpiexec itself failed, or its command line is wrong */
    EXIT_FAULTS = 125,    /* -check has found errors in a program that ended with 0 */
    EXIT_NOT_EXEC = 126,  /* the program was found but cannot be executed */
    EXIT_NOT_FOUND = 127, /* there is no such program */
};

/* Memory that does not fail (mpiexec ends the job and exits with EXIT_MPIEXEC), and saying so. */
void *xalloc(size_t n, size_t size);
void *xgrow(void *p, size_t n, size_t size);
char *xformat(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* "mpiexec: ...\n" on stderr */
_Noreturn void die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2))); /* say, end all descendants, exit */
const char *plural(long n);                /* "s", or "" for 1 */
enum {
    GRACE_SECONDS = 2
};                /* that processes of the job have after SIGTERM or the user's signal, before SIGKILL */
double now(void); /* seconds, monotonic */
int milliseconds(double seconds); /* for poll: at least 0, at most 12 days */

/* The same descriptor as one out of the way of what scripts do with theirs, or as one not below `from`;
 * close-on-exec. */
int high_fd(int fd);
int fd_from(int fd, int from);

#endif
