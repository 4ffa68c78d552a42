/* SPDX-License-Identifier: BSD-3-Clause */
/* nomem.h: a program's k-th allocation from now on fails; for programs that then call the library, which allocates
 * with what it finds in the program. */
#ifndef NOMEM_H
#define NOMEM_H

#include "check.h"
#include <stdlib.h>

static long left; /* allocations until one fails; 0: none does */
static int failed;

#ifndef __SANITIZE_ADDRESS__ /* which has its own malloc: see main */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t m);
extern void *__libc_realloc(void *p, size_t n);

static int fails(void)
{
    if (left == 0 || --left > 0)
        return 0;
    failed = 1;
    return 1;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t m)
{
    return fails() ? NULL : __libc_calloc(n, m);
}
void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
#endif

/* The k-th allocation of the victim fails from now on. */
static void nomem_begin(int victim, long k)
{
    failed = 0;
    left = check_rank == victim ? k : 0;
}

/* No more do; returns whether one has.  Without that the call, which has returned err, must have succeeded in the
 * victim. */
static int nomem_end(int kind, int victim, int err)
{
    left = 0;
    CHECK(failed || check_rank != victim || err == MPI_SUCCESS, "call %d fails by itself", kind);
    return failed;
}

#endif
