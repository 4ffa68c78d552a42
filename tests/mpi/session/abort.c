/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* across: the end of a job goes from node to node */
/* exit: 13 */
/* stdout: the others go on */
/* MPI_ERRORS_ABORT on a session ends the one process. */
#include "session.h"

int main(void)
{
    MPI_Session s = session();
    MPI_Comm comm = comm_of(s, "mpi://WORLD", "abort"), rest;
    char name[8];
    int len = sizeof name, one = 1, sum = 0, size;
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split(comm, check_rank == 0, 0, &rest);
    if (check_rank == 0) {
        MPI_Session_set_errhandler(s, MPI_ERRORS_ABORT);
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 99, &len, name);
    }
    CHECK_ERR(MPI_Recv(&one, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, rest), MPI_SUCCESS);
    CHECK_EQ(sum, size - 1);
    if (check_rank == 1)
        puts("the others go on");
    MPI_Comm_free(&rest);
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return session_done();
}
