/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h: what listeners are told of the calls of MPI (mpid_listen.h).
 *
 * A procedure of the front end begins with a look at MPIR_env.listened, where it does not run plainly.  While somebody listens it calls
 * its own told_X (gen_calls.py), which tells them, and calls it again. */
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
    bool left; /* what it writes is there */
};

/* A call begins, with the library's lock where there is one.  *procedure: NULL until the first call, then its description, which
 * `text` holds. */
void MPIR_Call_enter(struct MPIR_Call *c, const struct MPID_Procedure **procedure, const char *text,
                     const void *const *arg, const struct MPIR_Abi *abi);
void MPIR_Call_leave(struct MPIR_Call *c, int error);

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
