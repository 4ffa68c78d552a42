/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h: partitioned messages (chapter 5), as the two sides share them.
 *
 * A request of MPI_Psend_init and the one of MPI_Precv_init that it matches are the two ends of a *channel*, which
 * the sender numbers.  All that travels is messages of the ADI in the context MPID_CONTEXT_PART of the
 * communicator, WHOLE in MPID_CONTEXT_WHOLE, where its receive is the first one, and who waits may take it from
 * the device (MPID_Recv_soon):
 *
 *   INIT    when the send, or a later one to the same process with the same tag, is started first, with the user's
 *           tag: so the ADI matches the two ends, in the order in which they were made, but for those that are
 *           freed before
 *   WHOLE   the data of a round of which nothing has been sent when its last partition becomes ready
 *   HEAD    a piece of the data: some partitions that follow each other, or some elements of one; with the data if
 *           it is short
 *   DATA    the data of the piece that the HEAD before announced
 *   ACK     to the sender: how many pieces have been taken
 *
 * All but INIT have tags of their own (part_tag), which are negative, as no user's are.
 *
 * A *round* is what is between a start and its completion.
 *
 * Invariants
 *   1. What is sent says where it belongs in the sender's partitions: neither side waits to learn how the other
 *      divides, and the sender need not know whether the receive has been made, or started.  But no more than
 *      PART_WINDOW pieces may be under way whose ACK has not come, so what a receiver must keep is bounded;
 *      partitions that become ready meanwhile wait in a bitmap, and neighbours among them leave as one piece.
 *   2. Pieces are taken in the order in which they were sent, and none of a round before the receiver has started
 *      its round: HEAD has one receive at a time, which is posted again when its piece has been dealt with.
 *   3. A round's first message decides: WHOLE, or pieces.  The receiver has a receive posted for either.  WHOLE is
 *      sent only when all pieces of earlier rounds have been acknowledged: then no receive for the WHOLE of an
 *      earlier round is posted.
 *   4. A partition that is sent as several pieces is sent without others in between, all as DATA, which the
 *      receiver retires in order: when the last has come all have.
 *   5. Small partitions are held back, to go together, when many pieces have gone in a round (may_gather): then
 *      the channel is listed, and the next look at the devices sends what waits.
 *   6. While one of these functions runs (MPIR_Part_enter), progress does not run another: what it calls may poll.
 *   7. Where several threads may call, MPI_Pready takes no lock: it puts its partition into the next of the few
 *      places of `said`, and who has the lock takes them in, in their order (take_in).  A thread takes a place by
 *      said_end, while that is not a whole round of places after said_begin, which whoever empties places moves; so
 *      it is empty then.  A thread that has put something in tries to get the lock; who has had it for this looks
 *      again after leaving.  So either that one sees it, or the thread gets the lock (tests/model/said.pml).  Who has
 *      it for something else looks at the devices before long, or calls MPI no more: so the one that makes the last
 *      partition ready waits for the lock. */
#ifndef MPIR_PART_H
#define MPIR_PART_H

#include "comm.h"
#include "mpi_err.h"
#include "p2p.h"
#include "request.h"
#include "type.h"
#include "bits.h"
#include "util/le.h"

enum {
    PART_SAID = 64 /* partitions that become ready beside the lock, and have not been taken in */,
    PART_NONE = -1
};
enum part_kind { PART_HEAD, PART_DATA, PART_WHOLE, PART_ACK, PART_KINDS };
enum {
    PART_INLINE =
        4096, /* bytes that travel in the message of their HEAD: copying them costs less than a message */
    PART_PIECE =
        1 << 20,      /* bytes of a piece, unless one element has more: what a receiver may have to keep */
    PART_WINDOW = 64, /* pieces without ACK */
    PART_ASK = 32,    /* after so many pieces an ACK is wanted, and after the last of a round */
    PART_FLIGHT = 8,  /* pieces that the ADI has not done with, at the sender */
    PART_SLOTS = 4,   /* pieces whose DATA the receiver waits for */
    PART_CHANNELS = 1 << 29
};

struct part_init {
    uint32_t channel, partitions;
    int64_t bytes; /* of all partitions */
};
struct part_head {
    uint32_t first, count; /* partitions of the sender */
    uint64_t bytes;        /* and PART_MORE, PART_ASKED */
};
#define PART_MORE (1ull << 63)  /* the partition has more pieces */
#define PART_ASKED (1ull << 62) /* the sender wants an ACK */
_Static_assert(sizeof(struct part_init) == 16 && sizeof(struct part_head) == 16, "doc/wire.md");

/* Both, as they travel (little-endian) or in memory, from each other. */
static inline struct part_init part_init_le(struct part_init i)
{
    return (struct part_init){ ku_le32(i.channel), ku_le32(i.partitions),
                               (int64_t)ku_le64((uint64_t)i.bytes) };
}
static inline struct part_head part_head_le(struct part_head h)
{
    return (struct part_head){ ku_le32(h.first), ku_le32(h.count), ku_le64(h.bytes) };
}

static inline int part_tag(uint32_t channel, enum part_kind kind)
{
    return INT32_MIN + (int)(channel * PART_KINDS + kind);
}

/* One end of a channel: what stands behind a request. */
struct part {
    struct MPIR_Closure closure;
    struct part *next, *prev; /* of those that go on by themselves, or of those that are quiet */
    bool listed, sends;
    bool quiet;            /* no start so far has told the matching of it */
    bool active;           /* in a round that is not complete */
    bool orphan;           /* the request has been freed */
    MPIR_Request *request; /* not an orphan's */
    MPIR_Comm *comm;
    int32_t peer, tag; /* peer: rank, or MPI_PROC_NULL */
    uint32_t channel;
    char *buf;
    MPIR_Datatype *type;
    int64_t count;              /* elements of a partition */
    uint32_t n;                 /* partitions */
    int64_t bytes;              /* of all of them */
    struct MPIR_Copies *copies; /* moved by partitions */
    int err;                    /* of this round, or of the channel; its words: */
    struct ku_err words;
    int32_t stamp; /* is_complete of the last operation that this round needed */
    struct part_init first;
    uint32_t ack_value;
    struct MPIR_HANDLE init, whole, ack; /* complete while unused */
};

/* A piece that the ADI has not taken at once. */
struct part_piece {
    struct part_piece *next;
    struct MPIR_HANDLE request;
    char data[];
};

struct part_send {
    struct part p;
    uint32_t nready, npending, nsent;
    uint32_t cursor; /* look for pending ones from here on */
    bool whole;      /* the round has gone as a whole */
    bool marked;     /* there are bits set */
    bool split;      /* partition split_of is under way, of which split_at elements have been sent */
    bool hears;      /* a receive for an ACK is posted, or has come and not been looked at */
    uint32_t split_of;
    int64_t split_at;
    struct part_piece *flight;
    uint32_t nflight;
    uint32_t pieces, asked,
        acked;       /* pieces sent; until where an ACK was asked for; until where it has come */
    uint32_t began;  /* pieces sent when the round began */
    uint32_t gather; /* partitions that lie in one message */
    uint32_t stalls;
    uint64_t *ready, *pending; /* since the start; of these, not sent */
    /* What threads write beside the device lock, by MPIR_Pready_beside (invariant 7). */
    _Atomic bool open;                                /* in a round, and such threads may come */
    _Atomic uint32_t nclaimed;                        /* ready, or about to be, however that is said */
    _Atomic uint32_t said_end, said_begin, said_gone; /* gone: who took a place has left */
    _Atomic int64_t said[PART_SAID];                  /* 0: nothing yet; partition + 1; PART_NONE */
    uint64_t *claimed;                                /* partitions that were said so */
    uint64_t bits[];
};

/* A piece whose data come by themselves. */
struct part_slot {
    struct MPIR_HANDLE request;
    uint32_t first, count;
    int64_t at, bytes;
    bool more;
    char *kept; /* where they go first, if its bounds cut elements of the receiver */
};

/* What a receiver has where the sender has several partitions. */
struct part_pieces {
    struct MPIR_HANDLE head;
    struct part_slot slot[PART_SLOTS];
    uint32_t slot_first, nslots;
    int64_t split; /* bytes that have come of a partition that comes in pieces */
    uint32_t pieces;
    uint64_t *arrived; /* partitions of the sender */
    struct {
        struct part_head head;
        char data[PART_INLINE];
    } message;
};

struct part_recv {
    struct part p;
    bool matched, posted; /* receives for this round are posted */
    bool cut;             /* the round comes in pieces */
    bool whole;           /* it has come as a whole */
    bool too_long;        /* the sender has more bytes: what comes is dropped */
    bool ack_due;
    uint32_t theirs;     /* partitions of the sender */
    int64_t their_bytes; /* of all of them */
    uint32_t nannounced, narrived;
    struct part_pieces *in; /* NULL: one partition, or nothing in them */
};

/* part_engine.c */
extern const struct MPIR_Request_ops MPIR_Part_send_ops, MPIR_Part_recv_ops;

bool MPIR_Part_enter(void); /* false: entered already */
void MPIR_Part_leave(void);
/* It takes no part in the matching, until it is started first: then it does, and with it those that come before it. */
void MPIR_Part_quiet(struct part *p);
void MPIR_Part_announce(struct part *p);
void MPIR_Part_list(struct part *p); /* from now on it goes on by itself */
bool MPIR_Part_pause(void);          /* MPIR_Drive_pause of all channels */
/* The first error of the round counts. */
void MPIR_Part_fail(struct part *p, int err);
void MPIR_Part_fail_by(struct part *p, struct MPIR_HANDLE *r);
/* The round is over: complete the request, whose status has been set. */
void MPIR_Part_complete(struct part *p);
/* What is copied for it, of partitions [low, high]. */
void MPIR_Part_copy(struct part *p, enum MPIR_COPY what, uint32_t low, uint32_t high);
struct MPIR_Copies **MPIR_Part_copies(MPIR_Request *r);
/* The request is freed. */
void MPIR_Part_close(MPIR_Request *r);
/* The error that there is no partition of this number. */
int MPIR_Part_no_such(const struct part *p, int partition, const char *arg);

static inline bool part_done(const struct MPIR_HANDLE *r)
{
    return atomic_load_explicit(&r->is_complete, memory_order_acquire) != 0;
}
static inline int part_isend(struct part *p, const void *data, int64_t bytes, enum part_kind kind,
                             struct MPIR_HANDLE *r)
{
    return MPIR_P2p_isend(data, bytes, NULL, p->peer, part_tag(p->channel, kind), p->comm, MPID_CONTEXT_PART,
                          r);
}
static inline int part_irecv(struct part *p, void *data, int64_t bytes, enum part_kind kind,
                             struct MPIR_HANDLE *r)
{
    return MPIR_P2p_irecv(data, bytes, NULL, p->peer, part_tag(p->channel, kind), p->comm, MPID_CONTEXT_PART,
                          r);
}

/* part_send.c, part_recv.c: go on as far as possible; true if something happened. */
bool MPIR_Part_send_advance(struct part_send *s);
bool MPIR_Part_recv_advance(struct part_recv *q);
void MPIR_Part_send_init(struct part *p);
/* Tell the other side; wait to be told. */
void MPIR_Part_send_announce(struct part *p);
void MPIR_Part_recv_announce(struct part *p);
/* Free what it holds besides itself. */
void MPIR_Part_send_close(struct part_send *s); /* before: nobody uses it */
void MPIR_Part_send_free(struct part_send *s);
void MPIR_Part_recv_free(struct part_recv *q);

#endif
