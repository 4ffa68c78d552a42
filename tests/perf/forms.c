/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.c: what the three forms of a collective cost beside each other: forms [ROUNDS].  In each round each form
 * is called a few times; the least of all rounds, and the median, in microseconds a call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 50, FORMS = 3, KINDS = 4, MOST = 1 << 20 };

static const char *const names[KINDS] = { "barrier", "allreduce 8", "bcast 64 KiB", "bcast 1 MiB" };
static double in, out;
static char *data;

static void blocking(int kind)
{
    if (kind == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (kind == 1)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Bcast(data, kind == 2 ? 65536 : MOST, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void nonblocking(int kind)
{
    MPI_Request r;
    if (kind == 0)
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
    else if (kind == 1)
        MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
    else
        MPI_Ibcast(data, kind == 2 ? 65536 : MOST, MPI_CHAR, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 300;
    MPI_Request made[KINDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    data = calloc(1, MOST);
    double *us = malloc((size_t)rounds * KINDS * FORMS * sizeof *us);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &made[0]);
    MPI_Allreduce_init(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &made[1]);
    MPI_Bcast_init(data, 65536, MPI_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &made[2]);
    MPI_Bcast_init(data, MOST, MPI_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &made[3]);
    for (int i = 0; i < rounds; i++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int form = 0; form < FORMS; form++) {
                int calls = kind < 2 ? CALLS : CALLS / 10;
                MPI_Barrier(MPI_COMM_WORLD);
                double begun = MPI_Wtime();
                for (int k = 0; k < calls; k++) {
                    if (form == 0) {
                        blocking(kind);
                    } else if (form == 1) {
                        nonblocking(kind);
                    } else {
                        MPI_Start(&made[kind]);
                        MPI_Wait(&made[kind], MPI_STATUS_IGNORE);
                    }
                }
                if (kind >= 2) /* a root does not wait for the others */
                    MPI_Barrier(MPI_COMM_WORLD);
                us[(kind * FORMS + form) * rounds + i] = (MPI_Wtime() - begun) * 1e6 / calls;
            }
    for (int kind = 0; rank == 0 && kind < KINDS; kind++) {
        double least[FORMS], median[FORMS];
        for (int form = 0; form < FORMS; form++) {
            double *x = us + (kind * FORMS + form) * rounds;
            qsort(x, (size_t)rounds, sizeof *x, by_size);
            least[form] = x[0];
            median[form] = x[rounds / 2];
        }
        printf("%-14s least %8.3f %8.3f %8.3f (%.2f %.2f)  median %8.3f %8.3f %8.3f (%.2f %.2f)\n",
               names[kind], least[0], least[1], least[2], least[1] / least[0], least[2] / least[0], median[0],
               median[1], median[2], median[1] / median[0], median[2] / median[0]);
    }
    for (int kind = 0; kind < KINDS; kind++)
        MPI_Request_free(&made[kind]);
    free(us);
    free(data);
    MPI_Finalize();
    return 0;
}
