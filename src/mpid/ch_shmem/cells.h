/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.h: the cells of this rank, as their owner sees them.
 *
 * Invariants
 *   1. A cell is in exactly one place: free, reserved by the caller, or in flight.
 *   2. In flight in the order of sending; a cell in flight is back when its word in `done` is the number of its
 *      use.  The owner only reads that word and the receiver only writes it, and neither waits for it while a message
 *      is under way.
 *   3. The cell given back last is taken, so that few go round and stay in the cache; from SHM_CELLS_FEW in flight
 *      on the sender looks whether the oldest is back.  A sender of more than SHM_CELLS_ROW bodies in a row, which
 *      has not waited meanwhile, or of a long row before, takes the one given back first, so that all go round, and
 *      looks only when it has one left: where a line takes 150 ns from core to core, 4 cells of 4 KB give 5 GB/s and
 *      64 of them 12.  Where ranks share cores the lines are here whoever had them: there few go round always. Of the
 *      large cells, for half a room and less to the only receiver, the one given back first is taken: the lines of
 *      the last are in the receiver's innermost cache still, and to fill them takes twice as long (16 KB: 700 ns and
 *      360).
 *   4. One receiver holds at most `quota` cells of a class, so that one that does not receive leaves some for others.
 *   5. A sender that waits has the lines of the next cell, which the receiver has written to last, fetched to its own
 *      cache, as many as the last body had: filling the cell then waits for none of them.  One that does not wait
 *      has them fetched while it fills the cell before.
 *   6. Two neighbours may be taken as one room, a pair, where one receiver may hold all of the cells.  A pair goes
 *      from place to place as its first cell does, which has its use and its word in `done`.  Who gets no pair asks
 *      for one cell: single ones that somebody holds for long may keep the pairs apart. */
#ifndef SHMEM_CELLS_H
#define SHMEM_CELLS_H

#include <stdbool.h>
#include "shmem_layout.h"
#include "util/wait.h"

struct cell_pool {
    char *area; /* of the rank */
    const struct shm_class *class;
    shm_note *note;
    const _Atomic uint32_t *done;
    uint16_t *held; /* [local ranks] cells of this class in flight to each */
    uint32_t quota;
    uint32_t row;               /* bodies sent since the sender has waited last, */
    uint32_t row_before;        /* and between the two waits before */
    uint32_t idle;              /* looks since the last body for what has come, in vain */
    uint32_t out;               /* cells in flight */
    uint32_t bytes;             /* of the body sent last */
    uint32_t fetched, to_fetch; /* bytes of the next cell to be taken: invariant 5 */
    struct cell_circle {
        uint32_t first;
        uint8_t cell[SHM_MAX_CELLS];
        uint32_t
            n; /* not next to `first`: compilers load both at once, which waits for a store to one of them */
    } free, flight; /* in the order of giving back, of sending */
};

/* `again`: the area was used before; cells that are not back count as in flight. */
void dev_shmem_cells_init(struct cell_pool *p, struct shm_area *area, int class, uint16_t *held,
                          uint32_t nlocal, bool again);

/* ---- What the functions below are made of ---- */

enum { SHM_CELLS_FEW = 4, SHM_CELLS_ROW = 8 };

static inline uint8_t *shm_circle_at(struct cell_circle *c, uint32_t k)
{
    return &c->cell[(c->first + k) % SHM_MAX_CELLS];
}

static inline uint8_t shm_take_newest(struct cell_circle *c)
{
    return *shm_circle_at(c, --c->n);
}

static inline void shm_to_flight(struct cell_pool *p, uint8_t i)
{
    shm_note n = p->note[i];
    *shm_circle_at(&p->flight, p->flight.n++) = i;
    p->held[shm_note_to(n)] += (uint16_t)shm_note_span(n);
    p->out += shm_note_span(n);
}

/* Of a cell that is taken. */
static inline void shm_note_take(struct cell_pool *p, int cell, uint32_t span)
{
    p->note[cell] = shm_note_of(shm_note_use(p->note[cell]), 0, span);
}

int dev_shmem_cells_take_slowly(struct cell_pool *p, uint32_t to, size_t bytes);

/* ---- */

/* A cell, or the first of a pair, for `bytes` of body to local rank `to`, or -1. */
static inline int dev_shmem_cells_take(struct cell_pool *p, uint32_t to, size_t bytes)
{
    int cell;
    if (__builtin_expect(
            p->class->paired || p->flight.n >= SHM_CELLS_FEW || p->free.n < 2 || p->held[to] >= p->quota, 0))
        return dev_shmem_cells_take_slowly(p, to, bytes);
    cell = shm_take_newest(&p->free);
    shm_note_take(p, cell, 1);
    p->to_fetch = 0;
    return cell;
}

static inline char *dev_shmem_cells_room(const struct cell_pool *p, int cell)
{
    return p->area + shm_cell_at(p->class, (uint32_t)cell);
}

/* Do all cells go round?  Of the large ones always. */
static inline bool shm_cells_stream(const struct cell_pool *p)
{
    return (p->row > SHM_CELLS_ROW || p->row_before > 4 * SHM_CELLS_ROW) && ku_wait_policy.spin_ns != 0;
}

/* The room that is taken next, in a stream of bodies of which it is worth to fetch the lines of as many bytes;
 * NULL: there is none. */
static inline const char *dev_shmem_cells_next(struct cell_pool *p, size_t bytes)
{
    enum { WORTH = 512 };
    if (bytes < WORTH || p->free.n == 0 || p->class->paired || !shm_cells_stream(p))
        return NULL;
    return dev_shmem_cells_room(p, *shm_circle_at(&p->free, 0));
}

/* A cell that was taken and not sent. */
void dev_shmem_cells_drop(struct cell_pool *p, int cell);

/* The number of the use that begins: it goes into the line. */
static inline uint32_t dev_shmem_cells_use(const struct cell_pool *p, int cell)
{
    return shm_note_use(p->note[cell]) + 1;
}

/* The line has been published. */
static inline void dev_shmem_cells_sent(struct cell_pool *p, int cell, uint32_t to, uint32_t bytes)
{
    p->bytes = bytes;
    p->row++;
    p->idle = 0;
    p->note[cell] = shm_note_of(shm_note_use(p->note[cell]) + 1, to, shm_note_span(p->note[cell]));
    shm_to_flight(p, (uint8_t)cell);
}

/* Nothing has come.  The sender waits if it is told so again and again; between two bodies of a row it may look
 * once. */
static inline void dev_shmem_cells_idle(struct cell_pool *p)
{
    enum { WAITS = 4 };
    if (p->row == 0 || ++p->idle < WAITS)
        return;
    p->row_before = p->row;
    p->row = 0;
}

/* Is the oldest cell in flight back? */
void dev_shmem_cells_look(struct cell_pool *p);

/* The sender waits: invariant 5, some lines a call.  False: all are here. */
bool dev_shmem_cells_fetch(struct cell_pool *p);

/* `to` has died: what it holds is free. */
void dev_shmem_cells_reclaim(struct cell_pool *p, struct shm_area *area, uint32_t to);

#endif
