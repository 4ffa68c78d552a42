/* predefined.c: the predefined datatypes: static objects, made at compile time from the rows of basic.h. */
#include "type.h"
#include "basic.h"
#include "mpid/core/layout.h"

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
      .name = #NAME },

static MPIR_Datatype basic_types[] = { MPIR_BASIC_TYPES(BASIC) };

/* The pairs {value, index} are laid out as the C compiler lays out the struct.  In memory the data ends with the index;
 * between the two there may be a gap (MPI_SHORT_INT). */
#define PAIR_LAYOUT(NAME, VALUE, INDEX, REPR) \
    typedef struct { \
        VALUE value; \
        INDEX index; \
    } struct_##NAME; \
    static int64_t off_##NAME[] = { 0, offsetof(struct_##NAME, index) }; \
    static int64_t start_##NAME[] = { 0, sizeof(VALUE), sizeof(VALUE) + sizeof(INDEX) }; \
    static struct MPID_LIST list_##NAME = { .refs = 1, \
                                            .kind = MPID_LIST_RUNS, \
                                            .n = 2, \
                                            .bytes = sizeof(VALUE) + sizeof(INDEX), \
                                            .off = off_##NAME, \
                                            .start = start_##NAME, \
                                            .runs = 2 }; \
    static struct MPID_LAYOUT layout_##NAME = { \
        .refs = 1, \
        .size = sizeof(VALUE) + sizeof(INDEX), \
        .leaf = sizeof(VALUE) + sizeof(INDEX), \
        .list = offsetof(struct_##NAME, index) == sizeof(VALUE) ? NULL : &list_##NAME, \
    };
MPIR_PAIR_TYPES(PAIR_LAYOUT)

#define PAIR(NAME, VALUE, INDEX, REPR) \
    { .adi = { .obj = HEADER(NAME), \
               .size = sizeof(VALUE) + sizeof(INDEX), \
               .extent = sizeof(struct_##NAME), \
               .true_extent = offsetof(struct_##NAME, index) + sizeof(INDEX), \
               .is_contig = sizeof(struct_##NAME) == sizeof(VALUE) + sizeof(INDEX), \
               .is_committed = true, \
               .align = _Alignof(struct_##NAME), \
               .basic = KEEL_##NAME, \
               .layout = sizeof(struct_##NAME) == sizeof(VALUE) + sizeof(INDEX) ? NULL : &layout_##NAME }, \
      .combiner = MPI_COMBINER_NAMED, \
      .nelements = 2, \
      .name = #NAME },

static MPIR_Datatype pair_types[] = { MPIR_PAIR_TYPES(PAIR) };

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
    return t ? t : find(pair_types, sizeof pair_types / sizeof *pair_types, value);
}
