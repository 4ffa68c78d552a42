/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* Requests with the same tag match in the order in which they were made, whatever the order of their starts, also
 * if some were freed unused; other tags, communicators, and messages that are not partitioned do not get in
 * between. */
#include "check.h"

enum { PAIRS = 5, N = 4 };
static int to, from;

static void by_making(MPI_Comm comm)
{
    static int out[PAIRS][N], in[PAIRS][N];
    MPI_Request s[PAIRS], r[PAIRS];
    for (int k = 0; k < PAIRS; k++) {
        for (int i = 0; i < N; i++)
            out[k][i] = 100 * check_rank + 10 * k + i;
        MPI_Psend_init(out[k], N, 1, MPI_INT, to, 7, comm, MPI_INFO_NULL, &s[k]);
    }
    for (int k = 0; k < PAIRS; k++)
        MPI_Precv_init(in[k], k % 2 ? N : 2, k % 2 ? 1 : N / 2, MPI_INT, from, 7, comm, MPI_INFO_NULL, &r[k]);
    memset(in, 0, sizeof in);
    for (int k = PAIRS - 1; k >= 0; k--) {
        MPI_Start(&s[k]);
        MPI_Pready_range(0, N - 1, s[k]);
    }
    MPI_Startall(PAIRS, r);
    MPI_Waitall(PAIRS, s, MPI_STATUSES_IGNORE);
    MPI_Waitall(PAIRS, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < PAIRS; k++)
        for (int i = 0; i < N; i++)
            CHECK_EQ(in[k][i], 100 * from + 10 * k + i, "pair %d", k);
    for (int k = 0; k < PAIRS; k++) {
        MPI_Request_free(&s[k]);
        MPI_Request_free(&r[k]);
    }
}

/* The first of two pairs is freed by both, before it can have been matched. */
static void unused(int late)
{
    int a[2] = { 1, 2 }, b[2] = { check_rank, 4 }, in[2] = { 0, 0 };
    MPI_Request s, r;
    if (late) {
        MPI_Psend_init(a, 1, 2, MPI_INT, to, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
        MPI_Request_free(&s);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Precv_init(in, 1, 2, MPI_INT, from, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Request_free(&r);
    MPI_Precv_init(in, 2, 1, MPI_INT, from, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    if (!late) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Psend_init(a, 1, 2, MPI_INT, to, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
        MPI_Request_free(&s);
    }
    MPI_Psend_init(b, 1, 2, MPI_INT, to, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Start(&s);
    MPI_Pready(0, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], from);
    CHECK_EQ(in[1], 4);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

/* Plain messages with the same tag, and a receive of anything. */
static void beside_others(void)
{
    int part[N], in[N] = { 0 }, plain = 1000 + check_rank, got = 0, flag;
    MPI_Request s, r, any;
    MPI_Status st;
    for (int i = 0; i < N; i++)
        part[i] = 10 * check_rank + i;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    MPI_Psend_init(part, N, 1, MPI_INT, to, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(in, N, 1, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&s);
    for (int i = 0; i < N; i++)
        MPI_Pready(i, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&any, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0, "a partition matched a plain receive");
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0, "a probe sees a partition");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&r);
    MPI_Send(&plain, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
    MPI_Wait(&any, &st);
    CHECK_EQ(got, 1000 + from);
    CHECK_EQ(st.MPI_TAG, 9);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK_EQ(in[i], 10 * from + i);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

/* The communicator and the datatype may be freed while the requests live. */
static void freed(void)
{
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Request r[2];
    int out[2 * N], in[2 * N];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Psend_init(out, N, 1, pair, to, 1, comm, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 2, N, MPI_INT, from, 1, comm, MPI_INFO_NULL, &r[1]);
    MPI_Type_free(&pair);
    MPI_Startall(2, r);
    MPI_Comm_free(&comm);
    for (int round = 0; round < 3; round++) {
        if (round)
            MPI_Startall(2, r);
        for (int i = 0; i < 2 * N; i++)
            out[i] = 100 * round + 10 * check_rank + i;
        for (int i = 0; i < N; i++)
            MPI_Pready(i, r[0]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * N; i++)
            CHECK_EQ(in[i], 100 * round + 10 * from + i);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    by_making(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    by_making(dup);
    for (int i = 0; i < 3; i++) {
        unused(0);
        unused(1);
    }
    beside_others();
    freed();
    MPI_Comm_free(&dup);
    return check_done();
}
