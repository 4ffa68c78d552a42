/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives: local calls, many in flight, completed in any order and by any call, mixed with
 * blocking ones; what they use may be freed; errors. */
/* ranks: 1 2 3 4 5 8 17 */
#include "../check.h"

enum { MANY = 100, GUARD = 0x5a5a5a5a };

/* The call is local, also the first one of a communicator; its end waits for all. */
static void test_local(MPI_Comm comm)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int flag = -1, word = 0, last = check_size - 1;
    if (check_size == 1) {
        MPI_Ibarrier(comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        return;
    }
    if (check_rank == last) {
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Ibarrier(comm, &r);
    if (check_rank == 0) {
        MPI_Send(&word, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE); /* the last has not come: it waits for this rank */
        CHECK_EQ(flag, 0, "a barrier ended before all had come");
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0, "a barrier ended before all had come");
        MPI_Send(&word, 1, MPI_INT, last, 3, MPI_COMM_WORLD);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(r == MPI_REQUEST_NULL, "a request that is completed");
}

/* Three started before anybody may have the first, each of another kind, on a communicator that is new; then a
 * blocking one. */
static void test_new_comm(void)
{
    MPI_Comm comm;
    MPI_Request r[3];
    int one = 1, sum = 0, b = check_rank == 0 ? 77 : 0, all = 0;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &r[0]);
    MPI_Ibcast(&b, 1, MPI_INT, check_size - 1, comm, &r[1]);
    MPI_Ibarrier(comm, &r[2]);
    MPI_Allreduce(&check_rank, &all, 1, MPI_INT, MPI_MAX, comm);
    CHECK_EQ(all, check_size - 1);
    MPI_Comm_free(&comm);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(sum, check_size);
    CHECK_EQ(b, 77);
}

static void start_one(int i, int *in, int *out, MPI_Request *r)
{
    int root = i % check_size;
    switch (i % 4) {
    case 0:
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r);
        break;
    case 1:
        *out = check_rank == root ? *in - check_rank : GUARD;
        MPI_Ibcast(out, 1, MPI_INT, root, MPI_COMM_WORLD, r);
        break;
    case 2:
        MPI_Iscan(in, out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, r);
        break;
    default:
        MPI_Ibarrier(MPI_COMM_WORLD, r);
    }
}

static void check_one(int i, int out)
{
    int sum = check_size * (check_size - 1) / 2;
    int want = i % 4 == 0 ? 1000 * i * check_size + sum : i % 4 == 1 ? 1000 * i : 1000 * i + check_rank;
    CHECK_EQ(out, i % 4 == 3 ? GUARD : want, "operation %d", i);
}

/* Which one a rank completes next: each in another order, by another call. */
static void complete_some(int way, MPI_Request *r, int *done)
{
    int n = 0, flag = 0, index[MANY];
    if (way == 0) {
        for (int i = MANY - 1; i >= 0; i--)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        *done = MANY;
    } else if (way == 1) {
        MPI_Waitany(MANY, r, &n, MPI_STATUS_IGNORE);
        CHECK(n >= 0 && n < MANY, "Waitany: %d", n);
        *done += 1;
    } else if (way == 2) {
        MPI_Testsome(MANY, r, &n, index, MPI_STATUSES_IGNORE);
        *done += n;
    } else {
        MPI_Testall(MANY, r, &flag, MPI_STATUSES_IGNORE);
        *done = flag ? MANY : 0;
    }
}

static void test_many(int shift)
{
    MPI_Request r[MANY];
    int in[MANY], out[MANY], done = 0, one = 1, all = 0;
    for (int i = 0; i < MANY; i++) {
        in[i] = 1000 * i + check_rank;
        out[i] = GUARD;
        start_one(i, &in[i], &out[i], &r[i]);
        if (i == MANY / 2) {
            MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK_EQ(all, check_size, "a blocking one between them");
        }
    }
    while (done < MANY)
        complete_some((check_rank + shift) % 4, r, &done);
    for (int i = 0; i < MANY; i++) {
        CHECK(r[i] == MPI_REQUEST_NULL, "request %d", i);
        check_one(i, out[i]);
    }
}

static void add_pairs(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int *a = in, *b = inout, size;
    MPI_Type_size(*type, &size);
    CHECK_EQ(size, 8, "the type of an operation under way");
    for (int i = 0; i < 2 * *len; i++)
        b[i] += a[i];
}

/* Datatype, operation and communicator may be freed when the call has returned. */
static void test_freed(int n)
{
    MPI_Comm comm;
    MPI_Datatype pair, strided;
    MPI_Op op;
    MPI_Request r[3];
    int *in = malloc(8 * (size_t)n), *out = malloc(8 * (size_t)n), *b = malloc(16 * (size_t)n), bad = 0;
    int *all = malloc(8 * (size_t)n * (size_t)check_size);
    for (int i = 0; i < 2 * n; i++) {
        in[i] = check_rank + i;
        b[2 * i] = check_rank == 0 ? i : GUARD;
        b[2 * i + 1] = GUARD;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_resized(MPI_INT, 0, 8, &strided);
    MPI_Type_commit(&strided);
    MPI_Op_create(add_pairs, 1, &op);
    MPI_Iallreduce(in, out, n, pair, op, comm, &r[0]);
    MPI_Ibcast(b, 2 * n, strided, 0, comm, &r[1]);
    MPI_Iallgather(in, n, pair, all, n, pair, comm, &r[2]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Type_free(&strided);
    MPI_Comm_free(&comm);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * n; i++)
        bad += out[i] != check_size * (check_size - 1) / 2 + check_size * i || b[2 * i] != i ||
               b[2 * i + 1] != GUARD;
    for (int i = 0; i < 2 * n * check_size; i++)
        bad += all[i] != i / (2 * n) + i % (2 * n);
    CHECK_EQ(bad, 0, "of %d", n);
    free(in);
    free(out);
    free(b);
    free(all);
}

/* The arrays of datatypes are the call's own, also on a communicator whose processes know nothing of each other yet. */
static void test_types(void)
{
    MPI_Comm comm;
    MPI_Request r[2];
    MPI_Datatype *types = malloc(sizeof *types * (size_t)check_size), t;
    int p = check_size, *n = malloc(sizeof *n * (size_t)p), *at = malloc(sizeof *n * (size_t)p), bad = 0;
    int *in = malloc(8 * (size_t)p), *out = malloc(8 * (size_t)p);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &comm);
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int i = 0; i < p; i++) {
        n[i] = 1;
        at[i] = 8 * i;
        types[i] = t;
        in[2 * i] = check_rank;
        in[2 * i + 1] = i;
    }
    MPI_Ialltoallw(in, n, at, types, out, n, at, types, comm, &r[0]);
    MPI_Ibarrier(comm, &r[1]);
    MPI_Type_free(&t);
    MPI_Comm_free(&comm);
    for (int i = 0; i < p; i++)
        types[i] = MPI_DATATYPE_NULL;
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < p; i++)
        bad += out[2 * i] != i || out[2 * i + 1] != check_rank;
    CHECK_EQ(bad, 0);
    free(types);
    free(n);
    free(at);
    free(in);
    free(out);
}

/* Who has nothing to send and to receive has nothing to wait for: no messages of nothing. */
static void test_sparse(void)
{
    int p = check_size, last = p - 1, word = 0, flag = 0, a = 5, b = 0;
    int *none = calloc((size_t)p, sizeof *none), *to = calloc((size_t)p, sizeof *to);
    MPI_Request r;
    MPI_Barrier(MPI_COMM_WORLD);
    if (p > 2 && check_rank == last) {
        MPI_Ialltoallv(NULL, none, none, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD, &r);
        for (int i = 0; i < 1000 && !flag; i++)
            MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 1, "a rank without data waits for others");
        MPI_Send(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    } else {
        if (p > 2 && check_rank == 0)
            MPI_Recv(&word, 1, MPI_INT, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (check_rank < 2 && p > 2)
            to[1 - check_rank] = 1;
        MPI_Ialltoallv(&a, to, none, MPI_INT, &b, to, none, MPI_INT, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(b, check_rank < 2 && p > 2 ? 5 : 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(none);
    free(to);
}

static void test_misuse(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    int a = 1, b = 0, flag;
    CHECK_ERR(MPI_Iallreduce(&a, &b, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD, &r), MPI_ERR_OP);
    CHECK_ERR(MPI_Ibcast(&a, 1, MPI_INT, check_size, MPI_COMM_WORLD, &r), MPI_ERR_ROOT);
    CHECK_ERR(MPI_Ibarrier(MPI_COMM_NULL, &r), MPI_ERR_COMM);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    CHECK_SAYS("cannot be cancelled");
    CHECK_ERR(MPI_Request_free(&r), MPI_ERR_REQUEST);
    CHECK_SAYS("collective");
    CHECK_ERR(MPI_Start(&r), MPI_ERR_REQUEST);
    CHECK(r != MPI_REQUEST_NULL, "after a free that was refused");
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 0);
}

/* Ranks that differ in their counts are told when they wait; what follows works. */
static void test_mismatch(void)
{
    MPI_Request r[2];
    int buf[40] = { 0 }, one = 1, sum = 0, err;
    if (check_size == 1)
        return;
    MPI_Ibcast(buf, check_rank == check_size - 1 ? 10 : 20, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
    if (check_rank == check_size - 1) {
        CHECK_ERR(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    } else {
        err = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        CHECK(err == 0 || err == MPI_ERR_TRUNCATE, "class %d", err);
    }
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    CHECK_EQ(sum, check_size, "after an error");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_init(&argc, &argv);
    check_errors_return();
    test_local(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    test_local(comm);
    MPI_Comm_free(&comm);
    test_new_comm();
    for (int shift = 0; shift < 4; shift++)
        test_many(shift);
    test_freed(3);
    test_freed(60000);
    test_types();
    test_sparse();
    test_misuse();
    test_mismatch();
    return check_done();
}
