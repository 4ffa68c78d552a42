/* memory.c: MPI_Alloc_mem and MPI_Free_mem (10.2).
 *
 * A block lies on a cache line, or on what the info key mpi_minimum_memory_alignment asks for; the line before it holds its own
 * address mixed with a constant, so that most wrong bases are found out, and where the memory begins.  (Reading that line is
 * safe: free() itself reads there.) */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "err.h"
#include "info.h"

enum { LINE = 64, LARGEST_ALIGNMENT = 1 << 30 };
static const uint64_t mark = 0x6b65656c2d6d656dull;

struct label {
    uint64_t mark;
    void *block;
};

static struct label *label_of(void *base)
{
    return (struct label *)((char *)base - LINE);
}

/* At least a line, or what info wants. */
static int64_t alignment(const MPIR_Info *info, int *err)
{
    int64_t want = LINE;
    if (MPIR_Info_number(info, "mpi_minimum_memory_alignment", &want, err) &&
        (want < 1 || want > LARGEST_ALIGNMENT || (want & (want - 1))))
        *err =
            MPIR_Err(MPI_ERR_INFO_VALUE, "info",
                     "has the value %lld for mpi_minimum_memory_alignment; expected a power of two up to %d",
                     (long long)want, LARGEST_ALIGNMENT);
    return want < LINE ? LINE : want;
}

int MPIR_Alloc_mem(MPI_Aint size, MPIR_Info *info, void *baseptr)
{
    void *block = NULL;
    int err = 0;
    int64_t align = alignment(info, &err);
    if (err)
        return err;
    if (size < 0)
        return MPIR_Err(MPI_ERR_ARG, "size", "is %lld; expected at least 0", (long long)size);
    if (size > INT64_MAX - 2 * align || posix_memalign(&block, (size_t)align, (size_t)(size + align)))
        return MPIR_Err(MPI_ERR_NO_MEM, "size", "is %lld bytes, which the system does not have",
                        (long long)size);
    void *base = (char *)block + align;
    *label_of(base) = (struct label){ mark ^ (uintptr_t)base, block };
    *(void **)baseptr = base;
    return 0;
}

int MPIR_Free_mem(void *base)
{
    if (!base)
        return 0;
    if ((uintptr_t)base % LINE || label_of(base)->mark != (mark ^ (uintptr_t)base))
        return MPIR_Err(MPI_ERR_BASE, "base",
                        "is %p; expected an address that MPI_Alloc_mem returned and that is not "
                        "freed yet",
                        base);
    label_of(base)->mark = 0;
    free(label_of(base)->block);
    return 0;
}
