/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Sessions may begin in several threads at once, and error handlers for them be made and freed. */
/* cflags: -pthread */
#include <pthread.h>
#include "session.h"

enum { THREADS = 4, EACH = 50 };
static MPI_Session sessions[THREADS][EACH];
static int failed[THREADS];

static void ignore(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}

static void *handlers(void *arg)
{
    enum { MANY = 3000, LIVE = 3 };
    int t = (int)(intptr_t)arg;
    for (int i = 0; i < MANY; i++) {
        MPI_Errhandler h[LIVE];
        for (int k = 0; k < LIVE; k++)
            failed[t] += MPI_Session_create_errhandler(ignore, &h[k]) != MPI_SUCCESS;
        failed[t] += h[0] == h[1] || h[1] == h[2] || h[0] == h[2];
        for (int k = 0; k < LIVE; k++)
            failed[t] += MPI_Errhandler_free(&h[k]) != MPI_SUCCESS;
    }
    return NULL;
}

static void all(void *(*what)(void *))
{
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, what, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(failed[t], 0);
}

static void *begin(void *arg)
{
    int t = (int)(intptr_t)arg;
    for (int i = 0; i < EACH; i++)
        failed[t] += MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[t][i]) != MPI_SUCCESS;
    return NULL;
}

int main(void)
{
    all(handlers);
    for (int round = 0; round < 3; round++) {
        all(begin);
        for (int i = 0; i < THREADS * EACH; i++)
            for (int k = 0; k < i; k++)
                CHECK(sessions[i / EACH][i % EACH] != sessions[k / EACH][k % EACH]);
        MPI_Comm comm = comm_of(sessions[1][7], "mpi://WORLD", "threads");
        CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
        MPI_Comm_free(&comm);
        for (int i = 0; i < THREADS * EACH; i++)
            CHECK_EQ(MPI_Session_finalize(&sessions[i / EACH][i % EACH]), MPI_SUCCESS);
    }
    return session_done();
}
