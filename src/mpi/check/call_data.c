/* SPDX-License-Identifier: BSD-3-Clause */
/* call_data.c: see call_data.h. */
#define _GNU_SOURCE
#include "config.h"
#include "call_data.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "calls.h"
#include "comm.h"
#include "mpid.h"
#include "object.h"
#include "type.h"

enum { PAGE = 4096, LARGE = 1 << 16 /* allocators give memory of so many bytes back to the system */ };

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

/* Buffered sends have given their data away, and the parts of partitioned ones are under way one by one.  Of packing,
 * windows, and memory for buffered sends the length says how much there is, not how much is used. */
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

static bool ends_in(const char *name, const char *word)
{
    size_t n = strlen(name), m = strlen(word);
    return n >= m && strcmp(name + n - m, word) == 0;
}

static bool synchronizes(const char *name)
{
    static const char *const names[] = { "MPI_Win_fence", "MPI_Win_complete", "MPI_Win_unlock",
                                         "MPI_Win_flush" };
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
        t->arrays |= a->what == MPID_ARG_INTEGER && a->access == MPID_ARG_IN && a->length != MPID_ARG_ONE;
        if ((a->what == MPID_ARG_BUFFER || origin) && (a->count >= 0 || a->datatype >= 0) &&
            t->nbuffers < MPIR_CALL_BUFFERS)
            t->buffer[t->nbuffers++] = i;
    }
}

static void look(const struct MPID_Procedure *p, struct MPIR_Call_traits *t)
{
    *t = (struct MPIR_Call_traits){ .looked = true,
                                    .request = handle_of(p, MPID_OBJECT_REQUEST),
                                    .object = handle_of(p, MPID_OBJECT_WIN),
                                    .root = arg_named(p, "root") };
    int8_t target = arg_named(p, "target_rank");
    bool syncs = synchronizes(p->name),
         splits = begins_with(p->name, "MPI_File_") && (strstr(p->name, "_begin") || strstr(p->name, "_end"));
    t->target = target >= 0 ? target : syncs ? arg_named(p, "rank") : -1;
    if (splits)
        t->object = handle_of(p, MPID_OBJECT_FILE);
    t->ends = syncs || (splits && ends_in(p->name, "_end"));
    look_at_args(p, t);
    for (int8_t i = 0; i < p->nargs; i++) /* MPI_Imrecv has a message, too */
        if (p->args[i].what == MPID_ARG_HANDLE && p->args[i].object == MPID_OBJECT_REQUEST &&
            p->args[i].access == MPID_ARG_OUT) {
            t->request = i;
            t->begins = true;
        }
    t->takes = t->request >= 0 && !t->begins;
    t->stays = !t->begins && t->object >= 0 && !t->ends;
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

static bool is_nobody(const struct MPID_Call *call, int8_t rank)
{
    return rank >= 0 && MPIR_Call_host.integer(call, rank, 0) == MPI_PROC_NULL;
}

/* Is this a message to nobody, or from nobody? */
static bool is_idle(const struct MPID_Call *call, const struct MPIR_Call_traits *t, const char *rank)
{
    return t->message && is_nobody(call, arg_named(call->procedure, rank));
}

static bool is_root(const struct MPID_Call *call, const struct MPIR_Call_traits *t)
{
    const MPIR_Comm *comm = t->root >= 0 ? MPIR_Call_comm(call) : NULL;
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
    bool whole = b->data.n == 1 && (!k->type || k->type->adi.is_contig);
    b->bytes = 0;
    for (int64_t i = 0; i < b->data.n; i++) {
        int64_t bytes;
        if ((uintptr_t)b->data.base + (uintptr_t)(k[i].at + (k[i].type ? k[i].type->adi.true_lb : 0)) < PAGE)
            return false; /* the call tells that this is no address */
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
    for (int i = 0; i < t->nbuffers && !is_nobody(call, t->target); i++) {
        const struct MPID_Arg *a = &call->procedure->args[t->buffer[i]];
        bool out = a->what == MPID_ARG_BUFFER && a->access != MPID_ARG_IN,
             written = out && !from_nobody && !(t->broadcasts && is_root(call, t));
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

bool MPIR_Call_buffer_is_there(const struct MPIR_Call_buffer *b)
{
    char byte;
    if (b->to - b->from < LARGE || !is_near((const char *)b->from))
        return true;
    for (int i = 0; i < 2; i++) {
        struct iovec here = { &byte, 1 }, there = { (void *)(i == 0 ? b->from : b->to - 1), 1 };
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT)
            return false;
    }
    return true;
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

/* ---- Arrays ---- */

/* Memory that may be gone is read by the system, which tells; false: it is. */
static bool sum_of_array(const struct MPIR_Call_array *a, uint64_t *sum)
{
    char part[1024];
    struct summing s = { part, 1469598103934665603u };
    for (size_t at = 0, n; at < a->bytes; at += n) {
        n = a->bytes - at < sizeof part ? a->bytes - at : sizeof part;
        struct iovec here = { part, n }, there = { (void *)(uintptr_t)(a->at + at), n };
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)n)
            return false;
        sum_run(&s, 0, (int64_t)n);
    }
    *sum = s.sum;
    return true;
}

/* What is sent has none where it is received in place; those with a root have them there alone. */
static bool has_arrays(const struct MPID_Call *call, const struct MPIR_Call_traits *t, const char *name)
{
    int8_t in = arg_named(call->procedure, "sendbuf");
    const void *at = NULL;
    if (in >= 0)
        memcpy(&at, call->arg[in], sizeof at);
    return (t->root < 0 || is_root(call, t)) && !(name[0] == 's' && at == MPI_IN_PLACE && t->root < 0);
}

int MPIR_Call_arrays(const struct MPID_Call *call, struct MPIR_Call_array a[MPIR_CALL_ARRAYS])
{
    const struct MPIR_Call_traits *t = MPIR_Call_traits_of(call->procedure);
    int n = 0;
    for (int i = 0; i < call->procedure->nargs && n < MPIR_CALL_ARRAYS; i++) {
        const struct MPID_Arg *arg = &call->procedure->args[i];
        int64_t length =
            arg->what == MPID_ARG_INTEGER && arg->access == MPID_ARG_IN ? MPIR_Call_host.length(call, i) : 0;
        if (length <= 0 || !has_arrays(call, t, arg->name))
            continue;
        a[n] = (struct MPIR_Call_array){ .name = arg->name, .bytes = (size_t)length * arg->size };
        memcpy(&a[n].at, call->arg[i], sizeof a[n].at);
        n += sum_of_array(&a[n], &a[n].sum); /* where the system does not let it, nothing is told */
    }
    return n;
}

bool MPIR_Call_array_is_kept(const struct MPIR_Call_array *a)
{
    uint64_t sum;
    return sum_of_array(a, &sum) && sum == a->sum;
}
