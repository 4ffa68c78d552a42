/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* A session's error handler, set, called and asked for, by procedures of MPI 4.0 alone (part abi-mpich). */
#include "../check.h"

static int calls;

static void count(MPI_Session *session, int *code, ...)
{
    int class;
    (void)session;
    MPI_Error_class(*code, &class);
    calls += class == MPI_ERR_TAG;
}

static void session(void)
{
    MPI_Session s;
    MPI_Errhandler mine, got;
    CHECK_EQ(MPI_Session_create_errhandler(count, &mine), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, mine, &s), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_call_errhandler(s, MPI_ERR_TAG), MPI_SUCCESS);
    CHECK_EQ(calls, 1);
    CHECK_EQ(MPI_Session_get_errhandler(s, &got), MPI_SUCCESS);
    CHECK(got == mine, "the handler");
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    session();
    return check_done();
}
