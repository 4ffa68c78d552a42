/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.h: ranges of a file that accesses in atomic mode have for themselves, in memory that all processes of the
 * file share. */
#ifndef IO_RANGES_H
#define IO_RANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { IO_RANGES = 32 };
struct io_range {
    int64_t from, to;
    uint64_t turn; /* the order in which they came, from 1; 0: the row is free */
    bool write;
    _Atomic uint32_t asleep; /* as in util/wait.h */
};
struct io_ranges {
    pthread_mutex_t mutex;
    uint64_t turns;
    uint32_t crowd;         /* so many sleep until a row is free, */
    _Atomic uint32_t freed; /* on this, which counts rows that were left while they did */
    struct io_range row[IO_RANGES];
};

/* Zeroed memory becomes a table; an errno. */
int MPIR_Io_ranges_init(struct io_ranges *t);
/* Wait until nobody else has a byte of [from, to), but readers beside readers; the number of the row that is to be
 * left.  Any thread. */
int MPIR_Io_range_take(struct io_ranges *t, int64_t from, int64_t to, bool write);
void MPIR_Io_range_leave(struct io_ranges *t, int row);

#endif
