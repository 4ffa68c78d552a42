/* SPDX-License-Identifier: BSD-3-Clause */
/* The C side of fortran.f90: the same calls, and a section packed by MPI_Pack. */
#include <mpi.h>
#include <time.h>

double c_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Seconds of n messages to this process. */
double c_messages(int n)
{
    int out = 1, in = 0;
    double start = c_now();
    for (int i = 0; i < n; i++) {
        MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    return c_now() - start;
}

/* Seconds of n messages of every other of 2 * count elements: packed, sent as packed, received. */
double c_sections(int n, double *from, double *packed, double *to, int count)
{
    MPI_Datatype every_other;
    MPI_Request request;
    MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    double start = c_now();
    for (int i = 0; i < n; i++) {
        int at = 0;
        MPI_Irecv(to, count, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request);
        MPI_Pack(from, 1, every_other, packed, 8 * count, &at, MPI_COMM_SELF);
        MPI_Send(packed, count, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    double seconds = c_now() - start;
    MPI_Type_free(&every_other);
    return seconds;
}
