/* SPDX-License-Identifier: BSD-3-Clause */
/* card.c: see card.h. */
#include "card.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "err.h"

/* In a block. */
struct stored {
    uint32_t len;
    uint8_t bytes[];
};

enum { STATE_SHIFT = 28 };
#define LOW_MASK (((uint64_t)1 << STATE_SHIFT) - 1)

static uint64_t card_word(uint32_t epoch, enum ku_card_state is, uint32_t low)
{
    return (uint64_t)epoch << 32 | (uint64_t)is << STATE_SHIFT | low;
}
static uint32_t epoch_of(uint64_t w)
{
    return (uint32_t)(w >> 32);
}
static enum ku_card_state card_state_of(uint64_t w)
{
    return (enum ku_card_state)(w >> STATE_SHIFT & 15);
}
static ku_block block_of(uint64_t w)
{
    return ku_block_of((uint32_t)(w & LOW_MASK));
}

static _Atomic uint64_t *word_at(const struct ku_segment *s, uint32_t grank)
{
    int32_t here = ku_segment_local_of(s, (int32_t)grank);
    return here >= 0 ? &ku_segment_rank(s, (uint32_t)here)->card
                     : (_Atomic uint64_t *)((char *)s->head + s->head->card_off) + grank;
}

static struct ku_seg_rank *me(const struct ku_heap *h)
{
    return ku_segment_rank(h->segment, h->lrank);
}

/* ---- For ranks ---- */

static ku_block card_store(struct ku_heap *h, const void *bytes, uint32_t len)
{
    ku_block b = ku_heap_alloc(h, sizeof(struct stored) + len);
    struct stored *to = b != 0 ? ku_heap_map(h, b) : NULL;
    if (to == NULL)
        return 0;
    to->len = len;
    memcpy(to->bytes, bytes, len);
    ku_heap_unmap(h, b);
    return b;
}

int ku_card_write(struct ku_heap *h, const void *bytes, uint32_t len, bool *wanted)
{
    uint64_t is = card_word(h->epoch, KU_CARD_EMPTY, 0);
    *wanted = false;
    if (len > KU_CARD_MAX)
        return ku_err_set(E2BIG, NULL, "the addresses of this process take %u bytes; expected at most %d",
                          len, KU_CARD_MAX);
    if (len > 0) {
        ku_block b = card_store(h, bytes, len);
        if (b == 0)
            return ku_err_last()->code;
        is = card_word(h->epoch, KU_CARD_THERE, ku_block_number(b));
    }
    atomic_store(&me(h)->card, is); /* and then look who asks: they store first, and look at the card next */
    if (atomic_load(&h->segment->head->card_wanted) && atomic_exchange(&h->segment->head->card_wanted, 0))
        ku_segment_wake_all(h->segment);
    *wanted = atomic_load(&me(h)->card_asked) == h->epoch;
    return 0;
}

static enum ku_card_state read_word(struct ku_heap *h, uint64_t w, struct ku_card *c)
{
    int32_t ahead = (int32_t)(epoch_of(w) - h->epoch);
    if (w == 0 || ahead < 0)
        return KU_CARD_NONE;
    if (ahead > 0)
        return KU_CARD_PAST;
    if (card_state_of(w) != KU_CARD_THERE)
        return card_state_of(w);
    const struct stored *from = ku_heap_map(h, block_of(w));
    if (from == NULL)
        return KU_CARD_LACKING;
    *c = (struct ku_card){ from->bytes, from->len, block_of(w) };
    return KU_CARD_THERE;
}

static bool is_dead(const struct ku_segment *s, uint32_t lrank)
{
    return lrank >= s->head->nlocal || atomic_load(&ku_segment_rank(s, lrank)->state) == KU_RANK_DEAD;
}

enum ku_card_state ku_card_look(struct ku_heap *h, uint32_t grank, struct ku_card *c, bool *ask)
{
    const struct ku_segment *s = h->segment;
    _Atomic uint64_t *at = word_at(s, grank);
    uint64_t w = atomic_load(at);
    enum ku_card_state is = read_word(h, w, c);
    *ask = false;
    if (is == KU_CARD_NONE && ku_segment_local_of(s, (int32_t)grank) >= 0) {
        atomic_store(&s->head->card_wanted, 1); /* and then look again */
        return read_word(h, atomic_load(at), c);
    }
    if (is == KU_CARD_NONE || (is == KU_CARD_ASKED && is_dead(s, (uint32_t)(w & LOW_MASK))))
        *ask = atomic_compare_exchange_strong(at, &w, card_word(h->epoch, KU_CARD_ASKED, h->lrank));
    return is == KU_CARD_ASKED ? KU_CARD_NONE : is;
}

void ku_card_done(struct ku_heap *h, const struct ku_card *c)
{
    ku_heap_unmap(h, c->block);
}

/* ---- For the launcher ---- */

/* The heap may begin another epoch meanwhile: then nothing was read. */
static enum ku_card_state card_copy(struct ku_heap *h, const _Atomic uint64_t *at, uint64_t w, void **bytes,
                                    uint32_t *len)
{
    const struct stored *from = ku_heap_map(h, block_of(w));
    if (from == NULL)
        return atomic_load(at) == w && ku_heap_epoch(h) == epoch_of(w) ? KU_CARD_ASKED : KU_CARD_PAST;
    uint32_t n = from->len <= KU_CARD_MAX ? from->len : 0;
    *bytes = malloc(n + 1);
    if (*bytes != NULL)
        memcpy(*bytes, from->bytes, n);
    *len = n;
    ku_heap_unmap(h, block_of(w));
    atomic_thread_fence(memory_order_acquire);
    enum ku_card_state is = *bytes == NULL                    ? KU_CARD_ASKED
                            : ku_heap_epoch(h) != epoch_of(w) ? KU_CARD_PAST
                                                              : KU_CARD_THERE;
    if (is == KU_CARD_PAST) {
        free(*bytes);
        *bytes = NULL;
        *len = 0;
    }
    return is;
}

enum ku_card_state ku_card_copy(struct ku_heap *h, uint32_t lrank, uint32_t epoch, void **bytes,
                                uint32_t *len)
{
    struct ku_seg_rank *r = ku_segment_rank(h->segment, lrank);
    *bytes = NULL;
    *len = 0;
    atomic_store(&r->card_asked, epoch);
    uint64_t w = atomic_load(&r->card);
    int32_t ahead = (int32_t)(epoch_of(w) - epoch);
    if (w == 0 || ahead < 0)
        return KU_CARD_NONE;
    if (ahead > 0)
        return KU_CARD_PAST;
    return card_state_of(w) == KU_CARD_THERE ? card_copy(h, &r->card, w, bytes, len) : KU_CARD_EMPTY;
}

/* With the lock. */
static uint64_t card_put(struct ku_heap *h, uint32_t epoch, const void *bytes, uint32_t len)
{
    ku_block b = ku_heap_take(h, (uint32_t)sizeof(struct stored) + len);
    struct stored *to = b != 0 ? ku_heap_map(h, b) : NULL;
    if (to == NULL)
        return card_word(epoch, KU_CARD_LACKING, 0);
    to->len = len;
    memcpy(to->bytes, bytes, len);
    ku_heap_unmap(h, b);
    return card_word(epoch, KU_CARD_THERE, ku_block_number(b));
}

static bool is_awaited(uint64_t w)
{
    return card_state_of(w) == KU_CARD_ASKED || card_state_of(w) == KU_CARD_ABSENT;
}

bool ku_card_answer(struct ku_heap *h, uint32_t grank, uint32_t epoch, enum ku_card_state is,
                    const void *bytes, uint32_t len)
{
    _Atomic uint64_t *at = word_at(h->segment, grank);
    uint64_t w = atomic_load(at);
    if (epoch_of(w) != epoch || !is_awaited(w) || len > KU_CARD_MAX)
        return true; /* it has been answered, or nobody asks any more */
    int err = is == KU_CARD_THERE ? ku_heap_try(h, epoch) : 0;
    if (err == EBUSY)
        return false;
    uint64_t now = card_word(epoch, is, 0);
    if (err == 0 && is == KU_CARD_THERE) {
        now = card_put(h, epoch, bytes, len);
        ku_heap_leave(h);
    }
    if (err != 0)
        return true; /* their epoch is over */
    atomic_fetch_add(&h->segment->head->cards, 1);
    while (epoch_of(w) == epoch && is_awaited(w) &&
           !atomic_compare_exchange_weak(at, &w, now)) /* another may ask instead meanwhile */
        ;
    ku_segment_wake_all(h->segment);
    return true;
}
