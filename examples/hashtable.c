/* SPDX-License-Identifier: BSD-3-Clause */
/* hashtable.c: a hash table that all processes fill at once, by one-sided communication alone.
 *
 *     mpicc -O2 -o hashtable hashtable.c
 *     mpiexec -n 4 ./hashtable [KEYS]
 *
 * The table is spread over the processes. A key is entered by MPI_Compare_and_swap into the first free place at or
 * behind its hash, and its value by MPI_Put; nobody whose part it is takes part. At the end each process looks up
 * what its neighbor has entered. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

static int rank, size;
static int64_t places; /* of a process */
static MPI_Win win;

static uint64_t hash(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* The place of a key, or of the free one where it would be: process and displacement.  enter: take it. */
static int place_of(uint64_t key, int enter, int *owner, MPI_Aint *at)
{
    uint64_t h = hash(key) % ((uint64_t)places * (uint64_t)size), none = 0, is;
    for (int64_t tries = 0; tries < places * size;
         tries++, h = (h + 1) % ((uint64_t)places * (uint64_t)size)) {
        *owner = (int)(h / (uint64_t)places);
        *at = (MPI_Aint)(2 * (h % (uint64_t)places));
        if (enter)
            MPI_Compare_and_swap(&key, &none, &is, MPI_UINT64_T, *owner, *at, win);
        else
            MPI_Fetch_and_op(NULL, &is, MPI_UINT64_T, *owner, *at, MPI_NO_OP, win);
        MPI_Win_flush(*owner, win);
        if (is == 0 || is == key)
            return enter || is == key;
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t *mine, value;
    int owner, wrong = 0;
    MPI_Aint at;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t keys = argc > 1 ? atoll(argv[1]) : 2000;
    places = 2 * keys + 1;
    MPI_Win_allocate(places * 16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win); /* zeroed below */
    for (int64_t i = 0; i < 2 * places; i++)
        mine[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int64_t i = 0; i < keys; i++) {
        uint64_t key = (uint64_t)(i * size + rank) + 1;
        value = 3 * key;
        if (!place_of(key, 1, &owner, &at)) {
            fprintf(stderr, "the table is full\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Put(&value, 1, MPI_UINT64_T, owner, at + 1, 1, MPI_UINT64_T, win);
        MPI_Win_flush_local(owner, win);
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < keys; i++) {
        uint64_t key = (uint64_t)(i * size + (rank + 1) % size) + 1;
        value = 0;
        if (place_of(key, 0, &owner, &at)) {
            MPI_Get(&value, 1, MPI_UINT64_T, owner, at + 1, 1, MPI_UINT64_T, win);
            MPI_Win_flush(owner, win);
        }
        wrong += value != 3 * key;
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%" PRId64 " keys entered and found by %d processes, %d wrong\n", keys * size, size, wrong);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong != 0;
}
