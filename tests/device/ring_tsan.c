/* SPDX-License-Identifier: BSD-3-Clause */
/* ring_tsan.c: the line ring with producers and consumer as threads, for ThreadSanitizer.  usage: ring_tsan
 * [seconds] */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "util/clock.h"
#include "util/linering.h"

enum { PRODUCERS = 4 };

static struct ku_ring ring, lane;  /* the last producer has the lane */
static _Atomic uint32_t claims[2]; /* two "processes" of two threads */
static _Atomic bool stop;
static _Atomic uint32_t produced[PRODUCERS];

static void *produce(void *arg)
{
    uint32_t id = (uint32_t)(uintptr_t)arg, i = 0;
    struct ku_ring_tx tx;
    bool alone = id == PRODUCERS - 1;
    ku_ring_tx_init(&tx, alone ? &lane : &ring, &claims[id / 2]);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        struct ku_line_head h = { .kind = 1, .len = (uint8_t)(8 + i % 41), .a = id, .b = i };
        uint8_t body[KU_LINE_BODY];
        memset(body, (int)(id + i), sizeof body);
        if (alone ? ku_ring_put_alone(&tx, &h, body, h.len) : ku_ring_put(&tx, &h, body, h.len))
            i++;
        else
            sched_yield();
    }
    produced[id] = i;
    return NULL;
}

static _Atomic uint32_t *claims_of(void *arg, uint32_t p)
{
    (void)arg;
    return &claims[p];
}

static bool check(const struct ku_line *line, const struct ku_line_head *h, uint32_t *next)
{
    if (h->a >= PRODUCERS || h->b != next[h->a] || h->len != 8 + h->b % 41)
        return false;
    for (unsigned i = 0; i < h->len; i++)
        if (line->body[i] != (uint8_t)(h->a + h->b))
            return false;
    next[h->a]++;
    return true;
}

static uint32_t next_of[PRODUCERS];

/* Take all there is; false: a wrong packet, or a slot taken for a dead producer's though nobody died. */
static bool drain(struct ku_ring_rx *rx)
{
    struct ku_line_head h;
    const struct ku_line *line;
    while ((line = ku_ring_peek(rx, &h)) != NULL) {
        if (!check(line, &h, next_of)) {
            printf("producer %u: packet %u instead of %u\n", h.a, h.b, h.a < PRODUCERS ? next_of[h.a] : 0);
            return false;
        }
        ku_ring_pop(rx);
    }
    if (rx->ring == &ring && ku_ring_claimed(rx) && ku_ring_orphan(rx, 2, claims_of, NULL)) {
        printf("the slot of a live producer would have been skipped\n");
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    uint64_t end = ku_clock_ns() + (argc > 1 ? (uint64_t)atoi(argv[1]) : 3) * 1000000000u, seen[1] = { 0 };
    pthread_t t[PRODUCERS];
    struct ku_ring_rx rx, from_lane;
    bool good = true;
    ku_threaded = true;
    ku_ring_rx_init(&rx, &ring, seen);
    ku_ring_rx_init(&from_lane, &lane, NULL);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        if (pthread_create(&t[i], NULL, produce, (void *)i))
            return 2;
    while (good && ku_clock_ns() < end)
        good = drain(&rx) && drain(&from_lane);
    stop = true;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(t[i], NULL);
    good = good && drain(&rx) && drain(&from_lane);
    for (int i = 0; i < PRODUCERS; i++)
        good = good && next_of[i] == produced[i] && produced[i] > 0;
    printf("%u %u %u %u packets: %s\n", next_of[0], next_of[1], next_of[2], next_of[3],
           good ? "in order" : "WRONG");
    return !good;
}
