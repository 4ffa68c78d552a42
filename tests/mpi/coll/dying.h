/* SPDX-License-Identifier: BSD-3-Clause */
/* dying.h: an operation in the middle of which the last rank dies, for tests of who is told. */
#ifndef COLL_DYING_H
#define COLL_DYING_H

#include "../check.h"
#include <signal.h>
#include <unistd.h>

/* A sum of int; the last rank ends with code 3 when it is called for the 20th time. */
static void add_and_die(void *in, void *inout, int *len, MPI_Datatype *type)
{
    static int calls;
    (void)type;
    if (check_rank == check_size - 1 && ++calls == 20)
        _exit(3);
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* mpiexec will soon end those who are left: on a busy machine before they have told. */
static void outlive(void)
{
    signal(SIGTERM, SIG_IGN);
}

#endif
