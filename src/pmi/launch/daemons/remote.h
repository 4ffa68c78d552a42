/* SPDX-License-Identifier: BSD-3-Clause */
/* remote.h: the other hosts of a job, as the daemon that judges sees them.  Nothing here does anything in a job of
 * one machine. */
#ifndef REMOTE_H
#define REMOTE_H

#include <poll.h>
#include "body.h"
#include "cards.h"
#include "pmi/launch/job/ranks.h"
#include "host.h"

/* What becomes known, once each. */
struct remote_ops {
    void (*record)(const struct pmi_record *r, const char *bytes, bool found_gone);
    void (*ended)(int rank, const struct frame_ended *e, const char *why); /* crew's ranks are up to date */
    void (*failed)(int code); /* ranks of a host could not be started; it was said why */
    void (*lost)(int node, const char *why);
    void (*have)(const struct card_answer *a);                       /* again and again */
    void (*parcel)(int from, int to, const void *bytes, size_t len); /* likewise; to: SHARE_ALL, too */
};

/* Start the daemons of the other hosts. */
void remote_start(const struct remote_ops *ops);
/* Have all answered?  Then they may be told the job. */
bool remote_ready(void);
/* Or are there some of which nothing is known yet: they have neither answered nor been lost? */
bool remote_unknown(void);
void remote_launch(void);
/* Are all ranks there started? */
bool remote_started(void);

/* Jobs that ranks there have spawned and that have not ended; how others have. */
int remote_jobs(void);
const struct job_ends *remote_job_ends(void);

void remote_signal(int sig);
/* Hosts that have not told yet that their ranks stand still. */
int remote_stopping(void);
void remote_kill(void);
void remote_kill_rank(int rank, bool in_mpi); /* as crew_kill */
/* The card of a rank there is wanted on `node`; a card is there that was wanted on a->node. */
void remote_want(uint32_t rank, uint32_t epoch, int node);
void remote_card(const struct card_answer *a);
/* A parcel for the servant of a host, or of all. */
void remote_parcel(int from, int to, const void *bytes, size_t len);
void remote_gone(int rank, enum ku_gone how);
void remote_release(void);

/* Ask the hosts what the profile says; what they answer goes to prof_take. */
void remote_profile(void);

/* For poll, as fleet.h has it; and what has come is heard. */
int remote_room(void);
int remote_polls(struct pollfd *p);
void remote_move(void);
double remote_due(void);

/* What do the ranks there wait for?  hang_take is told; then: have all answered? */
void remote_ask(int question);
bool remote_hear(int question);
/* The same of what has been heard already.  Of ASK_WHETHER_THERE: all that happened before has been told. */
bool remote_answered(int question);

/* End what is left there, and hear the last of it; at most so long as a host may be silent. */
void remote_end(void);

#endif
