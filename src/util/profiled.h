/* SPDX-License-Identifier: BSD-3-Clause */
/* profiled.h: the tables of a process that is profiled (mpiexec -profile), in a file of the job's folder.
 *
 * The process maps the file and adds up in it; whoever writes the report reads it at any time, also of a process that
 * hangs, or was killed.  Numbers are written one by one, without a lock: what is read meanwhile may be older by one
 * call.  All tables have a fixed size: what finds no room is counted in `lost` and, of calls, still in the sums. */
#ifndef KU_PROFILED_H
#define KU_PROFILED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KU_PROFILED_VERSION = 1,
    KU_PROFILED_CALLS = 256,  /* procedures, by their number in the process */
    KU_PROFILED_COMMS = 128,  /* communicators, the first ones */
    KU_PROFILED_SITES = 512,  /* places that call; a hash table, as the following */
    KU_PROFILED_WAITS = 1024, /* who waited for whom, where */
    KU_PROFILED_PAIRS = 2048, /* messages: from where to whom */
    KU_PROFILED_MODULES = 32,
    KU_PROFILED_CLASSES = 34, /* of sizes: 0, 1, 2 to 3, 4 to 7, ..., from 4 G on */
    KU_PROFILED_DEVICES = 8,
    KU_PROFILED_SLOTS = 4096
};

struct ku_profiled_sum {
    uint64_t calls, ns;
    uint64_t waited; /* of ns: nothing came for what the call waited for, */
    uint64_t late;   /* and of that: until the other side had begun its part */
    uint64_t bytes;
};

struct ku_profiled_call {
    char name[40];              /* "": none */
    struct ku_profiled_sum sum; /* of calls whose place found no room; the others are in the places' sums */
};

struct ku_profiled_comm {
    char name[40];
    uint32_t context, use; /* as MPIR_Comm has them */
    int32_t first, size;   /* the job's rank of its first member, how many it has; 0: no communicator */
    uint32_t seq;          /* collectives that were called */
    uint32_t spare;
    struct ku_profiled_sum sum;
};

struct ku_profiled_site {
    uint64_t address; /* where the call returns to; 0: none */
    uint32_t call;    /* the procedure's number */
    uint32_t module;  /* where it lies, from 1; 0: not known */
    uint64_t offset;  /* in its file, */
    uint64_t linked;  /* and as its linker has numbered it */
    uint64_t most;    /* ns of the longest call */
    struct ku_profiled_sum sum;
};

enum ku_profiled_why {
    KU_LATE_SENDER = 1, /* the message of `peer` had not been sent */
    KU_LATE_RECEIVER,   /* `peer` had not received, or not all of it */
    KU_LATE_COLLECTIVE  /* `peer` was the last to come to the collective */
};

struct ku_profiled_wait {
    uint32_t site; /* its number and 1; 0: none */
    uint32_t why;
    int32_t peer;    /* of the job's ranks */
    uint32_t stream; /* of a message: ku_profiled_stream; of a collective: the site of `peer` */
    uint64_t last;   /* the call that was counted last */
    uint64_t n, ns;
    uint64_t most; /* of an uninterrupted wait */
};

struct ku_profiled_pair {
    uint32_t site; /* its number and 1; 0: none */
    int32_t peer;
    uint32_t stream, device; /* device: its number and 1; 0: not known */
    uint64_t n, bytes;
};

struct ku_profiled {
    uint32_t version, size;
    int32_t rank, nranks, node, pid;
    uint64_t began, last,
        ended;        /* ku_clock_ns: from when on, the last call's end, MPI_Finalize (0: not yet) */
    uint64_t entered; /* the program's call that it is in; 0: none */
    uint32_t inside;  /* its site and 1 */
    uint32_t lost;    /* what found no room in a table */
    uint64_t peak;    /* bytes of memory at most, known when it ends */
    char device[KU_PROFILED_DEVICES][16];
    struct ku_profiled_sum rest;                          /* of procedures that have no row */
    struct ku_profiled_sum by_class[KU_PROFILED_CLASSES]; /* calls with data */
    uint64_t sent[KU_PROFILED_CLASSES];                   /* messages of the program */
    char module[KU_PROFILED_MODULES][200];
    struct ku_profiled_call call[KU_PROFILED_CALLS];
    struct ku_profiled_comm comm[KU_PROFILED_COMMS];
    struct ku_profiled_site site[KU_PROFILED_SITES];
    struct ku_profiled_wait wait[KU_PROFILED_WAITS];
    struct ku_profiled_pair pair[KU_PROFILED_PAIRS];
};

/* Messages of one sender to one receiver that have this number belong together: both sides can tell it. */
static inline uint32_t ku_profiled_stream(uint32_t context, int32_t tag)
{
    return ((context * 0x9e3779b9u + (uint32_t)tag) & 0xffff) + 1;
}

/* Who came last to a collective, of the processes of a host: a slot for each collective that is under way.  `came` only
 * grows, so that nobody has to empty a slot. */
struct ku_profiled_slot {
    _Atomic uint64_t which; /* a digest of communicator and number of the call */
    _Atomic uint64_t came;  /* when (in steps of 128 ns), and which rank: ku_profiled_came */
    _Atomic uint32_t site;  /* of that rank: its number and 1 */
    uint32_t spare;
    uint64_t spare2;
};
enum { KU_CAME_RANK_BITS = 20, KU_CAME_STEP_BITS = 7 };
static inline uint64_t ku_profiled_came(uint64_t ns, int32_t rank)
{
    return ns >> KU_CAME_STEP_BITS << KU_CAME_RANK_BITS | (uint32_t)rank;
}

/* Files in the folder that KEEL_PROFILE_FOLDER names. */
#define KU_PROFILED_RANK "rank.%d"
#define KU_PROFILED_BOARD "board"

#endif
