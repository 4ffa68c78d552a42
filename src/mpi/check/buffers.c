/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c: what a program does with the buffers of operations that are under way (see buffers.h).
 *
 * MPI 5.0, "Communication Initiation": from the call that begins it to the one that completes it a send's buffer
 * may be read, not written, and a receive's buffer neither; the same holds for collectives, one-sided calls and
 * files.  So when an operation begins the data that it reads are added up, and again when it is complete: another
 * sum tells that they were changed.  And no buffer that is written may overlap with another one that is in use, also
 * of the same call.  Of data with gaps only the sum is taken.
 *
 * Operations under way are found by their requests in a hash (those without one are a list), and their buffers by
 * their addresses in two trees, of those that are read and of those that are written, so that thousands of them cost
 * little.  Persistent ones are in the hash as long as they live, and in the trees while they are active. */
#include "config.h"
#include "buffers.h"
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "call_data.h"
#include "object.h"
#include "request.h"
#include "tell.h"
#include "type.h"

/* A buffer of a call. */
struct buffer {
    struct MPIR_Call_buffer is;
    uint64_t sum; /* of what is read */
    /* In the tree: a treap by its first address. */
    struct buffer *left, *right;
    uintptr_t most; /* the last address of this one and of those below */
    uint32_t weight;
    const struct begun *of;
};

/* A call that has begun an operation, or made a persistent one. */
struct begun {
    struct begun *next;
    uint64_t request, caller;
    const char *call;
    bool persistent, active;
    uint64_t
        object; /* a window, whose synchronization completes it (also one that has a request), or a file, of a
                      * split collective; 0: neither */
    int32_t target;
    int n, narrays;
    struct buffer buffer[MPIR_CALL_BUFFERS];
    struct MPIR_Call_array array[MPIR_CALL_ARRAYS];
};

static struct begun **table; /* [1 << table_bits], by request */
static uint32_t table_bits;
static int64_t nbegun, nactive, npersistent, nwindows;
static struct begun *others;     /* without a request */
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
    return a->is.from != b->is.from ? a->is.from < b->is.from : a < b;
}

static struct buffer *tree_set(struct buffer *t)
{
    t->most = t->is.to;
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
    struct buffer **tree = &in_use[b->is.written], *low, *high;
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
    in_use[b->is.written] = tree_without(in_use[b->is.written], b);
}

/* ---- Buffers ---- */

static void tell_overlap(const struct begun *o, const struct buffer *b, const struct buffer *u)
{
    const struct MPIR_Call_buffer *mine = &b->is, *its = &u->is;
    uintptr_t from = mine->from > its->from ? mine->from : its->from,
              to = mine->to < its->to ? mine->to : its->to;
    MPIR_Check_tell(KU_FAULT_OVERLAP, o->call, mine->name, o->caller, u->of->caller,
                    "bytes %lld to %lld, which it %s, are in use by %s, " MPID_PLACE ", which %s them",
                    (long long)(from - mine->from), (long long)(to - 1 - mine->from),
                    mine->written ? "writes" : "reads", u->of->call, (unsigned long long)u->of->caller,
                    its->written ? "writes" : "reads");
}

static void look_for_overlap(const struct begun *o, const struct buffer *b, const struct buffer *tree)
{
    if (!tree || tree->most <= b->is.from)
        return;
    look_for_overlap(o, b, tree->left);
    if (tree->is.from >= b->is.to)
        return;
    if (tree->is.to > b->is.from)
        tell_overlap(o, b, tree);
    look_for_overlap(o, b, tree->right);
}

/* Two buffers of one call. */
static void look_within(const struct begun *o)
{
    for (int i = 1; i < o->n; i++)
        for (int k = 0; k < i; k++) {
            const struct MPIR_Call_buffer *a = &o->buffer[k].is, *b = &o->buffer[i].is;
            uintptr_t from = a->from > b->from ? a->from : b->from, to = a->to < b->to ? a->to : b->to;
            if (from >= to || !(a->written || b->written))
                continue;
            MPIR_Check_tell(KU_FAULT_OVERLAP, o->call, b->name, o->caller, 0,
                            "bytes %lld to %lld, which it %s, are those of %s, which it %s, too",
                            (long long)(from - b->from), (long long)(to - 1 - b->from),
                            b->written ? "writes" : "reads", a->name, a->written ? "writes" : "reads");
        }
}

/* Those of others that are in use. */
static void look_around(const struct begun *o)
{
    for (const struct buffer *b = o->buffer; b < o->buffer + o->n; b++) {
        if (b->is.from == b->is.to)
            continue;
        look_for_overlap(o, b, in_use[true]);
        if (b->is.written)
            look_for_overlap(o, b, in_use[false]);
    }
}

/* ---- An operation begins, and ends ---- */

static void activate(struct begun *o)
{
    o->active = true;
    nactive++;
    for (struct buffer *b = o->buffer; b < o->buffer + o->n; b++) {
        b->sum = b->is.written ? 0 : MPIR_Call_buffer_sum(&b->is);
        if (b->is.from < b->is.to)
            tree_add(b);
    }
}

static void look_at_arrays(const struct begun *o, const char *by)
{
    for (const struct MPIR_Call_array *a = o->array; a < o->array + o->narrays; a++) {
        uint64_t done = MPIR_Call_array_is_kept(a) ? 0 : MPIR_Call_caller();
        if (done)
            MPIR_Check_tell(KU_FAULT_ARRAY_CHANGED, o->call, a->name, o->caller, done,
                            "its %lld bytes were changed before it was complete (%s, " MPID_PLACE ")",
                            (long long)a->bytes, by, (unsigned long long)done);
    }
}

/* by: the call that has completed it; NULL: it does not tell that it is complete. */
static void deactivate(struct begun *o, const char *by)
{
    if (!o->active)
        return;
    o->active = false;
    nactive--;
    if (by)
        look_at_arrays(o, by);
    for (struct buffer *b = o->buffer; b < o->buffer + o->n; b++) {
        bool gone = by && !MPIR_Call_buffer_is_there(&b->is),
             changed = by && !gone && !b->is.written && MPIR_Call_buffer_sum(&b->is) != b->sum;
        uint64_t done = gone || changed ? MPIR_Call_caller() : 0;
        if (b->is.from < b->is.to)
            tree_remove(b);
        if (done)
            MPIR_Check_tell(KU_FAULT_SEND_CHANGED, o->call, b->is.name, o->caller, done,
                            "its %lld bytes were %s before it was complete (%s, " MPID_PLACE ")",
                            (long long)b->is.bytes, gone ? "given back to the system" : "changed", by,
                            (unsigned long long)done);
    }
}

static void drop(struct begun **at, const char *by)
{
    struct begun *o = *at;
    deactivate(o, by);
    *at = o->next;
    nbegun--;
    npersistent -= o->persistent;
    nwindows -= o->request != 0 && o->object != 0;
    for (int i = 0; i < o->n; i++)
        MPIR_Call_buffer_let_go(&o->buffer[i].is);
    free(o);
}

/* The buffers of a call, as it is entered. */
static void begun_of(const struct MPID_Call *call, struct begun *o)
{
    struct MPIR_Call_buffer is[MPIR_CALL_BUFFERS];
    *o = (struct begun){ .call = call->procedure->name, .caller = MPIR_Call_caller() };
    o->n = MPIR_Call_buffers(call, is);
    for (int i = 0; i < o->n; i++)
        o->buffer[i].is = is[i];
}

/* ---- Listening ---- */

static void entered(void *self, const struct MPID_Call *call)
{
    const struct MPIR_Call_traits *t = MPIR_Call_traits_of(call->procedure);
    struct begun now;
    (void)self;
    if (t->nbuffers == 0 || t->persistent || (nactive == 0 && t->nbuffers < 2))
        return;
    begun_of(call, &now);
    if (now.n > 1)
        look_within(&now);
    look_around(&now);
    for (int i = 0; i < now.n; i++)
        MPIR_Call_buffer_forget(&now.buffer[i].is);
}

/* It stays under way after the call.  NULL: it has no data, or there is no memory. */
static struct begun *stay(const struct MPID_Call *call, const struct MPIR_Call_traits *t, struct begun **at)
{
    struct begun now, *o;
    begun_of(call, &now);
    if (now.n == 0 || !(o = malloc(sizeof *o))) {
        for (int i = 0; i < now.n; i++)
            MPIR_Call_buffer_forget(&now.buffer[i].is);
        return NULL;
    }
    *o = now;
    o->next = *at;
    o->object = t->object >= 0 ? MPIR_Call_host.handle(call, t->object, 0) : 0;
    o->target = t->target >= 0 ? (int32_t)MPIR_Call_host.integer(call, t->target, 0) : -1;
    o->narrays = t->arrays ? MPIR_Call_arrays(call, o->array) : 0;
    for (int i = 0; i < o->n; i++) {
        MPIR_Call_buffer_keep(&o->buffer[i].is);
        o->buffer[i].of = o;
    }
    nbegun++;
    return *at = o;
}

/* It has made a request. */
static void begin(const struct MPID_Call *call, const struct MPIR_Call_traits *t)
{
    uint64_t request = MPIR_Call_host.handle(call, t->request, 0);
    if (request < MPIR_PREDEFINED_MAX || !table_grow())
        return;
    struct begun *o = stay(call, t, bucket_of(table, table_bits, request));
    if (!o)
        return;
    o->request = request;
    o->persistent = t->persistent;
    npersistent += o->persistent;
    nwindows += o->object != 0;
    if (!o->persistent)
        activate(o);
}

/* It has none. */
static void begin_alone(const struct MPID_Call *call, const struct MPIR_Call_traits *t)
{
    struct begun *o = stay(call, t, &others);
    if (o)
        activate(o);
}

/* Persistent ones that are started, or complete. */
static void look_at_requests(const struct MPID_Call *call, const struct MPIR_Call_traits *t, int error)
{
    for (int64_t i = 0, n = MPIR_Call_host.length(call, t->request); i < n; i++) {
        uint64_t request = MPIR_Call_host.handle(call, t->request, i);
        struct begun **at = begun_at(request), *o = at ? *at : NULL;
        if (!o || !o->persistent)
            continue;
        if (t->starts && !error && !o->active) {
            look_around(o);
            activate(o);
        } else if (!t->starts && o->active &&
                   !MPIR_Request_is_active(MPIR_Object_of(MPIR_KIND_REQUEST, request))) {
            deactivate(o, call->procedure->name);
        }
    }
}

/* What was begun in the window, or in the file, is complete here, with or without a request. */
static void look_at_object(const struct MPID_Call *call, const struct MPIR_Call_traits *t)
{
    uint64_t object = MPIR_Call_host.handle(call, t->object, 0);
    int32_t target = t->target >= 0 ? (int32_t)MPIR_Call_host.integer(call, t->target, 0) : -1;
    for (struct begun **at = &others, *o; (o = *at);)
        if (o->object == object && (target < 0 || target == o->target))
            drop(at, call->procedure->name);
        else
            at = &o->next;
    for (uint32_t i = 0; nwindows > 0 && i < 1u << table_bits; i++)
        for (struct begun *o = table[i]; o; o = o->next)
            if (o->object == object && (target < 0 || target == o->target))
                deactivate(o, call->procedure->name);
}

static void left(void *self, const struct MPID_Call *call, int error)
{
    const struct MPIR_Call_traits *t = MPIR_Call_traits_of(call->procedure);
    (void)self;
    if (t->begins && !error && t->nbuffers > 0)
        begin(call, t);
    else if (t->stays && !error && t->nbuffers > 0)
        begin_alone(call, t);
    else if (t->takes && npersistent > 0)
        look_at_requests(call, t, error);
    else if (t->ends && (others || nwindows > 0)) /* also of a synchronization that tells an error */
        look_at_object(call, t);
}

/* A request is done; MPI_Request_free tells nothing of what it stood for. */
static void freed(void *self, const struct MPID_Object *object)
{
    struct begun **at = object->kind == MPID_OBJECT_REQUEST ? begun_at(object->handle) : NULL;
    (void)self;
    if (at)
        drop(at, strcmp(object->call, "MPI_Request_free") != 0 ? object->call : NULL);
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = entered,
                                               .call_left = left,
                                               .object_freed = freed };

void MPIR_Buffers_begin(void)
{
    wanted = (MPIR_Check_wants(KU_FAULT_SEND_CHANGED) || MPIR_Check_wants(KU_FAULT_OVERLAP) ||
              MPIR_Check_wants(KU_FAULT_ARRAY_CHANGED)) &&
             MPID_Listener_add(&listener) == 0;
}

void MPIR_Buffers_end(void)
{
    if (wanted)
        MPID_Listener_remove(&listener);
    wanted = false;
    for (uint32_t i = 0; table && i < 1u << table_bits; i++)
        while (table[i])
            drop(&table[i], NULL);
    while (others)
        drop(&others, NULL);
    free(table);
    table = NULL;
}
