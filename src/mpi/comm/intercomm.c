/* SPDX-License-Identifier: BSD-3-Clause */
/* intercomm.c: intercommunicators: making one of two sides, dividing it, merging it.
 *
 * The two sides are two groups without a common process; each has a root that can reach the other.  What one side
 * must know of the other goes from root to root and is then spread.  Messages between the sides of an
 * intercommunicator use its own contexts: the sender's side tells which side it is for, so one set of ids is
 * enough for both.  Messages within a side use those of comm->local, also one set for both sides: they have no
 * process in common. */
#include "make.h"
#include "bodies.h"
#include "mpi_err.h"
#include "p2p.h"
#include "records.h"
#include <stdlib.h>
#include <string.h>

static bool is_root(const struct party *p)
{
    return p->comm->adi.rank == p->root;
}

/* At a root: exchange n and m numbers with the other one. */
static int intercomm_exchange(const struct party *p, const int32_t *mine, int64_t n, int32_t *theirs,
                              int64_t m)
{
    MPIR_Datatype *type = MPIR_Datatype_predefined(KEEL_MPI_INT32_T);
    MPIR_Status status;
    return MPIR_P2p_sendrecv(mine, n, type, p->peer_rank, p->peer_tag, theirs, m, type, p->peer_rank,
                             p->peer_tag, p->peer, p->peer_which, &status);
}

static int intercomm_spread(const struct party *p, int32_t *numbers, int64_t n)
{
    return MPIR_Bcast(numbers, n, MPIR_Datatype_predefined(KEEL_MPI_INT32_T), p->root, p->comm);
}

/* The root's error, or its n numbers, in all of its side. */
static int spread_all(const struct party *p, int err, int32_t *numbers, int64_t n)
{
    enum { FEW_NUMBERS = 63 };
    struct ku_err words = *ku_err_last();
    int32_t all[1 + FEW_NUMBERS] = { err };
    bool few = n <= FEW_NUMBERS;
    if (few && !err && is_root(p))
        memcpy(all + 1, numbers, (size_t)n * sizeof *numbers);
    int failed = intercomm_spread(p, all, few ? 1 + n : 1);
    if (err) { /* with its own words */
        *ku_err_last() = words;
        return err;
    }
    if (failed)
        return failed;
    if (all[0])
        return MPIR_Err(all[0], NULL, "another process, which speaks for its group, failed with this error");
    if (!few)
        return intercomm_spread(p, numbers, n);
    memcpy(numbers, all + 1, (size_t)n * sizeof *numbers);
    return 0;
}

int MPIR_Comm_swap(const struct party *p, const int32_t *mine, int64_t n, int32_t *theirs, int64_t m)
{
    return spread_all(p, is_root(p) ? intercomm_exchange(p, mine, n, theirs, m) : 0, theirs, m);
}

/* ---- Two sides that do not know each other yet ---------------------------------------------------------------- */

/* Do all of this side agree on who is its root, and has none met an error? */
static int check_side(const struct party *p, int err)
{
    struct context_vote v;
    struct party side = *p;
    struct context_ask ask = {
        .err = err, .ids = 1, .extras = 2, .same_arg = "local_leader", .same_class = MPI_ERR_RANK
    };
    side.root = 0;
    side.peer = NULL;
    context_same(&ask, 0, (uint64_t)p->root);
    return MPIR_Context_agree(&v, &side, &ask);
}

/* Tell the other root of this side's error or size, and hear of theirs.  *size: of the other side, known to all of
 * this one. */
static int intercomm_meet(const struct party *p, int err, int32_t *size)
{
    int32_t mine[2] = { err, p->comm->adi.size }, theirs[2] = { 0, 0 };
    struct ku_err words = *ku_err_last();
    int failed = p->peer ? intercomm_exchange(p, mine, 2, theirs, 2) : 0;
    if (err) { /* all of this side have it */
        *ku_err_last() = words;
        return err;
    }
    if (!failed && theirs[0])
        failed = MPIR_Err(theirs[0], NULL, "a process of the remote group failed with this error");
    err = spread_all(p, failed, &theirs[1], 1);
    *size = theirs[1];
    return err;
}

/* Is a process of the other side in this one, too?  All find the same answer. */
static int check_disjoint(MPIR_Group *local, const int32_t *theirs, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t both = MPIR_Group_rank_of(local, theirs[i]);
        if (both != MPI_UNDEFINED)
            return MPIR_Err(
                MPI_ERR_COMM, "local_comm",
                "has a process (rank %d of it) that is in the remote group, too (rank %d of it); expected "
                "groups without a common process",
                both, i);
    }
    return 0;
}

/* Does somebody of either side not know somebody of the other?  lacks: this process; then so for all. */
static int compare(const struct party *p, bool *lacks)
{
    uint32_t mine = *lacks;
    int32_t own, theirs = 0;
    int err = MPIR_Agree_max(p->comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(p->comm), 0, &mine, 1);
    own = (int32_t)mine;
    if (!err)
        err = MPIR_Comm_swap(p, &own, 1, &theirs, 1);
    *lacks = own || theirs;
    return err;
}

/* The processes of both sides are told the addresses of the other's.  theirs[n]: their numbers then; *held: they
 * are to be released. */
static int introduce(const struct party *p, int32_t *theirs, int32_t n, bool *held)
{
    struct MPIR_RECORDS own = { .root = p->root }, its = { .n = n };
    int32_t agreed = 0, size = 0;
    int err = intercomm_meet(p, check_side(p, MPIR_Records_gather(p->comm, 0, &own)), &agreed);
    if (!err)
        err = MPIR_Comm_swap(p, &own.size, 1, &its.size, 1);
    size = its.size;
    if (!err) {
        if (MPIR_Records_sane((uint32_t)n, (uint32_t)size, 0))
            its.bytes = malloc((size_t)n * (size_t)size);
        err = intercomm_meet(p,
                             check_side(p, its.bytes
                                               ? 0
                                               : MPIR_Err(MPI_ERR_NO_MEM, NULL,
                                                          "no memory for the addresses of %d processes", n)),
                             &agreed);
    }
    if (!err)
        err = MPIR_Comm_swap(p, (const int32_t *)(const void *)own.bytes, (int64_t)own.n * own.size / 4,
                             (int32_t *)(void *)its.bytes, (int64_t)n * size / 4);
    if (!err) {
        err = MPIR_Records_introduce(&its, theirs);
        *held = true;
    }
    free(own.bytes);
    free(its.bytes);
    return err;
}

static bool are_of_one_job(const int32_t *mine, int32_t n, const int32_t *theirs, int32_t m)
{
    for (int32_t i = 0; i < n; i++)
        if (memcmp(&mine[(int64_t)i * NAME_WORDS], mine, 2 * sizeof *mine) != 0)
            return false;
    for (int32_t i = 0; i < m; i++)
        if (memcmp(&theirs[(int64_t)i * NAME_WORDS], mine, 2 * sizeof *mine) != 0)
            return false;
    return true;
}

/* The n processes of the other side, known to all of this one; mine[] and theirs[] have room for the names of both
 * sides'.  *held: the numbers in theirs[] are to be released. */
static int intercomm_learn(const struct party *p, int32_t *mine, int32_t *theirs, int32_t n, bool *held)
{
    MPIR_Comm *comm = p->comm;
    int32_t own = comm->adi.size;
    for (int32_t i = 0; i < own; i++)
        MPIR_Name_of(MPIR_Comm_grank(comm, i), &mine[(int64_t)i * NAME_WORDS]);
    int err = MPIR_Comm_swap(p, mine, (int64_t)own * NAME_WORDS, theirs, (int64_t)n * NAME_WORDS);
    if (err)
        return err;
    bool known = are_of_one_job(mine, own, theirs, n) || p->introduced;
    err = MPIR_Names_find(theirs, n, theirs);
    if (!known) {
        bool lacks = err != 0;
        err = compare(p, &lacks);
        if (!err && lacks)
            err = introduce(p, theirs, n, held);
    }
    return err ? err : check_disjoint(comm->group, theirs, n);
}

/* Both sides know each other, and what goes wrong from here on travels with the vote.  remote: at the root, see
 * bind. */
static int intercomm_join(const struct party *p, const int32_t *theirs, int32_t n, MPIR_Group *remote,
                          MPIR_Comm **newcomm)
{
    MPIR_Comm *c = NULL;
    MPIR_Group *group = NULL;
    struct context_ask ask = { .err = MPIR_Group_new(n, theirs, &group), .ids = 2 };
    if (!ask.err && remote && MPIR_Group_relation(group, remote) != MPI_IDENT)
        ask.err = MPIR_Err(MPI_ERR_GROUP, "remote_group", "is not the group of those on the other side");
    if (!ask.err)
        ask.err = MPIR_Comm_prepare(p->comm, p->comm->group, group, &c);
    if (c)
        MPIR_Coll_facts_inherit(p->comm, c->local);
    if (group)
        MPIR_Group_release(group);
    return MPIR_Comm_finish(p, &ask, c, newcomm);
}

enum { FEW = 32 /* processes of a group that has room on the stack */ };

static int intercomm_no_memory(int32_t n)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %d processes", n);
}

/* How many there are on the other side is known when they have met.  For more than a few there must be memory,
 * which only some may have: they meet once more to tell. */
int MPIR_Comm_bind(const struct party *p, int err, MPIR_Group *remote, MPIR_Comm **newcomm)
{
    bool held = false;
    int32_t n = 0, few[FEW * NAME_WORDS], own = p->comm->adi.size,
            *mine = malloc((size_t)own * NAME_WORDS * sizeof *mine), *many = NULL;
    *newcomm = NULL;
    if (!mine && !err)
        err = intercomm_no_memory(own);
    err = intercomm_meet(p, check_side(p, err), &n);
    if (!err && (n > FEW || own > FEW)) { /* on both sides, then */
        many = malloc((size_t)n * NAME_WORDS * sizeof *many);
        err = intercomm_meet(p, check_side(p, many ? 0 : intercomm_no_memory(n)), &n);
    }
    if (!err)
        err = intercomm_learn(p, mine, many ? many : few, n, &held);
    if (!err)
        err = intercomm_join(p, many ? many : few, n, remote, newcomm);
    if (held)
        MPIR_Records_release(many ? many : few, n);
    free(mine);
    free(many);
    return err;
}

/* ---- The leaders of MPI_Intercomm_create ---------------------------------------------------------------------- */

/* What only the leader can check. */
static int check_remote(const MPIR_Comm *local, const MPIR_Comm *peer, int remote_leader)
{
    if (!peer)
        return MPIR_Err(MPI_ERR_COMM, "peer_comm",
                        "is not a communicator; expected one, as this process is its group's leader");
    if (remote_leader < 0 || remote_leader >= peer->adi.remote_size)
        return MPIR_Err(MPI_ERR_RANK, "remote_leader", "is %d; expected 0 to %d", remote_leader,
                        peer->adi.remote_size - 1);
    int32_t in_local = MPIR_Group_rank_of(local->group, MPIR_Comm_grank(peer, remote_leader));
    if (in_local != MPI_UNDEFINED)
        return MPIR_Err(MPI_ERR_RANK, "remote_leader",
                        "is %d, which is rank %d of local_comm; expected a process of another group",
                        remote_leader, in_local);
    return 0;
}

int MPIR_Intercomm_create(MPIR_Comm *local_comm, int local_leader, MPIR_Comm *peer_comm, int remote_leader,
                          int tag, MPIR_Comm **newintercomm)
{
    int err = 0;
    *newintercomm = NULL;
    if (local_comm->remote_group)
        return MPIR_Err(MPI_ERR_COMM, "local_comm", "is an intercommunicator; expected an intracommunicator");
    struct party p = { .comm = local_comm,
                       .which = MPID_CONTEXT_COLL,
                       .tag = MPIR_Comm_next_tag(local_comm),
                       .root = local_leader };
    if (local_leader < 0 || local_leader >= local_comm->adi.size) {
        err = MPIR_Err(MPI_ERR_RANK, "local_leader", "is %d; expected 0 to %d", local_leader,
                       local_comm->adi.size - 1);
    } else if (local_leader == local_comm->adi.rank) {
        err = check_remote(local_comm, peer_comm, remote_leader);
        p.peer = err ? NULL : peer_comm;
        p.peer_which = MPID_CONTEXT_COMM;
        p.peer_tag = tag;
        p.peer_rank = remote_leader;
    }
    return MPIR_Comm_bind(&p, err, NULL, newintercomm);
}

/* ---- Two sides of one intercommunicator ----------------------------------------------------------------------- */

/* A name for each side that both know: the left one is that of the first process whose name is less. */
bool MPIR_Intercomm_is_left(const MPIR_Comm *comm)
{
    return MPIR_Name_precedes(MPIR_Group_grank(comm->group, 0), MPIR_Group_grank(comm->remote_group, 0));
}

/* The groups of the new one, after the vote: mine[] has room for the names of all of this side, theirs[] for those
 * of the other. */
static int create_some(const struct party *p, MPIR_Comm *comm, MPIR_Group *group, int32_t *mine,
                       int32_t *theirs, const uint32_t context[2], MPIR_Comm **newcomm)
{
    int32_t n = group->size, m = 0;
    MPIR_Group *remote;
    MPIR_Comm *c = NULL;
    int err = MPIR_Comm_swap(p, &n, 1, &m, 1);
    if (err || n == 0 || m == 0)
        return err;
    for (int32_t i = 0; i < n; i++)
        MPIR_Name_of(MPIR_Group_grank(group, i), &mine[(int64_t)i * NAME_WORDS]);
    err = MPIR_Comm_swap(p, mine, (int64_t)n * NAME_WORDS, theirs, (int64_t)m * NAME_WORDS);
    if (!err)
        err = MPIR_Names_find(theirs, m, theirs);
    if (err || group->rank == MPI_UNDEFINED)
        return err;
    err = MPIR_Group_new(m, theirs, &remote);
    if (err)
        return err;
    err = MPIR_Comm_prepare(comm, group, remote, &c);
    MPIR_Group_release(remote);
    if (!err && (err = MPIR_Comm_start(comm, c, context)))
        MPIR_Comm_discard(c);
    *newcomm = err ? NULL : c;
    return err;
}

int MPIR_Comm_create_inter(MPIR_Comm *comm, MPIR_Group *group, MPIR_Comm **newcomm)
{
    struct party p = MPIR_Comm_party(comm);
    struct context_vote v;
    struct context_ask ask = { .ids = 2, .extras = 4, .same_arg = "group", .same_class = MPI_ERR_GROUP };
    int32_t *mine = malloc((size_t)comm->adi.size * NAME_WORDS * sizeof *mine);
    int32_t *theirs = malloc((size_t)comm->adi.remote_size * NAME_WORDS * sizeof *theirs);
    *newcomm = NULL;
    ask.err = MPIR_Comm_check_subset(comm, group);
    if (!ask.err && !(mine && theirs))
        ask.err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the groups of a communicator");
    context_same(&ask, MPIR_Intercomm_is_left(comm), MPIR_Comm_hash_group(group));
    int err = MPIR_Context_agree(&v, &p, &ask);
    if (!err)
        err = create_some(&p, comm, group, mine, theirs, v.context, newcomm);
    free(mine);
    free(theirs);
    return err;
}

/* ---- Merging -------------------------------------------------------------------------------------------------- */

static int unite(MPIR_Group *first, MPIR_Group *second, MPIR_Group **group)
{
    int32_t n = first->size, m = second->size, *granks = malloc(((size_t)n + (size_t)m) * sizeof *granks);
    if (!granks)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %lld processes", (long long)n + m);
    for (int32_t i = 0; i < n; i++)
        granks[i] = MPIR_Group_grank(first, i);
    for (int32_t i = 0; i < m; i++)
        granks[n + i] = MPIR_Group_grank(second, i);
    return MPIR_Group_adopt(n + m, granks, group);
}

/* The communicator of both groups, this process's one first or not. */
static int make_union(MPIR_Comm *comm, bool first, const uint32_t context[2], MPIR_Comm **newcomm)
{
    MPIR_Group *group = NULL;
    MPIR_Comm *c = NULL;
    int err = first ? unite(comm->group, comm->remote_group, &group)
                    : unite(comm->remote_group, comm->group, &group);
    if (err)
        return err;
    err = MPIR_Comm_prepare(comm, group, NULL, &c);
    MPIR_Group_release(group);
    if (!err && (err = MPIR_Comm_start(comm, c, context)))
        MPIR_Comm_discard(c);
    *newcomm = err ? NULL : c;
    return err;
}

int MPIR_Intercomm_merge(MPIR_Comm *intercomm, int high, MPIR_Comm **newintracomm)
{
    enum { LEFT = 2, HIGH = 1 };
    struct context_vote v;
    struct context_ask ask = { .ids = 1, .extras = 4 };
    int err = MPIR_Comm_check_inter(intercomm, "intercomm");
    *newintracomm = NULL;
    if (err)
        return err;
    int side = MPIR_Intercomm_is_left(intercomm) ? LEFT : 0;
    struct party p = MPIR_Comm_party(intercomm);
    ask.extra[side | (high ? HIGH : 0)] = 1;
    err = MPIR_Context_agree(&v, &p, &ask);
    if (err)
        return err;
    if ((v.extra[LEFT] && v.extra[LEFT | HIGH]) || (v.extra[0] && v.extra[HIGH]))
        return MPIR_Err(MPI_ERR_ARG, "high", "is true in some processes of a group and false in others");
    bool mine_high = v.extra[side | HIGH] != 0, theirs_high = v.extra[(side ^ LEFT) | HIGH] != 0;
    bool first = mine_high == theirs_high ? side == LEFT : theirs_high;
    return make_union(intercomm, first, v.context, newintracomm);
}
