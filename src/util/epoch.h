/* SPDX-License-Identifier: BSD-3-Clause */
/* epoch.h: a handful of processes, each with a core, meet over lines of shared memory.
 *
 * Each has two lines, used by turns, which it alone writes: in meeting n it shows its data there and then says
 * that it has come, and what for.  It looks at the lines of all the others itself.  So a meeting takes one
 * transfer of a line between cores, and has neither a counter nor a fence.
 *
 * Invariants
 *   1. Meeting n has ended for a member when all lines say n and the same `what`, and `end` says nothing (looked
 *      at in this order). A line is written for n + 1 only when n has ended for its owner, that is when nobody reads
 *      those of n - 1 any more.
 *   2. Who does not wait any longer for meeting n proposes its end (`end`: FREE -> asked(n)).  Then a member that
 *      is in a meeting looks at the lines: if all have come to n, the meetings end from n + 1 on, else from n on
 *      (asked(n) -> ended(k), by compare-and-swap, whoever is first).  Before it looks it makes visible what others
 *      have stored before they looked at `end` (membarrier, or they fence).  So for whom n has ended by 1 the lines
 *      are there when anybody looks; and those who find that something is asked believe what is decided, not what
 *      they see.  Hence n ends for all or for nobody.
 *   3. Who will not come to n, to which it has not come, ends the meetings at once (FREE -> ended(n)): nobody else
 *      can have met at n.
 *   4. Who sleeps has counted itself in `sleepers`, then made visible what others had stored, as above, and looked
 *      again. Who comes, or changes `end`, looks at `sleepers` afterwards; if somebody sleeps it fences, and wakes
 *      all if there is something to see.  So the last to come sees either all lines, or nobody who sleeps without
 *      having seen its own. */
#ifndef KU_EPOCH_H
#define KU_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KU_EPOCH_DATA = 48, KU_EPOCH_MOST = 16 /* members: each looks at the lines of all */ };

struct ku_epoch_line {
    _Alignas(64) _Atomic uint64_t says; /* above: what; below: number of the meeting, from 1 */
    uint64_t unused;
    char data[KU_EPOCH_DATA];
};
struct ku_epoch_lines {
    struct ku_epoch_line by_turns[2];
};
_Static_assert(sizeof(struct ku_epoch_lines) == 128, "one transfer a line");

/* Looked at by all in each meeting, and hardly ever written. */
struct ku_epoch_head {
    _Alignas(64) _Atomic uint64_t end;
    _Atomic uint32_t sleepers;
    _Atomic uint32_t alone; /* sleepers that do not sleep on `calls` */
    _Atomic uint32_t calls;
};

/* What one member knows of a meeting place. */
struct ku_epochs {
    struct ku_epoch_head *head; /* NULL: none */
    char *lines;                /* of member 0 */
    size_t stride;              /* to those of the next member */
    int32_t members, me;
    void (*show_stores)(void); /* make visible what others have stored */
};

/* Values of `end`. */
enum { KU_EPOCH_FREE = 0, KU_EPOCH_ASKED = 1, KU_EPOCH_ENDED = 2, KU_EPOCH_STATES = 4 };

static inline struct ku_epoch_line *ku_epoch_line(const struct ku_epochs *e, int32_t member, uint64_t n)
{
    struct ku_epoch_lines *l = (struct ku_epoch_lines *)(e->lines + (size_t)member * e->stride);
    return &l->by_turns[n & 1];
}

static inline uint64_t ku_epoch_word(uint64_t n, uint32_t what)
{
    return (uint64_t)what << 32 | (uint32_t)(n + 1);
}

/* This process has come to meeting n; all it shows is in place. */
static inline void ku_epoch_say(const struct ku_epochs *e, uint64_t n, uint32_t what)
{
    struct ku_epoch_line *mine = ku_epoch_line(e, e->me, n);
    atomic_store_explicit(&mine->says, ku_epoch_word(n, what), memory_order_release);
}

/* Do all lines say the same?  All are read whatever the first says, so that their transfers overlap. */
static inline bool ku_epoch_all(const struct ku_epochs *e, uint64_t n, uint64_t word)
{
    const char *line = (const char *)ku_epoch_line(e, 0, n);
    uint64_t other = 0;
    for (int32_t i = 0; i < e->members; i++, line += e->stride)
        other |=
            atomic_load_explicit(&((struct ku_epoch_line *)(uintptr_t)line)->says, memory_order_acquire) ^
            word;
    return other == 0;
}

/* The same of a meeting whose `what` the caller has not at hand; no if it has not come to it. */
static inline bool ku_epoch_met(const struct ku_epochs *e, uint64_t n)
{
    uint64_t word = atomic_load_explicit(&ku_epoch_line(e, e->me, n)->says, memory_order_relaxed);
    return (uint32_t)word == (uint32_t)(n + 1) && ku_epoch_all(e, n, word);
}

/* Is somebody at meeting n for something else? */
static inline bool ku_epoch_differ(const struct ku_epochs *e, uint64_t n, uint64_t word)
{
    for (int32_t i = 0; i < e->members; i++) {
        uint64_t says = atomic_load_explicit(&ku_epoch_line(e, i, n)->says, memory_order_acquire);
        if ((uint32_t)says == (uint32_t)word && says != word)
            return true;
    }
    return false;
}

static inline uint64_t ku_epoch_end(const struct ku_epochs *e)
{
    return atomic_load_explicit(&e->head->end, memory_order_acquire);
}

/* Something is asked or decided: has meeting n, to which this process has come, ended well? */
static inline bool ku_epoch_verdict(const struct ku_epochs *e, uint64_t n)
{
    uint64_t end = ku_epoch_end(e);
    if (end % KU_EPOCH_STATES == KU_EPOCH_ASKED) {
        uint64_t at = end / KU_EPOCH_STATES;
        e->show_stores();
        uint64_t decided = (at + ku_epoch_met(e, at)) * KU_EPOCH_STATES + KU_EPOCH_ENDED;
        if (atomic_compare_exchange_strong(&e->head->end, &end, decided))
            end = decided;
    }
    return n < end / KU_EPOCH_STATES;
}

/* This process has come to meeting n and does not wait any longer. */
static inline bool ku_epoch_leave(const struct ku_epochs *e, uint64_t n)
{
    uint64_t now = KU_EPOCH_FREE;
    atomic_compare_exchange_strong(&e->head->end, &now, n * KU_EPOCH_STATES + KU_EPOCH_ASKED);
    return ku_epoch_verdict(e, n);
}

/* This process will not come to meeting n.  False: the meetings have ended already. */
static inline bool ku_epoch_refuse(const struct ku_epochs *e, uint64_t n)
{
    uint64_t now = KU_EPOCH_FREE;
    return atomic_compare_exchange_strong(&e->head->end, &now, n * KU_EPOCH_STATES + KU_EPOCH_ENDED);
}

/* After ku_epoch_say(n): have all come?  No: look again later, or ask why (ku_epoch_end, ku_epoch_differ). */
static inline bool ku_epoch_over(const struct ku_epochs *e, uint64_t n, uint64_t word)
{
    return ku_epoch_all(e, n, word) && ku_epoch_end(e) == KU_EPOCH_FREE;
}

#endif
