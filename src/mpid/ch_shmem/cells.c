#include "cells.h"
#include <string.h>

enum { KEEP = 4, FETCH_MOST = 4096 /* bytes */, FETCH_LINES = 8 };

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

static bool is_back(const struct cell_pool *p, uint32_t i)
{
    return atomic_load_explicit(&p->done[i], memory_order_acquire) == p->note[i].use;
}

void dev_shmem_cells_init(struct cell_pool *p, struct shm_area *area, int class, uint16_t *held,
                          uint32_t nlocal, bool again)
{
    memset(p, 0, sizeof *p);
    p->class = &shm_class[class];
    p->area = (char *)area + p->class->off;
    p->note = area->note[class];
    p->done = area->done[class];
    p->held = held;
    p->quota = nlocal > 2 ? p->class->cells / 2 : p->class->cells;
    for (uint32_t k = 0; k < p->class->cells; k++) {
        uint32_t i = p->class->cells - 1 - k; /* so that cell 0 is the first to be used */
        if (again && !is_back(p, i) && p->note[i].to < nlocal) {
            circle_add(&p->flight, (uint8_t)i);
            held[p->note[i].to]++;
        } else {
            circle_add(&p->free, (uint8_t)i);
        }
    }
}

/* Move every cell in flight that is back to the free ones, keeping the order of the others. */
static void sweep(struct cell_pool *p)
{
    uint32_t kept = 0;
    p->to_fetch = 0;
    for (uint32_t k = 0; k < p->flight.n; k++) {
        uint8_t i = *circle_at(&p->flight, k);
        if (!is_back(p, i)) {
            *circle_at(&p->flight, kept++) = i;
            continue;
        }
        p->held[p->note[i].to]--;
        circle_add(&p->free, i);
    }
    p->flight.n = kept;
}

void dev_shmem_cells_look(struct cell_pool *p)
{
    uint8_t i = *circle_at(&p->flight, 0);
    if (p->flight.n == 0 || !is_back(p, i))
        return;
    p->held[p->note[i].to]--;
    circle_add(&p->free, take_oldest(&p->flight));
    p->fetched = 0;
    p->to_fetch = p->bytes < FETCH_MOST ? p->bytes : FETCH_MOST;
}

bool dev_shmem_cells_fetch(struct cell_pool *p)
{
    const char *cell;
    if (p->fetched >= p->to_fetch)
        return false;
    cell = dev_shmem_cells_room(p, *circle_at(&p->free, p->free.n - 1));
    for (int i = 0; i < FETCH_LINES && p->fetched < p->to_fetch; i++, p->fetched += 64)
        ku_ring_prefetch(cell + p->fetched);
    return p->fetched < p->to_fetch;
}

/* May another cell than the oldest be back?  One receiver gives its cells back in their order. */
static bool several_receivers(struct cell_pool *p)
{
    return p->flight.n && p->held[p->note[*circle_at(&p->flight, 0)].to] != p->flight.n;
}

int dev_shmem_cells_take(struct cell_pool *p, uint32_t to)
{
    if (p->flight.n >= KEEP)
        dev_shmem_cells_look(p);
    if (p->free.n == 0 || p->held[to] >= p->quota) {
        dev_shmem_cells_look(p);
        if (several_receivers(p))
            sweep(p);
    }
    if (p->free.n == 0 || p->held[to] >= p->quota)
        return -1;
    p->to_fetch = 0;
    return take_newest(&p->free);
}

void dev_shmem_cells_drop(struct cell_pool *p, int cell)
{
    p->to_fetch = 0;
    circle_add(&p->free, (uint8_t)cell);
}

uint32_t dev_shmem_cells_send(struct cell_pool *p, int cell, uint32_t to, uint32_t bytes)
{
    p->bytes = bytes;
    p->note[cell].to = to;
    circle_add(&p->flight, (uint8_t)cell);
    p->held[to]++;
    return ++p->note[cell].use;
}

void dev_shmem_cells_unsend(struct cell_pool *p, int cell)
{
    p->note[cell].use--;
    p->flight.n--;
    p->held[p->note[cell].to]--;
}

void dev_shmem_cells_reclaim(struct cell_pool *p, struct shm_area *area, uint32_t to)
{
    _Atomic uint32_t *done = area->done[p->class - shm_class];
    for (uint32_t k = 0; k < p->flight.n; k++) {
        uint8_t i = *circle_at(&p->flight, k);
        if (p->note[i].to == to)
            atomic_store_explicit(&done[i], p->note[i].use, memory_order_relaxed);
    }
    sweep(p);
}
