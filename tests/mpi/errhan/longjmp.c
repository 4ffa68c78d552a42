/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Handlers that err themselves, and handlers that never return. */
#include <setjmp.h>
#include "check.h"

static jmp_buf back;
static int depth, deepest, jumps;

static void jumps_out(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, ++jumps);
}
static void errs(MPI_Comm *comm, int *code, ...)
{
    int x = 0, y = 0;
    (void)code;
    deepest = ++depth > deepest ? depth : deepest;
    if (depth < 10) {
        CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, *comm), MPI_ERR_RANK);
        CHECK_EQ(MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
                 MPI_SUCCESS);
    }
    depth--;
}

/* From frames of different depths. */
static void bad_wait(MPI_Comm comm, int frames)
{
    volatile char room[100];
    room[0] = (char)frames;
    if (frames > 0) {
        bad_wait(comm, frames - 1);
        room[1] = room[0];
        return;
    }
    int x[2] = { 0 };
    MPI_Request request;
    MPI_Irecv(x, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Send(x, 2, MPI_INT, 0, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(0, "the handler returned");
}

int main(int argc, char **argv)
{
    static MPI_Comm comm;
    static MPI_Errhandler h;
    static int i;
    int x = 0;
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(jumps_out, &h);
    MPI_Comm_set_errhandler(comm, h);
    for (i = 0; i < 1000; i++)
        if (setjmp(back) == 0)
            bad_wait(comm, i * 7 % 23);
    CHECK_EQ(jumps, 1000);
    for (i = 0; i < 1000; i++)
        if (setjmp(back) == 0)
            MPI_Send(&x, 1, MPI_INT, 1000, 0, comm);
    CHECK_EQ(jumps, 2000);
    MPI_Errhandler_free(&h);
    MPI_Comm_create_errhandler(errs, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Errhandler_free(&h);
    for (i = 0; i < 100; i++)
        CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, comm), MPI_ERR_RANK);
    CHECK_EQ(deepest, 10);
    CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    return check_done();
}
