/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_types.h: rows of misuse.c about datatypes, operations, reductions. */
#ifndef ROWS_TYPES_H
#define ROWS_TYPES_H

#include "misuse.h"

/* ---- Datatypes */

static int type_count(void)
{
    MPI_Datatype t;
    return MPI_Type_contiguous(-1, I, &t);
}
static int type_blocklength(void)
{
    MPI_Datatype t;
    return MPI_Type_vector(1, -1, 1, I, &t);
}
static int type_lengths(void)
{
    MPI_Datatype t;
    return MPI_Type_indexed(1, minus, zeros, I, &t);
}
static int type_struct_null(void)
{
    MPI_Datatype t, none = MPI_DATATYPE_NULL;
    MPI_Aint at = 0;
    return MPI_Type_create_struct(1, ones, &at, &none, &t);
}
static int type_struct_null_empty(void)
{
    MPI_Datatype t, none = MPI_DATATYPE_NULL;
    MPI_Aint at = 0;
    return MPI_Type_create_struct(1, zeros, &at, &none, &t);
}
static int type_null(void)
{
    MPI_Datatype t;
    return MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t);
}
static int type_free_predefined(void)
{
    MPI_Datatype t = MPI_INT;
    return MPI_Type_free(&t);
}
static int type_commit_predefined(void)
{
    MPI_Datatype t = MPI_INT;
    return MPI_Type_commit(&t);
}
static int type_free_null(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    return MPI_Type_free(&t);
}
static int subarray(const int *sizes, const int *subsizes, const int *starts, int order)
{
    MPI_Datatype t;
    return MPI_Type_create_subarray(1, sizes, subsizes, starts, order, I, &t);
}
static int subarray_size(void)
{
    return subarray(zeros, ones, zeros, MPI_ORDER_C);
}
static int subarray_empty(void)
{
    return subarray(ones, zeros, zeros, MPI_ORDER_C);
}
static int subarray_outside(void)
{
    return subarray(ones, ones, ones, MPI_ORDER_C);
}
static int subarray_order(void)
{
    return subarray(ones, ones, zeros, -99);
}
static int subarray_dims(void)
{
    MPI_Datatype t;
    return MPI_Type_create_subarray(0, ones, ones, zeros, MPI_ORDER_C, I, &t);
}
static int darray(int ranks, int at, int distribution, int argument, int grid_size)
{
    MPI_Datatype t;
    int g[1] = { 8 };
    return MPI_Type_create_darray(ranks, at, 1, g, &distribution, &argument, &grid_size, MPI_ORDER_C, I, &t);
}
static int darray_rank(void)
{
    return darray(2, 5, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 2);
}
static int darray_distribution(void)
{
    return darray(2, 0, -99, MPI_DISTRIBUTE_DFLT_DARG, 2);
}
static int darray_argument(void)
{
    return darray(2, 0, MPI_DISTRIBUTE_BLOCK, 1, 2);
}
static int darray_product(void)
{
    return darray(4, 0, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 2);
}
static int darray_none(void)
{
    return darray(2, 0, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 2);
}
static int f90_integer(void)
{
    MPI_Datatype t;
    return MPI_Type_create_f90_integer(99, &t);
}
static int f90_real(void)
{
    MPI_Datatype t;
    return MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t);
}
static int match_size(void)
{
    MPI_Datatype t;
    return MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &t);
}
static int match_class(void)
{
    MPI_Datatype t;
    return MPI_Type_match_size(-99, 4, &t);
}
static int contents_named(void)
{
    MPI_Aint x;
    MPI_Datatype t;
    return MPI_Type_get_contents(MPI_INT, 0, 0, 0, a, &x, &t);
}
static int contents_small(void)
{
    MPI_Aint x;
    MPI_Datatype t;
    return MPI_Type_get_contents(vector(0), 0, 0, 0, a, &x, &t);
}
static int pack_small(void)
{
    int at = 0;
    return MPI_Pack(a, 4, I, b, 4, &at, W);
}
static int pack_position(void)
{
    int at = -1;
    return MPI_Pack(a, 1, I, b, 40, &at, W);
}
static int unpack_small(void)
{
    int at = 0;
    return MPI_Unpack(b, 4, &at, a, 4, I, W);
}
static int pack_uncommitted(void)
{
    int at = 0;
    return MPI_Pack(a, 1, vector(0), b, 40, &at, W);
}
static int pack_size_uncommitted(void)
{
    int n;
    return MPI_Pack_size(1, vector(0), W, &n);
}
static int pack_external_name(void)
{
    MPI_Aint at = 0;
    return MPI_Pack_external("external99", a, 1, I, b, 40, &at);
}
static int type_name_null(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    return MPI_Type_get_name(MPI_DATATYPE_NULL, name, &n);
}

/* ---- Operations, reductions */

static void add(void *x, void *y, int *n, MPI_Datatype *t)
{
    (void)x, (void)y, (void)n, (void)t;
}
static int op_free_predefined(void)
{
    MPI_Op op = MPI_SUM;
    return MPI_Op_free(&op);
}
static int reduce(MPI_Op op, MPI_Datatype t)
{
    return MPI_Allreduce(a, b, 1, t, op, S);
}
static int reduce_local(MPI_Op op, MPI_Datatype t)
{
    return MPI_Reduce_local(a, b, 1, t, op);
}
static int reduce_null_op(void)
{
    return reduce(MPI_OP_NULL, I);
}
static int reduce_and_double(void)
{
    return reduce(MPI_BAND, MPI_DOUBLE);
}
static int reduce_sum_char(void)
{
    return reduce(MPI_SUM, MPI_CHAR);
}
static int reduce_max_char(void)
{
    return reduce(MPI_MAX, MPI_CHAR);
}
static int reduce_sum_byte(void)
{
    return reduce(MPI_SUM, MPI_BYTE);
}
static int reduce_max_byte(void)
{
    return reduce(MPI_MAX, MPI_BYTE);
}
static int reduce_logical_float(void)
{
    return reduce(MPI_LAND, MPI_FLOAT);
}
static int reduce_max_complex(void)
{
    return reduce(MPI_MAX, MPI_C_DOUBLE_COMPLEX);
}
static int reduce_maxloc_int(void)
{
    return reduce(MPI_MAXLOC, I);
}
static int reduce_sum_pair(void)
{
    return reduce(MPI_SUM, MPI_2INT);
}
static int reduce_replace(void)
{
    return reduce(MPI_REPLACE, I);
}
static int reduce_no_op(void)
{
    return reduce(MPI_NO_OP, I);
}
static int reduce_derived(void)
{
    return reduce(MPI_SUM, vector(1));
}
static int reduce_packed(void)
{
    return reduce(MPI_SUM, MPI_PACKED);
}
static int reduce_sum_bool(void)
{
    return reduce(MPI_SUM, MPI_C_BOOL);
}
static int reduce_band_bool(void)
{
    return reduce(MPI_BAND, MPI_C_BOOL);
}
static int reduce_max_bool(void)
{
    return reduce(MPI_MAX, MPI_C_BOOL);
}
static int reduce_land_complex(void)
{
    return reduce(MPI_LAND, MPI_C_DOUBLE_COMPLEX);
}
static int reduce_sum_wchar(void)
{
    return reduce(MPI_SUM, MPI_WCHAR);
}
static int reduce_max_wchar(void)
{
    return reduce(MPI_MAX, MPI_WCHAR);
}
static int local_sum_char(void)
{
    return reduce_local(MPI_SUM, MPI_CHAR);
}
static int local_same(void)
{
    return MPI_Reduce_local(a, a, 1, I, MPI_SUM);
}
static int local_replace(void)
{
    return reduce_local(MPI_REPLACE, I);
}
static int local_count(void)
{
    return MPI_Reduce_local(a, b, -1, I, MPI_SUM);
}
static int commutative_null(void)
{
    return MPI_Op_commutative(MPI_OP_NULL, a);
}
static int user_derived(void)
{
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    return reduce(op, vector(1));
}

#endif
