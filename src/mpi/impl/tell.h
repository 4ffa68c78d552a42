/* SPDX-License-Identifier: BSD-3-Clause */
/* tell.h: how a check tells of a fault.
 *
 * Each distinct fault (its kind, its call and both places) is told to mpiexec once, when it is found first, and
 * counted from then on; mpiexec puts the ranks together, and writes the summary (src/pmi/launch). */
#ifndef MPIR_TELL_H
#define MPIR_TELL_H

#include <stdbool.h>
#include <stdint.h>
#include "util/faults.h"

/* Does the user want to know of this kind?  A check of which no kind is wanted need not look. */
bool MPIR_Check_wants(enum ku_fault_kind kind);

/* Are standard sends to wait for their receives? */
bool MPIR_Check_strict(void);

/* The call ("MPI_Send") at `here` (MPID_Caller; 0: no place) has the fault.  argument: the one that is wrong, by
 * its name in the standard; NULL: none.  there: the place of the other call that has part in it, for formats with
 * places; 0: none, or it is not in this process.  The words say what is wrong, with values, without the call and
 * `here`, which are shown before them; MPID_PLACE in them is another place.  A kind that is not wanted is passed
 * over.  From any thread. */
void MPIR_Check_tell(enum ku_fault_kind kind, const char *call, const char *argument, uint64_t here,
                     uint64_t there, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The same of what has words of its own: it is counted, and shown by them. */
void MPIR_Check_note(enum ku_fault_kind kind, const char *call, const char *argument, uint64_t here,
                     const char *text);

/* KEEL_CHECK is read; false: nothing is to be looked for. */
bool MPIR_Check_tell_begin(void);
/* The faults so far are counted out to mpiexec, and forgotten. */
void MPIR_Check_tell_end(void);

#endif
