/* SPDX-License-Identifier: BSD-3-Clause */
/* What PMI-1 and PMI-2 say, letter for letter. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "server.h"
#include "util/err.h"
#include "words.h"

static char value[16];

START_TEST(words_are_found)
{
    static const char line[] = "cmd=get_result rc=0 msg=a=b  value=(vector,(0,1,2)) x=";
    ck_assert(pmi_says(line, PMI_LINE_END, "cmd", "get_result"));
    ck_assert(pmi_says(line, PMI_LINE_END, "msg", "a=b"));
    ck_assert(pmi_says(line, PMI_LINE_END, "value", "(vector,(0,1,2))"));
    ck_assert(pmi_says(line, PMI_LINE_END, "x", ""));
    ck_assert(!pmi_word(line, PMI_LINE_END, "get_result", value, sizeof value));
    ck_assert(!pmi_word(line, PMI_LINE_END, "md", value, sizeof value));
    ck_assert(!pmi_word(line, PMI_LINE_END, "value", value, sizeof value)); /* 16 letters and a zero */
    ck_assert(!pmi_word("", PMI_LINE_END, "cmd", value, sizeof value));
}
END_TEST

START_TEST(a_doubled_separator_is_a_letter)
{
    char doubled[16];
    ck_assert(pmi_word("cmd=x;value=a;;b;;;rc=1", PMI_FRAME_END, "value", value, sizeof value));
    ck_assert_str_eq(value, "a;b;");
    ck_assert(pmi_word("value=a;;rc=7;rc=2;", PMI_FRAME_END, "rc", value, sizeof value));
    ck_assert_str_eq(value, "2");
    pmi_double(doubled, sizeof doubled, "a;b;");
    ck_assert_str_eq(doubled, "a;;b;;");
    pmi_double(doubled, 6, "ab;cd");
    ck_assert_str_eq(doubled, "ab;;");
}
END_TEST

START_TEST(numbers_are_decimal)
{
    int32_t n = 0;
    ck_assert(pmi_number("rc=-1 size=2147483647", PMI_LINE_END, "size", &n) && n == 2147483647);
    ck_assert(pmi_number("rc=-1", PMI_LINE_END, "rc", &n) && n == -1);
    static const char *const bad[] = { "rc=", "rc=x", "rc=1x", "rc=2147483648", "rc=99999999999999999999",
                                       "r=1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert(!pmi_number(bad[i], PMI_LINE_END, "rc", &n));
}
END_TEST

START_TEST(heads_have_six_characters)
{
    static const struct {
        const char *head;
        int32_t n;
    } heads[] = { { "    12", 12 },  { "12    ", 12 }, { "000012", 12 }, { "262144", 262144 },
                  { "262145", -1 },  { "      ", -1 }, { "1 2   ", -1 }, { "-1    ", -1 },
                  { "12\n   ", -1 }, { "0x1   ", -1 } };
    char head[PMI_FRAME_HEAD];
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        ck_assert_int_eq(pmi_frame_length(heads[i].head), heads[i].n);
    pmi_frame_head(head, 120);
    ck_assert_int_eq(memcmp(head, "   120", sizeof head), 0);
}
END_TEST

enum { MAPPED = 10 };

struct mapping {
    const char *text;
    int32_t size, node_of[MAPPED];
};

static void expect_nodes(const struct mapping *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t node_of[MAPPED];
        ck_assert_msg(pmi_mapping(m[i].text, node_of, m[i].size) == 0, "%s: %s", m[i].text,
                      ku_err_last()->text);
        for (int32_t r = 0; r < m[i].size; r++)
            ck_assert_msg(node_of[r] == m[i].node_of[r], "%s: rank %d is on node %d", m[i].text, r,
                          node_of[r]);
    }
}

START_TEST(mappings_name_each_ranks_node)
{
    static const struct mapping good[] = { { "(vector,(0,3,2))", 6, { 0, 0, 1, 1, 2, 2 } },
                                           { "(vector,(0,3,1))", 6, { 0, 1, 2, 0, 1, 2 } },
                                           { "(vector,(0,1,4),(1,2,1))", 6, { 0, 0, 0, 0, 1, 2 } },
                                           { "(vector,(7,1,3),(2,1,3))", 6, { 0, 0, 0, 1, 1, 1 } },
                                           { "(vector,(0,1,0),(1,1,1))", 3, { 0, 0, 0 } } };
    expect_nodes(good, sizeof good / sizeof *good);
}
END_TEST

/* As Hydra 4.2 and later write them. */
START_TEST(mappings_have_numbers_and_brackets)
{
    static const struct mapping good[] = {
        { "(vector,(0,1,2),1)", 3, { 0, 0, 1 } },
        { "(vector,(0,1,2),1,(2,1,3))", 6, { 0, 0, 1, 2, 2, 2 } },
        { "(vector,[(0,1,3),1]x2)", 8, { 0, 0, 0, 1, 0, 0, 0, 1 } },
        { "(vector,[(0,2,1)]x2,0)", 5, { 0, 1, 0, 1, 0 } },
        { "(vector,0,(1,1,2),2)", 4, { 0, 1, 1, 2 } },
        { "(vector,[0,(1,1,2),2]x2,0)", 9, { 0, 1, 1, 2, 0, 1, 1, 2, 0 } },
        { "(vector,[[0]x2,[1,[2]x2]x2]x1)", 8, { 0, 0, 1, 2, 2, 1, 2, 2 } },
        { "(vector,[0,1]x0,2,[3]x1)", 4, { 0, 1, 0, 1 } },
        { "(vector,[0]x2147483647,1)", 5, { 0, 0, 0, 0, 0 } },
        { "(vector,[[[(0,0,1)]x2147483647]x2147483647]x2147483647,1,2)", 4, { 0, 1, 0, 1 } },
        { "(vector,0,1,2)", 7, { 0, 1, 2, 0, 1, 2, 0 } },
    };
    expect_nodes(good, sizeof good / sizeof *good);
}
END_TEST

/* Wrong at the end, though the ranks have had their nodes by then, too. */
START_TEST(bad_mappings_are_shown)
{
    static const char *const bad[] = { "",
                                       "(vector",
                                       "(vector)",
                                       "(vector,)",
                                       "(vector,(0,0,1))",
                                       "(vector,(0,1,0))",
                                       "(vector,(0,1,-1))",
                                       "(vector,(0,1, 1))",
                                       "(vector,(0,1,1)",
                                       "(vector,(0,1))",
                                       "(vector,(99999999999,1,6))",
                                       "(vector,(2147483647,2,3))",
                                       "(vector,(0,1,6))x",
                                       "(vector,0,1,2,3,4,5,)",
                                       "(vector,0,1,2,3,4,5,-6)",
                                       "(vector,0,1,2,3,4,5,[6]x)",
                                       "(vector,(0,1,6),[]x2)",
                                       "(vector,(0,1,6),[1]",
                                       "(vector,(0,1,6),[1]2)",
                                       "(vector,(0,1,6),[1]x-2)",
                                       "(vector,(0,1,6),[1,]x2)",
                                       "(vector,(0,1,6),[1x2)",
                                       "(vector,(0,1,6),1]x2)",
                                       "(vector,(0,1,6),[[1]x2)",
                                       "(vector,(0,1,6),[1]x2147483648)",
                                       "(vector,2147483648)",
                                       "(vector,[0]x0)",
                                       "(vector,0x2)" };
    int32_t node_of[6];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(pmi_mapping(bad[i], node_of, 6) != 0, "%s", bad[i]);
        ck_assert_msg(strstr(ku_err_last()->text, bad[i]) != NULL, "%s: %s", bad[i], ku_err_last()->text);
    }
    char deep[400] = "(vector,";
    memset(deep + strlen(deep), '[', 300);
    ck_assert(pmi_mapping(deep, node_of, 6) != 0);
    ck_assert(pmi_mapping("(vector,0,[(1,1,2),2]y2)", node_of, 6) != 0);
    ck_assert_msg(strstr(ku_err_last()->text, "wrong at \"y2)\"") != NULL, "%s", ku_err_last()->text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("words");
    TCase *c = tcase_create("words");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, words_are_found);
    tcase_add_test(c, a_doubled_separator_is_a_letter);
    tcase_add_test(c, numbers_are_decimal);
    tcase_add_test(c, heads_have_six_characters);
    tcase_add_test(c, mappings_name_each_ranks_node);
    tcase_add_test(c, mappings_have_numbers_and_brackets);
    tcase_add_test(c, bad_mappings_are_shown);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
