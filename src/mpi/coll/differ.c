/* SPDX-License-Identifier: BSD-3-Clause */
/* differ.c: members of a communicator that call different collectives, or the same one with other roots,
 * operations or types (7.1).
 *
 * What a member calls stands beside its meeting at the team (MPID_Team_tell) and is part of what all have to say
 * alike there.  So where it differs the team breaks, and each member looks for one that said another thing.  It
 * costs a store.  Broadcasts do not meet: their roots are part of what is said at the next meeting.  Where there
 * is no team nobody finds out. */
#include "coll.h"
#include "mpid_team.h"
#include <ctype.h>
#include <stdio.h>

/* Words: kind (6 bits), roots of the broadcasts before (8), digest of operation and type (18), root (32). */
enum { ROOTS_SHIFT = 6, ROOTS = 0xff, DIGEST_SHIFT = 14, DIGEST = 0x3ffff, ROOT_SHIFT = 32 };

static enum coll_kind kind_of(uint64_t words)
{
    return (enum coll_kind)(words & COLL_WORDS_NONE);
}

static uint32_t digest_of(uint64_t words)
{
    return (uint32_t)(words >> DIGEST_SHIFT) & DIGEST;
}

uint64_t MPIR_Coll_words(uint32_t roots, enum coll_kind kind, int root, uint32_t digest)
{
    return (uint64_t)kind | (uint64_t)(roots & ROOTS) << ROOTS_SHIFT |
           (uint64_t)(digest & DIGEST) << DIGEST_SHIFT | (uint64_t)(uint32_t)root << ROOT_SHIFT;
}

static bool has_root(enum coll_kind kind)
{
    return (kind >= COLL_BCAST && kind <= COLL_SCATTERV) || kind == COLL_REDUCE;
}

uint64_t MPIR_Coll_words_of(const struct coll *c)
{
    return MPIR_Coll_words(c->roots, c->kind, has_root(c->kind) ? c->root : 0,
                           c->op ? MPIR_Op_digest(c->op, c->rtype) : 0);
}

void MPIR_Coll_differ_look(MPIR_Comm *comm, uint32_t when, uint64_t words)
{
    uint64_t other;
    comm->coll_other.member = 0;
    if (kind_of(words) >= COLL_KINDS)
        return;
    for (int32_t i = 0; i < comm->adi.size && comm->coll_other.member == 0; i++)
        if (MPID_Team_told(&comm->adi, i, when, &other) && other != words && kind_of(other) < COLL_KINDS) {
            comm->coll_other.member = i + 1;
            comm->coll_other.words = other;
        }
}

static const char *name_of(enum coll_kind kind, char name[32])
{
    snprintf(name, 32, "MPI_%s", MPIR_Coll_tables[kind].name);
    name[4] = (char)toupper((unsigned char)name[4]);
    return name;
}

int MPIR_Coll_differ(MPIR_Comm *comm, uint64_t mine)
{
    char name[32];
    int rank = comm->coll_other.member - 1;
    uint64_t other = comm->coll_other.words, differ = mine ^ other;
    if (rank < 0)
        return 0;
    comm->coll_other.member = 0;
    if (kind_of(differ) != 0)
        return MPIR_Err(MPI_ERR_OTHER, NULL,
                        "rank %d of the communicator calls %s; expected the same call in all ranks", rank,
                        name_of(kind_of(other), name));
    if (differ >> ROOT_SHIFT != 0)
        return MPIR_Err(MPI_ERR_ROOT, "root", "is %d; rank %d has %d: expected the same in all ranks",
                        (int)(uint32_t)(mine >> ROOT_SHIFT), rank, (int)(uint32_t)(other >> ROOT_SHIFT));
    if (digest_of(differ) & MPIR_OP_DIGEST_OP) {
        const MPIR_Op *op = MPIR_Op_predefined((int32_t)(digest_of(other) & MPIR_OP_DIGEST_OP));
        return MPIR_Err(MPI_ERR_OP, "op", "is not that of rank %d, %s; expected the same in all ranks", rank,
                        op ? op->name : "an operation of a user");
    }
    if (digest_of(differ) != 0)
        return MPIR_Err(MPI_ERR_TYPE, "datatype",
                        "is not of the kind of rank %d's; expected the same in all ranks", rank);
    /* who has refused a broadcast knows nothing of its root */
    if (MPID_Refused(MPIR_Comm_context(comm, MPID_CONTEXT_COLL), MPI_ANY_TAG))
        return 0;
    return MPIR_Err(MPI_ERR_ROOT, NULL, "rank %d has had another root in an MPI_Bcast before this call",
                    rank);
}
