/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_level.h: what the tests of MPI_Init_thread's levels share. */
#include <pthread.h>
#include "check.h"

static void *other(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

/* Ask for one level, expect to be granted another, and end MPI. */
static int check_level(int required, int granted)
{
    int provided = -1, level = -1, flag = -1;
    CHECK_EQ(MPI_Init_thread(NULL, NULL, required, &provided), MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    CHECK_EQ(provided, granted);
    CHECK_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
    CHECK_EQ(level, granted);
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
