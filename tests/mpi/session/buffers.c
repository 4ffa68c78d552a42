/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 8 */
/* across: what is sent last has to leave before a session ends */
/* Whose buffer takes a message in buffered mode: the communicator's, else its session's, else the process's. */
#include "session.h"

enum { BIG = 1 << 21, ROOM = BIG + MPI_BSEND_OVERHEAD };

static char data[BIG], in[BIG];

static void post(MPI_Comm comm, int tag)
{
    if (check_rank == 0)
        CHECK_EQ(MPI_Bsend(data, BIG, MPI_CHAR, 1, tag, comm), MPI_SUCCESS, "message %d", tag);
}

static void refused(MPI_Comm comm)
{
    if (check_rank == 0)
        CHECK_ERR(MPI_Bsend(data, BIG, MPI_CHAR, 1, 0, comm), MPI_ERR_BUFFER);
}

static void take(MPI_Comm comm, int tag)
{
    MPI_Status st;
    int n = -1;
    if (check_rank != 1)
        return;
    memset(in, 0, sizeof in);
    CHECK_EQ(MPI_Recv(in, BIG, MPI_CHAR, 0, tag, comm, &st), MPI_SUCCESS);
    MPI_Get_count(&st, MPI_CHAR, &n);
    CHECK_EQ(n, BIG);
    CHECK(!memcmp(in, data, BIG), "message %d", tag);
}

static void errors(MPI_Session s)
{
    void *p = NULL;
    int size = -1;
    MPI_Count large = -1;
    MPI_Request r;
    CHECK_ERR(MPI_Session_detach_buffer(s, &p, &size), MPI_ERR_BUFFER);
    CHECK_SAYS("the session has no buffer attached");
    CHECK_ERR(MPI_Session_flush_buffer(s), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Session_iflush_buffer(s, &r), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Session_attach_buffer(s, data, -1), MPI_ERR_COUNT);
    CHECK_EQ(MPI_Session_attach_buffer_c(s, data, 100), MPI_SUCCESS);
    CHECK_ERR(MPI_Session_attach_buffer(s, in, 100), MPI_ERR_BUFFER);
    CHECK_SAYS("the session has a buffer");
    CHECK_EQ(MPI_Session_detach_buffer_c(s, &p, &large), MPI_SUCCESS);
    CHECK(p == data);
    CHECK_EQ(large, 100);
}

/* comm of s, other of the session t. */
static void precedence(MPI_Session s, MPI_Comm comm, MPI_Comm other)
{
    char *buf = malloc(3 * ROOM);
    void *p = NULL;
    int size = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    refused(comm);
    CHECK_EQ(MPI_Session_attach_buffer(s, buf, ROOM), MPI_SUCCESS);
    refused(other); /* of another session */
    post(comm, 1);
    refused(comm); /* it is full */
    MPI_Barrier(comm);
    take(comm, 1);
    CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS);
    post(comm, 2);
    CHECK_EQ(MPI_Session_iflush_buffer(s, &r), MPI_SUCCESS);
    CHECK(r != MPI_REQUEST_NULL);
    MPI_Barrier(comm);
    take(comm, 2);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_attach_buffer(comm, buf + 2 * ROOM, MPI_BSEND_OVERHEAD + 10), MPI_SUCCESS);
    refused(comm); /* the communicator's comes first, however small */
    CHECK_EQ(MPI_Comm_detach_buffer(comm, &p, &size), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_attach(buf + ROOM, ROOM), MPI_SUCCESS); /* without the world model, too */
    post(other, 3);                                             /* the process's */
    post(comm, 4);                                              /* the session's */
    refused(comm);
    MPI_Barrier(comm);
    take(other, 3);
    take(comm, 4);
    CHECK_EQ(MPI_Session_detach_buffer(s, &p, &size), MPI_SUCCESS);
    CHECK(p == buf);
    CHECK_EQ(size, ROOM);
    CHECK_EQ(MPI_Buffer_detach(&p, &size), MPI_SUCCESS);
    CHECK(p == buf + ROOM);
    refused(comm);
    CHECK_EQ(MPI_Session_attach_buffer(s, MPI_BUFFER_AUTOMATIC, -1), MPI_SUCCESS);
    for (int i = 10; i < 13; i++)
        post(comm, i);
    MPI_Barrier(comm);
    for (int i = 10; i < 13; i++)
        take(comm, i);
    CHECK_EQ(MPI_Session_detach_buffer(s, &p, &size), MPI_SUCCESS);
    CHECK(p == MPI_BUFFER_AUTOMATIC);
    free(buf);
}

/* The end of a session sends what its communicators have buffered, though they are free, and what was freed under
 * way. */
static void last_words(void)
{
    MPI_Session s = session();
    MPI_Comm comm = comm_of(s, "mpi://WORLD", "last");
    static char more[BIG];
    MPI_Session_attach_buffer(s, MPI_BUFFER_AUTOMATIC, 0);
    post(comm, 1);
    if (check_rank == 0) {
        MPI_Request r;
        memset(more, 5, BIG);
        MPI_Isend(more, BIG, MPI_CHAR, 1, 2, comm, &r);
        MPI_Request_free(&r);
    }
    take(comm, 1);
    if (check_rank == 1) {
        MPI_Recv(in, BIG, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE);
        CHECK(in[0] == 5 && in[BIG - 1] == 5);
    }
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    memset(more, 6, BIG); /* the data has left */
}

int main(void)
{
    MPI_Session s = session(), t = session();
    MPI_Comm comm = comm_of(s, "mpi://WORLD", "one"), other = comm_of(t, "mpi://WORLD", "two");
    MPI_Comm_rank(comm, &check_rank);
    for (int i = 0; i < BIG; i++)
        data[i] = (char)(i * 31 % 127);
    errors(s);
    precedence(s, comm, other);
    MPI_Comm dup;
    MPI_Comm_dup(comm, &dup); /* is of the session, too */
    MPI_Session_attach_buffer(s, MPI_BUFFER_AUTOMATIC, 0);
    post(dup, 1);
    MPI_Barrier(comm);
    take(dup, 1);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS); /* with its buffer attached */
    last_words();
    MPI_Comm_free(&other);
    CHECK_EQ(MPI_Session_finalize(&t), MPI_SUCCESS);
    return session_done();
}
