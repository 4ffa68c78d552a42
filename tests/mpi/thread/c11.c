/* SPDX-License-Identifier: BSD-3-Clause */
/* C11 threads: one only progresses (an event loop of MPI_Test), the others wait for collectives that it drives or
 * they do. */
/* ranks: 1 2 4 */
/* cflags: -pthread */
/* races: ThreadSanitizer does not know the threads of C11, and crashes */
#include "../check.h"
#include <stdatomic.h>
#include <threads.h>

enum { WORKERS = 3, ROUNDS = 30 };

static MPI_Comm comm[WORKERS];
static _Atomic int over, wrong;

static int work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        int mine = check_rank + i, sum = 0, expect = check_size * (check_size - 1) / 2 + check_size * i;
        MPI_Request r[2];
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm[me], &r[0]);
        MPI_Ibarrier(comm[me], &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        atomic_fetch_add(&wrong, sum != expect);
    }
    return 0;
}

static int progress(void *arg)
{
    int x, flag;
    MPI_Request r;
    (void)arg;
    MPI_Irecv(&x, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Request_free(&r);
    while (!atomic_load(&over))
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return 0;
}

int main(int argc, char **argv)
{
    int provided;
    thrd_t t[WORKERS], loop;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    for (int i = 0; i < WORKERS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    thrd_create(&loop, progress, NULL);
    for (int i = 0; i < WORKERS; i++)
        thrd_create(&t[i], work, (void *)(intptr_t)i);
    for (int i = 0; i < WORKERS; i++)
        thrd_join(t[i], NULL);
    atomic_store(&over, 1);
    thrd_join(loop, NULL);
    CHECK_EQ(atomic_load(&wrong), 0);
    for (int i = 0; i < WORKERS; i++)
        MPI_Comm_free(&comm[i]);
    return check_done();
}
