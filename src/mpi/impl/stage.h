/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.h: buffers in memory that the processor does not reach, such as a GPU's (src/mpi/memory). */
#ifndef MPIR_STAGE_H
#define MPIR_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MPIR_Call;
struct MPIR_HANDLE;
struct MPIR_Win;

/* ---- Kinds of memory ---- */

struct MPIR_Memory_block {
    char *base;
    size_t size;
};

/* A kind of memory besides the host's.  Its functions are called one at a time, by any thread. */
struct MPIR_Memory_kind {
    const char *name; /* as in mpi_memory_alloc_kinds (MPI 5.0, "Memory Allocation Info") */
    bool reachable;   /* the processor reaches it all the same (of tests): windows may lie there */
    /* Is the byte at this address of the kind?  Then *block is the allocation that it is in. */
    bool (*find)(const void *at, struct MPIR_Memory_block *block);
    /* Copy; each side is the host's memory or this kind's.  The copy is over when it returns.  0, or an error
     * class, recorded. */
    int (*copy)(void *to, const void *from, size_t bytes);
};

/* When the library comes up (a kind is looked for; MPID_NEEDS_DEVICE_MEMORY is set where one is there), and when
 * it ends. */
void MPIR_Memory_begin(void);
void MPIR_Memory_end(void);
/* The kind of memory at this address; NULL: the host's. */
const struct MPIR_Memory_kind *MPIR_Memory_at(const void *at, struct MPIR_Memory_block *block);
/* Can buffers be of this kind, by its name? */
bool MPIR_Memory_supports(const char *name);

/* ---- What calls pass ----
 *
 * In MPID_NEEDS_DEVICE_MEMORY each call begins and ends here (calls.h).  Its buffers of other kinds are copied to the
 * host's memory, and the arguments point there; what MPI writes is brought back when the operation is complete.  So
 * below there is only memory of the host, and the kind's copy is all that touches the other. */

/* An error class (recorded), and nothing has been done; 0. */
int MPIR_Stage_enter(struct MPIR_Call *c);
/* Returns `error`, or the class of what went wrong here. */
int MPIR_Stage_leave(struct MPIR_Call *c, int error);
/* The program frees this request.  True: it is staged and not complete, and goes when it is; nothing more is to be
 * done. */
bool MPIR_Stage_keeps(struct MPIR_HANDLE *request);
/* True: the request is staged, and has taken over the copies of its buffers. */
struct MPIR_Copies;
bool MPIR_Stage_takes(struct MPIR_HANDLE *request, struct MPIR_Copies *copies);
/* Of a window whose memory is of another kind, that memory; else `base`. */
void *MPIR_Stage_base(const struct MPIR_Win *win, void *base);

/* ---- The data of a call ---- */

/* `count` elements of a type, `at` bytes from the buffer's address. */
struct MPIR_Data_block {
    int64_t at, count;
    struct MPIR_Datatype *type; /* NULL: bytes */
};
struct MPIR_Data {
    char *base;
    int64_t n;
    struct MPIR_Data_block *blocks, one; /* NULL: it is one */
};
/* What argument i has of it, if that is a buffer which the call uses; n is 0: it is not, or there is no memory to
 * note them.  The blocks are the caller's to free; the types are not referred to. */
void MPIR_Stage_data(const struct MPIR_Call *c, int i, struct MPIR_Data *data);

#endif
