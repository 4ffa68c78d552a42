/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* across: accesses of other nodes are messages */
/* Put, get and accumulate between fences, from every rank to every rank, in windows of every kind; short and long;
 * assertions. */
#include "rma.h"

enum { N = 40000 };

static void puts_and_gets(struct rma_win *w, int n)
{
    int *mine = (int *)(void *)w->base, *buf = malloc((size_t)n * sizeof *buf);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < n; i++)
        buf[i] = 1000 * check_rank + i;
    CHECK_EQ(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(buf, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_fence(0, w->win), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        if (mine[i] != 1000 * from + i) {
            CHECK_EQ(mine[i], 1000 * from + i, "%s, element %d of %d", rma_kind[w->kind], i, n);
            break;
        }
    memset(buf, 0, (size_t)n * sizeof *buf);
    CHECK_EQ(MPI_Get(buf, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        if (buf[i] != 1000 * check_rank + i) {
            CHECK_EQ(buf[i], 1000 * check_rank + i, "got, %s, element %d of %d", rma_kind[w->kind], i, n);
            break;
        }
    free(buf);
}

static void sums(struct rma_win *w, int n)
{
    int *mine = (int *)(void *)w->base, *buf = malloc((size_t)n * sizeof *buf);
    memset(mine, 0, (size_t)n * sizeof *mine);
    for (int i = 0; i < n; i++)
        buf[i] = check_rank + i;
    CHECK_EQ(MPI_Win_fence(0, w->win), MPI_SUCCESS);
    for (int to = 0; to < check_size; to++)
        CHECK_EQ(MPI_Accumulate(buf, n, MPI_INT, to, rma_at(w, to, 0, 4), n, MPI_INT, MPI_SUM, w->win),
                 MPI_SUCCESS);
    CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        if (mine[i] != check_size * (check_size - 1) / 2 + check_size * i) {
            CHECK_EQ(mine[i], check_size * (check_size - 1) / 2 + check_size * i, "sum, %s, element %d of %d",
                     rma_kind[w->kind], i, n);
            break;
        }
    free(buf);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 2, 17, 512, 1000, N };
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, N * 4, kind == 1 ? 1 : 4, MPI_COMM_WORLD))
            continue;
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            puts_and_gets(&w, sizes[i]);
            sums(&w, sizes[i]);
        }
        MPI_Put(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, w.win);
        rma_close(&w);
    }
    return check_done();
}
