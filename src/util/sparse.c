/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "sparse.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static bool is_small(size_t n)
{
    return n <= KU_SPARSE_SMALL;
}

/* One page at a time: a huge page would be memory for a quarter of a million entries. */
static void **in_small_pages(void *p, size_t n)
{
    if (p == MAP_FAILED)
        return NULL;
    if (n * sizeof(void *) >= HUGE_PAGE)
        madvise(p, n * sizeof(void *), MADV_NOHUGEPAGE);
    return p;
}

void **ku_sparse_new(size_t n)
{
    if (is_small(n))
        return calloc(n > 0 ? n : 1, sizeof(void *));
    return in_small_pages(mmap(NULL, n * sizeof(void *), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                          n);
}

void **ku_sparse_grow(void **at, size_t n, size_t more)
{
    if (!is_small(n))
        return in_small_pages(mremap(at, n * sizeof(void *), more * sizeof(void *), MREMAP_MAYMOVE), more);
    void **larger = ku_sparse_new(more);
    if (larger == NULL)
        return NULL;
    memcpy(larger, at, n * sizeof(void *));
    free(at);
    return larger;
}

void ku_sparse_free(void **at, size_t n)
{
    if (at == NULL || is_small(n))
        free(at);
    else
        munmap(at, n * sizeof(void *));
}
