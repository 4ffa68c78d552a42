/* SPDX-License-Identifier: BSD-3-Clause */
/* passive.c: passive targets: lock and unlock, flush, sync.
 *
 * On this node a lock is a matter of words (rma_lock.c).  Elsewhere the target is asked by a message;
 * MPI_Win_lock_all asks nobody there until a target is first accessed (access.c). */
#include "config.h"
#include "bodies.h"
#include "rma.h"

static int passive_first_of(int a, int b)
{
    return a ? a : b;
}

static int check_rank(const MPIR_Win *win, int rank)
{
    if (rank >= 0 && rank < win->comm->adi.size)
        return 0;
    return MPIR_Err(MPI_ERR_RANK, "rank", "is %d; expected 0 to %d", rank, win->comm->adi.size - 1);
}

static int check_lock(const MPIR_Win *win, int assertion, bool one)
{
    const struct rma *r = win->rma;
    if (assertion & ~MPI_MODE_NOCHECK)
        return MPIR_Err(MPI_ERR_ASSERT, "assert", "is %#x; expected 0 or MPI_MODE_NOCHECK",
                        (unsigned)assertion);
    if (r->no_locks)
        return MPIR_Err(MPI_ERR_RMA_SYNC, "win", "was given the info key no_locks; expected no locks");
    if (r->epoch == RMA_NONE || (r->epoch == RMA_FENCE && !r->fence_used) || (one && r->epoch == RMA_LOCK))
        return 0;
    return MPIR_Err(MPI_ERR_RMA_SYNC, "win", "is in an epoch that %s began; expected none",
                    r->epoch == RMA_FENCE   ? "MPI_Win_fence"
                    : r->epoch == RMA_START ? "MPI_Win_start"
                    : r->epoch == RMA_LOCK  ? "MPI_Win_lock"
                                            : "MPI_Win_lock_all");
}

int MPIR_Win_lock(int lock_type, int rank, int assertion, MPIR_Win *win)
{
    struct rma *r = win->rma;
    if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
        return MPIR_Err(MPI_ERR_LOCKTYPE, "lock_type",
                        "is %d; expected MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED", lock_type);
    if (rank == MPI_PROC_NULL)
        return 0;
    int err = passive_first_of(check_rank(win, rank), check_lock(win, assertion, true));
    struct rma_target *t = err ? NULL : MPIR_Rma_target(win, rank);
    if (!t)
        return passive_first_of(err, MPI_ERR_NO_MEM);
    if (t->access)
        return MPIR_Err(MPI_ERR_RMA_SYNC, "rank", "is %d, which this process has locked already", rank);
    uint32_t access = (lock_type == MPI_LOCK_EXCLUSIVE ? RMA_ALONE : RMA_SHARED) |
                      (assertion & MPI_MODE_NOCHECK ? RMA_UNCHECKED : 0);
    if (!t->slot)
        err = MPIR_Rma_Remote_lock(win, t, access);
    else if (!(access & RMA_UNCHECKED))
        err = MPIR_Rma_Lock_one(r, t->slot, lock_type == MPI_LOCK_EXCLUSIVE);
    if (err)
        return err;
    t->access = access;
    win->near = &t->near;
    r->epoch = RMA_LOCK;
    r->locks++;
    return 0;
}

int MPIR_Win_unlock(int rank, MPIR_Win *win)
{
    struct rma *r = win->rma;
    if (rank == MPI_PROC_NULL)
        return 0;
    int err = check_rank(win, rank);
    struct rma_target *t = err ? NULL : MPIR_Rma_target(win, rank);
    if (!t)
        return passive_first_of(err, MPI_ERR_NO_MEM);
    if (r->epoch != RMA_LOCK || !t->access)
        return MPIR_Err(MPI_ERR_RMA_SYNC, "rank",
                        "is %d, which this process has not locked; expected MPI_Win_lock before", rank);
    if (t->slot) {
        err = MPIR_Rma_Flush(win, t);
        if (!(t->access & RMA_UNCHECKED))
            MPIR_Rma_Unlock_one(r, t->slot, t->access & RMA_ALONE);
    } else {
        struct rma_ack *acks = NULL;
        err = passive_first_of(MPIR_Rma_Device_flush(t), MPIR_Rma_Device_wait(t));
        err = passive_first_of(err, MPIR_Rma_Remote_ask(win, t, !(t->access & RMA_UNCHECKED), &acks));
        err = passive_first_of(err, MPIR_Rma_Remote_answers(&acks));
        err = passive_first_of(err, MPIR_Rma_Flush_local(win, t));
    }
    t->access = 0;
    MPIR_Near_forget(win);
    if (--r->locks == 0)
        r->epoch = RMA_NONE;
    return err;
}

int MPIR_Win_lock_all(int assertion, MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err = check_lock(win, assertion, false);
    if (!err && !(assertion & MPI_MODE_NOCHECK))
        err = MPIR_Rma_Lock_all_words(r);
    if (err)
        return err;
    r->all_checked = !(assertion & MPI_MODE_NOCHECK);
    r->epoch = RMA_LOCK_ALL;
    return 0;
}

static int check_all(const MPIR_Win *win)
{
    if (win->rma->epoch == RMA_LOCK_ALL)
        return 0;
    return MPIR_Err(MPI_ERR_RMA_SYNC, "win", "is in no epoch of MPI_Win_lock_all; expected that call before");
}

int MPIR_Win_unlock_all(MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err = check_all(win);
    if (err)
        return err;
    struct rma_ack *acks = NULL;
    for (struct rma_target *t = r->touched; t; t = t->touched)
        err = passive_first_of(err, MPIR_Rma_Device_flush(t));
    for (struct rma_target *t = r->touched; t; t = t->touched)
        err = passive_first_of(err, MPIR_Rma_Device_wait(t));
    for (struct rma_target *t = r->touched; t; t = t->touched) {
        bool locked = (t->access & (RMA_BY_ALL | RMA_UNCHECKED)) == RMA_BY_ALL;
        if (t->dirty || (t->access & RMA_BY_ALL))
            err = passive_first_of(err, MPIR_Rma_Remote_ask(win, t, locked, &acks));
        t->access = 0;
    }
    err = passive_first_of(err, MPIR_Rma_Remote_answers(&acks));
    err = passive_first_of(err, MPIR_Rma_Flush_all(win));
    if (r->all_checked)
        MPIR_Rma_Unlock_all_words(r);
    MPIR_Near_forget(win);
    r->epoch = RMA_NONE;
    return err;
}

/* ---- Flush ------------------------------------------------------------------------------------------------------ */

static int check_passive(const MPIR_Win *win)
{
    if (win->rma->epoch == RMA_LOCK || win->rma->epoch == RMA_LOCK_ALL)
        return 0;
    return MPIR_Err(MPI_ERR_RMA_SYNC, "win",
                    "is in no epoch of passive targets; expected MPI_Win_lock or MPI_Win_lock_all before");
}

/* NULL: *err, or 0 for MPI_PROC_NULL. */
static struct rma_target *flushed(MPIR_Win *win, int rank, int *err)
{
    *err = 0;
    if (rank == MPI_PROC_NULL || (*err = check_passive(win)) || (*err = check_rank(win, rank)))
        return NULL;
    struct rma_target *t = MPIR_Rma_target(win, rank);
    *err = t ? 0 : MPI_ERR_NO_MEM;
    if (t && win->rma->epoch == RMA_LOCK && !t->access) {
        *err = MPIR_Err(MPI_ERR_RMA_SYNC, "rank",
                        "is %d, which this process has not locked; expected MPI_Win_lock before", rank);
        t = NULL;
    }
    return t;
}

int MPIR_Win_flush(int rank, MPIR_Win *win)
{
    int err;
    struct rma_target *t = flushed(win, rank, &err);
    return t ? MPIR_Rma_Flush(win, t) : err;
}

int MPIR_Win_flush_local(int rank, MPIR_Win *win)
{
    int err;
    struct rma_target *t = flushed(win, rank, &err);
    return t && !t->direct ? MPIR_Rma_Flush_local(win, t) : err;
}

int MPIR_Win_flush_all(MPIR_Win *win)
{
    int err = check_passive(win);
    return err ? err : MPIR_Rma_Flush_all(win);
}

int MPIR_Win_flush_local_all(MPIR_Win *win)
{
    int err = check_passive(win);
    return err ? err : MPIR_Rma_Flush_local(win, NULL);
}

int MPIR_Win_sync(MPIR_Win *win)
{
    (void)win;
    atomic_thread_fence(memory_order_seq_cst);
    MPID_DeviceCheck(MPID_NOTBLOCKING); /* who polls its own memory lets the messages in that fill it */
    return 0;
}
