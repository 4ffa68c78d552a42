/* SPDX-License-Identifier: BSD-3-Clause */
/* callback.h: entering the library where the process may have several threads, and functions of the program that
 * the library calls. */
#ifndef MPIR_CALLBACK_H
#define MPIR_CALLBACK_H

#include <stdbool.h>
#include "env.h"

/* A procedure begins, and MPIR_PLAIN does not hold.  Nonzero: it has the device lock.  A thread that calls though
 * the level does not allow it is told of. */
int MPIR_Enter(void);
/* The same of a procedure that any thread may call at every level.  `always`: it takes the lock whatever the
 * levels are. */
int MPIR_Enter_silently(bool always);
void MPIR_Leave_silently(void);

/* Around a function of the program that the library calls in the middle of a procedure.  That may make the first
 * thread besides its own, which may call MPI before the procedure ends.  So a procedure that has begun without the
 * lock has it meanwhile, and if there are threads then, to its end (front_leave). */
bool MPIR_Callback_claim(void);
void MPIR_Callback_disclaim(void);
static inline bool MPIR_Callback_begin(void)
{
    return !MPIR_ENV(threaded) && MPIR_Callback_claim();
}
static inline void MPIR_Callback_end(bool claimed)
{
    if (claimed)
        MPIR_Callback_disclaim();
}

#endif
