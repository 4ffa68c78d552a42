/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads, each with a communicator of its own, one after the other: what each stores and loads in its calls
 * lies between accesses to marks, whose addresses are printed.  lines.test reads the trace.  Rank 1 receives. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* (Before the marked calls so few that a thread still has requests in reserve, and no send looks at the devices.) */
enum { CALLS = 8, KINDS = 2, WARM = 1 };
static _Alignas(64) volatile int mark[KINDS][2][2][16]; /* kind of call, thread, begin and end */
static MPI_Comm comm[2];
static pthread_barrier_t turn;

static void receives(int t, MPI_Request *r, int *buf)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Irecv(&buf[i], 1, MPI_INT, 1, 5, comm[t], &r[i]);
}

static void sends(int t, MPI_Request *r, int *buf)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Isend(&buf[i], 1, MPI_INT, 1, 6, comm[t], &r[i]);
}

/* One thread after the other; in between the other one sleeps at the barrier. */
static void in_turn(int t, int marked, int kind, MPI_Request *r, int *buf)
{
    for (int k = 0; k < 2; k++) {
        if (k == t) {
            usleep(20000);
            if (marked)
                mark[kind][t][0][0] = 1;
            (kind == 0 ? receives : sends)(t, r, buf);
            if (marked)
                mark[kind][t][1][0] = 1;
        }
        pthread_barrier_wait(&turn);
    }
}

static void round_of(int t, int marked)
{
    MPI_Request in[CALLS], out[CALLS];
    int a[CALLS], b[CALLS] = { 0 };
    in_turn(t, marked, 0, in, a);
    in_turn(t, marked, 1, out, b);
    MPI_Waitall(CALLS, out, MPI_STATUSES_IGNORE);
    MPI_Waitall(CALLS, in, MPI_STATUSES_IGNORE);
}

static void *work(void *arg)
{
    int t = arg != NULL;
    for (int i = 0; i <= WARM; i++) {
        pthread_barrier_wait(&turn);
        round_of(t, i == WARM);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 2; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]);
    if (rank == 0) {
        pthread_t other;
        for (int k = 0; k < KINDS; k++)
            for (int t = 0; t < 2; t++)
                fprintf(stderr, "marks %d %d %p %p\n", k, t, (void *)mark[k][t][0], (void *)mark[k][t][1]);
        pthread_barrier_init(&turn, NULL, 2);
        pthread_create(&other, NULL, work, &turn);
        work(NULL);
        pthread_join(other, NULL);
    } else {
        int x = 0;
        for (int i = 0; i < (WARM + 1) * CALLS; i++)
            for (int t = 0; t < 2; t++) {
                MPI_Recv(&x, 1, MPI_INT, 0, 6, comm[t], MPI_STATUS_IGNORE);
                MPI_Send(&x, 1, MPI_INT, 0, 5, comm[t]);
            }
    }
    for (int t = 0; t < 2; t++)
        MPI_Comm_free(&comm[t]);
    MPI_Finalize();
    return 0;
}
