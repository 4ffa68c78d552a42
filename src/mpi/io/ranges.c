/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.c: a table of ranges of a file, each of an access that has it or waits for it.
 *
 * Invariants
 *   1. The table is changed with its mutex only.
 *   2. A row's access has its range once no row that came before it wants a byte of the range, unless both read.
 *      So nobody is overtaken for ever, and no two wait for each other.
 *   3. Who leaves wakes all that sleep.  Who has a row has said so with the mutex, on a word of the row's own, and
 *      sleeps only while nobody has taken that back.  Those that wait for a row are many for one word: each has read
 *      it with the mutex, and who leaves changes it.  So no wake is lost.
 *
 * A process that is killed leaves its rows as they are; the launcher then ends those that wait for it. */
#include "config.h"
#include <errno.h>
#include "ranges.h"
#include "util/lock.h"
#include "util/wait.h"

int MPIR_Io_ranges_init(struct io_ranges *t)
{
    return ku_mutex_init_shared(&t->mutex);
}

/* The last holder may have been killed: a row is free until its turn is written, and then it is whole. */
static void ranges_lock(struct io_ranges *t)
{
    ku_lock_takes(KU_LOCK_SEGMENT);
    if (pthread_mutex_lock(&t->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&t->mutex);
}

static void unlock(struct io_ranges *t)
{
    pthread_mutex_unlock(&t->mutex);
    ku_lock_left(KU_LOCK_SEGMENT);
}

/* With the mutex, which is taken again afterwards: sleep until somebody leaves a row. */
static void sleep_in_crowd(struct io_ranges *t)
{
    uint32_t freed = atomic_load(&t->freed);
    t->crowd++;
    unlock(t);
    ku_wait_while(&t->freed, freed);
    ranges_lock(t);
    t->crowd--;
}

/* The same on a word of the row's own. */
static void ranges_sleep_on(struct io_ranges *t, _Atomic uint32_t *word)
{
    atomic_store(word, KU_ASLEEP);
    unlock(t);
    if (!ku_wait_near(word, KU_ASLEEP))
        ku_wait_sleep(word, -1);
    ranges_lock(t);
}

static struct io_range *free_row(struct io_ranges *t)
{
    for (int i = 0; i < IO_RANGES; i++)
        if (t->row[i].turn == 0)
            return &t->row[i];
    return NULL;
}

static bool may_begin(const struct io_ranges *t, const struct io_range *r)
{
    for (const struct io_range *o = t->row; o < t->row + IO_RANGES; o++)
        if (o->turn && o->turn < r->turn && o->from < r->to && r->from < o->to && (o->write || r->write))
            return false;
    return true;
}

int MPIR_Io_range_take(struct io_ranges *t, int64_t from, int64_t to, bool write)
{
    struct io_range *r;
    ranges_lock(t);
    while ((r = free_row(t)) == NULL)
        sleep_in_crowd(t);
    r->from = from;
    r->to = to;
    r->write = write;
    r->turn = ++t->turns;
    while (!may_begin(t, r))
        ranges_sleep_on(t, &r->asleep);
    unlock(t);
    return (int)(r - t->row);
}

void MPIR_Io_range_leave(struct io_ranges *t, int row)
{
    ranges_lock(t);
    t->row[row].turn = 0;
    for (int i = 0; i < IO_RANGES; i++)
        ku_wait_wake(&t->row[i].asleep, true);
    if (t->crowd > 0) {
        atomic_fetch_add(&t->freed, 1);
        ku_wait_wake_all(&t->freed);
    }
    unlock(t);
}
