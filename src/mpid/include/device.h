/* device.h: the contract between the protocol core and a device.
 *
 * A device moves packets of one process to its peers, and where it can, bytes between address spaces.  It
 * knows nothing of matching, protocols, datatypes or communicators: these live once, in src/mpid/core.  A
 * device keeps no global state: several instances may live in one process (the conformance suite runs ranks
 * as threads).
 *
 * Calls come from one thread at a time unless an operation says otherwise.  Optional slots may be NULL: the
 * core's copy of the table has a dev_no_* function there.  stop/close may block and wait for callbacks;
 * fini never blocks and is legal after a failed init/open. */
#ifndef KEEL_DEVICE_H
#define KEEL_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "keel_atomic.h"
#include "util/le.h"
#include "util/linering.h"
#include "util/segment.h"

enum { DEV_VERSION = 5 };

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
    /* What it and this process can prove to each other that they know: their job's secret, or what their two jobs have agreed on. */
    uint8_t key[DEV_KEY_BYTES];
};

/* What a device is told of the job. */
struct dev_world {
    int32_t rank, size;             /* of this process in the job */
    int32_t local_rank, local_size; /* on this node */
    uint32_t epoch; /* which MPID_Init it is, the same in all ranks: what another epoch left is stale */
    const struct ku_segment *segment;
    const int32_t *grank_of; /* [local_size] global rank of each local rank, in ascending order */
    uint32_t stride;         /* grank_of[i] is grank_of[0] + i * stride; 0: the ranks follow no such rule */
    /* The local ranks are of several jobs, and grank_of is in no order: this process's own numbers, of those that the device is to
     * reach; negative: of others, of whom DEV_PEER_UNKNOWN or whatever stands there is told. */
    bool scattered;
    /* Where this device's part of each rank's ku_segment_dev() begins, a multiple of 4096. */
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

/* What the core gives a device; a plug-in resolves nothing else.  All may be called only from within
 * progress(), send*() and peer_stop() of the same instance, on the calling thread. */
struct dev_services {
    /* Bytes of this table that the core has filled in.  A device that was built against a later header looks
     * here before it uses what lies behind them. */
    uint32_t size;
    uint32_t version; /* DEV_VERSION */
    void *core;       /* first argument of the calls below */
    /* A packet has come from the peer.  DEV_PEER_UNKNOWN is legal for a short packet of more than DEV_SHORT_TELLS bytes of
     * body, where telling the sender would cost another line.
     * body/len: valid during the call only, aligned to 8, in memory that may be written: of a body of
     * more than 4 KB the core makes the cache lines its own (ku_copy_own), so that its sender can soon write them again at
     * little cost.  Its contents stay.  The core may call send operations of the same device from here, but not
     * progress(). */
    void (*deliver)(void *core, int32_t peer, const struct dev_head *head, const void *body, size_t len);
    /* What was DEV_QUEUED is done (DEV_OK or DEV_PEER_GONE; of put, get and atomic also DEV_ERROR).  The core may begin other operations
     * from here, as from deliver. */
    void (*sent)(void *core, void *cookie, dev_status status);
    void (*peer_gone)(void *core, int32_t grank);
    /* For plug-ins, which have no libmpi to link with. */
    void (*error)(void *core, const char *text);
    /* The text of a variable, one of dev_ops.knobs: what the user has set KEEL_<name> to, if that is a value of it, else its
     * default.  NULL: neither, or there is no such variable. */
    const char *(*knob)(void *core, const char *name);
    void (*wake)(_Atomic uint32_t *sleeping, bool fence_all); /* ku_wait_wake */
    /* What address() of the same device wrote in the rank `grank`: its length, and at most cap bytes of it in buf.
     * 0: not known yet: it is on its way, or the rank has not come so far; progress is due when it may be there: ask again.  DEV_ADDRESS_NEVER: it has none, or is gone. */
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
    /* Processes of other jobs.  identity: who the peer is; false: it is of this job, or there is none.  peer_of: the peer's number; -1:
     * it has not been introduced. */
    bool (*identity)(void *core, int32_t peer, struct dev_identity *id);
    int32_t (*peer_of)(void *core, uint64_t job, int32_t rank);
    /* A process of another job has said that nothing more comes from it, and that it takes nothing more.  (One that is gone without saying
     * so is told by peer_gone.) */
    void (*peer_left)(void *core, int32_t peer);
    /* Optional, may be NULL: `place` for a device whose library writes a body on its own.  Where the body of the packet `head`, of len
     * bytes, belongs; the device has delivered, or been lent the room for, all packets of the peer before it.  NULL: the
     * device receives it into memory of its own, and delivers it as any other.  Else the packet counts as delivered: later ones may
     * follow at once.  The memory is the device's until sent(*cookie): DEV_OK, the whole body is there; DEV_PEER_GONE, it
     * never will be. */
    void *(*lend)(void *core, int32_t peer, const struct dev_head *head, size_t len, void **cookie);
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

struct dev_near;
struct dev_mem_ops;

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

    /* This process's address for its peers, at most DEV_ADDRESS_MAX bytes: writes at most cap bytes, returns the bytes
     * needed (0: none), the same for as long as the device is open.  The core asks after open, again if it had too little room;
     * a rank of another node gets it when it asks for it. */
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
     * yet, or one of a peer that is gone; not one that waits for the peer's address (address() said 0): the core knows whether that is on its
     * way.  Asked after a progress that found nothing.  Never blocks. */
    bool (*under_way)(struct dev *dev);

    /* Optional (default: yes), of devices with a wait_fd: may the process sleep on it now?  Asked after a progress that found
     * nothing.  True: whatever comes from now on makes the descriptor readable.  False: call progress first.  Never blocks. */
    bool (*arm)(struct dev *dev);

    /* Optional: memory that peers put to and get from (below).  Without it the core sends packets for these operations. */
    const struct dev_mem_ops *mem;

    /* Optional: what a device of one node's memory may have besides (below).  A device of a network leaves it NULL. */
    const struct dev_near *near;

    /* Optional, of plug-ins: its variables.  `knob_size` is sizeof(struct dev_knob) where it was compiled. */
    const struct dev_knob *knobs;
    uint32_t nknobs, knob_size;

    /* Optional, of devices that reach processes of other jobs: nothing more is wanted of this one (now).  DEV_OK: the device has forgotten
     * it, and its struct dev_peer is no more; what the process does from now on is as if it had never been met.  DEV_AGAIN: something is
     * still on its way to it or from it; ask again after progress().  Never blocks. */
    dev_status (*part)(struct dev *dev, int32_t grank);

    /* Optional: what the device goes through here, in a few words for the user ("provider verbs;ofi_rxm on mlx5_0"): as snprintf. */
    int (*about)(const struct dev *dev, char *text, size_t cap);
};

/* ---- Memory of peers (optional) ----
 *
 * A process registers memory of its own (a region) and gives the region's key to its peers by whatever message; a peer opens the
 * key (a remote) and then puts, gets and updates without any call in the process that owns the memory.
 *
 * put, get and atomic answer
 *   DEV_OK          local memory may be used again: put has read it, get and atomic have written it
 *   DEV_QUEUED      the device owns the local memory until services.sent(cookie), by when the same is true
 *   DEV_AGAIN       nothing was begun; try again after progress() found something to do
 *   DEV_NO_SUPPORT  not this remote (any more), or (atomic) not this operation on this type there: the core sends packets instead
 *   DEV_PEER_GONE, DEV_ERROR
 * and never block.  None is ordered with another, nor with packets; `flush` tells when put and atomic are done at the
 * peer. */
enum { DEV_KEY_MAX = 256 };
struct dev_region; /* memory of this process that peers may reach */
struct dev_remote; /* memory of a peer that this process may reach */

/* All or none but share and atomic.  Sized and filled in as struct dev_ops. */
struct dev_mem_ops {
    uint32_t size;

    /* Let peers reach len > 0 bytes at base, which stay the process's memory until mem_unregister.  DEV_OK, DEV_NO_SUPPORT (not this
     * memory), DEV_ERROR.  Nobody is asked and nothing is sent. */
    dev_status (*mem_register)(struct dev *dev, void *base, size_t len, enum dev_mem mem,
                               struct dev_region **region);
    /* No peer reaches it from now on.  What peers have begun must have ended: the layer above sees to that. */
    void (*mem_unregister)(struct dev_region *region);
    /* What a peer needs to reach the region: writes at most cap bytes, returns how many there are, at most DEV_KEY_MAX. */
    size_t (*mem_key)(const struct dev_region *region, void *buf, size_t cap);

    /* The region of a peer, by its key, which is checked as any bytes from outside.  Never blocks. */
    dev_status (*mem_open)(struct dev_peer *peer, const void *key, size_t len, struct dev_remote **remote);
    void (*mem_close)(struct dev_remote *remote);

    /* Copy len bytes between this process's memory and `offset` of the remote; what leaves the remote is DEV_ERROR.  `region`: where
     * the local memory is registered with this device, NULL: it is not. */
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

    /* All puts and atomics to the peer that were begun before are done in its memory, as its processor and other peers see it: DEV_OK,
     * or DEV_QUEUED and then services.sent(cookie).  DEV_AGAIN, DEV_PEER_GONE. */
    dev_status (*flush)(struct dev_peer *peer, void *cookie);

    /* Optional: the address at which this process may load from and store to the remote's first byte by
     * itself, until mem_close.  DEV_NO_SUPPORT: it cannot. */
    dev_status (*share)(struct dev_remote *remote, void **base);
};

/* ---- Short ways of shared memory (optional) ---- */

/* What `take` has taken; both words go in registers. */
struct dev_taken {
    int64_t len; /* of the body; or enum dev_take, and nothing is taken */
    uint32_t tag, source;
};
enum dev_take {
    DEV_TAKE_NONE = -1 /* nothing has come */,
    DEV_TAKE_OTHER = -2 /* the next packet is another */
};

/* Where the next short packet will lie, as far as one place can tell: in `line`, with its struct dev_head in the place of the
 * line's head, once that has this lap (ku_line_look).  The core, when it has taken the packet, goes on: one line further,
 * and one less is left. */
struct dev_next {
    const struct ku_line *line;
    uint16_t lap;
    uint16_t left; /* how often one may go on: at 0 dev_near.took must be called */
};

/* A ring of lines to a peer that the core may put short packets into: ku_ring_put_alone, then ku_wait_wake. */
struct dev_lane {
    struct ku_ring_tx *tx; /* NULL: there is none */
    _Atomic uint32_t *sleeping, *fence_all;
    /* A thread that sends beside others is in it, in send_short.  Once it has said so it looks whether KU_BIAS_IN_FORCE, and then
     * sends nothing. */
    const _Atomic bool *taken;
};

/* Ways that exist where peers share memory or may read each other's.  They spare calls, copies and lines, and change nothing
 * of what arrives: the core does without each.  Sized and filled in as struct dev_ops. */
struct dev_near {
    uint32_t size;

    /* Optional (default: DEV_TAKE_OTHER): take the next packet, if it has come and is the one that is wanted: a short one with
     * kind and context of `want`, whose tag and source are those of `want` in the bits of `mask` (as they lie in the head's
     * last 8 bytes), and with a body of at most `cap` <= 48 bytes, which goes to buf.  Never an upcall, never blocks; not
     * to be called from an upcall.  Order is as with progress(), which brings what is not taken. */
    struct dev_taken (*take)(struct dev *dev, struct dev_head want, uint64_t mask, void *buf, size_t cap);

    /* Optional (default: DEV_TAKE_OTHER): what take is for short packets, for those that send or commit have sent.  To be asked
     * when take has found another packet; kind, context and mask as there; cap is any number. */
    struct dev_taken (*take_long)(struct dev *dev, struct dev_head want, uint64_t mask, void *buf,
                                  size_t cap);

    /* Optional, both or none, of devices with take whose short packets are lines of util/linering.h: `take` without a call.
     * next: the same struct for as long as the device is open; any call of the device may change what it says.  A line in it
     * that is full and whose `len` is at most 48 may be read as long as nothing else of the device is called, and gone on
     * from by a receive for which `take` would have taken it.  What is elsewhere the core finds by take and progress. */
    struct dev_next *(*next)(struct dev *dev);
    void (*took)(struct dev *dev);

    /* Optional (default: DEV_NO_SUPPORT): send with a body in one piece, of at most caps.max_send bytes, which is copied before
     * return.  DEV_OK, DEV_AGAIN, DEV_PEER_GONE.  Never blocks. */
    dev_status (*send_copy)(struct dev_peer *peer, const struct dev_head *head, const void *body, size_t len);

    /* Optional: send_short without a call, while one thread calls at a time (KU_SINGLE_THREADED, or KU_BIASED).  Where the lane is
     * full, send_short is to be called. */
    struct dev_lane (*lane)(struct dev_peer *peer);

    /* Optional (default: 0), of devices with copy_from_peer: let the peer read these bytes.  Returns their address for the
     * peer's copy_from_peer, 0: it may not.  They stay readable as long as they are the process's memory; that the
     * peer's attempt may fail all the same, it has to be ready for.  Never blocks. */
    uint64_t (*offer)(struct dev_peer *peer, const void *buf, size_t len);

    /* Optional: read len bytes at `remote` of the peer's address space, where its `offer` has said they are.  DEV_OK,
     * DEV_NO_SUPPORT (not allowed, or it is not that process's memory: it will not be either the next time),
     * DEV_PEER_GONE, DEV_ERROR (no such memory there).  Never waits for the peer. */
    dev_status (*copy_from_peer)(struct dev_peer *peer, void *local, uint64_t remote, size_t len);

    /* Optional, of devices with copy_from_peer: the other direction, to where the peer's `offer` has said.  Answers as
     * copy_from_peer. */
    dev_status (*copy_to_peer)(struct dev_peer *peer, uint64_t remote, const void *local, size_t len);

    /* Optional (default: NULL): a word of memory that this process and all its peers may read and write at any time, `i` <
     * DEV_WORDS: of the peer's words if theirs, else of this process's own.  It is the core's to use. */
    _Atomic uint64_t *(*word)(struct dev_peer *peer, bool theirs, uint32_t i);
};

/* A built-in device defines `const struct dev_ops dev_<name>_ops`; a plug-in exports this one symbol. */
typedef const struct dev_ops *(*keel_device_entry)(void);
#define KEEL_DEVICE_SYMBOL "keel_device"

_Static_assert(sizeof(struct dev_head) == 16, "a packet head is 16 bytes");

#endif
