/* SPDX-License-Identifier: BSD-3-Clause */
/* predefined_types.c: the predefined datatypes: static objects, made at compile time from the rows of basic.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "type.h"
#include "basic.h"

#define HEADER(NAME) \
    { \
        .index = KEEL_NO_INDEX, .gen = 1, .kind = MPIR_KIND_DATATYPE, .flags = KEEL_OBJ_PREDEFINED, \
        .refs = 1, .self = KEEL_##NAME \
    }

#define BASIC(NAME, TYPE, CLASS, REPR) \
    { .adi = { .obj = HEADER(NAME), \
               .size = sizeof(TYPE), \
               .extent = sizeof(TYPE), \
               .true_extent = sizeof(TYPE), \
               .is_contig = true, \
               .as_bytes = true, \
               .is_committed = true, \
               .align = _Alignof(TYPE), \
               .basic = KEEL_##NAME }, \
      .combiner = MPI_COMBINER_NAMED, \
      .nelements = 1 },

static MPIR_Datatype basic_types[] = { MPIR_BASIC_TYPES(BASIC) };

/* The pairs {value, index} are laid out as the C compiler lays out the struct. */
#define PAIR_STRUCT(NAME, VALUE, INDEX, REPR, LAYOUT) \
    typedef struct { \
        VALUE value; \
        INDEX index; \
    } struct_##NAME;
MPIR_PAIR_TYPES(PAIR_STRUCT)

#define PAIR(NAME, VALUE, INDEX, REPR, LAYOUT) \
    { .adi = { .obj = HEADER(NAME), \
               .size = sizeof(VALUE) + sizeof(INDEX), \
               .extent = sizeof(struct_##NAME), \
               .true_extent = offsetof(struct_##NAME, index) + sizeof(INDEX), \
               .is_contig = sizeof(struct_##NAME) == sizeof(VALUE) + sizeof(INDEX), \
               .as_bytes = sizeof(struct_##NAME) == sizeof(VALUE) + sizeof(INDEX), \
               .is_committed = true, \
               .align = _Alignof(struct_##NAME), \
               .basic = KEEL_##NAME, \
               .layout = sizeof(struct_##NAME) == sizeof(VALUE) + sizeof(INDEX) ? NULL : (LAYOUT) }, \
      .combiner = MPI_COMBINER_NAMED, \
      .nelements = 2 },

static MPIR_Datatype pair_types[] = { MPIR_PAIR_TYPES(PAIR) };

/* MPI-1's markers: no data, but the bounds of what they are a part of. */
static MPIR_Datatype marker_types[] = {
    { .adi = { .obj = HEADER(MPI_LB), .is_contig = true, .is_committed = true, .align = 1, .has_lb = true },
      .combiner = MPI_COMBINER_NAMED },
    { .adi = { .obj = HEADER(MPI_UB), .is_contig = true, .is_committed = true, .align = 1, .has_ub = true },
      .combiner = MPI_COMBINER_NAMED },
};

/* Names in the order of the types, one after the other: pointers would have to be relocated when any program starts. */
#define BASIC_NAME(NAME, TYPE, CLASS, REPR) #NAME "\0"
#define PAIR_NAME(NAME, VALUE, INDEX, REPR, LAYOUT) #NAME "\0"
static const char basic_names[] = MPIR_BASIC_TYPES(BASIC_NAME), pair_names[] = MPIR_PAIR_TYPES(PAIR_NAME),
                  marker_names[] = "MPI_LB\0MPI_UB\0";

#define N(a) (sizeof(a) / sizeof *(a))

static const char *nth(const char *names, ptrdiff_t n)
{
    while (n-- > 0)
        names += strlen(names) + 1;
    return names;
}

const char *MPIR_Datatype_name(const MPIR_Datatype *t)
{
    if (t->name != NULL)
        return t->name;
    if (t >= basic_types && t < basic_types + N(basic_types))
        return nth(basic_names, t - basic_types);
    if (t >= pair_types && t < pair_types + N(pair_types))
        return nth(pair_names, t - pair_types);
    return t >= marker_types && t < marker_types + N(marker_types) ? nth(marker_names, t - marker_types)
                                                                   : NULL;
}

static MPIR_Datatype *predefined_types_find(MPIR_Datatype *types, size_t n, int32_t value)
{
    for (size_t i = 0; i < n; i++)
        if (types[i].adi.obj.self == value)
            return &types[i];
    return NULL;
}

MPIR_Datatype *MPIR_Datatype_predefined(int32_t value)
{
    MPIR_Datatype *t = predefined_types_find(basic_types, N(basic_types), value);
    if (t == NULL)
        t = predefined_types_find(pair_types, N(pair_types), value);
    return t ? t : predefined_types_find(marker_types, N(marker_types), value);
}

void MPIR_Datatype_same_as(int32_t value, int32_t like)
{
    MPIR_Datatype *t = MPIR_Datatype_predefined(value);
    const MPIR_Datatype *l = MPIR_Datatype_predefined(like);
    t->adi.size = t->nelements * l->adi.size;
    t->adi.extent = t->adi.true_extent = t->nelements * l->adi.extent;
    t->adi.align = l->adi.align;
    t->adi.basic = l->adi.basic;
}

static void keep_types(MPIR_Datatype *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        types[i].adi.as_bytes = false;
}

void MPIR_Datatype_keep_predefined(void)
{
    keep_types(basic_types, N(basic_types));
    keep_types(pair_types, N(pair_types));
    keep_types(marker_types, N(marker_types));
}

static void forget_names(MPIR_Datatype *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (types[i].name != NULL) {
            free(types[i].name);
            types[i].name = NULL;
        }
}

void MPIR_Datatype_fini_predefined(void)
{
    forget_names(basic_types, N(basic_types));
    forget_names(pair_types, N(pair_types));
    forget_names(marker_types, N(marker_types));
    MPIR_Datatype_fini_unnamed();
}
