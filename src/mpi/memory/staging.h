/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.h: what the files of this folder share. */
#ifndef STAGING_H
#define STAGING_H

#include <stdint.h>
#include "calls.h"
#include "request.h"
#include "stage.h"
#include "type.h"

enum { STAGE_BUFFERS = 3 /* of a call, at most */ };

/* A buffer of a call.  Its data lie in bytes [lo, hi) from the address `user`, and, while it is staged, as far
 * from `host`. */
struct stage_buffer {
    char *user, *host;
    int arg; /* of its call */
    int64_t lo, hi;
    bool writes; /* MPI does; it always reads, as what it does not write must stay */
    bool mixed;  /* the data lie in memory of several kinds */
    const struct MPIR_Memory_kind *kind;
    struct MPIR_Memory_block block; /* that it is in, unless mixed */
    struct stage_buffer *first;     /* another one of the call, whose copy is this one's, too */
    void *memory;
    size_t mapped; /* its bytes, if it is a mapping */
    int64_t n;
    struct MPIR_Data_block *blocks, one;
};

enum stage_life { STAGE_CALL, STAGE_REQUEST, STAGE_WINDOW, STAGE_FILE };

/* The staged buffers of an operation. */
struct staged {
    struct staged *next; /* of those that outlive their call: in the same bucket of the table (stage.c) */
    enum stage_life life;
    uint64_t of;                /* the handle's value of the request, window or file */
    uint64_t window;            /* of a one-sided operation with a request: that completes it, too */
    uint64_t number;            /* of the operations: which was first */
    bool active;                /* under way, and nothing has been brought back */
    bool orphan;                /* the program has let go of the request */
    int32_t target;             /* of a window's: the rank; -1: none */
    int64_t partitions;         /* of partitioned communication, else 0 */
    unsigned char *there;       /* which partitions have been brought back */
    struct MPIR_Copies *copies; /* of Fortran's sections (copies.h) */
    int n;
    struct stage_buffer buffer[STAGE_BUFFERS];
};

/* All of it, or what `partition` is of it, if that is not negative: copied to the host, or back.  An error class. */
int MPIR_Stage_move(struct staged *s, bool in, int64_t partition);
void MPIR_Stage_free(struct staged *s);

/* What is staged now is dropped. */
void MPIR_Stage_end(void);

/* The kind of CUDA's devices; NULL: the program has not loaded their driver (cuda.c). */
const struct MPIR_Memory_kind *MPIR_Stage_cuda(void);

/* Windows (windows.c). */
int MPIR_Stage_window_enter(struct MPIR_Call *c);
int MPIR_Stage_window_leave(struct MPIR_Call *c, int error);
void MPIR_Stage_windows_end(void);

/* The argument with this name, or -1. */
int MPIR_Stage_arg(const struct MPIR_Call *c, const char *name);
/* Its value, where it is an address; and a new one, which the call gets. */
void *MPIR_Stage_pointer(const struct MPIR_Call *c, int arg);
void MPIR_Stage_point(struct MPIR_Call *c, int arg, void *to);

#endif
