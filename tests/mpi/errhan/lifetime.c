/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* Freed twice, inherited by every new communicator, objects freed under a handler. */
#include "check.h"

static int calls;
static MPI_Comm seen;

static void count(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    calls++;
    seen = *comm;
}
static void frees(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    calls++;
    MPI_Comm mine = *comm;
    MPI_Comm_free(&mine);
}

static void bad_send(MPI_Comm comm)
{
    int x = 0;
    calls = 0;
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, comm), MPI_ERR_RANK);
    CHECK_EQ(calls, 1);
}

static void inherited(MPI_Errhandler h)
{
    MPI_Comm parent, child[4];
    MPI_Group group;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, h);
    MPI_Comm_group(parent, &group);
    MPI_Comm_dup(parent, &child[0]);
    MPI_Comm_split(parent, 0, -check_rank, &child[1]);
    MPI_Comm_create(parent, group, &child[2]);
    MPI_Comm_create_group(parent, group, 3, &child[3]);
    MPI_Group_free(&group);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&parent);
    for (int i = 0; i < 4; i++) {
        bad_send(child[i]);
        CHECK(seen == child[i], "child %d", i);
        MPI_Comm_free(&child[i]);
    }
}

/* One free too many does not take the handler from the communicator. */
static void freed_twice(void)
{
    MPI_Errhandler h, copy, got;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count, &h);
    copy = h;
    MPI_Comm_set_errhandler(comm, h);
    CHECK_EQ(MPI_Errhandler_free(&h), MPI_SUCCESS);
    CHECK_ERR(MPI_Errhandler_free(&copy), MPI_ERR_ERRHANDLER);
    CHECK_SAYS("freed");
    bad_send(comm);
    CHECK_EQ(MPI_Comm_get_errhandler(comm, &got), MPI_SUCCESS);
    CHECK(got == copy, " ");
    CHECK_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    CHECK_ERR(MPI_Errhandler_free(&copy), MPI_ERR_ERRHANDLER);
}

static void freed_by_handler(void)
{
    MPI_Errhandler h;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(frees, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Errhandler_free(&h);
    bad_send(comm);
    CHECK_ERR(MPI_Barrier(comm), MPI_ERR_COMM);
}

/* The communicator is freed before its receive fails: the handler is still its own. */
static void freed_before(MPI_Errhandler h)
{
    MPI_Comm comm;
    MPI_Request request;
    int x[2] = { 0 };
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Irecv(x, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Send(x, 2, MPI_INT, 0, 0, comm);
    MPI_Comm_free(&comm);
    calls = 0;
    CHECK_ERR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_EQ(calls, 1);
}

int main(int argc, char **argv)
{
    MPI_Errhandler h;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_create_errhandler(count, &h);
    inherited(h);
    freed_before(h);
    MPI_Errhandler_free(&h);
    freed_twice();
    freed_by_handler();
    return check_done();
}
