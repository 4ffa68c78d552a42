/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h: an ordered set of processes, by global rank; a range with a stride where it can be, else a table.
 */
#ifndef MPIR_GROUP_H
#define MPIR_GROUP_H

#include <stdbool.h>
#include "mpi_const.h"
#include "object.h"

typedef struct MPIR_Group {
    struct keel_object obj;
    int32_t size;
    int32_t rank;                 /* of this process, or MPI_UNDEFINED */
    int32_t first, stride;        /* granks == NULL: member i is first + i * stride */
    int32_t *granks;              /* [size], owned by the group (or by base); NULL for a range */
    void *index;                  /* group.c's, made when a lookup by global rank needs it */
    int32_t *table;               /* MPIR_Group_table's, of a range that is no identity */
    struct MPIR_Session *session; /* from which it is derived; NULL: none, or it has ended */
    struct MPIR_Group *base;      /* the group whose granks, index and table this one uses; NULL: its own */
} MPIR_Group;

extern MPIR_Group MPIR_Group_empty;

static inline int32_t MPIR_Group_grank(const MPIR_Group *g, int32_t i)
{
    return g->granks ? g->granks[i] : g->first + i * g->stride;
}

/* The rank in g of a process of another job; MPI_UNDEFINED: all are of this one. */
int32_t MPIR_Group_other_job(const MPIR_Group *g);

static inline uint32_t MPIR_Group_hash(int32_t rank)
{
    uint32_t h = (uint32_t)rank * 0x9e3779b1u;
    return h ^ h >> 15;
}

/* Rank in g of a global rank, or MPI_UNDEFINED.  O(1) amortised. */
int32_t MPIR_Group_rank_of(MPIR_Group *g, int32_t grank);

/* A new group of `size` members from granks[] (copied; recognised as a range if it is one).  Size 0 gives
 * MPIR_Group_empty.  Returns an error class. */
int MPIR_Group_new(int32_t size, const int32_t *granks, MPIR_Group **group);
/* The same, of a malloc'd array that the group takes over (it is freed on errors too); what it has too much is
 * given back. */
int MPIR_Group_adopt(int32_t size, int32_t *granks, MPIR_Group **group);
/* Another handle's object for the same members, and of the same session, sharing the tables: O(1). */
int MPIR_Group_share(MPIR_Group *g, MPIR_Group **group);
/* Same members in the same order: MPI_IDENT; in another: MPI_SIMILAR; else MPI_UNEQUAL. */
int MPIR_Group_relation(MPIR_Group *a, MPIR_Group *b);
/* [size] global ranks for MPIR_COMMUNICATOR.lrank_to_grank, owned by the group; *table is NULL for an identity. */
int MPIR_Group_table(MPIR_Group *g, const int32_t **table);
int MPIR_Group_new_range(int32_t size, int32_t first, int32_t stride, MPIR_Group **group);
void MPIR_Group_release(MPIR_Group *g);
/* A communicator with this group begins or ends: its processes of other jobs are connected that long. */
void MPIR_Group_connected(MPIR_Group *g, bool begins);

/* A new group is derived from what `session` is. */
static inline void MPIR_Group_derive(MPIR_Group *g, struct MPIR_Session *session)
{
    if (g != &MPIR_Group_empty)
        g->session = session;
}

#endif
