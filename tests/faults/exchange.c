/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange: two ranks exchange messages of all protocols and meet; prints "right" if all arrived whole.  Errors
 * are fatal. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const int sizes[] = { 8, 1000, 20000, 1000000 };
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *out = malloc(1000000), *in = malloc(1000000);
    if (!out || !in) {
        fprintf(stderr, "exchange: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int k = 0; k < 4; k++)
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < sizes[k]; i++)
                out[i] = (char)(i + rank + k + round);
            MPI_Sendrecv(out, sizes[k], MPI_CHAR, 1 - rank, k, in, sizes[k], MPI_CHAR, 1 - rank, k,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < sizes[k]; i++)
                wrong += in[i] != (char)(i + 1 - rank + k + round);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf(wrong ? "wrong\n" : "right\n");
    free(out);
    free(in);
    MPI_Finalize();
    return wrong != 0;
}
