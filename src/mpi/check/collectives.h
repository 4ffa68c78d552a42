/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.h: the check of collectives: do all ranks of a communicator make the same calls, with arguments that fit?
 * It begins and ends with the library. */
#ifndef MPIR_COLLECTIVES_H
#define MPIR_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>
#include "comm.h"
#include "mpid.h"
#include "mpid_listen.h"

void MPIR_Collectives_begin(void);
void MPIR_Collectives_end(void);

/* ---- said.c: what a rank says of its call, and what it expects to hear ---- */

/* Whom it is said to: the next rank of the communicator (of the own group), so that all are compared in a ring; one
 * rank of an intercommunicator's other group; the partner that gets, or sends, these very data. */
enum { SAID_TO_NEXT = 1, SAID_TO_OTHERS, SAID_TO_PARTNER };

/* Of data: in place, they are told of at all, they are sent, or received (neither: all have the same). */
enum { SAID_IN_PLACE = 1, SAID_DATA = 2, SAID_SENDS = 4, SAID_RECEIVES = 8, SAID_HOW = 15 };

enum { SAID_OP_OF_PROGRAM = 0xff };

struct MPIR_Said {
    uint16_t number; /* of the procedure; 0 is none */
    bool large;      /* the one with MPI_Count */
    uint8_t op;  /* of a predefined operation, or SAID_OP_OF_PROGRAM; 0: it has none, or that is not known */
    uint8_t how; /* SAID_IN_PLACE, ... */
    int32_t root;
    int32_t nth;     /* which of the data from this process to that one (said.c), instead of a root */
    uint32_t counts; /* digest of what all ranks have to say alike; 0: none */
    struct MPID_Signature data;
};

/* Data that a rank has told of are those of another one's argument: */
struct MPIR_Expected {
    int32_t source, nth; /* which rank will say it, and to whom */
    uint8_t to, how;
    const char *count_name, *type_name;
    struct MPID_Signature data;
};

/* A call, as long as it has to be compared. */
struct MPIR_Coll_own {
    const char *call;
    uint64_t caller;
    bool rooted, all_in_place; /* the root is to be the same; all, or none, give MPI_IN_PLACE */
    struct MPIR_Said is;
    int left, n; /* of `expected`: that have not been said yet, in all */
    struct MPIR_Expected expected[];
};

/* Is it a collective of several processes?  Their communicator, of a window or file its own, and the object that the
 * program knows (enum MPID_OBJECT_KIND).  NULL: it is none. */
const MPIR_Comm *MPIR_Coll_comm_of(const struct MPID_Call *call, uint64_t *handle, uint8_t *kind);
/* What is expected; `seq` is its number on the communicator.  NULL: without memory. */
struct MPIR_Coll_own *MPIR_Coll_own_of(const struct MPID_Call *call, const MPIR_Comm *comm, uint32_t seq);
/* What is said, each to one rank (of the own group if `to` is SAID_TO_NEXT). */
void MPIR_Coll_say(const struct MPID_Call *call, const MPIR_Comm *comm, uint32_t seq,
                   void (*say)(void *arg, int to, int32_t rank, const struct MPIR_Said *said), void *arg);
/* Its name, without _c.  number: 0 or unknown: "?" */
void MPIR_Coll_call_name(uint16_t number, bool large, char name[48]);
bool MPIR_Coll_known(const char *call);

/* ---- said_differ.c: telling ---- */

/* Compare what another rank has said with the call; on: what its communicator is to the program; `seq` as above.
 * False: they are two different calls. */
bool MPIR_Coll_compare(const struct MPIR_Coll_own *own, const MPIR_Comm *comm, const char *on, uint32_t seq,
                       int to, int32_t source, const struct MPIR_Said *said, uint32_t module,
                       uint32_t offset);

#endif
