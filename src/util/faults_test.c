/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/faults.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "util/json.h"

static int chosen(const struct ku_fault_choice *c)
{
    int n = 0;
    for (int k = 0; k < KU_FAULT_KINDS; k++)
        n += c->kind[k];
    return n;
}

static struct ku_fault_choice choose(const char *list)
{
    struct ku_fault_choice c;
    size_t len;
    ck_assert_ptr_null(ku_fault_choose(list, &c, &len));
    return c;
}

START_TEST(test_choose)
{
    struct ku_fault_choice c = choose("overlap,leak-comm");
    ck_assert_int_eq(chosen(&c), 2);
    ck_assert(c.kind[KU_FAULT_OVERLAP] && c.kind[KU_FAULT_LEAK_COMM] && !c.strict && !c.keep_exit);
    c = choose("0");
    ck_assert_int_eq(chosen(&c), 0);
    c = choose("");
    ck_assert_int_eq(chosen(&c), KU_FAULT_KINDS);
    c = choose("strict,keep-exit");
    ck_assert(c.strict && c.keep_exit && chosen(&c) == KU_FAULT_KINDS);
    c = choose("-overlap,1");
    ck_assert(!c.kind[KU_FAULT_OVERLAP] && chosen(&c) == KU_FAULT_KINDS - 1);
    c = choose("warning,-leak-comm,strict");
    ck_assert(c.kind[KU_FAULT_LEAK_TYPE] && !c.kind[KU_FAULT_LEAK_COMM] && !c.kind[KU_FAULT_OVERLAP] &&
              c.strict);
}
END_TEST

START_TEST(test_choose_bad)
{
    static const char *const lists[] = { "overlap,nothing,note", "nothing", "strict,-nothing" };
    struct ku_fault_choice c;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t len = 0;
        const char *bad = ku_fault_choose(lists[i], &c, &len);
        ck_assert_ptr_nonnull(bad);
        ck_assert_mem_eq(bad + (*bad == '-'), "nothing", 7);
        ck_assert_uint_eq(len, 7 + (*bad == '-'));
    }
}
END_TEST

static char *as_text(const struct ku_fault *f)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    ck_assert_ptr_nonnull(out);
    ku_fault_put(out, f);
    fclose(out);
    return text;
}

START_TEST(test_travel)
{
    const struct ku_fault f = { .kind = KU_FAULT_OVERLAP,
                                .number = 7,
                                .call = "MPI_Send",
                                .argument = "buf",
                                .here = 0x1234,
                                .said = true,
                                .text = "at \1"
                                        "5678\2 and more" };
    struct ku_fault_words w;
    char *text = as_text(&f);
    ck_assert(ku_fault_take(text, &w));
    ck_assert_int_eq(w.kind, KU_FAULT_OVERLAP);
    ck_assert_uint_eq(w.number, 7);
    ck_assert(w.said);
    ck_assert_str_eq(w.call, "MPI_Send");
    ck_assert_str_eq(w.argument, "buf");
    ck_assert_str_eq(w.here, "\1+1234\2");
    ck_assert_str_eq(w.there, "");
    ck_assert_str_eq(w.text, f.text);
    free(text);
}
END_TEST

START_TEST(test_travel_cut)
{
    const struct ku_fault f = { .kind = KU_FAULT_OVERLAP, .call = "MPI_Send", .text = "words" };
    struct ku_fault_words w;
    char *whole = as_text(&f);
    size_t fields = strlen(whole) - strlen(f.text);
    for (size_t n = 0; n < fields; n++) {
        char *part = strndup(whole, n);
        ck_assert(!ku_fault_take(part, &w));
        free(part);
    }
    whole[0] = 'x'; /* a kind that there is not */
    ck_assert(!ku_fault_take(whole, &w));
    free(whole);
}
END_TEST

static void check_place(const char *text, const char *path, int line, const char *function, const char *name)
{
    struct ku_place p = ku_place_of(text);
    ck_assert_int_eq(p.path_len, (int)strlen(path));
    ck_assert_mem_eq(p.path, path, strlen(path));
    ck_assert_int_eq(p.line, line);
    ck_assert_int_eq(p.function_len, (int)strlen(function));
    ck_assert_mem_eq(p.function, function, strlen(function));
    ck_assert_str_eq(ku_place_name(text), name);
}

START_TEST(test_places)
{
    check_place("/a b/x.c:12 (main)", "/a b/x.c", 12, "main", "x.c:12 (main)");
    check_place("/a/x.cpp:3 (f::g(int)::h)", "/a/x.cpp", 3, "f::g(int)::h", "x.cpp:3 (f::g(int)::h)");
    check_place("x.c:12", "x.c", 12, "", "x.c:12");
    check_place("/a:3b/x.c:12", "/a:3b/x.c", 12, "", "x.c:12");
    check_place("main+0x1c in prog", "prog", 0, "main", "main+0x1c in prog");
    check_place("prog+0x2f1c", "prog", 0, "", "prog+0x2f1c");
    check_place("0x7f12", "", 0, "", "0x7f12");
    check_place("", "", 0, "", "");
}
END_TEST

START_TEST(test_show)
{
    static const struct {
        struct ku_fault_words f;
        const char *text;
    } rows[] = {
        { { KU_FAULT_OVERLAP, 1, false, "MPI_Send", "buf", "/a/x.c:1 (f)", "", "is wrong" },
          "error: MPI_Send, x.c:1 (f): buf: is wrong [overlap]" },
        { { KU_FAULT_LEAK_COMM, 1, false, "MPI_Finalize", "", "", "", "is left" },
          "warning: MPI_Finalize: is left [leak-comm]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        ck_assert_ptr_nonnull(out);
        ku_fault_show(out, &rows[i].f);
        fclose(out);
        ck_assert_str_eq(text, rows[i].text);
    }
}
END_TEST

START_TEST(test_json)
{
    static const char *const rows[][2] = {
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\n\1", "\"\\u000a\\u0001\"" },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { "\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80",
          "\"\\ufffd|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\\ufffd\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        ck_assert_ptr_nonnull(out);
        ku_json_string(out, rows[i][0]);
        fclose(out);
        ck_assert_str_eq(text, rows[i][1]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("faults");
    TCase *tc = tcase_create("faults");
    tcase_add_test(tc, test_choose);
    tcase_add_test(tc, test_choose_bad);
    tcase_add_test(tc, test_travel);
    tcase_add_test(tc, test_travel_cut);
    tcase_add_test(tc, test_places);
    tcase_add_test(tc, test_show);
    tcase_add_test(tc, test_json);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
