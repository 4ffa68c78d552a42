/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.c: how two groups meet (meet.h).
 *
 *   1. Each process opens what reaches other jobs; the root gathers what others must be told of each member (a record).
 *   2. The root finds the other group's root; the two exchange their tables of records over the link between them.
 *   3. The root tells its group the other's table: each process introduces all of them to its ADI.  From here on
 *      any two can talk.
 *   4. If one of the roots could make a joint segment (mpid.h), each process that is on its node opens it.  On
 *      each other node that both groups have, a process makes one.  Both groups agree whether all have succeeded, and
 *      keep all of them or drop all.
 *   5. The roots agree on the context of a communicator of the two alone, by which the groups make their
 *      intercommunicator as MPI_Intercomm_create does.
 *
 * A process that fails says so in the next step that all of the group take part in; a root that fails hangs up,
 * and so the other one does. */
#include "meet.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "mpi_err.h"
#include "records.h"
#include "type.h"
#include "util/le.h"

/* Memory that both groups may share. */
struct shared {
    struct MPID_Joint_name name;
    struct MPID_JOINT *joint; /* at the root that has made it, until it is opened */
    uint64_t where;           /* this process, as its record says */
    uint64_t roots;           /* where both roots are; 0: on different nodes */
    int32_t elsewhere;        /* do the groups have another node in common? */
    int32_t first;            /* is the segment this group's?  Then its places come first */
    uint64_t few[128];        /* room for a short table of records */
};

enum {
    ELSEWHERE_MAX = 4096 /* processes of two groups: more meet over the network except on the roots' node */
};

/* A joint segment, as the group of its maker tells the other one; numbers are little-endian. */
struct named {
    uint64_t where, id;
    uint32_t pid, fd;
};

static MPIR_Datatype *byte(void)
{
    return MPIR_Datatype_predefined(KEEL_MPI_BYTE);
}

static int meet_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the processes of a group");
}

/* Has everybody the memory that it wanted? */
static int all_have(MPIR_Comm *comm, bool has)
{
    return MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), has ? 0 : meet_no_memory(),
                          NULL, 0);
}

/* ---- 1, 2 ----------------------------------------------------------------------------------------------------- */

static int swap_tables(struct link *l, const struct MPIR_RECORDS *mine, struct MPIR_RECORDS *theirs)
{
    uint32_t head[3] = { ku_le32((uint32_t)mine->n), ku_le32((uint32_t)mine->size),
                         ku_le32((uint32_t)mine->root) };
    uint32_t its[3];
    int err = MPIR_Link_swap(l, head, sizeof head, its, sizeof its);
    if (err)
        return err;
    uint32_t many = ku_le32(its[0]), bytes = ku_le32(its[1]), root = ku_le32(its[2]);
    if (!MPIR_Records_sane(many, bytes, root))
        return MPIR_Err(MPI_ERR_PORT, NULL,
                        "the other group's table of %u processes with %u bytes each is none", many, bytes);
    *theirs = (struct MPIR_RECORDS){ .n = (int32_t)many,
                                     .size = (int32_t)bytes,
                                     .root = (int32_t)root,
                                     .bytes = malloc((size_t)many * bytes) };
    if (!theirs->bytes)
        return meet_no_memory();
    return MPIR_Link_swap(l, mine->bytes, (size_t)mine->n * (size_t)mine->size, theirs->bytes,
                          (size_t)many * bytes);
}

static int swap_number(void *link, uint64_t mine, uint64_t *theirs)
{
    uint64_t out = ku_le64(mine), in = 0;
    int err = MPIR_Link_swap(link, &out, sizeof out, &in, sizeof in);
    *theirs = ku_le64(in);
    return err;
}

static bool is_of_one_job(const struct MPIR_RECORDS *a, const struct MPIR_RECORDS *b)
{
    for (int32_t i = 0; i < b->n; i++)
        if (MPIR_Record_of(b, i)->job != MPIR_Record_of(a, 0)->job)
            return false;
    return true;
}

/* Has this process, alone in its group, such a segment with all of the others? */
static bool has_all(const struct MPIR_RECORDS *mine, const struct MPIR_RECORDS *theirs)
{
    bool has = mine->n == 1;
    for (int32_t i = 0; i < theirs->n && has; i++) {
        const struct MPIR_RECORD *r = MPIR_Record_of(theirs, i);
        struct MPID_Process p = { ku_le64(r->job), (int32_t)ku_le32((uint32_t)r->rank) };
        has = MPID_Joint_has(MPID_Process_find(&p));
    }
    return has;
}

/* Has the group a process there? */
static bool is_of(const struct MPIR_RECORDS *t, uint64_t where)
{
    int32_t i = 0;
    while (i < t->n && ku_le64(MPIR_Record_of(t, i)->where) != where)
        i++;
    return i < t->n;
}

static bool precedes(const struct MPIR_RECORDS *mine, const struct MPIR_RECORDS *theirs)
{
    const struct MPIR_RECORD *a = MPIR_Record_of(mine, mine->root), *b = MPIR_Record_of(theirs, theirs->root);
    uint64_t job_a = ku_le64(a->job), job_b = ku_le64(b->job);
    return mine->n != theirs->n ? mine->n < theirs->n
           : job_a != job_b     ? job_a < job_b
                                : ku_le32((uint32_t)a->rank) < ku_le32((uint32_t)b->rank);
}

/* Have both groups processes on a node that is not the roots'? */
static bool share_elsewhere(const struct MPIR_RECORDS *mine, const struct MPIR_RECORDS *theirs,
                            uint64_t roots)
{
    if (mine->n > ELSEWHERE_MAX - theirs->n || (is_of_one_job(mine, mine) && is_of_one_job(mine, theirs)))
        return false;
    for (int32_t i = 0; i < mine->n; i++) {
        uint64_t where = MPIR_Record_of(mine, i)->where;
        if (where != 0 && ku_le64(where) != roots && is_of(theirs, ku_le64(where)))
            return true;
    }
    return false;
}

/* The root of the smaller group (or the one with the smaller name) makes the segment, unless all processes are of
 * one job, or have one already: of larger groups that is known only when all have opened it. */
static int make_shared(struct link *l, const struct MPIR_RECORDS *mine, const struct MPIR_RECORDS *theirs,
                       struct shared *s)
{
    const struct MPIR_RECORD *a = MPIR_Record_of(mine, mine->root), *b = MPIR_Record_of(theirs, theirs->root);
    struct MPID_Joint_name own = { 0 }, its = { 0 };
    s->first = precedes(mine, theirs);
    if (s->first && !has_all(mine, theirs) && a->where == b->where &&
        !(is_of_one_job(mine, mine) && is_of_one_job(mine, theirs)) && mine->n <= INT32_MAX - theirs->n)
        s->joint = MPID_Joint_make(mine->n + theirs->n, &own);
    uint64_t out[3] = { ku_le64(own.id), ku_le64(own.where),
                        ku_le64((uint64_t)(uint32_t)own.pid << 32 | (uint32_t)own.fd) };
    uint64_t in[3] = { 0 };
    int err = MPIR_Link_swap(l, out, sizeof out, in, sizeof in);
    its.id = ku_le64(in[0]);
    its.where = ku_le64(in[1]);
    its.pid = (int32_t)(ku_le64(in[2]) >> 32);
    its.fd = (int32_t)(uint32_t)ku_le64(in[2]);
    s->name = s->first ? own : its;
    s->roots = a->where == b->where ? ku_le64(a->where) : 0;
    s->elsewhere = share_elsewhere(mine, theirs, s->roots);
    return err;
}

/* At the root, with its group's table. */
static int reach(struct meeting *m, struct link *l, const struct MPIR_RECORDS *mine,
                 struct MPIR_RECORDS *theirs, struct shared *s)
{
    MPID_Others_awaited(true);
    int err = m->reach(m, l);
    if (!err)
        err = swap_tables(l, mine, theirs);
    if (!err)
        err = make_shared(l, mine, theirs, s);
    MPID_Others_awaited(false);
    return err;
}

/* ---- 3 -------------------------------------------------------------------------------------------------------- */

/* What the root has found, in all of its group. */
static int meet_spread(MPIR_Comm *comm, int root, int err, struct meeting *m, struct MPIR_RECORDS *t,
                       struct shared *s)
{
    struct ku_err words = *ku_err_last();
    struct {
        int32_t err, word, n, size, root, first, elsewhere;
        struct MPID_Joint_name name;
        uint64_t roots;
        uint64_t few[sizeof s->few / sizeof *s->few];
    } facts = { err, m->word, t->n, t->size, t->root, s->first, s->elsewhere, s->name, s->roots, { 0 } };
    size_t bytes = (size_t)t->n * (size_t)t->size;
    if (!err && t->bytes && bytes <= sizeof facts.few)
        memcpy(facts.few, t->bytes, bytes);
    int failed = MPIR_Bcast(&facts, sizeof facts, byte(), root, comm);
    if (failed)
        return failed;
    m->word = facts.word;
    if (err) {
        *ku_err_last() = words;
        return err;
    }
    if (facts.err)
        return MPIR_Err(facts.err, NULL, "the root of the communicator failed with this error");
    t->n = facts.n;
    t->size = facts.size;
    t->root = facts.root;
    s->first = facts.first;
    s->elsewhere = facts.elsewhere;
    s->roots = facts.roots;
    s->name = facts.name;
    bytes = (size_t)t->n * (size_t)t->size;
    if (bytes <= sizeof facts.few) {
        memcpy(s->few, facts.few, bytes);
        t->bytes = t->bytes ? t->bytes : (uint8_t *)s->few;
        return 0;
    }
    if (!t->bytes)
        t->bytes = malloc(bytes);
    failed = all_have(comm, t->bytes != NULL);
    return failed ? failed : MPIR_Bcast(t->bytes, (MPI_Count)t->n * t->size, byte(), root, comm);
}

/* ---- 4 ------------------------------------------------------------------------------------------------------- */

static bool is_maker(const struct named *all, int32_t me, const struct MPIR_RECORDS *theirs,
                     const struct shared *s)
{
    int32_t first = 0;
    while (all[first].where != ku_le64(s->where))
        first++;
    return first == me && s->where != 0 && s->where != s->roots && is_of(theirs, s->where);
}

/* In the group that comes first: on each of those nodes the lowest process makes a segment. */
static int make_elsewhere(MPIR_Comm *comm, const struct MPIR_RECORDS *theirs, struct named *all,
                          struct shared *s)
{
    struct named own = { .where = ku_le64(s->where) };
    struct MPID_Joint_name name;
    int err = MPIR_Allgather(&own, sizeof own, byte(), all, sizeof own, byte(), comm);
    if (err)
        return err;
    if (is_maker(all, comm->adi.rank, theirs, s) &&
        (s->joint = MPID_Joint_make(comm->adi.size + theirs->n, &name)) != NULL) {
        own.id = ku_le64(name.id);
        own.pid = ku_le32((uint32_t)name.pid);
        own.fd = ku_le32((uint32_t)name.fd);
    }
    return MPIR_Allgather(&own, sizeof own, byte(), all, sizeof own, byte(), comm);
}

/* Tell the other group, or be told, what has been made. */
static int pass_elsewhere(MPIR_Comm *comm, int root, struct link *l, struct named *all, int32_t n, int err,
                          const struct shared *s)
{
    size_t bytes = (size_t)n * sizeof *all;
    uint64_t fine = 0;
    if (comm->adi.rank == root) {
        int failed = swap_number(l, err == 0, &fine);
        if (!failed && fine && !err && s->first)
            failed = MPIR_Link_swap(l, all, bytes, NULL, 0);
        else if (!failed && fine && !err)
            failed = MPIR_Link_swap(l, NULL, 0, all, bytes);
        fine = !failed && fine;
    }
    int failed = MPIR_Bcast(&fine, sizeof fine, byte(), root, comm);
    if (err || failed)
        return err ? err : failed;
    if (!fine)
        return MPIR_Err(MPI_ERR_PORT, NULL, "the other group could not make the memory that both share");
    return s->first ? 0 : MPIR_Bcast(all, (MPI_Count)bytes, byte(), root, comm);
}

/* The segment of this process's node, if that is not the roots'. */
static int find_elsewhere(MPIR_Comm *comm, int root, const struct MPIR_RECORDS *theirs, struct link *l,
                          struct shared *s)
{
    int32_t n = s->first ? comm->adi.size : theirs->n;
    struct named *all = calloc((size_t)n, sizeof *all);
    int err = all_have(comm, all != NULL);
    if (!err && s->first)
        err = make_elsewhere(comm, theirs, all, s);
    err = pass_elsewhere(comm, root, l, all, n, err, s);
    for (int32_t i = 0; i < n && !err; i++)
        if (all[i].id != 0 && ku_le64(all[i].where) == s->where)
            s->name = (struct MPID_Joint_name){ .id = ku_le64(all[i].id),
                                                .where = s->where,
                                                .pid = (int32_t)ku_le32(all[i].pid),
                                                .fd = (int32_t)ku_le32(all[i].fd) };
    free(all);
    return err;
}

static enum MPID_JOINT_VOTE open_shared(MPIR_Comm *comm, const struct MPIR_RECORDS *theirs,
                                        const int32_t *granks, struct shared *s)
{
    enum MPID_JOINT_VOTE vote = MPID_JOINT_USELESS;
    int32_t n = comm->adi.size, *there = malloc((size_t)theirs->n * sizeof *there);
    int32_t me = s->first ? comm->adi.rank : theirs->n + comm->adi.rank;
    for (int32_t i = 0; there && i < theirs->n; i++)
        there[i] = ku_le64(MPIR_Record_of(theirs, i)->where) == s->name.where ? granks[i] : -1;
    if (!there)
        vote = MPID_JOINT_FAILED;
    else if (s->joint || s->where == s->name.where)
        s->joint =
            MPID_Joint_open(s->joint, &s->name, n + theirs->n, me, s->first ? n : 0, there, theirs->n, &vote);
    free(there);
    return vote;
}

/* The two groups decide the same.  A root that cannot reach the other one fails in the next step, too. */
static int meet_decide(MPIR_Comm *comm, int root, uint32_t vote, struct link *l, bool *keep)
{
    int err = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), 0, &vote, 1);
    uint64_t other = MPID_JOINT_FAILED;
    int32_t all = MPID_JOINT_FAILED;
    if (comm->adi.rank == root) {
        if (!err && swap_number(l, vote, &other) == 0)
            all = other >= MPID_JOINT_FAILED ? MPID_JOINT_FAILED : (int32_t)(other > vote ? other : vote);
    }
    int failed = MPIR_Bcast(&all, 1, MPIR_Datatype_predefined(KEEL_MPI_INT32_T), root, comm);
    *keep = !err && !failed && all == MPID_JOINT_WANTED;
    return err ? err : failed;
}

/* granks: NULL where this process has failed. */
static int meet_share(MPIR_Comm *comm, int root, const struct MPIR_RECORDS *theirs, const int32_t *granks,
                      struct link *l, struct shared *s)
{
    bool keep = false;
    enum MPID_JOINT_VOTE vote = granks ? open_shared(comm, theirs, granks, s) : MPID_JOINT_FAILED;
    int err = meet_decide(comm, root, vote, l, &keep);
    MPID_Joint_settle(s->joint, keep);
    s->joint = NULL;
    return err;
}

/* ---- 5 -------------------------------------------------------------------------------------------------------- */

static int meet_make_comm(MPIR_Comm *comm, int root, const struct MPIR_RECORDS *theirs, struct link *l,
                          struct shared *s, MPIR_Comm **newcomm)
{
    int32_t *granks = malloc((size_t)theirs->n * sizeof *granks);
    int err = granks ? MPIR_Records_introduce(theirs, granks) : meet_no_memory();
    bool shares = s->name.id != 0 || s->elsewhere;
    if (s->elsewhere) {
        int failed = find_elsewhere(comm, root, theirs, l, s);
        err = err ? err : failed;
    }
    if (shares) {
        int failed = meet_share(comm, root, theirs, err ? NULL : granks, l, s);
        err = err ? err : failed;
    }
    err = MPIR_Comm_from_two(comm, root, err, err ? -1 : granks[theirs->root], swap_number, l, newcomm);
    if (granks)
        MPIR_Records_release(granks, theirs->n);
    free(granks);
    return err;
}

int MPIR_Meet(MPIR_Comm *comm, int root, int err, struct meeting *m, MPIR_Comm **newcomm)
{
    struct link l = { .fd = -1 };
    struct MPIR_RECORDS mine = { .root = root }, theirs = { 0 };
    struct shared s = { 0 };
    bool is_root = comm->adi.rank == root;
    *newcomm = NULL;
    MPID_Others_part();
    err = MPIR_Records_gather(comm, err, &mine);
    s.where = mine.where;
    if (!err)
        err = meet_spread(comm, root, is_root ? reach(m, &l, &mine, &theirs, &s) : 0, m, &theirs, &s);
    if (!err)
        err = meet_make_comm(comm, root, &theirs, &l, &s, newcomm);
    MPID_Joint_settle(s.joint, false); /* of a root that has failed before it was opened */
    MPIR_Link_close(&l);
    if (theirs.bytes != (uint8_t *)s.few)
        free(theirs.bytes);
    free(mine.bytes);
    return err;
}
