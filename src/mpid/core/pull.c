/* Long messages that the receiver copies alone, straight out of the sender's memory.
 *
 *   sender      RTS with the address of the message --> WAIT --(CTS of 0 bytes: MPID_Rndv_cts)--> gone
 *   receiver    PULL --(all copied)--> CTS of 0 bytes, gone
 *               PULL --(the device cannot)--> CTS, as if there had been no address (rndv.c)
 *
 * One copy by one core instead of two by two.  Which is faster depends on where the cores lie and on the size, and both
 * change while a job runs, as a kernel or a host moves its processes: so it is measured, for each peer and class of sizes.
 *
 * Invariants
 *   1. The sender waits only for CTS, so it may be anywhere; a message that cannot be copied so is sent in packets.
 *   2. What is pulled stands in MPID_core.pulls, in order; MPID_Progress goes on with the first, a bounded step each time.
 *   3. A way that has not been measured is tried; then the cheaper one is taken, but for one message in LOOK_EVERY (in four
 *      times as many where the other way cost more than twice as much) and the one after two messages that took twice as long
 *      as those before, which look at the other way.  Such looks become rarer while they do not change the choice. */
#include "core.h"
#include "util/clock.h"

enum {
    PULL_MIN = 48 << 10,
    PULL_STEP = 512 << 10,
    LOOK_EVERY = 64,
    LOOK_AGAIN = 8,
    LOOK_RARELY = 64,
    SLOW_ONES = 2
};

/* ---- Which way ---- */

static struct ways *ways_of(struct peer *p, int64_t bytes)
{
    return &p->ways[bytes < 192 << 10 ? 0 : bytes < 768 << 10 ? 1 : 2];
}

/* The way of the next message. */
static enum way next_way(struct ways *w)
{
    enum way best = w->cost[WAY_PULL] < w->cost[WAY_PACKETS] ? WAY_PULL : WAY_PACKETS;
    enum way other = best == WAY_PULL ? WAY_PACKETS : WAY_PULL;
    uint32_t every = w->cost[other] > 2 * w->cost[best] ? 4 * LOOK_EVERY : LOOK_EVERY;
    if (w->cost[WAY_PACKETS] == 0)
        return WAY_PACKETS;
    if (w->cost[WAY_PULL] == 0)
        return WAY_PULL;
    if (best != w->best || w->again == 0)
        w->again = LOOK_AGAIN;
    w->best = best;
    w->since++;
    if (w->since < every && !(w->slow >= SLOW_ONES && w->since >= w->again))
        return best;
    w->again = w->again < LOOK_RARELY ? 2 * w->again : LOOK_RARELY;
    w->since = 0;
    w->slow = 0;
    return other;
}

/* The time counts from the end of the message before, since of several at once each waits for the others; and when
 * the receiver was ready, not from the first packet: a sender that computes sends none, and can be read all the same. */
void MPID_Pull_ended(const struct rndv *v, enum way way)
{
    struct ways *w = ways_of(v->peer, v->want);
    uint64_t now = ku_clock_ns(), from = v->began > MPID_core.long_end ? v->began : MPID_core.long_end;
    float x = (float)(now - from) * 1024 / (float)v->want + 1, *cost = &w->cost[way];
    MPID_core.long_end = now;
    if (*cost != 0 && x > *cost * 2)
        w->slow += w->slow < SLOW_ONES;
    else if (w->slow < SLOW_ONES)
        w->slow = 0;
    if (*cost != 0 && x > *cost * 4) /* the sender was away, perhaps */
        x = *cost * 4;
    *cost = *cost == 0 ? x : (*cost + x) / 2;
}

bool MPID_Pull_wanted(struct peer *p, const struct MPIR_HANDLE *r, int64_t want)
{
    return want >= PULL_MIN && r->datatype == NULL && p->cd->caps.has_get && !p->no_pull &&
           next_way(ways_of(p, want)) == WAY_PULL;
}

bool MPID_Pull_measures(const struct rndv *v)
{
    return v->want >= PULL_MIN && v->peer->cd->caps.has_get && !v->peer->no_pull;
}

/* ---- The copying ---- */

void MPID_Pull_begin(struct rndv *v, uint64_t address)
{
    struct rndv **at = &MPID_core.pulls;
    v->state = RNDV_PULL;
    v->address = address;
    v->began = ku_clock_ns();
    v->next = NULL;
    while (*at != NULL)
        at = &(*at)->next;
    *at = v;
}

static void pulled(struct rndv *v)
{
    struct MPIR_HANDLE *r = v->req;
    int64_t total = v->total;
    MPID_Pull_ended(v, WAY_PULL);
    MPID_Rndv_answer(v->peer, v->other, 0);
    MPID_Rndv_free(v);
    recv_finish(r, r->s.MPI_SOURCE, r->s.MPI_TAG, total, MPID_Req_capacity(r));
}

int MPID_Pull_drive(void)
{
    struct rndv *v = MPID_core.pulls;
    struct peer *p = v->peer;
    int64_t left = v->want - v->done, n = left < PULL_STEP ? left : PULL_STEP;
    if (p->cd->ops.copy_from_peer(p->dp, (char *)v->req->buf + v->done, v->address + (uint64_t)v->done,
                                  (size_t)n) == DEV_OK) {
        v->done += n;
        if (v->done == v->want) {
            MPID_core.pulls = v->next;
            pulled(v);
        }
    } else {
        MPID_core.pulls = v->next;
        p->no_pull = true;
        v->done = 0;
        MPID_Rndv_ask(v);
    }
    return 1;
}

void MPID_Pull_peer_lost(int32_t grank)
{
    struct rndv **at = &MPID_core.pulls;
    while (*at != NULL)
        if ((*at)->peer->grank == grank)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}
