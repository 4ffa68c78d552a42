/* SPDX-License-Identifier: BSD-3-Clause */
/* device_near.h: short ways that exist where peers share memory, or may read each other's: optional (device.h). */
#ifndef KEEL_DEVICE_NEAR_H
#define KEEL_DEVICE_NEAR_H

#include "device_base.h"
#include "util/linering.h"

/* What `take` has taken; both words go in registers. */
struct dev_taken {
    int64_t len; /* of the body; or enum dev_take, and nothing is taken */
    uint32_t tag, source;
};
enum dev_take {
    DEV_TAKE_NONE = -1 /* nothing has come */,
    DEV_TAKE_OTHER = -2 /* the next packet is another */
};

/* Where the next short packet will lie, as far as one place can tell: in `line`, with its struct dev_head in the
 * place of the line's head, once that has this lap (ku_line_look).  The core, when it has taken the packet, goes
 * on: one line further, and one less is left. */
struct dev_next {
    const struct ku_line *line;
    uint16_t lap;
    uint16_t left; /* how often one may go on: at 0 dev_near.took must be called */
};

/* A ring of lines to a peer that the core may put short packets into: ku_ring_put_alone, then ku_wait_wake. */
struct dev_lane {
    struct ku_ring_tx *tx; /* NULL: there is none */
    _Atomic uint32_t *sleeping, *fence_all;
    /* A thread that sends beside others is in it, in send_short.  Once it has said so it looks whether
     * KU_BIAS_IN_FORCE, and then sends nothing. */
    const _Atomic bool *taken;
};

/* Ways that exist where peers share memory or may read each other's.  They spare calls, copies and lines, and
 * change nothing of what arrives: the core does without each.  Sized and filled in as struct dev_ops. */
struct dev_near {
    uint32_t size;

    /* Optional (default: DEV_TAKE_OTHER): take the next packet, if it has come and is the one that is wanted: a
     * short one with kind and context of `want`, whose tag and source are those of `want` in the bits of `mask`
     * (as they lie in the head's last 8 bytes), and with a body of at most `cap` <= 48 bytes, which goes to buf.
     * Never an upcall, never blocks; not to be called from an upcall.  Order is as with progress(), which brings
     * what is not taken. */
    struct dev_taken (*take)(struct dev *dev, struct dev_head want, uint64_t mask, void *buf, size_t cap);

    /* Optional (default: DEV_TAKE_OTHER): what take is for short packets, for those that send or commit have
     * sent.  To be asked when take has found another packet; kind, context and mask as there; cap is any number. */
    struct dev_taken (*take_long)(struct dev *dev, struct dev_head want, uint64_t mask, void *buf,
                                  size_t cap);

    /* Optional, both or none, of devices with take whose short packets are lines of util/linering.h: `take`
     * without a call. next: the same struct for as long as the device is open; any call of the device may change
     * what it says.  A line in it that is full and whose `len` is at most 48 may be read as long as nothing else
     * of the device is called, and gone on from by a receive for which `take` would have taken it.  What is
     * elsewhere the core finds by take and progress. */
    struct dev_next *(*next)(struct dev *dev);
    void (*took)(struct dev *dev);

    /* Optional (default: DEV_NO_SUPPORT): send with a body in one piece, of at most caps.max_send bytes, which is
     * copied before return.  DEV_OK, DEV_AGAIN, DEV_PEER_GONE.  Never blocks. */
    dev_status (*send_copy)(struct dev_peer *peer, const struct dev_head *head, const void *body, size_t len);

    /* Optional: send_short without a call, while one thread calls at a time (KU_SINGLE_THREADED, or KU_BIASED).
     * Where the lane is full, send_short is to be called. */
    struct dev_lane (*lane)(struct dev_peer *peer);

    /* Optional (default: 0), of devices with copy_from_peer: let the peer read these bytes.  Returns their address
     * for the peer's copy_from_peer, 0: it may not.  They stay readable as long as they are the process's memory;
     * that the peer's attempt may fail all the same, it has to be ready for.  Never blocks. */
    uint64_t (*offer)(struct dev_peer *peer, const void *buf, size_t len);

    /* Optional: read len bytes at `remote` of the peer's address space, where its `offer` has said they are.  DEV_OK,
     * DEV_NO_SUPPORT (not allowed, or it is not that process's memory: it will not be either the next time),
     * DEV_PEER_GONE, DEV_ERROR (no such memory there).  Never waits for the peer. */
    dev_status (*copy_from_peer)(struct dev_peer *peer, void *local, uint64_t remote, size_t len);

    /* Optional, of devices with copy_from_peer: the other direction, to where the peer's `offer` has said.  Answers as
     * copy_from_peer. */
    dev_status (*copy_to_peer)(struct dev_peer *peer, uint64_t remote, const void *local, size_t len);

    /* Optional (default: NULL): a word of memory that this process and all its peers may read and write at any
     * time, `i` < DEV_WORDS: of the peer's words if theirs, else of this process's own.  It is the core's to use. */
    _Atomic uint64_t *(*word)(struct dev_peer *peer, bool theirs, uint32_t i);
};

#endif
