/* SPDX-License-Identifier: BSD-3-Clause */
/* access.c: the calls that access a target: what they are given is checked, then the target's memory is used from
 * here, or a message is sent to the target (rma_remote.c). */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <string.h>
#include "rma.h"

/* ---- May the target be accessed? ------------------------------------------------------------------------------ */

static int no_epoch(const struct rma *r, int32_t rank)
{
    static const char *const why[] = {
        [RMA_NONE] = "no epoch has begun (MPI_Win_fence, _start, _lock, _lock_all)",
        [RMA_FENCE] = "",
        [RMA_START] = "the epoch that MPI_Win_start began does not include it",
        [RMA_LOCK] = "it is not locked, while others are (MPI_Win_lock)",
        [RMA_LOCK_ALL] = "",
    };
    return MPIR_Err(MPI_ERR_RMA_SYNC, "target_rank", "is %d, which may not be accessed now: %s", rank,
                    why[r->epoch]);
}

/* A target elsewhere, of MPI_Win_lock_all; several threads may come to it at once. */
static int lock_now(MPIR_Win *win, struct rma_target *t)
{
    while (t->locking)
        MPID_DeviceCheck(MPID_BLOCKING);
    if (t->access)
        return 0;
    t->locking = true;
    int err =
        MPIR_Rma_Remote_lock(win, t, RMA_SHARED | RMA_BY_ALL | (win->rma->all_checked ? 0 : RMA_UNCHECKED));
    t->locking = false;
    return err;
}

/* The target, ready to be accessed; NULL: *err. */
static struct rma_target *target_of(MPIR_Win *win, int rank, int *err)
{
    struct rma *r = win->rma;
    if (rank < 0 || rank >= win->comm->adi.size) {
        *err = MPIR_Err(MPI_ERR_RANK, "target_rank", "is %d; expected 0 to %d or MPI_PROC_NULL", rank,
                        win->comm->adi.size - 1);
        return NULL;
    }
    struct rma_target *t = MPIR_Rma_target(win, rank);
    *err = MPI_ERR_NO_MEM;
    if (!t)
        return NULL;
    *err = 0;
    if (r->epoch == RMA_FENCE)
        r->fence_used = true;
    else if (r->epoch == RMA_LOCK_ALL && !t->slot && !t->access)
        *err = lock_now(win, t);
    else if (r->epoch != RMA_LOCK_ALL && !t->access)
        *err = no_epoch(r, rank);
    if (*err)
        return NULL;
    win->near = &t->near; /* until the epoch ends */
    return t;
}

/* ---- Where ---------------------------------------------------------------------------------------------------- */

bool MPIR_Rma_Span(const struct MPIR_DATATYPE *layout, int64_t count, int64_t *first, int64_t *end)
{
    int64_t reach;
    *first = *end = 0;
    if (count == 0 || layout->size == 0)
        return true;
    if (__builtin_mul_overflow(count - 1, layout->extent, &reach))
        return false;
    *first = layout->true_lb + (reach < 0 ? reach : 0);
    return !__builtin_add_overflow(layout->true_lb, layout->true_extent, end) &&
           !__builtin_add_overflow(*end, reach > 0 ? reach : 0, end);
}

static bool outside(const struct rma_target *t, int64_t disp, int64_t first, int64_t end)
{
    if (t->dynamic)
        MPIR_Err(MPI_ERR_RMA_RANGE, "target_disp",
                 "is %#llx, where bytes %lld to %lld are not all attached to the window by rank %d",
                 (unsigned long long)disp, (long long)first, (long long)end, t->rank);
    else
        MPIR_Err(MPI_ERR_RMA_RANGE, "target_disp",
                 "is %lld (times %lld bytes); the access would touch bytes %lld to %lld from there, and the "
                 "part of rank %d "
                 "has %lld",
                 (long long)disp, (long long)t->unit, (long long)first, (long long)end, t->rank,
                 (long long)t->size);
    return false;
}

bool MPIR_Rma_Place(struct rma *r, const struct rma_target *t, int64_t disp,
                    const struct MPIR_DATATYPE *layout, int64_t count, char **place)
{
    int64_t first, end, at, low, high;
    *place = (char *)(intptr_t)disp;
    if (!MPIR_Rma_Span(layout, count, &first, &end))
        return outside(t, disp, 0, INT64_MAX);
    if (t->dynamic)
        return end == first || MPIR_Rma_Attached(r, *place + first, end - first) ||
               outside(t, disp, first, end);
    if (__builtin_mul_overflow(disp, t->unit, &at) || __builtin_add_overflow(at, first, &low) ||
        __builtin_add_overflow(at, end, &high) || (end != first && (low < 0 || high > t->size)))
        return outside(t, disp, first, end);
    *place = t->base + at;
    return true;
}

/* An access of this process to its own part, among those of others. */
static int check_own(struct rma *r, MPI_Aint disp, const struct rma_side *to, const char *at, uint8_t kind)
{
    struct rma_msg m = { .kind = kind, .disp = disp, .basic = to->type->adi.basic, .fences = r->fences };
    struct rma_answer says;
    if (MPIR_Rma_Check(r, r->own->rank, &m, &to->type->adi, at, to->count, &says))
        return 0;
    return MPIR_Rma_Check_tell(&says, MPIR_Rma_call[kind], MPIR_Rma_call[says.other_kind], r->own->rank);
}

static char *access_place(MPIR_Win *win, const struct rma_target *t, MPI_Aint disp, const struct rma_side *to,
                          uint8_t kind, int *err)
{
    char *at;
    *err = MPIR_Rma_Place(win->rma, t, disp, &to->type->adi, to->count, &at) ? 0 : MPI_ERR_RMA_RANGE;
    if (win->rma->checks && !*err)
        *err = check_own(win->rma, disp, to, at, kind);
    return at;
}

/* A displacement that cannot be one is told here; the rest is the target's to know. */
static int check_disp(const struct rma_target *t, MPI_Aint disp)
{
    if (disp >= 0 || t->dynamic)
        return 0;
    return MPIR_Err(MPI_ERR_DISP, "target_disp", "is %lld; expected 0 or more", (long long)disp);
}

static int same_bytes(const struct rma_side *a, const char *which, const struct rma_side *b)
{
    int64_t x, y;
    if (!__builtin_mul_overflow(a->count, a->type->adi.size, &x) &&
        !__builtin_mul_overflow(b->count, b->type->adi.size, &y) && x == y)
        return 0;
    return MPIR_Err(MPI_ERR_ARG, which,
                    "with its datatype is %lld elements of %lld bytes, and the target's are %lld of %lld "
                    "bytes; expected the "
                    "same number of bytes",
                    (long long)a->count, (long long)a->type->adi.size, (long long)b->count,
                    (long long)b->type->adi.size);
}

static void access_move(const struct rma_side *from, const struct rma_side *to)
{
    int64_t bytes = from->count * from->type->adi.size;
    if (bytes == 0)
        return;
    if (from->type->adi.is_contig && to->type->adi.is_contig)
        memmove((char *)to->at + to->type->adi.true_lb, (char *)from->at + from->type->adi.true_lb,
                (size_t)bytes);
    else
        MPID_Copy(from->at, from->count, &from->type->adi, to->at, to->count, &to->type->adi, bytes);
}

/* What the front end leaves to the body, since MPI_NO_OP does not look at the origin. */
static int check_origin(const struct rma_side *from)
{
    if (!from->type)
        return MPIR_Err(MPI_ERR_TYPE, "origin_datatype",
                        "is MPI_DATATYPE_NULL; expected a datatype, unless op is MPI_NO_OP");
    if (!from->type->adi.is_committed)
        return MPIR_Err(MPI_ERR_TYPE, "origin_datatype", "is not committed; expected MPI_Type_commit before");
    if (!from->at && from->count > 0 && from->type->adi.is_contig && from->type->adi.size > 0)
        return MPIR_Err(MPI_ERR_BUFFER, "origin_addr", "is NULL; expected a buffer, unless op is MPI_NO_OP");
    return 0;
}

/* A request of what is complete already. */
static int access_complete(MPIR_Win *win, MPIR_Request **request)
{
    if (!request)
        return 0;
    *request = MPIR_Request_alloc_complete(win->comm, MPIR_SEND);
    return *request ? 0 : MPI_ERR_NO_MEM;
}

/* What the origin knows of a target that it cannot load from.  Before many bytes are sent to one of which it knows
 * nothing, it asks. */
static int check_range(MPIR_Win *win, struct rma_target *t, MPI_Aint disp, const struct rma_side *to)
{
    enum { MANY = 16 << 20 };
    char *at;
    int64_t bytes;
    if (t->dynamic)
        return 0;
    if (!t->slot && !t->sized &&
        (__builtin_mul_overflow(to->count, to->type->adi.size, &bytes) || bytes >= MANY)) {
        int err = MPIR_Rma_Device_meet(win, t);
        if (err)
            return err;
    }
    if ((!t->slot && !t->sized) || MPIR_Rma_Place(win->rma, t, disp, &to->type->adi, to->count, &at))
        return 0;
    return MPI_ERR_RMA_RANGE;
}

/* ---- Put and get ---------------------------------------------------------------------------------------------- */

static int access_put(MPIR_Win *win, int rank, MPI_Aint disp, const struct rma_side *from,
                      struct rma_side *to, MPIR_Request **request)
{
    if (rank == MPI_PROC_NULL)
        return access_complete(win, request);
    int err;
    struct rma_target *t = target_of(win, rank, &err);
    if (!t || (err = check_disp(t, disp)) || (err = same_bytes(from, "origin_count", to)))
        return err;
    bool by_device = !t->direct && MPIR_Rma_Device(win, t, to, true);
    if (!t->direct && (err = check_range(win, t, disp, to)))
        return err;
    if (by_device)
        return MPIR_Rma_Device_move(win, t, disp, from, to, true, request);
    if (!t->direct)
        return MPIR_Rma_Remote_put(win, t, disp, from, to, request);
    to->at = access_place(win, t, disp, to, RMA_PUT, &err);
    if (err)
        return err;
    access_move(from, to);
    win->stored = true;
    return access_complete(win, request);
}

static int access_get(MPIR_Win *win, int rank, MPI_Aint disp, const struct rma_side *into,
                      struct rma_side *from, MPIR_Request **request)
{
    if (rank == MPI_PROC_NULL)
        return access_complete(win, request);
    int err;
    struct rma_target *t = target_of(win, rank, &err);
    if (!t || (err = check_disp(t, disp)) || (err = same_bytes(into, "origin_count", from)))
        return err;
    bool by_device = !t->direct && MPIR_Rma_Device(win, t, from, false);
    if (!t->direct && (err = check_range(win, t, disp, from)))
        return err;
    if (by_device)
        return MPIR_Rma_Device_move(win, t, disp, into, from, false, request);
    if (!t->direct)
        return MPIR_Rma_Remote_get(win, t, disp, into, from, request);
    from->at = access_place(win, t, disp, from, RMA_GET, &err);
    if (err)
        return err;
    access_move(from, into);
    return access_complete(win, request);
}

int MPIR_Put(const void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype, int target_rank,
             MPI_Aint target_disp, MPI_Count target_count, MPIR_Datatype *target_datatype, MPIR_Win *win)
{
    struct rma_side from = { (void *)origin_addr, origin_count, origin_datatype };
    struct rma_side to = { NULL, target_count, target_datatype };
    return access_put(win, target_rank, target_disp, &from, &to, NULL);
}

int MPIR_Rput(const void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype,
              int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPIR_Datatype *target_datatype,
              MPIR_Win *win, MPIR_Request **request)
{
    struct rma_side from = { (void *)origin_addr, origin_count, origin_datatype };
    struct rma_side to = { NULL, target_count, target_datatype };
    return access_put(win, target_rank, target_disp, &from, &to, request);
}

int MPIR_Get(void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype, int target_rank,
             MPI_Aint target_disp, MPI_Count target_count, MPIR_Datatype *target_datatype, MPIR_Win *win)
{
    struct rma_side into = { origin_addr, origin_count, origin_datatype };
    struct rma_side from = { NULL, target_count, target_datatype };
    return access_get(win, target_rank, target_disp, &into, &from, NULL);
}

int MPIR_Rget(void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPIR_Datatype *target_datatype, MPIR_Win *win,
              MPIR_Request **request)
{
    struct rma_side into = { origin_addr, origin_count, origin_datatype };
    struct rma_side from = { NULL, target_count, target_datatype };
    return access_get(win, target_rank, target_disp, &into, &from, request);
}

/* ---- Accumulates ---------------------------------------------------------------------------------------------- */

/* The packed form of a buffer: the buffer itself where it is contiguous, else *room, which the caller frees. */
static const void *packed(const struct rma_side *s, void **room)
{
    int64_t bytes = s->count * s->type->adi.size;
    *room = NULL;
    if (s->type->adi.is_contig || bytes == 0)
        return (char *)s->at + (bytes ? s->type->adi.true_lb : 0);
    if (!(*room = malloc((size_t)bytes)))
        return NULL;
    MPID_Layout_pack(&s->type->adi, s->at, s->count, 0, *room, bytes);
    return *room;
}

static int access_no_memory(int64_t bytes)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %lld bytes of an accumulate", (long long)bytes);
}

/* By load and store; old: NULL unless the old values are wanted. */
static int update_here(MPIR_Win *win, struct rma_target *t, const struct rma_side *from,
                       const struct rma_side *old, const struct rma_side *to, struct rma_update *u)
{
    void *in_room = NULL;
    int64_t bytes = to->count * to->type->adi.size;
    const void *in = u->code == KEEL_MPI_NO_OP ? NULL : packed(from, &in_room);
    void *was = old && bytes ? malloc((size_t)bytes) : NULL;
    int err =
        (u->code != KEEL_MPI_NO_OP && bytes && !in) || (old && bytes && !was) ? access_no_memory(bytes) : 0;
    u->alone = (t->access & (RMA_ALONE | RMA_UNCHECKED)) == RMA_ALONE;
    if (!err && bytes) {
        MPIR_Rma_Update(win->rma, t->slot, u, to->at, &to->type->adi, to->count, in, was);
        if (old)
            MPID_Layout_unpack(&old->type->adi, old->at, old->count, 0, was, bytes);
    }
    free(in_room);
    free(was);
    return err;
}

/* Both sides are one element of the same basic type (checked before); is it the device's to update? */
static bool by_device(MPIR_Win *win, struct rma_target *t, MPI_Aint disp, const struct rma_side *from,
                      const struct rma_side *old, const struct rma_side *to, const struct rma_update *u)
{
    return MPIR_Rma_Device_atomic(u->code) >= 0 && MPIR_Rma_Device_updates(win, t, disp, to) &&
           (u->code == KEEL_MPI_NO_OP || (from->type->adi.is_contig && from->type->adi.true_lb == 0)) &&
           (!old || (old->type->adi.is_contig && old->type->adi.true_lb == 0));
}

static int access_update(MPIR_Win *win, int rank, MPI_Aint disp, const struct rma_side *from,
                         const struct rma_side *old, struct rma_side *to, MPIR_Op *op, MPIR_Request **request)
{
    struct rma_update u;
    int err = 0;
    if (op->obj.self == KEEL_MPI_NO_OP && !old)
        err = MPIR_Err(MPI_ERR_OP, "op",
                       "is MPI_NO_OP, which reads only; expected it with MPI_Get_accumulate or "
                       "MPI_Fetch_and_op");
    if (!err && rank == MPI_PROC_NULL)
        return access_complete(win, request);
    struct rma_target *t = err ? NULL : target_of(win, rank, &err);
    bool reads = op->obj.self != KEEL_MPI_NO_OP;
    if (!t || (err = check_disp(t, disp)) || (reads && (err = check_origin(from))) ||
        (reads && (err = same_bytes(from, "origin_count", to))) ||
        (old && (err = same_bytes(old, "result_count", to))) ||
        (err = MPIR_Rma_Update_of(&u, op, to->type->adi.basic)))
        return err;
    if (reads && from->type->adi.basic != to->type->adi.basic && to->count && to->type->adi.size)
        return MPIR_Err(MPI_ERR_TYPE, "origin_datatype",
                        "is not made of the same basic type as target_datatype; expected the same in both");
    if (!t->direct && (err = check_range(win, t, disp, to)))
        return err;
    if (!t->direct && by_device(win, t, disp, from, old, to, &u))
        return MPIR_Rma_Device_update(win, t, disp, (enum keel_atomic_op)MPIR_Rma_Device_atomic(u.code),
                                      to->type->adi.size, from->at, NULL, old ? old->at : NULL, request);
    if (!t->direct)
        return MPIR_Rma_Remote_update(win, t, disp, from, old, to, &u, request);
    to->at = access_place(win, t, disp, to, old ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE, &err);
    if (!err)
        err = update_here(win, t, from, old, to, &u);
    return err ? err : access_complete(win, request);
}

int MPIR_Accumulate(const void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype,
                    int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                    MPIR_Datatype *target_datatype, MPIR_Op *op, MPIR_Win *win)
{
    struct rma_side from = { (void *)origin_addr, origin_count, origin_datatype };
    struct rma_side to = { NULL, target_count, target_datatype };
    return access_update(win, target_rank, target_disp, &from, NULL, &to, op, NULL);
}

int MPIR_Raccumulate(const void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                     MPIR_Datatype *target_datatype, MPIR_Op *op, MPIR_Win *win, MPIR_Request **request)
{
    struct rma_side from = { (void *)origin_addr, origin_count, origin_datatype };
    struct rma_side to = { NULL, target_count, target_datatype };
    return access_update(win, target_rank, target_disp, &from, NULL, &to, op, request);
}

int MPIR_Get_accumulate(const void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype,
                        void *result_addr, MPI_Count result_count, MPIR_Datatype *result_datatype,
                        int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                        MPIR_Datatype *target_datatype, MPIR_Op *op, MPIR_Win *win)
{
    struct rma_side from = { (void *)origin_addr, origin_count, origin_datatype };
    struct rma_side old = { result_addr, result_count, result_datatype };
    struct rma_side to = { NULL, target_count, target_datatype };
    return access_update(win, target_rank, target_disp, &from, &old, &to, op, NULL);
}

int MPIR_Rget_accumulate(const void *origin_addr, MPI_Count origin_count, MPIR_Datatype *origin_datatype,
                         void *result_addr, MPI_Count result_count, MPIR_Datatype *result_datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                         MPIR_Datatype *target_datatype, MPIR_Op *op, MPIR_Win *win, MPIR_Request **request)
{
    struct rma_side from = { (void *)origin_addr, origin_count, origin_datatype };
    struct rma_side old = { result_addr, result_count, result_datatype };
    struct rma_side to = { NULL, target_count, target_datatype };
    return access_update(win, target_rank, target_disp, &from, &old, &to, op, request);
}

int MPIR_Fetch_and_op(const void *origin_addr, void *result_addr, MPIR_Datatype *datatype, int target_rank,
                      MPI_Aint target_disp, MPIR_Op *op, MPIR_Win *win)
{
    struct rma_side from = { (void *)origin_addr, 1, datatype }, old = { result_addr, 1, datatype };
    struct rma_side to = { NULL, 1, datatype };
    struct rma_update u;
    int err = 0;
    if (target_rank == MPI_PROC_NULL)
        return 0;
    if (!datatype->adi.basic ||
        datatype->adi.size != MPIR_Datatype_predefined((int32_t)datatype->adi.basic)->adi.size)
        return MPIR_Err(MPI_ERR_TYPE, "datatype", "is derived; expected a predefined datatype");
    struct rma_target *t = target_of(win, target_rank, &err);
    if (!t || !t->direct || !datatype->adi.is_contig)
        return err ? err : access_update(win, target_rank, target_disp, &from, &old, &to, op, NULL);
    if ((err = check_disp(t, target_disp)) ||
        (op->obj.self != KEEL_MPI_NO_OP && (err = check_origin(&from))) ||
        (err = MPIR_Rma_Update_of(&u, op, datatype->adi.basic)))
        return err;
    to.at = access_place(win, t, target_disp, &to, RMA_GET_ACCUMULATE, &err);
    if (!err)
        MPIR_Rma_Update(win->rma, t->slot, &u, to.at, &datatype->adi, 1, origin_addr, result_addr);
    return err;
}

int MPIR_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPIR_Datatype *datatype, int target_rank, MPI_Aint target_disp, MPIR_Win *win)
{
    struct rma_side to = { NULL, 1, datatype };
    int err = MPIR_Rma_Swap_check(datatype);
    if (err || target_rank == MPI_PROC_NULL)
        return err;
    struct rma_target *t = target_of(win, target_rank, &err);
    if (!t || (err = check_disp(t, target_disp)))
        return err;
    if (!t->direct && (err = check_range(win, t, target_disp, &to)))
        return err;
    if (!t->direct && MPIR_Rma_Device_updates(win, t, target_disp, &to))
        return MPIR_Rma_Device_update(win, t, target_disp, KEEL_ATOMIC_COMPARE_SWAP, datatype->adi.size,
                                      origin_addr, compare_addr, result_addr, NULL);
    if (!t->direct)
        return MPIR_Rma_Remote_swap(win, t, target_disp, origin_addr, compare_addr, result_addr, datatype);
    to.at = access_place(win, t, target_disp, &to, RMA_COMPARE_SWAP, &err);
    if (!err)
        MPIR_Rma_Swap(win->rma, t->slot, to.at, datatype->adi.size, origin_addr, compare_addr, result_addr);
    return err;
}
