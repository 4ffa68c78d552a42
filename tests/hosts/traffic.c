/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic that is checked: rounds of a ring, a shift to every distance, and reductions; "begun" when all are
 * there.  Words: the number of rounds (0:
 * for ever; -1: all wait for a message that nobody sends), the largest message.  Every received byte is looked at:
 * 99 if one is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void wrong(const char *what, int round)
{
    fprintf(stderr, "rank %d: %s is wrong in round %d\n", rank, what, round);
    MPI_Abort(MPI_COMM_WORLD, 99);
}

static void fill(unsigned char *p, size_t n, int from, int round)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)((int)(i % 256) * 7 + from * 31 + round);
}

static void shift(unsigned char *out, unsigned char *in, size_t n, int by, int round)
{
    int to = (rank + by) % size, from = (rank + size - by) % size;
    fill(out, n, rank, round);
    memset(in, 0xee, n);
    MPI_Sendrecv(out, (int)n, MPI_BYTE, to, round % 1000, in, (int)n, MPI_BYTE, from, round % 1000,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fill(out, n, from, round);
    if (memcmp(in, out, n) != 0)
        wrong("a message", round);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    int most = argc > 2 ? abs(atoi(argv[2])) : 300000;
    size_t room = most > 2000 ? (size_t)most : 2000;
    unsigned char *out = malloc(room), *in = malloc(room);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("begun\n");
        fflush(stdout);
    }
    if (rounds < 0)
        MPI_Recv(in, 1, MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; rounds == 0 || i < rounds; i++) {
        int mine = rank + i, sum = 0;
        shift(out, in, i % 4 == 3 ? (size_t)most : (size_t)i * 37 % 2000, 1 + i % (size > 1 ? size - 1 : 1),
              i);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * i + size * (size - 1) / 2)
            wrong("a sum", i);
    }
    free(out);
    free(in);
    MPI_Finalize();
    if (rank == 0)
        printf("right\n");
    return 0;
}
