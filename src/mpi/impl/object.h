/* object.h: the objects behind MPI's handles, one slab a kind, and the native (Standard ABI) coding of a
 * handle.
 *
 * A handle of a predefined object is the ABI's small constant (< 0x1000) and is found in a table.  Any other
 * is 0x004b << 48 | generation << 32 | kind << 26 | index whose low 32 bits are the int of MPI_X_toint and of
 * Fortran.  It is never an address, so following a made-up one cannot happen: kind, index and generation are
 * checked against the slab before the object is used. */
#ifndef MPIR_OBJECT_H
#define MPIR_OBJECT_H

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

extern struct ku_slab MPIR_slab[MPIR_KIND_COUNT]; /* set up at load time, usable before MPI_Init */

/* A new object of the kind, zeroed but for its header (refs 1); NULL without memory. */
static inline void *MPIR_Object_alloc(enum MPIR_KIND kind)
{
    return ku_slab_alloc(&MPIR_slab[kind]);
}
static inline void MPIR_Object_free(void *obj)
{
    ku_slab_free(&MPIR_slab[((struct keel_object *)obj)->kind], obj);
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

/* The int form of an object's handle, and back; NULL for an int that names no live object of the kind. */
int32_t MPIR_Object_toint(const void *obj);
void *MPIR_Object_fromint(enum MPIR_KIND kind, int32_t value);

/* Predefined objects by their ABI value: the chapters fill the table in at load time (constructors of static
 * data only: constant initialisers), object.c looks them up.  NULL: no such object. */
void *MPIR_Object_predefined(enum MPIR_KIND kind, int32_t value);

#endif
