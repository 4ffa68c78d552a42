/* ranks: 1 2 3 */
/* Sessions may begin in several threads at once. */
#include <pthread.h>
#include "session.h"

enum { THREADS = 4, EACH = 50 };
static MPI_Session sessions[THREADS][EACH];
static int failed[THREADS];

static void *begin(void *arg)
{
    int t = (int)(intptr_t)arg;
    for (int i = 0; i < EACH; i++)
        failed[t] += MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[t][i]) != MPI_SUCCESS;
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int round = 0; round < 3; round++) {
        for (int t = 0; t < THREADS; t++)
            pthread_create(&thread[t], NULL, begin, (void *)(intptr_t)t);
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(failed[t], 0);
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
