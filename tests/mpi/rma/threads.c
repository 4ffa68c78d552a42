/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* across: threads that wait for answers by messages */
/* cflags: -pthread */
/* Several threads of each process use one window at once, under MPI_THREAD_MULTIPLE: accesses and flushes in an
 * epoch of MPI_Win_lock_all that the main thread has begun; each thread has its own elements, and all update
 * common ones. */
#include "rma.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, OWN = 8 };

static struct rma_win w;
static _Atomic int wrong;

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int k = 0; k < ROUNDS; k++) {
        int to = (check_rank + k) % check_size;
        long one = 1, old = -1, mine = 1000 * check_rank + 10 * k + me, is = -1;
        MPI_Aint at = rma_at(&w, to, OWN + check_rank * THREADS + me, 8);
        MPI_Request r;
        MPI_Accumulate(&one, 1, MPI_LONG, to, rma_at(&w, to, 0, 8), 1, MPI_LONG, MPI_SUM, w.win);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, to, rma_at(&w, to, 1, 8), MPI_SUM, w.win);
        MPI_Put(&mine, 1, MPI_LONG, to, at, 1, MPI_LONG, w.win);
        MPI_Win_flush(to, w.win);
        MPI_Rget(&is, 1, MPI_LONG, to, at, 1, MPI_LONG, w.win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        wrong += old < 0 || is != mine;
        if (k % 8 == 0)
            MPI_Win_flush_all(w.win);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        if (!rma_open(&w, kind, 8 * (OWN + THREADS * check_size), 8, MPI_COMM_WORLD))
            continue;
        MPI_Win_lock_all(0, w.win);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        const long *mine = (const long *)(const void *)w.base;
        CHECK_EQ(mine[0], (long)ROUNDS * THREADS, "%s", rma_kind[kind]);
        CHECK_EQ(mine[1], (long)ROUNDS * THREADS, "%s", rma_kind[kind]);
        CHECK_EQ(wrong, 0, "%s", rma_kind[kind]);
        rma_close(&w);
    }
    return check_done();
}
