/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank is killed while 8 threads of each other one wait for it, each in another procedure: each is told. */
/* ranks: 3 */
/* exit: 137 */
/* stdout: (?s)(?=.*rank 0: 8 threads are told)(?=.*rank 1: 8 threads are told) */
/* stderr: killed by signal 9 */
/* cflags: -pthread */
/* across: who has gone is learnt in another way */
#include "thread.h"
#include <signal.h>
#include <time.h>

enum { THREADS = 8, LONG = 1 << 20, LAST = 2 };

static char out[LONG];
static _Atomic int told;

static int waits_any(MPI_Comm comm)
{
    int x[2], at, err = MPI_SUCCESS;
    MPI_Request r[2];
    for (int i = 0; i < 2 && !err; i++) /* it may be killed before */
        err = MPI_Irecv(&x[i], 1, MPI_INT, LAST, i, comm, &r[i]);
    return err ? err : MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE);
}

static int tests(MPI_Comm comm)
{
    int x, flag = 0;
    MPI_Request r;
    int err = MPI_Irecv(&x, 1, MPI_INT, LAST, 1, comm, &r);
    while (!err && !flag)
        err = MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    return err;
}

static int waits(MPI_Comm comm, int way)
{
    int x = 0, y;
    MPI_Status s;
    switch (way) {
    case 0:
        return MPI_Recv(&x, 1, MPI_INT, LAST, 1, comm, &s);
    case 1:
        return MPI_Ssend(&x, 1, MPI_INT, LAST, 1, comm);
    case 2:
        return MPI_Probe(LAST, 1, comm, &s);
    case 3:
        return waits_any(comm);
    case 4:
        return MPI_Barrier(comm);
    case 5:
        return MPI_Send(out, LONG, MPI_CHAR, LAST, 1, comm);
    case 6:
        return MPI_Sendrecv(&x, 1, MPI_INT, LAST, 1, &y, 1, MPI_INT, LAST, 2, comm, &s);
    default:
        return tests(comm);
    }
}

static void work(struct thread *me)
{
    int class, err;
    if (check_rank == LAST) {
        nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
        raise(SIGKILL);
    }
    MPI_Comm_set_errhandler(me->comm, MPI_ERRORS_RETURN);
    err = waits(me->comm, me->id);
    MPI_Error_class(err, &class);
    THREAD_CHECK(class == MPI_ERR_PROC_ABORTED, "way %d: %d", me->id, class);
    if (class == MPI_ERR_PROC_ABORTED && atomic_fetch_add(&told, 1) == THREADS - 1) {
        printf("rank %d: %d threads are told\n", check_rank, THREADS);
        fflush(stdout);
    }
    for (;;) /* until the job is ended */
        nanosleep(&(struct timespec){ 1, 0 }, NULL);
}

int main(int argc, char **argv)
{
    threads_run(&argc, &argv, work, THREADS);
    return check_done();
}
