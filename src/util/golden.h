/* SPDX-License-Identifier: BSD-3-Clause */
/* golden.h: for tests: what an encoder makes must be these bytes.  In a program compiled with KU_LE_SWAP each field must be these
 * bytes backwards: one that did not go through le.h stays as it is, and is found out. */
#ifndef KU_GOLDEN_H
#define KU_GOLDEN_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* `sizes`: of the fields, a digit each; '0' is a field of 16 bytes that are no number. */
#define golden(what, got, bytes, sizes) golden_of(what, got, bytes, sizeof(bytes), sizes)
static inline void golden_of(const char *what, const void *got, const uint8_t *bytes, size_t nbytes,
                             const char *sizes)
{
    uint8_t want[256];
    size_t at = 0;
    for (; *sizes; sizes++) {
        size_t n = *sizes == '0' ? 16 : (size_t)(*sizes - '0');
        if (at + n > nbytes || at + n > sizeof want)
            ck_abort_msg("%s: the fields have more than the %zu bytes that are expected", what, nbytes);
        for (size_t i = 0; i < n; i++)
#ifdef KU_LE_SWAP
            want[at + i] = bytes[at + (*sizes == '0' ? i : n - 1 - i)];
#else
            want[at + i] = bytes[at + i];
#endif
        at += n;
    }
    for (size_t i = 0; i < at; i++)
        ck_assert_msg(((const uint8_t *)got)[i] == want[i], "%s: byte %zu is 0x%02x; expected 0x%02x", what,
                      i, ((const uint8_t *)got)[i], want[i]);
}

#endif
