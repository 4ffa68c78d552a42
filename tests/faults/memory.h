/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: for programs that compile parts of mpiexec: its util.c's functions, which end a job without memory.
 * After random.h. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "pmi/launch/job/launch.h"

void *xalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        fail("no memory");
    return p;
}

void *xgrow(void *p, size_t n, size_t size)
{
    void *q = realloc(p, n && size ? n * size : 1);
    if (!q)
        fail("no memory");
    return q;
}

char *xformat(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        fail("no memory");
    va_end(args);
    return text;
}

#endif
