/* SPDX-License-Identifier: BSD-3-Clause */
/* front.h: what every generated front end uses: from handle to object, the argument checks, and their texts.
 *
 * Inline is what an error-free call runs through; what composes texts is in front.c and cold.  Every check
 * returns MPI_SUCCESS or the error class it recorded. */
#ifndef MPIR_FRONT_H
#define MPIR_FRONT_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "any.h"
#include "basic.h"
#include "callback.h"
#include "calls.h"
#include "comm.h"
#include "env.h"
#include "mpi_err.h"
#include "errhandler.h"
#include "group.h"
#include "info.h"
#include "mpi_const.h"
#include "object.h"
#include "op.h"
#include "partitioned.h"
#include "request.h"
#include "reserve.h"
#include "session.h"
#include "type.h"
#include "win.h"
#include "util/seat.h"

#define FRONT_EXPORT __attribute__((visibility("default")))
#define FRONT_COLD __attribute__((cold, noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
    FRONT_SMALL = 64, /* arrays of handles and statuses up to this length live on the stack */
    FRONT_PAGE = 4096 /* nothing is ever mapped below */
};

/* ---- Threads ---- */

/* A procedure has the library's objects for itself until it returns or waits (MPID_Thread_enter). */
static inline int front_enter(void)
{
    return likely(MPIR_PLAIN) ? 0 : MPIR_Enter();
}
/* It may have begun as the only thread, and have the lock since it called a function of the program (callback.h). */
static inline void front_leave(const int *entered)
{
    if (unlikely(*entered || MPIR_ENV(threaded)))
        MPID_Thread_leave();
}
/* The same while listeners are told. */
static inline int front_enter_told(void)
{
    return likely(*MPIR_ENV(alone) != 0) ? 0 : MPIR_Enter();
}
/* The same of a hot procedure where MPIR_PLAIN does not hold: without a call, of the thread to which the lock is
 * biased. */
static inline __attribute__((always_inline)) bool front_take_seat(void)
{
    return MPIR_ENV(seat) && ku_seat_enter_here();
}
static inline __attribute__((always_inline)) void front_leave_seat(void)
{
    if (unlikely(!ku_seat_leave_here()))
        MPID_Thread_leave(); /* nothing to be left: it began while it was the only thread */
}
/* Of procedures that any thread may call at every level, before MPI is initialized, too. */
static inline int front_enter_silently(void)
{
    return likely(MPIR_PLAIN) ? 0 : MPIR_Enter_silently(false);
}
/* The same for MPI_T. */
static inline int front_enter_tool(bool always)
{
    if (likely(MPIR_PLAIN && !MPIR_T_threaded && !always))
        return 0;
    return MPIR_Enter_silently(always ||
                               (!MPIR_ENV(threaded) && MPIR_T_threaded)); /* else it may change now */
}
static inline void front_leave_silently(const int *entered)
{
    if (unlikely(*entered))
        MPIR_Leave_silently();
    else
        front_leave(entered);
}
/* Of procedures that may begin what several threads call at once: they may have the lock though it was not taken
 * when they began. */
static inline void front_leave_begun(const int *unused)
{
    (void)unused;
    MPID_Thread_leave();
}
#define FRONT_BEGINS int entered __attribute__((cleanup(front_leave_begun), unused)) = front_enter();
#define FRONT_SILENT \
    int entered __attribute__((cleanup(front_leave_silently), unused)) = front_enter_silently();
#define FRONT_ALONE int entered __attribute__((cleanup(front_leave), unused)) = front_enter();

/* ---- Errors
 * -------------------------------------------------------------------------------------------------- */

/* Where a call's errors go: a communicator, a session, a group's session, or the handler given for what the call
 * is to make; noted with its generation because the call may free it; or none. */
struct front_target {
    void *object;
    uint64_t gen; /* a word, so that compilers need not join it with what fills the structure up */
};
static inline struct front_target front_target(void *object)
{
    return (struct front_target){ object, object ? ((struct keel_object *)object)->gen : 0 };
}
/* A request belongs to its communicator (MPI 5.0, "Error Handling"). */
static inline struct front_target front_target_request(const MPIR_Request *r)
{
    return front_target(r && r->handle_type != MPIR_USER ? r->comm : NULL);
}
static inline struct front_target front_target_requests(MPIR_Request *const *r, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (r[i])
            return front_target_request(r[i]);
    return front_target(NULL);
}
/* The handler that a call has been given for an object of this kind; none, if it is not for that. */
struct front_target MPIR_front_given(MPIR_Errhandler *handler, enum MPIR_KIND kind);
int MPIR_front_absent(void) FRONT_COLD;
int MPIR_front_fail(struct front_target target, const char *call, int errclass) FRONT_COLD;
/* The same for what is inlined, so not cold (util/seat.h says why). */
int MPIR_front_fail_here(struct front_target target, const char *call, int errclass);
/* Of the calls of the chapter on files, whose errors go to a file's handler, or to the default one. */
int MPIR_front_fail_file(struct front_target target, const char *call, int errclass) FRONT_COLD;

/* ---- Handles
 * ------------------------------------------------------------------------------------------------- */

/* The object of a handle, or NULL with *err set. */
int MPIR_front_bad_handle(int kind, bool message, uint64_t handle, const char *arg, int64_t index) FRONT_COLD;

static inline void *front_object(enum MPIR_KIND kind, uint64_t handle, const char *arg, int *err)
{
    void *obj = MPIR_Object_of(kind, handle);
    if (unlikely(!obj))
        *err = MPIR_front_bad_handle(kind, false, handle, arg, -1);
    return obj;
}
/* A datatype that is none: MPI_DATATYPE_NULL will do where there are no elements, and nobody to send them to or
 * have them from. */
MPIR_Datatype *MPIR_front_no_data(bool null, int64_t count, bool nobody, int *err) FRONT_COLD;
/* As front_object, but the null handle is no error and gives NULL. */
static inline void *front_object_or_null(enum MPIR_KIND kind, uint64_t null, uint64_t handle, const char *arg,
                                         int *err)
{
    return handle == null ? NULL : front_object(kind, handle, arg, err);
}
/* The communicator of a call that needs no other process: one that MPI_Comm_idup is still making will do. */
static inline MPIR_Comm *front_comm_early(uint64_t handle, const char *arg, int *err)
{
    MPIR_Comm *comm = MPIR_Object_of(MPIR_KIND_COMM, handle);
    if (unlikely(!comm) && unlikely(!(comm = MPIR_Object_pending(handle))) &&
        unlikely(!(comm = MPIR_Object_revoked(MPIR_KIND_COMM, handle))))
        *err = MPIR_front_bad_handle(MPIR_KIND_COMM, false, handle, arg, -1);
    return comm;
}
/* The communicator, window or file of a call that one that is revoked may be passed to as well. */
static inline void *front_revoked(enum MPIR_KIND kind, uint64_t handle, const char *arg, int *err)
{
    void *obj = MPIR_Object_of(kind, handle);
    if (unlikely(!obj) && unlikely(!(obj = MPIR_Object_revoked(kind, handle))))
        *err = MPIR_front_bad_handle(kind, false, handle, arg, -1);
    return obj;
}
/* Requests and messages share a slab; handle_type tells them apart. */
static inline MPIR_Request *front_request(bool message, uint64_t handle, const char *arg, int64_t index,
                                          int *err)
{
    MPIR_Request *r = MPIR_Object_of(MPIR_KIND_REQUEST, handle);
    if (unlikely(!r || (r->handle_type == MPIR_MESSAGE) != message)) {
        *err = MPIR_front_bad_handle(MPIR_KIND_REQUEST, message, handle, arg, index);
        return NULL;
    }
    return r;
}
/* MPIR_Object_of without a call: NULL also for a predefined object that was never looked up before. */
static inline __attribute__((always_inline)) void *front_known(enum MPIR_KIND kind, uint64_t handle)
{
    if (unlikely(handle >= MPIR_PREDEFINED_MAX))
        return MPIR_Object_made(kind, handle);
    struct keel_object *o = __atomic_load_n(&MPIR_Object_table[handle], __ATOMIC_RELAXED);
    return o && o->kind == kind ? o : NULL;
}
static inline uint64_t front_handle(const void *obj, uint64_t null)
{
    return obj ? MPIR_Object_handle(obj) : null;
}

/* ---- Arrays
 * -------------------------------------------------------------------------------------------------- */

int MPIR_front_no_memory(const char *arg, int64_t n) FRONT_COLD;

/* Room for n elements: `small`, or malloc; NULL with *err set. */
static inline void *front_alloc(void *small, size_t elem, int64_t n, const char *arg, int *err)
{
    if (n <= FRONT_SMALL)
        return small;
    void *p = malloc((size_t)n * elem);
    if (!p)
        *err = MPIR_front_no_memory(arg, n);
    return p;
}
static inline void front_clear(void **p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = NULL;
}
static inline void front_free(void *p, void *small)
{
    if (p != small)
        free(p);
}

/* ---- Checks
 * -------------------------------------------------------------------------------------------------- */

int MPIR_front_bad_count(int64_t n, const char *arg, const char *call, bool narrow) FRONT_COLD;
int MPIR_front_bad_rank(const MPIR_Comm *comm, int rank, const char *arg, bool any, bool null) FRONT_COLD;
int MPIR_front_bad_root(const MPIR_Comm *comm, int root) FRONT_COLD;
int MPIR_front_bad_tag(int tag, const char *arg) FRONT_COLD;
int MPIR_front_bad_tag_any(const MPIR_Comm *comm, int tag, const char *arg) FRONT_COLD;
int MPIR_front_bad_pointer(const char *arg) FRONT_COLD;
int MPIR_front_bad_in_place(const MPIR_Comm *comm, const char *arg) FRONT_COLD;
int MPIR_front_uncommitted(const MPIR_Datatype *t, const char *arg, int64_t index) FRONT_COLD;
int MPIR_front_low_buffer(const void *buf, int64_t count, const MPIR_Datatype *t, const char *arg) FRONT_COLD;
int MPIR_front_too_large(int64_t value, const char *arg, const char *call) FRONT_COLD;

/* `narrow`: the caller's count is an int, and a negative one may be what is left of a larger. */
static inline int check_count(int64_t n, const char *arg, const char *call, bool narrow)
{
    return likely(n >= 0) ? MPI_SUCCESS : MPIR_front_bad_count(n, arg, call, narrow);
}
/* The length of neighborhood collectives' arrays, of the send (out) or receive side; 0 without a topology. */
int32_t MPIR_front_neighbors(const MPIR_Comm *comm, bool out);
int MPIR_front_check_counts(MPIR_Counts counts, int64_t n, const char *arg, const char *call, bool narrow);
static inline int check_rank(const MPIR_Comm *comm, int rank, const char *arg)
{
    return likely((uint32_t)rank < (uint32_t)comm->adi.remote_size || rank == MPI_PROC_NULL)
               ? MPI_SUCCESS
               : MPIR_front_bad_rank(comm, rank, arg, false, true);
}
/* MPI_ANY_SOURCE and MPI_ANY_TAG, where the program has not promised to do without. */
static inline bool check_any_source(const MPIR_Comm *comm, int rank)
{
    return rank == MPI_ANY_SOURCE && !(comm->hints.asserted & MPIR_HINT_NO_ANY_SOURCE);
}
static inline bool check_any_tag(const MPIR_Comm *comm, int tag)
{
    return tag == MPI_ANY_TAG && !(comm->hints.asserted & MPIR_HINT_NO_ANY_TAG);
}
static inline int check_rank_any(const MPIR_Comm *comm, int rank, const char *arg)
{
    return likely((uint32_t)rank < (uint32_t)comm->adi.remote_size || rank == MPI_PROC_NULL ||
                  check_any_source(comm, rank))
               ? MPI_SUCCESS
               : MPIR_front_bad_rank(comm, rank, arg, true, true);
}
static inline int check_rank_in(const MPIR_Comm *comm, int rank, const char *arg)
{
    return likely((uint32_t)rank < (uint32_t)comm->adi.remote_size)
               ? MPI_SUCCESS
               : MPIR_front_bad_rank(comm, rank, arg, false, false);
}
static inline int check_root(const MPIR_Comm *comm, int root)
{
    return likely((uint32_t)root < (uint32_t)comm->adi.remote_size ||
                  (comm->remote_group && (root == MPI_ROOT || root == MPI_PROC_NULL)))
               ? MPI_SUCCESS
               : MPIR_front_bad_root(comm, root);
}
static inline int check_tag(int tag, const char *arg)
{
    return likely(tag >= 0) ? MPI_SUCCESS : MPIR_front_bad_tag(tag, arg);
}
static inline int check_tag_any(const MPIR_Comm *comm, int tag, const char *arg)
{
    return likely(tag >= 0 || check_any_tag(comm, tag)) ? MPI_SUCCESS
                                                        : MPIR_front_bad_tag_any(comm, tag, arg);
}
static inline int check_pointer(const void *p, const char *arg)
{
    return likely(p != NULL) ? MPI_SUCCESS : MPIR_front_bad_pointer(arg);
}
static inline int check_committed(const MPIR_Datatype *t, const char *arg)
{
    return likely(t->adi.is_committed) ? MPI_SUCCESS : MPIR_front_uncommitted(t, arg, -1);
}
int MPIR_front_check_types(MPIR_Datatype *const *t, int64_t n, const char *arg);
/* The null handle is legal for the type of no elements, and becomes MPI_BYTE there. */
int MPIR_front_types_of_some(MPIR_Datatype **t, MPIR_Counts counts, int64_t n, const char *arg);
/* A buffer must not make the library touch the first page; an absolute type at MPI_BOTTOM, or no data, may
 * begin there. */
static inline int check_buffer(const void *buf, int64_t count, const MPIR_Datatype *t, const char *arg)
{
    return likely((uintptr_t)buf >= FRONT_PAGE) ? MPI_SUCCESS : MPIR_front_low_buffer(buf, count, t, arg);
}
static inline int check_bytes(const void *buf, int64_t count, const char *arg)
{
    return likely((uintptr_t)buf >= FRONT_PAGE || count <= 0) ? MPI_SUCCESS : MPIR_front_bad_pointer(arg);
}
/* What a call reads from a buffer, or writes to it: n blocks. */
struct front_data {
    int64_t n, count;
    MPIR_Counts counts;          /* of the blocks; p NULL: one block, of `count` */
    MPIR_Counts displs;          /* of them, in extents of the type, with `types` in bytes; p NULL: 0 */
    MPIR_Datatype *type;         /* of all blocks, or */
    MPIR_Datatype *const *types; /* of each */
};
int MPIR_front_low_buffers(const void *buf, const struct front_data *data, const char *arg) FRONT_COLD;
static inline int check_buffers(const void *buf, const struct front_data *data, const char *arg)
{
    return likely((uintptr_t)buf >= FRONT_PAGE) ? MPI_SUCCESS : MPIR_front_low_buffers(buf, data, arg);
}
/* Two arguments are one address: MPI_ERR_BUFFER if some of what is read is surely written as well.
 * Buffers may begin at one address and be disjoint, by displacements or datatypes.  in_place: the
 * argument that may be MPI_IN_PLACE instead, or NULL. */
int MPIR_front_check_apart(const void *buf, const struct front_data *in, const struct front_data *out,
                           const char *in_arg, const char *out_arg, const char *in_place) FRONT_COLD;

/* ---- A collective of which only the buffers are refused
 *
 * The others may have found nothing wrong, and would wait for this process.  It plays its part in memory that
 * stands in for the buffers, and tells nothing (comm.h: MPIR_Coll_muted). */

struct front_mute {
    int err; /* with which it is refused, */
    struct ku_err words;
    bool failed, quick;
    void *memory[2];
};
/* The buffer that is to be used; where there is no memory for it, MPIR_front_mute says false. */
void *MPIR_front_stand_in(struct front_mute *m, int i, const struct front_data *data) FRONT_COLD;
bool MPIR_front_mute(struct front_mute *m, MPIR_Comm *comm) FRONT_COLD;
/* Returns the error, recorded again. */
int MPIR_front_mute_end(struct front_mute *m, MPIR_Comm *comm) FRONT_COLD;

/* ---- Messages of contiguous data: from here to the ADI, with arguments that have been found to be in order;
 * others go through the bodies. */

int MPIR_Send(const void *buf, MPI_Count count, MPIR_Datatype *t, int dest, int tag, MPIR_Comm *comm);
int MPIR_Isend(const void *buf, MPI_Count count, MPIR_Datatype *t, int dest, int tag, MPIR_Comm *comm,
               MPIR_Request **request);
int MPIR_Recv(void *buf, MPI_Count count, MPIR_Datatype *t, int source, int tag, MPIR_Comm *comm,
              MPIR_Status *status);
int MPIR_Irecv(void *buf, MPI_Count count, MPIR_Datatype *t, int source, int tag, MPIR_Comm *comm,
               MPIR_Request **request);

static inline __attribute__((always_inline)) bool front_bytes(MPI_Count count, const MPIR_Datatype *t,
                                                              int64_t *len)
{
    bool too_many =
        __builtin_mul_overflow(count, t->adi.size, len); /* whatever the type is, *len has a value */
    return likely(t->adi.as_bytes && !too_many);
}
static inline __attribute__((always_inline)) int
front_Send(const void *buf, MPI_Count count, MPIR_Datatype *t, int dest, int tag, MPIR_Comm *comm)
{
    int64_t len;
    return front_bytes(count, t, &len) ? MPID_Send_bytes(buf, len, &comm->adi, dest, tag)
                                       : MPIR_Send(buf, count, t, dest, tag, comm);
}
/* The same beside other threads, if it goes at once. */
static inline bool front_Send_beside(const void *buf, MPI_Count count, MPIR_Datatype *t, int dest, int tag,
                                     MPIR_Comm *comm)
{
    int64_t len;
    return front_bytes(count, t, &len) && MPID_Send_beside(buf, len, &comm->adi, dest, tag);
}
/* The same of nonblocking ones; NULL: it was not begun. */
static inline MPIR_Request *front_Isend_beside(const void *buf, MPI_Count count, MPIR_Datatype *t, int dest,
                                               int tag, MPIR_Comm *comm)
{
    int64_t len;
    MPIR_Request *r = front_bytes(count, t, &len) ? MPIR_Reserve_take() : NULL;
    if (likely(r && MPID_Isend_beside(buf, len, &comm->adi, dest, tag, r)))
        return r;
    if (r)
        MPIR_Reserve_put_back(r);
    return NULL;
}
static inline MPIR_Request *front_Irecv_beside(void *buf, MPI_Count count, MPIR_Datatype *t, int source,
                                               int tag, MPIR_Comm *comm)
{
    int64_t len;
    MPIR_Request *r = front_bytes(count, t, &len) ? MPIR_Reserve_take() : NULL;
    if (likely(r && MPID_Irecv_beside(buf, len, &comm->adi, source, tag, r)))
        return r;
    if (r)
        MPIR_Reserve_put_back(r);
    return NULL;
}
static inline __attribute__((always_inline)) int front_Recv(void *buf, MPI_Count count, MPIR_Datatype *t,
                                                            int source, int tag, MPIR_Comm *comm,
                                                            MPIR_Status *status)
{
    int64_t len;
    return front_bytes(count, t, &len) ? MPID_Recv_bytes(buf, len, &comm->adi, source, tag, status)
                                       : MPIR_Recv(buf, count, t, source, tag, comm, status);
}
/* The request of an operation that was begun, or refused. */
static inline __attribute__((always_inline)) int front_begun(MPIR_Request *r, int err, MPIR_Request **request)
{
    if (unlikely(err))
        MPIR_Request_release(r);
    *request = r;
    return err;
}
/* (`request` of a front end stays out of memory, as nothing but what is inline here has its address.) */
static inline __attribute__((always_inline)) int front_Isend(const void *buf, MPI_Count count,
                                                             MPIR_Datatype *t, int dest, int tag,
                                                             MPIR_Comm *comm, MPIR_Request **request)
{
    int64_t len;
    MPIR_Request *r = front_bytes(count, t, &len) ? MPIR_Request_reuse(comm) : NULL;
    if (unlikely(!r)) {
        MPIR_Request *other = NULL;
        int err = MPIR_Isend(buf, count, t, dest, tag, comm, &other);
        *request = other;
        return err;
    }
    return front_begun(r, MPID_Isend_bytes(buf, len, &comm->adi, dest, tag, r), request);
}
static inline __attribute__((always_inline)) int front_Irecv(void *buf, MPI_Count count, MPIR_Datatype *t,
                                                             int source, int tag, MPIR_Comm *comm,
                                                             MPIR_Request **request)
{
    int64_t len;
    MPIR_Request *r = front_bytes(count, t, &len) ? MPIR_Request_reuse(comm) : NULL;
    if (unlikely(!r)) {
        MPIR_Request *other = NULL;
        int err = MPIR_Irecv(buf, count, t, source, tag, comm, &other);
        *request = other;
        return err;
    }
    return front_begun(r, MPID_Irecv_bytes(buf, len, &comm->adi, source, tag, r), request);
}

/* ---- Accesses to the window's near target (win.h).  False: the body is to do it, or to say what is wrong. */

/* Where it is to be accessed. */
static inline char *front_near(const MPIR_Win *win, int rank, MPI_Aint disp, int64_t bytes)
{
    const struct MPIR_Near *n = win->near;
    if (unlikely(rank != n->rank || (uint64_t)disp > n->most))
        return NULL;
    int64_t at = disp * n->unit;
    return likely(bytes <= n->size - at) ? n->base + at : NULL;
}
static inline bool front_near_bytes(MPI_Count count, const MPIR_Datatype *t, int64_t *len)
{
    return front_bytes(count, t, len) && t->adi.true_lb == 0;
}
static inline void front_near_copy(void *to, const void *from, int64_t n)
{
    if (n == 8)
        memcpy(to, from, 8);
    else if (n == 4)
        memcpy(to, from, 4);
    else
        memmove(to, from, (size_t)n);
}
/* Where as many bytes as here, *n, are to go or come from there. */
static inline char *front_near_of(MPI_Count count, const MPIR_Datatype *t, int rank, MPI_Aint disp,
                                  MPI_Count there, const MPIR_Datatype *u, const MPIR_Win *win, int64_t *n)
{
    int64_t m;
    return front_near_bytes(count, t, n) && front_near_bytes(there, u, &m) && *n == m
               ? front_near(win, rank, disp, m)
               : NULL;
}
static inline bool front_Put(const void *buf, MPI_Count count, MPIR_Datatype *t, int rank, MPI_Aint disp,
                             MPI_Count there, MPIR_Datatype *u, MPIR_Win *win)
{
    int64_t n;
    char *at = front_near_of(count, t, rank, disp, there, u, win, &n);
    if (unlikely(!at))
        return false;
    win->stored = true;
    front_near_copy(at, buf, n);
    return true;
}
static inline bool front_Get(void *buf, MPI_Count count, MPIR_Datatype *t, int rank, MPI_Aint disp,
                             MPI_Count there, MPIR_Datatype *u, MPIR_Win *win)
{
    int64_t n;
    char *at = front_near_of(count, t, rank, disp, there, u, win, &n);
    if (at)
        front_near_copy(buf, at, n);
    return at != NULL;
}
static inline bool front_Win_flush(int rank, MPIR_Win *win)
{
    if (rank != win->near->rank)
        return false;
    if (win->stored)
        MPIR_Near_fence(win);
    else /* loads alone, and updates that are fences */
        atomic_thread_fence(memory_order_acquire);
    return true;
}
/* Updates of a few elements that the processor does as one step each (win.h). */
static inline bool front_near_update(char *at, int64_t n, const MPIR_Datatype *t, const void *in, void *old,
                                     const MPIR_Op *op, MPIR_Win *win)
{
    enum { FEW = 32 }; /* who updates many waits for this one meanwhile */
    const struct MPIR_Near *near = win->near;
    int64_t size = t->adi.size;
    if (unlikely(!at || !MPIR_Near_can_update(at, size) || !t->adi.obj.self || (uint64_t)n > FEW))
        return false;
    enum MPIR_NEAR_WAY way = MPIR_Near_way(op, MPID_Op_class_of(t->adi.basic));
    if (unlikely(way == MPIR_NEAR_NONE || (way == MPIR_NEAR_READ ? !old : (uintptr_t)in < FRONT_PAGE) ||
                 !MPIR_Near_enter(near->busy, near->gate)))
        return false;
    for (int64_t i = 0; i < n * size; i += size)
        MPIR_Near_update(way, at + i, size, (const char *)in + i, old);
    MPIR_Near_leave(near->busy);
    if (!MPIR_UPDATE_IS_FENCE)
        win->stored = true;
    return true;
}
static inline bool front_Fetch_and_op(const void *in, void *old, MPIR_Datatype *t, int rank, MPI_Aint disp,
                                      MPIR_Op *op, MPIR_Win *win)
{
    return front_near_update(front_near(win, rank, disp, t->adi.size), 1, t, in, old, op, win);
}
static inline bool front_Accumulate(const void *in, MPI_Count count, MPIR_Datatype *t, int rank,
                                    MPI_Aint disp, MPI_Count there, MPIR_Datatype *u, MPIR_Op *op,
                                    MPIR_Win *win)
{
    int64_t n;
    return t == u && count == there && front_near_bytes(count, t, &n) &&
           front_near_update(front_near(win, rank, disp, n), count, t, in, NULL, op, win);
}
static inline bool front_Compare_and_swap(const void *in, const void *compare, void *old, MPIR_Datatype *t,
                                          int rank, MPI_Aint disp, MPIR_Win *win)
{
    const struct MPIR_Near *near = win->near;
    int64_t size = t->adi.size;
    char *at = front_near(win, rank, disp, size);
    if (unlikely(!at || !MPIR_Near_can_update(at, size) || !t->adi.obj.self ||
                 !(MPID_Op_class_of(t->adi.basic) &
                   (MPIR_CLASS_C_INTEGER | MPIR_CLASS_F_INTEGER | MPIR_CLASS_MULTI)) ||
                 !MPIR_Near_enter(near->busy, near->gate)))
        return false;
    if (size == 8) /* with lengths that the compiler knows */
        MPIR_Near_swap(at, 8, in, compare, old);
    else
        MPIR_Near_swap(at, 4, in, compare, old);
    MPIR_Near_leave(near->busy);
    if (!MPIR_UPDATE_IS_FENCE)
        win->stored = true;
    return true;
}

/* ---- Who an argument of a rooted collective matters to
 * -------------------------------------------------------- */

static inline bool front_is_root(const MPIR_Comm *comm, int root)
{
    return comm->remote_group ? root == MPI_ROOT : comm->adi.rank == root;
}
/* Everyone of an intracommunicator; the group opposite the root in an intercommunicator. */
static inline bool front_is_leaf(const MPIR_Comm *comm, int root)
{
    return !comm->remote_group || root >= 0;
}

/* ---- What other ABIs write differently (gen_maps.py)
 * ------------------------------------------------------------------------------------------------- */

/* An array of constants that are read, as the library has them: a copy, or `small`; NULL without memory. */
int *MPIR_front_constants(const int *from, int64_t n, int *small, int (*in)(int));
void MPIR_front_constants_free(const int *p, const int *small);
/* A string for a buffer of `size` bytes; *len, if not NULL, is its length. */
void MPIR_front_cut(char *to, const char *from, int size, int *len);

/* ---- Counts
 * -------------------------------------------------------------------------------------------------- */

#define FRONT_COUNTS(array) ((MPIR_Counts){ (array), sizeof *(array) == sizeof(int64_t) })

/* How the functions that this call brings are called: its language's own way. */
static inline const struct MPIR_Abi *front_abi_of(const struct MPIR_Abi *c)
{
    return MPIR_Language == MPIR_C ? c : &MPIR_Abi_fortran[MPIR_Language];
}

#endif
