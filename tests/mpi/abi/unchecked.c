/* SPDX-License-Identifier: BSD-3-Clause */
/* KEEL_CHECK_ARGS=0: right programs run as before, and handles are resolved as ever. */
/* ranks: 1 2 */
/* env: KEEL_CHECK_ARGS=0 */
#include <check.h>

int main(int argc, char **argv)
{
    int n = -1, sum = 0;
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_ERR(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_size((MPI_Comm)(intptr_t)0x123456789, &n), MPI_ERR_COMM);
    CHECK_ERR(MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, -1, MPI_COMM_WORLD),
              MPI_SUCCESS); /* nobody looks at the tag */
    n = check_rank;
    CHECK_ERR(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    return check_done();
}
