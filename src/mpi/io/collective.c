/* SPDX-License-Identifier: BSD-3-Clause */
/* collective.c: access together, in two phases.
 *
 * Some processes (aggregators) access the file for all: each has a part of the range that all touch, and goes
 * through it window by window.  Where a process's pieces lie is told to an aggregator once, as its filetype
 * (MPID_Type_encode); so how long each message is, and where its bytes belong, both sides compute by themselves,
 * and no lists of pieces travel.
 *
 *   write, each round   a process sends each aggregator its bytes of the window there; the aggregator puts them
 *                       into the window, which another thread writes while the next one is filled
 *   read, each round    the aggregator has read the window, while the one before was given out, and sends each
 *                       process its bytes
 *
 * Of a window with gaps only what was given is written.  An error of an aggregator does not stop it: all messages
 * are exchanged, and all processes agree on the worst error at the end.
 *
 * Nothing here waits: an access is driven (drive.h) whatever the process waits for.  Its stages, and what begins each
 *
 *   FACTS   (begin)       what each accesses goes to all
 *   TYPES   (decide)      filetypes go to aggregators
 *   TYPED   (say)         have all been understood, and has each process the memory that it needs?
 *   WINDOW  (next_round)  the window of this round is read, or the same memory has been written that it takes
 *   ROUND   (exchange)    the messages of this round; then WINDOW again, or
 *   FLUSH                 the last windows are written
 *   LAST    (say)         errors; then it is over
 *
 * After FACTS it is over if each had better access the file alone; after TYPED if one cannot go on.
 *
 * Invariants
 *   1. All processes go through the same stages, but for their windows.  What that depends on is what all have
 *      said in FACTS, and what was the same in all when the access began.
 *   2. Between two processes at most one message goes in each direction at a time, all with the tag of this
 *      access: so several accesses of a file may be under way, beside other collective calls. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <string.h>
#include "drive.h"
#include "env.h"
#include "io.h"
#include "p2p.h"

enum { UNIT = 4096, SMALL = 64 << 10, AGGREGATORS_A_NODE = 4, TAGS = 1 << 15 };

/* What all know of each other. */
struct fact {
    int64_t disp, at, len, first, end; /* of its access; first and end in the file */
    int64_t encoded;                   /* bytes of its filetype; 0: contiguous */
    int64_t cannot;                    /* has no part in it */
    int64_t nodes, room;               /* hints; those of rank 0 count */
    int64_t small;                     /* its pieces are */
    int64_t unit;                      /* where parts of aggregators begin; that of rank 0 counts */
};

/* A message that this process has begun, with the memory it needs. */
struct message {
    struct MPIR_Watched watched;
    char *bytes; /* owned; NULL: the memory is somebody else's */
    bool begun, is_send;
    int32_t rank;
    int64_t s, s_end, got;
};
struct messages {
    struct message *v; /* [size], addresses do not change */
    int n, over;       /* how many, and of how many the end has been seen */
};

struct window {
    struct io_job job;
    MPIR_File *f;
    bool busy, write;
    char *bytes, *mask; /* mask: which bytes were given; NULL: all */
    int64_t from, to, there;
    int error;
};

/* The worst error, as far as it has been heard of. */
struct opinion {
    int64_t verdict;
    struct ku_err words;
};

enum stage { FACTS, TYPES, TYPED, WINDOW, ROUND, FLUSH, LAST };

struct io_together {
    struct MPIR_Driven driven;
    enum stage stage;
    bool over, alone; /* each accesses the file by itself */
    bool deserted;    /* nobody waits for its end */
    MPIR_File *f;
    struct io_access *a, none;
    struct io_job *job; /* to be begun if alone; NULL: the caller sees to that */
    enum MPIR_FILE_USE use;
    int tag;
    int64_t distance;  /* of what is spread: to the process of the next step */
    struct fact *ring; /* FACTS: from this process on */
    struct opinion worst, heard;
    int32_t rank, size, n; /* n aggregators */
    int64_t lo, hi, part;  /* the range of all, and of an aggregator */
    int64_t room, round, rounds;
    struct fact *facts;
    void *encoded;
    struct MPIR_DATATYPE *types;       /* aggregator: [size] */
    const struct MPIR_DATATYPE **type; /* aggregator: [size]; NULL: contiguous */
    int32_t mine;                      /* which aggregator this process is; -1: none */
    struct messages sent, got;
    struct window w[2];
    int err;
    struct ku_err words;
};

static void collective_note(struct io_together *t, int err)
{
    if (err && !t->err) {
        t->err = err;
        t->words = *ku_err_last();
    }
}

static void collective_describe(struct io_together *t, struct fact *me, int err)
{
    const struct io_access *a = t->a;
    const struct MPIR_DATATYPE *ft = &a->view->filetype_there->adi;
    *me = (struct fact){ .disp = a->view->disp,
                         .at = a->at,
                         .len = a->len,
                         .nodes = t->f->hints.cb_nodes,
                         .room = t->f->hints.cb_buffer_size,
                         .unit = t->f->hints.striping_unit > UNIT ? t->f->hints.striping_unit : UNIT };
    me->cannot = err || !io_in_order(a);
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
static bool worth_it(struct io_together *t)
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
    return t->use == MPIR_FILE_ENABLE || (crossed && small);
}

static int32_t aggregator_rank(const struct io_together *t, int32_t k)
{
    return (int32_t)((int64_t)k * t->size / t->n);
}

static void divide(struct io_together *t)
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
static bool window_of(const struct io_together *t, int32_t k, int64_t round, int64_t *from, int64_t *to)
{
    int64_t end = t->lo + (k + 1) * t->part;
    *from = t->lo + k * t->part + round * t->room;
    *to = *from + t->room < end ? *from + t->room : end;
    *to = *to < t->hi ? *to : t->hi;
    return *from < *to;
}

/* The part of i's data that lies in [from, to): [*s, *s_end); false: none. */
static bool collective_share(const struct io_together *t, int32_t i, const struct MPIR_DATATYPE *type,
                             int64_t from, int64_t to, int64_t *s, int64_t *s_end)
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

static const struct MPIR_DATATYPE *own_type(const struct io_together *t)
{
    const struct MPIR_DATATYPE *ft = &t->a->view->filetype_there->adi;
    return ft->is_contig ? NULL : ft;
}

/* ---- Messages ---- */

static struct message *collective_add(struct io_together *t, struct messages *m, int32_t rank, int64_t s,
                                      int64_t s_end, bool own)
{
    struct message *one = &m->v[m->n++];
    *one = (struct message){ .rank = rank, .s = s, .s_end = s_end };
    if (own && (one->bytes = malloc((size_t)(s_end - s))) == NULL)
        collective_note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %lld bytes of a collective access",
                                    (long long)(s_end - s)));
    return one;
}

static void send_message(struct io_together *t, struct message *m, const void *bytes, int64_t n)
{
    m->is_send = true;
    int err = MPIR_P2p_isend(bytes, n, MPIR_Datatype_predefined(KEEL_MPI_BYTE), m->rank, t->tag, t->f->comm,
                             MPID_CONTEXT_PT2PT, &m->watched.request);
    m->begun = !err;
    collective_note(t, err);
}

/* Where there is no memory for it (bytes is NULL) it is taken, too, and is an error. */
static void recv_message(struct io_together *t, struct message *m, void *bytes)
{
    int64_t n = bytes ? m->s_end - m->s : 0;
    int err = MPIR_P2p_irecv(bytes, n, MPIR_Datatype_predefined(KEEL_MPI_BYTE), m->rank, t->tag, t->f->comm,
                             MPID_CONTEXT_PT2PT, &m->watched.request);
    m->begun = !err;
    collective_note(t, err);
}

/* It is complete. */
static void end_message(struct io_together *t, struct message *m)
{
    MPIR_Status status = { 0 };
    int err = MPID_Wait(&m->watched.request, &status);
    if (!m->is_send)
        m->got = status.count;
    m->begun = false;
    collective_note(t, err);
}

/* Are all over?  If not, the access is advanced when the next one is. */
static bool messages_over(struct io_together *t, struct messages *m)
{
    for (; m->over < m->n; m->over++) {
        struct message *one = &m->v[m->over];
        if (one->begun && MPIR_Drive_watch(&t->driven, &one->watched))
            return false;
        if (one->begun)
            end_message(t, one);
    }
    return true;
}

static void collective_drop(struct messages *m)
{
    for (int i = 0; i < m->n; i++)
        free(m->v[i].bytes);
    m->n = m->over = 0;
}

/* ---- What goes to all: in each step a process hears what twice as many know ---- */

/* Begin the next step; false: all have heard of all. */
static bool collective_spread(struct io_together *t)
{
    int32_t d = (int32_t)t->distance, size = t->size;
    bool facts = t->stage == FACTS;
    collective_drop(&t->sent);
    collective_drop(&t->got);
    if (!facts && t->heard.verdict > t->worst.verdict)
        t->worst = t->heard;
    if (t->distance >= size)
        return false;
    int64_t n = facts ? (d < size - d ? d : size - d) * (int64_t)sizeof *t->ring : (int64_t)sizeof t->worst;
    struct message *to =
        collective_add(t, &t->sent, (int32_t)(((int64_t)t->rank - d + size) % size), 0, n, false);
    struct message *from = collective_add(t, &t->got, (int32_t)(((int64_t)t->rank + d) % size), 0, n, false);
    recv_message(t, from, facts ? (void *)(t->ring + d) : &t->heard);
    send_message(t, to, facts ? (void *)t->ring : &t->worst, n);
    t->distance *= 2;
    return true;
}

/* Tell all whether something has gone wrong here. */
static void collective_say(struct io_together *t, enum stage stage)
{
    t->stage = stage;
    t->distance = 1;
    t->worst = (struct opinion){ MPIR_Io_verdict(t->err, t->rank), t->words };
    t->heard = (struct opinion){ 0 };
}

/* All have heard of all: has something gone wrong anywhere? */
static bool collective_failed(struct io_together *t)
{
    if (t->worst.verdict && !t->err)
        collective_note(t, MPIR_Io_another_met(t->f, t->worst.verdict, &t->worst.words));
    return t->err != 0;
}

/* ---- Filetypes ---- */

static bool touches(const struct io_together *t, int32_t i, int32_t k)
{
    const struct fact *f = &t->facts[i];
    int64_t from = t->lo + k * t->part, to = from + t->part;
    return f->len > 0 && f->first < to && f->end > from;
}

static void send_types(struct io_together *t)
{
    int64_t bytes = t->facts[t->rank].encoded;
    t->stage = TYPES;
    for (int32_t k = 0; k < t->n && bytes; k++) {
        int32_t dest = aggregator_rank(t, k);
        if (dest != t->rank && touches(t, t->rank, k))
            send_message(t, collective_add(t, &t->sent, dest, 0, bytes, false), t->encoded, bytes);
    }
    for (int32_t i = 0; i < t->size && t->mine >= 0; i++)
        if (i != t->rank && t->facts[i].encoded && touches(t, i, t->mine)) {
            struct message *m = collective_add(t, &t->got, i, 0, t->facts[i].encoded, true);
            recv_message(t, m, m->bytes);
        }
}

static void see_types(struct io_together *t)
{
    for (int k = 0; k < t->got.n; k++) {
        const struct message *m = &t->got.v[k];
        int err = t->err ? t->err : MPID_Type_decode(&t->types[m->rank], m->bytes, m->got);
        collective_note(t, err);
        if (!err)
            t->type[m->rank] = &t->types[m->rank];
    }
    if (t->mine >= 0 && t->type)
        t->type[t->rank] = own_type(t);
    collective_drop(&t->sent);
    collective_drop(&t->got);
}

/* ---- Windows of an aggregator ---- */

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

/* Is nobody at work in it? */
static bool window_over(struct io_together *t, struct window *w)
{
    if (!w->busy)
        return true;
    if (!MPIR_Io_job_done(&w->job))
        return false;
    w->busy = false;
    if (w->error)
        collective_note(t, MPIR_Io_errno(w->error, t->f->name, "%s bytes %lld to %lld of",
                                         w->write ? "writing" : "reading", (long long)w->from,
                                         (long long)w->to - 1));
    w->error = 0;
    return true;
}

static void begin_window(struct window *w)
{
    w->busy = true;
    w->job.run = run_window;
    MPIR_Io_submit(&w->job);
}

static bool room_for(struct io_together *t, struct window *w, bool mask)
{
    if (!w->bytes)
        w->bytes = malloc((size_t)t->room);
    if (mask && !w->mask)
        w->mask = malloc((size_t)t->room);
    if (w->bytes && (w->mask || !mask))
        return true;
    collective_note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL,
                                "no memory for a window of %lld bytes (hint cb_buffer_size)",
                                (long long)t->room));
    return false;
}

/* The bytes of the window that some process touches: from the first to the last. */
static bool clip(const struct io_together *t, int64_t *from, int64_t *to)
{
    int64_t first = INT64_MAX, last = INT64_MIN, s, e;
    for (int32_t i = 0; i < t->size; i++) {
        if (!collective_share(t, i, t->type[i], *from, *to, &s, &e))
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

static void collective_put(const struct io_together *t, const struct window *w, char *to, int32_t i,
                           const char *bytes, int64_t s, int64_t n)
{
    const struct MPIR_DATATYPE *type = t->type[i];
    int64_t base = t->facts[i].disp - w->from;
    if (type)
        MPID_Layout_unpack(type, (char *)((uintptr_t)to + (uintptr_t)base), io_elements(type, s + n), s,
                           bytes, n);
    else
        memcpy(to + base + s, bytes, (size_t)n);
}

/* The packed bytes of this process: as they lie, or in `room` (NULL: there was no memory for it). */
static const char *packed(struct io_together *t, int64_t s, int64_t s_end, char *room)
{
    const struct io_access *a = t->a;
    if (a->type->adi.is_contig)
        return (const char *)a->buf + (s - a->at);
    if (room)
        MPID_Layout_pack(&a->type->adi, a->buf, a->count, s - a->at, room, s_end - s);
    return room;
}

static void send_shares(struct io_together *t)
{
    for (int32_t k = 0; k < t->n; k++) {
        int64_t from, to, s, e;
        int32_t dest = aggregator_rank(t, k);
        if (dest == t->rank || !window_of(t, k, t->round, &from, &to) ||
            !collective_share(t, t->rank, own_type(t), from, to, &s, &e))
            continue;
        struct message *m = collective_add(t, &t->sent, dest, s, e, !t->a->type->adi.is_contig);
        const char *bytes = packed(t, s, e, m->bytes);
        send_message(t, m, bytes, bytes ? e - s : 0);
    }
}

/* Ones for the mask. */
static void mark(const struct io_together *t, const struct window *w, int32_t i, const char *ones, int64_t s,
                 int64_t n)
{
    collective_put(t, w, w->mask, i, ones, s, n);
}

static void fill_window(struct io_together *t, struct window *w, bool gaps)
{
    char *ones = gaps ? malloc((size_t)(w->to - w->from)) : NULL;
    int64_t s, e;
    if (gaps && ones) {
        memset(ones, 1, (size_t)(w->to - w->from));
        memset(w->mask, 0, (size_t)(w->to - w->from));
    } else if (gaps) {
        collective_note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective write"));
    }
    for (int i = 0; i < t->got.n; i++) {
        const struct message *m = &t->got.v[i];
        bool whole = m->bytes && m->got == m->s_end - m->s;
        if (whole)
            collective_put(t, w, w->bytes, m->rank, m->bytes, m->s, m->s_end - m->s);
        if (ones && whole)
            mark(t, w, m->rank, ones, m->s, m->s_end - m->s);
        if (!whole)
            collective_note(
                t, MPIR_Err(MPI_ERR_OTHER, NULL, "rank %d sent no data for %.150s", m->rank, t->f->name));
    }
    if (collective_share(t, t->rank, t->type[t->rank], w->from, w->to, &s, &e)) {
        char *room = t->a->type->adi.is_contig ? NULL : malloc((size_t)(e - s));
        const char *bytes = packed(t, s, e, room);
        if (bytes)
            collective_put(t, w, w->bytes, t->rank, bytes, s, e - s);
        else
            collective_note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective write"));
        if (ones && bytes)
            mark(t, w, t->rank, ones, s, e - s);
        free(room);
    }
    free(ones);
}

/* May there be bytes in the window that nobody gives?  One process without gaps is sure to give all. */
static bool has_gaps(const struct io_together *t, const struct window *w)
{
    int64_t s, e, given = 0, n = 0;
    for (int32_t i = 0; i < t->size; i++)
        if (collective_share(t, i, t->type[i], w->from, w->to, &s, &e)) {
            given += e - s;
            n++;
        }
    return !(n == 1 && given == w->to - w->from);
}

static void write_exchange(struct io_together *t)
{
    struct window *w = &t->w[t->round & 1];
    int64_t s, e;
    w->from = w->to = 0;
    if (t->mine >= 0 && window_of(t, t->mine, t->round, &w->from, &w->to) && !clip(t, &w->from, &w->to))
        w->from = w->to = 0;
    for (int32_t i = 0; w->from < w->to && i < t->size; i++)
        if (i != t->rank && collective_share(t, i, t->type[i], w->from, w->to, &s, &e)) {
            struct message *m = collective_add(t, &t->got, i, s, e, true);
            recv_message(t, m, m->bytes);
        }
    send_shares(t);
}

static void write_exchanged(struct io_together *t)
{
    struct window *w = &t->w[t->round & 1];
    bool gaps = w->from < w->to && has_gaps(t, w);
    if (w->from >= w->to || !room_for(t, w, gaps))
        return;
    char *mask = w->mask;
    fill_window(t, w, gaps);
    w->mask = gaps ? mask : NULL;
    if (!gaps)
        free(mask);
    w->write = true;
    if (!t->err)
        begin_window(w);
}

/* ---- Read ---- */

static void read_ahead(struct io_together *t, int64_t round, struct window *w)
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

static void collective_take(struct io_together *t, const struct window *w, int32_t i, char *to, int64_t s,
                            int64_t e)
{
    const struct MPIR_DATATYPE *type = t->type[i];
    int64_t base = t->facts[i].disp - w->from;
    if (type)
        MPID_Layout_pack(type, (char *)((uintptr_t)w->bytes + (uintptr_t)base), io_elements(type, e), s, to,
                         e - s);
    else
        memcpy(to, w->bytes + base + s, (size_t)(e - s));
}

static void received(struct io_together *t, const char *bytes, int64_t s, int64_t n)
{
    struct io_access *a = t->a;
    if (n > 0 && bytes)
        MPID_Layout_unpack(&a->type->adi, a->buf, a->count, s - a->at, bytes, n);
    a->native += n;
}

/* Give each process its bytes of the window, as far as the file goes. */
static void give_out(struct io_together *t, const struct window *w)
{
    int64_t s, e;
    for (int32_t i = 0; i < t->size && w->from < w->to; i++) {
        if (!collective_share(t, i, t->type[i], w->from, w->to, &s, &e))
            continue;
        int64_t fit = s, ignored;
        if (w->there > 0 && !t->err)
            collective_share(t, i, t->type[i], w->from, w->from + w->there, &ignored, &fit);
        fit = fit < s ? s : fit;
        if (i == t->rank) {
            char *room = malloc((size_t)(fit - s) + 1);
            if (room)
                collective_take(t, w, i, room, s, fit);
            received(t, room, s, room ? fit - s : 0);
            free(room);
            continue;
        }
        struct message *m = collective_add(t, &t->sent, i, s, e, true);
        if (m->bytes)
            collective_take(t, w, i, m->bytes, s, fit);
        send_message(t, m, m->bytes, m->bytes ? fit - s : 0);
    }
}

static void await_shares(struct io_together *t)
{
    for (int32_t k = 0; k < t->n; k++) {
        int64_t from, to, s, e;
        int32_t source = aggregator_rank(t, k);
        bool contig = t->a->type->adi.is_contig;
        if (source == t->rank || !window_of(t, k, t->round, &from, &to) ||
            !collective_share(t, t->rank, own_type(t), from, to, &s, &e))
            continue;
        struct message *m = collective_add(t, &t->got, source, s, e, !contig);
        recv_message(t, m, contig ? (char *)t->a->buf + (s - t->a->at) : m->bytes);
    }
}

static void read_exchange(struct io_together *t)
{
    read_ahead(t, t->round + 1, &t->w[(t->round + 1) & 1]);
    give_out(t, &t->w[t->round & 1]);
}

static void read_exchanged(struct io_together *t)
{
    for (int i = 0; i < t->got.n; i++) {
        const struct message *m = &t->got.v[i];
        if (t->a->type->adi.is_contig)
            t->a->native += m->got;
        else
            received(t, m->bytes, m->s, m->got);
    }
}

/* ---- From stage to stage ---- */

static bool reserve(struct io_together *t)
{
    if (t->mine < 0)
        return true;
    t->types = calloc((size_t)t->size, sizeof *t->types);
    t->type = calloc((size_t)t->size, sizeof *t->type);
    return t->types && t->type;
}

/* All facts are here. */
static void collective_decide(struct io_together *t)
{
    for (int32_t i = 0; i < t->size; i++)
        t->facts[(int32_t)(((int64_t)t->rank + i) % t->size)] = t->ring[i];
    t->alone = !t->err && !worth_it(t);
    if (t->alone || t->err)
        return;
    divide(t);
    if (!reserve(t))
        collective_note(t, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a collective access"));
    send_types(t);
}

static void next_round(struct io_together *t)
{
    collective_drop(&t->sent);
    collective_drop(&t->got);
    t->stage = t->round < t->rounds ? WINDOW : FLUSH;
    if (t->stage == WINDOW && !t->a->write)
        await_shares(t);
}

static void collective_exchange(struct io_together *t)
{
    t->stage = ROUND;
    if (t->a->write)
        write_exchange(t);
    else
        read_exchange(t);
}

/* What the stage waits for is there: begin what follows.  False: it is over. */
static bool collective_go_on(struct io_together *t)
{
    bool opinions = t->stage == TYPED || t->stage == LAST;
    if ((opinions || t->stage == FACTS) && collective_spread(t))
        return true;
    if (opinions && collective_failed(t))
        return false;
    switch (t->stage) {
    case FACTS:
        collective_decide(t);
        return t->stage != FACTS;
    case TYPES:
        see_types(t);
        collective_say(t, TYPED);
        break;
    case TYPED:
        if (!t->a->write)
            read_ahead(t, 0, &t->w[0]);
        next_round(t);
        break;
    case WINDOW:
        collective_exchange(t);
        break;
    case ROUND:
        if (t->a->write)
            write_exchanged(t);
        else
            read_exchanged(t);
        t->round++;
        next_round(t);
        break;
    case FLUSH:
        collective_say(t, LAST);
        break;
    case LAST:
        return false;
    }
    return true;
}

static void collective_finish(struct io_together *t)
{
    struct io_access *a = t->a;
    if (t->alone && t->job && !t->deserted)
        MPIR_Io_submit(t->job);
    if (!t->alone) {
        a->native = t->err ? 0 : a->write ? a->len : a->native; /* what is there need not be the first part */
        a->done = a->native;
        a->err = t->err;
        a->words = t->words;
    }
    t->over = true;
    if (t->deserted)
        MPIR_Io_together_free(t);
}

static enum MPIR_DRIVE collective_advance(struct MPIR_Driven *d)
{
    struct io_together *t = (struct io_together *)((char *)d - offsetof(struct io_together, driven));
    for (bool moved = false;; moved = true) {
        bool windows = t->stage == WINDOW || t->stage == FLUSH;
        if (windows && !(window_over(t, &t->w[t->round & 1]) &&
                         (t->stage == WINDOW || window_over(t, &t->w[(t->round + 1) & 1]))))
            return moved ? MPIR_DRIVE_MOVED : MPIR_DRIVE_WAITS;
        if (!windows && !(messages_over(t, &t->got) && messages_over(t, &t->sent)))
            return MPIR_DRIVE_SLEEPS;
        if (!collective_go_on(t))
            break;
    }
    collective_finish(t);
    return MPIR_DRIVE_DONE;
}

/* ---- Calls ---- */

void MPIR_Io_together_free(struct io_together *t)
{
    for (int i = 0; i < 2; i++) {
        free(t->w[i].bytes);
        free(t->w[i].mask);
    }
    for (int32_t i = 0; i < t->size && t->types && t->type; i++)
        if (t->type[i] == &t->types[i])
            MPID_Type_fini(&t->types[i]);
    free(t->types);
    free(t->type);
    collective_drop(&t->sent);
    collective_drop(&t->got);
    free(t->sent.v);
    free(t->got.v);
    free(t->ring);
    free(t->facts);
    free(t->encoded);
    MPIR_File_release(t->f);
    free(t);
}

static struct io_together *new (MPIR_File *f)
{
    size_t size = (size_t)f->comm->adi.size;
    struct io_together *t = calloc(1, sizeof *t);
    if (t) {
        t->sent.v = malloc(size * sizeof *t->sent.v);
        t->got.v = malloc(size * sizeof *t->got.v);
        t->ring = malloc(size * sizeof *t->ring);
        t->facts = malloc(size * sizeof *t->facts);
    }
    if (!t || !t->sent.v || !t->got.v || !t->ring || !t->facts) /* the others wait for this process */
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, "no memory for a collective access to a file");
    t->f = f;
    MPIR_Object_ref(f);
    return t;
}

/* Processes of one node meet in its pages: what two phases spare is system calls, and windows spare these as well. */
bool MPIR_Io_apart(const MPIR_File *f, const struct io_access *a)
{
    enum MPIR_FILE_USE use = f->together[a->write];
    return f->comm->adi.size == 1 || use == MPIR_FILE_DISABLE || (use == MPIR_FILE_AUTOMATIC && f->near) ||
           f->atomic || f->view.rep->how != IO_SAME;
}

/* err: what this process has met before. */
static struct io_together *collective_prepare(MPIR_File *f, struct io_access *a, int err)
{
    struct io_together *t = new (f);
    t->driven = (struct MPIR_Driven){ .advance = collective_advance, .helped = true };
    t->a = a;
    t->use = f->together[a->write];
    t->tag = (int)(f->accesses++ % TAGS);
    t->rank = f->comm->adi.rank;
    t->size = f->comm->adi.size;
    t->mine = -1;
    t->w[0].f = t->w[1].f = f;
    t->distance = 1;
    collective_describe(t, &t->ring[0], err);
    return t;
}

static void collective_start(struct io_together *t)
{
    enum MPIR_DRIVE what = collective_advance(&t->driven);
    if (what == MPIR_DRIVE_WAITS || what == MPIR_DRIVE_MOVED)
        MPIR_Drive(&t->driven);
}

struct io_together *MPIR_Io_together_begin(MPIR_File *f, struct io_access *a, struct io_job *job)
{
    struct io_together *t = collective_prepare(f, a, 0);
    t->job = job;
    collective_start(t);
    return t;
}

void MPIR_Io_together_desert(MPIR_File *f, const struct io_access *a, int err)
{
    struct ku_err words = *ku_err_last();
    struct io_access none = *a;
    if (MPIR_Io_apart(f, a))
        return;
    struct io_together *t = collective_prepare(f, &none, err);
    t->none = none;
    t->a = &t->none;
    t->deserted = true;
    collective_start(t);
    *ku_err_last() = words;
}

bool MPIR_Io_together_over(const struct io_together *t, bool *alone)
{
    *alone = t->alone;
    return t->over;
}

MPIR_Request *MPIR_Io_together_awaits(struct io_together *t)
{
    struct messages *m = t->got.over < t->got.n ? &t->got : &t->sent;
    return !t->over && m->over < m->n && m->v[m->over].begun ? &m->v[m->over].watched.request : NULL;
}

int MPIR_Io_together(MPIR_File *f, struct io_access *a, int err)
{
    bool alone = true;
    if (err) {
        MPIR_Io_together_desert(f, a, err);
        return err;
    }
    if (!MPIR_Io_apart(f, a)) {
        struct io_together *t = MPIR_Io_together_begin(f, a, NULL);
        while (!MPIR_Io_together_over(t, &alone)) {
            MPIR_Request *awaits = MPIR_Io_together_awaits(t);
            /* For the report on a job that hangs; a thread beside others would be woken for this alone. */
            MPID_Waited = (struct MPID_Waited){ &awaits, awaits && !MPIR_ENV(threaded), false };
            MPID_DeviceCheck(MPID_BLOCKING);
            MPID_Waited.n = 0;
        }
        MPIR_Io_together_free(t);
    }
    if (alone)
        MPIR_Io_run(a);
    return 0;
}
