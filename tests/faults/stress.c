/* SPDX-License-Identifier: BSD-3-Clause */
/* stress.c: mixed traffic whose every byte is checked, from one seed that all ranks share.
 *
 *     stress SEED ROUNDS|SECONDSs [threads N] [max BYTES] [from ROUND] [verbose]
 *
 * A round is a list of messages between random ranks, of random sizes (0 to 4 MB), kinds and types, each blocking,
 * nonblocking, persistent or partitioned on either side, received by name, by wildcards or after a probe; or
 * collectives; or both at once.  All ranks draw the same list and take the messages in its order, so whatever blocks
 * can go on.  Content follows from seed, round and message.  With threads each does all that on communicators of
 * its own; without MPI_THREAD_MULTIPLE the others only exist.  What differs is printed with the round; the exit
 * code is then 1. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi.h>

enum {
    MESSAGES = 24,
    LAYOUTS = 6,
    PAD = 64,
    POISON = 0xa5,
    TIMES = 3,
    TAG_SPAN = MESSAGES * TIMES,
    TAG_ROUNDS = 64,
    NO_TAG = TAG_SPAN * TAG_ROUNDS,
    RING_TAG
};

static int rank, size, threads = 1, verbose;
static long most = 4 << 20;
static uint64_t seed, first_round, rounds;
static double seconds;
static _Atomic int wrongs, ended;

/* ---- Random numbers, the same in all ranks ---- */

struct dice {
    uint64_t x;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int roll(struct dice *d, int n)
{
    d->x += 0x9e3779b97f4a7c15u;
    return (int)(mix(d->x) % (uint64_t)n);
}

/* Small ones often, the edges of what the library may treat differently, large ones seldom. */
static long some_size(struct dice *d)
{
    static const long edge[] = { 0,    8,    40,    48,    49,    64,     256,    1024,
                                 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576 };
    int kind = roll(d, 100);
    long n;
    if (kind < 35)
        n = roll(d, 65);
    else if (kind < 60)
        n = edge[roll(d, 16)] + roll(d, 5) - 2;
    else
        n = roll(d, 1 << (6 + roll(d, 10)));
    if (kind >= 95)
        n = roll(d, 4 << 20);
    n = n < 0 ? 0 : n > most ? most : n;
    return roll(d, 2) ? n : n / 36 * 36;
}

/* ---- Layouts: where the bytes of a message lie in memory ---- */

struct layout {
    int runs, off[4], len[4], period, extent;
    MPI_Datatype type[2]; /* of bytes, of 32-bit integers */
};

static struct layout layouts[LAYOUTS] = {
    { 1, { 0 }, { 4 }, 4, 4, { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL } }, /* contiguous */
    { 1, { 0 }, { 12 }, 12, 20, { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL } },
    { 2, { 0, 12 }, { 8, 4 }, 12, 16, { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL } },
    { 3, { 0, 8, 40 }, { 4, 16, 16 }, 36, 64, { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL } },
    { 1, { 8 }, { 36 }, 36, 100, { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL } },
    { 3, { 40, 8, 0 }, { 16, 16, 4 }, 36, 60, { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL } },
};

static void make_types(void)
{
    for (int i = 1; i < LAYOUTS; i++)
        for (int unit = 0; unit < 2; unit++) {
            struct layout *l = &layouts[i];
            MPI_Datatype t;
            MPI_Aint at[4] = { 0 };
            int len[4] = { 0 };
            for (int k = 0; k < l->runs; k++) {
                at[k] = l->off[k];
                len[k] = l->len[k] / (unit ? 4 : 1);
            }
            MPI_Type_create_hindexed(l->runs, len, at, unit ? MPI_INT32_T : MPI_BYTE, &t);
            MPI_Type_create_resized(t, 0, l->extent, &l->type[unit]);
            MPI_Type_free(&t);
            MPI_Type_commit(&l->type[unit]);
        }
    layouts[0].type[0] = MPI_BYTE;
    layouts[0].type[1] = MPI_INT32_T;
}

static void free_types(void)
{
    for (int i = 1; i < LAYOUTS; i++)
        for (int unit = 0; unit < 2; unit++)
            MPI_Type_free(&layouts[i].type[unit]);
}

/* Memory that n bytes take in a layout, and the count of its type. */
static size_t room_of(const struct layout *l, long n)
{
    return (size_t)((n + l->period - 1) / l->period) * (size_t)l->extent + 16;
}

static int count_of(const struct layout *l, int unit, long n)
{
    return (int)(l == layouts ? n / (unit ? 4 : 1) : n / l->period);
}

static uint64_t word_of(uint64_t content, uint64_t i)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u ^ content;
    return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}

/* The n bytes of a content as they stand in a message. */
static void make_stream(unsigned char *to, long n, uint64_t content)
{
    for (long i = 0; i < n; i += 8) {
        uint64_t w = word_of(content, (uint64_t)i / 8);
        memcpy(to + i, &w, n - i < 8 ? (size_t)(n - i) : 8);
    }
}

/* Between a stream and memory in a layout; what is taken out is poisoned. */
static void spread(const struct layout *l, unsigned char *memory, unsigned char *stream, long n, int out)
{
    if (l == layouts) {
        memcpy(out ? stream : memory, out ? memory : stream, (size_t)n);
        if (out)
            memset(memory, POISON, (size_t)n);
        return;
    }
    for (long done = 0, item = 0; done < n; item++)
        for (int k = 0; k < l->runs && done < n; k++) {
            long len = n - done < l->len[k] ? n - done : l->len[k];
            unsigned char *at = memory + item * l->extent + l->off[k];
            memcpy(out ? stream + done : at, out ? at : stream + done, (size_t)len);
            if (out)
                memset(at, POISON, (size_t)len);
            done += len;
        }
}

static unsigned char *get(size_t n)
{
    unsigned char *p = malloc(n + 1);
    if (p == NULL) {
        fprintf(stderr, "rank %d: no memory for %zu bytes\n", rank, n);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return p;
}

/* ---- One thread's state ---- */

struct lane {
    int id;
    MPI_Comm main, named, wild,
        half; /* wild: receives from anybody with any tag; named: from somebody with any tag */
    uint64_t round;
    const char *doing;
};

static void wrong(struct lane *w, const char *what, long a, long b, long c)
{
    if (wrongs++ < 20)
        fprintf(stderr, "rank %d thread %d: seed %llu round %llu: %s: %s (%ld, %ld, %ld)\n", rank, w->id,
                (unsigned long long)seed, (unsigned long long)w->round, w->doing, what, a, b, c);
}

static void need(struct lane *w, const char *what, long got, long expected, long which)
{
    if (got != expected)
        wrong(w, what, got, expected, which);
}

static unsigned char *filled(const struct layout *l, long n, uint64_t content)
{
    unsigned char *stream = get((size_t)n + 8), *memory;
    make_stream(stream, n, content);
    if (l == layouts)
        return stream;
    memory = get(room_of(l, n));
    memset(memory, POISON, room_of(l, n));
    spread(l, memory, stream, n, 0);
    free(stream);
    return memory;
}

/* A buffer for n bytes and something behind that must stay; checked() frees it. */
static unsigned char *poisoned(const struct layout *l, long n)
{
    unsigned char *memory = get(room_of(l, n) + PAD);
    memset(memory, POISON, room_of(l, n) + PAD);
    return memory;
}

static void checked(struct lane *w, const struct layout *l, unsigned char *memory, long room, long n,
                    uint64_t content, long which)
{
    unsigned char *want = get((size_t)n + 8), *got = get((size_t)n);
    size_t all = room_of(l, room) + PAD;
    make_stream(want, n, content);
    spread(l, memory, got, n, 1);
    if (memcmp(want, got, (size_t)n) != 0) {
        long i = 0;
        while (want[i] == got[i])
            i++;
        wrong(w, "wrong byte (at, of, message)", i, n, which);
    }
    for (size_t i = 0; i < all; i++)
        if (memory[i] != POISON) {
            wrong(w, "memory beside the message (at, of, message)", (long)i, n, which);
            break;
        }
    free(want);
    free(got);
    free(memory);
}

/* ---- Messages ---- */

enum how { BLOCKING, NONBLOCKING, PERSISTENT, PARTITIONED };
enum from { BY_NAME, ANY_SOURCE, ANY_TAG, ANYTHING, PROBED, MPROBED };

struct message {
    int src, dst, times, unit, parts, in_parts, synchronous, early, slow;
    long n;
    enum how send, recv;
    enum from from;
    const struct layout *out, *in;
};

/* A request of this round and what it is for. */
struct pending {
    MPI_Request request;
    const struct message *m; /* NULL: a send */
    unsigned char *buf;
    int it;
};

struct round {
    struct message m[MESSAGES];
    struct pending pending[MESSAGES * TIMES * 2];
    int n, pendings;
    int early[64];   /* by destination: receives of anything are posted before all */
    struct dice own; /* differs by rank */
};

static uint64_t content_of(const struct lane *w, int i, int it)
{
    return mix(seed * 31 + (uint64_t)w->id * 7919 + w->round * 131071 + (uint64_t)(i * TIMES + it + 1));
}

static int tag_of(const struct lane *w, int i, int it)
{
    return (int)(w->round % TAG_ROUNDS) * TAG_SPAN + i * TIMES + it;
}

static void draw_message(struct dice *d, struct message *m, const int *early, int anything)
{
    static const int some_parts[] = { 1, 2, 3, 8, 17 };
    *m = (struct message){ .src = roll(d, size),
                           .dst = roll(d, size),
                           .n = some_size(d),
                           .send = (enum how)roll(d, 4),
                           .times = 1,
                           .recv = (enum how)roll(d, 3),
                           .from = (enum from)roll(d, 6),
                           .out = layouts,
                           .in = layouts,
                           .synchronous = roll(d, 3) == 0,
                           .early = roll(d, 2),
                           .slow = roll(d, 40),
                           .parts = 1 };
    if (m->from == ANYTHING && !anything)
        m->from = BY_NAME;
    if (m->send == PARTITIONED && (m->src == m->dst || roll(d, 2)))
        m->send = NONBLOCKING;
    if (m->send == PARTITIONED) {
        m->recv = PARTITIONED;
        m->from = BY_NAME;
        m->parts = some_parts[roll(d, 5)];
        m->in_parts = roll(d, 2) ? 1 : m->parts;
        m->n = m->n / m->parts / 4 * 4 * m->parts;
    }
    if (m->n <= 65536)
        m->times = 1 + (roll(d, 3) == 0) * roll(d, TIMES);
    if (m->src == m->dst || m->from == ANYTHING)
        m->send = NONBLOCKING;
    if (m->from == ANYTHING && early[m->dst] && m->n > 70000)
        m->n %= 70000;
    m->unit = m->n % 4 == 0 && m->from != ANYTHING && roll(d, 2);
    if (m->n % 36 == 0 && m->send != PARTITIONED) {
        m->out = &layouts[roll(d, LAYOUTS)];
        if (m->from != ANYTHING)
            m->in = &layouts[roll(d, LAYOUTS)];
    }
}

static void pause_for(int slow, int who)
{
    if (slow == who)
        usleep((useconds_t)(slow * 100));
}

static void send_pending(struct lane *w, struct round *r, const struct message *m, int i, int it,
                         MPI_Comm comm)
{
    struct pending *p = &r->pending[r->pendings++];
    p->m = NULL;
    p->buf = filled(m->out, m->n, content_of(w, i, it));
    (m->synchronous ? MPI_Issend : MPI_Isend)(p->buf, count_of(m->out, m->unit, m->n), m->out->type[m->unit],
                                              m->dst, tag_of(w, i, it), comm, &p->request);
}

static void send_partitioned(struct lane *w, struct round *r, const struct message *m, int i)
{
    unsigned char *buf = get((size_t)m->n + 8);
    MPI_Request q;
    MPI_Psend_init(buf, m->parts, count_of(layouts, m->unit, m->n / m->parts), layouts->type[m->unit], m->dst,
                   tag_of(w, i, 0), w->main, MPI_INFO_NULL, &q);
    for (int it = 0; it < m->times; it++) {
        int first = roll(&r->own, m->parts);
        make_stream(buf, m->n, content_of(w, i, it));
        MPI_Start(&q);
        for (int k = 0; k < m->parts; k++) {
            pause_for(m->slow, 1);
            MPI_Pready((first + k) % m->parts, q);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&q);
    free(buf);
}

static void send_persistent(struct lane *w, const struct message *m, int i, MPI_Comm comm)
{
    for (int it = 0; it < m->times; it++) {
        unsigned char *buf = filled(m->out, m->n, content_of(w, i, it));
        MPI_Request q;
        (m->synchronous ? MPI_Ssend_init : MPI_Send_init)(
            buf, count_of(m->out, m->unit, m->n), m->out->type[m->unit], m->dst, tag_of(w, i, it), comm, &q);
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Request_free(&q);
        free(buf);
    }
}

static void send_one(struct lane *w, struct round *r, int i)
{
    const struct message *m = &r->m[i];
    MPI_Comm comm = m->from == ANY_TAG ? w->named : m->from == ANYTHING ? w->wild : w->main;
    pause_for(m->slow, 2);
    if (m->send == PARTITIONED)
        send_partitioned(w, r, m, i);
    else if (m->send == PERSISTENT)
        send_persistent(w, m, i, comm);
    for (int it = 0; it < m->times; it++)
        if (m->send == NONBLOCKING)
            send_pending(w, r, m, i, it, comm);
        else if (m->send == BLOCKING) {
            unsigned char *buf = filled(m->out, m->n, content_of(w, i, it));
            (m->synchronous ? MPI_Ssend : MPI_Send)(buf, count_of(m->out, m->unit, m->n),
                                                    m->out->type[m->unit], m->dst, tag_of(w, i, it), comm);
            free(buf);
        }
}

/* A message is there: is it the one that was to come, whole? */
static void arrived(struct lane *w, const struct message *m, int i, int it, unsigned char *buf,
                    MPI_Status *status)
{
    int count = -1;
    MPI_Get_count(status, m->in->type[m->unit], &count);
    need(w, "count", count, count_of(m->in, m->unit, m->n), i);
    need(w, "source", status->MPI_SOURCE, m->src, i);
    need(w, "tag", status->MPI_TAG, tag_of(w, i, it), i);
    checked(w, m->in, buf, m->n, m->n, content_of(w, i, it), i);
}

static void receive_partitioned(struct lane *w, struct round *r, const struct message *m, int i)
{
    MPI_Request q;
    unsigned char *buf = get((size_t)m->n);
    MPI_Precv_init(buf, m->in_parts, count_of(layouts, m->unit, m->n / m->in_parts), layouts->type[m->unit],
                   m->src, tag_of(w, i, 0), w->main, MPI_INFO_NULL, &q);
    for (int it = 0; it < m->times; it++) {
        unsigned char *copy;
        int flag;
        memset(buf, POISON, (size_t)m->n);
        MPI_Start(&q);
        MPI_Parrived(q, roll(&r->own, m->in_parts), &flag);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        copy = poisoned(layouts, m->n);
        memcpy(copy, buf, (size_t)m->n);
        checked(w, layouts, copy, m->n, m->n, content_of(w, i, it), i);
    }
    MPI_Request_free(&q);
    free(buf);
}

static void receive_probed(struct lane *w, struct round *r, const struct message *m, int i, int it)
{
    MPI_Datatype type = m->in->type[m->unit];
    MPI_Status status;
    MPI_Message handle;
    MPI_Request q;
    unsigned char *buf = poisoned(m->in, m->n);
    int n = count_of(m->in, m->unit, m->n), flag = 0, tag = tag_of(w, i, it);
    if (m->from == PROBED) {
        if (roll(&r->own, 2))
            MPI_Probe(m->src, tag, w->main, &status);
        else
            while (!flag)
                MPI_Iprobe(MPI_ANY_SOURCE, tag, w->main, &flag, &status);
        need(w, "source of a probe", status.MPI_SOURCE, m->src, i);
        MPI_Recv(buf, n, type, m->src, tag, w->main, &status);
    } else {
        if (roll(&r->own, 2))
            MPI_Mprobe(m->src, tag, w->main, &handle, &status);
        else
            while (!flag)
                MPI_Improbe(m->src, tag, w->main, &flag, &handle, &status);
        if (roll(&r->own, 2))
            MPI_Mrecv(buf, n, type, &handle, &status);
        else {
            MPI_Imrecv(buf, n, type, &handle, &q);
            MPI_Wait(&q, &status);
        }
    }
    arrived(w, m, i, it, buf, &status);
}

static void post(struct lane *w, struct round *r, int i, int it)
{
    const struct message *m = &r->m[i];
    struct pending *p = &r->pending[r->pendings++];
    *p = (struct pending){ .m = m, .buf = poisoned(m->in, m->n), .it = it };
    MPI_Irecv(p->buf, count_of(m->in, m->unit, m->n), m->in->type[m->unit],
              m->from == ANY_SOURCE ? MPI_ANY_SOURCE : m->src,
              m->from == ANY_TAG ? MPI_ANY_TAG : tag_of(w, i, it), m->from == ANY_TAG ? w->named : w->main,
              &p->request);
}

static int is_early(const struct message *m)
{
    return m->early && m->recv == NONBLOCKING && (m->from == BY_NAME || m->from == ANY_SOURCE);
}

static void receive_one(struct lane *w, struct round *r, int i)
{
    const struct message *m = &r->m[i];
    int src = m->from == ANY_SOURCE ? MPI_ANY_SOURCE : m->src;
    MPI_Comm comm = m->from == ANY_TAG ? w->named : w->main;
    pause_for(m->slow, 3);
    if (m->recv == PARTITIONED)
        receive_partitioned(w, r, m, i);
    for (int it = 0; it < m->times && m->recv != PARTITIONED && m->from != ANYTHING; it++) {
        int tag = m->from == ANY_TAG ? MPI_ANY_TAG : tag_of(w, i, it), n = count_of(m->in, m->unit, m->n);
        unsigned char *buf;
        MPI_Status status;
        MPI_Request q;
        if (m->from == PROBED || m->from == MPROBED) {
            receive_probed(w, r, m, i, it);
            continue;
        }
        if (m->recv == NONBLOCKING) {
            if (!is_early(m))
                post(w, r, i, it);
            continue;
        }
        buf = poisoned(m->in, m->n);
        if (m->recv == PERSISTENT) {
            MPI_Recv_init(buf, n, m->in->type[m->unit], src, tag, comm, &q);
            MPI_Start(&q);
            MPI_Wait(&q, &status);
            MPI_Request_free(&q);
        } else
            MPI_Recv(buf, n, m->in->type[m->unit], src, tag, comm, &status);
        arrived(w, m, i, it, buf, &status);
    }
}

/* Receives of anything, posted before all else or made at the end. */
enum { EARLY_ROOM = 70000 };

static int anythings(const struct round *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++)
        if (r->m[i].dst == rank && r->m[i].from == ANYTHING)
            n += r->m[i].times;
    return n;
}

static void something_arrived(struct lane *w, struct round *r, unsigned char *buf, long room,
                              MPI_Status *status)
{
    int i = status->MPI_TAG % TAG_SPAN / TIMES, it = status->MPI_TAG % TIMES, count;
    const struct message *m = &r->m[i];
    if (i >= r->n || status->MPI_TAG != tag_of(w, i, it) || m->dst != rank || m->from != ANYTHING ||
        it >= m->times) {
        wrong(w, "a message nobody sent (source, tag)", status->MPI_SOURCE, status->MPI_TAG, 0);
        free(buf);
        return;
    }
    MPI_Get_count(status, MPI_BYTE, &count);
    need(w, "count of anything", count, m->n, i);
    need(w, "source of anything", status->MPI_SOURCE, m->src, i);
    checked(w, layouts, buf, room, m->n, content_of(w, i, it), i);
}

static void receive_anythings(struct lane *w, struct round *r)
{
    for (int n = anythings(r); n > 0; n--) {
        MPI_Status status;
        MPI_Message handle;
        unsigned char *buf;
        int count;
        if (roll(&r->own, 2)) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->wild, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            buf = poisoned(layouts, count);
            MPI_Recv(buf, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, w->wild, &status);
        } else {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->wild, &handle, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            buf = poisoned(layouts, count);
            MPI_Mrecv(buf, count, MPI_BYTE, &handle, &status);
        }
        something_arrived(w, r, buf, count, &status);
    }
}

static void post_early(struct lane *w, struct round *r)
{
    if (r->early[rank])
        for (int n = anythings(r); n > 0; n--) {
            struct pending *p = &r->pending[r->pendings++];
            *p = (struct pending){ .m = r->m, .buf = poisoned(layouts, EARLY_ROOM), .it = -1 };
            MPI_Irecv(p->buf, EARLY_ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, w->wild, &p->request);
        }
    for (int i = 0; i < r->n; i++)
        for (int it = 0; it < r->m[i].times; it++)
            if (r->m[i].dst == rank && is_early(&r->m[i]))
                post(w, r, i, it);
}

static void finish_one(struct lane *w, struct round *r, struct pending *p, MPI_Status *status)
{
    if (p->m == NULL)
        free(p->buf);
    else if (p->it < 0)
        something_arrived(w, r, p->buf, EARLY_ROOM, status);
    else
        arrived(w, p->m, (int)(p->m - r->m), p->it, p->buf, status);
}

static void finish_all(struct lane *w, struct round *r)
{
    static _Thread_local MPI_Request q[MESSAGES * TIMES * 2];
    static _Thread_local MPI_Status status[MESSAGES * TIMES * 2];
    static _Thread_local int index[MESSAGES * TIMES * 2];
    int done = 0, way = roll(&r->own, 3);
    for (int i = 0; i < r->pendings; i++)
        q[i] = r->pending[i].request;
    if (way == 0) {
        MPI_Waitall(r->pendings, q, status);
        for (int i = 0; i < r->pendings; i++)
            finish_one(w, r, &r->pending[i], &status[i]);
        return;
    }
    while (done < r->pendings) {
        int n = 1;
        if (way == 1)
            MPI_Waitany(r->pendings, q, index, status);
        else
            MPI_Testsome(r->pendings, q, &n, index, status);
        for (int i = 0; i < n; i++)
            finish_one(w, r, &r->pending[index[i]], &status[i]);
        done += n;
    }
}

/* A receive that nothing matches, and its end. */
static void cancel_one(struct lane *w)
{
    MPI_Request q;
    MPI_Status status;
    int byte, flag = 0;
    MPI_Irecv(&byte, 1, MPI_INT, MPI_ANY_SOURCE, NO_TAG, w->main, &q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &status);
    MPI_Test_cancelled(&status, &flag);
    need(w, "cancelled", flag, 1, 0);
}

static void messages(struct lane *w, struct dice *d)
{
    struct round *r = calloc(1, sizeof *r);
    /* One message many times over, or a list.  What takes anything must not take the next round's. */
    int only = roll(d, 8) == 0, anything = roll(d, 2);
    if (r == NULL)
        exit(3);
    w->doing = "messages";
    r->own.x = mix(seed + w->round * 977 + (uint64_t)(rank * 16 + w->id));
    r->n = 1 + roll(d, MESSAGES);
    for (int i = 0; i < 64; i++)
        r->early[i] = roll(d, 2);
    for (int i = 0; i < r->n; i++)
        if (only && i > 0)
            r->m[i] = r->m[0];
        else
            draw_message(d, &r->m[i], r->early, anything);
    post_early(w, r);
    for (int i = 0; i < r->n; i++) {
        if (r->m[i].src == rank)
            send_one(w, r, i);
        if (r->m[i].dst == rank)
            receive_one(w, r, i);
    }
    if (!r->early[rank])
        receive_anythings(w, r);
    if (roll(&r->own, 8) == 0)
        cancel_one(w);
    finish_all(w, r);
    if (anything)
        MPI_Barrier(w->wild);
    free(r);
}

/* ---- Collectives ---- */

enum what {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER,
    GATHER,
    ALLGATHER,
    SCATTER,
    ALLTOALL,
    ALLGATHERV,
    KINDS
};
static const char *const kind_names[] = {
    "barrier", "bcast",     "reduce",  "allreduce", "scan",      "exscan", "reduce_scatter_block",
    "gather",  "allgather", "scatter", "alltoall",  "allgatherv"
};
enum { SUM, MAX, AFFINE, OPS };

struct coll {
    enum what what;
    int root, op, in_place, way, me, n; /* way: blocking, nonblocking, persistent; n: ranks */
    long count;                         /* elements of a block */
    uint64_t content;
    MPI_Comm comm;
    uint64_t *send, *recv;
    int counts[64], displs[64];
    MPI_Request request;
};

static MPI_Op affine;

/* x -> a x + b in one word, modulo 2^32, first the left one: associative, not commutative. */
static uint64_t compose(uint64_t f, uint64_t g)
{
    uint32_t a = (uint32_t)f, b = (uint32_t)(f >> 32), c = (uint32_t)g, e = (uint32_t)(g >> 32);
    return (uint64_t)(c * b + e) << 32 | (uint32_t)(a * c);
}

static void compose_all(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint64_t *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        g[i] = compose(f[i], g[i]);
}

/* Element i of the block that rank r has for rank q. */
static uint64_t element(const struct coll *c, int r, int q, long i)
{
    return word_of(c->content + (uint64_t)(r * 101 + q + 1), (uint64_t)i);
}

/* Ranks first..last combined. */
static uint64_t combined(const struct coll *c, int last, int q, long i)
{
    uint64_t x = element(c, 0, q, i);
    for (int r = 1; r <= last; r++) {
        uint64_t y = element(c, r, q, i);
        x = c->op == SUM ? x + y : c->op == MAX ? (x > y ? x : y) : compose(x, y);
    }
    return x;
}

static void fill_blocks(const struct coll *c, uint64_t *to, int blocks)
{
    for (int q = 0; q < blocks; q++)
        for (long i = 0; i < c->count; i++)
            to[q * c->count + i] = element(c, c->me, q, i);
}

static void draw_coll(struct lane *w, struct dice *d, struct coll *c)
{
    int kind = roll(d, 100);
    *c = (struct coll){ .what = (enum what)roll(d, KINDS),
                        .op = roll(d, OPS),
                        .in_place = roll(d, 3) == 0,
                        .way = roll(d, 3),
                        .root = roll(d, size),
                        .content = mix(d->x ^ seed),
                        .request = MPI_REQUEST_NULL };
    c->comm = roll(d, 4) == 0 ? w->half : w->main;
    c->count = kind < 60 ? roll(d, 9) : kind < 85 ? roll(d, 4096) : roll(d, 1 << (10 + roll(d, 9)));
    if (c->count * 8 > most)
        c->count = most / 8;
    MPI_Comm_rank(c->comm, &c->me);
    MPI_Comm_size(c->comm, &c->n);
    if (c->what > REDUCE_SCATTER && c->count > 4096)
        c->count /= size;
    c->root %= c->n;
    for (int i = 0; i < c->n; i++) {
        c->counts[i] = (int)(c->count * (i + 1) / c->n);
        c->displs[i] = (int)(i * c->count);
    }
    c->send = (uint64_t *)(void *)get((size_t)(c->count * c->n) * 8 + 8);
    c->recv = (uint64_t *)(void *)get((size_t)(c->count * c->n) * 8 + PAD);
    memset(c->recv, POISON, (size_t)(c->count * c->n) * 8 + PAD);
    fill_blocks(c, c->send, c->n);
}

/* What the send buffer of the call is. */
static void *sender(struct coll *c)
{
    int may = c->what == ALLREDUCE || c->what == ALLGATHER || (c->what == REDUCE && c->me == c->root);
    if (!c->in_place || !may)
        return c->send;
    memcpy(c->recv + (c->what == ALLGATHER ? c->me * c->count : 0), c->send, (size_t)c->count * 8);
    return MPI_IN_PLACE;
}

#define CALL(name, ...) \
    (c->way == 0   ? MPI_##name(__VA_ARGS__, comm) \
     : c->way == 1 ? MPI_I##name##_(__VA_ARGS__, comm, q) \
                   : MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, q))
#define MPI_IBcast_ MPI_Ibcast
#define MPI_IReduce_ MPI_Ireduce
#define MPI_IAllreduce_ MPI_Iallreduce
#define MPI_IScan_ MPI_Iscan
#define MPI_IExscan_ MPI_Iexscan
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IGather_ MPI_Igather
#define MPI_IAllgather_ MPI_Iallgather
#define MPI_IScatter_ MPI_Iscatter
#define MPI_IAlltoall_ MPI_Ialltoall
#define MPI_IAllgatherv_ MPI_Iallgatherv

static void begin_coll(struct lane *w, struct coll *c)
{
    const MPI_Datatype t = MPI_UINT64_T;
    const MPI_Op op = c->op == SUM ? MPI_SUM : c->op == MAX ? MPI_MAX : affine;
    const MPI_Comm comm = c->comm;
    const int n = (int)c->count;
    MPI_Request *q = &c->request;
    void *s = sender(c);
    w->doing = kind_names[c->what];
    switch (c->what) {
    case BARRIER:
        c->way == 0   ? MPI_Barrier(comm)
        : c->way == 1 ? MPI_Ibarrier(comm, q)
                      : MPI_Barrier_init(comm, MPI_INFO_NULL, q);
        break;
    case BCAST:
        if (c->me == c->root)
            memcpy(c->recv, c->send, (size_t)c->count * 8);
        CALL(Bcast, c->recv, n, t, c->root);
        break;
    case REDUCE:
        CALL(Reduce, s, c->recv, n, t, op, c->root);
        break;
    case ALLREDUCE:
        CALL(Allreduce, s, c->recv, n, t, op);
        break;
    case SCAN:
        CALL(Scan, s, c->recv, n, t, op);
        break;
    case EXSCAN:
        CALL(Exscan, s, c->recv, n, t, op);
        break;
    case REDUCE_SCATTER:
        CALL(Reduce_scatter_block, s, c->recv, n, t, op);
        break;
    case GATHER:
        CALL(Gather, s, n, t, c->recv, n, t, c->root);
        break;
    case ALLGATHER:
        CALL(Allgather, s, n, t, c->recv, n, t);
        break;
    case SCATTER:
        CALL(Scatter, s, n, t, c->recv, n, t, c->root);
        break;
    case ALLTOALL:
        CALL(Alltoall, s, n, t, c->recv, n, t);
        break;
    default:
        CALL(Allgatherv, s, c->counts[c->me], t, c->recv, c->counts, c->displs, t);
    }
    if (c->way == 2)
        MPI_Start(q);
}

/* What must stand in block q of the receive buffer; false: it is as it was. */
static int expected(const struct coll *c, int q, long i, uint64_t *x)
{
    int root = c->me == c->root;
    switch (c->what) {
    case BCAST:
        *x = element(c, c->root, 0, i);
        return q == 0;
    case REDUCE:
    case ALLREDUCE:
        *x = combined(c, c->n - 1, 0, i);
        return q == 0 && (c->what == ALLREDUCE || root);
    case SCAN:
        *x = combined(c, c->me, 0, i);
        return q == 0;
    case EXSCAN:
        *x = combined(c, c->me - 1, 0, i);
        return q == 0 && c->me > 0;
    case REDUCE_SCATTER:
        *x = combined(c, c->n - 1, c->me, i);
        return q == 0;
    case GATHER:
    case ALLGATHER:
        *x = element(c, q, 0, i);
        return c->what == ALLGATHER || root;
    case SCATTER:
        *x = element(c, c->root, c->me, i);
        return q == 0;
    case ALLTOALL:
        *x = element(c, q, c->me, i);
        return 1;
    case ALLGATHERV:
        *x = element(c, q, 0, i);
        return i < c->counts[q];
    default:
        return 0;
    }
}

static void end_coll(struct lane *w, struct coll *c)
{
    unsigned char *end = (unsigned char *)(c->recv + c->count * c->n);
    uint64_t poison;
    memset(&poison, POISON, 8);
    w->doing = kind_names[c->what];
    if (c->way == 2) {
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
        MPI_Request_free(&c->request);
    } else if (c->way == 1)
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    for (int q = 0; q < c->n; q++)
        for (long i = 0; i < c->count; i++) {
            uint64_t x, got = c->recv[q * c->count + i];
            if (expected(c, q, i, &x) ? got != x : got != poison && c->what != EXSCAN) {
                wrong(w, "wrong element (block, element, count)", q, i, c->count);
                q = c->n;
                break;
            }
        }
    for (int i = 0; i < PAD; i++)
        if (end[i] != POISON) {
            wrong(w, "memory beside the result (at, count, ranks)", i, c->count, c->n);
            break;
        }
    free(c->send);
    free(c->recv);
}

enum { AT_ONCE = 4 };

/* Several collectives, the nonblocking ones together, and perhaps messages while they are under way. */
static void collectives(struct lane *w, struct dice *d, int with_messages)
{
    struct coll c[AT_ONCE];
    int n = 1 + roll(d, AT_ONCE), back = roll(d, 2);
    for (int i = 0; i < n; i++) {
        draw_coll(w, d, &c[i]);
        if (verbose > 1)
            fprintf(stderr, "rank %d round %llu: %s of %ld, way %d, %d ranks, root %d\n", rank,
                    (unsigned long long)w->round, kind_names[c[i].what], c[i].count, c[i].way, c[i].n,
                    c[i].root);
        begin_coll(w, &c[i]);
    }
    if (with_messages)
        messages(w, d);
    for (int i = 0; i < n; i++)
        end_coll(w, &c[back ? n - 1 - i : i]);
}

/* ---- Rounds ---- */

/* Small collectives with nothing between: lines and slots go round. */
static void burst(struct lane *w, struct dice *d)
{
    int n = 1 + roll(d, 300), words = 1 + roll(d, 4), kind = roll(d, 3);
    w->doing = "burst";
    for (int k = 0; k < n; k++) {
        uint64_t x[4], sum[4];
        for (int i = 0; i < words; i++)
            x[i] = mix((uint64_t)(rank + 1) * 7 + (uint64_t)(k * 4 + i));
        if (kind == 0)
            MPI_Allreduce(x, sum, words, MPI_UINT64_T, MPI_SUM, w->main);
        else if (kind == 1)
            MPI_Barrier(w->main);
        else
            MPI_Bcast(x, words, MPI_UINT64_T, k % size, w->main);
        for (int i = 0; i < words && kind != 1; i++) {
            uint64_t want = 0;
            for (int r = 0; r < size; r++)
                want += kind == 0 || r == k % size ? mix((uint64_t)(r + 1) * 7 + (uint64_t)(k * 4 + i)) : 0;
            if ((kind == 0 ? sum : x)[i] != want)
                wrong(w, "wrong element (call, element, kind)", k, i, kind);
        }
    }
}

/* Neighbours in a ring, both ways, one size, many times. */
static void ring(struct lane *w, struct dice *d)
{
    long n = some_size(d) % 300000;
    int times = n > 20000 ? 3 : 1 + roll(d, 100), right = (rank + 1) % size, left = (rank + size - 1) % size;
    w->doing = "ring";
    for (int k = 0; k < times; k++) {
        /* A neighbour may be in the round before, and take anybody's message with a tag of that. */
        int tag = RING_TAG + k;
        uint64_t content = mix(w->round * 131 + (uint64_t)k);
        unsigned char *out = filled(layouts, n, content + (uint64_t)rank), *in = poisoned(layouts, n);
        MPI_Sendrecv(out, (int)n, MPI_BYTE, right, tag, in, (int)n, MPI_BYTE, left, tag, w->main,
                     MPI_STATUS_IGNORE);
        checked(w, layouts, in, n, n, content + (uint64_t)left, k);
        free(out);
    }
}

static int go_on(struct lane *w, double began)
{
    int go = 1;
    if (seconds == 0)
        return rounds == 0 || w->round < first_round + rounds;
    if (w->round % 4 == 0) {
        go = MPI_Wtime() - began < seconds;
        MPI_Bcast(&go, 1, MPI_INT, 0, w->main);
    }
    return go;
}

static void *run(void *arg)
{
    struct lane *w = arg;
    double began = MPI_Wtime();
    for (w->round = first_round; go_on(w, began) && wrongs == 0; w->round++) {
        struct dice d = { mix(seed + w->round * 0x51ed27u + (uint64_t)w->id * 0x1234567u) };
        int kind = roll(&d, 12);
        if (verbose && rank == 0)
            fprintf(stderr, "thread %d round %llu kind %d\n", w->id, (unsigned long long)w->round, kind);
        if (kind < 5)
            messages(w, &d);
        else if (kind < 8)
            collectives(w, &d, 0);
        else if (kind < 10)
            collectives(w, &d, 1);
        else if (kind == 10)
            burst(w, &d);
        else
            ring(w, &d);
    }
    return NULL;
}

/* A thread that makes the process one with several, no more. */
static void *rest(void *arg)
{
    while (!ended)
        usleep(20000);
    return arg;
}

static void lane_init(struct lane *w, int id)
{
    w->id = id;
    w->doing = "";
    MPI_Comm_dup(MPI_COMM_WORLD, &w->main);
    MPI_Comm_dup(MPI_COMM_WORLD, &w->named);
    MPI_Comm_dup(MPI_COMM_WORLD, &w->wild);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &w->half);
}

static void lane_fini(struct lane *w)
{
    MPI_Comm_free(&w->main);
    MPI_Comm_free(&w->named);
    MPI_Comm_free(&w->wild);
    MPI_Comm_free(&w->half);
}

static void options(int argc, char **argv)
{
    char *unit = "";
    if (argc < 3) {
        fprintf(stderr,
                "usage: stress SEED ROUNDS|SECONDSs [threads N] [max BYTES] [from ROUND] [verbose]\n");
        exit(2);
    }
    seed = strtoull(argv[1], NULL, 0);
    rounds = strtoull(argv[2], &unit, 0);
    if (*unit == 's')
        seconds = (double)rounds;
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], "verbose") == 0)
            verbose++;
        else if (i + 1 < argc && strcmp(argv[i], "threads") == 0)
            threads = atoi(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "max") == 0)
            most = atol(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "from") == 0)
            first_round = strtoull(argv[++i], NULL, 0);
}

int main(int argc, char **argv)
{
    static struct lane lanes[8];
    pthread_t t[8];
    int provided;
    options(argc, argv);
    MPI_Init_thread(NULL, NULL, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        printf("begun\n"), fflush(stdout);
    make_types();
    MPI_Op_create(compose_all, 0, &affine);
    for (int i = 0; i < threads; i++)
        lane_init(&lanes[i], i);
    for (int i = 1; i < threads; i++)
        pthread_create(&t[i], NULL, provided == MPI_THREAD_MULTIPLE ? run : rest, &lanes[i]);
    run(&lanes[0]);
    ended = 1;
    for (int i = 1; i < threads; i++)
        pthread_join(t[i], NULL);
    if (rank == 0)
        printf("%llu rounds\n", (unsigned long long)(lanes[0].round - first_round));
    if (wrongs)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < threads; i++)
        lane_fini(&lanes[i]);
    MPI_Op_free(&affine);
    free_types();
    MPI_Finalize();
    return 0;
}
