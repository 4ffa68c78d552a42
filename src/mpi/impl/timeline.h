/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h: what each rank did when, in a file for a viewer (KEEL_TRACE, mpiexec -trace). */
#ifndef MPIR_TIMELINE_H
#define MPIR_TIMELINE_H

/* When the library comes up: listen, if the user wants to know; and when it ends. */
void MPIR_Timeline_begin(void);
void MPIR_Timeline_end(void);

#endif
