/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* A program of sessions alone: from the session to a set of processes, a group, a communicator, messages and
 * collectives. */
#include "session.h"

static void exchange(MPI_Comm comm)
{
    int rank, size, got = -1, sum = 0, again[2] = { 0, 0 };
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;
    CHECK_EQ(MPI_Sendrecv(&rank, 1, MPI_INT, right, 7, &got, 1, MPI_INT, left, 7, comm, &status),
             MPI_SUCCESS);
    CHECK_EQ(got, left);
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK_EQ(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, size * (size - 1) / 2);
    if (rank == size - 1)
        again[1] = 42;
    CHECK_EQ(MPI_Bcast(again, 2, MPI_INT, size - 1, comm), MPI_SUCCESS);
    CHECK_EQ(again[1], 42);
}

/* More than goes in one packet. */
static void large(MPI_Comm comm)
{
    enum { N = 1 << 20 };
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *out = malloc(N * sizeof *out), *in = calloc(N, sizeof *in), wrong = 0;
    for (int i = 0; i < N; i++)
        out[i] = i * 7 + rank;
    MPI_Request r[2];
    MPI_Irecv(in, N, MPI_INT, (rank + size - 1) % size, 1, comm, &r[0]);
    MPI_Isend(out, N, MPI_INT, (rank + 1) % size, 1, comm, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        wrong += in[i] != i * 7 + (rank + size - 1) % size;
    CHECK_EQ(wrong, 0, "numbers of %d", N);
    free(out);
    free(in);
}

int main(void)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Group group;
    int flag = -1;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    CHECK(s != MPI_SESSION_NULL);
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &group), MPI_SUCCESS);
    CHECK(group != MPI_GROUP_NULL);
    MPI_Group_rank(group, &check_rank);
    MPI_Group_size(group, &check_size);
    MPI_Comm comm = comm_of(s, "mpi://WORLD", "keel.test.basic"), dup, half, self;
    int rank, size, result;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    MPI_Group of_comm;
    MPI_Comm_group(comm, &of_comm);
    MPI_Group_compare(group, of_comm, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&of_comm);
    MPI_Group_free(&group);
    exchange(comm);
    large(comm);
    CHECK_EQ(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
    exchange(dup);
    CHECK_EQ(MPI_Comm_split(dup, rank % 2, -rank, &half), MPI_SUCCESS);
    exchange(half);
    self = comm_of(s, "mpi://SELF", "keel.test.self");
    exchange(self);
    MPI_Comm_free(&half);
    MPI_Comm_disconnect(&dup);
    MPI_Comm_disconnect(&self);
    MPI_Comm_free(&comm);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 0, "MPI_Init has not been called");
    MPI_Finalized(&flag);
    CHECK_EQ(flag, 0, "nor MPI_Finalize");
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    CHECK(s == MPI_SESSION_NULL);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 0, "afterwards");
    return session_done();
}
