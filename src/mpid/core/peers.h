/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.h: the table of peers.
 *
 * A peer's index is this core's number of it, stable for the life of the ADI: the ranks of the job come first,
 * index and global rank being the same; what the table grows by is behind them.  An entry is made when the peer is
 * used first, so the memory of the table follows the peers in use.  A peer that is lost before it was used gets an
 * entry that all such peers share.
 *
 * Invariants
 *   1. at[i] is NULL, or the peer's entry, which stays until it is forgotten, or the one that lost peers share.
 *   2. first ... last are the entries that were made, in that order; the shared one is not among them. */
#ifndef MPID_PEERS_H
#define MPID_PEERS_H

#include <stdbool.h>
#include <stdint.h>

struct peer;

/* Which processes of a communicator are lost: known up to the last look, as `looked` tells (failed.c). */
struct comm_failures {
    int32_t looked; /* peers.losses at that time */
    int32_t alive;  /* remote members before this one are lost, or are this process */
    bool some;      /* of the local group */
    int32_t counted,
        lost;      /* of those that a receive from any source may wait for: known up to the last count */
    int32_t acked; /* so many of them the program has said that it knows of (MPID_Lost_acked) */
};

struct peers {
    struct peer **at; /* [n], and room for cap */
    int32_t n, ngone,
        nlost; /* ngone: those of the job that are lost; nlost: all that are, as long as they are known */
    int32_t losses;            /* how often somebody was lost, of whichever job */
    struct peer *first, *last; /* in use, linked by next_used */
    int32_t job, cap;          /* job: n at the beginning */
    struct peers_before {
        struct peer **at;
        int32_t cap;
        struct peers_before *next;
    } * before; /* arrays that were */
};

bool MPID_Peers_init(struct peers *t, int32_t n); /* false: no memory */
/* To n > t->n; false: no memory, nothing is changed.  Threads that send without the device lock may read the table
 * meanwhile: the array that was stays as it is until fini. */
bool MPID_Peers_grow(struct peers *t, int32_t n);
/* The peer's entry, from calloc, with its grank as index: at[index] was NULL.  It is the table's from now on. */
void MPID_Peers_put(struct peers *t, struct peer *p);
/* It is lost from now on; false: it was known. */
bool MPID_Peers_lose(struct peers *t, int32_t index);
/* It has no entry any more. */
void MPID_Peers_forget(struct peers *t, int32_t index);
void MPID_Peers_fini(struct peers *t); /* frees the entries; legal after a failed init */

#endif
