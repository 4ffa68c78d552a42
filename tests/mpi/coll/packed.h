/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.h: gatherv and scatterv, small and large blocks mixed, started many times; ranks that disagree on a
 * count, or on whether a block is large, hear of it, nobody waits for ever, and the next call works. */
#include "forms.h"

#define W MPI_COMM_WORLD
#ifndef SHORTEST
#define SHORTEST 0 /* the first of the lengths that ranks disagree on */
#endif

enum { LARGE = 200000, SMALL = 5, ROUNDS = 4, MOST_RANKS = 32 };

static int cnt[MOST_RANKS], dsp[MOST_RANKS], *all, *mine;

/* 0, small, just what is small at 17 ranks and fewer, one more, large */
static int length(int r)
{
    static const int some[] = { SMALL, 0, 256, LARGE, 257, 1 };
    return some[r % 6];
}

static int value(int round, int r, int i)
{
    return round * 1000003 + r * 1009 + i;
}

static void layout(void)
{
    int at = 0;
    for (int i = 0; i < check_size; i++) {
        cnt[i] = length(i);
        dsp[i] = at + 1;
        at += cnt[i] + 1;
    }
    all = malloc(((size_t)at + 1) * sizeof *all);
    mine = malloc((LARGE + 1) * sizeof *mine);
}

static void gathered(int round)
{
    int bad = 0;
    for (int r = 0; r < check_size; r++) {
        for (int i = 0; i < cnt[r]; i++)
            bad += all[dsp[r] + i] != value(round, r, i);
        bad += all[dsp[r] - 1] != -1;
    }
    CHECK_EQ(bad, 0, "gatherv, round %d", round);
}

static void fill(int round)
{
    int n = length(check_rank);
    for (int i = 0; i < n; i++)
        mine[i] = value(round, check_rank, i);
    for (int r = 0; r < check_size; r++)
        for (int i = -1; i < cnt[r]; i++)
            all[dsp[r] + i] = -1;
}

/* The same request again and again, with other data, the gathered blocks scattered again. */
static void again(int root)
{
    MPI_Request r[2];
    int n = length(check_rank), bad = 0;
    MPI_Gatherv_init(mine, n, MPI_INT, all, cnt, dsp, MPI_INT, root, W, MPI_INFO_NULL, &r[0]);
    MPI_Scatterv_init(all, cnt, dsp, MPI_INT, mine, n, MPI_INT, root, W, MPI_INFO_NULL, &r[1]);
    for (int round = 0; round < ROUNDS; round++) {
        fill(round);
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        if (check_rank == root)
            gathered(round);
        for (int i = 0; i < n; i++)
            mine[i] = 0;
        MPI_Start(&r[1]);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            bad += mine[i] != value(round, check_rank, i);
        CHECK_EQ(bad, 0, "scatterv, round %d", round);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* The last rank thinks that its block has `is` elements, the root that it has `thought`; so does another rank, to
 * show that one error does not hide another. */
static void disagree(int is, int thought, int root)
{
    int odd = check_rank != root && check_rank + 2 > check_size - (root == check_size - 1),
        n = odd ? is : SMALL;
    int c[MOST_RANKS], d[MOST_RANKS], at = 0, sum = 0, one = 1;
    for (int i = 0; i < check_size; i++) {
        c[i] = i != root && i + 2 > check_size - (root == check_size - 1) ? thought : SMALL;
        d[i] = at;
        at += c[i];
    }
    int *room = calloc((size_t)at + 1, sizeof *room);
    int err = MPI_Gatherv(mine, n, MPI_INT, room, c, d, MPI_INT, root, W);
    CHECK_EQ(err, check_rank == root ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "gatherv of %d as %d", is, thought);
    err = MPI_Scatterv(room, c, d, MPI_INT, mine, n, MPI_INT, root, W);
    CHECK_EQ(err, odd ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "scatterv of %d as %d", thought, is);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, W);
    CHECK_EQ(sum, check_size);
    free(room);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 0, 3, SMALL, 100000, LARGE };
    check_init(&argc, &argv);
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    layout();
    for (int root = 0; root < check_size; root += 1 + check_size / 3)
        again(root);
    for (form = BLOCKING; form < FORMS && check_size > 1; form++)
        for (int i = SHORTEST; i < 5; i++)
            for (int k = SHORTEST; k < 5; k++)
                if (i != k)
                    disagree(lengths[i], lengths[k], (i + k) % 2 ? 0 : check_size - 1);
    free(all);
    free(mine);
    return check_done();
}
