/* ranks: 1 2 3 */
/* A window over processes of two jobs: fences, locks, post and start, atomics, memory of either kind, and a helper for who computes. */
#include "../check.h"
#include <unistd.h>

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

static void windows(void)
{
    static int own[N];
    int *part, err;
    MPI_Win win;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_ERR(MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, all, &part, &win), MPI_SUCCESS);
    use(win, part);
    CHECK_ERR(MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, all, &win), MPI_SUCCESS);
    use(win, own);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    err = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, all, &part, &win);
    CHECK(err != MPI_SUCCESS, "memory shared between jobs");
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
    else
        inter = parent;
    MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &all);
    windows();
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&inter);
    return check_done();
}
