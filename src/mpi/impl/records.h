/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h: what processes of other jobs are told of the members of a group, so that they can introduce these to
 * their ADI. */
#ifndef MPI_IMPL_RECORDS_H
#define MPI_IMPL_RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include "comm.h"
#include "mpid.h"

/* Of a process; numbers little-endian. */
struct MPIR_RECORD {
    uint64_t job, where; /* where: MPID_Joint_where */
    int32_t rank, job_size;
    uint32_t epoch, card_len;
    uint8_t key[MPID_JOB_KEY];
    uint8_t card[]; /* and zeros, so that all of a table are of one size */
};

/* Of a group. */
struct MPIR_RECORDS {
    int32_t n, size,
        root; /* records, bytes of each (a multiple of 8); which one is that of the group's root */
    uint8_t *bytes;
    uint64_t where; /* of this process, as its record has it */
};

static inline const struct MPIR_RECORD *MPIR_Record_of(const struct MPIR_RECORDS *t, int32_t i)
{
    return (const struct MPIR_RECORD *)(t->bytes + (size_t)i * (size_t)t->size);
}

/* Collective over comm: t->root gets the records of all (t->bytes, from malloc, there alone); n and size are known
 * to all.  err: what this process has met so far (recorded); then all fail. */
int MPIR_Records_gather(MPIR_Comm *comm, int err, struct MPIR_RECORDS *t);
bool MPIR_Records_sane(uint32_t n, uint32_t size, uint32_t root);
/* granks: of each, and where that fails -1 behind the last one. */
int MPIR_Records_introduce(const struct MPIR_RECORDS *t, int32_t *granks);
/* They stay connected as long as a communicator has them. */
void MPIR_Records_release(const int32_t *granks, int32_t n);

#endif
