/* SPDX-License-Identifier: BSD-3-Clause */
/* Every chapter from 8 threads a rank: each thread goes through its own sequence, which is the same in all ranks,
 * on a communicator of its own, with random delays between its calls.  THREAD_SECONDS in the environment: for so
 * long instead of some rounds. */
/* ranks: 1 2 3 8 */
/* cflags: -pthread */
/* timeout: 120 */
/* across: devices differ in what may run at once */
#include "thread.h"
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 12, N = 24, FEW = 4, LATE_US = 300 };

static double seconds;
static char folder[256];

static int right(void)
{
    return (check_rank + 1) % check_size;
}
static int left(void)
{
    return (check_rank + check_size - 1) % check_size;
}

static int value(const struct thread *me, int rank, int i)
{
    return (rank * THREADS + me->id) * 1000 + i;
}

/* By each rank for itself, so by another generator than the sequence's. */
static void delay(struct thread *me)
{
    static _Thread_local struct thread mine;
    if (mine.random == 0)
        mine.random = (uint64_t)(me->id * 31 + check_rank + 1);
    if (thread_random(&mine, 4) == 0)
        nanosleep(&(struct timespec){ 0, (long)thread_random(&mine, LATE_US) * 1000 }, NULL);
}

static void messages(struct thread *me)
{
    int out[N], in[N], n = 1 + (int)thread_random(me, N), long_n = 40000, *long_out = malloc(160000),
                       *long_in = malloc(160000);
    MPI_Request r[4];
    for (int i = 0; i < N; i++)
        out[i] = value(me, check_rank, i);
    for (int i = 0; i < long_n; i++)
        long_out[i] = value(me, check_rank, i % 997);
    MPI_Irecv(in, N, MPI_INT, left(), 1, me->comm, &r[0]);
    MPI_Irecv(long_in, long_n, MPI_INT, left(), 2, me->comm, &r[1]);
    delay(me);
    MPI_Isend(long_out, long_n, MPI_INT, right(), 2, me->comm, &r[2]);
    MPI_Issend(out, n, MPI_INT, right(), 1, me->comm, &r[3]);
    delay(me);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        THREAD_CHECK(in[i] == value(me, left(), i), "%d", in[i]);
    THREAD_CHECK(long_in[long_n - 1] == value(me, left(), (long_n - 1) % 997), "%d", long_in[long_n - 1]);
    free(long_out);
    free(long_in);
}

/* A receive that is cancelled, one that is freed, and a persistent pair, beside the waits of others. */
static void requests(struct thread *me)
{
    int x = -1, kept = value(me, check_rank, 1), y = -1, in = -1, flag = 0;
    MPI_Request r, pair[2];
    MPI_Status s;
    MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 99, me->comm, &r);
    delay(me);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    THREAD_CHECK(flag, "x is %d", x);
    MPI_Isend(&kept, 1, MPI_INT, right(), 3, me->comm, &r);
    MPI_Request_free(&r);
    MPI_Recv(&in, 1, MPI_INT, left(), 3, me->comm, MPI_STATUS_IGNORE);
    THREAD_CHECK(in == value(me, left(), 1), "%d", in);
    MPI_Recv_init(&in, 1, MPI_INT, left(), 4, me->comm, &pair[0]);
    MPI_Send_init(&y, 1, MPI_INT, right(), 4, me->comm, &pair[1]);
    for (int i = 0; i < FEW; i++) {
        y = value(me, check_rank, 2 + i);
        MPI_Startall(2, pair);
        delay(me);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        THREAD_CHECK(in == value(me, left(), 2 + i), "%d", in);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    MPI_Barrier(me->comm); /* `kept` has been sent */
}

static void collectives(struct thread *me)
{
    int mine = value(me, check_rank, 0), sum = -1, later = -1, expect = 0, all[64],
        root = (int)thread_random(me, (uint32_t)check_size);
    MPI_Request r;
    for (int i = 0; i < check_size; i++)
        expect += value(me, i, 0);
    MPI_Iallreduce(&mine, &later, 1, MPI_INT, MPI_SUM, me->comm, &r);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, me->comm);
    delay(me);
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, me->comm);
    THREAD_CHECK(check_rank != root || all[check_size - 1] == value(me, check_size - 1, 0), "%d",
                 all[check_size - 1]);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    THREAD_CHECK(sum == expect && later == expect, "%d and %d, not %d", sum, later, expect);
    MPI_Barrier(me->comm);
}

static void windows(struct thread *me)
{
    int *mem = NULL, got = -1, one = 1, mine = value(me, check_rank, 0);
    MPI_Win win;
    MPI_Win_allocate(N * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, me->comm, &mem, &win);
    memset(mem, 0, N * sizeof(int));
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, right(), 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    THREAD_CHECK(mem[1] == value(me, left(), 0), "%d", mem[1]);
    delay(me);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < check_size; i++)
        MPI_Accumulate(&one, 1, MPI_INT, i, 2, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(me->comm);
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
    MPI_Get(&got, 1, MPI_INT, right(), 2, 1, MPI_INT, win);
    MPI_Win_unlock(right(), win);
    THREAD_CHECK(got == check_size, "%d", got);
    MPI_Barrier(me->comm);
    MPI_Win_free(&win);
}

static void files(struct thread *me)
{
    char name[320];
    int out[N], in[N], err;
    MPI_File f;
    MPI_Offset at = check_rank * (MPI_Offset)sizeof out;
    snprintf(name, sizeof name, "%s/file%d", folder, me->id);
    for (int i = 0; i < N; i++) {
        out[i] = value(me, check_rank, i);
        in[i] = -1;
    }
    err = MPI_File_open(me->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &f);
    THREAD_CHECK(err == MPI_SUCCESS, "%s: %d", name, err);
    if (err != MPI_SUCCESS)
        return;
    MPI_File_write_at_all(f, at, out, N, MPI_INT, MPI_STATUS_IGNORE);
    delay(me);
    MPI_File_read_at(f, at, in, N, MPI_INT, MPI_STATUS_IGNORE);
    THREAD_CHECK(memcmp(in, out, sizeof in) == 0, "%d", in[0]);
    MPI_File_close(&f);
}

static void topologies(struct thread *me)
{
    int dims[1] = { check_size }, periods[1] = { 1 }, mine = value(me, check_rank, 0), got[2] = { -1, -1 };
    MPI_Comm ring, part;
    MPI_Cart_create(me->comm, 1, dims, periods, 0, &ring);
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, ring);
    THREAD_CHECK(got[0] == value(me, left(), 0) && got[1] == value(me, right(), 0), "%d, %d", got[0], got[1]);
    MPI_Comm_split(ring, check_rank % 2, 0, &part);
    delay(me);
    MPI_Barrier(part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&ring);
}

static void duplicates(struct thread *me)
{
    MPI_Comm dup[FEW];
    MPI_Request r[FEW];
    int sum = 0, one = 1;
    for (int i = 0; i < FEW; i++)
        MPI_Comm_idup(me->comm, &dup[i], &r[i]);
    delay(me);
    MPI_Waitall(FEW, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < FEW; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, dup[i]);
        THREAD_CHECK(sum == check_size, "%d", sum);
        MPI_Comm_free(&dup[i]);
    }
}

static void sessions(struct thread *me)
{
    char tag[32];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    int size = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    snprintf(tag, sizeof tag, "of thread %d", me->id);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    delay(me);
    MPI_Barrier(comm);
    MPI_Comm_size(comm, &size);
    THREAD_CHECK(size == check_size, "%d", size);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

static void tools(struct thread *me)
{
    int provided, ncvars = 0, npvars = 0, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_cvar_get_num(&ncvars);
    MPI_T_pvar_get_num(&npvars);
    THREAD_CHECK(ncvars > 0 && npvars > 0, "%d, %d", ncvars, npvars);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < FEW && i < npvars; i++)
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) == MPI_SUCCESS) {
            delay(me);
            MPI_T_pvar_handle_free(session, &handle);
        }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void partitions(struct thread *me)
{
    int out[N], in[N], flag = 0;
    MPI_Request r[2];
    for (int i = 0; i < N; i++)
        in[i] = out[i] = -1;
    MPI_Psend_init(out, N, 1, MPI_INT, right(), 5, me->comm, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, N / 2, 2, MPI_INT, left(), 5, me->comm, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    for (int i = N - 1; i >= 0; i--) {
        out[i] = value(me, check_rank, i);
        MPI_Pready(i, r[0]);
        if (i % 8 == 0)
            delay(me);
    }
    while (!flag)
        MPI_Parrived(r[1], N / 2 - 1, &flag);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        THREAD_CHECK(in[i] == value(me, left(), i), "%d", in[i]);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void work(struct thread *me)
{
    static void (*const chapters[])(struct thread *) = { messages, requests,   collectives, windows,
                                                         files,    topologies, duplicates,  sessions,
                                                         tools,    partitions };
    enum { CHAPTERS = sizeof chapters / sizeof chapters[0] };
    double since = MPI_Wtime();
    int more = 1;
    me->random = (uint64_t)me->id + 1; /* the same in all ranks */
    for (int i = 0; more; i++) {
        chapters[i < CHAPTERS ? (i + me->id) % CHAPTERS : (int)thread_random(me, CHAPTERS)](me);
        delay(me);
        more = seconds > 0 ? MPI_Wtime() - since < seconds : i < ROUNDS;
        if (seconds > 0)
            MPI_Bcast(&more, 1, MPI_INT, 0, me->comm);
    }
}

int main(int argc, char **argv)
{
    static struct thread t[THREADS];
    const char *tmp = getenv("TMPDIR"), *given = getenv("THREAD_SECONDS");
    seconds = given ? atof(given) : 0;
    threads_init(&argc, &argv);
    if (check_rank == 0) {
        snprintf(folder, sizeof folder, "%s/keel-chapters-XXXXXX", tmp ? tmp : "/tmp");
        CHECK(mkdtemp(folder) != NULL, "%s", folder);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){ .id = i, .of = THREADS };
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    threads_go(t, THREADS, work);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&t[i].comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        rmdir(folder);
    return check_done();
}
