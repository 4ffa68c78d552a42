/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.h: what libmpifort_abi gives to this library: copies of buffers, and a function for the runs of a
 * datatype.  It includes nothing of either. */
#ifndef MPIR_COPIES_H
#define MPIR_COPIES_H

#include <stdint.h>

/* A buffer that is the copy of another one, which the program has: whoever makes the copy gives it to a request
 * that has just been made (MPI_Keel_request_copies).  Bytes [at, at + bytes) of it, or, with `bytes` < 0, all, are
 *
 *   COPY_IN    taken from the program's buffer: a persistent operation begins, or a partition is ready
 *   COPY_OUT   brought there: the operation is over, or a partition has arrived
 *   COPY_GONE  needed no more; the copy goes with its header
 *
 * `move` may not call MPI.  One that only sends has nothing to bring out, and sees to that itself. */
enum MPIR_COPY { MPIR_COPY_IN, MPIR_COPY_OUT, MPIR_COPY_GONE };
struct MPIR_Copies {
    void (*move)(struct MPIR_Copies *c, int what, int64_t at, int64_t bytes);
    struct MPIR_Copies *next; /* the library's: of the same request */
};
static inline void MPIR_Copies_move(struct MPIR_Copies *first, enum MPIR_COPY what, int64_t at, int64_t bytes)
{
    for (struct MPIR_Copies *c = first, *next; c; c = next) {
        next = c->next;
        c->move(c, what, at, bytes);
    }
}

/* Called for each run of contiguous bytes of an element, `at` bytes from its address (MPI_Keel_type_runs). */
struct MPIR_Runs {
    void (*run)(struct MPIR_Runs *r, int64_t at, int64_t bytes);
};

#endif
