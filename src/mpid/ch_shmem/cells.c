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

static uint8_t *circle_at(struct cell_circle *c, uint32_t k)
{
    return &c->cell[(c->first + k) % SHM_MAX_CELLS];
}

static void circle_add(struct cell_circle *c, uint8_t cell)
{
    *circle_at(c, c->n++) = cell;
}

static uint8_t take_oldest(struct cell_circle *c)
{
    c->n--;
    return c->cell[c->first++ % SHM_MAX_CELLS];
}

static uint8_t take_newest(struct cell_circle *c)
{
    return *circle_at(c, --c->n);
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
    for (uint32_t k = 0; k < p->class->cells; k++) {
        uint32_t i = p->class->cells - 1 - k; /* so that cell 0 is the first to be used */
        struct shm_cell *c = cell_at(p, i);
        if (i < used && is_busy(c) && c->to < nlocal) {
            circle_add(&p->flight, (uint8_t)i);
            held[c->to]++;
        } else {
            circle_add(&p->free, (uint8_t)i);
        }
    }
}

static void landed(struct cell_pool *p, struct shm_cell *c)
{
    p->held[c->to]--;
}

/* Move every cell in flight that is no longer busy to the free ones, keeping the order of the others. */
static void sweep(struct cell_pool *p)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < p->flight.n; k++) {
        uint8_t i = *circle_at(&p->flight, k);
        struct shm_cell *c = cell_at(p, i);
        if (is_busy(c)) {
            *circle_at(&p->flight, kept++) = i;
            continue;
        }
        landed(p, c);
        circle_add(&p->free, i);
    }
    p->flight.n = kept;
}

static struct shm_cell *take_free(struct cell_pool *p)
{
    uint8_t i = take_newest(&p->free);
    if (i >= atomic_load_explicit(p->used, memory_order_relaxed))
        atomic_store_explicit(p->used, i + 1u, memory_order_relaxed);
    return cell_at(p, i);
}

/* The cell longest in flight is free if its receiver is done with it. */
static void retire_oldest(struct cell_pool *p)
{
    uint8_t i = *circle_at(&p->flight, 0);
    if (p->flight.n == 0 || is_busy(cell_at(p, i)))
        return;
    landed(p, cell_at(p, i));
    circle_add(&p->free, take_oldest(&p->flight));
}

/* May another cell than the oldest be done with?  One receiver is done with its cells in their order, and looking at all
 * of them takes their lines from it just when it is about to write them. */
static bool several_receivers(struct cell_pool *p)
{
    return p->flight.n && p->held[cell_at(p, *circle_at(&p->flight, 0))->to] != p->flight.n;
}

struct shm_cell *dev_shmem_cells_take(struct cell_pool *p, uint32_t to)
{
    retire_oldest(p);
    if ((p->free.n == 0 || p->held[to] >= p->quota) && several_receivers(p))
        sweep(p);
    return p->free.n && p->held[to] < p->quota ? take_free(p) : NULL;
}

void dev_shmem_cells_drop(struct cell_pool *p, struct shm_cell *cell)
{
    circle_add(&p->free, index_of(p, cell));
}

void dev_shmem_cells_send(struct cell_pool *p, struct shm_cell *cell, uint32_t to)
{
    cell->to = to;
    atomic_store_explicit(&cell->busy, 1, memory_order_relaxed);
    circle_add(&p->flight, index_of(p, cell));
    p->held[to]++;
}

void dev_shmem_cells_unsend(struct cell_pool *p, struct shm_cell *cell)
{
    atomic_store_explicit(&cell->busy, 0, memory_order_relaxed);
    p->flight.n--;
    landed(p, cell);
}

void dev_shmem_cells_reclaim(struct cell_pool *p, uint32_t to)
{
    for (uint32_t k = 0; k < p->flight.n; k++) {
        struct shm_cell *c = cell_at(p, *circle_at(&p->flight, k));
        if (c->to == to)
            atomic_store_explicit(&c->busy, 0, memory_order_relaxed);
    }
    sweep(p);
}
