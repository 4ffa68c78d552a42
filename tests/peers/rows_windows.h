/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_windows.h: rows of misuse.c about one-sided communication. */
#ifndef ROWS_WINDOWS_H
#define ROWS_WINDOWS_H

#include "misuse.h"

static int win_made(MPI_Aint bytes, int unit)
{
    MPI_Win w;
    return MPI_Win_create(a, bytes, unit, MPI_INFO_NULL, S, &w);
}
static int win_size(void)
{
    return win_made(-1, 1);
}
static int win_unit(void)
{
    return win_made(4, 0);
}
static int win_unit_empty(void)
{
    return win_made(0, 0);
}
static int win_name_null(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    return MPI_Win_get_name(MPI_WIN_NULL, name, &n);
}
static int win_lock_type(void)
{
    return MPI_Win_lock(77, 0, 0, window());
}
static int win_lock_rank(void)
{
    return MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, window());
}
static int win_lock_assert(void)
{
    MPI_Win w = window();
    return rank == 0 ? MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, w) : 0;
}
static int win_fence_assert(void)
{
    return MPI_Win_fence(MPI_MODE_NOCHECK, window());
}
static int win_fence_odd(void)
{
    return MPI_Win_fence(1 << 30, window());
}
static int win_unlock_none(void)
{
    return MPI_Win_unlock(0, window());
}
static int win_unlock_all_none(void)
{
    return MPI_Win_unlock_all(window());
}
static int win_flush_none(void)
{
    return MPI_Win_flush(0, window());
}
static int win_flush_all_none(void)
{
    return MPI_Win_flush_all(window());
}
static int win_sync_none(void)
{
    return MPI_Win_sync(window());
}
static int win_lock_in_fence(void)
{
    MPI_Win w = window();
    MPI_Win_fence(0, w);
    return rank == 0 ? MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w) : 0;
}
static int win_lock_twice(void)
{
    MPI_Win w = window();
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
    return MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
}
static int win_lock_in_all(void)
{
    MPI_Win w = window();
    MPI_Win_lock_all(0, w);
    return MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
}
static int win_free_locked(void)
{
    MPI_Win w = window();
    MPI_Win_lock_all(0, w);
    return MPI_Win_free(&w);
}
static int win_complete_none(void)
{
    return MPI_Win_complete(window());
}
static int win_wait_none(void)
{
    return MPI_Win_wait(window());
}
static int win_test_none(void)
{
    return MPI_Win_test(window(), a);
}
static int win_post_twice(void)
{
    MPI_Win w = window();
    MPI_Win_post(MPI_GROUP_EMPTY, 0, w);
    return MPI_Win_post(MPI_GROUP_EMPTY, 0, w);
}
static int win_start_twice(void)
{
    MPI_Win w = window();
    MPI_Win_start(MPI_GROUP_EMPTY, 0, w);
    return MPI_Win_start(MPI_GROUP_EMPTY, 0, w);
}
static int win_fence_locked(void)
{
    MPI_Win w = window();
    MPI_Win_lock_all(0, w);
    return MPI_Win_fence(0, w);
}
static int put_no_epoch(void)
{
    return MPI_Put(a, 1, I, 0, 0, 1, I, window());
}
static int put_nobody(void)
{
    return MPI_Put(a, 1, I, NOBODY, 0, 1, I, window());
}
static int rput_nobody(void)
{
    return MPI_Rput(a, 1, I, NOBODY, 0, 1, I, window(), &req);
}
static int fetch_nobody(void)
{
    return MPI_Fetch_and_op(a, b, I, NOBODY, 0, MPI_SUM, window());
}
static int swap_nobody(void)
{
    return MPI_Compare_and_swap(a, b, b + 1, I, NOBODY, 0, window());
}
static int swap_double_nobody(void)
{
    return MPI_Compare_and_swap(a, b, b + 2, MPI_DOUBLE, NOBODY, 0, window());
}
static MPI_Win locked(void)
{
    MPI_Win w = window();
    MPI_Win_lock_all(0, w);
    return w;
}
static MPI_Win fenced(void)
{
    MPI_Win w = window();
    MPI_Win_fence(0, w);
    return w;
}
static int rput_fence(void)
{
    MPI_Win w = fenced();
    int e = MPI_Rput(a, 1, I, rank, 0, 1, I, w, &req);
    return e ? e : MPI_Wait(&req, &st);
}
static int put_range(void)
{
    return MPI_Put(a, 1, I, rank, 16, 1, I, locked());
}
static int put_negative(void)
{
    return MPI_Put(a, 1, I, rank, -1, 1, I, locked());
}
static int put_sizes(void)
{
    return MPI_Put(a, 2, I, rank, 0, 1, I, locked());
}
static int put_rank(void)
{
    return MPI_Put(a, 1, I, 99, 0, 1, I, locked());
}
static int put_uncommitted(void)
{
    return MPI_Put(a, 1, vector(0), rank, 0, 1, vector(0), locked());
}
static int acc_op(void)
{
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    return MPI_Accumulate(a, 1, I, rank, 0, 1, I, op, locked());
}
static int acc_no_op(void)
{
    return MPI_Accumulate(a, 1, I, rank, 0, 1, I, MPI_NO_OP, locked());
}
static int acc_types(void)
{
    return MPI_Accumulate(a, 1, MPI_FLOAT, rank, 0, 1, I, MPI_SUM, locked());
}
static int acc_maxloc(void)
{
    return MPI_Accumulate(a, 1, MPI_2INT, rank, 0, 1, MPI_2INT, MPI_MAXLOC, locked());
}
static int acc_sum_char(void)
{
    return MPI_Accumulate(a, 1, MPI_CHAR, rank, 0, 1, MPI_CHAR, MPI_SUM, locked());
}
static int fetch_derived(void)
{
    return MPI_Fetch_and_op(a, b, vector(1), rank, 0, MPI_REPLACE, locked());
}
static int swap_double(void)
{
    return MPI_Compare_and_swap(a, b, b + 2, MPI_DOUBLE, rank, 0, locked());
}
static int attach_static(void)
{
    return MPI_Win_attach(window(), a, 4);
}
static MPI_Win dynamic(void)
{
    MPI_Win w;
    MPI_Win_create_dynamic(MPI_INFO_NULL, W, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    return w;
}
static int attach_overlap(void)
{
    MPI_Win w = dynamic();
    MPI_Win_attach(w, a, 16);
    return MPI_Win_attach(w, a + 1, 4);
}
static int detach_unknown(void)
{
    return MPI_Win_detach(dynamic(), a);
}
static int query_dynamic(void)
{
    MPI_Aint n;
    void *p;
    return MPI_Win_shared_query(dynamic(), 0, &n, a, &p);
}
static int query_created(void)
{
    MPI_Win w;
    MPI_Aint n;
    void *p;
    MPI_Win_create(a, 4, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    return MPI_Win_shared_query(w, rank, &n, b, &p);
}
static int no_locks(void)
{
    MPI_Win w;
    int *base;
    MPI_Win_allocate(64, 4, info("no_locks", "true"), W, &base, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    return MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
}
static int win_hint_value(void)
{
    return MPI_Win_set_info(window(), info("accumulate_ops", "any"));
}
static int win_hint_bool(void)
{
    return MPI_Win_set_info(window(), info("same_size", "perhaps"));
}
static int noncontig_later(void)
{
    MPI_Win w;
    int *base, flag = 0;
    char text[8] = "";
    MPI_Info i;
    MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, W, &base, &w);
    MPI_Win_set_info(w, info("alloc_shared_noncontig", "true"));
    MPI_Win_get_info(w, &i);
    MPI_Info_get(i, "alloc_shared_noncontig", 7, text, &flag);
    return flag && !strcmp(text, "true") ? 0 : NONSENSE;
}

#endif
