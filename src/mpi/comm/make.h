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

/* The first context id that this process has not used: where the next agreement starts. */
extern uint32_t MPIR_Comm_next_context;

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

/* Note that ids up to this context's are taken; an error class if there are none left. */
int MPIR_Comm_take_context(uint32_t context);

#endif
