/* SPDX-License-Identifier: BSD-3-Clause */
/* err.h: what went wrong, in words, kept for the thread until somebody prints it.
 *
 * The deepest layer that decides an error records it; the layers above pass the code on.  The text says the
 * value and what was expected; call, communicator, rank and host are added by the one who prints. */
#ifndef KU_ERR_H
#define KU_ERR_H

struct ku_err {
    int code;       /* as passed to ku_err_set; 0 when nothing is recorded */
    char arg[32];   /* name of the argument at fault, "" if none */
    char text[240]; /* "is 7; expected 0 to 3 or MPI_PROC_NULL" */
};

/* Record and return `code`.  arg may be NULL. */
int ku_err_set(int code, const char *arg, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* This thread's record; never NULL. */
struct ku_err *ku_err_last(void);
void ku_err_clear(void);

#endif
