/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* abi: openmpi, because texts tell the native number */
/* Callbacks that fail: the call that ran them fails, and nothing is lost. */
#include "check.h"

static int fail_copy, fail_delete, deletes, order[8];

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return *(int *)in == fail_copy ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int rank = -1, flag = -1;
    void *got;
    (void)extra;
    CHECK_EQ(MPI_Comm_rank(comm, &rank), MPI_SUCCESS, "the communicator still works");
    CHECK_EQ(MPI_Comm_get_attr(comm, keyval, &got, &flag), MPI_SUCCESS);
    if (*(int *)value == fail_delete)
        return 123456; /* no code of MPI */
    order[deletes++ % 8] = *(int *)value;
    return MPI_SUCCESS;
}

/* The third of four copies fails, everywhere or on one rank: nobody gets a communicator. */
static void failing_copy(MPI_Comm comm, int who)
{
    int k[4], id[4];
    MPI_Comm dup = comm;
    for (int i = 0; i < 4; i++) {
        id[i] = i + 1;
        MPI_Comm_create_keyval(copy, delete_fn, &k[i], NULL);
        MPI_Comm_set_attr(comm, k[i], &id[i]);
    }
    fail_copy = who < 0 || who == check_rank ? 3 : 0;
    deletes = 0;
    CHECK_ERR(MPI_Comm_dup(comm, &dup), MPI_ERR_OTHER);
    if (fail_copy)
        CHECK_SAYS("copy callback");
    CHECK_EQ(deletes, fail_copy ? 2 : 4, "what was copied is deleted");
    for (int i = 0; i < deletes; i++)
        CHECK_EQ(order[i], deletes - i);
    fail_copy = 0;
    CHECK_EQ(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
    deletes = 0;
    MPI_Comm_free(&dup);
    CHECK_EQ(deletes, 4);
    for (int i = 0; i < 4; i++) {
        MPI_Comm_delete_attr(comm, k[i]);
        MPI_Comm_free_keyval(&k[i]);
    }
}

static void failing_delete(MPI_Comm comm)
{
    int k[3], id[3] = { 1, 2, 3 }, flag;
    MPI_Comm dup;
    void *value;
    MPI_Comm_dup(comm, &dup);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &k[i], NULL);
        MPI_Comm_set_attr(dup, k[i], &id[i]);
    }
    fail_delete = 2;
    CHECK_ERR(MPI_Comm_set_attr(dup, k[1], NULL), MPI_ERR_OTHER);
    CHECK_SAYS("123456");
    CHECK_ERR(MPI_Comm_delete_attr(dup, k[1]), MPI_ERR_OTHER);
    MPI_Comm_get_attr(dup, k[1], &value, &flag);
    CHECK(flag && value == &id[1], "it stays");
    MPI_Comm handle = dup;
    deletes = 0;
    CHECK_ERR(MPI_Comm_free(&dup), MPI_ERR_OTHER);
    CHECK(dup == handle, "not freed");
    CHECK_EQ(deletes, 1, "the latest");
    CHECK_EQ(MPI_Barrier(dup), MPI_SUCCESS);
    fail_delete = 0;
    CHECK_EQ(MPI_Comm_free(&dup), MPI_SUCCESS);
    CHECK_EQ(deletes, 3);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free_keyval(&k[i]);
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    return copy(MPI_COMM_NULL, keyval, extra, in, out, flag);
}
static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    deletes++;
    return *(int *)value == fail_delete ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static void types(void)
{
    int k[2], id[2] = { 1, 2 };
    MPI_Datatype type, dup = MPI_INT;
    MPI_Type_contiguous(3, MPI_INT, &type);
    for (int i = 0; i < 2; i++) {
        MPI_Type_create_keyval(copy_type, delete_type, &k[i], NULL);
        MPI_Type_set_attr(type, k[i], &id[i]);
    }
    fail_copy = 2;
    deletes = 0;
    CHECK_ERR(MPI_Type_dup(type, &dup), MPI_ERR_OTHER);
    CHECK_EQ(deletes, 1);
    fail_copy = 0;
    fail_delete = 1;
    MPI_Datatype handle = type;
    CHECK_ERR(MPI_Type_free(&type), MPI_ERR_INTERN);
    CHECK(type == handle, "not freed");
    CHECK_EQ(deletes, 3);
    fail_delete = 0;
    CHECK_EQ(MPI_Type_free(&type), MPI_SUCCESS);
    CHECK_EQ(deletes, 4);
    for (int i = 0; i < 2; i++)
        MPI_Type_free_keyval(&k[i]);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    failing_copy(comm, -1);
    failing_copy(comm, check_size - 1);
    failing_delete(comm);
    MPI_Comm_free(&comm);
    types();
    return check_done();
}
