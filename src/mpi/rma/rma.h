/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.h: what the files of this folder share: how a window looks from inside.
 *
 * A target is reached in one of two ways, chosen when the window is made.  Where its memory is mapped here (it is
 * this process's own, or a part of the node's block) the origin loads and stores.  Else the device puts and gets
 * where it can (device.c), and the origin sends messages in the window's context (rma_remote.c), which the target
 * executes (rma_serve.c).  Load and store, and what is executed, move and update the bytes by the same functions
 * (access.c, update.c). */
#ifndef RMA_H
#define RMA_H

#include <stdatomic.h>
#include "drive.h"
#include "mpi_err.h"
#include "info.h"
#include "op.h"
#include "p2p.h"
#include "win.h"

/* ---- In the node's control block ---------------------------------------------------------------------------- */

enum { RMA_STRIPES = 16, RMA_KEY = 440 };

/* One member of the window on this node. */
struct rma_slot {
    _Alignas(64) _Atomic uint32_t lock; /* of its part (rma_lock.c) */
    _Atomic uint32_t wants;             /* it waits for that lock on behalf of a process of another node */
    int32_t rank;                       /* in the window */
    _Atomic uint32_t left;              /* it uses the blocks no more, or is lost */
    int64_t size, unit;
    uint64_t at; /* where its part begins in the node's block of memory */
    _Alignas(64) _Atomic uint32_t
        stripe[RMA_STRIPES]; /* locks of elements that the processor cannot update as one (update.c) */
    _Alignas(64) _Atomic uint32_t gate; /* somebody updates many elements of its part at once (update.c) */
    uint32_t key_len;                   /* of its memory (MPID_Mem_key), where others copy to and from it */
    unsigned char key[RMA_KEY];
    _Alignas(64) _Atomic uint32_t busy; /* it updates a few elements, of whatever part */
};

struct rma_node {
    _Alignas(64) _Atomic uint32_t all; /* who has all parts, against who has one alone (rma_lock.c) */
    uint32_t members;
    uint64_t memory; /* the block with the parts; 0: none */
    _Atomic uint32_t users;
    struct rma_slot slot[]; /* [members], by rank */
};

/* ---- In each process ----------------------------------------------------------------------------------------- */

/* How a target is accessed now.  Bits. */
enum rma_access {
    RMA_SHARED = 1,
    RMA_ALONE = 2,     /* locked: exclusively */
    RMA_UNCHECKED = 4, /* with MPI_MODE_NOCHECK: nobody was asked */
    RMA_BY_ALL = 8,    /* as part of MPI_Win_lock_all, elsewhere */
    RMA_STARTED = 16   /* MPI_Win_start */
};

struct rma_target {
    struct rma_target *next; /* of those elsewhere, and in their bucket */
    int32_t rank;
    uint32_t access;
    char *base; /* where this process loads and stores, if direct */
    int64_t size, unit;
    struct rma_slot *slot; /* NULL: on another node */
    bool direct;           /* else by messages */
    bool dynamic, dirty;   /* dirty: something was sent that the target may not have done */
    bool refused;          /* an answer was short: the target knows why */
    bool listed;           /* in the window's list of targets by message */
    /* By the device (device.c). */
    enum rma_key_state { RMA_KEY_UNKNOWN, RMA_KEY_ASKED, RMA_KEY_KNOWN } key;
    struct rma_asked *asked_key;
    MPID_Remote remote;                    /* NULL: there is none, or it is not known yet */
    struct MPID_COMPLETION moves, updates; /* under way; updates: of moves, those that are updates */
    bool sized;                            /* size and unit are known */
    bool moved;                            /* something was put, and not flushed */
    bool updated;                          /* updates were sent by message, and not flushed */
    int64_t base_low;                      /* of its address there */
    struct rma_target *touched;
    struct rma_types *types; /* datatypes that it has been told */
    int32_t asked;           /* flushes of its whose answers are awaited */
    bool locking;            /* a thread waits for its lock */
    struct rma_batch *batch; /* short messages that are not sent yet; NULL: none */
    struct MPIR_Near near;   /* its rank is nobody's where front ends may not access it */
};

enum rma_epoch { RMA_NONE, RMA_FENCE, RMA_START, RMA_LOCK, RMA_LOCK_ALL };

/* A request of the user's (an R form): complete when `message` is, or when it is told (MPIR_Rma_User_over). */
struct rma_user {
    struct MPIR_Closure closure;
    MPIR_Request *message;   /* NULL: it is told */
    struct rma_user **owner; /* who tells; NULL: it is over, with err */
    int err;
};

/* A message under way, or an answer that is awaited, of an origin. */
struct rma_out {
    MPIR_Request request;
    struct rma_out *next;
    struct rma_target *target;
    int32_t rank, users; /* users: threads that wait for it */
    bool is_recv;
    int64_t expects;       /* bytes that come, unless the target refuses */
    bool told;             /* its error */
    void *memory;          /* freed with it */
    struct rma_user *user; /* NULL: there is none, or it is gone */
};

struct rma_region { /* attached */
    char *base;
    int64_t size;
};

enum { RMA_RING = 8, RMA_INLINE = 2048, RMA_BUCKETS = 64 };

struct rma {
    struct MPIR_Driven driven;
    MPIR_Win *win;
    struct rma_node *node; /* mapped; `block` is its name */
    uint64_t block, memory;
    struct MPID_JOINT
        *joint; /* where both are: all members are here, some are of other jobs; NULL: in this job's memory */
    char *mapped;               /* the node's memory */
    MPID_Memory exposed;        /* this process's own, for the devices of others; or NULL */
    struct rma_target *on_node; /* [members], by rank */
    int32_t members;
    struct rma_target *own;
    struct rma_target *last;                   /* the latest one that was looked up */
    struct rma_target *elsewhere[RMA_BUCKETS]; /* made when first used, a hash of the rank */
    struct rma_target *touched;                /* those that something was sent to */
    /* Synchronization. */
    enum rma_epoch epoch;
    bool fence_used; /* something was done since the latest fence */
    uint32_t fences;
    int32_t locks;    /* targets that are locked one by one */
    bool all_checked; /* MPI_Win_lock_all without MPI_MODE_NOCHECK */
    MPIR_Group *started, *posted;
    MPIR_Request *done; /* [posted->size] what MPI_Win_wait waits for */
    /* Origin. */
    struct rma_out *out;
    uint32_t nout, tags;
    uint32_t flushes;
    struct rma_batch *spare; /* NULL: none */
    int late;                /* error of one that is over, to be told at the next completion */
    /* Target. */
    bool served, queued; /* by messages at all; among those that are driven */
    bool helped;         /* while the program computes, too */
    bool checks;         /* conflicts are looked for (check.c) */
    bool elementwise;    /* devices update elements by themselves: nobody updates many at once (update.c) */
    struct rma_check *check;
    struct rma_serve *serve;
    /* Dynamic windows. */
    struct rma_region *region;
    int32_t regions, room;
    /* Info. */
    bool no_locks, same_size, same_unit, noncontig, same_op;
    char *ordering, *kinds;
    int64_t granularity;
};

/* An operation, as both sides see it. */
struct rma_side {
    void *at;
    int64_t count;
    MPIR_Datatype *type;
};

/* make.c */
struct rma_target *MPIR_Rma_target(MPIR_Win *win, int32_t rank); /* NULL without memory (recorded) */

/* sync.c: complete all that this process has begun. */
int MPIR_Rma_Flush_all(MPIR_Win *win);
int MPIR_Rma_Flush(MPIR_Win *win, struct rma_target *t);
/* Until the origin's buffers can be used again: of one target, or all (NULL). */
int MPIR_Rma_Flush_local(MPIR_Win *win, struct rma_target *t);

/* rma_lock.c: the words.  Each returns an error class. */
int MPIR_Rma_Lock_one(struct rma *r, struct rma_slot *s, bool alone);
bool MPIR_Rma_Lock_try(struct rma *r, struct rma_slot *s, bool alone);
void MPIR_Rma_Unlock_one(struct rma *r, struct rma_slot *s, bool alone);
int MPIR_Rma_Lock_all_words(struct rma *r);
void MPIR_Rma_Unlock_all_words(struct rma *r);
void MPIR_Rma_Stripe_lock(struct rma *r, _Atomic uint32_t *stripe);
void MPIR_Rma_Stripe_unlock(_Atomic uint32_t *stripe);
void MPIR_Rma_Stripe_wait(struct rma *r, _Atomic uint32_t *word);          /* until it is 0 */
int MPIR_Rma_Wait_for(struct rma *r, _Atomic uint32_t *word, uint32_t is); /* an error if a member is lost */

/* update.c */
enum { RMA_WIDTH_MAX = 64 };
/* What an accumulate does to each element. */
struct rma_update {
    const MPIR_Op *op;
    MPIR_Datatype *basic; /* predefined, of the elements */
    int32_t code;         /* op's value in the ABI */
    bool alone;           /* nobody else can access the target now */
};
/* Can it be done?  Returns an error class (recorded). */
int MPIR_Rma_Update_of(struct rma_update *u, const MPIR_Op *op, uint32_t basic);
/* Elements of the target's layout, in the order of the packed form, with those of `in` (packed; not read by
 * MPI_NO_OP); old values go to `old` (packed) unless it is NULL. */
void MPIR_Rma_Update(struct rma *r, struct rma_slot *s, const struct rma_update *u, char *target,
                     const struct MPIR_DATATYPE *layout, int64_t count, const void *in, void *old);
/* Compare and swap; sizes up to RMA_WIDTH_MAX. */
void MPIR_Rma_Swap(struct rma *r, struct rma_slot *s, char *target, int64_t size, const void *operand,
                   const void *compare, void *old);
int MPIR_Rma_Swap_check(const MPIR_Datatype *type);

/* dynamic.c: is [at, at + n) attached? */
bool MPIR_Rma_Attached(const struct rma *r, const char *at, int64_t n);

/* access.c: where element 0 is (behind t->base, which may be NULL); false: the range leaves the target's part
 * (recorded). */
bool MPIR_Rma_Place(struct rma *r, const struct rma_target *t, int64_t disp,
                    const struct MPIR_DATATYPE *layout, int64_t count, char **place);
/* The bytes of a layout that `count` elements touch: from *first, relative to element 0, to *end. False: beyond 63
 * bits. */
bool MPIR_Rma_Span(const struct MPIR_DATATYPE *layout, int64_t count, int64_t *first, int64_t *end);

/* rma_remote.c: origin's half.  `user` (may be NULL): an R form's request to be made. */
int MPIR_Rma_Remote_put(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *from,
                        const struct rma_side *to, MPIR_Request **user);
int MPIR_Rma_Remote_get(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *into,
                        const struct rma_side *from, MPIR_Request **user);
int MPIR_Rma_Remote_update(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *from,
                           const struct rma_side *old, const struct rma_side *to, const struct rma_update *u,
                           MPIR_Request **user);
int MPIR_Rma_Remote_swap(MPIR_Win *win, struct rma_target *t, int64_t disp, const void *operand,
                         const void *compare, void *old, MPIR_Datatype *type);
int MPIR_Rma_Remote_lock(MPIR_Win *win, struct rma_target *t, uint32_t access);
/* Ask for the answer to all that was sent to it, to be awaited with others; then wait for all of *acks. */
struct rma_ack;
int MPIR_Rma_Remote_ask(MPIR_Win *win, struct rma_target *t, bool unlock, struct rma_ack **acks);
int MPIR_Rma_Remote_answers(struct rma_ack **acks);
/* Until origin's buffers can be used again: of one target, of all (rank -1). */
int MPIR_Rma_Out_wait(MPIR_Win *win, int32_t rank);
void MPIR_Rma_Remote_free(const MPIR_Win *win,
                          struct rma_target *t); /* what is kept for a target by message */

/* A request for *owner's user (NULL: that is over, with err); an error class. */
int MPIR_Rma_User_make(MPIR_Win *win, MPIR_Request *message, struct rma_user **owner, int err,
                       MPIR_Request **request);
void MPIR_Rma_User_over(struct rma_user *user, int err);  /* NULL allowed */
void MPIR_Rma_Touch(MPIR_Win *win, struct rma_target *t); /* something was begun at it */
void MPIR_Rma_Remote_ask_key(MPIR_Win *win, struct rma_target *t, int tag);

/* device.c: by the device.  What a target says of its memory to one of another node that asks: */
struct rma_key {
    int64_t size, unit, base_low, len; /* len: of its key */
    unsigned char bytes[MPID_KEY_MAX];
};
int64_t MPIR_Rma_Device_key(const struct rma *r, struct rma_key *says); /* the bytes of it that matter */
int MPIR_Rma_Device_meet(MPIR_Win *win,
                         struct rma_target *t); /* ask one elsewhere, and wait for its answer */
/* May the device put or get this? */
bool MPIR_Rma_Device(MPIR_Win *win, struct rma_target *t, const struct rma_side *there, bool put);
int MPIR_Rma_Device_move(MPIR_Win *win, struct rma_target *t, MPI_Aint disp, const struct rma_side *here,
                         const struct rma_side *there, bool put, MPIR_Request **user);
/* May it do updates of this element? */
bool MPIR_Rma_Device_updates(MPIR_Win *win, struct rma_target *t, int64_t disp, const struct rma_side *there);
int MPIR_Rma_Device_atomic(int32_t code); /* enum keel_atomic_op of an operation of MPI; -1: there is none */
/* compare: of KEEL_ATOMIC_COMPARE_SWAP.  old: contiguous; NULL: nobody wants it. */
int MPIR_Rma_Device_update(MPIR_Win *win, struct rma_target *t, int64_t disp, enum keel_atomic_op op,
                           int64_t size, const void *in, const void *compare, void *old, MPIR_Request **user);
int MPIR_Rma_Device_updated(struct rma_target *t); /* until no update is under way */
int MPIR_Rma_Device_flush(struct rma_target *t);   /* begin to complete what was begun; */
int MPIR_Rma_Device_wait(struct rma_target *t);    /* until nothing is under way */
void MPIR_Rma_Device_close(const MPIR_Win *win, struct rma_target *t);

/* rma_serve.c: target's half. */
int MPIR_Rma_Serve_begin(MPIR_Win *win);
void MPIR_Rma_Serve_end(MPIR_Win *win);

/* What travels before the bytes. */
enum rma_kind {
    RMA_PUT,
    RMA_GET,
    RMA_ACCUMULATE,
    RMA_GET_ACCUMULATE,
    RMA_COMPARE_SWAP,
    RMA_LOCK_MSG,
    RMA_FLUSH_MSG,
    RMA_TYPE,
    RMA_KEY_MSG
};
struct rma_msg {
    uint8_t kind, alone, unlock, apart; /* apart: the bytes come in a message of their own, with the tag */
    int32_t op;                         /* of RMA_FLUSH_MSG: 1 in an epoch of passive targets */
    uint32_t tag;                       /* of what comes apart, and of what is answered */
    uint32_t basic;                     /* of the elements; 0: mixed */
    int32_t
        type; /* number that the origin has given to its layout; -1: count elements of `basic`, or bytes */
    uint32_t fences;            /* that the origin has left (check.c) */
    int64_t disp, count, bytes; /* bytes: of data, packed */
};
/* Messages follow one another in one of the core's; their data are filled up to a multiple of 16. */
enum { RMA_BATCH = sizeof(struct rma_msg) + RMA_INLINE };
static inline int64_t RMA_length(const struct rma_msg *m)
{
    return (int64_t)sizeof *m + (m->apart ? 0 : (m->bytes + 15) & ~(int64_t)15);
}
struct rma_answer {
    int32_t error; /* class, of the first operation that was refused */
    int32_t kind;  /* of what */
    int64_t disp, size, unit;
    /* MPI_ERR_RMA_CONFLICT: with what, and which bytes. */
    int32_t other, other_kind;
    int64_t first, end;
};

/* check.c */
bool MPIR_Rma_Check_wanted(void);
/* The target meets an access by source; false: it conflicts with another one, which `says` tells. */
bool MPIR_Rma_Check(struct rma *r, int32_t source, const struct rma_msg *m,
                    const struct MPIR_DATATYPE *layout, const char *at, int64_t count,
                    struct rma_answer *says);
int MPIR_Rma_Check_tell(const struct rma_answer *says, const char *call, const char *other, int32_t target);
/* What source has touched, or (-1) what was touched before so many fences, conflicts with nothing any more. */
void MPIR_Rma_Check_forget(struct rma *r, int32_t source, uint32_t fences);
void MPIR_Rma_Check_end(struct rma *r);
/* The call that makes messages of a kind. */
extern const char *const MPIR_Rma_call[];
/* What an origin sends apart has RMA_TAG_DATA in its tag, which tells it from answers of the same pair the other
 * way round. */
enum { RMA_TAG_AM = 0, RMA_TAG_POST = 1, RMA_TAG_DONE = 2, RMA_TAG_FIRST = 16, RMA_TAG_DATA = 1 << 28 };
static inline int RMA_next_tag(struct rma *r)
{
    return RMA_TAG_FIRST + (int)(r->tags++ & 0xffffff);
}

#endif
