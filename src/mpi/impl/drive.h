/* SPDX-License-Identifier: BSD-3-Clause */
/* drive.h: operations of several steps that go on by themselves, whatever the process waits for. */
#ifndef MPIR_DRIVE_H
#define MPIR_DRIVE_H

#include "mpid.h"

enum MPIR_DRIVE {
    MPIR_DRIVE_WAITS, /* nothing could be done; it is asked again after each look at the devices */
    MPIR_DRIVE_MOVED, /* something was done; likewise */
    MPIR_DRIVE_SLEEPS, /* somebody will call MPIR_Drive for it: a request that it watches, when that completes */
    MPIR_DRIVE_DONE    /* it is over: not called again, and may be gone */
};

struct MPIR_Driven {
    /* Go on as far as possible without blocking.  Called after a look at the devices; never while it (or another one)
     * runs. */
    enum MPIR_DRIVE (*advance)(struct MPIR_Driven *d);
    struct MPIR_Driven *next;
    bool helped; /* it calls nothing of the program's: also the helper advances it (MPID_Helping) */
};

/* A request of the ADI with whom it keeps. */
struct MPIR_Watched {
    struct MPIR_HANDLE request;
    struct MPIR_Driven *driven;
};

/* Advance d from now on, until it sleeps or is over.  It is in no other list of this kind then. */
void MPIR_Drive(struct MPIR_Driven *d);
/* Is d all that is driven?  Then a look at the devices does not advance it until MPIR_Drive_resume: for a call
 * that waits a moment for what would end d. */
bool MPIR_Drive_pause(const struct MPIR_Driven *d);
void MPIR_Drive_resume(void);
/* The same, but that d is not in the list any more: the caller advances it, and calls MPIR_Drive if it is not over. */
bool MPIR_Drive_take(const struct MPIR_Driven *d);
/* Have MPIR_Drive called for d when the request, which has begun, completes, however many others sleep so; false:
 * it is complete. */
bool MPIR_Drive_watch(struct MPIR_Driven *d, struct MPIR_Watched *w);
/* The ADI's word that a request which is watched has completed. */
void MPIR_Drive_done(struct MPIR_HANDLE *request);
/* Forget all of them: nobody looks at the devices any more (MPI_Finalize). */
void MPIR_Drive_stop(void);

#endif
