/* SPDX-License-Identifier: BSD-3-Clause */
/* Many more ranks than cores. */
/* ranks: 16 64 */
/* timeout: 120 */
#include "../check.h"

int main(int argc, char **argv)
{
    int v, *all, *back, p;
    check_init(&argc, &argv);
    p = check_size;
    all = malloc((size_t)p * sizeof *all);
    back = malloc((size_t)p * sizeof *back);
    for (int k = 0; k < 20; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        v = check_rank == k % p ? 1000 + k : -1;
        MPI_Bcast(&v, 1, MPI_INT, k % p, MPI_COMM_WORLD);
        CHECK_EQ(v, 1000 + k);
        v = check_rank + k;
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(v, p * (p - 1) / 2 + p * k);
    }
    for (int i = 0; i < p; i++)
        all[i] = check_rank * 1000 + i;
    MPI_Alltoall(all, 1, MPI_INT, back, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++)
        CHECK_EQ(back[i], i * 1000 + check_rank);
    MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++)
        CHECK_EQ(all[i], i);
    v = check_rank;
    MPI_Scan(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(v, check_rank * (check_rank + 1) / 2);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
    v = 1;
    MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, half);
    CHECK_EQ(v, p / 2);
    MPI_Comm_free(&half);
    free(all);
    free(back);
    return check_done();
}
