/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 8 */
/* across: updates by messages beside loads and stores */
/* Updates by all processes at once lose nothing, element by element: single ones, short rows and long rows (which
 * a kernel does) of the same elements, types that the processor updates and types that it does not, and
 * compare-and-swap and fetch among them. */
#include "rma.h"

enum { LONG = 40000 /* elements of a long row */, ROUNDS = 6, SINGLE = 50 };

struct pair {
    double value;
    int rank;
};

/* Every element gets ROUNDS from each process by long rows; some get more by single ones. */
static void sums(struct rma_win *w)
{
    double *ones = malloc(LONG * sizeof *ones), *old = malloc(LONG * sizeof *old);
    long one = 1, got;
    double fetched;
    int wrong = 0, all = 0;
    for (int i = 0; i < LONG; i++)
        ones[i] = 1;
    MPI_Win_lock_all(0, w->win);
    for (int k = 0; k < ROUNDS; k++) {
        int target = (check_rank + k) % 2;
        for (int i = 0; i < SINGLE; i++) {
            MPI_Accumulate(ones, 1, MPI_DOUBLE, 0, rma_at(w, 0, 7 * i, 8), 1, MPI_DOUBLE, MPI_SUM, w->win);
            MPI_Fetch_and_op(ones, &fetched, MPI_DOUBLE, 0, rma_at(w, 0, 7 * i + 1, 8), MPI_SUM, w->win);
        }
        MPI_Accumulate(ones, LONG, MPI_DOUBLE, target, rma_at(w, target, 0, 8), LONG, MPI_DOUBLE, MPI_SUM,
                       w->win);
        MPI_Get_accumulate(ones, LONG, MPI_DOUBLE, old, LONG, MPI_DOUBLE, 1 - target,
                           rma_at(w, 1 - target, 0, 8), LONG, MPI_DOUBLE, MPI_SUM, w->win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, rma_at(w, 0, LONG, 8), 1, MPI_LONG, MPI_SUM, w->win);
        for (;;) { /* a counter by compare-and-swap, beside it */
            long next;
            MPI_Fetch_and_op(NULL, &got, MPI_LONG, 0, rma_at(w, 0, LONG + 1, 8), MPI_NO_OP, w->win);
            MPI_Win_flush(0, w->win);
            next = got + 1;
            long want = got;
            MPI_Compare_and_swap(&next, &want, &got, MPI_LONG, 0, rma_at(w, 0, LONG + 1, 8), w->win);
            MPI_Win_flush(0, w->win);
            if (got == want)
                break;
        }
        MPI_Win_flush_all(w->win);
        for (int i = 0; i < LONG; i++)
            wrong += old[i] < 0 || old[i] > 2.0 * ROUNDS * check_size || old[i] != (double)(long)old[i];
    }
    MPI_Win_unlock_all(w->win);
    CHECK_EQ(wrong, 0, "%s: old values that none had", rma_kind[w->kind]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    const double *mine = (const double *)(const void *)w->base;
    if (check_rank < 2)
        for (int i = 0; i < LONG; i++) {
            int extra = check_rank == 0 && i < 7 * SINGLE && i % 7 < 2;
            all += mine[i] != (double)ROUNDS * check_size * (1 + extra);
        }
    CHECK_EQ(all, 0, "%s: elements that are not the sum", rma_kind[w->kind]);
    if (check_rank == 0) {
        CHECK_EQ(((const long *)(const void *)mine)[LONG], (long)ROUNDS * check_size, "%s",
                 rma_kind[w->kind]);
        CHECK_EQ(((const long *)(const void *)mine)[LONG + 1], (long)ROUNDS * check_size, "%s: swapped",
                 rma_kind[w->kind]);
    }
    MPI_Win_unlock(check_rank, w->win);
    free(ones);
    free(old);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Types with gaps, and too large for the processor. */
static void others(struct rma_win *w)
{
    enum { N = 3000 };
    struct pair *pairs = calloc(N, sizeof *pairs);
    long double one[4] = { 1, 1, 1, 1 };
    int wrong = 0;
    memset(w->base, 0, N * sizeof *pairs + 64);
    for (int i = 0; i < N; i++)
        pairs[i] = (struct pair){ (check_rank * 7 + i) % 31, check_rank };
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Accumulate(pairs, N, MPI_DOUBLE_INT, 0, rma_at(w, 0, 0, 1), N, MPI_DOUBLE_INT, MPI_MAXLOC,
                       w->win);
        for (int i = 0; i < SINGLE; i++) {
            MPI_Accumulate(&pairs[i], 1, MPI_DOUBLE_INT, 0, rma_at(w, 0, 16 * i, 1), 1, MPI_DOUBLE_INT,
                           MPI_MAXLOC, w->win);
            MPI_Accumulate(one, 4, MPI_LONG_DOUBLE, 0, rma_at(w, 0, 16 * N, 1), 4, MPI_LONG_DOUBLE, MPI_SUM,
                           w->win);
        }
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    if (check_rank == 0) {
        const struct pair *got = (const struct pair *)(const void *)w->base;
        const long double *sum = (const long double *)(const void *)(w->base + 16 * N);
        for (int i = 0; i < N; i++) {
            double best = 0;
            for (int r = 0; r < check_size; r++)
                best = (r * 7 + i) % 31 > best ? (r * 7 + i) % 31 : best;
            wrong += got[i].value != best;
        }
        CHECK_EQ(wrong, 0, "%s: pairs", rma_kind[w->kind]);
        for (int i = 0; i < 4; i++)
            CHECK_EQ((long)sum[i], (long)ROUNDS * SINGLE * check_size, "%s", rma_kind[w->kind]);
    }
    MPI_Win_unlock(check_rank, w->win);
    free(pairs);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 8 * (LONG + 2) + 64, 1, MPI_COMM_WORLD))
            continue;
        sums(&w);
        others(&w);
        rma_close(&w);
    }
    return check_done();
}
