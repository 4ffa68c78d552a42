/* SPDX-License-Identifier: BSD-3-Clause */
/* raw.h: what programs over bare sockets have in common. */
#ifndef PERF_RAW_H
#define PERF_RAW_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
