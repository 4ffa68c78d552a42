/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* across: what is sent last has to leave before a session ends */
/* A session ends although objects of it are left: nobody waits, other sessions and the world model are not
 * touched, what is left cannot be used. */
#include "session.h"

static int deleted;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    int key, n = 0, got = -1;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    for (int i = 0; i < 30; i++) {
        MPI_Session s = session(), t = session();
        MPI_Comm left = comm_of(s, "mpi://WORLD", "left"), dup, half, freed,
                 kept = comm_of(t, "mpi://WORLD", "kept");
        MPI_Comm_set_attr(left, key, &n);
        MPI_Comm_dup(left, &dup);
        MPI_Comm_dup(left, &freed);
        MPI_Comm_split(left, check_rank % 2, 0, &half);
        MPI_Bcast(&n, 1, MPI_INT, 0, half);
        if (check_rank == 0 &&
            check_size > 1) /* it has left when the session has ended, and is taken later */
            MPI_Send(&i, 1, MPI_INT, 1, 5, dup);
        if (check_rank == 1)
            MPI_Recv(&got, 1, MPI_INT, 0, 5, dup, MPI_STATUS_IGNORE);
        MPI_Comm_free(&freed);
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
        CHECK_ERR(MPI_Comm_rank(dup, &n), MPI_ERR_COMM);
        CHECK_SAYS("that was freed");
        CHECK_ERR(MPI_Comm_free(&left), MPI_ERR_COMM);
        CHECK_EQ(MPI_Barrier(kept), MPI_SUCCESS);
        MPI_Comm_free(&kept);
        CHECK_EQ(MPI_Session_finalize(&t), MPI_SUCCESS);
    }
    CHECK_EQ(check_rank == 1 ? got : 29, 29);
    CHECK_EQ(deleted, 0, "attributes of communicators that were not freed");
    MPI_Session s = session();
    MPI_Group g, h;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    int bad[1] = { -7 };
    CHECK_ERR(MPI_Group_incl(g, 1, bad, &h), MPI_ERR_RANK); /* the handler of MPI_COMM_SELF */
    MPI_Group_free(&g);
    MPI_Comm_free_keyval(&key);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_done();
}
