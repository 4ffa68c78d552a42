/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_test.c: the loops of all instruction sets compute the same bits, at every length and wherever the result goes;
 * which loop is found for what.  What each operation computes on each type is checked by tests/mpi/op/table.c. */
#include "kernel.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200, BYTES = MOST * 32 + 64, GUARD = 0x5a };

struct arrays {
    _Alignas(64) unsigned char in[BYTES], with[BYTES], to[BYTES], want[BYTES];
};

static size_t bytes_of(int repr)
{
    static const size_t floats[] = { [MPIR_REPR_F32] = 4,
                                     [MPIR_REPR_F64] = 8,
                                     [MPIR_REPR_C32] = 8,
                                     [MPIR_REPR_C64] = 16,
                                     [MPIR_REPR_BOOL] = 1 };
    if (repr >= MPIR_REPR_SIGNED && repr < MPIR_REPR_SIGNED + 4)
        return (size_t)1 << (repr - MPIR_REPR_SIGNED);
    if (repr >= MPIR_REPR_UNSIGNED && repr < MPIR_REPR_UNSIGNED + 4)
        return (size_t)1 << (repr - MPIR_REPR_UNSIGNED);
    return repr < (int)(sizeof floats / sizeof *floats) ? floats[repr] : 0;
}

/* Bits of any sort; for floating point numbers, zeros of both signs and infinities among them. */
static void fill(unsigned char *a, int repr)
{
    bool f32 = repr == MPIR_REPR_F32 || repr == MPIR_REPR_C32,
         f64 = repr == MPIR_REPR_F64 || repr == MPIR_REPR_C64;
    for (size_t i = 0; i < BYTES; i++)
        a[i] = (unsigned char)(rand() >> 7) & (rand() & 64 ? 0xff : 0);
    for (size_t i = 0; f32 && i < BYTES / 4; i++) {
        float v = rand() % 16 == 0   ? -0.0f
                  : rand() % 17 == 0 ? 1.0f / 0.0f
                                     : (float)(rand() - RAND_MAX / 2) / 77;
        memcpy(a + 4 * i, &v, sizeof v);
    }
    for (size_t i = 0; f64 && i < BYTES / 8; i++) {
        double v = rand() % 16 == 0   ? -0.0
                   : rand() % 17 == 0 ? 1.0 / 0.0
                                      : (double)(rand() - RAND_MAX / 2) / 77;
        memcpy(a + 8 * i, &v, sizeof v);
    }
}

static void equal(const struct arrays *x, const unsigned char *got, const char *what, int row, int repr,
                  size_t n)
{
    for (size_t i = 0; i < n + 64; i++) /* Check's assertions are too slow for inner loops */
        if (got[i] != (i < n ? x->want[i] : GUARD))
            ck_abort_msg("%s: operation %d, representation %d, byte %zu of %zu", what, row, repr, i, n);
}

/* One loop against the plain one: n elements, from a place that is not a multiple of anything but the element. */
static void compare(struct arrays *x, MPID_Op_fn *plain, MPID_Op_fn *wide, int row, int repr, int64_t n)
{
    size_t size = bytes_of(repr), all = (size_t)n * size, at = size * (size_t)(rand() % 3);
    if (all > sizeof x->to)
        ck_abort_msg("operation %d, representation %d: %lld elements", row, repr, (long long)n);
    fill(x->in, repr);
    fill(x->with, repr);
    memset(x->want, GUARD, sizeof x->want);
    memset(x->to, GUARD, sizeof x->to);
    plain(x->in + at, x->with, x->want, n);
    wide(x->in + at, x->with, x->to, n);
    equal(x, x->to, "apart", row, repr, all);
    memset(x->to, GUARD, sizeof x->to);
    memcpy(x->to, x->with, all);
    wide(x->in + at, x->to, x->to, n);
    equal(x, x->to, "over the second operand", row, repr, all);
    memset(x->to, GUARD, sizeof x->to);
    memcpy(x->to, x->in + at, all);
    wide(x->to, x->with, x->to, n);
    equal(x, x->to, "over the first operand", row, repr, all);
}

static int compare_all(MPID_Op_fn *(*table)(uint32_t row, uint32_t repr))
{
    static struct arrays x;
    int found = 0;
    for (int row = 0; row < MPID_OP_COUNT; row++)
        for (int repr = 0; repr < MPIR_REPR_COUNT; repr++)
            if (table((uint32_t)row, (uint32_t)repr) != NULL) {
                ck_assert_ptr_nonnull(MPID_Op_kernels_plain((uint32_t)row, (uint32_t)repr));
                ck_assert_uint_ne(bytes_of(repr), 0);
                found++;
                for (int64_t n = 0; n < MOST - 2; n = n < 70 ? n + 1 : n + 17)
                    compare(&x, MPID_Op_kernels_plain((uint32_t)row, (uint32_t)repr),
                            table((uint32_t)row, (uint32_t)repr), row, repr, n);
            }
    return found;
}

START_TEST(all_instruction_sets_compute_the_same_bits)
{
    int best = MPID_Op_kernels_use(2);
#ifdef __x86_64__
    if (best >= 1)
        ck_assert_int_gt(compare_all(MPID_Op_kernels_avx2), 80);
    if (best >= 2)
        ck_assert_int_gt(compare_all(MPID_Op_kernels_avx512), 80);
#endif
    (void)best;
}
END_TEST

START_TEST(the_best_one_is_chosen)
{
    int best = MPID_Op_kernels_use(2);
    uint32_t sum = KEEL_MPI_SUM - KEEL_MPI_OP_NULL;
    MPID_Op_fn *plain = MPID_Op_kernels_plain(sum, MPIR_REPR_F64);
    ck_assert_int_eq(best > 0, MPID_Op_kernel(KEEL_MPI_SUM, KEEL_MPI_DOUBLE) != plain);
    ck_assert_int_eq(MPID_Op_kernels_use(0), 0);
    ck_assert_ptr_eq(MPID_Op_kernel(KEEL_MPI_SUM, KEEL_MPI_DOUBLE), plain);
}
END_TEST

/* What another process may say. */
START_TEST(unknown_values_have_no_kernel)
{
    const int32_t ops[] = { KEEL_MPI_OP_NULL, KEEL_MPI_REPLACE, KEEL_MPI_NO_OP,      0,
                            INT32_MIN,        INT32_MAX,        KEEL_MPI_OP_NULL - 1 };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        ck_assert_ptr_null(MPID_Op_kernel(ops[i], KEEL_MPI_INT));
        ck_assert_int_eq(MPID_Op_classes(ops[i]), 0);
    }
    const uint32_t basics[] = { KEEL_MPI_DATATYPE_NULL,     KEEL_MPI_PACKED, KEEL_MPI_LB, 0, UINT32_MAX,
                                KEEL_MPI_DATATYPE_NULL - 1, 1u << 31 };
    for (size_t i = 0; i < sizeof basics / sizeof *basics; i++) {
        ck_assert_ptr_null(MPID_Op_kernel(KEEL_MPI_SUM, basics[i]));
        ck_assert_int_eq(MPID_Op_class_of(basics[i]), MPIR_CLASS_NONE);
        struct MPID_Op_pair p = { KEEL_MPI_INT, basics[i], 4, 8 }, q = { basics[i], KEEL_MPI_INT, 4, 8 };
        ck_assert(!MPID_Op_pair_known(&p) && !MPID_Op_pair_known(&q));
    }
}
END_TEST

/* Every operation is defined on the classes it tells, and on nothing else: not on what has a loop by chance. */
START_TEST(operations_keep_to_their_classes)
{
    ck_assert_ptr_null(MPID_Op_kernel(KEEL_MPI_SUM, KEEL_MPI_C_BOOL));
    ck_assert_ptr_null(MPID_Op_kernel(KEEL_MPI_BAND, KEEL_MPI_DOUBLE));
    ck_assert_ptr_null(MPID_Op_kernel(KEEL_MPI_SUM, KEEL_MPI_2INT));
    ck_assert_ptr_null(MPID_Op_kernel(KEEL_MPI_MAXLOC, KEEL_MPI_INT));
    ck_assert_ptr_nonnull(MPID_Op_kernel(KEEL_MPI_MAXLOC, KEEL_MPI_2INT));
    int defined = 0;
    for (int32_t op = KEEL_MPI_OP_NULL; op <= KEEL_MPI_MAXLOC; op++)
        for (uint32_t basic = KEEL_MPI_DATATYPE_NULL; basic < KEEL_MPI_DATATYPE_NULL + 0x100; basic++) {
            bool is = MPID_Op_classes(op) & MPID_Op_class_of(basic);
            if (MPIR_HAVE_F128 && MPIR_REPR_I128 != MPIR_REPR_NONE)
                ck_assert_msg(is == (MPID_Op_kernel(op, basic) != NULL), "operation %d, type %u", op, basic);
            defined += is;
        }
    ck_assert_int_gt(defined, 400);
}
END_TEST

START_TEST(logicals_are_what_the_program_told)
{
    const int32_t a[4] = { -1, -1, 0, 7 }, b[4] = { -1, 0, 0, 7 };
    int32_t to[4];
    MPID_Logicals = (struct MPID_LOGICALS){ true, -1, 0 };
    MPID_Op_kernel(KEEL_MPI_LXOR, KEEL_MPI_LOGICAL)(a, b, to, 4);
    ck_assert(to[0] == 0 && to[1] == -1 && to[2] == 0 && to[3] == 0);
    MPID_Op_kernel(KEEL_MPI_LAND, KEEL_MPI_LOGICAL4)(a, b, to, 4);
    ck_assert(to[0] == -1 && to[1] == 0 && to[2] == 0 && to[3] == -1);
    MPID_Op_kernel(KEEL_MPI_LAND, KEEL_MPI_INT)(a, b, to, 4);
    ck_assert(to[0] == 1 && to[1] == 0);
    MPID_Op_kernel(KEEL_MPI_SUM, KEEL_MPI_LOGICAL)(a, b, to, 4);
    ck_assert(to[0] == -2 && to[3] == 14);
    MPID_Logicals.set = false;
    MPID_Op_kernel(KEEL_MPI_LOR, KEEL_MPI_LOGICAL)(a, b, to, 4);
    ck_assert(to[0] == 1 && to[1] == 1 && to[2] == 0 && to[3] == 1);
}
END_TEST

START_TEST(pairs_without_a_name)
{
    struct {
        int16_t value;
        uint64_t index;
    } in[4] = { { 5, 9 }, { -5, 9 }, { 3, 1 }, { 3, 8 } }, to[4] = { { 4, 1 }, { 4, 1 }, { 3, 7 }, { 3, 7 } };
    struct MPID_Op_pair p = { KEEL_MPI_INT16_T, KEEL_MPI_UINT64_T, 8, 16 };
    ck_assert(MPID_Op_pair_known(&p));
    MPID_Op_pairs(KEEL_MPI_MAXLOC, &p, in, to, 4);
    ck_assert(to[0].value == 5 && to[0].index == 9 && to[1].value == 4 && to[1].index == 1);
    ck_assert(to[2].index == 1 && to[3].index == 7);
    MPID_Op_pairs(KEEL_MPI_MINLOC, &p, in, to, 4);
    ck_assert(to[1].value == -5 && to[1].index == 9 && to[0].value == 5);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("kernels");
    Suite *s = suite_create("the loops of operations");
    tcase_add_test(c, all_instruction_sets_compute_the_same_bits);
    tcase_add_test(c, the_best_one_is_chosen);
    tcase_add_test(c, unknown_values_have_no_kernel);
    tcase_add_test(c, operations_keep_to_their_classes);
    tcase_add_test(c, logicals_are_what_the_program_told);
    tcase_add_test(c, pairs_without_a_name);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
