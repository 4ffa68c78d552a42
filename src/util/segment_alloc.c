/* SPDX-License-Identifier: BSD-3-Clause */
/* segment_alloc.c: blocks in the job's segment (segment_alloc.h says what they promise).
 *
 * Invariants
 *   1. The lock is held to change an extent's state or a chunk's map, except MAKING -> LARGE and MAKING -> UNUSED,
 *      which the maker alone does.  Gigabytes are got and given back without it, so nobody waits for that.
 *   2. A chunk begins with its map, a byte a grain: FREE, FIRST (of a block), NEXT (the rest of a block).  A block
 *      is marked from its end to its beginning, and unmarked from its beginning on.  So if the holder of the lock is
 *      killed in between, what it left is grains of NEXT behind one that is FREE: whoever gets the lock next makes
 *      them FREE (recover).
 *   3. All else in the extents that a killed holder may leave unfinished is found out from the maps and the
 *      states, or costs addresses alone: `free` is counted again; the range of an extent is written before the state
 *      that makes it valid.
 *   4. An extent in state UNUSED or IDLE may still have pages (its last user was killed): they are given back
 *      before it is used again, which also makes it zero.
 *   5. A chunk's place in the table and in the file is never used for anything but a chunk, so processes keep it
 *      mapped.
 *   6. A maker that the launcher has marked dead is as if it had given up. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "err.h"
#include "lock.h"
#include "segment.h"
#include "segment_alloc.h"

enum extent_state {
    UNUSED, /* of no block; has a range of the file if bytes > 0 */
    MAKING, /* a large block to be, whose maker gets its pages */
    LARGE,  /* one block */
    CHUNK,  /* small blocks */
    IDLE    /* a chunk without blocks */
};
enum grain { FREE, FIRST, NEXT };
enum {
    PAGE = 4096,
    PART = KU_HEAP_KEPT, /* of a chunk: it gets its pages by parts */
    GRAINS = KU_HEAP_CHUNK / KU_HEAP_GRAIN,
    MAP_GRAINS = GRAINS / KU_HEAP_GRAIN, /* those that the map itself takes */
    AT_ONCE = 16 << 20,                  /* bytes: a signal may interrupt what takes longer */
    EXTENT_SHIFT = 40,
    GRAIN_BITS = 13
};
_Static_assert(GRAINS == 1 << GRAIN_BITS && KU_HEAP_CHUNK / PART <= 32, "a number has room for both");
#define LARGEST ((uint64_t)1 << EXTENT_SHIFT)

static struct ku_heap_head *head_of(const struct ku_heap *h)
{
    return (struct ku_heap_head *)((char *)h->segment->head + h->segment->head->heap_off);
}

static ku_block name(uint32_t extent, uint64_t offset)
{
    return (uint64_t)(extent + 1) << EXTENT_SHIFT | offset;
}
static uint32_t extent_of(ku_block b)
{
    return (uint32_t)(b >> EXTENT_SHIFT) - 1;
}
static uint64_t offset_of(ku_block b)
{
    return b & (LARGEST - 1);
}

uint32_t ku_block_number(ku_block b)
{
    return b == 0 || offset_of(b) >= KU_HEAP_CHUNK
               ? 0
               : (extent_of(b) + 1) << GRAIN_BITS | (uint32_t)(offset_of(b) / KU_HEAP_GRAIN);
}

ku_block ku_block_of(uint32_t number)
{
    uint64_t grain = number & (GRAINS - 1);
    return number == 0 ? 0 : name((number >> GRAIN_BITS) - 1, grain * KU_HEAP_GRAIN);
}

static uint32_t segment_alloc_state_of(const struct ku_heap_extent *e)
{
    return atomic_load_explicit(&e->state, memory_order_acquire);
}

static void set_state(struct ku_heap_extent *e, enum extent_state s)
{
    atomic_store_explicit(&e->state, s, memory_order_release);
}

int ku_heap_format(struct ku_heap_head *head, uint64_t end)
{
    head->end = end;
    return ku_mutex_init_shared(&head->lock);
}

void ku_heap_open(struct ku_heap *h, const struct ku_segment *s, uint32_t lrank, uint32_t epoch)
{
    h->segment = s;
    h->lrank = lrank;
    h->epoch = epoch;
}

/* ---- Pages ---- */

static int segment_alloc_fail(uint64_t bytes, const char *what, int err)
{
    return ku_err_set(err, NULL, "shared memory: no block of %llu bytes: %s: %s", (unsigned long long)bytes,
                      what, strerror(err));
}

/* Give the pages of a range of the file back: it reads as zero then. */
static void segment_alloc_give_back(const struct ku_heap *h, uint64_t offset, uint64_t bytes)
{
    while (fallocate(h->segment->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                     (off_t)bytes) != 0 &&
           errno == EINTR)
        ;
}

/* Get the pages of a range.  0, or an errno value. */
static int get_pages(const struct ku_heap *h, uint64_t offset, uint64_t bytes)
{
    for (uint64_t n; bytes > 0; offset += n, bytes -= n) {
        n = bytes < AT_ONCE ? bytes : AT_ONCE;
        while (fallocate(h->segment->fd, 0, (off_t)offset, (off_t)n) != 0)
            if (errno == EOPNOTSUPP || errno == ENOSYS)
                return 0; /* touching them will tell */
            else if (errno != EINTR)
                return errno;
    }
    return 0;
}

/* A new range at the end of the file.  Beyond the limit ftruncate would be answered by a signal. */
static int extend(struct ku_heap *h, struct ku_heap_extent *e, uint64_t bytes)
{
    struct ku_heap_head *head = head_of(h);
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && head->end + bytes > most.rlim_cur)
        return segment_alloc_fail(bytes, "the size of files is limited (ulimit -f)", EFBIG);
    if (ftruncate(h->segment->fd, (off_t)(head->end + bytes)) != 0)
        return segment_alloc_fail(bytes, "ftruncate", errno);
    uint64_t offset = head->end;
    head->end += bytes;
    e->bytes = 0;
    atomic_signal_fence(memory_order_seq_cst); /* a killed process leaves no range that is two's */
    e->offset = offset;
    atomic_signal_fence(memory_order_seq_cst);
    e->bytes = bytes;
    return 0;
}

/* ---- What this process has mapped ---- */

/* The extent's beginning.  NULL: it cannot be mapped. */
static char *map_extent(struct ku_heap *h, uint32_t extent)
{
    const struct ku_heap_extent *e = &head_of(h)->extent[extent];
    struct ku_heap_mapped *m = &h->mapped[extent];
    char *at = atomic_load_explicit(&m->at, memory_order_acquire), *is = NULL;
    if (at != NULL)
        return at;
    at = mmap(NULL, e->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, h->segment->fd,
              (off_t)e->offset);
    if (at == MAP_FAILED) {
        segment_alloc_fail(e->bytes, "mmap (is the address space limited, ulimit -v?)", errno);
        return NULL;
    }
    atomic_store_explicit(&m->bytes, e->bytes, memory_order_relaxed);
    if (atomic_compare_exchange_strong(&m->at, &is, at))
        return at;
    munmap(at, e->bytes);
    return is;
}

static void unmap_extent(struct ku_heap_mapped *m)
{
    uint64_t bytes = atomic_load_explicit(&m->bytes, memory_order_relaxed);
    char *at = atomic_exchange(&m->at, NULL);
    if (at != NULL)
        munmap(at, bytes);
}

static void close_extent(struct ku_heap_mapped *m)
{
    unmap_extent(m);
    if (atomic_load_explicit(&m->users, memory_order_relaxed) != 0)
        atomic_store_explicit(&m->users, 0, memory_order_relaxed);
}

void ku_heap_close(struct ku_heap *h)
{
    for (uint32_t i = 0; h->segment != NULL && i < head_of(h)->n; i++)
        close_extent(&h->mapped[i]);
    h->segment = NULL;
}

static bool valid(const struct ku_heap *h, ku_block b)
{
    const struct ku_heap_head *head = head_of(h);
    uint32_t i = extent_of(b);
    uint32_t state = b != 0 && i < KU_HEAP_EXTENTS ? segment_alloc_state_of(&head->extent[i]) : UNUSED;
    if (state == UNUSED || offset_of(b) >= head->extent[i].bytes)
        return false;
    return (state == LARGE && offset_of(b) == 0) || (state == CHUNK && offset_of(b) != 0);
}

void *ku_heap_map(struct ku_heap *h, ku_block b)
{
    if (!valid(h, b)) {
        ku_err_set(EINVAL, NULL, "shared memory: there is no block %#llx", (unsigned long long)b);
        return NULL;
    }
    char *at = map_extent(h, extent_of(b));
    if (at == NULL)
        return NULL;
    atomic_fetch_add(&h->mapped[extent_of(b)].users, 1);
    return at + offset_of(b);
}

void ku_heap_unmap(struct ku_heap *h, ku_block b)
{
    struct ku_heap_mapped *m = &h->mapped[extent_of(b)];
    bool last = atomic_fetch_sub(&m->users, 1) == 1;
    if (last && offset_of(b) == 0)
        unmap_extent(m);
}

/* ---- A chunk's map ---- */

static _Atomic uint8_t *map_of(struct ku_heap *h, uint32_t extent)
{
    return (_Atomic uint8_t *)map_extent(h, extent);
}

/* In program order, also for a process that is killed in between. */
static void mark(_Atomic uint8_t *grain, enum grain is)
{
    atomic_store_explicit(grain, (uint8_t)is, memory_order_release);
}

static enum grain marked(const _Atomic uint8_t *grain)
{
    return (enum grain)atomic_load_explicit(grain, memory_order_relaxed);
}

/* n grains in a row that are free; 0: there are none. */
static uint32_t segment_alloc_find(const _Atomic uint8_t *map, uint32_t n)
{
    for (uint32_t at = MAP_GRAINS, run = 0; at < GRAINS; at++) {
        run = marked(map + at) == FREE ? run + 1 : 0;
        if (run == n)
            return at + 1 - n;
    }
    return 0;
}

static void mark_block(_Atomic uint8_t *map, uint32_t first, uint32_t n)
{
    for (uint32_t i = n - 1; i > 0; i--)
        mark(map + first + i, NEXT);
    mark(map + first, FIRST);
}

/* Returns how many grains it had. */
static uint32_t unmark_block(_Atomic uint8_t *map, uint32_t first)
{
    uint32_t n = 1;
    mark(map + first, FREE);
    for (; first + n < GRAINS && marked(map + first + n) == NEXT; n++)
        mark(map + first + n, FREE);
    return n;
}

/* Invariant 2.  Returns how many grains are free. */
static uint32_t mend(_Atomic uint8_t *map)
{
    uint32_t n = 0;
    for (uint32_t at = MAP_GRAINS; at < GRAINS; at++) {
        bool behind_free = at == MAP_GRAINS || marked(map + at - 1) == FREE;
        if (marked(map + at) == NEXT && behind_free)
            mark(map + at, FREE);
        n += marked(map + at) == FREE;
    }
    return n;
}

/* ---- The lock ---- */

/* With the lock. */
static void make_idle(struct ku_heap *h, struct ku_heap_extent *e)
{
    set_state(e, segment_alloc_state_of(e) == CHUNK || segment_alloc_state_of(e) == IDLE ? IDLE : UNUSED);
    e->backed = 0;
    if (e->bytes > 0)
        segment_alloc_give_back(h, e->offset, e->bytes);
}

/* The last holder was killed. */
static void recover(struct ku_heap *h)
{
    struct ku_heap_head *head = head_of(h);
    for (uint32_t i = 0; i < head->n; i++) {
        _Atomic uint8_t *map = segment_alloc_state_of(&head->extent[i]) == CHUNK ? map_of(h, i) : NULL;
        if (map != NULL)
            head->extent[i].free = mend(map);
    }
    atomic_fetch_add(&head->recoveries, 1);
    pthread_mutex_consistent(&head->lock);
}

static void begin_epoch(struct ku_heap *h)
{
    struct ku_heap_head *head = head_of(h);
    atomic_store(&head->next,
                 h->epoch); /* before any block goes: who looks at it afterwards knows that it may have */
    for (uint32_t i = 0; i < head->n; i++)
        make_idle(h, &head->extent[i]);
    head->epoch = h->epoch;
}

static void segment_alloc_lock(struct ku_heap *h)
{
    struct ku_heap_head *head = head_of(h);
    ku_lock_takes(KU_LOCK_SEGMENT);
    if (pthread_mutex_lock(&head->lock) == EOWNERDEAD)
        recover(h);
    if (head->epoch != h->epoch)
        begin_epoch(h);
}

static void unlock(struct ku_heap *h)
{
    pthread_mutex_unlock(&head_of(h)->lock);
    ku_lock_left(KU_LOCK_SEGMENT);
}

/* ---- Extents (with the lock) ---- */

static bool abandoned(const struct ku_heap *h, const struct ku_heap_extent *e)
{
    return segment_alloc_state_of(e) == MAKING &&
           atomic_load(&ku_segment_rank(h->segment, e->maker)->state) == KU_RANK_DEAD;
}

/* An extent without blocks, best one whose range has room for `bytes` and not much more; else at least a place in
 * the table. */
static struct ku_heap_extent *spare(struct ku_heap *h, uint64_t bytes)
{
    struct ku_heap_head *head = head_of(h);
    struct ku_heap_extent *some = NULL;
    for (uint32_t i = 0; i < head->n; i++) {
        struct ku_heap_extent *e = &head->extent[i];
        if (abandoned(h, e))
            make_idle(h, e);
        if (segment_alloc_state_of(e) != UNUSED)
            continue;
        if (e->bytes >= bytes && e->bytes / 2 <= bytes)
            return e;
        some = e;
    }
    if (head->n < KU_HEAP_EXTENTS)
        return &head->extent[head->n++];
    return some;
}

static struct ku_heap_extent *new_extent(struct ku_heap *h, uint64_t bytes)
{
    struct ku_heap_extent *e = spare(h, bytes);
    if (e == NULL) {
        segment_alloc_fail(bytes, "there are too many large blocks", ENOSPC);
        return NULL;
    }
    if (e->bytes >= bytes && e->bytes / 2 <= bytes)
        segment_alloc_give_back(h, e->offset, e->bytes);
    else if (extend(h, e, bytes) != 0)
        return NULL;
    return e;
}

/* A chunk that has no blocks yet. */
static struct ku_heap_extent *new_chunk(struct ku_heap *h)
{
    struct ku_heap_head *head = head_of(h);
    struct ku_heap_extent *e = NULL;
    for (uint32_t i = 0; i < head->n && e == NULL; i++)
        if (segment_alloc_state_of(&head->extent[i]) == IDLE)
            e = &head->extent[i];
    if (e != NULL)
        segment_alloc_give_back(h, e->offset, e->bytes);
    else if (head->n == KU_HEAP_EXTENTS)
        segment_alloc_fail(KU_HEAP_CHUNK, "there are too many large blocks", ENOSPC);
    else if (extend(h, &head->extent[head->n], KU_HEAP_CHUNK) == 0)
        e = &head->extent[head->n++];
    if (e == NULL)
        return NULL;
    e->backed = 0;
    e->free = GRAINS - MAP_GRAINS;
    set_state(e, IDLE); /* it may be new */
    return e;
}

/* Pages for bytes [from, to) of a chunk. */
static int back(struct ku_heap *h, struct ku_heap_extent *e, uint64_t from, uint64_t to)
{
    for (uint64_t part = from / PART; part * PART < to; part++) {
        int err = e->backed >> part & 1 ? 0 : get_pages(h, e->offset + part * PART, PART);
        if (err)
            return segment_alloc_fail(PART, "the system has no memory for it", err);
        e->backed |= 1u << part;
    }
    return 0;
}

/* ---- Small blocks (with the lock) ---- */

static ku_block segment_alloc_take(struct ku_heap *h, struct ku_heap_extent *e, uint32_t n)
{
    uint32_t extent = (uint32_t)(e - head_of(h)->extent);
    _Atomic uint8_t *map = back(h, e, 0, PART) == 0 ? map_of(h, extent) : NULL;
    uint32_t first = map != NULL ? segment_alloc_find(map, n) : 0;
    uint64_t from = (uint64_t)first * KU_HEAP_GRAIN;
    if (first == 0 || back(h, e, from, from + (uint64_t)n * KU_HEAP_GRAIN) != 0)
        return 0;
    set_state(e, CHUNK);
    e->free -= n;
    mark_block(map, first, n);
    return name(extent, from);
}

static ku_block take_small(struct ku_heap *h, uint32_t n)
{
    struct ku_heap_head *head = head_of(h);
    ku_block b = 0;
    for (uint32_t i = 0; i < head->n && b == 0; i++)
        if (segment_alloc_state_of(&head->extent[i]) == CHUNK && head->extent[i].free >= n)
            b = segment_alloc_take(h, &head->extent[i], n);
    if (b != 0)
        return b;
    struct ku_heap_extent *e = new_chunk(h);
    b = e != NULL ? segment_alloc_take(h, e, n) : 0;
    if (b == 0 && e != NULL)
        make_idle(h, e);
    return b;
}

static uint32_t grains(uint64_t bytes)
{
    return (uint32_t)((bytes + KU_HEAP_GRAIN - 1) / KU_HEAP_GRAIN);
}

static ku_block alloc_small(struct ku_heap *h, uint64_t bytes)
{
    segment_alloc_lock(h);
    ku_block b = take_small(h, grains(bytes));
    unlock(h);
    if (b != 0)
        memset(map_extent(h, extent_of(b)) + offset_of(b), 0, (size_t)grains(bytes) * KU_HEAP_GRAIN);
    return b;
}

/* An empty chunk is kept if it is the only one and has no pages but its first part: a program that makes and frees
 * one small block again and again would pay for pages each time. */
static bool is_kept(const struct ku_heap *h, const struct ku_heap_extent *e)
{
    const struct ku_heap_head *head = head_of(h);
    bool kept = e->backed == 1;
    for (uint32_t i = 0; i < head->n && kept; i++)
        kept = &head->extent[i] == e || segment_alloc_state_of(&head->extent[i]) != CHUNK;
    return kept;
}

static void free_small(struct ku_heap *h, ku_block b)
{
    struct ku_heap_extent *e = &head_of(h)->extent[extent_of(b)];
    uint32_t first = (uint32_t)(offset_of(b) / KU_HEAP_GRAIN);
    segment_alloc_lock(h);
    _Atomic uint8_t *map = segment_alloc_state_of(e) == CHUNK ? map_of(h, extent_of(b)) : NULL;
    if (map != NULL && marked(map + first) == FIRST)
        e->free += unmark_block(map, first);
    if (map != NULL && e->free == GRAINS - MAP_GRAINS && !is_kept(h, e))
        make_idle(h, e);
    unlock(h);
}

/* ---- Large blocks ---- */

/* Of an extent that this process makes: it gives up. */
static void unmake(const struct ku_heap *h, struct ku_heap_extent *e)
{
    segment_alloc_give_back(h, e->offset, e->bytes);
    set_state(e, UNUSED);
}

/* With the lock. */
static void segment_alloc_make(const struct ku_heap *h, struct ku_heap_extent *e)
{
    e->maker = h->lrank;
    set_state(e, MAKING);
}

static ku_block alloc_large(struct ku_heap *h, uint64_t bytes)
{
    segment_alloc_lock(h);
    struct ku_heap_extent *e = new_extent(h, bytes);
    if (e != NULL)
        segment_alloc_make(h, e);
    unlock(h);
    if (e == NULL)
        return 0;
    int err = get_pages(h, e->offset, e->bytes);
    if (err == 0) {
        set_state(e, LARGE);
        return name((uint32_t)(e - head_of(h)->extent), 0);
    }
    segment_alloc_fail(bytes, "the system has no memory for it", err);
    unmake(h, e);
    return 0;
}

static void free_large(struct ku_heap *h, struct ku_heap_extent *e)
{
    segment_alloc_lock(h);
    bool is = segment_alloc_state_of(e) == LARGE;
    if (is)
        segment_alloc_make(h, e);
    unlock(h);
    if (is)
        unmake(h, e);
}

/* ---- Without waiting ---- */

int ku_heap_try(struct ku_heap *h, uint32_t epoch)
{
    struct ku_heap_head *head = head_of(h);
    int err = pthread_mutex_trylock(&head->lock);
    if (err == EOWNERDEAD)
        recover(h);
    else if (err != 0)
        return EBUSY;
    ku_lock_takes(KU_LOCK_SEGMENT);
    if ((int32_t)(head->epoch - epoch) > 0) {
        unlock(h);
        return ESTALE;
    }
    h->epoch = epoch;
    if (head->epoch != epoch)
        begin_epoch(h);
    return 0;
}

ku_block ku_heap_take(struct ku_heap *h, uint32_t bytes)
{
    return take_small(h, grains(bytes));
}

void ku_heap_leave(struct ku_heap *h)
{
    unlock(h);
}

uint32_t ku_heap_epoch(const struct ku_heap *h)
{
    return atomic_load(&head_of(h)->next);
}

/* ---- Any block ---- */

ku_block ku_heap_alloc(struct ku_heap *h, uint64_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    if (bytes > LARGEST - PAGE) {
        segment_alloc_fail(bytes, "it is too large", ENOMEM);
        return 0;
    }
    return bytes <= KU_HEAP_SMALL ? alloc_small(h, bytes) : alloc_large(h, (bytes + PAGE - 1) / PAGE * PAGE);
}

void ku_heap_free(struct ku_heap *h, ku_block b)
{
    struct ku_heap_extent *e = &head_of(h)->extent[extent_of(b)];
    if (!valid(h, b))
        return;
    if (offset_of(b) == 0)
        free_large(h, e);
    else
        free_small(h, b);
}

struct ku_heap_use ku_heap_use(struct ku_heap *h)
{
    struct ku_heap_use use = { 0 };
    segment_alloc_lock(h);
    const struct ku_heap_head *head = head_of(h);
    for (uint32_t i = 0; i < head->n; i++) {
        const struct ku_heap_extent *e = &head->extent[i];
        bool large = segment_alloc_state_of(e) == LARGE, chunk = segment_alloc_state_of(e) == CHUNK;
        uint64_t used = chunk ? GRAINS - MAP_GRAINS - e->free : 0;
        use.blocks += large ? e->bytes : used * KU_HEAP_GRAIN;
        use.pages += large ? e->bytes : chunk ? (uint64_t)__builtin_popcount(e->backed) * PART : 0;
    }
    unlock(h);
    return use;
}
