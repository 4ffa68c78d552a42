/* SPDX-License-Identifier: BSD-3-Clause */
/* 1,024 ranks start, do an allreduce and an alltoall, and finish. */
/* ranks: 1024 */
/* part: long */
/* timeout: 60 */
#include "../check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    long long one = 1, sum = 0, *all = malloc(2 * (size_t)check_size * sizeof *all);
    MPI_Allreduce(&one, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size);
    for (int i = 0; i < check_size; i++)
        all[i] = (long long)check_rank * check_size + i;
    MPI_Alltoall(all, 1, MPI_LONG_LONG, all + check_size, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < check_size; i++)
        CHECK_EQ(all[check_size + i], (long long)i * check_size + check_rank, "from %d", i);
    free(all);
    return check_done();
}
