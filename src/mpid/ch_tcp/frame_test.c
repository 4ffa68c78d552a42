/* SPDX-License-Identifier: BSD-3-Clause */
/* What ch_tcp puts on the wire, byte for byte. */
#include "frame.h"
#include <check.h>
#include <stdlib.h>
#include "util/golden.h"

START_TEST(a_frame_is_these_bytes)
{
    static const uint8_t bytes[] = { 0x21, 0x43, 1,    0,    1,    0,    0x54, 0x4b, 1,    2,    2,    0,
                                     0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54 };
    struct dev_head head = { 0x0201, 2, 0, 0x34333231, 0x44434241, 0x54535251 };
    struct tcp_frame f = tcp_frame_prepare(TCP_PACKET, &head, 0x14321), back = tcp_frame_le(f);
    golden("frame", &f, bytes, "422211444");
    ck_assert(tcp_frame_check(&back));
    ck_assert_uint_eq(back.len, 0x14321);
    ck_assert_int_eq(memcmp(&back.head, &head, sizeof head), 0);
}
END_TEST

START_TEST(a_hello_is_these_bytes)
{
    static const uint8_t bytes[] = { 0x4b, 0x45, 0x45, 0x4c, 0x54, 0x43, 0x50, 0x31, 4,    0,    0,    0,
                                     1,    0,    0,    0,    0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
                                     0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 0x34, 0x33, 0x32, 0x31,
                                     0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51, 0,    0,    0,    0,
                                     0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x61, 1,    2,    3,    4,
                                     5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,   16,
                                     17,   18,   19,   20,   21,   22,   23,   24,   25,   26,   27,   28,
                                     29,   30,   31,   32,   32,   31,   30,   29,   28,   27,   26,   25,
                                     24,   23,   22,   21,   20,   19,   18,   17,   16,   15,   14,   13,
                                     12,   11,   10,   9,    8,    7,    6,    5,    4,    3,    2,    1 };
    struct tcp_hello h = { .magic = TCP_MAGIC,
                           .version = TCP_VERSION,
                           .kind = TCP_HELLO,
                           .job_id = 0x2122232425262728,
                           .to_job = 0x3132333435363738,
                           .from = 0x31323334,
                           .to = 0x41424344,
                           .epoch = 0x51525354,
                           .serial = 0x6162636465666768 };
    for (uint8_t i = 0; i < 32; i++) {
        h.nonce[i] = (uint8_t)(i + 1);
        h.proof[i] = (uint8_t)(32 - i);
    }
    struct tcp_hello travels = tcp_hello_le(h), back = tcp_hello_le(travels);
    ck_assert_uint_eq(sizeof bytes, sizeof h);
    golden("hello", &travels, bytes,
           "844884444"
           "8"
           "0000");
    ck_assert_int_eq(memcmp(&back, &h, sizeof h), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("frame");
    TCase *c = tcase_create("bytes");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, a_frame_is_these_bytes);
    tcase_add_test(c, a_hello_is_these_bytes);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
