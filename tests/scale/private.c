/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI takes of each process's own memory: each starts MPI, exchanges a message with two neighbours, and says
 * how many bytes of the heap are in use and how many KB of anonymous memory are resident; rank 0 prints the least
 * of each, in bytes: what every process has.  Buffers of connections, which come and go with the luck of a
 * process, are not in it. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Of /proc/self/smaps_rollup, in bytes; -1: the kernel does not say. */
static long anonymous(void)
{
    static char text[4096]; /* no memory of the heap is to come and go for this */
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    long kb = -1;
    if (f == NULL)
        return -1;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    const char *at = strstr(text, "Anonymous:");
    return at != NULL && sscanf(at, "Anonymous: %ld", &kb) == 1 ? kb * 1024 : -1;
}

static long heap(void)
{
    struct mallinfo2 m = mallinfo2();
    return (long)(m.uordblks + m.hblkhd);
}

int main(int argc, char **argv)
{
    int rank, size, in[2] = { -1, -1 };
    long mine[2], least[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, left, 2, &in[1], 1, MPI_INT, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[0] != left || in[1] != right)
        MPI_Abort(MPI_COMM_WORLD, 3);
    mine[1] = anonymous();
    mine[0] = heap();
    MPI_Reduce(mine, least, 2, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("heap %ld anonymous %ld\n", least[0], least[1]);
    MPI_Finalize();
    return 0;
}
