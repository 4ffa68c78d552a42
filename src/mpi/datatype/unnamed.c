/* SPDX-License-Identifier: BSD-3-Clause */
/* unnamed.c: finding predefined types: by size (MPI_Type_match_size), by what Fortran needs (MPI_Type_create_f90_*), by
 * value and index (MPI_Type_get_value_index).
 *
 * Those of the last two that have no name are made when they are first asked for, found again when they are asked for
 * again, and go at MPI_Finalize. */
#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include "type.h"
#include "mpi_err.h"
#include "basic.h"
#include "construct.h"
#include "bodies.h"

/* ---- the unnamed types there are ---- */

static MPIR_Datatype **unnamed;
static int64_t n_unnamed, room_unnamed;

/* The one made by the same call: equal integers, equal types. */
static MPIR_Datatype *unnamed_find(const struct contents *c)
{
    for (int64_t k = 0; k < n_unnamed; k++) {
        MPIR_Datatype *t = unnamed[k];
        bool same = t->combiner == c->combiner;
        for (int64_t i = 0; same && i < t->ni; i++)
            same = t->integers[i] == c->args[i].value;
        for (int64_t i = 0; same && i < t->nt; i++)
            same = t->types[i] == c->types[i];
        if (same)
            return t;
    }
    return NULL;
}

static int no_room(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more predefined datatype");
}

/* Make it; what is left is the ADI's part, and then unnamed_keep(). */
static int unnamed_make(const struct contents *c, MPIR_Datatype **newtype)
{
    if (n_unnamed == room_unnamed) {
        int64_t room = room_unnamed ? 2 * room_unnamed : 16;
        MPIR_Datatype **v = realloc(unnamed, (size_t)room * sizeof *v);
        if (v == NULL)
            return no_room();
        unnamed = v;
        room_unnamed = room;
    }
    return MPIR_Datatype_new(c, newtype);
}

static void unnamed_keep(MPIR_Datatype *t, int64_t nelements)
{
    t->nelements = nelements;
    t->adi.is_committed = true;
    t->adi.as_bytes = MPIR_Datatype_as_bytes(t);
    t->adi.obj.flags |= KEEL_OBJ_PREDEFINED;
    unnamed[n_unnamed++] = t;
}

void MPIR_Datatype_fini_unnamed(void)
{
    for (int64_t i = n_unnamed - 1; i >= 0; i--) { /* pairs before what they are made of */
        unnamed[i]->adi.obj.flags &= (uint8_t)~KEEL_OBJ_PREDEFINED;
        MPIR_Datatype_release(unnamed[i]);
    }
    free(unnamed);
    unnamed = NULL;
    n_unnamed = room_unnamed = 0;
}

/* ---- Fortran's KINDs, as gfortran has them ---- */

/* Types for decimal precision up to p and decimal exponent range up to r, from the smallest. */
struct kind {
    int p, r;
    int32_t real, complex;
};

static const struct kind reals[] = {
    { 6, 37, KEEL_MPI_REAL4, KEEL_MPI_COMPLEX8 },
    { 15, 307, KEEL_MPI_REAL8, KEEL_MPI_COMPLEX16 },
#if LDBL_MANT_DIG == 64
    { 18, 4931, KEEL_MPI_LONG_DOUBLE, KEEL_MPI_C_LONG_DOUBLE_COMPLEX },
#endif
    { 33, 4931, KEEL_MPI_REAL16, KEEL_MPI_COMPLEX32 },
};

static const struct kind integers[] = {
    { 0, 2, KEEL_MPI_INTEGER1, 0 },  { 0, 4, KEEL_MPI_INTEGER2, 0 },   { 0, 9, KEEL_MPI_INTEGER4, 0 },
    { 0, 18, KEEL_MPI_INTEGER8, 0 }, { 0, 38, KEEL_MPI_INTEGER16, 0 },
};

/* The predefined type of this call, which names `basic`. */
static int f90_type(const struct contents *c, int32_t basic, MPIR_Datatype **newtype)
{
    const MPIR_Datatype *like = MPIR_Datatype_predefined(basic);
    if ((*newtype = unnamed_find(c)) != NULL)
        return MPI_SUCCESS;
    int err = unnamed_make(c, newtype);
    if (err)
        return err;
    MPID_Type_dup(&(*newtype)->adi, &like->adi);
    unnamed_keep(*newtype, 1);
    return MPI_SUCCESS;
}

static int check_digits(const char *arg, int x, int most)
{
    if ((x >= 0 && x <= most) || x == MPI_UNDEFINED)
        return MPI_SUCCESS;
    return MPIR_Err(MPI_ERR_ARG, arg,
                    "is %d; expected 0 to %d, which Fortran has a KIND for, or MPI_UNDEFINED", x, most);
}

static int f90_float(int combiner, int p, int r, MPIR_Datatype **newtype)
{
    const struct arg args[] = { ARG(INT, p), ARG(INT, r) };
    const struct kind *k = reals, *last = &reals[sizeof reals / sizeof *reals - 1];
    int err;
    if ((err = check_digits("p", p, last->p)) || (err = check_digits("r", r, last->r)))
        return err;
    if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        return MPIR_Err(MPI_ERR_ARG, "p", "is MPI_UNDEFINED, and so is r; expected a number in one of them");
    while (p > k->p || r > k->r) /* MPI_UNDEFINED is below 0 */
        k++;
    return f90_type(&(struct contents){ .combiner = combiner, .nargs = 2, .args = args },
                    combiner == MPI_COMBINER_F90_REAL ? k->real : k->complex, newtype);
}

int MPIR_Type_create_f90_real(int p, int r, MPIR_Datatype **newtype)
{
    return f90_float(MPI_COMBINER_F90_REAL, p, r, newtype);
}

int MPIR_Type_create_f90_complex(int p, int r, MPIR_Datatype **newtype)
{
    return f90_float(MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

int MPIR_Type_create_f90_integer(int r, MPIR_Datatype **newtype)
{
    const struct arg args[] = { ARG(INT, r) };
    const struct kind *k = integers;
    if (r < 0 || r > 38)
        return MPIR_Err(MPI_ERR_ARG, "r", "is %d; expected 0 to 38, which Fortran has a KIND for", r);
    while (r > k->r)
        k++;
    return f90_type(&(struct contents){ .combiner = MPI_COMBINER_F90_INTEGER, .nargs = 1, .args = args },
                    k->real, newtype);
}

/* ---- by size ---- */

struct sized {
    int typeclass, size;
    int32_t basic;
};

static const struct sized sizes[] = {
    { MPI_TYPECLASS_INTEGER, 1, KEEL_MPI_INTEGER1 },   { MPI_TYPECLASS_INTEGER, 2, KEEL_MPI_INTEGER2 },
    { MPI_TYPECLASS_INTEGER, 4, KEEL_MPI_INTEGER4 },   { MPI_TYPECLASS_INTEGER, 8, KEEL_MPI_INTEGER8 },
    { MPI_TYPECLASS_INTEGER, 16, KEEL_MPI_INTEGER16 }, { MPI_TYPECLASS_REAL, 2, KEEL_MPI_REAL2 },
    { MPI_TYPECLASS_REAL, 4, KEEL_MPI_REAL4 },         { MPI_TYPECLASS_REAL, 8, KEEL_MPI_REAL8 },
    { MPI_TYPECLASS_REAL, 16, KEEL_MPI_REAL16 },       { MPI_TYPECLASS_COMPLEX, 4, KEEL_MPI_COMPLEX4 },
    { MPI_TYPECLASS_COMPLEX, 8, KEEL_MPI_COMPLEX8 },   { MPI_TYPECLASS_COMPLEX, 16, KEEL_MPI_COMPLEX16 },
    { MPI_TYPECLASS_COMPLEX, 32, KEEL_MPI_COMPLEX32 }, { MPIX_TYPECLASS_LOGICAL, 1, KEEL_MPI_LOGICAL1 },
    { MPIX_TYPECLASS_LOGICAL, 2, KEEL_MPI_LOGICAL2 },  { MPIX_TYPECLASS_LOGICAL, 4, KEEL_MPI_LOGICAL4 },
    { MPIX_TYPECLASS_LOGICAL, 8, KEEL_MPI_LOGICAL8 },  { MPIX_TYPECLASS_LOGICAL, 16, KEEL_MPI_LOGICAL16 },
};

int MPIR_Type_match_size(int typeclass, int size, MPIR_Datatype **datatype)
{
    bool known = false;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        known |= sizes[i].typeclass == typeclass;
        if (sizes[i].typeclass == typeclass && sizes[i].size == size) {
            *datatype = MPIR_Datatype_predefined(sizes[i].basic);
            return MPI_SUCCESS;
        }
    }
    if (known)
        return MPIR_Err(MPI_ERR_ARG, "size", "is %d; expected the bytes of a Fortran type of that class",
                        size);
    return MPIR_Err(MPI_ERR_ARG, "typeclass",
                    "is %d; expected MPI_TYPECLASS_INTEGER (%d), MPI_TYPECLASS_REAL (%d) or "
                    "MPI_TYPECLASS_COMPLEX (%d)",
                    typeclass, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX);
}

/* ---- pairs of a value and an index ---- */

static const struct named {
    int32_t value, index, pair;
} named[] = {
    { KEEL_MPI_FLOAT, KEEL_MPI_INT, KEEL_MPI_FLOAT_INT },
    { KEEL_MPI_DOUBLE, KEEL_MPI_INT, KEEL_MPI_DOUBLE_INT },
    { KEEL_MPI_LONG, KEEL_MPI_INT, KEEL_MPI_LONG_INT },
    { KEEL_MPI_INT, KEEL_MPI_INT, KEEL_MPI_2INT },
    { KEEL_MPI_SHORT, KEEL_MPI_INT, KEEL_MPI_SHORT_INT },
    { KEEL_MPI_LONG_DOUBLE, KEEL_MPI_INT, KEEL_MPI_LONG_DOUBLE_INT },
    { KEEL_MPI_REAL, KEEL_MPI_REAL, KEEL_MPI_2REAL },
    { KEEL_MPI_DOUBLE_PRECISION, KEEL_MPI_DOUBLE_PRECISION, KEEL_MPI_2DOUBLE_PRECISION },
    { KEEL_MPI_INTEGER, KEEL_MPI_INTEGER, KEEL_MPI_2INTEGER },
};

/* The operations' class of a predefined type of one number; MPIR_CLASS_NONE for the others. */
static int class_of(const MPIR_Datatype *t)
{
#define CLASS_CASE(NAME, TYPE, CLASS, REPR) \
    case KEEL_##NAME: \
        return (REPR) == MPIR_REPR_NONE ? MPIR_CLASS_NONE : MPIR_CLASS_##CLASS;
    if (!(t->adi.obj.flags & KEEL_OBJ_PREDEFINED) || t->combiner == MPI_COMBINER_VALUE_INDEX)
        return MPIR_CLASS_NONE;
    switch (t->adi.basic) {
        MPIR_BASIC_TYPES(CLASS_CASE)
    }
    return MPIR_CLASS_NONE;
}

/* {value; index} as C lays out the struct. */
static int make_pair(const struct contents *c, MPIR_Datatype **newtype)
{
    int err = unnamed_make(c, newtype);
    if (err)
        return err;
    MPIR_Datatype *t = *newtype;
    struct MPIR_DATATYPE *value = &c->types[0]->adi, *index = &c->types[1]->adi;
    struct MPIR_DATATYPE *const types[2] = { value, index };
    const int64_t ones[2] = { 1, 1 };
    const int64_t at[2] = { 0, (value->size + index->align - 1) / index->align * index->align };
    err = MPID_Type_struct(&t->adi, 2, (MPIR_Counts){ ones, 1 }, (MPIR_Counts){ at, 1 }, types);
    if (err)
        MPIR_Datatype_release(t);
    else
        unnamed_keep(t, 2);
    return err;
}

int MPIR_Type_get_value_index(MPIR_Datatype *value_type, MPIR_Datatype *index_type, MPIR_Datatype **pair_type)
{
    const int integer = MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_MULTI;
    MPIR_Datatype *const types[2] = { value_type, index_type };
    const struct contents c = { .combiner = MPI_COMBINER_VALUE_INDEX, .ntypes = 2, .types = types };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (value_type->adi.obj.self == named[i].value && index_type->adi.obj.self == named[i].index) {
            *pair_type = MPIR_Datatype_predefined(named[i].pair);
            return MPI_SUCCESS;
        }
    *pair_type = NULL;
    if (!(class_of(value_type) & (integer | MPIR_CLASS_FLOAT)) || !(class_of(index_type) & integer))
        return MPI_SUCCESS;
    *pair_type = unnamed_find(&c);
    return *pair_type ? MPI_SUCCESS : make_pair(&c, pair_type);
}
