/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c: the table of peers; see peers.h. */
#include "core.h"
#include <stdlib.h>
#include "util/sparse.h"

/* What stands for all peers that were lost before they were used.  Nobody sends to them: every use begins with a
 * look at `gone` or at `fast`. */
static struct peer lost = { .grank = -1, .gone = true };

bool MPID_Peers_init(struct peers *t, int32_t n)
{
    *t = (struct peers){ .at = (struct peer **)ku_sparse_new((size_t)n) };
    t->n = t->job = t->cap = t->at != NULL ? n : 0;
    return t->at != NULL;
}

bool MPID_Peers_grow(struct peers *t, int32_t n)
{
    enum { SPARE = 1 << 16 /* entries, which cost nothing until they are used */ };
    int32_t cap = n < INT32_MAX / 2 - SPARE ? 2 * n + SPARE : INT32_MAX;
    struct peers_before *b;
    struct peer **at;
    if (n <= t->cap) {
        t->n = n;
        return true;
    }
    b = malloc(sizeof *b);
    at = (struct peer **)ku_sparse_new((size_t)cap);
    if (b == NULL || at == NULL) {
        free(b);
        ku_sparse_free((void **)at, (size_t)cap);
        return false;
    }
    for (int32_t i = 0; i < t->n; i++)
        if (t->at[i] != NULL)
            at[i] = t->at[i];
    *b = (struct peers_before){ t->at, t->cap, t->before };
    t->before = b;
    __atomic_store_n(&t->at, at, __ATOMIC_RELEASE);
    t->n = n;
    t->cap = cap;
    return true;
}

void MPID_Peers_put(struct peers *t, struct peer *p)
{
    p->next_used = NULL;
    *(t->last != NULL ? &t->last->next_used : &t->first) = p;
    t->last = p;
    __atomic_store_n(&t->at[p->grank], p, __ATOMIC_RELEASE);
}

bool MPID_Peers_lose(struct peers *t, int32_t index)
{
    struct peer *p = t->at[index];
    if (p != NULL && p->gone)
        return false;
    if (p == NULL)
        __atomic_store_n(&t->at[index], &lost, __ATOMIC_RELEASE);
    else {
        p->gone = true;
        peer_set_fast(p, false);
    }
    t->ngone += index < t->job;
    t->nlost++;
    t->losses++;
    return true;
}

void MPID_Peers_forget(struct peers *t, int32_t index)
{
    struct peer *p = t->at[index], *before = NULL, **at = &t->first;
    __atomic_store_n(&t->at[index], NULL, __ATOMIC_RELEASE);
    t->nlost -= p != NULL && p->gone;
    if (p == NULL || p == &lost)
        return;
    for (; *at != p; at = &before->next_used)
        before = *at;
    *at = p->next_used;
    if (t->last == p)
        t->last = before;
    free(p);
}

void MPID_Peers_fini(struct peers *t)
{
    while (t->first != NULL) {
        struct peer *p = t->first;
        t->first = p->next_used;
        free(p);
    }
    while (t->before != NULL) {
        struct peers_before *b = t->before;
        t->before = b->next;
        ku_sparse_free((void **)b->at, (size_t)b->cap);
        free(b);
    }
    ku_sparse_free((void **)t->at, (size_t)t->cap);
    *t = (struct peers){ 0 };
}
