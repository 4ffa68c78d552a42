/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* nodes: one, because it makes a window of shared memory */
/* The forms with large counts, in a window of a session's communicator. */
#include "rma.h"

static void all(MPI_Win win, int to)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 0 }, c[4] = { 0 };
    MPI_Request r;
    const MPI_Count n = 4;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    CHECK_EQ(MPI_Put_c(a, n, MPI_INT, to, 0, n, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_flush(to, win);
    CHECK_EQ(MPI_Get_c(b, n, MPI_INT, to, 0, n, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_flush(to, win);
    CHECK(!memcmp(a, b, sizeof a), "MPI_Get_c");
    CHECK_EQ(MPI_Accumulate_c(a, n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_accumulate_c(a, n, MPI_INT, b, n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, win),
             MPI_SUCCESS);
    MPI_Win_flush(to, win);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(b[i], 2 * a[i]);
    CHECK_EQ(MPI_Rget_c(b, n, MPI_INT, to, 0, n, MPI_INT, win, &r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(b[i], 3 * a[i]);
    CHECK_EQ(MPI_Rput_c(a, n, MPI_INT, to, 0, n, MPI_INT, win, &r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(to, win);
    CHECK_EQ(MPI_Raccumulate_c(a, n, MPI_INT, to, 0, n, MPI_INT, MPI_PROD, win, &r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(MPI_Rget_accumulate_c(NULL, 0, MPI_INT, c, n, MPI_INT, to, 0, n, MPI_INT, MPI_NO_OP, win, &r),
             MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(c[i], a[i] * a[i]);
    CHECK_ERR(MPI_Put_c(a, -1, MPI_INT, to, 0, n, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Put_c(a, (MPI_Count)1 << 40, MPI_INT, to, 0, (MPI_Count)1 << 40, MPI_INT, win),
              MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(to, win);
}

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Win win;
    int *base, own[4], node;
    MPI_Aint size = 0, unit = 0;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "org.keel.rma", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_size(comm, &check_size);
    for (int kind = 0; kind < 3; kind++) {
        int err = kind == 0   ? MPI_Win_allocate_c(16, 4, MPI_INFO_NULL, comm, &base, &win)
                  : kind == 1 ? MPI_Win_create_c(own, 16, 4, MPI_INFO_NULL, comm, &win)
                              : MPI_Win_allocate_shared_c(16, 4, MPI_INFO_NULL, comm, &base, &win);
        CHECK_EQ(err, MPI_SUCCESS);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        all(win, (check_rank + 1) % check_size);
        if (kind == 2) {
            CHECK_EQ(MPI_Win_shared_query_c(win, check_rank, &size, &unit, &base), MPI_SUCCESS);
            CHECK_EQ(size, 16);
            CHECK_EQ(unit, 4);
        }
        MPI_Barrier(comm);
        CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
    }
    MPI_Comm_free(&comm);
    node = MPI_Session_finalize(&session);
    CHECK_EQ(node, MPI_SUCCESS);
    return check_failures != 0;
}
