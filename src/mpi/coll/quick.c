/* SPDX-License-Identifier: BSD-3-Clause */
/* quick.c: the shortest collectives at an even team (mpid_team.h), by a shorter way to the same as coll_team.c
 * does: no struct coll, no choice.
 *
 * Who goes this way goes by facts that all members agree on and by the arguments; and says what those say who come
 * by the long way.  If it does not end well, nothing has happened but that the team is broken: the call begins
 * anew there. */
#include <string.h>
#include "coll.h"
#include "mpid_team.h"
#include "op.h"

void MPIR_Coll_quick_ready(MPIR_Comm *comm)
{
    const MPIR_Coll_facts *f = &comm->facts;
    comm->quick = !(MPID_Needs() & MPID_NEEDS_CALLS) && f->heard && comm->team == MPIR_TEAM_HAS &&
                  MPID_Team_even(&comm->adi) && !f->ruled && !f->forced[COLL_BARRIER] &&
                  !f->forced[COLL_ALLREDUCE] && !f->forced[COLL_ALLGATHER];
}

/* A call of the same number by the long way has the same number.  bytes: of the call, as the choice would have them. */
static bool quick_meet(MPIR_Comm *comm, enum coll_kind kind, int64_t room, int64_t bytes, uint32_t digest)
{
    uint64_t words = MPIR_Coll_words(comm->coll_roots, kind, 0, digest);
    (void)MPIR_Comm_next_tag(comm);
    uint32_t what = MPIR_Coll_team_what(comm->coll_seq, words, (uint64_t)room);
    MPID_Team_tell(&comm->adi, words);
    if (__builtin_expect(MPID_Team_meet(&comm->adi, comm->coll_seq, what), 1)) {
        MPIR_Coll_counted(kind, 1, comm, bytes);
        return true;
    }
    MPIR_Coll_differ_look(comm, comm->coll_seq, words);
    comm->coll_seq--;
    MPIR_Coll_team_lost(comm);
    return false;
}

static inline bool may(const MPIR_Comm *comm)
{
    return comm->quick && __builtin_expect(comm->meetings.first == NULL, 1);
}

bool MPIR_Coll_quick_barrier(MPIR_Comm *comm)
{
    return may(comm) && quick_meet(comm, COLL_BARRIER, 0, 0, 0);
}

static inline void copy_few(void *to, const void *from, int64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, (size_t)bytes);
}

/* The loop for a predefined operation on a predefined type; NULL: there is none, or the operation is not defined
 * there. */
static MPIR_Op_loop *loop_of(const MPIR_Op *op, const MPIR_Datatype *type, uint32_t *digest)
{
    static uint32_t last_digest;
    static const MPIR_Op *last_op;
    static const MPIR_Datatype *last_type;
    if (op != last_op || type != last_type) {
        if (op->user || type->combiner != MPI_COMBINER_NAMED || !type->adi.is_contig ||
            MPIR_Op_check(op, type))
            return NULL;
        last_op = op;
        last_type = type;
        last_digest = MPIR_Op_digest(op, type);
    }
    *digest = last_digest;
    return MPIR_Op_loop_of(op, type);
}

/* From the last rank down, as MPIR_Coll_team_result does. */
bool MPIR_Coll_quick_allreduce(const void *sbuf, void *rbuf, MPI_Count count, MPIR_Datatype *type,
                               const MPIR_Op *op, MPIR_Comm *comm)
{
    int64_t bytes = count * type->adi.size;
    if (!may(comm) || count > MPID_TEAM_SHORT || bytes > MPID_TEAM_SHORT || bytes <= 0 ||
        (comm->hints.asserted & MPIR_HINT_SAME_BITS))
        return false;
    uint32_t digest;
    MPIR_Op_loop *loop = loop_of(op, type, &digest);
    if (!loop)
        return false;
    copy_few(MPID_Team_own(&comm->adi, bytes), coll_in_place(sbuf) ? rbuf : sbuf, bytes);
    if (!quick_meet(comm, COLL_ALLREDUCE, bytes, bytes, digest))
        return false;
    const void *with = MPID_Team_room(&comm->adi, comm->adi.size - 1);
    for (int32_t i = comm->adi.size - 2; i >= 0; i--, with = rbuf)
        loop(MPID_Team_room(&comm->adi, i), with, rbuf, count);
    return true;
}

static inline bool few(MPI_Count count, const MPIR_Datatype *type)
{
    return count <= MPID_TEAM_SHORT && type->adi.size <= MPID_TEAM_SHORT && type->adi.is_contig;
}

bool MPIR_Coll_quick_allgather(const void *sbuf, MPI_Count scount, MPIR_Datatype *stype, void *rbuf,
                               MPI_Count rcount, MPIR_Datatype *rtype, MPIR_Comm *comm)
{
    bool in_place = coll_in_place(sbuf);
    if (!may(comm) || !few(rcount, rtype) || !(in_place || few(scount, stype)))
        return false;
    int64_t bytes = rcount * rtype->adi.size;
    if (bytes > MPID_TEAM_SHORT || bytes <= 0 || (!in_place && scount * stype->adi.size != bytes))
        return false;
    char *to = rbuf;
    copy_few(MPID_Team_own(&comm->adi, bytes), in_place ? to + comm->adi.rank * bytes : sbuf, bytes);
    if (!quick_meet(comm, COLL_ALLGATHER, bytes, bytes * comm->adi.size, 0))
        return false;
    for (int32_t i = 0; i < comm->adi.size; i++)
        copy_few(to + i * bytes, MPID_Team_room(&comm->adi, i), bytes);
    return true;
}
