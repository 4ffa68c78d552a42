/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Get_count, MPI_Get_elements and MPI_Status_set_elements: whole and partial receives of mixed types. */
/* ranks: 1 2 3 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

/* {int, double, char} and pairs of it: elements end after 4, 12, 13, 17, ... bytes. */
static MPI_Datatype record(void)
{
    MPI_Datatype t, types[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
    OK(MPI_Type_create_struct(3, (int[]){ 1, 1, 1 }, (MPI_Aint[]){ 0, 8, 16 }, types, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

/* What a status of `bytes` bytes says of t; -1 for MPI_UNDEFINED. */
static void says(int line, MPI_Datatype t, int bytes, int count, int elements)
{
    MPI_Status s;
    int n = -7, e = -7;
    MPI_Count nc = -7, ec = -7, ex = -7;
    memset(&s, 0, sizeof s);
    OK(MPI_Status_set_elements(&s, MPI_BYTE, bytes));
    OK(MPI_Get_count(&s, t, &n));
    OK(MPI_Get_elements(&s, t, &e));
    OK(MPI_Get_count_c(&s, t, &nc));
    OK(MPI_Get_elements_c(&s, t, &ec));
    OK(MPI_Get_elements_x(&s, t, &ex));
    count = count < 0 ? MPI_UNDEFINED : count;
    elements = elements < 0 ? MPI_UNDEFINED : elements;
    CHECK(n == count && nc == count, "line %d: count is %d; expected %d", line, n, count);
    CHECK(e == elements && ec == elements && ex == elements, "line %d: elements %d; expected %d", line, e,
          elements);
}
#define SAYS(...) says(__LINE__, __VA_ARGS__)

static void try_setting(MPI_Datatype t)
{
    static const int bytes[] = { 0, 4, 12, 13, 17, 25, 26, 30 };
    for (int k = 0; k < 8; k++) {
        MPI_Status s;
        int n = -1;
        memset(&s, 0, sizeof s);
        OK(MPI_Status_set_elements(&s, t, k));
        OK(MPI_Get_count(&s, MPI_BYTE, &n));
        CHECK_EQ(n, bytes[k], "%d elements", k);
        OK(MPI_Status_set_elements_c(&s, t, k));
        OK(MPI_Get_elements(&s, t, &n));
        CHECK_EQ(n, k);
        OK(MPI_Status_set_elements_x(&s, t, k));
        OK(MPI_Get_elements(&s, t, &n));
        CHECK_EQ(n, k);
    }
}

static void try_large(void)
{
    MPI_Status s;
    MPI_Datatype t;
    int n = 0;
    MPI_Count nc = 0, big = (MPI_Count)1 << 35;
    memset(&s, 0, sizeof s);
    OK(MPI_Status_set_elements_x(&s, MPI_INT, big));
    OK(MPI_Get_elements_x(&s, MPI_INT, &nc));
    CHECK_EQ(nc, big);
    OK(MPI_Get_count(&s, MPI_INT, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_Get_elements(&s, MPI_INT, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_Type_contiguous(1 << 20, MPI_INT, &t));
    OK(MPI_Get_count(&s, t, &n));
    CHECK_EQ(n, 1 << 15);
    CHECK_ERR(MPI_Status_set_elements_c(&s, MPI_INT, INT64_MAX), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Status_set_elements(&s, MPI_INT, -1), MPI_ERR_COUNT);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_contiguous(0, MPI_INT, &t));
    CHECK_ERR(MPI_Status_set_elements(&s, t, 1), MPI_ERR_COUNT);
    OK(MPI_Status_set_elements(&s, t, 0));
    OK(MPI_Type_free(&t));
}

/* The standard's example: a pair of floats, of which two and then three are sent. */
static void try_receiving(void)
{
    MPI_Datatype two;
    float out[4] = { 1, 2, 3, 4 }, in[4] = { 0 };
    int n = -1, next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    OK(MPI_Type_contiguous(2, MPI_FLOAT, &two));
    OK(MPI_Type_commit(&two));
    for (int k = 2; k < 4; k++) {
        MPI_Status s;
        OK(MPI_Sendrecv(out, k, MPI_FLOAT, next, 0, in, 2, two, before, 0, MPI_COMM_WORLD, &s));
        OK(MPI_Get_count(&s, two, &n));
        CHECK_EQ(n, k == 2 ? 1 : MPI_UNDEFINED);
        OK(MPI_Get_elements(&s, two, &n));
        CHECK_EQ(n, k);
        CHECK(in[k - 1] == out[k - 1] && in[3] == 0, "what was received");
    }
    OK(MPI_Type_free(&two));
}

int main(int argc, char **argv)
{
    MPI_Datatype t, v, none, s2;
    check_init(&argc, &argv);
    check_errors_return();
    t = record();
    SAYS(t, 0, 0, 0);
    SAYS(t, 4, -1, 1);
    SAYS(t, 12, -1, 2);
    SAYS(t, 13, 1, 3);
    SAYS(t, 26, 2, 6);
    SAYS(t, 30, -1, 7);
    SAYS(t, 5, -1, -1); /* inside the double */
    OK(MPI_Type_vector(3, 2, 4, t, &v));
    SAYS(v, 78, 1, 18);
    SAYS(v, 78 + 13 + 12, -1, 23);
    SAYS(v, 1, -1, -1);
    SAYS(MPI_DOUBLE_INT, 24, 2, 4);
    SAYS(MPI_DOUBLE_INT, 20, -1, 3);
    SAYS(MPI_SHORT_INT, 2, -1, 1);
    SAYS(MPI_SHORT_INT, 3, -1, -1);
    MPI_Datatype types[3] = { v, MPI_SHORT, t };
    OK(MPI_Type_contiguous(0, MPI_INT, &none));
    SAYS(none, 0, 0, 0);
    SAYS(none, 4, -1, -1);
    OK(MPI_Type_create_struct(3, (int[]){ 1, 3, 2 }, (MPI_Aint[]){ 0, 1000, 2000 }, types, &s2));
    SAYS(s2, 78 + 6 + 26, 1, 18 + 3 + 6);
    SAYS(s2, 78 + 4, -1, 18 + 2);
    SAYS(s2, 78 + 6 + 13 + 4, -1, 18 + 3 + 4);
    SAYS(s2, 78 + 6 + 26 + 17, -1, 27 + 4);
    try_setting(t);
    try_large();
    try_receiving();
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&v));
    OK(MPI_Type_free(&none));
    OK(MPI_Type_free(&s2));
    return check_done();
}
