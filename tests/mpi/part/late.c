/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* timeout: 60 */
/* One side begins long before the other: the sender marks all, for some rounds, before the receive is made; the
 * receiver asks before there is a sender.  And very many partitions. */
#include "check.h"

static int to, from;

static void wait_all(MPI_Request *r, int n)
{
    CHECK_EQ(MPI_Waitall(n, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

/* Each round of the sender has its own numbers; it may go ahead as far as what it has sent fits. */
static void sender_first(int n, int bytes, int at_once)
{
    size_t total = (size_t)n * (size_t)bytes;
    char *out = calloc(total, 1), *in = calloc(total, 1);
    MPI_Request s, r;
    MPI_Psend_init(out, n, bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Start(&s);
    check_fill(out, total, (uint64_t)check_rank);
    if (at_once)
        MPI_Pready_range(0, n - 1, s);
    for (int i = 0; i < n && !at_once; i++)
        MPI_Pready(i, s);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Precv_init(in, n, bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(in, 0, total);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK_BYTES(in, total, (uint64_t)from);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    free(out);
    free(in);
}

/* Small rounds one after the other, while the receiver has not even begun; as pieces, as wholes, mixed. */
static void rounds_ahead(int rounds)
{
    enum { N = 3 };
    int out[N] = { 0 }, in[N];
    MPI_Request s, r;
    MPI_Psend_init(out, N, 1, MPI_INT, to, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    for (int k = 0; k < rounds; k++) {
        for (int i = 0; i < N; i++)
            out[i] = 1000 * check_rank + 10 * k + i;
        MPI_Start(&s);
        if (k % 3 == 1)
            MPI_Pready_range(0, N - 1, s);
        for (int i = 0; i < N && k % 3 != 1; i++)
            MPI_Pready(i, s);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    MPI_Precv_init(in, 1, N, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int k = 0; k < rounds; k++) {
        memset(in, 0, sizeof in);
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            CHECK_EQ(in[i], 1000 * from + 10 * k + i, "round %d", k);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

static void receiver_first(void)
{
    enum { N = 9 };
    double out[N], in[N];
    int flag;
    MPI_Request s, r;
    MPI_Precv_init(in, 3, N / 3, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int k = 0; k < 3; k++) {
        MPI_Start(&r);
        for (int i = 0; i < 1000; i++) {
            CHECK_EQ(MPI_Parrived(r, i % 3, &flag), MPI_SUCCESS);
            CHECK_EQ(flag, 0, "nothing was sent");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (k == 0)
            MPI_Psend_init(out, N, 1, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
        MPI_Start(&s);
        for (int i = 0; i < N; i++) {
            out[i] = 10 * check_rank + i + 100 * k;
            MPI_Pready(i, s);
        }
        for (int i = 0; i < 3; i++)
            for (flag = 0; !flag;)
                MPI_Parrived(r, i, &flag);
        for (int i = 0; i < N; i++)
            CHECK_EQ(in[i], 10 * from + i + 100 * k);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

/* Ready one by one, in an order in which neighbours are far apart. */
static void many(int ns, int nr, int unit)
{
    size_t n = (size_t)ns * (size_t)(unit * nr / ns + !(unit * nr / ns));
    int each = (int)(n / (size_t)ns);
    uint64_t *out = calloc(n, 8), *in = calloc(n, 8);
    MPI_Request r[2];
    MPI_Psend_init(out, ns, each, MPI_UINT64_T, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, nr, (int)(n / (size_t)nr), MPI_UINT64_T, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &r[1]);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint64_t)check_rank << 40 | i;
    MPI_Startall(2, r);
    for (int i = 0; i < ns; i++)
        MPI_Pready((int)((long long)i * 104729 % ns), r[0]);
    wait_all(r, 2);
    for (size_t i = 0; i < n; i++)
        if (in[i] != ((uint64_t)from << 40 | i)) {
            CHECK_EQ(in[i], (uint64_t)from << 40 | i, "of %zu", n);
            break;
        }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int at_once = 0; at_once < 2; at_once++) {
        sender_first(5, 3, at_once);
        sender_first(1000, 8, at_once);
        sender_first(10, 30000, at_once);
        sender_first(3, 2000000, at_once);
    }
    rounds_ahead(20);
    receiver_first();
    many(10000, 10000, 1);
    many(1000000, 1000, 1000);
    many(1000, 1000000, 1);
    return check_done();
}
