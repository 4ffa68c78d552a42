/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize while another thread waits in MPI_Recv is an error that says so; when the thread has returned it
 * works. */
/* ranks: 1 2 */
/* cflags: -pthread */
#define _GNU_SOURCE
#include "thread.h"
#include <time.h>
#include <unistd.h>

static _Atomic int receiver;

static void *receive(void *arg)
{
    int x = 0;
    atomic_store(&receiver, gettid());
    MPI_Recv(&x, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *(int *)arg = x;
    return NULL;
}

/* Does that thread sleep?  It has called nothing but MPI_Recv. */
static int sleeps(int thread)
{
    char name[64], text[512], *state;
    snprintf(name, sizeof name, "/proc/self/task/%d/status", thread);
    FILE *f = fopen(name, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    state = strstr(text, "State:");
    return state && strncmp(state + 6, "\tS", 2) == 0;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int got = 0, seven = 7;
    threads_init(&argc, &argv);
    check_errors_return();
    pthread_create(&t, NULL, receive, &got);
    while (!atomic_load(&receiver) || !sleeps(atomic_load(&receiver)))
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    CHECK_ERR(MPI_Finalize(), MPI_ERR_OTHER);
    CHECK_SAYS("1 other thread of this process waits in MPI_Recv");
    MPI_Send(&seven, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD);
    pthread_join(t, NULL);
    CHECK_EQ(got, 7);
    return check_done();
}
