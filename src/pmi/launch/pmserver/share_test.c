/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences, questions and names between the servants of several hosts; and parcels that are nonsense, which must be
 * refused, or harm nobody. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"
#include "published.h"
#include "pmi/launch/frames/frame_pack.h"
#include "share.h"
#include "util/publish.h"

enum { HOSTS = 3 };
enum kind { FENCE = 1, FENCED, ASK, ANSWER };

/* util.c's end a job; here it is enough to stop. */
void *xalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    ck_assert_ptr_nonnull(p);
    return p;
}

void *xgrow(void *p, size_t n, size_t size)
{
    void *q = realloc(p, n && size ? n * size : 1);
    ck_assert_ptr_nonnull(q);
    return q;
}

char *xformat(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    ck_assert_int_ge(vasprintf(&text, fmt, args), 0);
    va_end(args);
    return text;
}

void die(const char *fmt, ...)
{
    ck_abort_msg("%s", fmt);
}

static int nsaid;
void say(const char *fmt, ...)
{
    ck_assert(strncmp(fmt, "a rank waits for one of another mpiexec's", 41) == 0);
    nsaid++;
}

static double clock_now;
double now(void)
{
    return clock_now;
}

/* ---- what the host under test says ---- */

static struct pack sent; /* the parcels of the last message, put together */
static int sent_to, nsent;
static bool sent_whole = true;

static void on_send(int to, const void *bytes, size_t len)
{
    struct unpack u = { bytes, (const char *)bytes + len, false };
    ck_assert_uint_le(len, SHARE_PARCEL);
    if (sent_whole) {
        sent.len = 0;
        nsent++;
    }
    sent_to = to;
    sent_whole = get_u32(&u) == 1;
    put_bytes(&sent, u.at, (size_t)(u.end - u.at));
}

enum { ECHO = NAMES_END };

static bool on_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    if (what < NAMES_END)
        return names_asked(from, id, what, bytes, len);
    if (what == ECHO)
        share_answer(from, id, 7, bytes, len);
    return what == ECHO;
}

static void begin(int me)
{
    static const struct share_ops ops = { on_send, on_asked };
    sent.len = 0;
    nsent = 0;
    sent_whole = true;
    clock_now = 1;
    share_begin(me, HOSTS, &ops);
}

static void end(void)
{
    names_end();
    share_end();
    free(sent.bytes);
    sent = (struct pack){ 0 };
}

/* ---- what it is told ---- */

static bool parcel(int from, const void *bytes, size_t len, bool last)
{
    struct pack p = { 0 };
    put_u32(&p, last);
    put_bytes(&p, bytes, len);
    bool ok = share_take(from, p.bytes, p.len);
    free(p.bytes);
    return ok;
}

static bool told(int from, struct pack *m)
{
    bool ok = parcel(from, m->bytes, m->len, true);
    free(m->bytes);
    return ok;
}

static struct pack fence_message(const char *key, const int *hosts, int n, const char *text)
{
    struct pack m = { 0 };
    put_u32(&m, FENCE);
    put_text(&m, key);
    put_u32(&m, (uint32_t)n);
    for (int i = 0; i < n; i++)
        put_u32(&m, (uint32_t)hosts[i]);
    put_bytes(&m, text, strlen(text));
    return m;
}

static bool tell_fence(int from, const char *key, const int *hosts, int n, const char *text)
{
    struct pack m = fence_message(key, hosts, n, text);
    return told(from, &m);
}

static bool tell_fenced(int from, const char *key, const char *text)
{
    struct pack m = { 0 };
    put_u32(&m, FENCED);
    put_text(&m, key);
    put_bytes(&m, text, strlen(text));
    return told(from, &m);
}

static bool tell_body(int from, enum kind kind, uint32_t id, uint32_t value, const void *body, size_t len)
{
    struct pack m = { 0 };
    put_u32(&m, kind);
    put_u32(&m, id);
    put_u32(&m, value);
    put_bytes(&m, body, len);
    return told(from, &m);
}

struct result {
    int times, status;
    char bytes[100];
};

static void done(void *arg, int status, const char *bytes, size_t len)
{
    struct result *r = arg;
    r->times++;
    r->status = status;
    snprintf(r->bytes, sizeof r->bytes, "%.*s", (int)len, bytes ? bytes : "");
}

static const int32_t all[] = { 0, 1, 2 }, some[] = { 0, 2 }, later[] = { 1, 2 }, alone[] = { 0 };

static void enter(const char *key, const int32_t *hosts, int n, const char *text, struct result *r)
{
    *r = (struct result){ 0 };
    share_fence(key, hosts, n, text, strlen(text), done, r);
}

START_TEST(one_host_alone)
{
    struct result r;
    begin(0);
    enter("k", alone, 1, "own", &r);
    ck_assert_int_eq(r.times, 1);
    ck_assert_str_eq(r.bytes, "own");
    ck_assert_int_eq(nsent, 0);
    end();
}
END_TEST

START_TEST(the_first_host_collects)
{
    struct result r, other;
    begin(0);
    for (int round = 0; round < 2; round++) {
        ck_assert(tell_fence(2, "k", all, 3, "C"));
        enter("k", all, 3, "A", &r);
        enter("part", some, 2, "a", &other);
        ck_assert_int_eq(r.times + other.times, 0);
        ck_assert(tell_fence(2, "part", some, 2, "c"));
        ck_assert_int_eq(sent_to, 2); /* not to all */
        ck_assert_str_eq(other.bytes, "ac");
        ck_assert(tell_fence(1, "k", all, 3, "B"));
        ck_assert_int_eq(sent_to, SHARE_ALL);
        ck_assert_int_eq(r.times, 1);
        ck_assert_str_eq(r.bytes, "ABC"); /* in the order of hosts */
    }
    ck_assert_int_eq(nsent, 4);
    end();
}
END_TEST

START_TEST(another_host_is_told)
{
    struct result r;
    begin(1);
    for (int round = 0; round < 2; round++) {
        enter("k", all, 3, "B", &r);
        struct pack want = fence_message("k", all, 3, "B");
        ck_assert_int_eq(sent_to, 0);
        ck_assert_uint_eq(sent.len, want.len);
        ck_assert_mem_eq(sent.bytes, want.bytes, want.len);
        free(want.bytes);
        ck_assert_int_eq(r.times, 0);
        ck_assert(tell_fenced(0, "k", "ABC"));
        ck_assert_int_eq(r.times, 1);
        ck_assert_str_eq(r.bytes, "ABC");
    }
    end();
}
END_TEST

START_TEST(twice_at_once_is_refused)
{
    struct result first, second;
    begin(1);
    enter("k", all, 3, "B", &first);
    enter("k", all, 3, "B", &second);
    ck_assert_int_eq(first.times, 0);
    ck_assert_int_eq(second.times, 1);
    ck_assert_int_ne(second.status, 0);
    end();
}
END_TEST

START_TEST(long_messages_come_in_pieces)
{
    struct result r;
    const size_t n = 200000;
    char *text = malloc(n + 1);
    begin(0);
    memset(text, 'x', n);
    text[n] = 0;
    enter("k", some, 2, "", &r);
    struct pack m = fence_message("k", some, 2, text);
    for (size_t at = 0, k; at < m.len; at += k) {
        k = m.len - at < 777 ? m.len - at : 777;
        ck_assert(parcel(2, m.bytes + at, k, at + k == m.len));
    }
    ck_assert_int_eq(r.times, 1);
    ck_assert_uint_gt(sent.len, n); /* on_send has put it together */
    ck_assert(sent_whole);
    free(m.bytes);
    free(text);
    end();
}
END_TEST

START_TEST(questions)
{
    struct result own = { 0 }, far = { 0 }, further = { 0 };
    begin(0);
    share_ask(0, ECHO, "here", 4, done, &own);
    ck_assert_str_eq(own.bytes, "here");
    ck_assert_int_eq(own.status, 7);
    share_ask(1, 9, "there", 5, done, &far);
    share_ask(2, 9, "there", 5, done, &further);
    ck_assert_int_eq(sent_to, 2);
    ck_assert(!tell_body(2, ANSWER, 1, 3, "forged", 6)); /* host 1 was asked that */
    ck_assert(tell_body(2, ANSWER, 2, 3, "two", 3));
    ck_assert(tell_body(1, ANSWER, 1, (uint32_t)-1, "one", 3));
    ck_assert_str_eq(far.bytes, "one");
    ck_assert_int_eq(far.status, -1);
    ck_assert_str_eq(further.bytes, "two");
    ck_assert(!tell_body(1, ANSWER, 1, 0, "again", 5));
    ck_assert(tell_body(1, ASK, 77, ECHO, "what", 4));
    ck_assert_int_eq(sent_to, 1);
    end();
}
END_TEST

/* ---- names ---- */

static struct result ask(enum names_what what, struct pack *body)
{
    struct result r = { 0 };
    names_ask(what, body, done, &r);
    free(body->bytes);
    return r;
}

static struct result publish_how(uint32_t rank, uint32_t how, const char *first, const char *second)
{
    struct pack p = { 0 };
    put_u32(&p, rank);
    put_u32(&p, how);
    put_u32(&p, second ? 2 : 1);
    names_put(&p, first, "v", 1);
    if (second)
        names_put(&p, second, "w", 1);
    return ask(NAMES_PUBLISH, &p);
}

static struct result publish(uint32_t rank, const char *first, const char *second)
{
    return publish_how(rank, 0, first, second);
}

static void put_look_up(struct pack *p, uint32_t need, uint32_t seconds, const char *name)
{
    put_u32(p, need);
    put_u32(p, seconds);
    put_u32(p, 1);
    put_text(p, name);
}

static int look_up(const char *name)
{
    struct pack p = { 0 };
    put_look_up(&p, 0, 0, name);
    return ask(NAMES_LOOK_UP, &p).status;
}

static int withdraw(uint32_t rank, const char *name)
{
    struct pack p = { 0 };
    put_u32(&p, rank);
    put_u32(&p, name != NULL);
    if (name)
        put_text(&p, name);
    return ask(NAMES_WITHDRAW, &p).status;
}

START_TEST(names)
{
    begin(0);
    ck_assert_int_eq(look_up("a"), NAMES_NONE);
    ck_assert_int_eq(publish(1, "a", "b").status, NAMES_OK);
    ck_assert_int_eq(publish(2, "c", "a").status, NAMES_TAKEN); /* all or none */
    ck_assert_int_eq(look_up("c"), NAMES_NONE);
    ck_assert_int_eq(publish(2, "d", "d").status, NAMES_TAKEN);
    ck_assert_int_eq(look_up("d"), NAMES_NONE);
    ck_assert_int_eq(look_up("b"), NAMES_OK);
    ck_assert_int_eq(withdraw(2, "b"), NAMES_OK);
    ck_assert_int_eq(withdraw(2, "b"), NAMES_NONE);
    ck_assert_int_eq(withdraw(2, NULL), NAMES_OK); /* rank 2 has none */
    ck_assert_int_eq(look_up("a"), NAMES_OK);
    ck_assert_int_eq(withdraw(1, NULL), NAMES_OK);
    ck_assert_int_eq(look_up("a"), NAMES_NONE);
    end();
}
END_TEST

/* In the user's name service: another process with it is another job. */
START_TEST(names_of_several_jobs)
{
    struct result patient = { 0 };
    struct ku_published *other, *met;
    struct pack p = { 0 };
    char *bytes;
    size_t len;
    begin(0);
    ck_assert_int_eq(publish_how(7, NAMES_FOR_ALL, "ours", NULL).status, NAMES_OK);
    ck_assert_int_eq(ku_publish_look_up("ours", &bytes, &len), 0);
    ck_assert_uint_eq(len, 5);
    ck_assert_mem_eq(bytes, "\7\0\0\0v", 5);
    free(bytes);
    ck_assert_int_eq(publish(1, "mine alone", NULL).status, NAMES_OK);
    ck_assert_int_eq(ku_publish_look_up("mine alone", &bytes, &len), ENOENT);
    ck_assert_int_eq(ku_publish("theirs", "\1\0\0\0w", 5, &other), 0);
    ck_assert_int_eq(look_up("theirs"), NAMES_OK);
    ck_assert_int_eq(publish_how(1, NAMES_FOR_ALL, "theirs", NULL).status, NAMES_TAKEN);
    ck_assert_int_eq(publish_how(1, NAMES_FOR_ALL, "free", "theirs").status, NAMES_TAKEN);
    ck_assert_int_eq(ku_publish_look_up("free", &bytes, &len), ENOENT);
    ku_publish_withdraw(other);
    ck_assert_int_eq(look_up("theirs"), NAMES_NONE);
    put_look_up(&p, 1, 0, "theirs");
    names_ask(NAMES_LOOK_UP, &p, done, &patient);
    free(p.bytes);
    ck_assert_double_gt(names_due(), clock_now);
    ck_assert_int_eq(ku_publish("theirs", "x", 1, &other), 0); /* no rank: nonsense */
    names_on_time();
    ck_assert_int_eq(patient.times, 0);
    ku_publish_withdraw(other);
    ck_assert_int_eq(ku_publish("theirs", "\1\0\0\0w", 5, &other), 0);
    names_on_time();
    ck_assert_int_eq(patient.status, NAMES_OK);
    ku_publish_withdraw(other);
    ck_assert_int_eq(withdraw(7, "ours"), NAMES_OK);
    ck_assert_int_eq(ku_publish_look_up("ours", &bytes, &len), ENOENT);
    ck_assert_int_eq(publish_how(1, NAMES_ONCE, "once", NULL).status, NAMES_OK);
    ck_assert_int_eq(look_up("once"), NAMES_OK);
    ck_assert_int_eq(look_up("once"), NAMES_NONE);
    /* One that nobody looks up is shown to others, but not its bytes; who waits for one of another job's is told. */
    ck_assert_int_eq(publish_how(1, NAMES_ONCE, "lonely", NULL).status, NAMES_OK);
    ck_assert_double_gt(names_due(), clock_now);
    names_on_time();
    ck_assert_int_eq(ku_publish_look_up("once lonely", &bytes, &len), ENOENT);
    clock_now = names_due();
    names_on_time();
    ck_assert_int_eq(ku_publish_look_up("once lonely", &bytes, &len), 0);
    ck_assert_uint_eq(len, 0);
    free(bytes);
    ck_assert_int_eq(look_up("lonely"), NAMES_OK);
    ck_assert_int_eq(ku_publish_look_up("once lonely", &bytes, &len), ENOENT);
    ck_assert_int_eq(ku_publish("once elsewhere", "", 0, &other), 0);
    p = (struct pack){ 0 };
    patient = (struct result){ 0 };
    put_look_up(&p, 1, 0, "elsewhere");
    names_ask(NAMES_LOOK_UP, &p, done, &patient);
    free(p.bytes);
    ck_assert_int_eq(patient.times, 0);
    names_on_time();
    ck_assert_int_eq(patient.times, 1);
    ck_assert_int_eq(patient.status, NAMES_APART);
    ck_assert_int_eq(nsaid, 1);
    ck_assert_int_eq(ku_publish_look_up("met elsewhere", &bytes, &len), 0);
    free(bytes);
    ku_publish_withdraw(other);
    /* Not before the other job has met ours, or has ended. */
    for (int how = 0; how < 3; how++) {
        ck_assert_int_eq(publish_how(1, NAMES_ONCE, "here", NULL).status, NAMES_OK);
        ck_assert_int_eq(ku_publish("once there", "", 0, &other), 0);
        p = (struct pack){ 0 };
        patient = (struct result){ 0 };
        put_look_up(&p, 1, 0, "there");
        names_ask(NAMES_LOOK_UP, &p, done, &patient);
        free(p.bytes);
        names_on_time();
        ck_assert_int_eq(ku_publish_look_up("once here", &bytes, &len), 0); /* at once */
        free(bytes);
        clock_now += 4;
        names_on_time();
        ck_assert_int_eq(patient.times, 0);
        if (how == 0)
            ck_assert_int_eq(ku_publish("met here", "", 0, &met), 0);
        else if (how == 1)
            ku_publish_withdraw(other);
        else
            clock_now += 2; /* it does not look any more */
        names_on_time();
        ck_assert_int_eq(patient.status, NAMES_APART);
        if (how == 0)
            ku_publish_withdraw(met);
        if (how != 1)
            ku_publish_withdraw(other);
        ck_assert_int_eq(withdraw(1, "here"), NAMES_OK);
    }
    ck_assert_int_eq(publish_how(7, NAMES_FOR_ALL, "left", NULL).status, NAMES_OK);
    end();
    ck_assert_int_eq(ku_publish_look_up("left", &bytes, &len), ENOENT);
}
END_TEST

START_TEST(names_that_are_waited_for)
{
    struct result patient = { 0 }, hurried = { 0 };
    struct pack p = { 0 }, q = { 0 };
    begin(0);
    put_look_up(&p, 1, 0, "late");
    names_ask(NAMES_LOOK_UP, &p, done, &patient);
    put_look_up(&q, 1, 5, "never");
    names_ask(NAMES_LOOK_UP, &q, done, &hurried);
    free(p.bytes);
    free(q.bytes);
    ck_assert(names_due() > clock_now && names_due() < 6); /* other jobs are looked at meanwhile */
    publish(0, "late", NULL);
    ck_assert_int_eq(patient.times, 1);
    ck_assert_int_eq(patient.status, NAMES_OK);
    names_on_time();
    ck_assert_int_eq(hurried.times, 0);
    clock_now = 6;
    names_on_time();
    ck_assert_int_eq(hurried.status, NAMES_LATE);
    ck_assert_double_eq(names_due(), 0);
    end();
}
END_TEST

/* ---- nonsense ---- */

START_TEST(nonsense_is_refused)
{
    static const int32_t not_sorted[] = { 0, 2, 1 }, too_far[] = { 0, 3 }, not_mine[] = { 1, 2 };
    struct result r;
    begin(0);
    ck_assert(!share_take(1, "", 0));
    ck_assert(!share_take(1, "\1\0\0\0", 4));
    ck_assert(!share_take(1, "\2\0\0\0x", 5));
    ck_assert(!parcel(0, "x", 1, true)); /* from itself */
    ck_assert(!parcel(3, "x", 1, true)); /* from nobody */
    ck_assert(!tell_body(1, (enum kind)5, 0, 0, "", 0));
    ck_assert(!tell_fence(1, "k", not_sorted, 3, ""));
    ck_assert(!tell_fence(1, "k", too_far, 2, ""));
    ck_assert(!tell_fence(2, "k", not_mine, 2, ""));
    ck_assert(!tell_fence(1, "k", some, 2, "")); /* it does not take part */
    ck_assert(!tell_fence(2, "k", all, 3, ""));  /* the same with other hosts */
    ck_assert(tell_fence(2, "m", some, 2, ""));
    ck_assert(!tell_fence(2, "m", some, 2, "")); /* twice */
    ck_assert(!tell_fenced(1, "k", ""));         /* it collects itself */
    ck_assert(!tell_fenced(1, "nothing", ""));
    ck_assert(!tell_body(1, ASK, 1, 99, "", 0));
    ck_assert(!tell_body(1, ASK, 1, NAMES_PUBLISH, "\1\0\0\0\0\0\0\0\1\0\0\0x", 13));
    ck_assert(!tell_body(1, ASK, 1, NAMES_LOOK_UP, "\2\0\0\0\0\0\0\0\1\0\0\0", 12));
    enter("later", all, 3, "", &r);
    ck_assert(!tell_fence(1, "later", some, 2, ""));
    end();
    begin(2);
    enter("k", later, 2, "", &r);
    ck_assert(!tell_fenced(0, "k", "")); /* host 1 collects */
    ck_assert_int_eq(r.times, 0);
    end();
}
END_TEST

static uint64_t state = 1;
static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static struct pack some_message(void)
{
    struct pack m = { 0 }, body = { 0 };
    switch (below(5)) {
    case 0:
        return below(2) ? fence_message("k", all, 3, "text") : fence_message("k", some, 2, "text");
    case 1:
        put_u32(&m, FENCED);
        put_text(&m, "k");
        return m;
    case 2:
        put_u32(&body, 1);
        put_u32(&body, below(3));
        put_u32(&body, 1);
        names_put(&body, below(2) ? "a" : "b", "v", 1);
        break;
    case 3:
        put_look_up(&body, below(2), below(2), below(2) ? "a" : "b");
        break;
    default:
        put_u32(&body, 1);
        put_u32(&body, 1);
        put_text(&body, "a");
    }
    put_u32(&m, below(8) ? ASK : ANSWER);
    put_u32(&m, below(4));
    put_u32(&m, 1 + below(4));
    put_bytes(&m, body.bytes, body.len);
    free(body.bytes);
    return m;
}

/* Some thousand messages, whole or mutated.  AddressSanitizer sees what they do where this is built with it. */
START_TEST(mutated_messages_harm_nobody)
{
    static const uint32_t values[] = { 0, 1, 2, 3, 255, 65535, 1 << 20, 0x7fffffff, 0x80000000, 0xffffffff };
    int taken = 0, refused = 0;
    for (int round = 0; round < 4000; round++) {
        struct result r;
        begin((int)below(HOSTS));
        enter("k", all, 3, "own", &r);
        for (int i = 0; i < 12; i++) {
            struct pack m = some_message();
            if (below(2) && m.len >= 4)
                memcpy(m.bytes + below((uint32_t)m.len - 3), &values[below(10)], 4);
            if (below(4) == 0)
                m.len -= below((uint32_t)m.len);
            bool ok = told((int)below(HOSTS), &m);
            taken += ok;
            refused += !ok;
        }
        clock_now += 10;
        names_on_time();
        end();
    }
    ck_assert_int_gt(taken, 4000);
    ck_assert_int_gt(refused, 4000);
}
END_TEST

int main(void)
{
    char folder[] = "/tmp/keel-share-test-XXXXXX";
    Suite *s = suite_create("share");
    if (!mkdtemp(folder) || setenv("KEEL_NAMES", folder, 1) != 0)
        return 1;
    TCase *c = tcase_create("share");
    tcase_add_test(c, one_host_alone);
    tcase_add_test(c, the_first_host_collects);
    tcase_add_test(c, another_host_is_told);
    tcase_add_test(c, twice_at_once_is_refused);
    tcase_add_test(c, long_messages_come_in_pieces);
    tcase_add_test(c, questions);
    tcase_add_test(c, names);
    tcase_add_test(c, names_of_several_jobs);
    tcase_add_test(c, names_that_are_waited_for);
    tcase_add_test(c, nonsense_is_refused);
    tcase_add_test(c, mutated_messages_harm_nobody);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    failed += rmdir(folder) != 0; /* nothing is left there */
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
