/* SPDX-License-Identifier: BSD-3-Clause */
/* linering.h: a ring of cache lines in shared memory: any number of producing threads of any number of
 * processes, one consumer.  One line carries head, payload and the flag that publishes them, so a small
 * message moves one line.
 *
 * Invariants
 *   1. Ticket t belongs to slot t % KU_RING_SLOTS in lap t / KU_RING_SLOTS + 1.  A slot is full when its lap
 * field is the lap the consumer expects; it is never cleared, so nobody writes a line to say that it is empty.
 *   2. A producer owns a ticket by compare-and-swap on `tail`, tried only while t - consumed < KU_RING_SLOTS.
 * `consumed` never goes back, so the check still holds when the swap succeeds: the ring cannot overflow,
 * however many produce.
 *   3. Payload and second head word are written before the release store of the first head word, which holds the lap.
 *   4. The consumer stores `consumed` (release) a few times a lap, after it is done with the slots below; a
 * producer loads it (acquire) before it writes over one of them.
 *   5. A producing process counts its threads between "about to claim" and "published" in its own word
 * `claims`; the count is up before the swap is visible and down only after the slot is.  A process seen with
 * 0 after the slot was seen claimed and unpublished does not own that slot.  When no process that is alive
 * can own it, its producer has died, and the consumer skips it (ku_ring_orphan).
 *
 *   6. A ring may have one producer instead (ku_ring_put_alone, never mixed with ku_ring_put): then 2 needs no
 *      swap, and 5
 * does not apply.  That spares a locked access, which would wait for the line written before it.
 *
 *   7. Before it stores `consumed` the consumer may store into the last byte of the body of each slot below it
 *      that it is done with
 * (ku_ring_own): the lines are its own then.  A producer's store to a line that both cores hold, as one has
 * written and the other read it, waits longer: through a lane messages of 8 bytes go at 25 million a second with
 * it, at 20 without.
 *
 *   8. In a ring of many producers the last 4 bytes of a line whose body has at most KU_LINE_TELLS bytes are the
 *      producer's
 * number (ku_line_from).
 *
 * The model in tests/model checks 2 to 7 with explicit store buffers. */
#ifndef KU_LINERING_H
#define KU_LINERING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "seat.h"

enum {
    KU_RING_SLOTS = 256,
    KU_RING_PUBLISH = 64 /* slots from one store of `consumed` to the next */,
    KU_RING_AHEAD = 4, /* slots from the one written to the one fetched */
    KU_RING_AHEAD_ALONE = 8,
    KU_LINE_BODY = 48,
    KU_LINE_TELLS = 44 /* bytes of body that leave room for the producer's number */
};

/* The 16 bytes before the payload; all but the lap are the user's. */
struct ku_line_head {
    uint16_t lap;
    uint8_t kind, len;
    uint32_t a, b, c;
};

/* The first word of a head with another `len`, in a register. */
static inline uint64_t ku_line_with_len(uint64_t first, uint8_t len)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (first & ~((uint64_t)UINT8_MAX << 24)) | (uint64_t)len << 24;
#else
    return (first & ~((uint64_t)UINT8_MAX << 32)) | (uint64_t)len << 32;
#endif
}

struct ku_line {
    _Alignas(64) _Atomic uint64_t first; /* bytes 0 to 7 of the head */
    uint64_t second;
    uint8_t body[KU_LINE_BODY];
};

/* In shared memory; all zero is an empty ring. */
struct ku_ring {
    _Alignas(64) _Atomic uint64_t tail;     /* the producers' line */
    _Alignas(64) _Atomic uint64_t consumed; /* written by the consumer */
    struct ku_line slot[KU_RING_SLOTS];
};

/* A producing process's view of one ring. */
struct ku_ring_tx {
    struct ku_ring *ring;
    _Atomic uint64_t consumed; /* at most ring->consumed */
    _Atomic uint32_t *claims;  /* this process's word, where the consumer can read it */
    uint32_t from;             /* invariant 8: this process's number; 0 unless set */
};

/* The consumer's view. */
struct ku_ring_rx {
    struct ku_ring *ring;
    uint64_t head; /* next ticket */
    /* invariant 5: which processes were seen outside the window since the slot at `head` was found claimed */
    uint64_t stuck; /* head + 1 while the search goes on */
    uint64_t *seen; /* bits, ku_ring_seen_words() of them; NULL: never skip */
};

void ku_ring_tx_init(struct ku_ring_tx *tx, struct ku_ring *ring, _Atomic uint32_t *claims);

/* `seen`: zeroed, ku_ring_seen_words(processes) words, or NULL.  Goes on where an earlier consumer stopped.
 */
void ku_ring_rx_init(struct ku_ring_rx *rx, struct ku_ring *ring, uint64_t *seen);
void ku_ring_rx_stop(struct ku_ring_rx *rx);
static inline size_t ku_ring_seen_words(uint32_t processes)
{
    return ((size_t)processes + 63) / 64;
}

static inline void ku_ring_enter(_Atomic uint32_t *claims)
{
    if (KU_SINGLE_THREADED)
        atomic_store_explicit(claims, atomic_load_explicit(claims, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(claims, 1, memory_order_relaxed);
}

static inline void ku_ring_leave(_Atomic uint32_t *claims)
{
    if (KU_SINGLE_THREADED)
        atomic_store_explicit(claims, atomic_load_explicit(claims, memory_order_relaxed) - 1,
                              memory_order_release);
    else
        atomic_fetch_sub_explicit(claims, 1, memory_order_release);
}

/* Is there room for ticket t? */
static inline bool ku_ring_room(struct ku_ring_tx *tx, uint64_t t)
{
    uint64_t consumed = atomic_load_explicit(&tx->consumed, memory_order_acquire);
    if (__builtin_expect(t - consumed < KU_RING_SLOTS, 1))
        return true;
    consumed = atomic_load_explicit(&tx->ring->consumed, memory_order_acquire);
    atomic_store_explicit(&tx->consumed, consumed, memory_order_release);
    return t - consumed < KU_RING_SLOTS;
}

/* Was the ring full just now?  (A hint: whether put succeeds is known only by put.) */
static inline bool ku_ring_full(struct ku_ring_tx *tx)
{
    return !ku_ring_room(tx, atomic_load_explicit(&tx->ring->tail, memory_order_relaxed));
}

/* Own a ticket; false: full.  Between ku_ring_enter and ku_ring_leave. */
static inline bool ku_ring_claim(struct ku_ring_tx *tx, uint64_t *ticket)
{
    uint64_t t = atomic_load_explicit(&tx->ring->tail, memory_order_relaxed);
    do {
        if (__builtin_expect(!ku_ring_room(tx, t), 0)) {
            uint64_t now = atomic_load_explicit(&tx->ring->tail, memory_order_relaxed);
            if (now == t)
                return false;
            t = now; /* it moved meanwhile: t - consumed may have wrapped */
            continue;
        }
        if (atomic_compare_exchange_weak_explicit(&tx->ring->tail, &t, t + 1, memory_order_acq_rel,
                                                  memory_order_relaxed))
            break;
    } while (1);
    *ticket = t;
    return true;
}

/* Two words that come one by one, and go together where that can be said: what is sent has often been stored a
 * moment ago, as words, and a load that spans several stores waits until they are in the cache, and with them all
 * stores before.  (Sanitizers do not see what assembler reads.) */
#if defined(__SSE2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KU_TWO_BY_ASM 1
#endif
struct ku_two {
#ifdef KU_TWO_BY_ASM
    __m128i v;
#else
    uint64_t w[2];
#endif
};

static inline struct ku_two ku_load_two(const uint8_t *from)
{
    struct ku_two t;
#ifdef KU_TWO_BY_ASM
    typedef uint64_t word __attribute__((aligned(1), may_alias));
    t.v = _mm_loadl_epi64((const __m128i *)from);
    __asm__("movhps %1, %0" : "+x"(t.v) : "m"(*(const word *)(from + 8)));
#else
    memcpy(t.w, from, 16);
#endif
    return t;
}

static inline void ku_store_two(uint8_t *to, struct ku_two t)
{
    memcpy(to, &t, 16);
}

/* Copy at most 48 bytes without calling memcpy and without reading beyond them. */
static inline void ku_line_copy(uint8_t *to, const uint8_t *from, size_t len)
{
    uint64_t w[2];
    if (len == 8) {
        memcpy(to, from, 8);
    } else if (len >= 16) {
        struct ku_two last = ku_load_two(from + len - 16);
        ku_store_two(to, ku_load_two(from));
        if (len > 32)
            ku_store_two(to + 16, ku_load_two(from + 16));
        ku_store_two(to + len - 16, last);
    } else if (len >= 8) {
        memcpy(w, from, 8);
        memcpy(w + 1, from + len - 8, 8);
        memcpy(to, w, 8);
        memcpy(to + len - 8, w + 1, 8);
    } else if (len >= 4) {
        memcpy(w, from, 4);
        memcpy(w + 1, from + len - 4, 4);
        memcpy(to, w, 4);
        memcpy(to + len - 4, w + 1, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            to[i] = from[i];
    }
}

/* Have the line here, to be written, before it is needed. */
static inline void ku_fetch_line(const void *line)
{
#ifdef __x86_64__
    __asm__ volatile(
        "prefetchw %0"
        :
        : "m"(*(const char *)line)); /* the builtin gives one to read, if not told of the machine */
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Fill and publish the slot of an owned ticket.  The head goes as two words, which stay in registers. */
static inline __attribute__((always_inline)) void ku_ring_publish(struct ku_ring *ring, uint64_t ticket,
                                                                  const struct ku_line_head *head,
                                                                  const void *body, size_t len)
{
    struct ku_line *line = &ring->slot[ticket % KU_RING_SLOTS];
    uint16_t lap = (uint16_t)(ticket / KU_RING_SLOTS + 1);
    uint64_t first, second;
    memcpy(&first, head, 8);
    memcpy(&second, (const char *)head + 8, 8);
    memcpy(&first, &lap, sizeof lap);
    ku_line_copy(line->body, body, len);
    line->second = second;
    atomic_store_explicit(&line->first, first, memory_order_release);
}

/* Put one line: head, and len <= KU_LINE_BODY bytes of body.  False: full, nothing done. */
static inline __attribute__((always_inline)) bool
ku_ring_put(struct ku_ring_tx *tx, const struct ku_line_head *head, const void *body, size_t len)
{
    uint64_t ticket;
    bool ok;
    ku_ring_enter(tx->claims);
    ok = ku_ring_claim(tx, &ticket);
    if (__builtin_expect(ok, 1)) {
        if (len <= KU_LINE_TELLS)
            memcpy(tx->ring->slot[ticket % KU_RING_SLOTS].body + KU_LINE_TELLS, &tx->from, sizeof tx->from);
        ku_ring_publish(tx->ring, ticket, head, body, len);
        /* A claim waits for all earlier stores, so a store to a line that the consumer still holds would cost the
         * next claim the way there and back. */
        ku_fetch_line(&tx->ring->slot[(ticket + KU_RING_AHEAD) % KU_RING_SLOTS]);
    }
    ku_ring_leave(tx->claims);
    return ok;
}

/* Put one line into a ring that has one producer, whose threads do so one at a time.  A line is fetched ahead
 * here, too: where lines take 150 ns, streams of short messages gain an eighth.  No claim: a producer that dies
 * has published a line or has not begun it, and `tail` may be one behind for a moment. */
static inline __attribute__((always_inline)) bool
ku_ring_put_alone(struct ku_ring_tx *tx, const struct ku_line_head *head, const void *body, size_t len)
{
    uint64_t t = atomic_load_explicit(&tx->ring->tail, memory_order_relaxed);
    if (__builtin_expect(!ku_ring_room(tx, t), 0))
        return false;
    ku_ring_publish(tx->ring, t, head, body, len);
    ku_fetch_line(&tx->ring->slot[(t + KU_RING_AHEAD_ALONE) % KU_RING_SLOTS]);
    atomic_store_explicit(&tx->ring->tail, t + 1, memory_order_release);
    return true;
}

/* The next line, or NULL; *head gets its head.  It stays valid until ku_ring_pop.  One load when there is none. */
static inline const struct ku_line *ku_ring_peek(const struct ku_ring_rx *rx, struct ku_line_head *head)
{
    struct ku_line *line = &rx->ring->slot[rx->head % KU_RING_SLOTS];
    uint64_t word[2];
    word[0] = atomic_load_explicit(&line->first, memory_order_acquire);
    memcpy(head, word, 8);
    if (__builtin_expect(head->lap != (uint16_t)(rx->head / KU_RING_SLOTS + 1), 1))
        return NULL;
    word[1] = line->second;
    memcpy(head, word, 16);
    return line;
}

/* Who has put a line of at most KU_LINE_TELLS bytes of body into a ring of many producers. */
static inline uint32_t ku_line_from(const struct ku_line *line)
{
    uint32_t from;
    memcpy(&from, line->body + KU_LINE_TELLS, sizeof from);
    return from;
}

/* The words of a head, as they lie in a line. */
struct ku_line_words {
    uint64_t first, second;
};

/* What ku_line_look finds. */
enum ku_look { KU_NONE = -1 /* nothing has come */, KU_OTHER = -2 /* something else */ };

/* The slot of the ticket at head, and the lap that it has when it is full. */
static inline const struct ku_line *ku_ring_at(const struct ku_ring_rx *rx)
{
    return &rx->ring->slot[rx->head % KU_RING_SLOTS];
}
static inline uint16_t ku_ring_lap(const struct ku_ring_rx *rx)
{
    return (uint16_t)(rx->head / KU_RING_SLOTS + 1);
}

/* Is the line that gets this lap there? */
static inline bool ku_line_is_full(const struct ku_line *line, uint16_t lap)
{
    uint64_t first = atomic_load_explicit(&line->first, memory_order_relaxed);
    uint16_t has;
    memcpy(&has, &first, sizeof has);
    return has == lap;
}

/* Has the line a head that is `want` where `mask` has bits, and a `len` of at most `cap`?  Its len, or enum
 * ku_look.  It is still to be copied out and popped. */
static inline __attribute__((always_inline)) int64_t ku_line_look(const struct ku_line *line, uint16_t lap,
                                                                  struct ku_line_words want,
                                                                  struct ku_line_words mask, uint64_t cap)
{
    struct ku_line_head h;
    uint64_t first = atomic_load_explicit(&line->first, memory_order_acquire);
    memcpy(&h, &first, 8);
    if (h.lap != lap)
        return KU_NONE;
    if (__builtin_expect(
            (((first ^ want.first) & mask.first) | ((line->second ^ want.second) & mask.second)) != 0 ||
                h.len > cap,
            0))
        return KU_OTHER;
    return h.len;
}

/* Invariant 7, of the slots since the last store of `consumed` but one, when head is a multiple of KU_RING_PUBLISH. */
static inline void ku_ring_own(struct ku_ring_rx *rx)
{
    for (uint64_t t = rx->head - KU_RING_PUBLISH; t != rx->head; t++)
        *(volatile uint8_t *)&rx->ring->slot[t % KU_RING_SLOTS].body[KU_LINE_BODY - 1] = 0;
}

/* Producers see what the consumer is done with. */
static inline void ku_ring_show(struct ku_ring_rx *rx)
{
    atomic_store_explicit(&rx->ring->consumed, rx->head, memory_order_release);
}

/* Done with the line at head. */
static inline void ku_ring_pop(struct ku_ring_rx *rx)
{
    if (++rx->head % KU_RING_PUBLISH == 0)
        ku_ring_show(rx);
}

/* Is the slot at head claimed but not published?  (A producer is at work in it, or has died there.) */
static inline bool ku_ring_claimed(const struct ku_ring_rx *rx)
{
    struct ku_line_head h;
    return !ku_ring_peek(rx, &h) && atomic_load_explicit(&rx->ring->tail, memory_order_acquire) != rx->head;
}

/* Call while ku_ring_claimed() and some producer has died: may the slot be skipped?  `claims_of(arg, p)` is
 * the word of producing process p, or NULL if p is dead.  False: ask again later. */
bool ku_ring_orphan(struct ku_ring_rx *rx, uint32_t processes,
                    _Atomic uint32_t *(*claims_of)(void *arg, uint32_t p), void *arg);

_Static_assert(sizeof(struct ku_line) == 64, "a slot is one cache line");
_Static_assert(sizeof(struct ku_line_head) == 16, "a head is 16 bytes");

#endif
