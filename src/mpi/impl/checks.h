/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.h: is a program right where no error code can tell (KEEL_CHECK, mpiexec -check)? */
#ifndef MPIR_CHECKS_H
#define MPIR_CHECKS_H

/* Does the user want to know?  Then calls are looked at (a listener, mpid_listen.h).  When the library comes up, and when it ends. */
void MPIR_Check_begin(void);
void MPIR_Check_end(void);

#endif
