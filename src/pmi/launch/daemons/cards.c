/* SPDX-License-Identifier: BSD-3-Clause */
/* cards.c: see cards.h. */
#include "cards.h"
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/ranks.h"

static const double AGAIN_SECONDS = 0.002;

/* Where a rank's card is wanted that cannot be had yet. */
struct want {
    uint32_t epoch;
    int node;
    bool again; /* the card is there, and could not be read */
};
struct wants {
    struct want *at;
    int n;
    bool absent; /* its process has ended, before it had begun with MPI */
};

static struct {
    void (*answer)(const struct card_answer *a);
    struct ku_heap **heaps;   /* of each node, if it is here and a card has been moved from or to it */
    struct wants *of;         /* of each rank; NULL: there have been none */
    struct card_answer *late; /* for nodes here; the bytes are ours */
    int nlate, nagain;
} cards;

void cards_init(void (*answer)(const struct card_answer *a))
{
    cards.answer = answer;
}

static struct ku_heap *heap_of(int node)
{
    if (!cards.heaps)
        cards.heaps = xalloc((size_t)crew.launch->nodes, sizeof(struct ku_heap *));
    if (!cards.heaps[node]) {
        cards.heaps[node] = xalloc(1, sizeof *cards.heaps[node]);
        ku_heap_open(cards.heaps[node], &crew.segments[node], 0, 0);
    }
    return cards.heaps[node];
}

static void keep_late(const struct card_answer *a)
{
    void *bytes = xalloc(a->len + 1, 1);
    if (a->len > 0)
        memcpy(bytes, a->bytes, a->len);
    cards.late = xgrow(cards.late, (size_t)cards.nlate + 1, sizeof *cards.late);
    cards.late[cards.nlate] = *a;
    cards.late[cards.nlate++].bytes = bytes;
}

static bool store(const struct card_answer *a)
{
    enum ku_card_state is = a->is == KU_CARD_PAST ? KU_CARD_EMPTY : a->is;
    return ku_card_answer(heap_of(a->node), a->rank, a->epoch, is, a->bytes, a->len);
}

void cards_take(const struct card_answer *a)
{
    if (!store(a))
        keep_late(a);
}

static void pass(const struct card_answer *a)
{
    if (crew.segments[a->node].head)
        cards_take(a);
    else
        cards.answer(a);
}

/* Send the card, if it is there.  What is left: nothing (EMPTY), or the rank is to tell (NONE), or it is to be
 * tried again (ASKED). */
static enum ku_card_state send_card(uint32_t rank, const struct want *w)
{
    void *bytes;
    struct card_answer a = { .rank = rank, .epoch = w->epoch, .node = w->node };
    a.is = ku_card_copy(heap_of(crew.launch->node_of[rank]), (uint32_t)crew.ranks[rank].local, w->epoch,
                        &bytes, &a.len);
    if (a.is == KU_CARD_NONE || a.is == KU_CARD_ASKED)
        return a.is;
    a.bytes = bytes;
    pass(&a);
    free(bytes);
    return KU_CARD_EMPTY;
}

static struct wants *wants_of(uint32_t rank)
{
    if (!cards.of)
        cards.of = xalloc((size_t)crew.launch->size, sizeof *cards.of);
    return &cards.of[rank];
}

static void tell_absent(uint32_t rank, const struct want *w)
{
    pass(&(struct card_answer){ .rank = rank, .epoch = w->epoch, .node = w->node, .is = KU_CARD_ABSENT });
}

void cards_absent(uint32_t rank)
{
    struct wants *all = wants_of(rank);
    all->absent = true;
    for (int i = 0; i < all->n; i++)
        tell_absent(rank, &all->at[i]);
}

void cards_want(uint32_t rank, uint32_t epoch, int node)
{
    struct want w = { .epoch = epoch, .node = node };
    struct wants *all = wants_of(rank);
    for (int i = 0; i < all->n; i++)
        if (all->at[i].epoch == epoch && all->at[i].node == node)
            return;
    enum ku_card_state is = send_card(rank, &w);
    if (is == KU_CARD_EMPTY)
        return;
    w.again = is == KU_CARD_ASKED;
    cards.nagain += w.again;
    all->at = xgrow(all->at, (size_t)all->n + 1, sizeof *all->at);
    all->at[all->n++] = w;
    if (all->absent && is == KU_CARD_NONE)
        tell_absent(rank, &w);
}

static void look(uint32_t rank)
{
    struct wants *all = &cards.of[rank];
    int kept = 0;
    for (int i = 0; i < all->n; i++) {
        struct want w = all->at[i];
        enum ku_card_state is = send_card(rank, &w);
        cards.nagain -= w.again;
        w.again = is == KU_CARD_ASKED;
        cards.nagain += w.again;
        if (is != KU_CARD_EMPTY)
            all->at[kept++] = w;
    }
    all->n = kept;
}

void cards_there(uint32_t rank)
{
    if (cards.of)
        look(rank);
}

void cards_gone(uint32_t rank)
{
    for (struct wants *all = cards.of ? &cards.of[rank] : NULL; all && all->n > 0; all->n--)
        cards.nagain -= all->at[all->n - 1].again;
}

double cards_due(void)
{
    return cards.nagain > 0 || cards.nlate > 0 ? now() + AGAIN_SECONDS : 0;
}

void cards_move(void)
{
    int kept = 0;
    for (int rank = 0; cards.nagain > 0 && rank < crew.launch->size; rank++)
        if (cards.of[rank].n > 0)
            look((uint32_t)rank);
    for (int i = 0; i < cards.nlate; i++)
        if (store(&cards.late[i]))
            free((void *)(uintptr_t)cards.late[i].bytes);
        else
            cards.late[kept++] = cards.late[i];
    cards.nlate = kept;
}
