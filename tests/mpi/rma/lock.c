/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* across: locks of other nodes are messages */
/* Locks: exclusive ones keep others out (a counter that is read and written loses nothing), shared ones and
 * lock_all let them in; flush in all its forms; atomics under contention. */
#include "rma.h"

enum { ROUNDS = 40 };

static void exclusive(struct rma_win *w)
{
    for (int i = 0; i < ROUNDS; i++) {
        int target = (check_rank + i) % check_size;
        long v = -1;
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Get(&v, 1, MPI_LONG, target, rma_at(w, target, 0, 8), 1, MPI_LONG, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(target, w->win), MPI_SUCCESS);
        v++;
        CHECK_EQ(MPI_Put(&v, 1, MPI_LONG, target, rma_at(w, target, 0, 8), 1, MPI_LONG, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock(target, w->win), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long all = 0, mine;
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    memcpy(&mine, w->base, sizeof mine);
    MPI_Win_unlock(check_rank, w->win);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, (long)ROUNDS * check_size, "%s: increments under exclusive locks", rma_kind[w->kind]);
}

static void all(struct rma_win *w)
{
    long one = 1, old = -1, sum = 0, swapped = 0;
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < ROUNDS; i++) {
        int target = (check_rank + i) % check_size;
        CHECK_EQ(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, rma_at(w, target, 1, 8), MPI_SUM, w->win),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Accumulate(&one, 1, MPI_LONG, 0, rma_at(w, 0, 2, 8), 1, MPI_LONG, MPI_SUM, w->win),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush_local(target, w->win), MPI_SUCCESS);
        CHECK(old >= 0, "fetched %ld", old);
    }
    MPI_Win_flush_all(w->win);
    for (int done = 0; done < ROUNDS;) {
        long is, want, next;
        MPI_Fetch_and_op(NULL, &is, MPI_LONG, 0, rma_at(w, 0, 3, 8), MPI_NO_OP, w->win);
        MPI_Win_flush(0, w->win);
        want = is;
        next = is + 1;
        CHECK_EQ(MPI_Compare_and_swap(&next, &want, &is, MPI_LONG, 0, rma_at(w, 0, 3, 8), w->win),
                 MPI_SUCCESS);
        MPI_Win_flush_local_all(w->win);
        done += is == want;
        swapped++;
    }
    CHECK(swapped >= ROUNDS, "%ld swaps", swapped);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    long *mine = (long *)(void *)w->base;
    MPI_Allreduce(&mine[1], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, (long)ROUNDS * check_size, "%s: fetch and op", rma_kind[w->kind]);
    if (check_rank == 0) {
        CHECK_EQ(mine[2], (long)ROUNDS * check_size, "%s: accumulates", rma_kind[w->kind]);
        CHECK_EQ(mine[3], (long)ROUNDS * check_size, "%s: compare and swap", rma_kind[w->kind]);
    }
    MPI_Win_unlock(check_rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 64, 8, MPI_COMM_WORLD))
            continue;
        exclusive(&w);
        all(&w);
        MPI_Barrier(MPI_COMM_WORLD);
        rma_close(&w);
    }
    return check_done();
}
