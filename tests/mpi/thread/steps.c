/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that each have large nonblocking, persistent and blocking collectives under way on a communicator of
 * their own. */
/* ranks: 1 2 4 */
/* cflags: -pthread */
/* timeout: 120 */
#include "thread.h"

enum { N = 40000, BLOCK = 10000, ROUNDS = 30 };

static int value(const struct thread *me, int rank, int round, int i)
{
    return (rank * 64 + me->id) * 1000 + round * 31 + i;
}

static int sum(const struct thread *me, int round, int i)
{
    int all = 0;
    for (int r = 0; r < check_size; r++)
        all += value(me, r, round, i);
    return all;
}

static void one_round(struct thread *me, MPI_Request again, int *out, int *in, int *all, int *swapped,
                      int round)
{
    int bad = 0;
    MPI_Request r[3] = { again };
    for (int i = 0; i < N; i++)
        out[i] = value(me, check_rank, round, i);
    MPI_Start(&r[0]);
    MPI_Iallreduce(out, in, N, MPI_INT, MPI_SUM, me->comm, &r[1]);
    MPI_Ialltoall(out, BLOCK, MPI_INT, swapped, BLOCK, MPI_INT, me->comm, &r[2]);
    if (thread_random(me, 3) == 0)
        MPI_Wait(&r[1 + thread_random(me, 2)], MPI_STATUS_IGNORE);
    if (round % 3 == 0)
        MPI_Allreduce(MPI_IN_PLACE, &round, 1, MPI_INT, MPI_MAX, me->comm);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        bad += in[i] != sum(me, round, i);
    for (int k = 0; k < check_size; k++)
        for (int i = 0; i < BLOCK; i++) {
            bad += all[k * BLOCK + i] != value(me, k, round, i);
            bad += swapped[k * BLOCK + i] != value(me, k, round, check_rank * BLOCK + i);
        }
    THREAD_CHECK(bad == 0, "%d wrong in round %d of thread %d", bad, round, me->id);
}

static void work(struct thread *me)
{
    int *out = malloc(4 * N * sizeof *out), *in = malloc(N * sizeof *in);
    int *all = malloc(4 * BLOCK * sizeof *all), *swapped = malloc(4 * BLOCK * sizeof *swapped);
    MPI_Request again;
    for (int i = 0; i < 6; i++)
        MPI_Barrier(me->comm); /* it has a team now */
    MPI_Allgather_init(out, BLOCK, MPI_INT, all, BLOCK, MPI_INT, me->comm, MPI_INFO_NULL, &again);
    for (int round = 0; round < ROUNDS; round++)
        one_round(me, again, out, in, all, swapped, round);
    MPI_Request_free(&again);
    free(out), free(in), free(all), free(swapped);
}

int main(int argc, char **argv)
{
    threads_run(&argc, &argv, work, 2);
    return check_done();
}
