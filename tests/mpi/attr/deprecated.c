/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* The names of MPI 1. */
#include "check.h"

static int copies, deletes, extra;

static int copy(MPI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    CHECK(extra_state == &extra, " ");
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    (void)comm, (void)keyval, (void)value;
    CHECK(extra_state == &extra, " ");
    deletes++;
    return MPI_SUCCESS;
}

static void has(MPI_Comm comm, int keyval, void *expected)
{
    void *value = NULL;
    int flag = -1;
    CHECK_EQ(MPI_Attr_get(comm, keyval, &value, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, expected != NULL);
    CHECK(value == expected, "%p, not %p", value, expected);
}

int main(int argc, char **argv)
{
    int k[3];
    char x[3];
    MPI_Comm dup;
    check_init(&argc, &argv);
    CHECK_EQ(MPI_Keyval_create(copy, delete_fn, &k[0], &extra), MPI_SUCCESS);
    CHECK_EQ(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &k[1], NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &k[2], NULL), MPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        has(MPI_COMM_WORLD, k[i], NULL);
        CHECK_EQ(MPI_Attr_put(MPI_COMM_WORLD, k[i], x), MPI_SUCCESS);
        has(MPI_COMM_WORLD, k[i], x);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK_EQ(copies, 1);
    has(dup, k[0], x + 1);
    has(dup, k[1], NULL);
    has(dup, k[2], x);
    MPI_Comm_free(&dup);
    CHECK_EQ(deletes, 1);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(MPI_Attr_delete(MPI_COMM_WORLD, k[i]), MPI_SUCCESS);
        has(MPI_COMM_WORLD, k[i], NULL);
        CHECK_EQ(MPI_Keyval_free(&k[i]), MPI_SUCCESS);
        CHECK_EQ(k[i], MPI_KEYVAL_INVALID);
    }
    CHECK_EQ(deletes, 2);
    return check_done();
}
