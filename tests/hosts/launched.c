/* SPDX-License-Identifier: BSD-3-Clause */
/* launched.c: what a program does under any launcher, with any MPI library: every rank talks to every other, short
 * and long.
 *   abort CODE, kill SIGNAL, exit CODE   the last rank aborts the job, dies, or ends with that code
 *   in                                   rank 0 reads a line and tells the others
 *   env NAME                             each tells its value
 *   names                                rank 0 publishes a port, which the others look up; rank 1 connects to it
 *   nodes                                each tells the first rank of its node
 *   shared                               they have a window of shared memory when the last one is killed
 *   stay SECONDS                         they tell that they are there, and sleep before they end */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void names(int rank)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other = MPI_COMM_NULL;
    int got = -1;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("a name", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Lookup_name("a name", MPI_INFO_NULL, port);
    if (rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (rank == 1)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (rank < 2) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&other);
        printf("rank %d met rank %d\n", rank, got);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Unpublish_name("a name", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank > 0 && MPI_Lookup_name("a name", MPI_INFO_NULL, port) == MPI_SUCCESS)
        printf("rank %d has found a name that is withdrawn\n", rank);
}

static void shared(int rank, int size)
{
    int *at;
    MPI_Win win;
    MPI_Win_allocate_shared(1 << 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
    MPI_Win_fence(0, win);
    if (rank == size - 1)
        raise(SIGKILL);
    MPI_Win_fence(0, win);
}

static void nodes(int rank)
{
    int first;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
    printf("rank %d is with %d\n", rank, first);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0, *universe, flag;
    static char big[300000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2 && rank == size - 1) {
        if (strcmp(argv[1], "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
        if (strcmp(argv[1], "kill") == 0)
            raise(atoi(argv[2]));
    }
    if (argc > 1 && strcmp(argv[1], "names") == 0)
        names(rank);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0)
        nodes(rank);
    if (argc > 1 && strcmp(argv[1], "shared") == 0)
        shared(rank, size);
    if (argc > 1 && strcmp(argv[1], "in") == 0) {
        char word[16] = "";
        if (rank == 0 && !fgets(word, sizeof word, stdin))
            return 9;
        MPI_Bcast(word, sizeof word, MPI_CHAR, 0, MPI_COMM_WORLD);
        printf("%d got %s\n", rank, strtok(word, "\n"));
    }
    if (argc > 2 && strcmp(argv[1], "env") == 0)
        printf("%d has %s\n", rank, getenv(argv[2]) ? getenv(argv[2]) : "nothing");
    if (argc > 2 && strcmp(argv[1], "stay") == 0) {
        printf("rank %d is there\n", rank);
        fflush(stdout);
        sleep((unsigned)atoi(argv[2]));
    }
    for (int i = 0; i < size; i++) { /* with each other rank, long and short */
        int to = (rank + i) % size, from = (rank - i + size) % size;
        MPI_Sendrecv_replace(big, i % 2 ? 300000 : 8, MPI_CHAR, to, i, from, i, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    if (sum != size * (size - 1) / 2)
        return 8;
    printf("rank %d of %d\n", rank, size);
    MPI_Finalize();
    return argc > 2 && strcmp(argv[1], "exit") == 0 && rank == size - 1 ? atoi(argv[2]) : 0;
}
