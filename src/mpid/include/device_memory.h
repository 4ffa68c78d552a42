/* SPDX-License-Identifier: BSD-3-Clause */
/* device_memory.h: memory of peers that a device reaches: optional (device.h).
 *
 * A process registers memory of its own (a region) and gives the region's key to its peers by whatever message; a
 * peer opens the key (a remote) and then puts, gets and updates without any call in the process that owns the
 * memory.
 *
 * put, get and atomic answer
 *   DEV_OK          local memory may be used again: put has read it, get and atomic have written it
 *   DEV_QUEUED      the device owns the local memory until services.sent(cookie), by when the same is true
 *   DEV_AGAIN       nothing was begun; try again after progress() found something to do
 *   DEV_NO_SUPPORT  not this remote (any more), or (atomic) not this operation on this type there: the core sends
 *   packets instead DEV_PEER_GONE, DEV_ERROR
 * and never block.  None is ordered with another, nor with packets; `flush` tells when put and atomic are done at the
 * peer. */
#ifndef KEEL_DEVICE_MEMORY_H
#define KEEL_DEVICE_MEMORY_H

#include "device_base.h"
#include "keel_atomic.h"

enum { DEV_KEY_MAX = 256 };
struct dev_region; /* memory of this process that peers may reach */
struct dev_remote; /* memory of a peer that this process may reach */

/* All or none but share and atomic.  Sized and filled in as struct dev_ops. */
struct dev_mem_ops {
    uint32_t size;

    /* Let peers reach len > 0 bytes at base, which stay the process's memory until mem_unregister.  DEV_OK,
     * DEV_NO_SUPPORT (not this memory), DEV_ERROR.  Nobody is asked and nothing is sent. */
    dev_status (*mem_register)(struct dev *dev, void *base, size_t len, enum dev_mem mem,
                               struct dev_region **region);
    /* No peer reaches it from now on.  What peers have begun must have ended: the layer above sees to that. */
    void (*mem_unregister)(struct dev_region *region);
    /* What a peer needs to reach the region: writes at most cap bytes, returns how many there are, at most
     * DEV_KEY_MAX. */
    size_t (*mem_key)(const struct dev_region *region, void *buf, size_t cap);

    /* The region of a peer, by its key, which is checked as any bytes from outside.  Never blocks. */
    dev_status (*mem_open)(struct dev_peer *peer, const void *key, size_t len, struct dev_remote **remote);
    void (*mem_close)(struct dev_remote *remote);

    /* Copy len bytes between this process's memory and `offset` of the remote; what leaves the remote is
     * DEV_ERROR.  `region`: where the local memory is registered with this device, NULL: it is not. */
    dev_status (*put)(struct dev_remote *remote, uint64_t offset, const void *from, size_t len,
                      struct dev_region *region, void *cookie);
    dev_status (*get)(struct dev_remote *remote, uint64_t offset, void *to, size_t len,
                      struct dev_region *region, void *cookie);

    /* Optional: update one element at `offset`, aligned to its size, with *operand.  The update is one step for
     * every other atomic on that element: those of this device, by whatever process, and those that the core
     * makes in the process that owns the memory (keel_atomic).  The old value goes to *result unless that is
     * NULL.  `compare` is for KEEL_ATOMIC_COMPARE_SWAP.  The core asks only for what keel_atomic_has. */
    dev_status (*atomic)(struct dev_remote *remote, uint64_t offset, enum keel_atomic_op op,
                         enum keel_atomic_type type, const void *operand, const void *compare, void *result,
                         void *cookie);

    /* All puts and atomics to the peer that were begun before are done in its memory, as its processor and other
     * peers see it: DEV_OK, or DEV_QUEUED and then services.sent(cookie).  DEV_AGAIN, DEV_PEER_GONE. */
    dev_status (*flush)(struct dev_peer *peer, void *cookie);

    /* Optional: the address at which this process may load from and store to the remote's first byte by
     * itself, until mem_close.  DEV_NO_SUPPORT: it cannot. */
    dev_status (*share)(struct dev_remote *remote, void **base);
};

#endif
