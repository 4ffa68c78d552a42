/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* Failed requests among good ones: MPI_ERR_IN_STATUS, MPI_ERR_PENDING, whose handler is called with which code. */
#include "check.h"

static MPI_Comm mine;
static int calls, code;
static MPI_Comm on;

static void handler(MPI_Comm *comm, int *c, ...)
{
    calls++;
    on = *comm;
    code = *c;
}

enum { GOOD = 0, SHORT = 1, NEVER = 2 };

/* Receives of one int from myself on `mine`: good ones, one that is too short (two ints come), one that never comes. */
static void start(const int *what, int n, MPI_Request *r, int (*x)[2])
{
    static int two[2] = { 5, 6 };
    for (int i = 0; i < n; i++)
        MPI_Irecv(x[i], 1, MPI_INT, 0, i, mine, &r[i]);
    for (int i = 0; i < n; i++)
        if (what[i] != NEVER)
            MPI_Send(two, what[i] == SHORT ? 2 : 1, MPI_INT, 0, i, mine);
    calls = code = 0;
}

static void one_call(void)
{
    int c = -1;
    CHECK_EQ(calls, 1);
    CHECK(on == mine, "the handler of another communicator was called");
    MPI_Error_class(code, &c);
    CHECK_EQ(c, MPI_ERR_TRUNCATE);
    calls = 0;
}

static void clean_up(MPI_Request *r, int n)
{
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL) {
            MPI_Cancel(&r[i]);
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        }
}

static void all(int test)
{
    static const int what[4] = { GOOD, SHORT, GOOD, GOOD };
    MPI_Request r[5];
    MPI_Status s[5];
    int x[4][2], flag = 0;
    start(what, 4, r, x);
    r[4] = MPI_REQUEST_NULL;
    for (int i = 0; i < 5; i++)
        s[i].MPI_ERROR = 4711;
    if (test)
        CHECK_ERR(MPI_Testall(5, r, &flag, s), MPI_ERR_IN_STATUS);
    else
        CHECK_ERR(MPI_Waitall(5, r, s), MPI_ERR_IN_STATUS);
    one_call();
    for (int i = 0; i < 4; i++) {
        int c = -1;
        MPI_Error_class(s[i].MPI_ERROR, &c);
        CHECK_EQ(c, what[i] == SHORT ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "status %d", i);
        CHECK_EQ(s[i].MPI_TAG, i);
        CHECK_EQ(x[i][0], 5);
    }
    CHECK_EQ(s[4].MPI_ERROR, MPI_SUCCESS);
    for (int i = 0; i < 5; i++)
        CHECK(r[i] == MPI_REQUEST_NULL, "%d", i);
    char text[MPI_MAX_ERROR_STRING];
    int len;
    MPI_Error_string(s[1].MPI_ERROR, text, &len);
    CHECK(strstr(text, "8 bytes") && strstr(text, "4 bytes"), "%s", text);
    CHECK(strstr(text, test ? "MPI_Testall" : "MPI_Waitall"), "%s", text);
}

/* One will never complete: the failure is reported all the same. */
static void pending(void)
{
    static const int what[3] = { NEVER, GOOD, SHORT };
    MPI_Request r[3];
    MPI_Status s[3];
    int x[3][2], c = -1;
    start(what, 3, r, x);
    CHECK_ERR(MPI_Waitall(3, r, s), MPI_ERR_IN_STATUS);
    one_call();
    MPI_Error_class(s[0].MPI_ERROR, &c);
    CHECK_EQ(c, MPI_ERR_PENDING);
    CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
    MPI_Error_class(s[2].MPI_ERROR, &c);
    CHECK_EQ(c, MPI_ERR_TRUNCATE);
    CHECK(r[0] != MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL, " ");
    clean_up(r, 3);
}

/* The failure comes while the call waits. */
static void pending_later(void)
{
    int x[2], two[2] = { 1, 2 }, partner = check_rank ^ 1;
    MPI_Request r[2];
    MPI_Status s[2];
    if (partner >= check_size)
        return;
    if (check_rank % 2 == 0) {
        MPI_Irecv(&x[0], 1, MPI_INT, partner, 70, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&x[1], 1, MPI_INT, partner, 71, MPI_COMM_WORLD, &r[1]);
        MPI_Send(NULL, 0, MPI_INT, partner, 72, MPI_COMM_WORLD);
        CHECK_ERR(MPI_Waitall(2, r, s), MPI_ERR_IN_STATUS);
        CHECK_EQ(s[0].MPI_ERROR, MPI_ERR_PENDING);
        CHECK_EQ(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
        MPI_Send(NULL, 0, MPI_INT, partner, 73, MPI_COMM_WORLD);
        CHECK_ERR(MPI_Wait(&r[0], s), MPI_SUCCESS);
        CHECK_EQ(x[0], 1);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, partner, 72, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(two, 2, MPI_INT, partner, 71, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, partner, 73, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(two, 1, MPI_INT, partner, 70, MPI_COMM_WORLD);
    }
}

static void ignored(void)
{
    static const int what[2] = { GOOD, SHORT };
    MPI_Request r[2];
    int x[2][2];
    start(what, 2, r, x);
    CHECK_ERR(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    one_call();
    clean_up(r, 2);
}

static void some(int test)
{
    static const int what[3] = { GOOD, SHORT, NEVER };
    MPI_Request r[3];
    MPI_Status s[3];
    int x[3][2], n = -1, indices[3], c;
    start(what, 3, r, x);
    if (test)
        CHECK_ERR(MPI_Testsome(3, r, &n, indices, s), MPI_ERR_IN_STATUS);
    else
        CHECK_ERR(MPI_Waitsome(3, r, &n, indices, s), MPI_ERR_IN_STATUS);
    one_call();
    CHECK_EQ(n, 2);
    for (int k = 0; k < n; k++) {
        MPI_Error_class(s[k].MPI_ERROR, &c);
        CHECK_EQ(c, what[indices[k]] == SHORT ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    clean_up(r, 3);
}

/* Several fail in one call: each has its class in its status, the handler is called once. */
static void several(int form)
{
    static const int what[5] = { SHORT, GOOD, SHORT, GOOD, SHORT };
    MPI_Request r[5];
    MPI_Status s[5];
    int x[5][2], n = 5, flag = 0, c, indices[5] = { 0, 1, 2, 3, 4 };
    start(what, 5, r, x);
    CHECK_ERR(form == 0   ? MPI_Waitall(5, r, s)
              : form == 1 ? MPI_Testall(5, r, &flag, s)
              : form == 2 ? MPI_Waitsome(5, r, &n, indices, s)
                          : MPI_Testsome(5, r, &n, indices, s),
              MPI_ERR_IN_STATUS);
    one_call();
    CHECK_EQ(n, 5, "form %d", form);
    for (int k = 0; k < n; k++) {
        MPI_Error_class(s[k].MPI_ERROR, &c);
        CHECK_EQ(c, what[indices[k]] == SHORT ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "form %d", form);
        CHECK_EQ(s[k].MPI_TAG, indices[k], "form %d", form);
        CHECK(r[indices[k]] == MPI_REQUEST_NULL, "form %d", form);
    }
}

static void any_and_one(void)
{
    static const int what[2] = { NEVER, SHORT };
    MPI_Request r[2];
    MPI_Status s;
    int x[2][2], index = -1, flag = 0;
    start(what, 2, r, x);
    CHECK_ERR(MPI_Waitany(2, r, &index, &s), MPI_ERR_TRUNCATE);
    CHECK_EQ(index, 1);
    one_call();
    clean_up(r, 2);
    start(what, 2, r, x);
    CHECK_ERR(MPI_Testany(2, r, &index, &flag, &s), MPI_ERR_TRUNCATE);
    CHECK(flag == 1 && index == 1, "%d %d", flag, index);
    one_call();
    clean_up(r, 2);
    start(what, 2, r, x);
    CHECK_ERR(MPI_Test(&r[1], &flag, &s), MPI_ERR_TRUNCATE);
    CHECK_SAYS("MPI_Test on rank");
    CHECK_SAYS("8 bytes");
    one_call();
    clean_up(r, 2);
}

/* The request outlives its communicator, whose handler is called. */
static void freed_comm(void)
{
    MPI_Comm keep = mine;
    MPI_Errhandler h;
    MPI_Request r;
    int two[2] = { 1, 2 }, x;
    MPI_Comm_dup(MPI_COMM_SELF, &mine);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(mine, h);
    MPI_Errhandler_free(&h);
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, mine, &r);
    MPI_Send(two, 2, MPI_INT, 0, 0, mine);
    MPI_Comm_free(&mine);
    calls = 0;
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_EQ(calls, 1);
    mine = keep;
}

static void pair(void)
{
    MPI_Request r;
    MPI_Status s;
    int two[2] = { 1, 2 }, x[2];
    calls = 0;
    MPI_Isendrecv(two, 2, MPI_INT, 0, 4, x, 1, MPI_INT, 0, 4, mine, &r);
    CHECK_ERR(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
    CHECK_SAYS("8 bytes");
    one_call();
}

/* Of a communicator of the program's, or of the world's; the request that is there twice is completed, or stands. */
static void twice(MPI_Comm comm, int form)
{
    enum { N = 3 };
    MPI_Request r[N], keep;
    int x[N] = { 0 }, n = 0, flag = 0, at[N], me;
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < N - 1; i++) {
        MPI_Irecv(&x[i], 1, MPI_INT, me, i, comm, &r[i]);
        MPI_Send(&(int){ 10 + i }, 1, MPI_INT, me, i, comm);
    }
    keep = r[0];
    r[N - 1] = r[0];
    for (int i = 0; i < 100; i++) /* so that all have come */
        MPI_Iprobe(me, 99, comm, &flag, MPI_STATUS_IGNORE);
    switch (form) {
    case 0:
        CHECK_ERR(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
        break;
    case 1:
        CHECK_ERR(MPI_Testall(N, r, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
        break;
    case 2:
        CHECK_ERR(MPI_Waitsome(N, r, &n, at, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
        break;
    default:
        CHECK_ERR(MPI_Testsome(N, r, &n, at, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    }
    for (int i = 0; i < N - 1; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    CHECK(x[0] == 10 && x[1] == 11, "%d, %d", x[0], x[1]);
    CHECK_ERR(MPI_Wait(&keep, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    for (int i = 0; i < N; i++) { /* requests and communicator are as good as before */
        MPI_Irecv(&x[i], 1, MPI_INT, me, i, comm, &r[i]);
        MPI_Send(&(int){ 20 + i }, 1, MPI_INT, me, i, comm);
    }
    CHECK_ERR(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK(x[0] == 20 && x[1] == 21 && x[2] == 22, "%d, %d, %d", x[0], x[1], x[2]);
}

static void no_indices(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int n;
    CHECK_ERR(MPI_Waitsome(1, &r, &n, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    CHECK_SAYS("array_of_indices is NULL");
    CHECK_ERR(MPI_Testsome(1, &r, &n, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    CHECK_ERR(MPI_Request_get_status_some(1, &r, &n, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    CHECK_ERR(MPI_Waitsome(0, NULL, &n, NULL, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Errhandler h;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_dup(MPI_COMM_SELF, &mine);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(mine, h);
    all(0);
    all(1);
    pending();
    pending_later();
    ignored();
    some(0);
    some(1);
    for (int form = 0; form < 4; form++)
        several(form);
    any_and_one();
    freed_comm();
    pair();
    for (int form = 0; form < 4; form++) {
        MPI_Comm again;
        MPI_Comm_dup(MPI_COMM_SELF, &again);
        twice(again, form);
        twice(MPI_COMM_WORLD, form);
        MPI_Comm_free(&again);
    }
    no_indices();
    MPI_Errhandler_free(&h);
    MPI_Comm_free(&mine);
    return check_done();
}
