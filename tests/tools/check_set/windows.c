/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c: one-sided communication. */
#include "set.h"

static MPI_Win win;

/* 100 int in each rank. */
static void make(void)
{
    MPI_Win_create(b, 100 * sizeof *b, sizeof *b, MPI_INFO_NULL, comm, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

WRONG(put_outside, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 91, 10, MPI_INT, win); /* returned-error: target_disp in near */
    MPI_Win_fence(0, win);                               /* returned-error: target_disp in far */
    MPI_Win_free(&win);
}

RIGHT(put_at_the_end, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 90, 10, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(get_before_the_window, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Get(a, 1, MPI_INT, next, -1, 1, MPI_INT, win); /* returned-error: target_disp */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

RIGHT(get_of_nobody, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Get(a, 1, MPI_INT, MPI_PROC_NULL, 1000, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(put_other_types, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 0, 10, MPI_FLOAT, win); /* window-types: target_datatype */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

RIGHT(put_same_types, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 0, 10, MPI_INT32_T, win);
    MPI_Put(a, 1, column, next, 10, 10, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(get_other_types, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get(d, 5, MPI_DOUBLE, next, 0, 10, MPI_INT, win); /* window-types: target_datatype */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(get_more_than_there_is, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get(a, 10, MPI_INT, next, 0, 9, MPI_INT, win); /* returned-error: origin_count */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(get_a_column, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get(a, 10, MPI_INT, next, 0, 1, column, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(accumulate_other_types, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Accumulate(a, 10, MPI_INT, next, 0, 10, MPI_UNSIGNED, MPI_SUM,
                   win); /* returned-error: origin_datatype */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

RIGHT(accumulate_twice, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Accumulate(a, 10, MPI_INT, next, 0, 10, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(a, 10, MPI_INT, next, 0, 10, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(get_accumulate_other_types, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get_accumulate(a, 10, MPI_INT, e, 10, MPI_FLOAT, next, 0, 10, MPI_INT, MPI_SUM,
                       win); /* window-types: target_datatype */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(get_accumulate_no_op, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get_accumulate(NULL, 0, MPI_FLOAT, a, 10, MPI_INT, next, 0, 10, MPI_INT, MPI_NO_OP, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(rput_other_types, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, 10, MPI_INT, next, 0, 40, MPI_BYTE, win, r); /* window-types: target_datatype */
    MPI_Wait(r, no);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(rput_bytes, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, 40, MPI_BYTE, next, 0, 40, MPI_BYTE, win, r);
    MPI_Wait(r, no);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(put_conflict, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Put(a, 2, MPI_INT, next, 1, 2, MPI_INT, win); /* window-conflict: - in alone */
    MPI_Win_fence(0, win);                            /* window-conflict: - in several */
    MPI_Win_free(&win);
}

RIGHT(put_beside, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Put(a, 2, MPI_INT, next, 2, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(put_and_get_conflict, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Get(a + 10, 2, MPI_INT, next, 0, 2, MPI_INT, win); /* window-conflict: - in alone */
    MPI_Win_fence(0, win);                                 /* window-conflict: - in several */
    MPI_Win_free(&win);
}

RIGHT(get_twice, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Get(a, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Get(a + 10, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(put_without_an_epoch, 1)
{
    make();
    MPI_Put(a, 1, MPI_INT, next, 0, 1, MPI_INT, win); /* returned-error: target_rank */
    MPI_Win_free(&win);
}

WRONG(unlock_without_lock, 1)
{
    make();
    MPI_Win_unlock(next, win); /* returned-error: rank */
    MPI_Win_free(&win);
}

RIGHT(lock_and_unlock, 1)
{
    make();
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Win_unlock(next, win);
    MPI_Win_free(&win);
}

WRONG(locked_twice, 1)
{
    make();
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win); /* returned-error: rank */
    MPI_Win_unlock(next, win);
    MPI_Win_free(&win);
}

WRONG(complete_without_start, 1)
{
    make();
    MPI_Win_complete(win); /* returned-error: win */
    MPI_Win_free(&win);
}

WRONG(wait_without_post, 1)
{
    make();
    MPI_Win_wait(win); /* returned-error: win */
    MPI_Win_free(&win);
}

WRONG(flush_without_lock, 1)
{
    make();
    MPI_Win_flush(next, win); /* returned-error: win */
    MPI_Win_free(&win);
}

WRONG(put_into_no_such_rank, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 1, MPI_INT, size, 0, 1, MPI_INT, win); /* returned-error: target_rank */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(put_changed, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, 10, MPI_INT, next, 0, 10, MPI_INT, win, r); /* send-changed: origin_addr */
    a[5] = -1;
    MPI_Wait(r, no);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(put_kept, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, 10, MPI_INT, next, 0, 10, MPI_INT, win, r);
    MPI_Wait(r, no);
    a[5] = -1;
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(got_twice_into_one_place, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rget(a, 10, MPI_INT, next, 0, 10, MPI_INT, win, r);
    MPI_Rget(a + 5, 10, MPI_INT, next, 20, 10, MPI_INT, win, r + 1); /* overlap: origin_addr */
    MPI_Waitall(2, r, none);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(got_twice_into_two_places, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rget(a, 10, MPI_INT, next, 0, 10, MPI_INT, win, r);
    MPI_Rget(a + 10, 10, MPI_INT, next, 20, 10, MPI_INT, win, r + 1);
    MPI_Waitall(2, r, none);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(op_for_another_type, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Accumulate(d, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, MPI_BOR, win); /* returned-error: op */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(negative_window, 1)
{
    MPI_Win_create(b, -4, 4, MPI_INFO_NULL, comm, &win); /* returned-error: size */
}

WRONG(freed_while_locked, 1)
{
    make();
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Win_free(&win); /* returned-error: win */
    if (win != MPI_WIN_NULL) {
        MPI_Win_unlock(next, win);
        MPI_Win_free(&win);
    }
}

WRONG(put_changed_before_the_fence, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 0, 10, MPI_INT, win); /* send-changed: origin_addr */
    a[5] = -1;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

RIGHT(put_changed_after_the_fence, 1)
{
    make();
    MPI_Win_fence(0, win);
    MPI_Put(a, 10, MPI_INT, next, 0, 10, MPI_INT, win);
    MPI_Win_fence(0, win);
    a[5] = -1;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

WRONG(accumulate_changed, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(a, 10, MPI_INT, next, 0, 10, MPI_INT, MPI_SUM, win); /* send-changed: origin_addr */
    MPI_Win_sync(win);
    a[5] = -1;
    MPI_Win_flush(next, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(accumulate_flushed, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(a, 10, MPI_INT, next, 0, 10, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_local(next, win);
    a[5] = -1;
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(got_twice_into_one_place_in_an_epoch, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get(a, 10, MPI_INT, next, 0, 10, MPI_INT, win);
    MPI_Get(a + 9, 10, MPI_INT, next, 20, 10, MPI_INT, win); /* overlap: origin_addr */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

RIGHT(got_twice_with_a_flush_between, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Get(a, 10, MPI_INT, next, 0, 10, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Get(a + 9, 10, MPI_INT, next, 20, 10, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* With a request, it is complete by the flush as well. */
RIGHT(rput_flushed, 1)
{
    make();
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, 10, MPI_INT, next, 0, 10, MPI_INT, win, r);
    MPI_Win_flush(next, win);
    a[5] = -1;
    MPI_Wait(r, no);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

WRONG(sent_while_it_is_got, 1)
{
    make();
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Get(a, 10, MPI_INT, next, 0, 10, MPI_INT, win);
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r); /* overlap: buf */
    MPI_Win_unlock(next, win);
    MPI_Recv(d, 10, MPI_INT, prev, 1, comm, no);
    MPI_Request_free(r);
    MPI_Win_free(&win);
}
