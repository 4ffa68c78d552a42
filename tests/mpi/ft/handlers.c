/* SPDX-License-Identifier: BSD-3-Clause */
/* The error handler of the communicator is called once for an error, with its class; that of others is not. */
/* ranks: 3 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

static int calls, class;
static MPI_Comm with;

static void handle(MPI_Comm *comm, int *err, ...)
{
    calls++;
    class = ft_class(*err);
    with = *comm;
}

static void never(MPI_Comm *comm, int *err, ...)
{
    (void)comm;
    CHECK_EQ(ft_class(*err), MPI_SUCCESS, "the handler of another communicator");
}

static void called(int err, int expected, MPI_Comm comm, const char *what)
{
    CHECK_EQ(ft_class(err), expected, "%s: the call returns it, too", what);
    CHECK_EQ(calls, 1, "%s", what);
    CHECK_EQ(class, expected, "%s", what);
    CHECK(with == comm, "%s: the communicator", what);
    calls = 0;
    class = 0;
    with = MPI_COMM_NULL;
}

#define CALLED(call, expected, comm) called(call, expected, comm, #call)

int main(int argc, char **argv)
{
    MPI_Comm comm, made;
    MPI_Errhandler handler, others;
    MPI_Request r[2];
    int v = 0, flag = 1;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_create_errhandler(never, &others);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    int err = MPI_Irecv(&v, 1, MPI_INT, 2, 2, comm, &r[0]), other = 1 - check_rank;
    ft_last_dies();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, others);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, others);
    err |= MPI_Irecv(&v, 1, MPI_INT, other, 3, comm, &r[1]);
    CHECK_EQ(err, MPI_SUCCESS);
    CALLED(MPI_Recv(&v, 1, MPI_INT, 2, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED, comm);
    CALLED(MPI_Send(&v, 1, MPI_INT, 2, 1, comm), MPIX_ERR_PROC_FAILED, comm);
    CALLED(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED, comm);
    CALLED(MPI_Barrier(comm), MPIX_ERR_PROC_FAILED, comm);
    CALLED(MPI_Comm_dup(comm, &made), MPIX_ERR_PROC_FAILED, comm);
    CALLED(MPIX_Comm_agree(comm, &flag), MPIX_ERR_PROC_FAILED, comm);
    CHECK_ERR(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    CALLED(MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, comm);
    CALLED(MPI_Recv(&v, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, comm);
    CALLED(MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, comm), MPIX_ERR_REVOKED, comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Barrier(comm), MPIX_ERR_REVOKED);
    CHECK_EQ(calls, 0);
    CHECK_ERR(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&others);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return check_done();
}
