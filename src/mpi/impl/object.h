/* SPDX-License-Identifier: BSD-3-Clause */
/* object.h: the objects behind MPI's handles, one slab a kind, and the native (Standard ABI) coding of a
 * handle.
 *
 * A handle of a predefined object is the ABI's small constant (< 0x1000) and is found in a table.  Any other
 * is 0x004b << 48 | generation << 32 | kind << 26 | index whose low 32 bits are the int of MPI_X_toint and of
 * Fortran.  It is never an address, so following a made-up one cannot happen: kind, index and generation are
 * checked against the slab before the object is used. */
#ifndef MPIR_OBJECT_H
#define MPIR_OBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include "keel_object.h"
#include "util/slab.h"

enum MPIR_KIND {
    MPIR_KIND_NONE = 0,
    MPIR_KIND_COMM,
    MPIR_KIND_GROUP,
    MPIR_KIND_DATATYPE,
    MPIR_KIND_OP,
    MPIR_KIND_REQUEST, /* also matched messages: handle_type MPIR_MESSAGE */
    MPIR_KIND_ERRHANDLER,
    MPIR_KIND_INFO,
    MPIR_KIND_WIN,
    MPIR_KIND_FILE,
    MPIR_KIND_SESSION,
    MPIR_KIND_COUNT
};

extern struct ku_slab MPIR_slab[MPIR_KIND_COUNT]
    __attribute__((visibility("hidden"))); /* set up at load time, usable before MPI_Init */

/* A new object of the kind, zeroed but for its header (refs 1); NULL without memory. */
static inline void *MPIR_Object_alloc(enum MPIR_KIND kind)
{
    return ku_slab_alloc(&MPIR_slab[kind]);
}
/* A place is given up after 2^14 objects: the next one would have a generation for the second time
 * (the first bit is MPIR_Object_rename's), and a handle kept since then would name it.  Requests
 * do not come here: theirs are freed where each instruction counts, and a place of theirs is used
 * again for ever. */
static inline void MPIR_Object_free(void *obj)
{
    struct keel_object *o = obj;
    if ((o->gen & 0x7fff) == 0x7fff)
        ku_slab_retire(&MPIR_slab[o->kind], o);
    else
        ku_slab_free(&MPIR_slab[o->kind], o);
}

/* References.  Predefined objects are not counted.  MPIR_Object_unref is true when the last one went: free it
 * then. */
static inline void MPIR_Object_ref(void *obj)
{
    struct keel_object *o = obj;
    if (!(o->flags & KEEL_OBJ_PREDEFINED))
        o->refs++;
}
static inline int MPIR_Object_unref(void *obj)
{
    struct keel_object *o = obj;
    return !(o->flags & KEEL_OBJ_PREDEFINED) && --o->refs == 0;
}

/* No handle that was made before names the object from now on; after a second time they do again.  For what the
 * program has freed and something else still has, or what it does not have yet. */
static inline void MPIR_Object_rename(void *obj)
{
    ((struct keel_object *)obj)->gen ^= 0x8000;
}

/* The object of a handle's int form; NULL for an int that names no live object of the kind. */
void *MPIR_Object_fromint(enum MPIR_KIND kind, int32_t value);
/* The handle of an int form: of an object that was freed one that no call takes; `null` for what never named one. */
uint64_t MPIR_Object_handle_of_int(enum MPIR_KIND kind, int32_t value, uint64_t null);

/* Predefined objects by their ABI value: static objects of their chapters, which set obj.kind, obj.self and
 * KEEL_OBJ_PREDEFINED; object.c knows which chapter to ask (op.h: MPIR_Op_predefined, type.h:
 * MPIR_Datatype_predefined, the rest by name).  NULL: no such object of that kind. */
void *MPIR_Object_predefined(enum MPIR_KIND kind, int32_t value);

enum { MPIR_PREDEFINED_MAX = 0x1000, MPIR_INDEX_BITS = 26, MPIR_INDEX_MASK = (1 << MPIR_INDEX_BITS) - 1 };
#define MPIR_HANDLE_MARK 0x004bull

/* What MPIR_Object_predefined has found so far. */
extern void *MPIR_Object_table[MPIR_PREDEFINED_MAX] __attribute__((visibility("hidden")));

/* The object at an index of a kind's slab, alive or freed; NULL if there never was one.  (ku_slab_at,
 * inlined.) */
static inline __attribute__((always_inline)) void *MPIR_Object_at(enum MPIR_KIND kind, uint32_t index)
{
    const struct ku_slab *s = &MPIR_slab[kind];
    if (__builtin_expect(index >= __atomic_load_n(&s->used, __ATOMIC_ACQUIRE), 0))
        return 0;
    if (__builtin_expect(index < 64, 1)) /* the first chunk */
        return (char *)s->chunk[0] + index * s->objsize;
    uint32_t chunk = 31u - (uint32_t)__builtin_clz((index >> 6) + 1);
    return (char *)s->chunk[chunk] + (index - ((64u << chunk) - 64)) * s->objsize;
}

/* The native 64-bit form of an object's handle, and back.  NULL for whatever names no live object of the
 * kind. */
static inline uint64_t MPIR_Object_handle(const void *obj)
{
    const struct keel_object *o = obj;
    if (o->self)
        return (uint64_t)o->self;
    bool may_hide = o->kind == MPIR_KIND_COMM || o->kind == MPIR_KIND_WIN || o->kind == MPIR_KIND_FILE;
    bool hidden = may_hide && o->flags & (KEEL_OBJ_PENDING | KEEL_OBJ_REVOKED);
    uint64_t gen = o->gen ^ (hidden ? 0x8000u : 0);
    return MPIR_HANDLE_MARK << 48 | gen << 32 | (uint64_t)o->kind << MPIR_INDEX_BITS | o->index;
}
/* Of an object that lies in a slab. */
static inline uint64_t MPIR_Object_made_handle(enum MPIR_KIND kind, const void *obj)
{
    const struct keel_object *o = obj;
    return (MPIR_HANDLE_MARK << 48 | (uint64_t)kind << MPIR_INDEX_BITS) + ((uint64_t)o->gen << 32 | o->index);
}
static inline __attribute__((always_inline)) void *MPIR_Object_made(enum MPIR_KIND kind, uint64_t handle)
{
    const uint64_t bits = 0xffffull << 48 | 1ull << 32 | (uint64_t)(UINT32_MAX & ~MPIR_INDEX_MASK);
    const uint64_t alive = MPIR_HANDLE_MARK << 48 | 1ull << 32 | (uint64_t)kind << MPIR_INDEX_BITS;
    if (__builtin_expect((handle & bits) != alive, 0)) /* the generation of what lives is odd */
        return 0;
    struct keel_object *o = MPIR_Object_at(kind, (uint32_t)handle & MPIR_INDEX_MASK);
    return __builtin_expect(o && o->gen == (uint16_t)(handle >> 32), 1) ? o : 0;
}
/* A communicator that is still being made: the handle that it will have names it for what is local. */
static inline void *MPIR_Object_pending(uint64_t handle)
{
    struct keel_object *o = MPIR_Object_made(MPIR_KIND_COMM, handle ^ 0x8000ull << 32);
    return o && (o->flags & KEEL_OBJ_PENDING) ? o : NULL;
}
/* A communicator, window or file that is revoked (KEEL_OBJ_REVOKED), by its handle. */
void *MPIR_Object_revoked(enum MPIR_KIND kind, uint64_t handle);
/* MPI_COMM_WORLD's or MPI_COMM_SELF's handle names nothing any more but for MPIR_Object_revoked. */
void MPIR_Object_forget(const struct keel_object *o);
static inline void *MPIR_Object_of(enum MPIR_KIND kind, uint64_t handle)
{
    if (handle >= MPIR_PREDEFINED_MAX)
        return MPIR_Object_made(kind, handle);
    struct keel_object *o = __atomic_load_n(&MPIR_Object_table[handle], __ATOMIC_RELAXED);
    if (__builtin_expect(!o, 0))
        o = MPIR_Object_predefined(kind, (int32_t)handle);
    return o && o->kind == kind ? o : 0;
}

#endif
