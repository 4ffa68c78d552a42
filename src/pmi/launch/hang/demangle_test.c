/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as compilers make them, and as their programmers wrote them. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "demangle.h"
#include "pmi/launch/base/tree.h"
#include "pmi/launch/base/util.h"

/* For util.c. */
bool tree_end(void)
{
    return true;
}

struct name {
    const char *linkers, *readable;
};

static void expect(const struct name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *text = demangle(names[i].linkers);
        ck_assert_str_eq(text, names[i].readable);
        free(text);
    }
}

START_TEST(plain_names_stay)
{
    static const struct name names[] = {
        { "main", "main" },
        { "", "" },
        { "_", "_" },
        { "_start", "_start" },
        { "MPI_Send", "MPI_Send" },
        { "_Zx", "_Zx" },
        { "_ZN3si", "_ZN3si" },
        { "solve_", "solve_" },
        { "_R", "_R" },
        { "_Rx", "_Rx" },
        { "__x_MOD_", "__x_MOD_" },
        { "_QMx", "x" },
        { "_Q", "_Q" },
        { "_QX", "_QX" },
        { "_QMaPB", "_QMaPB" },
    };
    expect(names, sizeof names / sizeof *names);
}
END_TEST

START_TEST(fortran)
{
    static const struct name names[] = {
        { "__solver_MOD_step", "solver::step" },
        { "__a_b_MOD_c_d", "a_b::c_d" },
        { "solver_mp_step_", "solver::step" },
        { "_QMsolverPstep", "solver::step" },
        { "_QMsolverFhostPinner", "solver::host::inner" },
        { "_QPstep", "step" },
        { "_QQmain", "main program" },
        { "_QMmSsubPf2", "m::sub::f2" },
    };
    expect(names, sizeof names / sizeof *names);
}
END_TEST

START_TEST(cxx)
{
    static const struct name names[] = {
        { "_ZN3simplENS_6SolverEi", "sim::operator+" },
        { "_ZNK12_GLOBAL__N_11SIdEclEdNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
          "(anonymous namespace)::S<double>::operator()" },
        { "_ZNK3sim6Solver4stepEPFiiE", "sim::Solver::step" },
        { "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
        { "_ZTV6Solver", "vtable for Solver" },
    };
    char *there = demangle("_Z1fv");
    bool can = strcmp(there, "f") == 0;
    free(there);
    if (can) /* there is a C++ library */
        expect(names, sizeof names / sizeof *names);
}
END_TEST

START_TEST(rust)
{
    static const struct name names[] = {
        { "_ZN1p6solver10S$LT$T$GT$4step17he2f21b4abf657a2fE", "p::solver::S<T>::step" },
        { "_ZN1p6solver3run28_$u7b$$u7b$closure$u7d$$u7d$17hd525ab981e844792E",
          "p::solver::run::{{closure}}" },
        { "_RNCNvNtCs12jkoC9p3aE_1p6solver3run0B5_", "p::solver::run::{closure#0}" },
        { "_RNvMNtCs12jkoC9p3aE_1p6solverINtB2_1SlE4stepB4_", "<p::solver::S<i32>>::step" },
    };
    char *there = demangle("_RNvNtCs12jkoC9p3aE_1p6solver3run");
    bool can = strcmp(there, "p::solver::run") == 0;
    free(there);
    if (system("c++filt --version >/dev/null 2>&1") == 0)
        ck_assert(can);
    if (can)
        expect(names, sizeof names / sizeof *names);
}
END_TEST

/* Without c++filt names stay as they are, or are as the C++ library has them. */
START_TEST(nothing_is_there)
{
    setenv("PATH", "/nonexistent", 1);
    char *text = demangle("_RNvNtCs12jkoC9p3aE_1p6solver3run");
    ck_assert_str_eq(text, "_RNvNtCs12jkoC9p3aE_1p6solver3run");
    free(text);
    text = demangle("_ZN1p6solver3run17he379ecaf600037baE");
    ck_assert_ptr_nonnull(strstr(text, "solver"));
    free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("demangle");
    TCase *c = tcase_create("demangle");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, plain_names_stay);
    tcase_add_test(c, fortran);
    tcase_add_test(c, cxx);
    tcase_add_test(c, rust);
    tcase_add_test(c, nothing_is_there);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
