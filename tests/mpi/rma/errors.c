/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* across: what only a target on another node knows is told by the flush */
/* Misuse is told where it is known: no epoch, mixed epochs, ranges, ranks, assertions, lock types, flavors, attach
 * and detach. */
#include "rma.h"

static void epochs(MPI_Win win)
{
    int v = 0;
    MPI_Group self;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    CHECK_ERR(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_SAYS("no epoch has begun");
    CHECK_ERR(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_local(0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_test(win, &v), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_SAYS("locked already");
    CHECK_ERR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win w = win;
    CHECK_ERR(MPI_Win_free(&w), MPI_ERR_RMA_SYNC);
    CHECK(w == win, "a window that could not be freed");
    MPI_Win_unlock(check_rank, win);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    CHECK_ERR(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_wait(win);
    CHECK_ERR(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_lock_all(MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_post(self, MPI_MODE_NOSUCCEED, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_start(self, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, check_size, 0, win), MPI_ERR_RANK);
    MPI_Request r;
    MPI_Win_fence(0, win);
    /* meant for epochs of passive targets, but other libraries know no difference, and programs rely on it */
    CHECK_ERR(MPI_Rput(&v, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Group_free(&self);
}

/* No buffer is touched, so any will do: bindings give NULL. */
static void nothing_to_nobody(MPI_Win win)
{
    int none = MPI_PROC_NULL;
    MPI_Datatype I = MPI_INT;
    MPI_Request r;
    CHECK_ERR(MPI_Put(NULL, 1, I, none, 0, 1, I, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Get(NULL, 1, I, none, 0, 1, I, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Accumulate(NULL, 1, I, none, 0, 1, I, MPI_SUM, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Get_accumulate(NULL, 1, I, NULL, 1, I, none, 0, 1, I, MPI_SUM, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Fetch_and_op(NULL, NULL, MPI_BYTE, none, 0, MPI_BAND, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Compare_and_swap(NULL, NULL, NULL, MPI_BYTE, none, 0, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Rput(NULL, 1, I, none, 0, 1, I, win, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_Put(NULL, 1, I, 0, 0, 1, I, win), MPI_ERR_BUFFER);
}

/* Nothing is accessed, so no epoch is needed, and there is none. */
static void to_nobody(MPI_Win win)
{
    int v = 7, old = 8, compare = 9, none = MPI_PROC_NULL;
    MPI_Datatype I = MPI_INT;
    MPI_Request r[4];
    MPI_Status s[4];
    CHECK_ERR(MPI_Put(&v, 1, I, none, 0, 1, I, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Get(&v, 1, I, none, 0, 1, I, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Accumulate(&v, 1, I, none, 0, 1, I, MPI_SUM, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Get_accumulate(&v, 1, I, &old, 1, I, none, 0, 1, I, MPI_SUM, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Fetch_and_op(&v, &old, I, none, 0, MPI_SUM, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Fetch_and_op(NULL, &old, I, none, 0, MPI_NO_OP, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Compare_and_swap(&v, &compare, &old, I, none, 0, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Rput(&v, 1, I, none, 0, 1, I, win, &r[0]), MPI_SUCCESS);
    CHECK_ERR(MPI_Rget(&v, 1, I, none, 0, 1, I, win, &r[1]), MPI_SUCCESS);
    CHECK_ERR(MPI_Raccumulate(&v, 1, I, none, 0, 1, I, MPI_SUM, win, &r[2]), MPI_SUCCESS);
    CHECK_ERR(MPI_Rget_accumulate(&v, 1, I, &old, 1, I, none, 0, 1, I, MPI_SUM, win, &r[3]), MPI_SUCCESS);
    CHECK_ERR(MPI_Waitall(4, r, s), MPI_SUCCESS);
    CHECK(v == 7 && old == 8 && compare == 9, "%d %d %d", v, old, compare);
    nothing_to_nobody(win);
    CHECK_ERR(MPI_Rput(&v, 1, I, 0, 0, 1, I, win, &r[0]), MPI_ERR_RMA_SYNC);
}

static void arguments(MPI_Win win, int bytes)
{
    int v[2] = { 0, 0 };
    MPI_Win_lock_all(0, win);
    CHECK_ERR(MPI_Put(v, 1, MPI_INT, check_size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Put(v, 1, MPI_INT, check_rank, bytes / 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_SAYS("target_disp is");
    CHECK_SAYS("MPI_Put");
    CHECK_ERR(MPI_Put(v, 1, MPI_INT, check_rank, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_ERR(MPI_Get(v, 1, MPI_INT, check_rank, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    CHECK_ERR(MPI_Put(v, 2, MPI_INT, check_rank, 0, 1, MPI_INT, win), MPI_ERR_ARG);
    CHECK_ERR(MPI_Put(v, -1, MPI_INT, check_rank, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Accumulate(v, 1, MPI_INT, check_rank, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(v, 1, MPI_INT, check_rank, 0, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(v, 1, MPI_INT, check_rank, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Compare_and_swap(v, v, v, MPI_FLOAT, check_rank, 0, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Win_attach(win, v, sizeof v), MPI_ERR_RMA_FLAVOR);
    CHECK_EQ(MPI_Put(NULL, 0, MPI_INT, check_rank, 0, 0, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_unlock_all(win);
}

static void dynamic(void)
{
    MPI_Win win;
    static int room[100], v;
    MPI_Aint at;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Get_address(&room[10], &at);
    CHECK_EQ(MPI_Win_attach(win, &room[10], 40), MPI_SUCCESS);
    CHECK_ERR(MPI_Win_attach(win, &room[15], 4), MPI_ERR_RMA_ATTACH);
    CHECK_ERR(MPI_Win_attach(win, room, 44), MPI_ERR_RMA_ATTACH);
    CHECK_EQ(MPI_Win_attach(win, &room[20], 40), MPI_SUCCESS); /* touches it */
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_EQ(MPI_Put(&v, 1, MPI_INT, check_rank, at, 1, MPI_INT, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(room, 20, MPI_INT, check_rank, at, 20, MPI_INT, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Put(&v, 1, MPI_INT, check_rank, at - 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_ERR(MPI_Get(&v, 1, MPI_INT, check_rank, at + 80, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_EQ(MPI_Win_detach(win, &room[10]), MPI_SUCCESS);
    CHECK_ERR(MPI_Win_detach(win, &room[10]), MPI_ERR_RMA_ATTACH);
    CHECK_ERR(MPI_Put(&v, 1, MPI_INT, check_rank, at, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_SAYS("attached");
    MPI_Win_unlock(check_rank, win);
    MPI_Win_detach(win, &room[20]);
    MPI_Win_free(&win);
}

static int same_node(int rank)
{
    MPI_Comm node;
    MPI_Group here, all;
    int there;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(node, &here);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(all, 1, &rank, here, &there);
    MPI_Group_free(&here);
    MPI_Group_free(&all);
    MPI_Comm_free(&node);
    return there != MPI_UNDEFINED;
}

/* What only the target can know is told by the flush, or, once this process knows it, too, by the call. */
static void refused(int by_call, int to, MPI_Win win)
{
    CHECK_ERR(by_call ? by_call : MPI_Win_flush(to, win), MPI_ERR_RMA_RANGE);
    CHECK_EQ(MPI_Win_flush(to, win), MPI_SUCCESS);
}

static void refused_there(void)
{
    int to = (check_rank + 1) % check_size, v = 1, old;
    int *room = malloc(4 * (size_t)(check_rank + 1)), near;
    MPI_Win win;
    MPI_Win_create(room, 4 * (check_rank + 1), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    near = same_node(to); /* collective: all look */
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    if (to == check_rank) {
        CHECK_ERR(MPI_Put(&v, 1, MPI_INT, to, to + 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    } else if (near) { /* the sizes of all parts of a node are known */
        CHECK_ERR(MPI_Put(&v, 1, MPI_INT, to, to + 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        CHECK_SAYS(check_text("the part of rank %d has %d", to, 4 * (to + 1)));
        CHECK_ERR(MPI_Get(&v, 1, MPI_INT, to, to + 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        CHECK_ERR(MPI_Fetch_and_op(&v, &old, MPI_INT, to, to + 1, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        CHECK_ERR(MPI_Compare_and_swap(&v, &v, &old, MPI_INT, to, to + 1, win), MPI_ERR_RMA_RANGE);
        CHECK_EQ(MPI_Win_flush(to, win), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Put(&v, 1, MPI_INT, to, to + 1, 1, MPI_INT, win), MPI_SUCCESS);
        CHECK_ERR(MPI_Win_flush(to, win), MPI_ERR_RMA_RANGE);
        CHECK_SAYS("of an earlier MPI_Put was refused by rank");
        CHECK_EQ(MPI_Win_flush(to, win), MPI_SUCCESS);
        refused(MPI_Get(&v, 1, MPI_INT, to, to + 1, 1, MPI_INT, win), to, win);
        refused(MPI_Fetch_and_op(&v, &old, MPI_INT, to, to + 1, MPI_SUM, win), to, win);
    }
    MPI_Win_unlock(to, win);
    MPI_Win_free(&win);
    free(room);
}

static void making(void)
{
    MPI_Win win;
    char *base;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Win_create(NULL, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK(win == MPI_WIN_NULL, "after an error");
    CHECK_ERR(MPI_Win_allocate(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_DISP);
    if (check_size > 1) { /* one refuses, all fail */
        int err = MPI_Win_allocate(check_rank == 1 ? -1 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        CHECK(err != MPI_SUCCESS, "made, though rank 1 asked for -1 bytes");
    }
    CHECK_ERR(MPI_Win_free(&win), MPI_ERR_WIN);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win freed = win;
    MPI_Win_free(&win);
    CHECK_ERR(MPI_Win_fence(0, freed), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_sync(freed), MPI_ERR_WIN);
    CHECK_ERR(MPI_Put(base, 0, MPI_CHAR, check_rank, 0, 0, MPI_CHAR, freed), MPI_ERR_WIN);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    char *base;
    check_init(&argc, &argv);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    epochs(win);
    to_nobody(win);
    arguments(win, 64);
    MPI_Win_free(&win);
    dynamic();
    refused_there();
    making();
    return check_done();
}
