/* What PMI-1 and PMI-2 say, letter for letter. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "server.h"
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

START_TEST(mappings_name_each_ranks_node)
{
    static const struct {
        const char *mapping;
        int32_t node_of[6];
    } good[] = { { "(vector,(0,3,2))", { 0, 0, 1, 1, 2, 2 } },
                 { "(vector,(0,3,1))", { 0, 1, 2, 0, 1, 2 } },
                 { "(vector,(0,1,4),(1,2,1))", { 0, 0, 0, 0, 1, 2 } },
                 { "(vector,(7,1,3),(2,1,3))", { 0, 0, 0, 1, 1, 1 } } };
    static const char *const bad[] = { "",
                                       "(vector",
                                       "(vector)",
                                       "(vector,(0,0,1))",
                                       "(vector,(0,1,0))",
                                       "(vector,(0,1,-1))",
                                       "(vector,(0,1,1)",
                                       "(vector,(0,1))",
                                       "(vector,(99999999999,1,6))",
                                       "(vector,(2147483647,2,3))",
                                       "(vector,(0,1,6))x" };
    int32_t node_of[6];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(pmi_mapping(good[i].mapping, node_of, 6), 0);
        ck_assert_int_eq(memcmp(node_of, good[i].node_of, sizeof node_of), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(pmi_mapping(bad[i], node_of, 6) != 0, "%s", bad[i]);
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
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
