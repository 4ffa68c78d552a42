/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.h: memory of other processes: what mem.c and mempkt.c share. */
#ifndef MPID_MEM_H
#define MPID_MEM_H

#include "core.h"

/* Memory of this process that others may reach.  Its index and generation are its name on the wire. */
struct MPID_MEMORY {
    struct keel_object obj;
    char *base;
    uint64_t len;
    uint32_t lent; /* packets with bytes of it that devices own */
    struct dev_region *at[CORE_DEVICES];
};

/* Memory of another process, or of this one. */
struct MPID_REMOTE {
    int32_t grank;
    struct pkt_op region;
    uint64_t address, len; /* there */
    struct peer *peer;     /* NULL: this process */
    struct dev_remote *dr; /* NULL: by packets */
    bool no_put, no_get;   /* the device has refused one */
    bool no_atomic[KEEL_ATOMIC_OPS][KEEL_ATOMIC_TYPES];
};

/* An operation, or an answer to one of another process. */
enum memop_kind { MEMOP_PUT, MEMOP_GET, MEMOP_ATOMIC, MEMOP_FLUSH, MEMOP_GIVE, MEMOP_ANSWER };

struct memop {
    struct keel_object obj;
    struct memop *next; /* in its peer's list: something of it has still to be sent */
    struct peer *peer;
    struct MPID_COMPLETION *completion; /* NULL: an answer */
    struct MPID_REMOTE *remote;
    char *local; /* PUT: where the bytes are; GET, ATOMIC: where they go */
    uint64_t offset, len, done;
    uint64_t operand, compare;    /* ATOMIC: in the first bytes; ANSWER: operand is the old value */
    struct pkt_op region, answer; /* GIVE: of this process; GIVE, ANSWER: the operation that asked */
    uint32_t inflight;            /* packets or calls that a device owns */
    int32_t error;
    uint8_t kind, op, type;
    bool by_device, listed;
};

/* mem.c */
struct memop *MPID_Memop_make(struct peer *p, enum memop_kind kind); /* NULL without memory */
struct memop *MPID_Memop_find(struct pkt_op op);                     /* NULL: it is gone */
void MPID_Memop_push(struct memop *v); /* send what can be now, the rest later; v may be gone after it */
void MPID_Memop_finish(struct memop *v, int error);
struct MPID_MEMORY *MPID_Mem_find(struct pkt_op region, uint64_t offset, uint64_t len); /* NULL: no */

/* mempkt.c: send one packet of it; *all: that was the last one. */
dev_status MPID_Memop_send(struct memop *v, bool *all);

#endif
