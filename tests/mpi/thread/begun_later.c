/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread sleeps for a message; then another one begins a nonblocking collective in memory of the node, and
 * waits for ranks that come late.  The sleeping thread, which looks at the devices for both, learns of it: no call
 * waits until that thread wakes by itself. */
/* ranks: 2 4 */
/* cflags: -pthread */
/* alone: it measures time */
#include "thread.h"
#include <unistd.h>

enum { CALLS = 20, ROUNDS = 3, LATE_US = 5000, MOST = 100000 };

static MPI_Comm comm;
static int in[MOST], out[MOST];

static void *receive(void *tag)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, (check_rank + 1) % check_size, *(int *)tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return NULL;
}

static double calls(int n)
{
    double begun = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        MPI_Request r;
        if (i % check_size == check_rank)
            usleep(LATE_US);
        in[0] = i + check_rank;
        MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(out[0], check_size * (check_size - 1) / 2 + check_size * i);
    }
    return MPI_Wtime() - begun;
}

static void beside(int n)
{
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, receive, &round);
        usleep(50000); /* it sleeps */
        double took = calls(n);
        least = took < least ? took : least;
        MPI_Send(&n, 1, MPI_INT, (check_rank + check_size - 1) % check_size, round, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    }
    CHECK(least < 5 * CALLS * LATE_US * 1e-6, "%d calls of %d elements, each with a rank %d us late: %.3f s",
          CALLS, n, LATE_US, least);
}

int main(int argc, char **argv)
{
    threads_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 6; i++)
        MPI_Barrier(comm); /* it has a team now */
    beside(1);
    beside(MOST);
    MPI_Comm_free(&comm);
    return check_done();
}
