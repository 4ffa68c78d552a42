#include "cells.h"
#include <string.h>

static struct shm_cell *cell_at(const struct cell_pool *p, uint32_t i)
{
    return (struct shm_cell *)(p->area + p->class->off + (size_t)i * p->class->stride);
}

static uint8_t index_of(const struct cell_pool *p, const struct shm_cell *c)
{
    return (uint8_t)((size_t)((const char *)c - p->area - p->class->off) / p->class->stride);
}

static uint8_t *flight_at(struct cell_pool *p, uint32_t k)
{
    return &p->flight[(p->first + k) % SHM_MAX_CELLS];
}

static bool is_busy(const struct shm_cell *c)
{
    return atomic_load_explicit(&c->busy, memory_order_acquire) != 0;
}

void dev_shmem_cells_init(struct cell_pool *p, struct shm_area *area, int class, uint16_t *held,
                          uint32_t nlocal, bool again)
{
    uint32_t used = again ? atomic_load_explicit(&area->used[class], memory_order_relaxed) : 0;
    memset(p, 0, sizeof *p);
    p->area = (char *)area;
    p->class = &shm_class[class];
    p->held = held;
    p->quota = nlocal > 2 ? p->class->cells / 2 : p->class->cells;
    p->used = &area->used[class];
    for (uint32_t i = p->class->cells; i-- > 0;) {
        struct shm_cell *c = cell_at(p, i);
        if (i < used && is_busy(c) && c->to < nlocal) {
            *flight_at(p, p->nflight++) = (uint8_t)i;
            held[c->to]++;
        } else {
            p->stack[p->nfree++] = (uint8_t)i;
        }
    }
}

static void landed(struct cell_pool *p, struct shm_cell *c)
{
    p->held[c->to]--;
}

/* Move every cell in flight that is no longer busy to the stack, keeping the order of the others. */
static void sweep(struct cell_pool *p)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < p->nflight; k++) {
        uint8_t i = *flight_at(p, k);
        struct shm_cell *c = cell_at(p, i);
        if (is_busy(c)) {
            *flight_at(p, kept++) = i;
            continue;
        }
        landed(p, c);
        p->stack[p->nfree++] = i;
    }
    p->nflight = kept;
}

static struct shm_cell *pop_stack(struct cell_pool *p)
{
    uint8_t i = p->stack[--p->nfree];
    if (i >= atomic_load_explicit(p->used, memory_order_relaxed))
        atomic_store_explicit(p->used, i + 1u, memory_order_relaxed);
    return cell_at(p, i);
}

/* Put the cell longest in flight on the stack if its receiver is done with it. */
static void retire_oldest(struct cell_pool *p)
{
    uint8_t i = *flight_at(p, 0);
    if (p->nflight == 0 || is_busy(cell_at(p, i)))
        return;
    landed(p, cell_at(p, i));
    p->first++;
    p->nflight--;
    p->stack[p->nfree++] = i;
}

/* May another cell than the oldest be done with?  One receiver is done with its cells in their order, and looking at all
 * of them takes their lines from it just when it is about to write them. */
static bool several_receivers(struct cell_pool *p)
{
    return p->nflight && p->held[cell_at(p, *flight_at(p, 0))->to] != p->nflight;
}

struct shm_cell *dev_shmem_cells_take(struct cell_pool *p, uint32_t to)
{
    retire_oldest(p);
    if ((p->nfree == 0 || p->held[to] >= p->quota) && several_receivers(p))
        sweep(p);
    return p->nfree && p->held[to] < p->quota ? pop_stack(p) : NULL;
}

void dev_shmem_cells_drop(struct cell_pool *p, struct shm_cell *cell)
{
    p->stack[p->nfree++] = index_of(p, cell);
}

void dev_shmem_cells_send(struct cell_pool *p, struct shm_cell *cell, uint32_t to)
{
    cell->to = to;
    atomic_store_explicit(&cell->busy, 1, memory_order_relaxed);
    *flight_at(p, p->nflight++) = index_of(p, cell);
    p->held[to]++;
}

void dev_shmem_cells_unsend(struct cell_pool *p, struct shm_cell *cell)
{
    atomic_store_explicit(&cell->busy, 0, memory_order_relaxed);
    p->nflight--;
    landed(p, cell);
}

void dev_shmem_cells_reclaim(struct cell_pool *p, uint32_t to)
{
    for (uint32_t k = 0; k < p->nflight; k++) {
        struct shm_cell *c = cell_at(p, *flight_at(p, k));
        if (c->to == to)
            atomic_store_explicit(&c->busy, 0, memory_order_relaxed);
    }
    sweep(p);
}
