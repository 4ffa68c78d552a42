/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h: the ranks of this machine: their nodes' segments, their processes, and what these say to the daemon.
 *
 * The daemon that judges (node.c) has one for its own machine, the daemons of other hosts (host.c) have one each.  A
 * node is here if its segment is mapped; of a job that is on several hosts at most one is. */
#ifndef CREW_H
#define CREW_H

#include <stdint.h>
#include <sys/types.h>
#include "launch.h"
#include "pmi/pmi.h"
#include "start.h"
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

struct crew {
    struct launch *launch;
    struct ku_segment *segments; /* a node; head is NULL if that is not here */
    struct crew_rank *ranks;     /* of the whole job */
    uint64_t job_id;
    uint8_t secret[KU_SECRET_BYTES];
    uint32_t universe; /* cores of all hosts; 0: this machine's */
    int signals, control[2];
    int alive; /* ranks, wherever they are */
    /* Jobs that ranks here have spawned: how many have not ended; the exit code of the first that failed, 0. */
    int jobs, job_code;
    int free_jobs; /* those of them to which no rank is connected any more: they outlive this job's failure */

    /* What the daemon does with what comes. */
    void (*on_record)(const struct pmi_record *r, const char *bytes);
    void (*on_end)(int rank, pid_t pid, int status);
    void (*on_jobs)(void);                   /* `jobs` or `job_code` has changed; NULL: whatever */
    void (*on_other)(pid_t pid, int status); /* a child that is no rank has ended; NULL: whatever */
    void (*on_parcel)(int to, const void *bytes, size_t len); /* for another host's servant (share.h) */
    int (*take_stdin)(int rank); /* to be closed when it is started; -1: none; NULL: as --stdin says */
};
extern struct crew crew;

static inline bool crew_is_here(int rank)
{
    return crew.segments[crew.launch->node_of[rank]].head != NULL;
}

/* Begin: those signals that are blocked come through crew.signals from here on.  The limits of descriptors, as the ranks shall have them. */
struct rlimit crew_begin(struct launch *l);

/* A new job's id and secret; for the one who judges. */
void crew_new_job(void);

/* Make the segments of the nodes that are here, and plan where ranks run. */
void crew_make(void);

/* Start the ranks that are here; false with a message said and an exit code. */
bool crew_start(const struct start *st, int *code);

/* Children that have ended; before that is judged, what they have said is heard. */
void crew_reap(void);
/* What ranks say. */
void crew_hear(void);

/* Why a rank here ended so, if mpiexec knows better than its status tells; NULL.  To be freed. */
char *crew_why(int rank, int status);

/* To every process of the job here, or if these cannot be seen to each rank; but not to those in process group `but` (0: no
 * exception). */
void crew_signal(int sig, pid_t but);
void crew_signal_ranks(int sig, pid_t but);
/* The user's stop: until every rank stands still, or some time has passed. */
void crew_stop(pid_t but);

/* Jobs that ranks here have spawned and are connected to: their mpiexecs; at most `most`, returns how many there are. */
int crew_spawned(pid_t *pid, int most);

/* How many ranks here the terminal has stopped (SIGTTIN, SIGTTOU), as they are not in its foreground; `first` is told of each once. */
int crew_stopped_by_terminal(void (*first)(int rank, int sig));

/* Do the ranks wait in MPI_Init? */
void crew_hold(bool hold);
/* That rank has died: those who stay are to know. */
void crew_gone(int rank);

/* A descriptor for ranks to have, out of the way of what scripts do with theirs. */
int crew_high_fd(int fd);

#endif
