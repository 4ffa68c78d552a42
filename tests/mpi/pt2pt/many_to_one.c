/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* All ranks send to rank 0, which is slow at first and takes with wildcards; then rank 0 answers all. */
#include <unistd.h>
#include "check.h"

enum { N = 400, MAX = 20000 };

static int size_of(int i)
{
    return i % 50 == 0 ? MAX : i % 7 == 0 ? 5000 : i % 64 + 8;
}

static void collect(void)
{
    static unsigned char in[MAX];
    int *next = calloc((size_t)check_size, sizeof *next);
    MPI_Status s;
    usleep(50000);
    for (int i = 0; i < N * (check_size - 1); i++) {
        int count;
        MPI_Recv(in, MAX, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, MPI_BYTE, &count);
        CHECK_EQ(s.MPI_TAG, next[s.MPI_SOURCE]);
        CHECK_EQ(count, size_of(s.MPI_TAG));
        CHECK_BYTES(in, (size_t)count, (uint64_t)(s.MPI_SOURCE * N + s.MPI_TAG));
        next[s.MPI_SOURCE]++;
    }
    free(next);
}

int main(int argc, char **argv)
{
    static unsigned char out[MAX];
    check_init(&argc, &argv);
    if (check_rank == 0)
        collect();
    for (int i = 0; check_rank && i < N; i++) {
        check_fill(out, (size_t)size_of(i), (uint64_t)(check_rank * N + i));
        MPI_Send(out, size_of(i), MPI_BYTE, 0, i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < N; i++) {
        if (check_rank) {
            MPI_Recv(out, MAX, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_BYTES(out, (size_t)size_of(i), (uint64_t)i);
            continue;
        }
        check_fill(out, (size_t)size_of(i), (uint64_t)i);
        for (int to = 1; to < check_size; to++)
            MPI_Send(out, size_of(i), MPI_BYTE, to, i, MPI_COMM_WORLD);
    }
    return check_done();
}
