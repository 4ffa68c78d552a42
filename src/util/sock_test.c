/* SPDX-License-Identifier: BSD-3-Clause */
/* sock_test.c: addresses: how they are written, which networks they lie in; sockets of both families. */
#include "sock.h"
#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ku_sock_addr parsed(const char *text)
{
    struct ku_sock_addr a;
    ck_assert_msg(ku_sock_parse(text, strlen(text), &a), "%s", text);
    return a;
}

START_TEST(written)
{
    static const char *const good[][2] = { { "10.1.2.3", "10.1.2.3:7" },    { "10.0.0.0/8", "10.0.0.0:7" },
                                           { "0.0.0.0/0", "0.0.0.0:7" },    { "fd00::1", "[fd00::1]:7" },
                                           { "fd00::/7", "[fd00::]:7" },    { "::/0", "[::]:7" },
                                           { "fd00::1/128", "[fd00::1]:7" } };
    static const char *const bad[] = { "",
                                       "10.1.2",
                                       "10.1.2.3/33",
                                       "10.1.2.3/-1",
                                       "10.1.2.3/",
                                       "10.1.2.3/8x",
                                       "fd00::/129",
                                       "fd00:::1",
                                       "host",
                                       "10.1.2.3:80",
                                       "10.1.2.3/+8",
                                       "/8",
                                       " 10.1.2.3",
                                       "10.1.2.256",
                                       "1111:2222:3333:4444:5555:6666:7777:8888:9999/100" };
    char text[KU_SOCK_TEXT];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct ku_sock_addr a = parsed(good[i][0]);
        a.port = 7;
        ck_assert_str_eq(ku_sock_text(&a, text), good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ku_sock_addr a;
        ck_assert_msg(!ku_sock_parse(bad[i], strlen(bad[i]), &a), "%s", bad[i]);
    }
}
END_TEST

START_TEST(networks)
{
    static const struct {
        const char *a, *net;
        bool within;
    } rows[] = { { "10.1.2.3", "10.0.0.0/8", true },
                 { "11.1.2.3", "10.0.0.0/8", false },
                 { "10.1.2.3", "10.1.2.2/31", true },
                 { "10.1.2.4", "10.1.2.2/31", false },
                 { "10.1.2.3", "10.1.2.3", true },
                 { "10.1.2.3", "10.1.2.2", false },
                 { "10.1.2.3", "0.0.0.0/0", true },
                 { "10.1.2.3", "::/0", false },
                 { "fd00::1", "fd00::/8", true },
                 { "fe00::1", "fd00::/8", false },
                 { "fd00::1", "fd00::/127", true },
                 { "fd00::2", "fd00::/127", false },
                 { "fd00::1", "0.0.0.0/0", false },
                 { "192.168.255.1", "192.168.128.0/17", true },
                 { "192.168.127.1", "192.168.128.0/17", false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ku_sock_addr a = parsed(rows[i].a), net = parsed(rows[i].net);
        ck_assert_msg(ku_sock_within(&a, &net) == rows[i].within, "%s in %s", rows[i].a, rows[i].net);
    }
}
END_TEST

static void arrives(int listener, const struct ku_sock_addr *to)
{
    struct pollfd p = { .fd = listener, .events = POLLIN };
    struct ku_sock_addr from;
    int fd = ku_sock_connect(to), got;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    got = ku_sock_accept(listener, &from);
    ck_assert_int_ge(got, 0);
    ck_assert_msg(ku_sock_same_ip(&from, to), "the caller has another address");
    close(got);
    close(fd);
}

/* One socket for both families, where the host has both. */
START_TEST(one_listener)
{
    struct ku_sock_addr at, four = parsed("127.0.0.1"), six = parsed("::1");
    int fd = ku_sock_listen(NULL, &at);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ne(at.port, 0);
    four.port = six.port = at.port;
    arrives(fd, &four);
    if (at.family == 6 && access("/proc/net/if_inet6", R_OK) == 0)
        arrives(fd, &six);
    close(fd);
    ck_assert_int_lt(ku_sock_listen("10.0.0.0/8", &at), 0);
    ck_assert_int_lt(ku_sock_listen("nowhere", &at), 0);
}
END_TEST

START_TEST(this_host)
{
    struct ku_sock_addr own[8], local = parsed("127.0.0.0/8");
    int n = ku_sock_own(own, 8);
    for (int i = 0; i < n; i++)
        ck_assert(!ku_sock_within(&own[i], &local) && own[i].prefix > 0);
    ck_assert_int_le(ku_sock_own(own, 1), 1);
    ck_assert(ku_sock_host() == ku_sock_host());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sock");
    TCase *c = tcase_create("sock");
    SRunner *runner = srunner_create(suite);
    int failed;
    tcase_add_test(c, written);
    tcase_add_test(c, networks);
    tcase_add_test(c, one_listener);
    tcase_add_test(c, this_host);
    suite_add_tcase(suite, c);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
