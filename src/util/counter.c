/* SPDX-License-Identifier: BSD-3-Clause */
#include "counter.h"
#include <string.h>

static struct ku_counter_table *tables;

void ku_counter_add(struct ku_counter_table *table)
{
    struct ku_counter_table **p;
    for (p = &tables; *p; p = &(*p)->next)
        if (*p == table)
            return;
    *p = table;
}

static void counter_fill(struct ku_counter_table *t)
{
    void (*make)(struct ku_counter_table * table) = t->fill;
    t->fill = NULL;
    if (make)
        make(t);
}

const struct ku_counter *ku_counter_at(int index, const char **area)
{
    for (struct ku_counter_table *t = tables; t; t = t->next) {
        counter_fill(t);
        if (index < t->n) {
            *area = t->area;
            return &t->rows[index];
        }
        index -= t->n;
    }
    return NULL;
}

static uint64_t counter_number(const void *at, size_t size)
{
    uint32_t half;
    uint64_t whole;
    if (size == sizeof half) {
        memcpy(&half, at, sizeof half);
        return half;
    }
    memcpy(&whole, at, sizeof whole);
    return whole;
}

uint64_t ku_counter_value(const struct ku_counter *row, void *object)
{
    return row->at ? counter_number(row->at, row->size) : row->tell(object);
}

uint64_t ku_counter_mark(const struct ku_counter *row)
{
    uint64_t seen = counter_number(row->mark, row->size);
    memcpy(row->mark, row->at, row->size);
    return seen;
}
