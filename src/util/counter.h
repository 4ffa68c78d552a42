/* SPDX-License-Identifier: BSD-3-Clause */
/* counter.h: what the library counts and keeps in view of itself, as rows: MPI_T's performance variables and
 * mpi_info's.
 *
 * The folder that keeps a number owns its row, in a table that it makes known when the library is loaded (a
 * constructor).  A row names the place where the number stands, or a function that tells it: what is counted costs
 * an addition where it happens, what can be told from other things costs nothing until somebody asks. */
#ifndef KU_COUNTER_H
#define KU_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "names.h"

enum ku_counter_class {
    KU_STATE,   /* one of `names` */
    KU_LEVEL,   /* how much of something is in use now */
    KU_SIZE,    /* how large something is now */
    KU_PERCENT, /* `share` tells it, 0 to 1 */
    KU_HIGH, /* the most that a level was: *mark keeps it, and is lowered to the level when that is asked for anew */
    KU_LOW,   /* the least */
    KU_COUNT, /* how often something happened, from the start */
    KU_SUM,   /* how much it was in all */
    KU_TIMER  /* nanoseconds in all */
};

struct ku_counter {
    const char *name; /* lower case; with the class it is unique */
    enum ku_counter_class of;
    enum ku_audience audience;
    bool per_comm; /* of a communicator: `tell` gets the object */
    const char *unit, *help;
    const struct ku_names *names; /* of states */
    const void *at;               /* uint32_t, int32_t, uint64_t or int64_t; NULL: `tell` or `share` */
    size_t size;                  /* of what is there */
    uint64_t (*tell)(void *object);
    double (*share)(void *object);
    void *mark; /* of HIGH and LOW: as `at`, of the same size */
};

/* .at and .size of a variable. */
#define KU_AT(variable) .at = &(variable), .size = sizeof(variable)

struct ku_counter_table {
    const struct ku_counter *rows;
    int n;
    const char *area; /* what the rows are about: a category of MPI_T */
    void (*fill)(
        struct ku_counter_table *table); /* makes the rows when somebody asks; NULL: they are there */
    struct ku_counter_table *next;
};

/* Make the rows known. */
void ku_counter_add(struct ku_counter_table *table);

/* The row at an index, in the order in which they became known, and its table's area; NULL beyond the last. */
const struct ku_counter *ku_counter_at(int index, const char **area);

/* Its number now; of HIGH and LOW the level's.  Not for PERCENT. */
uint64_t ku_counter_value(const struct ku_counter *row, void *object);

/* What the mark of a HIGH or LOW row has seen since the last call, which is begun anew from the level. */
uint64_t ku_counter_mark(const struct ku_counter *row);

#endif
