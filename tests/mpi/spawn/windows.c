/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* A window over processes of two jobs: fences, locks, post and start, atomics, memory of each kind, and a helper
 * for who computes; loads and stores where the jobs share memory, and then nothing goes by TCP. */
#include "../tool/tool.h"
#include "spawned.h"

enum { N = 1000, CHILDREN = 2, TIMES = 50 };

static MPI_Comm all;
static int rank, size;

/* Each puts to the next and gets from the one before. */
static void fences(MPI_Win win, int *part)
{
    static int mine[N], got[N];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < N; i++)
        mine[i] = 10000 * rank + i;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    CHECK_ERR(MPI_Put(mine, N, MPI_INT, next, 0, N, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++)
        CHECK_EQ(part[i], 10000 * before + i, "put %d", i);
    CHECK_ERR(MPI_Get(got, N, MPI_INT, before, 0, N, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQ(got[N - 1], 10000 * ((before + size - 1) % size) + N - 1, "got");
}

/* A counter in each process, that all move. */
static void locks(MPI_Win win, int *part)
{
    int one = 1, was = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    part[0] = part[1] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(all);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < TIMES; i++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
            CHECK_ERR(MPI_Get(&was, 1, MPI_INT, to, 0, 1, MPI_INT, win), MPI_SUCCESS);
            MPI_Win_flush(to, win);
            was++;
            CHECK_ERR(MPI_Put(&was, 1, MPI_INT, to, 0, 1, MPI_INT, win), MPI_SUCCESS);
            MPI_Win_unlock(to, win);
        }
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < TIMES; i++)
            CHECK_ERR(MPI_Fetch_and_op(&one, &was, MPI_INT, to, 1, MPI_SUM, win), MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Barrier(all);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK_EQ(part[0], TIMES * size, "under locks");
    CHECK_EQ(part[1], TIMES * size, "by atomics");
    MPI_Win_unlock(rank, win);
    MPI_Barrier(all);
}

static void post_and_start(MPI_Win win, int *part)
{
    MPI_Group group, others;
    int word = 77 + rank;
    MPI_Comm_group(all, &group);
    int last = size - 1;
    if (rank == 0) {
        MPI_Group_incl(group, 1, &last, &others);
        part[2] = 0;
        MPI_Win_post(others, 0, win);
        MPI_Win_wait(win);
        CHECK_EQ(part[2], 77 + last, "put between post and wait");
        MPI_Group_free(&others);
    } else if (rank == last) {
        int first = 0;
        MPI_Group_incl(group, 1, &first, &others);
        MPI_Win_start(others, 0, win);
        MPI_Put(&word, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Group_free(&others);
    }
    MPI_Group_free(&group);
    MPI_Barrier(all);
}

/* Rank 0 computes; the others' accesses to it go on. */
static void computing(MPI_Win win, int *part)
{
    int word = 5, sum = 0;
    part[3] = 0;
    MPI_Barrier(all);
    if (rank == 0) {
        double until = MPI_Wtime() + 10;
        while (*(volatile int *)&part[3] != 5 * (size - 1) && MPI_Wtime() < until)
            usleep(1000);
        CHECK_EQ(part[3], 5 * (size - 1), "while it computes");
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Accumulate(&word, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Reduce(&word, &sum, 1, MPI_INT, MPI_SUM, 0, all);
}

static void use(MPI_Win win, int *part)
{
    fences(win, part);
    MPI_Barrier(all);
    locks(win, part);
    post_and_start(win, part);
    computing(win, part);
    CHECK_ERR(MPI_Win_free(&win), MPI_SUCCESS);
}

/* Does everybody here share memory with everybody else? */
static int expected(void)
{
    MPI_Comm near;
    int n, world, one = 1, all_of_them = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &n);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_free(&near);
    one = n == world && may_share();
    MPI_Allreduce(&one, &all_of_them, 1, MPI_INT, MPI_MIN, all);
    return all_of_them;
}

/* Who may load and store in the others' parts does so. */
static void stores(MPI_Win win)
{
    for (int to = 0; to < size; to++) {
        MPI_Aint bytes = 0;
        int unit = 0, *at = NULL;
        CHECK_ERR(MPI_Win_shared_query(win, to, &bytes, &unit, &at), MPI_SUCCESS);
        CHECK_EQ(bytes, (MPI_Aint)(N * sizeof(int)), "bytes of the part of %d", to);
        CHECK_EQ(unit, (int)sizeof(int), "unit of the part of %d", to);
        at[rank] = 100 * rank + to;
    }
    MPI_Win_sync(win);
    MPI_Barrier(all);
    MPI_Win_sync(win);
    for (int of = 0; of < size; of++) {
        MPI_Aint bytes;
        int unit, *at;
        MPI_Win_shared_query(win, of, &bytes, &unit, &at);
        for (int by = 0; by < size; by++)
            CHECK_EQ(at[by], 100 * by + of, "stored by %d for %d", by, of);
    }
    MPI_Barrier(all);
}

static void shared(void)
{
    MPI_Win win;
    int *part, err, may = expected();
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        err = MPI_Win_allocate_shared(N * sizeof(int), sizeof(int), MPI_INFO_NULL, all, &part, &win);
        CHECK_ERR(err, may ? MPI_SUCCESS : MPI_ERR_RMA_SHARED);
        if (err)
            continue;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        stores(win);
        MPI_Win_unlock_all(win);
        use(win, part);
    }
    MPI_Comm_set_errhandler(all, MPI_ERRORS_ARE_FATAL);
}

static void windows(void)
{
    static int own[N];
    int *part;
    MPI_Win win;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_ERR(MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, all, &part, &win), MPI_SUCCESS);
    use(win, part);
    CHECK_ERR(MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, all, &win), MPI_SUCCESS);
    use(win, own);
    shared();
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    check_init(&argc, &argv);
    all = all_of_both(argv[0], CHILDREN, &inter);
    MPI_T_pvar_session session;
    MPI_T_pvar_handle connections = MPI_T_PVAR_HANDLE_NULL;
    int index;
    tool_begin();
    OK(MPI_T_pvar_session_create(&session));
    if (expected() &&
        MPI_T_pvar_get_index("keel_tcp_connections", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS)
        connections = tool_watch(session, "keel_tcp_connections", MPI_T_PVAR_CLASS_COUNTER);
    windows();
    if (connections != MPI_T_PVAR_HANDLE_NULL) {
        CHECK_EQ(tool_read(session, connections), 0, "connections by TCP");
        OK(MPI_T_pvar_handle_free(session, &connections));
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&inter);
    return check_done();
}
