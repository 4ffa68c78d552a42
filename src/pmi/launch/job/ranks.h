/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h: what a daemon knows of the job's ranks: their processes, their nodes' segments, and what it does with
 * what they say. */
#ifndef LAUNCH_RANKS_H
#define LAUNCH_RANKS_H

#include <stdint.h>
#include <sys/types.h>
#include "launch.h"
#include "pmi/pmi.h"
#include "util/segment.h"

struct crew_rank {
    pid_t pid;  /* 0: not started, or ended; of another host's: as that has told */
    int status; /* then, as waitpid has it */
    const struct app *app;
    int local;         /* its number on its node */
    char *trace;       /* where it was when it said so last (trace.h); NULL: nothing is known */
    int trace_signal;  /* of which it was about to die then; 0: of an error */
    bool lost;         /* the loader would not find our library: crew_why */
    bool told_stopped; /* see crew_stopped_by_terminal */
    bool watched;      /* it may load another MPI's library unserved, and nobody has said so (strangers.h) */
};

/* How spawned jobs have ended.  With -with-ft the mpiexec of one that loses all its ranks ends by a signal. */
struct job_ends {
    int code;      /* of the first that failed; 0 */
    int lost_code; /* of the first whose mpiexec has ended by a signal, while ranks were connected to the job; 0 */
    bool lives; /* one has ended otherwise while ranks were connected to it */
};

struct crew {
    struct launch *launch;
    struct ku_segment *segments; /* a node; head is NULL if that is not here */
    struct crew_rank *ranks;     /* of the whole job */
    uint64_t job_id;
    uint8_t secret[KU_SECRET_BYTES];
    uint32_t universe; /* cores of all hosts; 0: this machine's */
    int signals, control[2];
    int alive;            /* ranks, wherever they are */
    int jobs;             /* that ranks here have spawned and that have not ended; */
    struct job_ends ends; /* and how others have */
    int free_jobs; /* those of them to which no rank is connected any more: they outlive this job's failure */

    /* What the daemon does with what comes. */
    void (*on_record)(const struct pmi_record *r, const char *bytes);
    void (*on_end)(int rank, pid_t pid, int status);
    void (*on_jobs)(void);                   /* `jobs` or `ends` has changed; NULL: whatever */
    void (*on_other)(pid_t pid, int status); /* a child that is no rank has ended; NULL: whatever */
    void (*on_parcel)(int to, const void *bytes, size_t len); /* for another host's servant (share.h) */
    int (*take_stdin)(int rank); /* to be closed when it is started; -1: none; NULL: as --stdin says */
};
extern struct crew crew;

static inline bool crew_is_here(int rank)
{
    return crew.segments[crew.launch->node_of[rank]].head != NULL;
}

#endif
