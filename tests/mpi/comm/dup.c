/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: dup, compare, names, groups, and what keeps messages of different communicators apart.
 */
/* ranks: 1 2 3 4 5 8 */
#include "../check.h"

static void expect_compare(MPI_Comm a, MPI_Comm b, int expected)
{
    int r = -1;
    MPI_Comm_compare(a, b, &r);
    CHECK_EQ(r, expected);
}

static void copies(void)
{
    MPI_Comm a, b, w = MPI_COMM_WORLD;
    int rank, size, flag = 7;
    MPI_Comm_dup(w, &a);
    MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &b);
    MPI_Comm_rank(b, &rank);
    MPI_Comm_size(b, &size);
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    MPI_Comm_test_inter(b, &flag);
    CHECK_EQ(flag, 0);
    expect_compare(w, w, MPI_IDENT);
    expect_compare(w, a, MPI_CONGRUENT);
    expect_compare(a, b, MPI_CONGRUENT);
    expect_compare(w, MPI_COMM_SELF, check_size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    MPI_Comm_free(&a);
    CHECK(a == MPI_COMM_NULL);
    MPI_Barrier(b);
    MPI_Comm_free(&b);
    MPI_Comm_dup(MPI_COMM_SELF, &a);
    MPI_Comm_size(a, &size);
    CHECK_EQ(size, 1);
    MPI_Barrier(a);
    MPI_Comm_free(&a);
}

static void names(void)
{
    char text[MPI_MAX_OBJECT_NAME], longer[400];
    MPI_Comm a;
    int len = -1;
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &len);
    CHECK(!strcmp(text, "MPI_COMM_WORLD"), "%s", text);
    CHECK_EQ(len, 14);
    MPI_Comm_get_name(MPI_COMM_SELF, text, &len);
    CHECK(!strcmp(text, "MPI_COMM_SELF"), "%s", text);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_get_name(a, text, &len);
    CHECK_EQ(len, 0); /* names are not copied */
    MPI_Comm_set_name(a, "a name");
    MPI_Comm_get_name(a, text, &len);
    CHECK(!strcmp(text, "a name"), "%s", text);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    MPI_Comm_set_name(a, longer);
    MPI_Comm_get_name(a, text, &len);
    CHECK_EQ(len, MPI_MAX_OBJECT_NAME - 1);
    CHECK_EQ(strlen(text), MPI_MAX_OBJECT_NAME - 1);
    MPI_Comm_free(&a);
}

/* Same source, same tag, other communicator: each message comes out where it was sent. */
static void apart(void)
{
    enum { COMMS = 4 };
    MPI_Comm c[COMMS];
    MPI_Request r[COMMS];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, in[COMMS],
        out[COMMS];
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(i ? c[i - 1] : MPI_COMM_WORLD, &c[i]);
    for (int i = 0; i < COMMS; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, 3, c[i], &r[i]);
    for (int i = COMMS - 1; i >= 0; i--) {
        out[i] = 100 * check_rank + i;
        MPI_Send(&out[i], 1, MPI_INT, right, 3, c[i]);
        MPI_Barrier(c[COMMS - 1 - i]);
    }
    MPI_Waitall(COMMS, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COMMS; i++) {
        CHECK_EQ(in[i], 100 * left + i);
        MPI_Comm_free(&c[i]);
    }
}

/* A communicator is freed while its messages are on their way. */
static void free_early(void)
{
    static char in[200000], out[200000];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    MPI_Comm c;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    check_fill(out, sizeof out, (uint64_t)check_rank);
    MPI_Irecv(in, sizeof in, MPI_CHAR, left, 0, c, &r[0]);
    MPI_Isend(out, sizeof out, MPI_CHAR, right, 0, c, &r[1]);
    MPI_Comm_free(&c);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_BYTES(in, sizeof in, (uint64_t)left);
}

/* The error handler is inherited. */
static void handler(void)
{
    MPI_Comm c, d;
    int v = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_dup(c, &d);
    MPI_Comm_free(&c);
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, check_size, 0, d), MPI_ERR_RANK);
    MPI_Comm_free(&d);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    copies();
    names();
    apart();
    free_early();
    handler();
    return check_done();
}
