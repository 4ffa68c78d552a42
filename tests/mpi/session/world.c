/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* across: devices start and stop with sessions */
/* Sessions before, within, across and after the world model. */
#include "session.h"

static void ring(MPI_Comm comm, const char *when)
{
    int rank, size, got = -1;
    CHECK_EQ(MPI_Comm_rank(comm, &rank), MPI_SUCCESS, "%s", when);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(got, (rank + size - 1) % size, "%s", when);
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS, "%s", when);
}

static void short_one(const char *when)
{
    MPI_Session s = session();
    MPI_Comm comm = comm_of(s, "mpi://WORLD", when);
    ring(comm, when);
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS, "%s", when);
}

static void check_flags(int initialized, int finalized, const char *when)
{
    int flag = -1;
    MPI_Initialized(&flag);
    CHECK_EQ(flag, initialized, "MPI_Initialized %s", when);
    MPI_Finalized(&flag);
    CHECK_EQ(flag, finalized, "MPI_Finalized %s", when);
}

int main(int argc, char **argv)
{
    int level;
    short_one("before");
    MPI_Session across = session(), one = MPI_SESSION_NULL;
    MPI_Comm comm = comm_of(across, "mpi://WORLD", "across");
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair); /* belongs to no session */
    MPI_Type_commit(&pair);
    ring(comm, "before MPI_Init");
    check_flags(0, 0, "before MPI_Init");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(level, MPI_THREAD_FUNNELED);
    MPI_Query_thread(&level);
    CHECK_EQ(level, MPI_THREAD_FUNNELED, "the world's own");
    ring(MPI_COMM_WORLD, "world");
    ring(comm, "within");
    short_one("within");
    ring(MPI_COMM_WORLD, "world again");
    if (check_rank == 0) /* it lives on one rank alone when all finalize */
        one = session();
    check_flags(1, 0, "within");
    MPI_Finalize();
    check_flags(1, 1, "after");
    ring(comm, "after MPI_Finalize");
    short_one("after");
    int two[2] = { 1, 2 }, got[2] = { 0, 0 };
    MPI_Sendrecv(two, 1, pair, check_rank, 9, got, 2, MPI_INT, check_rank, 9, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(got[1], 2);
    MPI_Type_free(&pair);
    if (check_rank == 0)
        CHECK_EQ(MPI_Session_finalize(&one), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&across), MPI_SUCCESS);
    short_one("at the end");
    check_flags(1, 1, "at the end");
    return session_done();
}
