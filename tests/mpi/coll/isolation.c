/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives and point-to-point messages of one communicator, and collectives of several, do not see each other. */
/* ranks: 1 2 3 4 5 8 */
#include "../check.h"

/* A receive that takes anything is open while collectives run, and gets the message that was meant for it. */
static void wildcard(void)
{
    int in = -1, out = 4000 + check_rank, v, right = (check_rank + 1) % check_size;
    int left = (check_rank + check_size - 1) % check_size;
    MPI_Request r;
    MPI_Status s;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    for (int k = 0; k < 10; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        v = 1;
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(v, check_size);
        v = check_rank == 0 ? k : -1;
        MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK_EQ(v, k);
    }
    CHECK_EQ(in, -1, "nothing was sent yet");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, &s);
    CHECK_EQ(in, 4000 + left);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(s.MPI_TAG, 5);
}

/* Ranks leave a bcast at different times and run ahead into the next ones, on communicators in turn. */
static void turns(void)
{
    MPI_Comm c[3];
    int v;
    MPI_Comm_dup(MPI_COMM_WORLD, &c[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &c[1]); /* the same processes, the other way round */
    c[2] = MPI_COMM_WORLD;
    for (int k = 0; k < 60; k++) {
        int rank, root = k % check_size;
        MPI_Comm_rank(c[k % 3], &rank);
        v = rank == root ? 100 + k : 0;
        MPI_Bcast(&v, 1, MPI_INT, root, c[k % 3]);
        CHECK_EQ(v, 100 + k);
    }
    MPI_Comm_free(&c[0]);
    MPI_Comm_free(&c[1]);
}

/* Overlapping communicators: pairs of neighbours, one way and the other. */
static void overlap(void)
{
    MPI_Comm even, odd;
    int v = 1, n;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &even);
    MPI_Comm_split(MPI_COMM_WORLD, (check_rank + 1) / 2, 0, &odd);
    for (int k = 0; k < 20; k++) {
        v = 1;
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, even);
        MPI_Comm_size(even, &n);
        CHECK_EQ(v, n);
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, odd);
    }
    MPI_Comm_free(&even);
    MPI_Comm_free(&odd);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    wildcard();
    turns();
    overlap();
    return check_done();
}
