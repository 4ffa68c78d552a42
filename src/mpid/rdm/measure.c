/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c: is a network card as fast as such cards are?  A software link looks like one, and a library may have
 * been told not to use it. So the device sends short packets to this process itself before it says what one costs:
 * through the library and the card, without the wire.  That needs no other process.  The result goes with the
 * address to all peers, so that both ends of a pair know it. */
#include "rdm.h"
#include <stdio.h>

enum {
    PROBES = 20,
    CONNECT_MS = 50, /* the first is waited for: the library connects meanwhile */
    ALL_MS = 5,      /* and all others */
    SETTLE_MS = 50,
    LIE = 2 /* a card that takes so many times as long is none */
};

/* How long a packet takes; 0: it has not come until `end`. */
static uint64_t probe(struct dev_peer *p, uint64_t end)
{
    struct dev *d = p->dev;
    uint32_t seen = d->probes;
    uint64_t begun, now;
    dev_status st;
    do {
        begun = now = rdm_now();
        ku_lock(&d->lock);
        st = rdm_send_head(p, RDM_PROBE, RDM_OP_CREDIT);
        ku_unlock(&d->lock);
        if (st == DEV_AGAIN)
            rdm_hand_over(d);
    } while (st == DEV_AGAIN && now < end);
    while (d->probes == seen && now < end) {
        rdm_hand_over(d);
        now = rdm_now();
    }
    return d->probes != seen ? now - begun : 0;
}

/* The least of several, which other work of the host disturbs least; 0: there is none. */
static uint64_t measure_least(struct dev_peer *p)
{
    uint64_t end = rdm_now() + CONNECT_MS * 1000000ull, ns = probe(p, end), min = 0;
    end = rdm_now() + ALL_MS * 1000000ull;
    for (int i = 0; i < PROBES && ns != 0; i++) {
        ns = probe(p, end);
        if (ns != 0 && (min == 0 || ns < min))
            min = ns;
    }
    return min;
}

/* All have come back, and the library has done with them: later looks find nothing of them. */
static void measure_settle(struct dev_peer *p)
{
    struct dev *d = p->dev;
    uint64_t end = rdm_now() + SETTLE_MS * 1000000ull;
    while ((p->in_flight > 0 || (uint16_t)d->probes != p->seq) && rdm_now() < end)
        rdm_hand_over(d);
}

/* The process is a peer of its own for this alone.  It counts as gone, so that nothing is told of it. */
static bool measure_measure(struct dev *d, const void *address, size_t n)
{
    struct dev_peer *p;
    ku_lock(&d->lock);
    p = rdm_peer(d, d->world.rank);
    if (p != NULL) {
        p->state = RDM_GONE;
        p->buried = true;
        p->token = rdm_token(d, d->nonce, d->world.rank, d->world.rank);
    }
    if (p != NULL && d->lib->connect(p, address, n) != DEV_OK)
        p = NULL;
    ku_unlock(&d->lock);
    if (p == NULL)
        return false;
    d->measured_ns = (uint32_t)measure_least(p);
    measure_settle(p);
    ku_lock(&d->lock);
    d->lib->disconnect(p);
    d->refused = false;
    ku_unlock(&d->lock);
    return true;
}

bool rdm_asks_card(struct dev *d, uint32_t card_ns)
{
    int64_t as_if = d->up.knob_number(d->up.core, "CARD_NS");
    d->card_ns = as_if > 0 ? (uint32_t)as_if : card_ns;
    return as_if > 0 || (card_ns > 0 && d->world.size > d->world.local_size);
}

bool rdm_measure(struct dev *d, const void *address, size_t n)
{
    sigset_t signals;
    bool reached;
    ku_hush(&signals, 0);
    reached = measure_measure(d, address, n);
    ku_hush_end(&signals);
    return reached;
}

static bool is_slow(const struct dev *d)
{
    return d->card_ns > 0 && d->measured_ns > LIE * d->card_ns;
}

uint32_t rdm_latency(const struct dev *d, uint32_t without_card)
{
    if (d->card_ns == 0)
        return without_card;
    return is_slow(d) ? d->measured_ns : d->card_ns;
}

int rdm_about(const struct dev *d, char *text, size_t cap, int n)
{
    size_t at = (size_t)n < cap ? (size_t)n : cap;
    if (n < 0 || !is_slow(d))
        return n;
    return n +
           snprintf(text + at, cap - at, ", measured: such a card would take %.1f us", d->card_ns / 1000.0);
}
