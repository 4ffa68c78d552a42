/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* exit: 137 */
/* stderr: mpiexec: rank 1 \(.*spawn-silent.*\) was killed by signal 9 .* */
/* stderr: mpiexec: rank 0 \(.*spawn-silent.*\) was killed by signal 9 .* */
/* A child dies with which its parents have no connection: who waits for it finds it gone, by a receive, by asking,
 * and by a receive from anybody when all children are gone. */
#include "../check.h"
#include <signal.h>

enum { CHILDREN = 3 };

static void child(MPI_Comm parent, const char *what)
{
    int word;
    if (check_rank == 1 || (check_rank == 0 && strcmp(what, "alone") == 0))
        raise(SIGKILL);
    MPI_Recv(&word, 1, MPI_INT, 0, 9, parent, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&parent);
}

static void spawn(const char *program, char *what, int n, MPI_Comm *inter)
{
    char *args[] = { what, NULL };
    CHECK_EQ(MPI_Comm_spawn(program, args, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    MPI_Comm_set_errhandler(*inter, MPI_ERRORS_RETURN);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, some, alone;
    MPI_Request request;
    int word = 0, flag = 0, err = 0;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argv[1]);
        MPI_Finalize(); /* check_done would wait for who is gone */
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    spawn(argv[0], "some", CHILDREN, &some);
    if (check_rank == 0)
        CHECK_ERR(MPI_Recv(&word, 1, MPI_INT, 1, 3, some, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    if (check_rank == check_size - 1) {
        err = MPI_Irecv(&word, 1, MPI_INT, 1, 3, some, &request);
        flag = err != MPI_SUCCESS; /* it is known already */
        while (!flag)
            err = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK_ERR(err, MPI_ERR_PROC_ABORTED);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < CHILDREN && check_rank == 0; i += 2)
        MPI_Send(&word, 1, MPI_INT, i, 9, some);
    spawn(argv[0], "alone", 1, &alone);
    CHECK_ERR(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, alone, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    MPI_Comm_disconnect(&some);
    MPI_Comm_disconnect(&alone);
    return check_done();
}
