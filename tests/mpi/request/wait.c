/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Every wait and test form: null requests, empty statuses, MPI_UNDEFINED, what is handed out and what stays. */
#include "check.h"

enum { N = 40 };
static int out[N], in[N], to, from;
static MPI_Request r[2 * N];
static MPI_Status s[2 * N];

static void start(void)
{
    for (int i = 0; i < N; i++) {
        out[i] = i * 100 + check_rank;
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &r[2 * i]);
    }
    for (int i = 0; i < N; i++)
        MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &r[2 * i + 1]);
}

static void finished(void)
{
    for (int i = 0; i < 2 * N; i++)
        CHECK(r[i] == MPI_REQUEST_NULL, "request %d", i);
    for (int i = 0; i < N; i++)
        CHECK_EQ(in[i], i * 100 + from);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void status_of(const MPI_Status *st, int index)
{
    int count = -1;
    if (index % 2)
        return; /* a send's is undefined */
    MPI_Get_count(st, MPI_INT, &count);
    CHECK_EQ(count, 1);
    CHECK_EQ(st->MPI_SOURCE, from);
    CHECK_EQ(st->MPI_TAG, index / 2);
}

static void is_empty(const MPI_Status *st)
{
    int count = -1, flag = -1;
    MPI_Get_count(st, MPI_INT, &count);
    CHECK_EQ(count, 0);
    CHECK_EQ(st->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(st->MPI_TAG, MPI_ANY_TAG);
    MPI_Test_cancelled(st, &flag);
    CHECK_EQ(flag, 0);
}

static void null_requests(void)
{
    MPI_Request q[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status st[3];
    int flag = 0, index = 0, count = 0, indices[3];
    memset(st, 0x5a, sizeof st);
    CHECK_EQ(MPI_Wait(q, st), MPI_SUCCESS);
    is_empty(st);
    memset(st, 0x5a, sizeof st);
    CHECK_EQ(MPI_Test(q, &flag, st), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    is_empty(st);
    memset(st, 0x5a, sizeof st);
    CHECK_EQ(MPI_Waitany(3, q, &index, st), MPI_SUCCESS);
    CHECK_EQ(index, MPI_UNDEFINED);
    is_empty(st);
    memset(st, 0x5a, sizeof st);
    flag = 0;
    CHECK_EQ(MPI_Testany(3, q, &index, &flag, st), MPI_SUCCESS);
    CHECK(flag == 1 && index == MPI_UNDEFINED, "%d %d", flag, index);
    is_empty(st);
    memset(st, 0x5a, sizeof st);
    CHECK_EQ(MPI_Waitall(3, q, st), MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        is_empty(&st[i]);
    memset(st, 0x5a, sizeof st);
    flag = 0;
    CHECK_EQ(MPI_Testall(3, q, &flag, st), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    is_empty(&st[2]);
    CHECK_EQ(MPI_Waitsome(3, q, &count, indices, st), MPI_SUCCESS);
    CHECK_EQ(count, MPI_UNDEFINED);
    count = 0;
    CHECK_EQ(MPI_Testsome(3, q, &count, indices, st), MPI_SUCCESS);
    CHECK_EQ(count, MPI_UNDEFINED);
    flag = 0;
    CHECK_EQ(MPI_Request_get_status(q[0], &flag, st), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    is_empty(st);
    /* none at all */
    CHECK_EQ(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Waitany(0, NULL, &index, st), MPI_SUCCESS);
    CHECK_EQ(index, MPI_UNDEFINED);
    CHECK_EQ(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_EQ(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
}

static void single(void)
{
    start();
    for (int i = 2 * N - 1; i >= 0; i--) {
        int flag = 0;
        s[0].MPI_ERROR = 4711; /* not touched by the forms for one request */
        if (i % 3) {
            CHECK_EQ(MPI_Wait(&r[i], &s[0]), MPI_SUCCESS);
        } else {
            while (!flag)
                CHECK_EQ(MPI_Test(&r[i], &flag, &s[0]), MPI_SUCCESS);
        }
        status_of(&s[0], i);
        CHECK_EQ(s[0].MPI_ERROR, 4711);
    }
    finished();
}

static void any(int test)
{
    int seen[2 * N] = { 0 };
    start();
    for (int k = 0; k < 2 * N; k++) {
        int index = -1, flag = 0;
        if (test)
            while (!flag)
                CHECK_EQ(MPI_Testany(2 * N, r, &index, &flag, &s[0]), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Waitany(2 * N, r, &index, &s[0]), MPI_SUCCESS);
        CHECK(index >= 0 && index < 2 * N && !seen[index]++, "index %d", index);
        status_of(&s[0], index);
    }
    finished();
}

static void all(int how)
{
    int flag = 0;
    start();
    if (how == 0)
        CHECK_EQ(MPI_Waitall(2 * N, r, s), MPI_SUCCESS);
    while (how == 1 && !flag)
        CHECK_EQ(MPI_Testall(2 * N, r, &flag, s), MPI_SUCCESS);
    if (how == 2)
        CHECK_EQ(MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; how < 2 && i < 2 * N; i++)
        status_of(&s[i], i);
    finished();
}

static void some(int test)
{
    int seen[2 * N] = { 0 }, indices[2 * N], left = 2 * N;
    start();
    while (left > 0) {
        int n = -1;
        if (test)
            CHECK_EQ(MPI_Testsome(2 * N, r, &n, indices, s), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Waitsome(2 * N, r, &n, indices, s), MPI_SUCCESS);
        CHECK(n >= !test && n <= left, "%d of %d", n, left);
        for (int k = 0; k < n; k++) {
            CHECK(indices[k] >= 0 && indices[k] < 2 * N && !seen[indices[k]]++, "index %d", indices[k]);
            status_of(&s[k], indices[k]);
        }
        left -= n;
    }
    finished();
}

static void looking(void)
{
    MPI_Status st;
    int flag = 0, index = -1, n = -1, indices[2 * N];
    start();
    for (int i = 0; i < 2 * N; i++) {
        MPI_Request before = r[i];
        for (flag = 0; !flag;)
            CHECK_EQ(MPI_Request_get_status(r[i], &flag, &st), MPI_SUCCESS);
        status_of(&st, i);
        CHECK(r[i] == before, "it is not freed");
        CHECK_EQ(MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(flag, 1);
    }
    CHECK_EQ(MPI_Request_get_status_all(2 * N, r, &flag, s), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    for (int i = 0; i < 2 * N; i++)
        status_of(&s[i], i);
    CHECK_EQ(MPI_Request_get_status_any(2 * N, r, &index, &flag, &st), MPI_SUCCESS);
    CHECK(flag == 1 && index >= 0 && index < 2 * N, "%d %d", flag, index);
    status_of(&st, index);
    CHECK_EQ(MPI_Request_get_status_some(2 * N, r, &n, indices, s), MPI_SUCCESS);
    CHECK_EQ(n, 2 * N);
    for (int k = 0; k < n; k++)
        status_of(&s[k], indices[k]);
    CHECK_EQ(MPI_Waitall(2 * N, r, s), MPI_SUCCESS);
    CHECK_EQ(MPI_Request_get_status_any(2 * N, r, &index, &flag, &st), MPI_SUCCESS);
    CHECK(flag == 1 && index == MPI_UNDEFINED, "%d %d", flag, index);
    CHECK_EQ(MPI_Request_get_status_some(2 * N, r, &n, indices, s), MPI_SUCCESS);
    CHECK_EQ(n, MPI_UNDEFINED);
    finished();
}

/* Nothing is complete before the partner has sent. */
static void not_yet(void)
{
    int flag = 1, index = 5, n = 5, indices[2], x[2];
    MPI_Request q[2];
    MPI_Status st;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&x[i], 1, MPI_INT, from, 60 + i, MPI_COMM_WORLD, &q[i]);
    MPI_Test(&q[0], &flag, &st);
    CHECK_EQ(flag, 0);
    flag = 1;
    MPI_Testall(2, q, &flag, s);
    CHECK_EQ(flag, 0);
    flag = 1;
    MPI_Testany(2, q, &index, &flag, &st);
    CHECK(flag == 0 && index == MPI_UNDEFINED, "%d %d", flag, index);
    MPI_Testsome(2, q, &n, indices, s);
    CHECK_EQ(n, 0);
    MPI_Request_get_status(q[1], &flag, &st);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_all(2, q, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_any(2, q, &index, &flag, &st);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_some(2, q, &n, indices, s);
    CHECK_EQ(n, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, to, 61, MPI_COMM_WORLD);
    MPI_Waitany(2, q, &index, &st);
    CHECK_EQ(index, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, to, 60, MPI_COMM_WORLD);
    MPI_Waitsome(2, q, &n, indices, s);
    CHECK(n == 1 && indices[0] == 0, "%d", n);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    null_requests();
    single();
    any(0);
    any(1);
    for (int how = 0; how < 3; how++)
        all(how);
    some(0);
    some(1);
    looking();
    not_yet();
    return check_done();
}
