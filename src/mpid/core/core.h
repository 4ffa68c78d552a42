/* SPDX-License-Identifier: BSD-3-Clause */
/* core.h: what the files of the protocol core share: its state in this process, peers, contexts, operations.
 *
 * Owners: devset.c devices and peers; context.c contexts; match.c the queues of a context; send.c and recv.c the two
 * ends of a message; rndv.c what takes more than one packet; deliver.c what comes in; progress.c polling, waiting,
 * lost peers; env.c beginning and end.  src/mpid/team has a header of its own (team.h). */
#ifndef MPID_CORE_H
#define MPID_CORE_H

#include <stdio.h>
#include "mpid.h"
#include "mpid_listen.h"
#include "device.h"
#include "match.h"
#include "wire.h"
#include "mpid/datatype/type_copy.h"
#include "jobs.h"
#include "joint.h"
#include "peers.h"
#include "thread.h"
#include "mpid/team/team.h"
#include "pmi/pmi.h"
#include "util/copy.h"
#include "util/counter.h"
#include "util/err.h"
#include "util/event.h"
#include "util/slab.h"
#include "util/wait.h"

enum { CORE_DEVICES = 8, POLL_EVERY = 32 };

/* ---- Requests: the `state` field.  The low byte says where the request is: ----
 *   DONE                                        not active (also a request that was never used)
 *   POSTED       -> RNDV | DONE                 a receive in its context's queue
 *   QUEUED       -> RNDV | DEVICE | DONE        a send in its peer's msg queue, nothing sent yet
 *   RNDV         -> DONE                        aux is the operation (struct rndv)
 *   DEVICE       -> DONE                        a device owns the payload of an eager message until it calls sent()
 *   SELF         -> DONE                        a send to this process, waiting as an unexpected message
 *   MATCHED      -> RNDV | DONE                 a message (MPIR_MESSAGE); aux is the struct umsg */
enum req_state {
    REQ_DONE,
    REQ_POSTED,
    REQ_QUEUED,
    REQ_RNDV,
    REQ_DEVICE,
    REQ_SELF,
    REQ_MATCHED,
    REQ_STATE = 0xff
};
enum req_flag {
    REQ_SYNC = 0x100,     /* synchronous mode */
    REQ_BLOCKING = 0x200, /* the caller waits in this call */
    REQ_HOLDS = 0x400,    /* a reference to the datatype */
    REQ_FREED = 0x800,    /* given to MPID_Request_free */
    REQ_WATCHED = 0x1000, /* given to MPID_Request_watch */
    REQ_TOLD = 0x2000,    /* listeners have been told that it has begun */
    REQ_NOTED = 0x4000    /* a note goes before it (note.c), and has not gone */
};

/* ---- Devices and peers ---- */

struct core_dev {
    struct dev_ops ops;     /* a copy, its empty slots filled in */
    struct dev_near near;   /* likewise */
    struct dev_mem_ops mem; /* likewise; mem.put is NULL where the device has no such memory */
    struct dev *dev;
    struct dev_caps caps;
    struct dev_world world;       /* as this device sees it */
    struct dev_services services; /* .core is this struct */
    bool has_reserve;
    bool
        has_address; /* it is in this process's card, and peers that are not served by it lack it in theirs */
    _Atomic uint32_t *word;
    int fd;
};

struct rndv;
struct memop;

enum { SIGNAL_XOFF = 1, SIGNAL_XON = 2, SIGNAL_WATCH = 4, SIGNAL_DIED = 8 };

/* How long messages come from a peer, and what that has cost (pull.c). */
enum way { WAY_PACKETS, WAY_PULL, WAY_SHARE, WAY_PUT, WAYS };
enum { WAY_CLASSES = 3 /* of sizes */ };
struct ways {
    float cost[WAYS];    /* ns for 1024 bytes; 0: not known */
    float then;          /* that of the best one for some time */
    float price;         /* ns that the present look has cost so far, beyond what the best way would have */
    uint64_t look[WAYS]; /* clock from which on it may be looked at again; */
    uint64_t soon[WAYS]; /* the same, if the best one has become slower */
    float ns, kb;        /* of the present sample, so far */
    uint32_t active;     /* messages under way */
    uint16_t n;          /* messages that have come since the way was changed */
    uint16_t of_sample;  /* those of the present sample */
    uint16_t samples;    /* since the way was changed */
    uint8_t now, best;   /* enum way */
    uint8_t slow;        /* samples in a row that took twice as long as `then` */
};

struct peer {
    struct dev_peer *dp;
    dev_status (*send_short)(struct dev_peer *peer, const struct dev_head *head, const void *body);
    struct dev_lane lane; /* the same without a call, below MPID_core.lanes */
    int32_t grank;
    bool fast; /* messages may go to the device without a request: nothing queued, no xoff, needs_nothing() */
    bool xoff; /* the peer asked for rendezvous only */
    bool xoff_sent;  /* we asked */
    bool busy;       /* in MPID_core.busy */
    bool gone;       /* it will never answer */
    bool no_pull;    /* copy_from_peer has failed once, or the device's get of a message */
    bool no_put;     /* the peer's device's put has, or memory for it could not be registered */
    bool no_share;   /* the peer's copy_to_peer has */
    bool undecided;  /* which device serves it, until its card has come: nothing goes to it (devset.c) */
    bool awaits;     /* its card was not there when it was asked for last, and may be on its way */
    uint8_t signals; /* to send: SIGNAL_*, of XOFF and XON one */
    uint32_t eager_max;
    struct core_dev *cd;
    struct MPIR_HANDLE *msg_head, *msg_tail; /* messages not yet begun, in order */
    struct rndv *ctl_head, *ctl_tail;        /* operations with a control packet to send */
    struct rndv *stream_head, *stream_tail;  /* operations with payload to send */
    struct memop *mem_head, *mem_tail;       /* operations on memory with something to send (mem.c) */
    struct pkt_op starting;                  /* the last message to it whose START was sent */
    struct pkt_op taking;                    /* the receive that takes the next START from it */
    bool mem_put, mem_by_device;             /* packets PUT went, or the device put, since the last flush */
    bool mem_turn;                           /* operations on memory go before messages the next time */
    uint32_t mem_refused; /* error class of the first PUT of its since its last FLUSH that was refused */
    uint8_t start_pause;  /* messages to it to send without START, since the last was not taken */
    uint8_t declined;     /* messages in a row that it could have fetched, and asked for in packets; */
    uint8_t offer_pause;  /* to send without a key, since so many were, or one could not be registered */
    struct peer *busy_next;
    struct peer *next_used; /* peers.h */
    bool watches;           /* of another job: it wants to know who of this job is gone (jobs.c) */
    uint32_t told;          /* how many it has been told of, in the segment's order */
    struct ways ways[WAY_CLASSES];
};

/* ---- Operations of more than one packet (rndv.c) ---- */

enum { LONG_MIN_BYTES = 48 << 10 /* a message that may come another way than in packets */ };

enum rndv_state {
    RNDV_RTS,   /* sender: RTS not yet sent (the request is in the msg queue) */
    RNDV_WAIT,  /* sender: waits for CTS */
    RNDV_SEND,  /* sender: payload on its way */
    RNDV_GIVE,  /* sender: both copy */
    RNDV_PUT,   /* sender: its device puts the message (fetch.c) */
    RNDV_CTS,   /* receiver: CTS not yet sent */
    RNDV_RECV,  /* receiver: payload comes */
    RNDV_PULL,  /* receiver: it copies by itself */
    RNDV_SHARE, /* receiver: both copy */
    RNDV_FETCH, /* receiver: its device gets the message (fetch.c) */
    RNDV_TAKE   /* receiver: the sender's device puts it */
};

struct rndv {
    struct keel_object obj;  /* its index and generation are its name on the wire */
    struct MPIR_HANDLE *req; /* NULL: only the control packet remains to be sent */
    struct peer *peer;
    struct rndv *next;
    struct pkt_op other;       /* the other side's operation */
    int64_t total, want, done; /* bytes of the message; asked for; sent or received */
    uint32_t inflight;         /* packets the device owns */
    uint32_t started;          /* sender: bytes that START had */
    uint8_t state;
    uint8_t ctl;     /* in the peer's ctl list, to send PKT_CTS, PKT_CANCEL or PKT_CANCEL_ACK; 0: not there */
    bool cancelling; /* sender: CANCEL is on its way */
    bool cancelled;  /* CANCEL_ACK */
    bool bounce_busy;
    uint32_t placing; /* receiver: bytes that a device puts where they belong (zero_copy.c) */
    int error;        /* CTS */
    void *bounce;     /* for devices without room to pack into */
    uint64_t address; /* PULL, SHARE: of the message, in the sender; GIVE: where it goes, in the receiver */
    uint32_t chunk;   /* SHARE, GIVE: bytes of a piece */
    uint32_t claim;   /* as in pkt_share */
    bool follows;     /* SEND: right after another message */
    uint8_t refusals; /* SEND: in a row, of room for a full packet */
    bool measured;    /* it counts as active in its ways */
    bool takes;       /* receiver: START, which may be on its way */
    bool coming;      /* receiver: its bytes count in MPID_core.coming */
    bool had;         /* GIVE: the sender has had a piece */
    bool told;        /* SHARE: it has had all it will */
    bool lacks;       /* SHARE, GIVE: the last piece that the sender took it could not copy */
    bool refused;     /* SHARE: nor can the receiver; FETCH, PUT: its device cannot */
    bool flushing;    /* PUT: all is put, and the device is asked, or is to be, whether it is there */
    uint64_t began;   /* receiver: clock when they could begin to come; 0: not measured */
    struct dev_region
        *region; /* the message in this process, registered for the other one's device; NULL: it is not */
    struct dev_remote
        *remote; /* the message in the other one, where its device can reach it; NULL: it cannot */
};

/* ---- Contexts ---- */

struct context {
    uint32_t id;
    void *memory; /* it lies in */
    struct context *chain;
    struct MPIR_COMMUNICATOR *comm;
    struct posted posted;
    struct unexp unexp;
    uint32_t refused_with;     /* the context whose refusals hold here: mostly this one (refuse.c) */
    struct refusals *refusals; /* of this one; NULL: none so far */
    bool ended;                /* its communicator is no more: it is in the list of such contexts */
    struct context *ended_next;
    /* With fresh_lock (fresh.c), on a line of their own. */
    _Alignas(64) struct ku_lock fresh_lock;
    struct MPIR_HANDLE *fresh, **fresh_last;
    struct context *fresh_next;
    bool fresh_listed;
};

struct comm_adi {                              /* comm->adi */
    struct context *context[MPID_CONTEXT_IDS]; /* NULL: not used yet */
    struct comm_failures failures;
    struct team team;
};

/* ---- The state ---- */

/* What is counted where the way is long anyway (counts.c); marks are of the time since somebody looked. */
struct core_counts {
    uint64_t eager, rndv, self, self_bytes, unexpected;
    uint64_t sleeps, asleep; /* asleep: ns */
    uint64_t past_cache;     /* bytes */
    uint64_t by_device[3];   /* put, get, atomic (enum memop_kind) */
    uint64_t fetched, put;   /* long messages: received, sent */
    uint32_t most_msgs, least_msgs;
    int64_t most_bytes;
};

/* What is told, by row of MPID_events. */
enum core_event {
    EVENT_UNEXPECTED,
    EVENT_RNDV_BEGUN,
    EVENT_RNDV_ENDED,
    EVENT_SLEPT,
    EVENT_GONE,
    CORE_EVENTS
};
extern struct ku_event MPID_events[CORE_EVENTS];

/* How to be woken: this rank's word always (the launcher wakes it, and most devices' senders); what other words devices
 * have, once each; and their descriptors. */
struct sources {
    struct ku_seg_rank *me;
    _Atomic uint32_t *word[CORE_DEVICES];
    int fd[CORE_DEVICES + 1], nwords, nfds;
    bool joint; /* some send to this process through joint segments */
    bool busy;  /* something waits for room to be sent */
};

/* A word of shared memory, and the value that somebody waits to change. */
struct core_word {
    _Atomic uint32_t *at;
    uint32_t is;
};

/* What a blocking probe of this thread waits for. */
struct core_probe {
    const struct MPIR_COMMUNICATOR *comm;
    uint32_t context_id;
    int32_t source, tag;
    bool on;
};
extern _Thread_local struct core_probe MPID_Probing __attribute__((tls_model("initial-exec")));

enum core_doubt {
    DOUBT_LOST = 1,    /* messages could not be kept for want of memory: receives that wait fail */
    DOUBT_REFUSED = 2, /* something has been refused (refuse.c) */
    DOUBT_HEARD = 4    /* none: receives are told of (listen.c), so none is just put into the queue */
};

struct core {
    uint32_t needs, tested; /* enum MPID_NEEDS; those of KEEL_NEEDS */
    bool up;
    uint8_t doubts;       /* enum core_doubt: why a receive may wait in vain */
    bool gone_pending;    /* peers have gone since the last reap */
    uint32_t completions; /* for req_stamp */
    uint64_t sends;       /* every POLL_EVERY-th polls */
    /* The device that messages may be taken from as they lie there (devset.c), NULL: none. */
    struct dev *take_from;
    struct dev_taken (*take)(struct dev *dev, struct dev_head want, uint64_t mask, void *buf, size_t cap);
    struct dev_taken (*take_long)(struct dev *dev, struct dev_head want, uint64_t mask, void *buf,
                                  size_t cap);
    struct dev_next *next; /* its next packet, as far as that is known there; never full: there is none */
    void (*took)(struct dev *dev);
    /* Of other processes' messages; what is counted together does not stand together: as a vector it would take
     * longer. */
    uint64_t received, sent_bytes, received_bytes;
    int32_t rank;
    int32_t lanes; /* may packets be put into lanes of peers?  Into those of all, peers.n, or 0 (needs.c) */
    struct peers peers;
    struct peer *busy;     /* peers with something to send */
    struct context *last;  /* the context looked up last */
    struct team *waits;    /* this process waits for that team's members */
    struct core_word word; /* or for a change of that word (shared_memory.c); word.at NULL: no */
    struct team *begun;    /* teams with a meeting that it has begun and not ended (MPID_Team_begin) */
    bool ending;           /* it waits in MPID_Sync, for a count in the segment */
    struct context **contexts;
    struct context *ended_first, *ended_last; /* context.c */
    uint32_t ncontexts, context_mask, nended;
    int npoll, nactive, ndevs;
    uint32_t polls;
    struct core_dev
        *poll[CORE_DEVICES +
              CORE_JOINTS]; /* those that reach others; the first nactive ones are always looked at */
    struct core_dev devs[CORE_DEVICES];
    struct pmi_job job;
    struct dev_world world;
    uint64_t area_off; /* next device's part of a rank's area in the segment */
    struct dev_services services;
    struct MPID_World info;
    struct MPID_Config config;
    uint32_t failed_seen;          /* deaths in the segment that have been taken in */
    struct comm_failures failures; /* of all ranks of the job */
    int gone_class;                /* MPID_Gone_class */
    uint32_t answered;             /* the launcher's question that was answered last (wait_report.c) */
    struct ku_slab rndvs;
    struct ku_slab regions, memops; /* mem.c */
    struct rndv *pulls;             /* operations in state PULL, SHARE, GIVE */
    uint32_t words;                 /* dev_ops.word, bits: those of this process that are in use */
    int long_way;                   /* 0: as measured; 1 + enum way: always that */
    int64_t offered, offered_most; /* bytes of messages that are registered for receivers' devices; at most */
    int64_t
        past_cache; /* bytes: while so many are coming, to as much memory, they pass the cache; 0: not known yet */
    int64_t coming; /* bytes of messages that receives have asked for and that are not whole yet */
    uintptr_t coming_low, coming_high; /* the memory they go to is within these, since the first of them */
    uint64_t long_end;                 /* clock when the last long message was there */
    /* unexpected messages */
    struct umsg *free_msgs;
    struct umsg_chunk *chunks, *spare;
    uint32_t live_msgs;
    int64_t unexp_bytes, unexp_peak, unexp_limit;
    bool xoff_any;
    uint32_t nrefusals; /* known here */
    /* debugging */
    FILE *trace, *debug;
    bool debug_on, space_on;
    int pkt_size;
    struct core_counts counts;
    struct ku_heap heap; /* of the segment; last, as it is large */
};

extern struct core MPID_core;

#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)

/* needs.c, below */
static inline bool needs_some(uint32_t bits)
{
    return unlikely((MPID_core.needs & bits) != 0);
}

/* devset.c */
int MPID_Devset_open(void);
int MPID_Devset_reach_others(void); /* open what reaches processes of other jobs, if nothing does */
void MPID_Devset_close(void);
/* For joint segments: the device of a node's memory, once more. */
bool MPID_Devset_has_node(void); /* there is one that may be used */
bool MPID_Devset_open_node(struct core_dev *d, const struct dev_world *world,
                           const struct dev_services *services); /* false: it does not open */
void MPID_Devset_poll(struct core_dev *d);                       /* look at it from now on */
void MPID_Devset_poll_no_more(struct core_dev *d);
/* Open each device that is known here, by itself, tell of it and close it (MPID_Devices). */
void MPID_Devset_look(void (*tell)(const struct MPID_Device *d, void *arg), void *arg);
void MPID_Devset_about(const struct core_dev *d, struct MPID_Device *about); /* what follows from its caps */
bool MPID_Dev_listed(const char *list, const char *name); /* in the list, with commas; NULL, "": all are */
struct core_dev *MPID_Dev_best(bool here); /* for ranks of this node, or those elsewhere; NULL: none */
void MPID_Devset_fini(void);
bool MPID_Dev_serves(const struct core_dev *d, int32_t grank); /* it is what talks to that rank, or would */
size_t MPID_Dev_address(void *dev, int32_t grank, void *buf, size_t cap); /* dev_services.address */
void MPID_Dev_active(struct core_dev *d); /* look at it in every MPID_Progress from now on */
void MPID_Dev_take(void);                 /* choose take_from, again */
void MPID_Dev_take_none(void);
struct peer *MPID_Peer_make(int32_t grank, int *error_code); /* NULL: *error_code says why */
/* May its card be on its way, or have come since?  (Of a peer that has connected nobody asks for it any more.) */
bool MPID_Peer_awaits(struct peer *p);
bool MPID_Peer_decide(
    struct peer *p); /* of one that is undecided; true: now its device is known, or it is gone */
/* Of another job: its connections end, and its number may be another process's.  false: something is on its way,
 * ask again. */
bool MPID_Peer_part(int32_t grank);
void MPID_Peer_tune(struct peer *p);   /* what follows from settings and needs, again */
void MPID_Peer_busy(struct peer *p);   /* it has something to send: not fast, polled */
void MPID_Peer_update(struct peer *p); /* set `fast` again */
dev_status MPID_Peer_control(struct peer *p, const struct pkt *k); /* send a control packet */
static inline struct peer *peer_get(int32_t grank, int *error_code)
{
    if (likely(grank >= 0 && grank < MPID_core.peers.n && MPID_core.peers.at[grank] != NULL))
        return MPID_core.peers.at[grank];
    return MPID_Peer_make(grank, error_code);
}
/* Read beside the device lock (send.c): who sees it sees the device that serves the peer. */
static inline void peer_set_fast(struct peer *p, bool fast)
{
    __atomic_store_n(&p->fast, fast, __ATOMIC_RELEASE);
}
static inline bool peer_gone(int32_t grank)
{
    const struct peer *p = MPID_core.peers.at[grank];
    return p != NULL && p->gone;
}

/* fresh.c: receives that were begun without the device lock. */
extern _Atomic(struct context *) MPID_Fresh; /* contexts with such */
void MPID_Fresh_init(struct context *c);
void MPID_Fresh_fini(struct context *c);
/* Of who has just taken the device lock. */
void MPID_Fresh_take(void);
static inline void fresh_take(void)
{
    if (unlikely(atomic_load_explicit(&MPID_Fresh, memory_order_relaxed) != NULL))
        MPID_Fresh_take();
}
/* With the device lock, once the bias is in force: whoever is about to begin one has ended or will see that.
 * False: some have begun. */
bool MPID_Fresh_end(void);
/* recv.c: fill in a request; begin it. */
void MPID_Recv_prepare(struct MPIR_HANDLE *r, struct MPIR_COMMUNICATOR *comm, void *buf, int64_t len,
                       int source, int tag, uint32_t context_id);
int MPID_Recv_start(struct MPIR_HANDLE *r); /* its error stays in it, too */
/* devshow.c: KEEL_SHOW_DEVICES */
void MPID_Devset_passed(const char *name, const char *why, ...)
    __attribute__((format(printf, 2, 3))); /* it is not used; kept until it is shown */
/* The rank is served by another device than those of its kind are. */
void MPID_Devset_show_other(int32_t grank, const struct core_dev *d, const struct core_dev *usual);
void MPID_Devset_show(void); /* rank 0 says which are used, and which were passed over */

/* plugin.c */
/* Load those of the folder and of KEEL_PLUGINS and `open` each, in this order; 0 or an error.  may_be_wanted:
 * whether one that the user has not asked for may be of use. */
/* Of a plug-in that is not loaded (plugin.c). */
struct plugin_about {
    char name[64];
    uint32_t reach; /* as dev_ops.reach; 0: not known */
    bool has_card;  /* a network card that it is for is in this host */
};
int MPID_Plugins_open(void (*open)(const struct dev_ops *ops),
                      bool (*wanted)(const struct plugin_about *about), bool may_be_wanted);
/* Load each and tell of it; ops NULL: it cannot be used, and ku_err_last() says why. */
void MPID_Plugins_look(void (*tell)(const char *path, const struct dev_ops *ops));
void MPID_Plugins_know(void); /* make their variables known, without opening anything */

/* context.c */
struct context *MPID_Context_find(uint32_t id); /* NULL: unknown */
struct context *MPID_Context_get(uint32_t id);  /* made if unknown; NULL without memory */
struct context *MPID_Context_late(struct MPIR_COMMUNICATOR *comm, uint32_t which); /* the same, of comm */
void MPID_Contexts_each(void (*fn)(struct context *c, void *arg), void *arg);
int MPID_Contexts_init(void);
void MPID_Contexts_fini(void);
static inline struct context *context_of(struct MPIR_COMMUNICATOR *comm, uint32_t id)
{
    if (comm != NULL && comm->adi != NULL && id - comm->context_id < MPID_CONTEXT_IDS) {
        struct context *c = ((const struct comm_adi *)comm->adi)->context[id - comm->context_id];
        return likely(c != NULL) ? c : MPID_Context_late(comm, id - comm->context_id);
    }
    if (likely(MPID_core.last != NULL && MPID_core.last->id == id))
        return MPID_core.last;
    return MPID_Context_get(id);
}
/* The same, if it is known already; else NULL. */
static inline struct context *context_known(const struct MPIR_COMMUNICATOR *comm, uint32_t id)
{
    if (likely(comm != NULL && comm->adi != NULL && id - comm->context_id < MPID_CONTEXT_IDS))
        return ((const struct comm_adi *)comm->adi)->context[id - comm->context_id];
    return MPID_core.last != NULL && MPID_core.last->id == id ? MPID_core.last : NULL;
}
/* Global rank of a local rank in a receive; -1 if it cannot be told. */
static inline int32_t grank_of(const struct MPIR_COMMUNICATOR *comm, int32_t lrank)
{
    if (comm == NULL || comm->lrank_to_grank == NULL)
        return lrank >= 0 && lrank < MPID_core.peers.n ? lrank : -1;
    return lrank >= 0 && lrank < comm->remote_size ? comm->lrank_to_grank[lrank] : -1;
}

/* note.c: what the sender of a message tells the receiver's listeners. */
void MPID_Notes_fini(void);
void MPID_Note_begin(struct MPIR_HANDLE *r,
                     const struct MPID_Transfer *t); /* is there one?  Then REQ_NOTED */
void MPID_Note_end(const struct MPIR_HANDLE *r);     /* it does not go any more */
dev_status MPID_Note_send(struct peer *p,
                          struct MPIR_HANDLE *r); /* DEV_AGAIN: it has not gone; else no REQ_NOTED */
void MPID_Note_self(struct MPIR_HANDLE *r);       /* to this process */
void MPID_Note_in(const struct dev_head *h, const void *body);
void MPID_Note_alone_in(const struct dev_head *h, const void *body); /* of no message */
void MPID_Tell_noted(const struct MPID_Noted *noted);
void MPID_Note_keep(const struct umsg *m,
                    uint32_t context); /* of a message that has just come, and is kept */
const struct MPID_Note *MPID_Note_beside(const struct umsg *m); /* that of a kept message; NULL: none */
/* That of a message that meets its receive; `m` NULL: it has just come. */
bool MPID_Note_take(uint32_t context, int32_t source, int32_t tag, const struct umsg *m,
                    struct MPID_Note *note);

/* counts.c: a message came before its receive */
static inline void count_unexpected(const struct umsg *m, uint32_t context_id)
{
    MPID_core.counts.unexpected++;
    if (needs_some(MPID_NEEDS_OBSERVERS))
        MPID_Note_keep(m, context_id);
    ku_event_tell(&MPID_events[EVENT_UNEXPECTED],
                  (const int64_t[]){ m->source, m->tag, (int32_t)context_id, m->len });
}

/* umsg.c */
struct umsg *MPID_Umsg_make(int64_t heap); /* `heap` bytes of payload outside it; NULL without memory */
void MPID_Umsg_free(struct umsg *m);
int MPID_Umsg_init(void);
void MPID_Umsg_fini(void);
/* After an arrival from the peer (-1: not known): too much?  Tell it. */
void MPID_Umsg_pressure(const struct context *c, int32_t peer, int32_t source);

/* core_request.c */
int64_t MPID_Req_capacity(const struct MPIR_HANDLE *r);
void MPID_Req_typed(
    struct MPIR_HANDLE *r); /* begin: contiguous types are bytes; others are referenced if need be */
void MPID_Req_complete_slow(struct MPIR_HANDLE *r);
void MPID_Req_fail(struct MPIR_HANDLE *r, int error);
int MPID_Err_gone(int32_t grank); /* records the words; returns the class */
/* The next value of is_complete: odd, so never 0; so MPI_Waitany can take the request that completed first. */
static inline int32_t req_stamp(void)
{
    return (int32_t)((MPID_core.completions += 2) | 1);
}
static inline void req_complete(struct MPIR_HANDLE *r)
{
    if (unlikely(r->state & (REQ_HOLDS | REQ_FREED | REQ_WATCHED | REQ_TOLD))) {
        MPID_Req_complete_slow(r);
        return;
    }
    r->state = REQ_DONE;
    atomic_store_explicit(&r->is_complete, req_stamp(), memory_order_release);
}
static inline bool req_is_complete(const struct MPIR_HANDLE *r)
{
    return atomic_load_explicit(&r->is_complete, memory_order_acquire) != 0;
}
static inline int64_t req_bytes(const struct MPIR_HANDLE *r)
{
    return r->datatype == NULL ? r->len : MPID_Req_capacity(r);
}
static inline void req_state(struct MPIR_HANDLE *r, enum req_state s)
{
    r->state = (r->state & ~(uint32_t)REQ_STATE) | s;
}
/* A field of a description that has just been filled in: by itself, as it was stored.  Compilers load several at
 * once, and a processor does not forward several stores to one load. */
#define OP_FIELD(op, field) (*(const volatile __typeof__((op)->field) *)&(op)->field)
/* May it go as bytes, and how many are they? */
static inline bool op_as_bytes(const struct MPID_Operation *op, int64_t *len)
{
    *len = op->len;
    if (op->datatype == NULL)
        return true;
    *len *= op->datatype->as_bytes ? op->datatype->size : 1;
    return op->datatype->as_bytes;
}
enum {
    COPY_LARGE = 4096 /* bytes: from here on copies are worth the call of another function than memcpy */
};
/* Bytes [offset, offset + n) of the message, from or to the user's buffer. */
static inline void req_read(const struct MPIR_HANDLE *r, int64_t offset, void *dst, int64_t n)
{
    if (r->datatype != NULL)
        MPID_Layout_pack(r->datatype, r->buf, r->len, offset, dst, n);
    else if (n >= COPY_LARGE)
        ku_copy_out(dst, (const char *)r->buf + offset, (size_t)n);
    else if (n > 0) /* no data may stand at NULL, which is nothing for memcpy */
        memcpy(dst, (const char *)r->buf + offset, (size_t)n);
}
static inline void req_write(struct MPIR_HANDLE *r, int64_t offset, const void *src, int64_t n)
{
    if (r->datatype == NULL && n == 8) /* no call for the most common word */
        memcpy((char *)r->buf + offset, src, 8);
    else if (r->datatype == NULL)
        memcpy((char *)r->buf + offset, src, (size_t)n);
    else
        MPID_Layout_unpack(r->datatype, r->buf, r->len, offset, src, n);
}
/* req_write out of a device's room, which may be written again soon: see dev_services.deliver. */
static inline void req_take(struct MPIR_HANDLE *r, int64_t offset, const void *body, int64_t n)
{
    if (n <= PKT_SHORT_MAX || (n <= COPY_LARGE && r->datatype != NULL)) {
        req_write(r, offset, body, n);
    } else if (n <= COPY_LARGE) {
        ku_copy_in((char *)r->buf + offset, body, (size_t)n);
    } else if (r->datatype == NULL) {
        ku_copy_in_own((char *)r->buf + offset, (void *)(uintptr_t)body, (size_t)n);
    } else {
        req_write(r, offset, body, n);
        ku_copy_own((void *)(uintptr_t)body, (size_t)n);
    }
}
/* The same into memory of the core. */
static inline void req_keep(void *to, const void *body, size_t n)
{
    if (likely(n <= COPY_LARGE))
        memcpy(to, body, n);
    else
        ku_copy_in_own(to, (void *)(uintptr_t)body, n);
}

/* refuse.c: what has been refused for messages of that context with that tag; NULL: nothing */
const struct MPID_Refusal *MPID_Refused_in(struct context *c, int32_t tag);
static inline const struct MPID_Refusal *refused_in(struct context *c, int32_t tag)
{
    return likely((MPID_core.doubts & DOUBT_REFUSED) == 0) ? NULL : MPID_Refused_in(c, tag);
}
bool MPID_Refused_by(struct context *c, int32_t tag, int32_t grank); /* by that member */
int MPID_Err_refused(const struct MPID_Refusal *r); /* records the words; returns the class */
void MPID_Refused_packet(const struct dev_head *h, const void *body, size_t len);
/* The sender of a message that waits for this process gets the error. */
void MPID_Refused_answer(const struct context *c, int32_t tag, int32_t peer, struct pkt_op sender);
bool MPID_Refused_some(const struct context *c); /* is something refused there? */
void MPID_Refusals_free(struct context *c);
void MPID_Revoked_repair(void); /* somebody is lost: others are told instead of him */

/* zero_copy.c: bodies that a device receives straight into the buffer of the receive (device.h). */
uint64_t MPID_Place(void *arg, int32_t grank, const struct dev_head *h, size_t len);
void *MPID_Place_at(void *arg, uint64_t ticket);
void *MPID_Lend(void *arg, int32_t grank, const struct dev_head *h, size_t len, void **cookie);
void MPID_Placed(void *arg, uint64_t ticket);

/* send.c: begin the message of a send request; what is true after it: done, failed, or somewhere else than here. */
enum send_result { SEND_BEGUN, SEND_AGAIN };
enum send_result MPID_Send_first(struct peer *p, struct MPIR_HANDLE *r);

void MPID_Self_copy(struct MPIR_HANDLE *s,
                    struct MPIR_HANDLE *r); /* both ends are here: copy, complete both */

/* recv.c */
void MPID_Recv_umsg(struct MPIR_HANDLE *r,
                    struct umsg *m); /* a receive gets an unexpected message, which is freed */
static inline void recv_finish(struct MPIR_HANDLE *r, int32_t source, int32_t tag, int64_t total,
                               int64_t capacity)
{
    r->s.MPI_SOURCE = source;
    r->s.MPI_TAG = tag;
    r->s.count = total;
    r->moved = total;
    if (unlikely(total > capacity)) {
        r->s.count = capacity;
        r->errval = r->s.MPI_ERROR = MPI_ERR_TRUNCATE;
        MPID_Request_errors++;
    }
    req_complete(r);
}

/* rndv.c */
struct rndv *MPID_Rndv_send(struct peer *p, struct MPIR_HANDLE *r); /* NULL without memory */
dev_status MPID_Rndv_rts(struct peer *p, struct MPIR_HANDLE *r);
/* What an RTS says besides its head. */
struct rts_in {
    struct pkt_rts rts;
    const void *payload; /* PKT_INLINE_MAX bytes */
    const void *key;     /* of a device, to the message */
    size_t key_bytes;    /* 0: none */
};
/* `at_once`: RTS comes in just now, and START may be behind it. */
void MPID_Rndv_recv(struct MPIR_HANDLE *r, int32_t peer, int32_t source, int32_t tag, const struct rts_in *in,
                    bool at_once);
/* The beginning of a message whose RTS was the packet before. */
void MPID_Rndv_start(int32_t peer, const struct dev_head *h, const void *body, size_t len);
void MPID_Rndv_cts(const struct pkt_cts *cts);
void MPID_Rndv_data(const struct dev_head *h, const void *body, size_t len);
void MPID_Rndv_received(struct rndv *v);                /* all of it: the receive is done */
void MPID_Rndv_sent(struct rndv *v, dev_status status); /* or received, got, put, by the device */
void MPID_Rndv_peer_lost(struct peer *p);               /* fail all operations with this peer */
bool MPID_Rndv_has(const struct peer *p);               /* is there one? */
void MPID_Rndv_cancel(struct MPIR_HANDLE *r);           /* ask the receiver to give the RTS back */
void MPID_Rndv_cancel_in(int32_t peer, const struct dev_head *h, const struct pkt_cancel *c);
void MPID_Rndv_cancel_ack(const struct pkt_cancel *c);
void MPID_Rndv_free(struct rndv *v);
struct rndv *MPID_Rndv_find(struct pkt_op op); /* NULL: it is gone */
struct rndv *MPID_Rndv_make(struct peer *p, struct MPIR_HANDLE *r,
                            enum rndv_state state); /* NULL: no memory */
void MPID_Rndv_shared(struct rndv *v);              /* sender: send SHARED */
bool MPID_Rndv_claimed(struct rndv *v); /* sender: SHARE has come; false: it is not for one that waits */
void MPID_Rndv_ask(struct rndv *v);     /* receiver: send CTS */
void MPID_Rndv_stream(struct rndv *v);  /* its payload goes, or is fetched, behind that of those before it */
void MPID_Rndv_answer(struct peer *p, struct pkt_op sender, int error); /* a CTS with nothing to follow */
void MPID_Rndv_control(struct peer *p, const struct pkt *k); /* a packet that belongs to no operation */
void MPID_Rndv_cts_key(struct rndv *v);                      /* receiver: send CTS_KEY */

/* pull.c */
void MPID_Pull_begin(struct rndv *v, uint64_t address); /* receiver: in which way?  Begin */
int MPID_Pull_drive(void);
void MPID_Pull_ended(struct rndv *v);  /* all is there: what has that cost? */
void MPID_Pull_forget(struct rndv *v); /* it ends, however */
void MPID_Pull_share(const struct pkt_share *share);
void MPID_Pull_shared(const struct dev_head *h);
void MPID_Pull_stop(struct rndv *v); /* sender: the receiver has answered */
void MPID_Pull_peer_lost(const struct peer *p);

/* fetch.c */
bool MPID_Fetch_offer(struct rndv *v);     /* sender: may the receiver get it?  Then RTS_KEY says how */
dev_status MPID_Fetch_rts(struct rndv *v); /* send that */
void MPID_Fetch_answered(struct rndv *v, bool fetched);
void MPID_Fetch_open(struct rndv *v, const struct rts_in *in); /* receiver: set v->remote, if it can be got */
void MPID_Fetch_begin(struct rndv *v);
bool MPID_Fetch_take(
    struct rndv *v); /* receiver: let the sender's device put it; false: it cannot be reached */
dev_status MPID_Fetch_cts(struct rndv *v);
void MPID_Fetch_taken(struct rndv *v, bool failed);
void MPID_Fetch_put(const struct pkt_cts *cts, const void *key,
                    size_t key_bytes);      /* sender: CTS_KEY has come */
dev_status MPID_Fetch_part(struct rndv *v); /* of one in the peer's stream list: begin one get more */
void MPID_Fetch_over(struct rndv *v);  /* all that were begun have ended; v is gone, or comes in packets */
void MPID_Fetch_close(struct rndv *v); /* its memory is nobody's any more */
void MPID_Fetch_close_all(void);       /* the devices close */

/* mem.c */
void MPID_Mem_init(void);
void MPID_Mem_close_all(void); /* devices let go of the memory that nobody has unregistered */
void MPID_Mem_fini(void);
int MPID_Mem_drive(struct peer *p, dev_status *s);
void MPID_Mem_sent(struct memop *v, dev_status status);
void MPID_Mem_peer_lost(int32_t grank);
/* mempkt.c */
void MPID_Mem_packet(int32_t peer, const struct dev_head *h, const void *body, size_t len);

int MPID_Peer_drive(struct peer *p); /* send what waits; number of packets sent */

/* deliver.c */
void MPID_Deliver(void *arg, int32_t peer, const struct dev_head *h, const void *body, size_t len);
void MPID_Sent(void *arg, void *cookie, dev_status status);
void MPID_Sync(void); /* a barrier of all living ranks */
bool MPID_Sync_over(void);
bool MPID_Peer_has_work(const struct peer *p); /* is something queued for it, and it is not gone? */
bool MPID_Peers_busy(void);                    /* for some */

/* progress.c */
int MPID_Progress(void);
/* After a poll that found nothing; the events it met before sleeping.  `r` is what the caller waits for, if that is one
 * request; for reports only. */
int MPID_Wait_step(struct ku_wait *w, struct MPIR_HANDLE *r);
/* Of the helper (helper.c).  With the lock, while no thread sleeps: a look at the devices, as the last before a
 * sleep; the events met.  0:
 * it may sleep, without the lock, until something comes. */
int MPID_Helper_look(struct sources *s);
void MPID_Helper_sleep(const struct sources *s, int most_ms);
/* ku_wait_step, and other threads may go on meanwhile. */
enum ku_wait_step MPID_Wait_climb(struct ku_wait *w);
void MPID_Wait_request(struct MPIR_HANDLE *r);
void MPID_Peer_gone(int32_t grank);
bool MPID_Recv_hopeless(const struct MPIR_COMMUNICATOR *comm, int32_t source, int *error_code);
/* The same of a receive that has begun: those that may pend (MPID_Recv_pending) do so instead. */
bool MPID_Recv_fails(const struct MPIR_HANDLE *r, int *error_code);

/* failed.c: which processes of a communicator are lost; comm NULL: of the job. */
struct comm_failures *MPID_Comm_failures(const struct MPIR_COMMUNICATOR *comm); /* NULL: it keeps none */
bool MPID_Comm_lost_some(const struct MPIR_COMMUNICATOR *comm);                 /* of the local group */
/* One of the other members, of an intercommunicator of the remote group, if there are any and all of them are
 * lost; else -1. */
int32_t MPID_Comm_lost_all(const struct MPIR_COMMUNICATOR *comm);
/* A lost member that messages may come from, if there are more than the program has said that it knows of; else -1. */
int32_t MPID_Comm_lost_unknown(const struct MPIR_COMMUNICATOR *comm);
/* Without a look at the members: is there nothing new, and was there nobody? */
static inline bool comm_whole(const struct comm_failures *f)
{
    return f->looked == MPID_core.peers.losses && !f->some;
}

/* wait_report.c: answer the launcher's question what is waited for. */
void MPID_Report(struct MPIR_HANDLE *waited, bool polls);
/* Within MPID_Report: one more thread, and what it waits for: a request, a team, a probe, several requests, or it
 * is not known. */
struct core_waits {
    struct MPIR_HANDLE *request;
    const struct team *team;
    const struct core_probe *probe;
    const struct MPID_Waited *waited;
};
void MPID_Report_thread(const char *name, uint64_t caller, const struct core_waits *what);
void MPID_Report_still(void); /* this process sleeps in vain for long: do all here? */
static inline bool report_wanted(void)
{
    return atomic_load_explicit(&MPID_core.job.segment.head->asked, memory_order_relaxed) !=
           MPID_core.answered;
}

/* needs.c.  What is needed is looked at where a way is chosen for long: peer.fast, lanes, take_from.  Elsewhere
 * only where a message takes a long way anyway. */
int MPID_Needs_read(void);    /* KEEL_NEEDS */
void MPID_Peers_retune(void); /* after a change of needs or threshold */
void MPID_Lanes_tune(void);   /* after a change of needs, of the table of peers, or of the bias (thread.h) */
/* May messages go ways on which nobody is told, no datatype is kept, and no send waits? */
static inline bool needs_nothing(void)
{
    return (MPID_core.needs & (MPID_NEEDS_TYPES | MPID_NEEDS_OBSERVERS | MPID_NEEDS_STRICT)) == 0;
}

/* listen.c: what the core tells listeners (mpid_listen.h).  Ways that are open only where nothing is needed tell
 * nothing. */
int MPID_Listeners_open(void); /* KEEL_LISTENERS; an error class */
void MPID_Listeners_close(void);
void MPID_Tell_packet(char direction, int32_t peer, const struct dev_head *h, size_t len);
/* A packet passes to ('>') or from ('<') a peer (-1: not known). */
static inline void tell_packet(char direction, int32_t peer, const struct dev_head *h, size_t len)
{
    if (needs_some(MPID_NEEDS_OBSERVERS))
        MPID_Tell_packet(direction, peer, h, len);
}
/* A message of so many bytes has met its receive; `kept`: it was this one, NULL: it has just come. */
void MPID_Tell_matched(const struct MPIR_HANDLE *receive, int32_t source, int32_t tag, int64_t bytes,
                       const struct umsg *kept);
static inline void tell_matched(const struct MPIR_HANDLE *receive, int32_t source, int32_t tag, int64_t bytes,
                                const struct umsg *kept)
{
    if (needs_some(MPID_NEEDS_OBSERVERS))
        MPID_Tell_matched(receive, source, tag, bytes, kept);
}
/* A message or a receive begins; told of its end as well (REQ_TOLD). */
void MPID_Tell_begun(struct MPIR_HANDLE *r);
static inline void tell_begun(struct MPIR_HANDLE *r)
{
    if (needs_some(MPID_NEEDS_OBSERVERS))
        MPID_Tell_begun(r);
}
void MPID_Tell_completed(const struct MPIR_HANDLE *r);
void MPID_Tell_wait(const struct MPIR_HANDLE *r); /* nothing has come for what is waited for */

/* debug.c */
void MPID_Debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void MPID_Broken(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline struct pkt_op rndv_op(const struct rndv *v)
{
    return (struct pkt_op){ .index = v->obj.index, .gen = v->obj.gen };
}

static inline void *rndv_cookie(struct rndv *v)
{
    return (char *)v + 1; /* the low bit tells an operation from a request */
}

#endif
