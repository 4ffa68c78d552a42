/* SPDX-License-Identifier: BSD-3-Clause */
/* threads: small messages of two ranks with several threads each.  usage: threads LEVEL THREADS separate|shared
 * SECONDS
 *
 * LEVEL is single, multiple, or funneled: then one more thread, which does nothing, is there all the time.  One
 * thread is the main one. Prints a line a metric: name, value, unit.  Thread i of rank 0 talks to thread i of rank
 * 1: on a communicator of its own, or all on one with a tag each. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, WINDOW = 64 };

struct thread {
    pthread_t thread;
    MPI_Comm comm;
    int tag;
    double messages, seconds;
};

static int rank, nthreads, latency;
static double duration;
static pthread_barrier_t meet;

/* Rank 0 tells after each round whether there is another. */
static int more(struct thread *t, double since)
{
    int go = MPI_Wtime() - since < duration;
    if (rank == 0)
        MPI_Send(&go, 1, MPI_INT, 1, t->tag, t->comm);
    else
        MPI_Recv(&go, 1, MPI_INT, 0, t->tag, t->comm, MPI_STATUS_IGNORE);
    return go;
}

static void rate_round(struct thread *t)
{
    static char buf[MOST][WINDOW][8];
    MPI_Request r[WINDOW];
    char ack = 0;
    int me = t->tag;
    for (int i = 0; i < WINDOW; i++)
        if (rank == 0)
            MPI_Isend(buf[me][i], 8, MPI_CHAR, 1, t->tag, t->comm, &r[i]);
        else
            MPI_Irecv(buf[me][i], 8, MPI_CHAR, 0, t->tag, t->comm, &r[i]);
    MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(&ack, 1, MPI_CHAR, 1, t->tag, t->comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(&ack, 1, MPI_CHAR, 0, t->tag, t->comm);
    t->messages += WINDOW;
}

static void latency_round(struct thread *t)
{
    char buf[8] = { 0 };
    for (int i = 0; i < WINDOW; i++) {
        if (rank == 0)
            MPI_Send(buf, 8, MPI_CHAR, 1, t->tag, t->comm);
        MPI_Recv(buf, 8, MPI_CHAR, 1 - rank, t->tag, t->comm, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buf, 8, MPI_CHAR, 0, t->tag, t->comm);
    }
    t->messages += 2 * WINDOW;
}

static void *run(void *arg)
{
    struct thread *t = arg;
    double since;
    if (nthreads > 1)
        pthread_barrier_wait(&meet);
    since = MPI_Wtime();
    t->messages = 0;
    do
        (latency ? latency_round : rate_round)(t);
    while (more(t, since));
    t->seconds = MPI_Wtime() - since;
    return NULL;
}

static void measure(struct thread *t)
{
    double rate = 0, half = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < nthreads && nthreads > 1; i++)
        pthread_create(&t[i].thread, NULL, run, &t[i]);
    for (int i = 0; i < nthreads; i++) {
        if (nthreads > 1)
            pthread_join(t[i].thread, NULL);
        else
            run(t);
        rate += t[i].messages / t[i].seconds;
        half += t[i].seconds / t[i].messages / nthreads;
    }
    if (rank == 0 && latency)
        printf("latency %.3f us\n", half * 1e6);
    else if (rank == 0)
        printf("rate %.4f M/s\n", rate * 1e-6);
}

static void *idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

int main(int argc, char **argv)
{
    static struct thread t[MOST];
    int level = argc > 1 && strcmp(argv[1], "single") == 0     ? MPI_THREAD_SINGLE
                : argc > 1 && strcmp(argv[1], "funneled") == 0 ? MPI_THREAD_FUNNELED
                                                               : MPI_THREAD_MULTIPLE,
        provided;
    pthread_t other;
    if (argc != 5 || (level == MPI_THREAD_FUNNELED && pthread_create(&other, NULL, idle, NULL) != 0))
        return 2;
    nthreads = atoi(argv[2]);
    duration = atof(argv[4]);
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < level || nthreads > MOST)
        MPI_Abort(MPI_COMM_WORLD, 3);
    pthread_barrier_init(&meet, NULL, (unsigned)nthreads);
    for (int i = 0; i < nthreads; i++) {
        t[i].tag = i;
        t[i].comm = MPI_COMM_WORLD;
        if (strcmp(argv[3], "separate") == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    for (latency = 0; latency < 2; latency++)
        measure(t);
    for (int i = 0; i < nthreads; i++)
        if (t[i].comm != MPI_COMM_WORLD)
            MPI_Comm_free(&t[i].comm);
    MPI_Finalize();
    return 0;
}
