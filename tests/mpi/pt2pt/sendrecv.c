/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Sendrecv, Sendrecv_replace and their nonblocking forms: all sizes of protocol, layouts that differ on both sides. */
#include "check.h"

enum { MAX = 300000 };
static const int sizes[] = { 0, 1, 48, 49, 2048, 2049, 8192, 70000, MAX };
static char out[MAX], in[MAX];
static int to, from;

static void plain(int n, int nonblocking)
{
    MPI_Request r;
    MPI_Status s;
    int count = -1;
    check_fill(out, (size_t)n, (uint64_t)(n + check_rank));
    memset(in, 0, (size_t)n);
    if (nonblocking) {
        CHECK_EQ(
            MPI_Isendrecv(out, n, MPI_CHAR, to, 5, in, n, MPI_CHAR, from, MPI_ANY_TAG, MPI_COMM_WORLD, &r),
            MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
    } else {
        CHECK_EQ(
            MPI_Sendrecv(out, n, MPI_CHAR, to, 5, in, MAX, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &s),
            MPI_SUCCESS);
    }
    MPI_Get_count(&s, MPI_CHAR, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(s.MPI_SOURCE, from);
    CHECK_EQ(s.MPI_TAG, 5);
    CHECK_BYTES(in, (size_t)n, (uint64_t)(n + from));
}

static void replace(int n, int nonblocking)
{
    MPI_Request r;
    MPI_Status s;
    int count = -1;
    check_fill(out, (size_t)n, (uint64_t)(n + check_rank));
    if (nonblocking) {
        CHECK_EQ(MPI_Isendrecv_replace(out, n, MPI_CHAR, to, 6, from, 6, MPI_COMM_WORLD, &r), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Sendrecv_replace(out, n, MPI_CHAR, to, 6, from, 6, MPI_COMM_WORLD, &s), MPI_SUCCESS);
    }
    MPI_Get_count(&s, MPI_CHAR, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(s.MPI_SOURCE, from);
    CHECK_BYTES(out, (size_t)n, (uint64_t)(n + from));
}

/* One buffer for both, as MPI_Sendrecv_replace has. */
static void one_buffer(int n, int nonblocking)
{
    MPI_Request r;
    MPI_Status s;
    int count = -1;
    check_fill(out, (size_t)n, (uint64_t)(n + check_rank));
    if (nonblocking) {
        CHECK_ERR(MPI_Isendrecv(out, n, MPI_CHAR, to, 6, out, n, MPI_BYTE, from, 6, MPI_COMM_WORLD, &r),
                  MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
    } else {
        CHECK_ERR(MPI_Sendrecv(out, n, MPI_CHAR, to, 6, out, MAX, MPI_CHAR, from, 6, MPI_COMM_WORLD, &s),
                  MPI_SUCCESS);
    }
    MPI_Get_count(&s, MPI_CHAR, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(s.MPI_SOURCE, from);
    CHECK_BYTES(out, (size_t)n, (uint64_t)(n + from));
}

/* Send every third int, receive into pairs with gaps; what lies between is untouched. */
static void layouts(int n, int nonblocking)
{
    MPI_Datatype thirds, pairs;
    MPI_Request r;
    MPI_Status s;
    int *a = malloc(3 * (size_t)n * sizeof *a), *b = malloc(3 * (size_t)n * sizeof *b);
    MPI_Type_vector(n, 1, 3, MPI_INT, &thirds);
    MPI_Type_vector(n / 2, 2, 5, MPI_INT, &pairs);
    MPI_Type_commit(&thirds);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < 3 * n; i++) {
        a[i] = i * 10 + check_rank;
        b[i] = -7;
    }
    if (nonblocking) {
        MPI_Isendrecv(a, 1, thirds, to, 0, b, 1, pairs, from, 0, MPI_COMM_WORLD, &r);
        MPI_Type_free(&thirds);
        MPI_Type_free(&pairs);
        MPI_Wait(&r, &s);
    } else {
        MPI_Sendrecv(a, 1, thirds, to, 0, b, 1, pairs, from, 0, MPI_COMM_WORLD, &s);
        MPI_Type_free(&thirds);
        MPI_Type_free(&pairs);
    }
    for (int i = 0; i < n / 2 * 5 - 3; i++) {
        int k = i / 5 * 2 + i % 5;
        CHECK_EQ(b[i], i % 5 < 2 ? k * 30 + from : -7, "at %d of %d", i, n);
    }
    free(a);
    free(b);
}

static void replace_layout(int n, int nonblocking)
{
    MPI_Datatype t;
    MPI_Request r;
    int *a = malloc(2 * (size_t)n * sizeof *a);
    MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int i = 0; i < 2 * n; i++)
        a[i] = i * 10 + check_rank;
    if (nonblocking) {
        MPI_Isendrecv_replace(a, 1, t, to, 0, from, 0, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv_replace(a, 1, t, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 * n; i++)
        CHECK_EQ(a[i], i * 10 + (i % 2 ? check_rank : from), "at %d of %d", i, n);
    MPI_Type_free(&t);
    free(a);
}

/* A request that is let go works on; its buffer is used until the partner has it all. */
static void let_go(void)
{
    static int data[2], got[2];
    MPI_Request r;
    int flag = 0;
    data[0] = check_rank;
    MPI_Isendrecv(data, 2, MPI_INT, to, 8, got, 2, MPI_INT, from, 8, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    CHECK(r == MPI_REQUEST_NULL, " ");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isendrecv(data, 0, MPI_INT, to, 9, got, 0, MPI_INT, from, 9, MPI_COMM_WORLD, &r);
    while (!flag)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(got[0], from);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            plain(sizes[i], nonblocking);
            replace(sizes[i], nonblocking);
            one_buffer(sizes[i], nonblocking);
        }
        for (int n = 4; n < 50000; n *= 10) {
            layouts(n, nonblocking);
            replace_layout(n, nonblocking);
        }
    }
    let_go();
    return check_done();
}
