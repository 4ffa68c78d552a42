/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Names of communicators and datatypes. */
#include "check.h"

static char name[MPI_MAX_OBJECT_NAME + 8];

static void comm_is(MPI_Comm comm, const char *expected)
{
    int len = -1;
    memset(name, '?', sizeof name);
    CHECK_EQ(MPI_Comm_get_name(comm, name, &len), MPI_SUCCESS);
    CHECK_EQ(len, (int)strlen(expected));
    CHECK(len >= 0 && !strcmp(name, expected), "it is \"%.100s\"; expected \"%s\"", name, expected);
}
static void type_is(MPI_Datatype type, const char *expected)
{
    int len = -1;
    memset(name, '?', sizeof name);
    CHECK_EQ(MPI_Type_get_name(type, name, &len), MPI_SUCCESS);
    CHECK_EQ(len, (int)strlen(expected));
    CHECK(len >= 0 && !strcmp(name, expected), "it is \"%.100s\"; expected \"%s\"", name, expected);
}

static void comms(const char *too_long)
{
    MPI_Comm dup, part;
    int x = 0;
    comm_is(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    comm_is(MPI_COMM_SELF, "MPI_COMM_SELF");
    comm_is(MPI_COMM_NULL, "MPI_COMM_NULL");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    comm_is(dup, "");
    CHECK_EQ(MPI_Comm_set_name(dup, "  two of them"), MPI_SUCCESS);
    comm_is(dup, "  two of them");
    MPI_Comm_split(dup, 0, 0, &part);
    comm_is(part, "");
    CHECK_EQ(MPI_Comm_set_name(part, too_long), MPI_SUCCESS);
    comm_is(part, too_long + 10);
    MPI_Comm_set_name(part, "ocean");
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 77, 0, part), MPI_ERR_RANK);
    CHECK_SAYS("communicator ocean");
    MPI_Comm_set_name(part, "");
    comm_is(part, "");
    CHECK_EQ(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"), MPI_SUCCESS);
    comm_is(MPI_COMM_WORLD, "everybody");
    CHECK_ERR(MPI_Comm_set_name(MPI_COMM_NULL, "x"), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_set_name(dup, NULL), MPI_ERR_ARG);
    MPI_Comm_free(&part);
    MPI_Comm_free(&dup);
}

static void types(const char *too_long)
{
    static const struct {
        MPI_Datatype type;
        const char *name;
    } rows[] = {
        { MPI_CHAR, "MPI_CHAR" },       { MPI_INT, "MPI_INT" },
        { MPI_WCHAR, "MPI_WCHAR" },     { MPI_DOUBLE, "MPI_DOUBLE" },
        { MPI_BYTE, "MPI_BYTE" },       { MPI_PACKED, "MPI_PACKED" },
        { MPI_2INT, "MPI_2INT" },       { MPI_DOUBLE_INT, "MPI_DOUBLE_INT" },
        { MPI_INTEGER, "MPI_INTEGER" }, { MPI_COUNT, "MPI_COUNT" },
        { MPI_AINT, "MPI_AINT" },       { MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX" },
    };
    MPI_Datatype type, dup;
    int x[4] = { 0 };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        type_is(rows[i].type, rows[i].name);
    type_is(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
    MPI_Type_contiguous(2, MPI_INT, &type);
    type_is(type, "");
    CHECK_EQ(MPI_Type_set_name(type, "a pair"), MPI_SUCCESS);
    type_is(type, "a pair");
    CHECK_ERR(MPI_Send(x, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_SAYS("a pair");
    MPI_Type_dup(type, &dup);
    type_is(dup, "");
    CHECK_EQ(MPI_Type_set_name(dup, too_long), MPI_SUCCESS);
    type_is(dup, too_long + 10);
    MPI_Type_set_name(dup, "short again");
    type_is(dup, "short again");
    MPI_Type_set_name(dup, "");
    type_is(dup, "");
    MPI_Type_free(&dup);
    MPI_Type_free(&type);
    CHECK_EQ(MPI_Type_set_name(MPI_INT, "whole numbers"), MPI_SUCCESS);
    CHECK_EQ(MPI_Type_set_name(MPI_INT, "integers"), MPI_SUCCESS);
    type_is(MPI_INT, "integers");
    type_is(MPI_UNSIGNED, "MPI_UNSIGNED");
    type = MPI_INT;
    CHECK_ERR(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK_SAYS("is integers");
    CHECK_ERR(MPI_Type_set_name(MPI_DATATYPE_NULL, "x"), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    char too_long[MPI_MAX_OBJECT_NAME + 10];
    memset(too_long, 'n', sizeof too_long);
    too_long[sizeof too_long - 1] = 0; /* cut, it ends where too_long + 10 does */
    check_init(&argc, &argv);
    check_errors_return();
    comms(too_long);
    types(too_long);
    return check_done();
}
