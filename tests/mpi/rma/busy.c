/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 */
/* across: the helper wakes by a descriptor, here by a word */
/* A target that computes, in no call of MPI, is locked, put to, updated, read and unlocked meanwhile: it goes on
 * when it sees the last of that in its memory, which it would not if the others had to wait for it. */
#include "rma.h"
#include <stdatomic.h>
#include <time.h>

enum { DONE = 1, SUM = 2, PUT = 8, ROUNDS = 3, LIMIT = 40 /* s */ };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(struct rma_win *w, long until)
{
    _Atomic long *done = (_Atomic long *)(void *)w->base + DONE;
    double end = now() + LIMIT;
    while (atomic_load(done) < until && now() < end)
        ;
    CHECK_EQ(atomic_load(done), until, "%s: while rank 0 computed", rma_kind[w->kind]);
}

static void use(struct rma_win *w, int round)
{
    long one = 1, mine = 100 * round + check_rank, is = -1;
    int lock = round % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    CHECK_EQ(MPI_Win_lock(lock, 0, 0, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(&mine, 1, MPI_LONG, 0, rma_at(w, 0, PUT + check_rank, 8), 1, MPI_LONG, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(&one, 1, MPI_LONG, 0, rma_at(w, 0, SUM, 8), 1, MPI_LONG, MPI_SUM, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(0, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Get(&is, 1, MPI_LONG, 0, rma_at(w, 0, PUT + check_rank, 8), 1, MPI_LONG, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(0, w->win), MPI_SUCCESS);
    CHECK_EQ(is, mine, "%s", rma_kind[w->kind]);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
    CHECK_EQ(MPI_Fetch_and_op(&one, &is, MPI_LONG, 0, rma_at(w, 0, DONE, 8), MPI_SUM, w->win), MPI_SUCCESS);
    MPI_Win_unlock(0, w->win);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 8 * (PUT + check_size), 8, MPI_COMM_WORLD))
            continue;
        for (int round = 0; round < ROUNDS; round++) {
            if (check_rank == 0)
                compute(&w, (long)(round + 1) * (check_size - 1));
            else
                use(&w, round);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (check_rank == 0)
            CHECK_EQ(((long *)(void *)w.base)[SUM], (long)ROUNDS * (check_size - 1));
        rma_close(&w);
    }
    return check_done();
}
