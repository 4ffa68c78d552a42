/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* across: the target's datatypes travel to other nodes */
/* Datatypes with gaps on either side, more of them than an origin remembers; pairs; every predefined operation;
 * get_accumulate. */
#include "rma.h"

static void strided(struct rma_win *w, int n)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int *mine = (int *)(void *)w->base, *buf = calloc((size_t)(2 * n), sizeof *buf),
        *back = calloc((size_t)n, sizeof *back);
    MPI_Datatype every2, every3;
    MPI_Type_vector(n, 1, 2, MPI_INT, &every2);
    MPI_Type_vector(n, 1, 3, MPI_INT, &every3);
    MPI_Type_commit(&every2);
    MPI_Type_commit(&every3);
    for (int i = 0; i < n; i++)
        buf[2 * i] = 7 * check_rank + i;
    for (int i = 0; i < 3 * n; i++)
        mine[i] = -5;
    MPI_Win_fence(0, w->win);
    CHECK_EQ(MPI_Put(buf, 1, every2, to, rma_at(w, to, 0, 4), 1, every3, w->win), MPI_SUCCESS);
    MPI_Win_fence(0, w->win);
    int wrong = 0;
    for (int i = 0; i < 3 * n - 2; i++)
        wrong += mine[i] != (i % 3 ? -5 : 7 * from + i / 3);
    CHECK_EQ(wrong, 0, "%s: elements of %d", rma_kind[w->kind], n);
    CHECK_EQ(MPI_Get(back, n, MPI_INT, to, rma_at(w, to, 0, 4), 1, every3, w->win), MPI_SUCCESS);
    MPI_Win_fence(0, w->win);
    for (int i = wrong = 0; i < n; i++)
        wrong += back[i] != 7 * check_rank + i;
    CHECK_EQ(wrong, 0, "%s: elements got of %d", rma_kind[w->kind], n);
    MPI_Win_fence(0, w->win);
    CHECK_EQ(MPI_Accumulate(buf, 1, every2, to, rma_at(w, to, 0, 4), 1, every3, MPI_MAX, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(buf, 1, every2, to, rma_at(w, to, 0, 4), 1, every3, MPI_SUM, w->win),
             MPI_SUCCESS);
    MPI_Win_fence(0, w->win);
    for (int i = wrong = 0; i < 3 * n - 2; i++)
        wrong += mine[i] != (i % 3 ? -5 : 2 * (7 * from + i / 3));
    CHECK_EQ(wrong, 0, "%s: elements accumulated of %d", rma_kind[w->kind], n);
    MPI_Type_free(&every2);
    MPI_Type_free(&every3);
    free(buf);
    free(back);
}

/* More datatypes than are kept by number, the first again at the end. */
static void many_types(struct rma_win *w)
{
    int to = (check_rank + 1) % check_size, *mine = (int *)(void *)w->base, one[2] = { 41, 42 };
    MPI_Datatype first;
    MPI_Type_vector(2, 1, 5, MPI_INT, &first);
    MPI_Type_commit(&first);
    MPI_Win_fence(0, w->win);
    for (int i = 0; i < 300; i++) {
        MPI_Datatype t;
        MPI_Type_vector(2, 1, 2 + i, MPI_INT, &t);
        MPI_Type_commit(&t);
        if (i == 0)
            MPI_Put(one, 2, MPI_INT, to, rma_at(w, to, 0, 4), 1, first, w->win);
        MPI_Put(one, 2, MPI_INT, to, rma_at(w, to, 400 + i, 4), 1, t, w->win);
        MPI_Type_free(&t);
    }
    MPI_Put(one, 2, MPI_INT, to, rma_at(w, to, 1, 4), 1, first, w->win);
    MPI_Win_fence(0, w->win);
    CHECK(mine[0] == 41 && mine[1] == 41 && mine[5] == 42 && mine[6] == 42, "%s: %d %d %d %d",
          rma_kind[w->kind], mine[0], mine[1], mine[5], mine[6]);
    CHECK(mine[699] == 41 && mine[699 + 301] == 42, "%s: the last, %d %d", rma_kind[w->kind], mine[699],
          mine[1000]);
    MPI_Type_free(&first);
}

#define OPERATION(T, MT, OP, A, B, EXPECTED) \
    do { \
        T a_ = (A), b_ = (B), old_ = (T)99, *mine_ = (T *)(void *)w->base; \
        *mine_ = b_; \
        MPI_Win_fence(0, w->win); \
        CHECK_EQ( \
            MPI_Get_accumulate(&a_, 1, MT, &old_, 1, MT, to, rma_at(w, to, 0, w->unit), 1, MT, OP, w->win), \
            MPI_SUCCESS); \
        MPI_Win_fence(0, w->win); \
        CHECK(old_ == b_, "%s, %s: old value", #OP, #T); \
        CHECK(*mine_ == (T)(EXPECTED), "%s, %s, %s: new value", rma_kind[w->kind], #OP, #T); \
    } while (0)

static void operations(struct rma_win *w)
{
    int to = (check_rank + 1) % check_size;
    OPERATION(int, MPI_INT, MPI_SUM, 3, 5, 8);
    OPERATION(int, MPI_INT, MPI_PROD, 3, 5, 15);
    OPERATION(int, MPI_INT, MPI_MAX, 3, 5, 5);
    OPERATION(int, MPI_INT, MPI_MIN, 3, 5, 3);
    OPERATION(int, MPI_INT, MPI_BAND, 6, 5, 4);
    OPERATION(int, MPI_INT, MPI_BOR, 6, 5, 7);
    OPERATION(int, MPI_INT, MPI_BXOR, 6, 5, 3);
    OPERATION(int, MPI_INT, MPI_LAND, 6, 5, 1);
    OPERATION(int, MPI_INT, MPI_LOR, 6, 0, 1);
    OPERATION(int, MPI_INT, MPI_LXOR, 6, 5, 0);
    OPERATION(int, MPI_INT, MPI_REPLACE, 6, 5, 6);
    OPERATION(int, MPI_INT, MPI_NO_OP, 6, 5, 5);
    OPERATION(signed char, MPI_SIGNED_CHAR, MPI_SUM, 3, 5, 8);
    OPERATION(short, MPI_SHORT, MPI_MAX, 9, 5, 9);
    OPERATION(uint64_t, MPI_UINT64_T, MPI_SUM, UINT64_MAX, 5, 4);
    OPERATION(float, MPI_FLOAT, MPI_SUM, 1.5f, 2.0f, 3.5f);
    OPERATION(double, MPI_DOUBLE, MPI_PROD, 1.5, 2.0, 3.0);
    OPERATION(long double, MPI_LONG_DOUBLE, MPI_SUM, 1.5L, 2.0L, 3.5L);
}

static void pairs(struct rma_win *w)
{
    struct {
        double v;
        int i;
    } a = { 4.0, check_rank }, *mine = (void *)w->base, old = { -1, -1 };
    struct {
        short v;
        int i;
    } s = { 4, check_rank }, *small = (void *)(w->base + 64);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    mine->v = 7.0, mine->i = 50;
    small->v = 3, small->i = 50;
    MPI_Win_fence(0, w->win);
    CHECK_EQ(MPI_Get_accumulate(&a, 1, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, to, rma_at(w, to, 0, 4), 1,
                                MPI_DOUBLE_INT, MPI_MINLOC, w->win),
             MPI_SUCCESS);
    CHECK_EQ(
        MPI_Accumulate(&s, 1, MPI_SHORT_INT, to, rma_at(w, to, 16, 4), 1, MPI_SHORT_INT, MPI_MAXLOC, w->win),
        MPI_SUCCESS);
    MPI_Win_fence(0, w->win);
    CHECK(old.v == 7.0 && old.i == 50, "old pair %g %d", old.v, old.i);
    CHECK(mine->v == 4.0 && mine->i == from, "%s: pair %g %d", rma_kind[w->kind], mine->v, mine->i);
    CHECK(small->v == 4 && small->i == from, "%s: pair %d %d", rma_kind[w->kind], small->v, small->i);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < RMA_KINDS; kind++) {
        struct rma_win w;
        if (!rma_open(&w, kind, 3 * 5000 * 4, 4, MPI_COMM_WORLD))
            continue;
        strided(&w, 3);
        strided(&w, 5000);
        many_types(&w);
        operations(&w);
        pairs(&w);
        rma_close(&w);
    }
    return check_done();
}
