/* SPDX-License-Identifier: BSD-3-Clause */
/* type.c: datatype objects: made, named, committed, released.
 *
 * A type references the types it was made of (for MPI_Type_get_contents and for counting elements); their layouts are
 * shared by the ADI on its own account. */
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "type.h"
#include "mpi_err.h"
#include "construct.h"
#include "bodies.h"

/* One argument to its place, which is one of both. */
static void put_arg(int32_t *integers, int64_t *numbers, const struct arg *a)
{
    size_t n = (size_t)a->n;
    if (a->array_name && a->array.is_large == (numbers != NULL))
        memcpy(numbers ? (void *)numbers : integers, a->array.p,
               n * (numbers ? sizeof *numbers : sizeof *integers));
    else
        for (size_t i = 0; i < n; i++) {
            int64_t v = a->array_name ? MPIR_counts_get(a->array, (int64_t)i) : a->value;
            if (numbers)
                numbers[i] = v;
            else
                integers[i] = (int32_t)v;
        }
}

/* The arguments that get_contents gives as one of its three kinds, one after another; both NULL: only counted.
 * Returns how many. */
static int64_t put_args(int32_t *integers, int64_t *numbers, const struct contents *c, bool want_counts,
                        enum arg_type first, enum arg_type last)
{
    int64_t n = 0;
    for (int k = 0; k < c->nargs; k++) {
        const struct arg *a = &c->args[k];
        bool is_count = c->large && a->type != ARG_INT;
        if (a->type < first || a->type > last || is_count != want_counts)
            continue;
        if (a->n > 0 && (integers || numbers))
            put_arg(integers ? integers + n : NULL, numbers ? numbers + n : NULL, a);
        n += a->n;
    }
    return n;
}

/* Room for the arguments, and these in it; false: no memory. */
static bool fill_contents(MPIR_Datatype *t, const struct contents *c)
{
    t->ni = put_args(NULL, NULL, c, false, ARG_INT, ARG_COUNT);
    t->na = put_args(NULL, NULL, c, false, ARG_AINT, ARG_AINT);
    t->nc = put_args(NULL, NULL, c, true, ARG_INT, ARG_AINT);
    int64_t large = t->na + t->nc;
    t->contents = malloc((size_t)large * sizeof *t->contents + (size_t)t->ni * sizeof *t->integers + 1);
    if (t->contents == NULL)
        return false;
    t->integers = (int32_t *)(t->contents + large);
    put_args(t->integers, NULL, c, false, ARG_INT, ARG_COUNT);
    put_args(NULL, t->contents, c, false, ARG_AINT, ARG_AINT);
    put_args(NULL, t->contents + t->na, c, true, ARG_INT, ARG_AINT);
    return true;
}

static bool fill_types(MPIR_Datatype *t, MPIR_Datatype *const *types, int64_t n)
{
    t->types = n ? malloc((size_t)n * sizeof *t->types) : NULL;
    if (n && t->types == NULL)
        return false;
    t->nt = n;
    for (int64_t i = 0; i < n; i++) {
        t->types[i] = types[i];
        MPIR_Object_ref(t->types[i]);
    }
    return true;
}

static int type_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a new datatype");
}

int MPIR_Datatype_new(const struct contents *c, MPIR_Datatype **newtype)
{
    for (int k = 0; k < c->nargs; k++) {
        const struct arg *a = &c->args[k];
        if (a->array_name && a->array.p == NULL && a->n > 0)
            return MPIR_Err(MPI_ERR_ARG, a->array_name, "is NULL; expected an array of %lld",
                            (long long)a->n);
    }
    MPIR_Datatype *t = MPIR_Object_alloc(MPIR_KIND_DATATYPE);
    if (t)
        t->combiner = c->combiner;
    if (t == NULL || !fill_contents(t, c) || !fill_types(t, c->types, c->ntypes)) {
        if (t)
            MPIR_Datatype_release(t);
        return type_no_memory();
    }
    *newtype = t;
    return MPI_SUCCESS;
}

/* The arguments of `of`. */
static bool copy_contents(MPIR_Datatype *t, const MPIR_Datatype *of)
{
    size_t large = (size_t)(of->na + of->nc), bytes = large * sizeof *t->contents;
    size_t all = bytes + (size_t)of->ni * sizeof *t->integers;
    t->contents = malloc(all + 1);
    if (t->contents == NULL)
        return false;
    memcpy(t->contents, of->contents, all);
    t->integers = (int32_t *)(t->contents + large);
    t->ni = of->ni;
    t->na = of->na;
    t->nc = of->nc;
    return true;
}

int MPIR_Datatype_copy(MPIR_Datatype *of, MPIR_Datatype **copy)
{
    if (of->adi.obj.flags & KEEL_OBJ_PREDEFINED) {
        *copy = of;
        return MPI_SUCCESS;
    }
    MPIR_Datatype *t = MPIR_Object_alloc(MPIR_KIND_DATATYPE);
    if (t == NULL)
        return type_no_memory();
    t->combiner = of->combiner;
    t->nelements = of->nelements;
    int err = copy_contents(t, of) && fill_types(t, of->types, of->nt) ? MPID_Type_dup(&t->adi, &of->adi)
                                                                       : type_no_memory();
    if (err)
        MPIR_Datatype_release(t);
    else
        *copy = t;
    return err;
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
            n += MPIR_Datatype_argument(t, 1 + i) *
                 t->types[i]->nelements; /* count, block lengths, displacements */
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
        free(d->name);
        MPIR_Object_free(d);
    }
}

int MPIR_Type_commit(MPIR_Datatype **datatype)
{
    MPIR_Datatype *t = *datatype;
    if (t->adi.is_committed)
        return MPI_SUCCESS;
    t->adi.as_bytes = MPIR_Datatype_as_bytes(t);
    return MPID_Type_commit(&t->adi);
}

int MPIR_Type_free(MPIR_Datatype **datatype)
{
    const char *name = MPIR_Datatype_name(*datatype);
    if ((*datatype)->adi.obj.flags & KEEL_OBJ_PREDEFINED)
        return MPIR_Err(MPI_ERR_TYPE, "datatype", "is %s; expected a datatype that is not predefined",
                        name ? name : "a predefined type without a name");
    int err = MPIR_Attr_delete_all(*datatype);
    if (err)
        return err;
    MPIR_Object_rename(*datatype);
    MPIR_Datatype_release(*datatype);
    *datatype = NULL;
    return MPI_SUCCESS;
}
