/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c: what one-sided calls cost; rma.py runs it with each library.  Prints "NAME VALUE UNIT" a line, of rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };
static int rank, size, target;
static double seconds = 0.05;
static MPI_Win win;
static char *base, *buf, *other;

static void put8(void)
{
    MPI_Put(buf, 8, MPI_CHAR, target, 0, 8, MPI_CHAR, win);
    MPI_Win_flush(target, win);
}
static void get8(void)
{
    MPI_Get(other, 8, MPI_CHAR, target, 0, 8, MPI_CHAR, win);
    MPI_Win_flush(target, win);
}
static void put1m(void)
{
    MPI_Put(buf, BYTES, MPI_CHAR, target, 0, BYTES, MPI_CHAR, win);
    MPI_Win_flush(target, win);
}
static void get1m(void)
{
    MPI_Get(other, BYTES, MPI_CHAR, target, 0, BYTES, MPI_CHAR, win);
    MPI_Win_flush(target, win);
}
static void fetch(void)
{
    MPI_Fetch_and_op(buf, other, MPI_LONG, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
}
static void swap(void)
{
    MPI_Compare_and_swap(buf, buf, other, MPI_LONG, target, 0, win);
    MPI_Win_flush(target, win);
}
static void accumulate8(void)
{
    MPI_Accumulate(buf, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(target, win);
}
static void accumulate1m(void)
{
    MPI_Accumulate(buf, BYTES / 8, MPI_DOUBLE, target, 0, BYTES / 8, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(target, win);
}
static void lock_put(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(buf, 8, MPI_CHAR, target, 0, 8, MPI_CHAR, win);
    MPI_Win_unlock(target, win);
}
static void lock_accumulate1m(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    accumulate1m();
    MPI_Win_unlock(target, win);
}
static void copy1m(void)
{
    memcpy(other, buf, BYTES);
    __asm__ volatile("" ::"r"(other) : "memory");
}
static void fence(void)
{
    MPI_Win_fence(0, win);
}
static MPI_Group others;
static void pscw(void)
{
    MPI_Win_post(others, 0, win);
    MPI_Win_start(others, 0, win);
    MPI_Put(buf, 8, MPI_CHAR, target, 0, 8, MPI_CHAR, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

/* Rank 0 locks, puts and unlocks while the others compute for a second, in no call of MPI. */
static void busy(const char *name)
{
    double begin, took = 0;
    long n = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    if (rank == 0)
        for (; took < 0.2; n++, took = MPI_Wtime() - begin)
            lock_put();
    else
        while (MPI_Wtime() - begin < 1) /* calls of the clock, which none of the libraries takes for a look */
            ;
    if (rank == 0)
        printf("%s %.1f ns\n", name, 1e9 * took / (double)n);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* alone: rank 0 calls it while the others wait in a barrier; else all call it as often. */
static void measure(const char *name, void (*what)(void), int all)
{
    double best = 1e9;
    for (int k = 0; k < 5; k++) {
        long n = 1;
        MPI_Barrier(MPI_COMM_WORLD);
        for (; rank == 0 || all; n *= 2) {
            double t = MPI_Wtime(), took;
            for (long i = 0; i < n; i++)
                what();
            took = MPI_Wtime() - t;
            if (all)
                MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            if (took / (double)n < best)
                best = took / (double)n;
            if (took > seconds / 5)
                break;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%s %.1f ns\n", name, 1e9 * best);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Group world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        seconds = atof(argv[1]);
    target = (rank + 1) % size;
    buf = calloc(1, BYTES);
    other = calloc(1, BYTES);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, BYTES);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &target, &others);
    if (size > 2) {
        int from = (rank + size - 1) % size, both[2] = { target, from };
        MPI_Group_free(&others);
        MPI_Group_incl(world, 2, both, &others);
    }
    measure("memcpy_1M", copy1m, 0);
    MPI_Win_lock_all(0, win);
    measure("put_8", put8, 0);
    measure("get_8", get8, 0);
    measure("put_1M", put1m, 0);
    measure("get_1M", get1m, 0);
    measure("fetch_and_op", fetch, 0);
    measure("compare_and_swap", swap, 0);
    measure("fetch_and_op_contended", fetch, 1);
    measure("accumulate_8", accumulate8, 0);
    measure("accumulate_1M", accumulate1m, 0);
    MPI_Win_unlock_all(win);
    measure("lock_put_unlock", lock_put, 0);
    measure("lock_accumulate_1M", lock_accumulate1m, 0);
    measure("fence", fence, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    measure("post_start_put_complete_wait", pscw, 1);
    busy("lock_put_unlock_of_busy_target");
    MPI_Win_free(&win);
    MPI_Win_create(base = malloc(BYTES), BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    measure("created_put_8", put8, 0);
    measure("created_get_8", get8, 0);
    measure("created_put_1M", put1m, 0);
    measure("created_fetch_and_op", fetch, 0);
    measure("created_compare_and_swap", swap, 0);
    MPI_Win_unlock_all(win);
    busy("created_lock_put_unlock_of_busy");
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
