/* SPDX-License-Identifier: BSD-3-Clause */
/* Type signatures: the digest of a derived type is that of its numbers one after the other, also of the first ones
 * alone. */
#include "mpid.h"
#include <check.h>
#include <stdlib.h>
#include "mpi_const.h"

static struct MPIR_DATATYPE basic(uint32_t value, int64_t size)
{
    struct MPIR_DATATYPE t = { 0 };
    ck_assert_int_eq(MPID_Type_basic(&t, size, (int)size, value), 0);
    return t;
}

static struct MPIR_DATATYPE strukt(int64_t n, const int64_t *lengths, struct MPIR_DATATYPE **types)
{
    struct MPIR_DATATYPE t = { 0 };
    int64_t at[8] = { 0 };
    for (int64_t i = 1; i < n; i++)
        at[i] = at[i - 1] + lengths[i - 1] * types[i - 1]->extent;
    MPIR_Counts l = { .p = lengths, .is_large = 1 }, a = { .p = at, .is_large = 1 };
    ck_assert_int_eq(MPID_Type_struct(&t, n, l, a, types), 0);
    return t;
}

static struct MPID_Signature of(const struct MPIR_DATATYPE *t, int64_t count, int64_t limit)
{
    struct MPID_Signature s;
    MPID_Signature_of(t, count, limit, &s);
    return s;
}

/* Both have these numbers, and so have their beginnings. */
static void same(const struct MPIR_DATATYPE *a, int64_t na, const struct MPIR_DATATYPE *b, int64_t nb)
{
    struct MPID_Signature x = of(a, na, INT64_MAX), y = of(b, nb, INT64_MAX);
    ck_assert(x.n == y.n && x.digest == y.digest && x.n > 0);
    for (int64_t i = 1; i <= x.n; i++) {
        struct MPID_Signature u = of(a, na, i), v = of(b, nb, i);
        ck_assert(u.n == i && v.n == i && u.digest == v.digest);
        ck_assert((u.digest == x.digest) == (i == x.n));
    }
    ck_assert_int_eq(MPID_Signature_differ(x.first, y.first), -1);
}

static struct MPIR_DATATYPE i4, f4, d8, pair, c16;

static void make(void)
{
    i4 = basic(KEEL_MPI_INT, 4);
    f4 = basic(KEEL_MPI_FLOAT, 4);
    d8 = basic(KEEL_MPI_DOUBLE, 8);
    pair = basic(KEEL_MPI_FLOAT_INT, 8);
    c16 = basic(KEEL_MPI_C_DOUBLE_COMPLEX, 16);
}

START_TEST(how_it_is_described_does_not_count)
{
    make();
    struct MPIR_DATATYPE seven, mixed, twice, flat, deep;
    ck_assert_int_eq(MPID_Type_hvector(&seven, 7, 1, 40, &i4), 0);
    same(&seven, 5, &i4, 35);
    mixed = strukt(3, (int64_t[]){ 2, 3, 1 }, (struct MPIR_DATATYPE *[]){ &i4, &d8, &f4 });
    twice = strukt(2, (int64_t[]){ 2, 1 }, (struct MPIR_DATATYPE *[]){ &mixed, &i4 });
    flat = strukt(7, (int64_t[]){ 2, 3, 1, 2, 3, 1, 1 },
                  (struct MPIR_DATATYPE *[]){ &i4, &d8, &f4, &i4, &d8, &f4, &i4 });
    same(&twice, 1, &flat, 1);
    same(&twice, 9, &flat, 9);
    deep = strukt(2, (int64_t[]){ 4, 2 }, (struct MPIR_DATATYPE *[]){ &twice, &mixed });
    struct MPID_Signature s = of(&deep, 3, INT64_MAX), first = of(&deep, 3, 26),
                          two = of(&twice, 2, INT64_MAX);
    ck_assert_int_eq(s.n, 3 * (4 * 13 + 2 * 6));
    ck_assert(first.n == two.n && first.digest == two.digest);
    struct MPIR_DATATYPE *all[] = { &seven, &mixed, &twice, &flat, &deep };
    for (int i = 0; i < 5; i++)
        MPID_Type_fini(all[i]);
}
END_TEST

START_TEST(order_and_kind_do)
{
    make();
    struct MPIR_DATATYPE ab = strukt(2, (int64_t[]){ 1, 1 }, (struct MPIR_DATATYPE *[]){ &i4, &f4 }),
                         ba = strukt(2, (int64_t[]){ 1, 1 }, (struct MPIR_DATATYPE *[]){ &f4, &i4 });
    struct MPID_Signature x = of(&ab, 3, INT64_MAX), y = of(&ba, 3, INT64_MAX), z = of(&i4, 6, INT64_MAX);
    ck_assert(x.digest != y.digest && x.digest != z.digest && y.digest != z.digest && x.n == 6);
    ck_assert_int_eq(MPID_Signature_differ(x.first, y.first), 0);
    ck_assert_int_eq(MPID_Signature_differ(x.first, z.first), 1);
    ck_assert(!(x.flags & MPID_SIGNATURE_UNIFORM) && z.flags & MPID_SIGNATURE_UNIFORM);
    same(&pair, 3, &ba, 3);
    same(&c16, 5, &d8, 10);
    ck_assert_int_eq(MPID_Signature_numbers((uint8_t)KEEL_MPI_FLOAT_INT), 2);
    ck_assert_int_eq(MPID_Signature_numbers((uint8_t)KEEL_MPI_INT), 1);
    ck_assert_int_eq(MPID_Signature_numbers(0), 0);
    MPID_Type_fini(&ab);
    MPID_Type_fini(&ba);
}
END_TEST

START_TEST(names_do_not)
{
    static const struct {
        uint32_t a, b;
        int64_t size;
        bool alike;
    } pairs[] = {
        { KEEL_MPI_INT, KEEL_MPI_INT32_T, 4, true },    { KEEL_MPI_INT, KEEL_MPI_INTEGER, 4, true },
        { KEEL_MPI_INT, KEEL_MPI_UNSIGNED, 4, false },  { KEEL_MPI_INT, KEEL_MPI_LOGICAL, 4, false },
        { KEEL_MPI_INT, KEEL_MPI_WCHAR, 4, false },     { KEEL_MPI_INT, KEEL_MPI_FLOAT, 4, false },
        { KEEL_MPI_LONG, KEEL_MPI_AINT, 8, true },      { KEEL_MPI_CHAR, KEEL_MPI_SIGNED_CHAR, 1, true },
        { KEEL_MPI_CHAR, KEEL_MPI_CHARACTER, 1, true }, { KEEL_MPI_BYTE, KEEL_MPI_CHAR, 1, false },
        { KEEL_MPI_BYTE, KEEL_MPI_UINT8_T, 1, false },  { KEEL_MPI_C_BOOL, KEEL_MPI_LOGICAL1, 1, true },
        { KEEL_MPI_REAL, KEEL_MPI_FLOAT, 4, true }
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct MPIR_DATATYPE a = basic(pairs[i].a, pairs[i].size), b = basic(pairs[i].b, pairs[i].size);
        struct MPID_Signature x = of(&a, 3, INT64_MAX), y = of(&b, 3, INT64_MAX);
        ck_assert_msg((x.digest == y.digest) == pairs[i].alike, "pair %zu", i);
        ck_assert_int_eq(MPID_Signature_differ(x.first, y.first), pairs[i].alike ? -1 : 0);
    }
}
END_TEST

START_TEST(of_some_nothing_is_known)
{
    make();
    struct MPIR_DATATYPE packed = basic(KEEL_MPI_PACKED, 1),
                         some = strukt(2, (int64_t[]){ 1, 3 }, (struct MPIR_DATATYPE *[]){ &i4, &packed }),
                         bare = { .size = 4, .is_contig = true };
    ck_assert(of(&packed, 8, INT64_MAX).flags & MPID_SIGNATURE_PACKED);
    ck_assert(of(&some, 2, INT64_MAX).flags & MPID_SIGNATURE_PACKED);
    ck_assert(!(of(&some, 2, 1).flags & MPID_SIGNATURE_PACKED));
    ck_assert(of(&bare, 1, INT64_MAX).flags & MPID_SIGNATURE_UNKNOWN);
    ck_assert_int_eq(of(&i4, 0, INT64_MAX).n, 0);
    ck_assert_int_eq(of(&i4, INT64_MAX / 8, INT64_MAX).n, INT64_MAX / 8);
    MPID_Type_fini(&some);
}
END_TEST

struct seen {
    int n, most;
    struct MPID_Typed_run run[8];
};

static bool see(void *arg, const struct MPID_Typed_run *run)
{
    struct seen *s = arg;
    s->run[s->n++] = *run;
    return s->n < s->most;
}

static void saw(const struct MPID_Typed_run *r, int64_t at, int64_t bytes, uint8_t is, uint8_t size)
{
    ck_assert_int_eq(r->at, at);
    ck_assert_int_eq(r->bytes, bytes);
    ck_assert(r->is == is && r->size == size);
}

START_TEST(where_numbers_lie)
{
    make();
    struct seen s = { .most = 8 };
    struct MPIR_DATATYPE two, columns;
    ck_assert(MPID_Typed_runs(&i4, 5, see, &s) && s.n == 1);
    saw(&s.run[0], 0, 20, 'i', 4);
    ck_assert_int_eq(s.run[0].basic, KEEL_MPI_INT);
    s.n = 0;
    ck_assert(MPID_Typed_runs(&c16, 2, see, &s) && s.n == 1);
    saw(&s.run[0], 0, 32, 'f', 8);
    /* a pair is two numbers */
    s.n = 0;
    ck_assert(MPID_Typed_runs(&pair, 1, see, &s) && s.n == 2);
    saw(&s.run[0], 0, 4, 'f', 4);
    saw(&s.run[1], 4, 4, 'i', 4);
    /* a struct, twice, with a gap between its fields */
    s.n = 0;
    two = strukt(3, (int64_t[]){ 2, 1, 1 }, (struct MPIR_DATATYPE *[]){ &i4, &d8, &f4 });
    ck_assert(MPID_Typed_runs(&two, 2, see, &s) && s.n == 6);
    saw(&s.run[1], 8, 8, 'f', 8);
    saw(&s.run[3], two.extent, 8, 'i', 4);
    /* columns, backwards */
    s.n = 0;
    ck_assert_int_eq(MPID_Type_hvector(&columns, 3, 1, -16, &i4), 0);
    ck_assert(MPID_Typed_runs(&columns, 1, see, &s) && s.n == 3);
    saw(&s.run[2], -32, 4, 'i', 4);
    /* until it is enough */
    s = (struct seen){ .most = 2 };
    ck_assert(!MPID_Typed_runs(&two, 2, see, &s) && s.n == 2);
    ck_assert(MPID_Typed_runs(&two, 0, see, &s) && s.n == 2);
    struct MPIR_DATATYPE bare = { .size = 4, .is_contig = true };
    ck_assert(!MPID_Typed_runs(&bare, 1, see, &s) && s.n == 2);
    MPID_Type_fini(&two);
    MPID_Type_fini(&columns);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("signature");
    TCase *t = tcase_create("signature");
    SRunner *r = srunner_create(s);
    int failed;
    tcase_add_test(t, how_it_is_described_does_not_count);
    tcase_add_test(t, order_and_kind_do);
    tcase_add_test(t, names_do_not);
    tcase_add_test(t, of_some_nothing_is_known);
    tcase_add_test(t, where_numbers_lie);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
