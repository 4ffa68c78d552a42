/* SPDX-License-Identifier: BSD-3-Clause */
/* process_topology.h: the topology object, and what the files of this folder share. */
#ifndef TOPO_TOPOLOGY_H
#define TOPO_TOPOLOGY_H

#include <stdbool.h>
#include "comm.h"
#include "mpi_err.h"

/* One allocation with its arrays; duplicates of a communicator share it. */
typedef struct MPIR_Topo {
    int refs;
    int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    union {
        struct {
            int ndims;
            int *dims, *periods; /* [ndims]; periods are 0 or 1 */
        } cart;
        struct {
            int nodes, nedges;
            int *index, *edges; /* as MPI_Graph_create got them */
        } graph;
        struct {
            int in, out; /* edges into and out of this process */
            bool weighted;
            int *sources, *source_weights, *destinations, *dest_weights; /* weights: only if weighted */
        } dist;
    };
    int data[];
} MPIR_Topo;

/* An object with room for n ints in data[]; NULL without memory (recorded). */
MPIR_Topo *MPIR_Topo_alloc(int kind, size_t n);

/* comm's topology of this kind; NULL if it has none (MPI_ERR_TOPOLOGY, recorded). */
const MPIR_Topo *MPIR_Topo_of(const MPIR_Comm *comm, int kind);

/* A graph topology's node: its n neighbors. */
static inline const int *topo_list(const MPIR_Topo *t, int node, int *n)
{
    int first = node ? t->graph.index[node - 1] : 0;
    *n = t->graph.index[node] - first;
    return t->graph.edges + first;
}

/* The ranks `disp` below and above this process in a dimension of comm's Cartesian topology, or MPI_PROC_NULL. */
void MPIR_Cart_around(const MPIR_Comm *comm, int dim, int disp, int *below, int *above);

/* ---- Constructors (topo.c) ------------------------------------------------------------------------------------- */

/* An argument that must be the same on all processes: its name, and a digest of its value. */
struct topo_same {
    const char *arg;
    uint32_t digest;
};
uint32_t MPIR_Topo_digest(const int *values, int64_t n);

/* The largest of each of n values; an error of one process (err) is one of all. */
enum { TOPO_SAME_MOST = 6, TOPO_VALUES_MOST = 2 * TOPO_SAME_MOST };
int MPIR_Topo_largest(MPIR_Comm *comm, int err, uint32_t *values, int n);
/* Before anything else is exchanged: an error of one process is one of all, and arguments that differ are, too. */
int MPIR_Topo_agree(MPIR_Comm *comm, int err, const struct topo_same *same, int n);

/* A communicator of comm's processes order[0 .. size - 1] (NULL: its first `size`) with the topology, which is
 * taken over, also on an error.  err: what this process has met so far.  Collective. */
int MPIR_Topo_create(MPIR_Comm *comm, int32_t size, const int32_t *order, MPIR_Topo *topo, int err,
                     MPIR_Comm **newcomm);

/* Errors of arguments, recorded: a NULL array of n > 0 elements; MPI_ERR_ARG. */
int MPIR_Topo_check_array(const void *array, int64_t n, const char *arg);
/* A number below 0; MPI_ERR_ARG. */
int MPIR_Topo_check_count(int64_t n, const char *arg);
int MPIR_Topo_no_memory(void);

#endif
