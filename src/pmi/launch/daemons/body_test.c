/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes between mpiexec and its daemons, byte for byte. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "body.h"
#include "cards.h"
#include "pmi/launch/hang/hang.h"
#include "pmi/launch/job/launch.h"
#include "pmi/launch/frames/link.h"
#include "pmi/pmi.h"
#include "util/golden.h"

/* util.c's ends a job; here it is enough to stop. */
void *xgrow(void *p, size_t n, size_t size)
{
    void *q = realloc(p, n * size);
    ck_assert_ptr_nonnull(q);
    return q;
}

void *xalloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    ck_assert_ptr_nonnull(p);
    return p;
}

static struct unpack unpack_of(const struct pack *p)
{
    return (struct unpack){ p->bytes, p->bytes + p->len, false };
}

static void whole(const struct unpack *u)
{
    ck_assert(!u->wrong);
    ck_assert_ptr_eq(u->at, u->end);
}

/* Without its last byte, nothing is whole. */
static struct unpack short_of(const struct pack *p)
{
    return (struct unpack){ p->bytes, p->bytes + p->len - 1, false };
}

START_TEST(a_frame_is_these_bytes)
{
    static const uint8_t bytes[] = { 3, 0, 0, 0, FRAME_OUTPUT, 0,    0x4c, 0x4b,
                                     4, 3, 2, 1, 0xfe,         0xff, 0xff, 0xff };
    struct link l;
    struct frame f;
    uint8_t said[sizeof bytes + 3];
    const char *body;
    int to[2], from[2];
    ck_assert(pipe(to) == 0 && pipe(from) == 0);
    link_init(&l, from[0], to[1], false);
    link_send(&l, FRAME_OUTPUT, 0x01020304, -2, "abc", 3);
    ck_assert_int_eq(read(to[0], said, sizeof said), sizeof said);
    golden("frame", said, bytes, "42244");
    ck_assert_int_eq(memcmp(said + sizeof bytes, "abc", 3), 0);
    ck_assert_int_eq(write(from[1], said, sizeof said), sizeof said);
    link_read(&l);
    ck_assert(link_next(&l, &f, &body));
    ck_assert(f.len == 3 && f.kind == FRAME_OUTPUT && f.node == 0x01020304 && f.value == -2);
    ck_assert_int_eq(memcmp(body, "abc", 3), 0);
    link_close(&l);
    close(to[0]);
    close(from[1]);
}
END_TEST

START_TEST(values_are_these_bytes)
{
    static const uint8_t bytes[] = { 4,    3,    2, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0, 0, 0,    0,    0,    0,    0xf8, 0x3f };
    struct pack p = { 0 };
    put_u32(&p, 0x01020304);
    put_int(&p, -2);
    put_double(&p, 1.5);
    ck_assert_uint_eq(p.len, sizeof bytes);
    golden("values", p.bytes, bytes, "488");
    struct unpack u = unpack_of(&p);
    ck_assert_uint_eq(get_u32(&u), 0x01020304);
    ck_assert_int_eq(get_int(&u), -2);
    ck_assert_double_eq(get_double(&u), 1.5);
    whole(&u);
    free(p.bytes);
}
END_TEST

START_TEST(hello_and_ended_are_these_bytes)
{
    static const uint8_t bytes[] = { 4, 3, 2, 1, 5,    0,    0,    0,    8, 0, 0, 0,
                                     9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0,
                                     2, 0, 0, 0, 0xfd, 0xff, 0xff, 0xff, 1, 0, 0, 0 };
    struct frame_hello h = { 0x01020304, 5, 8, 9 }, h_back;
    struct frame_ended e = { -1, 7, 2, -3, 1 }, e_back;
    struct pack p = { 0 };
    put_hello(&p, &h);
    put_ended(&p, &e);
    ck_assert_uint_eq(p.len, sizeof bytes);
    golden("hello, ended", p.bytes, bytes, "444444444");
    struct unpack u = unpack_of(&p);
    get_hello(&u, &h_back);
    get_ended(&u, &e_back);
    whole(&u);
    ck_assert_int_eq(memcmp(&h, &h_back, sizeof h), 0);
    ck_assert_int_eq(memcmp(&e, &e_back, sizeof e), 0);
    free(p.bytes);
}
END_TEST

START_TEST(a_record_is_these_bytes)
{
    static const uint8_t bytes[] = { 8,  7, 6, 5, 4, 3, 2, 1, 2, 0, 0, 0, 4, 0, 0, 0, 5,   0,   0,  0,
                                     15, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'w', 'h', 'y' };
    struct pmi_record r = { 0x0102030405060708, 2, PMI_ABORT_SOME, 5, 15 }, back;
    const int32_t ranks[] = { 2, 2, 3 };
    char after[15];
    struct pack p = { 0 };
    memcpy(after, ranks, sizeof ranks);
    memcpy(after + sizeof ranks, "why", 3);
    put_record(&p, &r, after);
    ck_assert_uint_eq(p.len, sizeof bytes);
    golden("record", p.bytes, bytes, "84444444111");
    struct unpack u = unpack_of(&p), cut = short_of(&p);
    const char *said = get_record(&u, &back);
    whole(&u);
    ck_assert_int_eq(memcmp(&r, &back, sizeof r), 0);
    ck_assert_int_eq(memcmp(said, after, sizeof after), 0);
    get_record(&cut, &back);
    ck_assert(cut.wrong);
    free(p.bytes);
}
END_TEST

START_TEST(cards_are_these_bytes)
{
    static const uint8_t bytes[] = { 4, 3, 2, 1, 5, 0, 0, 0, 3, 0, 0, 0, 'a', 'b' };
    struct card_answer a = { 9, 0x01020304, 5, KU_CARD_THERE, "ab", 2 }, back = { .rank = 9 };
    struct pack p = { 0 }, most = { 0 };
    put_card(&p, &a);
    ck_assert_uint_eq(p.len, sizeof bytes);
    golden("card", p.bytes, bytes, "44411");
    struct unpack u = unpack_of(&p), none = { p.bytes, p.bytes + 11, false };
    get_card(&u, &back);
    whole(&u);
    ck_assert(back.epoch == a.epoch && back.node == a.node && back.is == a.is && back.len == 2);
    ck_assert_int_eq(memcmp(back.bytes, "ab", 2), 0);
    get_card(&none, &back);
    ck_assert(none.wrong && back.len == 0);
    for (uint32_t is = 0; is < 8; is++) {
        struct pack word = { 0 };
        put_u32(&word, is);
        memcpy(p.bytes + 8, word.bytes, sizeof is);
        free(word.bytes);
        u = unpack_of(&p);
        get_card(&u, &back);
        ck_assert_int_eq(u.wrong, is < KU_CARD_EMPTY || is > KU_CARD_ABSENT);
    }
    free(p.bytes);
    a.len = KU_CARD_MAX;
    a.bytes = calloc(1, KU_CARD_MAX);
    put_card(&most, &a);
    u = unpack_of(&most);
    get_card(&u, &back);
    whole(&u);
    ck_assert_uint_eq(back.len, KU_CARD_MAX);
    put_bytes(&most, "", 1);
    u = unpack_of(&most);
    get_card(&u, &back);
    ck_assert(u.wrong && back.len == 0);
    free((void *)(uintptr_t)a.bytes);
    free(most.bytes);
}
END_TEST

START_TEST(what_is_wanted_is_these_bytes)
{
    static const uint8_t bytes[] = { 4, 3, 2, 1, 5, 0, 0, 0 };
    static const uint8_t record[] = { 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 7, 0,
                                      0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 8, 7, 6, 5 };
    struct pmi_record r = { 1, 2, PMI_ASK, 3, 4 };
    const uint32_t rank = 0x05060708;
    struct pack p = { 0 };
    uint32_t epoch;
    int node;
    put_want(&p, 0x01020304, 5);
    ck_assert_uint_eq(p.len, sizeof bytes);
    golden("want", p.bytes, bytes, "44");
    struct unpack u = unpack_of(&p);
    get_want(&u, &epoch, &node);
    whole(&u);
    ck_assert(epoch == 0x01020304 && node == 5);
    p.len = 0;
    put_record(&p, &r, (const char *)&rank);
    ck_assert_uint_eq(p.len, sizeof record);
    golden("ask", p.bytes, record, "844444");
    free(p.bytes);
}
END_TEST

/* Whatever a rank says, it comes as it was: also a list that is longer than what it says. */
START_TEST(records_come_back)
{
    for (uint32_t kind = 0; kind < 8; kind++)
        for (uint32_t len = 0; len < 20; len++)
            for (uint32_t n = 0; n < 9; n++) {
                struct pmi_record r = { 1, 2, kind, 3, len }, back;
                char text[20] = "";
                struct pack p = { 0 };
                memcpy(text, &n, sizeof n);
                put_record(&p, &r, text);
                struct unpack u = unpack_of(&p);
                const char *said = get_record(&u, &back);
                whole(&u);
                ck_assert_int_eq(memcmp(&r, &back, sizeof r), 0);
                ck_assert_int_eq(memcmp(said, text, len), 0);
                free(p.bytes);
            }
}
END_TEST

static struct hang_state state(int nops, int nmsgs)
{
    struct hang_state s = {
        .pid = 0x11121314, .answered = 1, .others = 2, .since_age = 0x21, .seen_age = 0x22
    };
    s.seg.state = KU_RANK_RUNNING;
    s.seg.pid = 0x31;
    s.seg.sleeping = 1;
    s.call.since = 0x41;
    s.call.seen = 0x42;
    s.call.polls = true;
    s.call.others = 3;
    s.call.progress = 0x43;
    s.call.nops = nops;
    s.call.nmsgs = nmsgs;
    s.call.nthreads = 2;
    for (int i = 0; i < 2; i++)
        s.call.thread[i] =
            (struct ku_seg_thread){ 0, 1, "MPI_Wait", { 1, 0, true, i, 2, 3, 0x53, 4, 8, 0x54, 9, "" } };
    strcpy(s.call.call, "MPI_Recv");
    s.call.comm = 0x44;
    s.call.comm_size = 2;
    s.call.members[5] = 0x55;
    for (int i = 0; i < nops && i < KU_CALL_OPS; i++)
        s.call.op[i] =
            (struct ku_seg_op){ 1, 2, true, -1, i, -2, 0x51, 2, (int64_t)1 << 40, 0x55, 10, "a name" };
    for (int i = 0; i < nmsgs && i < KU_CALL_MSGS; i++)
        s.call.msg[i] = (struct ku_seg_op){ 4, 0, false, i, 5, 6, 0x52, 3, 7, 0, 0, "" };
    return s;
}

START_TEST(a_state_is_these_bytes)
{
    static const uint8_t bytes[] = {
        0x14, 0x13, 0x12, 0x11, 1, 0, 0,    0, 2,   0,    0,   0,    0x21, 0,   0,   0,   0, 0, 0, 0,    0x22,
        0,    0,    0,    0,    0, 0, 0,    1, 0,   0,    0,   0x31, 0,    0,   0,   1,   0, 0, 0, 0x41, 0,
        0,    0,    0,    0,    0, 0, 0x42, 0, 0,   0,    0,   0,    0,    0,   1,   0,   0, 0, 0, 0,    0,
        0,    3,    0,    0,    0, 0, 0,    0, 0,   0x43, 0,   0,    0,    1,   0,   0,   0, 0, 0, 0,    0,
        2,    0,    0,    0,    8, 0, 0,    0, 'M', 'P',  'I', '_',  'R',  'e', 'c', 'v', 0, 0, 0, 0,    0x44,
        0,    0,    0,    2,    0, 0, 0,    0, 0,   0,    0,   0,    0x55, 0,   0,   0,   0, 0, 0
    };
    struct hang_state s = state(1, 0);
    struct pack p = { 0 };
    put_state(&p, &s);
    ck_assert_uint_eq(p.len, sizeof bytes - 12 + KU_CALL_MEMBERS / 8 + 10 * 4 + 16 + 6 +
                                 2 * (4 + 8 + 4 + 10 * 4 + 16));
    golden("state", p.bytes, bytes, "444884448844444444411111111444111111111111");
    free(p.bytes);
}
END_TEST

START_TEST(states_come_back)
{
    for (int nops = 0; nops < KU_CALL_OPS + 3; nops++)
        for (int nmsgs = 0; nmsgs < KU_CALL_MSGS + 3; nmsgs++) {
            struct hang_state s = state(nops, nmsgs), back;
            struct pack p = { 0 };
            put_state(&p, &s);
            struct unpack u = unpack_of(&p), cut = short_of(&p);
            get_state(&u, &back);
            whole(&u);
            ck_assert_int_eq(memcmp(&s, &back, sizeof s), 0);
            get_state(&cut, &back);
            ck_assert(cut.wrong);
            free(p.bytes);
        }
}
END_TEST

/* A rank may be writing when it is looked at: what is told of it is well formed all the same. */
START_TEST(a_state_without_ends_can_be_read)
{
    struct hang_state s = state(1, 0), back;
    struct pack p = { 0 };
    memset(s.call.call, 'A', sizeof s.call.call);
    s.call.nops = -5;
    s.call.nmsgs = 1 << 30;
    put_state(&p, &s);
    struct unpack u = unpack_of(&p);
    get_state(&u, &back);
    whole(&u);
    ck_assert_uint_eq(strlen(back.call.call), KU_CALL_NAME - 1);
    ck_assert_int_eq(back.call.nops, 0);
    free(p.bytes);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("body");
    TCase *c = tcase_create("bytes");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, a_frame_is_these_bytes);
    tcase_add_test(c, values_are_these_bytes);
    tcase_add_test(c, hello_and_ended_are_these_bytes);
    tcase_add_test(c, a_record_is_these_bytes);
    tcase_add_test(c, cards_are_these_bytes);
    tcase_add_test(c, what_is_wanted_is_these_bytes);
    tcase_add_test(c, records_come_back);
    tcase_add_test(c, a_state_is_these_bytes);
    tcase_add_test(c, states_come_back);
    tcase_add_test(c, a_state_without_ends_can_be_read);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
