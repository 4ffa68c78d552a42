/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c: introducing groups of different jobs to each other (records.h). */
#include "records.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "mpi_err.h"
#include "type.h"
#include "util/le.h"

enum { RECORDS_MAX = 1 << 24, RECORD_MAX = 1 << 20 };
#define TABLE_MAX (1ull << 32) /* bytes */

bool MPIR_Records_sane(uint32_t n, uint32_t size, uint32_t root)
{
    return n >= 1 && n <= RECORDS_MAX && root < n && size >= sizeof(struct MPIR_RECORD) &&
           size <= RECORD_MAX && size % 8 == 0 && (uint64_t)n * size <= TABLE_MAX;
}

static void write_record(struct MPIR_RECORD *r, int32_t size)
{
    uint32_t room = (uint32_t)size - (uint32_t)sizeof *r;
    struct MPID_Introduction i;
    MPID_Introduction_own(&i, NULL, 0);
    memset(r, 0, (size_t)size);
    r->job = ku_le64(i.who.job);
    r->where = ku_le64(MPID_Joint_where());
    r->rank = (int32_t)ku_le32((uint32_t)i.who.rank);
    r->job_size = (int32_t)ku_le32((uint32_t)i.job_size);
    r->epoch = ku_le32(i.epoch);
    r->card_len = ku_le32((uint32_t)MPID_Others_card(r->card, room));
    memcpy(r->key, i.key, sizeof r->key);
}

/* All agree on how long a record is, and whether somebody has failed. */
static int agree_on_size(MPIR_Comm *comm, int err, int32_t *size)
{
    uint32_t card = 0;
    if (!err)
        err = MPID_Others_begin();
    if (!err)
        card = (uint32_t)MPID_Others_card(NULL, 0);
    err = MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), err, &card, 1);
    *size = (int32_t)(sizeof(struct MPIR_RECORD) + ((card + 7u) & ~7u));
    return err;
}

static int all_have(MPIR_Comm *comm, bool has)
{
    int err = has ? 0 : MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the processes of a group");
    return MPIR_Agree_max(comm, NULL, MPID_CONTEXT_COLL, MPIR_Comm_next_tag(comm), err, NULL, 0);
}

int MPIR_Records_gather(MPIR_Comm *comm, int err, struct MPIR_RECORDS *t)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    bool is_root = comm->adi.rank == t->root;
    t->n = comm->adi.size;
    t->bytes = NULL;
    err = agree_on_size(comm, err, &t->size);
    if (err)
        return err;
    struct MPIR_RECORD *own = malloc((size_t)t->size);
    t->bytes = is_root ? malloc((size_t)t->n * (size_t)t->size) : NULL;
    err = all_have(comm, own && (t->bytes || !is_root));
    if (!err) {
        write_record(own, t->size);
        t->where = ku_le64(own->where);
        err = MPIR_Gather(own, t->size, byte, t->bytes, t->size, byte, t->root, comm);
    }
    free(own);
    return err;
}

int MPIR_Records_introduce(const struct MPIR_RECORDS *t, int32_t *granks)
{
    int err = 0;
    for (int32_t i = 0; i < t->n && !err; i++) {
        granks[i] = -1;
        const struct MPIR_RECORD *r = MPIR_Record_of(t, i);
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

void MPIR_Records_release(const int32_t *granks, int32_t n)
{
    for (int32_t i = 0; i < n && granks[i] >= 0; i++)
        MPID_Other_disconnect(granks[i]);
}
