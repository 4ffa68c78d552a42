/* SPDX-License-Identifier: BSD-3-Clause */
/* kvs_fuzz.c: hostile values in a launcher's key-value space: what ranks of a job that another launcher has
 * started leave there for each other (addresses of devices, the job's secret, where a node's memory is, which
 * cores a rank may use), in pieces, mutated.
 *
 *   kvs_fuzz [N [SEED]]    N values
 *   kvs_fuzz - SEED        the one of this seed, as a failure prints it
 *
 * What must hold: what was not mutated comes out as it went in; else it comes out with no more bytes than were
 * asked for, or the call fails with an errno value and a text; a node has at least one core.  Reads and writes out
 * of bounds are AddressSanitizer's (pmi_fuzz.test). */
#include "pmi/kvs.c"

#define PROGRAM "kvs_fuzz"
#include "random.h"

enum { PIECES = 400, PIECE = 300, MOST = 4000 };

static long taken, refused;
static char piece[PIECES][PIECE + 1];
static int pieces;

/* ---- a launcher ---- */

static int keep(const char *key, const char *value, enum pmi_reach reach)
{
    (void)key, (void)reach;
    if (pieces == PIECES || strlen(value) > facts.value_max)
        fail("a value that is too long");
    snprintf(piece[pieces++], PIECE + 1, "%s", value);
    return 0;
}

static int tell(int32_t from, const char *key, char *value, size_t cap)
{
    int i = atoi(strrchr(key, '-') + 1);
    (void)from;
    if (i >= pieces || strlen(piece[i]) >= cap)
        return ku_err_set(ENOENT, NULL, "there is no %s", key);
    snprintf(value, cap, "%s", piece[i]);
    return 0;
}

static const struct pmi_server launcher = { .name = "fuzz", .put = keep, .get = tell };

static void mutate(void)
{
    static const char letters[] = "0123456789:AZaz+/=; -\n\x7f\xff";
    char *text = piece[random_below((uint32_t)pieces)];
    size_t len = strlen(text), at = len ? random_below((uint32_t)len) : 0;
    switch (random_below(6)) {
    case 0:
        if (len)
            text[at] = letters[random_below(sizeof letters - 1)];
        break;
    case 1:
        text[at] = 0;
        break;
    case 2:
        memmove(text, text + at, len - at + 1);
        break;
    case 3:
        snprintf(text, PIECE + 1, "%llu:%s", 1ull << random_below(64), random_below(2) ? "AAAA" : "");
        break;
    case 4:
        pieces = (int)random_below((uint32_t)pieces + 1);
        break;
    default:
        if (pieces < PIECES)
            memcpy(piece[pieces++], text, sizeof piece[0]);
    }
}

static void failed_well(int err)
{
    if (err <= 0 || !*ku_err_last()->text)
        fail("an error without a text");
    refused++;
}

static void value(void)
{
    uint8_t bytes[MOST], *got = NULL;
    size_t len = random_below(4) ? random_below(200) : random_below(MOST), had = 0;
    size_t most = random_below(4) ? MOST : len;
    uint32_t times = random_below(4);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)random_below(256);
    facts.value_max = PIECE / (1 + random_below(6));
    pieces = 0;
    if (len * 4 / 3 + 24 > facts.value_max * PIECES)
        return;
    put_bytes("key", bytes, len, PMI_REACH_ALL);
    for (uint32_t i = 0; i < times && pieces > 0; i++)
        mutate();
    int err = get_bytes(0, "key", &got, &had, most);
    if (err) {
        failed_well(err);
        if (times == 0 || got)
            fail(got ? "bytes of a value that is none" : "a good value is refused");
        return;
    }
    taken++;
    if (had > most)
        fail("more bytes than were asked for");
    if (times == 0 && (had != len || (len > 0 && memcmp(got, bytes, len) != 0)))
        fail("another value comes out");
    free(got);
}

static void affinity(void)
{
    static int32_t node_of[3];
    struct ku_seg_head h = { .nlocal = 3, .cpus = 1 };
    facts.value_max = PIECE;
    facts.size = 3;
    facts.node_of = node_of;
    pieces = 0;
    tell_affinity();
    for (uint32_t i = random_below(3); i > 0 && pieces > 0; i--)
        mutate();
    int err = count_cpus(&h);
    if (err)
        failed_well(err);
    else
        taken++;
    if (h.cpus < 1)
        fail("a node without a core");
}

static void attempt(void)
{
    state = seed * 0x9e3779b97f4a7c15u;
    ku_err_clear();
    if (seed % 16 == 0)
        affinity();
    else
        value();
}

int main(int argc, char **argv)
{
    bool one = argc > 2 && strcmp(argv[1], "-") == 0;
    long n = one ? 1 : argc > 1 ? atol(argv[1]) : 40000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    server = &launcher;
    for (long i = 0; i < n; i++, seed++)
        attempt();
    printf("values: %ld taken, %ld refused\n", taken, refused);
    if (!one && n >= 1000 && (taken == 0 || refused == 0))
        fail("only one outcome");
    return 0;
}
