/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h: sessions. */
#ifndef MPIR_SESSION_H
#define MPIR_SESSION_H

#include "errhandler.h"
#include "object.h"
#include "group.h"
#include "info.h"
#include "mpi_const.h"

/* Groups and communicators derived from a session point to it until it ends. */
typedef struct MPIR_Session {
    struct keel_object obj;
    MPIR_Errhandler *errhandler;
    int thread_level;   /* MPI_THREAD_*, as provided */
    char *memory_kinds; /* mpi_memory_alloc_kinds, as supported */
    void *bsend;        /* buffer attached to the session (src/mpi/pt2pt) */
} MPIR_Session;

/* ---- Kinds of memory (12.4.3) ---- */

/* Are all kinds of the list supported? */
bool MPIR_Memory_kinds_all(const char *list);
/* What to answer to who asks for these kinds (NULL: for none): what is always supported, and what is of the list.
 * The caller frees it; NULL without memory (recorded). */
char *MPIR_Memory_kinds_answer(const char *asked);
/* mpi_memory_alloc_kinds of info, or what was said at the start; NULL.  `room`: where to put the latter. */
const char *MPIR_Memory_kinds_asked(const MPIR_Info *info, char room[MPI_MAX_INFO_VAL]);

/* ---- Sets of processes ---- */

/* The group of a set of processes; *group is NULL if there is no set of that name.  Returns an error class. */
int MPIR_Pset_group(const char *name, MPIR_Group **group);

#endif
