/* SPDX-License-Identifier: BSD-3-Clause */
/* make.h: making a communicator, for the files of this folder. */
#ifndef COMM_MAKE_H
#define COMM_MAKE_H

#include "agree.h"
#include "comm.h"
#include "info.h"

enum {
    CONTEXT_WORLD = 0,
    CONTEXT_SELF = MPID_CONTEXT_IDS,
    CONTEXT_NONE =
        2 * MPID_CONTEXT_IDS, /* until there is an agreement: attribute callbacks may see the communicator */
    CONTEXT_BOOT = 3 * MPID_CONTEXT_IDS, /* from_group.c */
    CONTEXT_FIRST = 16 * MPID_CONTEXT_IDS
};

/* A communicator of the group, between it and a remote one if that is not NULL (references are taken).  It
 * inherits from parent, all its memory is there, but it has no context yet.  Returns an error class. */
int MPIR_Comm_prepare(MPIR_Comm *parent, MPIR_Group *group, MPIR_Group *remote, MPIR_Comm **c);
/* Give it its context, which all members have agreed on (for an intercommunicator the second is that of the local
 * one): it can be used. */
int MPIR_Comm_start(MPIR_Comm *parent, MPIR_Comm *c, const uint32_t context[2]);
/* Of one that is prepared, or has been started and never used: other groups instead of its own. */
int MPIR_Comm_regroup(MPIR_Comm *parent, MPIR_Comm *c, MPIR_Group *group, MPIR_Group *remote);
/* No call takes its handle until it is there, but what is local (api.txt: early). */
static inline void MPIR_Comm_hide(MPIR_Comm *c)
{
    MPIR_Object_rename(c);
    c->adi.obj.flags |= KEEL_OBJ_PENDING;
}
static inline void MPIR_Comm_reveal(MPIR_Comm *c)
{
    if (!(c->adi.obj.flags & KEEL_OBJ_REVOKED)) /* that one is hidden for the same calls, and more */
        MPIR_Object_rename(c);
    c->adi.obj.flags &= (uint8_t)~KEEL_OBJ_PENDING;
}
/* Undo MPIR_Comm_prepare. */
void MPIR_Comm_discard(MPIR_Comm *c);

/* What MPI_Comm_dup and its kin do before the processes agree: a communicator like comm, with what info says, without a
 * context yet.  On an error *c is NULL. */
int MPIR_Comm_copy(MPIR_Comm *comm, MPIR_Info *info, MPIR_Comm **c);

/* Set up a static communicator of the `size` processes from `first` on, and take it down (or do nothing). */
int MPIR_Comm_init_static(MPIR_Comm *c, int32_t size, int32_t first, uint32_t context);
void MPIR_Comm_fini_static(MPIR_Comm *c);
void MPIR_Comm_boot_fini(void); /* from_group.c */

/* Let c have this error handler instead of its parent's. */
void MPIR_Comm_handler(MPIR_Comm *c, MPIR_Errhandler *h);

/* All of comm, both sides of an intercommunicator, for one more vote; collective. */
struct party MPIR_Comm_party(MPIR_Comm *comm);
/* Let the party agree on the context of c and let it be used; NULL in processes that get no communicator.
 * ask->err: what went wrong so far; then, or if the vote fails, c is discarded. */
int MPIR_Comm_finish(const struct party *p, const struct context_ask *ask, MPIR_Comm *c, MPIR_Comm **newcomm);
/* Every member of the group must be one of comm (its local group). */
int MPIR_Comm_check_subset(MPIR_Comm *comm, MPIR_Group *group);

/* intercomm.c: the roots of both sides of p exchange n and m numbers, and tell the members of their sides.
 * Collective over both. */
int MPIR_Comm_swap(const struct party *p, const int32_t *mine, int64_t n, int32_t *theirs, int64_t m);
int MPIR_Comm_check_inter(const MPIR_Comm *comm, const char *arg);
/* Of an intercommunicator: is this process's group the left one?  Both sides find the same. */
bool MPIR_Intercomm_is_left(const MPIR_Comm *comm);
/* MPI_Intercomm_create, with the messages that p says; p->peer is NULL also at a root that knows of no other.
 * err: what this process has met so far.  remote: at the root: who the other side must be; NULL: anybody. */
int MPIR_Comm_bind(const struct party *p, int err, MPIR_Group *remote, MPIR_Comm **newcomm);

/* MPI_Comm_create of an intercommunicator. */
int MPIR_Comm_create_inter(MPIR_Comm *comm, MPIR_Group *group, MPIR_Comm **newcomm);

/* comm_names.c: processes as others know them. */
enum { NAME_WORDS = 3 };
void MPIR_Name_of(int32_t grank, int32_t name[NAME_WORDS]);
/* The global ranks here of n names; granks may be names.  An error class: there is a name that is not known here. */
int MPIR_Names_find(const int32_t *names, int32_t n, int32_t *granks);
bool MPIR_Name_precedes(int32_t a, int32_t b); /* of two global ranks; the same in all processes */
/* A hash of who is in the group, in its order; the same in all processes. */
uint64_t MPIR_Comm_hash_group(const MPIR_Group *group);

/* split.c: MPI_Comm_split in two steps: the vote (one context for all colors, as their groups are disjoint;
 * ask->err: what this process has met), and the colors; the second follows if the first returns 0. */
struct wish { /* what a process says to all others */
    int32_t color, key;
};
struct split {
    MPIR_Comm *comm;
    struct party party;
    struct context_vote vote;
    struct wish *wishes;
};
int MPIR_Comm_split_begin(struct split *s, MPIR_Comm *comm, struct context_ask *ask);
int MPIR_Comm_split_end(struct split *s, int color, int key, MPIR_Comm **newcomm);

#endif
