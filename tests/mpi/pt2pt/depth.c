/* SPDX-License-Identifier: BSD-3-Clause */
/* Many receives, or many messages, wait: 1 to 100,000, taken in the order in which they came, backwards, and
 * mixed, by name and by wildcards.  What matches is what the order of posting and sending says; and depth costs no
 * search of it all. */
/* ranks: 2 3 */
/* timeout: 120 */
#include "check.h"

enum { DEEPEST = 100000 };
enum { FORWARD, REVERSE, MIXED, ORDERS };

static const int depths[] = { 1, 2, 31, 32, 33, 64, 65, 1000, DEEPEST };

/* The i-th of n in an order: a number from 0 to n - 1, each once. */
static int at(int n, int order, int i)
{
    long long step = 7919; /* no depth is a multiple of it */
    return order == FORWARD ? i : order == REVERSE ? n - 1 - i : (int)(i * step % n);
}

static int value(int sender, int tag)
{
    return sender * 1000003 + tag;
}

/* Tags stand for the receives; every fourth is from anybody.  Behind them one receive for any tag must stay the
 * last. */
static void posted(int n, int order, MPI_Comm comm, MPI_Comm ready)
{
    int from = check_size - 1, extra = -1, tag = n < 2 ? 0 : n / 2;
    int *in = malloc((size_t)n * sizeof *in);
    MPI_Request *q = malloc((size_t)n * sizeof *q), last;
    MPI_Status *status = malloc((size_t)n * sizeof *status), s;
    if (check_rank == 0) {
        for (int i = 0; i < n; i++) {
            in[i] = -1;
            MPI_Irecv(&in[i], 1, MPI_INT, i % 4 == 3 ? MPI_ANY_SOURCE : from, i, comm, &q[i]);
        }
        MPI_Irecv(&extra, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &last);
    }
    MPI_Barrier(ready);
    if (check_rank == from) {
        for (int i = 0; i < n; i++) {
            int k = at(n, order, i), x = value(from, k);
            MPI_Send(&x, 1, MPI_INT, 0, k, comm);
        }
        int x = value(from, -7);
        MPI_Send(&x, 1, MPI_INT, 0, tag, comm); /* its receive is gone: only the last takes it */
    } else if (check_rank == 0) {
        MPI_Waitall(n, q, status);
        for (int i = 0; i < n; i++)
            if (in[i] != value(from, i) || status[i].MPI_SOURCE != from || status[i].MPI_TAG != i) {
                CHECK(0, "receive %d of %d, order %d: got %d from %d with tag %d", i, n, order, in[i],
                      status[i].MPI_SOURCE, status[i].MPI_TAG);
                break;
            }
        MPI_Wait(&last, &s);
        CHECK_EQ(extra, value(from, -7), "order %d of %d", order, n);
        CHECK_EQ(s.MPI_TAG, tag);
    }
    free(in);
    free(q);
    free(status);
}

/* Messages with tags 0 to n - 1 have come, twice each tag with depth 1000 and less; taken by tag, from the sender
 * or from anybody. */
static void unexpected(int n, int order, MPI_Comm comm, MPI_Comm ready)
{
    int from = check_size - 1, twice = n <= 1000 ? 2 : 1;
    if (check_rank == from)
        for (int k = 0; k < twice; k++)
            for (int i = 0; i < n; i++) {
                int x = value(k, i);
                MPI_Send(&x, 1, MPI_INT, 0, i, comm);
            }
    MPI_Barrier(ready);
    for (int i = 0; i < n * twice && check_rank == 0; i++) {
        int k = at(n, order, i % n), x = -1, flag = i % 5 != 4;
        MPI_Status s;
        while (!flag) /* a probe sees it and leaves it */
            MPI_Iprobe(MPI_ANY_SOURCE, k, comm, &flag, &s);
        MPI_Recv(&x, 1, MPI_INT, i % 4 == 3 ? MPI_ANY_SOURCE : from, k, comm, &s);
        if (x != value(i / n, k) || s.MPI_TAG != k || s.MPI_SOURCE != from) {
            CHECK(0, "message %d of %d, order %d: got %d from %d with tag %d", i, n, order, x, s.MPI_SOURCE,
                  s.MPI_TAG);
            break;
        }
    }
}

/* Any tag takes what was sent first, whatever lies there. */
static void any_tag(int n, MPI_Comm comm, MPI_Comm ready)
{
    int from = check_size - 1, x = -1;
    MPI_Status s;
    if (check_rank == from)
        for (int i = 0; i < n; i++)
            MPI_Send(&i, 1, MPI_INT, 0, at(n, MIXED, i), comm);
    MPI_Barrier(ready);
    if (check_rank != 0)
        return;
    MPI_Recv(&x, 1, MPI_INT, from, at(n, MIXED, n - 1), comm,
             &s); /* the last by its tag: whatever indexes there are exist now */
    CHECK_EQ(x, n - 1);
    for (int i = 0; i < n - 1; i++) {
        MPI_Recv(&x, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, MPI_ANY_TAG, comm, &s);
        if (x != i || s.MPI_TAG != at(n, MIXED, i)) {
            CHECK(0, "message %d of %d: got %d with tag %d", i, n, x, s.MPI_TAG);
            break;
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm, ready;
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &ready);
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        for (int order = 0; order < ORDERS; order++) {
            posted(depths[i], order, comm, ready);
            unexpected(depths[i], order, comm, ready);
        }
        any_tag(depths[i], comm, ready);
    }
    MPI_Comm_free(&comm);
    MPI_Comm_free(&ready);
    return check_done();
}
