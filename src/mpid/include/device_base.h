/* SPDX-License-Identifier: BSD-3-Clause */
/* device_base.h: what the core and a device speak of: answers, packets, costs, and the job (device.h). */
#ifndef KEEL_DEVICE_BASE_H
#define KEEL_DEVICE_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/le.h"
#include "util/local.h"

struct ku_segment;

typedef enum dev_status {
    DEV_OK = 0,     /* done: what was passed may be used again */
    DEV_QUEUED,     /* the device owns the iov's memory until it calls services.sent(cookie) */
    DEV_AGAIN,      /* nothing was taken; try again after progress() found something to do */
    DEV_PEER_GONE,  /* the peer will never receive; reported once through services.peer_gone, then on every
                       call */
    DEV_NO_SUPPORT, /* an optional operation this device (or this machine) does not have */
    DEV_ERROR       /* text in ku_err_last() (plug-ins: services.error) */
} dev_status;

/* The head of every packet, and its first 16 bytes on the wire (doc/wire.md).  In memory, and where a device
 * carries it to a process of the same machine, it is in the machine's byte order; on a network it is
 * little-endian (dev_head_le).  A device carries it unchanged but for `own`. */
struct dev_head {
    uint16_t own; /* the device's: what the core puts there need not arrive */
    uint8_t kind; /* the core's packet kind, enum pkt_kind in core/wire.h */
    uint8_t len;  /* short packets: bytes of body, at most caps.max_short; others: 0 */
    uint32_t context, tag, source;
};

/* A head as it travels on a network, from one in memory, or back. */
static inline struct dev_head dev_head_le(struct dev_head h)
{
    h.own = ku_le16(h.own);
    h.context = ku_le32(h.context);
    h.tag = ku_le32(h.tag);
    h.source = ku_le32(h.source);
    return h;
}

/* Bytes to send and what memory they lie in (host memory is all there is so far). */
enum dev_mem { DEV_MEM_HOST = 0 };
struct dev_iov {
    const void *base;
    size_t len;
    enum dev_mem mem;
};

/* What a device can do and what it costs: thresholds and choices are computed from these, never from its
 * name. */
struct dev_caps {
    uint32_t max_short;     /* bytes of body send_short takes; at least 48 */
    uint32_t max_send;      /* bytes of body send takes; at least 4096 */
    uint32_t max_lying;     /* and in one piece that may be sent from where it lies; 0: as many */
    uint32_t latency_ns;    /* half round trip of a short packet */
    uint32_t bandwidth_mbs; /* MB/s of large packets */
    enum { DEV_REACH_SELF = 1, DEV_REACH_NODE = 2, DEV_REACH_ANY = 4 } reach;
    bool has_get;       /* dev_near.copy_from_peer works */
    uint32_t mem_kinds; /* bit 1 << enum dev_mem */
    int priority;       /* among devices that reach a peer: lower latency wins, then higher priority */
    /* The receiver gets the first bytes of a packet before the last are sent: long messages need not begin
     * with short packets. */
    bool stream;
    /* put, get and atomic (dev_mem_ops) go on while the peer is in no call: its processor has no part in them. */
    bool unaided;
    bool no_atomic; /* as if dev_mem_ops.atomic were missing */
};

struct dev;      /* one open device */
struct dev_peer; /* one peer of it */

enum { DEV_ADDRESS_MAX = 64 << 10 /* bytes */ };
enum { DEV_WORDS = 8 };

/* The number of a peer is the core's: what it passed to peer_init, or would pass for it. */
enum {
    DEV_PEER_UNKNOWN = -1,
    DEV_SHORT_TELLS = 44 /* bytes of body up to which a short packet must tell its sender */
};
#define DEV_ADDRESS_NEVER ((size_t)-1)

/* A process, as one of any job knows it. */
enum { DEV_KEY_BYTES = 32 };
struct dev_identity {
    uint64_t job;
    int32_t rank; /* in it */
    uint32_t epoch;
    /* What it and this process can prove to each other that they know: their job's secret, or what their two jobs
     * have agreed on. */
    uint8_t key[DEV_KEY_BYTES];
};

/* What a device is told of the job. */
struct dev_world {
    int32_t rank, size;             /* of this process in the job */
    int32_t local_rank, local_size; /* on this node */
    uint32_t epoch; /* which MPID_Init it is, the same in all ranks: what another epoch left is stale */
    int32_t nodes;  /* that the job is on */
    struct dev_identity self;   /* as processes of other jobs know it; its key is the job's secret */
    _Atomic uint32_t *sleeping; /* the word on which this process sleeps (services.wake) */
    const struct ku_segment *
        segment; /* the job's on this node: for devices of its memory alone (util/segment.h), of that version */
    const int32_t *grank_of; /* [local_size] global rank of each local rank, in ascending order */
    uint32_t stride;         /* grank_of[i] is grank_of[0] + i * stride; 0: the ranks follow no such rule */
    /* The local ranks are of several jobs, and grank_of is in no order: this process's own numbers, of those that
     * the device is to reach; negative: of others, of whom DEV_PEER_UNKNOWN or whatever stands there is told. */
    bool scattered;
    /* Where this device's part of each rank's area (ku_segment_dev) begins, a multiple of 4096. */
    uint64_t area_off;
    bool others; /* opened for processes of other jobs, too: peers whose numbers are not below `size` */
};

/* The local rank of a global rank; -1: it is on another node, or of another job, or there is none. */
static inline int32_t dev_local_of(const struct dev_world *w, int32_t grank)
{
    for (int32_t i = 0; w->scattered && i < w->local_size; i++)
        if (w->grank_of[i] == grank)
            return i;
    return ku_local_of(w->grank_of, (uint32_t)w->local_size, w->stride, grank);
}

_Static_assert(sizeof(struct dev_head) == 16, "a packet head is 16 bytes");

#endif
