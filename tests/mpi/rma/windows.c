/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 */
/* part: long */
/* timeout: 300 */
/* 10,000 windows made and freed, of all kinds, leave nothing behind: neither context ids nor memory of the node
 * run out. */
#include "rma.h"

enum { WINDOWS = 10000 };

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int i = 0; i < WINDOWS; i++) {
        struct rma_win w;
        long one = 1, old = -1;
        int to = (check_rank + i) % check_size;
        rma_open(&w, i % RMA_KINDS, 4096, 8, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, w.win);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, to, rma_at(&w, to, 1, 8), MPI_SUM, w.win);
        MPI_Win_unlock(to, w.win);
        CHECK_EQ(old, 0, "window %d", i);
        MPI_Barrier(MPI_COMM_WORLD);
        rma_close(&w);
    }
    return check_done();
}
