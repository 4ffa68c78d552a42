/* ranks: 1 2 */
/* MPI_Init_thread with MPI_THREAD_FUNNELED grants MPI_THREAD_FUNNELED. */
#include <pthread.h>
#include "check.h"

static void *other(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1, level = -1, flag = -1;
    CHECK_EQ(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    CHECK_EQ(provided, MPI_THREAD_FUNNELED);
    CHECK_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
    CHECK_EQ(level, MPI_THREAD_FUNNELED);
    CHECK_EQ(MPI_Is_thread_main(&flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    if (provided >= MPI_THREAD_SERIALIZED) {
        pthread_t t;
        pthread_create(&t, NULL, other, &flag);
        pthread_join(t, NULL);
        CHECK_EQ(flag, 0);
    }
    return check_done();
}
