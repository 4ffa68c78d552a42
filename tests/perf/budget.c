/* SPDX-License-Identifier: BSD-3-Clause */
/* budget: what the calls of small messages take, in instructions. Rank 0 runs under callgrind, which counts; the
 * messages that it receives are there already, and those it sends find room. usage: budget FILE [multiple]: both
 * ranks map FILE to meet without MPI; with MPI_THREAD_MULTIPLE what is counted is what a thread pays that alone
 * calls MPI, so the device lock is biased to it (doc/threads.md).
 *
 * Each count is of CALLS calls (or one for CALLS requests) with what prepares their arguments. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

enum { CALLS = 64, ROUNDS = 2 }; /* the first round touches memory, and finds functions; it is thrown away */

static _Atomic int *steps; /* how far the other one is: [1 - rank] */
static int rank;
static char buf[64];
static const MPI_Comm *comm;

/* Both have come here. Not a call of MPI, which would take in what is to be received later. */
static void meet(void)
{
    static int step;
    atomic_store(&steps[rank * 64], ++step);
    while (atomic_load(&steps[(1 - rank) * 64]) < step)
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
}

/* Rank 1 does `theirs`; then rank 0 `mine`, which is counted under `name`. */
#define COUNT(name, theirs, mine) \
    do { \
        if (rank == 1) \
            theirs; \
        meet(); \
        if (rank == 0) { \
            CALLGRIND_ZERO_STATS; \
            mine; \
            CALLGRIND_DUMP_STATS_AT(name); \
        } \
        meet(); \
    } while (0)
#define EACH(call) \
    for (int i = 0; i < CALLS; i++) \
    call

static void sends(MPI_Request *r)
{
    COUNT("MPI_Send", (void)0, EACH(MPI_Send(buf, 8, MPI_CHAR, 1, 1, *comm)));
    COUNT("MPI_Isend", (void)0, EACH(MPI_Isend(buf, 8, MPI_CHAR, 1, 1, *comm, &r[i])));
    COUNT("MPI_Waitall of sends", EACH(MPI_Recv(buf, 8, MPI_CHAR, 0, 1, *comm, MPI_STATUS_IGNORE)),
          MPI_Waitall(CALLS, r, MPI_STATUSES_IGNORE));
    if (rank == 0)
        EACH(MPI_Send_init(buf, 8, MPI_CHAR, 1, 1, *comm, &r[i]));
    COUNT("MPI_Start", EACH(MPI_Recv(buf, 8, MPI_CHAR, 0, 1, *comm, MPI_STATUS_IGNORE)),
          EACH(MPI_Start(&r[i])));
    COUNT("MPI_Wait", EACH(MPI_Recv(buf, 8, MPI_CHAR, 0, 1, *comm, MPI_STATUS_IGNORE)),
          EACH(MPI_Wait(&r[i], MPI_STATUS_IGNORE)));
    if (rank == 0)
        EACH(MPI_Request_free(&r[i]));
}

static void receives(MPI_Request *r)
{
    COUNT("MPI_Recv", EACH(MPI_Send(buf, 8, MPI_CHAR, 0, 1, *comm)),
          EACH(MPI_Recv(buf, 8, MPI_CHAR, 1, 1, *comm, MPI_STATUS_IGNORE)));
    COUNT("MPI_Irecv", EACH(MPI_Send(buf, 8, MPI_CHAR, 0, 1, *comm)),
          EACH(MPI_Irecv(buf, 8, MPI_CHAR, 1, 1, *comm, &r[i])));
    COUNT("MPI_Waitall of receives", (void)0, MPI_Waitall(CALLS, r, MPI_STATUSES_IGNORE));
    COUNT("MPI_Irecv, nothing there", (void)0, EACH(MPI_Irecv(buf, 8, MPI_CHAR, 1, 1, *comm, &r[i])));
    COUNT("MPI_Waitall, now there", EACH(MPI_Send(buf, 8, MPI_CHAR, 0, 1, *comm)),
          MPI_Waitall(CALLS, r, MPI_STATUSES_IGNORE));
}

/* More calls with the lock than make it biased. */
static void be_alone(void)
{
    int size;
    for (int i = 0; i < 1000; i++)
        MPI_Type_size(MPI_INT, &size);
}

int main(int argc, char **argv)
{
    MPI_Request r[CALLS];
    MPI_Comm world = MPI_COMM_WORLD;
    int level = argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 2;
    steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    comm = &world;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(world, &rank);
    be_alone();
    for (int i = 0; i < ROUNDS; i++) {
        sends(r);
        receives(r);
    }
    MPI_Finalize();
    return 0;
}
