/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call reads and what it writes must not be the same memory: one buffer passed twice is
 * MPI_ERR_BUFFER, in all three forms of every collective, in MPI_Reduce_local and in the exchanges
 * ("Procedure Specification", "Blocking Send-Receive").  So is MPI_IN_PLACE where there is no such
 * option.  Buffers that begin at one address and are disjoint, or move nothing, are in order. */
/* ranks: 1 2 3 5 */
#include "check.h"

enum { N = 3, MOST = 8 };
static int b[2 * MOST * N], other[2 * MOST * N], counts[MOST], displs[MOST], bytes[MOST], far[MOST],
    far_bytes[MOST];
static MPI_Datatype types[MOST];
static const char *says; /* what an error is to say */

static void result(int line, const char *call, int got, int expected)
{
    check_err(__FILE__, line, call, got, expected);
    if (expected && says)
        CHECK_SAYS(says);
}

/* Complete what was begun. */
static void finish(MPI_Request *r, int persistent)
{
    if (persistent)
        CHECK_EQ(MPI_Start(r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (persistent)
        CHECK_EQ(MPI_Request_free(r), MPI_SUCCESS);
}

/* A collective in its three forms. */
#define FORMS(expected, X, x, ...) \
    do { \
        MPI_Request r_ = MPI_REQUEST_NULL; \
        result(__LINE__, "MPI_" #X, MPI_##X(__VA_ARGS__), expected); \
        int err_ = MPI_I##x(__VA_ARGS__, &r_); \
        result(__LINE__, "MPI_I" #x, err_, expected); \
        if (!err_) \
            finish(&r_, 0); \
        err_ = MPI_##X##_init(__VA_ARGS__, MPI_INFO_NULL, &r_); \
        result(__LINE__, "MPI_" #X "_init", err_, expected); \
        if (!err_) \
            finish(&r_, 1); \
    } while (0)

#define I MPI_INT
#define S MPI_SUM

/* Those without a root, from one buffer to the other. */
static void rootless(int expected, MPI_Comm c, const void *s, void *r, int n)
{
    FORMS(expected, Allgather, allgather, s, n, I, r, n, I, c);
    FORMS(expected, Allgatherv, allgatherv, s, n, I, r, counts, displs, I, c);
    FORMS(expected, Allreduce, allreduce, s, r, n, I, S, c);
    FORMS(expected, Alltoall, alltoall, s, n, I, r, n, I, c);
    FORMS(expected, Alltoallv, alltoallv, s, counts, displs, I, r, counts, displs, I, c);
    FORMS(expected, Alltoallw, alltoallw, s, counts, bytes, types, r, counts, bytes, types, c);
    FORMS(expected, Reduce_scatter, reduce_scatter, s, r, counts, I, S, c);
    FORMS(expected, Reduce_scatter_block, reduce_scatter_block, s, r, n, I, S, c);
    FORMS(expected, Scan, scan, s, r, n, I, S, c);
}

/* The root's call of those that have one; nobody else calls them. */
static void rooted(int expected, MPI_Comm c, int root, const void *s, void *r, int n)
{
    FORMS(expected, Gather, gather, s, n, I, r, n, I, root, c);
    FORMS(expected, Gatherv, gatherv, s, n, I, r, counts, displs, I, root, c);
    FORMS(expected, Scatter, scatter, s, n, I, r, n, I, root, c);
    FORMS(expected, Scatterv, scatterv, s, counts, displs, I, r, n, I, root, c);
    FORMS(expected, Reduce, reduce, s, r, n, I, S, root, c);
}

static void neighbors(int expected, MPI_Comm c, const void *s, void *r, int n)
{
    MPI_Aint at[] = { 0, N * sizeof(int) };
    FORMS(expected, Neighbor_allgather, neighbor_allgather, s, n, I, r, n, I, c);
    FORMS(expected, Neighbor_allgatherv, neighbor_allgatherv, s, n, I, r, counts, displs, I, c);
    FORMS(expected, Neighbor_alltoall, neighbor_alltoall, s, n, I, r, n, I, c);
    FORMS(expected, Neighbor_alltoallv, neighbor_alltoallv, s, counts, displs, I, r, counts, displs, I, c);
    FORMS(expected, Neighbor_alltoallw, neighbor_alltoallw, s, counts, at, types, r, counts, at, types, c);
}

static void exchange(int expected, const void *s, void *r, int n)
{
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status st;
    int me = check_rank;
    result(__LINE__, "MPI_Sendrecv", MPI_Sendrecv(s, n, I, me, 1, r, n, I, me, 1, MPI_COMM_WORLD, &st),
           expected);
    int err = MPI_Isendrecv(s, n, I, me, 2, r, n, I, me, 2, MPI_COMM_WORLD, &q);
    result(__LINE__, "MPI_Isendrecv", err, expected);
    if (!err)
        finish(&q, 0);
}

static void of_counts(int n)
{
    for (int i = 0; i < MOST; i++) {
        counts[i] = n;
        displs[i] = i * N;
        bytes[i] = displs[i] * (int)sizeof(int);
        far[i] = (MOST + i) * N;
        far_bytes[i] = far[i] * (int)sizeof(int);
        types[i] = I;
    }
}

static void twice(MPI_Comm world, MPI_Comm self, MPI_Comm many, MPI_Comm ring, int expected, int n)
{
    of_counts(n);
    says = "sendbuf is 0x";
    rootless(expected, world, b, b, n);
    says = "so is recvbuf; expected buffers that do not overlap, or MPI_IN_PLACE for sendbuf";
    rootless(expected, self, b, b, n);
    says = "so is recvbuf; expected buffers that do not overlap";
    rooted(expected, self, 0, b, b, n);
    neighbors(expected, ring, b, b, n);
    exchange(MPI_SUCCESS, b, b, n); /* sends a copy */
    if (!expected)
        FORMS(expected, Exscan, exscan, b, b, n, I, S, world);
    int err = MPI_Exscan(b, b, n, I, S, many);
    if (check_rank > 0) /* at rank 0 the result is not significant */
        result(__LINE__, "MPI_Exscan", err, expected);
    says = "inbuf is 0x";
    result(__LINE__, "MPI_Reduce_local", MPI_Reduce_local(b, b, n, I, S), expected);
}

static void in_place(MPI_Comm self, MPI_Comm ring)
{
    MPI_Request q;
    int err = MPI_ERR_BUFFER;
    void *p = MPI_IN_PLACE;
    of_counts(N);
    says = "recvbuf is MPI_IN_PLACE";
    rootless(err, self, b, p, N);
    FORMS(err, Gather, gather, b, N, I, p, N, I, 0, self);
    FORMS(err, Gatherv, gatherv, b, N, I, p, counts, displs, I, 0, self);
    FORMS(err, Reduce, reduce, b, p, N, I, S, 0, self);
    FORMS(MPI_SUCCESS, Exscan, exscan, p, b, N, I, S, self);
    neighbors(err, ring, b, p, N);
    exchange(err, b, p, N);
    says = "sendbuf is MPI_IN_PLACE";
    FORMS(err, Scatter, scatter, p, N, I, b, N, I, 0, self);
    FORMS(err, Scatterv, scatterv, p, counts, displs, I, b, N, I, 0, self);
    neighbors(err, ring, p, b, N);
    exchange(err, p, b, N);
    says = "is MPI_IN_PLACE; expected a buffer";
    CHECK_ERR(MPI_Reduce_local(p, b, N, I, S), err);
    CHECK_ERR(MPI_Reduce_local(b, p, N, I, S), err);
    FORMS(err, Bcast, bcast, p, N, I, 0, self);
    CHECK_ERR(MPI_Sendrecv_replace(p, N, I, check_rank, 0, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              err);
    CHECK_ERR(MPI_Isendrecv_replace(p, N, I, check_rank, 0, check_rank, 0, MPI_COMM_WORLD, &q), err);
    CHECK_ERR(MPI_Send(p, N, I, check_rank, 0, MPI_COMM_WORLD), err);
    CHECK_ERR(MPI_Recv(p, N, I, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), err);
    CHECK_ERR(MPI_Isend(p, N, I, check_rank, 0, MPI_COMM_WORLD, &q), err);
    CHECK_ERR(MPI_Irecv(p, N, I, check_rank, 0, MPI_COMM_WORLD, &q), err);
    CHECK_ERR(MPI_Send_init(p, N, I, check_rank, 0, MPI_COMM_WORLD, &q), err);
    CHECK_ERR(MPI_Recv_init(p, N, I, check_rank, 0, MPI_COMM_WORLD, &q), err);
    CHECK_ERR(MPI_Psend_init(p, 1, N, I, check_rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q), err);
    CHECK_ERR(MPI_Precv_init(p, 1, N, I, check_rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q), err);
}

/* One address, but what is read and what is written does not overlap. */
static void disjoint(MPI_Comm world, MPI_Comm ring)
{
    MPI_Datatype low, high, at_b, at_other;
    int one = 1, place, size[] = { 2, 2 * MOST }, part[] = { 2, MOST }, from[] = { 0, 0 }, ones[MOST],
        zeros[MOST] = { 0 };
    MPI_Datatype lows[MOST], highs[MOST];
    MPI_Aint no[2] = { 0, 0 }, address;
    of_counts(N);
    FORMS(MPI_SUCCESS, Allgatherv, allgatherv, b, N, I, b, counts, far, I, world);
    FORMS(MPI_SUCCESS, Alltoallv, alltoallv, b, counts, displs, I, b, counts, far, I, world);
    FORMS(MPI_SUCCESS, Alltoallw, alltoallw, b, counts, bytes, types, b, counts, far_bytes, types, world);
    /* the halves of a plane, as in an exchange of halos */
    MPI_Type_create_subarray(2, size, part, from, MPI_ORDER_C, I, &low);
    from[1] = MOST;
    MPI_Type_create_subarray(2, size, part, from, MPI_ORDER_C, I, &high);
    MPI_Type_commit(&low);
    MPI_Type_commit(&high);
    for (int i = 0; i < MOST; i++)
        ones[i] = 1, lows[i] = low, highs[i] = high;
    for (int i = 0; i < 4 * MOST; i++)
        b[i] = i;
    CHECK_ERR(
        MPI_Sendrecv(b, 1, low, check_rank, 0, b, 1, high, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    CHECK_EQ(b[3 * MOST + 1], 2 * MOST + 1);
    FORMS(MPI_SUCCESS, Neighbor_alltoallw, neighbor_alltoallw, b, ones, no, lows, b, ones, no, highs, ring);
    if (check_size == 1)
        FORMS(MPI_SUCCESS, Alltoallw, alltoallw, b, ones, zeros, lows, b, ones, zeros, highs, world);
    /* absolute addresses */
    MPI_Get_address(b, &address);
    MPI_Type_create_hindexed(1, &one, &address, I, &at_b);
    MPI_Get_address(other, &address);
    MPI_Type_create_hindexed(1, &one, &address, I, &at_other);
    MPI_Type_commit(&at_b);
    MPI_Type_commit(&at_other);
    b[0] = 77;
    place = check_rank;
    CHECK_ERR(MPI_Sendrecv(MPI_BOTTOM, 1, at_b, place, 0, MPI_BOTTOM, 1, at_other, place, 0, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    CHECK_EQ(other[0], 77);
    MPI_Type_free(&low);
    MPI_Type_free(&high);
    MPI_Type_free(&at_b);
    MPI_Type_free(&at_other);
}

/* Old programs pass their own block of the result, which then does not move. */
static void own_block(MPI_Comm world)
{
    int root = check_size - 1, *mine = b + check_rank * N;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < MOST * N; i++)
            b[i] = -1;
        for (int i = 0; i < N; i++)
            mine[i] = check_rank * 100 + i;
        if (k == 0)
            FORMS(MPI_SUCCESS, Gather, gather, mine, N, I, check_rank == root ? b : NULL, N, I, root, world);
        else
            FORMS(MPI_SUCCESS, Allgather, allgather, check_rank ? mine : MPI_IN_PLACE, N, I, b, N, I, world);
        for (int i = 0; i < check_size * N && (k || check_rank == root); i++)
            CHECK_EQ(b[i], i / N * 100 + i % N);
    }
}

/* Nothing is moved, or the other buffer does not matter here. */
static void harmless(MPI_Comm world, MPI_Comm self)
{
    MPI_Status st;
    int none = MPI_PROC_NULL, root = check_size - 1;
    of_counts(0);
    rootless(MPI_SUCCESS, world, NULL, NULL, 0);
    rooted(MPI_SUCCESS, self, 0, NULL, NULL, 0);
    of_counts(N);
    CHECK_ERR(MPI_Sendrecv(b, N, I, none, 0, b, N, I, none, 0, MPI_COMM_WORLD, &st), MPI_SUCCESS);
    CHECK_ERR(MPI_Sendrecv(b, N, I, check_rank, 0, other, N, I, check_rank, 0, MPI_COMM_WORLD, &st),
              MPI_SUCCESS);
    FORMS(MPI_SUCCESS, Reduce, reduce, check_rank == root ? MPI_IN_PLACE : b, b, N, I, S, root, world);
    FORMS(MPI_SUCCESS, Gather, gather, check_rank == root ? MPI_IN_PLACE : b, N, I, b, N, I, root, world);
    FORMS(MPI_SUCCESS, Scatter, scatter, b, N, I, check_rank == root ? MPI_IN_PLACE : b, N, I, root, world);
    FORMS(MPI_SUCCESS, Exscan, exscan, b, check_rank ? other : b, N, I, S, world);
}

int main(int argc, char **argv)
{
    MPI_Comm world, self, many, ring;
    int sum = 0, periodic = 1;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_dup(MPI_COMM_WORLD, &many);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &periodic, 0, &ring);
    twice(world, self, many, ring, MPI_ERR_BUFFER, N);
    twice(world, self, many, ring, MPI_SUCCESS, 0);
    in_place(self, ring);
    disjoint(world, ring);
    harmless(world, self);
    if (check_size > 1) /* else it is the same buffer */
        own_block(world);
    CHECK_EQ(MPI_Allreduce(&check_rank, &sum, 1, I, S, world), MPI_SUCCESS, "it still works");
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    MPI_Comm_free(&world);
    MPI_Comm_free(&many);
    MPI_Comm_free(&self);
    MPI_Comm_free(&ring);
    return check_done();
}
