/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: the bed of the device suite: ranks as processes or as threads of one process on a segment of their own, each
 * with one open device, and packets whose content and order the receiver checks. */
#ifndef DEVICE_RANKS_H
#define DEVICE_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "device.h"
#include "util/segment.h"

enum { MAX_RANKS = 8, SLEEP_MS = 5000 /* nobody sleeps that long unless a wake-up was lost */ };

struct rank;
enum { RANK_MEMORY = 160 << 10 };

/* A device under test. */
struct subject {
    const char *name;
    const struct dev_ops *(*ops)(void);
    int min_ranks, max_ranks;
    const char *env;      /* KEEL_X=value to set, or NULL */
    const char *more_env; /* another one */
    bool whole;           /* though `env` is set, all tests are to run */
    uint32_t
        bound; /* packets that it takes for a peer which receives none; 0: that is not a number of packets */
    bool deaths;       /* it finds out that a peer has died */
    bool hooked;       /* with a hook around it */
    bool memory_alone; /* a row for the tests of memory */
    bool connects;     /* it reaches others by connections, and not itself */
    bool apart;        /* only where its name is asked for */
    bool by_process;   /* one instance a process */
    bool lends;        /* long bodies go to room that the core has lent, and to memory of the device */
    /* Take what a sender owns in rank `to`'s area in the middle of a send, as if about to write; NULL: no such
     * state. */
    void (*half_send)(const struct ku_segment *seg, uint64_t off, uint32_t me, uint32_t to);
    void *(*memory)(struct rank *r); /* RANK_MEMORY bytes that peers can be let reach; NULL: from malloc */
    void (*prepare)(void);           /* before the ranks of a run start, or NULL */
};

/* What the ranks of one run share. */
struct board {
    _Atomic uint32_t arrived, round;
    _Atomic uint32_t word[8]; /* for the tests */
    struct card {             /* addresses, as the core carries them */
        _Atomic uint32_t epoch;
        uint32_t len;
        uint8_t bytes[DEV_ADDRESS_MAX];
    } card[MAX_RANKS];
    struct {
        uint32_t len;
        uint8_t bytes[DEV_KEY_MAX];
    } key[MAX_RANKS]; /* of memory */
};

struct rank {
    const struct subject *subject;
    const struct dev_ops *ops;
    const struct dev_near *near; /* the table of nothing where it has none */
    struct dev_caps caps;
    struct dev_services services;
    struct dev_world world;
    struct ku_segment seg;
    struct board *board;
    struct dev *dev;
    struct dev_peer *peer[MAX_RANKS]; /* NULL: this rank, where the device does not reach it */
    int me, size;
    bool threads;
    uint32_t epoch;                                   /* how often it was opened */
    uint32_t next_out[MAX_RANKS], next_in[MAX_RANKS]; /* sequence numbers, by peer */
    uint64_t packets, bytes;
    void *placed[MAX_RANKS]; /* bodies that are coming, by peer */
    struct dev_head placed_head[MAX_RANKS];
    uint32_t lends, unlent; /* how often room was lent, or not */
    struct lent *lent;      /* room for bodies that a device's library writes on its own */
    uint32_t sent_calls, lost_calls, gone_calls[MAX_RANKS], again, owed;
    void (*on_packet)(struct rank *r, const struct dev_head *head); /* after the checks, inside deliver */
    void (*on_address)(struct rank *r, int32_t grank, void *buf,
                       size_t *len); /* may change what a peer is told */
};

/* Fail the test: say what differs, and end. */
#define NEED(r, cond, ...) \
    do { \
        if (!(cond)) { \
            fprintf(stderr, "%s, rank %d of %d: %s:%d: %s: ", (r)->subject->name, (r)->me, (r)->size, \
                    __FILE__, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            rank_fail(); \
        } \
    } while (0)
_Noreturn void rank_fail(void);

/* Run fn in each of `size` ranks and wait for them.  A rank that a test kills is reported to the others as the launcher
 * does it.  Returns the number of ranks that failed. */
int ranks_run(const struct subject *s, int size, bool threads, void (*fn)(struct rank *r));

/* Within fn: fill in services and world, then open the device and all peers; undo it. */
void rank_prepare(struct rank *r);
void rank_open_prepared(struct rank *r);
void rank_open(struct rank *r); /* both */
void rank_close(struct rank *r);

/* All ranks: exchange a packet with every peer, so that there are connections where the device needs them. */
void rank_connect(struct rank *r);

/* Give what was sent the time to leave the process. */
void rank_settle(struct rank *r);

/* Meet the other ranks, without driving the device (rank_meet) or driving it (rank_meet_pumping). */
void rank_meet(struct rank *r);
void rank_meet_pumping(struct rank *r);

/* One progress; steps aside if it found nothing. */
int rank_pump(struct rank *r);
void rank_pump_until(struct rank *r, int from, uint32_t packets);

/* Sleep until something may have come, as a blocking call does; true if the time was up. */
bool rank_sleep(struct rank *r);
bool rank_sleep_for(struct rank *r, int most_ms); /* more than 10 */

/* Send the next packet to `to`; the first form once, the others until it is taken. */
dev_status rank_try_short(struct rank *r, int to, size_t len);
dev_status rank_try_send(struct rank *r, int to, size_t len, int pieces, void *buf);
void rank_short(struct rank *r, int to, size_t len);
void rank_send(struct rank *r, int to, size_t len, int pieces);
dev_status rank_commit(struct rank *r, int to, void *room, size_t len);
void rank_copy(struct rank *r, int to, size_t len); /* by send_copy, which the device must have */

/* Take the next packet of `from` in place, for a receive of at most cap bytes: its length, or enum dev_take. */
int64_t rank_take(struct rank *r, int from, size_t cap);
void rank_fill(void *buf, int from, uint32_t seq, size_t len);

#endif
