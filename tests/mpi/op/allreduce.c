/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined operations between ranks: MPI_Allreduce and MPI_Reduce of long arrays and of pairs. */
/* ranks: 1 2 3 4 5 8 */
/* across: operands come in a device's packets */
#include "../check.h"

enum { N = 5000 };

static void try_sums(void)
{
    static double mine[N], out[N];
    static long lmine[N], lout[N];
    long p = check_size;
    for (int i = 0; i < N; i++) {
        mine[i] = i + check_rank;
        lmine[i] = (i % 7) ^ (1L << check_rank);
    }
    CHECK_ERR(MPI_Allreduce(mine, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        if (out[i] != (double)(p * i + p * (p - 1) / 2))
            CHECK(0, "sum %d is %g", i, out[i]);
    CHECK_ERR(MPI_Allreduce(lmine, lout, N, MPI_LONG, MPI_BXOR, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        if (lout[i] != ((p % 2 ? i % 7 : 0) ^ ((1L << p) - 1)))
            CHECK(0, "exclusive or %d is %ld", i, lout[i]);
    CHECK_ERR(MPI_Allreduce(lmine, lout, N, MPI_LONG, MPI_MAX, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++) {
        long want = 0;
        for (int r = 0; r < check_size; r++)
            if (((i % 7) ^ (1L << r)) > want)
                want = (i % 7) ^ (1L << r);
        if (lout[i] != want)
            CHECK(0, "maximum %d is %ld; expected %ld", i, lout[i], want);
    }
}

static void try_locations(void)
{
    struct {
        double v;
        int i;
    } mine[9], out[9];
    for (int k = 0; k < 9; k++) {
        mine[k].v = (check_rank + k) % 3; /* several ranks have the greatest */
        mine[k].i = check_rank;
    }
    for (int least = 0; least < 2; least++) {
        CHECK_ERR(
            MPI_Allreduce(mine, out, 9, MPI_DOUBLE_INT, least ? MPI_MINLOC : MPI_MAXLOC, MPI_COMM_WORLD),
            MPI_SUCCESS);
        for (int k = 0; k < 9; k++) {
            int best = 0;
            for (int r = 1; r < check_size; r++)
                if (least ? (r + k) % 3 < (best + k) % 3 : (r + k) % 3 > (best + k) % 3)
                    best = r;
            CHECK_EQ(out[k].i, best, "location %d", k);
            CHECK_EQ(out[k].v, (best + k) % 3);
        }
    }
}

/* Benchmarks reduce characters: not in the standard's table, but programs do. */
static void try_characters(void)
{
    static char mine[N], out[N];
    for (int i = 0; i < N; i++)
        mine[i] = (char)(i % 13 - 6 + check_rank);
    CHECK_ERR(MPI_Allreduce(mine, out, N, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK_EQ(out[i], check_size * (i % 13 - 6) + check_size * (check_size - 1) / 2, "sum %d", i);
    CHECK_ERR(MPI_Reduce(mine, out, 1, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == 0)
        CHECK_EQ(out[0], check_size - 7);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    try_sums();
    try_locations();
    try_characters();
    return check_done();
}
