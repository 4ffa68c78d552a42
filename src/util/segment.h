/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.h: the shared memory of one job on one node: a memfd made by the launcher before it starts the ranks.
 *
 *   page 0      struct ku_seg_head
 *   rank_off    struct ku_seg_rank [nlocal]
 *   place_off   struct ku_seg_place [nlocal]   where each may run, as the launcher knows it
 *   map_off     int32_t grank_of[nlocal]   global rank of each local rank, in ascending order
 *               int32_t node_of[size]      only if nnodes > 1, not written if there is a rule (head->deal)
 *   gone_off    uint8_t gone[size]         enum ku_gone: the launcher has seen this rank end, on whichever node
 *   dead_off    int32_t dead[size]         the same ranks in the order of their deaths; head->failed of them
 *   call_off    struct ku_seg_call [nlocal] what each rank here waits for, written when it is asked
 *   card_off    uint64_t card[size]        only if nnodes > 1: what is known of other nodes' cards (card.h)
 *   team_off    team_bytes, zero at the start, for the team of all ranks here (mpid/team); none for a rank alone
 *   heap_off    struct ku_heap_head         blocks that are allotted later, behind all this (segment_alloc.h)
 *   dev_off     nlocal areas of dev_bytes each, zero at the start, for the devices to lay out
 *
 * The file is sparse and sealed against shrinking: what nobody touches costs nothing, nothing has a name in
 * the file system, and nothing is left when all its users are gone.  All offsets are from the start of the mapping. */
#ifndef KU_SEGMENT_H
#define KU_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "local.h"
#include "segment_alloc.h"

#define KU_SEG_MAGIC 0x6c65654b4d504931ull /* also tells byte order */
enum {
    KU_SEG_VERSION = 25,
    KU_SEG_DEV_BYTES = 2 << 20 /* virtual, a rank */,
    KU_SEG_TEAM_ALIGN = 128 /* two lines, which processors fetch together */,
    KU_SEG_TEAM_HEAD = 256 /* bytes of a team besides its members' */,
    KU_SEG_TEAM_LINE = 256 /* bytes of a member besides its two rooms */,
    KU_SEG_STREAM_HEAD = 64,
    KU_SEG_STREAM_LINE = 128 /* bytes of a member besides its bench */,
    KU_SEG_SLOTS = 32,
    KU_SEG_SLOT_BYTES = 1024,
    /* Of a team, 2 MB: more than the reader's own cache holds, or writing a piece again asks each line back. */
    KU_SEG_PIECES = 64,
    KU_SEG_PIECE_BYTES = 32 << 10,
    KU_SEG_BENCH_MAX = 1 << 20,
    KU_SEG_BENCH_MIN = 8 << 10,
    KU_SEG_BENCHES = 8 << 20 /* all of a team of all ranks here, unless they are of the least size */,
    KU_SEG_ROOM_MAX = 64 << 10,
    KU_SEG_ROOM_MIN = 1 << 10,
    KU_SEG_ROOMS = 8 << 20 /* likewise */,
    KU_SEG_SHORT_ROOM = 1 << 10,
    KU_SECRET_BYTES = 32,
    KU_BELL_BYTES = 8
};

enum ku_rank_state {
    KU_RANK_STARTED = 0,   /* forked; perhaps not an MPI program at all */
    KU_RANK_RUNNING = 1,   /* has called MPID_Init */
    KU_RANK_FINALIZED = 2, /* has left MPID_End; may exit with 0 */
    KU_RANK_ABORTED = 3,   /* has asked for the job's end; abort_code is valid */
    KU_RANK_DEAD = 4,      /* set by the launcher: the process is gone without having finalized */
    KU_RANK_RESTING = 5,   /* uses MPI no more, but may again (a session); may exit with 0 */
};

/* What ku_segment_gone says of a rank that is gone. */
enum ku_gone {
    KU_GONE = 1,
    KU_GONE_WITH_HOST = 2, /* its whole host is lost */
    KU_GONE_ENDED = 3      /* it has ended in order; said in jobs that go on without ranks that fail */
};

/* The machine, as the launcher had to know it: 0: not known. */
struct ku_seg_machine {
    uint16_t cpus, cores; /* hardware threads and cores; equal if there is no SMT */
    uint16_t l3s, numas, packages;
};

struct ku_seg_head {
    uint64_t magic;
    uint32_t version, word_bytes; /* word_bytes: sizeof(void *) of its maker */
    uint64_t total;               /* bytes of the fixed part, which all map; behind it is the heap */
    uint64_t job_id;              /* random; names the job in messages and sockets */
    uint8_t secret[KU_SECRET_BYTES];
    uint32_t size, nlocal; /* ranks of the job, ranks on this node */
    uint32_t node, nnodes; /* this node's number, nodes of the job */
    uint32_t cpus;     /* cores the ranks here may use: affinity and cgroup quota, rounded up; at least 1 */
    uint32_t universe; /* the same of all nodes together */
    struct ku_seg_machine machine;
    uint32_t stride; /* grank_of[l] is grank_of[0] + l * stride; 0: there is no such rule */
    uint32_t deal;   /* node_of[r] is r / deal % nnodes; 0: there is no such rule */
    uint64_t rank_off, place_off, map_off, gone_off, dead_off, call_off, card_off, team_off, team_bytes,
        heap_off, dev_off, dev_bytes;
    uint64_t control_ino; /* of the pipe to the launcher; 0: not said */
    uint64_t room_bytes;  /* a room: what a member of a team may show the others in one operation */
    uint64_t bench_bytes; /* a bench: what it may show them step by step (mpid/team/team_stream.c) */
    /* enum ku_fences: do all senders fence, and have they from the start? */
    _Alignas(64) _Atomic uint32_t fence_all;
    _Atomic uint32_t failed;      /* ranks of the job that are gone; counted after dead[] has them */
    _Atomic uint32_t card_wanted; /* 1: a rank here waits for another's card; who writes one wakes them all */
    _Atomic uint32_t cards;       /* counts those of other nodes that the launcher has brought */
    _Atomic uint32_t held;  /* 1: ranks wait in pmi_init, for a debugger; later see ku_segment_mark_begin */
    _Atomic uint32_t asked; /* counts the launcher's questions what the ranks wait for (ku_seg_call) */
    _Atomic uint32_t
        still; /* 1: the launcher has been told that every rank here sleeps; it takes that back */
    _Atomic uint32_t ended; /* ranks that have come to the barrier at their end, of all epochs */
};

struct ku_seg_rank {
    _Alignas(64) _Atomic uint32_t state; /* enum ku_rank_state */
    _Atomic int32_t pid;                 /* of the process that called MPID_Init; 0 before */
    int32_t abort_code;
    _Atomic uint32_t epoch; /* how often this rank has begun MPI, the last time included */
    /* 1: it has found a rank gone that had not finished, or one that failed: perhaps that is why it ends */
    _Atomic uint32_t found_gone;
    _Atomic uint64_t card;       /* its business card (card.h) */
    _Atomic uint32_t card_asked; /* the epoch in which the launcher wants to be told of it */
    uint32_t ended;              /* how many of its epochs head->ended counts: its own alone */
    _Atomic int32_t
        cpu; /* 1 + where it was when it looked last: at its beginning, or when others used that (wait.h); 0: not yet */
    _Alignas(64) _Atomic uint32_t sleeping; /* nonzero: asleep (or about to be); by which means, see wait.h */
    _Atomic uint32_t bell_mute;             /* 1: somebody could not ring the bell */
    uint8_t bell_len;                       /* bytes of the abstract name of its doorbell; 0: it has none */
    char bell[KU_BELL_BYTES];
};

/* Where a rank may run: written by the launcher before the rank is started, never changed, zero if it had no reason to
 * look.  The numbers of objects are the machine's, in its order, KU_PLACE_SEVERAL if the rank's cpus lie in several of
 * the kind. */
enum {
    KU_PLACE_KNOWN = 1,
    KU_PLACE_BOUND = 2, /* to these cpus; else they are what it may use anyway */
    KU_PLACE_ASKED = 4  /* and the user has said where, not just that each rank is to have its share */
};
enum { KU_PLACE_UNKNOWN = 0xffff, KU_PLACE_SEVERAL = 0xfffe, KU_PLACE_CPUS = 1024 };
struct ku_seg_place {
    _Alignas(64) uint32_t flags;
    uint16_t cpus, cores;             /* hardware threads and cores of its own share */
    uint16_t l3, numa, package, core; /* the one in which they lie */
    uint64_t set[KU_PLACE_CPUS / 64]; /* bit c % 64 of set[c / 64]: the kernel's cpu c */
};

/* What a rank waits for: the times always, the rest as an answer to head->asked, given by a rank that sleeps (or
 * polls) in a call.  The launcher reads it when answered == asked; then the rank does not write again before it is
 * asked again. */
enum {
    KU_CALL_OPS = 16,
    KU_CALL_MSGS = 8,
    KU_CALL_NAME = 40,
    KU_CALL_MEMBERS = 512,
    KU_CALL_THREADS = 8,
    KU_CALL_JOBS = 8
};
enum {
    KU_OTHERS_REQUESTS = 1 /* generalized */,
    KU_OTHERS_THREADS = 2 /* they may call MPI */,
    KU_OTHERS_JOBS = 4 /* processes of other jobs, which it does not know yet, or of more than it tells */,
    KU_OTHERS_MET = 8 /* processes of the other jobs that it tells */,
    KU_OTHERS_UNSEEN = KU_OTHERS_REQUESTS | KU_OTHERS_JOBS /* what the launcher knows nothing of */
};
enum ku_op_kind {
    KU_OP_RECV = 1,
    KU_OP_SEND,
    KU_OP_PROBE,
    KU_OP_MESSAGE /* that came before its receive */,
    KU_OP_OTHER, /* several messages, or none */
    KU_OP_PART_RECV,
    KU_OP_PART_SEND /* bytes: partitions that are not ready */
};
struct ku_seg_op {
    uint8_t kind;
    uint8_t context; /* which of the communicator's; 0: the user's messages between two ranks */
    bool waited;     /* the call is for this one; if none is marked, it may be any of them */
    int32_t grank, lrank,
        tag;           /* the other side; -1: any or not known (grank); may be wildcards (lrank, tag) */
    uint32_t comm;     /* context id of the communicator */
    int32_t comm_size; /* 0: not known */
    int64_t bytes;     /* of the message, or of the room for it */
    uint64_t job;      /* the other side is of that job, and has this rank there; 0: of this one */
    int32_t there;
    char comm_name[KU_CALL_NAME]; /* "" : it has none */
};
/* A further thread of the rank that waits in MPI. */
struct ku_seg_thread {
    uint64_t caller; /* as of ku_seg_call; 0: not known, it has not waited for long */
    int32_t nops;    /* that it waits for, as far as it says; the first follows */
    char call[KU_CALL_NAME];
    struct ku_seg_op op;
};
struct ku_seg_call {
    _Alignas(64) _Atomic uint64_t since; /* ns: the rank has met no event from then on, if it sleeps */
    _Atomic uint64_t seen;               /* ns: when it woke last, or answered: it was in MPI then */
    _Atomic uint32_t answered;
    _Atomic uint32_t traced; /* the launcher has looked where the rank is, as PMI_TRACE asked it to */
    bool polls;              /* it is in a call that does not wait, again and again */
    bool any;                /* the call ends when one of those waited for does, not all */
    uint8_t others;          /* what else than a message may end its wait: KU_OTHERS_* */
    bool under_way;          /* something that it has sent, or that is sent to it, may be on a network */
    uint32_t progress;       /* changes as its operations complete */
    int32_t nops, nmsgs;     /* how many there are; the first ones follow */
    int32_t nthreads;        /* the same of its other threads that wait */
    int32_t njobs;           /* jobs that it is connected to */
    uint64_t job[KU_CALL_JOBS];
    uint64_t caller;         /* where the call was made: an address in the rank */
    char call[KU_CALL_NAME]; /* "": not known */
    char what
        [KU_CALL_NAME]; /* the operation of several messages that the call is for: "MPI_Ibarrier"; "": none */
    uint32_t comm; /* the communicator of the first operation waited for: its context id, and who is in it */
    int32_t comm_size;                    /* 0: not known */
    uint8_t members[KU_CALL_MEMBERS / 8]; /* a bit a rank of the job; in jobs that are not larger */
    struct ku_seg_op op[KU_CALL_OPS], msg[KU_CALL_MSGS];
    struct ku_seg_thread thread[KU_CALL_THREADS];
};
_Static_assert(sizeof(struct ku_seg_call) <= 4096, "a page a rank");

struct ku_segment {
    struct ku_seg_head *head;
    size_t bytes;
    int fd;
};

/* Make a segment (launcher; a rank without launcher).  Returns 0, or an errno value with a text in ku_err_last().
 * With one node it is ready for use; with several, ku_segment_join next. */
int ku_segment_create(struct ku_segment *s, uint32_t size, uint32_t nlocal, uint32_t node, uint32_t nnodes);

/* Make the segment that of its node in this job (its id and secret): each rank's node is node_of[rank], and the
 * ranks of a node are numbered in the order of their global ranks. */
void ku_segment_join(struct ku_segment *s, uint64_t job_id, const uint8_t secret[KU_SECRET_BYTES],
                     const int32_t *node_of);

/* Map the segment behind `fd` (which is kept open and owned from here on); checks magic, version, word size, length. */
int ku_segment_attach(struct ku_segment *s, int fd);

/* The ranks of a node, ascending: returns how many, and writes as many to granks[], if that is not NULL. */
int32_t ku_segment_ranks_of(const struct ku_segment *s, int32_t node, int32_t *granks);

/* Unmap and close. */
void ku_segment_detach(struct ku_segment *s);

static inline struct ku_seg_rank *ku_segment_rank(const struct ku_segment *s, uint32_t lrank)
{
    return (struct ku_seg_rank *)((char *)s->head + s->head->rank_off) + lrank;
}
static inline struct ku_seg_place *ku_segment_place(const struct ku_segment *s, uint32_t lrank)
{
    return (struct ku_seg_place *)((char *)s->head + s->head->place_off) + lrank;
}
static inline int32_t *ku_segment_grank_of(const struct ku_segment *s)
{
    return (int32_t *)((char *)s->head + s->head->map_off);
}
/* The node of a rank of the job. */
static inline int32_t ku_segment_node_of(const struct ku_segment *s, int32_t grank)
{
    const struct ku_seg_head *h = s->head;
    return h->deal != 0 ? (int32_t)((uint32_t)grank / h->deal % h->nnodes)
                        : ku_segment_grank_of(s)[h->nlocal + (uint32_t)grank];
}
/* Local rank of a global rank; -1: it is on another node. */
static inline int32_t ku_segment_local_of(const struct ku_segment *s, int32_t grank)
{
    return ku_local_of(ku_segment_grank_of(s), s->head->nlocal, s->head->stride, grank);
}
static inline _Atomic uint8_t *ku_segment_gone(const struct ku_segment *s)
{
    return (_Atomic uint8_t *)((char *)s->head + s->head->gone_off);
}
/* The rank that died as the i-th; head->failed, acquired, is more than i. */
static inline int32_t ku_segment_dead(const struct ku_segment *s, uint32_t i)
{
    return ((const int32_t *)((const char *)s->head + s->head->dead_off))[i];
}
static inline struct ku_seg_call *ku_segment_call(const struct ku_segment *s, uint32_t lrank)
{
    return (struct ku_seg_call *)((char *)s->head + s->head->call_off) + lrank;
}
/* What a team of `members` consists of (mpid/team).  The core is there from the start, the others when they are
 * first used. */
enum ku_team_part {
    KU_TEAM_CORE,
    KU_TEAM_SLOTS,
    KU_TEAM_PIECES,
    KU_TEAM_SHORT_ROOMS,
    KU_TEAM_ROOMS,
    KU_TEAM_BENCHES,
    KU_TEAM_PARTS
};
static inline uint64_t ku_team_part_bytes(const struct ku_seg_head *h, enum ku_team_part part,
                                          uint64_t members)
{
    const uint64_t bytes[] = {
        [KU_TEAM_CORE] =
            KU_SEG_TEAM_HEAD + members * KU_SEG_TEAM_LINE + KU_SEG_STREAM_HEAD + members * KU_SEG_STREAM_LINE,
        [KU_TEAM_SLOTS] = KU_SEG_SLOTS * KU_SEG_SLOT_BYTES,
        [KU_TEAM_PIECES] = KU_SEG_PIECES * KU_SEG_PIECE_BYTES,
        [KU_TEAM_SHORT_ROOMS] = members * 2 * KU_SEG_SHORT_ROOM,
        [KU_TEAM_ROOMS] = members * 2 * h->room_bytes,
        [KU_TEAM_BENCHES] = members * h->bench_bytes,
    };
    return (bytes[part] + KU_SEG_TEAM_ALIGN - 1) / KU_SEG_TEAM_ALIGN * KU_SEG_TEAM_ALIGN;
}
/* Where a part of the team of all ranks here begins; KU_TEAM_PARTS: where the team ends. */
static inline uint64_t ku_segment_team_at(const struct ku_seg_head *h, enum ku_team_part part)
{
    uint64_t at = 0;
    for (unsigned i = KU_TEAM_CORE; i < part && h->nlocal > 1; i++)
        at += ku_team_part_bytes(h, (enum ku_team_part)i, h->nlocal);
    return at;
}
static inline void *ku_segment_team(const struct ku_segment *s, enum ku_team_part part)
{
    return (char *)s->head + s->head->team_off + ku_segment_team_at(s->head, part);
}
static inline void *ku_segment_dev(const struct ku_segment *s, uint32_t lrank)
{
    return (char *)s->head + s->head->dev_off + lrank * s->head->dev_bytes;
}

/* Wake every rank here that sleeps. */
void ku_segment_wake_all(const struct ku_segment *s);

/* The launcher has seen `rank` end: mark it so in this segment, once, and wake all. */
void ku_segment_mark_gone(const struct ku_segment *s, uint32_t rank, enum ku_gone how);

/* The same in a segment that no launcher looks after, in which its processes mark each other, one at a time:
 * head->held has the number of the one that does.  If that one ends meanwhile, the next one goes on in its place.
 * False: another one marks, try again later. */
bool ku_segment_mark_begin(const struct ku_segment *s);
void ku_segment_mark_end(const struct ku_segment *s);

#endif
