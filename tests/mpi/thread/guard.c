/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of each rank at each level of thread support, whether it allows them or not: results are right.
 * guard.test looks at what is said.  usage: guard [HOW [LEVEL [ROUNDS]]] */
/* ranks: 2 4 */
/* cflags: -pthread */
/* across: devices differ in what several threads may do */
#include <string.h>
#include <unistd.h>
#include "thread.h"

static const struct {
    const char *name;
    int level;
} levels[] = { { "SINGLE", MPI_THREAD_SINGLE },
               { "FUNNELED", MPI_THREAD_FUNNELED },
               { "SERIALIZED", MPI_THREAD_SERIALIZED },
               { "MULTIPLE", MPI_THREAD_MULTIPLE } };
static int level = MPI_THREAD_MULTIPLE, rounds = 300;
static MPI_Comm duplicate;

/* A round of messages of several lengths around the ring, and reductions. */
static void exchange(MPI_Comm comm, int i)
{
    static const int counts[] = { 1, 12, 700, 1500 };
    int out[1500], in[1500], sum = 0, n = counts[i % 4], mine = check_rank + i;
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    MPI_Request r[2];
    for (int k = 0; k < n; k++)
        out[k] = 1000 * check_rank + i + k;
    MPI_Irecv(in, n, MPI_INT, left, 7, comm, &r[0]);
    if (i % 2)
        MPI_Isend(out, n, MPI_INT, right, 7, comm, &r[1]);
    else
        MPI_Send(out, n, MPI_INT, right, 7, comm);
    MPI_Waitall(i % 2 ? 2 : 1, r, MPI_STATUSES_IGNORE);
    THREAD_CHECK(in[0] == 1000 * left + i && in[n - 1] == 1000 * left + i + n - 1,
                 "round %d: got %d and %d from rank %d", i, in[0], in[n - 1], left);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    THREAD_CHECK(sum == check_size * (check_size - 1) / 2 + check_size * i, "round %d: the sum is %d", i,
                 sum);
}

static void *exchanges(void *comm)
{
    for (int i = 0; i < rounds; i++)
        exchange(*(MPI_Comm *)comm, i);
    return NULL;
}

/* Threads one after the other, whose turn it is. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int turn;

static void *takes_turns(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % 2 != me)
            pthread_cond_wait(&moved, &mutex);
        exchange(duplicate, i);
        turn++;
        pthread_cond_signal(&moved);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* What any thread may call at every level. */
static void *calls_free(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        int flag, n, len, provided = -1;
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        MPI_Info info;
        MPI_Initialized(&flag);
        THREAD_CHECK(flag, "MPI is initialized");
        MPI_Finalized(&flag);
        THREAD_CHECK(!flag, "MPI is not finalized");
        MPI_Query_thread(&provided);
        THREAD_CHECK(provided == level, "MPI_Query_thread tells %d", provided);
        MPI_Is_thread_main(&flag);
        THREAD_CHECK(!flag, "this is not the main thread");
        MPI_Get_version(&n, &len);
        MPI_Get_library_version(text, &len);
        MPI_Error_class(MPI_ERR_TAG, &n);
        MPI_Error_string(MPI_ERR_TAG, text, &len);
        MPI_Info_create(&info);
        MPI_Info_set(info, "a", "b");
        MPI_Info_free(&info);
        MPI_T_init_thread(MPI_THREAD_SINGLE, &n);
        MPI_T_pvar_get_num(&n);
        MPI_T_finalize();
    }
    return arg;
}

static void *idles(void *arg)
{
    usleep(1000000);
    return arg;
}

/* The library's own threads, that of windows and those of files, beside the program's, which do nothing. */
static void use_helpers(void)
{
    MPI_Win win;
    MPI_File file;
    MPI_Request r;
    char name[64];
    int *base, one = 1, got = 0;
    snprintf(name, sizeof name, "/tmp/keel_guard_%d_%d", (int)getpid(), check_rank);
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, (check_rank + 1) % check_size, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, (check_rank + 1) % check_size, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock((check_rank + 1) % check_size, win);
        MPI_File_iwrite_at(file, i, "x", 1, MPI_CHAR, &r);
        exchange(duplicate, i);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (i % 64 == 0)
            usleep(2000); /* the helper looks */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    MPI_Get(&got, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win);
    MPI_Win_unlock(check_rank, win);
    CHECK_EQ(got, rounds);
    MPI_Win_free(&win);
    MPI_File_close(&file);
}

/* The first thread besides the main one comes from a function that MPI calls, and does not wait for its call's end. */
static pthread_t made;
static int makes = 1;

static void max_and_make(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] = ((int *)in)[i] > ((int *)inout)[i] ? ((int *)in)[i] : ((int *)inout)[i];
    if (makes)
        pthread_create(&made, NULL, exchanges, &duplicate);
    makes = 0;
}

static void call_back(void)
{
    MPI_Op op;
    int most = -1;
    MPI_Op_create(max_and_make, 1, &op);
    for (int i = 0; i < 20; i++) {
        int mine = check_rank;
        MPI_Reduce_local(&mine, &most, 1, MPI_INT, op);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, op, MPI_COMM_WORLD);
        CHECK_EQ(most, check_size - 1);
    }
    exchanges(&(MPI_Comm){ MPI_COMM_WORLD });
    pthread_join(made, NULL);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "both";
    int provided = -1, flag = 0, ids[] = { 0, 1 };
    void *(*others)(void *) = strcmp(how, "turns") == 0   ? takes_turns
                              : strcmp(how, "free") == 0  ? calls_free
                              : strcmp(how, "alone") == 0 ? idles
                                                          : exchanges;
    pthread_t other;
    for (int i = 0; argc > 2 && i < 4; i++)
        if (strcmp(argv[2], levels[i].name) == 0)
            level = levels[i].level;
    rounds = argc > 3 ? atoi(argv[3]) : rounds;
    MPI_Init_thread(&argc, &argv, level, &provided);
    CHECK_EQ(provided, level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    for (int i = 0; i < 300; i++)
        exchange(duplicate, i); /* one thread, for long */
    if (strcmp(how, "callback") == 0) {
        call_back();
    } else {
        pthread_create(&other, NULL, others, others == takes_turns ? (void *)&ids[1] : (void *)&duplicate);
        if (others == takes_turns)
            takes_turns(&ids[0]);
        else if (others == idles)
            use_helpers();
        else if (strcmp(how, "other") != 0)
            exchanges(&(MPI_Comm){ MPI_COMM_WORLD });
        pthread_join(other, NULL);
    }
    CHECK_EQ(atomic_load(&threads_failures), 0, "checks failed in threads");
    MPI_Query_thread(&provided);
    CHECK_EQ(provided, level);
    MPI_Is_thread_main(&flag);
    CHECK(flag, "this is the main thread");
    MPI_Comm_free(&duplicate);
    return check_done();
}
