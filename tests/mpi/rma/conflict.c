/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: KEEL_CHECK_RMA=1 */
/* across: the target is told by messages anyway, from another node as well */
/* KEEL_CHECK_RMA: accesses that conflict within an epoch are told with the rank, the bytes and both calls; those
 * that do not are not. */
#include "rma.h"

/* In a fence, rank 0 and the last one; told by the second one's completion. */
static void fences(struct rma_win *w, int last)
{
    int v[8] = { 0 }, err;
    MPI_Win_fence(0, w->win);
    MPI_Put(v, 1, MPI_INT, 0, rma_at(w, 0, check_rank, 4), 1, MPI_INT, w->win); /* each its own */
    CHECK_EQ(MPI_Win_fence(0, w->win), MPI_SUCCESS);
    MPI_Get(v, 8, MPI_INT, 0, rma_at(w, 0, 0, 4), 8, MPI_INT, w->win);
    MPI_Accumulate(v, 4, MPI_INT, 0, rma_at(w, 0, 8, 4), 4, MPI_INT, MPI_SUM, w->win);
    CHECK_EQ(MPI_Win_fence(0, w->win), MPI_SUCCESS);
    if (check_rank == last) {
        CHECK_EQ(MPI_Put(v, 2, MPI_INT, 0, rma_at(w, 0, 2, 4), 2, MPI_INT, w->win), MPI_SUCCESS);
        MPI_Get(v, 4, MPI_INT, 0, rma_at(w, 0, 3, 4), 4, MPI_INT, w->win);
        err = MPI_Win_fence(0, w->win);
        CHECK_ERR(err, MPI_ERR_RMA_CONFLICT);
        CHECK_SAYS("MPI_Get");
        CHECK_SAYS("MPI_Put");
        CHECK_SAYS(check_text("of rank %d", last));
    } else {
        CHECK_EQ(MPI_Win_fence(0, w->win), MPI_SUCCESS);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

/* Passive targets: a flush ends it; another's access meanwhile does not. */
static void locks(struct rma_win *w, int last)
{
    long v = 0, got;
    MPI_Win_lock_all(0, w->win);
    if (check_rank == last) {
        MPI_Put(&v, 1, MPI_LONG, 0, rma_at(w, 0, 0, 8), 1, MPI_LONG, w->win);
        CHECK_EQ(MPI_Win_flush(0, w->win), MPI_SUCCESS);
        MPI_Get(&got, 1, MPI_LONG, 0, rma_at(w, 0, 0, 8), 1, MPI_LONG, w->win);
        CHECK_EQ(MPI_Win_flush(0, w->win), MPI_SUCCESS);
        MPI_Fetch_and_op(&v, &got, MPI_LONG, 0, rma_at(w, 0, 1, 8), MPI_SUM, w->win);
        MPI_Compare_and_swap(&v, &v, &got, MPI_LONG, 0, rma_at(w, 0, 1, 8), w->win);
        CHECK_EQ(MPI_Win_flush(0, w->win), MPI_SUCCESS);
        MPI_Accumulate(&v, 1, MPI_LONG, 0, rma_at(w, 0, 2, 8), 1, MPI_LONG, MPI_SUM, w->win);
        MPI_Put(&v, 1, MPI_LONG, 0, rma_at(w, 0, 2, 8), 1, MPI_LONG, w->win);
        CHECK_ERR(MPI_Win_flush(0, w->win), MPI_ERR_RMA_CONFLICT);
        CHECK_SAYS("MPI_Accumulate of rank");
        MPI_Put(&v, 1, MPI_LONG, 0, rma_at(w, 0, 3, 8), 1, MPI_LONG, w->win); /* not completed yet */
        MPI_Win_flush_local(0, w->win);
        MPI_Get(&got, 1, MPI_LONG, 0, rma_at(w, 0, 4, 8), 1, MPI_LONG, w->win); /* so the put has come */
        MPI_Win_flush_local(0, w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == last - 1 && last > 1) {
        MPI_Put(&v, 1, MPI_LONG, 0, rma_at(w, 0, 3, 8), 1, MPI_LONG, w->win);
        CHECK_ERR(MPI_Win_flush(0, w->win), MPI_ERR_RMA_CONFLICT);
        CHECK_SAYS(check_text("MPI_Put of rank %d", last));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Win_unlock_all(w->win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The target's own accesses count, too. */
static void own(struct rma_win *w, int last)
{
    long v = 0;
    MPI_Win_fence(0, w->win);
    if (check_rank == last) {
        MPI_Put(&v, 1, MPI_LONG, last, rma_at(w, last, 0, 8), 1, MPI_LONG, w->win);
        CHECK_ERR(MPI_Put(&v, 1, MPI_LONG, last, rma_at(w, last, 0, 8), 1, MPI_LONG, w->win),
                  MPI_ERR_RMA_CONFLICT);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 256, 1, MPI_COMM_WORLD))
            continue;
        MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
        fences(&w, check_size - 1);
        locks(&w, check_size - 1);
        own(&w, check_size - 1);
        rma_close(&w);
    }
    return check_done();
}
