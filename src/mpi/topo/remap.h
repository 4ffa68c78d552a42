/* SPDX-License-Identifier: BSD-3-Clause */
/* remap.h: which process gets which rank of a new communicator, so that neighbors are near each other. */
#ifndef TOPO_REMAP_H
#define TOPO_REMAP_H

#include "fit.h"
#include "process_topology.h"

/* Ranks 0 to n - 1 of a communicator with the topology, a grid or a graph, for the first n processes of comm:
 * (*order)[r] is the one that gets rank r; *order is to be freed, NULL if each keeps its own.  Collective. */
int MPIR_Remap(MPIR_Comm *comm, const MPIR_Topo *t, int32_t n, int32_t **order);
/* The same for all of comm, where each process knows some edges of the graph. */
int MPIR_Remap_lines(MPIR_Comm *comm, const struct fit_line *lines, int64_t nlines, int32_t **order);
/* The rank that this process would get from MPIR_Remap, or MPI_UNDEFINED; local. */
int MPIR_Remap_own(MPIR_Comm *comm, const MPIR_Topo *t, int32_t n, int *newrank);

#endif
