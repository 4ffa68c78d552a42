/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* timeout: 60 */
/* MPI_Cancel of persistent and buffered operations, of many, of what waits for its turn to be sent; followed by
 * MPI_Request_free; what cannot be cancelled.  A send is cancelled or arrives, never both, never neither. */
#include "check.h"

enum { BIG = 300000 };
static int to, from;
static char out[BIG], in[BIG];

static int was_cancelled(const MPI_Status *s)
{
    int flag = -1, count = -1;
    CHECK_EQ(MPI_Test_cancelled(s, &flag), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_count(s, MPI_INT, &count), MPI_SUCCESS, "of whatever");
    return flag;
}

/* As many messages with this tag as my partner has not cancelled are here, and no more. */
static void receive_rest(int tag, int sent, int bytes)
{
    int expected = -1, flag = 0;
    MPI_Status s;
    MPI_Sendrecv(&sent, 1, MPI_INT, to, 90, &expected, 1, MPI_INT, from, 90, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < expected; i++) {
        memset(in, 0, (size_t)bytes);
        MPI_Recv(in, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, &s);
        CHECK_BYTES(in, (size_t)bytes, 9);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, &s);
    CHECK_EQ(flag, 0, "a cancelled message is there (tag %d)", tag);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent_receive(void)
{
    MPI_Request r;
    MPI_Status s;
    int x = -1;
    MPI_Recv_init(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r);
    for (int k = 0; k < 20; k++) {
        MPI_Start(&r);
        CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
        CHECK_EQ(was_cancelled(&s), 1);
        CHECK(r != MPI_REQUEST_NULL, "cancelling freed it");
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS); /* inactive */
        CHECK_EQ(was_cancelled(&s), 0);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody sends while another still has a receive to cancel */
        MPI_Start(&r);
        MPI_Send(&k, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
        MPI_Wait(&r, &s);
        CHECK_EQ(was_cancelled(&s), 0);
        CHECK_EQ(x, k);
    }
    MPI_Start(&r);
    MPI_Cancel(&r);
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    MPI_Irecv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r); /* nor does a plain one take anything */
    MPI_Cancel(&r);
    MPI_Request_free(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    x = -1;
    MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 1, &x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(x, from);
}

static void persistent_send(int mode, int bytes)
{
    MPI_Request r;
    MPI_Status s;
    int sent;
    check_fill(out, (size_t)bytes, 9);
    if (mode == 0)
        MPI_Send_init(out, bytes, MPI_CHAR, to, 2, MPI_COMM_WORLD, &r);
    else if (mode == 1)
        MPI_Ssend_init(out, bytes, MPI_CHAR, to, 2, MPI_COMM_WORLD, &r);
    else
        MPI_Bsend_init(out, bytes, MPI_CHAR, to, 2, MPI_COMM_WORLD, &r);
    for (int k = 0; k < 6; k++) {
        CHECK_EQ(MPI_Start(&r), MPI_SUCCESS);
        if (k % 2) {
            receive_rest(2, 1, bytes);
            CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
            CHECK_EQ(was_cancelled(&s), 0);
            continue;
        }
        CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
        sent = !was_cancelled(&s);
        if (mode == 1)
            CHECK_EQ(sent, 0, "nobody receives");
        receive_rest(2, sent, bytes);
    }
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
}

/* The buffer has room for one message: cancelling it makes room for the next. */
static void buffered(void)
{
    int size = BIG + MPI_BSEND_OVERHEAD, sent = 0, flag = 0;
    void *buffer = malloc((size_t)size);
    MPI_Request r;
    MPI_Status s;
    check_fill(out, BIG, 9);
    MPI_Buffer_attach(buffer, size);
    for (int k = 0; k < 10; k++) {
        CHECK_EQ(MPI_Ibsend(out, BIG, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r), MPI_SUCCESS);
        CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
        CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
        sent += !was_cancelled(&s);
        if (!was_cancelled(&s) && check_size > 1)
            break;
    }
    if (check_size > 1)
        CHECK_EQ(sent, 0, "nobody receives");
    receive_rest(3, sent, BIG);
    MPI_Ibsend(out, BIG, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r);
    MPI_Request_get_status(r, &flag, &s); /* the copy is made: too late to cancel it */
    CHECK_EQ(flag, 1);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    CHECK_EQ(was_cancelled(&s), 0);
    receive_rest(3, 1, BIG);
    MPI_Ibsend(out, BIG, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    MPI_Sendrecv(NULL, 0, MPI_CHAR, to, 91, NULL, 0, MPI_CHAR, from, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (MPI_Iprobe(from, 3, MPI_COMM_WORLD, &flag, &s); flag; flag = 0)
        MPI_Recv(in, BIG, MPI_CHAR, from, 3, MPI_COMM_WORLD, &s);
    MPI_Barrier(MPI_COMM_WORLD); /* what comes now must not be taken for it */
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

/* The second of two in the buffer is cancelled, the first is in its way; then a third one fits. */
static void behind(void)
{
    int size = 2 * (BIG + MPI_BSEND_OVERHEAD), c = 0;
    void *buffer = malloc((size_t)size);
    MPI_Request r[3];
    MPI_Status s;
    check_fill(out, BIG, 9);
    MPI_Buffer_attach(buffer, size);
    MPI_Ibsend(out, BIG, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Ibsend(out, BIG, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Cancel(&r[1]);
    MPI_Wait(&r[1], &s);
    c = was_cancelled(&s);
    if (check_size > 1)
        CHECK_EQ(c, 1, "nobody receives");
    CHECK_EQ(MPI_Ibsend(out, BIG, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r[2]), MPI_SUCCESS);
    receive_rest(3, 3 - c, BIG);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

/* More than the devices take while the partner does not look: the last ones wait here. */
static void queued(int bytes, int n)
{
    MPI_Request *r = malloc(sizeof *r * (size_t)n);
    MPI_Status s;
    int sent = 0;
    check_fill(out, (size_t)bytes, 9);
    for (int i = 0; i < n; i++)
        MPI_Isend(out, bytes, MPI_CHAR, to, 4, MPI_COMM_WORLD, &r[i]);
    for (int i = n; i-- > 0;) /* one forward, one backward */
        MPI_Cancel(&r[i % 2 ? i : n - 2 - i]);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_Wait(&r[i], &s), MPI_SUCCESS);
        sent += !was_cancelled(&s);
    }
    if (getenv("CHECK_SHOW"))
        printf("rank %d: %d of %d sent\n", check_rank, sent, n);
    receive_rest(4, sent, bytes);
    free(r);
}

static void many(int n)
{
    MPI_Request *r = malloc(sizeof *r * (size_t)n);
    MPI_Status *s = malloc(sizeof *s * (size_t)n);
    int x;
    for (int i = 0; i < n; i++)
        MPI_Irecv(&x, 1, MPI_INT, i % 3 ? from : MPI_ANY_SOURCE, i % 7, MPI_COMM_WORLD, &r[i]);
    for (int i = n; i-- > 0;)
        MPI_Cancel(&r[i % 2 ? i : n - 2 - i]);
    MPI_Waitall(n, r, s);
    for (int i = 0; i < n; i++)
        CHECK_EQ(was_cancelled(&s[i]), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Issend(&x, 1, MPI_INT, to, i % 7, MPI_COMM_WORLD, &r[i]);
    for (int i = n; i-- > 0;)
        MPI_Cancel(&r[i % 2 ? i : n - 2 - i]);
    MPI_Waitall(n, r, s);
    for (int i = 0; i < n; i++)
        CHECK_EQ(was_cancelled(&s[i]), 1, "nobody receives");
    MPI_Barrier(MPI_COMM_WORLD);
    free(s);
    free(r);
}

static void refused(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    int x = -1;
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Isendrecv(&check_rank, 1, MPI_INT, to, 5, &x, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &r);
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    CHECK_SAYS("cannot be cancelled");
    CHECK_EQ(MPI_Wait(&r, &s), MPI_SUCCESS);
    CHECK_EQ(was_cancelled(&s), 0);
    CHECK_EQ(x, from);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r);
    CHECK_EQ(MPI_Cancel(&r), MPI_SUCCESS);
    MPI_Wait(&r, &s);
    CHECK_EQ(was_cancelled(&s), 0);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 4, 9000, BIG };
    check_init(&argc, &argv);
    check_errors_return();
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    persistent_receive();
    int room = 4 * (BIG + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    for (int mode = 0; mode < 3; mode++)
        for (int k = 0; k < 3; k++)
            persistent_send(mode, sizes[k]);
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    buffered();
    behind();
    queued(4, 3000);
    queued(4000, 1000);
    queued(BIG, 20);
    many(3000);
    refused();
    return check_done();
}
