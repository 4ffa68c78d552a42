/* kernel_test.c: the loops of all instruction sets compute the same bits, at every length and wherever the result goes. */
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
    static const size_t floats[] = {
        [MPIR_REPR_F32] = 4, [MPIR_REPR_F64] = 8, [MPIR_REPR_C32] = 8, [MPIR_REPR_C64] = 16
    };
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
    for (size_t i = 0; i < n + 64; i++)
        ck_assert_msg(got[i] == (i < n ? x->want[i] : GUARD),
                      "%s: operation %d, representation %d, byte %zu of %zu", what, row, repr, i, n);
}

/* One loop against the plain one: n elements, from a place that is not a multiple of anything but the element. */
static void compare(struct arrays *x, op_kernel *plain, op_kernel *wide, int row, int repr, int64_t n)
{
    size_t size = bytes_of(repr), all = (size_t)n * size, at = size * (size_t)(rand() % 3);
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

static int compare_all(op_kernel *const table[OP_KERNELS][MPIR_REPR_COUNT])
{
    static struct arrays x;
    int found = 0;
    for (int row = 0; row < OP_KERNELS; row++)
        for (int repr = 0; repr < MPIR_REPR_COUNT; repr++)
            if (table[row][repr] != NULL) {
                ck_assert_ptr_nonnull(MPIR_Op_kernels_plain[row][repr]);
                ck_assert_uint_ne(bytes_of(repr), 0);
                found++;
                for (int64_t n = 0; n < MOST - 2; n = n < 70 ? n + 1 : n + 17)
                    compare(&x, MPIR_Op_kernels_plain[row][repr], table[row][repr], row, repr, n);
            }
    return found;
}

START_TEST(all_instruction_sets_compute_the_same_bits)
{
    int best = MPIR_Op_kernels_use(2);
#ifdef __x86_64__
    if (best >= 1)
        ck_assert_int_gt(compare_all(MPIR_Op_kernels_avx2), 80);
    if (best >= 2)
        ck_assert_int_gt(compare_all(MPIR_Op_kernels_avx512), 80);
#endif
    (void)best;
}
END_TEST

START_TEST(the_best_one_is_chosen)
{
    int best = MPIR_Op_kernels_use(2);
    size_t sum = KEEL_MPI_SUM - KEEL_MPI_OP_NULL;
    op_kernel *plain = MPIR_Op_kernels_plain[sum][MPIR_REPR_F64];
    ck_assert_int_eq(best > 0, MPIR_Op_kernel_of(KEEL_MPI_SUM, MPIR_REPR_F64) != plain);
    ck_assert_int_eq(MPIR_Op_kernels_use(0), 0);
    ck_assert_ptr_eq(MPIR_Op_kernel_of(KEEL_MPI_SUM, MPIR_REPR_F64), plain);
    ck_assert_ptr_null(MPIR_Op_kernel_of(KEEL_MPI_REPLACE, MPIR_REPR_F64));
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("kernels");
    Suite *s = suite_create("the loops of operations");
    tcase_add_test(c, all_instruction_sets_compute_the_same_bits);
    tcase_add_test(c, the_best_one_is_chosen);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
