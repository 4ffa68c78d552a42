/* SPDX-License-Identifier: BSD-3-Clause */
/* LD_PRELOAD: the N-th allocation of a process fails (N in NOMALLOC_N), and all after it if NOMALLOC_EVER is set.
 * Only in programs whose name is NOMALLOC_PROGRAM: the others' children are not what is tested. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static long count = -1; /* -1: not known yet; 0: never */
static bool ever;

static void look(void)
{
    const char *n = getenv("NOMALLOC_N"), *program = getenv("NOMALLOC_PROGRAM");
    count = n && program && strcmp(program, program_invocation_short_name) == 0 ? atol(n) : 0;
    ever = getenv("NOMALLOC_EVER") != NULL;
}

static bool fails(void)
{
    if (count < 0)
        look();
    if (count == 0 || (count > 1 && count--))
        return false;
    if (!ever)
        count = 0;
    static const char done[] = "nomalloc: failed\n";
    if (getenv("NOMALLOC_FD") && write(atoi(getenv("NOMALLOC_FD")), done, sizeof done - 1) < 0)
        abort();
    errno = ENOMEM;
    return true;
}

__attribute__((visibility("default"))) void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
