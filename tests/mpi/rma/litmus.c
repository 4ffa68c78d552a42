/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* across: the order of messages is another than that of stores */
/* What the memory models promise, in small programs run many times: what must never be seen is not seen.
 *   handing over    data, then a flag, with a flush in between: who sees the flag sees the data
 *   two flags       each of two processes raises its own and then reads the other's: not both read nothing; both
 *                   flags in the memory of one of them, raised by each call that can
 *   one order       fetched values of one counter never go back
 *   public, private  a store of the target, made public by MPI_Win_sync or the end of its own lock, is what others
 *   get; what others put is
 *                   what the target loads after its lock or MPI_Win_sync (both models: no private copy may be read
 *                   without) */
#include "rma.h"
#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 20, DATA = 0, FLAG = 8 /* another line */, OWN = 16 /* and 24 */, COUNT = 32, WORDS = 40 };

static long fetch(struct rma_win *w, int target, int at)
{
    long v = -1;
    MPI_Fetch_and_op(NULL, &v, MPI_LONG, target, rma_at(w, target, at, 8), MPI_NO_OP, w->win);
    MPI_Win_flush(target, w->win);
    return v;
}

static void replace(struct rma_win *w, int target, int at, long v)
{
    MPI_Accumulate(&v, 1, MPI_LONG, target, rma_at(w, target, at, 8), 1, MPI_LONG, MPI_REPLACE, w->win);
    MPI_Win_flush(target, w->win);
}

/* From rank 0 to the others by way of the last one's memory; the data are put, the flag is replaced. */
static void hand_over(struct rma_win *w)
{
    int home = check_size - 1;
    for (long k = 1; k <= ROUNDS; k++) {
        if (check_rank == 0) {
            long data = 7 * k;
            MPI_Put(&data, 1, MPI_LONG, home, rma_at(w, home, DATA, 8), 1, MPI_LONG, w->win);
            MPI_Win_flush(home, w->win);
            replace(w, home, FLAG, k);
        } else {
            long got = -1;
            while (fetch(w, home, FLAG) < k)
                sched_yield();
            MPI_Get(&got, 1, MPI_LONG, home, rma_at(w, home, DATA, 8), 1, MPI_LONG, w->win);
            MPI_Win_flush(home, w->win);
            CHECK_EQ(got, 7 * k, "%s", rma_kind[w->kind]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void two_flags(struct rma_win *w)
{
    for (long k = 1; k <= ROUNDS; k++) {
        long seen = 1, both[2] = { 1, 1 };
        if (check_rank < 2) {
            replace(w, check_rank, OWN, k);
            seen = fetch(w, 1 - check_rank, OWN) >= k;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank < 2)
            both[check_rank] = seen;
        MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
        CHECK(both[0] || both[1], "%s, round %ld: neither has seen the other's flag", rma_kind[w->kind], k);
    }
}

/* The ways to raise a flag; 1: a fetch of something else comes between. */
static void raise_flag(struct rma_win *w, int how, int home, int at, long k)
{
    long old, was = k - 1;
    if (how == 0 || how == 1)
        MPI_Put(&k, 1, MPI_LONG, home, rma_at(w, home, at, 8), 1, MPI_LONG, w->win);
    if (how == 1)
        MPI_Fetch_and_op(&k, &old, MPI_LONG, home, rma_at(w, home, COUNT, 8), MPI_NO_OP, w->win);
    if (how == 2)
        MPI_Fetch_and_op(&k, &old, MPI_LONG, home, rma_at(w, home, at, 8), MPI_REPLACE, w->win);
    if (how == 3)
        MPI_Accumulate(&k, 1, MPI_LONG, home, rma_at(w, home, at, 8), 1, MPI_LONG, MPI_MAX, w->win);
    if (how == 4)
        MPI_Compare_and_swap(&k, &was, &old, MPI_LONG, home, rma_at(w, home, at, 8), w->win);
    MPI_Win_flush(home, w->win);
}

/* Where load and store reach the flags, a flush that were no fence would be seen among these rounds, where the two
 * run at once.  The two run side by side:
 * each begins a round when it has seen the other's flag of the round before. */
static void two_near_flags(struct rma_win *w, int how)
{
    int many = (w->kind == 0 || w->kind == 3) && rma_one_node(MPI_COMM_WORLD) ? 10000 : 30;
    int home = check_size - 1, other = 1 - check_rank;
    long *mine = check_rank < 2 ? calloc((size_t)many + 1, sizeof *mine) : NULL, zero = 0;
    if (check_rank < 2) {
        MPI_Put(&zero, 1, MPI_LONG, home, rma_at(w, home, OWN + 8 * check_rank, 8), 1, MPI_LONG, w->win);
        MPI_Win_flush(home, w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (long k = 1; k <= many && check_rank < 2; k++) {
        raise_flag(w, how, home, OWN + 8 * check_rank, k);
        MPI_Get(&mine[k], 1, MPI_LONG, home, rma_at(w, home, OWN + 8 * other, 8), 1, MPI_LONG, w->win);
        MPI_Win_flush(home, w->win);
        int looks = 0;
        for (long seen = mine[k]; seen < k; looks++) {
            if (looks > 200) /* the two share a core */
                sched_yield();
            MPI_Get(&seen, 1, MPI_LONG, home, rma_at(w, home, OWN + 8 * other, 8), 1, MPI_LONG, w->win);
            MPI_Win_flush(home, w->win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        MPI_Send(mine, many + 1, MPI_LONG, 0, 3, MPI_COMM_WORLD);
    if (check_rank == 0) {
        long *theirs = calloc((size_t)many + 1, sizeof *theirs), wrong = 0;
        MPI_Recv(theirs, many + 1, MPI_LONG, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (long k = 1; k <= many; k++)
            wrong += mine[k] < k && theirs[k] < k;
        CHECK_EQ(wrong, 0L, "%s, way %d: neither saw the other's flag, of %d rounds", rma_kind[w->kind], how,
                 many);
        free(theirs);
    }
    free(mine);
}

static void one_order(struct rma_win *w)
{
    long one = 1, last = -1, old = -1;
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, rma_at(w, 0, COUNT, 8), MPI_SUM, w->win);
        MPI_Win_flush(0, w->win);
        CHECK(old > last, "%s: %ld after %ld", rma_kind[w->kind], old, last);
        last = old;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(fetch(w, 0, COUNT), (long)ROUNDS * check_size, "%s", rma_kind[w->kind]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Within an epoch, by MPI_Win_sync on both sides of a barrier. */
static void synchronized(struct rma_win *w)
{
    volatile long *mine = (volatile long *)(void *)w->base;
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (long k = 1; k <= ROUNDS; k++) {
        long got = -1, put = 1000 * k + check_rank;
        mine[DATA] = 100 * k + check_rank;
        MPI_Win_sync(w->win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Get(&got, 1, MPI_LONG, to, rma_at(w, to, DATA, 8), 1, MPI_LONG, w->win);
        MPI_Put(&put, 1, MPI_LONG, to, rma_at(w, to, FLAG, 8), 1, MPI_LONG, w->win);
        MPI_Win_flush(to, w->win);
        CHECK_EQ(got, 100 * k + to, "%s", rma_kind[w->kind]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(w->win);
        CHECK_EQ(mine[FLAG], 1000 * k + from, "%s", rma_kind[w->kind]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The separate model: the target's loads and stores within locks of its own part. */
static void separate(struct rma_win *w)
{
    volatile long *mine = (volatile long *)(void *)w->base;
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (long k = 1; k <= ROUNDS; k++) {
        long got = -1, put = 2000 * k + check_rank;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, w->win);
        mine[DATA] = 300 * k + check_rank;
        MPI_Win_unlock(check_rank, w->win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
        MPI_Get(&got, 1, MPI_LONG, to, rma_at(w, to, DATA, 8), 1, MPI_LONG, w->win);
        MPI_Put(&put, 1, MPI_LONG, to, rma_at(w, to, FLAG, 8), 1, MPI_LONG, w->win);
        MPI_Win_unlock(to, w->win);
        CHECK_EQ(got, 300 * k + to, "%s", rma_kind[w->kind]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
        CHECK_EQ(mine[FLAG], 2000 * k + from, "%s", rma_kind[w->kind]);
        MPI_Win_unlock(check_rank, w->win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 8 * WORDS, 8, MPI_COMM_WORLD))
            continue;
        MPI_Win_lock_all(0, w.win);
        hand_over(&w);
        two_flags(&w);
        for (int how = 0; how < 5; how++)
            two_near_flags(&w, how);
        one_order(&w);
        synchronized(&w);
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        separate(&w);
        rma_close(&w);
    }
    return check_done();
}
