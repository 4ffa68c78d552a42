/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_PROC_NULL as source and destination of everything: done at once, buffers untouched, its status. */
#include "check.h"

static int x = 42;

static void status_is_null(const MPI_Status *s)
{
    int n = -1, flag = 1;
    CHECK_EQ(s->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, 0);
    MPI_Test_cancelled(s, &flag);
    CHECK_EQ(flag, 0);
    CHECK_EQ(x, 42);
}

static MPI_Status *dirty(MPI_Status *s)
{
    memset(s, 0x5a, sizeof *s);
    return s;
}

static void done(MPI_Request *r, int is_recv)
{
    MPI_Status s;
    int flag = 0;
    CHECK(*r != MPI_REQUEST_NULL, " ");
    CHECK_EQ(MPI_Test(r, &flag, dirty(&s)), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK(*r == MPI_REQUEST_NULL, " ");
    if (is_recv)
        status_is_null(&s);
}

int main(int argc, char **argv)
{
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Request r;
    MPI_Status s;
    MPI_Message m;
    int flag, null = MPI_PROC_NULL;
    check_init(&argc, &argv);
    CHECK_EQ(MPI_Send(&x, 1, MPI_INT, null, 0, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Ssend(&x, 1, MPI_INT, null, 0, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Bsend(&x, 1, MPI_INT, null, 0, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Rsend(&x, 1, MPI_INT, null, 0, c), MPI_SUCCESS);
    CHECK_EQ(MPI_Recv(&x, 1, MPI_INT, null, 3, c, dirty(&s)), MPI_SUCCESS);
    status_is_null(&s);
    CHECK_EQ(MPI_Recv(&x, 1, MPI_INT, null, 3, c, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Isend(&x, 1, MPI_INT, null, 0, c, &r);
    done(&r, 0);
    MPI_Issend(&x, 1, MPI_INT, null, 0, c, &r);
    done(&r, 0);
    MPI_Ibsend(&x, 1, MPI_INT, null, 0, c, &r);
    done(&r, 0);
    MPI_Irsend(&x, 1, MPI_INT, null, 0, c, &r);
    done(&r, 0);
    MPI_Irecv(&x, 1, MPI_INT, null, 0, c, &r);
    done(&r, 1);
    MPI_Irecv(&x, 1, MPI_INT, null, 0, c, &r);
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    CHECK_EQ(MPI_Probe(null, 0, c, dirty(&s)), MPI_SUCCESS);
    status_is_null(&s);
    CHECK_EQ(MPI_Iprobe(null, 0, c, &flag, dirty(&s)), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    status_is_null(&s);
    CHECK_EQ(MPI_Mprobe(null, 0, c, &m, dirty(&s)), MPI_SUCCESS);
    CHECK(m == MPI_MESSAGE_NO_PROC, " ");
    status_is_null(&s);
    CHECK_EQ(MPI_Mrecv(&x, 1, MPI_INT, &m, dirty(&s)), MPI_SUCCESS);
    CHECK(m == MPI_MESSAGE_NULL, " ");
    status_is_null(&s);
    CHECK_EQ(MPI_Improbe(null, 0, c, &flag, &m, dirty(&s)), MPI_SUCCESS);
    CHECK(flag && m == MPI_MESSAGE_NO_PROC, " ");
    status_is_null(&s);
    CHECK_EQ(MPI_Imrecv(&x, 1, MPI_INT, &m, &r), MPI_SUCCESS);
    CHECK(m == MPI_MESSAGE_NULL, " ");
    done(&r, 1);
    CHECK_EQ(MPI_Sendrecv(&x, 1, MPI_INT, null, 0, &x, 1, MPI_INT, null, 0, c, dirty(&s)), MPI_SUCCESS);
    status_is_null(&s);
    CHECK_EQ(MPI_Sendrecv_replace(&x, 1, MPI_INT, null, 0, null, 0, c, dirty(&s)), MPI_SUCCESS);
    status_is_null(&s);
    MPI_Isendrecv(&x, 1, MPI_INT, null, 0, &x, 1, MPI_INT, null, 0, c, &r);
    done(&r, 1);
    MPI_Isendrecv_replace(&x, 1, MPI_INT, null, 0, null, 0, c, &r);
    done(&r, 1);
    /* one side only: the end of a line of processes */
    int next = check_rank + 1 < check_size ? check_rank + 1 : null,
        before = check_rank ? check_rank - 1 : null, got = -1;
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, 0, &got, 1, MPI_INT, before, 0, c, dirty(&s));
    CHECK_EQ(got, check_rank ? check_rank - 1 : -1);
    if (before == null)
        status_is_null(&s);
    got = 100 + check_rank;
    MPI_Isendrecv_replace(&got, 1, MPI_INT, next, 0, before, 0, c, &r);
    MPI_Wait(&r, &s);
    CHECK_EQ(got, check_rank ? 99 + check_rank : 100);
    return check_done();
}
