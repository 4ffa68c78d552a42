/* SPDX-License-Identifier: BSD-3-Clause */
/* No communicator is made together with a rank that has failed; those that live make theirs. */
/* ranks: 3 5 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

static void failed(const char *call, int err)
{
    int class = ft_class(err);
    if (class != MPIX_ERR_PROC_FAILED)
        CHECK_EQ(class, MPIX_ERR_PROC_FAILED, "%s", call);
}

#define FAILS(call) failed(#call, call)

int main(int argc, char **argv)
{
    MPI_Comm made, left;
    MPI_Group world, living;
    MPI_Request request;
    int dims[1] = { 0 }, periods[1] = { 0 }, size = 0, one = 1, sum = 0;
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size - 1;
    ft_last_dies();
    FAILS(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    FAILS(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made));
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &made));
    FAILS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
    dims[0] = check_size;
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made));
    int err = MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    FAILS(err ? err : MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    FAILS(MPI_Comm_create_group(MPI_COMM_WORLD, world, 1, &made));
    CHECK_ERR(MPI_Group_excl(world, 1, &dead, &living), MPI_SUCCESS);
    FAILS(MPI_Comm_create(MPI_COMM_WORLD, living, &made)); /* all of the old one take part */
    /* Among those that live, over the one with the dead. */
    CHECK_ERR(MPI_Comm_create_group(MPI_COMM_WORLD, living, 2, &made), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_size(made, &size), MPI_SUCCESS);
    CHECK_EQ(size, dead);
    CHECK_ERR(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made), MPI_SUCCESS);
    CHECK_EQ(sum, dead);
    MPI_Comm_free(&made);
    left = ft_shrunk(MPI_COMM_WORLD, dead);
    CHECK_ERR(MPI_Comm_dup(left, &made), MPI_SUCCESS);
    CHECK_ERR(MPI_Barrier(made), MPI_SUCCESS);
    MPI_Comm_free(&made);
    CHECK_ERR(MPI_Comm_split(left, check_rank % 2, 0, &made), MPI_SUCCESS);
    CHECK_ERR(MPI_Barrier(made), MPI_SUCCESS);
    MPI_Comm_free(&made);
    MPI_Comm_free(&left);
    MPI_Group_free(&world);
    MPI_Group_free(&living);
    return check_done();
}
