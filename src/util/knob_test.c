/* SPDX-License-Identifier: BSD-3-Clause */
#include "knob.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct ku_knob rows[] = {
    { .name = "T_INT",
      .type = KU_KNOB_INT,
      .def = "5",
      .unit = "us",
      .min = 0,
      .max = 10,
      .help = "a number" },
    { .name = "T_SIZE",
      .type = KU_KNOB_SIZE,
      .def = "64K",
      .unit = "bytes",
      .max = 1ll << 40,
      .help = "a size" },
    { .name = "T_BOOL", .type = KU_KNOB_BOOL, .def = "0", .unit = "", .help = "a switch" },
    { .name = "T_STR", .type = KU_KNOB_STR, .unit = "", .help = "a text" },
};
static struct ku_knob_table table = { .rows = rows, .n = 4 };

static char said[10][320];
static int nsaid;

static void show(void *arg, const char *text)
{
    (void)arg;
    strncpy(said[nsaid++], text, 319);
}

START_TEST(defaults)
{
    ku_knob_register(&table);
    ck_assert_int_eq(ku_knob_int("T_INT"), 5);
    ck_assert_int_eq(ku_knob_int("T_SIZE"), 65536);
    ck_assert_int_eq(ku_knob_int("T_BOOL"), 0);
    ck_assert_ptr_null(ku_knob_str("T_STR"));
    ck_assert(!ku_knob_is_set("T_INT"));
}
END_TEST

START_TEST(values_of_the_environment)
{
    setenv("KEEL_T_INT", "0x7", 1);
    setenv("KEEL_T_SIZE", "3m", 1);
    setenv("KEEL_T_BOOL", "Yes", 1);
    setenv("KEEL_T_STR", "", 1);
    ku_knob_register(&table);
    ck_assert_int_eq(ku_knob_int("T_INT"), 7);
    ck_assert_int_eq(ku_knob_int("T_SIZE"), 3 << 20);
    ck_assert_int_eq(ku_knob_int("T_BOOL"), 1);
    ck_assert_str_eq(ku_knob_str("T_STR"), "");
    ck_assert(ku_knob_is_set("T_STR"));
    ku_knob_check(show, NULL);
    ck_assert_int_eq(nsaid, 0);
}
END_TEST

START_TEST(bad_values_keep_the_default_and_are_told)
{
    static const char *const bad[] = { "11", "-1", "x", "", "7x", "99999999999999999999", "7K" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("KEEL_T_INT", bad[i], 1);
        ku_knob_register(&table);
        ck_assert_int_eq(ku_knob_int("T_INT"), 5);
        nsaid = 0;
        ku_knob_check(show, NULL);
        ck_assert_int_eq(nsaid, 1);
        ck_assert_ptr_nonnull(strstr(said[0], "expected a number from 0 to 10 us; using 5"));
    }
}
END_TEST

START_TEST(what_nobody_has_read_is_judged_by_its_row)
{
    setenv("KEEL_T_INT", "7", 1);
    setenv("KEEL_T_BOOL", "2", 1);
    ku_knob_add(&table);
    ku_knob_check(show, NULL);
    ck_assert_int_eq(nsaid, 1);
    ck_assert_ptr_nonnull(strstr(said[0], "KEEL_T_BOOL is \"2\"; expected 0 or 1"));
}
END_TEST

START_TEST(unknown_names_are_told_with_the_nearest)
{
    setenv("KEEL_T_ITN", "1", 1);
    setenv("KEEL_JOB", "whatever", 1);
    setenv("KEEL_COMPLETELY_DIFFERENT", "1", 1);
    ku_knob_register(&table);
    ku_knob_register(&table);
    ku_knob_check(show, NULL);
    ck_assert_int_eq(nsaid, 2);
    ck_assert_str_eq(said[0], "KEEL_T_ITN is not a variable of Keel; the nearest name is KEEL_T_INT");
    ck_assert_str_eq(said[1], "KEEL_COMPLETELY_DIFFERENT is not a variable of Keel");
}
END_TEST

START_TEST(rows_are_listed_once_and_without_the_internal_ones)
{
    const char *area;
    int n = 0;
    ku_knob_register(&table);
    ku_knob_register(&table);
    for (; ku_knob_at(n, &area); n++)
        ck_assert_ptr_nonnull(ku_knob_at(n, &area)->help);
    ck_assert_int_eq(n, 4);
    ck_assert_ptr_nonnull(ku_knob_find("T_STR"));
    ck_assert_ptr_null(ku_knob_find("T_NONE"));
}
END_TEST

START_TEST(what_a_tool_sets_goes_before_the_environment)
{
    const char *area;
    struct ku_knob *row;
    setenv("KEEL_T_INT", "7", 1);
    ku_knob_register(&table);
    row = ku_knob_at(0, &area);
    ck_assert_str_eq(row->name, "T_INT");
    ck_assert(ku_knob_set(row, "8"));
    ck_assert(!ku_knob_set(row, "eight"));
    ku_knob_register(&table);
    ck_assert_int_eq(ku_knob_int("T_INT"), 8);
    ck_assert(ku_knob_is_set("T_INT"));
    unsetenv("KEEL_T_INT");
}
END_TEST

START_TEST(tables_that_come_late_and_go)
{
    static struct ku_knob rows[] = {
        { .name = "T_LATE", .type = KU_KNOB_INT, .def = "3", .max = 9, .unit = "" },
        { .name = "T_INT", .type = KU_KNOB_INT, .unit = "" },
        { .name = "T_WRONG", .type = KU_KNOB_INT, .def = "10", .max = 9, .unit = "" }
    };
    static struct ku_knob_table late = { .rows = rows, .n = 1 };
    ku_knob_register(&table);
    ck_assert(ku_knob_sound(&rows[0]));
    ck_assert(!ku_knob_sound(&rows[1])); /* the name is there */
    ck_assert(!ku_knob_sound(&rows[2])); /* its default is no value of it */
    ku_knob_register(&late);
    ck_assert_int_eq(ku_knob_int("T_LATE"), 3);
    ck_assert(ku_knob_set(&rows[0], "4"));
    ku_knob_remove(&late);
    ck_assert_ptr_null(ku_knob_find("T_LATE"));
    ck_assert_ptr_null(rows[0].own);
    late.is_read = false;
    rows[0].num = 0;
    ku_knob_add(&late); /* known, and nobody has registered it: it is read when somebody asks */
    ck_assert_int_eq(ku_knob_find("T_LATE")->num, 3);
    ku_knob_remove(&late);
    ck_assert_ptr_nonnull(ku_knob_find("T_INT"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("knob");
    TCase *c = tcase_create("knob");
    SRunner *r = srunner_create(suite);
    int failed;
    tcase_add_test(c, defaults);
    tcase_add_test(c, values_of_the_environment);
    tcase_add_test(c, bad_values_keep_the_default_and_are_told);
    tcase_add_test(c, what_nobody_has_read_is_judged_by_its_row);
    tcase_add_test(c, unknown_names_are_told_with_the_nearest);
    tcase_add_test(c, rows_are_listed_once_and_without_the_internal_ones);
    tcase_add_test(c, what_a_tool_sets_goes_before_the_environment);
    tcase_add_test(c, tables_that_come_late_and_go);
    suite_add_tcase(suite, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
