/* SPDX-License-Identifier: BSD-3-Clause */
/* The heads of partitioned messages, byte for byte. */
#include "part.h"
#include <check.h>
#include <stdlib.h>
#include "util/golden.h"

START_TEST(heads_are_these_bytes)
{
    static const uint8_t init[] = { 0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31,
                                    0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41 },
                         head[] = { 0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31,
                                    0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x81 };
    struct part_init i = part_init_le((struct part_init){ 0x21222324, 0x31323334, 0x4142434445464748 }),
                     i_back = part_init_le(i);
    struct part_head h = part_head_le(
                         (struct part_head){ 0x21222324, 0x31323334, PART_MORE | 0x0142434445464748 }),
                     h_back = part_head_le(h);
    golden("the first message", &i, init, "448");
    golden("HEAD", &h, head, "448");
    ck_assert(i_back.channel == 0x21222324 && i_back.partitions == 0x31323334 &&
              i_back.bytes == 0x4142434445464748);
    ck_assert(h_back.first == 0x21222324 && h_back.count == 0x31323334 && (h_back.bytes & PART_MORE) != 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("part");
    TCase *c = tcase_create("bytes");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, heads_are_these_bytes);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
