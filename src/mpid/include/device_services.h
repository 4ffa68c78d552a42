/* SPDX-License-Identifier: BSD-3-Clause */
/* device_services.h: what the core does for a device (device.h), and the variables of one. */
#ifndef KEEL_DEVICE_SERVICES_H
#define KEEL_DEVICE_SERVICES_H

#include "device_base.h"

/* What the core gives a device; a plug-in resolves nothing else.  All may be called only from within
 * progress(), send*() and peer_stop() of the same instance, on the calling thread. */
struct dev_services {
    /* Bytes of this table that the core has filled in.  A device that was built against a later header looks
     * here before it uses what lies behind them. */
    uint32_t size;
    uint32_t version; /* DEV_VERSION */
    void *core;       /* first argument of the calls below */
    /* A packet has come from the peer.  DEV_PEER_UNKNOWN is legal for a short packet of more than DEV_SHORT_TELLS
     * bytes of body, where telling the sender would cost another line. body/len: valid during the call only,
     * aligned to 8, in memory that may be written: of a body of more than 4 KB the core makes the cache lines its
     * own (ku_copy_own), so that its sender can soon write them again at little cost.  Its contents stay.  The
     * core may call send operations of the same device from here, but not progress(). */
    void (*deliver)(void *core, int32_t peer, const struct dev_head *head, const void *body, size_t len);
    /* What was DEV_QUEUED is done (DEV_OK or DEV_PEER_GONE; of put, get and atomic also DEV_ERROR).  The core may
     * begin other operations from here, as from deliver. */
    void (*sent)(void *core, void *cookie, dev_status status);
    void (*peer_gone)(void *core, int32_t grank);
    /* For plug-ins, which have no libmpi to link with. */
    void (*error)(void *core, const char *text);
    /* The text of a variable, one of dev_ops.knobs: what the user has set KEEL_<name> to, if that is a value of
     * it, else its default.  NULL: neither, or there is no such variable. */
    const char *(*knob)(void *core, const char *name);
    void (*wake)(_Atomic uint32_t *sleeping, bool fence_all); /* ku_wait_wake */
    /* What address() of the same device wrote in the rank `grank`: its length, and at most cap bytes of it in buf.
     * 0: not known yet: it is on its way, or the rank has not come so far; progress is due when it may be there:
     * ask again.  DEV_ADDRESS_NEVER: it has none, or is gone. */
    size_t (*address)(void *core, int32_t grank, void *buf, size_t cap);
    /* Optional, may be NULL: to receive a long body straight where it belongs.
     * place: matches the packet `head` of the rank, whose body of len bytes is still coming; the device has
     * delivered all packets before it.  Returns a ticket; 0: the device delivers the packet as any other.
     * place_at: where the whole body goes.  The device asks again each time before it writes bytes there, as
     * the answer may become NULL: the receive is gone, and the device drops the bytes.
     * placed: the whole body is there. */
    uint64_t (*place)(void *core, int32_t grank, const struct dev_head *head, size_t len);
    void *(*place_at)(void *core, uint64_t ticket);
    void (*placed)(void *core, uint64_t ticket);
    /* `knob` as a number: DEV_KNOB_INT, DEV_KNOB_SIZE in bytes, DEV_KNOB_BOOL 0 or 1. */
    int64_t (*knob_number)(void *core, const char *name);
    /* Processes of other jobs.  identity: who the peer is; false: it is of this job, or there is none.  peer_of:
     * the peer's number; -1:
     * it has not been introduced. */
    bool (*identity)(void *core, int32_t peer, struct dev_identity *id);
    int32_t (*peer_of)(void *core, uint64_t job, int32_t rank);
    /* A process of another job has said that nothing more comes from it, and that it takes nothing more.  (One
     * that is gone without saying so is told by peer_gone.) */
    void (*peer_left)(void *core, int32_t peer);
    /* Optional, may be NULL: `place` for a device whose library writes a body on its own.  Where the body of the
     * packet `head`, of len bytes, belongs; the device has delivered, or been lent the room for, all packets of
     * the peer before it.  NULL: the device receives it into memory of its own, and delivers it as any other.
     * Else the packet counts as delivered: later ones may follow at once.  The memory is the device's until
     * sent(*cookie): DEV_OK, the whole body is there; DEV_PEER_GONE, it never will be. */
    void *(*lend)(void *core, int32_t peer, const struct dev_head *head, size_t len, void **cookie);
    /* Ranks of this job that have ended without finishing, as the launcher has found.  is_failed: is it one?
     * next_failed: the next one, in the order in which they were found; *seen, which is 0 at first, counts those
     * that this device has been told; -1: no more. */
    bool (*is_failed)(void *core, int32_t grank);
    int32_t (*next_failed)(void *core, uint32_t *seen);
};

/* A variable of a plug-in, KEEL_<name> in the environment.  mpi_info and MPI_T show it, and a wrong value is complained
 * about as one of any other variable. */
enum dev_knob_type {
    DEV_KNOB_INT,  /* decimal or 0x */
    DEV_KNOB_SIZE, /* bytes: an integer with K, M or G */
    DEV_KNOB_BOOL, /* 0 1 no yes off on false true */
    DEV_KNOB_TEXT
};
struct dev_knob {
    /* In capitals, beginning with the device's name: "OFI_PROVIDER".  No other variable of Keel has it. */
    const char *name;
    enum dev_knob_type type;
    const char *def;  /* as a user would write it; NULL: none (0, NULL) */
    const char *unit; /* "us", "bytes", NULL: none */
    int64_t min, max; /* of INT and SIZE */
    const char *help;
};

#endif
