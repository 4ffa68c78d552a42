/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c: what a program does with the buffers of sends and receives that are under way (see buffers.h).
 *
 * MPI 5.0, "Communication Initiation": from the call that begins it to the one that completes it a send's buffer
 * may be read, not written, and a receive's buffer neither.  So when a send begins its data are added up, and again
 * when it is complete: another sum tells that they were changed.  And no buffer that is written may overlap with
 * another one that is in use.  Of types with gaps only the sum is taken.
 *
 * Operations under way are found by their requests in a hash, and their buffers by their addresses in two trees, of
 * those that are read and of those that are written, so that thousands of them cost little. */
#include "config.h"
#include "buffers.h"
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "object.h"
#include "stage.h"
#include "tell.h"
#include "type.h"

enum { BUFFERS = 2 /* of a call */ };

/* A buffer of a call. */
struct buffer {
    char *base;
    int64_t count;
    MPIR_Datatype *type;
    uintptr_t from, to; /* the bytes, where there are no gaps; equal: they are not looked at */
    const char *name;   /* of the argument */
    bool written;       /* by MPI */
    uint64_t sum;       /* of what is sent */
    /* In the tree: a treap by `from`. */
    struct buffer *left, *right;
    uintptr_t most; /* the last `to` of this one and of those below */
    uint32_t weight;
    const struct begun *of;
};

/* A call that has begun an operation. */
struct begun {
    struct begun *next;
    uint64_t request, caller;
    const char *call;
    int n;
    struct buffer buffer[BUFFERS];
};

static struct begun **table; /* [1 << table_bits], by request */
static uint32_t table_bits;
static int64_t nbegun;
static struct buffer *in_use[2]; /* those that are read, those that are written */
static bool wanted;

/* ---- Operations under way ---- */

static struct begun **bucket_of(struct begun **of, uint32_t bits, uint64_t request)
{
    return &of[request * 0x9e3779b97f4a7c15u >> (64 - bits)];
}

/* NULL: there is none of that request. */
static struct begun **begun_at(uint64_t request)
{
    struct begun **at = table ? bucket_of(table, table_bits, request) : NULL;
    while (at && *at && (*at)->request != request)
        at = &(*at)->next;
    return at && *at ? at : NULL;
}

/* Without memory the table stays as it is; false: there is none. */
static bool table_grow(void)
{
    uint32_t bits = table ? table_bits + 2 : 8;
    struct begun **more =
        nbegun < (table ? 1 << table_bits : 0) ? NULL : calloc((size_t)1 << bits, sizeof *more);
    if (!more)
        return table != NULL;
    for (uint32_t i = 0; table && i < 1u << table_bits; i++)
        for (struct begun *o = table[i], *next; o; o = next) {
            struct begun **at = bucket_of(more, bits, o->request);
            next = o->next;
            o->next = *at;
            *at = o;
        }
    free(table);
    table = more;
    table_bits = bits;
    return true;
}

/* ---- Their buffers ---- */

static bool is_before(const struct buffer *a, const struct buffer *b)
{
    return a->from != b->from ? a->from < b->from : a < b;
}

static struct buffer *tree_set(struct buffer *t)
{
    t->most = t->to;
    if (t->left && t->left->most > t->most)
        t->most = t->left->most;
    if (t->right && t->right->most > t->most)
        t->most = t->right->most;
    return t;
}

/* Those before b, and the others. */
static void tree_split(struct buffer *t, const struct buffer *b, struct buffer **low, struct buffer **high)
{
    if (!t) {
        *low = *high = NULL;
    } else if (is_before(t, b)) {
        tree_split(t->right, b, &t->right, high);
        *low = tree_set(t);
    } else {
        tree_split(t->left, b, low, &t->left);
        *high = tree_set(t);
    }
}

static struct buffer *tree_join(struct buffer *low, struct buffer *high)
{
    if (!low || !high)
        return low ? low : high;
    if (low->weight > high->weight) {
        low->right = tree_join(low->right, high);
        return tree_set(low);
    }
    high->left = tree_join(low, high->left);
    return tree_set(high);
}

static void tree_add(struct buffer *b)
{
    static uint32_t weight = 1;
    struct buffer **tree = &in_use[b->written], *low, *high;
    weight = weight * 1664525u + 1013904223u;
    b->weight = weight;
    b->left = b->right = NULL;
    tree_split(*tree, b, &low, &high);
    *tree = tree_join(tree_join(low, tree_set(b)), high);
}

static struct buffer *tree_without(struct buffer *t, const struct buffer *b)
{
    if (t == b)
        return tree_join(t->left, t->right);
    if (is_before(b, t))
        t->left = tree_without(t->left, b);
    else
        t->right = tree_without(t->right, b);
    return tree_set(t);
}

static void tree_remove(struct buffer *b)
{
    in_use[b->written] = tree_without(in_use[b->written], b);
}

/* ---- Buffers ---- */

static bool add_run(void *arg, int64_t at, int64_t bytes)
{
    struct {
        const char *base;
        uint64_t sum;
    } *s = arg;
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

static uint64_t sum_of(const struct buffer *b)
{
    struct {
        const char *base;
        uint64_t sum;
    } s = { b->base, 1469598103934665603u };
    int64_t bytes = b->count * b->type->adi.size;
    struct MPIR_Memory_block block;
    const struct MPIR_Memory_kind *kind = MPIR_Memory_at(b->base + b->type->adi.true_lb, &block);
    bool far = kind && !kind->reachable; /* not this processor's to look at */
    if (bytes > 0 && !far)
        MPID_Layout_runs(&b->type->adi, 0, bytes, add_run, &s);
    return s.sum;
}

/* Argument i of the call, if that is data of a send or receive.  False: it is not, or there are none. */
static bool buffer_of(const struct MPID_Call *call, int i, struct buffer *b)
{
    const struct MPID_Arg *a = &call->procedure->args[i], *args = call->procedure->args;
    if (a->what != MPID_ARG_BUFFER || a->count < 0 || a->datatype < 0 ||
        args[a->count].access != MPID_ARG_VALUE || args[a->datatype].access != MPID_ARG_VALUE)
        return false;
    *b = (struct buffer){ .name = a->name, .written = a->access != MPID_ARG_IN };
    memcpy(&b->base, call->arg[i], sizeof b->base);
    b->count = MPIR_Call_host.integer(call, a->count, 0);
    b->type = MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(call, a->datatype, 0));
    int64_t bytes;
    if (b->count <= 0 || !b->type || __builtin_mul_overflow(b->count, b->type->adi.size, &bytes) ||
        bytes == 0)
        return false;
    if (b->type->adi.is_contig && b->base) {
        b->from = (uintptr_t)b->base;
        b->to = b->from + (uintptr_t)bytes;
    }
    return true;
}

/* Is it a send or a receive, of a process that is there?  Only these have tags. */
static bool is_message(const struct MPID_Call *call)
{
    bool tagged = false;
    for (int i = 0; i < call->procedure->nargs; i++) {
        const struct MPID_Arg *a = &call->procedure->args[i];
        tagged |= a->what == MPID_ARG_TAG;
        if (a->what == MPID_ARG_RANK && MPIR_Call_host.integer(call, i, 0) == MPI_PROC_NULL)
            return false;
    }
    return tagged && !strstr(call->procedure->name, "_init");
}

static int buffers_of(const struct MPID_Call *call, struct buffer b[BUFFERS])
{
    int n = 0;
    for (int i = 0; i < call->procedure->nargs && n < BUFFERS; i++)
        n += buffer_of(call, i, &b[n]);
    return n;
}

static void tell_overlap(const struct MPID_Call *call, const struct buffer *b, const struct buffer *u)
{
    uintptr_t from = b->from > u->from ? b->from : u->from, to = b->to < u->to ? b->to : u->to;
    MPIR_Check_tell(KU_FAULT_OVERLAP, call->procedure->name, b->name, MPIR_Call_caller(), u->of->caller,
                    "bytes %lld to %lld, which it %s, are in use by %s, " MPID_PLACE ", which %s them",
                    (long long)(from - b->from), (long long)(to - 1 - b->from),
                    b->written ? "writes" : "reads", u->of->call, (unsigned long long)u->of->caller,
                    u->written ? "writes" : "reads");
}

static void look_for_overlap(const struct MPID_Call *call, const struct buffer *b, const struct buffer *tree)
{
    if (!tree || tree->most <= b->from)
        return;
    look_for_overlap(call, b, tree->left);
    if (tree->from >= b->to)
        return;
    if (tree->to > b->from)
        tell_overlap(call, b, tree);
    look_for_overlap(call, b, tree->right);
}

/* ---- Listening ---- */

static void entered(void *self, const struct MPID_Call *call)
{
    struct buffer b[BUFFERS];
    (void)self;
    if (nbegun == 0 || !is_message(call))
        return;
    for (int i = 0, n = buffers_of(call, b); i < n; i++) {
        if (b[i].from == b[i].to)
            continue;
        look_for_overlap(call, &b[i], in_use[true]);
        if (b[i].written)
            look_for_overlap(call, &b[i], in_use[false]);
    }
}

/* The request that the call has made; 0: none. */
static uint64_t request_of(const struct MPID_Call *call)
{
    for (int i = 0; i < call->procedure->nargs; i++) {
        const struct MPID_Arg *a = &call->procedure->args[i];
        if (a->what == MPID_ARG_HANDLE && a->object == MPID_OBJECT_REQUEST && a->access == MPID_ARG_OUT)
            return MPIR_Call_host.handle(call, i, 0);
    }
    return 0;
}

/* Buffered sends have given their data away. */
static void left(void *self, const struct MPID_Call *call, int error)
{
    struct buffer b[BUFFERS];
    (void)self;
    if (error || !is_message(call) || strncmp(call->procedure->name, "MPI_Ib", 6) == 0)
        return;
    uint64_t request = request_of(call);
    int n = request >= MPIR_PREDEFINED_MAX ? buffers_of(call, b) : 0;
    struct begun *o = n > 0 && table_grow() ? malloc(sizeof *o) : NULL;
    if (!o)
        return;
    struct begun **at = bucket_of(table, table_bits, request);
    *o = (struct begun){
        .next = *at, .request = request, .caller = MPIR_Call_caller(), .call = call->procedure->name, .n = n
    };
    for (int i = 0; i < n; i++) {
        MPIR_Object_ref(b[i].type);
        b[i].sum = b[i].written ? 0 : sum_of(&b[i]);
        b[i].of = o;
        o->buffer[i] = b[i];
        if (b[i].from < b[i].to)
            tree_add(&o->buffer[i]);
    }
    *at = o;
    nbegun++;
}

static void drop(struct begun **at)
{
    struct begun *o = *at;
    *at = o->next;
    nbegun--;
    for (int i = 0; i < o->n; i++) {
        if (o->buffer[i].from < o->buffer[i].to)
            tree_remove(&o->buffer[i]);
        MPIR_Datatype_release(o->buffer[i].type);
    }
    free(o);
}

/* A request is done; MPI_Request_free tells nothing of what it stood for. */
static void freed(void *self, const struct MPID_Object *object)
{
    struct begun **at = object->kind == MPID_OBJECT_REQUEST ? begun_at(object->handle) : NULL;
    (void)self;
    if (!at)
        return;
    const struct begun *o = *at;
    for (int i = 0; i < o->n && strcmp(object->call, "MPI_Request_free") != 0; i++) {
        const struct buffer *b = &o->buffer[i];
        uint64_t done = !b->written && sum_of(b) != b->sum ? MPIR_Call_caller() : 0;
        if (done)
            MPIR_Check_tell(KU_FAULT_SEND_CHANGED, o->call, b->name, o->caller, done,
                            "its %lld bytes were changed before it was complete (%s, " MPID_PLACE ")",
                            (long long)(b->count * b->type->adi.size), object->call,
                            (unsigned long long)done);
    }
    drop(at);
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = entered,
                                               .call_left = left,
                                               .object_freed = freed };

void MPIR_Buffers_begin(void)
{
    wanted = (MPIR_Check_wants(KU_FAULT_SEND_CHANGED) || MPIR_Check_wants(KU_FAULT_OVERLAP)) &&
             MPID_Listener_add(&listener) == 0;
}

void MPIR_Buffers_end(void)
{
    if (wanted)
        MPID_Listener_remove(&listener);
    wanted = false;
    for (uint32_t i = 0; table && i < 1u << table_bits; i++)
        while (table[i])
            drop(&table[i]);
    free(table);
    table = NULL;
}
