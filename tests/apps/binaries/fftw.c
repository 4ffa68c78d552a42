/* SPDX-License-Identifier: BSD-3-Clause */
/* Of binaries.test: a program of FFTW's parallel transforms.  There and back in three dimensions, transposed, and
 * what came out. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

enum { N0 = 24, N1 = 18, N2 = 20 };

int main(int argc, char **argv)
{
    int rank;
    ptrdiff_t n, start, n1, start1;
    double local[3] = { 0, 0, 0 }, all[3];
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ptrdiff_t size = fftw_mpi_local_size_3d_transposed(N0, N1, N2, MPI_COMM_WORLD, &n, &start, &n1, &start1);
    fftw_complex *x = fftw_alloc_complex((size_t)size);
    fftw_plan there = fftw_mpi_plan_dft_3d(N0, N1, N2, x, x, MPI_COMM_WORLD, FFTW_FORWARD,
                                           FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
    fftw_plan back = fftw_mpi_plan_dft_3d(N0, N1, N2, x, x, MPI_COMM_WORLD, FFTW_BACKWARD,
                                          FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
    for (ptrdiff_t i = 0; i < n * N1 * N2; i++) {
        x[i][0] = sin((double)(start * N1 * N2 + i));
        x[i][1] = 0.5;
    }
    fftw_execute(there);
    for (ptrdiff_t i = 0; i < n1 * N0 * N2; i++) {
        local[0] += fabs(x[i][0]) * (double)((start1 * N0 * N2 + i) % 97);
        local[1] += fabs(x[i][1]) * (double)((start1 * N0 * N2 + i) % 89);
    }
    fftw_execute(back);
    for (ptrdiff_t i = 0; i < n * N1 * N2; i++)
        local[2] = fmax(local[2], fabs(x[i][0] / (N0 * N1 * N2) - sin((double)(start * N1 * N2 + i))));
    MPI_Reduce(local, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(local + 2, all + 2, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("transformed %.6e %.6e, there and back %s\n", all[0], all[1],
               all[2] < 1e-12 ? "right" : "wrong");
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_free(x);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
