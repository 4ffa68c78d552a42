/* make.h: making a communicator, for the files of this folder. */
#ifndef COMM_MAKE_H
#define COMM_MAKE_H

#include "comm.h"
#include "info.h"

enum {
    CONTEXT_WORLD = 0,
    CONTEXT_SELF = MPID_CONTEXT_IDS,
    CONTEXT_NONE =
        2 * MPID_CONTEXT_IDS, /* until there is an agreement: attribute callbacks may see the communicator */
    CONTEXT_FIRST = 16 * MPID_CONTEXT_IDS
};

/* A communicator of the group (a reference is taken) that inherits from parent, all its memory there, but without a
 * context yet.  Returns an error class. */
int MPIR_Comm_prepare(MPIR_Comm *parent, MPIR_Group *group, MPIR_Comm **c);
/* Give it its context, which all members have agreed on: it can be used. */
int MPIR_Comm_start(MPIR_Comm *parent, MPIR_Comm *c, uint32_t context);
/* Undo MPIR_Comm_prepare. */
void MPIR_Comm_discard(MPIR_Comm *c);

/* Change *hints to what info (NULL: nothing) says; on an error, whose class is returned, nothing has changed. */
int MPIR_Comm_hints_read(MPIR_Comm_hints *hints, const MPIR_Info *info);
void MPIR_Comm_hints_clear(MPIR_Comm_hints *hints);

/* What MPI_Comm_dup and its kin do before the processes agree: a communicator like comm, with what info says, without a
 * context yet.  On an error *c is NULL. */
int MPIR_Comm_copy(MPIR_Comm *comm, MPIR_Info *info, MPIR_Comm **c);

#endif
