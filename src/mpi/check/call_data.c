/* SPDX-License-Identifier: BSD-3-Clause */
/* call_data.c: see call_data.h. */
#include "config.h"
#include "call_data.h"
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "comm.h"
#include "mpid.h"
#include "object.h"
#include "type.h"

/* ---- Procedures ---- */

static struct MPIR_Call_traits *traits;
static uint32_t ntraits;

static bool begins_with(const char *name, const char *word)
{
    return strncmp(name, word, strlen(word)) == 0;
}

static int8_t arg_named(const struct MPID_Procedure *p, const char *name)
{
    for (int i = 0; i < p->nargs; i++)
        if (strcmp(p->args[i].name, name) == 0)
            return (int8_t)i;
    return -1;
}

static int8_t handle_of(const struct MPID_Procedure *p, enum MPID_OBJECT_KIND kind)
{
    for (int i = 0; i < p->nargs; i++)
        if (p->args[i].what == MPID_ARG_HANDLE && p->args[i].object == kind)
            return (int8_t)i;
    return -1;
}

/* Buffered sends have given their data away, the parts of partitioned ones are under way one by one, and what begins
 * a split collective is in no call and no request.  Of packing, windows, and memory for buffered sends the length
 * says how much there is, not how much is used. */
static bool is_looked_at(const char *name)
{
    static const char *const others[] = { "MPI_Pack",       "MPI_Unpack",   "MPI_Win_",    "MPI_Psend",
                                          "MPI_Precv",      "MPI_Buffer_",  "MPI_Comm_",   "MPI_Type_",
                                          "MPI_Session_",   "MPI_Free_mem", "MPI_Status_", "MPI_Reduce_local",
                                          "MPI_Get_address" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins_with(name, others[i]))
            return false;
    return true;
}

static bool synchronizes(const char *name)
{
    static const char *const names[] = { "MPI_Win_fence", "MPI_Win_complete", "MPI_Win_unlock",
                                         "MPI_Win_flush", "MPI_Win_free" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(name, names[i]))
            return true;
    return false;
}

static void look_at_args(const struct MPID_Procedure *p, struct MPIR_Call_traits *t)
{
    for (int8_t i = 0; i < p->nargs; i++) {
        const struct MPID_Arg *a = &p->args[i];
        bool origin =
            strcmp(a->name, "origin_addr") == 0; /* of accumulates it is not described as a buffer */
        t->message |= a->what == MPID_ARG_TAG;
        if ((a->what == MPID_ARG_BUFFER || origin) && (a->count >= 0 || a->datatype >= 0) &&
            t->nbuffers < MPIR_CALL_BUFFERS)
            t->buffer[t->nbuffers++] = i;
    }
}

static void look(const struct MPID_Procedure *p, struct MPIR_Call_traits *t)
{
    *t = (struct MPIR_Call_traits){ .looked = true,
                                    .request = handle_of(p, MPID_OBJECT_REQUEST),
                                    .window = handle_of(p, MPID_OBJECT_WIN),
                                    .root = arg_named(p, "root"),
                                    .synchronizes = synchronizes(p->name) };
    int8_t target = arg_named(p, "target_rank");
    t->target = target >= 0 ? target : t->synchronizes ? arg_named(p, "rank") : -1;
    look_at_args(p, t);
    for (int8_t i = 0; i < p->nargs; i++) /* MPI_Imrecv has a message, too */
        if (p->args[i].what == MPID_ARG_HANDLE && p->args[i].object == MPID_OBJECT_REQUEST &&
            p->args[i].access == MPID_ARG_OUT) {
            t->request = i;
            t->begins = true;
        }
    t->takes = t->request >= 0 && !t->begins;
    t->starts = begins_with(p->name, "MPI_Start");
    t->replaces = strstr(p->name, "_replace") != NULL;
    t->broadcasts = arg_named(p, "buffer") >= 0 && t->root >= 0;
    t->persistent = strstr(p->name, "_init") != NULL;
    if (!is_looked_at(p->name))
        t->nbuffers = 0;
    if (begins_with(p->name, "MPI_Ibsend") || begins_with(p->name, "MPI_Bsend_init"))
        t->begins = false;
}

const struct MPIR_Call_traits *MPIR_Call_traits_of(const struct MPID_Procedure *p)
{
    static const struct MPIR_Call_traits none;
    if (p->number >= ntraits) {
        uint32_t n = p->number * 2 + 64;
        struct MPIR_Call_traits *more = realloc(traits, n * sizeof *more);
        if (!more)
            return &none;
        memset(more + ntraits, 0, (n - ntraits) * sizeof *more);
        traits = more;
        ntraits = n;
    }
    if (!traits[p->number].looked)
        look(p, &traits[p->number]);
    return &traits[p->number];
}

void MPIR_Call_traits_end(void)
{
    free(traits);
    traits = NULL;
    ntraits = 0;
}

/* ---- Buffers ---- */

static const struct MPIR_Data_block *blocks_of(const struct MPIR_Data *d)
{
    return d->blocks ? d->blocks : &d->one;
}

/* Is this a message to nobody, or from nobody? */
static bool is_idle(const struct MPID_Call *call, const struct MPIR_Call_traits *t, const char *rank)
{
    int8_t arg = t->message ? arg_named(call->procedure, rank) : -1;
    return arg >= 0 && MPIR_Call_host.integer(call, arg, 0) == MPI_PROC_NULL;
}

/* Is it the root of a broadcast, which reads its data? */
static bool broadcasts(const struct MPID_Call *call, const struct MPIR_Call_traits *t)
{
    const MPIR_Comm *comm = t->broadcasts ? MPIR_Call_comm(call) : NULL;
    int64_t root = comm ? MPIR_Call_host.integer(call, t->root, 0) : 0;
    return comm && root == (comm->local ? MPI_ROOT : comm->adi.rank);
}

/* One block of elements that the arguments tell. */
static void simple(const struct MPID_Call *call, const struct MPID_Arg *a, int i, struct MPIR_Data *d)
{
    MPIR_Datatype *type = MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(call, a->datatype, 0));
    memcpy(&d->base, call->arg[i], sizeof d->base);
    d->one = (struct MPIR_Data_block){ 0, MPIR_Call_host.integer(call, a->count, 0), type };
    d->n = d->one.count > 0 && type && d->base != MPI_IN_PLACE;
}

static bool data_of(const struct MPID_Call *call, int i, struct MPIR_Data *d)
{
    const struct MPID_Arg *a = &call->procedure->args[i], *args = call->procedure->args;
    bool plain = a->what == MPID_ARG_BUFFER && MPIR_Call_use(call, i) == 0 && a->count >= 0 &&
                 a->datatype >= 0 && args[a->count].access == MPID_ARG_VALUE &&
                 args[a->datatype].access == MPID_ARG_VALUE;
    *d = (struct MPIR_Data){ 0 };
    if (plain)
        simple(call, a, i, d);
    else
        MPIR_Stage_data((const struct MPIR_Call *)call, i, d); /* its first member */
    return d->n > 0;
}

/* False: it has no bytes. */
static bool measure(struct MPIR_Call_buffer *b)
{
    const struct MPIR_Data_block *k = blocks_of(&b->data);
    bool whole = b->data.n == 1 && b->data.base && (!k->type || k->type->adi.is_contig);
    b->bytes = 0;
    for (int64_t i = 0; i < b->data.n; i++) {
        int64_t bytes;
        if (__builtin_mul_overflow(k[i].count, k[i].type ? k[i].type->adi.size : 1, &bytes) ||
            __builtin_add_overflow(b->bytes, bytes, &b->bytes))
            return false;
    }
    b->from = b->to = 0;
    if (whole) {
        b->from = (uintptr_t)b->data.base + (uintptr_t)k->at;
        b->to = b->from + (uintptr_t)b->bytes;
    }
    return b->bytes > 0;
}

int MPIR_Call_buffers(const struct MPID_Call *call, struct MPIR_Call_buffer b[MPIR_CALL_BUFFERS])
{
    const struct MPIR_Call_traits *t = MPIR_Call_traits_of(call->procedure);
    bool to_nobody = is_idle(call, t, "dest"), from_nobody = is_idle(call, t, "source");
    int n = 0;
    for (int i = 0; i < t->nbuffers; i++) {
        const struct MPID_Arg *a = &call->procedure->args[t->buffer[i]];
        bool out = a->what == MPID_ARG_BUFFER && a->access != MPID_ARG_IN,
             written = out && !from_nobody && !broadcasts(call, t);
        if (((!out || t->replaces) && to_nobody && !written) || (out && !t->replaces && from_nobody) ||
            !data_of(call, t->buffer[i], &b[n].data))
            continue;
        b[n].name = a->name;
        b[n].written = written;
        if (measure(&b[n]))
            n++;
        else
            MPIR_Call_buffer_forget(&b[n]);
    }
    return n;
}

void MPIR_Call_buffer_forget(struct MPIR_Call_buffer *b)
{
    free(b->data.blocks);
}

void MPIR_Call_buffer_keep(struct MPIR_Call_buffer *b)
{
    for (int64_t i = 0; i < b->data.n; i++)
        if (blocks_of(&b->data)[i].type)
            MPIR_Object_ref(blocks_of(&b->data)[i].type);
}

void MPIR_Call_buffer_let_go(struct MPIR_Call_buffer *b)
{
    for (int64_t i = 0; i < b->data.n; i++)
        if (blocks_of(&b->data)[i].type)
            MPIR_Datatype_release(blocks_of(&b->data)[i].type);
    free(b->data.blocks);
}

/* ---- Digests ---- */

struct summing {
    const char *base;
    uint64_t sum;
};

static bool sum_run(void *arg, int64_t at, int64_t bytes)
{
    struct summing *s = arg;
    const unsigned char *p = (const unsigned char *)s->base + at;
    uint64_t sum = s->sum;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; bytes > 0; bytes--, p++)
        sum = (sum ^ *p) * 0x100000001b3u;
    s->sum = sum;
    return true;
}

/* Is it memory that the processor reaches? */
static bool is_near(const char *at)
{
    struct MPIR_Memory_block block;
    const struct MPIR_Memory_kind *kind = MPIR_Memory_at(at, &block);
    return !kind || kind->reachable;
}

uint64_t MPIR_Call_buffer_sum(const struct MPIR_Call_buffer *b)
{
    struct summing s = { b->data.base, 1469598103934665603u };
    for (int64_t i = 0; i < b->data.n; i++) {
        const struct MPIR_Data_block *k = &blocks_of(&b->data)[i];
        s.base = b->data.base + k->at;
        if (!is_near(s.base + (k->type ? k->type->adi.true_lb : 0)))
            continue;
        if (k->type)
            MPID_Layout_runs(&k->type->adi, 0, k->count * k->type->adi.size, sum_run, &s);
        else
            sum_run(&s, 0, k->count);
    }
    return s.sum;
}
