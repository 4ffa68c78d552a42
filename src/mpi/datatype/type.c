/* type.c: datatype objects: made, named, committed, released.
 *
 * A type references the types it was made of (for MPI_Type_get_contents and for counting elements); their layouts are
 * shared by the ADI on its own account. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "type.h"
#include "err.h"
#include "construct.h"
#include "bodies.h"

/* Append n values to the contents; true if one of them is no int. */
static bool add_contents(MPIR_Datatype *t, int64_t *at, const int64_t *fixed, MPIR_Counts array, int64_t n)
{
    bool large = false;
    for (int64_t i = 0; i < n; i++) {
        int64_t x = fixed ? fixed[i] : MPIR_counts_get(array, i);
        large |= x > INT_MAX || x < INT_MIN;
        t->contents[(*at)++] = x;
    }
    return large;
}

static int64_t array_entries(const struct contents *c, MPIR_Counts array)
{
    return array.p ? c->count : 0;
}

/* Integers, then addresses.  Integers that are no ints make the whole call one with large counts. */
static void fill_contents(MPIR_Datatype *t, const struct contents *c)
{
    MPIR_Counts none = { NULL, 0 };
    bool large = c->large;
    int64_t at = 0;
    large |= add_contents(t, &at, c->fixed, none, c->nfixed);
    for (int i = 0; i < 2; i++)
        large |= add_contents(t, &at, NULL, c->ints[i], array_entries(c, c->ints[i]));
    int64_t nints = at;
    add_contents(t, &at, c->addrs, none, c->naddrs);
    add_contents(t, &at, NULL, c->addr_array, array_entries(c, c->addr_array));
    t->ni = large ? 0 : nints;
    t->na = large ? 0 : at - nints;
    t->nc = large ? at : 0;
}

MPIR_Datatype *MPIR_Datatype_new(const struct contents *c)
{
    MPIR_Datatype *t = MPIR_Object_alloc(MPIR_KIND_DATATYPE);
    int64_t n = c->nfixed + c->naddrs + array_entries(c, c->ints[0]) + array_entries(c, c->ints[1]) +
                array_entries(c, c->addr_array);
    if (t) {
        t->combiner = c->combiner;
        t->contents = n ? malloc((size_t)n * sizeof *t->contents) : NULL;
        t->types = c->ntypes ? malloc((size_t)c->ntypes * sizeof *t->types) : NULL;
    }
    if (t == NULL || (n && t->contents == NULL) || (c->ntypes && t->types == NULL)) {
        if (t)
            MPIR_Datatype_release(t);
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a new datatype");
        return NULL;
    }
    fill_contents(t, c);
    t->nt = c->ntypes;
    for (int64_t i = 0; i < c->ntypes; i++) {
        t->types[i] = c->types ? c->types[i] : c->type;
        MPIR_Object_ref(t->types[i]);
    }
    return t;
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
                        (*datatype)->name);
    MPIR_Datatype_release(*datatype);
    *datatype = NULL;
    return MPI_SUCCESS;
}
