/* SPDX-License-Identifier: BSD-3-Clause */
/* Long blocks of MPI_Alltoall and MPI_Alltoallv between nodes, of which few are under way at once: with lengths
 * that differ from process to process, some of them nothing, so that each has another number at once. */
/* ranks: 5 8 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* env: KEEL_COLL=alltoall=linear,alltoallv=linear,alltoallw=linear */
#include "../check.h"

enum { MOST = 100 << 10, SAME = 40 << 10 };

/* Ints that `from` has for `to`. */
static int length(int from, int to, int round)
{
    int which = (from * 7 + to * 3 + round) % 6;
    return which == 0 ? 0 : which == 1 ? 3 : which == 2 ? MOST : (from + 1) * 1500 + to;
}

static int value(int from, int to, int i)
{
    return from * 1000003 + to * 1009 + i;
}

static int fill(int *block, int from, int to, int n)
{
    for (int i = 0; i < n; i++)
        block[i] = value(from, to, i);
    return n;
}

static void expect(const int *block, int from, int to, int n)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += block[i] != value(from, to, i);
    CHECK_EQ(wrong, 0, "of %d ints from %d to %d", n, from, to);
}

static void vectors(int round, int nonblocking)
{
    int p = check_size, scounts[64], sdispls[64], rcounts[64], rdispls[64];
    size_t out = 0, in = 0;
    for (int r = 0; r < p; r++) {
        scounts[r] = length(check_rank, r, round);
        rcounts[r] = length(r, check_rank, round);
        sdispls[r] = (int)out;
        rdispls[r] = (int)in;
        out += (size_t)scounts[r];
        in += (size_t)rcounts[r];
    }
    int *from = malloc((out + 1) * sizeof *from), *to = calloc(in + 1, sizeof *to);
    for (int r = 0; r < p; r++)
        fill(from + sdispls[r], check_rank, r, scounts[r]);
    if (nonblocking) {
        MPI_Request request;
        MPI_Ialltoallv(from, scounts, sdispls, MPI_INT, to, rcounts, rdispls, MPI_INT, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Alltoallv(from, scounts, sdispls, MPI_INT, to, rcounts, rdispls, MPI_INT, MPI_COMM_WORLD);
    }
    for (int r = 0; r < p; r++)
        expect(to + rdispls[r], r, check_rank, rcounts[r]);
    free(from);
    free(to);
}

static void equal(void)
{
    int p = check_size;
    int *from = malloc((size_t)p * SAME * sizeof *from), *to = calloc((size_t)p * SAME, sizeof *to);
    for (int r = 0; r < p; r++)
        fill(from + r * SAME, check_rank, r, SAME);
    MPI_Alltoall(from, SAME, MPI_INT, to, SAME, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++)
        expect(to + r * SAME, r, check_rank, SAME);
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int round = 0; round < 8; round++) {
        vectors(round, 0);
        vectors(round, 1);
        equal();
    }
    return check_done();
}
