/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h: the one clock for timeouts, spinning and measurements. */
#ifndef KU_CLOCK_H
#define KU_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>
#ifndef KEEL_PLUGIN /* which is linked with nothing of ours */
#include "service.h"
#endif

/* Nanoseconds since some fixed time in the past; the same in all processes of this machine, never goes back.
 * (The vDSO reads the time-stamp counter itself where that is safe, and costs 20 to 30 ns.) */
static inline uint64_t ku_clock_ns(void)
{
    struct timespec t;
#ifndef KEEL_PLUGIN
    if (__builtin_expect(ku_service != NULL, 0) && ku_service->now != NULL)
        return ku_service->now(ku_service->self);
#endif
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock's step in nanoseconds. */
uint64_t ku_clock_tick_ns(void);

#endif
