/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* across: devices start and stop with sessions */
/* Sessions begun and ended many times, several at once, in any order; communicators of each; and on some ranks
 * alone. */
#include "session.h"

static void use(MPI_Session s, const char *tag)
{
    MPI_Comm comm = comm_of(s, "mpi://WORLD", tag);
    int one = 1, sum = 0;
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, check_size);
    MPI_Comm_free(&comm);
}

static void several(void)
{
    enum { N = 5 };
    MPI_Session s[N];
    MPI_Comm comm[N];
    for (int i = 0; i < N; i++) {
        s[i] = session();
        comm[i] = comm_of(s[i], "mpi://WORLD", "several");
        for (int k = 0; k < i; k++)
            CHECK(s[k] != s[i]);
    }
    int mine = check_rank, from = -1, right = (check_rank + 1) % check_size,
        left = (check_rank + check_size - 1) % check_size;
    MPI_Request r[2 * N];
    int got[N];
    for (int i = 0; i < N; i++) { /* the same tag in all of them */
        MPI_Irecv(&got[i], 1, MPI_INT, left, 3, comm[i], &r[2 * i]);
    }
    int out[N];
    for (int i = N - 1; i >= 0; i--) {
        out[i] = 100 * i + mine;
        MPI_Isend(&out[i], 1, MPI_INT, right, 3, comm[i], &r[2 * i + 1]);
    }
    MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK_EQ(got[i], 100 * i + left);
    for (int i = 0; i < N; i += 2) {
        MPI_Comm_free(&comm[i]);
        CHECK_EQ(MPI_Session_finalize(&s[i]), MPI_SUCCESS);
    }
    for (int i = 1; i < N; i += 2) { /* these go on */
        CHECK_EQ(
            MPI_Sendrecv(&mine, 1, MPI_INT, right, 4, &from, 1, MPI_INT, left, 4, comm[i], MPI_STATUS_IGNORE),
            MPI_SUCCESS);
        CHECK_EQ(from, left);
        MPI_Comm_free(&comm[i]);
        CHECK_EQ(MPI_Session_finalize(&s[i]), MPI_SUCCESS);
    }
}

int main(void)
{
    MPI_Session s = session();
    MPI_Group world;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &world);
    MPI_Group_rank(world, &check_rank);
    MPI_Group_size(world, &check_size);
    MPI_Group_free(&world);
    use(s, "first");
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    for (int i = 0; i < 1000; i++) { /* each at its own pace */
        s = session();
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    }
    for (int i = 0; i < 20; i++) {
        s = session();
        use(s, "again");
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    }
    several();
    if (check_rank == check_size - 1) /* the others have none at that time */
        for (int i = 0; i < 100; i++) {
            s = session();
            MPI_Comm self = comm_of(s, "mpi://SELF", "alone");
            CHECK_EQ(MPI_Barrier(self), MPI_SUCCESS);
            MPI_Comm_free(&self);
            CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
        }
    s = session();
    use(s, "last");
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return session_done();
}
