/* forward: messages for forward.test, which traces one rank's loads and stores. usage: forward BASE ONE BYTES WINDOW TIMES: rank 0 and rank 1
 * send to each other TIMES times, one message there and one back (WINDOW 0), or WINDOW nonblocking ones there and one back; rank ONE writes
 * to the file BASE where the library lies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };
static char *buf;
static int rank, bytes;

static void one_each_way(void)
{
    if (rank == 0)
        MPI_Send(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buf, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(buf, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
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
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = atoi(argv[3]);
    buf = calloc((size_t)bytes + 1, 1);
    if (!buf || atoi(argv[4]) > MOST || (rank == atoi(argv[2]) && tell(argv[1]) != 0))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < atoi(argv[5]); i++)
        if (atoi(argv[4]) == 0)
            one_each_way();
        else
            window(atoi(argv[4]));
    MPI_Finalize();
    free(buf);
    return 0;
}
