/* SPDX-License-Identifier: BSD-3-Clause */
/* On a revoked communicator what is local works, and what survivors need; whatever communicates is an error. */
/* ranks: 1 2 4 */
/* mpiexec: -with-ft ulfm */
#include "ft.h"

static MPI_Comm comm; /* revoked */
static int v[8], w[8];

#define REVOKED(call) CHECK_ERR(call, MPIX_ERR_REVOKED)

static void local(void)
{
    int rank = -1, size = -1, flag = 0, n = -1, keyval;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group, empty;
    MPI_Errhandler handler;
    MPI_Info info;
    CHECK_ERR(MPI_Comm_rank(comm, &rank), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_size(comm, &size), MPI_SUCCESS);
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    CHECK_ERR(MPI_Comm_group(comm, &group), MPI_SUCCESS);
    CHECK_ERR(MPI_Group_size(group, &size), MPI_SUCCESS);
    CHECK_EQ(size, check_size);
    MPI_Group_free(&group);
    CHECK_ERR(MPI_Comm_compare(comm, MPI_COMM_WORLD, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_CONGRUENT);
    CHECK_ERR(MPI_Comm_test_inter(comm, &flag), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_set_name(comm, "revoked"), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_get_name(comm, name, &n), MPI_SUCCESS);
    CHECK(strcmp(name, "revoked") == 0, "%s", name);
    CHECK_ERR(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL),
              MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_set_attr(comm, keyval, v), MPI_SUCCESS);
    void *value = NULL;
    CHECK_ERR(MPI_Comm_get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
    CHECK(flag && value == v, "the attribute");
    CHECK_ERR(MPI_Comm_delete_attr(comm, keyval), MPI_SUCCESS);
    MPI_Comm_free_keyval(&keyval);
    CHECK_ERR(MPI_Comm_get_errhandler(comm, &handler), MPI_SUCCESS);
    CHECK(handler == MPI_ERRORS_RETURN, "the error handler");
    CHECK_ERR(MPI_Comm_get_info(comm, &info), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_ERR(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_ERR(MPIX_Comm_revoke(comm), MPI_SUCCESS); /* once more: nothing */
    CHECK_ERR(MPIX_Comm_get_failed(comm, &empty), MPI_SUCCESS);
    CHECK(empty == MPI_GROUP_EMPTY, "nobody has failed");
    CHECK_ERR(MPIX_Comm_ack_failed(comm, 1, &n), MPI_SUCCESS);
    CHECK_EQ(n, 0);
    CHECK_ERR(MPIX_Comm_failure_ack(comm), MPI_SUCCESS);
    CHECK_ERR(MPIX_Comm_failure_get_acked(comm, &empty), MPI_SUCCESS);
    CHECK(empty == MPI_GROUP_EMPTY, "nobody is acknowledged");
}

static void survivors(void)
{
    int flag = 6 | check_rank, size = -1;
    MPI_Request request;
    MPI_Comm left = MPI_COMM_NULL;
    CHECK_ERR(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 6);
    flag = 5;
    CHECK_ERR(MPIX_Comm_iagree(comm, &flag, &request), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(flag, 5);
    CHECK_ERR(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_size(left, &size), MPI_SUCCESS);
    CHECK_EQ(size, check_size);
    CHECK_ERR(MPIX_Comm_is_revoked(left, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0, "the new one is not revoked");
    CHECK_ERR(MPI_Barrier(left), MPI_SUCCESS);
    MPI_Comm_free(&left);
}

static void messages(void)
{
    MPI_Request r;
    MPI_Message m;
    int flag;
    REVOKED(MPI_Send(v, 1, MPI_INT, 0, 0, comm));
    REVOKED(MPI_Ssend(v, 1, MPI_INT, 0, 0, comm));
    REVOKED(MPI_Bsend(v, 1, MPI_INT, 0, 0, comm));
    REVOKED(MPI_Rsend(v, 1, MPI_INT, 0, 0, comm));
    REVOKED(MPI_Isend(v, 1, MPI_INT, 0, 0, comm, &r));
    REVOKED(MPI_Issend(v, 1, MPI_INT, 0, 0, comm, &r));
    REVOKED(MPI_Recv(v, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    REVOKED(MPI_Recv(v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    REVOKED(MPI_Irecv(v, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &r));
    REVOKED(MPI_Sendrecv(v, 1, MPI_INT, 0, 0, w, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    REVOKED(MPI_Sendrecv_replace(v, 1, MPI_INT, 0, 0, 0, 0, comm, MPI_STATUS_IGNORE));
    REVOKED(MPI_Probe(MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE));
    REVOKED(MPI_Iprobe(0, 0, comm, &flag, MPI_STATUS_IGNORE));
    REVOKED(MPI_Mprobe(0, 0, comm, &m, MPI_STATUS_IGNORE));
    REVOKED(MPI_Improbe(MPI_ANY_SOURCE, 0, comm, &flag, &m, MPI_STATUS_IGNORE));
    REVOKED(MPI_Send_init(v, 1, MPI_INT, 0, 0, comm, &r));
    REVOKED(MPI_Recv_init(v, 1, MPI_INT, 0, 0, comm, &r));
    REVOKED(MPI_Psend_init(v, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r));
    REVOKED(MPI_Precv_init(v, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r));
}

static void collectives(void)
{
    MPI_Request r;
    int all[64];
    REVOKED(MPI_Barrier(comm));
    REVOKED(MPI_Bcast(v, 1, MPI_INT, 0, comm));
    REVOKED(MPI_Gather(v, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
    REVOKED(MPI_Scatter(all, 1, MPI_INT, v, 1, MPI_INT, 0, comm));
    REVOKED(MPI_Allgather(v, 1, MPI_INT, all, 1, MPI_INT, comm));
    REVOKED(MPI_Alltoall(all, 1, MPI_INT, all + 32, 1, MPI_INT, comm));
    REVOKED(MPI_Reduce(v, w, 1, MPI_INT, MPI_SUM, 0, comm));
    REVOKED(MPI_Allreduce(v, w, 1, MPI_INT, MPI_SUM, comm));
    REVOKED(MPI_Reduce_scatter_block(all, w, 1, MPI_INT, MPI_SUM, comm));
    REVOKED(MPI_Scan(v, w, 1, MPI_INT, MPI_SUM, comm));
    REVOKED(MPI_Exscan(v, w, 1, MPI_INT, MPI_SUM, comm));
    REVOKED(MPI_Ibarrier(comm, &r));
    REVOKED(MPI_Ibcast(v, 1, MPI_INT, 0, comm, &r));
    REVOKED(MPI_Iallreduce(v, w, 1, MPI_INT, MPI_SUM, comm, &r));
    REVOKED(MPI_Barrier_init(comm, MPI_INFO_NULL, &r));
    REVOKED(MPI_Allreduce_init(v, w, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r));
}

static void creation(void)
{
    MPI_Comm made;
    MPI_Group group;
    MPI_Request r;
    int dims[1] = { check_size }, periods[1] = { 0 };
    CHECK_ERR(MPI_Comm_group(comm, &group), MPI_SUCCESS);
    REVOKED(MPI_Comm_dup(comm, &made));
    REVOKED(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made));
    REVOKED(MPI_Comm_idup(comm, &made, &r));
    REVOKED(MPI_Comm_split(comm, 0, 0, &made));
    REVOKED(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
    REVOKED(MPI_Comm_create(comm, group, &made));
    REVOKED(MPI_Comm_create_group(comm, group, 0, &made));
    REVOKED(MPI_Cart_create(comm, 1, dims, periods, 0, &made));
    REVOKED(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 0, 0, &made));
    MPI_Group_free(&group);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_ERR(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    local();
    messages();
    collectives();
    creation();
    survivors();
    CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); /* which it was made from is not revoked */
    CHECK_ERR(MPI_Comm_free(&comm), MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL, "it is freed");
    return check_done();
}
