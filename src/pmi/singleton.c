/* SPDX-License-Identifier: BSD-3-Clause */
/* singleton.c: a program started without a launcher is a job of one rank, with a segment of its own. */
#include <unistd.h>
#include "pmi_wire.h"

int pmi_singleton_init(struct pmi_job *job)
{
    int err = ku_segment_create(&job->segment, 1, 1, 0, 1);
    if (err)
        return err;
    job->wire = "singleton";
    job->size = job->local_size = 1;
    job->appnum = -1;
    job->universe_size = -1;
    job->epoch = 1;
    struct ku_seg_rank *me = ku_segment_rank(&job->segment, 0);
    atomic_store(&me->pid, (int32_t)getpid());
    atomic_store(&me->state, KU_RANK_RUNNING);
    return 0;
}
