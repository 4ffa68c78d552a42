/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"
#include "auth.h"
#include "le.h"
#include <dlfcn.h>
#include <errno.h>
#include <nettle/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "segment.h"
#include "sock.h"

static const char label[16] = "keel auth 1";

static struct {
    pthread_once_t once;
    char why_not[200];
    __typeof__(hmac_sha256_set_key) *set_key;
    __typeof__(hmac_sha256_update) *update;
    __typeof__(hmac_sha256_digest) *digest;
} nettle = { .once = PTHREAD_ONCE_INIT };

static void auth_load(void)
{
#define TEXT_OF(name) #name
#define FIND(field, symbol) \
    ((nettle.field = lib ? (__typeof__(nettle.field))dlsym(lib, TEXT_OF(symbol)) : NULL) != NULL)
    void *lib = dlopen(NETTLE_SONAME, RTLD_NOW);
    if (FIND(set_key, hmac_sha256_set_key) && FIND(update, hmac_sha256_update) &&
        FIND(digest, hmac_sha256_digest))
        return;
    const char *error = dlerror();
    snprintf(nettle.why_not, sizeof nettle.why_not, "%s cannot be loaded, which has HMAC-SHA-256: %.120s",
             NETTLE_SONAME, error ? error : "no reason told");
#undef FIND
#undef TEXT_OF
}

const char *ku_auth_ready(void)
{
    pthread_once(&nettle.once, auth_load);
    return nettle.why_not[0] ? nettle.why_not : NULL;
}

bool ku_auth_nonce(uint8_t nonce[KU_AUTH_NONCE])
{
    ssize_t n;
    do
        n = getrandom(nonce, KU_AUTH_NONCE, 0);
    while (n < 0 && errno == EINTR);
    return n == KU_AUTH_NONCE;
}

static void auth_begin(struct hmac_sha256_ctx *c, const void *key, size_t len)
{
    nettle.set_key(c, len, key);
}

static void auth_end(struct hmac_sha256_ctx *c, uint8_t mac[KU_AUTH_PROOF])
{
    nettle.digest(c, KU_AUTH_PROOF, mac);
    explicit_bzero(c, sizeof *c);
}

void ku_auth_hmac(const void *key, size_t key_len, const void *text, size_t len, uint8_t mac[KU_AUTH_PROOF])
{
    struct hmac_sha256_ctx c;
    auth_begin(&c, key, key_len);
    nettle.update(&c, len, text);
    auth_end(&c, mac);
}

void ku_auth_prove(const uint8_t *secret, const struct ku_auth *a, enum ku_auth_role role,
                   uint8_t proof[KU_AUTH_PROOF])
{
    struct hmac_sha256_ctx c;
    uint64_t as = ku_le64(role);
    struct ku_auth facts = *a; /* as they travel: both sides hash the same bytes */
    facts.job = ku_le64(a->job);
    facts.caller = ku_le64(a->caller);
    facts.called = ku_le64(a->called);
    facts.serial = ku_le64(a->serial);
    auth_begin(&c, secret, KU_SECRET_BYTES);
    nettle.update(&c, sizeof label, (const uint8_t *)label);
    nettle.update(&c, sizeof as, (const uint8_t *)&as);
    nettle.update(&c, sizeof facts, (const uint8_t *)&facts);
    auth_end(&c, proof);
}

bool ku_auth_proven(const uint8_t *secret, const struct ku_auth *a, enum ku_auth_role role,
                    const uint8_t proof[KU_AUTH_PROOF])
{
    uint8_t mine[KU_AUTH_PROOF];
    ku_auth_prove(secret, a, role, mine);
    return ku_sock_same(mine, proof, sizeof mine);
}
