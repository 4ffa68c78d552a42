/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h: copies through memory that two cores share, by the widest registers the processor has.
 *
 * libc's memcpy is made for memory of one core.  What these are for: one core fills a room that another empties at
 * the same time, again and again.  There it matters how the lines go from one to the other:
 *   - Reading lines that another core has just written is cheap (60 to 90 GB/s where the two share a cache).
 *   - Writing lines that the reader still holds in its own cache is not (9 GB/s): each one has to be asked back.  A
 *     reader that is done with lines therefore makes them its own by a store into each (ku_copy_own), and the writer
 *     takes them over as fast as if it read them (28 GB/s through a room of 128 KB).
 *   - A room so large (2 MB and more) that its lines have left the reader's own cache before they are written again
 *     needs no ku_copy_own, and none should be made.
 *
 * Any length, 0 too; any alignment of both sides (those of the shared side that are multiples of 64 are the
 * fastest, and a line should not be written by two cores); the two sides do not overlap.  Ordinary stores: who
 * publishes the bytes by a release store afterwards publishes all of them.  The functions may be called by any
 * number of threads.
 *
 * Which registers are used is found out at the first call: AVX-512, AVX2, or what memcpy does. */
#ifndef KU_COPY_H
#define KU_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Into memory that another core reads next. */
void ku_copy_out(void *shared, const void *from, size_t n);

/* The same, and the lines of `next`, as many as are written now, are fetched meanwhile to be written: this core
 * writes them soon, and nobody else uses them.  Where a line takes 150 ns from core to core a writer that waits
 * for each has 5 GB/s. */
void ku_copy_out_ahead(void *shared, const void *from, size_t n, const void *next);

/* Out of memory that another core has written. */
void ku_copy_in(void *to, const void *shared, size_t n);

/* The reader has what it wants of the lines in which these bytes lie, and nobody else reads or writes them before
 * it says that they are free: makes them this core's own by storing into one byte of the n in each what it holds
 * already. */
void ku_copy_own(void *shared, size_t n);

/* ku_copy_in and ku_copy_own, two lines of the one and the other in turn: what streams through rooms of 64 to 256
 * KB are best read with (32 GB/s in pieces of 32 KB; 28 where 512 bytes are copied and then read again to be made
 * one's own). */
void ku_copy_in_own(void *to, void *shared, size_t n);

/* The same, and as ku_copy_in, by stores that pass the caches of this core: of a `to` that will have left them
 * before it is read again, whatever is done, its lines need not be fetched first.  What is read sooner comes from
 * memory then. */
void ku_copy_own_past(void *to, void *shared, size_t n);
void ku_copy_past(void *to, const void *from, size_t n);

/* Bytes of the cache next to memory, which some or all cores share; 0: not known. */
size_t ku_copy_cache(void);

/* For tests: use at most these registers from now on (0: none but memcpy's, 1: AVX2, 2: AVX-512).  Returns what is in
 * use then. */
int ku_copy_use(int most);

#endif
