/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.h: mpiexec's stdin for every rank (-stdin all), or for the one of another host that reads it. */
#ifndef FEED_H
#define FEED_H

#include "pmi/launch/job/launch.h"

/* Before anything else of the job is made: start what will copy stdin.  `front` and `signals` are this process's
 * descriptors that the copier must not keep.  Dies on errors. */
void feed_start(const struct launch *l, int front, int signals);

/* The stdin of `rank`, to be closed when it has been started; -1: it is not fed. */
int feed_take(int rank);

#endif
