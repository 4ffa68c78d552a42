/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h: the contract between the protocol core and a device.
 *
 * A device moves packets of one process to its peers, and where it can, bytes between address spaces.  It
 * knows nothing of matching, protocols, datatypes or communicators: these live once, in src/mpid/core.  A
 * device keeps no global state: several instances may live in one process (the conformance suite runs ranks
 * as threads).
 *
 * Calls come from one thread at a time unless an operation says otherwise.  Optional slots may be NULL: the
 * core's copy of the table has a dev_no_* function there.  stop/close may block and wait for callbacks;
 * fini never blocks and is legal after a failed init/open.
 *
 * device_base.h has the words, device_services.h what the core does for a device, device_memory.h and
 * device_near.h what a device may have besides.  The job's segment is no part of the contract, but for devices
 * whose packets lie in it. */
#ifndef KEEL_DEVICE_H
#define KEEL_DEVICE_H

#include "device_base.h"
#include "device_memory.h"
#include "device_near.h"
#include "device_services.h"

enum { DEV_VERSION = 6 };

/* A device.  The core takes a copy of the table: slots beyond `size`, and those that are NULL, are missing there. */
struct dev_ops {
    uint32_t size;    /* sizeof(struct dev_ops) where the device was compiled */
    uint32_t version; /* DEV_VERSION: another one is refused */
    const char *name; /* "shmem": in knobs and messages */
    /* Bytes it lays out in each rank's area of the segment, zero at the start; world.area_off says where. The
     * core hands out parts in the order of its table, the same in all ranks. */
    uint32_t area_bytes;
    /* caps.reach, as far as it is known without opening; 0: open it to find out.  The core opens a device only if that
     * reaches ranks which the devices before it in the table do not. */
    uint32_t reach;

    /* Open the device for this process.  DEV_NO_SUPPORT: cannot serve here (the reason in the error text);
     * not a failure of the job.  After any answer but DEV_OK nothing is left behind. */
    dev_status (*open)(const struct dev_services *services, const struct dev_world *world, struct dev **dev);
    void (*caps)(const struct dev *dev, struct dev_caps *caps);
    /* Stop: everything sent has been handed over, no upcall follows.  May block, calling progress itself. */
    void (*close)(struct dev *dev);
    /* Free; never blocks; dev may be NULL. */
    void (*fini)(struct dev *dev);

    /* This process's address for its peers, at most DEV_ADDRESS_MAX bytes: writes at most cap bytes, returns the
     * bytes needed (0: none), the same for as long as the device is open.  The core asks after open, again if it
     * had too little room; a rank of another node gets it when it asks for it. */
    size_t (*address)(const struct dev *dev, void *buf, size_t cap);

    /* Can (and will) this device talk to the peer?  DEV_NO_SUPPORT: it cannot reach it.  Never blocks, and connects to
     * nobody: a device with connections makes them when something is to be sent, and answers DEV_AGAIN until then. */
    dev_status (*peer_init)(struct dev *dev, int32_t grank, struct dev_peer **peer);
    void (*peer_stop)(struct dev_peer *peer); /* may block until what was queued is on its way */
    void (*peer_fini)(struct dev_peer *peer); /* never blocks; may be NULL */

    /* Hand one short packet to a peer: head->len bytes of body, copied before return.
     * DEV_OK, DEV_AGAIN, DEV_PEER_GONE.  Never blocks.  Any number of threads may call it at once. */
    dev_status (*send_short)(struct dev_peer *peer, const struct dev_head *head, const void *body);

    /* Hand one packet with a body of up to caps.max_send bytes (n = 1: max_lying), gathered from iov, to a peer.
     * DEV_OK: copied.  DEV_QUEUED: the memory behind iov (not the array) is the device's until sent(cookie).
     * DEV_AGAIN, DEV_PEER_GONE.  Never blocks. */
    dev_status (*send)(struct dev_peer *peer, const struct dev_head *head, const struct dev_iov *iov, int n,
                       void *cookie);

    /* Optional (default: a buffer of the core and send()).  Room for up to `want` <= caps.max_send bytes that
     * the core fills in place, saving a copy; NULL means DEV_AGAIN.  commit sends the first `len` bytes of
     * it: DEV_OK (the room is the device's again), DEV_AGAIN (still the core's), DEV_PEER_GONE; drop gives it
     * back unsent. */
    void *(*reserve)(struct dev_peer *peer, size_t want);
    dev_status (*commit)(struct dev_peer *peer, const struct dev_head *head, void *room, size_t len);
    void (*drop)(struct dev_peer *peer, void *room);

    /* Receive and send what is possible without blocking, a bounded amount a call.  Returns the number of
     * events. */
    int (*progress)(struct dev *dev);

    /* How to sleep until progress() may find something: a word in the sense of util/wait.h that this device's
     * senders wake, or NULL; a descriptor that becomes readable, or -1.  One of them must exist. */
    _Atomic uint32_t *(*wait_word)(struct dev *dev);
    int (*wait_fd)(struct dev *dev);

    /* Optional (default: no): does the device hold something that was handed to it and that progress() has
     * still to send? */
    bool (*unsent)(const struct dev *dev);

    /* Optional (default: yes), of devices with a wait_fd: may a packet be under way?  That is, one of this
     * process that has not reached the memory of the peer's machine, one that has come and was not delivered
     * yet, or one of a peer that is gone; not one that waits for the peer's address (address() said 0): the core
     * knows whether that is on its way.  Asked after a progress that found nothing.  Never blocks. */
    bool (*under_way)(struct dev *dev);

    /* Optional (default: yes), of devices with a wait_fd: may the process sleep on it now?  Asked after a progress
     * that found nothing.  True: whatever comes from now on makes the descriptor readable.  False: call progress
     * first.  Never blocks. */
    bool (*arm)(struct dev *dev);

    /* Optional: memory that peers put to and get from (below).  Without it the core sends packets for these
     * operations. */
    const struct dev_mem_ops *mem;

    /* Optional: what a device of one node's memory may have besides (below).  A device of a network leaves it NULL. */
    const struct dev_near *near;

    /* Optional, of plug-ins: its variables.  `knob_size` is sizeof(struct dev_knob) where it was compiled. */
    const struct dev_knob *knobs;
    uint32_t nknobs, knob_size;

    /* Optional, of devices that reach processes of other jobs: nothing more is wanted of this one (now).  DEV_OK:
     * the device has forgotten it, and its struct dev_peer is no more; what the process does from now on is as if
     * it had never been met.  DEV_AGAIN: something is still on its way to it or from it; ask again after
     * progress().  Never blocks. */
    dev_status (*part)(struct dev *dev, int32_t grank);

    /* Optional: what the device goes through here, in a few words for the user ("provider verbs;ofi_rxm on
     * mlx5_0"): as snprintf. */
    int (*about)(const struct dev *dev, char *text, size_t cap);
};

/* A built-in device defines `const struct dev_ops dev_<name>_ops`; a plug-in exports this one symbol. */
typedef const struct dev_ops *(*keel_device_entry)(void);
#define KEEL_DEVICE_SYMBOL "keel_device"

#endif
