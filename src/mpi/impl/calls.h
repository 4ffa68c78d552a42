/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h: what listeners are told of the calls of MPI (mpid_listen.h).
 *
 * A procedure of the front end begins with a look at MPIR_env.listened, where it does not run plainly.  While
 * somebody listens it calls its own told_X (gen_calls.py), which tells them, and calls it again. */
#ifndef MPIR_CALLS_H
#define MPIR_CALLS_H

#include <stdbool.h>
#include "abi.h"
#include "mpid_listen.h"

struct MPIR_Call {
    struct MPID_Call told;
    const struct MPIR_Abi *abi;
    uint64_t *
        before; /* the handles that the call may change: their values when it began, in the order of the arguments */
    uint64_t small[64];
    bool left;         /* what it writes is there */
    const void *outer; /* where the call was made in which this one is */
    /* Its buffers in other memory than the host's (src/mpi/memory): those that it brings, those of the requests that it
     * gets, the window that it uses, makes, or synchronizes. */
    int refused; /* an error class: it cannot be made */
    bool stages; /* it has begun there */
    struct staged *staged;
    uint64_t *looked, few[8]; /* the requests' handles */
    int64_t nlooked;
    uint64_t window, synchronized, file, number;
    int late; /* an error class: the call is made all the same, as others wait for it, and then returns it */
    struct MPIR_Staged_window *made_window;
};

/* How a procedure uses a buffer (gen_calls.py has the same numbers): how many blocks of `count` elements it has, ... */
enum {
    MPIR_USE_BLOCKS = 7,     /* the mask; 0: one */
    MPIR_USE_SIZE = 1,       /* one for each process, of an intercommunicator of the remote group; */
    MPIR_USE_LOCAL = 2,      /* of the local group; */
    MPIR_USE_EACH = 3,       /* for each neighbor; */
    MPIR_USE_PARTITIONS = 4, /* for each partition */
    /* ... and where it is significant. */
    MPIR_USE_ROOT = 8,  /* at the root; */
    MPIR_USE_LEAF = 16, /* at the others, and the root of an intracommunicator; */
    MPIR_USE_ANY = 32,  /* unless the root is MPI_PROC_NULL */
    MPIR_USE_MINE = 64, /* of all blocks this process's alone, unless sendbuf is MPI_IN_PLACE */
    MPIR_USE_ORIGIN =
        128 /* it is not described as a buffer: not significant where the operation is MPI_NO_OP */
};
/* How it uses a communicator. */
enum {
    MPIR_USE_COLLECTIVE = 1, /* the others wait for this process in it; */
    MPIR_USE_INIT = 2,       /* when the request is started; */
    MPIR_USE_MAKES = 3       /* in the making of an object */
};
int MPIR_Call_use(const struct MPID_Call *call, int arg);
/* The communicator that it is given; NULL: none. */
const struct MPIR_Comm *MPIR_Call_comm(const struct MPID_Call *call);

/* A call begins, with the library's lock where there is one.  *procedure: NULL until the first call, then its
 * description, which `text` holds.  from: where the call returns to.  False: it cannot be made, and returns what
 * MPIR_Call_refuse does. */
bool MPIR_Call_enter(struct MPIR_Call *c, const struct MPID_Procedure **procedure, const char *text,
                     const void *const *arg, const struct MPIR_Abi *abi, const void *from);
/* Returns what the call is to return. */
int MPIR_Call_leave(struct MPIR_Call *c, int error);
int MPIR_Call_refuse(struct MPIR_Call *c);

/* Some call was not told, as there was no memory for its description: who counts calls has lost count. */
extern bool MPIR_Call_untold;

/* Where the program has made the call that this thread is in, as MPID_Caller tells it, for those that ask in each
 * call: the stack is looked at only where something lies between the program and the library. */
uint64_t MPIR_Call_caller(void);

/* The next call of this thread is the one that has just been told. */
extern _Thread_local bool MPIR_Call_pass __attribute__((tls_model("initial-exec"), visibility("hidden")));
static inline bool MPIR_Call_passes(void)
{
    bool passes = MPIR_Call_pass;
    MPIR_Call_pass = false;
    return passes;
}

/* What the library does for listeners about calls. */
extern const struct MPID_Listen_host MPIR_Call_host;

#endif
