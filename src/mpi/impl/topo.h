/* SPDX-License-Identifier: BSD-3-Clause */
/* topo.h: the virtual topology of a communicator (chapter 9), as other chapters meet it. */
#ifndef MPIR_TOPO_H
#define MPIR_TOPO_H

#include "comm.h"

/* MPIR_Comm.topo: never changed once the communicator has it.  A duplicate has the same object; NULL is passed on. */
struct MPIR_Topo *MPIR_Topo_share(struct MPIR_Topo *topo);
void MPIR_Topo_release(struct MPIR_Topo *topo);

/* The neighbors of this process in the order of 9.6, as the neighborhood collectives see them: in a Cartesian
 * topology first the one below and then the one above in each dimension, MPI_PROC_NULL where there is none; in a
 * graph topology the same list twice.  In a periodic dimension of one or two processes both neighbors are the same
 * process: what goes up to it is what it gets from below.  Arrays of so many ranks as MPIR_Topo_degrees says;
 * NULL: not wanted. Without a topology: MPI_ERR_TOPOLOGY, recorded. */
int MPIR_Topo_degrees(const MPIR_Comm *comm, int *indegree, int *outdegree);
int MPIR_Topo_neighbors(const MPIR_Comm *comm, int *sources, int *destinations);
/* Is it a Cartesian one? */
bool MPIR_Topo_is_grid(const MPIR_Comm *comm);

#endif
