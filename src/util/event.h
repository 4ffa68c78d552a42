/* SPDX-License-Identifier: BSD-3-Clause */
/* event.h: what happens in the library, as rows: MPI_T's event types.
 *
 * The folder where something happens owns its row, in a table that it makes known when the library is loaded (a
 * constructor). Nobody listens as a rule: then telling costs one branch, and it stands only where the way is slow
 * anyway. */
#ifndef KU_EVENT_H
#define KU_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include "names.h"

enum { KU_EVENT_ELEMENTS = 8 };

struct ku_event {
    const char *name; /* lower case, unique */
    const char *help;
    enum ku_audience audience;
    struct ku_names elements; /* what each says */
    const char *types;        /* a letter an element: i int32_t, n int64_t */
    bool heard;               /* somebody listens */
};

struct ku_event_table {
    struct ku_event *rows;
    int n;
    const char *area;
    struct ku_event_table *next;
};

/* Make the rows known. */
void ku_event_add(struct ku_event_table *table);

/* The row at an index, in the order in which they became known, and its table's area; NULL beyond the last. */
struct ku_event *ku_event_at(int index, const char **area);

/* Who is told; set by who sets a row's `heard`. */
extern void (*ku_event_listener)(struct ku_event *row, const int64_t *values)
    __attribute__((visibility("hidden")));

/* It happened: a value for each element. */
static inline void ku_event_tell(struct ku_event *row, const int64_t *values)
{
    if (__builtin_expect(row->heard, 0))
        ku_event_listener(row, values);
}

#endif
