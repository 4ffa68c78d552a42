/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/* A partition travels when it is ready: the receiver has it, and its data, while the others are not ready; and
 * asking for it is enough.  Also one so long that it goes by rendezvous. */
#include "check.h"

enum { TAG = 5, GO = 6 };

static int arrived(MPI_Request r, int partition)
{
    int flag = -1;
    CHECK_EQ(MPI_Parrived(r, partition, &flag), MPI_SUCCESS);
    return flag;
}

static void send(char *buf, int n, int bytes, int to)
{
    MPI_Request r;
    MPI_Psend_init(buf, n, bytes, MPI_CHAR, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&r);
        for (int i = n - 1; i >= 0; i--) {
            check_fill(buf + (size_t)i * (size_t)bytes, (size_t)bytes, (uint64_t)(100 * round + i));
            CHECK_EQ(MPI_Pready(i, r), MPI_SUCCESS);
            /* the receiver says that it has this one, before the next is ready */
            MPI_Recv(NULL, 0, MPI_CHAR, to, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    MPI_Request_free(&r);
}

static void receive(char *buf, int n, int bytes, int from)
{
    MPI_Request r;
    MPI_Precv_init(buf, n, bytes, MPI_CHAR, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    CHECK_EQ(arrived(r, 0), 1, "of an inactive request");
    for (int round = 0; round < 3; round++) {
        MPI_Start(&r);
        for (int i = n - 1; i >= 0; i--) {
            while (!arrived(r, i))
                ;
            CHECK_BYTES(buf + (size_t)i * (size_t)bytes, (size_t)bytes, (uint64_t)(100 * round + i));
            for (int k = 0; k < i; k++)
                CHECK_EQ(arrived(r, k), 0, "partition %d after %d", k, i);
            CHECK_EQ(arrived(r, i), 1, "again");
            MPI_Send(NULL, 0, MPI_CHAR, from, GO, MPI_COMM_WORLD);
        }
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(arrived(r, 0), 1, "of an inactive request");
    }
    MPI_Request_free(&r);
    CHECK_EQ(arrived(MPI_REQUEST_NULL, 0), 1);
}

/* The receiver sees half of its partitions from a third of the sender's. */
static void unequal(void)
{
    enum { N = 6, M = 4, BYTES = 12000 };
    static char buf[BYTES], out[BYTES];
    MPI_Request s, r;
    check_fill(out, BYTES, 9);
    MPI_Psend_init(out, N, BYTES / N, MPI_CHAR, check_rank, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(buf, M, BYTES / M, MPI_CHAR, check_rank, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Start(&s);
    CHECK_EQ(arrived(r, 0), 0);
    MPI_Pready(0, s);
    CHECK_EQ(arrived(r, 0), 0, "half of it is there");
    MPI_Pready_range(1, 1, s);
    while (!arrived(r, 0))
        ;
    CHECK_EQ(arrived(r, 1), 0);
    MPI_Pready(4, s);
    MPI_Pready(5, s);
    while (!arrived(r, 3))
        ;
    CHECK_EQ(arrived(r, 1), 0);
    CHECK_EQ(arrived(r, 2), 0);
    CHECK_BYTES(buf, BYTES / M, 9);
    MPI_Pready_range(2, 3, s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK_BYTES(buf, BYTES, 9);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 8, 100, 5000, 100000, 2500000 };
    check_init(&argc, &argv);
    char *buf = malloc(6u * 2500000u);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && check_rank < check_size / 2 * 2; k++) {
        int n = sizes[k] > 100000 ? 3 : 6;
        if (check_rank % 2 == 0)
            send(buf, n, sizes[k], check_rank + 1);
        else
            receive(buf, n, sizes[k], check_rank - 1);
    }
    unequal();
    free(buf);
    return check_done();
}
