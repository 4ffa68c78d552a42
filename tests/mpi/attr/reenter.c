/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Callbacks that use attributes themselves. */
#include "check.h"

static int first, second, third, calls, from_second;
static MPI_Comm inner;

/* Sets another attribute, deletes a third, frees keys; may not touch its own. */
static int busy_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    void *got = NULL;
    int flag = 0;
    (void)extra;
    calls++;
    CHECK_EQ(MPI_Comm_get_attr(comm, keyval, &got, &flag), MPI_SUCCESS);
    CHECK(flag && got == value, "it can still be read");
    CHECK_ERR(MPI_Comm_delete_attr(comm, keyval), MPI_ERR_KEYVAL);
    CHECK_SAYS("callback is running");
    CHECK_ERR(MPI_Comm_set_attr(comm, keyval, NULL), MPI_ERR_KEYVAL);
    MPI_Comm handle = comm;
    CHECK_ERR(MPI_Comm_free(&handle), MPI_ERR_COMM);
    CHECK_EQ(MPI_Comm_set_attr(comm, second, &second), MPI_SUCCESS);
    if (third != MPI_KEYVAL_INVALID) {
        CHECK_EQ(MPI_Comm_delete_attr(comm, third), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_free_keyval(&third), MPI_SUCCESS);
    }
    return MPI_SUCCESS;
}
static int note_second(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    from_second++;
    return MPI_SUCCESS;
}

/* Copies by a collective call, changes the set that is being copied. */
static int busy_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)extra;
    CHECK_EQ(MPI_Comm_split(comm, 0, 0, &inner), MPI_SUCCESS);
    MPI_Comm_free(&inner);
    CHECK_EQ(MPI_Comm_set_attr(comm, second, in), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_delete_attr(comm, third), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_free(&comm), MPI_ERR_COMM);
    (void)keyval;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void deletion(void)
{
    MPI_Comm comm;
    int x;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, busy_delete, &first, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_second, &second, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &third, NULL);
    MPI_Comm_set_attr(comm, third, &x);
    MPI_Comm_set_attr(comm, first, &x);
    CHECK_EQ(MPI_Comm_delete_attr(comm, first), MPI_SUCCESS);
    CHECK_EQ(calls, 1);
    CHECK_EQ(third, MPI_KEYVAL_INVALID);
    MPI_Comm_set_attr(comm, first, &x);
    CHECK_EQ(MPI_Comm_set_attr(comm, first, &x), MPI_SUCCESS);
    CHECK_EQ(calls, 2);
    from_second = 0;
    CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    CHECK_EQ(calls, 3);
    CHECK_EQ(from_second, 2, "overwritten; set anew while the communicator went");
    MPI_Comm_free_keyval(&first);
    MPI_Comm_free_keyval(&second);
}

static void copying(void)
{
    MPI_Comm comm, dup;
    int x, flag;
    void *value;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(busy_copy, MPI_COMM_NULL_DELETE_FN, &first, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &second, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &third, NULL);
    MPI_Comm_set_attr(comm, first, &x);
    MPI_Comm_set_attr(comm, third, &x);
    CHECK_EQ(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
    MPI_Comm_get_attr(dup, first, &value, &flag);
    CHECK(flag && value == &x, " ");
    MPI_Comm_get_attr(dup, third, &value, &flag);
    CHECK_EQ(flag, 0, "deleted before its turn");
    CHECK_EQ(MPI_Barrier(dup), MPI_SUCCESS);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&first);
    MPI_Comm_free_keyval(&second);
    MPI_Comm_free_keyval(&third);
}

/* Two that set each other for ever. */
static int other_key(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)extra;
    MPI_Comm_set_attr(comm, keyval == first ? second : first, value);
    return MPI_SUCCESS;
}

static void endless(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, other_key, &first, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, other_key, &second, NULL);
    MPI_Comm_set_attr(comm, first, NULL);
    CHECK_ERR(MPI_Comm_free(&comm), MPI_ERR_OTHER);
    CHECK_SAYS("without end");
    MPI_Comm_free_keyval(&first);
    int kept = second;
    second = MPI_KEYVAL_INVALID;
    CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Comm_free_keyval(&kept);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    deletion();
    copying();
    endless();
    return check_done();
}
