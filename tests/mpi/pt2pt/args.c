/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* Bad arguments of every call of the chapter: class and words, through MPI_ERRORS_RETURN; nothing is sent or
 * lost. */
#include "check.h"

static int x[4], y[4];
static MPI_Request r;
static MPI_Status s;
static MPI_Message m;
static int flag;

/* Each send form. */
#define SENDS(b, n, t, d, g, c, errclass, words) \
    do { \
        CHECK_ERR(MPI_Send(b, n, t, d, g, c), errclass); \
        CHECK_SAYS(words); \
        CHECK_SAYS("MPI_Send"); \
        CHECK_ERR(MPI_Ssend(b, n, t, d, g, c), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Bsend(b, n, t, d, g, c), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Rsend(b, n, t, d, g, c), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Isend(b, n, t, d, g, c, &r), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Issend(b, n, t, d, g, c, &r), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Ibsend(b, n, t, d, g, c, &r), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Irsend(b, n, t, d, g, c, &r), errclass); \
        CHECK_SAYS(words); \
    } while (0)
#define RECVS(b, n, t, d, g, c, errclass, words) \
    do { \
        CHECK_ERR(MPI_Recv(b, n, t, d, g, c, &s), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Irecv(b, n, t, d, g, c, &r), errclass); \
        CHECK_SAYS(words); \
    } while (0)
#define PROBES(d, g, c, errclass, words) \
    do { \
        CHECK_ERR(MPI_Probe(d, g, c, &s), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Iprobe(d, g, c, &flag, &s), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Mprobe(d, g, c, &m, &s), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Improbe(d, g, c, &flag, &m, &s), errclass); \
        CHECK_SAYS(words); \
    } while (0)
#define PAIRS(sb, sn, st, d, sg, rb, rn, rt, so, rg, c, errclass, words) \
    do { \
        CHECK_ERR(MPI_Sendrecv(sb, sn, st, d, sg, rb, rn, rt, so, rg, c, &s), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Isendrecv(sb, sn, st, d, sg, rb, rn, rt, so, rg, c, &r), errclass); \
        CHECK_SAYS(words); \
    } while (0)
#define REPLACES(b, n, t, d, sg, so, rg, c, errclass, words) \
    do { \
        CHECK_ERR(MPI_Sendrecv_replace(b, n, t, d, sg, so, rg, c, &s), errclass); \
        CHECK_SAYS(words); \
        CHECK_ERR(MPI_Isendrecv_replace(b, n, t, d, sg, so, rg, c, &r), errclass); \
        CHECK_SAYS(words); \
    } while (0)

static void ranks(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    static char expected[64];
    snprintf(expected, sizeof expected, "is %d; expected 0 to %d", check_size, check_size - 1);
    SENDS(x, 1, MPI_INT, check_size, 0, c, MPI_ERR_RANK, expected);
    SENDS(x, 1, MPI_INT, -5, 0, c, MPI_ERR_RANK, "dest is -5");
    SENDS(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, MPI_ERR_RANK, "dest is");
    RECVS(x, 1, MPI_INT, check_size, 0, c, MPI_ERR_RANK, "source is");
    RECVS(x, 1, MPI_INT, -5, 0, c, MPI_ERR_RANK, "source is -5");
    PROBES(check_size, 0, c, MPI_ERR_RANK, "source is");
    PAIRS(x, 1, MPI_INT, 99, 0, y, 1, MPI_INT, 0, 0, c, MPI_ERR_RANK, "dest is 99");
    PAIRS(x, 1, MPI_INT, 0, 0, y, 1, MPI_INT, 99, 0, c, MPI_ERR_RANK, "source is 99");
    REPLACES(x, 1, MPI_INT, 99, 0, 0, 0, c, MPI_ERR_RANK, "dest is 99");
    REPLACES(x, 1, MPI_INT, 0, 0, 99, 0, c, MPI_ERR_RANK, "source is 99");
}

static void tags(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    SENDS(x, 1, MPI_INT, 0, -7, c, MPI_ERR_TAG, "tag is -7");
    SENDS(x, 1, MPI_INT, 0, MPI_ANY_TAG, c, MPI_ERR_TAG, "tag is");
    RECVS(x, 1, MPI_INT, 0, -7, c, MPI_ERR_TAG, "tag is -7");
    PROBES(0, -7, c, MPI_ERR_TAG, "tag is -7");
    PAIRS(x, 1, MPI_INT, 0, -7, y, 1, MPI_INT, 0, 0, c, MPI_ERR_TAG, "sendtag is -7");
    PAIRS(x, 1, MPI_INT, 0, 0, y, 1, MPI_INT, 0, -7, c, MPI_ERR_TAG, "recvtag is -7");
    REPLACES(x, 1, MPI_INT, 0, -7, 0, 0, c, MPI_ERR_TAG, "sendtag is -7");
    REPLACES(x, 1, MPI_INT, 0, 0, 0, -7, c, MPI_ERR_TAG, "recvtag is -7");
}

static void counts(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    SENDS(x, -3, MPI_INT, 0, 0, c, MPI_ERR_COUNT, "count is -3");
    RECVS(x, -3, MPI_INT, 0, 0, c, MPI_ERR_COUNT, "count is -3");
    PAIRS(x, -3, MPI_INT, 0, 0, y, 1, MPI_INT, 0, 0, c, MPI_ERR_COUNT, "sendcount is -3");
    PAIRS(x, 1, MPI_INT, 0, 0, y, -3, MPI_INT, 0, 0, c, MPI_ERR_COUNT, "recvcount is -3");
    REPLACES(x, -3, MPI_INT, 0, 0, 0, 0, c, MPI_ERR_COUNT, "count is -3");
    /* bytes beyond 2^63 */
    CHECK_ERR(MPI_Send_c(x, (MPI_Count)1 << 61, MPI_INT, 0, 0, c), MPI_ERR_COUNT);
    CHECK_SAYS("2^63");
    CHECK_ERR(MPI_Recv_c(x, (MPI_Count)1 << 61, MPI_INT, 0, 0, c, &s), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Sendrecv_replace_c(x, (MPI_Count)1 << 61, MPI_INT, 0, 0, 0, 0, c, &s), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Send_c(x, -1, MPI_INT, 0, 0, c), MPI_ERR_COUNT);
}

static void types(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Datatype t, freed;
    SENDS(x, 1, MPI_DATATYPE_NULL, 0, 0, c, MPI_ERR_TYPE, "datatype");
    RECVS(x, 1, MPI_DATATYPE_NULL, 0, 0, c, MPI_ERR_TYPE, "datatype");
    MPI_Type_contiguous(2, MPI_INT, &t);
    SENDS(x, 1, t, 0, 0, c, MPI_ERR_TYPE, "commit");
    RECVS(x, 1, t, 0, 0, c, MPI_ERR_TYPE, "commit");
    PAIRS(x, 1, t, 0, 0, y, 1, MPI_INT, 0, 0, c, MPI_ERR_TYPE, "sendtype");
    PAIRS(x, 1, MPI_INT, 0, 0, y, 1, t, 0, 0, c, MPI_ERR_TYPE, "recvtype");
    REPLACES(x, 1, t, 0, 0, 0, 0, c, MPI_ERR_TYPE, "datatype");
    freed = t;
    MPI_Type_free(&t);
    SENDS(x, 1, freed, 0, 0, c, MPI_ERR_TYPE, "datatype");
    SENDS(x, 1, (MPI_Datatype)(intptr_t)0x123456789abc, 0, 0, c, MPI_ERR_TYPE, "datatype");
    RECVS(x, 1, (MPI_Datatype)(intptr_t)-9, 0, 0, c, MPI_ERR_TYPE, "datatype");
}

static void comms(void)
{
    MPI_Comm dup, freed;
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    freed = dup;
    MPI_Comm_free(&dup);
    MPI_Comm bad[] = { MPI_COMM_NULL, freed, (MPI_Comm)(intptr_t)0xdeadbeef, (MPI_Comm)(intptr_t)-1,
                       (MPI_Comm)(void *)x };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        SENDS(x, 1, MPI_INT, 0, 0, bad[i], MPI_ERR_COMM, "comm ");
        RECVS(x, 1, MPI_INT, 0, 0, bad[i], MPI_ERR_COMM, "comm ");
        PROBES(0, 0, bad[i], MPI_ERR_COMM, "comm ");
        PAIRS(x, 1, MPI_INT, 0, 0, y, 1, MPI_INT, 0, 0, bad[i], MPI_ERR_COMM, "comm ");
        REPLACES(x, 1, MPI_INT, 0, 0, 0, 0, bad[i], MPI_ERR_COMM, "comm ");
    }
}

static void pointers(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    SENDS(NULL, 1, MPI_INT, 0, 0, c, MPI_ERR_BUFFER, "buf is");
    RECVS(NULL, 1, MPI_INT, 0, 0, c, MPI_ERR_BUFFER, "buf is");
    PAIRS(NULL, 1, MPI_INT, 0, 0, y, 1, MPI_INT, 0, 0, c, MPI_ERR_BUFFER, "sendbuf is");
    PAIRS(x, 1, MPI_INT, 0, 0, NULL, 1, MPI_INT, 0, 0, c, MPI_ERR_BUFFER, "recvbuf is");
    REPLACES(NULL, 1, MPI_INT, 0, 0, 0, 0, c, MPI_ERR_BUFFER, "buf is");
    CHECK_ERR(MPI_Isend(x, 1, MPI_INT, 0, 0, c, NULL), MPI_ERR_ARG);
    CHECK_SAYS("request is");
    CHECK_ERR(MPI_Iprobe(0, 0, c, NULL, &s), MPI_ERR_ARG);
    CHECK_SAYS("flag is");
    CHECK_ERR(MPI_Mprobe(0, 0, c, NULL, &s), MPI_ERR_ARG);
    CHECK_SAYS("message is");
}

static void messages(void)
{
    m = MPI_MESSAGE_NULL;
    CHECK_ERR(MPI_Mrecv(x, 1, MPI_INT, &m, &s), MPI_ERR_REQUEST);
    CHECK_SAYS("message");
    CHECK_ERR(MPI_Imrecv(x, 1, MPI_INT, &m, &r), MPI_ERR_REQUEST);
    m = (MPI_Message)(intptr_t)0x1234567;
    CHECK_ERR(MPI_Mrecv(x, 1, MPI_INT, &m, &s), MPI_ERR_REQUEST);
    r = (MPI_Request)(intptr_t)0x7654321;
    CHECK_ERR(MPI_Wait(&r, &s), MPI_ERR_REQUEST);
    CHECK_SAYS("request");
    r = MPI_REQUEST_NULL;
    CHECK_ERR(MPI_Request_free(&r), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Request stale;
    MPI_Isend(x, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &r);
    stale = r;
    MPI_Recv(y, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &s);
    MPI_Wait(&r, &s);
    CHECK_ERR(MPI_Wait(&stale, &s), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Request_free(&stale), MPI_ERR_REQUEST);
}

/* After all that, the communicator carries messages as ever, and none is left in it. */
static void still_works(void)
{
    int in = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
    CHECK_EQ(flag, 0, "a message of source %d, tag %d", s.MPI_SOURCE, s.MPI_TAG);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&check_rank, 1, MPI_INT, (check_rank + 1) % check_size, 0, &in, 1, MPI_INT,
                 (check_rank + check_size - 1) % check_size, 0, MPI_COMM_WORLD, &s);
    CHECK_EQ(in, (check_rank + check_size - 1) % check_size);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    ranks();
    tags();
    counts();
    types();
    comms();
    pointers();
    messages();
    still_works();
    return check_done();
}
