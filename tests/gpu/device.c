/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: every form of communication with buffers in a device's memory (tests/gpu/device.test).
 *
 * device SUBJECT...: the subjects are the functions below.  Device memory is the driver's (libcuda.so.1); a touch
 * of it by the processor ends the program.  Whatever is wrong is printed; the exit code is 1 then. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuMemAlloc_v2(uint64_t *at, size_t size);
int cuMemAllocManaged(uint64_t *at, size_t size, unsigned flags);
int cuMemAllocAsync(uint64_t *at, size_t size, void *stream);
int cuMemFree_v2(uint64_t at);
int cuMemcpy(uint64_t to, uint64_t from, size_t bytes);
int cuCtxPushCurrent_v2(void *context);
int cuDevicePrimaryCtxRetain(void **context, int device);

static int rank, size, right, left, faults;
static MPI_Comm world;

#define CHECK(that, ...) \
    do { \
        if (!(that)) { \
            faults++; \
            fprintf(stderr, "rank %d, device.c:%d: not so: " #that ": ", rank, __LINE__); \
            fprintf(stderr, __VA_ARGS__); \
            fprintf(stderr, "\n"); \
        } \
    } while (0)

/* ---- Device memory ---- */

static void use_device(void)
{
    void *context;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxPushCurrent_v2(context);
}

static void *device(size_t bytes)
{
    uint64_t at = 0;
    CHECK(cuMemAlloc_v2(&at, bytes) == 0, "%zu bytes", bytes);
    return (void *)(uintptr_t)at;
}
static void up(void *to, const void *from, size_t bytes)
{
    CHECK(cuMemcpy((uintptr_t)to, (uintptr_t)from, bytes) == 0, "%zu bytes", bytes);
}
static void give(void *at)
{
    cuMemFree_v2((uintptr_t)at);
}
/* n ints from `first` on, in steps. */
static void fill(void *to, int n, int first, int step)
{
    int *h = malloc((size_t)n * sizeof *h);
    for (int i = 0; i < n; i++)
        h[i] = first + i * step;
    up(to, h, (size_t)n * sizeof *h);
    free(h);
}
static void expect(const void *from, int n, int first, int step, int line, const char *what)
{
    int *h = malloc((size_t)n * sizeof *h), bad = 0;
    up(h, from, (size_t)n * sizeof *h);
    for (int i = 0; i < n && !bad; i++)
        if (h[i] != first + i * step) {
            fprintf(stderr, "rank %d, device.c:%d: %s: element %d is %d; expected %d\n", rank, line, what, i,
                    h[i], first + i * step);
            bad = 1;
        }
    faults += bad;
    free(h);
}
#define EXPECT(from, n, first, step, what) expect(from, n, first, step, __LINE__, what)

enum { LONG = 100000 };

/* ---- Point-to-point ---- */

static void blocking(void)
{
    static const int lengths[] = { 1, 3, 1000, LONG };
    int *a = device(LONG * sizeof *a), *b = device(LONG * sizeof *b),
        *attached = malloc(LONG * sizeof *a + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(attached, LONG * sizeof *a + MPI_BSEND_OVERHEAD);
    for (int k = 0; k < 4; k++) {
        int n = lengths[k];
        MPI_Status s;
        fill(a, n, rank, 1);
        fill(b, n, -7, 0);
        MPI_Sendrecv(a, n, MPI_INT, right, 1, b, n, MPI_INT, left, 1, world, &s);
        EXPECT(b, n, left, 1, "MPI_Sendrecv");
        MPI_Sendrecv_replace(b, n, MPI_INT, right, 2, left, 2, world, &s);
        EXPECT(b, n, (left + size - 1) % size, 1, "MPI_Sendrecv_replace");
        MPI_Bsend(a, n, MPI_INT, right, 3, world);
        fill(a, n, 99, 0);
        MPI_Recv(b, n, MPI_INT, left, 3, world, &s);
        EXPECT(b, n, left, 1, "MPI_Bsend");
        if (size > 1 && rank < 2) {
            fill(a, n, rank, 1);
            for (int round = 0; round < 2; round++)
                if ((rank + round) % 2 == 0) {
                    MPI_Send(a, n, MPI_INT, 1 - rank, 4, world);
                    MPI_Ssend(a, n, MPI_INT, 1 - rank, 5, world);
                } else {
                    MPI_Message m;
                    int count;
                    MPI_Mprobe(1 - rank, 4, world, &m, &s);
                    MPI_Get_count(&s, MPI_INT, &count);
                    CHECK(count == n, "%d", count);
                    MPI_Mrecv(b, n, MPI_INT, &m, &s);
                    EXPECT(b, n, 1 - rank, 1, "MPI_Mrecv");
                    MPI_Recv(b, LONG, MPI_INT, MPI_ANY_SOURCE, 5, world, &s); /* with room for more */
                    EXPECT(b, n, 1 - rank, 1, "MPI_Ssend");
                }
        }
    }
    /* One side is the host's. */
    int h[10] = { 0 };
    fill(a, 10, rank, 1);
    MPI_Sendrecv(a, 10, MPI_INT, right, 1, h, 10, MPI_INT, left, 1, world, MPI_STATUS_IGNORE);
    CHECK(h[0] == left && h[9] == left + 9, "%d %d", h[0], h[9]);
    MPI_Sendrecv(h, 10, MPI_INT, right, 1, b, 10, MPI_INT, left, 1, world, MPI_STATUS_IGNORE);
    EXPECT(b, 10, (left + size - 1) % size, 1, "from the host");
    /* Truncated. */
    if (size > 1 && rank < 2) {
        MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
        fill(b, 10, -7, 0);
        if (rank == 0)
            MPI_Send(a, 10, MPI_INT, 1, 6, world);
        else {
            int class, err = MPI_Recv(b, 4, MPI_INT, 0, 6, world, MPI_STATUS_IGNORE);
            MPI_Error_class(err, &class);
            CHECK(class == MPI_ERR_TRUNCATE, "%d", class);
            EXPECT(b, 4, 0, 1, "truncated");
            EXPECT(b + 4, 6, -7, 0, "behind it");
        }
        MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Buffer_detach(&attached, &(int){ 0 });
    free(attached);
    give(a);
    give(b);
}

static void nonblocking(void)
{
    enum { N = 6 };
    int *a = device(N * LONG * sizeof *a), *b = device(N * LONG * sizeof *b);
    for (int way = 0; way < 5; way++) {
        MPI_Request r[2 * N];
        fill(a, N * LONG, rank, 1);
        fill(b, N * LONG, -7, 0);
        for (int i = 0; i < N; i++)
            MPI_Irecv(b + i * LONG, LONG, MPI_INT, left, i, world, &r[i]);
        for (int i = 0; i < N; i++)
            MPI_Isend(a + i * LONG, i % 2 ? LONG : 5, MPI_INT, right, i, world, &r[N + i]);
        int flag = 0, n = 0, at[2 * N], index;
        if (way == 0)
            MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
        else if (way == 1)
            for (int i = 0; i < 2 * N; i++)
                MPI_Waitany(2 * N, r, &index, MPI_STATUS_IGNORE);
        else if (way == 2)
            for (int done = 0; done < 2 * N; done += n)
                MPI_Testsome(2 * N, r, &n, at, MPI_STATUSES_IGNORE);
        else if (way == 3)
            for (int i = 0; i < 2 * N; i++) {
                while (flag = 0, MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE), !flag)
                    ;
                if (i < N)
                    EXPECT(b + i * LONG, 5, rank == 0 && size == 1 ? i * LONG : left + i * LONG, 1,
                           "MPI_Request_get_status");
                MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            }
        else
            while (MPI_Testall(2 * N, r, &flag, MPI_STATUSES_IGNORE), !flag)
                ;
        for (int i = 0; i < N; i++) {
            EXPECT(b + i * LONG, i % 2 ? LONG : 5, left + i * LONG, 1, "MPI_Irecv");
            if (i % 2 == 0)
                EXPECT(b + i * LONG + 5, LONG - 5, -7, 0, "behind what came");
        }
    }
    /* A send that the program lets go of, and one that is cancelled. */
    MPI_Request r;
    fill(a, LONG, rank, 1);
    MPI_Isend(a, LONG, MPI_INT, right, 1, world, &r);
    MPI_Request_free(&r);
    MPI_Barrier(world);
    MPI_Recv(b, LONG, MPI_INT, left, 1, world, MPI_STATUS_IGNORE);
    EXPECT(b, LONG, left, 1, "let go of");
    MPI_Irecv(b, LONG, MPI_INT, left, 77, world, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EXPECT(b, LONG, left, 1, "cancelled");
    give(a);
    give(b);
}

static void persistent(void)
{
    int *a = device(LONG * sizeof *a), *b = device(LONG * sizeof *b), flag;
    MPI_Request r[2];
    MPI_Send_init(a, LONG, MPI_INT, right, 1, world, &r[0]);
    MPI_Recv_init(b, LONG, MPI_INT, left, 1, world, &r[1]);
    for (int round = 0; round < 4; round++) {
        fill(a, LONG, rank + round, 1);
        fill(b, LONG, -7, 0);
        if (round % 2) {
            MPI_Start(&r[1]);
            MPI_Start(&r[0]);
        } else
            MPI_Startall(2, r);
        if (round < 2)
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        else
            while (MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE), !flag)
                ;
        EXPECT(b, LONG, left + round, 1, "persistent");
        fill(b, LONG, 3, 0); /* it is the program's again */
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        EXPECT(b, LONG, 3, 0, "inactive");
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    give(a);
    give(b);
}

static void partitioned(void)
{
#if MPI_VERSION >= 4
    enum { PARTS = 8, EACH = 1000 };
    int *a = device(PARTS * EACH * sizeof *a), *b = device(PARTS * EACH * sizeof *b), flag;
    MPI_Request r[2];
    MPI_Psend_init(a, PARTS, EACH, MPI_INT, right, 1, world, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(b, PARTS, EACH, MPI_INT, left, 1, world, MPI_INFO_NULL, &r[1]);
    for (int round = 0; round < 3; round++) {
        static const int order[PARTS] = { 3, 1, 0, 2, 7, 6, 4, 5 };
        fill(b, PARTS * EACH, -7, 0);
        MPI_Startall(2, r);
        for (int i = 0; i < PARTS; i++)
            fill(a + order[i] * EACH, EACH, rank + round + order[i] * EACH, 1);
        if (round == 0)
            for (int i = 0; i < PARTS; i++)
                MPI_Pready(order[i], r[0]);
        else if (round == 1)
            MPI_Pready_list(PARTS, order, r[0]);
        else
            MPI_Pready_range(0, PARTS - 1, r[0]);
        for (int i = 0; i < PARTS; i += 3) {
            while (flag = 0, MPI_Parrived(r[1], i, &flag), !flag)
                ;
            EXPECT(b + i * EACH, EACH, left + round + i * EACH, 1, "MPI_Parrived");
            fill(b + i * EACH, EACH, 55, 0); /* the program may use it now */
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PARTS; i++)
            EXPECT(b + i * EACH, EACH, i % 3 ? left + round + i * EACH : 55, i % 3 ? 1 : 0, "partitions");
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    give(a);
    give(b);
#endif
}

/* Gaps stay as they are; two receives may fill each other's gaps. */
static void types(void)
{
    enum { N = 500 };
    int *a = device(4 * N * sizeof *a), *b = device(4 * N * sizeof *b), host[4] = { 0 };
    MPI_Datatype column, back, mixed;
    MPI_Request r[4];
    MPI_Type_vector(N, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_create_hvector(N, 1, -8, MPI_INT, &back);
    MPI_Type_commit(&back);
    fill(a, 4 * N, rank, 1);
    fill(b, 4 * N, -7, 0);
    MPI_Irecv(b, 1, column, left, 1, world, &r[0]);
    MPI_Irecv(b + 1, 1, column, left, 2, world, &r[1]);
    MPI_Isend(a, N, MPI_INT, right, 1, world, &r[2]);
    MPI_Isend(a + N, N, MPI_INT, right, 2, world, &r[3]);
    MPI_Type_free(&column);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    int *h = malloc(4 * N * sizeof *h), bad = -1;
    up(h, b, 4 * N * sizeof *h);
    for (int i = 0; i < N; i++)
        if (h[2 * i] != left + i || h[2 * i + 1] != left + N + i)
            bad = i;
    CHECK(bad < 0, "element %d", bad);
    EXPECT(b + 2 * N, 2 * N, -7, 0, "behind the columns");
    MPI_Sendrecv(a + 2 * (N - 1), 1, back, right, 3, b, N, MPI_INT, left, 3, world, MPI_STATUS_IGNORE);
    EXPECT(b, N, left + 2 * (N - 1), -2, "backwards");
    MPI_Type_free(&back);
    /* Absolute addresses: of the device and of the host. */
    MPI_Aint at[2];
    MPI_Get_address(a, &at[0]);
    MPI_Get_address(host, &at[1]);
    MPI_Type_create_hindexed(2, (int[]){ 5, 4 }, at, MPI_INT, &mixed);
    MPI_Type_commit(&mixed);
    fill(a, 5, 10 * rank, 1);
    for (int i = 0; i < 4; i++)
        host[i] = 10 * rank + 5 + i;
    MPI_Sendrecv(MPI_BOTTOM, 1, mixed, right, 4, b, 9, MPI_INT, left, 4, world, MPI_STATUS_IGNORE);
    EXPECT(b, 9, 10 * left, 1, "from MPI_BOTTOM");
    fill(b, 9, 1000 * rank, 1);
    MPI_Sendrecv(b, 9, MPI_INT, right, 4, MPI_BOTTOM, 1, mixed, left, 4, world, MPI_STATUS_IGNORE);
    EXPECT(a, 5, 1000 * left, 1, "to MPI_BOTTOM");
    CHECK(host[0] == 1000 * left + 5 && host[3] == 1000 * left + 8, "%d %d", host[0], host[3]);
    MPI_Type_free(&mixed);
    /* Packed, and reduced here. */
    int position = 0;
    fill(a, N, rank, 1);
    MPI_Pack(a, N, MPI_INT, b, 4 * N * (int)sizeof *b, &position, world);
    CHECK(position == N * (int)sizeof *a, "%d", position);
    position = 0;
    fill(a, N, 0, 0);
    MPI_Unpack(b, 4 * N * (int)sizeof *b, &position, a, N, MPI_INT, world);
    EXPECT(a, N, rank, 1, "MPI_Unpack");
    fill(b, N, 1000, 2);
    MPI_Reduce_local(a, b, N, MPI_INT, MPI_SUM);
    EXPECT(b, N, 1000 + rank, 3, "MPI_Reduce_local");
    free(h);
    give(a);
    give(b);
}

/* ---- Collectives: each in three forms ---- */

static void finish(MPI_Request *q, int form)
{
    if (form == 2)
        MPI_Start(q);
    MPI_Wait(q, MPI_STATUS_IGNORE);
    if (form == 2)
        MPI_Request_free(q);
}

/* The call of the form; the arguments end before those of the form. */
#define CALL(name, iname, ...) \
    do { \
        MPI_Request q = MPI_REQUEST_NULL; \
        if (form == 0) \
            MPI_##name(__VA_ARGS__); \
        else if (form == 1) \
            MPI_##iname(__VA_ARGS__, &q); \
        else \
            PERSISTENT(name, __VA_ARGS__); \
        if (form) \
            finish(&q, form); \
    } while (0)
#if MPI_VERSION >= 4
enum { FORMS = 3 };
#define PERSISTENT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &q)
#else
enum { FORMS = 2 };
#define PERSISTENT(name, ...) abort()
#endif

/* Buffers of the collectives, with n ints for each process. */
static int *out, *in, n, form, root, all_counts[64], all_displs[64], all_bytes[64];
static MPI_Datatype all_ints[64];

static void again(void)
{
    fill(out, n * size, 1000000 * rank, 1);
    fill(in, n * size, -7, 0);
}

static void movements(void)
{
    again();
    CALL(Bcast, Ibcast, out, n, MPI_INT, root, world);
    EXPECT(out, n, 1000000 * root, 1, "MPI_Bcast");
    again();
    CALL(Gather, Igather, out, n, MPI_INT, rank == root ? in : NULL, n, MPI_INT, root, world);
    for (int i = 0; i < size && rank == root; i++)
        EXPECT(in + i * n, n, 1000000 * i, 1, "MPI_Gather");
    again();
    CALL(Gatherv, Igatherv, out, n, MPI_INT, in, all_counts, all_displs, MPI_INT, root, world);
    for (int i = 0; i < size && rank == root; i++)
        EXPECT(in + all_displs[i], n, 1000000 * i, 1, "MPI_Gatherv");
    again();
    CALL(Scatter, Iscatter, out, n, MPI_INT, in, n, MPI_INT, root, world);
    EXPECT(in, n, 1000000 * root + rank * n, 1, "MPI_Scatter");
    again();
    CALL(Scatterv, Iscatterv, out, all_counts, all_displs, MPI_INT, rank == root ? MPI_IN_PLACE : (void *)in,
         n, MPI_INT, root, world);
    if (rank != root)
        EXPECT(in, n, 1000000 * root + all_displs[rank], 1, "MPI_Scatterv");
    again();
    CALL(Allgather, Iallgather, out, n, MPI_INT, in, n, MPI_INT, world);
    for (int i = 0; i < size; i++)
        EXPECT(in + i * n, n, 1000000 * i, 1, "MPI_Allgather");
    again();
    CALL(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_INT, out, n, MPI_INT, world);
    for (int i = 0; i < size; i++)
        EXPECT(out + i * n, n, 1000000 * i + i * n, 1, "MPI_Allgather in place");
    again();
    CALL(Allgatherv, Iallgatherv, out, n, MPI_INT, in, all_counts, all_displs, MPI_INT, world);
    for (int i = 0; i < size; i++)
        EXPECT(in + all_displs[i], n, 1000000 * i, 1, "MPI_Allgatherv");
    again();
    CALL(Alltoall, Ialltoall, out, n, MPI_INT, in, n, MPI_INT, world);
    for (int i = 0; i < size; i++)
        EXPECT(in + i * n, n, 1000000 * i + rank * n, 1, "MPI_Alltoall");
    again();
    CALL(Alltoallv, Ialltoallv, out, all_counts, all_displs, MPI_INT, in, all_counts, all_displs, MPI_INT,
         world);
    for (int i = 0; i < size; i++)
        EXPECT(in + all_displs[i], n, 1000000 * i + all_displs[rank], 1, "MPI_Alltoallv");
    again();
    CALL(Alltoallw, Ialltoallw, out, all_counts, all_bytes, all_ints, in, all_counts, all_bytes, all_ints,
         world);
    for (int i = 0; i < size; i++)
        EXPECT(in + all_displs[i], n, 1000000 * i + all_displs[rank], 1, "MPI_Alltoallw");
}

static void reductions(void)
{
    int all = 1000000 * (size * (size - 1) / 2);
    again();
    CALL(Reduce, Ireduce, out, in, n, MPI_INT, MPI_SUM, root, world);
    if (rank == root)
        EXPECT(in, n, all, size, "MPI_Reduce");
    again();
    CALL(Allreduce, Iallreduce, out, in, n, MPI_INT, MPI_SUM, world);
    EXPECT(in, n, all, size, "MPI_Allreduce");
    again();
    CALL(Allreduce, Iallreduce, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, world);
    EXPECT(out, n, all, size, "MPI_Allreduce in place");
    again();
    CALL(Reduce_scatter, Ireduce_scatter, out, in, all_counts, MPI_INT, MPI_SUM, world);
    EXPECT(in, n, all + rank * n * size, size, "MPI_Reduce_scatter");
    again();
    CALL(Reduce_scatter, Ireduce_scatter, MPI_IN_PLACE, out, all_counts, MPI_INT, MPI_SUM, world);
    EXPECT(out, n, all + rank * n * size, size, "MPI_Reduce_scatter in place");
    again();
    CALL(Reduce_scatter_block, Ireduce_scatter_block, out, in, n, MPI_INT, MPI_SUM, world);
    EXPECT(in, n, all + rank * n * size, size, "MPI_Reduce_scatter_block");
    again();
    CALL(Reduce_scatter_block, Ireduce_scatter_block, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, world);
    EXPECT(out, n, all + rank * n * size, size, "MPI_Reduce_scatter_block in place");
    again();
    CALL(Scan, Iscan, out, in, n, MPI_INT, MPI_SUM, world);
    EXPECT(in, n, 1000000 * (rank * (rank + 1) / 2), rank + 1, "MPI_Scan");
    again();
    CALL(Exscan, Iexscan, out, in, n, MPI_INT, MPI_SUM, world);
    if (rank > 0)
        EXPECT(in, n, 1000000 * (rank * (rank - 1) / 2), rank, "MPI_Exscan");
    else
        EXPECT(in, n, -7, 0, "MPI_Exscan at rank 0");
}

static void collectives(void)
{
    static const int lengths[] = { 1, 100, 20000 };
    for (int k = 0; k < 3 * FORMS; k++) {
        n = lengths[k % 3];
        form = k / 3;
        root = size - 1;
        out = device((size_t)(n * size) * sizeof *out);
        in = device((size_t)(n * size) * sizeof *in);
        for (int i = 0; i < size; i++) {
            all_counts[i] = n;
            all_displs[i] = (size - 1 - i) * n; /* backwards */
            all_bytes[i] = all_displs[i] * (int)sizeof *out;
            all_ints[i] = MPI_INT;
        }
        movements();
        reductions();
        give(out);
        give(in);
    }
}

static void neighbors(void)
{
    enum { N = 300 };
    MPI_Comm ring;
    int *a = device(2 * N * sizeof *a), *b = device(2 * N * sizeof *b), counts[2] = { N, N },
        displs[2] = { N, 0 };
    MPI_Aint bytes[2] = { N * sizeof *a, 0 };
    MPI_Datatype ints[2] = { MPI_INT, MPI_INT };
    MPI_Cart_create(world, 1, &size, (int[]){ 1 }, 0, &ring);
    for (form = 0; form < FORMS; form++) {
#define AGAIN fill(a, 2 * N, 1000000 * rank, 1), fill(b, 2 * N, -7, 0)
        AGAIN;
        CALL(Neighbor_allgather, Ineighbor_allgather, a, N, MPI_INT, b, N, MPI_INT, ring);
        EXPECT(b, N, 1000000 * left, 1, "MPI_Neighbor_allgather, left");
        EXPECT(b + N, N, 1000000 * right, 1, "MPI_Neighbor_allgather, right");
        AGAIN;
        CALL(Neighbor_allgatherv, Ineighbor_allgatherv, a, N, MPI_INT, b, counts, displs, MPI_INT, ring);
        EXPECT(b + N, N, 1000000 * left, 1, "MPI_Neighbor_allgatherv");
        AGAIN;
        CALL(Neighbor_alltoall, Ineighbor_alltoall, a, N, MPI_INT, b, N, MPI_INT, ring);
        EXPECT(b, N, 1000000 * left + N, 1, "MPI_Neighbor_alltoall");
        AGAIN;
        CALL(Neighbor_alltoallv, Ineighbor_alltoallv, a, counts, displs, MPI_INT, b, counts, displs, MPI_INT,
             ring);
        EXPECT(b + N, N, 1000000 * left, 1, "MPI_Neighbor_alltoallv");
        AGAIN;
        CALL(Neighbor_alltoallw, Ineighbor_alltoallw, a, counts, bytes, ints, b, counts, bytes, ints, ring);
        EXPECT(b + N, N, 1000000 * left, 1, "MPI_Neighbor_alltoallw");
    }
    MPI_Comm_free(&ring);
    give(a);
    give(b);
}

/* ---- One-sided ---- */

/* With the origin's buffers there, and, if `window`, the window's memory. */
static void one_sided(int window)
{
    enum { N = 2000 };
    size_t bytes = 4 * N * sizeof(int);
    int *mine = window ? device(bytes) : malloc(bytes), *a = device(bytes), *b = device(bytes), *model, flag;
    void *base;
    MPI_Win win;
    MPI_Request r;
    fill(mine, 4 * N, 0, 0);
    MPI_Win_create(mine, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == mine, "%p, not %p", base, (void *)mine);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == (window ? MPI_WIN_SEPARATE : MPI_WIN_UNIFIED), "%d", *model);
    fill(a, N, rank, 1);
    MPI_Win_fence(0, win);
    MPI_Put(a, N, MPI_INT, right, 0, N, MPI_INT, win);
    MPI_Accumulate(a, N, MPI_INT, right, N, N, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    EXPECT(mine, N, left, 1, "MPI_Put");
    EXPECT(mine + N, N, left, 1, "MPI_Accumulate");
    fill(mine + 2 * N, N, 5000 + rank, 1); /* by the device */
    MPI_Win_fence(0, win);
    MPI_Get(b, N, MPI_INT, left, 2 * N, N, MPI_INT, win);
    MPI_Get_accumulate(a, N, MPI_INT, b + N, N, MPI_INT, right, N, N, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    EXPECT(b, N, 5000 + left, 1, "MPI_Get");
    EXPECT(b + N, N, rank, 1, "MPI_Get_accumulate");
    EXPECT(mine + N, N, 2 * left, 2, "what it has left");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, N, MPI_INT, right, 0, N, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    fill(a, N, 7, 0);
    MPI_Win_flush(right, win);
    MPI_Rget(b, N, MPI_INT, right, 0, N, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EXPECT(b, N, rank, 1, "MPI_Rget");
    MPI_Win_unlock_all(win);
    MPI_Barrier(world);
    /* One counter at rank 0. */
    fill(a, 1, 1, 0);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    fill(mine + 3 * N, 2, 100, 1);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(a, b, MPI_INT, 0, 3 * N, MPI_SUM, win);
    MPI_Win_flush(0, win);
    int was = 0, one = 1;
    up(&was, b, sizeof was);
    CHECK(was >= 100 && was < 100 + size, "%d", was);
    fill(b, 2, 101, 0);
    MPI_Compare_and_swap(&one, b, b + 1, MPI_INT, 0, 3 * N + 1, win);
    MPI_Win_unlock(0, win);
    up(&was, b + 1, sizeof was);
    CHECK(was == 101 || was == 1, "%d", was);
    MPI_Barrier(world);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        EXPECT(mine + 3 * N, 1, 100 + size, 0, "the counter");
        EXPECT(mine + 3 * N + 1, 1, 1, 0, "what was swapped");
        MPI_Win_unlock(0, win);
    }
    /* Post, start, complete, wait. */
    MPI_Group all, to, from;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    fill(a, N, 30 * rank, 1);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(a, N, MPI_INT, right, 0, N, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    EXPECT(mine, N, 30 * left, 1, "MPI_Win_wait");
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Win_free(&win);
    give(a);
    give(b);
    if (window)
        give(mine);
    else
        free(mine);
}

static void origins(void)
{
    one_sided(0);
}
static void windows(void)
{
    one_sided(1);
}

/* ---- Files ---- */

static void files(void)
{
    enum { N = 5000 };
    const char *name = getenv("DEVICE_FILE");
    int *a = device(N * sizeof *a), *b = device(N * sizeof *b);
    MPI_Offset at = (MPI_Offset)rank * N * (MPI_Offset)sizeof *a;
    MPI_File f;
    MPI_Request r;
    MPI_Status s;
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    for (int way = 0; way < 5; way++) {
        fill(a, N, 100 * rank + way, 1);
        fill(b, N, -7, 0);
        MPI_File_seek(f, at, MPI_SEEK_SET);
        if (way == 0)
            MPI_File_write_at(f, at, a, N, MPI_INT, &s);
        else if (way == 1)
            MPI_File_write_at_all(f, at, a, N, MPI_INT, &s);
        else if (way == 2) {
            MPI_File_iwrite(f, a, N, MPI_INT, &r);
            MPI_Wait(&r, &s);
        } else if (way == 3) {
            MPI_File_write_all_begin(f, a, N, MPI_INT);
            MPI_File_write_all_end(f, a, &s);
        } else {
            MPI_File_iwrite_at_all(f, at, a, N, MPI_INT, &r);
            MPI_Wait(&r, &s);
        }
        MPI_File_sync(f);
        MPI_Barrier(world);
        MPI_File_sync(f);
        at = (MPI_Offset)left * N * (MPI_Offset)sizeof *a;
        MPI_File_seek(f, at, MPI_SEEK_SET);
        if (way == 0)
            MPI_File_read_at(f, at, b, N, MPI_INT, &s);
        else if (way == 1)
            MPI_File_read_all(f, b, N, MPI_INT, &s);
        else if (way == 2) {
            MPI_File_iread_at(f, at, b, N, MPI_INT, &r);
            MPI_Wait(&r, &s);
        } else if (way == 3) {
            MPI_File_read_at_all_begin(f, at, b, N, MPI_INT);
            MPI_File_read_at_all_end(f, b, &s);
        } else
            MPI_File_read(f, b, N, MPI_INT, &s);
        EXPECT(b, N, 100 * left + way, 1, "a file");
        at = (MPI_Offset)rank * N * (MPI_Offset)sizeof *a;
        MPI_Barrier(world);
    }
    MPI_File_close(&f);
    give(a);
    give(b);
}

/* ---- Others ---- */

/* A thread that has no context of the device yet. */
static void *run_thread(void *arg)
{
    int tag = *(int *)arg;
    int *a = NULL, *b = NULL, *h = malloc(LONG * sizeof *h);
    uint64_t at;
    cuMemAllocAsync(&at, LONG * sizeof *a, NULL);
    a = (int *)(uintptr_t)at;
    cuMemAllocAsync(&at, LONG * sizeof *b, NULL);
    b = (int *)(uintptr_t)at;
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(h, 10, MPI_INT, right, tag, a, 10, MPI_INT, left, tag, world, MPI_STATUS_IGNORE);
        MPI_Sendrecv(a, LONG, MPI_INT, right, tag, b, LONG, MPI_INT, left, tag, world, MPI_STATUS_IGNORE);
    }
    give(a);
    give(b);
    free(h);
    return NULL;
}

static void threads(void)
{
    pthread_t t[3];
    int tags[3] = { 11, 12, 13 };
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, run_thread, &tags[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

/* The processor reaches it: no copies. */
static void managed(void)
{
    uint64_t at;
    cuMemAllocManaged(&at, 2 * LONG * sizeof(int), 1);
    int *a = (int *)(uintptr_t)at, *b = a + LONG;
    for (int i = 0; i < LONG; i++)
        a[i] = rank + i;
    MPI_Sendrecv(a, LONG, MPI_INT, right, 1, b, LONG, MPI_INT, left, 1, world, MPI_STATUS_IGNORE);
    EXPECT(b, LONG, left, 1, "managed");
    give(a);
}

static void errors(void)
{
    int *a = device(100 * sizeof *a), class, err, n;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Win win;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    err = MPI_Sendrecv(a, 100, MPI_INT, right, 1, a + 50, 1, MPI_INT, MPI_PROC_NULL, 1, world,
                       MPI_STATUS_IGNORE);
    MPI_Error_class(err, &class);
    MPI_Error_string(err, text, &n);
    if (rank == 0)
        printf("copy: %s\n", text);
    CHECK(class == MPI_ERR_OTHER, "%d", class);
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    err = MPI_Win_attach(win, a, 100);
    MPI_Error_class(err, &class);
    MPI_Error_string(err, text, &n);
    if (rank == 0)
        printf("attach: %s\n", text);
    CHECK(class == MPI_ERR_RMA_ATTACH, "%d", class);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    give(a);
}

static const struct {
    const char *name;
    void (*run)(void);
} subjects[] = { { "blocking", blocking },     { "nonblocking", nonblocking },
                 { "persistent", persistent }, { "partitioned", partitioned },
                 { "types", types },           { "collectives", collectives },
                 { "neighbors", neighbors },   { "origins", origins },
                 { "windows", windows },       { "files", files },
                 { "threads", threads },       { "managed", managed },
                 { "errors", errors } };

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv,
                    argc > 1 && !strcmp(argv[1], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    use_device();
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
            if (!strcmp(argv[i], subjects[k].name))
                subjects[k].run();
    MPI_Comm_free(&world);
    MPI_Finalize();
    return faults > 0;
}
