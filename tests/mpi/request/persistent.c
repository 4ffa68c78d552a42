/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Persistent sends and receives: every mode, many starts, MPI_Startall, types and communicators freed in between,
 * MPI_PROC_NULL, any source, the large forms; a request freed while active does its work. */
#include "check.h"

static int to, from;

typedef int init_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int init_c_function(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static init_function *const inits[] = { MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init };
static init_c_function *const inits_c[] = { MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c,
                                            MPI_Bsend_init_c };

static void finished(const MPI_Status *s, MPI_Datatype type, int expected)
{
    int count = -1;
    MPI_Get_count(s, type, &count);
    CHECK_EQ(count, expected);
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, 3);
}

/* The receive is started before anybody sends, so that ready mode is right. */
static void rounds(int mode, int large, int n, int times)
{
    static char out[200000], in[200000];
    MPI_Request r[2];
    MPI_Status s[2];
    if (large) {
        MPI_Recv_init_c(in, n, MPI_CHAR, from, 3, MPI_COMM_WORLD, &r[0]);
        inits_c[mode](out, n, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r[1]);
    } else {
        CHECK_EQ(MPI_Recv_init(in, n, MPI_CHAR, from, 3, MPI_COMM_WORLD, &r[0]), MPI_SUCCESS);
        CHECK_EQ(inits[mode](out, n, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r[1]), MPI_SUCCESS);
    }
    MPI_Request handle[2] = { r[0], r[1] };
    for (int i = 0; i < times; i++) {
        check_fill(out, (size_t)n, (uint64_t)(100 * i + check_rank));
        memset(in, 0, (size_t)n);
        CHECK_EQ(MPI_Start(&r[0]), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(MPI_Start(&r[1]), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r[1], &s[1]), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r[0], &s[0]), MPI_SUCCESS);
        finished(&s[0], MPI_CHAR, n);
        CHECK_BYTES(in, (size_t)n, (uint64_t)(100 * i + from));
        CHECK(r[0] == handle[0] && r[1] == handle[1], "the handles changed");
    }
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(MPI_Request_free(&r[k]), MPI_SUCCESS);
        CHECK(r[k] == MPI_REQUEST_NULL, "%d", k);
    }
}

static void attached(void (*what)(void))
{
    int size = 8 * (200000 + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    what();
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

static void modes(void)
{
    static const int sizes[] = { 0, 4, 100, 9000, 200000 };
    for (int mode = 0; mode < 4; mode++)
        for (int k = 0; k < 5; k++)
            rounds(mode, k % 2, sizes[k], k < 3 ? 20 : 4);
}

/* Everybody exchanges with everybody, all requests in one array. */
static void startall(void)
{
    MPI_Request *r = malloc(sizeof *r * 2 * (size_t)check_size);
    int *in = malloc(sizeof *in * (size_t)check_size), out = -1;
    for (int i = 0; i < check_size; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, i, 5, MPI_COMM_WORLD, &r[i]);
        MPI_Send_init(&out, 1, MPI_INT, i, 5, MPI_COMM_WORLD, &r[check_size + i]);
    }
    for (int k = 0; k < 30; k++) {
        out = 1000 * k + check_rank;
        CHECK_EQ(MPI_Startall(2 * check_size, r), MPI_SUCCESS);
        CHECK_EQ(MPI_Waitall(2 * check_size, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < check_size; i++) {
            CHECK_EQ(in[i], 1000 * k + i);
            in[i] = -1;
        }
    }
    CHECK_EQ(MPI_Startall(0, NULL), MPI_SUCCESS);
    for (int i = 0; i < 2 * check_size; i++)
        MPI_Request_free(&r[i]);
    free(in);
    free(r);
}

/* The request keeps a type and a communicator that are freed after it was made; every second int of 200. */
static void references(int blocks)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request r[2];
    MPI_Status s;
    static int out[40000], in[40000];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(blocks, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Recv_init(in, 1, type, from, 3, comm, &r[0]);
    MPI_Bsend_init(out, 1, type, to, 3, comm, &r[1]);
    MPI_Request_free(&r[1]); /* never started */
    MPI_Send_init(out, 1, type, to, 3, comm, &r[1]);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 2 * blocks; i++) {
            out[i] = i + k + check_rank;
            in[i] = -1;
        }
        MPI_Startall(2, r);
        MPI_Wait(&r[0], &s);
        finished(&s, MPI_INT, blocks);
        for (int i = 0; i < 2 * blocks; i++)
            CHECK_EQ(in[i], i % 2 ? -1 : i + k + from, "element %d of round %d", i, k);
        MPI_Wait(&r[1], &s);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void bsend_type(void)
{
    MPI_Datatype type;
    MPI_Request r;
    int out[6] = { 1, 2, 3, 4, 5, 6 }, in[3] = { 0, 0, 0 };
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bsend_init(out, 1, type, to, 9, MPI_COMM_WORLD, &r);
    MPI_Type_free(&type);
    for (int k = 0; k < 3; k++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Recv(in, 3, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == 1 && in[1] == 3 && in[2] == 5, "%d %d %d", in[0], in[1], in[2]);
    }
    MPI_Request_free(&r);
}

static void proc_null(void)
{
    MPI_Request r[5];
    MPI_Status s[5];
    int x = 42, count = -1;
    MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[0]);
    for (int mode = 0; mode < 4; mode++)
        inits[mode](&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[1 + mode]);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(MPI_Startall(5, r), MPI_SUCCESS);
        CHECK_EQ(MPI_Waitall(5, r, s), MPI_SUCCESS);
        MPI_Get_count(&s[0], MPI_INT, &count);
        CHECK_EQ(s[0].MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQ(s[0].MPI_TAG, MPI_ANY_TAG);
        CHECK_EQ(count, 0);
        CHECK_EQ(x, 42);
    }
    for (int k = 0; k < 5; k++)
        MPI_Request_free(&r[k]);
}

/* Any source, any tag; and persistent receives with plain sends, plain receives with persistent sends. */
static void wildcards(void)
{
    int x, out = check_rank;
    MPI_Request r, plain;
    MPI_Status s;
    MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    for (int k = 0; k < 10; k++) {
        MPI_Start(&r);
        MPI_Isend(&out, 1, MPI_INT, to, k, MPI_COMM_WORLD, &plain);
        MPI_Wait(&r, &s);
        CHECK(x == from && s.MPI_SOURCE == from && s.MPI_TAG == k, "%d %d %d", x, s.MPI_SOURCE, s.MPI_TAG);
        MPI_Wait(&plain, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&r);
    MPI_Send_init(&out, 1, MPI_INT, to, 7, MPI_COMM_WORLD, &r);
    for (int k = 0; k < 10; k++) {
        MPI_Irecv(&x, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &plain);
        MPI_Start(&r);
        MPI_Wait(&plain, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(x, from);
    }
    MPI_Request_free(&r);
}

/* Freed while active: the operation goes on. */
static void freed(int n)
{
    static char out[100000], in[100000];
    MPI_Request r[2];
    check_fill(out, (size_t)n, (uint64_t)check_rank);
    MPI_Recv_init(in, n, MPI_CHAR, from, 11, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(out, n, MPI_CHAR, to, 11, MPI_COMM_WORLD, &r[1]);
    MPI_Start(&r[0]);
    MPI_Start(&r[1]);
    CHECK_EQ(MPI_Request_free(&r[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Request_free(&r[1]), MPI_SUCCESS);
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, " ");
    for (int k = 0; k < 3; k++) { /* everything sent before has come by then: nothing else keeps the order */
        volatile char *last = &in[n - 1];
        int flag;
        while ((unsigned char)*last != check_byte((uint64_t)from, (uint64_t)n - 1))
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    CHECK_BYTES(in, (size_t)n, (uint64_t)from);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(in, 0, (size_t)n);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    attached(modes);
    startall();
    references(3);
    references(100);
    references(20000);
    attached(bsend_type);
    proc_null();
    wildcards();
    freed(4);
    freed(100000);
    return check_done();
}
