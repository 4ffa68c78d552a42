/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP: tasks that send and receive, and threads that compute between calls; OpenMP's own waiting threads are
 * beside them. */
/* ranks: 1 2 4 */
/* cflags: -fopenmp */
/* env: OMP_NUM_THREADS=4 */
/* env: OMP_WAIT_POLICY=passive */
#include "../check.h"

enum { TASKS = 40 };

int main(int argc, char **argv)
{
    int provided, got[TASKS], right, left;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    right = (check_rank + 1) % check_size;
    left = (check_rank + check_size - 1) % check_size;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        {
            int out = 100 * check_rank + i;
            MPI_Request r;
            MPI_Irecv(&got[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &r);
            MPI_Send(&out, 1, MPI_INT, right, i, MPI_COMM_WORLD);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(got[i], 100 * left + i);
    return check_done();
}
