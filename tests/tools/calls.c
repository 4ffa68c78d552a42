/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses a bit of everything and notes each of its own MPI calls, for pmpi.test: at the end it writes
 * a line "MPI_X count" for each to $MADE.RANK.  Valid in C and in C++. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

enum { MOST = 200, N = 4 };

static struct {
    const char *name;
    long n;
} made[MOST];

static void note(const char *name)
{
    int i = 0;
    while (made[i].name && strcmp(made[i].name, name))
        i++;
    made[i].name = name;
    made[i].n++;
}
#define CALL(f, ...) (note(#f), f(__VA_ARGS__))

static void report(void)
{
    char path[1000];
    snprintf(path, sizeof path, "%s.%s", getenv("MADE"), getenv("PMI_RANK") ? getenv("PMI_RANK") : "0");
    FILE *f = fopen(path, "w");
    for (int i = 0; made[i].name; i++)
        fprintf(f, "%s %ld\n", made[i].name, made[i].n);
    fclose(f);
}

static int handler_runs;

static void handler(MPI_Comm *comm, int *code, ...)
{
    int errclass;
    (void)comm;
    CALL(MPI_Error_class, *code, &errclass);
    handler_runs++;
}

static void largest(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int size;
    CALL(MPI_Type_size, *type, &size); /* a call of the program, though the library calls us */
    for (int i = 0; i < *len; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void messages(MPI_Comm comm, int rank, int size)
{
    int in = -1, out = rank, flag = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request r[2];
    MPI_Status s[2];
    MPI_Message message;
    CALL(MPI_Sendrecv, &out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
    CALL(MPI_Irecv, &in, 1, MPI_INT, left, 2, comm, &r[0]);
    CALL(MPI_Issend, &out, 1, MPI_INT, right, 2, comm, &r[1]);
    CALL(MPI_Waitall, 2, r, s);
    CALL(MPI_Get_count, &s[0], MPI_INT, &in);
    CALL(MPI_Isend, &out, 1, MPI_INT, right, 3, comm, &r[0]);
    CALL(MPI_Mprobe, left, 3, comm, &message, &s[0]);
    CALL(MPI_Mrecv, &in, 1, MPI_INT, &message, &s[0]);
    while (!flag)
        CALL(MPI_Test, &r[0], &flag, MPI_STATUS_IGNORE);
}

static void buffered(int rank, int size)
{
    static char space[1000];
    void *back;
    int in, bytes;
    CALL(MPI_Buffer_attach, space, (int)sizeof space);
    CALL(MPI_Bsend, &rank, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD);
    CALL(MPI_Recv, &in, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Buffer_detach, &back, &bytes);
}

static void collectives(MPI_Comm comm, int rank)
{
    int in[N] = { rank, 1, 2, 3 }, out[N], all[N * 64];
    MPI_Op op;
    CALL(MPI_Op_create, largest, 1, &op);
    CALL(MPI_Allreduce, in, out, N, MPI_INT, op, comm);
    CALL(MPI_Op_free, &op);
    CALL(MPI_Bcast, in, N, MPI_INT, 0, comm);
    CALL(MPI_Reduce, in, out, N, MPI_INT, MPI_SUM, 0, comm);
    CALL(MPI_Allgather, in, N, MPI_INT, all, N, MPI_INT, comm);
    CALL(MPI_Alltoall, MPI_IN_PLACE, 0, MPI_INT, all, N, MPI_INT, comm);
    CALL(MPI_Scan, in, out, N, MPI_INT, MPI_SUM, comm);
    CALL(MPI_Barrier, comm);
}

static void communicators(int rank, int size)
{
    MPI_Comm copy, half, shared, made_of_group;
    MPI_Group group;
    MPI_Errhandler errhandler;
    int n;
    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &copy);
    CALL(MPI_Comm_split, copy, rank % 2, rank, &half);
    CALL(MPI_Comm_split_type, copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    CALL(MPI_Comm_group, copy, &group);
    CALL(MPI_Comm_create, copy, group, &made_of_group);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Comm_create_errhandler, handler, &errhandler);
    CALL(MPI_Comm_set_errhandler, copy, errhandler);
    CALL(MPI_Errhandler_free, &errhandler);
    CALL(MPI_Send, &n, 1, MPI_INT, size, 0, copy); /* no such rank */
    collectives(half, rank);
    CALL(MPI_Comm_free, &made_of_group);
    CALL(MPI_Comm_free, &shared);
    CALL(MPI_Comm_free, &half);
    CALL(MPI_Comm_free, &copy);
}

static void types_and_infos(void)
{
    MPI_Datatype pair;
    MPI_Info info;
    MPI_Aint lb, extent;
    void *memory;
    CALL(MPI_Type_contiguous, 2, MPI_INT, &pair);
    CALL(MPI_Type_commit, &pair);
    CALL(MPI_Type_get_extent, pair, &lb, &extent);
    CALL(MPI_Type_free, &pair);
    CALL(MPI_Info_create, &info);
    CALL(MPI_Info_set, info, "key", "value");
    CALL(MPI_Alloc_mem, 100, info, &memory);
    CALL(MPI_Free_mem, memory);
    CALL(MPI_Info_free, &info);
    CALL(MPI_Pcontrol, 1, "more", 2);
}

int main(int argc, char **argv)
{
    int rank = -1, size = 0, flag = -1;
    MPI_Count wide;
    CALL(MPI_Initialized, &flag);
    CALL(MPI_Init, &argc, &argv);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    messages(MPI_COMM_WORLD, rank, size);
    buffered(rank, size);
    collectives(MPI_COMM_WORLD, rank);
    communicators(rank, size);
    types_and_infos();
    CALL(MPI_Type_size_c, MPI_DOUBLE, &wide);
    double start = CALL(MPI_Wtime);
    while (CALL(MPI_Wtime) <= start)
        ;
    CALL(MPI_Finalize);
    CALL(MPI_Finalized, &flag);
    report();
    if (handler_runs != 1 || wide != 8 || flag != 1) {
        fprintf(stderr, "rank %d: %d runs of the error handler, %d bytes, flag %d\n", rank, handler_runs,
                (int)wide, flag);
        return 1;
    }
    return 0;
}
