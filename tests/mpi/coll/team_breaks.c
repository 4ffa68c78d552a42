/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that disagree about small collectives hear of it, nobody hangs, and the next calls are right. */
/* ranks: 2 3 4 8 */
#include "../check.h"

enum { N = 100 };
static int a[N * 64], b[N * 64];

static void right(MPI_Comm c)
{
    for (int k = 0; k < 10; k++) {
        int v = check_rank + k, p = check_size;
        CHECK_ERR(MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
        CHECK_EQ(v, p * (p - 1) / 2 + p * k);
        CHECK_ERR(MPI_Barrier(c), MPI_SUCCESS);
    }
}

/* Everybody depends on the rank that is different, so everybody has an error. */
static void counts_differ(int odd)
{
    MPI_Comm c;
    int err, errclass = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    right(c);
    err = MPI_Allreduce(a, b, check_rank == odd ? 20 : 10, MPI_INT, MPI_SUM, c);
    MPI_Error_class(err, &errclass);
    CHECK_EQ(errclass, MPI_ERR_TRUNCATE, "rank %d has another count", odd);
    right(c);
    MPI_Comm_free(&c);
}

/* More communicators than there are teams, used by turns. */
static void many(void)
{
    MPI_Comm c[40];
    for (int i = 0; i < 40; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
    for (int i = 0; i < 40; i++)
        right(c[39 - i]);
    for (int i = 0; i < 40; i += 3)
        right(c[i]);
    for (int i = 0; i < 40; i++)
        MPI_Comm_free(&c[i]);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    right(MPI_COMM_WORLD);
    counts_differ(0);
    counts_differ(check_size - 1);
    many();
    many();
    return check_done();
}
