/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: memory of peers (dev_mem_ops), on devices that have the slots. */
#include "memory.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What a rank has of others' memory, and they of its. */
struct bed {
    const struct dev_mem_ops *mem;
    unsigned char *own;
    bool malloced, refused;
    struct dev_region *region;
    struct dev_remote *remote[MAX_RANKS];
};

static void settle(struct rank *r, uint32_t queued)
{
    while (r->sent_calls < queued)
        rank_pump(r);
}

/* Everybody's memory is registered, its key told, and opened by all.  Where the device cannot reach it at all (a
 * machine that forbids that), `refused` is set in all ranks. */
static void make_bed(struct rank *r, struct bed *b)
{
    dev_status st;
    rank_open(r);
    rank_meet(r);
    *b = (struct bed){ .mem = r->ops->mem, .malloced = r->subject->memory == NULL };
    b->own = b->malloced ? calloc(1, RANK_MEMORY) : r->subject->memory(r);
    memset(b->own, 0, RANK_MEMORY);
    st = b->mem->mem_register(r->dev, b->own, RANK_MEMORY, DEV_MEM_HOST, &b->region);
    NEED(r, st == DEV_OK || (b->malloced && st == DEV_NO_SUPPORT), "mem_register answered %d", st);
    r->board->key[r->me].len = 0;
    if (st == DEV_OK)
        r->board->key[r->me].len =
            (uint32_t)b->mem->mem_key(b->region, r->board->key[r->me].bytes, DEV_KEY_MAX);
    NEED(r, st != DEV_OK || b->mem->mem_key(b->region, NULL, 0) == r->board->key[r->me].len,
         "a key that changes");
    NEED(r, r->board->key[r->me].len <= DEV_KEY_MAX, "a key of %u bytes", r->board->key[r->me].len);
    rank_meet(r);
    for (int p = 0; p < r->size; p++) {
        if (!r->peer[p])
            continue; /* the device does not reach the process itself */
        st = r->board->key[p].len == 0
                 ? DEV_NO_SUPPORT
                 : b->mem->mem_open(r->peer[p], r->board->key[p].bytes, r->board->key[p].len, &b->remote[p]);
        NEED(r, st == DEV_OK || (b->malloced && st == DEV_NO_SUPPORT), "mem_open answered %d", st);
        b->refused = b->refused || st != DEV_OK;
    }
    rank_meet(r);
}

static void end_bed(struct rank *r, struct bed *b)
{
    rank_meet_pumping(r);
    for (int p = 0; p < r->size; p++)
        if (b->remote[p])
            b->mem->mem_close(b->remote[p]);
    if (b->region)
        b->mem->mem_unregister(b->region);
    rank_close(r);
    if (b->malloced)
        free(b->own);
    rank_meet(r);
}

/* Counts what is queued; a cookie is the bed's to free (sent). */
static bool again(struct rank *r, dev_status st, void *cookie, uint32_t *queued)
{
    if (st == DEV_QUEUED) {
        ++*queued;
        return false;
    }
    free(cookie);
    if (st == DEV_AGAIN)
        rank_pump(r);
    NEED(r, st == DEV_OK || st == DEV_AGAIN, "an operation answered %d", st);
    return st == DEV_AGAIN;
}

static void put(struct rank *r, struct bed *b, int to, uint64_t off, const void *from, size_t len,
                uint32_t *queued)
{
    void *cookie;
    do
        cookie = malloc(1);
    while (again(r, b->mem->put(b->remote[to], off, from, len, NULL, cookie), cookie, queued));
}

static void get(struct rank *r, struct bed *b, int of, uint64_t off, void *to, size_t len, uint32_t *queued)
{
    void *cookie;
    do
        cookie = malloc(1);
    while (again(r, b->mem->get(b->remote[of], off, to, len, NULL, cookie), cookie, queued));
}

static void flush(struct rank *r, struct bed *b, int to, uint32_t *queued)
{
    void *cookie;
    do
        cookie = malloc(1);
    while (again(r, b->mem->flush(r->peer[to], cookie), cookie, queued));
    settle(r, *queued);
}

static size_t piece(int i)
{
    static const size_t sizes[] = { 1, 7, 8, 64, 100, 1000, 1, 3000, 11, 33000 };
    return sizes[i % 10];
}

/* Each rank has a stripe of each other's memory, and fills it in pieces, many at once. */
void memory_puts_and_gets(struct rank *r)
{
    struct bed b;
    size_t stripe = RANK_MEMORY / (size_t)r->size;
    unsigned char *out = malloc(stripe), *in = malloc(stripe);
    uint32_t queued = 0;
    make_bed(r, &b);
    for (int p = 0; p < r->size && !b.refused; p++) {
        if (!b.remote[p])
            continue;
        rank_fill(out, r->me, (uint32_t)p, stripe);
        for (size_t at = 0, n, i = 0; at < stripe; at += n) {
            n = piece((int)i++) < stripe - at ? piece((int)i - 1) : stripe - at;
            put(r, &b, p, stripe * (size_t)r->me + at, out + at, n, &queued);
        }
        flush(r, &b, p, &queued);
        memset(out, 0, stripe);
    }
    rank_meet_pumping(r);
    for (int p = 0; p < r->size && !b.refused; p++) {
        rank_fill(out, p, (uint32_t)r->me, stripe);
        NEED(r, !b.remote[p] || !memcmp(b.own + stripe * (size_t)p, out, stripe),
             "what rank %d has put is not here", p);
    }
    for (int p = 0; p < r->size && !b.refused; p++) {
        int stripe_of = (p + 1) % r->size;
        if (!b.remote[p])
            continue;
        memset(in, 0, stripe);
        for (size_t at = 0, n, i = 3; at < stripe; at += n) {
            n = piece((int)i++) < stripe - at ? piece((int)i - 1) : stripe - at;
            get(r, &b, p, stripe * (size_t)stripe_of + at, in + at, n, &queued);
        }
        settle(r, queued);
        rank_fill(out, stripe_of, (uint32_t)p, stripe);
        NEED(r, !memcmp(in, out, stripe), "other bytes from rank %d", p);
    }
    end_bed(r, &b);
    free(out);
    free(in);
}

/* True: done (and the old value is in *old); false: the device has no such update. */
static bool update(struct rank *r, struct bed *b, int of, uint64_t off, enum keel_atomic_op op,
                   enum keel_atomic_type type, const void *operand, const void *compare, void *old)
{
    if (!b->remote[of]) { /* its own memory, as the core does it */
        keel_atomic(b->own + off, op, type, operand, compare, old);
        return true;
    }
    for (;;) {
        void *cookie = malloc(1);
        uint32_t before = r->sent_calls;
        dev_status st = b->mem->atomic(b->remote[of], off, op, type, operand, compare, old, cookie);
        if (st == DEV_QUEUED) {
            settle(r, before + 1);
            return true;
        }
        free(cookie);
        if (st == DEV_OK || st == DEV_NO_SUPPORT)
            return st == DEV_OK;
        NEED(r, st == DEV_AGAIN, "atomic answered %d", st);
        rank_pump(r);
    }
}

enum { UPDATES = 300 };

/* All ranks add to the same elements of rank 0, of each type, at once; and take turns by COMPARE_SWAP. */
void memory_updates(struct rank *r)
{
    static const int8_t one8 = 1;
    static const int16_t one16 = 1;
    static const int32_t one32 = 1;
    static const int64_t one64 = 1;
    static const float onef = 1;
    static const double oned = 1;
    static const void *const one[KEEL_ATOMIC_TYPES] = { &one8,  &one16, &one32, &one64, &one8,
                                                        &one16, &one32, &one64, &onef,  &oned };
    struct bed b;
    uint64_t last = 0, old = 0, want;
    bool none;
    make_bed(r, &b);
    none = b.refused || !b.mem->atomic || r->caps.no_atomic ||
           !update(r, &b, 0, 1024, KEEL_ATOMIC_SUM, KEEL_INT64, &one64, NULL, NULL);
    for (int i = 0; i < UPDATES && !none; i++)
        for (int t = 0; t < KEEL_ATOMIC_TYPES; t++)
            if (!update(r, &b, 0, 8 * (uint64_t)t, KEEL_ATOMIC_SUM, (enum keel_atomic_type)t, one[t], NULL,
                        NULL))
                atomic_fetch_or(&r->board->word[3], 1u << t); /* not this type */
    NEED(r, (atomic_load(&r->board->word[3]) & (1u << KEEL_INT64 | 1u << KEEL_UINT64)) == 0, "now and then");
    for (uint64_t i = 0; i < UPDATES && !none; i++) {
        NEED(r, update(r, &b, 0, 512, KEEL_ATOMIC_SUM, KEEL_UINT64, &one64, NULL, &old), "no SUM");
        NEED(r, i == 0 || old > last, "the old value went from %llu to %llu", (unsigned long long)last,
             (unsigned long long)old);
        last = old;
        do {
            update(r, &b, 0, 520, KEEL_ATOMIC_FETCH, KEEL_UINT64, NULL, NULL, &want);
            old = want + 1;
            update(r, &b, 0, 520, KEEL_ATOMIC_COMPARE_SWAP, KEEL_UINT64, &(uint64_t){ want + 1 }, &want,
                   &old);
        } while (old != want);
    }
    rank_meet_pumping(r);
    if (r->me == 0 && !none) {
        uint64_t all = (uint64_t)r->size * UPDATES, is[3];
        double d;
        float f;
        memcpy(&f, b.own + 8 * KEEL_FLOAT, 4);
        memcpy(&d, b.own + 8 * KEEL_DOUBLE, 8);
        memcpy(is, b.own + 512, 16);
        memcpy(&is[2], b.own + 1024, 8);
        uint32_t lacks = atomic_load(&r->board->word[3]);
        NEED(r, lacks & 1u << KEEL_INT8 || (b.own[0] == (uint8_t)all && b.own[1] == 0), "int8 is %d",
             b.own[0]);
        NEED(r,
             (lacks & 1u << KEEL_FLOAT || f == (float)all) && (lacks & 1u << KEEL_DOUBLE || d == (double)all),
             "float %g double %g", (double)f, d);
        NEED(r, is[0] == all && is[1] == all && is[2] == (uint64_t)r->size, "%llu, %llu",
             (unsigned long long)is[0], (unsigned long long)is[1]);
    }
    end_bed(r, &b);
}

void memory_refuses(struct rank *r)
{
    struct bed b;
    struct dev_remote *made = NULL;
    int to = (r->me + 1) % r->size;
    unsigned char few[16] = { 0 }, key[DEV_KEY_MAX];
    uint32_t len;
    make_bed(r, &b);
    len = r->board->key[to].len;
    memcpy(key, r->board->key[to].bytes, len);
    if (!b.refused) {
        dev_status put_st = DEV_AGAIN, get_st = DEV_AGAIN;
        while (put_st == DEV_AGAIN &&
               (put_st = b.mem->put(b.remote[to], RANK_MEMORY - 8, few, 16, NULL, NULL)) == DEV_AGAIN)
            rank_pump(r);
        while (get_st == DEV_AGAIN &&
               (get_st = b.mem->get(b.remote[to], UINT64_MAX - 4, few, 16, NULL, NULL)) == DEV_AGAIN)
            rank_pump(r);
        NEED(r, put_st == DEV_ERROR && get_st == DEV_ERROR, "beyond the end: put %d get %d", put_st, get_st);
        NEED(r, b.mem->mem_open(r->peer[to], key, len - 1, &made) == DEV_ERROR, "a key that is too short");
        NEED(r, b.mem->mem_open(r->peer[to], key, 0, &made) == DEV_ERROR, "no key");
    }
    end_bed(r, &b);
}

void memory_is_shared(struct rank *r)
{
    struct bed b;
    int to = (r->me + 1) % r->size, from = (r->me + r->size - 1) % r->size;
    void *base = NULL;
    dev_status st = DEV_NO_SUPPORT;
    make_bed(r, &b);
    if (!b.refused && b.mem->share)
        st = b.mem->share(b.remote[to], &base);
    NEED(r, st == DEV_OK || st == DEV_NO_SUPPORT, "share answered %d", st);
    NEED(r, st == DEV_OK || r->subject->memory == NULL || !b.mem->share,
         "memory in the segment is not shared");
    if (st == DEV_OK)
        ((unsigned char *)base)[100] = (unsigned char)(r->me + 1);
    rank_meet(r);
    NEED(r, st != DEV_OK || b.own[100] == from + 1, "%d", b.own[100]);
    end_bed(r, &b);
}

/* Packets keep their order while memory is put and got. */
void memory_among_packets(struct rank *r)
{
    enum { N = 200 };
    struct bed b;
    int to = (r->me + 1) % r->size, from = (r->me + r->size - 1) % r->size;
    uint32_t queued = 0, sends = 0, words[N];
    make_bed(r, &b);
    for (uint32_t i = 0; i < N && !b.refused; i++) {
        words[i] = i + 1000 * (uint32_t)r->me;
        rank_short(r, to, i % 40);
        put(r, &b, to, 4 * i, &words[i], 4, &queued);
        sends++;
    }
    if (!b.refused)
        flush(r, &b, to, &queued);
    rank_pump_until(r, from, sends);
    rank_meet_pumping(r);
    for (uint32_t i = 0; i < sends; i++) {
        uint32_t is;
        memcpy(&is, b.own + 4 * i, 4);
        NEED(r, is == i + 1000 * (uint32_t)from, "word %u is %u", i, is);
    }
    end_bed(r, &b);
}

/* Rank 2 dies: operations on its memory end, in one way or the other, and then are refused; the others go on. */
void memory_of_the_dead(struct rank *r)
{
    static unsigned char big[RANK_MEMORY];
    struct bed b;
    uint32_t queued = 0;
    dev_status st = DEV_OK;
    make_bed(r, &b);
    if (r->me == 2) {
        rank_settle(r);
        raise(SIGKILL);
    }
    for (int i = 0; st != DEV_PEER_GONE && !b.refused; i++) {
        void *cookie = malloc(1);
        st = b.mem->put(b.remote[2], 0, big, sizeof big, NULL, cookie);
        NEED(r, st != DEV_ERROR, "put %d answered %d", i, st);
        queued += st == DEV_QUEUED;
        if (st != DEV_QUEUED)
            free(cookie);
        rank_pump(r);
    }
    while (r->gone_calls[2] == 0)
        rank_pump(r);
    settle(r, queued);
    NEED(r, b.refused || b.mem->flush(r->peer[2], NULL) == DEV_PEER_GONE, "flush to the dead");
    if (!b.refused) {
        put(r, &b, 1 - r->me, 0, big, sizeof big, &queued);
        flush(r, &b, 1 - r->me, &queued);
    }
    atomic_fetch_add(&r->board->word[2], 1); /* an end without close is a death, too: together */
    while (atomic_load(&r->board->word[2]) < 2)
        rank_pump(r);
}
