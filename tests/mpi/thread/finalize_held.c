/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize beside a thread that holds a request: the thread's next call says what has happened. */
/* ranks: 1 2 */
/* cflags: -pthread */
/* exit: 16 */
/* stdout: ended */
/* stderr: MPI_Wait: .*called after MPI_Finalize */
#include "thread.h"

static pthread_barrier_t meet;

static void *hold(void *arg)
{
    MPI_Request r;
    int x;
    (void)arg;
    MPI_Irecv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &r);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    MPI_Wait(&r, MPI_STATUS_IGNORE); /* ends the process */
    printf("MPI_Wait has returned\n");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    threads_init(&argc, &argv);
    pthread_barrier_init(&meet, NULL, 2);
    pthread_create(&t, NULL, hold, NULL);
    pthread_barrier_wait(&meet);
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    printf("ended\n");
    fflush(stdout);
    pthread_barrier_wait(&meet);
    pthread_join(t, NULL);
    return 0;
}
