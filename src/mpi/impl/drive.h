/* drive.h: operations of several steps that go on by themselves, whatever the process waits for. */
#ifndef MPIR_DRIVE_H
#define MPIR_DRIVE_H

enum MPIR_DRIVE {
    MPIR_DRIVE_WAITS, /* nothing could be done */
    MPIR_DRIVE_MOVED, /* something was done */
    MPIR_DRIVE_DONE   /* it is over: not called again, and may be gone */
};

struct MPIR_Driven {
    /* Go on as far as possible without blocking.  Called after each look at the devices, so it should find out soon that
     * there is nothing to do; never called while it (or another one) runs. */
    enum MPIR_DRIVE (*advance)(struct MPIR_Driven *d);
    struct MPIR_Driven *next;
};

/* Advance d from now on, until it is over. */
void MPIR_Drive(struct MPIR_Driven *d);
/* Forget all of them: nobody looks at the devices any more (MPI_Finalize). */
void MPIR_Drive_stop(void);

#endif
