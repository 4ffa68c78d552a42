/* SPDX-License-Identifier: BSD-3-Clause */
/* io.h: what the tests of files share: the file's name, the same in all ranks, and gone at the end. */
#ifndef TEST_IO_H
#define TEST_IO_H

#include <unistd.h>
#include "../check.h"

static char io_name[256] CHECK_UNUSED;

/* A name that no other test has; the file is not there. */
CHECK_UNUSED static const char *io_file(const char *what)
{
    const char *dir = getenv("TMPDIR");
    if (check_rank == 0) {
        snprintf(io_name, sizeof io_name, "%s/keel-io-%s-%ld", dir ? dir : "/tmp", what, (long)getpid());
        unlink(io_name);
    }
    MPI_Bcast(io_name, sizeof io_name, MPI_CHAR, 0, MPI_COMM_WORLD);
    return io_name;
}

CHECK_UNUSED static void io_remove(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        unlink(io_name);
}

CHECK_UNUSED static int io_count(const MPI_Status *status)
{
    int n = -7;
    MPI_Get_count(status, MPI_BYTE, &n);
    return n;
}

#endif
