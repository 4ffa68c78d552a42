/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* Inactive persistent requests count like null requests, in every form; a completion makes them inactive; what may
 * not be started; errors of persistent requests among others. */
#include "check.h"

enum { N = 5 };
static MPI_Request r[N]; /* receives of one int from this process with tag i */
static int in[N][2];

static void make(void)
{
    for (int i = 0; i < N; i++)
        MPI_Recv_init(in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
}

static void unmake(void)
{
    for (int i = 0; i < N; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
}

static void send(int tag, int count)
{
    int two[2] = { 10 + tag, 20 };
    MPI_Send(two, count, MPI_INT, 0, tag, MPI_COMM_SELF);
}

static void is_empty(const MPI_Status *s)
{
    int count = -1, flag = -1;
    MPI_Get_count(s, MPI_INT, &count);
    MPI_Test_cancelled(s, &flag);
    CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && count == 0 && flag == 0,
          "%d %d %d %d", s->MPI_SOURCE, s->MPI_TAG, count, flag);
    CHECK_EQ(s->MPI_ERROR, MPI_SUCCESS);
}

static void spoil(MPI_Status *s, int n)
{
    memset(s, 77, sizeof *s * (size_t)n);
}

/* Nobody is active: every form returns at once. */
static void none(void)
{
    MPI_Status s[N];
    int flag = -1, index = -1, n = -1, indices[N];
    spoil(s, 1);
    CHECK_EQ(MPI_Wait(&r[0], &s[0]), MPI_SUCCESS);
    is_empty(&s[0]);
    spoil(s, 1);
    CHECK_EQ(MPI_Test(&r[0], &flag, &s[0]), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    is_empty(&s[0]);
    spoil(s, 1);
    flag = -1;
    MPI_Request_get_status(r[0], &flag, &s[0]);
    CHECK_EQ(flag, 1);
    is_empty(&s[0]);
    spoil(s, 1);
    CHECK_EQ(MPI_Waitany(N, r, &index, &s[0]), MPI_SUCCESS);
    CHECK_EQ(index, MPI_UNDEFINED);
    is_empty(&s[0]);
    spoil(s, 1);
    index = flag = -1;
    MPI_Testany(N, r, &index, &flag, &s[0]);
    CHECK(index == MPI_UNDEFINED && flag == 1, "%d %d", index, flag);
    is_empty(&s[0]);
    spoil(s, 1);
    index = flag = -1;
    MPI_Request_get_status_any(N, r, &index, &flag, &s[0]);
    CHECK(index == MPI_UNDEFINED && flag == 1, "%d %d", index, flag);
    is_empty(&s[0]);
    spoil(s, N);
    CHECK_EQ(MPI_Waitall(N, r, s), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        is_empty(&s[i]);
    spoil(s, N);
    flag = -1;
    MPI_Testall(N, r, &flag, s);
    CHECK_EQ(flag, 1);
    for (int i = 0; i < N; i++)
        is_empty(&s[i]);
    spoil(s, N);
    flag = -1;
    MPI_Request_get_status_all(N, r, &flag, s);
    CHECK_EQ(flag, 1);
    for (int i = 0; i < N; i++)
        is_empty(&s[i]);
    MPI_Waitsome(N, r, &n, indices, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    n = -1;
    MPI_Testsome(N, r, &n, indices, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    n = -1;
    MPI_Request_get_status_some(N, r, &n, indices, s);
    CHECK_EQ(n, MPI_UNDEFINED);
}

/* One is active, then complete: it alone is handed out, by every form, and becomes inactive. */
static void one(int form)
{
    MPI_Status s[N];
    int flag = -1, index = -1, n = -1, indices[N], mine = 3;
    CHECK_EQ(MPI_Start(&r[mine]), MPI_SUCCESS);
    MPI_Testany(N, r, &index, &flag, s);
    CHECK(index == MPI_UNDEFINED && flag == 0, "%d %d", index, flag);
    MPI_Testsome(N, r, &n, indices, s);
    CHECK_EQ(n, 0);
    MPI_Testall(N, r, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status(r[mine], &flag, s);
    CHECK_EQ(flag, 0);
    send(mine, 1);
    MPI_Request_get_status(r[mine], &flag, s);
    CHECK_EQ(flag, 1);
    MPI_Request_get_status_any(N, r, &index, &flag, s);
    CHECK(index == mine && flag == 1, "%d %d", index, flag);
    MPI_Request_get_status_some(N, r, &n, indices, s);
    CHECK(n == 1 && indices[0] == mine, "%d %d", n, indices[0]);
    spoil(s, N);
    MPI_Request_get_status_all(N, r, &flag, s);
    CHECK_EQ(flag, 1);
    CHECK_EQ(s[mine].MPI_TAG, mine);
    is_empty(&s[0]);
    spoil(s, N);
    index = mine;
    switch (form) {
    case 0:
        MPI_Wait(&r[mine], &s[mine]);
        break;
    case 1:
        MPI_Test(&r[mine], &flag, &s[mine]);
        break;
    case 2:
        MPI_Waitany(N, r, &index, &s[mine]);
        break;
    case 3:
        MPI_Testany(N, r, &index, &flag, &s[mine]);
        break;
    case 4:
        MPI_Waitall(N, r, s);
        is_empty(&s[0]);
        break;
    case 5:
        MPI_Testall(N, r, &flag, s);
        is_empty(&s[0]);
        break;
    case 6:
        MPI_Waitsome(N, r, &n, &index, &s[mine]);
        CHECK_EQ(n, 1);
        break;
    default:
        MPI_Testsome(N, r, &n, &index, &s[mine]);
        CHECK_EQ(n, 1);
    }
    CHECK(index == mine && flag == 1 && s[mine].MPI_SOURCE == 0 && s[mine].MPI_TAG == mine,
          "form %d: %d %d %d %d", form, index, flag, s[mine].MPI_SOURCE, s[mine].MPI_TAG);
    CHECK_EQ(in[mine][0], 10 + mine);
    none();
}

/* Inactive and null ones beside plain ones. */
static void mixed(void)
{
    MPI_Request q[3] = { r[0], MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int index = -1;
    MPI_Irecv(in[4], 1, MPI_INT, 0, 4, MPI_COMM_SELF, &q[2]);
    send(4, 1);
    MPI_Waitany(3, q, &index, MPI_STATUS_IGNORE);
    CHECK_EQ(index, 2);
    CHECK(q[0] == r[0] && q[2] == MPI_REQUEST_NULL, " ");
    MPI_Waitany(3, q, &index, MPI_STATUS_IGNORE);
    CHECK_EQ(index, MPI_UNDEFINED);
}

static void bad_starts(void)
{
    MPI_Request plain, two[2] = { r[0], MPI_REQUEST_NULL }, null = MPI_REQUEST_NULL, gone = r[1];
    MPI_Start(&r[0]);
    CHECK_ERR(MPI_Start(&r[0]), MPI_ERR_REQUEST);
    CHECK_SAYS("active");
    two[0] = r[2];
    two[1] = r[0];
    CHECK_ERR(MPI_Startall(2, two), MPI_ERR_REQUEST);
    CHECK_SAYS("array_of_requests[1]");
    send(0, 1);
    CHECK_ERR(MPI_Start(&r[0]), MPI_ERR_REQUEST); /* complete, but nobody has taken it */
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Irecv(in[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &plain);
    CHECK_ERR(MPI_Start(&plain), MPI_ERR_REQUEST);
    CHECK_SAYS("not persistent");
    send(1, 1);
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
    CHECK_ERR(MPI_Start(&null), MPI_ERR_REQUEST);
    MPI_Request_free(&r[1]);
    CHECK_ERR(MPI_Start(&gone), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Cancel(&r[0]), MPI_ERR_REQUEST);
    CHECK_SAYS("inactive");
    CHECK_ERR(MPI_Start(NULL), MPI_ERR_ARG);
    unmake();
    make();
    none();
}

/* A persistent receive that is too short, one that never comes, an inactive one: then they are used again. */
static void errors(int some)
{
    MPI_Status s[N];
    int n = -1, indices[N], c = -1;
    for (int i = 0; i < 3; i++)
        MPI_Start(&r[i]);
    send(0, 2);
    send(1, 1);
    if (some) {
        CHECK_ERR(MPI_Waitsome(N, r, &n, indices, s), MPI_ERR_IN_STATUS);
        CHECK_EQ(n, 2);
        CHECK(indices[0] == 0 && indices[1] == 1, "%d %d", indices[0], indices[1]);
        MPI_Error_class(s[0].MPI_ERROR, &c);
        CHECK_EQ(c, MPI_ERR_TRUNCATE);
        CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
    } else {
        CHECK_ERR(MPI_Waitall(N, r, s), MPI_ERR_IN_STATUS);
        MPI_Error_class(s[0].MPI_ERROR, &c);
        CHECK_EQ(c, MPI_ERR_TRUNCATE);
        CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
        MPI_Error_class(s[2].MPI_ERROR, &c);
        CHECK_EQ(c, MPI_ERR_PENDING);
        CHECK_EQ(s[3].MPI_ERROR, MPI_SUCCESS);
        is_empty(&s[3]);
    }
    CHECK_ERR(MPI_Start(&r[2]), MPI_ERR_REQUEST);
    send(2, 1);
    CHECK_EQ(MPI_Wait(&r[2], s), MPI_SUCCESS);
    CHECK_EQ(MPI_Startall(3, r), MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        send(i, 1);
    CHECK_EQ(MPI_Waitall(3, r, s), MPI_SUCCESS);
    MPI_Start(&r[0]);
    send(0, 2);
    CHECK_ERR(MPI_Wait(&r[0], s), MPI_ERR_TRUNCATE);
    CHECK_SAYS("8 bytes");
    none();
}

static void bad_arguments(void)
{
    MPI_Request q;
    int x = 0;
    CHECK_ERR(MPI_Send_init(&x, 1, MPI_INT, 1, 0, MPI_COMM_SELF, &q), MPI_ERR_RANK);
    CHECK_ERR(MPI_Ssend_init(&x, -1, MPI_INT, 0, 0, MPI_COMM_SELF, &q), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Bsend_init(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, &q), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Rsend_init(&x, 1, MPI_INT, 0, -5, MPI_COMM_SELF, &q), MPI_ERR_TAG);
    CHECK_ERR(MPI_Recv_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &q), MPI_ERR_COMM);
    CHECK_ERR(MPI_Recv_init_c(&x, INT64_MAX, MPI_INT, 0, 0, MPI_COMM_SELF, &q), MPI_ERR_COUNT);
    /* no buffer for it: the start fails, and the request is as it was */
    static char big[10000000];
    int flag = -1;
    if (check_size == 1)
        return; /* a message to itself is kept without a buffer */
    MPI_Bsend_init(big, sizeof big, MPI_CHAR, (check_rank + 1) % check_size, 60, MPI_COMM_WORLD, &q);
    CHECK_ERR(MPI_Start(&q), MPI_ERR_BUFFER);
    MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    make();
    none();
    for (int form = 0; form < 8; form++)
        one(form);
    mixed();
    bad_starts();
    errors(0);
    errors(1);
    bad_arguments();
    unmake();
    return check_done();
}
