/* op.c: reduction operations: the predefined ones and which types each is defined on (MPI 5.0, 7.9.2 and 7.9.4), those of
 * the user, MPI_Reduce_local. */
#include <limits.h>
#include <string.h>
#include "op.h"
#include "err.h"
#include "basic.h"
#include "kernel.h"
#include "bodies.h"

enum {
    INTEGERS = MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_MULTI,
    ORDERED = INTEGERS | MPIR_CLASS_FLOAT,
    SUMS = ORDERED | MPIR_CLASS_COMPLEX,
    TRUTHS = MPIR_CLASS_C_INTEGER | MPIR_CLASS_LOGICAL,
    BITS = INTEGERS | MPIR_CLASS_BYTE
};

/* ROW(name, classes it is defined on) */
#define PREDEFINED_OPS(ROW) \
    ROW(SUM, SUMS) \
    ROW(PROD, SUMS) \
    ROW(MAX, ORDERED) \
    ROW(MIN, ORDERED) \
    ROW(BAND, BITS) \
    ROW(BOR, BITS) \
    ROW(BXOR, BITS) \
    ROW(LAND, TRUTHS) \
    ROW(LOR, TRUTHS) \
    ROW(LXOR, TRUTHS) \
    ROW(MAXLOC, MPIR_CLASS_PAIR) \
    ROW(MINLOC, MPIR_CLASS_PAIR) \
    ROW(REPLACE, 0) \
    ROW(NO_OP, 0)

#define OBJECT(NAME, CLASSES) \
    { .obj = { .index = KEEL_NO_INDEX, \
               .gen = 1, \
               .kind = MPIR_KIND_OP, \
               .flags = KEEL_OBJ_PREDEFINED, \
               .refs = 1, \
               .self = KEEL_MPI_##NAME }, \
      .commutative = true, \
      .name = "MPI_" #NAME },
static MPIR_Op predefined[] = { PREDEFINED_OPS(OBJECT) };

#define CLASSES_OF(NAME, CLASSES) [KEEL_MPI_##NAME - KEEL_MPI_OP_NULL] = (CLASSES),
static const uint8_t op_classes[] = { PREDEFINED_OPS(CLASSES_OF) };

struct basic {
    uint8_t class, repr;
};
#define BASIC_ROW(NAME, TYPE, CLASS, REPR) \
    [KEEL_##NAME - KEEL_MPI_DATATYPE_NULL] = { MPIR_CLASS_##CLASS, REPR },
#define PAIR_ROW(NAME, VALUE, INDEX, REPR, LAYOUT) \
    [KEEL_##NAME - KEEL_MPI_DATATYPE_NULL] = { MPIR_CLASS_PAIR, REPR },
static const struct basic basics[] = { MPIR_BASIC_TYPES(BASIC_ROW) MPIR_PAIR_TYPES(PAIR_ROW) };

MPIR_Op *MPIR_Op_predefined(int32_t value)
{
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++)
        if (predefined[i].obj.self == value)
            return &predefined[i];
    return NULL;
}

/* ---- on which types ---- */

static const char *expected_types(int32_t op)
{
    switch (op_classes[op - KEEL_MPI_OP_NULL]) {
    case SUMS:
        return "an integer, floating-point or complex type";
    case ORDERED:
        return "an integer or floating-point type";
    case BITS:
        return "an integer type or MPI_BYTE";
    case TRUTHS:
        return "a C integer or logical type";
    default:
        return "a pair type such as MPI_DOUBLE_INT";
    }
}

static struct basic basic_of(const MPIR_Datatype *t)
{
    return basics[t->adi.basic - KEEL_MPI_DATATYPE_NULL];
}

/* MPI_2INTEGER and its like, once the size of Fortran's numbers has been told: two of a type that has no pair of its own. */
static bool has_two_numbers(const MPIR_Datatype *t)
{
    return t->combiner == MPI_COMBINER_NAMED && t->nelements == 2 && t->adi.basic &&
           basic_of(t).class != MPIR_CLASS_PAIR;
}

/* The predefined type that this one is, or is a duplicate of; NULL: a derived type. */
static const MPIR_Datatype *predefined_of(const MPIR_Datatype *type)
{
    while (type->combiner == MPI_COMBINER_DUP)
        type = type->types[0];
    switch (type->combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
        return type->adi.basic ? type : NULL; /* not MPI_LB */
    case MPI_COMBINER_VALUE_INDEX:
        return type;
    }
    return NULL;
}

/* A pair without a name has no representation of its own. */
static struct basic predefined_basic(const MPIR_Datatype *t)
{
    bool unnamed = t->combiner == MPI_COMBINER_VALUE_INDEX || has_two_numbers(t);
    return unnamed ? (struct basic){ MPIR_CLASS_PAIR, 0 } : basic_of(t);
}

static bool can_compute(int32_t op, const MPIR_Datatype *t)
{
    if (t->combiner == MPI_COMBINER_VALUE_INDEX)
        return MPIR_Op_pair_known(basic_of(t->types[0]).repr) &&
               MPIR_Op_pair_known(basic_of(t->types[1]).repr);
    if (has_two_numbers(t))
        return MPIR_Op_pair_known(basic_of(t).repr);
    return MPIR_Op_kernel_of(op, basic_of(t).repr) != NULL;
}

int MPIR_Op_check(const MPIR_Op *op, const MPIR_Datatype *type)
{
    if (op->user)
        return MPI_SUCCESS;
    const MPIR_Datatype *t = predefined_of(type);
    int32_t value = op->obj.self;
    if (value == KEEL_MPI_REPLACE || value == KEEL_MPI_NO_OP)
        return MPIR_Err(MPI_ERR_OP, "op", "is %s, which is for one-sided communication only", op->name);
    if (t == NULL)
        return MPIR_Err(MPI_ERR_OP, "op",
                        "is %s with a derived datatype; expected %s, or an operation of your own", op->name,
                        expected_types(value));
    const char *name = t->name ? t->name : "a predefined type without a name";
    if (!(op_classes[value - KEEL_MPI_OP_NULL] & predefined_basic(t).class))
        return MPIR_Err(MPI_ERR_OP, "op", "is %s, which is not defined on %s; expected %s", op->name, name,
                        expected_types(value));
    if (!can_compute(value, t))
        return MPIR_Err(MPI_ERR_OP, "op", "is %s on %s, which this library's compiler could not compute with",
                        op->name, name);
    return MPI_SUCCESS;
}

/* ---- applying ---- */

/* A user function of the small binding takes an int length: longer arrays go in pieces. */
static void apply_user(const MPIR_Op *op, const void *in, void *inout, int64_t count, MPIR_Datatype *type)
{
    const MPIR_Callback *cb = &op->callback;
    int64_t most = cb->convention == MPIR_CALL_C_LARGE ? INT64_MAX : INT_MAX;
    for (int64_t at = 0; at < count; at += most) {
        int64_t n = count - at < most ? count - at : most;
        uintptr_t moved = (uintptr_t)at * (uintptr_t)type->adi.extent;
        cb->abi->call_op(cb, (void *)((uintptr_t)in + moved), (void *)((uintptr_t)inout + moved), n, type);
        if (count - at <= most)
            return; /* at += most may overflow */
    }
}

static bool has_pairs(const MPIR_Datatype *type)
{
    const MPIR_Datatype *t = type->combiner == MPI_COMBINER_NAMED ? type : predefined_of(type);
    return t->combiner == MPI_COMBINER_VALUE_INDEX || has_two_numbers(t);
}

static struct op_pair pair_of(const MPIR_Datatype *t)
{
    if (has_two_numbers(t)) {
        int64_t each = t->adi.size / 2;
        return (struct op_pair){ basic_of(t).repr, basic_of(t).repr, each, each, each, t->adi.extent };
    }
    const MPIR_Datatype *value = t->types[0], *index = t->types[1];
    return (struct op_pair){ basic_of(value).repr,
                             basic_of(index).repr,
                             value->adi.size,
                             index->adi.size,
                             t->adi.true_extent - index->adi.size,
                             t->adi.extent };
}

static void apply_pairs(const MPIR_Op *op, const void *in, void *inout, int64_t count,
                        const MPIR_Datatype *type)
{
    struct op_pair p = pair_of(predefined_of(type));
    MPIR_Op_pairs(op->obj.self == KEEL_MPI_MAXLOC, &p, in, inout, count);
}

/* LOGICALs of Fortran, once their values are told. */
static bool has_logicals(const MPIR_Datatype *type)
{
    return __builtin_expect(MPID_Logicals.set, 0) && basic_of(type).class == MPIR_CLASS_LOGICAL &&
           type->adi.basic != KEEL_MPI_C_BOOL && type->adi.basic != KEEL_MPI_CXX_BOOL;
}

MPIR_Op_loop *MPIR_Op_loop_of(const MPIR_Op *op, const MPIR_Datatype *type)
{
    if (op->user || has_pairs(type) || has_logicals(type))
        return NULL;
    return MPIR_Op_kernel_of(op->obj.self, basic_of(type).repr);
}

void MPIR_Op_apply(const MPIR_Op *op, const void *in, void *inout, int64_t count, MPIR_Datatype *type)
{
    op_kernel *kernel = MPIR_Op_loop_of(op, type);
    if (count <= 0)
        return;
    if (kernel)
        kernel(in, inout, inout, count);
    else if (op->user)
        apply_user(op, in, inout, count, type);
    else if (has_pairs(type))
        apply_pairs(op, in, inout, count, type);
    else
        MPIR_Op_logicals(op->obj.self, type->adi.size, in, inout, count);
}

void MPIR_Op_combine(const MPIR_Op *op, const void *in, const void *with, void *to, int64_t count,
                     MPIR_Datatype *type)
{
    op_kernel *kernel = MPIR_Op_loop_of(op, type);
    if (kernel && count > 0) {
        kernel(in, with, to, count);
        return;
    }
    if (to != with && count > 0)
        memcpy(to, with, (size_t)(count * type->adi.extent));
    MPIR_Op_apply(op, in, to, count, type);
}

/* ---- the procedures ---- */

int MPIR_Op_create(MPIR_Callback user_fn, int commute, MPIR_Op **op)
{
    if (user_fn.fn == NULL)
        return MPIR_Err(MPI_ERR_ARG, "user_fn", "is NULL; expected a function");
    MPIR_Op *o = MPIR_Object_alloc(MPIR_KIND_OP);
    if (o == NULL)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a new operation");
    o->user = true;
    o->commutative = commute != 0;
    o->callback = user_fn;
    *op = o;
    return MPI_SUCCESS;
}

void MPIR_Op_release(MPIR_Op *op)
{
    if (MPIR_Object_unref(op))
        MPIR_Object_free(op);
}

int MPIR_Op_free(MPIR_Op **op)
{
    if (!(*op)->user)
        return MPIR_Err(MPI_ERR_OP, "op", "is %s; expected an operation that is not predefined", (*op)->name);
    MPIR_Object_rename(*op);
    MPIR_Op_release(*op);
    *op = NULL;
    return MPI_SUCCESS;
}

int MPIR_Op_commutative(MPIR_Op *op, int *commute)
{
    *commute = op->commutative;
    return MPI_SUCCESS;
}

int MPIR_Reduce_local(const void *inbuf, void *inoutbuf, MPI_Count count, MPIR_Datatype *datatype,
                      MPIR_Op *op)
{
    int err = MPIR_Op_check(op, datatype);
    if (err)
        return err;
    if (inbuf == inoutbuf && count > 0 && datatype->adi.size > 0)
        return MPIR_Err(MPI_ERR_BUFFER, "inbuf", "is the same as inoutbuf; expected two buffers");
    MPIR_Op_apply(op, inbuf, inoutbuf, count, datatype);
    return MPI_SUCCESS;
}
