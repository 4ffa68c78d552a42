/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* nodes: one, because the short way is one within a node */
/* Accesses again and again to one target, which take a short way from the second on: what is refused the first
 * time is refused then, too; sizes, datatypes and displacements; an end of the epoch; other targets and windows
 * between. */
#include "rma.h"
#include <stdint.h>

enum { BYTES = 64 };

static int target; /* the next rank */

/* Each refusal, `before` that many accesses to the target. */
static void refused(MPI_Win win, int before)
{
    static const struct {
        int count, there, disp, error;
    } bad[] = {
        { 1, 1, BYTES / 4, MPI_ERR_RMA_RANGE },
        { 2, 2, BYTES / 4 - 1, MPI_ERR_RMA_RANGE },
        { 1, 1, BYTES, MPI_ERR_RMA_RANGE },
        { 1, 1, -1, MPI_ERR_DISP },
        { 2, 1, 0, MPI_ERR_ARG },
        { -1, 1, 0, MPI_ERR_COUNT },
        { 1, -1, 0, MPI_ERR_COUNT },
        { BYTES, BYTES, 0, MPI_ERR_RMA_RANGE },
    };
    int v[BYTES] = { 0 };
    long one = 1, old;
    MPI_Datatype open;
    MPI_Type_contiguous(1, MPI_INT, &open);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int k = 0; k < before; k++)
            CHECK_EQ(MPI_Put(v, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_SUCCESS);
        CHECK_ERR(MPI_Put(v, bad[i].count, MPI_INT, target, bad[i].disp, bad[i].there, MPI_INT, win),
                  bad[i].error);
        CHECK_ERR(MPI_Get(v, bad[i].count, MPI_INT, target, bad[i].disp, bad[i].there, MPI_INT, win),
                  bad[i].error);
    }
    CHECK_ERR(MPI_Put(NULL, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Put(v, 1, open, target, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Get(v, 1, MPI_INT, target, 0, 1, open, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Put(v, 1, MPI_DATATYPE_NULL, target, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Put(v, 1, MPI_INT, check_size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Put(v, 1, MPI_INT, -7, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Win_flush(check_size, win), MPI_ERR_RANK);
    CHECK_EQ(MPI_Put(v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, BYTES / 4 - 1, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    CHECK_ERR(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, -4, MPI_SUM, win), MPI_ERR_DISP);
    CHECK_ERR(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 0, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Fetch_and_op(NULL, &old, MPI_LONG, target, 0, MPI_SUM, win), MPI_ERR_BUFFER);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_ERR(MPI_Accumulate(v, bad[i].count, MPI_INT, target, bad[i].disp, bad[i].there, MPI_INT,
                                 MPI_SUM, win),
                  bad[i].error);
    CHECK_ERR(MPI_Accumulate(NULL, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Accumulate(v, 1, MPI_INT, target, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Accumulate(v, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(v, 1, MPI_INT, check_size, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RANK);
    CHECK_EQ(MPI_Accumulate(v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win), MPI_SUCCESS);
    CHECK_ERR(MPI_Compare_and_swap(&one, &one, &old, MPI_LONG, target, BYTES / 4 - 1, win),
              MPI_ERR_RMA_RANGE);
    CHECK_ERR(MPI_Compare_and_swap(&one, &one, &old, MPI_LONG, target, -4, win), MPI_ERR_DISP);
    CHECK_ERR(MPI_Compare_and_swap(&one, &one, &old, MPI_DOUBLE, target, 0, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Compare_and_swap(NULL, &one, &old, MPI_LONG, target, 0, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(&one, NULL, &old, MPI_LONG, target, 0, win), MPI_ERR_BUFFER);
    MPI_Type_free(&open);
}

static void outside(MPI_Win win)
{
    int v = 0;
    long one = 1, old;
    CHECK_ERR(MPI_Put(&v, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Get(&v, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush(target, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Accumulate(&v, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Compare_and_swap(&one, &one, &old, MPI_LONG, target, 0, win), MPI_ERR_RMA_SYNC);
}

static void epochs(MPI_Win win)
{
    int v = 0;
    MPI_Group others;
    MPI_Comm_group(MPI_COMM_WORLD, &others);
    for (int round = 0; round < 2; round++) {
        MPI_Win_lock_all(0, win);
        refused(win, round);
        MPI_Win_unlock_all(win);
        outside(win);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        refused(win, round);
        MPI_Win_unlock(target, win);
        outside(win);
        if (check_size > 1) {
            MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
            outside(win);
            CHECK_EQ(MPI_Put(&v, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win), MPI_SUCCESS);
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
            CHECK_EQ(MPI_Put(&v, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_SUCCESS);
            MPI_Win_unlock(target, win);
            outside(win);
            CHECK_EQ(MPI_Put(&v, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win), MPI_SUCCESS);
            MPI_Win_unlock(check_rank, win);
        }
        MPI_Win_fence(0, win);
        for (int k = 0; k <= round; k++)
            CHECK_EQ(MPI_Put(&v, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_SUCCESS);
        CHECK_ERR(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_RMA_SYNC);
        MPI_Win_fence(0, win);
        CHECK_EQ(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_SUCCESS);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        outside(win);
        MPI_Win_post(others, 0, win);
        MPI_Win_start(others, 0, win);
        for (int k = 0; k <= round; k++)
            CHECK_EQ(MPI_Put(&v, 1, MPI_INT, target, 0, 1, MPI_INT, win), MPI_SUCCESS);
        MPI_Win_complete(win);
        outside(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&others);
}

/* Every length and displacement, from a pattern and back, with the bytes around it. */
static void lengths(const struct rma_win *w)
{
    unsigned char out[BYTES], in[BYTES], model[BYTES] = { 0 };
    MPI_Barrier(MPI_COMM_WORLD);
    memset(w->base, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    for (int n = 0; n <= 20; n++)
        for (int at = 0; at + n <= BYTES; at += 3) {
            for (int i = 0; i < n; i++)
                out[i] = model[at + i] = (unsigned char)(n * 7 + at + i);
            CHECK_EQ(MPI_Put(out, n, MPI_BYTE, target, at, n, MPI_BYTE, w->win), MPI_SUCCESS);
            MPI_Win_flush(target, w->win);
            memset(in, 1, sizeof in);
            CHECK_EQ(MPI_Get(in, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, w->win), MPI_SUCCESS);
            MPI_Win_flush(target, w->win);
            CHECK(memcmp(in, model, BYTES) == 0, "%d bytes at %d", n, at);
        }
    MPI_Win_unlock_all(w->win);
}

/* Contiguous ones that begin elsewhere than at 0, and ones with gaps. */
static void datatypes(const struct rma_win *w)
{
    MPI_Datatype shifted, gaps, three;
    int block = 1, in[4] = { 0 };
    MPI_Aint at = 8;
    MPI_Type_create_hindexed(1, &block, &at, MPI_INT, &shifted);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&shifted);
    MPI_Type_commit(&gaps);
    MPI_Type_commit(&three);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    for (int round = 0; round < 3; round++) {
        int zero[16] = { 0 }, out[3] = { 10 + round, 20 + round, 30 + round };
        MPI_Put(zero, 16, MPI_INT, target, 0, 16, MPI_INT, w->win);
        MPI_Put(out, 1, three, target, 4, 3, MPI_INT, w->win);    /* ints 1 2 3 */
        MPI_Put(out, 1, MPI_INT, target, 12, 1, shifted, w->win); /* int 5 */
        MPI_Put(out, 1, shifted, target, 24, 1, MPI_INT, w->win); /* int 6: out[2] */
        MPI_Put(out, 2, MPI_INT, target, 32, 1, gaps, w->win);    /* ints 8 and 10 */
        MPI_Win_flush(target, w->win);
        int got[16], want[16] = { 0, out[0], out[1], out[2], 0, out[0], out[2], 0, out[0], 0, out[1] };
        MPI_Get(got, 16, MPI_INT, target, 0, 16, MPI_INT, w->win);
        MPI_Get(in, 1, gaps, target, 32, 2, MPI_INT, w->win); /* in[0] and in[2] */
        MPI_Win_flush(target, w->win);
        CHECK(memcmp(got, want, sizeof got) == 0, "round %d", round);
        CHECK_EQ(in[0], out[0]);
        CHECK_EQ(in[2], 0);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Type_free(&shifted);
    MPI_Type_free(&gaps);
    MPI_Type_free(&three);
}

#define FETCHES(T, type) \
    for (int at = 0; at <= 24; at += 3) { \
        T one = (T)3, old = 0, zero = 0, now = 0; \
        MPI_Put(&zero, 1, type, target, at, 1, type, w->win); \
        CHECK_EQ(MPI_Fetch_and_op(&one, &old, type, target, at, MPI_SUM, w->win), MPI_SUCCESS); \
        MPI_Win_flush(target, w->win); \
        CHECK(old == 0, "%s at %d", #T, at); \
        MPI_Fetch_and_op(&one, &old, type, target, at, MPI_SUM, w->win); \
        MPI_Win_flush(target, w->win); \
        CHECK(old == (T)3, "%s at %d, the second time", #T, at); \
        MPI_Fetch_and_op(&one, &old, type, target, at, MPI_REPLACE, w->win); \
        MPI_Win_flush(target, w->win); \
        CHECK(old == (T)6, "%s at %d, replaced", #T, at); \
        MPI_Fetch_and_op(NULL, &now, type, target, at, MPI_NO_OP, w->win); \
        MPI_Win_flush(target, w->win); \
        CHECK(now == (T)3, "%s at %d, read", #T, at); \
        MPI_Fetch_and_op(&one, &old, type, target, at, MPI_PROD, w->win); \
        MPI_Fetch_and_op(NULL, &now, type, target, at, MPI_NO_OP, w->win); \
        MPI_Win_flush(target, w->win); \
        CHECK(now == (T)9, "%s at %d, multiplied", #T, at); \
    }

/* Rows of n elements at any place: sums and replacements, with the bytes around them. */
#define ACCUMULATES(T, type) \
    for (int n = 0; n <= (int)(BYTES / sizeof(T)); n += n < 3 ? 1 : 3) \
        for (int at = 0; at + n * (int)sizeof(T) <= BYTES; at += 3) { \
            T in[BYTES / sizeof(T)], got[BYTES / sizeof(T)]; \
            unsigned char all[BYTES], before[BYTES]; \
            for (int i = 0; i < BYTES; i++) \
                before[i] = (unsigned char)(at + i); \
            for (int i = 0; i < n; i++) \
                in[i] = (T)(i + 2); \
            MPI_Put(before, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, w->win); \
            MPI_Win_flush(target, w->win); \
            CHECK_EQ(MPI_Accumulate(in, n, type, target, at, n, type, MPI_REPLACE, w->win), MPI_SUCCESS); \
            for (int k = 0; k < 3; k++) \
                CHECK_EQ(MPI_Accumulate(in, n, type, target, at, n, type, MPI_SUM, w->win), MPI_SUCCESS); \
            MPI_Win_flush(target, w->win); \
            MPI_Get(all, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, w->win); \
            MPI_Win_flush(target, w->win); \
            memcpy(got, all + at, (size_t)n * sizeof(T)); \
            memcpy(before + at, all + at, (size_t)n * sizeof(T)); \
            CHECK(memcmp(all, before, BYTES) == 0, "%d of %s at %d, around them", n, #T, at); \
            for (int i = 0; i < n; i++) \
                CHECK(got[i] == (T)(4 * (i + 2)), "%d of %s at %d: element %d", n, #T, at, i); \
        }

#define SWAPS(T, type) \
    for (int at = 0; at <= 24; at += 3) { \
        T three = (T)3, other = (T) ~(T)0, old = 0, now = 0; \
        MPI_Put(&three, 1, type, target, at, 1, type, w->win); \
        MPI_Win_flush(target, w->win); \
        CHECK_EQ(MPI_Compare_and_swap(&other, &other, &old, type, target, at, w->win), MPI_SUCCESS); \
        MPI_Win_flush(target, w->win); \
        CHECK(old == (T)3, "%s at %d, not swapped", #T, at); \
        CHECK_EQ(MPI_Compare_and_swap(&other, &three, &old, type, target, at, w->win), MPI_SUCCESS); \
        MPI_Win_flush(target, w->win); \
        CHECK(old == (T)3, "%s at %d, swapped", #T, at); \
        MPI_Fetch_and_op(NULL, &now, type, target, at, MPI_NO_OP, w->win); \
        MPI_Win_flush(target, w->win); \
        CHECK(now == other, "%s at %d, after the swap", #T, at); \
    }

static void accumulates(const struct rma_win *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    ACCUMULATES(int, MPI_INT)
    ACCUMULATES(uint64_t, MPI_UINT64_T)
    ACCUMULATES(uint8_t, MPI_UINT8_T)
    ACCUMULATES(float, MPI_FLOAT)
    ACCUMULATES(double, MPI_DOUBLE)
    SWAPS(int, MPI_INT)
    SWAPS(uint16_t, MPI_UINT16_T)
    SWAPS(long, MPI_LONG)
    MPI_Win_unlock_all(w->win);
}

static void fetches(const struct rma_win *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    FETCHES(int, MPI_INT)
    FETCHES(long, MPI_LONG)
    FETCHES(uint16_t, MPI_UINT16_T)
    FETCHES(uint64_t, MPI_UINT64_T)
    FETCHES(float, MPI_FLOAT)
    FETCHES(double, MPI_DOUBLE)
    MPI_Win_unlock_all(w->win);
}

/* Two windows and all targets in turns: each access reaches its own. */
static void in_turns(const struct rma_win *a, const struct rma_win *b)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, a->win);
    MPI_Win_lock_all(0, b->win);
    for (int round = 0; round < 3; round++)
        for (int t = 0; t < check_size; t++) {
            int x = 100 * check_rank + 10 * t + round, y = -x, got[2] = { 0, 0 };
            int at = (check_rank % 8) * 4;
            MPI_Put(&x, 1, MPI_INT, t, at, 1, MPI_INT, a->win);
            MPI_Put(&y, 1, MPI_INT, t, at, 1, MPI_INT, b->win);
            MPI_Win_flush(t, a->win);
            MPI_Win_flush(t, b->win);
            MPI_Get(&got[0], 1, MPI_INT, t, at, 1, MPI_INT, a->win);
            MPI_Get(&got[1], 1, MPI_INT, t, at, 1, MPI_INT, b->win);
            MPI_Win_flush_all(a->win);
            MPI_Win_flush_all(b->win);
            CHECK(got[0] == x && got[1] == y, "target %d: %d and %d; expected %d and %d", t, got[0], got[1],
                  x, y);
        }
    MPI_Win_unlock_all(b->win);
    MPI_Win_unlock_all(a->win);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    target = (check_rank + 1) % check_size;
    for (int kind = 0; kind < RMA_KINDS; kind += 3) {
        struct rma_win ints, bytes, other;
        if (!rma_open(&ints, kind, BYTES, 4, MPI_COMM_WORLD))
            continue;
        rma_open(&bytes, kind, BYTES, 1, MPI_COMM_WORLD);
        rma_open(&other, kind, BYTES, 1, MPI_COMM_WORLD);
        MPI_Win_set_errhandler(ints.win, MPI_ERRORS_RETURN);
        epochs(ints.win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, ints.win);
        lengths(&bytes);
        datatypes(&bytes);
        fetches(&bytes);
        accumulates(&bytes);
        in_turns(&bytes, &other);
        rma_close(&other);
        rma_close(&bytes);
        rma_close(&ints);
    }
    return check_done();
}
