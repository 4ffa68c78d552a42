/* copy.h: copies through memory that two cores share, by the widest registers the processor has.
 *
 * libc's memcpy is made for memory of one core.  What these are for: one core fills a room that another empties at
 * the same time, again and again.  There it matters how the lines go from one to the other:
 *   - Reading lines that another core has just written is cheap (60 to 90 GB/s where the two share a cache).
 *   - Writing lines that the reader still holds in its own cache is not (9 GB/s): each one has to be asked back.  A
 *     reader that is done with lines therefore says so (ku_copy_done: they are written back to memory, `clwb`, and then
 *     nobody's), and the writer finds them as if they were its own (60 GB/s and more).  It costs the reader 2.5 ns a
 *     line, which may be paid at a time when it waits anyway, or between the lines of a copy (ku_copy_in_done).
 *   - The same holds for a room so large (2 MB and more) that its lines have left the reader's own cache before they are
 *     written again; no ku_copy_done is needed there, and none should be made.
 *   - Where there is one reader only, ku_copy_own does more for less, on any processor.
 *
 * Any length, 0 too; any alignment of both sides (those of the shared side that are multiples of 64 are the fastest, and
 * a line should not be written by two cores); the two sides do not overlap.  Ordinary stores: who publishes the bytes by
 * a release store afterwards publishes all of them.  The functions may be called by any number of threads.
 *
 * Which registers are used is found out at the first call: AVX-512, AVX2, or what memcpy does. */
#ifndef KU_COPY_H
#define KU_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Into memory that another core reads next. */
void ku_copy_out(void *shared, const void *from, size_t n);

/* Out of memory that another core has written. */
void ku_copy_in(void *to, const void *shared, size_t n);

/* The reader has what it wants of the lines in which these bytes lie, so writing them again may be made cheap.  Their
 * contents stay.  Does nothing where the processor has no `clwb`.  Lines that somebody else is writing are slowed down by
 * it, not harmed. */
void ku_copy_done(const void *shared, size_t n);

/* ku_copy_in and ku_copy_done, 512 bytes of the one and the other in turn: for streams through a small room (32 KB), in
 * pieces of 4 KB and more. */
void ku_copy_in_done(void *to, const void *shared, size_t n);

/* As ku_copy_done, where nobody else reads or writes these lines before this core says that they are free: this core makes
 * them its own by storing into one byte of the n in each what it holds already.  That is cheaper than to write them back (30 GB/s through a
 * room of 128 KB), and the writer takes them over as fast as if it read them. */
void ku_copy_own(void *shared, size_t n);

/* ku_copy_in and ku_copy_own, 512 bytes of the one and the other in turn: what streams through rooms of 64 to 256 KB are best
 * read with (28 GB/s in pieces of 32 KB, 25 in pieces of 8 KB; 12 where the two cores share no cache). */
void ku_copy_in_own(void *to, void *shared, size_t n);

/* For tests: use at most these registers from now on (0: none but memcpy's, 1: AVX2, 2: AVX-512).  Returns what is in
 * use then. */
int ku_copy_use(int most);

#endif
