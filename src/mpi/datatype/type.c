/* type.c: datatype objects: made, named, committed, released.
 *
 * A type references the types it was made of (for MPI_Type_get_contents and for counting elements); their layouts are
 * shared by the ADI on its own account. */
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "type.h"
#include "err.h"
#include "construct.h"
#include "bodies.h"

/* The arguments that get_contents gives as one of its three kinds, appended; returns how many. */
static int64_t add_args(MPIR_Datatype *t, int64_t at, const struct contents *c, bool want_counts,
                        enum arg_type first, enum arg_type last)
{
    int64_t n = 0;
    for (int k = 0; k < c->nargs; k++) {
        const struct arg *a = &c->args[k];
        bool is_count = c->large && a->type != ARG_INT;
        if (a->type < first || a->type > last || is_count != want_counts)
            continue;
        for (int64_t i = 0; i < a->n; i++)
            t->contents[at + n++] = a->array_name ? MPIR_counts_get(a->array, i) : a->value;
    }
    return n;
}

static void fill_contents(MPIR_Datatype *t, const struct contents *c)
{
    t->ni = add_args(t, 0, c, false, ARG_INT, ARG_COUNT);
    t->na = add_args(t, t->ni, c, false, ARG_AINT, ARG_AINT);
    t->nc = add_args(t, t->ni + t->na, c, true, ARG_INT, ARG_AINT);
    t->nt = c->ntypes;
    for (int64_t i = 0; i < c->ntypes; i++) {
        t->types[i] = c->types[i];
        MPIR_Object_ref(t->types[i]);
    }
}

int MPIR_Datatype_new(const struct contents *c, MPIR_Datatype **newtype)
{
    int64_t n = 0;
    for (int k = 0; k < c->nargs; k++) {
        const struct arg *a = &c->args[k];
        if (a->array_name && a->array.p == NULL && a->n > 0)
            return MPIR_Err(MPI_ERR_ARG, a->array_name, "is NULL; expected an array of %lld",
                            (long long)a->n);
        n += a->n;
    }
    MPIR_Datatype *t = MPIR_Object_alloc(MPIR_KIND_DATATYPE);
    if (t) {
        t->combiner = c->combiner;
        t->contents = n ? malloc((size_t)n * sizeof *t->contents) : NULL;
        t->types = c->ntypes ? malloc((size_t)c->ntypes * sizeof *t->types) : NULL;
    }
    if (t == NULL || (n && t->contents == NULL) || (c->ntypes && t->types == NULL)) {
        if (t)
            MPIR_Datatype_release(t);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a new datatype");
    }
    fill_contents(t, c);
    *newtype = t;
    return MPI_SUCCESS;
}

/* Basic elements in one: those of its parts, as often as they fit. */
static int64_t count_elements(const MPIR_Datatype *t)
{
    if (t->combiner != MPI_COMBINER_STRUCT) {
        const MPIR_Datatype *old = t->types[0];
        return old->adi.size ? t->adi.size / old->adi.size * old->nelements : 0;
    }
    int64_t n = 0;
    for (int64_t i = 0; i < t->nt; i++)
        if (t->types[i]->adi.size)
            n += t->contents[1 + i] *
                 t->types[i]->nelements; /* contents: count, block lengths, displacements */
    return n;
}

int MPIR_Datatype_made(MPIR_Datatype *t, int err, MPIR_Datatype **newtype)
{
    if (err) {
        MPIR_Datatype_release(t);
        return err;
    }
    t->nelements = count_elements(t);
    *newtype = t;
    return MPI_SUCCESS;
}

/* Types may be nested deeply: no recursion.  Dead types wait in a list linked through `attributes`, which are gone by
 * then. */
void MPIR_Datatype_release(MPIR_Datatype *t)
{
    MPIR_Datatype *dead = MPIR_Object_unref(t) ? t : NULL;
    if (dead)
        dead->attributes = NULL;
    while (dead) {
        MPIR_Datatype *d = dead;
        dead = d->attributes;
        for (int64_t i = 0; i < d->nt; i++)
            if (MPIR_Object_unref(d->types[i])) {
                d->types[i]->attributes = dead;
                dead = d->types[i];
            }
        MPID_Type_fini(&d->adi);
        free(d->contents);
        free(d->types);
        free((char *)d->name);
        MPIR_Object_free(d);
    }
}

int MPIR_Type_commit(MPIR_Datatype **datatype)
{
    return (*datatype)->adi.is_committed ? MPI_SUCCESS : MPID_Type_commit(&(*datatype)->adi);
}

int MPIR_Type_free(MPIR_Datatype **datatype)
{
    if ((*datatype)->adi.obj.flags & KEEL_OBJ_PREDEFINED)
        return MPIR_Err(MPI_ERR_TYPE, "datatype", "is %s; expected a datatype that is not predefined",
                        (*datatype)->name ? (*datatype)->name : "a predefined type without a name");
    int err = (*datatype)->more_handles ? 0 : MPIR_Attr_delete_all(*datatype);
    if (err)
        return err;
    if ((*datatype)->more_handles)
        (*datatype)->more_handles--;
    MPIR_Datatype_release(*datatype);
    *datatype = NULL;
    return MPI_SUCCESS;
}
