/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.c: active targets: fence, and post-start-complete-wait; and completion, which all kinds of synchronization
 * share.
 *
 * A fence completes what this process has begun and meets the others. Post and complete are empty messages in the
 * window's context, one for each pair. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "rma.h"

/* ---- Completion ----------------------------------------------------------------------------------------------- */

static int sync_first_of(int a, int b)
{
    return a ? a : b;
}

/* The accesses of this process to its own part are ordered before what follows. */
static void flush_own(struct rma *r)
{
    if (r->epoch != RMA_FENCE && !r->posted)
        MPIR_Rma_Check_forget(r, r->own->rank, 0);
}

/* Who asks again and again for what others change by messages lets these in. */
static void look_now_and_then(struct rma *r)
{
    enum { LOOK_EVERY = 16 };
    if (r->served && ++r->flushes % LOOK_EVERY == 0)
        MPID_DeviceCheck(MPID_NOTBLOCKING);
}

/* What targets have refused and not yet told: of one, or all (NULL). */
static int ask_why(MPIR_Win *win, struct rma_target *one)
{
    struct rma_ack *acks = NULL;
    int err = 0;
    for (struct rma_target *t = one ? one : win->rma->touched; t; t = one ? NULL : t->touched)
        if (t->refused)
            err = sync_first_of(err, MPIR_Rma_Remote_ask(win, t, false, &acks));
    return sync_first_of(err, MPIR_Rma_Remote_answers(&acks));
}

int MPIR_Rma_Flush(MPIR_Win *win, struct rma_target *t)
{
    int err = 0;
    MPIR_Near_fence(win);
    look_now_and_then(win->rma);
    if (win->rma->checks && t == win->rma->own)
        flush_own(win->rma);
    struct rma_ack *acks = NULL;
    if (t->dirty || t->asked)
        err = MPIR_Rma_Remote_ask(win, t, false, &acks);
    err = sync_first_of(err, MPIR_Rma_Device_flush(t));
    err = sync_first_of(err, MPIR_Rma_Remote_answers(&acks));
    if (t->direct)
        return err;
    err = sync_first_of(err, MPIR_Rma_Flush_local(win, t));
    return sync_first_of(err, ask_why(win, t));
}

/* All are asked before any answer is waited for. */
int MPIR_Rma_Flush_all(MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err = 0;
    MPIR_Near_fence(win);
    if (r->checks)
        flush_own(r);
    if (!r->served)
        return 0;
    look_now_and_then(r);
    struct rma_ack *acks = NULL;
    for (struct rma_target *t = r->touched; t; t = t->touched)
        if (t->dirty || t->asked)
            err = sync_first_of(err, MPIR_Rma_Remote_ask(win, t, false, &acks));
    for (struct rma_target *t = r->touched; t; t = t->touched)
        err = sync_first_of(err, MPIR_Rma_Device_flush(t));
    err = sync_first_of(err, MPIR_Rma_Remote_answers(&acks));
    err = sync_first_of(err, MPIR_Rma_Flush_local(win, NULL));
    return sync_first_of(err, ask_why(win, NULL));
}

/* Nothing that the target was sent is under way. */
static void sync_settle(struct rma_target *t)
{
    t->updated &= t->dirty || t->asked;
}

int MPIR_Rma_Flush_local(MPIR_Win *win, struct rma_target *t)
{
    int err = t ? MPIR_Rma_Device_wait(t) : 0;
    for (struct rma_target *each = t ? NULL : win->rma->touched; each; each = each->touched)
        err = sync_first_of(err, MPIR_Rma_Device_wait(each));
    err = sync_first_of(err, MPIR_Rma_Out_wait(win, t ? t->rank : -1));
    for (struct rma_target *each = t ? t : win->rma->touched; each; each = t ? NULL : each->touched)
        sync_settle(each);
    return err;
}

/* ---- Which epochs may follow one another ------------------------------------------------------------------------ */

static const char *const begun_by[] = { [RMA_NONE] = "nothing",
                                        [RMA_FENCE] = "MPI_Win_fence",
                                        [RMA_START] = "MPI_Win_start",
                                        [RMA_LOCK] = "MPI_Win_lock",
                                        [RMA_LOCK_ALL] = "MPI_Win_lock_all" };

static int check_assert(int assertion, int allowed, const char *expected)
{
    if (!(assertion & ~allowed))
        return 0;
    return MPIR_Err(MPI_ERR_ASSERT, "assert", "is %#x; expected 0 or a combination of %s",
                    (unsigned)assertion, expected);
}

/* A fence that has been followed by nothing ends by itself. */
static int check_idle(const MPIR_Win *win)
{
    const struct rma *r = win->rma;
    if (r->epoch == RMA_NONE || (r->epoch == RMA_FENCE && !r->fence_used))
        return 0;
    return MPIR_Err(MPI_ERR_RMA_SYNC, "win", "is in an epoch that %s began; expected none",
                    begun_by[r->epoch]);
}

/* ---- Fence ------------------------------------------------------------------------------------------------------ */

int MPIR_Win_fence(int assertion, MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err =
        check_assert(assertion, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED,
                     "MPI_MODE_NOSTORE, _NOPUT, _NOPRECEDE, _NOSUCCEED");
    if (err)
        return err;
    if ((r->epoch != RMA_NONE && r->epoch != RMA_FENCE) || r->posted)
        return MPIR_Err(MPI_ERR_RMA_SYNC, "win",
                        "is in an epoch that %s began; expected none, or one of fences",
                        r->posted ? "MPI_Win_post" : begun_by[r->epoch]);
    if ((assertion & MPI_MODE_NOPRECEDE) && r->fence_used)
        return MPIR_Err(
            MPI_ERR_RMA_SYNC, "assert",
            "has MPI_MODE_NOPRECEDE, and this process has accessed the window since the fence before");
    err = MPIR_Rma_Flush_all(win);
    err = sync_first_of(err, MPIR_Barrier(win->comm));
    MPIR_Near_forget(win);
    r->fence_used = false;
    r->fences++;
    if (r->checks)
        MPIR_Rma_Check_forget(r, -1, r->fences);
    r->epoch = assertion & MPI_MODE_NOSUCCEED ? RMA_NONE : RMA_FENCE;
    return err;
}

/* ---- Post, start, complete, wait -------------------------------------------------------------------------------- */

/* The rank in the window of a member of a group. */
static int sync_rank_of(MPIR_Win *win, const MPIR_Group *group, int32_t i, int32_t *rank)
{
    *rank = MPIR_Group_rank_of(win->comm->group, MPIR_Group_grank(group, i));
    if (*rank != MPI_UNDEFINED)
        return 0;
    return MPIR_Err(MPI_ERR_GROUP, "group", "has a member (rank %d of it) that is not in the window's group",
                    i);
}

static int sync_note(MPIR_Win *win, int32_t rank, int tag)
{
    return MPIR_P2p_send(NULL, 0, NULL, rank, tag, win->comm, MPID_CONTEXT_RMA);
}

static int await(MPIR_Win *win, int32_t rank, int tag)
{
    return MPIR_P2p_recv(NULL, 0, NULL, rank, tag, win->comm, MPID_CONTEXT_RMA, NULL);
}

static int check_group(MPIR_Win *win, const MPIR_Group *group)
{
    int err = 0;
    int32_t rank;
    for (int32_t i = 0; i < group->size && !err; i++)
        err = sync_rank_of(win, group, i, &rank);
    return err;
}

int MPIR_Win_post(MPIR_Group *group, int assertion, MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err = check_assert(assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
                           "MPI_MODE_NOCHECK, _NOSTORE, _NOPUT");
    if (!err && r->posted)
        err = MPIR_Err(MPI_ERR_RMA_SYNC, "win",
                       "is exposed already by MPI_Win_post; expected MPI_Win_wait before");
    if (!err && r->epoch == RMA_FENCE && r->fence_used)
        err = check_idle(win);
    if (err || (err = check_group(win, group)))
        return err;
    r->done = calloc((size_t)group->size + 1, sizeof *r->done);
    if (!r->done)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %d processes", group->size);
    MPIR_Near_forget(win);
    if (r->epoch == RMA_FENCE)
        r->epoch = RMA_NONE;
    MPIR_Object_ref(group);
    r->posted = group;
    atomic_thread_fence(memory_order_seq_cst);
    for (int32_t i = 0, rank; i < group->size; i++) {
        sync_rank_of(win, group, i, &rank);
        err = sync_first_of(
            err, MPIR_P2p_irecv(NULL, 0, NULL, rank, RMA_TAG_DONE, win->comm, MPID_CONTEXT_RMA, &r->done[i]));
        if (!(assertion & MPI_MODE_NOCHECK))
            err = sync_first_of(err, sync_note(win, rank, RMA_TAG_POST));
    }
    return err;
}

static int end_exposure(MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err = 0;
    for (int32_t i = 0; i < r->posted->size; i++)
        err = sync_first_of(err, MPID_Wait(&r->done[i], NULL));
    if (r->checks)
        MPIR_Rma_Check_end(r);
    MPIR_Group_release(r->posted);
    free(r->done);
    r->posted = NULL;
    r->done = NULL;
    atomic_thread_fence(memory_order_seq_cst);
    return err;
}

static int check_posted(const MPIR_Win *win)
{
    if (win->rma->posted)
        return 0;
    return MPIR_Err(MPI_ERR_RMA_SYNC, "win", "is not exposed; expected MPI_Win_post before");
}

int MPIR_Win_wait(MPIR_Win *win)
{
    int err = check_posted(win);
    return err ? err : end_exposure(win);
}

int MPIR_Win_test(MPIR_Win *win, int *flag)
{
    struct rma *r = win->rma;
    int err = check_posted(win);
    if (err)
        return err;
    MPID_DeviceCheck(MPID_NOTBLOCKING);
    *flag = 1;
    for (int32_t i = 0; i < r->posted->size && *flag; i++)
        *flag = atomic_load_explicit(&r->done[i].is_complete, memory_order_acquire) != 0;
    return *flag ? end_exposure(win) : 0;
}

static void set_started(MPIR_Win *win, const MPIR_Group *group, bool on)
{
    for (int32_t i = 0, rank; i < group->size; i++) {
        sync_rank_of(win, group, i, &rank);
        struct rma_target *t = MPIR_Rma_target(win, rank);
        if (t)
            t->access = on ? RMA_STARTED : 0;
    }
}

int MPIR_Win_start(MPIR_Group *group, int assertion, MPIR_Win *win)
{
    struct rma *r = win->rma;
    int err = check_assert(assertion, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK");
    if (err || (err = check_idle(win)) || (err = check_group(win, group)))
        return err;
    for (int32_t i = 0, rank; i < group->size && !err && !(assertion & MPI_MODE_NOCHECK); i++) {
        sync_rank_of(win, group, i, &rank);
        err = await(win, rank, RMA_TAG_POST);
    }
    if (err)
        return err;
    MPIR_Object_ref(group);
    r->started = group;
    r->epoch = RMA_START;
    set_started(win, group, true);
    return 0;
}

int MPIR_Win_complete(MPIR_Win *win)
{
    struct rma *r = win->rma;
    if (r->epoch != RMA_START)
        return MPIR_Err(MPI_ERR_RMA_SYNC, "win",
                        "is in no epoch of MPI_Win_start; expected that call before");
    int err = MPIR_Rma_Flush_all(win);
    for (int32_t i = 0, rank; i < r->started->size; i++) {
        sync_rank_of(win, r->started, i, &rank);
        err = sync_first_of(err, sync_note(win, rank, RMA_TAG_DONE));
    }
    set_started(win, r->started, false);
    MPIR_Group_release(r->started);
    r->started = NULL;
    MPIR_Near_forget(win);
    r->epoch = RMA_NONE;
    return err;
}
