/* segment.h: the shared memory of one job on one node: a memfd made by the launcher before it starts the ranks.
 *
 *   page 0      struct ku_seg_head
 *   rank_off    struct ku_seg_rank [nlocal]
 *   place_off   struct ku_seg_place [nlocal]   where each may run, as the launcher knows it
 *   map_off     int32_t grank_of[nlocal]   global rank of each local rank
 *               int32_t node_of[size]      only if nnodes > 1
 *   gone_off    uint8_t gone[size]         1: the launcher has seen this rank die, on whichever node
 *   call_off    struct ku_seg_call [nlocal] what each rank here waits for, written when it is asked
 *   card_off    struct ku_seg_card [size]  where each rank of the job can be reached
 *   team_off    nteams areas of team_bytes each, zero at the start, for groups of ranks that wait for each other; none for
 *               a rank alone
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

#define KU_SEG_MAGIC 0x6c65654b4d504931ull /* also tells byte order */
enum {
    KU_SEG_VERSION = 16,
    KU_SEG_DEV_BYTES = 2 << 20 /* virtual, a rank */,
    KU_SEG_TEAMS = 32,
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
    KU_SEG_BENCHES = 256 << 20 /* virtual: all of all teams, unless they are of the least size */,
    KU_SEG_ROOM_MAX = 64 << 10,
    KU_SEG_ROOM_MIN = 1 << 10,
    KU_SEG_ROOMS = 256 << 20 /* virtual: all rooms of all teams, unless they are of the least size */,
    KU_SECRET_BYTES = 32,
    KU_CARD_BYTES = 1016,
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

/* The machine, as the launcher had to know it: 0: not known. */
struct ku_seg_machine {
    uint16_t cpus, cores; /* hardware threads and cores; equal if there is no SMT */
    uint16_t l3s, numas, packages;
};

struct ku_seg_head {
    uint64_t magic;
    uint32_t version, word_bytes; /* word_bytes: sizeof(void *) of its maker */
    uint64_t total;               /* bytes mapped */
    uint64_t job_id;              /* random; names the job in messages and sockets */
    uint8_t secret[KU_SECRET_BYTES];
    uint32_t size, nlocal; /* ranks of the job, ranks on this node */
    uint32_t node, nnodes; /* this node's number, nodes of the job */
    uint32_t cpus;     /* cores the ranks here may use: affinity and cgroup quota, rounded up; at least 1 */
    uint32_t universe; /* the same of all nodes together */
    struct ku_seg_machine machine;
    uint64_t rank_off, place_off, map_off, gone_off, call_off, card_off, team_off, team_bytes, dev_off,
        dev_bytes;
    uint64_t control_ino;        /* of the pipe to the launcher; 0: not said */
    uint64_t nteams, room_bytes; /* a room: what a member of a team may show the others in one operation */
    uint64_t bench_bytes;        /* a bench: what it may show them step by step (mpid/core/steps.c) */
    /* enum ku_fences: do all senders fence, and have they from the start? */
    _Alignas(64) _Atomic uint32_t fence_all;
    _Atomic uint32_t failed;      /* ranks of the job that are gone; a change means: look at gone[] */
    _Atomic uint32_t card_wanted; /* 1: a rank here waits for a card; who writes one wakes them all */
    _Atomic uint32_t held;        /* 1: ranks wait in pmi_init, for a debugger */
    _Atomic uint32_t asked;       /* counts the launcher's questions what the ranks wait for (ku_seg_call) */
    _Atomic uint32_t
        still; /* 1: the launcher has been told that every rank here sleeps; it takes that back */
    _Atomic uint32_t ended; /* ranks that have come to the barrier at their end, of all epochs */
};

struct ku_seg_rank {
    _Alignas(64) _Atomic uint32_t state; /* enum ku_rank_state */
    _Atomic int32_t pid;                 /* of the process that called MPID_Init; 0 before */
    int32_t abort_code;
    _Atomic uint32_t epoch; /* how often this rank has begun MPI, the last time included */
    _Atomic uint32_t
        found_gone; /* 1: it has found a rank gone that had not finished, or one that failed: perhaps that is why it ends */
    _Atomic uint32_t
        cardless;   /* the epoch in which its card is empty, in jobs of one node: no page is touched for it */
    uint32_t ended; /* how many of its epochs head->ended counts: its own alone */
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
enum { KU_PLACE_KNOWN = 1, KU_PLACE_BOUND = 2 /* to these cpus; else they are what it may use anyway */ };
enum { KU_PLACE_UNKNOWN = 0xffff, KU_PLACE_SEVERAL = 0xfffe, KU_PLACE_CPUS = 1024 };
struct ku_seg_place {
    _Alignas(64) uint32_t flags;
    uint16_t cpus, cores;             /* hardware threads and cores of its own share */
    uint16_t l3, numa, package, core; /* the one in which they lie */
    uint64_t set[KU_PLACE_CPUS / 64]; /* bit c % 64 of set[c / 64]: the kernel's cpu c */
};

/* One rank's addresses.  It writes its own card into its node's segment, the launcher into those of the other nodes. */
struct ku_seg_card {
    _Atomic uint32_t epoch; /* in which the bytes are valid; 0: none yet, or being written */
    uint32_t len;
    uint8_t bytes[KU_CARD_BYTES];
};

/* What a rank waits for: the times always, the rest as an answer to head->asked, given by a rank that sleeps (or polls)
 * in a call.  The launcher reads it when answered == asked; then the rank does not write again before it is asked again. */
enum { KU_CALL_OPS = 16, KU_CALL_MSGS = 8, KU_CALL_NAME = 40, KU_CALL_MEMBERS = 512 };
enum { KU_OTHERS_REQUESTS = 1 /* generalized */, KU_OTHERS_THREADS = 2 /* they may call MPI */ };
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
    char comm_name[KU_CALL_NAME]; /* "" : it has none */
};
struct ku_seg_call {
    _Alignas(64) _Atomic uint64_t since; /* ns: the rank has met no event from then on, if it sleeps */
    _Atomic uint64_t seen;               /* ns: when it woke last, or answered: it was in MPI then */
    _Atomic uint32_t answered;
    bool polls;              /* it is in a call that does not wait, again and again */
    bool any;                /* the call ends when one of those waited for does, not all */
    uint8_t others;          /* what else than a message may end its wait: KU_OTHERS_* */
    bool under_way;          /* something that it has sent, or that is sent to it, may be on a network */
    uint32_t progress;       /* changes as its operations complete */
    int32_t nops, nmsgs;     /* how many there are; the first ones follow */
    uint64_t caller;         /* where the call was made: an address in the rank */
    char call[KU_CALL_NAME]; /* "": not known */
    char what
        [KU_CALL_NAME]; /* the operation of several messages that the call is for: "MPI_Ibarrier"; "": none */
    uint32_t comm; /* the communicator of the first operation waited for: its context id, and who is in it */
    int32_t comm_size;                    /* 0: not known */
    uint8_t members[KU_CALL_MEMBERS / 8]; /* a bit a rank of the job; in jobs that are not larger */
    struct ku_seg_op op[KU_CALL_OPS], msg[KU_CALL_MSGS];
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

/* Make the segment that of its node in this job (its id and secret): each rank's node is node_of[rank], and the ranks of a
 * node are numbered in the order of their global ranks. */
void ku_segment_join(struct ku_segment *s, uint64_t job_id, const uint8_t secret[KU_SECRET_BYTES],
                     const int32_t *node_of);

/* Map the segment behind `fd` (which is kept open and owned from here on); checks magic, version, word size, length. */
int ku_segment_attach(struct ku_segment *s, int fd);

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
static inline int32_t *ku_segment_node_of(const struct ku_segment *s)
{
    return ku_segment_grank_of(s) + s->head->nlocal;
}
static inline _Atomic uint8_t *ku_segment_gone(const struct ku_segment *s)
{
    return (_Atomic uint8_t *)((char *)s->head + s->head->gone_off);
}
static inline struct ku_seg_call *ku_segment_call(const struct ku_segment *s, uint32_t lrank)
{
    return (struct ku_seg_call *)((char *)s->head + s->head->call_off) + lrank;
}
/* A team of all ranks here: what belongs to their meetings, with the rooms; then what belongs to streams (mpid/core/stream.c). */
static inline uint64_t ku_segment_meeting_bytes(const struct ku_seg_head *h)
{
    return KU_SEG_TEAM_HEAD + h->nlocal * (KU_SEG_TEAM_LINE + 2 * h->room_bytes);
}
static inline uint64_t ku_segment_team_bytes(const struct ku_seg_head *h)
{
    uint64_t n = ku_segment_meeting_bytes(h) + KU_SEG_STREAM_HEAD + h->nlocal * KU_SEG_STREAM_LINE +
                 KU_SEG_SLOTS * KU_SEG_SLOT_BYTES + KU_SEG_PIECES * KU_SEG_PIECE_BYTES +
                 h->nlocal * h->bench_bytes;
    return (n + KU_SEG_TEAM_ALIGN - 1) / KU_SEG_TEAM_ALIGN * KU_SEG_TEAM_ALIGN;
}
static inline void *ku_segment_team(const struct ku_segment *s, uint32_t team)
{
    return (char *)s->head + s->head->team_off + team * s->head->team_bytes;
}
static inline void *ku_segment_stream(const struct ku_segment *s, void *team)
{
    return (char *)team + ku_segment_meeting_bytes(s->head);
}
static inline void *ku_segment_dev(const struct ku_segment *s, uint32_t lrank)
{
    return (char *)s->head + s->head->dev_off + lrank * s->head->dev_bytes;
}

/* Write the card of `rank` and wake who waits for one; len is at most KU_CARD_BYTES. */
void ku_segment_card_write(const struct ku_segment *s, uint32_t rank, uint32_t epoch, const void *bytes,
                           uint32_t len);

/* The card of `rank` in this epoch into buf[KU_CARD_BYTES]: its length; KU_CARD_NONE: not written yet (who writes it will
 * wake all ranks here); KU_CARD_PAST: the rank is in a later epoch already. */
enum { KU_CARD_NONE = -1, KU_CARD_PAST = -2 };
int ku_segment_card_read(const struct ku_segment *s, uint32_t rank, uint32_t epoch, void *buf);

/* Wake every rank here that sleeps. */
void ku_segment_wake_all(const struct ku_segment *s);

/* The launcher has seen `rank` end without finalizing: mark it so in this segment, and wake all. */
void ku_segment_mark_gone(const struct ku_segment *s, uint32_t rank);

#endif
