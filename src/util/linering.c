/* SPDX-License-Identifier: BSD-3-Clause */
#include "linering.h"

void ku_ring_tx_init(struct ku_ring_tx *tx, struct ku_ring *ring, _Atomic uint32_t *claims)
{
    tx->ring = ring;
    tx->consumed = atomic_load_explicit(&ring->consumed, memory_order_acquire);
    tx->claims = claims;
}

void ku_ring_rx_init(struct ku_ring_rx *rx, struct ku_ring *ring, uint64_t *seen)
{
    rx->ring = ring;
    rx->head = atomic_load_explicit(&ring->consumed, memory_order_relaxed);
    rx->stuck = 0;
    rx->seen = seen;
}

void ku_ring_rx_stop(struct ku_ring_rx *rx)
{
    ku_ring_show(rx);
}

static void start_search(struct ku_ring_rx *rx, uint32_t processes)
{
    memset(rx->seen, 0, ku_ring_seen_words(processes) * sizeof *rx->seen);
    rx->stuck = rx->head + 1;
}

bool ku_ring_orphan(struct ku_ring_rx *rx, uint32_t processes,
                    _Atomic uint32_t *(*claims_of)(void *arg, uint32_t p), void *arg)
{
    bool all = true;
    if (!rx->seen)
        return false;
    if (rx->stuck != rx->head + 1)
        start_search(rx, processes);
    for (uint32_t p = 0; p < processes; p++) {
        _Atomic uint32_t *claims;
        if (rx->seen[p / 64] >> (p % 64) & 1)
            continue;
        claims = claims_of(arg, p);
        if (claims && atomic_load_explicit(claims, memory_order_acquire) != 0)
            all = false;
        else
            rx->seen[p / 64] |= 1ull << (p % 64);
    }
    /* The owner may have published just before it was seen outside. */
    return all && ku_ring_claimed(rx);
}
