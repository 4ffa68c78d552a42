/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* cflags: -pthread */
/* timeout: 60 */
/* A generalized request is completed by another thread while this one sleeps in MPI_Wait and its kin: the wait
 * ends soon, not when the sleep would end by itself. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 12, NAP_US = 30000 };

static int query(void *extra, MPI_Status *s)
{
    (void)extra;
    MPI_Status_set_elements(s, MPI_INT, 0);
    MPI_Status_set_cancelled(s, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static void *worker(void *arg)
{
    usleep(NAP_US);
    MPI_Grequest_complete(*(MPI_Request *)arg);
    return NULL;
}

/* Wait for one that `worker` completes, perhaps in front of a receive that nobody sends to yet. */
static double wait_once(int form)
{
    MPI_Request r[2], given;
    pthread_t t;
    int index, n, indices[2], x;
    double start;
    MPI_Grequest_start(query, release, cancel, NULL, &r[0]);
    given = r[0];
    MPI_Irecv(&x, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &r[1]);
    pthread_create(&t, NULL, worker, &given);
    start = MPI_Wtime();
    if (form == 0)
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    else if (form == 1)
        MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
    else if (form == 2) {
        MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
        CHECK_EQ(index, 0);
    } else {
        MPI_Waitsome(2, r, &n, indices, MPI_STATUSES_IGNORE);
        CHECK(n == 1 && indices[0] == 0, "%d %d", n, indices[0]);
    }
    start = MPI_Wtime() - start;
    pthread_join(t, NULL);
    CHECK(r[0] == MPI_REQUEST_NULL, " ");
    MPI_Cancel(&r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    return start;
}

int main(int argc, char **argv)
{
    int provided;
    double total = 0, best = 1e9;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    for (int k = 0; k < ROUNDS; k++) {
        double t = wait_once(k % 4);
        total += t;
        best = t < best ? t : best;
    }
    /* without a wake each would take a second */
    CHECK(total < ROUNDS * 0.5, "%d waits took %.3f s, the shortest %.4f s", ROUNDS, total, best);
    return check_done();
}
