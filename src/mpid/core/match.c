#include "match.h"
#include <stdlib.h>

enum { BY_BOTH, BY_SOURCE, BY_TAG };
enum { FIRST_BITS = 7 };

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

static void posted_rehash_list(struct posted *q, struct MPIR_HANDLE *r)
{
    while (r != NULL) {
        struct MPIR_HANDLE *next = r->next;
        struct match_bucket *b = posted_bucket(q, r->rank, r->tag);
        posted_append(&b->head, &b->tail, r);
        r = next;
    }
}

/* Entries of a key stay in order: they come from one list or one bucket. */
static void posted_grow(struct posted *q)
{
    uint8_t bits = q->hashed ? q->bits + 2 : FIRST_BITS;
    struct match_bucket *old = q->table, *table = calloc((size_t)1 << bits, sizeof *table);
    size_t nold = q->hashed ? (size_t)1 << q->bits : 0;
    if (table == NULL)
        return;
    q->table = table;
    q->bits = bits;
    if (!q->hashed)
        posted_rehash_list(q, q->head);
    for (size_t i = 0; i < nold; i++)
        posted_rehash_list(q, old[i].head);
    free(old);
    q->head = q->tail = NULL;
    q->hashed = true;
}

static void posted_emptied(struct posted *q)
{
    if (q->hashed) {
        free(q->table);
        q->table = NULL;
        q->hashed = false;
    }
}

void MPID_Posted_add_slow(struct posted *q, struct MPIR_HANDLE *r)
{
    r->moved = (int64_t)q->number++;
    q->n++;
    if (!q->hashed && q->n > MATCH_LIST) {
        posted_grow(q);
        if (q->hashed) {
            memset(q->wild, 0, sizeof q->wild);
            for (size_t i = 0; i < (size_t)1 << q->bits; i++)
                for (struct MPIR_HANDLE *p = q->table[i].head; p != NULL; p = p->next)
                    q->wild[wildness(p)]++;
        }
    } else if (q->hashed && q->n >> 1 > (uint32_t)1 << q->bits && q->bits < 30)
        posted_grow(q);
    if (!q->hashed) {
        posted_append((void **)&q->head, (void **)&q->tail, r);
        return;
    }
    struct match_bucket *b = posted_bucket(q, r->rank, r->tag);
    posted_append(&b->head, &b->tail, r);
    q->wild[wildness(r)]++;
}

void MPID_Posted_remove(struct posted *q, struct MPIR_HANDLE *r)
{
    if (q->hashed) {
        struct match_bucket *b = posted_bucket(q, r->rank, r->tag);
        posted_unlink(&b->head, &b->tail, r);
        q->wild[wildness(r)]--;
    } else
        posted_unlink((void **)&q->head, (void **)&q->tail, r);
    if (--q->n == 0)
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

struct MPIR_HANDLE *MPID_Posted_take_slow(struct posted *q, int source, int tag)
{
    struct MPIR_HANDLE *best = NULL;
    if (!q->hashed) {
        for (best = q->head; best != NULL && !match_accepts(best, source, tag);)
            best = best->next;
    } else {
        for (int w = 0; w < 4; w++) {
            struct MPIR_HANDLE *r = NULL;
            if (q->wild[w] != 0)
                r = posted_oldest(q, w & 1 ? MPI_ANY_SOURCE : source, w & 2 ? MPI_ANY_TAG : tag);
            if (r != NULL && (best == NULL || r->moved < best->moved))
                best = r;
        }
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
    free(q->hashed ? q->table : NULL);
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
    uint8_t bits = FIRST_BITS;
    while (bits < 30 && (uint32_t)1 << bits < q->n)
        bits++;
    struct match_bucket *table = calloc((size_t)1 << bits, sizeof *table);
    if (table == NULL)
        return false;
    free(q->index[by].table);
    q->index[by].table = table;
    q->index[by].bits = bits;
    for (struct umsg *m = q->head; m != NULL; m = m->next)
        unexp_index(q, by, m);
    return true;
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
    for (int by = 0; by < 3; by++)
        if (q->index[by].table != NULL) {
            /* Rebuilding threads m in as well. */
            bool full = q->n >> 2 > (uint32_t)1 << q->index[by].bits && q->index[by].bits < 30;
            if (!full || !unexp_build(q, by))
                unexp_index(q, by, m);
        }
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
    if (q->n <= MATCH_LIST || (q->index[by].table == NULL && !unexp_build(q, by))) {
        while (m != NULL && !wanted(m, source, tag))
            m = m->next;
        return m;
    }
    for (m = unexp_bucket(q, by, source, tag)->head; m != NULL && !wanted(m, source, tag);)
        m = m->in[by].next;
    return m;
}

static void unexp_drop_indexes(struct unexp *q)
{
    for (int by = 0; by < 3; by++) {
        free(q->index[by].table);
        q->index[by].table = NULL;
    }
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
    for (int by = 0; by < 3; by++)
        if (q->index[by].table != NULL)
            unexp_unindex(q, by, m);
    if (--q->n == 0)
        unexp_drop_indexes(q);
}

void MPID_Unexp_fini(struct unexp *q)
{
    unexp_drop_indexes(q);
    *q = (struct unexp){ .n = 0 };
}
