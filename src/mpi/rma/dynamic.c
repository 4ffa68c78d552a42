/* SPDX-License-Identifier: BSD-3-Clause */
/* dynamic.c: memory that is attached to dynamic windows: regions by address, none overlaps another. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <string.h>
#include "rma.h"

/* The first region that ends behind `at`. */
static int32_t dynamic_find(const struct rma *r, const char *at)
{
    int32_t low = 0, high = r->regions;
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if ((uintptr_t)r->region[mid].base + (uintptr_t)r->region[mid].size <= (uintptr_t)at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Regions that touch are one to an access. */
bool MPIR_Rma_Attached(const struct rma *r, const char *at, int64_t n)
{
    uintptr_t from = (uintptr_t)at, end = from + (uintptr_t)n;
    for (int32_t i = dynamic_find(r, at); i < r->regions; i++) {
        uintptr_t begins = (uintptr_t)r->region[i].base;
        if (begins > from)
            return false;
        from = begins + (uintptr_t)r->region[i].size;
        if (from >= end)
            return true;
    }
    return false;
}

static int check_dynamic(const MPIR_Win *win)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return 0;
    return MPIR_Err(MPI_ERR_RMA_FLAVOR, "win",
                    "is no dynamic window; expected one that MPI_Win_create_dynamic made");
}

static bool reserve(struct rma *r)
{
    if (r->regions < r->room)
        return true;
    int32_t room = r->room ? 2 * r->room : 8;
    struct rma_region *more = realloc(r->region, (size_t)room * sizeof *more);
    if (!more)
        return false;
    r->region = more;
    r->room = room;
    return true;
}

int MPIR_Win_attach(MPIR_Win *win, void *base, MPI_Aint size)
{
    struct rma *r = win->rma;
    int err = check_dynamic(win);
    if (err)
        return err;
    if (size < 0 || (uintptr_t)base + (uintptr_t)size < (uintptr_t)base)
        return MPIR_Err(MPI_ERR_SIZE, "size", "is %lld at %p; expected 0 or more bytes of memory",
                        (long long)size, base);
    if (size == 0)
        return 0;
    int32_t i = dynamic_find(r, base);
    if (i < r->regions && (uintptr_t)r->region[i].base < (uintptr_t)base + (uintptr_t)size)
        return MPIR_Err(MPI_ERR_RMA_ATTACH, "base",
                        "is %p with %lld bytes, which overlap the %lld bytes at %p that are attached already",
                        base, (long long)size, (long long)r->region[i].size, (void *)r->region[i].base);
    if (!reserve(r))
        return MPIR_Err(MPI_ERR_RMA_ATTACH, NULL, "no memory to attach one more region (%d are)", r->regions);
    memmove(&r->region[i + 1], &r->region[i], (size_t)(r->regions - i) * sizeof *r->region);
    r->region[i] = (struct rma_region){ base, size };
    r->regions++;
    return 0;
}

int MPIR_Win_detach(MPIR_Win *win, const void *base)
{
    struct rma *r = win->rma;
    int err = check_dynamic(win);
    if (err)
        return err;
    int32_t i = dynamic_find(r, base);
    if (i == r->regions || r->region[i].base != base)
        return MPIR_Err(MPI_ERR_RMA_ATTACH, "base", "is %p, which is not the beginning of attached memory",
                        base);
    r->regions--;
    memmove(&r->region[i], &r->region[i + 1], (size_t)(r->regions - i) * sizeof *r->region);
    return 0;
}
