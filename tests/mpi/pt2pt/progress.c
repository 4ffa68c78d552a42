/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* timeout: 60 */
/* Whatever call a process waits in, or asks in again and again, its other communication goes on (MPI 5.0, 2.9 and
 * 3.7.4): a message large enough to need both sides is under way while one of them sits in a call that has nothing
 * to do with it and cannot return before that message has arrived. */
#include "check.h"

enum { LARGE = 300000, DATA = 1, ANSWER = 2 };

static int partner;
static char large[LARGE], answer[LARGE];
static MPI_Comm pair; /* I and my partner */

/* Receives (one byte, or a large message) that end when the partner's answer is here. */
static void in_recv(int n)
{
    MPI_Recv(answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void in_sendrecv(int n)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void in_probe(int n)
{
    MPI_Probe(partner, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in_recv(n);
}
static void in_mprobe(int n)
{
    MPI_Message m;
    MPI_Mprobe(MPI_ANY_SOURCE, ANSWER, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(answer, n, MPI_BYTE, &m, MPI_STATUS_IGNORE);
}
static void in_iprobe(int n)
{
    for (int flag = 0; !flag;)
        MPI_Iprobe(partner, ANSWER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    in_recv(n);
}
static void in_improbe(int n)
{
    MPI_Message m = MPI_MESSAGE_NULL;
    for (int flag = 0; !flag;)
        MPI_Improbe(partner, ANSWER, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(answer, n, MPI_BYTE, &m, MPI_STATUS_IGNORE);
}

static MPI_Request irecv(int n)
{
    MPI_Request r;
    MPI_Irecv(answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD, &r);
    return r;
}
static void in_wait(int n)
{
    MPI_Request r = irecv(n);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void in_waitany(int n)
{
    MPI_Request r[2] = { MPI_REQUEST_NULL, irecv(n) };
    int i;
    MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE);
}
static void in_waitsome(int n)
{
    MPI_Request r[2] = { MPI_REQUEST_NULL, irecv(n) };
    int k, i[2];
    MPI_Waitsome(2, r, &k, i, MPI_STATUSES_IGNORE);
}
static void in_waitall(int n)
{
    MPI_Request r[2] = { MPI_REQUEST_NULL, irecv(n) };
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
static void in_test(int n)
{
    MPI_Request r = irecv(n);
    for (int flag = 0; !flag;)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}
static void in_testany(int n)
{
    MPI_Request r = irecv(n);
    for (int i, flag = 0; !flag;)
        MPI_Testany(1, &r, &i, &flag, MPI_STATUS_IGNORE);
}
static void in_testsome(int n)
{
    MPI_Request r = irecv(n);
    for (int i, k = 0; !k;)
        MPI_Testsome(1, &r, &k, &i, MPI_STATUSES_IGNORE);
}
static void in_testall(int n)
{
    MPI_Request r = irecv(n);
    for (int flag = 0; !flag;)
        MPI_Testall(1, &r, &flag, MPI_STATUSES_IGNORE);
}
static void in_get_status(int n)
{
    MPI_Request r = irecv(n);
    for (int flag = 0; !flag;)
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Calls that end when the partner has come to its own. */
static void in_barrier(int n)
{
    MPI_Barrier(pair);
    (void)n;
}
static void in_allreduce(int n)
{
    int mine = n, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, pair);
    CHECK_EQ(sum, 2 * n);
}
static void in_ibarrier(int n)
{
    MPI_Request r;
    MPI_Ibarrier(pair, &r);
    for (int flag = 0; !flag;)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    (void)n;
}
static void in_dup(int n)
{
    MPI_Comm dup;
    MPI_Comm_dup(pair, &dup);
    MPI_Comm_free(&dup);
    (void)n;
}

/* Sends that end when the partner receives. */
static void in_ssend(int n)
{
    MPI_Ssend(answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD);
}
static void in_send(int n)
{
    MPI_Send(answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD);
}
static void in_detach(int n)
{
    int size;
    void *buf = malloc(LARGE + MPI_BSEND_OVERHEAD), *back = NULL;
    MPI_Buffer_attach(buf, LARGE + MPI_BSEND_OVERHEAD);
    MPI_Bsend(answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD);
    MPI_Buffer_detach((void *)&back, &size);
    CHECK(back == buf, " ");
    free(buf);
}

static void sends_answer(int n)
{
    MPI_Send(answer, n, MPI_BYTE, partner, ANSWER, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*sits)(int n), (*partner)(int n);
} calls[] = {
    { "MPI_Recv", in_recv, sends_answer },
    { "MPI_Sendrecv", in_sendrecv, sends_answer },
    { "MPI_Probe", in_probe, sends_answer },
    { "MPI_Mprobe", in_mprobe, sends_answer },
    { "MPI_Iprobe", in_iprobe, sends_answer },
    { "MPI_Improbe", in_improbe, sends_answer },
    { "MPI_Wait", in_wait, sends_answer },
    { "MPI_Waitany", in_waitany, sends_answer },
    { "MPI_Waitsome", in_waitsome, sends_answer },
    { "MPI_Waitall", in_waitall, sends_answer },
    { "MPI_Test", in_test, sends_answer },
    { "MPI_Testany", in_testany, sends_answer },
    { "MPI_Testsome", in_testsome, sends_answer },
    { "MPI_Testall", in_testall, sends_answer },
    { "MPI_Request_get_status", in_get_status, sends_answer },
    { "MPI_Barrier", in_barrier, in_barrier },
    { "MPI_Allreduce", in_allreduce, in_allreduce },
    { "MPI_Ibarrier", in_ibarrier, in_ibarrier },
    { "MPI_Comm_dup", in_dup, in_dup },
    { "MPI_Ssend", in_ssend, in_recv },
    { "MPI_Send", in_send, in_recv },
    { "MPI_Buffer_detach", in_detach, in_recv },
};

/* The one who sits has the message under way, as its sender or its receiver; the other finishes it before it answers.
 * let_go: the sender's request is freed, and nothing but the call it sits in can see to it. */
static void check_call(size_t which, int sits, int sender, int let_go, int n)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (sender)
        check_fill(large, LARGE, which);
    else
        memset(large, 0, LARGE);
    if (sits && sender)
        MPI_Isend(large, LARGE, MPI_BYTE, partner, DATA, MPI_COMM_WORLD, &r);
    else if (sits)
        MPI_Irecv(large, LARGE, MPI_BYTE, partner, DATA, MPI_COMM_WORLD, &r);
    else if (sender)
        MPI_Ssend(large, LARGE, MPI_BYTE, partner, DATA, MPI_COMM_WORLD);
    else
        MPI_Recv(large, LARGE, MPI_BYTE, partner, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sits && sender && let_go)
        MPI_Request_free(&r);
    (sits ? calls[which].sits : calls[which].partner)(n);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (!sender)
        CHECK_BYTES(large, LARGE, which);
    if (check_failures)
        fprintf(stderr, "rank %d: in %s\n", check_rank, calls[which].name);
    MPI_Barrier(pair); /* a freed send is over when its receiver says so */
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    /* The last of an odd number is its own partner's neighbour: it has none. Partners are far apart, on other
     * nodes if any. */
    int half = check_size / 2, idle = check_rank == 2 * half;
    partner = check_rank < half ? check_rank + half : check_rank - half;
    MPI_Comm_split(MPI_COMM_WORLD, idle ? MPI_UNDEFINED : check_rank % half, check_rank, &pair);
    for (size_t which = 0; !idle && which < sizeof calls / sizeof calls[0]; which++)
        for (int turn = 0; turn < 6; turn++) {
            int sits = (check_rank < half) == turn % 2;
            check_call(which, sits, sits == (turn < 4), turn >= 2 && turn < 4, which % 2 ? 1 : LARGE);
        }
    if (!idle)
        MPI_Comm_free(&pair);
    return check_done();
}
