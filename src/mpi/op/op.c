/* SPDX-License-Identifier: BSD-3-Clause */
/* op.c: reduction operations: the predefined ones, which mpid_op.h computes, those of the user, MPI_Reduce_local. */
#include <limits.h>
#include <string.h>
#include "callback.h"
#include "op.h"
#include "mpi_err.h"
#include "basic.h"
#include "mpid_op.h"
#include "bodies.h"

#define OBJECT(NAME) \
    { \
        .obj = { .index = KEEL_NO_INDEX, \
                 .gen = 1, \
                 .kind = MPIR_KIND_OP, \
                 .flags = KEEL_OBJ_PREDEFINED, \
                 .refs = 1, \
                 .self = KEEL_MPI_##NAME }, \
        .commutative = true, .name = "MPI_" #NAME \
    }
static MPIR_Op predefined[] = { OBJECT(SUM),    OBJECT(PROD),   OBJECT(MAX),     OBJECT(MIN),  OBJECT(BAND),
                                OBJECT(BOR),    OBJECT(BXOR),   OBJECT(LAND),    OBJECT(LOR),  OBJECT(LXOR),
                                OBJECT(MAXLOC), OBJECT(MINLOC), OBJECT(REPLACE), OBJECT(NO_OP) };

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
    int classes = MPID_Op_classes(op);
    if (classes & MPIR_CLASS_COMPLEX)
        return "an integer, floating-point or complex type";
    if (classes & MPIR_CLASS_BOOL)
        return "an integer, floating-point or logical type";
    if (classes & MPIR_CLASS_FLOAT)
        return "an integer or floating-point type";
    if (classes & MPIR_CLASS_C_INTEGER)
        return "an integer or character type or MPI_BYTE";
    return "a pair type such as MPI_DOUBLE_INT";
}

/* MPI_2INTEGER and its like, once the size of Fortran's numbers has been told: two of a type that has no pair of
 * its own. */
static bool has_two_numbers(const MPIR_Datatype *t)
{
    return t->nelements == 2 && t->combiner == MPI_COMBINER_NAMED && t->adi.basic &&
           MPID_Op_class_of(t->adi.basic) != MPIR_CLASS_PAIR;
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

/* Pairs that are no basic type. */
static bool has_pairs(const MPIR_Datatype *t)
{
    return t->combiner == MPI_COMBINER_VALUE_INDEX || has_two_numbers(t);
}

static struct MPID_Op_pair pair_of(const MPIR_Datatype *t)
{
    if (has_two_numbers(t))
        return (struct MPID_Op_pair){ t->adi.basic, t->adi.basic, t->adi.size / 2, t->adi.extent };
    const MPIR_Datatype *value = t->types[0], *index = t->types[1];
    return (struct MPID_Op_pair){ value->adi.basic, index->adi.basic, t->adi.true_extent - index->adi.size,
                                  t->adi.extent };
}

static bool can_compute(int32_t op, const MPIR_Datatype *t)
{
    if (!has_pairs(t))
        return MPID_Op_kernel(op, t->adi.basic) != NULL;
    struct MPID_Op_pair p = pair_of(t);
    return (MPID_Op_classes(op) & MPIR_CLASS_PAIR) && MPID_Op_pair_known(&p);
}

/* Say why; t is NULL for a derived type. */
static int op_refuse(const MPIR_Op *op, const MPIR_Datatype *t)
{
    int32_t value = op->obj.self;
    if (value == KEEL_MPI_REPLACE || value == KEEL_MPI_NO_OP)
        return MPIR_Err(MPI_ERR_OP, "op", "is %s, which is for one-sided communication only", op->name);
    if (t == NULL)
        return MPIR_Err(MPI_ERR_OP, "op",
                        "is %s with a derived datatype; expected %s, or an operation of your own", op->name,
                        expected_types(value));
    const char *its = MPIR_Datatype_name(t), *name = its ? its : "a predefined type without a name";
    if (!(MPID_Op_classes(value) & (has_pairs(t) ? MPIR_CLASS_PAIR : MPID_Op_class_of(t->adi.basic))))
        return MPIR_Err(MPI_ERR_OP, "op", "is %s, which is not defined on %s; expected %s", op->name, name,
                        expected_types(value));
    return MPIR_Err(MPI_ERR_OP, "op", "is %s on %s, which this library's compiler could not compute with",
                    op->name, name);
}

int MPIR_Op_check(const MPIR_Op *op, const MPIR_Datatype *type)
{
    if (op->user)
        return MPI_SUCCESS;
    const MPIR_Datatype *t = predefined_of(type);
    return t && can_compute(op->obj.self, t) ? MPI_SUCCESS : op_refuse(op, t);
}

/* ---- applying ---- */

/* A user function of the small binding takes an int length: longer arrays go in pieces. */
static void apply_user(const MPIR_Op *op, const void *in, void *inout, int64_t count, MPIR_Datatype *type)
{
    const MPIR_Callback *cb = &op->callback;
    int64_t most = cb->convention == MPIR_CALL_LARGE ? INT64_MAX : INT_MAX;
    for (int64_t at = 0; at < count; at += most) {
        int64_t n = count - at < most ? count - at : most;
        uintptr_t moved = (uintptr_t)at * (uintptr_t)type->adi.extent;
        bool claimed = MPIR_Callback_begin();
        cb->abi->call_op(cb, (void *)((uintptr_t)in + moved), (void *)((uintptr_t)inout + moved), n, type);
        MPIR_Callback_end(claimed);
        if (count - at <= most)
            return; /* at += most may overflow */
    }
}

static inline MPIR_Op_loop *loop_of(const MPIR_Op *op, const MPIR_Datatype *type)
{
    if (op->user)
        return NULL;
    bool plain = type->combiner == MPI_COMBINER_NAMED && type->nelements == 1;
    return plain || !has_pairs(predefined_of(type)) ? MPID_Op_kernel(op->obj.self, type->adi.basic) : NULL;
}

uint32_t MPIR_Op_digest(const MPIR_Op *op, const MPIR_Datatype *type)
{
    const MPIR_Datatype *t = op->user ? NULL : predefined_of(type);
    int class = t && !has_pairs(t) ? MPID_Op_class_of(t->adi.basic) : MPIR_CLASS_NONE;
    if (op->user)
        return 0;
    return ((uint32_t)op->obj.self & MPIR_OP_DIGEST_OP) |
           (class == MPIR_CLASS_NONE ? 0 : ((uint32_t) class * 31 + (uint32_t)t->adi.size + 1) << 8);
}

MPIR_Op_loop *MPIR_Op_loop_of(const MPIR_Op *op, const MPIR_Datatype *type)
{
    return loop_of(op, type);
}

/* What has no loop alone. */
static __attribute__((noinline)) void apply_otherwise(const MPIR_Op *op, const void *in, void *inout,
                                                      int64_t count, MPIR_Datatype *type)
{
    if (op->user) {
        apply_user(op, in, inout, count, type);
    } else {
        struct MPID_Op_pair pair = pair_of(predefined_of(type));
        MPID_Op_pairs(op->obj.self, &pair, in, inout, count);
    }
}

void MPIR_Op_apply(const MPIR_Op *op, const void *in, void *inout, int64_t count, MPIR_Datatype *type)
{
    if (count <= 0)
        return;
    MPIR_Op_loop *loop = loop_of(op, type);
    if (loop)
        loop(in, inout, inout, count);
    else
        apply_otherwise(op, in, inout, count, type);
}

void MPIR_Op_combine(const MPIR_Op *op, const void *in, const void *with, void *to, int64_t count,
                     MPIR_Datatype *type)
{
    MPIR_Op_loop *loop = loop_of(op, type);
    if (loop && count > 0) {
        loop(in, with, to, count);
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
    if (!MPIR_Object_unref(op))
        return;
    MPIR_Callback fn = op->callback;
    MPIR_Object_free(op);
    if (fn.abi->gone)
        fn.abi->gone(&fn);
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
