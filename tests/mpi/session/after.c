/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Sessions after the world model only: some ranks begin one at once, others late, one never; then all of them. */
#include "session.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_INT, &three); /* types outlive the world model */
    MPI_Type_commit(&three);
    MPI_Finalize();
    if (check_rank % 2 == 0)
        for (int i = 0; i < 50; i++) {
            MPI_Session s = session();
            MPI_Comm self = comm_of(s, "mpi://SELF", "self");
            CHECK_EQ(MPI_Barrier(self), MPI_SUCCESS);
            MPI_Comm_free(&self);
            CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
        }
    if (check_rank == 1)
        usleep(50000);
    MPI_Session s = session();
    MPI_Comm comm = comm_of(s, "mpi://WORLD", "all");
    int sum = 0, one = 1;
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, check_size);
    int out[3] = { check_rank, 2, 3 }, in[3] = { 0, 0, 0 };
    MPI_Sendrecv(out, 1, three, (check_rank + 1) % check_size, 0, in, 1, three,
                 (check_rank + check_size - 1) % check_size, 0, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], (check_rank + check_size - 1) % check_size);
    CHECK_EQ(in[2], 3);
    MPI_Type_free(&three);
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return session_done();
}
