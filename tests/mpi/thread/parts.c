/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions that many threads make ready at once, without the device lock: each arrives once, whoever waits
 * meanwhile, in rounds that follow each other at once, of small partitions and of larger ones; one that is made
 * ready twice is an error. */
/* ranks: 1 2 3 */
/* cflags: -pthread */
/* timeout: 120 */
/* across: devices differ in what may run at once */
#include <sched.h>
#include "thread.h"

enum { WORKERS = 6, ROUNDS = 12, MOST = 3000, LARGE = 1500 };

static int partitions, length; /* of this run: partitions, and ints of each */
static int *out, *in;
static MPI_Request sends, receives;
static pthread_barrier_t meet;
static int rounds = ROUNDS;

static int value(int rank, int round, int64_t i)
{
    return (int)((rank * 7 + round * 31 + i) % 100003);
}

/* Each makes every WORKERS-th ready; then it leaves MPI_Pready, and the program, while the main thread waits for
 * the message. */
static void work(struct thread *me)
{
    for (int round = 0; round < rounds; round++) {
        pthread_barrier_wait(&meet);
        for (int k = me->id; k < partitions; k += WORKERS) {
            for (int i = 0; i < length; i++)
                out[k * length + i] = value(check_rank, round, (int64_t)k * length + i);
            MPI_Pready(k, sends);
            if (thread_random(me, 50) == 0)
                sched_yield();
        }
    }
}

static void all_rounds(struct thread *t)
{
    int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size;
    MPI_Psend_init(out, partitions, length, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &sends);
    MPI_Precv_init(in, partitions, length, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receives);
    for (int i = 0; i < WORKERS; i++) {
        t[i] = (struct thread){ .id = i, .of = WORKERS, .random = (uint64_t)i, .work = work };
        pthread_create(&t[i].thread, NULL, threads_main, &t[i]);
    }
    for (int round = 0; round < rounds; round++) {
        int wrong = 0;
        MPI_Start(&receives);
        MPI_Start(&sends);
        pthread_barrier_wait(&meet);
        if (round % 2)
            MPI_Wait(&sends, MPI_STATUS_IGNORE);
        MPI_Wait(&receives, MPI_STATUS_IGNORE);
        MPI_Wait(&sends, MPI_STATUS_IGNORE);
        for (int i = 0; i < partitions * length; i++)
            wrong += in[i] != value(left, round, i);
        CHECK_EQ(wrong, 0, "in round %d of %d partitions", round, partitions);
    }
    MPI_Request_free(&sends); /* perhaps before the last call has returned */
    MPI_Request_free(&receives);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i].thread, NULL);
}

/* One of these threads makes it ready, the others are told that it was. */
static _Atomic int right_ones, wrong_ones;

static void same_one(struct thread *me)
{
    (void)me;
    int class = MPI_SUCCESS, err = MPI_Pready(1, sends);
    if (err)
        MPI_Error_class(err, &class);
    THREAD_CHECK(class == MPI_SUCCESS || class == MPI_ERR_ARG, "class %d", class);
    atomic_fetch_add(class == MPI_SUCCESS ? &right_ones : &wrong_ones, 1);
}

static void twice(struct thread *t)
{
    MPI_Psend_init(out, 2, 1, MPI_INT, check_rank, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &sends);
    MPI_Precv_init(in, 2, 1, MPI_INT, check_rank, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &receives);
    MPI_Start(&receives);
    MPI_Start(&sends);
    threads_go(t, WORKERS, same_one);
    CHECK_EQ(atomic_load(&right_ones), 1);
    CHECK_EQ(atomic_load(&wrong_ones), WORKERS - 1);
    MPI_Pready(0, sends);
    MPI_Wait(&sends, MPI_STATUS_IGNORE);
    MPI_Wait(&receives, MPI_STATUS_IGNORE);
    MPI_Request_free(&sends);
    MPI_Request_free(&receives);
}

int main(int argc, char **argv)
{
    static struct thread t[WORKERS];
    threads_init(&argc, &argv);
    if (argc > 1)
        rounds = atoi(argv[1]);
    check_errors_return();
    pthread_barrier_init(&meet, NULL, WORKERS + 1);
    out = calloc(100 * LARGE, sizeof(int));
    in = calloc(100 * LARGE, sizeof(int));
    partitions = MOST, length = 2;
    all_rounds(t);
    partitions = 100, length = LARGE;
    all_rounds(t);
    partitions = 1, length = 2;
    all_rounds(t);
    twice(t);
    free(out);
    free(in);
    return check_done();
}
