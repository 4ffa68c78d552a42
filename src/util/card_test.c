/* SPDX-License-Identifier: BSD-3-Clause */
/* Business cards: written, read on the node, asked for and answered between two nodes; epochs, askers that die,
 * want of memory. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/card.h"
#include "util/err.h"

/* Ranks 0, 1 are on the first node, 2, 3 on the second. */
enum { SIZE = 4, LOCAL = 2, LONG = 20 << 10 };

static struct ku_segment seg[2];
static struct ku_heap rank[SIZE], launcher[2];
static bool refuse; /* pages */

int __real_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len)
{
    if (mode == 0 && refuse) {
        errno = ENOSPC;
        return -1;
    }
    return __real_fallocate(fd, mode, offset, len);
}

static void begin_epoch(uint32_t epoch)
{
    for (uint32_t r = 0; r < SIZE; r++) {
        ku_heap_close(&rank[r]);
        ku_heap_open(&rank[r], &seg[r / LOCAL], r % LOCAL, epoch);
    }
}

static void set_up(void)
{
    static const int32_t node_of[SIZE] = { 0, 0, 1, 1 };
    static const uint8_t secret[KU_SECRET_BYTES];
    refuse = false;
    for (uint32_t n = 0; n < 2; n++) {
        ck_assert_int_eq(ku_segment_create(&seg[n], SIZE, LOCAL, n, 2), 0);
        ku_segment_join(&seg[n], 1, secret, node_of);
        ku_heap_open(&launcher[n], &seg[n], 0, 0);
    }
    begin_epoch(1);
}

static void tear_down(void)
{
    for (uint32_t r = 0; r < SIZE; r++)
        ku_heap_close(&rank[r]);
    for (uint32_t n = 0; n < 2; n++) {
        ku_heap_close(&launcher[n]);
        ku_segment_detach(&seg[n]);
    }
}

static uint8_t byte_of(uint32_t r, uint32_t i)
{
    return (uint8_t)(r * 31 + i * 7 + i / 256);
}

static bool write_card(uint32_t r, uint32_t len)
{
    uint8_t *bytes = calloc(len + 1, 1);
    bool wanted;
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = byte_of(r, i);
    ck_assert_int_eq(ku_card_write(&rank[r], bytes, len, &wanted), 0);
    free(bytes);
    return wanted;
}

/* What `r` finds of the card of `of`; `asks`: it is to ask. */
static enum ku_card_state look(uint32_t r, uint32_t of, uint32_t len, bool asks)
{
    struct ku_card c;
    bool ask;
    enum ku_card_state is = ku_card_look(&rank[r], of, &c, &ask);
    ck_assert_int_eq(ask, asks);
    if (is == KU_CARD_THERE) {
        ck_assert_uint_eq(c.len, len);
        uint32_t right = 0;
        while (right < len && c.bytes[right] == byte_of(of, right))
            right++;
        ck_assert_uint_eq(right, len);
        ku_card_done(&rank[r], &c);
    }
    return is;
}

/* As the launcher does it: the card of `of` for the other node. */
static enum ku_card_state bring(uint32_t of, uint32_t epoch)
{
    void *bytes;
    uint32_t len, n = of / LOCAL;
    enum ku_card_state is = ku_card_copy(&launcher[n], of % LOCAL, epoch, &bytes, &len);
    if (is != KU_CARD_NONE && is != KU_CARD_ASKED)
        ck_assert(
            ku_card_answer(&launcher[1 - n], of, epoch, is == KU_CARD_PAST ? KU_CARD_EMPTY : is, bytes, len));
    free(bytes);
    return is;
}

START_TEST(on_a_node)
{
    ck_assert_int_eq(look(0, 1, 0, false), KU_CARD_NONE);
    ck_assert_uint_eq(seg[0].head->card_wanted, 1);
    ku_segment_rank(&seg[0], 0)->sleeping = 1;
    ck_assert(!write_card(1, LONG));
    ck_assert_uint_eq(seg[0].head->card_wanted, 0);
    ck_assert_uint_eq(ku_segment_rank(&seg[0], 0)->sleeping, 0); /* woken */
    ck_assert_int_eq(look(0, 1, LONG, false), KU_CARD_THERE);
    ck_assert_int_eq(look(1, 1, LONG, false), KU_CARD_THERE);
    write_card(0, 0);
    ck_assert_int_eq(look(1, 0, 0, false), KU_CARD_EMPTY);
    ck_assert_uint_eq(seg[0].head->cards, 0);
}
END_TEST

START_TEST(of_all_lengths)
{
    static const uint32_t lens[] = { 1, 123, 124, 125, 252, 253, 4096, 65535, 65536, KU_CARD_MAX };
    for (uint32_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        begin_epoch(i + 1);
        write_card(1, lens[i]);
        ck_assert_int_eq(look(0, 1, lens[i], false), KU_CARD_THERE);
        ck_assert_int_eq(look(2, 1, 0, true), KU_CARD_NONE);
        ck_assert_int_eq(bring(1, i + 1), KU_CARD_THERE);
        ck_assert_int_eq(look(3, 1, lens[i], false), KU_CARD_THERE);
    }
    bool wanted;
    ck_assert_int_eq(ku_card_write(&rank[0], "", KU_CARD_MAX + 1, &wanted), E2BIG);
}
END_TEST

/* One asks for a node; who comes later finds what it got. */
START_TEST(between_nodes)
{
    write_card(0, LONG);
    ck_assert_int_eq(look(2, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(look(2, 0, 0, false), KU_CARD_NONE);
    ck_assert_int_eq(look(3, 0, 0, false), KU_CARD_NONE);
    ku_segment_rank(&seg[1], 1)->sleeping = 1;
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE);
    ck_assert_uint_eq(ku_segment_rank(&seg[1], 1)->sleeping, 0);
    ck_assert_int_eq(look(3, 0, LONG, false), KU_CARD_THERE);
    ck_assert_int_eq(look(2, 0, LONG, false), KU_CARD_THERE);
    ck_assert_uint_eq(seg[1].head->cards, 1);
    uint64_t blocks = ku_heap_use(&rank[2]).blocks;
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE); /* asked for by two: once is enough */
    ck_assert_uint_eq(seg[1].head->cards, 1);
    ck_assert_uint_eq(ku_heap_use(&rank[2]).blocks, blocks);
}
END_TEST

START_TEST(before_it_is_there)
{
    ck_assert_int_eq(look(2, 1, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(bring(1, 1), KU_CARD_NONE);
    ck_assert(!write_card(0, 10)); /* another's */
    ck_assert(write_card(1, 10));  /* the launcher is to be told */
    ck_assert_int_eq(bring(1, 1), KU_CARD_THERE);
    ck_assert_int_eq(look(2, 1, 10, false), KU_CARD_THERE);
    ck_assert_int_eq(look(2, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE);
    write_card(3, 0);
    ck_assert_int_eq(look(0, 3, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(bring(3, 1), KU_CARD_EMPTY);
    ck_assert_int_eq(look(0, 3, 0, false), KU_CARD_EMPTY);
}
END_TEST

START_TEST(epochs)
{
    write_card(0, 100);
    ck_assert_int_eq(look(2, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE);
    ck_assert_int_eq(look(2, 1, 0, true), KU_CARD_NONE); /* never answered in this epoch */
    begin_epoch(2);
    ck_assert_int_eq(look(1, 0, 0, false), KU_CARD_NONE);
    ck_assert_int_eq(look(2, 0, 0, true), KU_CARD_NONE); /* what is there is of the epoch before */
    ck_assert_int_eq(bring(0, 2), KU_CARD_NONE);
    ck_assert(write_card(0, 200));
    ck_assert_int_eq(bring(0, 2), KU_CARD_THERE);
    ck_assert_int_eq(look(3, 0, 200, false), KU_CARD_THERE);
    /* An answer that comes too late changes nothing, whoever uses the heap by now. */
    uint64_t blocks = ku_heap_use(&rank[2]).blocks;
    ck_assert(ku_card_answer(&launcher[1], 1, 1, KU_CARD_THERE, "late", 4));
    ck_assert_uint_eq(ku_heap_use(&rank[2]).blocks, blocks);
    ck_assert_int_eq(look(2, 1, 0, true), KU_CARD_NONE);
    /* A rank is in a later epoch than who asks. */
    rank[1].epoch = 3;
    write_card(1, 5);
    ck_assert_int_eq(bring(1, 2), KU_CARD_PAST);
    ck_assert_int_eq(look(2, 1, 0, false), KU_CARD_EMPTY);
    ck_assert_int_eq(look(0, 1, 0, false), KU_CARD_PAST);
    /* Its node's heap has gone on, and its card of this epoch has gone with that. */
    ck_assert_int_eq(bring(0, 2), KU_CARD_PAST);
}
END_TEST

START_TEST(an_asker_dies)
{
    write_card(0, 50);
    ck_assert_int_eq(look(2, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(look(3, 0, 0, false), KU_CARD_NONE);
    ku_segment_mark_gone(&seg[1], 2, KU_GONE); /* perhaps before it told the launcher */
    ck_assert_int_eq(look(3, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(look(3, 0, 0, false), KU_CARD_NONE);
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE);
    ck_assert_int_eq(look(3, 0, 50, false), KU_CARD_THERE);
}
END_TEST

START_TEST(no_memory)
{
    bool wanted;
    write_card(0, 50);
    refuse = true;
    ck_assert_int_eq(ku_card_write(&rank[2], "x", 1, &wanted), ENOSPC);
    ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "no memory"));
    ck_assert_int_eq(look(3, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE);
    ck_assert_int_eq(look(3, 0, 0, false), KU_CARD_LACKING);
}
END_TEST

/* A rank that is stopped holds the heap's lock: the launcher does not wait for it. */
START_TEST(somebody_has_the_lock)
{
    write_card(0, 50);
    ck_assert_int_eq(look(2, 0, 0, true), KU_CARD_NONE);
    ck_assert_int_eq(ku_heap_try(&rank[3], 1), 0);
    ck_assert(!ku_card_answer(&launcher[1], 0, 1, KU_CARD_THERE, "late", 4));
    ck_assert_int_eq(ku_heap_try(&launcher[1], 1), EBUSY);
    ku_heap_leave(&rank[3]);
    ck_assert_int_eq(ku_heap_try(&launcher[1], 0), ESTALE);
    ck_assert_int_eq(bring(0, 1), KU_CARD_THERE);
    ck_assert_int_eq(look(2, 0, 50, false), KU_CARD_THERE);
}
END_TEST

/* What a rank of the job costs a node that does not ask for its card. */
START_TEST(a_rank_costs_a_node)
{
    struct ku_segment s, t;
    struct stat before, after;
    ck_assert_int_eq(ku_segment_create(&s, 1 << 20, 2, 0, 2), 0);
    ck_assert_int_eq(ku_segment_create(&t, 1 << 10, 2, 0, 2), 0);
    uint64_t most = (s.head->total - t.head->total) / ((1 << 20) - (1 << 10));
    ck_assert_uint_le(most, 8 + 4 + 4 + 1); /* card, node_of, dead, gone: all the rest is of the ranks here */
    ck_assert_uint_le(s.head->team_off - s.head->card_off, (8 << 20) + 4096);
    ck_assert_int_eq(fstat(s.fd, &before), 0);
    struct ku_heap h = { 0 };
    for (uint32_t r = 0; r < 100; r++) { /* of so many peers, one in 10,000 */
        struct ku_card c;
        bool ask;
        ku_heap_open(&h, &s, 0, 1);
        ku_segment_grank_of(&s)[1] = 1;
        ck_assert_int_eq(ku_card_look(&h, 10000 * r + 2, &c, &ask), KU_CARD_NONE);
        ck_assert(ask);
        ck_assert(ku_card_answer(&h, 10000 * r + 2, 1, KU_CARD_THERE, &before, 100));
    }
    ck_assert_int_eq(fstat(s.fd, &after), 0);
    ck_assert_int_lt((after.st_blocks - before.st_blocks) * 512, 1 << 20);
    ku_heap_close(&h);
    ku_segment_detach(&s);
    ku_segment_detach(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("card");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, on_a_node);
    tcase_add_test(t, of_all_lengths);
    tcase_add_test(t, between_nodes);
    tcase_add_test(t, before_it_is_there);
    tcase_add_test(t, epochs);
    tcase_add_test(t, an_asker_dies);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, somebody_has_the_lock);
    tcase_add_test(t, a_rank_costs_a_node);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
