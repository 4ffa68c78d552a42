/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.h: the same test for the three forms of each collective: what a program calls by the blocking form's name
 * is done in the form that `form` says: at once, started and completed, or made persistent, started, completed and
 * freed. */
#ifndef FORMS_H
#define FORMS_H

#include "../check.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static enum form form CHECK_UNUSED = BLOCKING;
static MPI_Request form_request CHECK_UNUSED = MPI_REQUEST_NULL;

CHECK_UNUSED static int form_end(int err)
{
    if (err)
        return err;
    CHECK(form_request != MPI_REQUEST_NULL, "no request");
    return MPI_Wait(&form_request, MPI_STATUS_IGNORE);
}

CHECK_UNUSED static int form_run(int err)
{
    if (err)
        return err;
    CHECK(form_request != MPI_REQUEST_NULL, "no request");
    err = MPI_Start(&form_request);
    if (!err)
        err = MPI_Wait(&form_request, MPI_STATUS_IGNORE);
    MPI_Request_free(&form_request);
    return err;
}

#define FORM(now, i, init, ...) \
    (form == BLOCKING      ? now(__VA_ARGS__) \
     : form == NONBLOCKING ? form_end(i(__VA_ARGS__, &form_request)) \
                           : form_run(init(__VA_ARGS__, MPI_INFO_NULL, &form_request)))

#define MPI_Barrier(...) FORM(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, __VA_ARGS__)
#define MPI_Bcast(...) FORM(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, __VA_ARGS__)
#define MPI_Bcast_c(...) FORM(MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c, __VA_ARGS__)
#define MPI_Gather(...) FORM(MPI_Gather, MPI_Igather, MPI_Gather_init, __VA_ARGS__)
#define MPI_Gather_c(...) FORM(MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c, __VA_ARGS__)
#define MPI_Gatherv(...) FORM(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, __VA_ARGS__)
#define MPI_Gatherv_c(...) FORM(MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c, __VA_ARGS__)
#define MPI_Scatter(...) FORM(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, __VA_ARGS__)
#define MPI_Scatter_c(...) FORM(MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c, __VA_ARGS__)
#define MPI_Scatterv(...) FORM(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, __VA_ARGS__)
#define MPI_Scatterv_c(...) FORM(MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c, __VA_ARGS__)
#define MPI_Allgather(...) FORM(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, __VA_ARGS__)
#define MPI_Allgather_c(...) FORM(MPI_Allgather_c, MPI_Iallgather_c, MPI_Allgather_init_c, __VA_ARGS__)
#define MPI_Allgatherv(...) FORM(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, __VA_ARGS__)
#define MPI_Allgatherv_c(...) FORM(MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c, __VA_ARGS__)
#define MPI_Alltoall(...) FORM(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, __VA_ARGS__)
#define MPI_Alltoall_c(...) FORM(MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c, __VA_ARGS__)
#define MPI_Alltoallv(...) FORM(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, __VA_ARGS__)
#define MPI_Alltoallv_c(...) FORM(MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c, __VA_ARGS__)
#define MPI_Alltoallw(...) FORM(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, __VA_ARGS__)
#define MPI_Alltoallw_c(...) FORM(MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, __VA_ARGS__)
#define MPI_Reduce(...) FORM(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, __VA_ARGS__)
#define MPI_Reduce_c(...) FORM(MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c, __VA_ARGS__)
#define MPI_Allreduce(...) FORM(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Allreduce_c(...) FORM(MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c, __VA_ARGS__)
#define MPI_Reduce_scatter(...) \
    FORM(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, __VA_ARGS__)
#define MPI_Reduce_scatter_c(...) \
    FORM(MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
    FORM(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, __VA_ARGS__)
#define MPI_Reduce_scatter_block_c(...) \
    FORM(MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c, MPI_Reduce_scatter_block_init_c, \
         __VA_ARGS__)
#define MPI_Scan(...) FORM(MPI_Scan, MPI_Iscan, MPI_Scan_init, __VA_ARGS__)
#define MPI_Scan_c(...) FORM(MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c, __VA_ARGS__)
#define MPI_Exscan(...) FORM(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, __VA_ARGS__)
#define MPI_Exscan_c(...) FORM(MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c, __VA_ARGS__)

#define MPI_Neighbor_allgather(...) \
    FORM(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, __VA_ARGS__)
#define MPI_Neighbor_allgather_c(...) \
    FORM(MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c, MPI_Neighbor_allgather_init_c, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) \
    FORM(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, __VA_ARGS__)
#define MPI_Neighbor_allgatherv_c(...) \
    FORM(MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c, MPI_Neighbor_allgatherv_init_c, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) \
    FORM(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, __VA_ARGS__)
#define MPI_Neighbor_alltoall_c(...) \
    FORM(MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c, MPI_Neighbor_alltoall_init_c, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) \
    FORM(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, __VA_ARGS__)
#define MPI_Neighbor_alltoallv_c(...) \
    FORM(MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c, MPI_Neighbor_alltoallv_init_c, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) \
    FORM(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, __VA_ARGS__)
#define MPI_Neighbor_alltoallw_c(...) \
    FORM(MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c, MPI_Neighbor_alltoallw_init_c, __VA_ARGS__)

#endif
