/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* across: accesses of other nodes are messages */
/* Post, start, complete, wait and test: a ring, everybody with everybody, empty groups, and with MPI_MODE_NOCHECK. */
#include "rma.h"

static MPI_Group world;

static MPI_Group group_of(int n, const int *ranks)
{
    MPI_Group g;
    MPI_Group_incl(world, n, ranks, &g);
    return g;
}

static void end_exposure(MPI_Win win, int by_test)
{
    int flag = 0;
    if (!by_test)
        CHECK_EQ(MPI_Win_wait(win), MPI_SUCCESS);
    while (by_test && !flag)
        CHECK_EQ(MPI_Win_test(win, &flag), MPI_SUCCESS);
}

static void ring(struct rma_win *w, int round)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int value = 100 * round + check_rank, *mine = (int *)(void *)w->base;
    MPI_Group origins = group_of(1, &from), targets = group_of(1, &to);
    mine[0] = -1;
    if (round == 2)
        MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Win_post(origins, round == 2 ? MPI_MODE_NOCHECK : 0, w->win), MPI_SUCCESS);
    if (round == 2) /* all are exposed */
        MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Win_start(targets, round == 2 ? MPI_MODE_NOCHECK : 0, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(&value, 1, MPI_INT, to, rma_at(w, to, 0, 4), 1, MPI_INT, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_complete(w->win), MPI_SUCCESS);
    end_exposure(w->win, round & 1);
    CHECK_EQ(mine[0], 100 * round + from, "%s, round %d", rma_kind[w->kind], round);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

static void everybody(struct rma_win *w)
{
    int *mine = (int *)(void *)w->base, value = check_rank + 1;
    CHECK_EQ(MPI_Win_post(world, 0, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_start(world, 0, w->win), MPI_SUCCESS);
    for (int to = 0; to < check_size; to++)
        MPI_Put(&value, 1, MPI_INT, to, rma_at(w, to, check_rank, 4), 1, MPI_INT, w->win);
    CHECK_EQ(MPI_Win_complete(w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_wait(w->win), MPI_SUCCESS);
    for (int i = 0; i < check_size; i++)
        CHECK_EQ(mine[i], i + 1, "%s, of rank %d", rma_kind[w->kind], i);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 4 * check_size, 4, MPI_COMM_WORLD))
            continue;
        for (int round = 0; round < 4; round++)
            ring(&w, round);
        everybody(&w);
        CHECK_EQ(MPI_Win_post(MPI_GROUP_EMPTY, 0, w.win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_start(MPI_GROUP_EMPTY, 0, w.win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_complete(w.win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_wait(w.win), MPI_SUCCESS);
        rma_close(&w);
    }
    MPI_Group_free(&world);
    return check_done();
}
