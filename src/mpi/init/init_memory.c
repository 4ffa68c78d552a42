/* SPDX-License-Identifier: BSD-3-Clause */
/* init_memory.c: MPI_Alloc_mem and MPI_Free_mem (10.2).
 *
 * A block lies on a cache line, or on what the info key mpi_minimum_memory_alignment asks for; the line before it
 * says where the memory begins.  The blocks that live are in a tree by their addresses, so a wrong base is found
 * out before anything is read there. */
#include "config.h"
#include "bodies.h"
#include <search.h>
#include <stdlib.h>
#include "mpi_err.h"
#include "info.h"
#include "util/lock.h"

enum { LINE = 64, LARGEST_ALIGNMENT = 1 << 30 };

static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);
static void *living KU_GUARDED_BY(lock); /* where the beginnings of blocks are said */

static int by_address(const void *a, const void *b)
{
    return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

/* Where the beginning of base's block is said. */
static void **label_of(void *base)
{
    return (void **)((uintptr_t)base - LINE);
}

static bool init_memory_note(void **label)
{
    ku_lock(&lock);
    bool noted = tsearch(label, &living, by_address) != NULL;
    ku_unlock(&lock);
    return noted;
}

/* False: there is no such one. */
static bool init_memory_forget(void **label)
{
    ku_lock(&lock);
    bool lives = tdelete(label, &living, by_address) != NULL;
    ku_unlock(&lock);
    return lives;
}

static int init_memory_no_memory(MPI_Aint size)
{
    return MPIR_Err(MPI_ERR_NO_MEM, "size", "is %lld bytes, which the system does not have", (long long)size);
}

/* At least a line, or what info wants; a wish that cannot be one says nothing. */
static int64_t alignment(const MPIR_Info *info)
{
    int64_t want = LINE;
    MPIR_Info_number(info, "mpi_minimum_memory_alignment", &want, NULL);
    bool can_be = want >= LINE && want <= LARGEST_ALIGNMENT && !(want & (want - 1));
    return can_be ? want : LINE;
}

int MPIR_Alloc_mem(MPI_Aint size, MPIR_Info *info, void *baseptr)
{
    void *block = NULL;
    int64_t align = alignment(info);
    if (size < 0)
        return MPIR_Err(MPI_ERR_ARG, "size", "is %lld; expected at least 0", (long long)size);
    if (size > INT64_MAX - 2 * align || posix_memalign(&block, (size_t)align, (size_t)(size + align)))
        return init_memory_no_memory(size);
    void *base = (char *)block + align;
    *label_of(base) = block;
    if (!init_memory_note(label_of(base))) {
        free(block);
        return init_memory_no_memory(size);
    }
    *(void **)baseptr = base;
    return 0;
}

int MPIR_Free_mem(void *base)
{
    if (!base)
        return 0;
    if (!init_memory_forget(label_of(base)))
        return MPIR_Err(MPI_ERR_BASE, "base",
                        "is %p; expected an address that MPI_Alloc_mem returned and that is not "
                        "freed yet",
                        base);
    free(*label_of(base));
    return 0;
}
