/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned.h: what programs of this folder share that spawn children of the same program. */
#ifndef SPAWNED_H
#define SPAWNED_H

#include "../check.h"
#include <sys/syscall.h>
#include <unistd.h>

/* May a process share memory with another job here at all? */
CHECK_UNUSED static int may_share(void)
{
    const char *devices = getenv("KEEL_DEVICES");
    long fd = -1;
#ifdef SYS_pidfd_open
    fd = syscall(SYS_pidfd_open, getpid(), 0);
#endif
    if (fd >= 0)
        close((int)fd);
    return fd >= 0 && (devices == NULL || strstr(devices, "shmem") != NULL);
}

/* Spawn `children`, or be one; all of both jobs, parents first.  *inter: the others. */
CHECK_UNUSED static MPI_Comm all_of_both(char *program, int children, MPI_Comm *inter)
{
    MPI_Comm parent, all;
    MPI_Comm_get_parent(&parent);
    *inter = parent;
    if (parent == MPI_COMM_NULL)
        CHECK_EQ(MPI_Comm_spawn(program, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
    MPI_Intercomm_merge(*inter, parent != MPI_COMM_NULL, &all);
    return all;
}

#endif
