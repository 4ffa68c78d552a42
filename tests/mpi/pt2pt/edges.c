/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Values at the ends of their ranges: the largest tags, counts and displacements beyond 2^31 (in address space
 * that takes no memory), absolute types at MPI_BOTTOM by every kind of send, receive and matched probe. */
#include <sys/mman.h>
#include "check.h"

static int to, from;

/* Tags that differ in any byte are different, in each protocol, whichever the order of receiving. */
static void tags(int n)
{
    enum { K = 12 };
    static char out[K][40000], in[K][40000];
    int *ub, flag, tag[K];
    MPI_Request r[K];
    MPI_Status s;
    MPI_Message m;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
    CHECK(flag && *ub >= 32767, " ");
    for (int i = 0; i < K; i++)
        tag[i] = i == 0 ? *ub : i == 1 ? *ub - 1 : i == 2 ? *ub / 2 : i == 3 ? *ub / 2 + 1 : *ub >> 2 * i;
    for (int i = 0; i < K; i++) {
        check_fill(out[i], (size_t)n, (uint64_t)(check_rank * K + i));
        MPI_Isend(out[i], n, MPI_BYTE, to, tag[i], MPI_COMM_WORLD, &r[i]);
    }
    for (int i = K; i-- > 0;) {
        if (i % 3 == 0)
            MPI_Recv(in[i], n, MPI_BYTE, from, tag[i], MPI_COMM_WORLD, &s);
        else if (i % 3 == 1) {
            MPI_Probe(MPI_ANY_SOURCE, tag[i], MPI_COMM_WORLD, &s);
            CHECK_EQ(s.MPI_TAG, tag[i]);
            MPI_Recv(in[i], n, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
        } else {
            MPI_Mprobe(from, tag[i], MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
            MPI_Mrecv(in[i], n, MPI_BYTE, &m, &s);
        }
        CHECK_EQ(s.MPI_TAG, tag[i]);
        CHECK_EQ(s.MPI_SOURCE, from);
        CHECK_BYTES(in[i], (size_t)n, (uint64_t)(from * K + i));
    }
    MPI_Waitall(K, r, MPI_STATUSES_IGNORE);
}

/* More elements than an int counts, of no bytes: an empty message. */
static void counts_of_nothing(void)
{
    const MPI_Count many = ((MPI_Count)1 << 31) + 5;
    MPI_Datatype none;
    MPI_Request r;
    MPI_Status s;
    MPI_Count n = -1;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Isend_c(&n, many, none, to, 1, MPI_COMM_WORLD, &r);
    MPI_Recv_c(&n, many, none, from, 1, MPI_COMM_WORLD, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(n, -1, "nothing comes");
    MPI_Get_count_c(&s, none, &n);
    CHECK_EQ(n, 0);
    MPI_Get_count_c(&s, MPI_BYTE, &n);
    CHECK_EQ(n, 0);
    MPI_Type_free(&none);
}

/* In p, 9 GB long: a receive with room for more than 2^31 elements; types whose blocks lie 1.5 GB apart, forwards
 * in the sender and backwards in the receiver, and two of them more than 2^31 bytes. */
static void in_space(char *p, MPI_Aint gap)
{
    enum { N = 1000, BYTES = 4 * N };
    char *received = p + gap + (1 << 20);
    MPI_Datatype forwards, backwards;
    MPI_Request r;
    MPI_Status s;
    MPI_Count n = -1;
    check_fill(p, BYTES, (uint64_t)check_rank);
    MPI_Isend(p, N, MPI_INT, to, 2, MPI_COMM_WORLD, &r);
    MPI_Recv_c(received, (MPI_Count)1 << 31, MPI_INT, from, 2, MPI_COMM_WORLD, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Get_count_c(&s, MPI_INT, &n);
    CHECK_EQ(n, N);
    CHECK_BYTES(received, BYTES, (uint64_t)from);
    MPI_Type_create_hvector(3, N, gap / 2, MPI_INT, &forwards);
    MPI_Type_create_hvector(3, N, -gap / 2, MPI_INT, &backwards);
    MPI_Type_commit(&forwards);
    MPI_Type_commit(&backwards);
    for (int i = 0; i < 6; i++)
        check_fill(p + i / 3 * (gap + BYTES) + i % 3 * (gap / 2), BYTES, (uint64_t)(check_rank * 6 + i));
    MPI_Isend(p, 2, forwards, to, 3, MPI_COMM_WORLD, &r);
    MPI_Recv(received, 2, backwards, from, 3, MPI_COMM_WORLD, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Get_count_c(&s, backwards, &n);
    CHECK_EQ(n, 2);
    for (int i = 0; i < 6; i++)
        CHECK_BYTES(received + i / 3 * (gap + BYTES) - i % 3 * (gap / 2), BYTES, (uint64_t)(from * 6 + i));
    MPI_Type_free(&forwards);
    MPI_Type_free(&backwards);
}

static void far_apart(void)
{
    const MPI_Aint gap = (MPI_Aint)3 << 30;
    void *p = mmap(NULL, (size_t)gap * 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    int mapped = p != MAP_FAILED, all = 0;
    MPI_Allreduce(&mapped, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all)
        in_space(p, gap);
    if (mapped)
        munmap(p, (size_t)gap * 3);
}

/* MPI_BOTTOM and absolute addresses, n ints each from two places. */
static void absolute(int n)
{
    enum { MAX = 20000 };
    static int out[2][MAX + 1], in[2][MAX + 1];
    int lengths[2] = { n, n }, size = 2 * n * (int)sizeof(int) + MPI_BSEND_OVERHEAD, flag;
    MPI_Aint at[2];
    MPI_Datatype type[2];
    MPI_Request r[2];
    MPI_Message m;
    void *attached = malloc((size_t)size);
    for (int i = 0; i < 2; i++) { /* the second place comes first */
        MPI_Get_address(i ? in[1] : out[1], &at[0]);
        MPI_Get_address(i ? in[0] : out[0], &at[1]);
        MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &type[i]);
        MPI_Type_commit(&type[i]);
    }
    MPI_Buffer_attach(attached, size);
    for (int way = 0; way < 8; way++) {
        for (int i = 0; i < 2; i++) {
            check_fill(out[i], (size_t)n * sizeof(int), (uint64_t)(check_rank * 20 + way * 2 + i));
            memset(in[i], 0, sizeof in[i]);
        }
        if (way < 4)
            MPI_Irecv(MPI_BOTTOM, 1, type[1], from, way, MPI_COMM_WORLD, &r[0]);
        else
            MPI_Recv_init(MPI_BOTTOM, 1, type[1], from, way, MPI_COMM_WORLD, &r[0]);
        if (way == 4 || way == 5)
            MPI_Start(&r[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (way == 0)
            MPI_Isend(MPI_BOTTOM, 1, type[0], to, way, MPI_COMM_WORLD, &r[1]);
        else if (way == 1)
            MPI_Ibsend(MPI_BOTTOM, 1, type[0], to, way, MPI_COMM_WORLD, &r[1]);
        else if (way == 2)
            MPI_Irsend(MPI_BOTTOM, 1, type[0], to, way, MPI_COMM_WORLD, &r[1]);
        else if (way == 3)
            MPI_Issend(MPI_BOTTOM, 1, type[0], to, way, MPI_COMM_WORLD, &r[1]);
        else
            MPI_Send_init(MPI_BOTTOM, 1, type[0], to, way, MPI_COMM_WORLD, &r[1]);
        if (way >= 4)
            MPI_Start(&r[1]);
        if (way >= 6) { /* the receive was not started: a matched probe takes the message */
            MPI_Request_free(&r[0]);
            for (flag = 0; !flag;)
                MPI_Improbe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
            MPI_Imrecv(MPI_BOTTOM, 1, type[1], &m, &r[0]);
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++) {
            CHECK_BYTES(in[i], (size_t)n * sizeof(int), (uint64_t)(from * 20 + way * 2 + i));
            CHECK_EQ(in[i][n], 0, "beyond the buffer");
        }
        if (way >= 4)
            MPI_Request_free(&r[1]);
        if (way == 4 || way == 5)
            MPI_Request_free(&r[0]);
    }
    MPI_Buffer_detach((void *)&attached, &size);
    free(attached);
    MPI_Type_free(&type[0]);
    MPI_Type_free(&type[1]);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    tags(8);
    tags(3000);
    tags(40000);
    counts_of_nothing();
    far_apart();
    absolute(1);
    absolute(500);
    absolute(20000);
    return check_done();
}
