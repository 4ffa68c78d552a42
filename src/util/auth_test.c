/* SPDX-License-Identifier: BSD-3-Clause */
/* auth_test.c: HMAC-SHA-256 by the vectors of RFC 4231; what a proof holds for, and what it does not. */
#include "auth.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "segment.h"

/* Test cases 1 to 4, 6 and 7 (5 is a shortened one). */
static const struct vector {
    const char *key, *text;
    int key_byte, key_len, text_byte, text_len; /* where key or text is one byte again and again */
    const char *mac;
} vectors[] = {
    { NULL, "Hi There", 0x0b, 20, 0, 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
    { "Jefe", "what do ya want for nothing?", 0, 4, 0, 28,
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
    { NULL, NULL, 0xaa, 20, 0xdd, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
    { "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19",
      NULL, 0, 25, 0xcd, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
    { NULL, "Test Using Larger Than Block-Size Key - Hash Key First", 0xaa, 131, 0, 54,
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
    { NULL,
      "This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
      "be "
      "hashed before being used by the HMAC algorithm.",
      0xaa, 131, 0, 152, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
};

START_TEST(rfc_4231)
{
    const struct vector *v = &vectors[_i];
    uint8_t key[131], text[152], mac[KU_AUTH_PROOF];
    char hex[2 * KU_AUTH_PROOF + 1];
    memset(key, v->key_byte, sizeof key);
    memset(text, v->text_byte, sizeof text);
    if (v->key)
        memcpy(key, v->key, (size_t)v->key_len);
    if (v->text)
        memcpy(text, v->text, (size_t)v->text_len);
    ku_auth_hmac(key, (size_t)v->key_len, text, (size_t)v->text_len, mac);
    for (int i = 0; i < KU_AUTH_PROOF; i++)
        snprintf(hex + 2 * i, 3, "%02x", mac[i]);
    ck_assert_str_eq(hex, v->mac);
}
END_TEST

static struct ku_auth example(uint8_t secret[KU_SECRET_BYTES])
{
    struct ku_auth a = { .purpose = "test wire", .job = 77, .caller = 1, .called = 2, .serial = 1 };
    ck_assert(ku_auth_nonce(secret) && ku_auth_nonce(a.caller_nonce) && ku_auth_nonce(a.called_nonce));
    return a;
}

START_TEST(holds)
{
    uint8_t secret[KU_SECRET_BYTES], proof[KU_AUTH_PROOF];
    struct ku_auth a = example(secret);
    ck_assert(memcmp(a.caller_nonce, a.called_nonce, KU_AUTH_NONCE) != 0);
    for (enum ku_auth_role role = KU_AUTH_CALLER; role <= KU_AUTH_CALLED; role++) {
        ku_auth_prove(secret, &a, role, proof);
        ck_assert(ku_auth_proven(secret, &a, role, proof));
    }
}
END_TEST

/* Whatever bit is another, of what is proven, the proof or the secret. */
START_TEST(holds_for_nothing_else)
{
    uint8_t secret[KU_SECRET_BYTES], proof[KU_AUTH_PROOF];
    struct ku_auth a = example(secret);
    struct {
        uint8_t *bytes;
        size_t n;
    } parts[] = { { (uint8_t *)&a, sizeof a }, { proof, sizeof proof }, { secret, sizeof secret } };
    ku_auth_prove(secret, &a, KU_AUTH_CALLER, proof);
    for (int part = 0; part < 3; part++)
        for (size_t bit = 0; bit < 8 * parts[part].n; bit++) {
            parts[part].bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            ck_assert_msg(!ku_auth_proven(secret, &a, KU_AUTH_CALLER, proof), "part %d, bit %zu", part, bit);
            parts[part].bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    ck_assert(ku_auth_proven(secret, &a, KU_AUTH_CALLER, proof));
    ck_assert(!ku_auth_proven(secret, &a, KU_AUTH_CALLED, proof));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("auth");
    TCase *c = tcase_create("auth");
    SRunner *runner = srunner_create(suite);
    const char *why = ku_auth_ready();
    int failed;
    if (why) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    tcase_add_loop_test(c, rfc_4231, 0, sizeof vectors / sizeof *vectors);
    tcase_add_test(c, holds);
    tcase_add_test(c, holds_for_nothing_else);
    suite_add_tcase(suite, c);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
