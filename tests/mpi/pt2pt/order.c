/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Messages of one sender are received in the order sent, with and without wildcards, whatever their size and
 * protocol. */
#include "check.h"

enum { N = 300, MAX = 40000 };

static int size_of(int i)
{
    static const int sizes[] = { 8, 40, 60, 3000, 9000, MAX };
    return sizes[i * 7 % 6] / 4;
}

static int out[N][MAX / 4];

static void receive(int i, int source, int tag, int *next, int from)
{
    static int in[MAX / 4];
    MPI_Status s;
    MPI_Recv(in, MAX / 4, MPI_INT, source, tag, MPI_COMM_WORLD, &s);
    int who = s.MPI_SOURCE;
    CHECK(from < 0 || who == from, "from %d", who);
    CHECK_EQ(in[0], next[who], "number of the message from %d (receive %d)", who, i);
    CHECK_EQ(in[1], who);
    int count;
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK_EQ(count, size_of(in[0]));
    CHECK_EQ(s.MPI_TAG, in[0] % 3);
    next[who]++;
}

/* Every rank sends N messages to every rank and receives what it gets, by the pattern. */
static void exchange(int pattern)
{
    MPI_Request *r = malloc((size_t)(N * check_size) * sizeof *r);
    int k = 0, *next = calloc((size_t)check_size, sizeof *next);
    for (int i = 0; i < N; i++) {
        out[i][0] = i;
        out[i][1] = check_rank;
        for (int to = 0; to < check_size; to++)
            MPI_Isend(out[i], size_of(i), MPI_INT, to, i % 3, MPI_COMM_WORLD, &r[k++]);
    }
    for (int i = 0; i < N * check_size; i++) {
        int from = i % check_size, tag = next[from] % 3;
        if (pattern == 0)
            receive(i, from, tag, next, from);
        else if (pattern == 1)
            receive(i, MPI_ANY_SOURCE, MPI_ANY_TAG, next, -1);
        else
            receive(i, from, MPI_ANY_TAG, next, from);
    }
    MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < check_size; i++)
        CHECK_EQ(next[i], N);
    free(next);
    free(r);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Receives posted earlier match earlier, wildcard or not. */
static void posted(void)
{
    enum { K = 60 };
    static int in[K], data[K];
    MPI_Request r[K];
    MPI_Status s[K];
    for (int i = 0; i < K; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, i % 3 ? check_rank : MPI_ANY_SOURCE, i % 2 ? 9 : MPI_ANY_TAG,
                  MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < K; i++) {
        data[i] = i;
        MPI_Send(&data[i], 1, MPI_INT, check_rank, 9, MPI_COMM_WORLD);
    }
    MPI_Waitall(K, r, s);
    for (int i = 0; i < K; i++) {
        CHECK_EQ(in[i], i);
        CHECK_EQ(s[i].MPI_SOURCE, check_rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    posted();
    for (int pattern = 0; pattern < 3; pattern++)
        exchange(pattern);
    return check_done();
}
