/* SPDX-License-Identifier: BSD-3-Clause */
/* rdm.h: what devices over a library of reliable messages have in common (ch_ofi, ch_ucx): peers and their
 * addresses, order, buffers, who has died, how one leaves.  What a library has of its own stands behind struct
 * rdm_lib.
 *
 *   NEW --(a send: rdm_link_ready)--> WANTED --(its address is known, lib.connect)--> READY
 *   WANTED --(the same, of a library that connects while it sends)--> GREETING --(the greeting has gone,
 *   rdm_done)--> READY any but GONE --(the launcher has seen it die; an error without a farewell; no address)-->
 *   DYING --(rdm_bury)--> GONE
 *
 * Invariants
 *   1. A packet is a struct rdm_head, then its body.  `token` proves that its sender knows the job's secret, and
 *      is meant for this receiver alone: 8 bytes of the HMAC of both ranks, the job, the epoch and the nonce, which
 *      the receiver has drawn at random at open and told in its address.  What has another token is of an earlier
 *      epoch, or of a stranger, and is dropped.
 *   2. Packets of one sender to one receiver are numbered.  They may complete in any order; they are handed up in
 *      that of their numbers.  A sender is never RDM_AHEAD packets beyond its oldest one that the library has not
 *      done with, nor RDM_CREDITS beyond those that the receiver has handed up.  How far that is each packet tells
 *      (head.own), and one of its own (RDM_CREDIT, without a number) when half of the credits are used up and nothing
 *      else goes there.
 *   3. A packet that is announced has its turn like any.  Then the core may lend the room where its body belongs;
 *      the library writes there, and later packets are handed up meanwhile.  Else the body goes to memory of the
 *      device, and later packets of the peer wait until it has been handed up.
 *   4. `lock` guards the library, the buffers and what senders use.  No upcall is made with it held: what the library
 *      reports is queued (rdm_arrived, rdm_done), and handed up by progress, which one thread at a time calls.
 *   5. Whoever leaves says farewell to all with whom it has a link, and waits until the library has done with
 *      that.  An error after the farewell of a peer means nothing; before it, that the peer is gone.  What is for a
 *      peer that has said farewell is answered by DEV_PEER_GONE.
 *   6. The descriptor of the device is an epoll set of the library's own and a timer, which fires when a refused
 *      sender should try again, or a death is to be told.  A library that says again and again that it is busy, or
 *      whose descriptor stays readable, though a look at it finds nothing (UCX, with something to send to a peer
 *      that is full), would keep the process awake: then its descriptor is left out for a while, and the timer
 *      alone wakes. */
#ifndef RDM_H
#define RDM_H

#include <stdatomic.h>
#include "device.h"
#include "util/hush.h"
#include "util/lock.h"

enum {
    RDM_SHORT = 128,                 /* most bytes of a short packet's body */
    RDM_LARGE = 64 << 10,            /* and of one in a buffer */
    RDM_COPY = 8 << 10,              /* up to here a body is copied, not sent from where it lies */
    RDM_WINDOW = 64,                 /* packets to a peer that the library has not done with */
    RDM_UNTOLD = 16,                 /* and those after each that it need not tell of */
    RDM_AHEAD = 16 << 10,            /* invariant 2 */
    RDM_CREDITS = 128,               /* likewise: libraries keep what comes unasked, without bound */
    RDM_BUFFERS = 256,               /* large ones, of all peers */
    RDM_ROOMS = 64,                  /* of these, lent to the core */
    RDM_PIECES = 4,                  /* of an iov that is sent from where it lies, with its head */
    RDM_KEY_MOST = DEV_KEY_MAX - 16, /* the library's part of a key */
    RDM_ADDRESS_MOST = 64 << 10
};

struct rdm_head {
    struct dev_head
        head; /* little-endian, as all of it; own: the next packet that the sender expects of the receiver */
    uint64_t token;  /* bytes */
    uint32_t source; /* rank */
    uint16_t seq;
    uint8_t kind; /* enum rdm_kind */
    uint8_t pad;  /* bytes after the body: bodies that lie one after the other in memory are aligned */
};
enum rdm_kind { RDM_PACKET = 1, RDM_FAREWELL, RDM_CREDIT, RDM_PROBE /* to itself: measure.c */ };
_Static_assert(sizeof(struct rdm_head) == 32, "bodies are aligned to 8");

/* Something that the library does for us, and tells of by rdm_done. */
struct rdm_op {
    uint64_t context[8];          /* the library's, aligned: FI_CONTEXT2 */
    bool is_slab;                 /* false; of ch_ofi's slabs, in the same place, true */
    struct rdm_op *next;          /* in a queue of those that are done, or of free ones */
    struct rdm_op *older, *newer; /* of the link's packets, or operations on its memory */
    struct rdm_op *next_all;
    struct dev_peer *link;
    void *cookie; /* of the core, if `told` */
    enum rdm_what {
        RDM_OP_PACKET,
        RDM_OP_FAREWELL,
        RDM_OP_CREDIT,
        RDM_OP_GREETING,
        RDM_OP_MEMORY, /* from here on: in the list of those on the link's memory */
        RDM_OP_FLUSH,
        RDM_OP_BODY /* of a packet that was announced */
    } what;
    bool told;         /* the core waits for services.sent */
    bool broken;       /* it has ended in an error, and is not used again */
    bool large;        /* the buffer below has RDM_LARGE bytes of body, not RDM_SHORT */
    uint16_t seq;      /* of a packet */
    dev_status how;    /* it has ended */
    struct rdm_in *in; /* BODY: where it goes to memory of the device; NULL: to where the core wants it */
    void *local;       /* the library's, of memory that is registered for this operation alone; NULL: none */
    void *result;      /* of an update: where the old value goes; NULL: nowhere */
    size_t result_bytes;
    void *desc; /* of the buffer, where the library wants memory registered */
    struct rdm_head head;
    unsigned char body[];
};

/* The body of an update: what comes and goes has to stay, and the core's need not be aligned. */
struct rdm_amo {
    uint64_t operand, compare, old; /* elements, in the first bytes */
};

/* A packet that has come. */
struct rdm_in {
    struct rdm_in *next;
    struct rdm_head head;
    unsigned char *body;
    size_t len;
    void *owner;    /* the library's, for lib.release */
    bool announced; /* the head alone is here; the body the library brings when it is asked for (lib.take) */
};

struct dev_peer {
    struct dev *dev;
    int32_t grank;
    enum rdm_state { RDM_NEW, RDM_WANTED, RDM_GREETING, RDM_READY, RDM_DYING, RDM_GONE } state;
    uint64_t token;     /* of packets to it */
    uint64_t its_token; /* of packets from it, once has_its_token */
    bool has_its_token;
    void *to; /* the library's */
    /* for the library: its own updates reach the peer's memory, as one step to the processors there, too */
    bool updates;
    /* sending, with `lock` */
    uint16_t seq;
    uint16_t acked;   /* it has handed up all before this */
    uint16_t told_in; /* what it was told of next_in; read by progress, too */
    uint16_t untold;
    bool greeted;       /* GREETING: it is under way */
    uint32_t in_flight; /* packets that rdm_done will tell of */
    struct rdm_op *oldest, *newest;
    uint32_t mem_in_flight; /* operations on its memory that rdm_done will tell of */
    struct rdm_op *mem_oldest, *mem_newest;
    bool said_bye, bye_done;
    /* receiving, of the thread in progress */
    uint16_t next_in; /* read by senders, too */
    _Atomic bool
        got_bye; /* read by senders, too: a library may refuse for ever what is for one that has left */
    bool buried;
    bool owes;              /* it is in dev.owing */
    struct rdm_in *held;    /* came before their turn, in order */
    struct rdm_in *filling; /* its turn it is, but its body is coming to memory of the device; NULL: none */
    uint64_t bury_at;       /* ns, of DYING */
    char why[120];          /* empty: the launcher has seen it */
    struct dev_peer *next_known, *next_wanted, *next_dying, *next_owing;
};

/* Memory of a peer. */
struct dev_remote {
    struct dev_peer *peer;
    uint64_t base, len; /* there */
    void *its;          /* the library's, made at first use; NULL: not yet */
    size_t key_bytes;
    unsigned char key[DEV_KEY_MAX]; /* the library's own */
};

/* What a library does.  All but open and close are called with `lock` held; none makes an upcall. */
struct rdm_lib {
    /* What it is given it may keep until it is called again.  So a link is not ready before something has been
     * sent on it (the library connects meanwhile), and the library is called after each packet that it keeps. */
    bool keeps;
    /* The peer's address has come.  DEV_OK, or DEV_NO_SUPPORT: it is none for us. */
    dev_status (*connect)(struct dev_peer *p, const void *address, size_t len);
    void (*disconnect)(struct dev_peer *p);
    /* Send iov; iov[0] begins with op->head.  DEV_QUEUED: rdm_done(op) follows; DEV_OK: it is done with;
     * DEV_AGAIN; DEV_PEER_GONE. */
    dev_status (*post)(struct dev_peer *p, struct rdm_op *op, const struct dev_iov *iov, int n);
    /* Optional: send len bytes without being told, or DEV_AGAIN, DEV_NO_SUPPORT. */
    dev_status (*inject)(struct dev_peer *p, const void *bytes, size_t len);
    /* Look: rdm_arrived and rdm_done for what there is, a bounded number. */
    void (*poll)(struct dev *d);
    void (*release)(struct dev *d, void *owner); /* of a packet */
    /* Of libraries that announce packets (rdm_announced): write the body to `to`; `owner` is the library's again.
     * DEV_QUEUED: rdm_done(op) follows; DEV_OK: it is there; else it never will be. */
    dev_status (*take)(struct dev *d, struct rdm_op *op, void *owner, void *to, size_t len);
    bool (*arm)(struct dev *d);
    void *(*describe)(struct dev *d, void *base, size_t len); /* optional: register a buffer for good */
    void (*undescribe)(struct dev *d, void *desc);
    /* Memory of peers, where dev.has_memory.
     * expose: let peers reach it; the key goes to `key`, of *key_bytes, which becomes its length.  NULL: it cannot.
     * is_key: may remote.key be one?
     * update: from and to struct rdm_amo in op->body; the old value may be left in it at the end.
     * move, update: DEV_QUEUED, and rdm_done(op) follows (DEV_ERROR: it was refused there), DEV_AGAIN,
     * DEV_NO_SUPPORT, DEV_PEER_GONE. flush: the same, for all that was begun before; NULL: a put has ended when it
     * is done at the peer. */
    void *(*expose)(struct dev *d, void *base, size_t len, unsigned char *key, size_t *key_bytes);
    void (*unexpose)(struct dev *d, void *its);
    bool (*is_key)(const struct dev_remote *r);
    void (*forget)(struct dev_remote *r);
    dev_status (*move)(struct dev_remote *r, struct rdm_op *op, uint64_t offset, void *local, size_t len,
                       bool put);
    dev_status (*update)(struct dev_remote *r, struct rdm_op *op, uint64_t offset, enum keel_atomic_op what,
                         enum keel_atomic_type type);
    dev_status (*flush)(struct dev_peer *p, struct rdm_op *op);
};

struct dev {
    struct dev_services up;
    struct dev_world world;
    const struct rdm_lib *lib;
    const char *name; /* "ofi" */
    struct ku_lock lock;
    uint64_t nonce;
    struct dev_peer **peers; /* [size], made when they are needed */
    struct dev_peer *known;
    _Atomic(struct dev_peer *) wanted, dying; /* written with the lock, as what is _Atomic below */
    struct dev_peer *owing; /* RDM_CREDIT is to be sent to them; of the thread in progress */
    struct rdm_op *free_small, *free_large;
    struct rdm_op *all; /* linked by next_all */
    uint32_t nlarge, nrooms;
    _Atomic uint32_t outstanding; /* operations; */
    uint32_t most_outstanding;    /* the library has room for so many */
    struct rdm_in *in, **in_last, *free_in;
    struct rdm_op *done, **done_last;
    int lib_fd, epoll, timer; /* lib_fd -1: the library has none */
    _Atomic bool refused;
    bool timer_set, warned, closing;
    bool unwatched;    /* the library's descriptor is left out */
    uint32_t vain;     /* sleeps that were begun since something happened, in quick succession */
    uint64_t armed_at; /* the last of them */
    bool near_only;    /* reaches this node alone */
    uint64_t retry_at, gap;
    uint32_t failed_seen;
    bool has_memory;  /* peers' can be put to and got from, */
    size_t max_moved; /* at most so many bytes at once */
    uint32_t
        max_send; /* bytes of a body, at most RDM_LARGE: what the library sends without another call of this process */
    uint32_t max_lying;   /* 0: bodies are always copied */
    int pieces;           /* of an iov, with the head */
    uint32_t card_ns;     /* what a short packet takes over such a card; 0: there is none */
    uint32_t measured_ns; /* what it does take to this process itself; 0: unknown */
    uint32_t probes;      /* have come back */
    void *scratch;        /* for bodies that came where they are not aligned */
    size_t scratch_bytes;
};

/* rdm.c, for a device's own file */
void rdm_init(struct dev *d, const char *name, const struct rdm_lib *lib, const struct dev_services *services,
              const struct dev_world *world);
dev_status rdm_open(struct dev *d, int lib_fd); /* after the library is; what is wrong is said */
/* After rdm_open.  The card should take card_ns for a short packet (0: there is none): is it to be measured?
 * Measure it; `address`: this process's own, of the library, by way of networks.  Then: what to tell the core, and
 * what to add to n bytes of text about the device. */
bool rdm_asks_card(struct dev *d, uint32_t card_ns);
bool rdm_measure(struct dev *d, const void *address, size_t n); /* false: the library cannot connect to it */
uint32_t rdm_latency(const struct dev *d, uint32_t without_card);
int rdm_about(const struct dev *d, char *text, size_t cap, int n);
void rdm_fini(struct dev *d); /* all but d itself; after lib.disconnect of all */
void rdm_say(struct dev *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rdm_stranger(struct dev *d); /* what has come is no packet: it is dropped */
void rdm_arrived(struct dev *d, const void *head, const void *body, size_t len, void *owner);
void rdm_announced(struct dev *d, const void *head, size_t len, void *owner); /* its body is to be taken */
void rdm_done(struct rdm_op *op, dev_status how);
void rdm_broken(struct dev_peer *p, const char *why); /* its connection is */
struct rdm_op *rdm_op_get(struct dev *d, bool large); /* NULL: not now */
void rdm_op_put(struct dev *d, struct rdm_op *op);
dev_status rdm_link_ready(struct dev_peer *p);
dev_status rdm_refuse(struct dev *d); /* DEV_AGAIN */
struct dev_peer *rdm_peer(struct dev *d, int32_t grank);
void rdm_drop_unread(struct dev *d);  /* what has come since rdm_close */
void rdm_free_buffers(struct dev *d); /* before the library closes: it may have them registered */

uint64_t rdm_now(void);

/* rdm.c, arrive.c, measure.c and rdm_memory.c, for each other */
uint64_t rdm_token(const struct dev *d, uint64_t nonce, int32_t from, int32_t to);
void rdm_receive(struct dev *d, struct rdm_in *in);
int rdm_hand_over(struct dev *d); /* look, and hand up: how much there was */
dev_status rdm_send_head(struct dev_peer *p, enum rdm_kind kind, enum rdm_what what);
void rdm_filled(struct dev_peer *p, dev_status how);
void rdm_give_back(struct dev *d, struct rdm_in *in);
bool rdm_owed(const struct dev_peer *p);       /* has it to be told how many of its packets were handed up? */
void rdm_outstanding(struct dev *d, int more); /* 1 or -1 */
void rdm_queue_done(struct rdm_op *op, dev_status how);
void rdm_mem_begun(struct rdm_op *op);
void rdm_mem_done(struct rdm_op *op);

/* and for its table */
size_t rdm_address(const struct dev *d, const void *own, size_t n, void *buf, size_t cap);
dev_status rdm_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer);
void rdm_peer_stop(struct dev_peer *p);
void rdm_peer_fini(struct dev_peer *p);
dev_status rdm_send_short(struct dev_peer *p, const struct dev_head *head, const void *body);
dev_status rdm_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                    void *cookie);
void *rdm_reserve(struct dev_peer *p, size_t want);
dev_status rdm_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len);
void rdm_drop(struct dev_peer *p, void *room);
int rdm_progress(struct dev *d);
int rdm_wait_fd(struct dev *d);
bool rdm_unsent(const struct dev *d);
bool rdm_arm(struct dev *d);
void rdm_close(struct dev *d); /* farewell; before the library is closed */

/* rdm_memory.c, for the table of memory of peers */
dev_status rdm_mem_register(struct dev *d, void *base, size_t len, enum dev_mem mem,
                            struct dev_region **region);
void rdm_mem_unregister(struct dev_region *r);
size_t rdm_mem_key(const struct dev_region *r, void *buf, size_t cap);
dev_status rdm_mem_open(struct dev_peer *p, const void *key, size_t len, struct dev_remote **remote);
void rdm_mem_close(struct dev_remote *r);
dev_status rdm_put(struct dev_remote *r, uint64_t offset, const void *from, size_t len,
                   struct dev_region *region, void *cookie);
dev_status rdm_get(struct dev_remote *r, uint64_t offset, void *to, size_t len, struct dev_region *region,
                   void *cookie);
dev_status rdm_atomic(struct dev_remote *r, uint64_t offset, enum keel_atomic_op what,
                      enum keel_atomic_type type, const void *operand, const void *compare, void *result,
                      void *cookie);
dev_status rdm_flush(struct dev_peer *p, void *cookie);

#define RDM_MEM_SLOTS \
    .mem_register = rdm_mem_register, .mem_unregister = rdm_mem_unregister, .mem_key = rdm_mem_key, \
    .mem_open = rdm_mem_open, .mem_close = rdm_mem_close, .put = rdm_put, .get = rdm_get, .flush = rdm_flush

#define RDM_SLOTS \
    .peer_init = rdm_peer_init, .peer_stop = rdm_peer_stop, .peer_fini = rdm_peer_fini, \
    .send_short = rdm_send_short, .send = rdm_send, .reserve = rdm_reserve, .commit = rdm_commit, \
    .drop = rdm_drop, .progress = rdm_progress, .wait_fd = rdm_wait_fd, .unsent = rdm_unsent, .arm = rdm_arm

#endif
