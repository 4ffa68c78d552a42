/* SPDX-License-Identifier: BSD-3-Clause */
#include "match.h"
#include <stdlib.h>

enum { BY_BOTH, BY_SOURCE, BY_TAG };

static uint32_t bucket_of(int source, int tag, uint8_t bits)
{
    uint64_t key = (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
    key ^= key >> 29;
    return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

/* ---- Posted receives ---- */

static int wildness(const struct MPIR_HANDLE *r)
{
    return (r->rank == MPI_ANY_SOURCE) | (r->tag == MPI_ANY_TAG) << 1;
}

/* Buckets for n entries and some that may follow; a bucket has one entry on average at most. */
static uint8_t bits_for(uint32_t n)
{
    uint8_t bits = MATCH_BITS;
    while (bits < 30 && n >> bits != 0)
        bits++;
    return bits;
}

static struct match_bucket *posted_bucket(struct posted *q, int source, int tag)
{
    return &q->table[bucket_of(source, tag, q->bits)];
}

static void posted_append(void **head, void **tail, struct MPIR_HANDLE *r)
{
    struct MPIR_HANDLE *last = *tail;
    r->next = NULL;
    r->aux = last;
    if (last != NULL)
        last->next = r;
    else
        *head = r;
    *tail = r;
}

static void posted_unlink(void **head, void **tail, struct MPIR_HANDLE *r)
{
    struct MPIR_HANDLE *before = r->aux;
    if (before != NULL)
        before->next = r->next;
    else
        *head = r->next;
    if (r->next != NULL)
        r->next->aux = before;
    else
        *tail = before;
}

static void posted_put(struct posted *q, struct MPIR_HANDLE *r)
{
    struct match_bucket *b = posted_bucket(q, r->rank, r->tag);
    posted_append(&b->head, &b->tail, r);
}

/* More buckets, or as many as there are.  Entries of a key stay in order: they come from one bucket. */
static void posted_grow(struct posted *q)
{
    uint8_t bits = q->bits + 2;
    struct match_bucket *old = q->table, *table = calloc((size_t)1 << bits, sizeof *table);
    size_t nold = (size_t)1 << q->bits;
    if (table == NULL)
        return;
    q->table = table;
    q->bits = bits;
    for (size_t i = 0; i < nold; i++)
        for (struct MPIR_HANDLE *r = old[i].head, *next; r != NULL; r = next) {
            next = r->next;
            posted_put(q, r);
        }
    free(old);
}

/* From a list to hashes; without memory it stays a list. */
static void posted_hash(struct posted *q)
{
    uint8_t bits = bits_for(q->n);
    if (q->table == NULL || bits != MATCH_BITS) {
        struct match_bucket *table = calloc((size_t)1 << bits, sizeof *table);
        if (table == NULL)
            return;
        free(q->table);
        q->table = table;
    }
    q->bits = bits;
    q->hashed = true;
    memset(q->wild, 0, sizeof q->wild);
    q->number = 0;
    for (struct MPIR_HANDLE *r = q->head, *next; r != NULL; r = next) {
        next = r->next;
        r->moved = (int64_t)q->number++;
        q->wild[wildness(r)]++;
        posted_put(q, r);
    }
    q->head = q->tail = NULL;
}

static void posted_emptied(struct posted *q)
{
    if (q->bits != MATCH_BITS) {
        free(q->table);
        q->table = NULL;
    }
    q->hashed = false;
}

void MPID_Posted_add_hashed(struct posted *q, struct MPIR_HANDLE *r)
{
    r->moved = (int64_t)q->number++;
    q->wild[wildness(r)]++;
    if (++q->n >> q->bits != 0 && q->bits < 30)
        posted_grow(q);
    posted_put(q, r);
}

void MPID_Posted_remove(struct posted *q, struct MPIR_HANDLE *r)
{
    q->n--;
    if (!q->hashed) {
        posted_unlink((void **)&q->head, (void **)&q->tail, r);
        return;
    }
    struct match_bucket *b = posted_bucket(q, r->rank, r->tag);
    posted_unlink(&b->head, &b->tail, r);
    q->wild[wildness(r)]--;
    if (q->n == 0)
        posted_emptied(q);
}

/* The oldest receive with exactly this key. */
static struct MPIR_HANDLE *posted_oldest(struct posted *q, int source, int tag)
{
    struct MPIR_HANDLE *r = posted_bucket(q, source, tag)->head;
    while (r != NULL && (r->rank != source || r->tag != tag))
        r = r->next;
    return r;
}

/* The first of the list that accepts the message; NULL, too, if that took so long that the queue is hashed now. */
static struct MPIR_HANDLE *posted_search(struct posted *q, int source, int tag)
{
    struct MPIR_HANDLE *r = q->head;
    for (int i = 0; r != NULL; i++, r = r->next) {
        if (match_accepts(r, source, tag))
            break;
        if (i == MATCH_LIST) {
            posted_hash(q);
            if (q->hashed)
                return NULL;
        }
    }
    return r;
}

struct MPIR_HANDLE *MPID_Posted_take_slow(struct posted *q, int source, int tag)
{
    struct MPIR_HANDLE *best = q->hashed ? NULL : posted_search(q, source, tag);
    for (int w = 0; w < 4 && q->hashed; w++) {
        struct MPIR_HANDLE *r = NULL;
        if (q->wild[w] != 0)
            r = posted_oldest(q, w & 1 ? MPI_ANY_SOURCE : source, w & 2 ? MPI_ANY_TAG : tag);
        if (r != NULL && (best == NULL || r->moved < best->moved))
            best = r;
    }
    if (best != NULL)
        MPID_Posted_remove(q, best);
    return best;
}

void MPID_Posted_each(struct posted *q, void (*fn)(struct MPIR_HANDLE *r, void *arg), void *arg)
{
    if (!q->hashed) {
        for (struct MPIR_HANDLE *r = q->head, *next; r != NULL; r = next) {
            next = r->next;
            fn(r, arg);
        }
        return;
    }
    size_t buckets = (size_t)1 << q->bits;
    for (size_t i = 0; i < buckets && q->hashed; i++)
        for (struct MPIR_HANDLE *r = q->table[i].head, *next; r != NULL; r = next) {
            next = r->next;
            fn(r, arg);
        }
}

void MPID_Posted_fini(struct posted *q)
{
    free(q->table);
    *q = (struct posted){ .n = 0 };
}

/* ---- Unexpected messages ---- */

static struct match_bucket *unexp_bucket(struct unexp *q, int by, int source, int tag)
{
    return &q->index[by]
                .table[bucket_of(by == BY_TAG ? 0 : source, by == BY_SOURCE ? 0 : tag, q->index[by].bits)];
}

static void unexp_index(struct unexp *q, int by, struct umsg *m)
{
    struct match_bucket *b = unexp_bucket(q, by, m->source, m->tag);
    struct umsg *last = b->tail;
    m->in[by].next = NULL;
    m->in[by].prev = last;
    if (last != NULL)
        last->in[by].next = m;
    else
        b->head = m;
    b->tail = m;
}

static void unexp_unindex(struct unexp *q, int by, struct umsg *m)
{
    struct match_bucket *b = unexp_bucket(q, by, m->source, m->tag);
    if (m->in[by].prev != NULL)
        m->in[by].prev->in[by].next = m->in[by].next;
    else
        b->head = m->in[by].next;
    if (m->in[by].next != NULL)
        m->in[by].next->in[by].prev = m->in[by].prev;
    else
        b->tail = m->in[by].prev;
}

/* Make the index, or make it anew with more buckets.  False without memory (an index that exists stays). */
static bool unexp_build(struct unexp *q, int by)
{
    uint8_t bits = bits_for(2 * q->n);
    bool used = q->built & 1 << by;
    if (used || q->index[by].table == NULL || bits != MATCH_BITS) {
        struct match_bucket *table = calloc((size_t)1 << bits, sizeof *table);
        if (table == NULL)
            return false;
        free(q->index[by].table);
        q->index[by].table = table;
    }
    q->index[by].bits = bits;
    q->built |= (uint8_t)(1 << by);
    for (struct umsg *m = q->head; m != NULL; m = m->next)
        unexp_index(q, by, m);
    return true;
}

static void unexp_index_all(struct unexp *q, struct umsg *m)
{
    for (int by = 0; by < 3; by++)
        if (q->built & 1 << by) {
            /* Rebuilding threads m in as well. */
            bool full = q->n >> q->index[by].bits != 0 && q->index[by].bits < 30;
            if (!full || !unexp_build(q, by))
                unexp_index(q, by, m);
        }
}

void MPID_Unexp_add(struct unexp *q, struct umsg *m)
{
    m->next = NULL;
    m->prev = q->tail;
    if (q->tail != NULL)
        q->tail->next = m;
    else
        q->head = m;
    q->tail = m;
    q->n++;
    if (q->built != 0)
        unexp_index_all(q, m);
}

static bool wanted(const struct umsg *m, int source, int tag)
{
    return (source == MPI_ANY_SOURCE || m->source == source) && (tag == MPI_ANY_TAG || m->tag == tag);
}

struct umsg *MPID_Unexp_find(struct unexp *q, int source, int tag)
{
    struct umsg *m = q->head;
    if (m == NULL || wanted(m, source, tag))
        return m;
    int by = source == MPI_ANY_SOURCE ? BY_TAG : tag == MPI_ANY_TAG ? BY_SOURCE : BY_BOTH;
    if (q->n <= MATCH_LIST || (!(q->built & 1 << by) && !unexp_build(q, by))) {
        while (m != NULL && !wanted(m, source, tag))
            m = m->next;
        return m;
    }
    for (m = unexp_bucket(q, by, source, tag)->head; m != NULL && !wanted(m, source, tag);)
        m = m->in[by].next;
    return m;
}

/* The queue is empty: no index is in use, and large tables go. */
static void unexp_emptied(struct unexp *q)
{
    for (int by = 0; by < 3; by++)
        if (q->index[by].bits != MATCH_BITS) {
            free(q->index[by].table);
            q->index[by].table = NULL;
        }
    q->built = 0;
}

static void unexp_unindex_all(struct unexp *q, struct umsg *m)
{
    for (int by = 0; by < 3; by++)
        if (q->built & 1 << by)
            unexp_unindex(q, by, m);
    if (q->n == 0)
        unexp_emptied(q);
}

void MPID_Unexp_remove(struct unexp *q, struct umsg *m)
{
    if (m->prev != NULL)
        m->prev->next = m->next;
    else
        q->head = m->next;
    if (m->next != NULL)
        m->next->prev = m->prev;
    else
        q->tail = m->prev;
    q->n--;
    if (q->built != 0)
        unexp_unindex_all(q, m);
}

void MPID_Unexp_fini(struct unexp *q)
{
    for (int by = 0; by < 3; by++)
        free(q->index[by].table);
    *q = (struct unexp){ .n = 0 };
}
