/* SPDX-License-Identifier: BSD-3-Clause */
/* topo.c: the topology object; making a communicator that has one; which kind it is; the neighbors of 9.6. */
#include "topo.h"
#include "process_topology.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "env.h"

/* ---- The object ------------------------------------------------------------------------------------------------ */

int MPIR_Topo_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a topology");
}

MPIR_Topo *MPIR_Topo_alloc(int kind, size_t n)
{
    MPIR_Topo *t = calloc(1, sizeof *t + n * sizeof t->data[0]);
    if (!t) {
        MPIR_Topo_no_memory();
        return NULL;
    }
    t->refs = 1;
    t->kind = kind;
    return t;
}

MPIR_Topo *MPIR_Topo_share(MPIR_Topo *topo)
{
    if (topo)
        topo->refs++;
    return topo;
}

void MPIR_Topo_release(MPIR_Topo *topo)
{
    if (topo && --topo->refs == 0)
        free(topo);
}

static const char *topo_name_of(int kind)
{
    switch (kind) {
    case MPI_CART:
        return "a Cartesian topology";
    case MPI_GRAPH:
        return "a graph topology";
    case MPI_DIST_GRAPH:
        return "a distributed graph topology";
    }
    return "no topology";
}

const MPIR_Topo *MPIR_Topo_of(const MPIR_Comm *comm, int kind)
{
    if (comm->topo && comm->topo->kind == kind)
        return comm->topo;
    MPIR_Err(MPI_ERR_TOPOLOGY, "comm", "has %s; expected a communicator with %s",
             topo_name_of(comm->topo ? comm->topo->kind : MPI_UNDEFINED), topo_name_of(kind));
    return NULL;
}

int MPIR_Topo_test(MPIR_Comm *comm, int *status)
{
    *status = comm->topo ? comm->topo->kind : MPI_UNDEFINED;
    return 0;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------- */

int MPIR_Topo_check_array(const void *array, int64_t n, const char *arg)
{
    return array || n == 0 ? 0 : MPIR_Err(MPI_ERR_ARG, arg, "is NULL; expected an address");
}

int MPIR_Topo_check_count(int64_t n, const char *arg)
{
    return n >= 0 ? 0 : MPIR_Err(MPI_ERR_ARG, arg, "is %lld; expected at least 0", (long long)n);
}

uint32_t MPIR_Topo_digest(const int *values, int64_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15ull ^ (uint64_t)n;
    for (int64_t i = 0; i < n; i++) {
        h = (h ^ (uint32_t)values[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

int MPIR_Topo_largest(MPIR_Comm *comm, int err, uint32_t *values, int n)
{
    return MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), err, values, n);
}

int MPIR_Topo_agree(MPIR_Comm *comm, int err, const struct topo_same *same, int n)
{
    uint32_t values[TOPO_VALUES_MOST];
    for (int i = 0; i < n; i++) { /* the largest and, inverted, the smallest */
        values[2 * i] = same[i].digest;
        values[2 * i + 1] = ~same[i].digest;
    }
    err = MPIR_Topo_largest(comm, err, values, 2 * n);
    for (int i = 0; i < n && !err && MPIR_ENV(check_args); i++)
        if (values[2 * i] != ~values[2 * i + 1])
            err = MPIR_Err(MPI_ERR_ARG, same[i].arg,
                           "differs between the processes; expected the same on all of them");
    return err;
}

/* ---- Making a communicator ------------------------------------------------------------------------------------- */

static int topo_group_of(MPIR_Comm *comm, int32_t size, const int32_t *order, MPIR_Group **group)
{
    if (!order && size == comm->adi.size) {
        *group = comm->group;
        MPIR_Object_ref(*group);
        return 0;
    }
    int32_t *granks = malloc((size_t)size * sizeof *granks + 1);
    if (!granks)
        return MPIR_Topo_no_memory();
    for (int32_t i = 0; i < size; i++)
        granks[i] = MPIR_Comm_grank(comm, order ? order[i] : i);
    return MPIR_Group_adopt(size, granks, group);
}

int MPIR_Topo_create(MPIR_Comm *comm, int32_t size, const int32_t *order, MPIR_Topo *topo, int err,
                     MPIR_Comm **newcomm)
{
    MPIR_Group *group = NULL;
    if (!err)
        err = topo_group_of(comm, size, order, &group);
    err = MPIR_Comm_make(comm, group, err, newcomm);
    if (group)
        MPIR_Group_release(group);
    if (!err && *newcomm)
        (*newcomm)->topo = topo;
    else
        MPIR_Topo_release(topo);
    return err;
}

/* ---- Neighbors ------------------------------------------------------------------------------------------------- */

bool MPIR_Topo_is_grid(const MPIR_Comm *comm)
{
    return comm->topo && comm->topo->kind == MPI_CART;
}

int MPIR_Topo_degrees(const MPIR_Comm *comm, int *indegree, int *outdegree)
{
    const MPIR_Topo *t = comm->topo;
    if (!t)
        return MPIR_Err(MPI_ERR_TOPOLOGY, "comm", "has no topology; expected a communicator with one");
    if (t->kind == MPI_DIST_GRAPH) {
        *indegree = t->dist.in;
        *outdegree = t->dist.out;
    } else if (t->kind == MPI_CART) {
        *indegree = *outdegree = 2 * t->cart.ndims;
    } else {
        topo_list(t, comm->adi.rank, indegree);
        *outdegree = *indegree;
    }
    return 0;
}

static void copy_ranks(int *to, const int *from, int n)
{
    if (to && n)
        memcpy(to, from, (size_t)n * sizeof *to);
}

static void grid_neighbors(const MPIR_Comm *comm, int *ranks)
{
    for (int i = 0; ranks && i < comm->topo->cart.ndims; i++)
        MPIR_Cart_around(comm, i, 1, &ranks[2 * i], &ranks[2 * i + 1]);
}

int MPIR_Topo_neighbors(const MPIR_Comm *comm, int *sources, int *destinations)
{
    const MPIR_Topo *t = comm->topo;
    int in = 0, out = 0, err = MPIR_Topo_degrees(comm, &in, &out);
    if (err)
        return err;
    if (t->kind == MPI_CART) {
        grid_neighbors(comm, sources);
        grid_neighbors(comm, destinations);
    } else if (t->kind == MPI_GRAPH) {
        const int *list = topo_list(t, comm->adi.rank, &in);
        copy_ranks(sources, list, in);
        copy_ranks(destinations, list, out);
    } else {
        copy_ranks(sources, t->dist.sources, in);
        copy_ranks(destinations, t->dist.destinations, out);
    }
    return 0;
}
