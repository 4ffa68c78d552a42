/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h: what the tests of collectives send and combine: numbers that differ for each rank and place, types
 * with gaps, an operation that does not commute; and what comes of them, computed by one process. */
#ifndef VALUES_H
#define VALUES_H

#include "forms.h"

static const int counts[] = { 0, 1, 3, 17, 500, 9000 };
enum { NCOUNTS = sizeof counts / sizeof counts[0], MOST = 9000, GUARD = 0x5a5a5a5a };

/* Element i of what rank r contributes; small enough that sums and products of a few stay exact. */
static int val(int r, int64_t i)
{
    return (int)((uint64_t)(r + 1) * 2654435761u + (uint64_t)i * 40503u) & 0xffff;
}

static int *ints(int64_t n)
{
    int *p = malloc((size_t)(n + 1) * sizeof *p);
    for (int64_t i = 0; i <= n; i++)
        p[i] = GUARD;
    return p;
}

static int *filled(int r, int64_t n)
{
    int *p = ints(n);
    for (int64_t i = 0; i < n; i++)
        p[i] = val(r, i);
    return p;
}

/* Every second int: count of them at stride 2.  Extent 8 bytes, so elements follow each other with gaps. */
static MPI_Datatype gappy;
/* A type that begins before its buffer: lower bound -4. */
static MPI_Datatype low;

static void make_types(void)
{
    int len[1] = { 1 }, displ[1] = { -1 };
    MPI_Datatype t;
    MPI_Type_create_resized(MPI_INT, 0, 8, &gappy);
    MPI_Type_commit(&gappy);
    MPI_Type_indexed(1, len, displ, MPI_INT, &t);
    MPI_Type_create_resized(t, -4, 8, &low);
    MPI_Type_commit(&low);
    MPI_Type_free(&t);
}

static void free_types(void)
{
    MPI_Type_free(&gappy);
    MPI_Type_free(&low);
}

/* What rank a sends to rank b. */
static int pair_val(int a, int b, int64_t i)
{
    return val(a * 131 + b, i);
}

/* x -> a x + b, composed from left to right: associative, not commutative.  An element is two unsigned. */
struct affine {
    unsigned a, b;
};
static struct affine compose(struct affine f, struct affine g)
{
    return (struct affine){ f.a * g.a, g.a * f.b + g.b };
}
static void compose_all(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct affine *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        g[i] = compose(f[i], g[i]);
}
static struct affine aff(int r, int64_t i)
{
    return (struct affine){ 2 * (unsigned)val(r, i) + 1, (unsigned)val(r, i + 77) };
}

static MPI_Op op_affine;
static MPI_Datatype type_affine;

/* The results of ranks first .. last by one process. */
static struct affine composed(int first, int last, int64_t i)
{
    struct affine f = aff(first, i);
    for (int r = first + 1; r <= last; r++)
        f = compose(f, aff(r, i));
    return f;
}
static long long summed(int first, int last, int64_t i)
{
    long long s = 0;
    for (int r = first; r <= last; r++)
        s += val(r, i);
    return s;
}

static struct affine *affines(int64_t n)
{
    struct affine *p = malloc((size_t)(n + 1) * sizeof *p);
    for (int64_t i = 0; i <= n; i++)
        p[i] = (struct affine){ GUARD, GUARD };
    return p;
}
static struct affine *affines_of(int r, int64_t n)
{
    struct affine *p = affines(n);
    for (int64_t i = 0; i < n; i++)
        p[i] = aff(r, i);
    return p;
}

/* out[0 .. n) are the compositions of first .. last of elements from `at` on. */
static void expect_affine(const struct affine *out, int64_t n, int64_t at, int first, int last,
                          const char *what)
{
    for (int64_t i = 0; i < n; i++) {
        struct affine e = composed(first, last, at + i);
        if (out[i].a != e.a || out[i].b != e.b) {
            CHECK(0, "%s of %lld, element %lld is %u x + %u; expected %u x + %u", what, (long long)n,
                  (long long)i, out[i].a, out[i].b, e.a, e.b);
            return;
        }
    }
    CHECK(out[n].a == GUARD, "%s wrote beyond its end", what);
}
static void expect_sum(const int *out, int64_t n, int64_t at, int first, int last, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (out[i] != summed(first, last, at + i)) {
            CHECK_EQ(out[i], summed(first, last, at + i), "%s of %lld, element %lld", what, (long long)n,
                     (long long)i);
            return;
        }
    CHECK_EQ(out[n], GUARD, "%s wrote beyond its end", what);
}

/* A user operation on a type with gaps and a lower bound below 0: gaps are not touched. */
static void add_gappy(void *in, void *inout, int *len, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *len; i++)
        *(int *)((char *)inout + i * extent + lb) += *(int *)((char *)in + i * extent + lb);
}

static void make_values(void)
{
    make_types();
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type_affine);
    MPI_Type_commit(&type_affine);
    MPI_Op_create(compose_all, 0, &op_affine);
}

static void free_values(void)
{
    MPI_Op_free(&op_affine);
    MPI_Type_free(&type_affine);
    free_types();
}

#endif
