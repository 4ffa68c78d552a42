/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait, each on a communicator of its own or on one window, in calls that nothing ends: a member dies, and
 * then another thread revokes what they wait on; all of them are told. */
/* ranks: 2 3 8 */
/* cflags: -pthread */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"
#include <pthread.h>

enum { WAITERS = 6, MANY = 200000 };

static MPI_Comm comm[WAITERS];
static int told[WAITERS], data[WAITERS][MANY];

/* From or with this process itself, which does no such thing, or with all, of whom one is lost. */
static int waits(int what)
{
    MPI_Request r;
    MPI_Status s;
    MPI_Message m;
    switch (what) {
    case 0:
        return MPI_Recv(data[0], 1, MPI_INT, check_rank, 1, comm[0], &s);
    case 1:
        return MPI_Probe(check_rank, 1, comm[1], &s);
    case 2:
        return MPI_Mprobe(check_rank, 1, comm[2], &m, &s);
    case 3:
        MPI_Irecv(data[3], 1, MPI_INT, check_rank, 1, comm[3], &r);
        return MPI_Wait(&r, &s);
    case 4:
        return MPI_Ssend(data[4], MANY, MPI_INT, check_rank, 1, comm[4]);
    default:
        return MPI_Allreduce(MPI_IN_PLACE, data[5], MANY, MPI_INT, MPI_SUM, comm[5]);
    }
}

static void *wait_in(void *what)
{
    int i = (int)((int(*)[MANY])what - data);
    told[i] = ft_class(waits(i));
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread[WAITERS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    check_errors_return();
    for (int i = 0; i < WAITERS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == check_size - 1)
        ft_die();
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&thread[i], NULL, wait_in, data[i]);
    usleep(30000);
    for (int i = 0; i < WAITERS; i++)
        CHECK_ERR(MPIX_Comm_revoke(comm[i]), MPI_SUCCESS);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(thread[i], NULL);
        CHECK(told[i] == MPIX_ERR_REVOKED || (i == 5 && told[i] == MPIX_ERR_PROC_FAILED),
              "waiter %d: class %d", i, told[i]);
        MPI_Comm_free(&comm[i]);
    }
    MPI_Comm left = ft_shrunk(MPI_COMM_WORLD, check_size - 1);
    if (left != MPI_COMM_NULL)
        MPI_Comm_free(&left);
    return check_done();
}
