/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Classes, codes and strings that the program adds and removes, before and while MPI runs. */
#include "check.h"

static void string_is(int code, const char *expected)
{
    char text[MPI_MAX_ERROR_STRING] = "?";
    int len = -1;
    CHECK_EQ(MPI_Error_string(code, text, &len), MPI_SUCCESS);
    CHECK(!strcmp(text, expected), "it is \"%s\"; expected \"%s\"", text, expected);
    CHECK_EQ(len, (int)strlen(expected));
}

static void add_and_remove(void)
{
    enum { N = 100 };
    int a = 0, b = 0, codes[N], errclass = -1;
    CHECK_EQ(MPI_Add_error_class(&a), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_class(&b), MPI_SUCCESS);
    CHECK(a > MPI_ERR_LASTCODE && b > MPI_ERR_LASTCODE && a != b, "%d %d", a, b);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(MPI_Add_error_code(i % 3 == 0 ? a : i % 3 == 1 ? b : MPI_ERR_IO, &codes[i]), MPI_SUCCESS);
        CHECK_EQ(MPI_Error_class(codes[i], &errclass), MPI_SUCCESS);
        CHECK_EQ(errclass, i % 3 == 0 ? a : i % 3 == 1 ? b : MPI_ERR_IO);
        for (int k = 0; k < i; k++)
            CHECK(codes[k] != codes[i], "%d", i);
    }
    CHECK_EQ(MPI_Error_class(a, &errclass), MPI_SUCCESS);
    CHECK_EQ(errclass, a);
    string_is(a, "");
    string_is(codes[1], "");
    CHECK_EQ(MPI_Add_error_string(a, "class a"), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_string(codes[1], "first"), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_string(codes[1], "code one"), MPI_SUCCESS);
    string_is(a, "class a");
    string_is(codes[1], "code one");
    CHECK_EQ(MPI_Remove_error_string(codes[1]), MPI_SUCCESS);
    string_is(codes[1], "");
    CHECK_EQ(MPI_Remove_error_string(a), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK_EQ(MPI_Remove_error_code(codes[i]), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_class(b), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_class(a), MPI_SUCCESS);
}

static void misuse(void)
{
    int a, code, errclass;
    char *longer = malloc(MPI_MAX_ERROR_STRING + 2);
    memset(longer, 'x', MPI_MAX_ERROR_STRING + 1);
    longer[MPI_MAX_ERROR_STRING + 1] = 0;
    CHECK_ERR(MPI_Remove_error_class(MPI_ERR_RANK), MPI_ERR_ARG);
    CHECK_ERR(MPI_Remove_error_class(MPI_ERR_LASTCODE + 77), MPI_ERR_ARG);
    CHECK_ERR(MPI_Add_error_code(-5, &code), MPI_ERR_ARG);
    CHECK_ERR(MPI_Add_error_code(MPI_SUCCESS, &code), MPI_ERR_ARG);
    CHECK_ERR(MPI_Add_error_code(MPI_ERR_LASTCODE + 77, &code), MPI_ERR_ARG);
    CHECK_ERR(MPI_Add_error_string(MPI_ERR_RANK, "mine"), MPI_ERR_ARG);
    CHECK_ERR(MPI_Remove_error_string(MPI_ERR_RANK), MPI_ERR_ARG);
    CHECK_EQ(MPI_Add_error_class(&a), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_code(a, &code), MPI_SUCCESS);
    CHECK_ERR(MPI_Remove_error_class(code), MPI_ERR_ARG);
    CHECK_ERR(MPI_Remove_error_code(a), MPI_ERR_ARG);
    CHECK_ERR(MPI_Remove_error_class(a), MPI_ERR_ARG);
    CHECK_SAYS("still has 1 error code");
#ifndef ABI_OPENMPI /* where strings are shorter */
    CHECK_ERR(MPI_Add_error_string(a, longer), MPI_ERR_ARG);
#endif
    CHECK_ERR(MPI_Remove_error_string(code), MPI_ERR_ARG);
    CHECK_EQ(MPI_Add_error_string(code, "x"), MPI_SUCCESS);
    CHECK_ERR(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_SAYS("still has a string");
    CHECK_EQ(MPI_Remove_error_string(code), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
    CHECK_ERR(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_ERR(MPI_Error_class(code, &errclass), MPI_ERR_ARG);
    CHECK_EQ(MPI_Add_error_string(a, "y"), MPI_SUCCESS);
    CHECK_ERR(MPI_Remove_error_class(a), MPI_ERR_ARG);
    CHECK_SAYS("still has a string");
    string_is(a, "y");
    CHECK_EQ(MPI_Remove_error_string(a), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_class(a), MPI_SUCCESS);
    /* as long as it may be; what comes back is what the array holds */
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int len = -1;
    longer[MPI_MAX_ERROR_STRING] = 0;
    CHECK_EQ(MPI_Add_error_class(&a), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_string(a, longer), MPI_SUCCESS);
    text[MPI_MAX_ERROR_STRING] = 'z';
    CHECK_EQ(MPI_Error_string(a, text, &len), MPI_SUCCESS);
    CHECK_EQ(len, MPI_MAX_ERROR_STRING - 1);
    CHECK_EQ(strlen(text), MPI_MAX_ERROR_STRING - 1);
    CHECK(text[MPI_MAX_ERROR_STRING] == 'z', "written behind the array");
    CHECK_EQ(MPI_Remove_error_string(a), MPI_SUCCESS);
    CHECK_EQ(MPI_Remove_error_class(a), MPI_SUCCESS);
    free(longer);
}

int main(int argc, char **argv)
{
    add_and_remove();
    check_init(&argc, &argv);
    check_errors_return();
    add_and_remove();
    misuse();
    int kept, code;
    MPI_Add_error_class(&kept);
    MPI_Add_error_code(kept, &code);
    MPI_Add_error_string(code, "kept until the end");
    int failed = check_done();
    string_is(code, "kept until the end");
    return failed || check_failures;
}
