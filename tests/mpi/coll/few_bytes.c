/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather of a few bytes: processes with contiguous types take the shortest way, others of the same
 * signature the long one; blocks of another length are an error. */
/* ranks: 2 3 8 */
/* env: KEEL_SPIN_US=5 */
#include <stdbool.h>
#include "../check.h"

enum { MOST = 12, EVEN = 6 };
static int in[2 * MOST], out[64][MOST], wide[64][2 * MOST];

static int value(int rank, int i, int round)
{
    return rank * 1000 + i * 7 + round;
}

static void plain(int n, int round)
{
    for (int i = 0; i < n; i++)
        in[i] = value(check_rank, i, round);
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < n; i++)
            CHECK_EQ(((int *)out)[r * n + i], value(r, i, round), "%d ints, of rank %d", n, r);
}

static void in_place(int n, int round)
{
    for (int i = 0; i < n; i++)
        ((int *)out)[check_rank * n + i] = value(check_rank, i, round);
    MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < n; i++)
            CHECK_EQ(((int *)out)[r * n + i], value(r, i, round), "in place, %d ints, of rank %d", n, r);
}

/* Odd ranks give, or take, every second int of memory; the others as many in a row, or as pairs. */
static void mixed(int round)
{
    MPI_Datatype gaps, pair;
    MPI_Type_vector(EVEN, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    bool odd = check_rank % 2;
    for (int i = 0; i < EVEN; i++)
        in[odd ? 2 * i : i] = value(check_rank, i, round);
    MPI_Allgather(in, odd ? 1 : EVEN / 2, odd ? gaps : pair, out, EVEN, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < EVEN; i++)
            CHECK_EQ(((int *)out)[r * EVEN + i], value(r, i, round), "given with gaps, of rank %d", r);
    MPI_Type_free(&gaps);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < EVEN; i++)
        in[i] = value(check_rank, i, round + 1);
    MPI_Allgather(in, EVEN, MPI_INT, wide, EVEN, odd ? gaps : MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < EVEN; i++)
            CHECK_EQ(((int *)wide)[(r * EVEN + i) * (odd ? 2 : 1)], value(r, i, round + 1),
                     "taken with gaps, of rank %d", r);
    MPI_Type_free(&gaps);
    MPI_Type_free(&pair);
}

static void other_length(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    for (int i = 0; i < 10; i++) /* it gets a team */
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, c);
    int n = check_rank == 0 ? 2 : 1, err = MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, c),
        class = MPI_SUCCESS;
    MPI_Error_class(err, &class);
    if (check_rank == 0)
        CHECK(class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT, "class %d", class);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int round = 0; round < 20; round++)
        for (int n = 1; n <= MOST; n++) {
            plain(n, round);
            in_place(n, round + 1);
        }
    for (int round = 0; round < 20; round++) {
        mixed(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    other_length();
    return check_done();
}
