/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that ask for the end of nonblocking accesses, each of a file of its own and all of one file, again and
 * again: the library's own threads wake them, and MPI ends right after that. */
/* ranks: 1 2 */
/* cflags: -pthread */
#include "io.h"
#include <pthread.h>

enum { THREADS = 3, TIMES = 400, BYTES = 100 };

static MPI_File common;

static void once(MPI_File f, long at, int k, int tests)
{
    unsigned char to[BYTES], back[BYTES];
    MPI_Request r;
    MPI_Status s;
    int flag = 0;
    check_fill(to, BYTES, (uint64_t)(at + k));
    CHECK_ERR(MPI_File_iwrite_at(f, at, to, BYTES, MPI_BYTE, &r), MPI_SUCCESS);
    while (!flag)
        if (tests)
            CHECK_ERR(MPI_Test(&r, &flag, &s), MPI_SUCCESS);
        else
            flag = MPI_Wait(&r, &s) == MPI_SUCCESS;
    CHECK_EQ(io_count(&s), BYTES);
    CHECK_ERR(MPI_File_iread_at(f, at, back, BYTES, MPI_BYTE, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, &s), MPI_SUCCESS);
    CHECK(!memcmp(to, back, BYTES), "at %ld, time %d", at, k);
}

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    char name[300];
    MPI_File own;
    snprintf(name, sizeof name, "%s-%d-%d", io_name, check_rank, me);
    CHECK_ERR(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &own),
              MPI_SUCCESS);
    for (int k = 0; k < TIMES; k++)
        once(k % 2 ? own : common, (check_rank * THREADS + me) * BYTES, k, k % 3);
    CHECK_ERR(MPI_File_close(&own), MPI_SUCCESS);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t t[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    io_file("threads");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &common),
              MPI_SUCCESS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&t[i], NULL, work, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    CHECK_ERR(MPI_File_close(&common), MPI_SUCCESS);
    io_remove();
    return check_done();
}
