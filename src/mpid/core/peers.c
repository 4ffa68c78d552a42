/* peers.c: the table of peers; see peers.h. */
#include "core.h"
#include <stdlib.h>
#include "util/sparse.h"

/* What stands for all peers that were lost before they were used.  Nobody sends to them: every use begins with a look at
 * `gone` or at `fast`. */
static struct peer lost = { .grank = -1, .gone = true };

bool MPID_Peers_init(struct peers *t, int32_t n)
{
    *t = (struct peers){ .at = (struct peer **)ku_sparse_new((size_t)n) };
    t->n = t->at != NULL ? n : 0;
    return t->at != NULL;
}

bool MPID_Peers_grow(struct peers *t, int32_t n)
{
    struct peer **at = (struct peer **)ku_sparse_grow((void **)t->at, (size_t)t->n, (size_t)n);
    if (at == NULL)
        return false;
    t->at = at;
    t->n = n;
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
    t->ngone++;
    return true;
}

void MPID_Peers_fini(struct peers *t)
{
    while (t->first != NULL) {
        struct peer *p = t->first;
        t->first = p->next_used;
        free(p);
    }
    ku_sparse_free((void **)t->at, (size_t)t->n);
    *t = (struct peers){ 0 };
}
