/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c: see ranks.h. */
#define _GNU_SOURCE
#include "ranks.h"
#include <sys/mman.h>

struct crew crew;

int *launch_pids(int size)
{
    int *pids =
        mmap(NULL, (size_t)size * sizeof *pids, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pids == MAP_FAILED)
        die("no memory for the table of %d ranks", size);
    return pids;
}
