/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"
#include "mpid_listen.h"
#include "util/clock.h"
#include "util/wait.h"

#define ME MPID_MyWorldRank
#define N MPID_MyWorldSize

enum { CTX = 7, COUNT_MAX = 300000 };

static struct MPIR_COMMUNICATOR *const comm = NULL;
static int err;
static int types_freed, requests_freed;

static void type_freed(struct MPIR_DATATYPE *t)
{
    (void)t;
    types_freed++;
}

static void request_freed(MPID_Request r)
{
    free(r);
    requests_freed++;
}

static struct MPIR_HANDLE *request_told;
static int requests_told;
static void request_done(MPID_Request r)
{
    request_told = r;
    requests_told++;
}

static unsigned char pattern(int64_t i, int seed)
{
    return (unsigned char)((uint64_t)i * 167u + (uint64_t)seed * 31u + (uint64_t)(i >> 8));
}

static void fill(unsigned char *p, int64_t n, int seed)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = pattern(i, seed);
}

static void expect(const unsigned char *p, int64_t n, int seed, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        CHECK(p[i] == pattern(i, seed), "%s: byte %lld of %lld is %d, expected %d", what, (long long)i,
              (long long)n, p[i], pattern(i, seed));
}

static void ok(const char *what)
{
    CHECK(err == 0, "%s: error %d: %s", what, err, MPID_Error_text());
}

static void expect_status(const MPIR_Status *s, int source, int tag, int64_t count, const char *what)
{
    CHECK(s->MPI_SOURCE == source && s->MPI_TAG == tag && s->count == count && s->cancelled == 0,
          "%s: status source %d tag %d count %lld cancelled %d; expected %d %d %lld 0", what, s->MPI_SOURCE,
          s->MPI_TAG, (long long)s->count, s->cancelled, source, tag, (long long)count);
}

/* Everybody waits for everybody. */
static void barrier(void)
{
    char c = 0;
    MPIR_Status s;
    if (ME == 0) {
        for (int i = 1; i < N; i++)
            MPID_RecvContig(comm, &c, 1, i, 99, CTX + 1, &s, &err);
        for (int i = 1; i < N; i++)
            MPID_SendContig(comm, &c, 1, 0, 99, CTX + 1, i, 0, &err);
    } else {
        MPID_SendContig(comm, &c, 1, ME, 99, CTX + 1, 0, 0, &err);
        MPID_RecvContig(comm, &c, 1, 0, 99, CTX + 1, &s, &err);
    }
    ok("barrier");
}

/* Every second byte: n of them. */
static void make_stride(struct MPIR_DATATYPE *t, int64_t n)
{
    struct MPIR_DATATYPE byte;
    memset(&byte, 0, sizeof byte);
    memset(t, 0, sizeof *t);
    t->obj.refs = 1;
    CHECK(MPID_Type_basic(&byte, 1, 1, 1) == 0, "basic");
    CHECK(MPID_Type_hvector(t, n, 1, 2, &byte) == 0, "hvector");
    CHECK(MPID_Type_commit(t) == 0, "commit");
}

/* ---- Modes ---- */

enum mode { STANDARD, SYNC, READY, BUFFERED, I_STANDARD, I_SYNC, I_READY, MODES };

static void send_contig(enum mode m, const void *p, int64_t n, int tag, int to)
{
    struct MPIR_HANDLE r;
    switch (m) {
    case STANDARD:
        MPID_SendContig(comm, p, n, ME, tag, CTX, to, 0, &err);
        return;
    case SYNC:
        MPID_SsendContig(comm, p, n, ME, tag, CTX, to, 0, &err);
        return;
    case READY:
        MPID_RsendContig(comm, p, n, ME, tag, CTX, to, 0, &err);
        return;
    case BUFFERED:
        MPID_BsendContig(comm, p, n, ME, tag, CTX, to, 0, &err);
        if (err != MPIR_ERR_MAY_BLOCK)
            return;
        err = 0;
        /* fall through */
    case I_STANDARD:
        MPID_IsendContig(comm, p, n, ME, tag, CTX, to, 0, &r, &err);
        break;
    case I_SYNC:
        MPID_IssendContig(comm, p, n, ME, tag, CTX, to, 0, &r, &err);
        break;
    default:
        MPID_IrsendContig(comm, p, n, ME, tag, CTX, to, 0, &r, &err);
    }
    MPID_SendComplete(&r, &err);
}

static void send_typed(enum mode m, const void *p, int64_t n, struct MPIR_DATATYPE *t, int tag, int to)
{
    struct MPIR_HANDLE r;
    switch (m) {
    case STANDARD:
        MPID_SendDatatype(comm, p, n, t, ME, tag, CTX, to, &err);
        return;
    case SYNC:
        MPID_SsendDatatype(comm, p, n, t, ME, tag, CTX, to, &err);
        return;
    case READY:
        MPID_RsendDatatype(comm, p, n, t, ME, tag, CTX, to, &err);
        return;
    case BUFFERED:
        MPID_BsendDatatype(comm, p, n, t, ME, tag, CTX, to, &err);
        if (err != MPIR_ERR_MAY_BLOCK)
            return;
        err = 0;
        /* fall through */
    case I_STANDARD:
        MPID_IsendDatatype(comm, p, n, t, ME, tag, CTX, to, &r, &err);
        break;
    case I_SYNC:
        MPID_IssendDatatype(comm, p, n, t, ME, tag, CTX, to, &r, &err);
        break;
    default:
        MPID_IrsendDatatype(comm, p, n, t, ME, tag, CTX, to, &r, &err);
    }
    MPID_SendComplete(&r, &err);
}

/* One message to the right in a mode, its receive posted before; typed at the sender, the receiver, both, neither. */
static void one_mode(enum mode m, int64_t n, int typed)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N, tag = (int)m + 10 * typed;
    unsigned char *out = malloc((size_t)n * 2 + 2), *in = calloc(1, (size_t)n * 2 + 2);
    struct MPIR_DATATYPE st, rt;
    struct MPIR_HANDLE r;
    MPIR_Status s;
    make_stride(&st, n > 0 ? n : 1);
    make_stride(&rt, 1); /* one byte; n elements of extent 1 are contiguous: a type of its own layout below */
    MPID_Type_fini(&rt);
    make_stride(&rt, n > 0 ? n : 1);
    fill(out, n * 2, ME);
    if (typed & 2)
        MPID_IrecvDatatype(comm, in, n > 0, &rt, from, tag, CTX, &r, &err);
    else
        MPID_IrecvContig(comm, in, n, from, tag, CTX, &r, &err);
    ok("irecv");
    if (m == READY || m == I_READY)
        barrier();
    if (typed & 1)
        send_typed(m, out, n > 0, &st, tag, to);
    else
        send_contig(m, out, n, tag, to);
    ok("send");
    MPID_RecvComplete(&r, &s, &err);
    ok("recv");
    expect_status(&s, from, tag, n, "modes");
    for (int64_t i = 0; i < n; i++) {
        unsigned char got = in[typed & 2 ? i * 2 : i], want = pattern(typed & 1 ? i * 2 : i, from);
        CHECK(got == want, "mode %d typed %d: byte %lld of %lld is %d, expected %d", m, typed, (long long)i,
              (long long)n, got, want);
        CHECK(!(typed & 2) || i + 1 == n || in[i * 2 + 1] == 0, "the gap at %lld was written", (long long)i);
    }
    CHECK(st.obj.refs == 1 && rt.obj.refs == 1, "references left: %d, %d", st.obj.refs, rt.obj.refs);
    MPID_Type_fini(&st);
    MPID_Type_fini(&rt);
    free(out);
    free(in);
}

static void modes(void)
{
    static const int64_t sizes[] = { 0, 1, 24, 25, 48, 49, 1000, 4096, 5001, 32768, 32769, COUNT_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int m = 0; m < MODES; m++)
            for (int typed = 0; typed < 4; typed++)
                one_mode((enum mode)m, sizes[i], typed);
}

/* ---- Order ---- */

struct letter {
    int seq;
    unsigned char rest[6000];
};

/* Everybody sends numbered letters of all protocols to rank 0, which takes them with all kinds of wildcards. */
static void order(void)
{
    enum { LETTERS = 300, TAGS = 4 };
    static const int64_t sizes[] = { 4, 40, 48, 60, 4000, 6004 };
    if (ME != 0) {
        struct letter l;
        for (int i = 0; i < LETTERS; i++) {
            l.seq = i;
            if (i % 7 == 3)
                MPID_SsendContig(comm, &l, sizes[i % 6], ME, i % TAGS, CTX, 0, 0, &err);
            else
                MPID_SendContig(comm, &l, sizes[i % 6], ME, i % TAGS, CTX, 0, 0, &err);
            ok("send");
        }
        return;
    }
    int *next = calloc((size_t)N * TAGS, sizeof *next);
    for (int i = 0; i < N * TAGS; i++)
        next[i] = i % TAGS;
    for (int k = 0; k < (N - 1) * LETTERS; k++) {
        struct letter l;
        MPIR_Status s;
        int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
        if (k % 3 == 1) { /* a source that still has something */
            for (source = 1; next[source * TAGS] >= LETTERS && next[source * TAGS + 1] >= LETTERS &&
                             next[source * TAGS + 2] >= LETTERS && next[source * TAGS + 3] >= LETTERS;)
                source++;
        }
        MPID_RecvContig(comm, &l, sizeof l, source, tag, CTX, &s, &err);
        ok("recv");
        CHECK(s.MPI_SOURCE > 0 && s.MPI_SOURCE < N && s.MPI_TAG >= 0 && s.MPI_TAG < TAGS, "odd status");
        int *want = &next[s.MPI_SOURCE * TAGS + s.MPI_TAG];
        CHECK(l.seq == *want, "source %d tag %d: letter %d, expected %d", s.MPI_SOURCE, s.MPI_TAG, l.seq,
              *want);
        CHECK(s.count == sizes[l.seq % 6], "letter %d has %lld bytes", l.seq, (long long)s.count);
        *want += TAGS;
    }
    free(next);
}

/* Receives posted in one order, messages in another. */
static void reverse_tags(void)
{
    enum { MANY = 400 };
    int peer = ME ^ 1;
    static struct MPIR_HANDLE r[MANY];
    static int got[MANY];
    if (peer >= N) {
        barrier();
        return;
    }
    for (int i = 0; i < MANY; i++)
        MPID_IrecvContig(comm, &got[i], sizeof got[i], i % 5 == 4 ? MPI_ANY_SOURCE : peer, MANY - 1 - i, CTX,
                         &r[i], &err);
    for (int i = 0; i < MANY; i++)
        CHECK(!MPID_Receive_begun(&r[i]), "receive %d has begun", i);
    for (int i = 0; i < MANY; i++)
        MPID_SendContig(comm, &i, sizeof i, ME, i, CTX, peer, 0, &err);
    ok("send");
    for (int i = 0; i < MANY; i++) {
        MPIR_Status s;
        MPID_RecvComplete(&r[i], &s, &err);
        ok("recv");
        CHECK(got[i] == MANY - 1 - i && s.MPI_TAG == got[i], "receive %d got %d", i, got[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPID_SendContig(comm, &i, sizeof i, ME, i, CTX, peer, 0, &err);
    barrier();
    for (int i = MANY; i-- > 0;) {
        int v = -1;
        MPID_RecvContig(comm, &v, sizeof v, i % 3 ? peer : MPI_ANY_SOURCE, i, CTX, NULL, &err);
        ok("recv");
        CHECK(v == i, "tag %d brought %d", i, v);
    }
}

/* ---- All pairs at once, large ---- */

static void exchange(void)
{
    struct MPIR_HANDLE *r = calloc((size_t)N * 2, sizeof *r);
    unsigned char **buf = calloc((size_t)N * 2, sizeof *buf);
    for (int i = 0; i < N; i++) {
        buf[i] = malloc(COUNT_MAX);
        buf[N + i] = malloc(COUNT_MAX);
        fill(buf[N + i], COUNT_MAX, ME * N + i);
        MPID_IrecvContig(comm, buf[i], COUNT_MAX, i, 1, CTX, &r[i], &err);
        ok("irecv");
    }
    for (int i = 0; i < N; i++) {
        MPID_IsendContig(comm, buf[N + i], COUNT_MAX, ME, 1, CTX, i, 0, &r[N + i], &err);
        ok("isend");
    }
    for (int i = 0; i < 2 * N;) {
        MPIR_Status s;
        if (i < N ? MPID_RecvIcomplete(&r[i], &s, &err) : MPID_SendIcomplete(&r[i], &err)) {
            ok("complete");
            if (i < N)
                expect(buf[i], COUNT_MAX, i * N + ME, "exchange");
            free(buf[i++]);
        } else
            MPID_DeviceCheck(MPID_BLOCKING);
    }
    free(buf);
    free(r);
}

/* ---- Probes ---- */

static void probes(void)
{
    static const int64_t sizes[] = { 0, 8, 48, 2000, 100000 };
    int to = (ME + 1) % N, from = (ME + N - 1) % N, flag;
    unsigned char *p = malloc(200002), *q = malloc(200002);
    MPIR_Status s;
    MPID_Iprobe(comm, 1234, CTX, MPI_ANY_SOURCE, &flag, &err, &s);
    CHECK(!flag && err == 0, "a message that nobody sent");
    for (int k = 0; k < 5; k++) {
        struct MPIR_HANDLE send, again, m;
        struct MPIR_DATATYPE t;
        int64_t n = sizes[k];
        fill(p, n, ME);
        MPID_IsendContig(comm, p, n, ME, k, CTX, to, 0, &send, &err);
        MPID_IsendContig(comm, p, n, ME, k, CTX, to, 0, &again, &err);
        MPID_Probe(comm, k, CTX, MPI_ANY_SOURCE, &err, &s);
        ok("probe");
        expect_status(&s, from, k, n, "probe");
        MPID_Iprobe(comm, MPI_ANY_TAG, CTX, from, &flag, &err, NULL);
        CHECK(flag, "iprobe after probe");
        MPID_Improbe(comm, k, CTX, from, &flag, &m, &err, &s);
        CHECK(flag && m.handle_type == MPIR_MESSAGE, "improbe after probe");
        expect_status(&s, from, k, n, "improbe");
        memset(q, 0, 200002);
        MPID_ImrecvContig(q, n, &m, &err);
        MPID_RecvComplete(&m, &s, &err);
        ok("imrecv");
        expect_status(&s, from, k, n, "imrecv");
        expect(q, n, from, "imrecv");
        MPID_Mprobe(comm, MPI_ANY_TAG, CTX, MPI_ANY_SOURCE, &m, &err, &s);
        expect_status(&s, from, k, n, "mprobe");
        make_stride(&t, n > 0 ? n : 1);
        memset(q, 0, 200002);
        MPID_ImrecvDatatype(q, n > 0, &t, &m, &err);
        MPID_RecvComplete(&m, &s, &err);
        ok("imrecv of a datatype");
        expect_status(&s, from, k, n, "imrecv of a datatype");
        for (int64_t i = 0; i < n; i++)
            CHECK(q[i * 2] == pattern(i, from), "byte %lld", (long long)i);
        MPID_SendComplete(&send, &err);
        MPID_SendComplete(&again, &err);
        ok("isend");
        MPID_Type_fini(&t);
    }
    err = 0;
    struct MPIR_HANDLE none;
    memset(&none, 0, sizeof none);
    MPID_ImrecvContig(q, 1, &none, &err);
    CHECK(err == MPI_ERR_REQUEST, "imrecv of no message gave %d", err);
    err = 0;
    free(p);
    free(q);
}

/* ---- One description of a message: of bytes, of a type that goes as bytes, of a layout ---- */

struct described {
    struct MPID_Operation out, in;
    int64_t bytes, step; /* of data; from one to the next of them */
    unsigned char *from, *into;
};

static struct described describe(int kind, int64_t bytes, struct MPIR_DATATYPE *t, int tag)
{
    struct described d = { .bytes = bytes, .step = kind == 2 ? 2 : 1 };
    int left = (ME + N - 1) % N;
    d.from = calloc((size_t)bytes + 1, 2);
    d.into = calloc((size_t)bytes + 1, 2);
    memset(t, 0, sizeof *t);
    t->obj.refs = 1;
    if (kind == 1)
        CHECK(MPID_Type_basic(t, 1, 1, 1) == 0 && (t->as_bytes = t->is_contig), "a basic type");
    else
        make_stride(t, bytes > 0 ? bytes : 1);
    for (int64_t i = 0; i < bytes; i++)
        d.from[i * d.step] = pattern(i, ME);
    d.out = d.in = (struct MPID_Operation){
        .len = kind == 2 ? bytes > 0 : bytes, .datatype = kind == 0 ? NULL : t, .context_id = CTX, .tag = tag
    };
    d.out.buf = d.from;
    d.out.rank = ME;
    d.out.peer = (ME + 1) % N;
    d.in.buf = d.into;
    d.in.rank = left;
    d.in.peer = -1;
    return d;
}

static void arrived(struct described *d, const MPIR_Status *s, const char *what)
{
    expect_status(s, d->in.rank, d->in.tag, d->bytes, what);
    for (int64_t i = 0; i < d->bytes; i++)
        CHECK(d->into[i * d->step] == pattern(i, d->in.rank), "%s: byte %lld of %lld", what, (long long)i,
              (long long)d->bytes);
    memset(d->into, 0, (size_t)(d->bytes + 1) * 2);
}

static void described_all(int kind, int64_t bytes)
{
    struct MPIR_DATATYPE t;
    struct described d = describe(kind, bytes, &t, 3 + kind);
    struct MPIR_HANDLE send, recv, m;
    MPIR_Status s;
    int flag = 0, e = 0;
    CHECK(MPID_Irecv(&d.in, &recv) == 0 && MPID_Send(&d.out, MPID_STANDARD) == 0, "send");
    CHECK(MPID_Wait(&recv, &s) == 0, "wait");
    arrived(&d, &s, "send, irecv");
    CHECK(MPID_Isend(&d.out, MPID_SYNCHRONOUS, &send) == 0 && MPID_Recv(&d.in, &s) == 0, "issend, recv");
    CHECK(MPID_Wait(&send, NULL) == 0, "wait for issend");
    arrived(&d, &s, "issend, recv");
    /* What is in the requests begins them again. */
    CHECK(MPID_Irecv(&recv.op, &recv) == 0 && MPID_Isend(&send.op, MPID_STANDARD, &send) == 0, "again");
    while (!MPID_Test(&recv, &s, &e))
        MPID_DeviceCheck(MPID_BLOCKING);
    CHECK(e == 0 && MPID_Wait(&send, NULL) == 0, "again: error %d", e);
    arrived(&d, &s, "again");
    e = MPID_Send(&d.out, MPID_AT_ONCE);
    CHECK(e == 0 || e == MPIR_ERR_MAY_BLOCK, "at once: %d", e);
    if (e != 0)
        CHECK(MPID_Isend(&d.out, MPID_STANDARD, &send) == 0, "isend");
    MPID_Mprobe(comm, d.in.tag, CTX, d.in.rank, &m, &err, &s);
    expect_status(&s, d.in.rank, d.in.tag, bytes, "mprobe");
    CHECK(MPID_Imrecv(d.into, d.in.len, d.in.datatype, &m) == 0 && MPID_Wait(&m, &s) == 0, "imrecv");
    CHECK(e == 0 || MPID_Wait(&send, NULL) == 0, "wait for isend");
    arrived(&d, &s, "imrecv");
    d.in.tag = 90; /* neither has another end */
    d.out.tag = 91;
    CHECK(MPID_Irecv(&d.in, &recv) == 0, "irecv");
    MPID_Cancel(&recv);
    CHECK(MPID_Wait(&recv, &s) == 0 && s.cancelled == 1, "a cancelled receive");
    CHECK(MPID_Isend(&d.out, MPID_SYNCHRONOUS, &send) == 0, "issend");
    MPID_Cancel(&send);
    CHECK(MPID_Wait(&send, &s) == 0 && s.cancelled == 1, "a cancelled send");
    barrier();
    MPID_Iprobe(comm, 91, CTX, d.in.rank, &flag, &err, &s);
    CHECK(!flag, "the cancelled message is there");
    CHECK(t.obj.refs == 1, "references left: %d", t.obj.refs);
    MPID_Type_fini(&t);
    free(d.from);
    free(d.into);
}

static void operations(void)
{
    static const int64_t sizes[] = { 0, 8, 48, 49, 5001, 32769, COUNT_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 3; kind++)
            if (N > 1)
                described_all(kind, sizes[i]);
    struct MPID_Operation bad = { .len = -1, .context_id = CTX, .peer = 0 };
    CHECK(MPID_Send(&bad, MPID_STANDARD) == MPI_ERR_COUNT, "a negative length");
    CHECK(MPID_Recv(&bad, NULL) == MPI_ERR_COUNT, "a negative length");
    bad.len = 0;
    bad.peer = N;
    CHECK(MPID_Send(&bad, MPID_STANDARD) == MPI_ERR_RANK, "a rank that is not there");
}

/* ---- Truncation and bad arguments ---- */

static void expect_err(int want, const char *text, const char *what)
{
    CHECK(err == want, "%s: error %d, expected %d", what, err, want);
    CHECK(strstr(MPID_Error_text(), text) != NULL, "%s: text \"%s\" lacks \"%s\"", what, MPID_Error_text(),
          text);
    err = 0;
}

static void errors(void)
{
    static const int64_t sizes[] = { 20, 24, 40, 1000, 100000 };
    int to = (ME + 1) % N, from = (ME + N - 1) % N;
    unsigned char *p = malloc(100000), *q = malloc(100000);
    struct MPIR_HANDLE r, r2;
    MPIR_Status s;
    for (int k = 0; k < 20; k++) {
        int64_t n = sizes[k % 5], room = k < 10 ? n / 2 : 0;
        fill(p, n, ME);
        memset(q, 0xee, 100000);
        if (k & 1)
            MPID_IrecvContig(comm, q, room, from, k, CTX, &r, &err);
        if (k % 3 == 0)
            MPID_IssendContig(comm, p, n, ME, k, CTX, to, 0, &r2, &err);
        else
            MPID_IsendContig(comm, p, n, ME, k, CTX, to, 0, &r2, &err);
        ok("isend");
        if (k & 1)
            MPID_RecvComplete(&r, &s, &err);
        else
            MPID_RecvContig(comm, q, room, from, k, CTX, &s, &err);
        char text[40];
        snprintf(text, sizeof text, "%lld bytes", (long long)n);
        expect_err(MPI_ERR_TRUNCATE, text, "truncation");
        expect_status(&s, from, k, room, "truncation");
        expect(q, room, from, "truncation");
        CHECK(q[room] == 0xee, "a byte beyond the buffer was written");
        MPID_SendComplete(&r2, &err);
        ok("the sender of a truncated message");
    }
    MPID_SendContig(comm, p, 1, ME, 0, CTX, N, 0, &err);
    expect_err(MPI_ERR_RANK, "expected 0 to", "rank");
    MPID_SendContig(comm, p, 1, ME, 0, CTX, -5, 0, &err);
    expect_err(MPI_ERR_RANK, "is -5", "rank");
    MPID_SendContig(comm, p, -1, ME, 0, CTX, to, 0, &err);
    expect_err(MPI_ERR_COUNT, "is -1", "count");
    MPID_RecvContig(comm, p, -2, from, 0, CTX, &s, &err);
    expect_err(MPI_ERR_COUNT, "is -2", "count");
    MPID_Init(NULL, NULL, NULL, &err);
    expect_err(MPI_ERR_OTHER, "already", "second init");
    free(p);
    free(q);
}

/* ---- Cancel, free ---- */

static void cancel(void)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N, flag = 1;
    enum { LONG = 500000 /* more than any device sends at once */ };
    unsigned char *p = calloc(1, LONG);
    struct MPIR_HANDLE r, t;
    MPIR_Status s;
    MPID_IrecvContig(comm, p, 100, MPI_ANY_SOURCE, 77, CTX, &r, &err);
    MPID_RecvCancel(&r, &err);
    MPID_RecvComplete(&r, &s, &err);
    ok("cancel");
    CHECK(s.cancelled == 1, "the receive was not cancelled");
    MPID_RecvCancel(&r, &err);          /* complete: nothing happens */
    for (int big = 0; big < 2; big++) { /* a send that nobody receives: large, or synchronous */
        if (big)
            MPID_IsendContig(comm, p, LONG, ME, 78, CTX, to, 0, &t, &err);
        else
            MPID_IssendContig(comm, p, 8, ME, 78, CTX, to, 0, &t, &err);
        ok("isend");
        MPID_SendCancel(&t, &err);
        MPID_SendComplete(&t, &err);
        ok("cancel of a send");
        CHECK(t.s.cancelled == 1, "the send was not cancelled");
    }
    barrier();
    MPID_Iprobe(comm, 78, CTX, from, &flag, &err, &s);
    CHECK(!flag, "the cancelled message is there");
    MPID_IsendContig(comm, p, LONG, ME, 79, CTX, to, 0, &t, &err); /* too late to cancel: received */
    MPID_RecvContig(comm, p, LONG, from, 79, CTX, &s, &err);
    MPID_SendComplete(&t, &err);
    MPID_SendCancel(&t, &err);
    ok("late cancel");
    CHECK(t.s.cancelled == 0 && s.count == LONG, "a late cancel did something");
    free(p);
}

/* The layer above hears of the end of what it watches, once, and of nothing else. */
static void watching(void)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N, before = requests_told;
    unsigned char in[16], out[16] = { 1 };
    struct MPIR_HANDLE r[2], s;
    MPIR_Status status;
    MPID_IrecvContig(comm, in, 8, from, 11, CTX, &r[0], &err);
    MPID_IrecvContig(comm, in + 8, 8, from, 12, CTX, &r[1], &err);
    CHECK(MPID_Request_watch(&r[0]), "a receive that nothing has come for is not complete");
    barrier();
    for (int i = 1; i >= 0; i--) {
        MPID_IsendContig(comm, out, 8, ME, 11 + i, CTX, to, 0, &s, &err);
        MPID_SendComplete(&s, &err);
        MPID_RecvComplete(&r[i], &status, &err);
        CHECK(requests_told == before + 1 - i, "told of %d requests", requests_told - before);
        barrier();
    }
    CHECK(request_told == &r[0], "told of another request");
    CHECK(!MPID_Request_watch(&r[0]) && requests_told == before + 1, "it is complete already");
    ok("watching");
}

static void count_unreceived(const struct MPIR_COMMUNICATOR *c, int32_t source, int32_t tag, int64_t bytes,
                             const struct MPID_Note *note, void *arg)
{
    int *seen = arg;
    (void)c, (void)note;
    if (source == (ME + N - 1) % N && tag >= 81 && tag <= 83 && bytes == tag)
        seen[tag - 81]++;
}

/* Messages that have come and that no receive has asked for, of which one is then received. */
static void unreceived(void)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N, seen[3] = { 0 };
    unsigned char in[100], out[100] = { 1 };
    MPIR_Status status;
    for (int tag = 81; tag <= 83; tag++)
        MPID_SendContig(comm, out, tag, ME, tag, CTX, to, 0, &err);
    MPID_RecvContig(comm, in, 100, from, 83, CTX, &status, &err);
    MPID_Unreceived(count_unreceived, seen);
    CHECK(seen[0] == 1 && seen[1] == 1 && seen[2] == 0, "%d %d %d messages", seen[0], seen[1], seen[2]);
    for (int tag = 81; tag <= 82; tag++)
        MPID_RecvContig(comm, in, 100, from, tag, CTX, &status, &err);
    MPID_Unreceived(count_unreceived, seen);
    CHECK(seen[0] == 1 && seen[1] == 1, "messages that were received are still there");
    ok("unreceived");
}

/* One message by each of the short calls, around a ring. */
static void short_calls(struct MPIR_COMMUNICATOR *c, int64_t n)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N, tag = 20 + (int)n % 7;
    unsigned char in[5000], out[5000];
    struct MPIR_HANDLE r, s;
    MPIR_Status status;
    fill(out, n, ME + tag);
    CHECK(MPID_Irecv_bytes(in, n, c, from, tag, &r) == 0 && MPID_Isend_bytes(out, n, c, to, tag, &s) == 0,
          "begin");
    MPID_SendComplete(&s, &err);
    MPID_RecvComplete(&r, &status, &err);
    expect(in, n, from + tag, "Irecv_bytes");
    expect_status(&status, from, tag, n, "Irecv_bytes");
    memset(in, 0, sizeof in);
    s = (struct MPIR_HANDLE){
        .comm = c, .buf = out, .len = n, .rank = ME, .tag = tag, .context_id = 6000, .peer = to
    };
    r = (struct MPIR_HANDLE){
        .comm = c, .buf = in, .len = n, .rank = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .context_id = 6000
    };
    CHECK(MPID_Send_again(&s) == 0 && MPID_Recv_again(&r) == 0, "begin again");
    MPID_SendComplete(&s, &err);
    MPID_RecvComplete(&r, &status, &err);
    expect(in, n, from + tag, "Recv_again");
    expect_status(&status, from, tag, n, "Recv_again");
    memset(in, 0, sizeof in);
    CHECK(n > 100 || MPID_Send_bytes(out, n, c, to, tag) == 0, "send");
    CHECK(n > 100 || MPID_Recv_bytes(in, n, c, tag % 2 ? from : MPI_ANY_SOURCE, MPI_ANY_TAG, &status) == 0,
          "receive");
    expect(in, n > 100 ? 0 : n, from + tag, "Recv_bytes");
    expect_status(&status, from, tag, n, "Recv_bytes");
}

/* Several receives wait, one is waited for: all get their messages, in order. */
static void short_wait(struct MPIR_COMMUNICATOR *c)
{
    enum { MANY = 6, THIS = 2 };
    struct MPIR_HANDLE r[MANY];
    int to = (ME + 1) % N, from = (ME + N - 1) % N, in[MANY] = { 0 };
    MPIR_Status s;
    for (int i = 0; i < MANY; i++)
        CHECK(MPID_Irecv_bytes(&in[i], sizeof in[i], c, i % 2 ? MPI_ANY_SOURCE : from, 7, &r[i]) == 0,
              "irecv %d", i);
    for (int i = 0; i < MANY; i++) {
        int out = 100 * ME + i;
        CHECK(MPID_Send_bytes(&out, sizeof out, c, to, 7) == 0, "send %d", i);
    }
    while (!r[THIS].is_complete)
        if (!MPID_Recv_soon(&r[THIS], 1))
            MPID_DeviceCheck(MPID_BLOCKING);
        else
            CHECK(r[THIS].is_complete, "it said that it is complete");
    for (int i = 0; i < MANY; i++) {
        MPID_RecvComplete(&r[i], &s, &err);
        CHECK(in[i] == 100 * from + i && s.MPI_SOURCE == from && s.MPI_TAG == 7 && s.count == sizeof in[i],
              "receive %d: %d", i, in[i]);
    }
}

static void short_way(void)
{
    static const int64_t sizes[] = { 0, 1, 3, 8, 17, 33, 48, 49, 5000 };
    struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = 6000 };
    int to = (ME + 1) % N, from = (ME + N - 1) % N;
    unsigned char in[8] = { 0 }, out[8] = { 1, 2, 3, 4, 5 };
    CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        short_calls(&c, sizes[i]);
    short_wait(&c);
    CHECK(MPID_Send_bytes(out, 8, &c, to, 1) == 0, "send");
    CHECK(MPID_Recv_bytes(in, 4, &c, from, 1, NULL) == MPI_ERR_TRUNCATE && in[3] == 4 && in[4] == 0,
          "too long");
    CHECK(MPID_Send_bytes(out, -1, &c, to, 1) == MPI_ERR_COUNT &&
              MPID_Recv_bytes(in, -1, &c, from, 1, NULL) == MPI_ERR_COUNT,
          "less than nothing");
    barrier();
    MPID_CommFree(&c);
    ok("short_way");
}

static void frees(void)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N;
    unsigned char *p = malloc(100000), *q = malloc(100000);
    struct MPIR_HANDLE *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    struct MPIR_DATATYPE t;
    MPIR_Status s;
    int before = requests_freed, tbefore = types_freed;
    fill(p, 100000, ME);
    MPID_IsendContig(comm, p, 8, ME, 5, CTX, to, 0, a, &err);
    MPID_IsendContig(comm, p, 100000, ME, 6, CTX, to, 0, b, &err);
    MPID_Request_free(a);
    MPID_SendFree(b);
    barrier();
    MPID_RecvContig(comm, q, 8, from, 5, CTX, &s, &err);
    MPID_RecvContig(comm, q, 100000, from, 6, CTX, &s, &err);
    expect(q, 100000, from, "freed request");
    while (requests_freed < before + 2)
        MPID_DeviceCheck(MPID_BLOCKING);
    a = calloc(1, sizeof *a);
    MPID_IrecvContig(comm, q, 8, from, 9, CTX, a, &err);
    MPID_RecvFree(a);
    barrier();
    struct MPIR_HANDLE w, x;
    MPID_IrecvContig(comm, q + 8, 8, from, 10, CTX, &x, &err);
    MPID_IsendContig(comm, p, 8, ME, 9, CTX, to, 0, &w, &err);
    CHECK(MPID_WaitForCompleteSend(&w) == 0, "wait for a send");
    MPID_IsendContig(comm, p, 9, ME, 10, CTX, to, 0, &w, &err);
    CHECK(MPID_WaitForCompleteRecv(&x) == MPI_ERR_TRUNCATE, "wait for a receive that is too short");
    CHECK(MPID_WaitForCompleteSend(&w) == 0, "wait for a send");
    while (requests_freed < before + 3)
        MPID_DeviceCheck(MPID_BLOCKING);
    expect(q, 8, from, "a freed receive");
    make_stride(&t, 30000);
    struct MPIR_HANDLE r;
    MPID_IrecvDatatype(comm, q, 1, &t, from, 8, CTX, &r, &err);
    CHECK(t.obj.refs == 2, "an active receive holds %d references", t.obj.refs - 1);
    t.obj.refs--; /* the user has freed the type */
    barrier();
    MPID_SendContig(comm, p, 30000, ME, 8, CTX, to, 0, &err);
    MPID_RecvComplete(&r, &s, &err);
    CHECK(types_freed == tbefore + 1, "the type was given back %d times", types_freed - tbefore);
    MPID_Type_fini(&t);
    ok("frees");
    free(p);
    free(q);
}

/* ---- Contexts ---- */

static void parking(void)
{
    struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = 1000 }, d = c;
    int to = (ME + 1) % N, from = (ME + N - 1) % N, v = -1;
    d.context_id = 2000;
    for (int i = 0; i < 8; i++) {
        int x = 100 * ME + i;
        MPID_SendContig(comm, &x, sizeof x, ME, i / 2, 1000 + (uint32_t)(i % 4), to, 0, &err);
    }
    barrier();
    CHECK(!MPID_Context_in_use(1000) && !MPID_Context_in_use(2000), "contexts in use without a communicator");
    CHECK(MPID_CommInit(NULL, &c) == 0 && MPID_CommInit(&c, &d) == 0, "comminit: %s", MPID_Error_text());
    CHECK(MPID_Context_in_use(1000) && MPID_Context_in_use(2000), "contexts of a communicator, not in use");
    for (int i = 8; i-- > 0;) {
        MPID_RecvContig(&c, &v, sizeof v, from, i / 2, 1000 + (uint32_t)(i % 4), NULL, &err);
        ok("recv");
        CHECK(v == 100 * from + i, "got %d, expected %d", v, 100 * from + i);
    }
    MPID_SendContig(&d, &v, sizeof v, ME, 3, 2001, to, 0, &err);
    MPID_RecvContig(&d, &v, sizeof v, from, 3, 2001, NULL, &err);
    ok("second communicator");
    barrier();
    CHECK(MPID_CommFree(&c) == 0 && MPID_CommFree(&d) == 0, "commfree");
    CHECK(!MPID_Context_in_use(1000), "a context in use after its communicator");
    for (uint32_t i = 0; i < 1000; i++) { /* many, some left */
        struct MPIR_COMMUNICATOR e = { .rank = ME, .size = N, .remote_size = N, .context_id = 5000 + 4 * i };
        CHECK(MPID_CommInit(NULL, &e) == 0, "comminit");
        MPID_SendContig(&e, &i, sizeof i, ME, 0, e.context_id, ME, 0, &err);
        MPID_RecvContig(&e, &v, sizeof v, ME, 0, e.context_id, NULL, &err);
        CHECK(v == (int)i, "context %u", e.context_id);
        MPID_CommFree(&e);
    }
}

/* ---- To itself ---- */

static void self(void)
{
    static const int64_t sizes[] = { 0, 8, 49, 70000, 200000 };
    unsigned char *p = malloc(400002), *q = malloc(400002);
    struct MPIR_DATATYPE t;
    struct MPIR_HANDLE r, u;
    MPIR_Status s;
    for (int k = 0; k < 5; k++) {
        int64_t n = sizes[k];
        fill(p, n * 2, 3);
        make_stride(&t, n > 0 ? n : 1);
        MPID_SendContig(comm, p, n, ME, 1, CTX, ME, 0, &err);
        MPID_IsendDatatype(comm, p, n > 0, &t, ME, 2, CTX, ME, &r, &err);
        MPID_IssendContig(comm, p, n, ME, 3, CTX, ME, 0, &u, &err);
        ok("sends");
        CHECK(!u.is_complete, "a synchronous send without its receive is complete");
        MPID_RecvContig(comm, q, n, ME, 3, CTX, &s, &err);
        CHECK(u.is_complete, "a synchronous send with its receive is not complete");
        expect(q, n, 3, "ssend to itself");
        MPID_RecvDatatype(comm, q, n > 0, &t, ME, 2, CTX, &s, &err);
        expect_status(&s, ME, 2, n, "self");
        for (int64_t i = 0; i < n; i++)
            CHECK(q[2 * i] == pattern(2 * i, 3), "byte %lld", (long long)i);
        MPID_SendComplete(&r, &err);
        MPID_RecvContig(comm, q, n, MPI_ANY_SOURCE, MPI_ANY_TAG, CTX, &s, &err);
        expect_status(&s, ME, 1, n, "self");
        MPID_IrecvDatatype(comm, q, n > 0, &t, ME, 4, CTX, &r, &err);
        MPID_SendDatatype(comm, p, n > 0, &t, ME, 4, CTX, ME, &err);
        CHECK(r.is_complete, "the posted receive is not complete");
        MPID_IrecvContig(comm, q, n, ME, 4, CTX, &r, &err);
        MPID_SsendDatatype(comm, p, n > 0, &t, ME, 4, CTX, ME, &err);
        ok("self");
        MPID_BsendContig(comm, p, n, ME, 4, CTX, ME, 0, &err);
        MPID_RecvContig(comm, q, n, ME, 4, CTX, &s, &err);
        ok("self bsend");
        MPID_Type_fini(&t);
    }
    MPID_IssendContig(comm, p, 8, ME, 3, CTX, ME, 0, &u, &err);
    MPID_SendCancel(&u, &err);
    CHECK(u.is_complete && u.s.cancelled, "a send to itself was not cancelled");
    MPID_SsendContig(comm, p, 8, ME, 3, CTX, ME, 0, &err);
    expect_err(MPI_ERR_OTHER, "wait for ever", "ssend to itself");
    free(p);
    free(q);
}

/* ---- Pack and unpack (4.1), and sending what was packed ---- */

static void packing(void)
{
    enum { PARTS = 100 };
    int to = (ME + 1) % N, from = (ME + N - 1) % N;
    unsigned char p[2 * PARTS], q[2 * PARTS], packed[PARTS + 20];
    struct MPIR_DATATYPE t;
    MPID_Msgrep_t rep = -1;
    MPID_Msg_pack_t act = -1;
    int64_t at = 0, out = 0, size = 0;
    make_stride(&t, PARTS);
    fill(p, 2 * PARTS, ME);
    MPID_Msg_rep(comm, to, &t, &rep, &act);
    CHECK(rep == MPID_MSGFORM_NATIVE && act == MPID_MSG_OK, "equal machines use representation %d, action %d",
          rep, act);
    MPID_Pack_size(1, &t, act, &size);
    CHECK(size >= PARTS && size <= PARTS + 20, "pack size %lld", (long long)size);
    MPID_Pack(p, 1, &t, packed, PARTS - 1, &at, comm, to, rep, act, &err);
    expect_err(MPI_ERR_TRUNCATE, "", "pack into too little");
    at = 0;
    MPID_Pack(p, 1, &t, packed, size, &at, comm, to, rep, act, &err);
    ok("pack");
    CHECK(at == PARTS, "packed to %lld", (long long)at);
    MPID_SendContig(comm, packed, at, ME, 6, CTX, to, rep, &err);
    MPID_RecvContig(comm, packed, sizeof packed, from, 6, CTX, NULL, &err);
    ok("packed");
    memset(q, 0, sizeof q);
    at = 0;
    act = -1;
    MPID_Msg_act(comm, from, &t, rep, &act);
    CHECK(act == MPID_MSG_OK, "action %d", act);
    MPID_Unpack(packed, PARTS, rep, &at, q, 1, &t, &out, comm, from, &err);
    ok("unpack");
    CHECK(at == PARTS, "unpacked to %lld", (long long)at);
    for (int i = 0; i < 2 * PARTS; i++)
        CHECK(q[i] == (i % 2 ? 0 : pattern(i, from)), "byte %d", i);
    MPID_Type_fini(&t);
}

/* The same in external32: {char, int} pairs, numbers most significant byte first, in two pieces. */
static void packing_external(void)
{
    enum { PAIRS = 50 };
    struct pair {
        char c;
        int32_t i;
    } p[PAIRS], q[PAIRS] = { { 0 } };
    unsigned char packed[PAIRS * 5 + 1];
    const int64_t lengths[2] = { 1, 1 }, places[2] = { 0, offsetof(struct pair, i) };
    struct MPIR_DATATYPE c = { 0 }, i4 = { 0 }, t = { 0 }, *types[2] = { &c, &i4 };
    MPID_Msg_pack_t act = -1;
    int64_t size = 0, at = 0, out = 0;
    MPID_Type_basic(&c, 1, 1, KEEL_MPI_CHAR);
    MPID_Type_basic(&i4, 4, 4, KEEL_MPI_INT);
    CHECK(MPID_Type_struct(&t, 2, (MPIR_Counts){ lengths, 1 }, (MPIR_Counts){ places, 1 }, types) == 0,
          "struct");
    MPID_Type_commit(&t);
    for (int i = 0; i < PAIRS; i++)
        p[i] = (struct pair){ (char)i, 0x01020300 + i };
    MPID_Msg_act(comm, ME, &t, MPID_MSGFORM_EXTERNAL32, &act);
    CHECK(act == MPID_MSG_CONVERT, "action %d", act);
    MPID_Pack_size(PAIRS, &t, act, &size);
    CHECK(size == PAIRS * 5, "pack size %lld", (long long)size);
    MPID_Pack(p, PAIRS, &t, packed, size, &at, comm, ME, MPID_MSGFORM_EXTERNAL32, act, &err);
    ok("pack");
    for (int i = 0; i < PAIRS; i++)
        CHECK(packed[5 * i] == i && packed[5 * i + 1] == 1 && packed[5 * i + 4] == i, "pair %d", i);
    at = 0;
    MPID_Unpack(packed, 53, MPID_MSGFORM_EXTERNAL32, &at, q, PAIRS, &t, &out, comm, ME, &err);
    ok("the first ten pairs and a char");
    CHECK(at == 51 && out == 51, "unpacked to %lld", (long long)at);
    MPID_Unpack(packed, size, MPID_MSGFORM_EXTERNAL32, &at, q, PAIRS, &t, &out, comm, ME, &err);
    ok("the rest");
    for (int i = 0; i < PAIRS; i++)
        CHECK(q[i].c == p[i].c && q[i].i == p[i].i, "pair %d", i);
    MPID_Type_fini(&t);
}

/* ---- Teams ---- */

static int values(struct MPIR_COMMUNICATOR *c, uint32_t when, int n)
{
    enum MPID_TEAM_TURN turn = MPID_Team_arrive(c, when, 77);
    int sum = 0;
    CHECK(turn != MPID_TEAM_BROKEN, "operation %u", when);
    if (turn == MPID_TEAM_LAST) {
        for (int i = 0; i < n; i++)
            *((int *)MPID_Team_room(c, i) + 1) = 1000 + i;
        CHECK(MPID_Team_release(c), "released %u", when);
    } else {
        CHECK(MPID_Team_wait(c), "waited for %u", when);
    }
    for (int i = 0; i < n; i++) {
        int *room = MPID_Team_room(c, i);
        CHECK(room[1] == 1000 + i || MPID_Team_even(c), "%d in the room of %d, expected %d", room[1], i,
              1000 + i);
        sum += room[0];
    }
    return sum;
}

/* Meetings that are begun, and looked at later; the last rank comes late now and then. */
static void met_later(struct MPIR_COMMUNICATOR *c, uint32_t when)
{
    for (uint32_t end = when + 8; when < end; when++) {
        enum MPID_TEAM_TURN turn;
        int sum = 0;
        if (ME == N - 1 && when % 4 == 0)
            usleep(2000);
        *(int *)MPID_Team_own(c, 8) = ME + (int)when;
        turn = MPID_Team_begin(c, when, 79);
        CHECK(turn != MPID_TEAM_BROKEN, "begun %u", when);
        CHECK(turn != MPID_TEAM_LAST || MPID_Team_release(c), "released %u", when);
        while ((turn = MPID_Team_look(c)) == MPID_TEAM_WAIT)
            MPID_DeviceCheck(MPID_NOTBLOCKING);
        CHECK(turn == MPID_TEAM_MET, "met %u", when);
        for (int i = 0; i < N; i++)
            sum += *(int *)MPID_Team_room(c, i);
        CHECK(sum == N * (N - 1) / 2 + (int)when * N, "sum of %u", when);
    }
}

/* waits: in one call; else when it would not wait.  Ranks show the others `bytes` bytes by turns, the last one
 * taking no part now and then. */
static void streamed(struct MPIR_COMMUNICATOR *c, uint32_t when, int64_t bytes, bool waits)
{
    struct MPID_Stream s;
    int source = (int)when % N;
    int64_t n;
    if (!waits && ME == source && when % 3 == 0)
        usleep(2000);
    if (source != N - 1 && when % 5 == 0 && ME == N - 1) {
        MPID_Stream_skip(c, when);
    } else if (source == ME) {
        while (!waits && !MPID_Stream_may_show(c, when))
            MPID_DeviceCheck(MPID_NOTBLOCKING);
        MPID_Stream_show(&s, c, when, bytes);
        for (int64_t at = 0; at < bytes; at += n) {
            while (!waits && !MPID_Stream_may_place(&s))
                MPID_DeviceCheck(MPID_NOTBLOCKING);
            char *place = MPID_Stream_place(&s, &n);
            memset(place, (int)(when + at % 7), (size_t)n);
            MPID_Stream_give(&s, n);
        }
        MPID_Stream_shown(&s);
    } else {
        while (!waits && !MPID_Stream_may_see(c, when, source, 0))
            MPID_DeviceCheck(MPID_NOTBLOCKING);
        CHECK(MPID_Stream_see(&s, c, when, source, 0) == bytes, "bytes of stream %u", when);
        for (int64_t at = 0; at < bytes; at += n) {
            while (!waits && !MPID_Stream_may_next(&s))
                MPID_DeviceCheck(MPID_NOTBLOCKING);
            const char *from = MPID_Stream_next(&s, &n);
            CHECK(from != NULL && from[0] == (char)(when + at % 7) && from[n - 1] == from[0],
                  "stream %u at %lld", when, (long long)at);
            MPID_Stream_took(&s, n);
        }
        MPID_Stream_end(&s);
    }
}

/* The next source may give all of its stream while the last one still stands between its last piece and its end;
 * it can where pieces are published one by one, because all members have a core. */
static void overtaken(struct MPIR_COMMUNICATOR *c, uint32_t when)
{
    enum { BYTES = 20000, PATIENCE_NS = 50000000 };
    struct MPID_Stream s;
    int64_t n;
    for (int source = 0; source < 2; source++) {
        if (ME != source) {
            CHECK(MPID_Stream_see(&s, c, when, source, 0) == BYTES && MPID_Stream_next(&s, &n) != NULL,
                  "stream %u", when);
            MPID_Stream_took(&s, BYTES);
            MPID_Stream_end(&s);
        } else {
            MPID_Stream_show(&s, c, when, BYTES);
            memset(MPID_Stream_place(&s, &n), source, BYTES);
            MPID_Stream_give(&s, BYTES);
            uint64_t end = ku_clock_ns() + PATIENCE_NS;
            int there = source != 0 || ku_wait_policy.spin_ns == 0; /* as the stream decides it */
            while (!there && ku_clock_ns() < end)
                MPID_Iprobe(c, 1, CTX, 1, &there, &err, NULL);
            MPID_Stream_shown(&s);
            if (source == 1)
                MPID_SendContig(c, &n, sizeof n, ME, 1, CTX, 0, 0, &err);
        }
        when++;
    }
    if (ME == 0)
        MPID_RecvContig(c, &n, sizeof n, 1, 1, CTX, NULL, &err);
}

/* waits: in one call; else when it would not wait. */
static bool step_done(struct MPIR_COMMUNICATOR *c, int rank, int step, bool waits)
{
    while (!waits && !MPID_Steps_may_go(c, rank, (uint64_t)step))
        MPID_DeviceCheck(MPID_NOTBLOCKING);
    return MPID_Steps_wait(c, rank, (uint64_t)step);
}

/* Ranks fill their benches and read those of the others, step by step. */
static void stepped(struct MPIR_COMMUNICATOR *c, bool waits)
{
    enum { ROUNDS = 50 };
    static uint64_t used;
    uint64_t before = MPID_Steps_begin(c, 2 * ROUNDS, 64);
    CHECK(before % 64 == 0 && (before == 0 || before == used), "%llu bytes used before",
          (unsigned long long)before);
    used = before + 64;
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < N; i++) /* all have read what was there */
            CHECK(i == ME || k == 0 || step_done(c, i, 2 * k, waits), "%d reads round %d", i, k - 1);
        if (ME == N - 1 && k % 20 == 7)
            usleep(2000);
        memset(MPID_Steps_bench(c, ME), ME + k, (size_t)MPID_World()->team_bench);
        MPID_Steps_done(c, (uint64_t)(2 * k + 1));
        for (int i = 0; i < N; i++) {
            const char *bench = MPID_Steps_bench(c, i);
            CHECK(step_done(c, i, 2 * k + 1, waits), "%d shows round %d", i, k);
            CHECK(bench[0] == (char)(i + k) && bench[MPID_World()->team_bench - 1] == bench[0],
                  "round %d of %d", k, i);
        }
        MPID_Steps_done(c, (uint64_t)(2 * k + 2));
    }
    CHECK(MPID_Steps_lost(c) == -1, "nobody is lost");
    CHECK(!MPID_Steps_past(0) && MPID_Steps_past(INT64_MAX), "what passes the caches");
}

/* Everybody sees what all have shown; a rank that says it is absent, or means another operation, breaks the team. */
/* Rank 0 lends the others bytes, at first where there are none. */
static void lent(struct MPIR_COMMUNICATOR *c, uint32_t when, bool there)
{
    struct MPID_Stream s;
    char bytes[5000];
    memset(bytes, ME == 0 ? 'x' : 'y', sizeof bytes);
    if (ME == 0) {
        MPID_Stream_lend(&s, c, when, sizeof bytes, there ? bytes : (char *)8);
        MPID_Stream_rest(&s);
        for (int i = 1; i < N; i++)
            CHECK(MPID_Stream_refused(&s, i) != there, "rank %d", i);
        return;
    }
    CHECK(MPID_Stream_see(&s, c, when, 0, 0) == sizeof bytes && s.lent != 0, "lent");
    CHECK(MPID_Stream_borrow(&s, bytes, 3000) == there, "borrowed");
    CHECK(!there || MPID_Stream_borrow(&s, bytes + 3000, 2000), "borrowed");
    CHECK(!there || (bytes[0] == 'x' && bytes[4999] == 'x'), "bytes");
    MPID_Stream_end(&s);
}

/* Each reads a number of the one before it. */
static void reached(struct MPIR_COMMUNICATOR *c)
{
    int mine = 1000 + ME, theirs = 0, before = (ME + N - 1) % N;
    uint64_t at = (uint64_t)(uintptr_t)&mine;
    bool can = MPID_Reach_offer(c);
    barrier();
    can = can && MPID_Reach_all(c);
    MPID_SendContig(c, &at, sizeof at, ME, 1, CTX, (ME + 1) % N, 0, &err);
    MPID_RecvContig(c, &at, sizeof at, before, 1, CTX, NULL, &err);
    if (can) {
        CHECK(MPID_Reach_copy(c, before, &theirs, at, sizeof theirs) && theirs == 1000 + before, "%d",
              theirs);
        CHECK(!MPID_Reach_copy(c, before, &theirs, 8, sizeof theirs), "there is nothing at 8");
    }
    for (uint32_t when = 58; when < 60 && can; when++) /* all can or none, here */
        lent(c, when, when % 2);
    barrier();
}

static void teams(void)
{
    for (int round = 0; round < 3; round++) {
        struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = 4000 };
        uint32_t number = 0;
        CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit");
        if (ME == 0)
            number = MPID_Team_allot(&c);
        for (int i = 1; i < N; i++)
            if (ME == 0)
                MPID_SendContig(&c, &number, sizeof number, 0, 1, CTX, i, 0, &err);
            else if (ME == i)
                MPID_RecvContig(&c, &number, sizeof number, 0, 1, CTX, NULL, &err);
        MPID_Team_join(&c, number);
        if (number == 0) { /* alone, or on several nodes */
            CHECK(MPID_Team_arrive(&c, 1, 77) == MPID_TEAM_BROKEN, "no team");
        } else {
            CHECK(MPID_Stream_ready(&c) && MPID_Steps_ready(&c), "memory");
            for (uint32_t when = 0; when < 100; when++) {
                *(int *)MPID_Team_own(&c, when % 3 ? 8 : 800) = ME + (int)when;
                CHECK(values(&c, when - 50, N) == N * (N - 1) / 2 + (int)when * N, "sum of %u", when);
            }
            CHECK(!MPID_Team_even(&c) || MPID_Team_meet(&c, 50, 78), "met");
            met_later(&c, 51);
            if (N > 1)
                overtaken(&c, 52);
            for (uint32_t when = 54; when < 58; when++) /* short, or more than there is memory between */
                streamed(&c, when, when % 5 == 0 || when % 2 ? 10 : 3000000, true);
            for (int i = 0; i < 4; i++) {
                stepped(&c, (i + ME) % 3 == 0 || i == 0);
                barrier();
            }
            reached(&c);
            MPID_Team_tell(&c, (uint64_t)ME << 40 | 7);
            if (round == 0 && ME == N - 1)
                MPID_Team_absent(&c, 60);
            else if (round == 1 && ME == N - 1)
                MPID_Team_break(&c);
            else if (MPID_Team_arrive(&c, 60, round == 2 && ME == N - 1) == MPID_TEAM_WAIT)
                CHECK(!MPID_Team_wait(&c), "a wait for who does not come");
            barrier();
            for (int i = 0; i < N; i++) {
                uint64_t words = 0;
                bool told = MPID_Team_told(&c, i, 60, &words);
                CHECK(i == N - 1 && round == 0 ? !told
                                               : round != 2 || (told && words == ((uint64_t)i << 40 | 7)),
                      "%d of %d, round %d: %d, %llx", i, N, round, told, (unsigned long long)words);
                CHECK(!MPID_Team_told(&c, i, 59, &words), "of another operation");
            }
            barrier(); /* nobody goes on before all have looked */
            CHECK(MPID_Team_arrive(&c, 61, 77) == MPID_TEAM_BROKEN, "broken");
            for (uint32_t when = 62; when < 140; when++) /* which does not matter to streams */
                streamed(&c, when, when % 20 == 19 ? 3000000 : when % 4, (when + (uint32_t)ME) % 3 == 0);
        }
        barrier();
        MPID_CommFree(&c);
    }
}

/* ---- Refusals ---- */

enum { COLL_OF = 4501, COLL_WITH = 4511, REVOKED_OF = 4600, LARGE = 300000 };

static void refused(const struct MPIR_COMMUNICATOR *c, int tag, int error)
{
    struct MPID_Refusal r = { .error = error, .rank = ME, .words = "MPI_Exchange count" };
    MPID_Refuse(c, COLL_OF, tag, &r);
}

/* A receive ends with the error, before anything comes for it. */
static void not_received(struct MPIR_COMMUNICATOR *c, uint32_t context, int tag, int error)
{
    char byte;
    err = 0;
    MPID_RecvContig(c, &byte, 1, (ME + 1) % N, tag, context, NULL, &err);
    CHECK(err == error, "a receive of tag %d ends with %d; expected %d", tag, err, error);
    err = 0;
}

/* What is under way when the last rank refuses the exchange with tag 5: a receive, a long send, and receives that
 * have nothing to do with it. */
static void refused_under_way(struct MPIR_COMMUNICATOR *c)
{
    static unsigned char large[LARGE];
    struct MPIR_HANDLE recv, other, send;
    char byte = 1;
    int last = N - 1;
    if (ME == last) {
        refused(c, 5, MPI_ERR_COUNT);
        for (int i = 0; i < last; i++)
            MPID_SendContig(c, &byte, 1, ME, 6, COLL_OF, i, 0, &err);
        ok("after it");
        return;
    }
    MPID_IrecvContig(c, &byte, 1, last, 5, COLL_OF, &recv, &err);
    MPID_IrecvContig(c, &byte, 1, last, 6, COLL_OF, &other, &err);
    MPID_IsendContig(c, large, LARGE, ME, 5, COLL_OF, last, 0, &send, &err);
    if (err == 0 || err == MPI_ERR_COUNT) { /* or it has been told already */
        err = 0;
        MPID_RecvComplete(&recv, NULL, &err);
    }
    CHECK(err == MPI_ERR_COUNT, "a posted receive ends with %d", err);
    err = 0;
    MPID_SendComplete(&send, &err);
    CHECK(err == MPI_ERR_COUNT, "a long send ends with %d", err);
    err = 0;
    MPID_RecvComplete(&other, NULL, &err);
    ok("a receive of another tag");
}

/* Messages with the tag that come later are dropped; long ones end for their sender, too. */
static void refused_late(struct MPIR_COMMUNICATOR *c)
{
    static unsigned char large[LARGE];
    struct MPIR_HANDLE send;
    char byte = 0;
    int flag = 1, to = (ME + 1) % N, from = (ME + N - 1) % N;
    MPID_SendContig(c, &byte, 1, ME, 5, COLL_OF, to, 0, &err);
    MPID_IsendContig(c, large, LARGE, ME, 5, COLL_OF, to, 0, &send, &err);
    MPID_SendContig(c, &byte, 1, ME, 7, COLL_OF, to, 0, &err);
    MPID_RecvContig(c, &byte, 1, from, 7, COLL_OF, NULL, &err);
    ok("behind dropped messages");
    MPID_SendComplete(&send, &err);
    CHECK(err == MPI_ERR_COUNT, "a long send that comes late ends with %d", err);
    err = 0;
    MPID_Iprobe(c, 5, COLL_OF, MPI_ANY_SOURCE, &flag, &err, NULL);
    CHECK(!flag, "a message that should have been dropped");
}

/* A tag far on, in whose place it was kept. */
static void refused_past(struct MPIR_COMMUNICATOR *c)
{
    struct MPIR_HANDLE recv;
    char byte;
    MPID_IrecvContig(c, &byte, 1, 0, 5 + MPID_REFUSAL_TAGS, COLL_OF, &recv, &err);
    MPID_RecvCancel(&recv, &err);
    MPID_RecvComplete(&recv, NULL, &err);
    ok("a receive of a tag far on");
    CHECK(MPID_Refused(COLL_OF, 5) == NULL, "a refusal is kept for too long");
}

/* A long message for a communicator that is no more at its receiver ends for its sender, if it was refused; the
 * same context again is as new. */
static void refused_ended(void)
{
    static unsigned char large[LARGE];
    struct MPIR_COMMUNICATOR again = { .rank = ME, .size = N, .remote_size = N, .context_id = COLL_OF - 1 };
    struct MPIR_HANDLE send;
    CHECK(MPID_Refused(COLL_OF, 9) != NULL, "a refusal is forgotten with the communicator");
    if (N > 1) {
        MPID_IsendContig(comm, large, LARGE, ME, 9, COLL_OF, (ME + 1) % N, 0, &send, &err);
        MPID_SendComplete(&send, &err);
        CHECK(err == MPI_ERR_TYPE, "a long send to a communicator that is no more ends with %d", err);
        err = 0;
    }
    barrier();
    CHECK(MPID_CommInit(NULL, &again) == 0, "CommInit");
    CHECK(MPID_Refused(COLL_OF, MPI_ANY_TAG) == NULL, "refusals of a communicator that was before");
    barrier();
    MPID_CommFree(&again);
}

/* All but the last rank wait for it; it revokes the communicator. */
static void revoked(void)
{
    struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = REVOKED_OF };
    char byte = 1, got = 0;
    struct MPIR_HANDLE r;
    CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit");
    CHECK(!MPID_Revoked(&c), "it is not revoked");
    barrier();
    if (ME == N - 1) {
        MPID_SendContig(&c, &byte, 1, ME, 7, REVOKED_OF, (ME + 1) % N, 0, &err); /* that nobody asks for */
        MPID_Revoke(&c, NULL);
    } else {
        MPID_IrecvContig(&c, &got, 1, N - 1, 8, REVOKED_OF + MPID_CONTEXT_COLL, &r, &err);
        if (err == 0)
            MPID_RecvComplete(&r, NULL, &err);
        CHECK(err == MPID_ERR_REVOKED, "a receive that was posted: error %d", err);
    }
    CHECK(MPID_Revoked(&c), "it is revoked");
    for (int which = 0; which < MPID_CONTEXT_FAIL; which++) {
        err = 0;
        MPID_RecvContig(&c, &got, 1, (ME + N - 1) % N, 7, REVOKED_OF + (uint32_t)which, NULL, &err);
        CHECK(err == MPID_ERR_REVOKED, "a receive in context %d: error %d", which, err);
    }
    err = 0;
    MPID_IrecvContig(&c, &got, 1, (ME + N - 1) % N, 7, REVOKED_OF + MPID_CONTEXT_FAIL, &r, &err);
    MPID_SendContig(&c, &byte, 1, ME, 7, REVOKED_OF + MPID_CONTEXT_FAIL, (ME + 1) % N, 0, &err);
    MPID_RecvComplete(&r, NULL, &err);
    ok("messages about failures");
    CHECK(got == 1, "%d came", got);
    barrier();
    MPID_CommFree(&c);
}

static void refusals(void)
{
    struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = COLL_OF - 1 };
    struct MPIR_COMMUNICATOR with = { .rank = ME, .size = N, .remote_size = N, .context_id = COLL_WITH - 1 };
    const struct MPID_Refusal *r;
    CHECK(MPID_CommInit(NULL, &c) == 0 && MPID_CommInit(NULL, &with) == 0, "CommInit");
    barrier();
    refused_under_way(&c);
    r = MPID_Refused(COLL_OF, 5);
    CHECK(r != NULL && r->rank == N - 1 && r->error == MPI_ERR_COUNT && !r->inter && !r->remote &&
              strcmp(r->words, "MPI_Exchange count") == 0,
          "what was refused");
    CHECK(MPID_Refused(COLL_OF, 6) == NULL && MPID_Refused(COLL_WITH, 5) == NULL &&
              MPID_Refused(COLL_OF, MPI_ANY_TAG) == r,
          "what was not");
    not_received(&c, COLL_OF, 5, MPI_ERR_COUNT);
    MPID_Refused_with(&with, COLL_WITH, COLL_OF);
    not_received(&with, COLL_WITH, 5, MPI_ERR_COUNT);
    barrier(); /* all know of it */
    if (N > 1)
        refused_late(&c);
    refused(&c, 9, MPI_ERR_TYPE); /* by all */
    not_received(&c, COLL_OF, 9, MPI_ERR_TYPE);
    not_received(&with, COLL_WITH, 9, MPI_ERR_TYPE);
    refused_past(&c);
    barrier();
    MPID_CommFree(&with);
    MPID_CommFree(&c);
    barrier();
    refused_ended();
}

/* One communicator of all finds a team ready in the first epoch, and only then. */
static void team_given(void)
{
    static bool used;
    struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = 4000 };
    struct MPIR_COMMUNICATOR alone = { .rank = 0, .size = 1, .remote_size = 1, .context_id = 4100 };
    bool here = N > 1 && MPID_World()->local_size == N;
    uint32_t number = MPID_Team_given(&c);
    CHECK(number == 0 || here, "number %u on several nodes", number);
    CHECK(N == 1 || MPID_Team_given(&alone) == 0, "a team of one");
    if (number > 0 && !used) {
        CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit");
        MPID_Team_join(&c, number);
        *(int *)MPID_Team_own(&c, 8) = ME;
        CHECK(values(&c, 1, N) == N * (N - 1) / 2, "sum");
        barrier();
        MPID_CommFree(&c);
        CHECK(MPID_Team_allot(&c) != number, "it is allotted, too");
    }
    CHECK(number > 0 || !here || used, "none is given");
    used = true;
}

/* ---- Section 5 ---- */

/* Each rank is on one node, and the lists of the nodes are in ascending order. */
static void ranks_of_nodes(void)
{
    int32_t all = 0, *list = malloc((size_t)N * sizeof *list);
    for (int32_t node = 0; node < MPID_World()->nodes; node++) {
        int32_t n = MPID_Node_ranks(node, list);
        CHECK(n == MPID_Node_ranks(node, NULL), "node %d has %d ranks, and %d when only counted", node, n,
              MPID_Node_ranks(node, NULL));
        for (int32_t i = 0; i < n; i++)
            CHECK(MPID_Node_of(list[i]) == node && (i == 0 || list[i - 1] < list[i]),
                  "rank %d, the %d-th of node %d, is on node %d", list[i], i, node, MPID_Node_of(list[i]));
        all += n;
    }
    CHECK(all == N, "%d ranks on all nodes, expected %d", all, N);
    free(list);
}

/* A block that the first process of each node makes: all count in it, and wait for the others' counting. */
static void shared_block(void)
{
    const struct MPID_World *w = MPID_World();
    int first = w->grank_of[0], err = 0;
    uint64_t block = 0;
    if (ME == first)
        block = MPID_Shared_alloc(NULL, 100000, &err);
    for (int i = 1; i < w->local_size && ME == first; i++)
        MPID_SendContig(NULL, &block, sizeof block, ME, 77, CTX, w->grank_of[i], 0, &err);
    if (ME != first)
        MPID_RecvContig(NULL, &block, sizeof block, first, 77, CTX, NULL, &err);
    _Atomic uint32_t *word = block != 0 ? MPID_Shared_map(NULL, block, &err) : NULL;
    CHECK(err == 0 && word != NULL, "error %d: %s", err, MPID_Error_text());
    if (word == NULL)
        return;
    for (uint32_t is = 0; (is = atomic_load(word)) < (uint32_t)w->local_size;) {
        if (is == (uint32_t)w->local_rank) { /* in turns */
            atomic_fetch_add(word, 1);
            MPID_Word_wake(word);
            MPID_Node_wake(first);
        } else {
            MPID_Word_wait(word, is);
        }
    }
    CHECK(MPID_Show_stores() == MPID_Show_stores(), "it is possible at one time and not at another");
    CHECK(!MPID_Lost(first, &err) && err == 0, "rank %d is there", first);
    char done = 1;
    if (ME != first) {
        MPID_Shared_unmap(NULL, block);
        MPID_SendContig(NULL, &done, 1, ME, 78, CTX, first, 0, &err);
        return;
    }
    for (int i = 1; i < w->local_size; i++)
        MPID_RecvContig(NULL, &done, 1, w->grank_of[i], 78, CTX, NULL, &err);
    MPID_Shared_unmap(NULL, block);
    MPID_Shared_free(NULL, block);
}

/* A long message comes while its receiver is in no call: its helper takes it. */
static void helper(void)
{
    enum { LONG = 1 << 20 };
    static char bytes[LONG];
    char ready = 1;
    struct MPIR_HANDLE r = { 0 };
    int err = 0;
    if (N < 2 || ME > 1)
        return;
    if (ME == 0) {
        memset(bytes, 5, sizeof bytes);
        MPID_RecvContig(NULL, &ready, 1, 1, 81, CTX, NULL, &err);
        MPID_SendContig(NULL, bytes, LONG, ME, 82, CTX, 1, 0, &err);
        CHECK(err == 0, "%s", MPID_Error_text());
        return;
    }
    MPID_IrecvContig(NULL, bytes, LONG, 0, 82, CTX, &r, &err);
    MPID_SendContig(NULL, &ready, 1, ME, 81, CTX, 0, 0, &err);
    MPID_Need(MPID_NEEDS_THREADS, true);
    MPID_Helper(true);
    for (time_t end = time(NULL) + 40; atomic_load(&r.is_complete) == 0 && time(NULL) < end;)
        ;
    CHECK(atomic_load(&r.is_complete) != 0, "nobody took the message");
    MPID_Thread_enter();
    CHECK(!MPID_Helping, "this is not the helper");
    MPID_Helper(false);
    MPID_Thread_leave();
    MPID_Helper_end();
    MPID_Need(MPID_NEEDS_THREADS, false);
    MPID_RecvComplete(&r, NULL, &err);
    CHECK(err == 0 && bytes[0] == 5 && bytes[LONG - 1] == 5, "%s", MPID_Error_text());
}

static void surroundings(void)
{
    int here = 0, before = 0, peers = 0;
    char name[128];
    double a = -1, b = -1, tick = 0;
    MPID_Wtime(&a);
    MPID_Wtick(&tick);
    do
        MPID_Wtime(&b);
    while (b == a);
    CHECK(a >= 0 && b > a && tick > 0 && tick < 0.1, "time %g %g tick %g", a, b, tick);
    MPID_Node_name(name, sizeof name);
    CHECK(name[0] != 0 && strlen(name) < sizeof name, "node name");
    MPID_Node_name(name, 2);
    CHECK(name[1] == 0, "node name cut");
    MPID_Version_name(name);
    CHECK(strstr(name, "Keel") != NULL, "version %s", name);
    for (int i = 0; i < N; i++)
        if (MPID_Node_of(i) == MPID_World()->node) {
            here++;
            before += i < ME;
        }
    CHECK(MPID_World()->local_size == here && MPID_World()->local_rank == before,
          "world: rank %d of %d here, expected %d of %d", MPID_World()->local_rank, MPID_World()->local_size,
          before, here);
    CHECK(here == 1 || (MPID_Cost_of(true).latency_ns > 0 && MPID_Cost_of(true).bandwidth_mbs > 0),
          "what messages on the node cost");
    CHECK(here == N || (MPID_Cost_of(false).latency_ns > 0 && MPID_Cost_of(false).bandwidth_mbs > 0),
          "what messages between nodes cost");
    ranks_of_nodes();
    err = 0;
    MPID_Devices(NULL, NULL, &err); /* not in a job */
    CHECK(err != 0 && strstr(MPID_Error_text(), "MPID_Init") != NULL, "%s", MPID_Error_text());
    err = 0;
    MPID_Set_tracefile("/dev/null");
    barrier();
    MPID_Set_tracefile(NULL);
    MPID_SetDebugFile("/dev/null");
    MPID_SetDebugFlag(0);
    MPID_SetSpaceDebugFlag(1);
    MPID_SetSpaceDebugFlag(0);
    MPID_SetPktSize(1); /* everything by rendezvous */
    one_mode(STANDARD, 8, 0);
    for (int i = 0; i < N; i++)
        peers += MPID_Device_of(i) != NULL;
    CHECK((N == 1 || peers > 0) && MPID_Device_of(-1) == NULL && MPID_Device_of(N + 1000) == NULL,
          "devices are known of %d ranks", peers);
    one_mode(I_STANDARD, 0, 3);
    MPID_SetPktSize(0);
    for (int i = 0; i < 3; i++) {
        MPID_Wake();
        MPID_DeviceCheck(MPID_BLOCKING); /* returns, though nothing comes */
    }
    barrier();
}

/* The messages go as they should, whatever ways the needs of the process close. */
static void closed_ways(void)
{
    static const uint32_t bits[] = { MPID_NEEDS_THREADS, MPID_NEEDS_TYPES, MPID_NEEDS_OBSERVERS,
                                     MPID_NEEDS_DEVICE_MEMORY, MPID_NEEDS_THREADS | MPID_NEEDS_TYPES };
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        barrier();
        MPID_Need(bits[i], true);
        CHECK((MPID_Needs() & bits[i]) == bits[i], "needs %x", MPID_Needs());
        if (bits[i] & MPID_NEEDS_THREADS)
            MPID_Thread_enter();
        for (int m = 0; m < MODES; m++)
            for (int typed = 0; typed < 4; typed++) {
                one_mode((enum mode)m, 8, typed);
                one_mode((enum mode)m, 33000, typed);
            }
        short_way();
        barrier(); /* messages under way are those of the same needs */
        if (bits[i] & MPID_NEEDS_THREADS)
            MPID_Thread_leave();
        MPID_Need(bits[i], false);
        CHECK((MPID_Needs() & bits[i] & ~MPID_Needs_tested()) == 0, "needs %x", MPID_Needs());
    }
}

/* The short way of several threads: a message goes at once without the lock, or nothing of it does. */
static void beside(void)
{
    struct MPIR_COMMUNICATOR c = { .rank = ME, .size = N, .remote_size = N, .context_id = 7000 };
    int to = (ME + 1) % N, from = (ME + N - 1) % N;
    CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit");
    barrier();
    MPID_Need(MPID_NEEDS_THREADS, true);
    for (int i = 0; i < 200; i++) {
        int out = 1000 * ME + i, in = -1;
        bool gone = MPID_Send_beside(&out, sizeof out, &c, to, i);
        MPID_Thread_enter();
        CHECK(gone || MPID_Send_bytes(&out, sizeof out, &c, to, i) == 0, "send");
        CHECK(MPID_Recv_bytes(&in, sizeof in, &c, from, i, NULL) == 0 && in == 1000 * from + i, "%d", in);
        MPID_Thread_leave();
    }
    CHECK(!MPID_Send_beside(&c, 49, &c, to, 0), "longer than a line");
    /* Nonblocking ones: before and after what they match, in order, all of one tag. */
    for (int i = 0; i < 100; i++) {
        struct MPIR_HANDLE s[3] = { { .handle_type = 0 } }, r[3] = { { .handle_type = 0 } };
        int out[3] = { 3 * i, 3 * i + 1, 3 * i + 2 }, in[3] = { -1, -1, -1 }, refs = c.obj.refs;
        for (int k = 0; k < 3; k++)
            if ((i + k) % 4 == 0 || !MPID_Irecv_beside(&in[k], sizeof in[k], &c, from, 8, &r[k])) {
                MPID_Thread_enter();
                MPID_Irecv_bytes(&in[k], sizeof in[k], &c, from, 8, &r[k]);
                MPID_Thread_leave();
            }
        for (int k = 0; k < 3; k++)
            if (!MPID_Isend_beside(&out[k], sizeof out[k], &c, to, 8, &s[k])) {
                MPID_Thread_enter();
                MPID_Isend_bytes(&out[k], sizeof out[k], &c, to, 8, &s[k]);
                MPID_Thread_leave();
            }
        MPID_Thread_enter();
        for (int k = 0; k < 3; k++) {
            MPID_SendComplete(&s[k], &err);
            MPID_RecvComplete(&r[k], NULL, &err);
            CHECK(in[k] == out[k], "round %d: %d, not %d", i, in[k], out[k]);
        }
        CHECK(c.obj.refs >= refs && c.obj.refs <= refs + 3, "%d references", (int)(c.obj.refs - refs));
        c.obj.refs = refs;
        MPID_Thread_leave();
    }
    MPID_Thread_enter(); /* by now it may be biased to this thread */
    barrier();
    MPID_Thread_leave();
    MPID_Need(MPID_NEEDS_THREADS, false);
    MPID_CommFree(&c);
}

/* A message to the next rank, which has posted its receive before or not. */
static void pass_on(char *data, int64_t bytes, bool early)
{
    int to = (ME + 1) % N, from = (ME + N - 1) % N;
    struct MPIR_HANDLE s, r;
    if (early)
        MPID_IrecvContig(comm, data + bytes, bytes, from, 77, CTX, &r, &err);
    barrier();
    MPID_IsendContig(comm, data, bytes, ME, 77, CTX, to, 0, &s, &err);
    barrier();
    if (!early)
        MPID_IrecvContig(comm, data + bytes, bytes, from, 77, CTX, &r, &err);
    MPID_RecvComplete(&r, NULL, &err);
    ok("receive");
    MPID_SendComplete(&s, &err);
    ok("send");
}

/* The trace tells of each message once that it has met its receive, whichever way it came. */
static void observed(void)
{
    static const int64_t sizes[] = { 0, 48, 49, 4000, 200000 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int told[SIZES] = { 0 };
    char name[40], line[200], *data = calloc(2, 200000);
    FILE *f = tmpfile();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(f));
    MPID_Set_tracefile(name);
    for (int i = 0; i < 2 * SIZES; i++)
        pass_on(data, sizes[i / 2], i % 2);
    MPID_Set_tracefile(NULL);
    pass_on(data, 48, true); /* of which nobody is told */
    while (fgets(line, sizeof line, f) != NULL)
        for (int i = 0; i < SIZES; i++) {
            long long bytes;
            int peer, source;
            if (sscanf(line, "%*u = %d MATCHED context %*u tag 77 source %d bytes %lld", &peer, &source,
                       &bytes) == 3 &&
                bytes == sizes[i]) {
                CHECK(peer == (ME + N - 1) % N && source == peer, "%s", line);
                told[i]++;
            }
        }
    for (int i = 0; i < SIZES; i++)
        CHECK(told[i] == 2, "%d of 2 messages of %lld bytes were told of", told[i], (long long)sizes[i]);
    fclose(f);
    free(data);
}

/* ---- Listeners ---- */

static struct heard {
    int begun, completed, matched, sent, received, slept;
    int64_t bytes;
} heard;

static void hear_begun(void *self, const struct MPID_Transfer *t)
{
    struct heard *h = self;
    CHECK(t->peer < N && t->bytes >= 0, "peer %d, %lld bytes", t->peer, (long long)t->bytes);
    h->begun += t->tag == 77;
}

static void hear_completed(void *self, const struct MPID_Transfer *t)
{
    struct heard *h = self;
    CHECK(t->error == 0 && !t->cancelled, "error %d", t->error);
    h->completed += t->tag == 77;
    h->bytes += t->tag == 77 && t->peer < 0 ? t->bytes : 0;
}

static void hear_matched(void *self, const struct MPID_Match *m)
{
    struct heard *h = self;
    if (m->tag != 77)
        return;
    CHECK(m->peer == (ME + N - 1) % N && m->source == m->peer, "peer %d source %d", m->peer, m->source);
    h->matched++;
}

static void hear_packet(void *self, const struct MPID_Packet *p)
{
    struct heard *h = self;
    CHECK(p->direction == '>' || p->direction == '<', "direction %d", p->direction);
    h->sent += p->direction == '>';
    h->received += p->direction == '<';
}

static void hear_happening(void *self, const struct MPID_Happening *e)
{
    struct heard *h = self;
    CHECK(e->name[0] != 0 && e->n > 0, "%s has %d elements", e->name, e->n);
    h->slept += strcmp(e->name, "slept") == 0;
}

/* A listener is told of what it has a function for, as long as it is there, and so is a second one. */
static void listeners(void)
{
    enum { MESSAGES = 6, LENGTH = 100 };
    struct heard second = { 0 };
    char *data = calloc(2, LENGTH);
    struct MPID_Listener a = { .version = MPID_LISTEN_VERSION,
                               .size = sizeof a,
                               .self = &heard,
                               .transfer_begun = hear_begun,
                               .transfer_completed = hear_completed,
                               .matched = hear_matched,
                               .packet = hear_packet,
                               .happened = hear_happening };
    struct MPID_Listener b = {
        .version = MPID_LISTEN_VERSION, .size = sizeof b, .self = &second, .matched = hear_matched
    };
    heard = (struct heard){ 0 };
    barrier();
    CHECK(MPID_Listener_add(&a) == 0 && MPID_Listener_add(&b) == 0, "%s", MPID_Error_text());
    MPID_Listeners_tune();
    CHECK(MPID_Needs() & MPID_NEEDS_OBSERVERS, "needs %x", MPID_Needs());
    for (int i = 0; i < MESSAGES; i++)
        pass_on(data, LENGTH, i % 2);
    MPID_Listener_remove(&a);
    CHECK(MPID_Needs() & MPID_NEEDS_OBSERVERS, "needs %x", MPID_Needs());
    pass_on(data, LENGTH, true);
    MPID_Listener_remove(&b);
    MPID_Listeners_left();
    pass_on(data, LENGTH, true); /* of which nobody is told */
    if (N > 1) {
        CHECK(heard.begun == 2 * MESSAGES && heard.completed == 2 * MESSAGES, "%d begun, %d completed",
              heard.begun, heard.completed);
        CHECK(heard.matched == MESSAGES && heard.bytes == MESSAGES * LENGTH, "%d matched, %lld bytes",
              heard.matched, (long long)heard.bytes);
        CHECK(heard.sent >= MESSAGES && heard.received >= MESSAGES, "%d packets, %d came", heard.sent,
              heard.received);
        CHECK(second.matched == MESSAGES + 1, "%d matched", second.matched);
    }
    int n = MPID_Listeners.n, more = 0;
    while (MPID_Listener_add(&b) == 0)
        more++;
    CHECK(n + more == MPID_LISTENERS_MAX, "%d and %d", n, more);
    MPID_Listener_remove(&b);
    CHECK(MPID_Listeners.n == n, "%d", MPID_Listeners.n);
    free(data);
}

static void hear_noted(void *self, const struct MPID_Noted *noted)
{
    struct MPID_Noted *got = self;
    CHECK(noted->context == 5 && noted->tag == 7 && noted->note->digest == 9 && noted->note->call == 11,
          "context %u, tag %d, digest %llu, call %u", noted->context, noted->tag,
          (unsigned long long)noted->note->digest, noted->note->call);
    got->source = noted->source;
}

/* A note of no message goes to the next process. */
static void notes_alone(void)
{
    struct MPID_Noted got = { .source = -1 };
    const struct MPID_Note note = { .digest = 9, .call = 11 };
    struct MPID_Listener c = {
        .version = MPID_LISTEN_VERSION, .size = sizeof c, .self = &got, .noted = hear_noted
    };
    CHECK(MPID_Listener_add(&c) == 0, "%s", MPID_Error_text());
    barrier();
    MPID_Note_alone((ME + 1) % N, &(const struct MPID_Noted){ 5, ME, 7, &note });
    while (got.source < 0)
        MPID_DeviceCheck(MPID_NOTBLOCKING);
    CHECK(got.source == (ME + N - 1) % N, "source %d", got.source);
    barrier();
    MPID_Listener_remove(&c);
}

/* ---- Processes of other jobs ---- */

/* Who is no more connected is forgotten when nobody holds its number either; then another one may have it. */
static void part_with(const struct MPID_Introduction *i, int32_t number)
{
    MPID_Other_connect(number);
    MPID_Other_keep(number);
    for (int times = 0; times < 3; times++) { /* two introductions and that */
        CHECK(MPID_Process_find(&i->who) == number, "it is not found any more");
        MPID_Others_part();
        MPID_Other_disconnect(number);
    }
    MPID_Others_part();
    CHECK(MPID_Process_find(&i->who) == number, "its number is not kept");
    CHECK(MPID_Introduce(i, &err) == number, "introduced again it has another number");
    ok("introduce again");
    MPID_Other_disconnect(number);
    MPID_Other_release(number);
    MPID_Others_part();
    CHECK(MPID_Process_find(&i->who) == -1, "it is found although nobody keeps it");
    MPID_Other_connect(ME);
    MPID_Other_disconnect(ME);
    MPID_Other_keep(ME);
    MPID_Other_release(ME);
}

/* A block of memory in it. */
static void block_in(struct MPID_JOINT *joint, int32_t other, uint64_t id)
{
    const int32_t both[] = { ME, other };
    uint64_t found = 1;
    int err = 0;
    CHECK(MPID_Joint_of(both, 2, &found) == joint && found == id, "it is not found");
    CHECK(MPID_Joint_of(both, 1, &found) == NULL && found == 0, "this process alone is in one");
    uint64_t block = MPID_Shared_alloc(joint, 100000, &err);
    char *at = block != 0 ? MPID_Shared_map(joint, block, &err) : NULL;
    CHECK(err == 0 && at != NULL, "error %d: %s", err, MPID_Error_text());
    if (at == NULL)
        return;
    CHECK(at[0] == 0 && at[99999] == 0, "a block that is not zeroed");
    at[99999] = 1;
    MPID_Node_wake(other);
    MPID_Shared_unmap(joint, block);
    MPID_Shared_free(joint, block);
}

/* Memory shared with it: there is one that serves it, and no second one is wanted. */
static void share_with(int32_t other)
{
    struct MPID_Joint_name name, none = { .id = 1, .where = MPID_Joint_where(), .pid = 1, .fd = 0 };
    enum MPID_JOINT_VOTE vote;
    CHECK(MPID_Joint_open(NULL, &none, 2, 1, 0, &other, 1, &vote) == NULL && vote == MPID_JOINT_FAILED,
          "a segment that is none was opened");
    MPID_Joint_settle(NULL, true);
    CHECK(MPID_Joint_make(1 << 20, &name) == NULL && name.id == 0, "a segment for a million processes");
    if (MPID_Joint_where() == 0) /* no device that is to be used has memory of a node */
        return;
    struct MPID_JOINT *first = MPID_Joint_make(2, &name), *second;
    CHECK(first != NULL && name.id != 0 && name.where == MPID_Joint_where() && name.pid == getpid(),
          "no segment was made");
    second = MPID_Joint_open(NULL, &name, 3, 0, 1, &other, 1, &vote);
    CHECK(second == NULL && vote == MPID_JOINT_FAILED, "a segment of another size was opened");
    first = MPID_Joint_open(first, &name, 2, 0, 1, &other, 1, &vote);
    CHECK(first != NULL && vote == MPID_JOINT_WANTED, "the first one is not wanted");
    CHECK(!MPID_Joint_has(other), "it is shared with before it is kept");
    MPID_Joint_settle(first, true);
    CHECK(MPID_Joint_has(other) && !MPID_Joint_has(ME) && !MPID_Joint_has(-1), "who shares it");
    block_in(first, other, name.id);
    second = MPID_Joint_make(2, &name);
    second = MPID_Joint_open(second, &name, 2, 1, 0, &other, 1, &vote);
    CHECK(second != NULL && vote == MPID_JOINT_USELESS, "a second one is wanted");
    MPID_Joint_settle(second, true);
}

/* They get numbers behind the job's own, the same whenever they are asked for, and other jobs' other ones. */
static void others(void)
{
    struct MPID_Introduction i = { .who = { 0x123456789abcdefull, 3 }, .job_size = 7, .epoch = 1 };
    struct MPID_Process p, q = { 0x123456789abcdefull, 2 };
    unsigned char card[4096];
    MPID_Process_of(ME, &p);
    CHECK(p.rank == ME && MPID_Process_find(&p) == ME, "rank %d of this job is %d", p.rank,
          MPID_Process_find(&p));
    p.rank = N;
    CHECK(MPID_Process_find(&p) == -1, "rank N of this job is found");
    CHECK(MPID_Process_find(&i.who) == -1, "found before it is introduced");
    CHECK(!MPID_Others_may_come(), "another job may come");
    MPID_Others_awaited(true);
    CHECK(MPID_Others_may_come(), "no other job may come, although one is awaited");
    MPID_Others_awaited(false);
    if (MPID_Others_begin() != 0) { /* of the devices that may be used none leaves the node */
        CHECK(strstr(MPID_Error_text(), "processes of other jobs") != NULL, "%s", MPID_Error_text());
        return;
    }
    size_t n = MPID_Others_card(card, sizeof card);
    CHECK(n > 0 && n <= sizeof card && n == MPID_Others_card(NULL, 0), "a card of %zu bytes", n);
    i.card = card;
    i.card_len = (uint32_t)n;
    int32_t first = MPID_Introduce(&i, &err), again = MPID_Introduce(&i, &err);
    ok("introduce");
    share_with(first);
    CHECK(first >= N && again == first && MPID_Process_find(&i.who) == first, "numbers %d and %d", first,
          again);
    CHECK(MPID_Process_find(&q) == -1, "one that has not been introduced is found");
    MPID_Process_of(first, &p);
    CHECK(p.job == i.who.job && p.rank == 3, "its name is %llx, %d", (unsigned long long)p.job, p.rank);
    i.who.job++;
    i.job_size = 1;
    i.who.rank = 0;
    int32_t other = MPID_Introduce(&i, &err);
    ok("introduce another");
    CHECK(other >= first + 4, "its number is %d, the other job has those up to %d", other, first + 3);
    i.who.rank = 1;
    CHECK(MPID_Introduce(&i, &err) == -1 && err != 0, "rank 1 of a job of one");
    err = 0;
    i.who.rank = 0;
    MPID_Other_disconnect(other);
    MPID_Others_part();
    CHECK(MPID_Process_find(&i.who) == -1, "a process of another job was not forgotten");
    i.who = (struct MPID_Process){ 0x123456789abcdefull, 3 };
    i.job_size = 7;
    part_with(&i, first);
    CHECK(!MPID_Others_may_come(), "nobody is met any more, but another job may come");
    CHECK(MPID_Introduce(&i, &err) == first, "the first number is not free again");
    ok("introduce after all are forgotten");
    MPID_Introduction_own(&i, card, n);
    CHECK(i.who.rank == ME && i.job_size == N && MPID_Introduce(&i, &err) == ME, "this process itself");
    ok("introduce oneself");
    CHECK(MPID_Others_may_come(), "others have been met");
}

const struct suite_test suite[] = { { "modes", modes },
                                    { "order", order },
                                    { "reverse_tags", reverse_tags },
                                    { "exchange", exchange },
                                    { "probes", probes },
                                    { "operations", operations },
                                    { "errors", errors },
                                    { "cancel", cancel },
                                    { "frees", frees },
                                    { "watching", watching },
                                    { "unreceived", unreceived },
                                    { "short_way", short_way },
                                    { "parking", parking },
                                    { "self", self },
                                    { "packing", packing },
                                    { "packing_external", packing_external },
                                    { "teams", teams },
                                    { "refusals", refusals },
                                    { "revoked", revoked },
                                    { "team_given", team_given },
                                    { "surroundings", surroundings },
                                    { "shared_block", shared_block },
                                    { "helper", helper },
                                    { "closed_ways", closed_ways },
                                    { "beside", beside },
                                    { "observed", observed },
                                    { "listeners", listeners },
                                    { "notes_alone", notes_alone },
                                    { "memory", suite_memory },
                                    { "others", others } };
const int suite_n = sizeof suite / sizeof suite[0];

int suite_rank(int rank, void *arg)
{
    struct MPID_Config config = { .request_free = request_freed,
                                  .datatype_free = type_freed,
                                  .request_done = request_done };
    const char *only = arg;
    MPID_Init(NULL, NULL, &config, &err);
    CHECK(err == 0, "MPID_Init: %s", MPID_Error_text());
    CHECK(MPID_MyWorldRank == rank, "rank %d", rank);
    for (int i = 0; i < suite_n; i++) /* instances of one process have no threads */
        if ((only == NULL || strcmp(only, suite[i].name) == 0) &&
            !(job_as_instances && suite[i].fn == helper)) {
            suite[i].fn();
            barrier();
        }
    MPID_End();
    return 0;
}
