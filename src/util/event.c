/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"
#include <stddef.h>

void (*ku_event_listener)(struct ku_event *row, const int64_t *values);

static struct ku_event_table *tables;

void ku_event_add(struct ku_event_table *table)
{
    struct ku_event_table **p;
    for (p = &tables; *p; p = &(*p)->next)
        if (*p == table)
            return;
    *p = table;
}

struct ku_event *ku_event_at(int index, const char **area)
{
    for (struct ku_event_table *t = tables; t; t = t->next) {
        if (index < t->n) {
            *area = t->area;
            return &t->rows[index];
        }
        index -= t->n;
    }
    return NULL;
}
