/* SPDX-License-Identifier: BSD-3-Clause */
/* parent.h: the processes that spawned this job (src/mpi/spawn). */
#ifndef MPIR_PARENT_H
#define MPIR_PARENT_H

struct MPIR_Comm;

/* What MPI_Comm_get_parent returns; NULL: there is none, or the program has freed it. */
extern struct MPIR_Comm *MPIR_Comm_parent;

/* MPI_Init, when everything else works: a spawned job's processes, together, connect to their parents.  An error
 * class. */
int MPIR_Parent_meet(void);
/* Processes of other jobs have been disconnected: jobs that this process has spawned, and that no process of it
 * knows any more, are independent. */
void MPIR_Spawn_parted(void);
/* MPI_Finalize: ports and published names that are left. */
void MPIR_Spawn_end(void);

#endif
