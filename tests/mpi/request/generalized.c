/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* Generalized requests: which function is called when, with what, and what becomes of what they return; among ordinary
 * requests in every form. */
#include "check.h"

struct state {
    int queries, frees, cancels, complete; /* calls; the flag of the last cancel */
    int query_code, free_code, cancel_code, cancelled, count;
};

static int query(void *extra, MPI_Status *s)
{
    struct state *g = extra;
    CHECK(s != NULL && s != MPI_STATUS_IGNORE, "query_fn without a status");
    CHECK_EQ(g->frees, 0, "query_fn after free_fn");
    g->queries++;
    MPI_Status_set_elements(s, MPI_INT, g->count);
    MPI_Status_set_cancelled(s, g->cancelled);
    s->MPI_SOURCE = 17;
    s->MPI_TAG = 18;
    return g->query_code;
}

static int release(void *extra)
{
    struct state *g = extra;
    g->frees++;
    return g->free_code;
}

static int cancel(void *extra, int complete)
{
    struct state *g = extra;
    g->cancels++;
    g->complete = complete;
    return g->cancel_code;
}

static MPI_Request start(struct state *g)
{
    MPI_Request r = MPI_REQUEST_NULL;
    *g = (struct state){ .count = 3, .complete = -1 };
    CHECK_EQ(MPI_Grequest_start(query, release, cancel, g, &r), MPI_SUCCESS);
    CHECK(r != MPI_REQUEST_NULL, " ");
    return r;
}

static void called(const struct state *g, int queries, int frees, int line)
{
    if (g->queries != queries || g->frees != frees)
        check_wrong(__FILE__, line, "%d calls of query_fn, %d of free_fn; expected %d, %d", g->queries,
                    g->frees, queries, frees);
}
#define CALLED(g, queries, frees) called(g, queries, frees, __LINE__)

static void is_ours(const MPI_Status *s)
{
    int count = -1;
    MPI_Get_count(s, MPI_INT, &count);
    CHECK(s->MPI_SOURCE == 17 && s->MPI_TAG == 18 && count == 3, "%d %d %d", s->MPI_SOURCE, s->MPI_TAG,
          count);
}

static void one(void)
{
    struct state g;
    MPI_Status s;
    int flag = -1;
    MPI_Request r = start(&g);
    MPI_Test(&r, &flag, &s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status(r, &flag, &s);
    CHECK_EQ(flag, 0);
    CALLED(&g, 0, 0);
    CHECK_EQ(MPI_Grequest_complete(r), MPI_SUCCESS);
    CALLED(&g, 0, 0);
    for (int k = 1; k < 4; k++) {
        memset(&s, 0, sizeof s);
        MPI_Request_get_status(r, &flag, &s);
        CHECK_EQ(flag, 1);
        is_ours(&s);
        CALLED(&g, k, 0);
    }
    MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    CALLED(&g, 4, 0);
    s.MPI_ERROR = 4711;
    CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
    CHECK(r == MPI_REQUEST_NULL, " ");
    is_ours(&s);
    CHECK_EQ(s.MPI_ERROR, 4711);
    CALLED(&g, 5, 1);
    r = start(&g);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CALLED(&g, 1, 1);
    r = start(&g);
    MPI_Grequest_complete(r);
    MPI_Test(&r, &flag, &s);
    CHECK(flag == 1 && r == MPI_REQUEST_NULL, " ");
    is_ours(&s);
    CALLED(&g, 1, 1);
}

/* MPI_Request_free before and after the completion: the last call frees. */
static void freed(void)
{
    struct state g;
    MPI_Request r = start(&g), copy = r;
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    CHECK(r == MPI_REQUEST_NULL, " ");
    CALLED(&g, 0, 0);
    CHECK_EQ(MPI_Grequest_complete(copy), MPI_SUCCESS);
    CALLED(&g, 0, 1);
    CHECK_ERR(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);
    r = start(&g);
    MPI_Grequest_complete(r);
    CALLED(&g, 0, 0);
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    CALLED(&g, 0, 1);
    r = copy = start(&g);
    g.free_code = MPI_ERR_IO;
    MPI_Request_free(&r);
    CHECK_ERR(MPI_Grequest_complete(copy), MPI_ERR_IO);
    r = start(&g);
    g.free_code = MPI_ERR_FILE;
    MPI_Grequest_complete(r);
    CHECK_ERR(MPI_Request_free(&r), MPI_ERR_FILE);
    CALLED(&g, 0, 1);
}

static void cancelled(void)
{
    struct state g;
    MPI_Status s;
    int flag = -1;
    MPI_Request r = start(&g);
    CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
    CHECK(g.cancels == 1 && g.complete == 0, "%d %d", g.cancels, g.complete);
    MPI_Test(&r, &flag, &s);
    CHECK_EQ(flag, 0, "only MPI_Grequest_complete completes");
    g.cancelled = 1;
    MPI_Grequest_complete(r);
    CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
    CHECK(g.cancels == 2 && g.complete == 1, "%d %d", g.cancels, g.complete);
    g.cancel_code = MPI_ERR_AMODE;
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_AMODE);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 1);
    CALLED(&g, 1, 1);
}

/* One alone: the error of free_fn, the last one called, else that of query_fn; MPI_Request_get_status: that of
 * query_fn; codes of the user. */
static void codes(void)
{
    struct state g;
    int flag, index, own_class, own;
    MPI_Request r = start(&g);
    MPI_Add_error_class(&own_class);
    MPI_Add_error_code(own_class, &own);
    MPI_Add_error_string(own, "the disk is on fire");
    MPI_Grequest_complete(r);
    g.query_code = own;
    CHECK_EQ(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE), own);
    g.free_code = MPI_ERR_IO;
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_SAYS("free_fn");
    r = start(&g);
    MPI_Grequest_complete(r);
    g.query_code = MPI_ERR_IO;
    CHECK_ERR(MPI_Waitany(1, &r, &index, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_SAYS("query_fn");
    CHECK(r == MPI_REQUEST_NULL && index == 0, " ");
    CALLED(&g, 1, 1);
    r = start(&g);
    MPI_Grequest_complete(r);
    g.query_code = own;
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), own);
    CHECK(r == MPI_REQUEST_NULL, " ");
    r = start(&g);
    MPI_Grequest_complete(r);
    g.query_code = own;
    CHECK_EQ(MPI_Test(&r, &flag, MPI_STATUS_IGNORE), own);
    CHECK(r == MPI_REQUEST_NULL && flag == 1, " ");
    r = start(&g);
    MPI_Grequest_complete(r);
    g.free_code = own;
    CHECK_EQ(MPI_Testany(1, &r, &index, &flag, MPI_STATUS_IGNORE), own);
    CHECK(r == MPI_REQUEST_NULL && flag == 1, " ");
}

enum { N = 6 };

/* [0, 2, 4] generalized, [1, 3] receives, [5] null; all complete but those that `late` says. */
static void mixture(MPI_Request *r, struct state *g, int *x, int late)
{
    for (int i = 0; i < N; i++)
        r[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < 5; i++)
        if (i % 2)
            MPI_Irecv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
        else
            r[i] = start(&g[i]);
    for (int i = 0; i < 5; i++)
        if (i == late)
            continue;
        else if (i % 2)
            MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
        else
            MPI_Grequest_complete(r[i]);
}

static void last(const MPI_Request *r, int late)
{
    if (late % 2)
        MPI_Send(&late, 1, MPI_INT, 0, late, MPI_COMM_SELF);
    else
        MPI_Grequest_complete(r[late]);
}

static void all_done(const MPI_Request *r, const struct state *g, const int *x, const MPI_Status *s)
{
    for (int i = 0; i < 5; i++) {
        CHECK(r[i] == MPI_REQUEST_NULL, "%d", i);
        if (i % 2) {
            CHECK_EQ(x[i], i);
            CHECK_EQ(s[i].MPI_TAG, i);
        } else {
            CALLED(&g[i], 1, 1);
            is_ours(&s[i]);
        }
    }
}

static void many(int late)
{
    struct state g[N];
    MPI_Request r[N];
    MPI_Status s[N], st;
    int x[N], flag = -1, index, n, indices[N], left = 5;
    mixture(r, g, x, late);
    MPI_Testall(N, r, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_all(N, r, &flag, s);
    CHECK_EQ(flag, 0);
    for (int i = 0; i < 5; i += 2)
        CALLED(&g[i], 0, 0);
    last(r, late);
    CHECK_EQ(MPI_Waitall(N, r, s), MPI_SUCCESS);
    all_done(r, g, x, s);
    mixture(r, g, x, late);
    last(r, late);
    CHECK_EQ(MPI_Testall(N, r, &flag, s), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    all_done(r, g, x, s);
    mixture(r, g, x, late);
    while (left > 0) {
        MPI_Waitsome(N, r, &n, indices, s);
        for (int k = 0; k < n; k++)
            if (indices[k] % 2 == 0)
                is_ours(&s[k]);
        if (left == 5) {
            CHECK_EQ(n, 4);
            last(r, late);
        }
        left -= n;
    }
    mixture(r, g, x, late);
    for (left = 5; left > 0; left--) {
        if (left == 1)
            last(r, late);
        MPI_Waitany(N, r, &index, &st);
        CHECK(index >= 0 && (left == 1) == (index == late), "index %d", index);
        if (index % 2 == 0)
            is_ours(&st);
    }
    MPI_Waitany(N, r, &index, &st);
    CHECK_EQ(index, MPI_UNDEFINED);
    for (int i = 0; i < 5; i += 2)
        CALLED(&g[i], 1, 1);
}

/* Several: the codes in the statuses. */
static void codes_of_many(int form)
{
    struct state g[N];
    MPI_Request r[N];
    MPI_Status s[N];
    int x[N], flag = -1, n = -1, indices[N], c = -1;
    mixture(r, g, x, -1);
    g[2].free_code = MPI_ERR_IO;
    g[4].query_code = MPI_ERR_FILE;
    memset(s, 77, sizeof s);
    if (form == 0)
        CHECK_ERR(MPI_Waitall(N, r, s), MPI_ERR_IN_STATUS);
    else if (form == 1)
        CHECK_ERR(MPI_Testall(N, r, &flag, s), MPI_ERR_IN_STATUS);
    else if (form == 2)
        CHECK_ERR(MPI_Waitsome(N, r, &n, indices, s), MPI_ERR_IN_STATUS);
    else if (form == 3)
        CHECK_ERR(MPI_Testsome(N, r, &n, indices, s), MPI_ERR_IN_STATUS);
    else
        CHECK_ERR(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    if (form == 2 || form == 3)
        CHECK_EQ(n, 5);
    for (int i = 0; i < 5; i++) {
        CHECK(r[i] == MPI_REQUEST_NULL, "%d", i);
        if (i % 2 == 0)
            CALLED(&g[i], 1, 1);
        if (form == 4)
            continue;
        MPI_Error_class(s[i].MPI_ERROR, &c);
        CHECK_EQ(c,
                 i == 2   ? MPI_ERR_IO
                 : i == 4 ? MPI_ERR_FILE
                          : MPI_SUCCESS,
                 "status %d of form %d", i, form);
    }
    /* with get_status: those of query_fn */
    mixture(r, g, x, -1);
    g[2].query_code = MPI_ERR_IO;
    CHECK_ERR(MPI_Request_get_status_all(N, r, &flag, s), MPI_ERR_IN_STATUS);
    CHECK(s[0].MPI_ERROR == MPI_SUCCESS && s[2].MPI_ERROR == MPI_ERR_IO && s[4].MPI_ERROR == MPI_SUCCESS,
          " ");
    g[2].query_code = MPI_SUCCESS;
    MPI_Waitall(N, r, s);
}

static void misuse(void)
{
    struct state g;
    int x;
    MPI_Request r;
    CHECK_ERR(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Grequest_start(NULL, release, cancel, NULL, &r), MPI_ERR_ARG);
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r);
    CHECK_ERR(MPI_Grequest_complete(r), MPI_ERR_REQUEST);
    CHECK_SAYS("generalized");
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    r = start(&g);
    CHECK_ERR(MPI_Start(&r), MPI_ERR_REQUEST);
    MPI_Grequest_complete(r);
    CHECK_ERR(MPI_Grequest_complete(r), MPI_ERR_REQUEST);
    CHECK_SAYS("before");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    r = start(&g);
    MPI_Request copy = r, again = r;
    int before = g.frees;
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    CHECK_ERR(MPI_Request_free(&again), MPI_ERR_REQUEST);
    CHECK_SAYS("freed before");
    CHECK_EQ(g.frees, before, "it is not complete");
    CHECK_EQ(MPI_Grequest_complete(copy), MPI_SUCCESS);
    CHECK_EQ(g.frees, before + 1);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    one();
    freed();
    cancelled();
    codes();
    for (int late = 0; late < 5; late++)
        many(late);
    for (int form = 0; form < 5; form++)
        codes_of_many(form);
    misuse();
    return check_done();
}
