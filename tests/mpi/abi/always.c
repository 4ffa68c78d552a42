/* SPDX-License-Identifier: BSD-3-Clause */
/* The procedures of the standard's table "MPI Functions that can be called at any time" that anytime.c and
 * tests/mpi/info do not have, before MPI_Init, within, and after MPI_Finalize. */
/* ranks: 1 3 */
#include "../check.h"

static void infos(void)
{
    MPI_Info info, copy;
    char text[MPI_MAX_INFO_KEY] = "";
    int flag = 0, n = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "1");
    MPI_Info_set(info, "b", "22");
    MPI_Info_get_nthkey(info, 1, text);
    CHECK(!strcmp(text, "b"), "%s", text);
    MPI_Info_get(info, "b", 20, text, &flag);
    CHECK(flag && !strcmp(text, "22"), "%s", text);
    MPI_Info_get_valuelen(info, "b", &n, &flag);
    CHECK_EQ(n, 2);
    MPI_Info_delete(info, "a");
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_dup(info, &copy);
    MPI_Info_get_nkeys(copy, &n);
    CHECK_EQ(n, 1);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
}

static void abi_info(void)
{
    static const char *const keys[] = { "mpi_aint_size", "mpi_count_size", "mpi_offset_size" };
    static const int sizes[] = { sizeof(MPI_Aint), sizeof(MPI_Count), sizeof(MPI_Offset) };
    MPI_Info info = MPI_INFO_NULL;
    MPI_Abi_get_info(&info);
    for (int i = 0; i < 3; i++) {
        char text[8] = "";
        int flag = 0, len = sizeof text;
        MPI_Info_get_string(info, keys[i], &len, text, &flag);
        CHECK(flag && atoi(text) == sizes[i], "%s is %s", keys[i], text);
    }
    MPI_Info_free(&info);
}

static void errors(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int errclass = -1, code = -1, got = -1, len;
    MPI_Add_error_class(&errclass);
    MPI_Add_error_code(errclass, &code);
    MPI_Add_error_string(code, "a code of the program");
    MPI_Error_class(code, &got);
    CHECK_EQ(got, errclass);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "a code of the program"), "%s", text);
    MPI_Remove_error_string(code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(errclass);
}

static void handlers(void)
{
    MPI_Errhandler errhandler = MPI_ERRORS_RETURN;
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(errhandler)) == errhandler);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(errhandler)) == errhandler);
    CHECK_EQ(MPI_Pcontrol(0), MPI_SUCCESS);
    CHECK_EQ(MPI_Pcontrol(2, "more", 3.0), MPI_SUCCESS);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void all(void)
{
    infos();
    abi_info();
    errors();
    handlers();
}

int main(int argc, char **argv)
{
    MPI_Errhandler mine;
    void *memory;
    all();
    check_init(&argc, &argv);
    all();
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
    MPI_Finalize();
    all();
    CHECK_EQ(MPI_Free_mem(memory), MPI_SUCCESS); /* not in the table: Boost.MPI does it in destructors */
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);
    return check_failures != 0;
}
