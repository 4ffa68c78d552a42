/* SPDX-License-Identifier: BSD-3-Clause */
/* auth.h: two processes of a job show each other that they know the job's secret, without telling it.
 *
 * Each side gives the other a nonce, fresh for what it is to prove, and proves by HMAC-SHA-256 with the secret
 * over everything both hold to be true of the connection: what it is for, both nonces, the job, who calls, who is
 * called, and the caller's serial number.  The role is part of the proof, so neither can be sent back to its
 * maker.  A side that reuses its nonce (a listener whose address tells one) must refuse serials that it has seen;
 * with a nonce of its own for each connection nothing can be replayed.
 *
 * No call allocates, blocks or does I/O, but ku_auth_ready, which loads the library (nettle) that has the HMAC:
 * whoever makes no connection starts without it. */
#ifndef KU_AUTH_H
#define KU_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KU_AUTH_NONCE = 32, KU_AUTH_PROOF = 32, KU_AUTH_PURPOSE = 16 };
enum ku_auth_role { KU_AUTH_CALLER = 1, KU_AUTH_CALLED = 2 };

/* What is proven: its bytes, the numbers little-endian. */
struct ku_auth {
    char purpose[KU_AUTH_PURPOSE]; /* "rank wire", and zeros */
    uint8_t caller_nonce[KU_AUTH_NONCE], called_nonce[KU_AUTH_NONCE];
    uint64_t job, caller, called, serial;
};

/* NULL: the calls below work; else why not.  May be called by several threads, and again at no cost. */
const char *ku_auth_ready(void);

/* Fresh random bytes; false and errno if the system has none. */
bool ku_auth_nonce(uint8_t nonce[KU_AUTH_NONCE]);

/* secret: KU_SECRET_BYTES (segment.h). */
void ku_auth_prove(const uint8_t *secret, const struct ku_auth *a, enum ku_auth_role role,
                   uint8_t proof[KU_AUTH_PROOF]);

/* Is it the proof of the one in that role?  Takes the same time whatever differs. */
bool ku_auth_proven(const uint8_t *secret, const struct ku_auth *a, enum ku_auth_role role,
                    const uint8_t proof[KU_AUTH_PROOF]);

/* HMAC-SHA-256 (RFC 2104, RFC 4231). */
void ku_auth_hmac(const void *key, size_t key_len, const void *text, size_t len, uint8_t mac[KU_AUTH_PROOF]);

_Static_assert(sizeof(struct ku_auth) == KU_AUTH_PURPOSE + 2 * KU_AUTH_NONCE + 32,
               "no holes: its bytes are hashed");

#endif
