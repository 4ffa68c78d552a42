/* SPDX-License-Identifier: BSD-3-Clause */
/* halving.h: recursive halving: a reduction that leaves each of 2^k processes with its share of the result.
 *
 * Of p processes the first 2 * (p - 2^k) form pairs in which one takes both operands.  The 2^k that remain, numbered in
 * rank order, halve their vector with the neighbour at distance 1, 2, 4 ...: so what is combined is always a range of
 * ranks next to another one, and operations need not commute. */
#ifndef COLL_HALVING_H
#define COLL_HALVING_H

#include "coll.h"

struct halving {
    int32_t pow2, rem; /* 2^k; p - 2^k */
    int32_t rank;      /* among the 2^k, or -1 */
    int32_t keep;      /* this rank stays in its pair, or MPI_UNDEFINED: the odd ranks stay */
    int levels;
    int64_t lo[33], hi[33]; /* [level] the elements that this process was concerned with */
};

/* in: this process's operand, c->rcount elements; acc: room for as many, which may be `in`, and takes the share.
 * `keep` (a rank or MPI_UNDEFINED) is to be among the 2^k. */
void MPIR_Coll_halve(struct coll *c, struct halving *h, const void *in, void *acc, int keep);
/* The rank of c of number n among the 2^k. */
int32_t MPIR_Coll_halving_real(const struct halving *h, int32_t n);
/* All the 2^k get all shares. */
void MPIR_Coll_halving_allgather(struct coll *c, const struct halving *h, void *acc);
/* The root, which was kept, gets all shares. */
void MPIR_Coll_halving_gather(struct coll *c, const struct halving *h, void *acc, int root);

struct coll_cost MPIR_Coll_halving_cost(const struct coll_size *s);

#endif
