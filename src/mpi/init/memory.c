/* memory.c: MPI_Alloc_mem and MPI_Free_mem (10.2).
 *
 * A block lies on a cache line; the line before it holds its own address mixed with a constant, so that most
 * wrong bases are found out.  (Reading that line is safe: free() itself reads there.) */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "err.h"

enum { LINE = 64 };
static const uint64_t mark = 0x6b65656c2d6d656dull;

static uint64_t *mark_of(void *base)
{
    return (uint64_t *)((char *)base - sizeof(uint64_t));
}

int MPIR_Alloc_mem(MPI_Aint size, MPIR_Info *info, void *baseptr)
{
    void *block = NULL;
    (void)info; /* the key mpi_minimum_memory_alignment comes with info objects */
    if (size < 0)
        return MPIR_Err(MPI_ERR_ARG, "size", "is %lld; expected at least 0", (long long)size);
    if (size > INT64_MAX - 2 * LINE || posix_memalign(&block, LINE, (size_t)size + LINE))
        return MPIR_Err(MPI_ERR_NO_MEM, "size", "is %lld bytes, which the system does not have",
                        (long long)size);
    void *base = (char *)block + LINE;
    *mark_of(base) = mark ^ (uintptr_t)base;
    *(void **)baseptr = base;
    return 0;
}

int MPIR_Free_mem(void *base)
{
    if (!base)
        return 0;
    if ((uintptr_t)base % LINE || *mark_of(base) != (mark ^ (uintptr_t)base))
        return MPIR_Err(MPI_ERR_BASE, "base",
                        "is %p; expected an address that MPI_Alloc_mem returned and that is not "
                        "freed yet",
                        base);
    *mark_of(base) = 0;
    free((char *)base - LINE);
    return 0;
}
