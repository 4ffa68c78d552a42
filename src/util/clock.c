/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

const struct ku_service *ku_service;

uint64_t ku_clock_tick_ns(void)
{
    struct timespec t;
    if (clock_getres(CLOCK_MONOTONIC, &t) != 0 || (t.tv_sec == 0 && t.tv_nsec == 0))
        return 1;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
