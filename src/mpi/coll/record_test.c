/* SPDX-License-Identifier: BSD-3-Clause */
/* What is put before a block of a packed gather or scatter, byte for byte. */
#include "record.h"
#include <check.h>
#include <stdlib.h>
#include "util/golden.h"

START_TEST(a_record_is_these_bytes)
{
    static const uint8_t bytes[] = { 0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31 },
                         straight[] = { 0x24, 0x23, 0x22, 0x21, 0xff, 0xff, 0xff, 0xff },
                         from[] = { 0x24, 0x23, 0x22, 0x21, 0xfe, 0xff, 0xff, 0xff };
    struct record r;
    record_prepare(&r, 0x21222324, 0x31323334);
    golden("record", &r, bytes, "44");
    ck_assert_int_eq(record_v(&r), 0x21222324);
    ck_assert_int_eq(record_bytes(&r), 0x31323334);
    record_prepare(&r, 0x21222324, STRAIGHT);
    golden("record without data", &r, straight, "44");
    ck_assert_int_eq(record_bytes(&r), STRAIGHT);
    record_prepare(&r, 0x21222324, FROM);
    golden("record before those of a rank", &r, from, "44");
    ck_assert_int_eq(record_bytes(&r), FROM);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("record");
    TCase *c = tcase_create("bytes");
    SRunner *r = srunner_create(s);
    tcase_add_test(c, a_record_is_these_bytes);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
