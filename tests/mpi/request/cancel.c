/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 8 */
/* MPI_Cancel: of a receive without message, of one that has its message; a cancelled receive takes nothing; of sends;
 * MPI_Request_free; the fields of a status. */
#include "check.h"

static int to, from;

static void receives(void)
{
    MPI_Request r;
    MPI_Status s;
    int x = -1, flag = -1, count = -1;
    MPI_Irecv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r);
    CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
    CHECK(r != MPI_REQUEST_NULL, "cancelling does not complete");
    CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    /* a message sent now goes to the next receive */
    MPI_Send(&check_rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &s);
    CHECK_EQ(x, from);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 0);
    /* too late */
    x = -1;
    MPI_Irecv(&x, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &r);
    MPI_Send(&check_rank, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 0);
    CHECK_EQ(x, from);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK_EQ(count, 1);
    /* among others: the one in the middle */
    MPI_Request q[3];
    MPI_Status st[3];
    int y[3] = { -1, -1, -1 };
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&y[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &q[i]);
    MPI_Cancel(&q[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Send(&i, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    MPI_Waitall(3, q, st);
    CHECK(y[0] == 0 && y[1] == -1 && y[2] == 1, "%d %d %d", y[0], y[1], y[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Test_cancelled(&st[i], &flag);
        CHECK_EQ(flag, i == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A send is cancelled, or else it arrives: either, but not both, for every size. */
static void sends(int n)
{
    static char out[300000], in[300000];
    MPI_Request r;
    MPI_Status s;
    int cancelled = -1, expected = -1, flag = 0;
    check_fill(out, (size_t)n, 7);
    MPI_Isend(out, n, MPI_CHAR, to, 4, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    while (!flag) /* local, but the receiver may have to answer */
        MPI_Test(&r, &flag, &s);
    MPI_Test_cancelled(&s, &cancelled);
    MPI_Sendrecv(&cancelled, 1, MPI_INT, to, 5, &expected, 1, MPI_INT, from, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Iprobe(from, 4, MPI_COMM_WORLD, &flag, &s);
    CHECK_EQ(flag, !expected, "size %d: cancelled %d", n, expected);
    if (flag) {
        MPI_Recv(in, n, MPI_CHAR, from, 4, MPI_COMM_WORLD, &s);
        CHECK_BYTES(in, (size_t)n, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Freed requests do their work. */
static void freed(void)
{
    static int data[50], got[50];
    MPI_Request r;
    int flag = 0, sum = 0;
    for (int i = 0; i < 50; i++) {
        data[i] = i;
        MPI_Irecv(&got[i], 1, MPI_INT, from, 6, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
        CHECK(r == MPI_REQUEST_NULL, " ");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++) {
        MPI_Isend(&data[i], 1, MPI_INT, to, 6, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
    }
    MPI_Sendrecv(NULL, 0, MPI_INT, to, 6, NULL, 0, MPI_INT, from, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE); /* in order */
    for (int i = 0; i < 50; i++)
        sum += got[i];
    CHECK_EQ(sum, 49 * 50 / 2);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
}

static void fields(void)
{
    MPI_Status s;
    int value = -1;
    memset(&s, 0, sizeof s);
    CHECK_EQ(MPI_Status_set_source(&s, 3), MPI_SUCCESS);
    CHECK_EQ(MPI_Status_set_tag(&s, 77), MPI_SUCCESS);
    CHECK_EQ(MPI_Status_set_error(&s, MPI_ERR_IO), MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 77 && s.MPI_ERROR == MPI_ERR_IO, "%d %d %d", s.MPI_SOURCE,
          s.MPI_TAG, s.MPI_ERROR);
    CHECK_EQ(MPI_Status_get_source(&s, &value), MPI_SUCCESS);
    CHECK_EQ(value, 3);
    CHECK_EQ(MPI_Status_get_tag(&s, &value), MPI_SUCCESS);
    CHECK_EQ(value, 77);
    CHECK_EQ(MPI_Status_get_error(&s, &value), MPI_SUCCESS);
    CHECK_EQ(value, MPI_ERR_IO);
    CHECK_EQ(MPI_Status_set_source(&s, MPI_ANY_SOURCE), MPI_SUCCESS); /* as in the empty status */
    CHECK_EQ(MPI_Status_set_tag(&s, MPI_ANY_TAG), MPI_SUCCESS);
    CHECK_EQ(s.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(s.MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(MPI_Status_set_cancelled(&s, 1), MPI_SUCCESS);
    CHECK_EQ(MPI_Test_cancelled(&s, &value), MPI_SUCCESS);
    CHECK_EQ(value, 1);
    CHECK_EQ(MPI_Status_set_cancelled(&s, 0), MPI_SUCCESS);
    CHECK_EQ(MPI_Test_cancelled(&s, &value), MPI_SUCCESS);
    CHECK_EQ(value, 0);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 48, 100, 9000, 70000, 300000 };
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    receives();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sends(sizes[i]);
    freed();
    fields();
    return check_done();
}
