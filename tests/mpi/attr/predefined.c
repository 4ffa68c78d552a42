/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* The attributes that MPI attaches itself. */
#include "check.h"

static int value_of(int keyval, const char *name)
{
    int *value = NULL, flag = -1;
    CHECK_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag), MPI_SUCCESS, "%s", name);
    CHECK_EQ(flag, 1, "%s", name);
    return value ? *value : -1234567;
}
#define VALUE(keyval) value_of(keyval, #keyval)

static void values(void)
{
    CHECK(VALUE(MPI_TAG_UB) >= 32767, "%d", VALUE(MPI_TAG_UB));
    CHECK_EQ(VALUE(MPI_IO), MPI_ANY_SOURCE);
    CHECK_EQ(VALUE(MPI_HOST), MPI_PROC_NULL);
    int global = VALUE(MPI_WTIME_IS_GLOBAL);
    CHECK(global == 0 || global == 1, "%d", global);
    CHECK_EQ(VALUE(MPI_APPNUM), 0);
    CHECK(VALUE(MPI_UNIVERSE_SIZE) >= check_size, "%d", VALUE(MPI_UNIVERSE_SIZE));
    CHECK_EQ(VALUE(MPI_LASTUSEDCODE), MPI_ERR_LASTCODE);
    int x = 0, y = 0, tag = VALUE(MPI_TAG_UB);
    CHECK_EQ(MPI_Sendrecv(&x, 1, MPI_INT, check_rank, tag, &y, 1, MPI_INT, check_rank, tag, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE),
             MPI_SUCCESS);
}

static void last_used_code(void)
{
    int *last, flag, errclass, code;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    MPI_Add_error_class(&errclass);
    CHECK_EQ(*last, errclass, "the pointer stays, the value follows");
    MPI_Add_error_code(errclass, &code);
    CHECK_EQ(VALUE(MPI_LASTUSEDCODE), code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(errclass);
    CHECK_EQ(VALUE(MPI_LASTUSEDCODE), MPI_ERR_LASTCODE);
}

/* A dup has them, too; nobody may change them. */
static void fixed(void)
{
    static const int all[] = { MPI_TAG_UB,        MPI_IO,          MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                               MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE };
    MPI_Comm dup;
    int *value, flag = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK_EQ(MPI_Comm_get_attr(dup, MPI_TAG_UB, &value, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    MPI_Comm_free(&dup);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        int keyval = all[i];
        CHECK_ERR(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &flag), MPI_ERR_KEYVAL);
        CHECK_ERR(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval), MPI_ERR_KEYVAL);
        CHECK_SAYS("MPI's own");
        CHECK_ERR(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
        CHECK_EQ(keyval, all[i]);
        CHECK_ERR(MPI_Type_get_attr(MPI_INT, keyval, &value, &flag), MPI_ERR_KEYVAL);
    }
    CHECK_ERR(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WIN_BASE, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_SAYS("windows");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    values();
    last_used_code();
    fixed();
    return check_done();
}
