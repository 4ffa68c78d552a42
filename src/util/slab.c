/* SPDX-License-Identifier: BSD-3-Clause */
#include "slab.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Chunk c begins at index 64 * (2^c - 1). */
static unsigned chunk_of(uint32_t index)
{
    return 63u - (unsigned)__builtin_clzll((uint64_t)(index >> 6) + 1);
}

static uint64_t chunk_start(unsigned c)
{
    return 64 * ((1ull << c) - 1);
}

static struct keel_object *at(const struct ku_slab *s, uint32_t index)
{
    unsigned c = chunk_of(index);
    return (struct keel_object *)((char *)s->chunk[c] + (index - chunk_start(c)) * s->objsize);
}

void ku_slab_init(struct ku_slab *s, size_t objsize, uint8_t kind)
{
    memset(s, 0, sizeof *s);
    s->objsize = (objsize + 63) & ~(size_t)63;
    s->kind = kind;
}

/* Make room for index s->used. */
static bool slab_grow(struct ku_slab *s)
{
    unsigned c = chunk_of(s->used);
    if (s->used == KEEL_NO_INDEX)
        return false;
    if (!s->chunk[c])
        s->chunk[c] = aligned_alloc(64, (64ull << c) * s->objsize);
    return s->chunk[c] != NULL;
}

/* An index never used before, or KEEL_NO_INDEX. */
static uint32_t fresh(struct ku_slab *s)
{
    uint32_t index = s->used;
    if (!slab_grow(s))
        return KEEL_NO_INDEX;
    __atomic_store_n(&s->used, index + 1, __ATOMIC_RELEASE); /* others may look at what has been handed out */
    return index;
}

void *ku_slab_alloc(struct ku_slab *s)
{
    struct keel_object *o = ku_slab_reuse(s);
    uint32_t index;
    if (o) {
        memset(o + 1, 0, s->objsize - sizeof *o);
        return o;
    }
    index = fresh(s);
    if (index == KEEL_NO_INDEX)
        return NULL;
    o = at(s, index);
    memset(o, 0, s->objsize);
    o->index = index;
    o->gen = 1;
    o->kind = s->kind;
    o->refs = 1;
    s->live++;
    return o;
}

void *ku_slab_at(const struct ku_slab *s, uint32_t index)
{
    return index < s->used ? at(s, index) : NULL;
}

void ku_slab_each(const struct ku_slab *s, void (*fn)(void *obj, void *arg), void *arg)
{
    for (uint32_t i = 0; i < s->used; i++) {
        struct keel_object *o = at(s, i);
        if (o->gen & 1)
            fn(o, arg);
    }
}

void ku_slab_fini(struct ku_slab *s)
{
    for (unsigned c = 0; c < KU_SLAB_CHUNKS; c++)
        free(s->chunk[c]);
    ku_slab_init(s, s->objsize, s->kind);
}
