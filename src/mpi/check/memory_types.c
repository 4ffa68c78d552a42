/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_types.c: is the memory of a call's buffers of the types that the datatypes say, and is there as much of it?
 *
 * TypeART tells what memory is (typeart.h).  Each run of equal numbers in a buffer, in whatever way its datatype was
 * made, is compared with what lies there: numbers of the same size and kind; whether integers have a sign does not
 * count, as not each release tells it.  MPI_BYTE and MPI_PACKED fit any memory, but there has to be as much of it.  Of
 * memory that is not known nothing is said.  A member of a struct at its beginning and the struct itself need not be
 * told apart, as the numbers in them are compared. */
#include "config.h"
#include "memory_types.h"
#include <string.h>
#include "call_data.h"
#include "calls.h"
#include "check_words.h"
#include "tell.h"
#include "type.h"
#include "typeart.h"

enum { RUNS = 4096 /* of a buffer, at most */ };

/* A buffer that is looked at. */
struct look {
    const struct MPID_Call *call;
    const struct MPIR_Call_buffer *buffer;
    const char *from; /* the address that its block's runs are counted from */
    struct MPIR_Typeart_block block;
    bool known;
    int runs;
};

static void put_block(FILE *out, const struct MPIR_Typeart_block *b)
{
    uint64_t at = MPIR_Typeart_allocated(b);
    fprintf(out, "%lld %s", (long long)b->count, MPIR_Typeart_name(b->type));
    if (at)
        fprintf(out, ", allocated at " MPID_PLACE, (unsigned long long)at);
}

static void tell(const struct look *l, struct MPIR_Words *w, enum ku_fault_kind kind)
{
    MPIR_Words_tell(w, kind, l->call->procedure->name, l->buffer->name, MPIR_Call_caller(),
                    MPIR_Typeart_allocated(&l->block));
}

static void tell_short(const struct look *l, const char *at, int64_t bytes)
{
    struct MPIR_Words w;
    const char *end = l->block.base + l->block.count * l->block.size;
    if (!MPIR_Words_begin(&w))
        return;
    fprintf(w.out, "its bytes up to %lld lie outside the memory that it is in, which ends at %lld: ",
            (long long)(at + bytes - l->buffer->data.base), (long long)(end - l->buffer->data.base));
    put_block(w.out, &l->block);
    tell(l, &w, KU_FAULT_MEMORY_SHORT);
}

static void tell_type(const struct look *l, const char *at, const struct MPID_Typed_run *r,
                      const struct MPIR_Typeart_leaf *leaf)
{
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    fprintf(w.out, "has %s at byte %lld, where the memory is ", MPIR_Words_basic((uint8_t)r->basic),
            (long long)(at - l->buffer->data.base));
    if (leaf->padding)
        fputs("between members", w.out);
    else if (leaf->offset)
        fprintf(w.out, "%s, byte %lld of it", MPIR_Typeart_name(leaf->type), (long long)leaf->offset);
    else
        fputs(MPIR_Typeart_name(leaf->type), w.out);
    fputs(": of ", w.out);
    put_block(w.out, &l->block);
    tell(l, &w, KU_FAULT_MEMORY_TYPE);
}

static bool fits(const struct MPID_Typed_run *r, const struct MPIR_Typeart_leaf *leaf)
{
    bool integer = r->is == 'i' || r->is == 'u' || r->is == 'w' || r->is == 'l';
    if (leaf->padding)
        return false;
    switch (leaf->is) {
    case '?':
        return true;
    case 'f':
        return r->is == 'f' && leaf->size == r->size && leaf->offset == 0;
    default:
        return integer && leaf->size == r->size && leaf->offset == 0;
    }
}

/* Does the run begin in what is behind the memory that those before it are in, and is no other memory that is known? */
static bool is_behind(const struct look *l, const char *at)
{
    const struct MPIR_Typeart_block *b = &l->block;
    const char *end = b->base + b->count * b->size;
    return l->known && at >= end && (size_t)(at - end) < b->count * b->size;
}

/* The memory that a run lies in; false: it is not known. */
static bool find(struct look *l, const struct MPID_Typed_run *r)
{
    const char *at = l->from + r->at;
    struct MPIR_Typeart_block b = l->block;
    if (l->known && at >= b.base && at < b.base + b.count * b.size)
        return true;
    if (!MPIR_Typeart_block_at(at, &b)) {
        if (is_behind(l, at))
            tell_short(l, at, r->bytes);
        return false;
    }
    l->block = b;
    return l->known = true;
}

static bool look_at_run(void *look, const struct MPID_Typed_run *r)
{
    struct look *l = look;
    const char *at = l->from + r->at, *end = at + r->bytes;
    if (++l->runs > RUNS || !find(l, r))
        return false;
    size_t offset = (size_t)(at - l->block.base);
    if ((size_t)r->bytes > l->block.count * l->block.size - offset) {
        tell_short(l, at, r->bytes);
        return false;
    }
    while (at < end && r->is != 'b' && r->is != 'p') {
        struct MPIR_Typeart_leaf leaf;
        if (!MPIR_Typeart_leaf_at(&l->block, (size_t)(at - l->block.base), &leaf) || leaf.rest == 0)
            return false;
        if (!fits(r, &leaf)) {
            tell_type(l, at, r, &leaf);
            return false;
        }
        at += leaf.rest;
    }
    return true;
}

static void look_at(const struct MPID_Call *call, const struct MPIR_Call_buffer *b)
{
    const struct MPIR_Data_block *blocks = b->data.blocks ? b->data.blocks : &b->data.one;
    struct look l = { .call = call, .buffer = b };
    for (int64_t i = 0; i < b->data.n; i++) {
        const struct MPIR_Data_block *k = &blocks[i];
        struct MPID_Typed_run bytes = { .bytes = k->count, .is = 'b', .size = 1 };
        l.from = b->data.base + k->at;
        if (!(k->type ? MPID_Typed_runs(&k->type->adi, k->count, look_at_run, &l) : look_at_run(&l, &bytes)))
            return;
    }
}

static void memory_entered(void *self, const struct MPID_Call *call)
{
    struct MPIR_Call_buffer b[MPIR_CALL_BUFFERS];
    (void)self;
    if (MPIR_Call_traits_of(call->procedure)->nbuffers == 0)
        return;
    for (int i = 0, n = MPIR_Call_buffers(call, b); i < n; i++) {
        look_at(call, &b[i]);
        MPIR_Call_buffer_forget(&b[i]);
    }
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = memory_entered };
static bool memory_wanted;

void MPIR_Memory_types_begin(void)
{
    memory_wanted = (MPIR_Check_wants(KU_FAULT_MEMORY_TYPE) || MPIR_Check_wants(KU_FAULT_MEMORY_SHORT)) &&
                    MPIR_Typeart_begin() && MPID_Listener_add(&listener) == 0;
}

void MPIR_Memory_types_end(void)
{
    if (memory_wanted)
        MPID_Listener_remove(&listener);
    memory_wanted = false;
}
