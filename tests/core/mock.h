/* SPDX-License-Identifier: BSD-3-Clause */
/* mock.h: what the mock device and the tests that use it agree on.
 *
 * The test maps struct mock_shared before it forks, puts its address into KEEL_MOCK (hexadecimal), and says how the
 * device shall misbehave by filling in `how`.  A mock that is `far` serves ranks of other nodes only, has an
 * address to tell, and wakes by a descriptor; one that is to be armed does so once for each time that it is
 * (dev_ops.arm). */
#ifndef TESTS_CORE_MOCK_H
#define TESTS_CORE_MOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include "device.h"
#include "util/segment.h"

enum {
    MOCK_RANKS = 5,
    MOCK_SLOTS = 32,
    MOCK_BODY = 5000,
    MOCK_IOV = 8,
    MOCK_HEAP = 512 << 10, /* bytes a rank: the memory that the device can make peers reach */
    MOCK_REGIONS = 8
};

struct mock_packet {
    struct dev_head head;
    uint32_t len;
    _Alignas(8) unsigned char body[MOCK_BODY];
};

/* One sender, one receiver. */
struct mock_ring {
    _Alignas(64) _Atomic uint32_t put;
    _Alignas(64) _Atomic uint32_t got;
    struct mock_packet slot[MOCK_SLOTS];
};

struct mock_how {
    uint32_t seed;
    uint32_t refuse;     /* percent of sends that answer DEV_AGAIN */
    uint32_t delay;      /* percent of looks at a sender that find nothing */
    uint32_t queue;      /* percent of sends that answer DEV_QUEUED */
    uint32_t no_reserve; /* 1: the device has no room to pack into */
    int32_t lost;        /* this rank is lost ... */
    uint32_t lost_after; /* ... when it has sent that many packets; 0: never */
    uint32_t far;        /* 1: a network */
    uint32_t mem;  /* 1: it has the slots for memory of peers, with these whims; 2: not of the heaps alone */
    uint32_t arms; /* 1: its descriptor becomes readable only after arm, once */
};

struct mock_shared {
    struct mock_how how;
    _Atomic uint32_t sent[MOCK_RANKS]; /* packets, by rank */
    _Atomic uint32_t is_lost;
    _Atomic uint32_t armed[MOCK_RANKS];  /* 1: the next packet rings the bell */
    _Atomic uint32_t arm_calls, unarmed; /* calls of arm, of all ranks; those that answered: not now */
    struct mock_region {
        _Atomic uint32_t gen; /* odd: registered */
        uint64_t off, len;    /* in the rank's heap; `off` beyond it: the address is base */
        uint64_t base;
    } region[MOCK_RANKS][MOCK_REGIONS];
    _Atomic uint32_t mem_calls; /* put, get, atomic that were begun */
    _Atomic uint32_t far_gets,
        far_refused; /* gets of memory outside of the heaps; the kernel did not allow one */
    _Atomic int pid[MOCK_RANKS];
    _Alignas(64) unsigned char heap[MOCK_RANKS][MOCK_HEAP];
    int bell[MOCK_RANKS];                          /* far: an eventfd a rank, made before the fork */
    struct mock_ring ring[MOCK_RANKS][MOCK_RANKS]; /* [to][from] */
};

#endif
