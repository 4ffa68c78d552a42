/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Buffered mode: never waits for the receiver, uses and reuses the attached buffer, says when it is full; detach
 * and flush wait; buffers of communicators; MPI_BUFFER_AUTOMATIC. */
#include "check.h"

enum { BIG = 200000, MESSAGES = 6 };
static char space[MESSAGES * (BIG + MPI_BSEND_OVERHEAD) + 1], out[BIG], in[BIG];
static int to, from;

static void take(int n, int tag, MPI_Comm comm)
{
    memset(in, 0, (size_t)n);
    MPI_Recv(in, n, MPI_CHAR, from, tag, comm, MPI_STATUS_IGNORE);
    CHECK_BYTES(in, (size_t)n, (uint64_t)(tag + from * 50));
}

static int give(int n, int tag, MPI_Comm comm)
{
    check_fill(out, (size_t)n, (uint64_t)(tag + check_rank * 50));
    int err = MPI_Bsend(out, n, MPI_CHAR, to, tag, comm);
    memset(out, 0x77, (size_t)n); /* it is ours again */
    return err;
}

/* Everybody sends all of it before anybody receives. */
static void all_before(void)
{
    void *back = NULL;
    int size = 0;
    CHECK_EQ(MPI_Buffer_attach(space + 1, sizeof space - 1), MPI_SUCCESS); /* not aligned */
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MESSAGES; i++)
            CHECK_EQ(give(BIG, i, MPI_COMM_WORLD), MPI_SUCCESS, "message %d fits by the standard's count", i);
        for (int i = round % 2 ? 0 : MESSAGES - 1; i >= 0 && i < MESSAGES; i += round % 2 ? 1 : -1)
            take(BIG, i, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (round == 2)
            CHECK_EQ(MPI_Buffer_flush(), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
    CHECK(back == space + 1, " ");
    CHECK_EQ(size, sizeof space - 1);
}

/* Detach waits until what is in the buffer has been taken; many sizes. */
static void detach_waits(void)
{
    void *back;
    int size;
    char *mine = malloc(sizeof space);
    MPI_Buffer_attach(mine, sizeof space);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(give(i * 700, i, MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_size > 1 && check_rank % 2) {
        for (int i = 0; i < 40; i++)
            take(i * 700, i, MPI_COMM_WORLD);
        MPI_Buffer_detach(&back, &size);
    } else {
        MPI_Request r[40];
        static char got[40][28000];
        for (int i = 0; i < 40; i++)
            MPI_Irecv(got[i], 28000, MPI_CHAR, from, i, MPI_COMM_WORLD, &r[i]);
        MPI_Buffer_detach(&back, &size);
        memset(mine, 0x11, sizeof space);
        MPI_Waitall(40, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 40; i++)
            CHECK_BYTES(got[i], (size_t)i * 700, (uint64_t)(i + from * 50));
    }
    CHECK(back == mine, " ");
    free(mine);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void full(void)
{
    void *back;
    int size, sent = 0, err;
    static char small[BIG + 2 * MPI_BSEND_OVERHEAD];
    MPI_Buffer_attach(small, sizeof small);
    for (err = MPI_SUCCESS; sent < 100 && err == MPI_SUCCESS; sent += err == MPI_SUCCESS)
        err = give(BIG, sent, MPI_COMM_WORLD);
    CHECK(sent >= 1, "one fits");
    CHECK_ERR(err, MPI_ERR_BUFFER);
    char needs[64], has[64];
    snprintf(needs, sizeof needs, "needs %d + %d bytes", BIG, (int)MPI_BSEND_OVERHEAD);
    snprintf(has, sizeof has, "buffer has %zu", sizeof small);
    CHECK_SAYS(needs);
    CHECK_SAYS(has);
    MPI_Barrier(MPI_COMM_WORLD); /* a rank that took messages before would make room for more */
    for (int i = 0; i < sent; i++)
        take(BIG, i, MPI_COMM_WORLD);
    MPI_Buffer_detach(&back, &size);
    CHECK_ERR(give(BIG, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_SAYS("none is attached");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void misuse(void)
{
    void *back;
    int size;
    MPI_Request r;
    CHECK_ERR(MPI_Buffer_detach(&back, &size), MPI_ERR_BUFFER);
    CHECK_SAYS("no buffer attached");
    CHECK_ERR(MPI_Buffer_flush(), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Buffer_iflush(&r), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Comm_flush_buffer(MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &r), MPI_ERR_BUFFER);
    MPI_Buffer_attach(space, 1000);
    CHECK_ERR(MPI_Buffer_attach(in, 1000), MPI_ERR_BUFFER);
    CHECK_SAYS("already");
    MPI_Buffer_detach(&back, &size);
    CHECK_EQ(size, 1000);
    CHECK_ERR(MPI_Buffer_attach(space, -4), MPI_ERR_COUNT);
}

/* The communicator's buffer goes before the process's; iflush. */
static void of_communicators(void)
{
    MPI_Comm dup;
    void *back;
    int size;
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK_EQ(MPI_Comm_attach_buffer(dup, space, sizeof space), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_attach(NULL, 0), MPI_SUCCESS);
    for (int i = 0; i < MESSAGES; i++)
        CHECK_EQ(give(BIG, i, dup), MPI_SUCCESS);
    if (check_size > 1)
        CHECK_ERR(give(BIG, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Comm_iflush_buffer(dup, &r), MPI_SUCCESS);
    for (int i = 0; i < MESSAGES; i++)
        take(BIG, i, dup);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_flush_buffer(dup), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_detach_buffer(dup, &back, &size), MPI_SUCCESS);
    CHECK(back == space && size == sizeof space, " ");
    MPI_Buffer_detach(&back, &size);
    /* messages outlive the communicator and even their buffer's owner */
    MPI_Comm_attach_buffer(dup, space, sizeof space);
    CHECK_EQ(give(BIG, 1, dup), MPI_SUCCESS);
    take(BIG, 1, dup);
    MPI_Comm_free(&dup);
}

static void automatic(void)
{
    void *back;
    int size;
    CHECK_EQ(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1), MPI_SUCCESS);
    CHECK_ERR(MPI_Buffer_attach(space, 100), MPI_ERR_BUFFER);
    for (int i = 0; i < 3 * MESSAGES; i++)
        CHECK_EQ(give(BIG, i, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Request r;
    CHECK_EQ(MPI_Buffer_iflush(&r), MPI_SUCCESS);
    for (int i = 0; i < 3 * MESSAGES; i++)
        take(BIG, i, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
    CHECK(back == MPI_BUFFER_AUTOMATIC, " ");
    CHECK_EQ(MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, -1), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size), MPI_SUCCESS);
    CHECK_ERR(MPI_Buffer_attach(space, -1), MPI_ERR_COUNT);
}

/* Types with holes are packed. */
static void typed(void)
{
    MPI_Datatype t;
    void *back;
    int size, n = 30000, *a = malloc(2 * (size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    MPI_Request r;
    MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int i = 0; i < 2 * n; i++)
        a[i] = i + check_rank;
    MPI_Pack_size(1, t, MPI_COMM_WORLD, &size);
    char *exact = malloc((size_t)size + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(exact, size + MPI_BSEND_OVERHEAD);
    CHECK_EQ(MPI_Ibsend(a, 1, t, to, 0, MPI_COMM_WORLD, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    memset(a, 0, (size_t)n * 8);
    MPI_Type_free(&t);
    MPI_Recv(b, n, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQ(b[i], 2 * i + from);
    MPI_Buffer_detach(&back, &size);
    free(exact);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    all_before();
    detach_waits();
    if (check_size > 1) /* messages to oneself never need the buffer */
        full();
    misuse();
    of_communicators();
    automatic();
    typed();
    return check_done();
}
