/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_pmix.h: PMIx for the ranks of this machine, by the server of libpmix; for the servant alone. */
#ifndef SERVE_PMIX_H
#define SERVE_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pmi/launch/frames/frame_pack.h"

/* Load libpmix and tell it the job.  NULL; or why it does not work, to be freed. */
char *serve_pmix_begin(void);

/* What this rank is to have in its environment: NAME=VALUE, each with a 0 at its end.  NULL; or why there is
 * nothing, to be freed. */
char *serve_pmix_environment(int rank, struct pack *p);

/* What libpmix's thread wants is done by the main one: a descriptor that can be read when there is something; do
 * one of these. */
int serve_pmix_shifts(void);
void serve_pmix_shift(void);

/* The servants of jobs that ranks have spawned by PMIx: a descriptor, the same all the time, that can be read when
 * one has said something. */
int serve_pmix_youngers(void);
void serve_pmix_hear_youngers(void);

/* When serve_pmix_on_time is to be called; 0: never. */
double serve_pmix_due(void);
void serve_pmix_on_time(void);

/* A question of another host has come, for share_ops.asked. */
bool serve_pmix_asked(int from, uint32_t id, int what, const char *bytes, size_t len);

#endif
