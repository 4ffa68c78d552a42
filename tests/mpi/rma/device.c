/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* across: the device's own puts, gets and updates, where it has them */
/* Accesses that a device may do by itself, between others that it may not: short and long, not contiguous here or
 * there, with requests, with local completion only; updates in order whichever way each goes; ranges.  With
 * TEST_BY_DEVICE=1 the device must have had a part in it, with 2 in updates, too, with 1 in none of them. */
#include "../tool/tool.h"
#include "rma.h"
#include <stdlib.h>
#include <string.h>

enum { LONG = 40000, ROUNDS = 6 }; /* ints */
static int target, from;

static void fill(int *v, int n, int seed)
{
    for (int i = 0; i < n; i++)
        v[i] = seed * 1000003 + i;
}

/* Each length there and back; by the third round the target's key is known. */
static void lengths(MPI_Win win)
{
    static const int n[] = { 1, 7, 1000, LONG };
    int *out = malloc(4 * LONG), *in = malloc(4 * LONG);
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned k = 0; k < sizeof n / sizeof *n; k++) {
            fill(out, n[k], check_rank * 100 + round);
            memset(in, 0, 4 * (size_t)n[k]);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Put(out, n[k], MPI_INT, target, 3, n[k], MPI_INT, win);
            MPI_Win_flush(target, win);
            MPI_Get(in, n[k], MPI_INT, target, 3, n[k], MPI_INT, win);
            MPI_Win_unlock(target, win);
            CHECK(!memcmp(in, out, 4 * (size_t)n[k]), "%d ints, round %d", n[k], round);
        }
    free(out);
    free(in);
}

/* Every second int here, or there, or both; the types are freed before the access ends. */
static void gaps(MPI_Win win)
{
    int *out = malloc(8 * LONG), *in = calloc(2 * LONG, 4);
    for (int round = 0; round < ROUNDS; round++)
        for (int n = 5; n <= LONG / 2; n = n == 5 ? LONG / 2 : LONG) {
            MPI_Datatype every, there;
            fill(out, 2 * n, check_rank * 100 + round);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Type_vector(n, 1, 2, MPI_INT, &every);
            MPI_Type_commit(&every);
            MPI_Put(out, 1, every, target, 0, n, MPI_INT, win);
            MPI_Type_free(&every);
            MPI_Win_flush(target, win);
            MPI_Type_vector(n, 1, 2, MPI_INT, &every);
            MPI_Type_commit(&every);
            memset(in, 0, 8 * (size_t)n);
            MPI_Get(in, 1, every, target, 0, n, MPI_INT, win);
            MPI_Type_free(&every);
            MPI_Win_flush(target, win);
            for (int i = 0; i < n; i++)
                CHECK(in[2 * i] == out[2 * i] && in[2 * i + 1] == 0, "%d of %d, round %d", i, n, round);
            MPI_Type_vector(n, 1, 2, MPI_INT, &there);
            MPI_Type_commit(&there);
            MPI_Put(out, n, MPI_INT, target, 0, 1, there, win);
            MPI_Win_flush_local(target, win);
            MPI_Type_free(&there);
            MPI_Win_flush(target, win);
            MPI_Get(in, 2 * n - 1, MPI_INT, target, 0, 2 * n - 1, MPI_INT, win);
            MPI_Win_unlock(target, win);
            for (int i = 0; i < n; i++)
                CHECK(in[2 * i] == out[i], "there, %d of %d, round %d", i, n, round);
        }
    free(out);
    free(in);
}

static void requests(MPI_Win win)
{
    int *out = malloc(4 * LONG), *in = malloc(4 * LONG), small[2][3] = { { 1, 2, 3 }, { 0 } };
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request r[4];
        fill(out, LONG, check_rank * 100 + round);
        memset(in, 0, 4 * LONG);
        memset(small[1], 0, sizeof small[1]);
        MPI_Rput(out, LONG - 10, MPI_INT, target, 0, LONG - 10, MPI_INT, win, &r[0]);
        MPI_Rput(small[0], 3, MPI_INT, target, LONG - 10, 3, MPI_INT, win, &r[1]);
        CHECK_EQ(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        MPI_Win_flush(target, win);
        MPI_Rget(in, LONG - 10, MPI_INT, target, 0, LONG - 10, MPI_INT, win, &r[2]);
        MPI_Rget(small[1], 3, MPI_INT, target, LONG - 10, 3, MPI_INT, win, &r[3]);
        int flag = 0;
        while (!flag)
            MPI_Test(&r[3], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&r[2], MPI_STATUS_IGNORE);
        CHECK(!memcmp(in, out, 4 * (LONG - 10)), "round %d", round);
        CHECK(!memcmp(small[0], small[1], sizeof small[0]), "round %d, short", round);
    }
    /* One that is not waited for before the epoch ends. */
    MPI_Request r;
    MPI_Rget(in, 100, MPI_INT, target, 0, 100, MPI_INT, win, &r);
    MPI_Win_unlock_all(win);
    CHECK(!memcmp(in, out, 400), "at the end of the epoch");
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    free(out);
    free(in);
}

/* Updates of one element in the order of the calls: ones that a device has, and others. */
static void in_order(MPI_Win win)
{
    long v, old, was, one = 1, mask = 0xff;
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        long got[4];
        v = 5;
        MPI_Accumulate(&v, 1, MPI_LONG, target, 2 * 8, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Fetch_and_op(&one, &got[0], MPI_LONG, target, 2 * 8, MPI_SUM, win);
        MPI_Fetch_and_op(&v, &got[1], MPI_LONG, target, 2 * 8, MPI_PROD, win);
        MPI_Fetch_and_op(&mask, &got[2], MPI_LONG, target, 2 * 8, MPI_BXOR, win);
        MPI_Get_accumulate(NULL, 0, MPI_LONG, &got[3], 1, MPI_LONG, target, 2 * 8, 1, MPI_LONG, MPI_NO_OP,
                           win);
        MPI_Win_flush_local(target, win);
        CHECK(got[0] == 5 && got[1] == 6 && got[2] == 30 && got[3] == (30 ^ 0xff), "%ld %ld %ld %ld", got[0],
              got[1], got[2], got[3]);
        old = -1;
        was = 30 ^ 0xff;
        v = round;
        MPI_Compare_and_swap(&v, &was, &old, MPI_LONG, target, 2 * 8, win);
        MPI_Win_flush(target, win);
        CHECK_EQ(old, was);
        MPI_Compare_and_swap(&one, &was, &old, MPI_LONG, target, 2 * 8, win);
        MPI_Win_flush(target, win);
        CHECK(old == round, "a swap of what is not there: %ld", old);
        int low = 7, lows;
        MPI_Fetch_and_op(&low, &lows, MPI_INT, target, 5, MPI_REPLACE, win); /* not aligned */
        MPI_Fetch_and_op(&low, &lows, MPI_INT, target, 5, MPI_SUM, win);
        MPI_Win_flush(target, win);
        CHECK(lows == 7, "not aligned: %d", lows);
    }
    MPI_Win_unlock_all(win);
}

/* All count at rank 0, in part by many elements at once. */
static void together(MPI_Win win)
{
    enum { ADDS = 50, MANY = 5000 };
    long one = 1, old, *ones = malloc(8 * MANY), sum[MANY];
    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ADDS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 8 * (i % 10), MPI_SUM, win);
        if (i % 10 == check_rank % 10)
            MPI_Accumulate(ones, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(sum, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    for (int i = 0; i < MANY; i++)
        CHECK(sum[i] == check_size * (5 + (i < 10 ? ADDS / 10 : 0)), "element %d is %ld", i, sum[i]);
    free(ones);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ranges(MPI_Win win)
{
    int v = 1, by_call;
    char *much = malloc(32 << 20);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    for (int round = 0; round < ROUNDS; round++) {
        by_call = MPI_Put(&v, 1, MPI_INT, target, LONG + 3, 1, MPI_INT, win);
        CHECK_ERR(by_call ? by_call : MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE);
        CHECK_EQ(MPI_Win_flush(target, win), MPI_SUCCESS);
    }
    CHECK_ERR(MPI_Put(much, 32 << 20, MPI_BYTE, target, 0, 32 << 20, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
    CHECK_SAYS(check_text("the part of rank %d has %d", target, 4 * (LONG + 3)));
    MPI_Win_unlock(target, win);
    free(much);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    static const char *const names[] = { "keel_memory_puts", "keel_memory_gets", "keel_memory_atomics" };
    const char *must = getenv("TEST_BY_DEVICE");
    MPI_T_pvar_session counts;
    MPI_T_pvar_handle used[3];
    tool_begin();
    OK(MPI_T_pvar_session_create(&counts));
    for (int i = 0; i < 3; i++)
        used[i] = tool_watch(counts, names[i], MPI_T_PVAR_CLASS_COUNTER);
    target = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int kind = 0; kind < 2; kind++) { /* allocated, created */
        struct rma_win ints, longs;
        rma_open(&ints, kind, 4 * (LONG + 3), 4, MPI_COMM_WORLD);
        rma_open(&longs, kind, 8 * 5000 + 8, 1, MPI_COMM_WORLD);
        MPI_Win_set_errhandler(ints.win, MPI_ERRORS_RETURN);
        lengths(ints.win);
        MPI_Barrier(MPI_COMM_WORLD);
        gaps(ints.win);
        MPI_Barrier(MPI_COMM_WORLD);
        requests(ints.win);
        together(longs.win);
        in_order(longs.win);
        ranges(ints.win);
        rma_close(&ints);
        rma_close(&longs);
    }
    for (int i = 0; must && i < 3; i++) {
        uint64_t n = 0;
        OK(MPI_T_pvar_read(counts, used[i], &n));
        CHECK(i == 2 && atoi(must) == 1 ? n == 0 : n >= 6, "%s: %d", names[i], (int)n);
    }
    OK(MPI_T_pvar_session_free(&counts));
    OK(MPI_T_finalize());
    return check_done();
}
