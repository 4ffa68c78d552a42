/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts as batch systems write them, and what is none. */
#define _GNU_SOURCE
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostlist.h"
#include "pmi/launch/base/util.h"

/* util.c's end a job; here it is enough to stop. */
void *xgrow(void *p, size_t n, size_t size)
{
    void *q = realloc(p, n * size);
    ck_assert_ptr_nonnull(q);
    return q;
}

char *xformat(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    ck_assert_int_ge(vasprintf(&text, fmt, args), 0);
    va_end(args);
    return text;
}

static void lists(const char *list, const char *names)
{
    int n = 0;
    char all[1000] = "", **name = hostlist_names(list, &n);
    ck_assert_msg((name == NULL) == (names == NULL), "%s", list);
    for (int i = 0; name && i < n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", name[i]);
    if (names)
        ck_assert_str_eq(all, names);
    hostlist_free(name, name ? n : 0);
}

START_TEST(slurms_lists)
{
    lists("h1", "h1");
    lists("a,b.example.org,c-d", "a b.example.org c-d");
    lists("h[1-3]", "h1 h2 h3");
    lists("n[08-11,7]", "n08 n09 n10 n11 n7");
    lists("login,n[1,3]x,gpu[2-2]", "login n1x n3x gpu2");
    lists("r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02");
    static const char *const bad[] = { "",
                                       ",",
                                       "a,,b",
                                       "a,",
                                       "h[",
                                       "h]",
                                       "h[]",
                                       "h[1",
                                       "h1]",
                                       "h[2-1]",
                                       "h[a]",
                                       "h[1-]",
                                       "h[-1]",
                                       "h[1,]",
                                       "h[,1]",
                                       "h[1-2-3]",
                                       "h[[1]]",
                                       "h 1",
                                       "-h",
                                       "h[1]]",
                                       "h\n",
                                       "h[1-9999999]",
                                       "h[99999999999]",
                                       "[1-1000][1-1000][1-1000]" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        lists(bad[i], NULL);
}
END_TEST

START_TEST(slurms_numbers)
{
    static const int want[] = { 4, 4, 1, 16, 16, 16, 0, 0 };
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(hostlist_number("4(x2),1,16(x3)", i), want[i]);
    ck_assert_int_eq(hostlist_number("7", 0), 7);
    static const char *const bad[] = { "",   "x",  "4(",   "4(x",         "4(x)", "4(x2",
                                       "4 ", "-1", "(x2)", "99999999999", ",4" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(hostlist_number(bad[i], 1), 0);
}
END_TEST

/* Any text is a list of names that are none's prefix of an option, or is refused. */
START_TEST(any_text)
{
    static const char letters[] = "a1-[],0x()9 ";
    uint64_t state = 7;
    long taken = 0;
    for (int i = 0; i < 300000; i++) {
        char text[24];
        int n = 0;
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = state >> 20;
        size_t len = 1 + (state >> 60);
        for (size_t k = 0; k < len; k++, bits = bits * 31 + 7)
            text[k] = letters[bits % (sizeof letters - 1)];
        text[len] = '\0';
        char **name = hostlist_names(text, &n);
        for (int k = 0; name && k < n; k++)
            ck_assert_msg(name[k][0] && !strpbrk(name[k], "[], "), "%s: %s", text, name[k]);
        taken += name != NULL;
        hostlist_free(name, name ? n : 0);
        ck_assert_int_ge(hostlist_number(text, i % 5), 0);
    }
    ck_assert_int_gt(taken, 1000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hostlist");
    TCase *c = tcase_create("lists");
    SRunner *r = srunner_create(s);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, slurms_lists);
    tcase_add_test(c, slurms_numbers);
    tcase_add_test(c, any_text);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
