/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of survivors, in us but where said, by rank 0 of what lives: "agree", "allreduce" (8 bytes, of the same
 * ranks, in turns), "shrink" of a communicator without failures; then the last rank dies, and the others hear of it
 * by a barrier: "revoke": from the call at rank 0 to the last member's error (clocks of one host); "shrink_dead":
 * the first shrink after the death; "agree_dead": agreements without that rank.  Needs a library with
 * MPIX_Comm_agree and its like. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, by_size);
    return t[n / 2];
}

static double agree(MPI_Comm comm, int times)
{
    int flag = 1;
    double t = now();
    for (int i = 0; i < times; i++)
        MPIX_Comm_agree(comm, &flag);
    return (now() - t) / times;
}

static double allreduce(MPI_Comm comm, int times)
{
    double in = 1, out, t = now();
    for (int i = 0; i < times; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
    return (now() - t) / times;
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 20, times = argc > 2 ? atoi(argv[2]) : 20;
    double t[3][100];
    MPI_Comm comm, made, left;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rounds = rounds < 100 ? rounds : 100;
    agree(comm, 3);
    allreduce(comm, 3);
    for (int i = 0; i < rounds; i++) {
        t[0][i] = agree(comm, times);
        t[1][i] = allreduce(comm, times);
        double begin = now();
        MPIX_Comm_shrink(comm, &made);
        t[2][i] = now() - begin;
        MPI_Comm_free(&made);
    }
    if (rank == 0)
        printf("agree %.3f us\nallreduce %.3f us\nshrink %.3f us\n", median(t[0], rounds),
               median(t[1], rounds), median(t[2], rounds));
    fflush(stdout);
    if (size < 3) {
        MPI_Finalize();
        return 0;
    }
    MPI_Barrier(comm);
    if (rank == size - 1) {
        raise(SIGKILL);
        pause();
    }
    double heard = 0, began = 0, first = 0, last = 0;
    if (rank == 0) {
        struct timespec while_others_wait = { 0, 200000000 };
        nanosleep(&while_others_wait, NULL); /* all wait by now */
        began = now();
        MPIX_Comm_revoke(comm);
        heard = now();
    } else { /* a receive that nothing else ends */
        int v;
        MPI_Recv(&v, 1, MPI_INT, 0, 77, comm, MPI_STATUS_IGNORE);
        heard = now();
    }
    double begin = now();
    MPIX_Comm_shrink(comm, &left);
    double shrunk = now() - begin;
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Allreduce(&began, &first, 1, MPI_DOUBLE, MPI_MAX, left);
    MPI_Allreduce(&heard, &last, 1, MPI_DOUBLE, MPI_MAX, left);
    for (int i = 0; i < rounds; i++)
        t[0][i] = agree(left, times);
    MPIX_Comm_failure_ack(comm);
    for (int i = 0; i < rounds; i++)
        t[1][i] = agree(comm, times);
    if (rank == 0)
        printf("revoke %.3f us\nshrink_dead %.3f us\nagree_dead %.3f us\n", last - first, shrunk,
               median(t[1], rounds));
    fflush(stdout);
    MPI_Comm_free(&left);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
