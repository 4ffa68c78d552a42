/* SPDX-License-Identifier: BSD-3-Clause */
/* startup: what starting and ending a job costs, measured by the job itself.  usage: startup [init | memory |
 * alltoall]
 *
 * Without a word it only begins and ends: whoever started it takes the time.  With -DNO_MPI it does nothing at
 * all: the same program without MPI. */
#ifdef NO_MPI
int main(void)
{
    return 0;
}
#else
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* The median over the ranks of a value of each, on rank 0. */
static double median(double mine, int rank, int size)
{
    double *all = malloc((size_t)size * sizeof *all), x = 0;
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) {
        int below = 0, equal = 0;
        for (int j = 0; j < size; j++) {
            below += all[j] < all[i];
            equal += all[j] == all[i];
        }
        if (below <= size / 2 && size / 2 < below + equal)
            x = all[i];
    }
    free(all);
    return x;
}

static double field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? atof(at + strlen(name)) : 0;
}

/* What each rank adds to the machine: after all have met, before any other message. */
static void memory(int rank, int size)
{
    char text[4096];
    int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double mine[2] = { field(text, "\nPss:"), field(text, "\nPrivate_Dirty:") }, sum[2];
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pss@%d %.6g KB\nprivate_dirty@%d %.6g KB\n", size, sum[0] / size, size, sum[1] / size);
}

static void alltoall(int rank, int size)
{
    long long *all = malloc(2 * (size_t)size * sizeof *all), one = 1, sum = 0;
    double start = us();
    MPI_Allreduce(&one, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    double middle = us();
    for (int i = 0; i < size; i++)
        all[i] = (long long)rank * size + i;
    MPI_Alltoall(all, 1, MPI_LONG_LONG, all + size, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    double end = us();
    for (int i = 0; i < size; i++)
        if (sum != size || all[size + i] != (long long)i * size + rank)
            MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        printf("allreduce@%d %.6g ms\nalltoall@%d %.6g ms\n", size, (middle - start) / 1e3, size,
               (end - middle) / 1e3);
    free(all);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size;
    double start = us();
    MPI_Init(&argc, &argv);
    double took = us() - start;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "init") == 0) {
        double mid = median(took, rank, size);
        if (rank == 0)
            printf("init@%d %.6g us\n", size, mid);
    } else if (strcmp(what, "memory") == 0) {
        memory(rank, size);
    } else if (strcmp(what, "alltoall") == 0) {
        alltoall(rank, size);
    }
    MPI_Finalize();
    return 0;
}
#endif
