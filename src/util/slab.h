/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.h: objects of one kind in chunks that are never unmapped, found by a 32-bit index in O(1).
 *
 * A pointer into a slab stays readable for ever, so a stale index can be looked at and found stale.
 * alloc and free are O(1); thread safety is the caller's (the slab of a kind is locked by its owner). */
#ifndef KU_SLAB_H
#define KU_SLAB_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "keel_object.h"

enum { KU_SLAB_CHUNKS = 32 }; /* chunk c holds 64 << c objects: 2^38 in all, no table to grow */

struct ku_slab {
    void *chunk[KU_SLAB_CHUNKS];
    size_t objsize; /* bytes an object, a multiple of 64 */
    uint32_t used;  /* indices below this one have been handed out at least once */
    uint32_t live;  /* objects alive now */
    struct keel_object
        *free; /* given back, the last one first, which is still in the cache; linked through refs and self */
    uint8_t kind;
};

/* An empty slab for objects of `objsize` bytes that begin with struct keel_object. */
void ku_slab_init(struct ku_slab *s, size_t objsize, uint8_t kind);

/* A new object: its header is filled in (refs 1), the rest is zero.  NULL when memory is short. */
void *ku_slab_alloc(struct ku_slab *s);

/* An object that was given back, with its header filled in and the rest as it was left; NULL: there is none, use
 * ku_slab_alloc. */
static inline void *ku_slab_reuse(struct ku_slab *s)
{
    struct keel_object *o = s->free;
    if (__builtin_expect(o == NULL, 0))
        return NULL;
    memcpy(&s->free, &o->refs, sizeof s->free);
    o->gen++;
    o->flags = 0;
    o->refs = 1;
    o->self = 0;
    s->live++;
    return o;
}

/* Give `obj` back; its generation moves on, so handles to it are stale from here on. */
static inline void ku_slab_free(struct ku_slab *s, void *obj)
{
    struct keel_object *o = obj;
    o->gen++;
    memcpy(&o->refs, &s->free, sizeof s->free);
    s->free = o;
    s->live--;
}

/* Give `obj` back for good: its place is never used again.  For one whose generations are used up,
 * since the next one would have that of an older handle. */
static inline void ku_slab_retire(struct ku_slab *s, void *obj)
{
    ((struct keel_object *)obj)->gen++;
    s->live--;
}

/* The same as ku_slab_free for several, which the slab gets back together.  Begin with {0}. */
struct ku_slab_pile {
    struct keel_object *top, *bottom;
    uint32_t n;
};
static inline void ku_slab_pile(struct ku_slab_pile *p, void *obj)
{
    struct keel_object *o = obj;
    o->gen++;
    memcpy(&o->refs, &p->top, sizeof p->top);
    p->top = o;
    p->bottom = p->bottom ? p->bottom : o;
    p->n++;
}
static inline void ku_slab_free_pile(struct ku_slab *s, const struct ku_slab_pile *p)
{
    if (p->n == 0)
        return;
    memcpy(&p->bottom->refs, &s->free, sizeof s->free);
    s->free = p->top;
    s->live -= p->n;
}
_Static_assert(offsetof(struct keel_object, refs) + 8 == sizeof(struct keel_object) && sizeof(void *) <= 8,
               "the link of the free list takes the place of refs and self");

/* The object at `index`, alive or freed (look at its generation), or NULL if there never was one. */
void *ku_slab_at(const struct ku_slab *s, uint32_t index);

/* Call fn for each live object (leak reports, finalize). */
void ku_slab_each(const struct ku_slab *s, void (*fn)(void *obj, void *arg), void *arg);

/* Return all memory; only when no handle can be used any more (the ADI's MPID_End, tests). */
void ku_slab_fini(struct ku_slab *s);

#endif
