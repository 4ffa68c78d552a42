/* collective.c: access together, in two phases.
 *
 * Some processes (aggregators) access the file for all: each has a part of the range that all touch, and goes through it window by
 * window.  Where a process's pieces lie is told to an aggregator once, as its filetype (MPID_Type_encode); so how
 * long each message is, and where its bytes belong, both sides compute by themselves, and no lists of pieces travel.
 *
 *   write, each round   a process sends each aggregator its bytes of the window there; the aggregator puts them into the window, which
 *                       another thread writes while the next one is filled
 *   read, each round    the aggregator has read the window, while the one before was given out, and sends each process its bytes
 *
 * Of a window with gaps only what was given is written.  An error of an aggregator does not stop it: all messages
 * are exchanged, and all processes agree on the worst error at the end. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io.h"
#include "op.h"
#include "p2p.h"

enum { UNIT = 4096, SMALL = 64 << 10, AGGREGATORS_A_NODE = 4 };
enum { TAG_TYPE = 1, TAG_DATA = 2 };

/* ---- Agreement ---- */

static int all_max(MPIR_File *f, int64_t *values, int n)
{
    MPIR_Datatype *word = MPIR_Datatype_predefined(KEEL_MPI_INT64_T);
    MPIR_Op *max = MPIR_Object_predefined(MPIR_KIND_OP, KEEL_MPI_MAX);
    return f->comm->adi.size == 1 ? 0 : MPIR_Allreduce(MPI_IN_PLACE, values, n, word, max, f->comm);
}

/* An error class and who met it, so that the largest is the worst class, of the lowest rank that met it. */
static int64_t verdict(int err, int32_t rank)
{
    return err ? (int64_t)err << 32 | (INT32_MAX - rank) : 0;
}
static int class_of(int64_t verdict)
{
    return (int)(verdict >> 32);
}
static int32_t rank_of(int64_t verdict)
{
    return INT32_MAX - (int32_t)(verdict & INT32_MAX);
}

/* What another process recorded becomes an error of this one, too, with its words. */
static int another_met(const MPIR_File *f, int64_t verdict, const struct ku_err *words)
{
    char name[101]; /* as much as texts have of it */
    snprintf(name, sizeof name, "%s", f->name);
    bool named = strstr(words->text, name) != NULL;
    return MPIR_Err(class_of(verdict), NULL, "rank %d%s%s: %s%s%.200s", rank_of(verdict), named ? "" : " at ",
                    named ? "" : name, words->arg, words->arg[0] ? " " : "", words->text);
}

/* values[0] is for `err`; the others go with it. */
static int agree_with(MPIR_File *f, int err, int64_t *values, int n)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    struct ku_err words = *ku_err_last(), heard = words;
    values[0] = verdict(err, f->comm->adi.rank);
    int there = all_max(f, values, n);
    if (!there && values[0] && f->comm->adi.size > 1)
        there = MPIR_Bcast(&heard, sizeof heard, byte, rank_of(values[0]), f->comm);
    if (err) {
        *ku_err_last() = words;
        return err;
    }
    return !there && values[0] ? another_met(f, values[0], &heard) : there;
}

int MPIR_Io_agree(MPIR_File *f, int err)
{
    int64_t worst;
    return agree_with(f, err, &worst, 1);
}

int MPIR_Io_agree_hints(MPIR_File *f, int err, bool *all)
{
    bool first = f->comm->adi.rank == 0;
    int64_t v[4] = { 0, !*all, first ? (int64_t)f->hints.cb_read : 0,
                     first ? (int64_t)f->hints.cb_write : 0 };
    err = agree_with(f, err, v, 4);
    *all = v[1] == 0;
    f->together[0] = (enum MPIR_FILE_USE)v[2];
    f->together[1] = (enum MPIR_FILE_USE)v[3];
    return err;
}

int MPIR_Io_not_same(const MPIR_File *f, const char *arg)
{
    return MPIR_Err(MPI_ERR_NOT_SAME, arg, "is not the same in all processes of %.150s", f->name);
}

int MPIR_Io_same(MPIR_File *f, const int64_t *values, int n, const char *arg)
{
    int64_t both[8];
    for (int i = 0; i < n; i++) {
        both[i] = values[i];
        both[n + i] = ~values[i];
    }
    int err = all_max(f, both, 2 * n);
    for (int i = 0; !err && i < n; i++)
        if (both[i] != ~both[n + i])
            err = MPIR_Io_not_same(f, arg);
    return err;
}

/* ---- What all know of each other ---- */

struct fact {
    int64_t disp, at, len, first, end; /* of its access; first and end in the file */
    int64_t encoded;                   /* bytes of its filetype; 0: contiguous */
    int64_t cannot;                    /* has no part in it */
    int64_t nodes, room;               /* hints; those of rank 0 count */
    int64_t small;                     /* its pieces are */
    int64_t unit;                      /* where parts of aggregators begin; that of rank 0 counts */
};

struct together {
    MPIR_File *f;
    struct io_access *a;
    int32_t rank, size, n; /* n aggregators */
    int64_t lo, hi, part;  /* the range of all, and of an aggregator */
    int64_t room, rounds;
    struct fact *facts;
    void *encoded;
    struct MPIR_DATATYPE *types;       /* aggregator: [size] */
    const struct MPIR_DATATYPE **type; /* aggregator: [size]; NULL: contiguous */
    int32_t mine;                      /* which aggregator this process is; -1: none */
    int err;
    struct ku_err words;
};

static void note(struct together *t, int err)
{
    if (err && !t->err) {
        t->err = err;
        t->words = *ku_err_last();
    }
}

static void describe(struct together *t, struct fact *me, int err)
{
    const struct io_access *a = t->a;
    const struct MPIR_DATATYPE *ft = &a->view->filetype_there->adi;
    *me = (struct fact){ .disp = a->view->disp,
                         .at = a->at,
                         .len = a->len,
                         .nodes = t->f->hints.cb_nodes,
                         .room = t->f->hints.cb_buffer_size,
                         .unit = t->f->hints.striping_unit > UNIT ? t->f->hints.striping_unit : UNIT };
    me->cannot = err || !io_in_order(a) || a->f->atomic || a->view->rep->how != IO_SAME;
    if (me->cannot || a->len == 0) {
        me->len = 0;
        return;
    }
    me->first = a->view->disp + MPIR_Io_place(ft, a->at);
    me->end = a->view->disp + MPIR_Io_place(ft, a->at + a->len - 1) + 1;
    int64_t probe = a->len < SMALL ? a->len : SMALL;
    me->small = MPIR_Io_place(ft, a->at + probe - 1) - MPIR_Io_place(ft, a->at) != probe - 1;
    if (!ft->is_contig && MPID_Type_encode(ft, &t->encoded, &me->encoded) != 0) {
        me->cannot = 1;
        me->encoded = 0;
    }
}

/* Do they together, as all see alike? */
static bool worth_it(struct together *t)
{
    bool crossed = false, small = false;
    const struct fact *f = t->facts;
    int64_t end = INT64_MIN;
    t->lo = INT64_MAX;
    t->hi = INT64_MIN;
    for (int i = 0; i < t->size; i++) {
        if (f[i].cannot)
            return false;
        if (f[i].len == 0)
            continue;
        crossed |= f[i].first < end;
        small |= f[i].small;
        end = f[i].end > end ? f[i].end : end;
        t->lo = f[i].first < t->lo ? f[i].first : t->lo;
    }
    t->hi = end;
    if (end == INT64_MIN)
        return false;
    return t->f->together[t->a->write] == MPIR_FILE_ENABLE || (crossed && small);
}

static int32_t aggregator_rank(const struct together *t, int32_t k)
{
    return (int32_t)((int64_t)k * t->size / t->n);
}

static void divide(struct together *t)
{
    const struct fact *f = t->facts;
    int64_t unit = f[0].unit, nodes = MPID_World()->nodes;
    int64_t n = f[0].nodes ? f[0].nodes : nodes * AGGREGATORS_A_NODE;
    t->n = (int32_t)(n < t->size ? n : t->size);
    t->room = f[0].room;
    int64_t base = t->lo / unit * unit, range = t->hi - base;
    t->part = (range / t->n + unit) / unit * unit;
    t->lo = base;
    t->rounds = (t->part + t->room - 1) / t->room;
    t->mine = -1;
    for (int32_t k = 0; k < t->n; k++)
        if (aggregator_rank(t, k) == t->rank)
            t->mine = k;
}

/* The window of an aggregator in a round, [*from, *to). */
static bool window_of(const struct together *t, int32_t k, int64_t round, int64_t *from, int64_t *to)
{
    int64_t end = t->lo + (k + 1) * t->part;
    *from = t->lo + k * t->part + round * t->room;
    *to = *from + t->room < end ? *from + t->room : end;
    *to = *to < t->hi ? *to : t->hi;
    return *from < *to;
}

/* The part of i's data that lies in [from, to): [*s, *s_end); false: none. */
static bool share(const struct together *t, int32_t i, const struct MPIR_DATATYPE *type, int64_t from,
                  int64_t to, int64_t *s, int64_t *s_end)
{
    const struct fact *f = &t->facts[i];
    if (f->len == 0 || f->first >= to || f->end <= from)
        return false;
    int64_t end = f->at + f->len;
    *s = type ? MPIR_Io_find(type, f->at, end, from - f->disp) : from - f->disp;
    *s_end = type ? MPIR_Io_find(type, f->at, end, to - f->disp) : to - f->disp;
    *s = *s < f->at ? f->at : *s;
    *s_end = *s_end > end ? end : *s_end;
    return *s < *s_end;
}

static const struct MPIR_DATATYPE *own_type(const struct together *t)
{
    const struct MPIR_DATATYPE *ft = &t->a->view->filetype_there->adi;
    return ft->is_contig ? NULL : ft;
}

/* ---- Messages ---- */

static int send_bytes(struct together *t, const void *buf, int64_t n, int32_t dest, int tag, MPIR_Request *r)
{
    return MPIR_P2p_isend(buf, n, MPIR_Datatype_predefined(KEEL_MPI_BYTE), dest, tag, t->f->comm,
                          MPID_CONTEXT_PT2PT, r);
}

static int recv_bytes(struct together *t, void *buf, int64_t n, int32_t source, int tag, MPIR_Request *r)
{
    return MPIR_P2p_irecv(buf, n, MPIR_Datatype_predefined(KEEL_MPI_BYTE), source, tag, t->f->comm,
                          MPID_CONTEXT_PT2PT, r);
}

/* Messages that this process has begun, with the memory they need. */
struct message {
    MPIR_Request request;
    char *bytes; /* owned; NULL: the memory is somebody else's */
    bool begun, is_send;
    int32_t rank;
    int64_t s, s_end, got;
};
struct messages {
    struct message *v; /* addresses do not change */
    int n;
};

static struct message *add(struct together *t, struct messages *m, int32_t rank, int64_t s, int64_t s_end,
                           bool own)
{
    struct message *one = &m->v[m->n++];
    *one = (struct message){ .rank = rank, .s = s, .s_end = s_end };
    if (own && (one->bytes = malloc((size_t)(s_end - s))) == NULL)
        note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %lld bytes of a collective access",
                         (long long)(s_end - s)));
    return one;
}

static void wait_one(struct together *t, struct message *m)
{
    int err = 0;
    MPIR_Status status = { 0 };
    if (!m->begun)
        return;
    if (m->is_send) {
        MPID_SendComplete(&m->request, &err);
    } else {
        MPID_RecvComplete(&m->request, &status, &err);
        m->got = status.count;
    }
    m->begun = false;
    note(t, err);
}

static void drop(struct together *t, struct messages *m)
{
    for (int i = 0; i < m->n; i++) {
        wait_one(t, &m->v[i]);
        free(m->v[i].bytes);
    }
    m->n = 0;
}

static void send_message(struct together *t, struct message *m, const char *bytes, int64_t n)
{
    m->is_send = true;
    int err = send_bytes(t, bytes, n, m->rank, TAG_DATA, &m->request);
    m->begun = !err;
    note(t, err);
}

static void recv_message(struct together *t, struct message *m, char *bytes)
{
    int err = recv_bytes(t, bytes, m->s_end - m->s, m->rank, TAG_DATA, &m->request);
    m->begun = !err;
    note(t, err);
}

/* ---- Filetypes ---- */

static bool touches(const struct together *t, int32_t i, int32_t k)
{
    const struct fact *f = &t->facts[i];
    int64_t from = t->lo + k * t->part, to = from + t->part;
    return f->len > 0 && f->first < to && f->end > from;
}

static void send_types(struct together *t, struct messages *sent)
{
    int64_t bytes = t->facts[t->rank].encoded;
    for (int32_t k = 0; k < t->n && bytes; k++) {
        int32_t dest = aggregator_rank(t, k);
        if (dest == t->rank || !touches(t, t->rank, k))
            continue;
        struct message *m = add(t, sent, dest, 0, bytes, false);
        m->is_send = true;
        int err = send_bytes(t, t->encoded, bytes, dest, TAG_TYPE, &m->request);
        m->begun = !err;
        note(t, err);
    }
}

static void recv_types(struct together *t)
{
    for (int32_t i = 0; i < t->size; i++) {
        int64_t bytes = t->facts[i].encoded;
        if (i == t->rank || !bytes || !touches(t, i, t->mine))
            continue;
        struct message m = { .rank = i };
        void *buf = malloc((size_t)bytes);
        int err = buf ? recv_bytes(t, buf, bytes, i, TAG_TYPE, &m.request) : MPI_ERR_NO_MEM;
        m.begun = !err;
        note(t, err);
        wait_one(t, &m);
        if (!t->err) {
            err = MPID_Type_decode(&t->types[i], buf, bytes);
            note(t, err);
            t->type[i] = err ? NULL : &t->types[i];
        }
        free(buf);
    }
    t->type[t->rank] = own_type(t);
}

/* ---- Windows of an aggregator ---- */

struct window {
    struct io_job job;
    MPIR_File *f;
    bool busy, write;
    char *bytes, *mask; /* mask: which bytes were given; NULL: all */
    int64_t from, to, there;
    int error;
};

static void write_window(struct window *w)
{
    int64_t n = w->to - w->from;
    if (!w->mask) {
        w->error = MPIR_Io_pwrite(w->f->fd, w->bytes, n, w->from);
        return;
    }
    for (int64_t i = 0; i < n && !w->error;) {
        char *begin = memchr(w->mask + i, 1, (size_t)(n - i));
        if (!begin)
            break;
        char *end = memchr(begin, 0, (size_t)(w->mask + n - begin));
        int64_t at = begin - w->mask, upto = end ? end - w->mask : n;
        w->error = MPIR_Io_pwrite(w->f->fd, w->bytes + at, upto - at, w->from + at);
        i = upto;
    }
}

static void run_window(struct io_job *j)
{
    struct window *w = (struct window *)((char *)j - offsetof(struct window, job));
    if (w->write)
        write_window(w);
    else
        w->error = MPIR_Io_pread(w->f->fd, w->bytes, w->to - w->from, w->from, &w->there);
}

static void end_window(struct together *t, struct window *w)
{
    if (!w->busy)
        return;
    MPIR_Io_job_wait(&w->job);
    w->busy = false;
    if (w->error)
        note(t, MPIR_Io_errno(w->error, t->f->name, "%s bytes %lld to %lld of",
                              w->write ? "writing" : "reading", (long long)w->from, (long long)w->to - 1));
    w->error = 0;
}

static void begin_window(struct window *w)
{
    w->busy = true;
    w->job.run = run_window;
    MPIR_Io_submit(&w->job);
}

static bool room_for(struct together *t, struct window *w, bool mask)
{
    if (!w->bytes)
        w->bytes = malloc((size_t)t->room);
    if (mask && !w->mask)
        w->mask = malloc((size_t)t->room);
    if (w->bytes && (w->mask || !mask))
        return true;
    note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a window of %lld bytes (hint cb_buffer_size)",
                     (long long)t->room));
    return false;
}

/* The bytes of the window that some process touches: from the first to the last. */
static bool clip(const struct together *t, int64_t *from, int64_t *to)
{
    int64_t first = INT64_MAX, last = INT64_MIN, s, e;
    for (int32_t i = 0; i < t->size; i++) {
        if (!share(t, i, t->type[i], *from, *to, &s, &e))
            continue;
        const struct MPIR_DATATYPE *type = t->type[i];
        int64_t a = t->facts[i].disp + (type ? MPIR_Io_place(type, s) : s);
        int64_t b = t->facts[i].disp + (type ? MPIR_Io_place(type, e - 1) : e - 1) + 1;
        first = a < first ? a : first;
        last = b > last ? b : last;
    }
    *from = first;
    *to = last;
    return first < last;
}

/* ---- Write ---- */

static void put(const struct together *t, const struct window *w, char *to, int32_t i, const char *bytes,
                int64_t s, int64_t n)
{
    const struct MPIR_DATATYPE *type = t->type[i];
    int64_t base = t->facts[i].disp - w->from;
    if (type)
        MPID_Layout_unpack(type, (char *)((uintptr_t)to + (uintptr_t)base), io_elements(type, s + n), s,
                           bytes, n);
    else
        memcpy(to + base + s, bytes, (size_t)n);
}

/* The packed bytes of this process; *own: memory to be freed. */
static const char *packed(struct together *t, int64_t s, int64_t s_end, char *room)
{
    const struct io_access *a = t->a;
    if (a->type->adi.is_contig)
        return (const char *)a->buf + (s - a->at);
    if (room)
        MPID_Layout_pack(&a->type->adi, a->buf, a->count, s - a->at, room, s_end - s);
    return room;
}

static void send_shares(struct together *t, int64_t round, struct messages *sent)
{
    for (int32_t k = 0; k < t->n; k++) {
        int64_t from, to, s, e;
        int32_t dest = aggregator_rank(t, k);
        if (dest == t->rank || !window_of(t, k, round, &from, &to) ||
            !share(t, t->rank, own_type(t), from, to, &s, &e))
            continue;
        struct message *m = add(t, sent, dest, s, e, !t->a->type->adi.is_contig);
        const char *bytes = packed(t, s, e, m->bytes);
        send_message(t, m, bytes ? bytes : "", bytes ? e - s : 0);
    }
}

/* Ones for the mask. */
static void mark(const struct together *t, const struct window *w, int32_t i, const char *ones, int64_t s,
                 int64_t n)
{
    put(t, w, w->mask, i, ones, s, n);
}

static void fill_window(struct together *t, struct window *w, struct messages *got, bool gaps)
{
    char *ones = gaps ? malloc((size_t)(w->to - w->from)) : NULL;
    int64_t s, e;
    if (gaps && ones) {
        memset(ones, 1, (size_t)(w->to - w->from));
        memset(w->mask, 0, (size_t)(w->to - w->from));
    } else if (gaps) {
        note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective write"));
    }
    for (int i = 0; i < got->n; i++) {
        struct message *m = &got->v[i];
        wait_one(t, m);
        bool whole = m->bytes && m->got == m->s_end - m->s;
        if (whole)
            put(t, w, w->bytes, m->rank, m->bytes, m->s, m->s_end - m->s);
        if (ones && whole)
            mark(t, w, m->rank, ones, m->s, m->s_end - m->s);
        if (!whole)
            note(t, MPIR_Err(MPI_ERR_OTHER, NULL, "rank %d sent no data for %.150s", m->rank, t->f->name));
    }
    if (share(t, t->rank, t->type[t->rank], w->from, w->to, &s, &e)) {
        char *room = t->a->type->adi.is_contig ? NULL : malloc((size_t)(e - s));
        const char *bytes = packed(t, s, e, room);
        if (bytes)
            put(t, w, w->bytes, t->rank, bytes, s, e - s);
        else
            note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective write"));
        if (ones && bytes)
            mark(t, w, t->rank, ones, s, e - s);
        free(room);
    }
    free(ones);
}

/* May there be bytes in the window that nobody gives?  One process without gaps is sure to give all. */
static bool has_gaps(const struct together *t, const struct window *w)
{
    int64_t s, e, given = 0, n = 0;
    for (int32_t i = 0; i < t->size; i++)
        if (share(t, i, t->type[i], w->from, w->to, &s, &e)) {
            given += e - s;
            n++;
        }
    return !(n == 1 && given == w->to - w->from);
}

static void write_round(struct together *t, int64_t round, struct window *w, struct messages *sent,
                        struct messages *got)
{
    int64_t from, to, s, e;
    bool any = t->mine >= 0 && window_of(t, t->mine, round, &from, &to);
    if (any) {
        end_window(t, w); /* that of two rounds before */
        any = clip(t, &from, &to);
    }
    for (int32_t i = 0; any && i < t->size; i++)
        if (i != t->rank && share(t, i, t->type[i], from, to, &s, &e)) {
            struct message *m = add(t, got, i, s, e, true);
            if (m->bytes)
                recv_message(t, m, m->bytes);
        }
    send_shares(t, round, sent);
    if (any) {
        w->f = t->f;
        w->write = true;
        w->from = from;
        w->to = to;
        bool gaps = has_gaps(t, w);
        if (room_for(t, w, gaps)) {
            char *mask = w->mask;
            fill_window(t, w, got, gaps);
            w->mask = gaps ? mask : NULL;
            if (!gaps)
                free(mask);
            if (!t->err)
                begin_window(w);
        }
    }
    drop(t, got);
    drop(t, sent);
}

/* ---- Read ---- */

static void read_ahead(struct together *t, int64_t round, struct window *w)
{
    int64_t from, to;
    w->from = w->to = w->there = 0;
    if (t->mine < 0 || round >= t->rounds || !window_of(t, t->mine, round, &from, &to) ||
        !clip(t, &from, &to) || !room_for(t, w, false))
        return;
    w->f = t->f;
    w->from = from;
    w->to = to;
    begin_window(w);
}

static void take(struct together *t, const struct window *w, int32_t i, char *to, int64_t s, int64_t e)
{
    const struct MPIR_DATATYPE *type = t->type[i];
    int64_t base = t->facts[i].disp - w->from;
    if (type)
        MPID_Layout_pack(type, (char *)((uintptr_t)w->bytes + (uintptr_t)base), io_elements(type, e), s, to,
                         e - s);
    else
        memcpy(to, w->bytes + base + s, (size_t)(e - s));
}

static void received(struct together *t, const char *bytes, int64_t s, int64_t n)
{
    struct io_access *a = t->a;
    if (n > 0 && bytes)
        MPID_Layout_unpack(&a->type->adi, a->buf, a->count, s - a->at, bytes, n);
    a->native += n;
}

/* Give each process its bytes of the window, as far as the file goes. */
static void give_out(struct together *t, struct window *w, struct messages *sent)
{
    int64_t s, e;
    for (int32_t i = 0; i < t->size && w->from < w->to; i++) {
        if (!share(t, i, t->type[i], w->from, w->to, &s, &e))
            continue;
        int64_t fit = s, ignored;
        if (w->there > 0 && !t->err)
            share(t, i, t->type[i], w->from, w->from + w->there, &ignored, &fit);
        fit = fit < s ? s : fit;
        if (i == t->rank) {
            char *room = malloc((size_t)(fit - s) + 1);
            if (room)
                take(t, w, i, room, s, fit);
            received(t, room, s, room ? fit - s : 0);
            free(room);
            continue;
        }
        struct message *m = add(t, sent, i, s, e, true);
        if (m->bytes)
            take(t, w, i, m->bytes, s, fit);
        send_message(t, m, m->bytes ? m->bytes : "", m->bytes ? fit - s : 0);
    }
}

static void read_round(struct together *t, int64_t round, struct window w[2], struct messages *sent,
                       struct messages *got)
{
    struct window *now = &w[round & 1];
    bool contig = t->a->type->adi.is_contig;
    for (int32_t k = 0; k < t->n; k++) {
        int64_t from, to, s, e;
        int32_t source = aggregator_rank(t, k);
        if (source == t->rank || !window_of(t, k, round, &from, &to) ||
            !share(t, t->rank, own_type(t), from, to, &s, &e))
            continue;
        struct message *m = add(t, got, source, s, e, !contig);
        char *to_here = contig ? (char *)t->a->buf + (s - t->a->at) : m->bytes;
        if (to_here)
            recv_message(t, m, to_here);
    }
    end_window(t, now);
    read_ahead(t, round + 1, &w[(round + 1) & 1]);
    give_out(t, now, sent);
    for (int i = 0; i < got->n; i++) {
        struct message *m = &got->v[i];
        wait_one(t, m);
        if (contig)
            t->a->native += m->got;
        else
            received(t, m->bytes, m->s, m->got);
    }
    drop(t, got);
    drop(t, sent);
}

/* ---- All of it ---- */

static bool begin(struct together *t, struct messages m[2])
{
    size_t most = (size_t)(t->size > t->n ? t->size : t->n);
    bool there = true;
    for (int i = 0; i < 2; i++)
        there = (m[i].v = malloc(most * sizeof *m[i].v)) != NULL && there;
    if (t->mine >= 0) {
        t->types = calloc((size_t)t->size, sizeof *t->types);
        t->type = calloc((size_t)t->size, sizeof *t->type);
        there = there && t->types && t->type;
    }
    return there;
}

static void run(struct together *t)
{
    struct messages m[2] = { { 0 }, { 0 } };
    struct window w[2] = { { .f = t->f }, { .f = t->f } };
    int ready = MPIR_Io_agree(
        t->f, begin(t, m) ? 0 : MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective access"));
    note(t, ready);
    if (!ready) {
        send_types(t, &m[0]);
        if (t->mine >= 0)
            recv_types(t);
        drop(t, &m[0]);
        ready = MPIR_Io_agree(t->f, t->err);
        note(t, ready);
    }
    if (!ready && !t->a->write)
        read_ahead(t, 0, &w[0]);
    for (int64_t round = 0; !ready && round < t->rounds; round++)
        if (t->a->write)
            write_round(t, round, &w[round & 1], &m[0], &m[1]);
        else
            read_round(t, round, w, &m[0], &m[1]);
    for (int i = 0; i < 2; i++) {
        end_window(t, &w[i]);
        free(w[i].bytes);
        free(w[i].mask);
        free(m[i].v);
    }
    for (int32_t i = 0; i < t->size && t->types; i++)
        if (t->type[i] == &t->types[i])
            MPID_Type_fini(&t->types[i]);
    free(t->types);
    free(t->type);
}

/* All see alike that each is to access the file by itself.  Processes of one node meet in its pages: what two phases spare is system calls,
 * and windows spare these as well. */
static bool is_apart(const MPIR_File *f, const struct io_access *a)
{
    enum MPIR_FILE_USE use = f->together[a->write];
    return f->comm->adi.size == 1 || use == MPIR_FILE_DISABLE || (use == MPIR_FILE_AUTOMATIC && f->near);
}

int MPIR_Io_together(MPIR_File *f, struct io_access *a, int err)
{
    struct together t = { .f = f, .a = a, .rank = f->comm->adi.rank, .size = f->comm->adi.size };
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    struct ku_err words = *ku_err_last();
    struct fact me;
    if (is_apart(f, a)) {
        if (!err)
            MPIR_Io_run(a);
        return err;
    }
    describe(&t, &me, err);
    t.facts = calloc((size_t)t.size, sizeof me);
    int there = t.facts ? MPIR_Allgather(&me, sizeof me, byte, t.facts, sizeof me, byte, f->comm)
                        : MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective access");
    if (err) {
        *ku_err_last() = words;
    } else if (there) {
        err = there;
    } else if (worth_it(&t)) {
        divide(&t);
        run(&t);
        a->native = a->write ? (t.err ? 0 : a->len) : a->native;
        if (t.err)
            *ku_err_last() = t.words;
        err = MPIR_Io_agree(f, t.err);
    } else {
        MPIR_Io_run(a);
    }
    free(t.facts);
    free(t.encoded);
    return err;
}
