/* SPDX-License-Identifier: BSD-3-Clause */
/* joint.c: joint segments: memory that processes of different jobs share on one node.
 *
 * Two groups that meet (mpi/spawn/meet.c) make one segment, as a launcher makes that of a job, and each of their
 * processes on that node opens the node's device on it once more, as if all of them were ranks of one job.  So
 * messages between jobs go the ways that messages within a job go, and nothing of it has a name: it is gone with
 * the last process that has mapped it.
 *
 * A process has a place in the segment, which is its rank there: the group whose root made the segment comes
 * first, and each group keeps its order. Places of processes on other nodes stay empty and take no memory.
 *
 * Invariants
 *   1. All processes that have a place keep the segment, or all drop it (MPID_Joint_settle): so both ends of a
 *      pair use it, or neither.
 *   2. grank_of[place] is the process's number here, if this segment is the first that the two have in common;
 *      else EMPTY.  When this process has parted with it, PARTED: what still comes from there is for nobody.  Both
 *      ends say BYE, so both know when to do so.
 *   3. A segment in which nobody is served any more is closed.
 *   4. A process that has dropped a segment unmaps it when it has time, which takes longer than all else of a
 *      disconnection: before it sleeps, or before it has another one.  So one at most stays mapped, of which few
 *      pages were touched.  One from which windows have had memory is unmapped at once.
 *   5. No launcher looks after the segment.  Each process has a descriptor of each process that it serves, which
 *      tells of that one's end (or, where there are no descriptors left, looks before it sleeps), and marks it dead
 *      in the segment, as a launcher would. */
#define _GNU_SOURCE
#include "joint.h"
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/segment_alloc.h"
#include "util/sock.h"

enum { EMPTY = DEV_PEER_UNKNOWN, PARTED = -2, PLACES_MAX = 4096 };

struct MPID_JOINT {
    struct MPID_JOINT *next;
    struct core_dev dev;
    struct ku_segment segment;
    int32_t n, me, serves;          /* serves: how many processes */
    int32_t *grank_of;              /* [n] */
    int *alive;                     /* [n]: readable when the process has ended; -1 */
    bool blind;                     /* there are some without such a descriptor, that may be alive */
    _Atomic(struct ku_heap *) heap; /* NULL: nothing has been wanted of it */
};

static struct MPID_JOINT *joints;
static int njoints;
static int ends = -1; /* epoll: all of `alive` */
static struct ku_segment dropped = { .fd = -1 };

static int process_fd(int32_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

static struct ku_seg_rank *at_place(const struct MPID_JOINT *j, int32_t place)
{
    return ku_segment_rank(&j->segment, (uint32_t)place);
}

static bool can_watch(void)
{
    int fd = process_fd(getpid());
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

uint64_t MPID_Joint_where(void)
{
    static uint64_t host;
    static bool known;
    if (!known)
        host = can_watch() ? ku_sock_host() : 0;
    known = true;
    if (host == 0 || njoints >= CORE_JOINTS || !MPID_Devset_has_node())
        return 0;
    uint64_t where = (host ^ geteuid()) * 0x9e3779b97f4a7c15u;
    return where != 0 ? where : 1;
}

/* ---- Opening and closing ---- */

static void unmap_later(struct ku_segment *s)
{
    MPID_Joints_unmap();
    dropped = *s;
    close(dropped.fd); /* which costs little while it is mapped */
    dropped.fd = -1;
}

void MPID_Joints_unmap(void)
{
    if (unlikely(dropped.head != NULL))
        ku_segment_detach(&dropped);
}

static void joint_free(struct MPID_JOINT *j)
{
    struct ku_heap *heap = atomic_load(&j->heap);
    if (heap != NULL) {
        ku_heap_close(heap);
        free(heap);
        ku_segment_detach(&j->segment);
    } else
        unmap_later(&j->segment);
    for (int32_t i = 0; j->alive != NULL && i < j->n; i++)
        if (j->alive[i] >= 0)
            close(j->alive[i]); /* which takes it out of `ends` */
    free(j->alive);
    free(j->grank_of);
    free(j);
}

struct MPID_JOINT *MPID_Joint_make(int32_t places, struct MPID_Joint_name *name)
{
    *name = (struct MPID_Joint_name){ 0 };
    if (places > PLACES_MAX || MPID_Joint_where() == 0)
        return NULL;
    MPID_Joints_unmap();
    struct MPID_JOINT *j = calloc(1, sizeof *j);
    if (j == NULL || ku_segment_create(&j->segment, (uint32_t)places, (uint32_t)places, 0, 1) != 0) {
        free(j);
        return NULL;
    }
    *name = (struct MPID_Joint_name){
        .id = j->segment.head->job_id, .where = MPID_Joint_where(), .pid = getpid(), .fd = j->segment.fd
    };
    return j;
}

/* The segment of another process.  It may be another user's, or the number may be another process's: then it is
 * refused. */
static struct MPID_JOINT *find(int32_t places, const struct MPID_Joint_name *name)
{
    char path[64];
    MPID_Joints_unmap();
    struct MPID_JOINT *j = calloc(1, sizeof *j);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)name->pid, (int)name->fd);
    int fd = j != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0 && ku_segment_attach(&j->segment, fd) != 0)
        close(fd);
    if (j != NULL && j->segment.head != NULL && j->segment.head->job_id == name->id &&
        j->segment.head->size == (uint32_t)places && j->segment.head->nlocal == (uint32_t)places)
        return j;
    if (j != NULL && j->segment.head != NULL)
        ku_segment_detach(&j->segment);
    free(j);
    return NULL;
}

/* Who it serves: processes of other jobs that no joint segment has yet. */
static bool fill_in(struct MPID_JOINT *j, int32_t places, int32_t me, int32_t first, const int32_t *others,
                    int32_t n)
{
    j->n = places;
    j->me = me;
    j->grank_of = malloc((size_t)places * sizeof *j->grank_of);
    j->alive = malloc((size_t)places * sizeof *j->alive);
    if (j->grank_of == NULL || j->alive == NULL)
        return false;
    for (int32_t i = 0; i < places; i++)
        j->grank_of[i] = j->alive[i] = -1;
    for (int32_t i = 0; i < n; i++)
        if (others[i] >= MPID_core.job.size && MPID_Joint_serves(others[i]) == NULL) {
            j->grank_of[first + i] = others[i];
            j->serves++;
        }
    j->grank_of[me] = MPID_core.rank;
    return true;
}

static void joint_deliver(void *arg, int32_t peer, const struct dev_head *head, const void *body, size_t len)
{
    if (unlikely(peer == PARTED))
        return;
    if (unlikely(head->kind == PKT_BYE) && peer >= 0)
        MPID_Jobs_left(NULL, peer);
    else
        MPID_Deliver(arg, peer, head, body, len);
}

/* As a process takes its seat in its job's segment. */
static bool take_place(struct MPID_JOINT *j)
{
    struct ku_seg_rank *me = at_place(j, j->me);
    struct dev_services services = MPID_core.services;
    struct dev_world world = { .rank = MPID_core.rank,
                               .size = MPID_core.job.size,
                               .local_rank = j->me,
                               .local_size = j->n,
                               .epoch = 1,
                               .segment = &j->segment,
                               .grank_of = j->grank_of,
                               .scattered = true,
                               .others = true };
    if (ends < 0 && (ends = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return false;
    services.deliver = joint_deliver;
    atomic_fetch_or(&j->segment.head->fence_all, atomic_load(&MPID_core.job.segment.head->fence_all));
    atomic_store(&me->pid, getpid());
    atomic_store(&me->epoch, 1);
    atomic_store(&me->state, KU_RANK_RUNNING);
    if (!MPID_Devset_open_node(&j->dev, &world, &services))
        return false;
    j->dev.word = NULL; /* this process sleeps on its job's own, and says so here (MPID_Joints_prepare) */
    j->dev.fd = -1;
    j->dev.mem = (struct dev_mem_ops){ 0 }; /* regions are made once, with the devices that are always open */
    return true;
}

struct MPID_JOINT *MPID_Joint_open(struct MPID_JOINT *made, const struct MPID_Joint_name *name,
                                   int32_t places, int32_t me, int32_t first, const int32_t *others,
                                   int32_t n, enum MPID_JOINT_VOTE *vote)
{
    struct MPID_JOINT *j = made != NULL ? made : find(places, name);
    *vote = MPID_JOINT_FAILED;
    if (j == NULL || !fill_in(j, places, me, first, others, n) || !take_place(j)) {
        if (j != NULL)
            joint_free(j);
        return NULL;
    }
    *vote = j->serves > 0 ? MPID_JOINT_WANTED : MPID_JOINT_USELESS;
    return j;
}

static void leave(struct MPID_JOINT *j)
{
    struct ku_seg_rank *me = at_place(j, j->me);
    j->dev.ops.close(j->dev.dev);
    ku_wait_cancel(&me->sleeping);
    atomic_store(&me->state, KU_RANK_FINALIZED);
}

static void forget(struct MPID_JOINT *j)
{
    j->dev.ops.fini(j->dev.dev);
    joint_free(j);
}

static void watch_ends(struct MPID_JOINT *j);

void MPID_Joint_settle(struct MPID_JOINT *j, bool keep)
{
    if (j == NULL)
        return;
    if (j->grank_of == NULL) { /* it was not opened */
        joint_free(j);
        return;
    }
    if (!keep || j->serves == 0) {
        leave(j);
        forget(j);
        return;
    }
    j->next = joints;
    joints = j;
    njoints++;
    MPID_Devset_poll(&j->dev);
    watch_ends(j);
}

/* Nobody is served by it. */
static void drop(struct MPID_JOINT *j)
{
    struct MPID_JOINT **at = &joints;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    njoints--;
    MPID_Devset_poll_no_more(&j->dev);
    leave(j);
    forget(j);
}

void MPID_Joints_close(void)
{
    for (struct MPID_JOINT *j = joints; j != NULL; j = j->next)
        leave(j);
}

void MPID_Joints_fini(void)
{
    while (joints != NULL) {
        struct MPID_JOINT *j = joints;
        joints = j->next;
        forget(j);
    }
    MPID_Joints_unmap();
    njoints = 0;
    if (ends >= 0)
        close(ends);
    ends = -1;
}

/* ---- Peers ---- */

static int32_t place_of(const struct MPID_JOINT *j, int32_t peer)
{
    for (int32_t i = 0; i < j->n; i++)
        if (j->grank_of[i] == peer)
            return i;
    return -1;
}

static struct MPID_JOINT *joint_of(int32_t peer, int32_t *place)
{
    for (struct MPID_JOINT *j = peer >= MPID_core.job.size ? joints : NULL; j != NULL; j = j->next)
        if ((*place = place_of(j, peer)) >= 0)
            return j;
    return NULL;
}

struct core_dev *MPID_Joint_serves(int32_t peer)
{
    int32_t place;
    struct MPID_JOINT *j = joint_of(peer, &place);
    return j != NULL ? &j->dev : NULL;
}

static bool say_bye(struct core_dev *d, struct dev_peer *p)
{
    static const uint64_t nothing[8];
    struct dev_head bye = pkt_signal_prepare(PKT_BYE, 0);
    return d->ops.send_short(p, &bye, nothing) != DEV_AGAIN;
}

bool MPID_Joint_has(int32_t grank)
{
    return grank >= 0 && MPID_Joint_serves(grank) != NULL && !peer_gone(grank);
}

bool MPID_Joint_part(int32_t peer)
{
    int32_t place;
    struct MPID_JOINT *j = joint_of(peer, &place);
    if (j == NULL)
        return true;
    struct peer *p = MPID_core.peers.at[peer];
    bool in_use = p != NULL && p->grank == peer && p->cd == &j->dev;
    struct dev_peer *dp = in_use ? p->dp : NULL;
    if (dp == NULL && j->dev.ops.peer_init(j->dev.dev, peer, &dp) != DEV_OK)
        return false;
    bool said = say_bye(&j->dev, dp);
    if (said || !in_use)
        j->dev.ops.peer_fini(dp);
    if (!said)
        return false;
    j->grank_of[place] = PARTED;
    if (j->alive[place] >= 0)
        close(j->alive[place]);
    j->alive[place] = -1;
    if (--j->serves == 0)
        drop(j);
    return true;
}

/* ---- Its memory, for the layer above ---- */

struct MPID_JOINT *MPID_Joint_of(const int32_t *granks, int32_t n, uint64_t *id)
{
    struct MPID_JOINT *j = NULL;
    int32_t place;
    *id = 0;
    for (int32_t i = 0; i < n; i++) {
        if (granks[i] < MPID_core.job.size)
            continue;
        struct MPID_JOINT *its = joint_of(granks[i], &place);
        if (its == NULL || (j != NULL && j != its))
            return NULL;
        j = its;
    }
    if (j != NULL)
        *id = j->segment.head->job_id;
    return j;
}

struct ku_heap *MPID_Joint_heap(struct MPID_JOINT *j)
{
    enum { EPOCH = 1 }; /* of take_place */
    struct ku_heap *heap = atomic_load(&j->heap), *made = heap == NULL ? calloc(1, sizeof *made) : NULL;
    if (made == NULL)
        return heap;
    ku_heap_open(made, &j->segment, (uint32_t)j->me, EPOCH);
    if (atomic_compare_exchange_strong(&j->heap, &heap, made))
        return made;
    ku_heap_close(made); /* another thread was faster */
    free(made);
    return heap;
}

void MPID_Joint_wake(int32_t peer)
{
    int32_t place;
    struct MPID_JOINT *j = joint_of(peer, &place);
    if (j != NULL)
        ku_wait_wake(&at_place(j, place)->sleeping, true);
}

/* ---- Sleeping ---- */

int MPID_Joints_fd(void)
{
    return joints != NULL ? ends : -1;
}

void MPID_Joints_prepare(struct ku_seg_rank *me)
{
    if (joints != NULL)
        ku_wait_bell_open(me);
    for (struct MPID_JOINT *j = joints; j != NULL; j = j->next) {
        struct ku_seg_rank *here = at_place(j, j->me);
        if (atomic_load_explicit(&here->bell_mute, memory_order_relaxed))
            atomic_store(&me->bell_mute, 1);
        memcpy(here->bell, me->bell, sizeof here->bell);
        here->bell_len = me->bell_len;
        atomic_store_explicit(&here->sleeping, KU_IN_POLL, memory_order_relaxed);
    }
}

void MPID_Joints_cancel(void)
{
    for (struct MPID_JOINT *j = joints; j != NULL; j = j->next)
        ku_wait_cancel(&at_place(j, j->me)->sleeping);
}

/* ---- Who has ended ---- */

/* False: another process marks, try again. */
static bool mark_dead(struct MPID_JOINT *j, int32_t place)
{
    if (!ku_segment_mark_begin(&j->segment))
        return false;
    ku_segment_mark_gone(&j->segment, (uint32_t)place, KU_GONE);
    ku_segment_mark_end(&j->segment);
    return true;
}

static void watch_end(struct MPID_JOINT *j, int32_t place)
{
    struct epoll_event e = { .events = EPOLLIN };
    int fd = process_fd(atomic_load(&at_place(j, place)->pid));
    e.data.fd = fd;
    if (fd >= 0 && epoll_ctl(ends, EPOLL_CTL_ADD, fd, &e) == 0) {
        j->alive[place] = fd;
        return;
    }
    if (fd >= 0)
        close(fd);
    j->blind = true; /* it has ended already, or there are too many descriptors */
}

static void watch_ends(struct MPID_JOINT *j)
{
    for (int32_t i = 0; i < j->n; i++)
        if (j->grank_of[i] >= MPID_core.job.size)
            watch_end(j, i);
}

static void has_ended(int fd)
{
    for (struct MPID_JOINT *j = joints; j != NULL; j = j->next)
        for (int32_t i = 0; i < j->n; i++)
            if (j->alive[i] == fd) {
                if (!mark_dead(j, i)) /* it stays readable */
                    return;
                close(fd);
                j->alive[i] = -1;
                return;
            }
}

/* Those without a descriptor. */
static void look_for(struct MPID_JOINT *j)
{
    j->blind = false;
    for (int32_t i = 0; i < j->n; i++) {
        if (j->grank_of[i] < MPID_core.job.size || j->alive[i] >= 0 ||
            atomic_load(&ku_segment_gone(&j->segment)[i]))
            continue;
        bool ended = kill(atomic_load(&at_place(j, i)->pid), 0) != 0 && errno == ESRCH;
        if (!ended || !mark_dead(j, i))
            j->blind = true;
    }
}

void MPID_Joints_look(void)
{
    enum { SOME = 16 };
    struct epoll_event e[SOME];
    int n = joints != NULL && ends >= 0 ? epoll_wait(ends, e, SOME, 0) : 0;
    for (int i = 0; i < n; i++)
        has_ended(e[i].data.fd);
    for (struct MPID_JOINT *j = joints; j != NULL; j = j->next)
        if (j->blind)
            look_for(j);
}
