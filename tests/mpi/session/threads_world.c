/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* across: devices start and stop with sessions */
/* A session may begin in one thread while another one begins the world model: the library comes up once. */
/* cflags: -pthread */
#include <pthread.h>
#include "session.h"

static pthread_barrier_t ready;
static MPI_Session begun = MPI_SESSION_NULL;

static void *begin(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&ready);
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &begun), MPI_SUCCESS);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level = -1, sum = -1;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, begin, NULL);
    pthread_barrier_wait(&ready);
    CHECK_EQ(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level), MPI_SUCCESS);
    pthread_join(thread, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(sum, check_size);
    MPI_Comm comm = comm_of(begun, "mpi://WORLD", "threads_world");
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    CHECK_EQ(MPI_Session_finalize(&begun), MPI_SUCCESS);
    return check_done();
}
