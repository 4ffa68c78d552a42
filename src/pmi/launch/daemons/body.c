/* SPDX-License-Identifier: BSD-3-Clause */
/* body.c: see body.h. */
#include <limits.h>
#include <string.h>
#include "body.h"
#include "cards.h"
#include "pmi/launch/hang/hang.h"
#include "pmi/pmi.h"

void put_hello(struct pack *p, const struct frame_hello *h)
{
    put_u32(p, h->link_version);
    put_u32(p, h->segment_version);
    put_u32(p, h->word_bytes);
    put_u32(p, h->cpus);
}

void get_hello(struct unpack *u, struct frame_hello *h)
{
    h->link_version = get_u32(u);
    h->segment_version = get_u32(u);
    h->word_bytes = get_u32(u);
    h->cpus = get_u32(u);
}

void put_ended(struct pack *p, const struct frame_ended *e)
{
    put_u32(p, (uint32_t)e->pid);
    put_u32(p, (uint32_t)e->status);
    put_u32(p, e->state);
    put_u32(p, (uint32_t)e->abort_code);
    put_u32(p, e->found_gone);
}

void get_ended(struct unpack *u, struct frame_ended *e)
{
    e->pid = (int32_t)get_u32(u);
    e->status = (int32_t)get_u32(u);
    e->state = get_u32(u);
    e->abort_code = (int32_t)get_u32(u);
    e->found_gone = get_u32(u);
}

/* ---- records ---- */

/* Numbers that begin the bytes of a record: PMI_ABORT_SOME has how many ranks, and these; PMI_ASK has a rank. */
static size_t numbers(const struct pmi_record *r, uint32_t first)
{
    size_t most = r->len / sizeof first;
    if (r->kind == PMI_ASK && most > 0)
        return 1;
    if (r->kind != PMI_ABORT_SOME || most == 0)
        return 0;
    return first < most ? first + (size_t)1 : most;
}

void put_record(struct pack *p, const struct pmi_record *r, const char *bytes)
{
    uint32_t n = 0;
    put_int(p, (int64_t)r->job_id);
    put_u32(p, r->rank);
    put_u32(p, r->kind);
    put_u32(p, r->value);
    put_u32(p, r->len);
    if (r->len >= sizeof n)
        memcpy(&n, bytes, sizeof n);
    const size_t count = numbers(r, n);
    for (size_t i = 0; i < count; i++, bytes += sizeof n) {
        memcpy(&n, bytes, sizeof n);
        put_u32(p, n);
    }
    put_bytes(p, bytes, r->len - count * sizeof n);
}

const char *get_record(struct unpack *u, struct pmi_record *r)
{
    static char bytes[PIPE_BUF];
    r->job_id = (uint64_t)get_int(u);
    r->rank = get_u32(u);
    r->kind = get_u32(u);
    r->value = get_u32(u);
    r->len = get_u32(u);
    u->wrong = u->wrong || r->len > sizeof bytes;
    if (u->wrong)
        return NULL;
    struct unpack first = *u;
    const size_t count = numbers(r, r->len >= sizeof(uint32_t) ? get_u32(&first) : 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t n = get_u32(u);
        memcpy(bytes + i * sizeof n, &n, sizeof n);
    }
    get_bytes(u, bytes + count * sizeof(uint32_t), r->len - count * sizeof(uint32_t));
    return bytes;
}

/* ---- cards ---- */

void put_want(struct pack *p, uint32_t epoch, int node)
{
    put_u32(p, epoch);
    put_u32(p, (uint32_t)node);
}

void get_want(struct unpack *u, uint32_t *epoch, int *node)
{
    *epoch = get_u32(u);
    *node = (int)get_u32(u);
}

void put_card(struct pack *p, const struct card_answer *a)
{
    put_want(p, a->epoch, a->node);
    put_u32(p, (uint32_t)a->is);
    put_bytes(p, a->bytes, a->len);
}

void get_card(struct unpack *u, struct card_answer *a)
{
    get_want(u, &a->epoch, &a->node);
    uint32_t is = get_u32(u);
    a->is = (enum ku_card_state)is;
    u->wrong = u->wrong || is < KU_CARD_EMPTY || is > KU_CARD_ABSENT || u->end - u->at > KU_CARD_MAX;
    a->len = u->wrong ? 0 : (uint32_t)(u->end - u->at);
    a->bytes = u->at;
    u->at = u->wrong ? u->at : u->end;
}

/* ---- what a rank waits for ---- */

static void put_name(struct pack *p, const char name[KU_CALL_NAME])
{
    size_t n = strnlen(name, KU_CALL_NAME - 1);
    put_u32(p, (uint32_t)n);
    put_bytes(p, name, n);
}

static void get_name(struct unpack *u, char name[KU_CALL_NAME])
{
    uint32_t n = get_u32(u);
    u->wrong = u->wrong || n >= KU_CALL_NAME;
    n = u->wrong ? 0 : n;
    get_bytes(u, name, n);
    name[n] = '\0';
}

static void put_op(struct pack *p, const struct ku_seg_op *op)
{
    put_u32(p, op->kind);
    put_u32(p, op->context);
    put_u32(p, op->waited);
    put_u32(p, (uint32_t)op->grank);
    put_u32(p, (uint32_t)op->lrank);
    put_u32(p, (uint32_t)op->tag);
    put_u32(p, op->comm);
    put_u32(p, (uint32_t)op->comm_size);
    put_int(p, op->bytes);
    put_int(p, (int64_t)op->job);
    put_u32(p, (uint32_t)op->there);
    put_name(p, op->comm_name);
}

static void get_op(struct unpack *u, struct ku_seg_op *op)
{
    op->kind = (uint8_t)get_u32(u);
    op->context = (uint8_t)get_u32(u);
    op->waited = get_u32(u) != 0;
    op->grank = (int32_t)get_u32(u);
    op->lrank = (int32_t)get_u32(u);
    op->tag = (int32_t)get_u32(u);
    op->comm = get_u32(u);
    op->comm_size = (int32_t)get_u32(u);
    op->bytes = get_int(u);
    op->job = (uint64_t)get_int(u);
    op->there = (int32_t)get_u32(u);
    get_name(u, op->comm_name);
}

static void put_thread(struct pack *p, const struct ku_seg_thread *t)
{
    put_name(p, t->call);
    put_u32(p, (uint32_t)t->nops);
    put_op(p, &t->op);
}

static void get_thread(struct unpack *u, struct ku_seg_thread *t)
{
    get_name(u, t->call);
    t->nops = (int32_t)get_u32(u);
    get_op(u, &t->op);
}

static int shown(int n, int most)
{
    return n < 0 ? 0 : n < most ? n : most;
}

static void put_call(struct pack *p, const struct ku_seg_call *c)
{
    put_int(p, (int64_t)c->since);
    put_int(p, (int64_t)c->seen);
    put_u32(p, c->polls);
    put_u32(p, c->any);
    put_u32(p, c->others);
    put_u32(p, c->under_way);
    put_u32(p, c->progress);
    put_u32(p, (uint32_t)c->nops);
    put_u32(p, (uint32_t)c->nmsgs);
    put_u32(p, (uint32_t)c->nthreads);
    put_name(p, c->call);
    put_name(p, c->what);
    put_u32(p, c->comm);
    put_u32(p, (uint32_t)c->comm_size);
    put_bytes(p, c->members, sizeof c->members);
    for (int i = 0; i < shown(c->nops, KU_CALL_OPS); i++)
        put_op(p, &c->op[i]);
    for (int i = 0; i < shown(c->nmsgs, KU_CALL_MSGS); i++)
        put_op(p, &c->msg[i]);
    for (int i = 0; i < shown(c->nthreads, KU_CALL_THREADS); i++)
        put_thread(p, &c->thread[i]);
}

static void get_call(struct unpack *u, struct ku_seg_call *c)
{
    c->since = (uint64_t)get_int(u);
    c->seen = (uint64_t)get_int(u);
    c->polls = get_u32(u) != 0;
    c->any = get_u32(u) != 0;
    c->others = (uint8_t)get_u32(u);
    c->under_way = get_u32(u) != 0;
    c->progress = get_u32(u);
    c->nops = (int32_t)get_u32(u);
    c->nmsgs = (int32_t)get_u32(u);
    c->nthreads = (int32_t)get_u32(u);
    c->nthreads = c->nthreads > 0 ? c->nthreads : 0;
    c->nops = c->nops > 0 ? c->nops : 0;
    c->nmsgs = c->nmsgs > 0 ? c->nmsgs : 0;
    get_name(u, c->call);
    get_name(u, c->what);
    c->comm = get_u32(u);
    c->comm_size = (int32_t)get_u32(u);
    get_bytes(u, c->members, sizeof c->members);
    for (int i = 0; i < shown(c->nops, KU_CALL_OPS); i++)
        get_op(u, &c->op[i]);
    for (int i = 0; i < shown(c->nmsgs, KU_CALL_MSGS); i++)
        get_op(u, &c->msg[i]);
    for (int i = 0; i < shown(c->nthreads, KU_CALL_THREADS); i++)
        get_thread(u, &c->thread[i]);
}

/* Of the rank only what is asked of one on another host (hang.c); of the call not the caller's address, which is
 * only known there. */
void put_state(struct pack *p, const struct hang_state *s)
{
    put_u32(p, (uint32_t)s->pid);
    put_u32(p, s->answered);
    put_u32(p, s->others);
    put_int(p, (int64_t)s->since_age);
    put_int(p, (int64_t)s->seen_age);
    put_u32(p, s->seg.state);
    put_u32(p, (uint32_t)s->seg.pid);
    put_u32(p, s->seg.sleeping);
    put_call(p, &s->call);
}

void get_state(struct unpack *u, struct hang_state *s)
{
    memset(s, 0, sizeof *s);
    s->pid = (int32_t)get_u32(u);
    s->answered = get_u32(u);
    s->others = get_u32(u);
    s->since_age = (uint64_t)get_int(u);
    s->seen_age = (uint64_t)get_int(u);
    s->seg.state = get_u32(u);
    s->seg.pid = (int32_t)get_u32(u);
    s->seg.sleeping = get_u32(u);
    get_call(u, &s->call);
}
