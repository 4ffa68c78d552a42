/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* across: requests of accesses of other nodes are those of messages */
/* The forms with requests, short and long, waited for in any order, tested, and left to a flush. */
#include "rma.h"

static void all_four(struct rma_win *w, int n)
{
    int to = (check_rank + 1) % check_size;
    int *a = malloc((size_t)n * sizeof *a), *b = calloc((size_t)n, sizeof *b),
        *c = calloc((size_t)n, sizeof *c);
    MPI_Request r[4];
    MPI_Status st[4];
    for (int i = 0; i < n; i++)
        a[i] = i + check_rank;
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Rput(a, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, w->win, &r[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r[0], &st[0]), MPI_SUCCESS);
    MPI_Win_flush(to, w->win);
    CHECK_EQ(MPI_Raccumulate(a, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, MPI_SUM, w->win, &r[0]),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Rget_accumulate(a, n, MPI_INT, b, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, MPI_SUM,
                                 w->win, &r[1]),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Rget_accumulate(NULL, 0, MPI_INT, c, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT,
                                 MPI_NO_OP, w->win, &r[2]),
             MPI_SUCCESS);
    r[3] = MPI_REQUEST_NULL;
    CHECK_EQ(MPI_Waitall(4, r, st), MPI_SUCCESS);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += b[i] != 2 * a[i] || c[i] != 3 * a[i];
    CHECK_EQ(wrong, 0, "%s: elements of %d", rma_kind[w->kind], n);
    memset(b, 0, (size_t)n * sizeof *b);
    CHECK_EQ(MPI_Rget(b, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, w->win, &r[0]), MPI_SUCCESS);
    for (int flag = 0; !flag;)
        CHECK_EQ(MPI_Test(&r[0], &flag, &st[0]), MPI_SUCCESS);
    for (int i = wrong = 0; i < n; i++)
        wrong += b[i] != 3 * a[i];
    CHECK_EQ(wrong, 0, "%s: elements got of %d", rma_kind[w->kind], n);
    CHECK_EQ(MPI_Rget(c, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, w->win, &r[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Rput(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, w->win, &r[1]), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(to, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Waitall(2, r, st), MPI_SUCCESS); /* after the epoch */
    for (int i = wrong = 0; i < n; i++)
        wrong += c[i] != 3 * a[i];
    CHECK_EQ(wrong, 0, "%s: elements after unlock of %d", rma_kind[w->kind], n);
    free(a);
    free(b);
    free(c);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 30000 * 4, 4, MPI_COMM_WORLD))
            continue;
        all_four(&w, 2);
        all_four(&w, 600);
        all_four(&w, 30000);
        rma_close(&w);
    }
    return check_done();
}
