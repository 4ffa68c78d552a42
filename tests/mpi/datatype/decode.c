/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Type_get_envelope and MPI_Type_get_contents give back each constructor's arguments. */
/* ranks: 1 2 */
/* abi: mpich, because a handle that was freed may be another object's */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

static int ints[20];
static MPI_Aint addrs[20];
static MPI_Datatype types[20];
static MPI_Count larges[20];

static void expect(int line, MPI_Datatype t, int combiner, int ni, const int *wi, int na, const MPI_Aint *wa,
                   int nt, MPI_Datatype first)
{
    int gi = -1, ga = -1, gt = -1, gc = -1;
    OK(MPI_Type_get_envelope(t, &gi, &ga, &gt, &gc));
    CHECK(gi == ni && ga == na && gt == nt && gc == combiner, "line %d: envelope %d %d %d %d", line, gi, ga,
          gt, gc);
    OK(MPI_Type_get_contents(t, 20, 20, 20, ints, addrs, types));
    for (int i = 0; i < ni; i++)
        CHECK_EQ(ints[i], wi[i], "line %d: integer %d", line, i);
    for (int i = 0; i < na; i++)
        CHECK_EQ(addrs[i], wa[i], "line %d: address %d", line, i);
    if (nt)
        CHECK(types[0] == first, "line %d: the old type", line);
    OK(MPI_Type_free(&t));
}
#define I(...) \
    (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), (int[]) \
    { \
        __VA_ARGS__ \
    }
#define A(...) \
    (int)(sizeof((MPI_Aint[]){ __VA_ARGS__ }) / sizeof(MPI_Aint)), (MPI_Aint[]) \
    { \
        __VA_ARGS__ \
    }
#define NONE 0, NULL
#define EXPECT(...) expect(__LINE__, __VA_ARGS__)

static void try_derived(void)
{
    MPI_Datatype v, c;
    OK(MPI_Type_vector(2, 3, 4, MPI_CHAR, &v));
    OK(MPI_Type_contiguous(7, v, &c));
    OK(MPI_Type_free(&v));
    OK(MPI_Type_get_contents(c, 1, 0, 1, ints, NULL,
                             types)); /* the old type is still known; the handle is ours */
    OK(MPI_Type_free(&c));
    int ni, na, nt, combiner;
    OK(MPI_Type_get_envelope(types[0], &ni, &na, &nt, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
    OK(MPI_Type_free(&types[0]));
}

static void expect_large(int line, MPI_Datatype t, int combiner, int ni, const int *wi, int nl,
                         const MPI_Count *wl, int nt)
{
    MPI_Count gi = -1, ga = -1, gl = -1, gt = -1;
    int gc = -1, i1, i2, i3;
    OK(MPI_Type_get_envelope_c(t, &gi, &ga, &gl, &gt, &gc));
    CHECK(gi == ni && ga == 0 && gl == nl && gt == nt && gc == combiner, "line %d: envelope %d %d %d %d %d",
          line, (int)gi, (int)ga, (int)gl, (int)gt, gc);
    OK(MPI_Type_get_contents_c(t, ni, 0, nl, nt, ints, addrs, larges, types));
    for (int i = 0; i < ni; i++)
        CHECK_EQ(ints[i], wi[i], "line %d: integer %d", line, i);
    for (int i = 0; i < nl; i++)
        CHECK_EQ(larges[i], wl[i], "line %d: large count %d", line, i);
    CHECK(types[0] == (combiner == MPI_COMBINER_STRUCT ? MPI_SHORT : MPI_INT), "line %d: the old type", line);
    CHECK_ERR(MPI_Type_get_envelope(t, &i1, &i2, &i3, &gc), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_contents(t, 20, 20, 20, ints, addrs, types), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_contents_c(t, ni, 0, nl - 1, nt, ints, addrs, larges, types), MPI_ERR_ARG);
    CHECK_SAYS("max_large_counts");
    OK(MPI_Type_free(&t));
}
#define C(...) \
    (int)(sizeof((MPI_Count[]){ __VA_ARGS__ }) / sizeof(MPI_Count)), (MPI_Count[]) \
    { \
        __VA_ARGS__ \
    }
#define EXPECT_LARGE(...) expect_large(__LINE__, __VA_ARGS__)

/* Whatever the call with _c takes as MPI_Count is a large count, also when it is small; what it takes as int is not. */
static void try_large(void)
{
    MPI_Datatype t, both[2] = { MPI_SHORT, MPI_INT };
    MPI_Count big = (MPI_Count)1 << 33, bl[2] = { 1, 2 }, disp[2] = { 0, 5 }, size[2] = { 9, big };
    const int distribs[2] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC }, dargs[2] = { 5, 6 },
              psizes[2] = { 1, 3 };
    OK(MPI_Type_contiguous_c(5, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_CONTIGUOUS, NONE, C(5), 1);
    OK(MPI_Type_vector_c(big, 1, 2, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_VECTOR, NONE, C(big, 1, 2), 1);
    OK(MPI_Type_create_hvector_c(4, 3, -2 * big, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_HVECTOR, NONE, C(4, 3, -2 * big), 1);
    OK(MPI_Type_indexed_c(2, bl, disp, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_INDEXED, NONE, C(2, 1, 2, 0, 5), 1);
    OK(MPI_Type_create_hindexed_c(2, bl, disp, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_HINDEXED, NONE, C(2, 1, 2, 0, 5), 1);
    OK(MPI_Type_create_indexed_block_c(2, 3, disp, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_INDEXED_BLOCK, NONE, C(2, 3, 0, 5), 1);
    OK(MPI_Type_create_hindexed_block_c(2, 3, disp, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_HINDEXED_BLOCK, NONE, C(2, 3, 0, 5), 1);
    OK(MPI_Type_create_struct_c(2, bl, disp, both, &t));
    EXPECT_LARGE(t, MPI_COMBINER_STRUCT, NONE, C(2, 1, 2, 0, 5), 2);
    OK(MPI_Type_create_resized_c(MPI_INT, -4, big, &t));
    EXPECT_LARGE(t, MPI_COMBINER_RESIZED, NONE, C(-4, big), 1);
    OK(MPI_Type_create_subarray_c(2, size, bl, disp, MPI_ORDER_C, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_SUBARRAY, I(2, MPI_ORDER_C), C(9, big, 1, 2, 0, 5), 1);
    OK(MPI_Type_create_darray_c(3, 1, 2, size, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_INT, &t));
    EXPECT_LARGE(t, MPI_COMBINER_DARRAY,
                 I(3, 1, 2, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC, 5, 6, 1, 3, MPI_ORDER_FORTRAN),
                 C(9, big), 1);
}

/* Types of the other calls, asked with _c. */
static void try_small_asked_large(void)
{
    MPI_Datatype t;
    MPI_Count ni = -1, na = -1, nl = -1, nt = -1;
    int combiner = -1;
    OK(MPI_Type_create_hvector(2, 3, 40, MPI_INT, &t));
    OK(MPI_Type_get_envelope_c(t, &ni, &na, &nl, &nt, &combiner));
    CHECK(ni == 2 && na == 1 && nl == 0 && nt == 1 && combiner == MPI_COMBINER_HVECTOR, "a small hvector");
    OK(MPI_Type_get_contents_c(t, 2, 1, 0, 1, ints, addrs, NULL, types));
    CHECK(ints[0] == 2 && ints[1] == 3 && addrs[0] == 40 && types[0] == MPI_INT, "its contents");
    CHECK_ERR(MPI_Type_get_contents(t, 2, 1, 1, NULL, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("array_of_integers");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_get_envelope_c(MPI_DOUBLE, &ni, &na, &nl, &nt, &combiner));
    CHECK(ni == 0 && na == 0 && nl == 0 && nt == 0 && combiner == MPI_COMBINER_NAMED, "a named type");
}

/* What is returned are references: they outlive the type, and must be freed unless they are predefined. */
static void try_references(void)
{
    MPI_Datatype inner[2], t, dup;
    int bl[2] = { 1, 1 };
    MPI_Aint at[2] = { 0, 64 }, lb, extent;
    OK(MPI_Type_vector(2, 3, 4, MPI_CHAR, &inner[0]));
    inner[1] = MPI_INT;
    OK(MPI_Type_create_struct(2, bl, at, inner, &t));
    OK(MPI_Type_dup(t, &dup));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_get_contents(dup, 0, 0, 1, NULL, NULL, &t)); /* the struct again */
    OK(MPI_Type_free(&dup));
    OK(MPI_Type_free(&inner[0]));
    OK(MPI_Type_get_contents(t, 3, 2, 2, ints, addrs, inner));
    OK(MPI_Type_free(&t));
    CHECK(inner[1] == MPI_INT, "the predefined type itself");
    CHECK_ERR(MPI_Type_free(&inner[1]), MPI_ERR_TYPE);
    OK(MPI_Type_get_extent(inner[0], &lb, &extent));
    CHECK_EQ(extent, 7);
    OK(MPI_Type_free(&inner[0]));
}

static int deleted;
static int delete_it(MPI_Datatype t, int key, void *value, void *extra)
{
    (void)t, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* What get_contents returns is a new object: with the same contents, without the old one's name and attributes,
 * and each is freed by itself. */
static void new_objects(void)
{
    MPI_Datatype inner, outer, got[2], again;
    int key, flag = -1, len = -1, ni = -1, na = -1, nd = -1, combiner = -1, numbers[3];
    void *value;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint none;
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_it, &key, NULL));
    OK(MPI_Type_vector(3, 2, 5, MPI_INT, &inner));
    OK(MPI_Type_set_name(inner, "mine"));
    OK(MPI_Type_set_attr(inner, key, &key));
    OK(MPI_Type_create_struct(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 0, 100 }, (MPI_Datatype[]){ inner, inner },
                              &outer));
    OK(MPI_Type_get_contents(outer, 3, 2, 2, (int[3]){ 0 }, (MPI_Aint[2]){ 0 }, got));
    CHECK(got[0] != inner && got[1] != inner && got[0] != got[1], "expected new objects");
    OK(MPI_Type_get_name(got[0], name, &len));
    CHECK_EQ(len, 0);
    OK(MPI_Type_set_name(got[0], "other"));
    OK(MPI_Type_get_name(inner, name, &len));
    CHECK(strcmp(name, "mine") == 0, "%s", name);
    OK(MPI_Type_get_attr(got[0], key, &value, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Type_set_attr(got[0], key, &key));
    OK(MPI_Type_free(&inner));
    CHECK_EQ(deleted, 1, "of the type that was freed");
    OK(MPI_Type_get_envelope(got[0], &ni, &na, &nd, &combiner));
    CHECK(ni == 3 && na == 0 && nd == 1 && combiner == MPI_COMBINER_VECTOR, "%d %d %d %d", ni, na, nd,
          combiner);
    OK(MPI_Type_get_contents(got[0], 3, 0, 1, numbers, &none, &again));
    CHECK(numbers[0] == 3 && numbers[1] == 2 && numbers[2] == 5 && again == MPI_INT);
    OK(MPI_Type_commit(&got[0]));
    int from[12], to[12] = { 0 };
    for (int i = 0; i < 12; i++)
        from[i] = i + 1;
    OK(MPI_Sendrecv(from, 1, got[0], 0, 0, to, 1, got[0], 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (int i = 0; i < 12; i++)
        CHECK_EQ(to[i], i % 5 < 2 ? i + 1 : 0);
    OK(MPI_Type_free(&got[0]));
    CHECK_EQ(deleted, 2, "and of the new one");
    OK(MPI_Type_free(&got[1]));
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_free_keyval(&key));
}

/* The handle of a type that is part of another is no handle once it has been freed. */
static void freed_part(void)
{
    MPI_Datatype a, b, copy, got;
    int size = -1, n;
    MPI_Aint none;
    OK(MPI_Type_contiguous(2, MPI_INT, &a));
    OK(MPI_Type_contiguous(3, a, &b));
    copy = a;
    OK(MPI_Type_free(&a));
    CHECK_ERR(MPI_Type_free(&copy), MPI_ERR_TYPE);
    CHECK_SAYS("was freed");
    CHECK_ERR(MPI_Type_size(copy, &size), MPI_ERR_TYPE);
    OK(MPI_Type_get_contents(b, 1, 0, 1, &n, &none, &got));
    OK(MPI_Type_size(got, &size));
    CHECK_EQ(size, 8);
    OK(MPI_Type_free(&got));
    OK(MPI_Type_size(b, &size));
    CHECK_EQ(size, 24);
    OK(MPI_Type_free(&b));
}

/* A stride that is not used may be anything. */
static void unused_stride(void)
{
    MPI_Datatype t;
    MPI_Count size = -1;
    OK(MPI_Type_vector_c(1, 3, INT64_MAX / 2, MPI_INT, &t));
    OK(MPI_Type_size_c(t, &size));
    CHECK_EQ(size, 12);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_vector_c(0, 3, INT64_MAX / 2, MPI_INT, &t));
    OK(MPI_Type_free(&t));
    CHECK_ERR(MPI_Type_vector_c(2, 3, INT64_MAX / 2, MPI_INT, &t), MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    int bl[2] = { 3, 1 }, disp[2] = { 4, -2 };
    MPI_Aint hd[2] = { 40, -8 };
    MPI_Datatype both[2] = { MPI_SHORT, MPI_INT };
    check_init(&argc, &argv);
    check_errors_return();
    OK(MPI_Type_dup(MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_DUP, NONE, NONE, 1, MPI_INT);
    OK(MPI_Type_contiguous(5, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_CONTIGUOUS, I(5), NONE, 1, MPI_INT);
    OK(MPI_Type_vector(5, 2, -3, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_VECTOR, I(5, 2, -3), NONE, 1, MPI_INT);
    OK(MPI_Type_create_hvector(5, 2, -30, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_HVECTOR, I(5, 2), A(-30), 1, MPI_INT);
    OK(MPI_Type_indexed(2, bl, disp, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_INDEXED, I(2, 3, 1, 4, -2), NONE, 1, MPI_INT);
    OK(MPI_Type_create_hindexed(2, bl, hd, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_HINDEXED, I(2, 3, 1), A(40, -8), 1, MPI_INT);
    OK(MPI_Type_create_indexed_block(2, 7, disp, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_INDEXED_BLOCK, I(2, 7, 4, -2), NONE, 1, MPI_INT);
    OK(MPI_Type_create_hindexed_block(2, 7, hd, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_HINDEXED_BLOCK, I(2, 7), A(40, -8), 1, MPI_INT);
    OK(MPI_Type_create_struct(2, bl, hd, both, &t));
    EXPECT(t, MPI_COMBINER_STRUCT, I(2, 3, 1), A(40, -8), 2, MPI_SHORT);
    OK(MPI_Type_create_resized(MPI_INT, -4, 100, &t));
    EXPECT(t, MPI_COMBINER_RESIZED, NONE, A(-4, 100), 1, MPI_INT);
    OK(MPI_Type_create_subarray(2, (int[]){ 9, 8 }, (int[]){ 3, 2 }, (int[]){ 1, 0 }, MPI_ORDER_FORTRAN,
                                MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_SUBARRAY, I(2, 9, 8, 3, 2, 1, 0, MPI_ORDER_FORTRAN), NONE, 1, MPI_INT);
    OK(MPI_Type_create_darray(
        6, 4, 2, (int[]){ 9, 8 }, (int[]){ MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC },
        (int[]){ MPI_DISTRIBUTE_DFLT_DARG, 2 }, (int[]){ 2, 3 }, MPI_ORDER_C, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_DARRAY,
           I(6, 4, 2, 9, 8, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2, 3,
             MPI_ORDER_C),
           NONE, 1, MPI_INT);
    CHECK_ERR(MPI_Type_get_contents(MPI_INT, 20, 20, 20, ints, addrs, types), MPI_ERR_TYPE);
    CHECK_SAYS("MPI_INT");
    OK(MPI_Type_vector(5, 2, 3, MPI_INT, &t));
    CHECK_ERR(MPI_Type_get_contents(t, 2, 0, 1, ints, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("max_integers");
    CHECK_ERR(MPI_Type_get_contents(t, 3, 0, 0, ints, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("max_datatypes");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_resized(MPI_INT, -4, 100, &t));
    CHECK_ERR(MPI_Type_get_contents(t, 0, 1, 1, ints, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("max_addresses");
    OK(MPI_Type_free(&t));
    try_derived();
    try_large();
    try_small_asked_large();
    try_references();
    new_objects();
    freed_part();
    unused_stride();
    return check_done();
}
