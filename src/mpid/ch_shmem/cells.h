/* cells.h: the cells of this rank, as their owner sees them.
 *
 * Invariants
 *   1. A cell is in exactly one place: free, reserved by the caller, or in flight.
 *   2. In flight in the order of sending; `busy` of a cell in flight becomes 0 when the receiver is done with it.
 *   3. Taking a cell first looks at the one longest in flight. Then the one given back last is taken: no more go round than
 *      are really in flight, so they stay in the cache.
 *   4. One receiver holds at most `quota` cells of a class, so that one that does not receive leaves some for others. */
#ifndef SHMEM_CELLS_H
#define SHMEM_CELLS_H

#include <stdbool.h>
#include "layout.h"

struct cell_pool {
    char *area;
    const struct shm_class *class;
    uint16_t *held; /* [local ranks] cells of this class in flight to each */
    uint32_t quota;
    _Atomic uint32_t *used; /* in the area */
    struct cell_circle {
        uint32_t first, n;
        uint8_t cell[SHM_MAX_CELLS];
    } free, flight; /* in the order of giving back, of sending */
};

/* `again`: the area was used before; cells that are still busy count as in flight. */
void dev_shmem_cells_init(struct cell_pool *p, struct shm_area *area, int class, uint16_t *held,
                          uint32_t nlocal, bool again);

/* A cell for local rank `to`, or NULL. */
struct shm_cell *dev_shmem_cells_take(struct cell_pool *p, uint32_t to);

/* A cell that was taken and not sent. */
void dev_shmem_cells_drop(struct cell_pool *p, struct shm_cell *cell);

/* Two halves of sending: before the line is published; if it was not, undo. */
void dev_shmem_cells_send(struct cell_pool *p, struct shm_cell *cell, uint32_t to);
void dev_shmem_cells_unsend(struct cell_pool *p, struct shm_cell *cell);

/* `to` has died: what it holds is free. */
void dev_shmem_cells_reclaim(struct cell_pool *p, uint32_t to);

#endif
