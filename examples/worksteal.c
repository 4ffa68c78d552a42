/* SPDX-License-Identifier: BSD-3-Clause */
/* worksteal.c: processes without work take it from those that have some, by one-sided communication alone.
 *
 *     mpicc -O2 -o worksteal worksteal.c
 *     mpiexec -n 4 ./worksteal [QUEENS]
 *
 * It counts the ways to put N queens on a board of N by N.  A task is a board whose first rows are filled.  Each
 * process has a queue of tasks in a window: `ends` has the first one in its upper half and the place behind the
 * last one in its lower half, so that both change in one step, by MPI_Compare_and_swap.  The owner adds and takes
 * at the end; others take the first half.  At the beginning rank 0 has the only task.  `open`, in the part of rank
 * 0, counts the tasks that are not done: at 0 all is over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

enum { MOST = 16, ROOM = 1 << 16, SERIAL_ROWS = 4 /* a task with so many rows to go is done at once */ };

struct task {
    int32_t rows;
    int8_t column[MOST];
};
struct queue {
    uint64_t ends;
    int64_t open;
    struct task task[ROOM];
};

enum { ENDS = 0, OPEN = 8, TASK = 16 };

static int rank, size, queens;
static struct queue *mine;
static MPI_Win win;
static int64_t solutions, done, stolen;

static uint64_t ends_of(uint32_t first, uint32_t behind)
{
    return (uint64_t)first << 32 | behind;
}

static uint64_t look(int owner)
{
    uint64_t ends;
    MPI_Fetch_and_op(NULL, &ends, MPI_UINT64_T, owner, ENDS, MPI_NO_OP, win);
    MPI_Win_flush(owner, win);
    return ends;
}

/* *ends -> next; false: somebody was faster, and *ends is what he has left. */
static int change(int owner, uint64_t *ends, uint64_t next)
{
    uint64_t was, expected = *ends;
    MPI_Compare_and_swap(&next, &expected, &was, MPI_UINT64_T, owner, ENDS, win);
    MPI_Win_flush(owner, win);
    *ends = was;
    return was == expected;
}

static int64_t count_open(int64_t n)
{
    int64_t was;
    MPI_Fetch_and_op(&n, &was, MPI_INT64_T, 0, OPEN, n ? MPI_SUM : MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    return was + n;
}

/* Tasks behind the end are the owner's own; those before the first will never be written again. */
static int push(const struct task *t)
{
    uint64_t ends = look(rank);
    uint32_t at = (uint32_t)ends;
    if (at == ROOM)
        return 0;
    MPI_Put(t, sizeof *t, MPI_BYTE, rank, TASK + (MPI_Aint)(at * sizeof *t), sizeof *t, MPI_BYTE, win);
    MPI_Win_flush(rank, win);
    while (!change(rank, &ends, ends_of((uint32_t)(ends >> 32), at + 1))) /* thieves change the first only */
        ;
    return 1;
}

static int pop(struct task *t)
{
    uint64_t ends = look(rank);
    for (;;) {
        uint32_t first = (uint32_t)(ends >> 32), behind = (uint32_t)ends;
        if (first == behind)
            return 0;
        if (!change(rank, &ends, ends_of(first, behind - 1)))
            continue;
        MPI_Get(t, sizeof *t, MPI_BYTE, rank, TASK + (MPI_Aint)((behind - 1) * sizeof *t), sizeof *t,
                MPI_BYTE, win);
        MPI_Win_flush(rank, win);
        return 1;
    }
}

static int steal(int from)
{
    uint64_t ends = look(from);
    uint32_t first = (uint32_t)(ends >> 32), n = ((uint32_t)ends - first + 1) / 2;
    if (n == 0 || !change(from, &ends, ends_of(first + n, (uint32_t)ends)))
        return 0;
    struct task *t = malloc(n * sizeof *t);
    MPI_Get(t, (int)(n * sizeof *t), MPI_BYTE, from, TASK + (MPI_Aint)(first * sizeof *t),
            (int)(n * sizeof *t), MPI_BYTE, win);
    MPI_Win_flush(from, win);
    for (uint32_t i = 0; i < n; i++)
        if (!push(&t[i]))
            MPI_Abort(MPI_COMM_WORLD, 1);
    free(t);
    stolen += n;
    return 1;
}

static int fits(const struct task *t, int column)
{
    for (int r = 0; r < t->rows; r++)
        if (t->column[r] == column || abs(t->column[r] - column) == t->rows - r)
            return 0;
    return 1;
}

static void solve(struct task *t)
{
    if (t->rows == queens) {
        solutions++;
        return;
    }
    for (int c = 0; c < queens; c++)
        if (fits(t, c)) {
            t->column[t->rows++] = (int8_t)c;
            solve(t);
            t->rows--;
        }
}

static void work(struct task *t)
{
    int64_t more = 0;
    done++;
    if (queens - t->rows <= SERIAL_ROWS) {
        solve(t);
    } else {
        for (int c = 0; c < queens; c++)
            more += fits(t, c);
        count_open(more); /* before anybody can be done with one */
        for (int c = 0; c < queens; c++)
            if (fits(t, c)) {
                t->column[t->rows++] = (int8_t)c;
                if (!push(t)) {
                    solve(t);
                    more--;
                    count_open(-1);
                }
                t->rows--;
            }
    }
    count_open(-1);
}

int main(int argc, char **argv)
{
    static const int64_t right[] = { 1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712 };
    struct task t = { 0 };
    int64_t sum[3], own[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    queens = argc > 1 ? atoi(argv[1]) : 9;
    if (queens < 1 || queens >= (int)(sizeof right / sizeof *right)) {
        if (rank == 0)
            fprintf(stderr, "expected 1 to %d queens\n", (int)(sizeof right / sizeof *right) - 1);
        MPI_Finalize();
        return 1;
    }
    MPI_Win_allocate(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    mine->ends = 0;
    mine->open = 1; /* only that of rank 0 is used */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        push(&t);
    srand((unsigned)rank);
    do {
        while (pop(&t))
            work(&t);
        if (size > 1)
            steal((rank + 1 + rand() % (size - 1)) % size);
    } while (count_open(0) > 0);
    MPI_Win_unlock_all(win);
    own[0] = solutions, own[1] = done, own[2] = stolen;
    MPI_Reduce(own, sum, 3, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    int wrong = rank == 0 && sum[0] != right[queens];
    if (rank == 0)
        printf("%d queens: %" PRId64 " solutions, %s; %" PRId64 " tasks, of which processes took %" PRId64
               " from others\n",
               queens, sum[0], wrong ? "wrong" : "right", sum[1], sum[2]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
