/* SPDX-License-Identifier: BSD-3-Clause */
/* refuse.c: messages that nobody is to wait for any more, as a process has refused the call that they belong to.
 *
 * Who refuses tells all members of the communicator, and nobody passes it on; so each member hears it, whatever
 * the others do, and may stop where it is when it has.  It is kept with the context and the tag of the call's
 * messages:
 *   a receive   posted, or posted later: ends with the error
 *   a message   here, or coming later: is dropped; if its sender waits, it hears of the refusal and then, in
 *               answer to its RTS, of the error
 *
 * Invariants
 *   1. With a refusal there is no posted receive and no unexpected message of its context and tag: so what comes
 *      is looked at only when it has found no receive.
 *   2. Receives look here only while something is refused at all (DOUBT_REFUSED), which closes the ways without a
 *      request as well.
 *   3. Contexts that carry messages for calls of another one have no refusals of their own, but those of that one
 *      (refused_with). They outlive the communicator for some time, as do contexts in which something is refused
 *      (context.c).
 *   4. Of a revoked communicator each context but MPID_CONTEXT_FAIL's has a refusal for all tags.
 *   5. In a communicator of many, who hears that it is revoked tells the first member after itself that lives, another
 *      one when that is lost, and those at distances of powers of two, so that it is fast.  So all that live hear
 *      it, whoever is lost: each that has heard sees to it that the next one does.
 *   6. Of several refusals of one call, each of another process, all are kept, and any of them is told. */
#include "core.h"
#include <stdlib.h>

enum { BUCKETS = 256, TAG_BITS = 30, RING_FROM = 16 /* fewer all tell all */ };
_Static_assert(sizeof(struct pkt_refused) + MPID_REFUSAL_WORDS <= DEV_SHORT_TELLS,
               "a refusal is a control packet");

struct refusal {
    struct MPID_Refusal is;
    int32_t tag;
    struct refusal *next;
};

/* Whom this process has told that a communicator of many is revoked, and will if those are lost. */
struct revoked_ring {
    uint32_t context_id;
    int32_t n, me, next; /* places in grank[]; next: the first after this one that lives */
    struct revoked_ring *later, **at;
    int32_t grank[];
};

struct refusals {
    struct refusal *revoked;   /* whatever the tag; NULL: it is not */
    struct revoked_ring *ring; /* NULL: all have been told */
    struct refusal *bucket[BUCKETS];
};

/* How far the tag is behind another one; the highest bit tells two counts apart. */
static uint32_t behind(int32_t tag, int32_t other)
{
    bool same = ((uint32_t)tag ^ (uint32_t)other) >> TAG_BITS == 0;
    return same ? ((uint32_t)other - (uint32_t)tag) & ((1u << TAG_BITS) - 1) : 0;
}

static bool is_past(const struct refusal *r, int32_t tag)
{
    uint32_t d = behind(r->tag, tag);
    return d >= MPID_REFUSAL_TAGS && d < 1u << (TAG_BITS - 1);
}

static void forget(struct refusal **at)
{
    struct refusal *r = *at;
    *at = r->next;
    free(r);
    if (--MPID_core.nrefusals == 0)
        MPID_core.doubts &= (uint8_t)~DOUBT_REFUSED;
}

/* Those in its way that are past are forgotten. */
static struct refusal *find(struct refusals *all, int32_t tag)
{
    if (all->revoked != NULL)
        return all->revoked;
    struct refusal **at = &all->bucket[(uint32_t)tag % BUCKETS];
    while (*at != NULL && (*at)->tag != tag)
        if (is_past(*at, tag))
            forget(at);
        else
            at = &(*at)->next;
    return *at;
}

static struct refusals *refusals_of(const struct context *c)
{
    if (c->refused_with != c->id)
        c = MPID_Context_find(c->refused_with);
    return c != NULL ? c->refusals : NULL;
}

const struct MPID_Refusal *MPID_Refused_in(struct context *c, int32_t tag)
{
    struct refusals *all = refusals_of(c);
    const struct refusal *r = all != NULL ? find(all, tag) : NULL;
    return r != NULL ? &r->is : NULL;
}

bool MPID_Refused_by(struct context *c, int32_t tag, int32_t grank)
{
    struct refusals *all = refusals_of(c);
    if (all != NULL && all->revoked != NULL) /* nobody comes any more */
        return true;
    const struct context *home = all != NULL ? MPID_Context_find(c->refused_with) : NULL;
    for (const struct refusal *r = all != NULL ? find(all, tag) : NULL; r != NULL; r = r->next)
        if (r->tag == tag && !r->is.remote && grank_of(home->comm, r->is.rank) == grank)
            return true;
    return false;
}

static const struct refusal *any_of(const struct refusals *all)
{
    if (all != NULL && all->revoked != NULL)
        return all->revoked;
    for (int i = 0; all != NULL && i < BUCKETS; i++)
        if (all->bucket[i] != NULL)
            return all->bucket[i];
    return NULL;
}

bool MPID_Refused_some(const struct context *c)
{
    return (MPID_core.doubts & DOUBT_REFUSED) && any_of(refusals_of(c)) != NULL;
}

const struct MPID_Refusal *MPID_Refused(uint32_t context_id, int tag)
{
    struct context *c = MPID_core.doubts & DOUBT_REFUSED ? MPID_Context_find(context_id) : NULL;
    struct refusals *all = c != NULL ? refusals_of(c) : NULL;
    const struct refusal *r = all == NULL ? NULL : tag == MPI_ANY_TAG ? any_of(all) : find(all, tag);
    return r != NULL ? &r->is : NULL;
}

int MPID_Err_refused(const struct MPID_Refusal *r)
{
    if (r->error == MPID_ERR_REVOKED)
        return ku_err_set(r->error, NULL, "the communicator has been revoked");
    return ku_err_set(r->error, NULL, "rank %d takes no part: %s", (int)r->rank, r->words);
}

static struct revoked_ring *rings;

static void ring_free(struct revoked_ring *g)
{
    if (g == NULL)
        return;
    *g->at = g->later;
    if (g->later != NULL)
        g->later->at = g->at;
    free(g);
}

void MPID_Refusals_free(struct context *c)
{
    for (int i = 0; c->refusals != NULL && i < BUCKETS; i++)
        while (c->refusals->bucket[i] != NULL)
            forget(&c->refusals->bucket[i]);
    if (c->refusals != NULL && c->refusals->revoked != NULL)
        forget(&c->refusals->revoked);
    if (c->refusals != NULL)
        ring_free(c->refusals->ring);
    free(c->refusals);
    c->refusals = NULL;
}

/* ---- To others ---- */

static void tell(int32_t grank, uint32_t context_id, int32_t tag, const struct MPID_Refusal *r)
{
    struct pkt k;
    int err = 0;
    struct peer *p = peer_gone(grank) ? NULL : peer_get(grank, &err);
    uint32_t flags = (r->inter ? PKT_REFUSED_INTER : 0u) | (r->remote ? PKT_REFUSED_REMOTE : 0u) |
                     (r->revoked ? PKT_REFUSED_ALL : 0u);
    if (p == NULL || p->gone)
        return;
    pkt_refused_prepare(&k, context_id, tag, r->rank, r->error, flags, r->words,
                        strnlen(r->words, MPID_REFUSAL_WORDS));
    MPID_Rndv_control(p, &k);
}

/* In an intercommunicator's own contexts senders are of the other group than this process. */
void MPID_Refused_answer(const struct context *c, int32_t tag, int32_t peer, struct pkt_op sender)
{
    const struct refusal *r = find(refusals_of(c), tag);
    struct MPID_Refusal is = r->is;
    int err = 0;
    struct peer *p = peer_gone(peer) ? NULL : peer_get(peer, &err);
    if (p == NULL || p->gone)
        return;
    is.remote = is.remote != (is.inter && c->id == c->refused_with);
    tell(peer, c->refused_with, tag, &is);
    MPID_Rndv_answer(p, sender, is.error);
}

/* ---- Here ---- */

struct sweep {
    bool all; /* whatever the tag */
    uint32_t context_id;
    int32_t tag;
    const struct MPID_Refusal *is;
    struct context *c;
};

static void fail_posted(struct MPIR_HANDLE *r, void *arg)
{
    const struct sweep *s = arg;
    if (!s->all && r->tag != s->tag)
        return;
    MPID_Posted_remove(&s->c->posted, r);
    r->moved = 0;
    r->s = (MPIR_Status){ .MPI_SOURCE = r->rank, .MPI_TAG = r->tag };
    MPID_Req_fail(r, MPID_Err_refused(s->is));
}

static void drop(const struct sweep *s, struct umsg *m)
{
    MPID_Unexp_remove(&s->c->unexp, m);
    if (m->kind == UMSG_RTS)
        MPID_Refused_answer(s->c, m->tag, m->grank, m->rts.sender);
    else if (m->kind == UMSG_SELF)
        MPID_Req_fail(m->self, MPID_Err_refused(s->is));
    MPID_Umsg_free(m);
}

/* Invariant 1. */
static void sweep_context(struct context *c, void *arg)
{
    struct sweep *s = arg;
    if (c->refused_with != s->context_id)
        return;
    s->c = c;
    MPID_Posted_each(&c->posted, fail_posted, s);
    for (struct umsg *m = c->unexp.head, *next; m != NULL; m = next) {
        next = m->next;
        if (s->all || m->tag == s->tag)
            drop(s, m);
    }
}

/* A process that cannot keep it would wait for ever. */
static void note(uint32_t context_id, int32_t tag, const struct MPID_Refusal *is)
{
    struct context *c = MPID_Context_get(context_id);
    if (c != NULL && c->refusals == NULL)
        c->refusals = calloc(1, sizeof *c->refusals);
    struct refusal *r = c != NULL && c->refusals != NULL ? malloc(sizeof *r) : NULL;
    if (r == NULL)
        MPID_Broken("no memory to note that rank %d of a communicator has refused a call", (int)is->rank);
    for (struct refusal *same = find(c->refusals, tag); same != NULL; same = same->next)
        if (same->tag == tag && same->is.rank == is->rank && same->is.remote == is->remote) {
            free(r);
            return;
        }
    struct refusal **at = &c->refusals->bucket[(uint32_t)tag % BUCKETS];
    *r = (struct refusal){ .is = *is, .tag = tag, .next = *at };
    *at = r;
    MPID_core.nrefusals++;
    MPID_core.doubts |= DOUBT_REFUSED;
    struct sweep s = { .context_id = context_id, .tag = tag, .is = &r->is };
    MPID_Contexts_each(sweep_context, &s);
}

static void revoked_in(uint32_t context_id);

void MPID_Refused_packet(const struct dev_head *h, const void *body, size_t len)
{
    struct pkt_refused b = pkt_refused_of(body);
    if (b.flags & PKT_REFUSED_ALL) {
        revoked_in(h->context);
        return;
    }
    struct MPID_Refusal is = { .error = (int)b.error,
                               .rank = (int32_t)h->source,
                               .inter = (b.flags & PKT_REFUSED_INTER) != 0,
                               .remote = (b.flags & PKT_REFUSED_REMOTE) != 0 };
    memcpy(is.words, (const char *)body + sizeof b, len - sizeof b);
    note(h->context, (int32_t)h->tag, &is);
}

void MPID_Refuse(const struct MPIR_COMMUNICATOR *to, uint32_t context_id, int tag,
                 const struct MPID_Refusal *r)
{
    for (int32_t i = 0; i < to->remote_size; i++) {
        int32_t grank = grank_of(to, i);
        if (grank == MPID_core.rank)
            note(context_id, tag, r);
        else
            tell(grank, context_id, tag, r);
    }
}

void MPID_Refused_with(struct MPIR_COMMUNICATOR *comm, uint32_t part, uint32_t of)
{
    struct context *c = context_of(comm, part);
    struct context *other = MPID_Context_find(of);
    if (c == NULL) /* without memory it fails when it is used */
        return;
    c->refused_with = other != NULL ? other->refused_with : of;
    struct refusals *all = refusals_of(c);
    for (int i = 0; all != NULL && i < BUCKETS; i++)
        for (struct refusal *r = all->bucket[i], *next; r != NULL; r = next) {
            next = r->next;
            sweep_context(
                c, &(struct sweep){ .context_id = c->refused_with, .tag = r->tag, .is = &r->is, .c = c });
        }
    if (all != NULL && all->revoked != NULL)
        sweep_context(c, &(struct sweep){
                             .all = true, .context_id = c->refused_with, .is = &all->revoked->is, .c = c });
}

/* ---- Revoked communicators ---- */

static bool is_revoked(const struct context *c)
{
    return c != NULL && c->refusals != NULL && c->refusals->revoked != NULL;
}

bool MPID_Revoked(const struct MPIR_COMMUNICATOR *comm)
{
    return (MPID_core.doubts & DOUBT_REFUSED) && is_revoked(MPID_Context_find(comm->context_id));
}

static void revoke_context(uint32_t id)
{
    struct context *c = MPID_Context_get(id);
    if (is_revoked(c))
        return;
    if (c != NULL && c->refusals == NULL)
        c->refusals = calloc(1, sizeof *c->refusals);
    struct refusal *r = c != NULL && c->refusals != NULL ? calloc(1, sizeof *r) : NULL;
    if (r == NULL)
        MPID_Broken("no memory to note that a communicator has been revoked");
    r->is.error = MPID_ERR_REVOKED;
    c->refusals->revoked = r;
    MPID_core.nrefusals++;
    MPID_core.doubts |= DOUBT_REFUSED;
    struct sweep s = { .all = true, .context_id = id, .is = &r->is };
    MPID_Contexts_each(sweep_context, &s);
}

static void revoke_contexts(uint32_t id)
{
    for (uint32_t which = 0; which < MPID_CONTEXT_IDS; which++)
        if (which != MPID_CONTEXT_FAIL)
            revoke_context(id + which);
}

static void revoke_tell(const struct MPIR_COMMUNICATOR *to, uint32_t context_id)
{
    const struct MPID_Refusal is = { .error = MPID_ERR_REVOKED, .rank = to->rank, .revoked = true };
    for (int32_t i = 0; i < to->remote_size; i++)
        if (grank_of(to, i) != MPID_core.rank)
            tell(grank_of(to, i), context_id, 0, &is);
}

static void ring_tell(const struct revoked_ring *g, int32_t place)
{
    const struct MPID_Refusal is = { .error = MPID_ERR_REVOKED, .rank = g->me, .revoked = true };
    tell(g->grank[place], g->context_id, 0, &is);
}

static bool ring_lives(const struct revoked_ring *g, int32_t place)
{
    int err;
    return !MPID_Lost(g->grank[place], &err);
}

/* The first after this process that lives is another one than before. */
static bool ring_moves(struct revoked_ring *g)
{
    int32_t was = g->next;
    while (g->next != g->me && !ring_lives(g, g->next))
        g->next = (g->next + 1) % g->n;
    return g->next != was && g->next != g->me;
}

void MPID_Revoked_repair(void)
{
    for (struct revoked_ring *g = rings; g != NULL; g = g->later)
        if (ring_moves(g))
            ring_tell(g, g->next);
}

/* False: there is no memory for it. */
static bool ring_begin(const struct MPIR_COMMUNICATOR *comm)
{
    struct context *c = MPID_Context_find(comm->context_id);
    struct revoked_ring *g = malloc(sizeof *g + sizeof g->grank[0] * (size_t)comm->size);
    if (g == NULL)
        return false;
    *g = (struct revoked_ring){ .context_id = comm->context_id,
                                .n = comm->size,
                                .me = comm->rank,
                                .next = (comm->rank + 1) % comm->size,
                                .later = rings,
                                .at = &rings };
    for (int32_t i = 0; i < g->n; i++)
        g->grank[i] = grank_of(comm, i);
    if (rings != NULL)
        rings->at = &g->later;
    rings = g;
    c->refusals->ring = g;
    ring_moves(g);
    if (g->next != g->me)
        ring_tell(g, g->next);
    for (int32_t d = 2; d < g->n; d *= 2)
        if (ring_lives(g, (g->me + d) % g->n))
            ring_tell(g, (g->me + d) % g->n);
    return true;
}

void MPID_Revoke(struct MPIR_COMMUNICATOR *comm, const struct MPIR_COMMUNICATOR *local)
{
    revoke_contexts(comm->context_id);
    if (local == NULL && comm->size > RING_FROM && ring_begin(comm))
        return;
    revoke_tell(comm, comm->context_id);
    if (local != NULL)
        revoke_tell(local, comm->context_id);
}

static void revoked_in(uint32_t context_id)
{
    const struct context *c = MPID_Context_find(context_id);
    if (is_revoked(c))
        return;
    revoke_contexts(context_id);
    if (c != NULL && c->comm != NULL && MPID_core.config.revoked != NULL)
        MPID_core.config.revoked(c->comm);
}
