/* predefined.c: the predefined datatypes: static objects, made at compile time from the rows of basic.h. */
#include <stddef.h>
#include <stdlib.h>
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
               .is_committed = true, \
               .align = _Alignof(TYPE), \
               .basic = KEEL_##NAME }, \
      .combiner = MPI_COMBINER_NAMED, \
      .nelements = 1, \
      .name = #NAME, \
      .default_name = #NAME },

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
               .is_committed = true, \
               .align = _Alignof(struct_##NAME), \
               .basic = KEEL_##NAME, \
               .layout = sizeof(struct_##NAME) == sizeof(VALUE) + sizeof(INDEX) ? NULL : (LAYOUT) }, \
      .combiner = MPI_COMBINER_NAMED, \
      .nelements = 2, \
      .name = #NAME, \
      .default_name = #NAME },

static MPIR_Datatype pair_types[] = { MPIR_PAIR_TYPES(PAIR) };

/* MPI-1's markers: no data, but the bounds of what they are a part of. */
static MPIR_Datatype marker_types[] = {
    { .adi = { .obj = HEADER(MPI_LB), .is_contig = true, .is_committed = true, .align = 1, .has_lb = true },
      .combiner = MPI_COMBINER_NAMED,
      .name = "MPI_LB",
      .default_name = "MPI_LB" },
    { .adi = { .obj = HEADER(MPI_UB), .is_contig = true, .is_committed = true, .align = 1, .has_ub = true },
      .combiner = MPI_COMBINER_NAMED,
      .name = "MPI_UB",
      .default_name = "MPI_UB" },
};

static MPIR_Datatype *find(MPIR_Datatype *types, size_t n, int32_t value)
{
    for (size_t i = 0; i < n; i++)
        if (types[i].adi.obj.self == value)
            return &types[i];
    return NULL;
}

MPIR_Datatype *MPIR_Datatype_predefined(int32_t value)
{
    MPIR_Datatype *t = find(basic_types, sizeof basic_types / sizeof *basic_types, value);
    if (t == NULL)
        t = find(pair_types, sizeof pair_types / sizeof *pair_types, value);
    return t ? t : find(marker_types, sizeof marker_types / sizeof *marker_types, value);
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

static void forget_names(MPIR_Datatype *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (types[i].name != types[i].default_name) {
            free((char *)types[i].name);
            types[i].name = types[i].default_name;
        }
}

void MPIR_Datatype_fini_predefined(void)
{
    forget_names(basic_types, sizeof basic_types / sizeof *basic_types);
    forget_names(pair_types, sizeof pair_types / sizeof *pair_types);
    forget_names(marker_types, sizeof marker_types / sizeof *marker_types);
    MPIR_Datatype_fini_unnamed();
}
