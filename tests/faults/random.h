/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h: for the programs that try hostile input of their own making: numbers that a seed decides, and a
 * failure that names the seed. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state, seed;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* PROGRAM is defined before: its name. */
static void fail(const char *what)
{
    printf("FAILED: %s; " PROGRAM " - %llu\n", what, (unsigned long long)seed);
    exit(1);
}

#endif
