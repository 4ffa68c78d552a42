/* SPDX-License-Identifier: BSD-3-Clause */
/* golden.h: for tests: what an encoder makes must be these bytes.  In a program compiled with KU_LE_SWAP each
 * field must be these bytes backwards: one that did not go through le.h stays as it is, and is found out. */
#ifndef KU_GOLDEN_H
#define KU_GOLDEN_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* (Not inlined: gcc 16 takes n for a number that may be negative.) */
static __attribute__((noinline)) void golden_field(uint8_t *want, const uint8_t *bytes, size_t n, bool number)
{
#ifdef KU_LE_SWAP
    for (size_t i = 0; i < n; i++)
        want[i] = bytes[number ? n - 1 - i : i];
#else
    (void)number;
    memcpy(want, bytes, n);
#endif
}

/* `sizes`: of the fields, a digit each; '0' is a field of 16 bytes that are no number. */
#define golden(what, got, bytes, sizes) golden_of(what, got, bytes, sizeof(bytes), sizes)
static inline void golden_of(const char *what, const void *got, const uint8_t *bytes, size_t nbytes,
                             const char *sizes)
{
    uint8_t want[256];
    size_t at = 0;
    for (; *sizes; sizes++) {
        size_t n = *sizes == '0' ? 16 : (size_t)(*sizes - '0');
        if (n > nbytes - at || n > sizeof want - at)
            ck_abort_msg("%s: the fields have more than the %zu bytes that are expected", what, nbytes);
        golden_field(want + at, bytes + at, n, *sizes != '0');
        at += n;
    }
    for (size_t i = 0; i < at; i++)
        ck_assert_msg(((const uint8_t *)got)[i] == want[i], "%s: byte %zu is 0x%02x; expected 0x%02x", what,
                      i, ((const uint8_t *)got)[i], want[i]);
}

#endif
