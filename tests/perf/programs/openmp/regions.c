/* SPDX-License-Identifier: BSD-3-Clause */
/* regions.c: MPI and OpenMP as many programs have both: short parallel regions between short messages.
 *
 *   regions [N]
 * Nobody says how many threads there are: the runtime counts.  Rank 0 prints, for each rank, how many a region
 * had; then the sum, which is known. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 4000 };
static double x[LENGTH];

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300, rank, size, threads = 0;
    double all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *of = malloc((size_t)size * sizeof *of);
    for (int i = 0; i < n; i++) {
        double sum = 0, total;
#pragma omp parallel for reduction(+ : sum)
        for (int k = 0; k < LENGTH; k++) {
            x[k] = k % 7 + i;
            sum += x[k];
            threads = k == 0 ? omp_get_num_threads() : threads;
        }
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        all += total / size;
    }
    MPI_Gather(&threads, 1, MPI_INT, of, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; i++)
        printf("rank %d: %d threads\n", i, of[i]);
    if (rank == 0)
        printf("sum %.1f\n", all);
    free(of);
    MPI_Finalize();
    return 0;
}
