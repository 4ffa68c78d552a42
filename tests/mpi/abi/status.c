/* SPDX-License-Identifier: BSD-3-Clause */
/* A status: its fields, its 64-bit count and the cancelled flag, set and read; what calls leave alone. */
/* ranks: 1 2 */
#include <check.h>

static void set_and_get(void)
{
    MPI_Status s;
    int n = -1, flag = -1;
    MPI_Count big = -1;
    memset(&s, 0, sizeof s);
    CHECK_ERR(MPI_Status_set_source(&s, 11), MPI_SUCCESS);
    CHECK_ERR(MPI_Status_set_tag(&s, 12), MPI_SUCCESS);
    CHECK_ERR(MPI_Status_set_error(&s, MPI_ERR_TOPOLOGY), MPI_SUCCESS);
    CHECK_EQ(s.MPI_SOURCE, 11);
    CHECK_EQ(s.MPI_TAG, 12);
    CHECK_EQ(s.MPI_ERROR, MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Status_get_source(&s, &n), MPI_SUCCESS);
    CHECK_EQ(n, 11);
    CHECK_ERR(MPI_Status_get_tag(&s, &n), MPI_SUCCESS);
    CHECK_EQ(n, 12);
    CHECK_ERR(MPI_Status_get_error(&s, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_ERR_TOPOLOGY);
    CHECK_ERR(MPI_Status_set_cancelled(&s, 1), MPI_SUCCESS);
    CHECK_ERR(MPI_Test_cancelled(&s, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_ERR(MPI_Status_set_cancelled(&s, 0), MPI_SUCCESS);
    CHECK_ERR(MPI_Test_cancelled(&s, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_Status_set_elements(&s, MPI_DOUBLE, 77), MPI_SUCCESS);
    CHECK_ERR(MPI_Get_count(&s, MPI_DOUBLE, &n), MPI_SUCCESS);
    CHECK_EQ(n, 77);
    CHECK_ERR(MPI_Status_set_elements_x(&s, MPI_DOUBLE, 5000000000), MPI_SUCCESS);
    CHECK_ERR(MPI_Get_elements_x(&s, MPI_DOUBLE, &big), MPI_SUCCESS);
    CHECK_EQ(big, 5000000000);
    CHECK_ERR(MPI_Get_count(&s, MPI_DOUBLE, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_UNDEFINED);
    CHECK_ERR(MPI_Get_count_c(&s, MPI_DOUBLE, &big), MPI_SUCCESS);
    CHECK_EQ(big, 5000000000);
    CHECK_ERR(MPI_Get_elements(&s, MPI_BYTE, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_UNDEFINED);
    CHECK_EQ(s.MPI_SOURCE, 11, "other fields stay");
}

/* MPI_ERROR is set only where a call returns MPI_ERR_IN_STATUS. */
static void error_field(void)
{
    MPI_Status s[3];
    MPI_Request r[3];
    int in[3] = { 0 }, i, many[2] = { 1, 2 };
    for (i = 0; i < 3; i++) {
        s[i].MPI_ERROR = 4711;
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
        MPI_Send(many, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    }
    CHECK_ERR(MPI_Wait(&r[0], &s[0]), MPI_SUCCESS);
    CHECK_EQ(s[0].MPI_ERROR, 4711);
    CHECK_ERR(MPI_Waitall(2, r + 1, s + 1), MPI_SUCCESS);
    CHECK_EQ(s[1].MPI_ERROR, 4711);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (i = 0; i < 2; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
        MPI_Send(many, i + 1, MPI_INT, 0, i, MPI_COMM_SELF); /* the second is too long */
    }
    CHECK_ERR(MPI_Waitall(2, r, s), MPI_ERR_IN_STATUS);
    CHECK_EQ(s[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    set_and_get();
    error_field();
    return check_done();
}
