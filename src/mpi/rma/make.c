/* SPDX-License-Identifier: BSD-3-Clause */
/* make.c: windows are made and freed.
 *
 * The window has a communicator of its own.  The members of each node tell the first of them the sizes of their
 * parts; it allots a control block, and the memory where that is allotted here, and tells the others the names of
 * both.  At the end all agree on whether anybody has met an error: so a window is made by all or by none. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "env.h"
#include "rma.h"

enum { GRAIN = 128, LARGEST_ALIGNMENT = 4096 };

/* What a member tells the first of its node. */
struct part {
    int64_t size, unit, align;
    int32_t rank, err;
};
/* And what it is told. */
struct blocks {
    uint64_t control, memory;
    int32_t err, pad;
};

/* ---- Members of this node ------------------------------------------------------------------------------------ */

static int by_rank(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* The ranks in the group of this node's processes, ascending; NULL without memory. */
static int32_t *members_here(MPIR_Group *group, int32_t *n)
{
    const struct MPID_World *w = MPID_World();
    int32_t *ranks = malloc((size_t)w->local_size * sizeof *ranks);
    *n = 0;
    for (int32_t i = 0; ranks && i < w->local_size; i++) {
        int32_t rank = MPIR_Group_rank_of(group, w->grank_of[i]);
        if (rank != MPI_UNDEFINED)
            ranks[(*n)++] = rank;
    }
    if (ranks)
        qsort(ranks, (size_t)*n, sizeof *ranks, by_rank);
    return ranks;
}

static int make_say(MPIR_Comm *comm, int32_t to, const void *what, int64_t bytes)
{
    return MPIR_P2p_send(what, bytes, NULL, to, RMA_TAG_FIRST, comm, MPID_CONTEXT_RMA);
}

static int make_hear(MPIR_Comm *comm, int32_t from, void *what, int64_t bytes)
{
    return MPIR_P2p_recv(what, bytes, NULL, from, RMA_TAG_FIRST, comm, MPID_CONTEXT_RMA, NULL);
}

static uint64_t rounded(uint64_t n, uint64_t grain)
{
    return (n + grain - 1) & ~(grain - 1);
}

/* Where each part begins in the node's memory; the bytes of all.  Parts that are contiguous follow each other
 * without a gap. */
static uint64_t lay_out(struct rma_slot *slot, const struct part *part, int32_t n, bool contiguous)
{
    uint64_t end = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!contiguous)
            end = rounded(end, part[i].align > GRAIN ? (uint64_t)part[i].align : GRAIN);
        slot[i].at = end;
        end += (uint64_t)part[i].size;
    }
    return end;
}

static int allot(struct MPID_JOINT *in, const struct part *part, int32_t n, bool memory, bool contiguous,
                 struct blocks *b)
{
    int err = 0;
    b->control =
        MPID_Shared_alloc(in, (int64_t)(sizeof(struct rma_node) + (size_t)n * sizeof(struct rma_slot)), &err);
    struct rma_node *node = b->control ? MPID_Shared_map(in, b->control, &err) : NULL;
    if (!node)
        return err;
    node->members = (uint32_t)n;
    atomic_store(&node->users, (uint32_t)n);
    for (int32_t i = 0; i < n; i++) {
        node->slot[i].rank = part[i].rank;
        node->slot[i].size = part[i].size;
        node->slot[i].unit = part[i].unit;
    }
    uint64_t bytes = lay_out(node->slot, part, n, contiguous);
    if (memory && bytes > 0) /* a page more: what is small begins anywhere in one */
        node->memory = b->memory = MPID_Shared_alloc(in, (int64_t)(bytes + LARGEST_ALIGNMENT), &err);
    MPID_Shared_unmap(in, b->control);
    if (err) {
        MPID_Shared_free(in, b->control);
        *b = (struct blocks){ 0 };
    }
    return err;
}

/* The first of the node: hear what all say, allot, and tell them. */
static int lead(MPIR_Comm *comm, struct MPID_JOINT *in, const int32_t *ranks, int32_t n,
                const struct part *mine, bool memory, bool contiguous, struct blocks *b)
{
    struct part *part = malloc((size_t)n * sizeof *part);
    int err = part ? 0 : MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a window");
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        struct part its = *mine;
        int e = ranks[i] != comm->adi.rank ? make_hear(comm, ranks[i], &its, sizeof its) : 0;
        err = err ? err : e ? e : its.err;
        if (part)
            part[i] = its;
        if (!err && memory && __builtin_add_overflow(sum, its.size + LARGEST_ALIGNMENT, &sum))
            err = MPIR_Err(MPI_ERR_NO_MEM, "size", "of the processes of this node is %s bytes together",
                           "more than 2^63");
    }
    if (!err)
        err = allot(in, part, n, memory, contiguous, b);
    free(part);
    b->err = err;
    for (int32_t i = 0; i < n; i++)
        if (ranks[i] != comm->adi.rank) {
            int e = make_say(comm, ranks[i], b, sizeof *b);
            err = err ? err : e;
        }
    return err;
}

static int make_follow(MPIR_Comm *comm, int32_t leader, const struct part *mine, struct blocks *b)
{
    int err = make_say(comm, leader, mine, sizeof *mine);
    if (!err)
        err = make_hear(comm, leader, b, sizeof *b);
    if (!err && b->err)
        err = mine->err ? mine->err
                        : MPIR_Err(b->err, NULL,
                                   "another process of this node could not make its part of the window");
    return err;
}

/* ---- The window in this process ------------------------------------------------------------------------------ */

static int map_blocks(struct rma *r, const struct blocks *b)
{
    int err = 0;
    r->block = b->control;
    r->node = MPID_Shared_map(r->joint, b->control, &err);
    if (!r->node)
        return err;
    r->memory = b->memory;
    if (b->memory && !(r->mapped = MPID_Shared_map(r->joint, b->memory, &err)))
        return err;
    /* The same in all processes: they map whole pages. */
    r->mapped = (char *)((uintptr_t)r->mapped + (-(uintptr_t)r->mapped & (LARGEST_ALIGNMENT - 1)));
    return 0;
}

/* Let the devices of others reach the memory of this process: its key is in its slot before anybody goes on (agree). */
static void make_expose(MPIR_Win *win)
{
    struct rma *r = win->rma;
    struct rma_slot *s = r->own->slot;
    int err = 0;
    bool near = win->flavor == MPI_WIN_FLAVOR_CREATE && r->members > 1;
    bool far =
        win->flavor != MPI_WIN_FLAVOR_DYNAMIC && win->comm->adi.size > r->members && MPID_Mem_way_to(-1);
    if (win->size == 0 || r->checks || (!near && !far))
        return;
    r->exposed = MPID_Mem_register(win->base, win->size, &err);
    int64_t len = r->exposed && near ? MPID_Mem_key(r->exposed, s->key, sizeof s->key) : 0;
    s->key_len = len <= RMA_KEY ? (uint32_t)len : 0;
}

const struct MPIR_Near MPIR_Near_none = { .rank = INT32_MIN };

static struct MPIR_Near near(const struct rma *r, const struct rma_target *t)
{
    if (!t->direct || t->dynamic || r->served || r->checks || t->unit <= 0 ||
        (MPID_Needs() & MPID_NEEDS_CALLS))
        return MPIR_Near_none;
    return (struct MPIR_Near){ .rank = t->rank,
                               .base = t->base,
                               .size = t->size,
                               .unit = t->unit,
                               .most = (uint64_t)(t->size / t->unit),
                               .busy = &r->own->slot->busy,
                               .gate = &t->slot->gate };
}

static int make_targets(struct rma *r, MPIR_Win *win)
{
    bool apart = win->flavor == MPI_WIN_FLAVOR_CREATE || win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    r->members = (int32_t)r->node->members;
    r->checks = MPIR_Rma_Check_wanted();
    r->on_node = calloc((size_t)r->members, sizeof *r->on_node);
    if (!r->on_node)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a window");
    for (int32_t i = 0; i < r->members; i++) {
        struct rma_target *t = &r->on_node[i];
        struct rma_slot *s = &r->node->slot[i];
        bool mine = s->rank == win->comm->adi.rank;
        *t = (struct rma_target){ .rank = s->rank,
                                  .size = s->size,
                                  .unit = s->unit,
                                  .slot = s,
                                  .direct = mine || !(apart || r->checks),
                                  .dynamic = win->flavor == MPI_WIN_FLAVOR_DYNAMIC };
        /* Bases that follow each other are told of empty parts, too. */
        bool nowhere = win->flavor == MPI_WIN_FLAVOR_SHARED && r->noncontig && s->size == 0;
        t->base = apart ? (mine ? win->base : NULL) : nowhere ? NULL : r->mapped + s->at;
        if (mine)
            r->own = t;
    }
    if (!apart)
        win->base = r->own->base;
    r->served = win->comm->adi.size > r->members || ((apart || r->checks) && win->comm->adi.size > 1);
    for (int32_t i = 0; i < r->members; i++)
        r->on_node[i].near = near(r, &r->on_node[i]);
    make_expose(win);
    return 0;
}

/* A member has left the blocks, or is lost: once for each. */
static bool leaves_last(struct rma *r, struct rma_slot *s)
{
    return !atomic_exchange(&s->left, 1) && atomic_fetch_sub(&r->node->users, 1) == 1;
}

static bool all_have_left(struct rma *r)
{
    int err;
    if (!r->own) /* nothing has been told of it */
        return atomic_fetch_sub(&r->node->users, 1) == 1;
    bool last = leaves_last(r, r->own->slot);
    for (int32_t i = 0; i < r->members && !last; i++)
        if (MPID_Lost(MPIR_Comm_grank(r->win->comm, r->node->slot[i].rank), &err))
            last = leaves_last(r, &r->node->slot[i]);
    return last;
}

static void release_blocks(struct rma *r)
{
    if (!r->node)
        return;
    bool last = all_have_left(r);
    uint64_t memory = r->memory;
    if (memory)
        MPID_Shared_unmap(r->joint, memory);
    MPID_Shared_unmap(r->joint, r->block);
    if (last && memory)
        MPID_Shared_free(r->joint, memory);
    if (last)
        MPID_Shared_free(r->joint, r->block);
}

static void discard(MPIR_Win *win)
{
    struct rma *r = win->rma;
    if (r) {
        if (r->exposed)
            MPID_Mem_unregister(r->exposed);
        release_blocks(r);
        for (int i = 0; i < RMA_BUCKETS; i++)
            for (struct rma_target *t = r->elsewhere[i], *next; t; t = next) {
                next = t->next;
                MPIR_Rma_Remote_free(win, t);
                free(t);
            }
        for (int32_t i = 0; r->on_node && i < r->members; i++)
            MPIR_Rma_Remote_free(win, &r->on_node[i]);
        free(r->on_node);
        MPIR_Rma_Check_end(r);
        free(r->region);
        free(r->spare);
        free(r->ordering);
        free(r->kinds);
        free(r);
    }
    if (win->comm)
        MPIR_Comm_release(win->comm);
    MPIR_Errhandler_release(win->errhandler);
    MPIR_Object_free(win);
}

/* ---- Making -------------------------------------------------------------------------------------------------- */

static int check_arguments(MPI_Aint size, MPI_Count unit)
{
    if (size < 0)
        return MPIR_Err(MPI_ERR_SIZE, "size", "is %lld; expected 0 or more", (long long)size);
    if (unit < 1 || unit > INT32_MAX)
        return MPIR_Err(MPI_ERR_DISP, "disp_unit", "is %lld; expected 1 to %d", (long long)unit, INT32_MAX);
    return 0;
}

static MPIR_Win *win_alloc(int flavor, void *base, MPI_Aint size, MPI_Count unit)
{
    MPIR_Win *win = MPIR_Object_alloc(MPIR_KIND_WIN);
    if (win)
        win->rma = calloc(1, sizeof *win->rma);
    if (!win || !win->rma) {
        if (win)
            MPIR_Object_free(win);
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a window");
        return NULL;
    }
    win->errhandler = &MPIR_Errors_are_fatal;
    win->flavor = flavor;
    MPIR_Near_forget(win);
    win->model = MPI_WIN_UNIFIED;
    win->base = base;
    win->size = size;
    win->unit = (int)unit;
    win->rma->win = win;
    return win;
}

static int64_t alignment_of(const MPIR_Info *info)
{
    int64_t align = GRAIN;
    MPIR_Info_number(info, "mpi_minimum_memory_alignment", &align, NULL);
    if (align < 1 || (align & (align - 1))) /* a hint that cannot be one says nothing */
        align = GRAIN;
    return align < LARGEST_ALIGNMENT ? align : LARGEST_ALIGNMENT;
}

/* The numbers of all members in this process.  *own: how many are of this job. */
static int32_t *numbers_of(const MPIR_Comm *comm, int32_t *own)
{
    int32_t *granks = malloc((size_t)comm->adi.size * sizeof *granks);
    *own = 0;
    for (int32_t i = 0; granks && i < comm->adi.size; i++) {
        granks[i] = MPIR_Comm_grank(comm, i);
        *own += granks[i] < MPID_MyWorldSize;
    }
    return granks;
}

/* Members of several jobs may all share memory: that is so if all of them know one joint segment that has those of
 * the other jobs, and those of the own job are on this node.  All find the same. */
static int find_joint(MPIR_Win *win, int32_t here)
{
    MPIR_Comm *comm = win->comm;
    uint64_t id = 0;
    int32_t own;
    if (!MPID_Others_may_come()) /* it has met none */
        return 0;
    int32_t *granks = numbers_of(comm, &own);
    if (!granks) /* the others would wait for it */
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, (char *)"no memory for a window");
    struct MPID_JOINT *j = own == here ? MPID_Joint_of(granks, comm->adi.size, &id) : NULL;
    free(granks);
    if (own == comm->adi.size)
        return 0;
    uint32_t high = (uint32_t)(id >> 32), low = (uint32_t)id, words[] = { high, low, ~high, ~low };
    int err = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), 0, words, 4);
    if (!err && j && words[0] == high && words[1] == low && words[2] == ~high && words[3] == ~low)
        win->rma->joint = j;
    return err;
}

static int32_t *all_members(const MPIR_Comm *comm, int32_t *n)
{
    int32_t *ranks = malloc((size_t)comm->adi.size * sizeof *ranks);
    *n = comm->adi.size;
    for (int32_t i = 0; ranks && i < *n; i++)
        ranks[i] = i;
    return ranks;
}

/* The parts of one node, once there is a communicator. */
static int make_node(MPIR_Win *win, int64_t align)
{
    struct rma *r = win->rma;
    MPIR_Comm *comm = win->comm;
    bool memory = win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
    bool contiguous = win->flavor == MPI_WIN_FLAVOR_SHARED && !r->noncontig;
    int32_t n;
    int32_t *ranks = members_here(comm->group, &n);
    struct blocks b = { 0 };
    int err = ranks && memory ? find_joint(win, n) : 0;
    if (r->joint) {
        free(ranks);
        ranks = all_members(comm, &n);
    }
    if (!ranks) /* the others would wait for it */
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, (char *)"no memory for a window");
    if (!err && win->flavor == MPI_WIN_FLAVOR_SHARED && n != comm->adi.size) /* so all of them find */
        err = MPIR_Err(
            MPI_ERR_RMA_SHARED, "comm",
            "has %d processes, of which %d are on this node and of this job; expected a communicator "
            "of one node (MPI_Comm_split_type)",
            comm->adi.size, n);
    struct part mine = { win->size, win->unit, align, comm->adi.rank, 0 };
    if (!err)
        err = ranks[0] == comm->adi.rank ? lead(comm, r->joint, ranks, n, &mine, memory, contiguous, &b)
                                         : make_follow(comm, ranks[0], &mine, &b);
    free(ranks);
    if (!err)
        err = map_blocks(r, &b);
    return err ? err : make_targets(r, win);
}

/* In all processes alike: 0, or an error of at least one of them; and whether one of them had the flag. */
static int agree(MPIR_Comm *comm, int err, bool *flag)
{
    uint32_t word = *flag;
    err = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), err, &word, 1);
    *flag = word != 0;
    return err;
}

/* The communicator, which is made by all or by none. */
static int make_make_comm(MPIR_Win *win, MPIR_Comm *comm, int err)
{
    err = MPIR_Comm_make(comm, comm->group, err, &win->comm);
    if (err)
        return err;
    win->comm->no_handle = true;
    win->comm->owner = &win->obj;
    MPIR_Comm_making(comm, win->comm);
    MPID_Lost_acked(&win->comm->adi, INT32_MAX); /* what is served is of those that live */
    return 0;
}

/* Do devices of this process update memory of other nodes by themselves? */
static bool devices_update(const MPIR_Win *win)
{
    const struct rma *r = win->rma;
    int way = MPID_MEM_UNAIDED | MPID_MEM_ATOMIC;
    return win->comm->adi.size > r->members && !r->checks && (MPID_Mem_way_to(-1) & way) == way;
}

static int make_make(int flavor, void *base, MPI_Aint size, MPI_Count unit, MPIR_Info *info, MPIR_Comm *comm,
                     MPIR_Win **result)
{
    int err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    err = check_arguments(size, unit);
    int64_t align = alignment_of(info);
    MPIR_Win *win = win_alloc(flavor, base, size, unit);
    if (!win)
        MPID_Abort(NULL, MPI_ERR_NO_MEM, NULL, (char *)"no memory for a window"); /* the others would wait */
    if (!err)
        err = MPIR_Win_set_info(win, info);
    err = make_make_comm(win, comm, err);
    if (!err) {
        err = make_node(win, align);
        if (!err && win->rma->served)
            err = MPIR_Rma_Serve_begin(win);
        win->rma->elementwise = devices_update(win) || win->rma->joint; /* MPID_Show_stores is of one job */
        err = agree(win->comm, err, &win->rma->elementwise);
        MPIR_Comm_making(comm, NULL);
        win->comm->brittle = false;
        if (err && MPID_Survives()) { /* others may have it */
            struct ku_err words = *ku_err_last();
            MPIR_Comm_revoked(&win->comm->adi);
            *ku_err_last() = words;
        }
        if (err && win->rma->serve)
            MPIR_Rma_Serve_end(win);
    }
    if (err)
        discard(win);
    else
        *result = win;
    if (!err && win->rma->served && !win->rma->no_locks) { /* last, since the helper runs from here on */
        win->rma->helped = true;
        MPIR_Library_help(true);
    }
    return err;
}

int MPIR_Win_create(void *base, MPI_Aint size, MPI_Count disp_unit, MPIR_Info *info, MPIR_Comm *comm,
                    MPIR_Win **win)
{
    return make_make(MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info, comm, win);
}

int MPIR_Win_create_dynamic(MPIR_Info *info, MPIR_Comm *comm, MPIR_Win **win)
{
    return make_make(MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1, info, comm, win);
}

static int make_with_memory(int flavor, MPI_Aint size, MPI_Count unit, MPIR_Info *info, MPIR_Comm *comm,
                            void *baseptr, MPIR_Win **win)
{
    int err = make_make(flavor, NULL, size, unit, info, comm, win);
    if (!err)
        memcpy(baseptr, &(*win)->base, sizeof(void *));
    return err;
}

int MPIR_Win_allocate(MPI_Aint size, MPI_Count disp_unit, MPIR_Info *info, MPIR_Comm *comm, void *baseptr,
                      MPIR_Win **win)
{
    return make_with_memory(MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win);
}

int MPIR_Win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, MPIR_Info *info, MPIR_Comm *comm,
                             void *baseptr, MPIR_Win **win)
{
    return make_with_memory(MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win);
}

static const char *open_epoch(const struct rma *r)
{
    if (r->posted)
        return "MPI_Win_post, without MPI_Win_wait";
    switch (r->epoch) {
    case RMA_START:
        return "MPI_Win_start, without MPI_Win_complete";
    case RMA_LOCK:
        return "MPI_Win_lock, without MPI_Win_unlock";
    case RMA_LOCK_ALL:
        return "MPI_Win_lock_all, without MPI_Win_unlock_all";
    default:
        return NULL;
    }
}

int MPIR_Win_free(MPIR_Win **win)
{
    MPIR_Win *w = *win;
    bool revoked = w->obj.flags & KEEL_OBJ_REVOKED;
    const char *open = revoked ? NULL : open_epoch(w->rma);
    if (open)
        return MPIR_Err(MPI_ERR_RMA_SYNC, "win", "is in an epoch begun by %s", open);
    int err = MPIR_Attr_delete_all(w);
    if (err)
        return err;
    err = revoked ? 0 : MPIR_Rma_Flush_all(w);
    int failed = revoked ? 0 : MPIR_Barrier(w->comm); /* nobody accesses any part any more */
    if (failed &&
        MPID_Survives()) { /* nobody is waited for, as others may not have the window, or be in an access */
        struct ku_err words = *ku_err_last();
        MPIR_Comm_revoked(&w->comm->adi);
        *ku_err_last() = words;
    }
    bool helped = w->rma->helped;
    if (w->rma->serve)
        MPIR_Rma_Serve_end(w);
    discard(w);
    if (helped)
        MPIR_Library_help(false);
    *win = NULL;
    return err ? err : failed;
}

/* ---- Targets ------------------------------------------------------------------------------------------------- */

static struct rma_target *here(struct rma *r, int32_t rank)
{
    if (r->members == r->win->comm->adi.size)
        return &r->on_node[rank];
    int32_t low = 0, high = r->members;
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (r->on_node[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->members && r->on_node[low].rank == rank ? &r->on_node[low] : NULL;
}

struct rma_target *MPIR_Rma_target(MPIR_Win *win, int32_t rank)
{
    struct rma *r = win->rma;
    if (r->last && r->last->rank == rank)
        return r->last;
    struct rma_target *t = here(r, rank), **bucket = &r->elsewhere[MPIR_Group_hash(rank) % RMA_BUCKETS];
    if (!t)
        for (t = *bucket; t && t->rank != rank; t = t->next)
            ;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t) {
            MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more target (rank %d)", rank);
            return NULL;
        }
        t->rank = rank;
        t->near = MPIR_Near_none;
        t->dynamic = win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
        t->next = *bucket;
        *bucket = t;
    }
    return r->last = t;
}
