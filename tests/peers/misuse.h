/* SPDX-License-Identifier: BSD-3-Clause */
/* misuse.h: what the rows of misuse.c share. */
#ifndef MISUSE_H
#define MISUSE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ABSENT = -1, NONSENSE = -2, MOST = 64 };
#define W MPI_COMM_WORLD
#define S MPI_COMM_SELF
#define I MPI_INT
#define NOBODY MPI_PROC_NULL
#define NEW(version) (MPI_VERSION * 10 + MPI_SUBVERSION >= (version))

static int a[MOST], b[MOST], rank, size;
static int ones[MOST], zeros[MOST], minus[MOST];
static MPI_Status st;
static MPI_Request req = MPI_REQUEST_NULL;

static MPI_Request active_receive(void)
{
    MPI_Request r;
    MPI_Irecv(a, 1, I, 0, 99, S, &r);
    return r;
}
static MPI_Request inactive_receive(void)
{
    MPI_Request r;
    MPI_Recv_init(a, 1, I, 0, 99, S, &r);
    return r;
}
static MPI_Datatype vector(int committed)
{
    MPI_Datatype t;
    MPI_Type_vector(2, 1, 2, I, &t);
    if (committed)
        MPI_Type_commit(&t);
    return t;
}
static MPI_Group first_of_world(void)
{
    MPI_Group world, g;
    MPI_Comm_group(W, &world);
    MPI_Group_incl(world, 1, zeros, &g);
    return g;
}
static MPI_Comm grid(void)
{
    MPI_Comm c;
    MPI_Cart_create(S, 1, ones, zeros, 0, &c);
    return c;
}
static MPI_Win window(void)
{
    MPI_Win w;
    int *base;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, W, &base, &w);
    memset(base, 0, 64);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    return w;
}
static MPI_File file(int mode)
{
    char name[64];
    MPI_File f;
    snprintf(name, sizeof name, "misuse-%d.data", (int)getpid());
    MPI_File_open(S, name, MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | mode, MPI_INFO_NULL, &f);
    return f;
}
static MPI_Info info(const char *key, const char *value)
{
    MPI_Info i;
    MPI_Info_create(&i);
    if (key)
        MPI_Info_set(i, (char *)key, (char *)value);
    return i;
}
static int first_error(int x, int y)
{
    return x ? x : y;
}

#endif
