/* SPDX-License-Identifier: BSD-3-Clause */
/* The info key mpi_minimum_memory_alignment of MPI_Alloc_mem; wrong values; bases that are none. */
/* ranks: 1 2 */
#include "../check.h"

static MPI_Info alignment(const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", value);
    return info;
}

static void aligned(int bytes)
{
    enum { BLOCKS = 5, SIZE = 1000 };
    char *block[BLOCKS], text[16];
    sprintf(text, " %d ", bytes);
    MPI_Info info = alignment(text);
    for (int i = 0; i < BLOCKS; i++) {
        MPI_Alloc_mem(SIZE, info, &block[i]);
        CHECK_EQ((uintptr_t)block[i] % (uintptr_t)bytes, 0, "%d", bytes);
        check_fill(block[i], SIZE, (uint64_t)i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_BYTES(block[i], SIZE, (uint64_t)i);
        MPI_Free_mem(block[i]);
    }
    MPI_Info_free(&info);
}

/* A wish that cannot be one says nothing. */
static void ignored(const char *value)
{
    MPI_Info info = alignment(value);
    void *p = NULL;
    CHECK_ERR(MPI_Alloc_mem(100, info, &p), MPI_SUCCESS);
    check_fill(p, 100, 1);
    CHECK_EQ(MPI_Free_mem(p), MPI_SUCCESS);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    for (int bytes = 1; bytes <= 1 << 20; bytes *= 4)
        aligned(bytes);
    ignored("48");
    ignored("0");
    ignored("-64");
    ignored("page");
    ignored("12345678901234567890");
    return check_done();
}
