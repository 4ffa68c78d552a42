/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_names.c: what processes of different jobs call each other.
 *
 * A global rank is this process's number of another one; processes of one job have the same numbers for each
 * other, those of other jobs have not (mpid.h, struct MPID_Process).  What tells another process who is meant
 * travels as names, of NAME_WORDS numbers each. */
#include "make.h"
#include "mpi_err.h"

void MPIR_Name_of(int32_t grank, int32_t name[NAME_WORDS])
{
    struct MPID_Process p;
    MPID_Process_of(grank, &p);
    name[0] = (int32_t)(uint32_t)p.job;
    name[1] = (int32_t)(uint32_t)(p.job >> 32);
    name[2] = p.rank;
}

int MPIR_Names_find(const int32_t *names, int32_t n, int32_t *granks)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t *name = &names[(int64_t)i * NAME_WORDS];
        struct MPID_Process p = { (uint64_t)(uint32_t)name[1] << 32 | (uint32_t)name[0], name[2] };
        granks[i] = MPID_Process_find(&p);
        if (granks[i] < 0)
            return MPIR_Err(
                MPI_ERR_COMM, NULL,
                "a process of the remote group (rank %d of it) is of a job to which this one is not "
                "connected; expected processes of jobs that are (MPI_Comm_connect, MPI_Comm_spawn)",
                i);
    }
    return 0;
}

bool MPIR_Name_precedes(int32_t a, int32_t b)
{
    struct MPID_Process p, q;
    MPID_Process_of(a, &p);
    MPID_Process_of(b, &q);
    return p.job != q.job ? p.job < q.job : p.rank < q.rank;
}

uint64_t MPIR_Comm_hash_group(const MPIR_Group *group)
{
    uint64_t h = (uint64_t)group->size;
    for (int32_t i = 0; i < group->size; i++) {
        struct MPID_Process p;
        MPID_Process_of(MPIR_Group_grank(group, i), &p);
        h = (h ^ (uint32_t)p.rank ^ p.job) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    return h;
}
