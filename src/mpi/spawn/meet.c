/* meet.c: how two groups meet (meet.h).
 *
 *   1. Each process opens what reaches other jobs; the root gathers what others must be told of each member (a record).
 *   2. The root finds the other group's root; the two exchange their tables of records over the link between them.
 *   3. The root tells its group the other's table: each process introduces all of them to its ADI.  From here on any two can talk.
 *   4. The roots agree on the context of a communicator of the two alone, by which the groups make their intercommunicator as
 *      MPI_Intercomm_create does.
 *
 * A process that fails says so in the next step that all of the group take part in; a root that fails hangs up, and so the other one does. */
#include "meet.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "err.h"
#include "type.h"
#include "util/le.h"

/* What others are told of a process; numbers little-endian. */
struct record {
    uint64_t job;
    int32_t rank, job_size;
    uint32_t epoch, card_len;
    uint8_t key[MPID_JOB_KEY];
    uint8_t card[]; /* and zeros, so that all of a table are of one size */
};
enum { RECORDS_MAX = 1 << 24, RECORD_MAX = 1 << 20 };
#define TABLE_MAX (1ull << 32) /* bytes */

/* The other group's table. */
struct table {
    int32_t n, size, root; /* records, bytes of each; which one is that of the group's root */
    uint8_t *bytes;
};

static MPIR_Datatype *byte(void)
{
    return MPIR_Datatype_predefined(KEEL_MPI_BYTE);
}

static int no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the processes of a group");
}

/* Has everybody the memory that it wanted? */
static int all_have(MPIR_Comm *comm, bool has)
{
    uint32_t lacks = !has;
    int err = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), &lacks, 1);
    return err ? err : lacks ? no_memory() : 0;
}

/* ---- 1 -------------------------------------------------------------------------------------------------------- */

static void write_record(struct record *r, int32_t size)
{
    uint32_t room = (uint32_t)size - (uint32_t)sizeof *r;
    struct MPID_Introduction i;
    MPID_Introduction_own(&i, NULL, 0);
    memset(r, 0, (size_t)size);
    r->job = ku_le64(i.who.job);
    r->rank = (int32_t)ku_le32((uint32_t)i.who.rank);
    r->job_size = (int32_t)ku_le32((uint32_t)i.job_size);
    r->epoch = ku_le32(i.epoch);
    r->card_len = ku_le32((uint32_t)MPID_Others_card(r->card, room));
    memcpy(r->key, i.key, sizeof r->key);
}

/* All agree on how long a record is, and whether somebody has failed. */
static int agree_on_size(MPIR_Comm *comm, int err, int32_t *size)
{
    struct ku_err words = *ku_err_last();
    uint32_t v[2] = { (uint32_t)err, 0 };
    if (!err && (err = MPID_Others_begin())) {
        words = *ku_err_last();
        v[0] = (uint32_t)err;
    }
    if (!err)
        v[1] = (uint32_t)MPID_Others_card(NULL, 0);
    int failed = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), v, 2);
    *size = (int32_t)(sizeof(struct record) + ((v[1] + 7u) & ~7u));
    if (err) {
        *ku_err_last() = words;
        return err;
    }
    if (failed || !v[0])
        return failed;
    return MPIR_Err((int)v[0], NULL, "another process of the communicator failed with this error");
}

/* ---- 2 -------------------------------------------------------------------------------------------------------- */

static int swap_tables(struct link *l, const struct table *mine, struct table *theirs)
{
    uint32_t head[3] = { ku_le32((uint32_t)mine->n), ku_le32((uint32_t)mine->size),
                         ku_le32((uint32_t)mine->root) };
    uint32_t its[3];
    int err = MPIR_Link_swap(l, head, sizeof head, its, sizeof its);
    if (err)
        return err;
    uint32_t many = ku_le32(its[0]), bytes = ku_le32(its[1]), root = ku_le32(its[2]);
    if (many < 1 || many > RECORDS_MAX || root >= many || bytes < sizeof(struct record) ||
        bytes > RECORD_MAX || bytes % 8 != 0 || (uint64_t)many * bytes > TABLE_MAX)
        return MPIR_Err(MPI_ERR_PORT, NULL,
                        "the other group's table of %u processes with %u bytes each is none", many, bytes);
    *theirs = (struct table){ (int32_t)many, (int32_t)bytes, (int32_t)root, malloc((size_t)many * bytes) };
    if (!theirs->bytes)
        return no_memory();
    return MPIR_Link_swap(l, mine->bytes, (size_t)mine->n * (size_t)mine->size, theirs->bytes,
                          (size_t)many * bytes);
}

/* At the root, with its group's table. */
static int reach(struct meeting *m, struct link *l, const struct table *mine, struct table *theirs)
{
    MPID_Others_awaited(true);
    int err = m->reach(m, l);
    if (!err)
        err = swap_tables(l, mine, theirs);
    MPID_Others_awaited(false);
    return err;
}

/* ---- 3 -------------------------------------------------------------------------------------------------------- */

/* What the root has found, in all of its group. */
static int spread(MPIR_Comm *comm, int root, int err, struct meeting *m, struct table *t)
{
    struct ku_err words = *ku_err_last();
    int32_t facts[5] = { err, m->word, t->n, t->size, t->root };
    int failed = MPIR_Bcast(facts, 5, MPIR_Datatype_predefined(KEEL_MPI_INT32_T), root, comm);
    if (failed)
        return failed;
    m->word = facts[1];
    if (err) {
        *ku_err_last() = words;
        return err;
    }
    if (facts[0])
        return MPIR_Err(facts[0], NULL, "the root of the communicator failed with this error");
    t->n = facts[2];
    t->size = facts[3];
    t->root = facts[4];
    if (!t->bytes)
        t->bytes = malloc((size_t)t->n * (size_t)t->size);
    failed = all_have(comm, t->bytes != NULL);
    return failed ? failed : MPIR_Bcast(t->bytes, (MPI_Count)t->n * t->size, byte(), root, comm);
}

/* granks: of each, and where that fails -1 behind the last one. */
static int introduce(const struct table *t, int32_t *granks)
{
    int err = 0;
    for (int32_t i = 0; i < t->n && !err; i++) {
        granks[i] = -1;
        const struct record *r = (const struct record *)(t->bytes + (size_t)i * (size_t)t->size);
        struct MPID_Introduction intro = { .who = { ku_le64(r->job), (int32_t)ku_le32((uint32_t)r->rank) },
                                           .job_size = (int32_t)ku_le32((uint32_t)r->job_size),
                                           .epoch = ku_le32(r->epoch),
                                           .card = r->card,
                                           .card_len = ku_le32(r->card_len) };
        if (intro.card_len > (uint32_t)t->size - sizeof *r)
            return MPIR_Err(MPI_ERR_PORT, NULL, "the other group's table is damaged");
        memcpy(intro.key, r->key, sizeof intro.key);
        granks[i] = MPID_Introduce(&intro, &err);
    }
    return err;
}

/* ---- 4 -------------------------------------------------------------------------------------------------------- */

static int swap_number(void *link, uint64_t mine, uint64_t *theirs)
{
    uint64_t out = ku_le64(mine), in = 0;
    int err = MPIR_Link_swap(link, &out, sizeof out, &in, sizeof in);
    *theirs = ku_le64(in);
    return err;
}

/* The new communicator keeps them connected. */
static void release(const int32_t *granks, int32_t n)
{
    for (int32_t i = 0; i < n && granks[i] >= 0; i++)
        MPID_Other_disconnect(granks[i]);
}

static int make_comm(MPIR_Comm *comm, int root, const struct table *theirs, struct link *l,
                     MPIR_Comm **newcomm)
{
    int32_t *granks = malloc((size_t)theirs->n * sizeof *granks);
    int err = granks ? introduce(theirs, granks) : no_memory();
    err = MPIR_Comm_from_two(comm, root, err, err ? -1 : granks[theirs->root], swap_number, l, newcomm);
    if (granks)
        release(granks, theirs->n);
    free(granks);
    return err;
}

int MPIR_Meet(MPIR_Comm *comm, int root, int err, struct meeting *m, MPIR_Comm **newcomm)
{
    struct link l = { .fd = -1 };
    struct table mine = { .n = comm->adi.size, .root = root }, theirs = { 0 };
    struct record *own = NULL;
    bool is_root = comm->adi.rank == root;
    *newcomm = NULL;
    MPID_Others_part();
    err = agree_on_size(comm, err, &mine.size);
    if (err)
        return err;
    own = malloc((size_t)mine.size);
    mine.bytes = is_root ? malloc((size_t)mine.n * (size_t)mine.size) : NULL;
    err = all_have(comm, own && (mine.bytes || !is_root));
    if (!err) {
        write_record(own, mine.size);
        err = MPIR_Gather(own, mine.size, byte(), mine.bytes, mine.size, byte(), root, comm);
    }
    if (!err)
        err = spread(comm, root, is_root ? reach(m, &l, &mine, &theirs) : 0, m, &theirs);
    if (!err)
        err = make_comm(comm, root, &theirs, &l, newcomm);
    MPIR_Link_close(&l);
    free(theirs.bytes);
    free(mine.bytes);
    free(own);
    return err;
}
