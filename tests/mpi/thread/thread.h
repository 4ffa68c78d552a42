/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h: what the programs with several threads a rank share.
 *
 *     int main(int argc, char **argv)
 *     {
 *         threads_run(&argc, &argv, work, 8);   MPI_THREAD_MULTIPLE; work(me) in 8 threads, each with a
 *                                               communicator of its own
 *         return check_done();
 *     } */
#ifndef THREAD_H
#define THREAD_H

#include "../check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS_MOST = 64 };

struct thread {
    int id, of;
    MPI_Comm comm; /* of the threads with this number in all ranks, and of no other */
    void (*work)(struct thread *me);
    uint64_t random;
    pthread_t thread;
};

static _Atomic int threads_failures CHECK_UNUSED;

/* As CHECK, from any thread. */
#define THREAD_CHECK(condition, ...) \
    do { \
        if (!(condition) && atomic_fetch_add(&threads_failures, 1) < CHECK_MAX) { \
            fprintf(stderr, "rank %d, %s:%d: not true: %s: ", check_rank, __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__); \
            fprintf(stderr, "\n"); \
        } \
    } while (0)

CHECK_UNUSED static uint32_t thread_random(struct thread *t, uint32_t below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->random >> 33) % below;
}

static void *threads_main(void *arg)
{
    struct thread *t = arg;
    t->work(t);
    return NULL;
}

/* In n threads; the communicators exist already. */
static void threads_go(struct thread *t, int n, void (*work)(struct thread *me))
{
    for (int i = 0; i < n; i++) {
        t[i].work = work;
        if (pthread_create(&t[i].thread, NULL, threads_main, &t[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i].thread, NULL);
    CHECK_EQ(atomic_load(&threads_failures), 0, "checks failed in threads");
}

CHECK_UNUSED static void threads_init(int *argc, char ***argv)
{
    int provided = -1;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

CHECK_UNUSED static void threads_run(int *argc, char ***argv, void (*work)(struct thread *me), int n)
{
    static struct thread t[THREADS_MOST];
    threads_init(argc, argv);
    for (int i = 0; i < n; i++) {
        t[i] = (struct thread){ .id = i, .of = n, .random = (uint64_t)(i * 1000 + check_rank) };
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    threads_go(t, n, work);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&t[i].comm);
}

#endif
