/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"
#include <string.h>

enum { FETCH_MOST = 4096 /* bytes */, FETCH_LINES = 8 };

static void circle_add(struct cell_circle *c, uint8_t cell)
{
    *shm_circle_at(c, c->n++) = cell;
}

static uint8_t take_oldest(struct cell_circle *c)
{
    c->n--;
    return c->cell[c->first++ % SHM_MAX_CELLS];
}

static bool circle_has(struct cell_circle *c, uint32_t cell)
{
    uint32_t k = 0;
    while (k < c->n && *shm_circle_at(c, k) != cell)
        k++;
    return k < c->n;
}

/* Cells [first, first + n), wherever they are. */
static void circle_remove(struct cell_circle *c, uint32_t first, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < c->n; k++) {
        uint8_t i = *shm_circle_at(c, k);
        if (i < first || i >= first + n)
            *shm_circle_at(c, kept++) = i;
    }
    c->n = kept;
}

static bool is_back(const struct cell_pool *p, uint32_t i)
{
    return atomic_load_explicit(&p->done[i], memory_order_acquire) == shm_note_use(p->note[i]);
}

/* It has left the flight, and is not free yet. */
static void from_flight(struct cell_pool *p, uint8_t i)
{
    shm_note n = p->note[i];
    p->held[shm_note_to(n)] -= (uint16_t)shm_note_span(n);
    p->out -= shm_note_span(n);
}

static void to_free(struct cell_pool *p, uint8_t i)
{
    if (shm_note_span(p->note[i]) == 2)
        circle_add(&p->free, i + 1);
    circle_add(&p->free, i);
}

/* By itself, or in a pair. */
static bool in_flight(struct cell_pool *p, uint32_t i)
{
    uint32_t first = i & ~p->class->paired;
    return circle_has(&p->flight, i) ||
           (first != i && circle_has(&p->flight, first) && shm_note_span(p->note[first]) == 2);
}

void dev_shmem_cells_init(struct cell_pool *p, struct shm_area *area, int class, uint16_t *held,
                          uint32_t nlocal, bool again)
{
    memset(p, 0, sizeof *p);
    p->class = &shm_class[class];
    p->area = (char *)area;
    p->note = area->note[class];
    p->done = area->done[class];
    p->held = held;
    p->quota = nlocal > 2 ? p->class->cells / 2 : p->class->cells;
    for (uint32_t i = 0, span; again && i < p->class->cells; i += span) {
        span = 1;
        if (is_back(p, i) || shm_note_to(p->note[i]) >= nlocal)
            continue;
        span = shm_note_span(p->note[i]);
        shm_to_flight(p, (uint8_t)i);
    }
    for (uint32_t i = p->class->cells; i-- > 0;) /* so that cell 0 is the first to be used */
        if (!in_flight(p, i))
            circle_add(&p->free, (uint8_t)i);
}

/* Move every cell in flight that is back to the free ones, keeping the order of the others. */
static void sweep(struct cell_pool *p)
{
    uint32_t kept = 0;
    p->to_fetch = 0;
    for (uint32_t k = 0; k < p->flight.n; k++) {
        uint8_t i = *shm_circle_at(&p->flight, k);
        if (!is_back(p, i)) {
            *shm_circle_at(&p->flight, kept++) = i;
            continue;
        }
        from_flight(p, i);
        to_free(p, i);
    }
    p->flight.n = kept;
}

void dev_shmem_cells_look(struct cell_pool *p)
{
    uint8_t i = *shm_circle_at(&p->flight, 0);
    if (p->flight.n == 0 || !is_back(p, i))
        return;
    from_flight(p, i);
    to_free(p, take_oldest(&p->flight));
    p->fetched = 0;
    p->to_fetch = p->bytes < FETCH_MOST ? p->bytes : FETCH_MOST;
}

bool dev_shmem_cells_fetch(struct cell_pool *p)
{
    const char *cell;
    if (p->fetched >= p->to_fetch)
        return false;
    cell = dev_shmem_cells_room(p, *shm_circle_at(&p->free, p->free.n - 1));
    for (int i = 0; i < FETCH_LINES && p->fetched < p->to_fetch; i++, p->fetched += 64)
        ku_fetch_line(cell + p->fetched);
    return p->fetched < p->to_fetch;
}

/* May another cell than the oldest be back?  One receiver gives its cells back in their order. */
static bool several_receivers(struct cell_pool *p)
{
    return p->flight.n && p->held[shm_note_to(p->note[*shm_circle_at(&p->flight, 0)])] != p->out;
}

static bool may_take(const struct cell_pool *p, uint32_t to, uint32_t span)
{
    return p->free.n >= span && p->held[to] + span <= p->quota;
}

/* The pair whose cell was given back last; -1: of each some cell is not free. */
static int take_pair(struct cell_pool *p)
{
    for (uint32_t k = p->free.n; k-- > 0;) {
        uint32_t first = *shm_circle_at(&p->free, k) & ~1u;
        if (!circle_has(&p->free, first) || !circle_has(&p->free, first + 1))
            continue;
        circle_remove(&p->free, first, 2);
        return (int)first;
    }
    return -1;
}

int dev_shmem_cells_take_slowly(struct cell_pool *p, uint32_t to, size_t bytes)
{
    uint32_t span = bytes > p->class->room ? 2 : 1;
    int cell;
    if (p->free.n < 2 || !shm_cells_stream(p))
        dev_shmem_cells_look(p);
    if (!may_take(p, to, span)) {
        dev_shmem_cells_look(p);
        if (several_receivers(p))
            sweep(p);
    }
    if (!may_take(p, to, span))
        return -1;
    if (span == 2)
        cell = take_pair(p);
    else if (p->class->paired ? p->quota == p->class->cells && bytes <= p->class->room / 2
                              : shm_cells_stream(p))
        cell = take_oldest(&p->free);
    else
        cell = shm_take_newest(&p->free);
    if (cell >= 0)
        shm_note_take(p, cell, span);
    p->to_fetch = 0;
    return cell;
}

void dev_shmem_cells_drop(struct cell_pool *p, int cell)
{
    p->to_fetch = 0;
    to_free(p, (uint8_t)cell);
}

void dev_shmem_cells_reclaim(struct cell_pool *p, struct shm_area *area, uint32_t to)
{
    _Atomic uint32_t *done = area->done[p->class - shm_class];
    for (uint32_t k = 0; k < p->flight.n; k++) {
        uint8_t i = *shm_circle_at(&p->flight, k);
        if (shm_note_to(p->note[i]) == to)
            atomic_store_explicit(&done[i], shm_note_use(p->note[i]), memory_order_relaxed);
    }
    sweep(p);
}
