/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Every send procedure to every receive procedure, to each rank, with sizes of each protocol. */
#include "check.h"

enum { MAX = 300000 };
static const int sizes[] = { 0, 1, 8, 48, 49, 1000, 5000, 70000, MAX };
static char out[MAX], in[MAX + 16], attached[4 * (MAX + MPI_BSEND_OVERHEAD)];

enum { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IBSEND, IRSEND, SENDS };

static void send(int how, int n, int to, int tag, MPI_Comm comm)
{
    MPI_Request r = MPI_REQUEST_NULL;
    switch (how) {
    case SEND:
        CHECK_EQ(MPI_Send(out, n, MPI_CHAR, to, tag, comm), MPI_SUCCESS);
        break;
    case SSEND:
        CHECK_EQ(MPI_Ssend(out, n, MPI_CHAR, to, tag, comm), MPI_SUCCESS);
        break;
    case BSEND:
        CHECK_EQ(MPI_Bsend(out, n, MPI_CHAR, to, tag, comm), MPI_SUCCESS);
        break;
    case RSEND:
        CHECK_EQ(MPI_Rsend(out, n, MPI_CHAR, to, tag, comm), MPI_SUCCESS);
        break;
    case ISEND:
        CHECK_EQ(MPI_Isend(out, n, MPI_CHAR, to, tag, comm, &r), MPI_SUCCESS);
        break;
    case ISSEND:
        CHECK_EQ(MPI_Issend(out, n, MPI_CHAR, to, tag, comm, &r), MPI_SUCCESS);
        break;
    case IBSEND:
        CHECK_EQ(MPI_Ibsend(out, n, MPI_CHAR, to, tag, comm, &r), MPI_SUCCESS);
        break;
    case IRSEND:
        CHECK_EQ(MPI_Irsend(out, n, MPI_CHAR, to, tag, comm, &r), MPI_SUCCESS);
        break;
    }
    if (how >= ISEND)
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(r == MPI_REQUEST_NULL, " ");
}

static void look(const MPI_Status *s, int n, int from, int tag)
{
    int count = -1;
    MPI_Get_count(s, MPI_CHAR, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, tag);
    CHECK_BYTES(in, (size_t)n, (uint64_t)(from * 1000 + tag));
    CHECK_EQ(in[n], 33, "written behind the message");
}

/* The receive is posted before the sender is told to go, so that ready mode is right too. */
static void one(int how, int n, int from, int to, MPI_Comm comm)
{
    int tag = how, rank;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Comm_rank(comm, &rank);
    if (rank == to) {
        memset(in, 33, (size_t)n + 16);
        CHECK_EQ(MPI_Irecv(in, n + 8, MPI_CHAR, from, tag, comm, &r), MPI_SUCCESS);
        if (from != to)
            MPI_Send(NULL, 0, MPI_CHAR, from, 100, comm);
    }
    if (rank == from) {
        if (from != to)
            MPI_Recv(NULL, 0, MPI_CHAR, to, 100, comm, MPI_STATUS_IGNORE);
        check_fill(out, (size_t)n, (uint64_t)(from * 1000 + tag));
        send(how, n, to, tag, comm);
    }
    if (rank == to) {
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
        look(&s, n, from, tag);
    }
}

/* Blocking receive, message before or after it; not in ready mode. */
static void blocking(int how, int n, int from, int to, MPI_Comm comm)
{
    int rank;
    MPI_Status s;
    MPI_Comm_rank(comm, &rank);
    if (from == to || how == RSEND || how == IRSEND)
        return;
    if (rank == from) {
        check_fill(out, (size_t)n, (uint64_t)(from * 1000 + how));
        send(how, n, to, how, comm);
    } else if (rank == to) {
        memset(in, 33, (size_t)n + 16);
        CHECK_EQ(MPI_Recv(in, n, MPI_CHAR, from, how, comm, &s), MPI_SUCCESS);
        look(&s, n, from, how);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    void *back;
    int size;
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    MPI_Buffer_attach(attached, sizeof attached);
    for (int how = 0; how < SENDS; how++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int step = 0; step < (check_size < 3 ? check_size : 3); step++) {
                one(how, sizes[i], 0, step, MPI_COMM_WORLD);
                one(how, sizes[i], check_size - 1 - step, 0, reversed);
                blocking(how, sizes[i], step, (step + 1) % check_size, MPI_COMM_WORLD);
            }
    MPI_Buffer_detach(&back, &size);
    CHECK(back == (void *)attached && size == sizeof attached, "detached %p, %d", back, size);
    MPI_Comm_free(&reversed);
    return check_done();
}
