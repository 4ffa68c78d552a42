/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool's MPI_Send, MPI_Comm_size and MPI_Wait stand before the library's, which it calls as PMPI_X. */
/* ranks: 1 2 */
#include <check.h>

static int sends, sizes, waits;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
int MPI_Comm_size(MPI_Comm comm, int *size)
{
    sizes++;
    return PMPI_Comm_size(comm, size);
}
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return PMPI_Wait(request, status);
}

int main(int argc, char **argv)
{
    int in = -1, out;
    MPI_Request request;
    check_init(&argc, &argv);
    CHECK_EQ(sizes, 1);
    out = check_rank;
    MPI_Irecv(&in, 1, MPI_INT, (check_rank + 1) % check_size, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, (check_rank + check_size - 1) % check_size, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(in, (check_rank + 1) % check_size);
    CHECK_EQ(sends, 1);
    CHECK_EQ(waits, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sends + waits, 2, "the library calls MPI_ names itself");
    return check_done();
}
