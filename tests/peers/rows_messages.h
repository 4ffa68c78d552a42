/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_messages.h: rows of misuse.c about messages, requests, partitioned messages. */
#ifndef ROWS_MESSAGES_H
#define ROWS_MESSAGES_H

#include "misuse.h"

/* ---- Messages */

static int send_count(void)
{
    return MPI_Send(a, -1, I, NOBODY, 0, W);
}
static int send_tag(void)
{
    return MPI_Send(a, 0, I, NOBODY, -7, W);
}
static int send_any_tag(void)
{
    return MPI_Send(a, 0, I, NOBODY, MPI_ANY_TAG, W);
}
static int send_rank(void)
{
    return MPI_Send(a, 0, I, 1000, 0, W);
}
static int send_any_source(void)
{
    return MPI_Send(a, 0, I, MPI_ANY_SOURCE, 0, W);
}
static int send_null_type(void)
{
    return MPI_Send(a, 0, MPI_DATATYPE_NULL, NOBODY, 0, W);
}
static int send_uncommitted(void)
{
    return MPI_Send(a, 1, vector(0), NOBODY, 0, W);
}
static int send_uncommitted_empty(void)
{
    return MPI_Send(a, 0, vector(0), NOBODY, 0, W);
}
static int send_null_buffer_nobody(void)
{
    return MPI_Send(NULL, 1, I, NOBODY, 0, W);
}
static int recv_count(void)
{
    return MPI_Recv(a, -1, I, NOBODY, 0, W, &st);
}
static int recv_tag(void)
{
    return MPI_Recv(a, 0, I, NOBODY, -7, W, &st);
}
static int recv_null_buffer_nobody(void)
{
    return MPI_Recv(NULL, 1, I, NOBODY, 0, W, &st);
}
static int irecv_rank(void)
{
    return MPI_Irecv(a, 1, I, 1000, 0, W, &req);
}
static int probe_rank(void)
{
    return MPI_Iprobe(1000, 0, W, a, &st);
}
static int probe_tag(void)
{
    return MPI_Iprobe(0, -7, W, a, &st);
}
static int truncated(void)
{
    MPI_Request r;
    MPI_Irecv(b, 1, I, 0, 5, S, &r);
    MPI_Send(a, 2, I, 0, 5, S);
    return MPI_Wait(&r, &st);
}
static int sendrecv_one_buffer(void)
{
    a[0] = rank;
    int e = MPI_Sendrecv(a, 1, I, (rank + 1) % size, 0, a, 1, I, (rank + size - 1) % size, 0, W, &st);
    return e ? e : a[0] == (rank + size - 1) % size ? 0 : NONSENSE;
}
static int bsend_none(void)
{
    return MPI_Bsend(a, 1, I, 0, 0, S);
}
static int detached(int e)
{
    void *p;
    int n;
    MPI_Buffer_detach(&p, &n);
    return e;
}
static int attach_twice(void)
{
    static char x[4096], y[4096];
    MPI_Buffer_attach(x, 4096);
    return detached(MPI_Buffer_attach(y, 4096));
}
static int attach_negative(void)
{
    return MPI_Buffer_attach(a, -1);
}
static int detach_none(void)
{
    void *p;
    int n;
    return MPI_Buffer_detach(&p, &n);
}
static int buffer_small(void)
{
    static char x[8];
    MPI_Buffer_attach(x, 8);
    return detached(MPI_Bsend(a, MOST, I, 0, 0, S));
}
static int get_count_null_type(void)
{
    MPI_Recv(a, 0, I, NOBODY, 0, W, &st);
    return MPI_Get_count(&st, MPI_DATATYPE_NULL, a);
}
static int get_count_uncommitted(void)
{
    MPI_Recv(a, 0, I, NOBODY, 0, W, &st);
    return MPI_Get_count(&st, vector(0), a);
}
static int get_elements_uncommitted(void)
{
    MPI_Recv(a, 0, I, NOBODY, 0, W, &st);
    return MPI_Get_elements(&st, vector(0), a);
}
static int set_elements_negative(void)
{
    return MPI_Status_set_elements(&st, I, -1);
}
static int asserted_any_source(void)
{
    MPI_Comm c;
    int flag;
    MPI_Comm_dup(S, &c);
    MPI_Comm_set_info(c, info("mpi_assert_no_any_source", "true"));
    return MPI_Iprobe(MPI_ANY_SOURCE, 0, c, &flag, &st);
}
static int asserted_any_tag(void)
{
    MPI_Comm c;
    int flag;
    MPI_Comm_dup(S, &c);
    MPI_Comm_set_info(c, info("mpi_assert_no_any_tag", "true"));
    return MPI_Iprobe(0, MPI_ANY_TAG, c, &flag, &st);
}
static int status_tag(void)
{
#if NEW(41)
    return MPI_Status_set_tag(&st, MPI_ANY_TAG);
#else
    return ABSENT;
#endif
}

/* ---- Requests */

static int wait_freed(void)
{
    MPI_Request r = inactive_receive(), kept = r;
    MPI_Request_free(&r);
    return MPI_Test(&kept, a, &st);
}
static int free_null(void)
{
    return MPI_Request_free(&req);
}
static int cancel_null(void)
{
    return MPI_Cancel(&req);
}
static int cancel_inactive(void)
{
    MPI_Request r = inactive_receive();
    return MPI_Cancel(&r);
}
static int start_null(void)
{
    return MPI_Start(&req);
}
static int start_active(void)
{
    MPI_Request r = inactive_receive();
    MPI_Start(&r);
    return MPI_Start(&r);
}
static int start_other(void)
{
    MPI_Request r = active_receive();
    return MPI_Start(&r);
}
static int free_started(void)
{
    MPI_Request r = inactive_receive();
    MPI_Start(&r);
    return MPI_Request_free(&r);
}
static int waitall_count(void)
{
    return MPI_Waitall(-1, &req, MPI_STATUSES_IGNORE);
}
static int testall_twice(void)
{
    MPI_Request r[2];
    r[0] = r[1] = inactive_receive();
    return MPI_Testall(2, r, a, MPI_STATUSES_IGNORE);
}
static int startall_count(void)
{
    return MPI_Startall(-1, &req);
}
static int waitsome_count(void)
{
    return MPI_Waitsome(-1, &req, a, b, MPI_STATUSES_IGNORE);
}
static int waitany_count(void)
{
    return MPI_Waitany(-1, &req, a, &st);
}
static int cancel_collective(void)
{
    MPI_Request r;
    MPI_Ibarrier(S, &r);
    return MPI_Cancel(&r);
}
static int free_collective(void)
{
    MPI_Request r;
    MPI_Ibarrier(S, &r);
    return MPI_Request_free(&r);
}
static int get_status_null(void)
{
    return MPI_Request_get_status(req, a, &st);
}

static int query_code, free_code;
static int query(void *x, MPI_Status *s)
{
    (void)x;
    MPI_Status_set_elements(s, I, 0);
    MPI_Status_set_cancelled(s, 0);
    return query_code;
}
static int release(void *x)
{
    (void)x;
    return free_code;
}
static int cancel(void *x, int complete)
{
    (void)x, (void)complete;
    return 0;
}
static MPI_Request general(void)
{
    MPI_Request r;
    MPI_Grequest_start(query, release, cancel, NULL, &r);
    return r;
}
static int general_twice(void)
{
    MPI_Request r = general();
    MPI_Grequest_complete(r);
    return MPI_Grequest_complete(r);
}
static int general_other(void)
{
    return MPI_Grequest_complete(active_receive());
}
static int general_query(void)
{
    MPI_Request r = general();
    query_code = MPI_ERR_IO;
    MPI_Grequest_complete(r);
    return MPI_Wait(&r, &st);
}
static int general_free(void)
{
    MPI_Request r = general();
    free_code = MPI_ERR_IO;
    MPI_Grequest_complete(r);
    return MPI_Wait(&r, &st);
}

/* ---- Partitioned messages */

#if NEW(40)
static MPI_Request partitioned(void)
{
    MPI_Request r;
    MPI_Psend_init(a, 2, 1, I, NOBODY, 0, W, MPI_INFO_NULL, &r);
    return r;
}
#endif
static int pready_inactive(void)
{
#if NEW(40)
    return MPI_Pready(0, partitioned());
#else
    return ABSENT;
#endif
}
static int pready_outside(void)
{
#if NEW(40)
    MPI_Request r = partitioned();
    MPI_Start(&r);
    return MPI_Pready(7, r);
#else
    return ABSENT;
#endif
}
static int pready_range(void)
{
#if NEW(40)
    MPI_Request r = partitioned();
    MPI_Start(&r);
    return MPI_Pready_range(1, 0, r);
#else
    return ABSENT;
#endif
}
static int psend_partitions(void)
{
#if NEW(40)
    return MPI_Psend_init(a, -1, 1, I, NOBODY, 0, W, MPI_INFO_NULL, &req);
#else
    return ABSENT;
#endif
}

#endif
