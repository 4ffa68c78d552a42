/* SPDX-License-Identifier: BSD-3-Clause */
/* match.h: the two queues of a context: receives that wait for a message, messages that wait for a receive.
 *
 * Both are lists in order of arrival for as long as what is looked for stands among the first MATCH_LIST entries: a
 * thousand receives whose messages come in order cost no more than one.  The first search that goes further indexes
 * the queue by hashes, until it is empty again; finding, adding and removing then cost the same with a hundred entries
 * and with a million:
 *
 * Invariants
 *   1. Of the posted receives that accept a message the one posted first gets it: once hashed every receive has a
 *      number; wanted (source, tag), with wildcards as they are, is its key; a message looks at the oldest of its (up
 *      to) four keys.
 *   2. Of the messages that a receive accepts the one that came first is taken: a message is in the list of all, and in
 *      each index that exists (by source and tag, by source, by tag); every bucket is in order of arrival.
 *   3. Indexes are memory on top: without memory for one the list is searched; right, but slow.
 *   4. Entries of one key lie in one bucket in order; a bucket may hold several keys (expected: less than one other).
 *   5. A queue that is not hashed has an empty table of MATCH_BITS, or none: emptied queues keep small tables. */
#ifndef MPID_MATCH_H
#define MPID_MATCH_H

#include "mpid.h"
#include "wire.h"

enum { MATCH_LIST = 32, MATCH_BITS = 7 };

/* A message that came before its receive: 136 bytes. */
struct umsg {
    struct umsg *next, *prev; /* all of the context */
    struct {
        struct umsg *next, *prev;
    } in[3]; /* the indexes */
    int32_t source, tag;
    int64_t len;   /* bytes of the message */
    int32_t grank; /* of the sender; -1: not known */
    uint8_t kind;  /* enum umsg_kind */
    union {
        unsigned char body[PKT_SHORT_MAX];
        unsigned char *heap;
        struct {
            struct pkt_op sender;
            unsigned char payload[PKT_INLINE_MAX];
            unsigned char *key; /* of a device, allocated; NULL: none */
            uint16_t key_bytes;
        } rts;
        struct MPIR_HANDLE *self;
    };
};
_Static_assert(sizeof(struct umsg) <= 136, "an unexpected message is small");

enum umsg_kind {
    UMSG_SHORT = 1, /* payload in body */
    UMSG_HEAP,      /* payload in heap, allocated */
    UMSG_RTS,       /* payload still with the sender, or in rts.payload */
    UMSG_SELF,      /* payload in this process, described by a send request */
    UMSG_LOST       /* there was no memory for the payload */
};

struct match_bucket {
    void *head, *tail;
};

struct posted {
    struct MPIR_HANDLE *head, *tail; /* while a list */
    struct match_bucket *table;      /* [1 << bits] while hashed */
    uint64_t number;                 /* of the next receive, while hashed */
    uint32_t n, wild[4];             /* entries; of these by kind of wildcards (bit 0: source, bit 1: tag) */
    uint8_t bits;
    bool hashed;
};

struct unexp {
    struct umsg *head, *tail;
    uint32_t n;
    uint8_t built; /* bit: this index is in use */
    struct {
        struct match_bucket *table;
        uint8_t bits;
    } index[3];
};

/* Posted receives.  next, aux and moved of a posted request belong to the queue. */
void MPID_Posted_add_hashed(struct posted *q, struct MPIR_HANDLE *r);
struct MPIR_HANDLE *MPID_Posted_take_slow(struct posted *q, int source, int tag);
void MPID_Posted_remove(struct posted *q, struct MPIR_HANDLE *r);
/* Call fn for each; fn may remove the one it is given. */
void MPID_Posted_each(struct posted *q, void (*fn)(struct MPIR_HANDLE *r, void *arg), void *arg);
void MPID_Posted_fini(struct posted *q);

/* Unexpected messages; source and tag of a find may be wildcards. */
void MPID_Unexp_add(struct unexp *q, struct umsg *m);
struct umsg *MPID_Unexp_find(struct unexp *q, int source, int tag);
void MPID_Unexp_remove(struct unexp *q, struct umsg *m);
void MPID_Unexp_fini(struct unexp *q);

static inline bool match_accepts(const struct MPIR_HANDLE *r, int source, int tag)
{
    return (r->rank == source || r->rank == MPI_ANY_SOURCE) && (r->tag == tag || r->tag == MPI_ANY_TAG);
}

static inline void MPID_Posted_add(struct posted *q, struct MPIR_HANDLE *r)
{
    struct MPIR_HANDLE *last = q->tail;
    if (q->hashed) {
        MPID_Posted_add_hashed(q, r);
        return;
    }
    r->next = NULL;
    r->aux = last;
    *(last != NULL ? &last->next : &q->head) = r;
    q->tail = r;
    q->n++;
}

/* Take the first of a list out. */
static inline void MPID_Posted_pop(struct posted *q)
{
    struct MPIR_HANDLE *next = q->head = q->head->next;
    if (next != NULL)
        next->aux = NULL;
    else
        q->tail = NULL;
    q->n--;
}

/* The receive that gets the message (source, tag), taken out of the queue; or NULL. */
static inline struct MPIR_HANDLE *MPID_Posted_take(struct posted *q, int source, int tag)
{
    struct MPIR_HANDLE *r = q->head;
    if (r == NULL || !match_accepts(r, source, tag))
        return q->n == 0 ? NULL : MPID_Posted_take_slow(q, source, tag);
    MPID_Posted_pop(q); /* the first of a list: the common case */
    return r;
}

#endif
