/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* cflags: -pthread */
/* Several threads of each process spawn at the same time, on communicators of their own, talk with their children
 * and disconnect from them. */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 3, TIMES = 3, N = 20000 };

static char *program;

static void talk(MPI_Comm inter, int number)
{
    int mine[N], theirs[N];
    for (int i = 0; i < N; i++)
        mine[i] = number + i;
    CHECK_EQ(MPI_Sendrecv(mine, N, MPI_INT, 0, 1, theirs, N, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE),
             MPI_SUCCESS);
    for (int i = 0; i < N; i += 99)
        CHECK_EQ(theirs[i], number + i, "at %d", i);
}

static void *spawns(void *arg)
{
    MPI_Comm self = *(MPI_Comm *)arg, inter;
    for (int i = 0; i < TIMES; i++) {
        int number = 1000 * check_rank + i;
        CHECK_EQ(
            MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, self, &inter, MPI_ERRCODES_IGNORE),
            MPI_SUCCESS);
        MPI_Bcast(&number, 1, MPI_INT, MPI_ROOT, inter);
        talk(inter, number);
        MPI_Comm_disconnect(&inter);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, self[THREADS];
    pthread_t thread[THREADS];
    int level, number;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    program = argv[0];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Bcast(&number, 1, MPI_INT, 0, parent);
        talk(parent, number);
        MPI_Comm_disconnect(&parent);
        return check_done();
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &self[i]);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, spawns, &self[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&self[i]);
    }
    return check_done();
}
