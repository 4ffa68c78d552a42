/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.h: what the programs of this folder share. */
#ifndef TEST_RMA_H
#define TEST_RMA_H

#include "check.h"

enum { RMA_KINDS = 4 };
static const char *const rma_kind[] CHECK_UNUSED = { "allocate", "create", "dynamic", "shared" };

/* A window of `bytes` bytes a process, zeroed, made in one of the ways; `disp` is what displacement 0 of each rank
 * is called (dynamic windows: the address).  False: it cannot be had here (shared memory of several nodes). */
struct rma_win {
    MPI_Win win;
    char *base;
    MPI_Aint *at;
    int unit, kind;
};

CHECK_UNUSED static int rma_one_node(MPI_Comm comm)
{
    MPI_Comm node;
    int n, size;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_size(comm, &size);
    MPI_Comm_free(&node);
    return n == size;
}

CHECK_UNUSED static int rma_open(struct rma_win *w, int kind, MPI_Aint bytes, int unit, MPI_Comm comm)
{
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    *w = (struct rma_win){ .kind = kind, .unit = kind == 2 ? 1 : unit };
    w->at = calloc((size_t)size, sizeof *w->at);
    if (kind == 0) {
        CHECK_EQ(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &w->base, &w->win), MPI_SUCCESS);
    } else if (kind == 3) {
        if (!rma_one_node(comm))
            return free(w->at), 0;
        CHECK_EQ(MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, &w->base, &w->win), MPI_SUCCESS);
    } else {
        w->base = malloc((size_t)bytes + 1);
        if (kind == 1) {
            CHECK_EQ(MPI_Win_create(w->base, bytes, unit, MPI_INFO_NULL, comm, &w->win), MPI_SUCCESS);
        } else {
            MPI_Aint mine;
            CHECK_EQ(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w->win), MPI_SUCCESS);
            CHECK_EQ(MPI_Win_attach(w->win, w->base, bytes), MPI_SUCCESS);
            MPI_Get_address(w->base, &mine);
            MPI_Allgather(&mine, 1, MPI_AINT, w->at, 1, MPI_AINT, comm);
        }
    }
    memset(w->base, 0, (size_t)bytes);
    MPI_Barrier(comm);
    return 1;
}

/* The displacement of element i of the unit. */
CHECK_UNUSED static MPI_Aint rma_at(const struct rma_win *w, int rank, MPI_Aint i, int unit)
{
    return w->kind == 2 ? w->at[rank] + i * unit : i * unit / w->unit;
}

CHECK_UNUSED static void rma_close(struct rma_win *w)
{
    if (w->kind == 2)
        CHECK_EQ(MPI_Win_detach(w->win, w->base), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_free(&w->win), MPI_SUCCESS);
    CHECK(w->win == MPI_WIN_NULL, "of a freed window");
    if (w->kind == 1 || w->kind == 2)
        free(w->base);
    free(w->at);
}

#endif
