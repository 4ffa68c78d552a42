/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: started many times, in other orders on other ranks, beside other collectives; freed. */
/* ranks: 1 2 3 4 5 8 17 */
#include "../check.h"

enum { N = 3000, OPS = 6, ROUNDS = 8 };

static int in[OPS][N], out[OPS][N], round_no;

static int value(int op, int rank, int i)
{
    return round_no * 7 + op * 100 + rank * 3 + i;
}

static void fill(void)
{
    for (int k = 0; k < OPS; k++)
        for (int i = 0; i < N; i++) {
            in[k][i] = value(k, check_rank, i);
            out[k][i] = k == 1 && check_rank == 0 ? in[k][i] : -1;
        }
}

static void make(MPI_Request *r, MPI_Comm comm)
{
    MPI_Datatype t;
    int root = check_size - 1;
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Allreduce_init(in[0], out[0], N, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[0]);
    MPI_Bcast_init(out[1], N / 3, t, 0, comm, MPI_INFO_NULL, &r[1]);
    MPI_Reduce_init(in[2], out[2], N, MPI_INT, MPI_MAX, root, comm, MPI_INFO_NULL, &r[2]);
    MPI_Scan_init(in[3], out[3], 10, MPI_INT, MPI_MIN, comm, MPI_INFO_NULL, &r[3]);
    MPI_Alltoall_init(in[4], 1, t, out[4], 1, t, comm, MPI_INFO_NULL, &r[4]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &r[5]);
    MPI_Type_free(&t);
}

static void expect(void)
{
    int p = check_size, last = p - 1, bad = 0;
    for (int i = 0; i < N; i++) {
        bad += out[0][i] != p * value(0, 0, i) + 3 * p * last / 2;
        bad += out[1][i] != value(1, 0, i);
        bad += check_rank == last && out[2][i] != value(2, last, i);
        bad += i < 10 && out[3][i] != value(3, 0, i);
        bad += i < 3 * p && out[4][i] != value(4, i / 3, 3 * check_rank + i % 3);
    }
    CHECK_EQ(bad, 0, "round %d", round_no);
}

/* Each rank in another order; another collective between the starts. */
static void run_round(MPI_Request *r)
{
    MPI_Request other;
    int one = 1, sum = 0, all = 0;
    fill();
    for (int i = 0; i < OPS; i++) {
        MPI_Start(&r[(i * (check_rank % 2 ? 1 : 5) + check_rank + round_no) % OPS]);
        if (i == 2)
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &other);
    }
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank % 3 == 0)
        MPI_Waitall(OPS, r, MPI_STATUSES_IGNORE);
    else
        for (int i = OPS - 1; i >= 0; i--)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, check_size);
    CHECK_EQ(all, check_size);
    expect();
}

static void test_rounds(MPI_Comm comm, int free_first)
{
    MPI_Request r[OPS];
    int flag = 0;
    make(r, comm);
    if (free_first)
        MPI_Comm_free(&comm);
    for (int i = 0; i < OPS; i++)
        CHECK(r[i] != MPI_REQUEST_NULL, "request %d", i);
    MPI_Testall(OPS, r, &flag, MPI_STATUSES_IGNORE);
    CHECK_EQ(flag, 1, "inactive requests");
    for (round_no = 0; round_no < ROUNDS; round_no++)
        run_round(r);
    fill();
    MPI_Startall(OPS, r);
    MPI_Waitall(OPS, r, MPI_STATUSES_IGNORE);
    expect();
    for (int i = 0; i < OPS; i++)
        MPI_Request_free(&r[i]);
    CHECK(r[0] == MPI_REQUEST_NULL && r[OPS - 1] == MPI_REQUEST_NULL, "freed");
}

/* A barrier is one each time. */
static void test_barrier(void)
{
    MPI_Request r;
    int flag = 1, word = 0;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int i = 0; i < 3 && check_size > 1; i++) {
        if (check_rank == 1)
            MPI_Recv(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Start(&r);
        if (check_rank == 0) {
            MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
            CHECK_EQ(flag, 0, "a barrier ended before all had come");
            MPI_Send(&word, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}

static void test_misuse(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int a = 1, b = 0;
    CHECK_ERR(MPI_Allreduce_init(&a, &b, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
              MPI_ERR_OP);
    CHECK_ERR(MPI_Bcast_init(&a, 1, MPI_INT, -5, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_ROOT);
    CHECK(r == MPI_REQUEST_NULL, "a request of a call that failed");
    MPI_Allreduce_init(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Start(&r);
    CHECK_ERR(MPI_Start(&r), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Request_free(&r), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(b, check_size);
    MPI_Request_free(&r);
}

/* An error of one start is gone at the next. */
static void test_mismatch(void)
{
    MPI_Request r, good;
    int buf[20] = { 0 }, last = check_size - 1, a = 1, b = 0, err;
    if (check_size == 1)
        return;
    MPI_Bcast_init(buf, check_rank == last ? 10 : 20, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Allreduce_init(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &good);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&r);
        err = MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(err == (check_rank == last ? MPI_ERR_TRUNCATE : 0) ||
                  (err == MPI_ERR_TRUNCATE && check_size > 2),
              "class %d", err);
        b = 0;
        MPI_Start(&good);
        MPI_Wait(&good, MPI_STATUS_IGNORE);
        CHECK_EQ(b, check_size);
    }
    MPI_Request_free(&r);
    MPI_Request_free(&good);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_init(&argc, &argv);
    check_errors_return();
    test_rounds(MPI_COMM_WORLD, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_rounds(comm, 1);
    test_barrier();
    test_misuse();
    test_mismatch();
    return check_done();
}
