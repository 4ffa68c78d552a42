/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.h: is a program right where no error code can tell (KEEL_CHECK, mpiexec -check)? */
#ifndef MPIR_CHECKS_H
#define MPIR_CHECKS_H

/* Does the user want to know?  Then calls are looked at (a listener, mpid_listen.h).  When the library comes up,
 * and when it ends. */
void MPIR_Check_begin(void);
void MPIR_Check_end(void);

/* An error of the call is about to end the job: what other ranks say of it is looked at first. */
void MPIR_Check_before_end(const char *call);

/* Of a message: " (MPI_Send, file.c:9 (main))", the call that has sent it and its place, as its sender has said
 * (mpid_listen.h); to be freed.  NULL: without memory. */
struct MPID_Note;
char *MPIR_Check_sender(const struct MPID_Note *note);

#endif
