/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h: communicators. */
#ifndef MPIR_COMM_H
#define MPIR_COMM_H

#include <stdbool.h>
#include "mpid.h"
#include "object.h"
#include "group.h"
#include "errhandler.h"

/* What the members have agreed on about their collectives (src/mpi/coll), so that all choose alike. */
enum { MPIR_COLL_FORCED = 22 };
typedef struct MPIR_Coll_facts {
    uint8_t known;   /* agreed, and a call that waits for the others has seen it: so in all of them */
    uint8_t heard;   /* agreed; else the next collective agrees first */
    uint8_t asked;   /* a nonblocking call has begun to agree on this, or on a team */
    uint8_t again;   /* that was in vain, since somebody has refused the call: the next one asks */
    uint8_t ruled;   /* all have the same rules for sizes (src/mpi/coll/tune.c) */
    int failed;      /* the error class with which that ended; 0 */
    uint8_t crowded; /* some node has more ranks than cores */
    struct MPID_Cost cost[2]; /* of messages on a node, and between nodes: the most that a member says */
    uint8_t forced[MPIR_COLL_FORCED]; /* by enum coll_kind: number of the forced algorithm + 1, or 0 */
} MPIR_Coll_facts;

/* The hints of a communicator (src/mpi/comm/comm_hints.c); what the user promised not to do. */
enum MPIR_HINT {
    MPIR_HINT_NO_ANY_TAG = 1,
    MPIR_HINT_NO_ANY_SOURCE = 2,
    MPIR_HINT_EXACT_LENGTH = 4,
    MPIR_HINT_ALLOW_OVERTAKING = 8,
    MPIR_HINT_STRICT_PERSISTENT = 16,
    MPIR_HINT_SAME_BITS = 32 /* results of reductions do not depend on where ranks are */
};
typedef struct MPIR_Comm_hints {
    uint32_t asserted;  /* MPIR_HINT_*; 0 at first */
    char *memory_kinds; /* mpi_assert_memory_alloc_kinds; NULL: not set */
} MPIR_Comm_hints;

/* Do its members have a team (mpid.h) for their collectives?  One that is broken has no meetings any more, as each
 * member finds at the next one that it comes to; its streams go on. */
enum MPIR_COMM_TEAM { MPIR_TEAM_UNASKED = 0, MPIR_TEAM_NONE, MPIR_TEAM_HAS, MPIR_TEAM_BROKEN };

/* Nonblocking collectives that are under way at the team, in the order of the calls (src/mpi/coll/meeting.c). */
struct coll_meeting;
typedef struct MPIR_Meetings {
    struct coll_meeting *first, *last;
    bool absent, refused; /* what is to be said when they are over, of call */
    uint32_t when;
} MPIR_Meetings;

typedef struct MPIR_Comm {
    struct MPIR_COMMUNICATOR
        adi; /* rank, size, context_id, lrank_to_grank; adi.errhandler is a MPIR_Errhandler * */
    MPIR_Group *group;
    /* Intercommunicators only.  Messages go to ranks of the remote group; those among the local group go through
     * `local`, an intracommunicator that no program sees, whose contexts are all the library's. */
    MPIR_Group *remote_group;
    struct MPIR_Comm *local;
    char name[128];       /* MPI_MAX_OBJECT_NAME */
    uint32_t context_use; /* how often its context id was another's before; the same in all members */
    uint32_t coll_seq;    /* collectives started: the tag of the next one's messages */
    uint32_t coll_roots;  /* of the broadcasts that were, as a few bits (src/mpi/coll/differ.c) */
    struct {
        int32_t member; /* one whose present call is another one, by its rank and 1; 0: none is known */
        uint64_t words;
    } coll_other;
    uint32_t persistent_seq; /* persistent ones made: likewise */
    uint32_t owns;           /* persistent ones with a team of their own (src/mpi/coll/coll_own.c) */
    void *attributes;        /* src/mpi/attr */
    void *bsend;             /* buffer attached to the communicator */
    struct MPIR_Topo *topo;  /* virtual topology (topo.h); NULL: none */
    MPIR_Coll_facts facts;
    struct MPIR_Driven *awaiting; /* facts.asked: operations that sleep until the facts are there */
    void *ways; /* what its large collectives have cost (src/mpi/coll/ways.h); NULL: nothing yet */
    struct MPIR_Nodes *nodes; /* over several nodes (src/mpi/coll/nodes.h); NULL */
    bool nodes_asked;
    bool apart;   /* each member lies on a node of its own, as a call that all have been in has found */
    uint8_t team; /* enum MPIR_COMM_TEAM */
    uint32_t team_allotted; /* its number, of rank 0, until all have heard it; 0 */
    bool quick;             /* the shortest collectives may go a shorter way (src/mpi/coll/quick.c) */
    MPIR_Meetings meetings;
    bool no_handle;            /* the program has none, or has freed it */
    struct keel_object *owner; /* the window or file whose own it is; NULL */
    bool
        brittle; /* who meets a failure in a collective on it revokes it: its calls are of several collectives */
    struct MPIR_Comm *making; /* the own one of a window or file that its members are making; NULL */
    int32_t detached;         /* its requests that the user freed and the ADI still has */
    struct MPIR_Session
        *session; /* from which it is derived; NULL: the world model, or the session has ended */
    MPIR_Comm_hints hints;
    MPIR_Group *acked;   /* members that the program has said to know as lost (survive.c); NULL: none */
    uint32_t fail_seq;   /* agreements of those that live: the tag of the next one's messages */
    int32_t fail_open;   /* of those that have begun here, how many are not over */
    uint64_t *fail_base; /* who all know to be lost, as bits (accord.h); NULL: nobody */
} MPIR_Comm;

extern MPIR_Comm MPIR_Comm_world, MPIR_Comm_self;

/* The same in all members, who may not all know that it is broken. */
static inline bool MPIR_Comm_has_team(const MPIR_Comm *c)
{
    return c->team >= MPIR_TEAM_HAS;
}

static inline uint32_t MPIR_Comm_context(const MPIR_Comm *c, int which) /* MPID_CONTEXT_* */
{
    return c->adi.context_id + (uint32_t)which;
}
static inline int32_t MPIR_Comm_grank(const MPIR_Comm *c, int32_t lrank)
{
    return c->adi.lrank_to_grank ? c->adi.lrank_to_grank[lrank] : lrank;
}

/* Until the call with NULL, who revokes comm revokes `own` as well: some may have failed before they had that. */
void MPIR_Comm_making(MPIR_Comm *comm, MPIR_Comm *own);
/* It is revoked, here or by another member (MPID_Config.revoked). */
void MPIR_Comm_revoked(struct MPIR_COMMUNICATOR *adi);
/* A process is lost (MPID_Config.lost). */
void MPIR_Accord_lose(void);
void MPIR_Accord_end(void);                   /* nothing is driven any more, and nobody agrees on anything */
void MPIR_Coll_nodes_revoke(MPIR_Comm *comm); /* nobody waits for this process in its parts */
/* Nobody waits at the memory of comm's team for this process, in a call that it does not come to. */
void MPIR_Coll_team_leave(MPIR_Comm *comm);

/* After MPID_Init, before MPID_End (init chapter). */
void MPIR_Comm_begin(void);
void MPIR_Comm_end(void);
/* The session ends: its groups and communicators forget it; the program's communicators go. */
void MPIR_Comm_end_session(struct MPIR_Session *s);

/* Set up MPI_COMM_WORLD and MPI_COMM_SELF (init chapter) and take them down: their handles name something meanwhile. */
int MPIR_Comm_init_predefined(void);
void MPIR_Comm_fini_predefined(void);

/* Drop a reference (MPIR_Object_ref takes one); the last one frees. */
void MPIR_Comm_release(MPIR_Comm *c);

/* What a constructor of communicators does once each process knows its group, a subset of comm's (NULL or without
 * this process: it gets none): all of comm agree, and get their communicators or an error each.  err: what this
 * process has met so far (recorded).  Collective over comm, an intracommunicator; groups of different processes
 * are equal or disjoint. */
int MPIR_Comm_make(MPIR_Comm *comm, MPIR_Group *group, int err, MPIR_Comm **newcomm);

/* The intercommunicator of comm's group and another one, all of whose processes have been introduced to each other
 * (MPID_Introduce).  At the roots: `other` is the global rank of the other group's root, with which swap exchanges
 * a number (0, or an error class). Collective over both.  err: what this process has met so far (recorded). */
int MPIR_Comm_from_two(MPIR_Comm *comm, int root, int err, int32_t other,
                       int (*swap)(void *arg, uint64_t mine, uint64_t *theirs), void *arg,
                       MPIR_Comm **newcomm);

struct MPIR_Info;
/* Change *hints to what info (NULL: nothing) says; on an error, whose class is returned, nothing has changed. */
int MPIR_Comm_hints_read(MPIR_Comm_hints *hints, const struct MPIR_Info *info);
void MPIR_Comm_hints_clear(MPIR_Comm_hints *hints);

/* MPI_ERR_COMM, recorded, for an intercommunicator. */
int MPIR_Comm_check_intra(const MPIR_Comm *comm);

enum { MPIR_AGREE_WORDS = 31 };
/* Agree on comm->facts if that has not happened, with messages of the call that has the tag; collective
 * (src/mpi/coll).  Returns an error class. */
int MPIR_Coll_ready(MPIR_Comm *comm, int tag);
/* What `from` has agreed on holds for `to`, whose members are of it, if a call that waits has seen it. */
void MPIR_Coll_facts_inherit(const MPIR_Comm *from, MPIR_Comm *to);

/* The arguments of a collective over comm have been refused here before its body was called.  The others may have
 * found nothing wrong: it counts all the same (src/mpi/coll). */
void MPIR_Coll_refused(MPIR_Comm *comm, int err, const char *call);
/* The same of a call that makes something of a communicator, and begins with one agreement of all members: if that
 * ends with an error nobody goes on.  ends: the error ends the job, or this process, and nobody need hear of it. */
void MPIR_Make_refused(MPIR_Comm *comm, int err, const char *call, bool ends);
/* The same of a call that makes a persistent operation. */
void MPIR_Coll_init_refused(MPIR_Comm *comm, int err, const char *call);
/* The error (recorded) of messages that nobody is to wait for, as a member has refused the call that they belong
 * to; 0: nobody has, as far as it is known here. */
int MPIR_Refused(const MPIR_Comm *comm, int which, int tag);
/* Does an error that goes to the communicator's handler end the job, or this process? */
bool MPIR_Comm_error_ends(const MPIR_Comm *comm);
/* While it is set, by the thread that has the lock, collectives play their part with empty messages, wait for that
 * and return this error: their buffers are no good, though all else is. */
extern int MPIR_Coll_muted __attribute__((visibility("hidden")));

/* A barrier of comm through memory, of members that say the same; false, in all of them: there was none, and it is
 * to be had by messages. */
bool MPIR_Coll_meet(MPIR_Comm *comm, bool alike);

/* The maximum of each of `words` values (at most MPIR_AGREE_WORDS) over the members of `group`, a subset of comm
 * (NULL: all of comm), by messages with the tag in a context of comm.  Collective over them.  err: what this
 * process has met (an error class, recorded), or 0: it returns that, and the others an error that says whose it
 * is.  Returns an error class, 0 in all processes or in none. */
int MPIR_Agree_max(MPIR_Comm *comm, MPIR_Group *group, int which, int tag, int err, uint32_t *values,
                   int words);

/* The same without blocking, over all of comm.  NULL without memory. */
struct MPIR_Agreement;
struct MPIR_Agreement *MPIR_Agreement_begin(MPIR_Comm *comm, int which, int tag, const uint32_t *values,
                                            int words);
/* Go on as far as possible.  True: it is over and gone; the values, and the error class (recorded). */
bool MPIR_Agreement_step(struct MPIR_Agreement *a, uint32_t *values, int words, int *err);

/* Communicators of some of comm's members that no program sees: one of each group, each of which contains this
 * process or is NULL.  Collective over comm, an intracommunicator; the groups [i] of different processes are equal
 * or disjoint.  The messages are in the context of comm's collectives, with the tag.  err: what this process has
 * met (recorded): then nobody gets any.  NULL: there was no memory; the others have heard of that. */
enum { MPIR_PARTS = 2 };
struct MPIR_Parts;
struct MPIR_Parts *MPIR_Parts_begin(MPIR_Comm *comm, int tag, MPIR_Group *const groups[MPIR_PARTS], int err);
/* Go on as far as possible; never blocks.  True: it is over and gone.  All members have their parts, or all have
 * an error class (recorded) and none. */
bool MPIR_Parts_step(struct MPIR_Parts *m, MPIR_Comm *parts[MPIR_PARTS], int *err);

/* What a communicator over several nodes keeps for its collectives. */
void MPIR_Coll_nodes_free(MPIR_Comm *comm);
/* Free what collectives keep for later ones. */
void MPIR_Coll_stop(void);

/* The tag of the next collective's messages.  Persistent ones have the other half of the tags (src/mpi/coll). */
enum { MPIR_COMM_TAGS = 1 << 30, MPIR_INIT_NUMBERS = 8 /* that each of these takes when it is made */ };
static inline int MPIR_Comm_next_tag(MPIR_Comm *comm)
{
    return (int)(comm->coll_seq++ & (MPIR_COMM_TAGS - 1));
}

#endif
