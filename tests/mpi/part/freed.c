/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Requests that are freed before they were started first: they leave no trace in the matching, on either side, and
 * those that are left match in the order in which they were made, however they are started. */
#include "check.h"

enum { N = 4, TAG = 7 };
static int to, from, out[N], in[N];

static MPI_Request sender(int *value, int partitions)
{
    MPI_Request r;
    CHECK_EQ(MPI_Psend_init(value, partitions, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
             MPI_SUCCESS);
    return r;
}

static MPI_Request receiver(int *value, int partitions)
{
    MPI_Request r;
    CHECK_EQ(MPI_Precv_init(value, partitions, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
             MPI_SUCCESS);
    return r;
}

/* Two rounds of a pair that is there, with the same tag. */
static void pair(int salt)
{
    MPI_Request r[2] = { sender(out, N), receiver(in, N) };
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++)
            out[i] = salt + 10 * check_rank + i + round;
        memset(in, 0, sizeof in);
        MPI_Startall(2, r);
        MPI_Pready_range(0, N - 1, r[0]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            CHECK_EQ(in[i], salt + 10 * from + i + round);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void freed(int sends, int receives, int partitions, int salt)
{
    MPI_Request r;
    for (int i = 0; i < sends; i++) {
        r = sender(out, partitions);
        MPI_Request_free(&r);
    }
    for (int i = 0; i < receives; i++) {
        r = receiver(in, partitions);
        MPI_Request_free(&r);
    }
    pair(salt);
}

/* The last of several is started first, after one in the middle has been freed. */
static void backwards(void)
{
    static int a[N], b[N];
    MPI_Request r[2 * N];
    for (int i = 0; i < N; i++) {
        r[i] = sender(&a[i], 1);
        r[N + i] = receiver(&b[i], 1);
        a[i] = 100 * check_rank + i;
        b[i] = -1;
    }
    MPI_Request_free(&r[1]);
    MPI_Request_free(&r[N + 1]);
    for (int i = N - 1; i >= 0; i--)
        if (i != 1) {
            MPI_Start(&r[i]);
            MPI_Pready(0, r[i]);
        }
    for (int i = N - 1; i >= 0; i--)
        if (i != 1)
            MPI_Start(&r[N + i]);
    for (int i = 0; i < N; i++)
        if (i != 1) {
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            MPI_Wait(&r[N + i], MPI_STATUS_IGNORE);
            CHECK_EQ(b[i], 100 * from + i);
            MPI_Request_free(&r[i]);
            MPI_Request_free(&r[N + i]);
        }
    CHECK_EQ(b[1], -1);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int partitions = 0; partitions <= N; partitions += N / 2) {
        freed(1, 0, partitions, 1000);
        freed(0, 1, partitions, 2000);
        freed(2, 1, partitions, 3000);
        freed(1, 1, partitions, 4000);
    }
    if (check_rank % 2) /* and those of which one process alone frees some */
        freed(2, 0, 1, 5000);
    else
        freed(0, 2, 1, 5000);
    backwards();
    return check_done();
}
