/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that share: one receives what all others send, in order for each; parts of a message made ready by all;
 * a request that another thread completes; a thread that only waits while the others go on; one that only polls. */
/* ranks: 1 2 4 */
/* cflags: -pthread */
/* across: devices differ in what may run at once */
#include "thread.h"

enum { THREADS = 5, MESSAGES = 300, PARTS = 40 };

static MPI_Comm all;
static MPI_Request partitioned[2];
static int parts[2][PARTS];
static _Atomic int next_part, over;

/* Of one thread to another process: in the order of the calls, whatever other threads send. */
static void order(struct thread *me)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int last[THREADS] = { 0 };
    if (me->id == 0) {
        for (int i = 0; i < (THREADS - 1) * MESSAGES; i++) {
            int x[2];
            MPI_Recv(x, 2, MPI_INT, from, MPI_ANY_TAG, all, MPI_STATUS_IGNORE);
            THREAD_CHECK(x[1] == last[x[0]] + 1, "number %d after %d of thread %d", x[1], last[x[0]], x[0]);
            last[x[0]] = x[1];
        }
        return;
    }
    for (int i = 1; i <= MESSAGES; i++) {
        int x[2] = { me->id, i };
        MPI_Request r;
        if (i % 3 == 0) {
            MPI_Isend(x, 2, MPI_INT, to, i % 7, all, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else
            MPI_Send(x, 2, MPI_INT, to, i % 7, all);
    }
}

static void ready(struct thread *me)
{
    int i;
    (void)me;
    while ((i = atomic_fetch_add(&next_part, 1)) < PARTS) {
        parts[0][i] = 1000 * check_rank + i;
        MPI_Pready(i, partitioned[0]);
    }
}

static void send_parts(struct thread *t)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    MPI_Psend_init(parts[0], PARTS, 1, MPI_INT, to, 1, all, MPI_INFO_NULL, &partitioned[0]);
    MPI_Precv_init(parts[1], PARTS, 1, MPI_INT, from, 1, all, MPI_INFO_NULL, &partitioned[1]);
    for (int round = 0; round < 3; round++) {
        memset(parts, 0, sizeof parts);
        atomic_store(&next_part, 0);
        MPI_Startall(2, partitioned);
        threads_go(t, THREADS, ready);
        MPI_Waitall(2, partitioned, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PARTS; i++)
            CHECK_EQ(parts[1][i], 1000 * from + i);
    }
    MPI_Request_free(&partitioned[0]);
    MPI_Request_free(&partitioned[1]);
}

/* Thread 0 waits for what the last one sends when all the others are through; thread 1 polls until then. */
static void sleeper(struct thread *me)
{
    int x = me->id, y = -1, flag;
    if (me->id == 0) {
        MPI_Recv(&y, 1, MPI_INT, check_rank, 99, all, MPI_STATUS_IGNORE);
        THREAD_CHECK(y == THREADS - 1, "%d", y);
        atomic_store(&over, 1);
    } else if (me->id == 1) {
        while (!atomic_load(&over))
            MPI_Iprobe(MPI_ANY_SOURCE, 12345, all, &flag, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < 50; i++)
            MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, me->comm);
        THREAD_CHECK(y == me->id * check_size, "%d", y);
        if (me->id == THREADS - 1)
            MPI_Ssend(&x, 1, MPI_INT, check_rank, 99, all);
    }
}

static MPI_Request waited;
static _Atomic int is_posted;

static void other_completes(struct thread *me)
{
    static int x;
    int five = 5;
    if (me->id == 0) {
        MPI_Irecv(&x, 1, MPI_INT, check_rank, 3, all, &waited);
        atomic_store(&is_posted, 1);
    } else if (me->id == 1) {
        while (!atomic_load(&is_posted))
            ;
        MPI_Wait(&waited, MPI_STATUS_IGNORE);
        THREAD_CHECK(x == 5, "%d", x);
    } else if (me->id == 2) {
        while (!atomic_load(&is_posted))
            ;
        MPI_Send(&five, 1, MPI_INT, check_rank, 3, all);
    }
}

int main(int argc, char **argv)
{
    static struct thread t[THREADS];
    threads_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){ .id = i, .of = THREADS };
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    threads_go(t, THREADS, order);
    send_parts(t);
    threads_go(t, THREADS, sleeper);
    for (int i = 0; i < 20; i++) {
        atomic_store(&is_posted, 0);
        threads_go(t, THREADS, other_completes);
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&t[i].comm);
    MPI_Comm_free(&all);
    return check_done();
}
