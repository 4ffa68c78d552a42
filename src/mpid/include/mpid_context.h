/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_context.h: contexts in which messages match, and what is refused in them (mpid.h). */
#ifndef KEEL_MPID_CONTEXT_H
#define KEEL_MPID_CONTEXT_H

#include "mpid_base.h"

/* ---- Contexts (5.3) ------------------------------------------------------------------------- */

/* Messages for a context id that no CommInit has announced are kept until it is.  Nonzero: an error code. */
int MPID_CommInit(struct MPIR_COMMUNICATOR *oldcomm, struct MPIR_COMMUNICATOR *newcomm);
int MPID_CommFree(struct MPIR_COMMUNICATOR *comm);
/* Does a communicator of this process have the context id (extension)? */
bool MPID_Context_in_use(uint32_t context_id);
enum {
    MPID_CONTEXT_PT2PT = 0,
    MPID_CONTEXT_COLL = 1,
    MPID_CONTEXT_RMA = 2,   /* of a window, which has a communicator of its own */
    MPID_CONTEXT_PART = 2,  /* partitioned messages */
    MPID_CONTEXT_COMM = 3,  /* making communicators */
    MPID_CONTEXT_WHOLE = 4, /* partitioned messages that come as one */
    MPID_CONTEXT_FAIL = 5,  /* what members say to each other of failures: not revoked */
    MPID_CONTEXT_IDS = 6    /* ids a comm takes */
};

/* ---- Refusals (extension)
 *
 * A process that takes no part in what the members of a communicator do by messages of one context with one tag
 * says so to all of them.  From then on, at each that has heard it: its receives with that tag in that context end
 * with the error, posted or not; messages with it are dropped, and the senders of those that wait for their
 * receiver get the error.  Tags count up in their lower 30 bits:
 * a refusal may be forgotten when receives ask for tags that are MPID_REFUSAL_TAGS further on, or some time after
 * the communicator is freed. */
enum { MPID_REFUSAL_WORDS = 36, MPID_REFUSAL_TAGS = 1 << 16 };
struct MPID_Refusal {
    int error; /* a class */
    int32_t rank;
    bool inter, remote; /* the rank is one of one of two groups; not of that of the process that reads this */
    bool revoked;       /* it is of all tags (MPID_Revoke) */
    char words[MPID_REFUSAL_WORDS + 1]; /* the caller's */
};
/* Tell all that `to` sends to; `r` as they are to read it. */
void MPID_Refuse(const struct MPIR_COMMUNICATOR *to, uint32_t context_id, int tag,
                 const struct MPID_Refusal *r);
/* What has been refused there (MPI_ANY_TAG: something that is), as far as it is known here; NULL: nothing.  Until
 * the next call of the ADI. */
const struct MPID_Refusal *MPID_Refused(uint32_t context_id, int tag);
/* Messages of context id `part`, which is `comm`'s, are on behalf of calls in context id `of`: what is refused
 * there is refused here. */
void MPID_Refused_with(struct MPIR_COMMUNICATOR *comm, uint32_t part, uint32_t of);

/* ---- Revoked communicators (extension)
 *
 * From the call on, and at each other member once it has heard it: receives in all contexts of comm but
 * MPID_CONTEXT_FAIL end with MPID_ERR_REVOKED, posted or not; messages are dropped, and senders of those that wait
 * for their receiver get the error.  config->revoked is called in each process that hears it, which calls MPID_Revoke
 * as well: so all who live hear it, whoever dies on the way.  `local`: of an intercommunicator, that of the group of
 * this process; else NULL. */
enum { MPID_ERR_REVOKED = 16303 };
void MPID_Revoke(struct MPIR_COMMUNICATOR *comm, const struct MPIR_COMMUNICATOR *local);
/* Has that been heard here? */
bool MPID_Revoked(const struct MPIR_COMMUNICATOR *comm);

/* Call fn for each message of the program that has come and that no receive has asked for; comm: NULL if it is not
 * known here; note: what its sender has said of it (mpid_listen.h), NULL: nothing. */
struct MPID_Note;
void MPID_Unreceived(void (*fn)(const struct MPIR_COMMUNICATOR *comm, int32_t source, int32_t tag,
                                int64_t bytes, const struct MPID_Note *note, void *arg),
                     void *arg);

#endif
