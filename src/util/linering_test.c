/* SPDX-License-Identifier: BSD-3-Clause */
#include "linering.h"
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static struct ku_ring *new_ring(void)
{
    struct ku_ring *r = aligned_alloc(64, sizeof *r);
    memset(r, 0, sizeof *r);
    return r;
}

static bool put(struct ku_ring_tx *tx, uint8_t len, uint32_t value)
{
    struct ku_line_head h = { .kind = 3, .len = len, .a = value, .b = ~value, .c = value * 3 };
    uint8_t body[KU_LINE_BODY];
    for (unsigned i = 0; i < len; i++)
        body[i] = (uint8_t)(value + i);
    return ku_ring_put(tx, &h, body, len);
}

static void take(struct ku_ring_rx *rx, uint8_t len, uint32_t value)
{
    struct ku_line_head h;
    const struct ku_line *line = ku_ring_peek(rx, &h);
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(h.kind, 3);
    ck_assert_int_eq(h.len, len);
    ck_assert_uint_eq(h.a, value);
    ck_assert_uint_eq(h.b, ~value);
    ck_assert_uint_eq(h.c, value * 3);
    for (unsigned i = 0; i < len; i++)
        ck_assert_int_eq(line->body[i], (uint8_t)(value + i));
    ku_ring_pop(rx);
}

START_TEST(every_length_arrives_whole_over_many_laps)
{
    struct ku_ring *r = new_ring();
    struct ku_ring_tx tx;
    struct ku_ring_rx rx;
    struct ku_line_head h;
    _Atomic uint32_t claims = 0;
    ku_ring_tx_init(&tx, r, &claims);
    ku_ring_rx_init(&rx, r, NULL);
    ck_assert_ptr_null(ku_ring_peek(&rx, &h));
    for (uint32_t i = 0; i < 100000; i++) {
        ck_assert(put(&tx, (uint8_t)(i % 49), i));
        ck_assert_uint_eq(claims, 0);
        take(&rx, (uint8_t)(i % 49), i);
        ck_assert_ptr_null(ku_ring_peek(&rx, &h));
    }
    free(r);
}
END_TEST

START_TEST(laps_beyond_16_bits)
{
    struct ku_ring *r = new_ring();
    struct ku_ring_tx tx;
    struct ku_ring_rx rx;
    _Atomic uint32_t claims = 0;
    struct ku_line_head h;
    /* As if 65534 laps had passed. */
    r->tail = r->consumed = 65534ull * KU_RING_SLOTS;
    for (int i = 0; i < KU_RING_SLOTS; i++)
        r->slot[i].first = 65534;
    ku_ring_tx_init(&tx, r, &claims);
    ku_ring_rx_init(&rx, r, NULL);
    for (uint32_t i = 0; i < 5 * KU_RING_SLOTS; i++) {
        ck_assert_ptr_null(ku_ring_peek(&rx, &h));
        ck_assert(put(&tx, 8, i));
        take(&rx, 8, i);
    }
    free(r);
}
END_TEST

START_TEST(a_full_ring_refuses_and_loses_nothing)
{
    struct ku_ring *r = new_ring();
    struct ku_ring_tx tx;
    struct ku_ring_rx rx;
    _Atomic uint32_t claims = 0;
    uint32_t sent = 0, got = 0;
    ku_ring_tx_init(&tx, r, &claims);
    ku_ring_rx_init(&rx, r, NULL);
    for (int round = 0; round < 50; round++) {
        while (put(&tx, 20, sent))
            sent++;
        ck_assert(ku_ring_full(&tx));
        ck_assert_uint_le(sent - got, KU_RING_SLOTS);
        ck_assert_uint_gt(sent - got, KU_RING_SLOTS - KU_RING_PUBLISH);
        for (int i = 0; i < 37 + round && got < sent; i++)
            take(&rx, 20, got++);
    }
    while (got < sent)
        take(&rx, 20, got++);
    free(r);
}
END_TEST

START_TEST(a_new_consumer_goes_on_where_the_old_one_stopped)
{
    struct ku_ring *r = new_ring();
    struct ku_ring_tx tx;
    struct ku_ring_rx rx;
    _Atomic uint32_t claims = 0;
    ku_ring_tx_init(&tx, r, &claims);
    ku_ring_rx_init(&rx, r, NULL);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert(put(&tx, 1, i));
    for (uint32_t i = 0; i < 7; i++)
        take(&rx, 1, i);
    ku_ring_rx_stop(&rx);
    ku_ring_rx_init(&rx, r, NULL);
    for (uint32_t i = 7; i < 10; i++)
        take(&rx, 1, i);
    free(r);
}
END_TEST

static _Atomic uint32_t words[3];
static bool dead[3];

static _Atomic uint32_t *claims_of(void *arg, uint32_t p)
{
    (void)arg;
    return dead[p] ? NULL : &words[p];
}

START_TEST(a_dead_producers_slot_is_skipped_and_a_live_ones_is_not)
{
    struct ku_ring *r = new_ring();
    struct ku_ring_tx tx[3];
    struct ku_ring_rx rx;
    uint64_t seen[1] = { 0 }, ticket;
    for (int p = 0; p < 3; p++) {
        words[p] = 0;
        dead[p] = false;
        ku_ring_tx_init(&tx[p], r, &words[p]);
    }
    ku_ring_rx_init(&rx, r, seen);
    ku_ring_enter(&words[1]);
    ck_assert(ku_ring_claim(&tx[1], &ticket));
    ck_assert(put(&tx[0], 8, 77));
    ck_assert(ku_ring_claimed(&rx));
    ku_ring_enter(&words[2]); /* in the window, but of another slot */
    dead[0] = true;           /* somebody died, but not the owner */
    ck_assert(!ku_ring_orphan(&rx, 3, claims_of, NULL));
    dead[1] = true;
    ck_assert(!ku_ring_orphan(&rx, 3, claims_of, NULL)); /* 2 might own it */
    ku_ring_leave(&words[2]);
    ck_assert(ku_ring_orphan(&rx, 3, claims_of, NULL));
    ku_ring_pop(&rx);
    take(&rx, 8, 77);
    ck_assert(!ku_ring_claimed(&rx));
    /* The next lap finds the skipped slot usable. */
    for (uint32_t i = 0; i < KU_RING_SLOTS; i++) {
        ck_assert(put(&tx[2], 8, i));
        take(&rx, 8, i);
    }
    free(r);
}
END_TEST

struct flood {
    struct ku_ring *ring;
    _Atomic uint32_t *claims;
    uint32_t id, n;
};

static void *flood(void *arg)
{
    struct flood *f = arg;
    struct ku_ring_tx tx;
    ku_ring_tx_init(&tx, f->ring, f->claims);
    for (uint32_t i = 0; i < f->n; i++) {
        struct ku_line_head h = { .len = 8, .a = f->id, .b = i };
        uint32_t body[2] = { f->id, i };
        while (!ku_ring_put(&tx, &h, body, 8))
            sched_yield();
    }
    return NULL;
}

START_TEST(many_threads_keep_their_order)
{
    enum { T = 4, N = 20000 };
    struct ku_ring *r = new_ring();
    _Atomic uint32_t claims = 0;
    struct flood f[T];
    pthread_t thread[T];
    struct ku_ring_rx rx;
    uint32_t next[T] = { 0 };
    ku_ring_rx_init(&rx, r, NULL);
    for (uint32_t i = 0; i < T; i++) {
        f[i] = (struct flood){ r, &claims, i, N };
        pthread_create(&thread[i], NULL, flood, &f[i]);
    }
    for (int got = 0; got < T * N;) {
        struct ku_line_head h;
        const struct ku_line *line = ku_ring_peek(&rx, &h);
        uint32_t body[2];
        if (!line) {
            sched_yield();
            continue;
        }
        memcpy(body, line->body, 8);
        ck_assert_uint_lt(h.a, T);
        ck_assert_uint_eq(h.b, next[h.a]);
        ck_assert_uint_eq(body[0], h.a);
        ck_assert_uint_eq(body[1], next[h.a]++);
        ku_ring_pop(&rx);
        got++;
    }
    for (int i = 0; i < T; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(claims, 0);
    free(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("linering");
    TCase *c = tcase_create("linering");
    SRunner *r = srunner_create(suite);
    int failed;
    ku_threaded = true;
    tcase_set_timeout(c, 20);
    tcase_add_test(c, every_length_arrives_whole_over_many_laps);
    tcase_add_test(c, laps_beyond_16_bits);
    tcase_add_test(c, a_full_ring_refuses_and_loses_nothing);
    tcase_add_test(c, a_new_consumer_goes_on_where_the_old_one_stopped);
    tcase_add_test(c, a_dead_producers_slot_is_skipped_and_a_live_ones_is_not);
    tcase_add_test(c, many_threads_keep_their_order);
    suite_add_tcase(suite, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
