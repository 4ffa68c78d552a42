/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h: starting the processes of one section. */
#ifndef START_H
#define START_H

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "pmi/launch/job/launch.h"
#include "pmi/launch/mapping/bind.h"

struct ku_seg_place;

/* What all ranks share. */
struct start {
    const struct launch *launch;
    int control_fd;
    unsigned long long job_id;
    struct rlimit nofile; /* as mpiexec was started */
};

/* Where a rank is: its number there, how many there are, its node's segment. */
struct place {
    int rank, local, nlocal, segment_fd;
    const cpu_set_t *cpus;      /* to be bound to; NULL: not at all */
    struct ku_seg_place *where; /* what its segment says of that */
    struct thread_advice told;  /* of its threads */
    int pmi_fd;                 /* the rank's PMI_FD; -1: it has none */
    char **pmix;                /* NAME=VALUE for PMIx; NULL: it is not served that */
    int unbound;                /* out: the error if the kernel refused that */
};

/* Is the job so large that the daemon keeps what ranks are not to have in descriptors above theirs? */
bool start_shares_files(const struct launch *l);

/* How one section's ranks are started: made once, used for each rank. */
struct starter;

/* Find the program and lay out the environment.  NULL with *code (EXIT_NOT_FOUND, ...) and a message said. */
struct starter *starter_new(const struct start *s, const struct app *app, int appnum, int *code);
void starter_free(struct starter *s);
/* What to tell the user if the loader does not find what this program needs (needs_lost); NULL: it should. */
const char *starter_lost(const struct starter *s);

/* Is it known already what becomes of another MPI's library in these ranks?  They are served, or the user has been
 * told. */
bool starter_unwatched(const struct starter *s);
/* Are these ranks to be served PMI (serve.h)? */
bool starter_pmi(const struct starter *s);
/* PMIx?  Until it is told that this does not work. */
bool starter_pmix(const struct starter *s);
void starter_no_pmix(struct starter *s, const char *why);

/* Start the rank of `at`.  fd[0..2] become its stdin, stdout and stderr; join_front: it stays in the front's process
 * group (it may read the terminal), else it gets a group of its own.  Its pid, or -1 with *code and a message
 * said. */
pid_t starter_run(struct starter *s, struct place *at, const int fd[3], bool join_front, int *code);

#endif
