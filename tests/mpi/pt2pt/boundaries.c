/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* timeout: 120 */
/* Every size from 0 to 2100 and around every power of two up to 64 KB, from and to any alignment, to receives that wait
 * (also too small ones) and to receives that come later, as bytes and as a strided type: whole, in order, and nothing
 * else written. */
#include "check.h"

enum { BATCH = 50, MOST = (64 << 10) + 1, ROOM = MOST + 64 + 64 };

static int next, before;
static unsigned char *out[BATCH], *in[BATCH];

static size_t skew(int n, int k)
{
    return (size_t)(n * 13 + k) % 64;
}

static void fill(const int *n, int count)
{
    for (int i = 0; i < count; i++) {
        check_fill(out[i] + skew(n[i], 0), (size_t)n[i], (uint64_t)(n[i] * 8 + check_rank));
        memset(in[i], 0xee, (size_t)n[i] + 128);
    }
}

static void verify(int i, int n, int got)
{
    size_t at = skew(n, 1);
    unsigned char *body = in[i] + at;
    CHECK_BYTES(body, (size_t)got, (uint64_t)(n * 8 + before));
    for (size_t k = 0; k < at; k++)
        CHECK_EQ(in[i][k], 0xee, "size %d, before", n);
    for (size_t k = (size_t)got; k < (size_t)got + 64; k++)
        CHECK_EQ(body[k], 0xee, "size %d, behind", n);
}

static void send_all(const int *n, int count, MPI_Request *r)
{
    for (int i = 0; i < count; i++)
        MPI_Isend(out[i] + skew(n[i], 0), n[i], MPI_BYTE, next, 1, MPI_COMM_WORLD, &r[i]);
}

static void expected(const int *n, int count)
{
    MPI_Request r[2 * BATCH];
    MPI_Status s[2 * BATCH];
    fill(n, count);
    for (int i = 0; i < count; i++)
        MPI_Irecv(in[i] + skew(n[i], 1), n[i], MPI_BYTE, before, 1, MPI_COMM_WORLD, &r[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(n, count, r + count);
    MPI_Waitall(2 * count, r, s);
    for (int i = 0; i < count; i++) {
        int got = -1;
        MPI_Get_count(&s[i], MPI_BYTE, &got);
        CHECK_EQ(got, n[i]);
        verify(i, n[i], n[i]);
    }
}

static void unexpected(const int *n, int count)
{
    MPI_Request r[BATCH];
    fill(n, count);
    send_all(n, count, r);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        MPI_Status s;
        int got = -1;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, MPI_BYTE, &got);
        CHECK_EQ(got, n[i]);
        MPI_Recv(in[i] + skew(n[i], 1), n[i], MPI_BYTE, before, 1, MPI_COMM_WORLD, &s);
        verify(i, n[i], n[i]);
    }
    MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
}

/* One byte too few for each. */
static void cut(const int *n, int count)
{
    MPI_Request r[2 * BATCH];
    fill(n, count);
    for (int i = 0; i < count; i++)
        MPI_Irecv(in[i] + skew(n[i], 1), n[i] ? n[i] - 1 : 0, MPI_BYTE, before, 1, MPI_COMM_WORLD, &r[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all(n, count, r + count);
    for (int i = 0; i < count; i++) {
        MPI_Status s;
        int class = MPI_SUCCESS, err = MPI_Wait(&r[i], &s);
        MPI_Error_class(err, &class);
        CHECK_EQ(class, n[i] ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "size %d", n[i]);
        if (n[i] > 0)
            verify(i, n[i], n[i] - 1);
    }
    MPI_Waitall(count, r + count, MPI_STATUSES_IGNORE);
}

/* Every other byte, to contiguous ones. */
static void typed(const int *n, int count)
{
    fill(n, count);
    for (int i = 0; i < count; i++) {
        int half = n[i] / 2, got = -1;
        unsigned char *from = out[i] + skew(n[i], 0), *to = in[i] + skew(n[i], 1);
        MPI_Datatype other;
        MPI_Status s;
        MPI_Type_vector(half, 1, 2, MPI_BYTE, &other);
        MPI_Type_commit(&other);
        MPI_Sendrecv(from, 1, other, next, 2, to, half, MPI_BYTE, before, 2, MPI_COMM_WORLD, &s);
        MPI_Type_free(&other);
        MPI_Get_count(&s, MPI_BYTE, &got);
        CHECK_EQ(got, half);
        check_fill(out[i], (size_t)n[i], (uint64_t)(n[i] * 8 + before));
        for (int k = 0; k < half; k++)
            CHECK_EQ(to[k], out[i][2 * k], "byte %d of %d", k, half);
        CHECK_EQ(to[half], 0xee, "size %d", half);
    }
}

static void batch(const int *n, int count)
{
    expected(n, count);
    unexpected(n, count);
    cut(n, count);
    typed(n, count);
}

int main(int argc, char **argv)
{
    int n[BATCH], count = 0;
    check_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    next = (check_rank + 1) % check_size;
    before = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < BATCH; i++) {
        out[i] = malloc(ROOM);
        in[i] = malloc(ROOM);
    }
    for (int size = 0; size <= 2100; size++) {
        n[count++] = size;
        if (count == BATCH || size == 2100) {
            batch(n, count);
            count = 0;
        }
    }
    for (int p = 4096; p <= 64 << 10; p *= 2)
        for (int d = -1; d <= 1; d++)
            n[count++] = p + d;
    batch(n, count);
    for (int i = 0; i < BATCH; i++) {
        free(out[i]);
        free(in[i]);
    }
    return check_done();
}
