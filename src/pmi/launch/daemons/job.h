/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h: a job as the daemons of other hosts are told it. */
#ifndef JOB_H
#define JOB_H

#include "pmi/launch/job/ranks.h"
#include "pmi/launch/frames/frame_pack.h"

/* What one needs to start its part: the command line's, environment, directory, umask; id and secret. */
void job_put(struct pack *p);
/* Take it as this process's own: fills in `l`, whose `here` is known, crew's id and secret, and sets environment,
 * directory and umask. NULL, or what is wrong. */
char *job_get(struct unpack *u, struct launch *l);

#endif
