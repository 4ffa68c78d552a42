/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_kinds.h: the collectives that have a choice of algorithms. */
#ifndef COLL_KINDS_H
#define COLL_KINDS_H

enum coll_kind {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_ALLTOALLW,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER, /* and reduce_scatter_block */
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_NEIGHBOR_ALLGATHER, /* and _allgatherv */
    COLL_NEIGHBOR_ALLTOALL,  /* and _alltoallv, _alltoallw */
    COLL_KINDS,
    COLL_INTER =
        COLL_KINDS, /* added to a kind before COLL_SCAN: the same on an intercommunicator (inter.h) */
    COLL_TABLES = COLL_INTER + COLL_SCAN
};

#endif
