/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* abi: mpich openmpi, because MPI_COMM_DUP_FN is a function there */
/* Key values that are stale, made up, or of another kind of object; bad arguments. */
#include "check.h"

static void everywhere(int keyval, const char *says)
{
    int flag;
    void *value;
    CHECK_ERR(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL), MPI_ERR_KEYVAL);
    CHECK_SAYS(says);
    CHECK_ERR(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_SAYS(says);
    CHECK_ERR(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval), MPI_ERR_KEYVAL);
    CHECK_SAYS(says);
    CHECK_ERR(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
    CHECK_SAYS(says);
}
static void on_types(int keyval, const char *says)
{
    int flag;
    void *value;
    CHECK_ERR(MPI_Type_set_attr(MPI_INT, keyval, NULL), MPI_ERR_KEYVAL);
    CHECK_SAYS(says);
    CHECK_ERR(MPI_Type_get_attr(MPI_INT, keyval, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_ERR(MPI_Type_delete_attr(MPI_INT, keyval), MPI_ERR_KEYVAL);
    CHECK_ERR(MPI_Type_free_keyval(&keyval), MPI_ERR_KEYVAL);
    CHECK_SAYS(says);
}

static void kinds(void)
{
    int comm, type, win, keyval;
    CHECK_EQ(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &comm, NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type, NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &win, NULL), MPI_SUCCESS);
    everywhere(type, "is a key value for datatypes; expected one for communicators");
    everywhere(win, "is a key value for windows");
    on_types(comm, "is a key value for communicators; expected one for datatypes");
    keyval = comm;
    CHECK_ERR(MPI_Win_free_keyval(&keyval), MPI_ERR_KEYVAL);
    int stale = comm, stale_win = win;
    CHECK_EQ(MPI_Comm_free_keyval(&comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Type_free_keyval(&type), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_free_keyval(&win), MPI_SUCCESS);
    CHECK_EQ(win, MPI_KEYVAL_INVALID);
    everywhere(stale, "freed");
    CHECK_ERR(MPI_Win_free_keyval(&stale_win), MPI_ERR_KEYVAL);
    for (int i = 0; i < 100; i++) { /* the place is used anew, the int is not */
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &comm, NULL);
        CHECK(comm != stale, " ");
        everywhere(stale, "freed");
        MPI_Comm_free_keyval(&comm);
    }
}

int main(int argc, char **argv)
{
    int k, flag;
    void *value;
    check_init(&argc, &argv);
    check_errors_return();
    kinds();
    everywhere(MPI_KEYVAL_INVALID, "is MPI_KEYVAL_INVALID");
    on_types(MPI_KEYVAL_INVALID, "is MPI_KEYVAL_INVALID");
    everywhere(-7, "is -7");
    everywhere(12345, "is 12345");
    everywhere(2147483647, "is 2147483647");
    CHECK_ERR(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL),
              MPI_ERR_ARG);
    CHECK_ERR(MPI_Comm_create_keyval(MPI_COMM_DUP_FN,
                                     (MPI_Comm_delete_attr_function *)(void (*)(void))MPI_COMM_DUP_FN, &k,
                                     NULL),
              MPI_ERR_ARG);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
    CHECK_ERR(MPI_Comm_get_attr(MPI_COMM_WORLD, k, NULL, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPI_Comm_get_attr(MPI_COMM_WORLD, k, &value, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Comm_set_attr(MPI_COMM_NULL, k, NULL), MPI_ERR_COMM);
    CHECK_ERR(MPI_Type_set_attr(MPI_DATATYPE_NULL, k, NULL), MPI_ERR_TYPE);
    MPI_Comm_free_keyval(&k);
    return check_done();
}
