/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c: graph topologies: every process passes the whole graph, and keeps it, as all of it can be asked for. */
#include "topo.h"
#include "process_topology.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "remap.h"

/* ---- Graphs as arguments --------------------------------------------------------------------------------------- */

/* indx[i] is where node i's neighbors end in edges[]. */
static int check_index(int nnodes, const int *indx)
{
    for (int i = 0; i < nnodes; i++)
        if (indx[i] < (i ? indx[i - 1] : 0))
            return MPIR_Err(MPI_ERR_ARG, "index",
                            "has %d at index %d; expected at least %d: it counts the neighbors so far",
                            indx[i], i, i ? indx[i - 1] : 0);
    return 0;
}

static int check_graph(const MPIR_Comm *comm, int nnodes, const int *indx, const int *edges)
{
    int err;
    if (nnodes < 0 || nnodes > comm->adi.size)
        return MPIR_Err(MPI_ERR_ARG, "nnodes", "is %d; expected 0 to %d, the size of the communicator",
                        nnodes, comm->adi.size);
    if ((err = MPIR_Topo_check_array(indx, nnodes, "index")) || (err = check_index(nnodes, indx)))
        return err;
    int nedges = nnodes ? indx[nnodes - 1] : 0;
    if ((err = MPIR_Topo_check_array(edges, nedges, "edges")))
        return err;
    for (int i = 0; i < nedges; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return MPIR_Err(MPI_ERR_ARG, "edges", "has %d at index %d; expected a node, 0 to %d", edges[i], i,
                            nnodes - 1);
    return 0;
}

static int make_graph(int nnodes, const int *indx, const int *edges, MPIR_Topo **topo)
{
    int nedges = nnodes ? indx[nnodes - 1] : 0;
    MPIR_Topo *t = *topo = MPIR_Topo_alloc(MPI_GRAPH, (size_t)nnodes + (size_t)nedges);
    if (!t)
        return MPI_ERR_NO_MEM;
    t->graph.nodes = nnodes;
    t->graph.nedges = nedges;
    t->graph.index = t->data;
    t->graph.edges = t->data + nnodes;
    if (nnodes)
        memcpy(t->graph.index, indx, (size_t)nnodes * sizeof *indx);
    if (nedges)
        memcpy(t->graph.edges, edges, (size_t)nedges * sizeof *edges);
    return 0;
}

/* ---- Constructors ---------------------------------------------------------------------------------------------- */

int MPIR_Graph_create(MPIR_Comm *comm_old, int nnodes, const int *indx, const int *edges, int reorder,
                      MPIR_Comm **comm_graph)
{
    MPIR_Topo *t = NULL;
    int32_t *order = NULL;
    int err = MPIR_Comm_check_intra(comm_old);
    if (err)
        return err;
    err = check_graph(comm_old, nnodes, indx, edges);
    if (!err)
        err = make_graph(nnodes, indx, edges, &t);
    const struct topo_same same[] = { { "nnodes", (uint32_t)nnodes },
                                      { "index", t ? MPIR_Topo_digest(t->graph.index, nnodes) : 0 },
                                      { "edges", t ? MPIR_Topo_digest(t->graph.edges, t->graph.nedges) : 0 },
                                      { "reorder", reorder != 0 } };
    err = MPIR_Topo_agree(comm_old, err, same, 4);
    if (err) {
        MPIR_Topo_release(t);
        return err;
    }
    if (reorder)
        err = MPIR_Remap(comm_old, t, nnodes, &order);
    err = MPIR_Topo_create(comm_old, nnodes, order, t, err, comm_graph);
    free(order);
    return err;
}

int MPIR_Graph_map(MPIR_Comm *comm, int nnodes, const int *indx, const int *edges, int *newrank)
{
    MPIR_Topo *t = NULL;
    int err = MPIR_Comm_check_intra(comm);
    if (!err)
        err = check_graph(comm, nnodes, indx, edges);
    if (!err)
        err = make_graph(nnodes, indx, edges, &t);
    if (!err)
        err = MPIR_Remap_own(comm, t, nnodes, newrank);
    MPIR_Topo_release(t);
    return err;
}

/* ---- Inquiry --------------------------------------------------------------------------------------------------- */

int MPIR_Graphdims_get(MPIR_Comm *comm, int *nnodes, int *nedges)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_GRAPH);
    if (!t)
        return MPI_ERR_TOPOLOGY;
    *nnodes = t->graph.nodes;
    *nedges = t->graph.nedges;
    return 0;
}

/* room for n elements of `what` in the caller's array? */
static int check_room(const int *array, const char *arg, int room, const char *room_arg, int n)
{
    if (room < n)
        return MPIR_Err(MPI_ERR_ARG, room_arg, "is %d; expected at least %d, so many as there are", room, n);
    return MPIR_Topo_check_array(array, n, arg);
}

int MPIR_Graph_get(MPIR_Comm *comm, int maxindex, int maxedges, int *indx, int *edges)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_GRAPH);
    int err;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    if ((err = check_room(indx, "index", maxindex, "maxindex", t->graph.nodes)) ||
        (err = check_room(edges, "edges", maxedges, "maxedges", t->graph.nedges)))
        return err;
    memcpy(indx, t->graph.index, (size_t)t->graph.nodes * sizeof *indx);
    if (t->graph.nedges)
        memcpy(edges, t->graph.edges, (size_t)t->graph.nedges * sizeof *edges);
    return 0;
}

int MPIR_Graph_neighbors_count(MPIR_Comm *comm, int rank, int *nneighbors)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_GRAPH);
    if (!t)
        return MPI_ERR_TOPOLOGY;
    topo_list(t, rank, nneighbors);
    return 0;
}

int MPIR_Graph_neighbors(MPIR_Comm *comm, int rank, int maxneighbors, int *neighbors)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_GRAPH);
    int n;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    const int *list = topo_list(t, rank, &n);
    if (maxneighbors < n) /* an array that is too short gets what it holds, as of other libraries */
        n = maxneighbors > 0 ? maxneighbors : 0;
    int err = MPIR_Topo_check_array(neighbors, n, "neighbors");
    if (!err && n)
        memcpy(neighbors, list, (size_t)n * sizeof *list);
    return err;
}
