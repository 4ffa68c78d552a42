/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other processes (MPID_Mem_*, MPID_Put, MPID_Get, MPID_Atomic): by the device where it can, and by
 * packets everywhere, which a key without the device's part of it asks for. */
#include "suite.h"
#include "mock.h"

#define ME MPID_MyWorldRank
#define N MPID_MyWorldSize

enum {
    CTX = 9,
    ROOM = 200000,
    PACKETS_KEY = 32 /* bytes of a key before the devices' parts */,
    UPDATES = 50
};

static int err;

static void ok(const char *what)
{
    CHECK(err == 0, "%s: error %d: %s", what, err, MPID_Error_text());
}

static void refused(const char *what, int class)
{
    CHECK(err == class, "%s: error %d (%s), expected %d", what, err, MPID_Error_text(), class);
    err = 0;
}

static void meet(void)
{
    char c = 0;
    for (int i = 1; i < N && ME == 0; i++)
        MPID_RecvContig(NULL, &c, 1, i, 0, CTX, NULL, &err);
    if (ME != 0)
        MPID_SendContig(NULL, &c, 1, ME, 0, CTX, 0, 0, &err);
    for (int i = 1; i < N && ME == 0; i++)
        MPID_SendContig(NULL, &c, 1, 0, 1, CTX, i, 0, &err);
    if (ME != 0)
        MPID_RecvContig(NULL, &c, 1, 0, 1, CTX, NULL, &err);
    ok("meet");
}

/* Memory that a device can reach directly, if it has such: the mock's heap, or the end of this rank's part of the
 * segment; and any. */
static unsigned char *memory_of(int kind)
{
    static unsigned char plain[ROOM];
    const char *mock = getenv("KEEL_MOCK");
    const struct ku_seg_head *head =
        (const void *)((const char *)MPID_World()->machine - offsetof(struct ku_seg_head, machine));
    struct ku_segment s = { .head = (struct ku_seg_head *)(uintptr_t)head };
    if (kind == 0)
        return plain;
    if (mock != NULL && kind == 1)
        return ((struct mock_shared *)(uintptr_t)strtoull(mock, NULL, 16))->heap[ME];
    return (unsigned char *)ku_segment_dev(&s, (uint32_t)MPID_World()->local_rank) + head->dev_bytes - ROOM;
}

struct others {
    MPID_Memory own;
    unsigned char *base, key[JOB_MAX][MPID_KEY_MAX];
    int64_t key_len[JOB_MAX];
    MPID_Remote of[JOB_MAX];
};

static void tell_keys(struct others *o)
{
    for (int p = 0; p < N; p++) {
        MPIR_Status s = { 0 };
        struct MPIR_HANDLE r;
        if (p == ME) {
            memcpy(o->key[ME], o->key[JOB_MAX - 1], (size_t)o->key_len[ME]);
            continue;
        }
        MPID_IsendContig(NULL, o->key[JOB_MAX - 1], o->key_len[ME], ME, 2, CTX, p, 0, &r, &err);
        MPID_RecvContig(NULL, o->key[p], MPID_KEY_MAX, p, 2, CTX, &s, &err);
        MPID_SendComplete(&r, &err);
        ok("keys");
        o->key_len[p] = s.count;
    }
}

static void open_all(struct others *o, int kind, bool packets)
{
    memset(o, 0, sizeof *o);
    o->base = memory_of(kind);
    memset(o->base, 0, ROOM);
    o->own = MPID_Mem_register(o->base, ROOM, &err);
    ok("register");
    o->key_len[ME] = MPID_Mem_key(o->own, o->key[JOB_MAX - 1], MPID_KEY_MAX);
    CHECK(o->key_len[ME] >= PACKETS_KEY && MPID_Mem_key(o->own, NULL, 0) == o->key_len[ME],
          "a key of %lld bytes", (long long)o->key_len[ME]);
    tell_keys(o);
    for (int p = 0; p < N; p++) {
        o->of[p] = MPID_Mem_open(p, o->key[p], packets ? PACKETS_KEY : o->key_len[p], &err);
        ok("open");
    }
}

static void close_all(struct others *o)
{
    meet();
    for (int p = 0; p < N; p++)
        MPID_Mem_close(o->of[p]);
    MPID_Mem_unregister(o->own);
    meet();
}

static unsigned char byte(int from, int to, int64_t i)
{
    return (unsigned char)(from * 31 + to * 7 + i + (i >> 8));
}

static const int64_t sizes[] = { 0, 1, 8, 44, 45, 48, 49, 1000, 4096, 5001, 16000 };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Everybody fills a stripe of everybody's memory in pieces, all under way at once; then reads all back. */
static void stripes(struct others *o)
{
    static unsigned char out[ROOM], in[ROOM];
    struct MPID_COMPLETION c = { 0 };
    int64_t stripe = ROOM / N, n;
    for (int p = 0; p < N; p++) {
        for (int64_t i = 0; i < stripe; i++)
            out[p * stripe + i] = byte(ME, p, i);
        for (int64_t at = 0, i = 0; at < stripe; at += n) {
            n = sizes[i++ % SIZES] < stripe - at ? sizes[(i - 1) % SIZES] : stripe - at;
            MPID_Put(o->of[p], ME * stripe + at, out + p * stripe + at, n, &c, &err);
            ok("put");
        }
        MPID_Mem_flush(o->of[p], &c, &err);
    }
    ok("flush");
    MPID_Mem_wait(&c, &err);
    ok("puts");
    CHECK(c.pending == 0 && c.error == 0, "pending %lld error %d", (long long)c.pending, c.error);
    meet();
    for (int p = 0; p < N; p++)
        for (int64_t i = 0; i < stripe; i++)
            CHECK(o->base[p * stripe + i] == byte(p, ME, i), "byte %lld of rank %d's", (long long)i, p);
    for (int p = 0; p < N; p++)
        for (int64_t at = 0, i = 5; at < stripe; at += n) {
            n = sizes[i++ % SIZES] < stripe - at ? sizes[(i - 1) % SIZES] : stripe - at;
            MPID_Get(o->of[p], (p + 1) % N * stripe + at, in + p * stripe + at, n, &c, &err);
        }
    MPID_Mem_wait(&c, &err);
    ok("gets");
    for (int p = 0; p < N; p++)
        for (int64_t i = 0; i < stripe; i++)
            CHECK(in[p * stripe + i] == byte((p + 1) % N, p, i), "got byte %lld of rank %d", (long long)i, p);
    meet();
}

/* In one piece, longer than any packet, in both directions at once. */
static void whole(struct others *o)
{
    static unsigned char in[ROOM];
    struct MPID_COMPLETION c = { 0 };
    int next = (ME + 1) % N, before = (ME + N - 1) % N;
    for (int64_t i = 0; i < ROOM; i++)
        o->base[i] = byte(ME, ME, i);
    meet();
    MPID_Get(o->of[next], 0, in, ROOM, &c, &err);
    MPID_Mem_wait(&c, &err);
    ok("one long get");
    for (int64_t i = 0; i < ROOM; i++)
        CHECK(in[i] == byte(next, next, i), "got byte %lld", (long long)i);
    meet();
    MPID_Put(o->of[before], 0, in, ROOM, &c, &err);
    MPID_Mem_flush(o->of[before], &c, &err);
    MPID_Mem_wait(&c, &err);
    ok("one long put");
    meet();
    for (int64_t i = 0; i < ROOM; i++)
        CHECK(o->base[i] == byte((next + 1) % N, (next + 1) % N, i), "byte %lld", (long long)i);
    meet();
}

static void update(struct others *o, int64_t off, enum keel_atomic_op op, enum keel_atomic_type type,
                   const void *with, const void *compare, void *old)
{
    struct MPID_COMPLETION c = { 0 };
    MPID_Atomic(o->of[0], off, op, type, with, compare, old, &c, &err);
    ok("atomic");
    MPID_Mem_wait(&c, &err);
    ok("update");
}

static void updates(struct others *o)
{
    struct MPID_COMPLETION c = { 0 };
    int64_t one = 1, two = 2, old = -1, is;
    double half = 0.5;
    int16_t mine = (int16_t)(100 + ME), small = (int16_t)-ME;
    if (ME == 0) {
        memset(o->base, 0, 4096);
        memcpy(o->base + 24, &one, 8);
    }
    meet();
    for (int i = 0; i < UPDATES; i++) { /* many under way */
        MPID_Atomic(o->of[0], 0, KEEL_ATOMIC_SUM, KEEL_INT64, &one, NULL, NULL, &c, &err);
        MPID_Atomic(o->of[0], 8, KEEL_ATOMIC_SUM, KEEL_DOUBLE, &half, NULL, NULL, &c, &err);
    }
    MPID_Mem_wait(&c, &err);
    ok("sums");
    for (int i = 0; i < 3; i++)
        update(o, 24, KEEL_ATOMIC_PROD, KEEL_INT64, &two, NULL, NULL);
    update(o, 32, KEEL_ATOMIC_MAX, KEEL_INT16, &mine, NULL, NULL);
    update(o, 34, KEEL_ATOMIC_MIN, KEEL_INT16, &small, NULL, NULL);
    update(o, 40, KEEL_ATOMIC_OR, KEEL_UINT32, &(uint32_t){ 1u << ME }, NULL, NULL);
    for (int i = 0; i < UPDATES / 5; i++) /* one more each, by COMPARE_SWAP */
        do {
            update(o, 48, KEEL_ATOMIC_FETCH, KEEL_INT64, NULL, NULL, &is);
            two = is + 1;
            update(o, 48, KEEL_ATOMIC_COMPARE_SWAP, KEEL_INT64, &two, &is, &old);
        } while (old != is);
    update(o, 56 + ME, KEEL_ATOMIC_REPLACE, KEEL_INT8, &(int8_t){ (int8_t)(ME + 1) }, NULL, &old);
    meet();
    if (ME == 0) {
        int64_t sum, prod, count;
        double halves;
        int16_t most, least;
        uint32_t bits;
        memcpy(&sum, o->base, 8);
        memcpy(&halves, o->base + 8, 8);
        memcpy(&prod, o->base + 24, 8);
        memcpy(&most, o->base + 32, 2);
        memcpy(&least, o->base + 34, 2);
        memcpy(&bits, o->base + 40, 4);
        memcpy(&count, o->base + 48, 8);
        CHECK(sum == N * UPDATES && halves == 0.5 * N * UPDATES && prod == 1ll << 3 * N, "%lld %g %lld",
              (long long)sum, halves, (long long)prod);
        CHECK(most == 99 + N && least == 1 - N && bits == (1u << N) - 1, "%d %d %x", most, least, bits);
        CHECK(count == N * (UPDATES / 5) && o->base[55 + N] == N, "%lld %d", (long long)count,
              o->base[55 + N]);
    }
    meet();
}

static void shared_base(struct others *o, int kind)
{
    int next = (ME + 1) % N, before = (ME + N - 1) % N;
    unsigned char *base = MPID_Mem_share(o->of[next]);
    unsigned char told = base != NULL, has = 0;
    const char *devices = getenv("KEEL_DEVICES"), *hooks = getenv("KEEL_HOOKS");
    bool alone = devices != NULL && !strcmp(devices, "shmem") && (hooks == NULL || *hooks == 0);
    CHECK(base == NULL || N == 1 || (MPID_Mem_way(o->of[next]) & MPID_MEM_UNAIDED),
          "shared, and not by the device");
    CHECK(N == 1 || (MPID_Mem_way(o->of[next]) & ~MPID_Mem_way_to(next)) == 0,
          "more than the device has: %d, %d", MPID_Mem_way(o->of[next]), MPID_Mem_way_to(next));
    CHECK(MPID_Mem_way(o->of[ME]) == 0 && MPID_Mem_way_to(ME) == 0, "a device for its own memory");
    CHECK(N > 1 || base == o->base, "this process's own memory is not shared");
    CHECK(kind != 2 || !alone || base != NULL, "memory of the segment is not shared");
    if (base != NULL)
        base[77] = (unsigned char)(ME + 1);
    if (N > 1) {
        MPID_SendContig(NULL, &told, 1, ME, 3, CTX, next, 0, &err);
        MPID_RecvContig(NULL, &has, 1, before, 3, CTX, NULL, &err);
    }
    CHECK(!has || o->base[77] == before + 1, "a store is not here: %d", o->base[77]);
    meet();
}

/* Wrong from the start: told at the call. */
static void wrong_calls(struct others *o)
{
    struct MPID_COMPLETION c = { 0 };
    char some[64] = { 0 };
    int p = (ME + 1) % N;
    MPID_Put(o->of[p], ROOM - 10, some, 11, &c, &err);
    refused("put beyond the end", MPI_ERR_RMA_RANGE);
    MPID_Get(o->of[p], -1, some, 1, &c, &err);
    refused("get before the beginning", MPI_ERR_RMA_RANGE);
    MPID_Get(o->of[p], INT64_MAX, some, INT64_MAX, &c, &err);
    refused("get of too much", MPI_ERR_RMA_RANGE);
    MPID_Atomic(o->of[p], 4, KEEL_ATOMIC_SUM, KEEL_INT64, some, NULL, NULL, &c, &err);
    refused("atomic across words", MPI_ERR_DISP);
    MPID_Atomic(o->of[p], 0, KEEL_ATOMIC_XOR, KEEL_FLOAT, some, NULL, NULL, &c, &err);
    refused("XOR of floats", MPI_ERR_OP);
    MPID_Mem_register(some, 0, &err);
    refused("no bytes", MPI_ERR_SIZE);
    MPID_Mem_register(NULL, 10, &err);
    refused("no address", MPI_ERR_BASE);
    MPID_Mem_open(p, some, sizeof some, &err);
    refused("no key", MPI_ERR_ARG);
    MPID_Mem_open(p, o->key[p], PACKETS_KEY - 1, &err);
    refused("half a key", MPI_ERR_ARG);
    MPID_Mem_open(p == 0 ? N : p - 1, o->key[p], PACKETS_KEY, &err);
    refused("another one's key", MPI_ERR_ARG);
    CHECK(c.pending == 0, "%lld operations were begun", (long long)c.pending);
}

/* Keys that are stale or made up: the process that has the memory refuses, and goes on. */
static void use_refused(const unsigned char *key, const char *what)
{
    static char some[10000];
    struct MPID_COMPLETION c = { 0 };
    MPID_Remote r = MPID_Mem_open(key[4], key, PACKETS_KEY, &err);
    int64_t one = 1;
    bool own = N == 1;
    ok(what);
    MPID_Put(r, 0, some, sizeof some, &c, &err);
    MPID_Mem_flush(r, &c, &err);
    MPID_Mem_wait(&c, &err);
    refused(what, MPI_ERR_RMA_RANGE);
    c.error = 0;
    MPID_Mem_flush(r, &c, &err); /* told once */
    MPID_Mem_wait(&c, &err);
    ok("a flush after it");
    MPID_Get(r, 0, some, sizeof some, &c, &err);
    if (!own)
        MPID_Mem_wait(&c, &err);
    refused(what, MPI_ERR_RMA_RANGE);
    c.error = 0;
    MPID_Atomic(r, 0, KEEL_ATOMIC_SUM, KEEL_INT64, &one, NULL, &one, &c, &err);
    if (!own)
        MPID_Mem_wait(&c, &err);
    refused(what, MPI_ERR_RMA_RANGE);
    CHECK(c.pending == 0, "pending");
    MPID_Mem_close(r);
}

static void made_up_keys(struct others *o)
{
    unsigned char key[PACKETS_KEY];
    int p = (ME + 1) % N;
    memcpy(key, o->key[p], sizeof key);
    key[12]++; /* generation */
    use_refused(key, "another generation");
    memcpy(key, o->key[p], sizeof key);
    key[8] ^= 0x55;
    use_refused(key, "another region");
    key[8] = key[9] = key[10] = key[11] = 0xff;
    use_refused(key, "a region that is far away");
    memcpy(key, o->key[p], sizeof key);
    memset(key + 24, 0xff, 6); /* length */
    {
        static char some[100];
        struct MPID_COMPLETION c = { 0 };
        MPID_Remote r = MPID_Mem_open(key[4], key, PACKETS_KEY, &err);
        ok("a longer key");
        MPID_Get(r, ROOM - 50, some, 100, &c, &err);
        if (err == 0)
            MPID_Mem_wait(&c, &err);
        refused("beyond the end by a longer key", MPI_ERR_RMA_RANGE);
        MPID_Mem_close(r);
    }
    meet();
}

static struct others *chain_of;
static int chain_left;
static void next_of_chain(struct MPID_COMPLETION *c)
{
    if (--chain_left > 0)
        MPID_Get(chain_of->of[(ME + 1) % N], chain_left, c->own, 1, c, &err);
}

static void chained(struct others *o)
{
    char got;
    struct MPID_COMPLETION c = { .done = next_of_chain, .own = &got };
    chain_of = o;
    chain_left = 100;
    MPID_Get(o->of[(ME + 1) % N], 0, &got, 1, &c, &err);
    MPID_Mem_wait(&c, &err);
    ok("a chain");
    CHECK(chain_left == 0, "%d links are left", chain_left);
}

void suite_memory(void)
{
    static struct others o;
    static unsigned char stale[PACKETS_KEY];
    for (int kind = 0; kind < 3; kind++)
        for (int packets = 0; packets < 2; packets++) {
            open_all(&o, kind, packets);
            stripes(&o);
            whole(&o);
            updates(&o);
            shared_base(&o, packets ? 0 : kind);
            wrong_calls(&o);
            made_up_keys(&o);
            chained(&o);
            memcpy(stale, o.key[(ME + 1) % N], sizeof stale);
            close_all(&o);
            use_refused(stale, "memory that is registered no more");
            meet();
        }
}
