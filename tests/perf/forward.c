/* SPDX-License-Identifier: BSD-3-Clause */
/* forward: messages for forward.test, which traces one rank's loads and stores. usage: forward BASE ONE BYTES WAY
 * TIMES: rank 0 and rank 1 send to each other TIMES times, one message there and one back (WAY "plain",
 * "persistent" or "partitioned"), or nonblocking ones, as many as WAY says, there and one back; rank ONE writes to
 * the file BASE where the library lies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, PARTITIONS = 16 };
static char *buf;
static int rank, bytes;
static MPI_Request send, receive;

static void one_each_way(void)
{
    if (rank == 0)
        MPI_Send(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buf, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(buf, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

/* The same with requests that are made once; `partitions`: 0, or of each message. */
static void make(int partitions)
{
    int n = partitions ? bytes / partitions : bytes;
    if (partitions) {
        MPI_Psend_init(buf, partitions, n, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
        MPI_Precv_init(buf, partitions, n, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    } else {
        MPI_Send_init(buf, n, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &send);
        MPI_Recv_init(buf, n, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &receive);
    }
}
static void go(int partitions)
{
    MPI_Start(&send);
    if (partitions)
        MPI_Pready_range(0, partitions - 1, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}
static void made(int partitions)
{
    MPI_Start(&receive);
    if (rank == 0)
        go(partitions);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    if (rank == 1)
        go(partitions);
}

static void window(int n)
{
    MPI_Request r[MOST];
    char end = 0;
    for (int i = 0; i < n; i++)
        if (rank == 0)
            MPI_Isend(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Irecv(buf, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(&end, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&end, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
}

static int tell(const char *name)
{
    Dl_info where;
    FILE *f = fopen(name, "w");
    if (!f || !dladdr((void *)(intptr_t)MPI_Send, &where))
        return 2;
    fprintf(f, "%p %s\n", where.dli_fbase, where.dli_fname);
    return fclose(f);
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    bool partitioned = strcmp(argv[4], "partitioned") == 0,
         requests = partitioned || strcmp(argv[4], "persistent") == 0;
    int partitions = partitioned ? PARTITIONS : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = atoi(argv[3]);
    buf = calloc((size_t)bytes + 1, 1);
    if (!buf || atoi(argv[4]) > MOST || (rank == atoi(argv[2]) && tell(argv[1]) != 0))
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (requests)
        make(partitions);
    for (int i = 0; i < atoi(argv[5]); i++)
        if (requests)
            made(partitions);
        else if (atoi(argv[4]) > 0)
            window(atoi(argv[4]));
        else
            one_each_way();
    if (requests) {
        MPI_Request_free(&send);
        MPI_Request_free(&receive);
    }
    MPI_Finalize();
    free(buf);
    return 0;
}
