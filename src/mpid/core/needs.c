/* SPDX-License-Identifier: BSD-3-Clause */
/* needs.c: what this process needs beyond the messages, and which ways of messages that closes (mpid.h, MPID_Need). */
#include "core.h"
#include <string.h>
#include "thread.h"
#include "util/knob.h"

void MPID_Peers_retune(void)
{
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used) {
        MPID_Peer_tune(p);
        MPID_Peer_update(p);
    }
}

void MPID_Lanes_tune(void)
{
    bool alone = !needs_some(MPID_NEEDS_THREADS) || KU_BIAS_IN_FORCE;
    MPID_core.lanes = alone ? MPID_core.peers.n : 0;
}

void MPID_Need(uint32_t bits, bool on)
{
    uint32_t needs =
        (on ? MPID_core.needs | bits : MPID_core.needs & ~bits) | (MPID_core.tested & ~MPID_NEEDS_THREADS);
    if (needs == MPID_core.needs)
        return;
    MPID_core.needs = needs;
    ku_threaded = (needs & MPID_NEEDS_THREADS) != 0;
    if (ku_threaded)
        MPID_Thread_begin();
    MPID_Lanes_tune();
    if (!MPID_core.up)
        return;
    MPID_Peers_retune();
    MPID_Dev_take();
}

uint32_t MPID_Needs(void)
{
    return MPID_core.needs;
}

uint32_t MPID_Needs_tested(void)
{
    return MPID_core.tested;
}

/* ---- KEEL_NEEDS ---- */

static const struct need {
    const char *name;
    uint32_t bits;
} needs[] = { { "threads", MPID_NEEDS_THREADS },
              { "types", MPID_NEEDS_TYPES },
              { "observers", MPID_NEEDS_OBSERVERS },
              { "calls", MPID_NEEDS_CALLS },
              { "listened", MPID_NEEDS_LISTENED },
              { "memory", MPID_NEEDS_DEVICE_MEMORY },
              { "strict", MPID_NEEDS_STRICT },
              { "all", MPID_NEEDS_THREADS | MPID_NEEDS_TYPES | MPID_NEEDS_OBSERVERS | MPID_NEEDS_CALLS |
                           MPID_NEEDS_LISTENED | MPID_NEEDS_DEVICE_MEMORY } };

/* Of a word, without its "@RANK". */
static uint32_t bits_of(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strlen(needs[i].name) == len && memcmp(needs[i].name, word, len) == 0)
            return needs[i].bits;
    return 0;
}

/* "@3": of rank 3 alone.  False: it is no rank. */
static bool is_mine(const char *at, size_t len, bool *mine)
{
    int rank, n = 0;
    *mine = len == 0;
    if (len == 0)
        return true;
    bool good = sscanf(at, "@%d%n", &rank, &n) == 1 && (size_t)n == len && rank >= 0;
    *mine = good && rank == MPID_core.rank;
    return good;
}

int MPID_Needs_read(void)
{
    uint32_t bits, all = 0;
    bool mine;
    for (const char *word = ku_knob_str("NEEDS"); word != NULL && *word;) {
        size_t len = strcspn(word, ","), name = strcspn(word, "@,");
        if ((bits = bits_of(word, name)) == 0 || !is_mine(word + name, len - name, &mine))
            return ku_err_set(MPI_ERR_OTHER, NULL,
                              "KEEL_NEEDS has \"%.*s\"; expected threads, types, observers, calls, listened, "
                              "memory, strict or all, and perhaps @RANK",
                              (int)len, word);
        all |= mine ? bits : 0;
        word += len + (word[len] != 0);
    }
    MPID_core.tested = all;
    MPID_Need(0, true);
    return 0;
}
