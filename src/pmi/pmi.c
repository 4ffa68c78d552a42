/* pmi.c: which wire, and what is common to all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi.h"
#include "util/err.h"
#include "wire.h"

int pmi_init(struct pmi_job *job)
{
    memset(job, 0, sizeof *job);
    job->segment.fd = -1;
    if (pmi_keel_is_there())
        return pmi_keel_init(job);
    int err = pmi_foreign_check();
    return err ? err : pmi_singleton_init(job);
}

void pmi_finalized(struct pmi_job *job)
{
    struct ku_seg_rank *me = ku_segment_rank(&job->segment, (uint32_t)job->local_rank);
    atomic_store(&me->state, KU_RANK_FINALIZED);
}

void pmi_message(struct pmi_job *job, const char *text)
{
    (void)job;
    if (!pmi_keel_send(PMI_MESSAGE, 0, text))
        fprintf(stderr, "%s\n", text);
}

_Noreturn void pmi_abort(struct pmi_job *job, int code, const char *text)
{
    if (job && job->segment.head) {
        struct ku_seg_rank *me = ku_segment_rank(&job->segment, (uint32_t)job->local_rank);
        me->abort_code = code;
        atomic_store(&me->state, KU_RANK_ABORTED);
    }
    /* The record goes first: whatever the flush runs into, the launcher ends this process too. */
    if (!pmi_keel_send(PMI_ABORT, (uint32_t)code, text ? text : "") && text && *text)
        fprintf(stderr, "%s\n", text);
    fflush(NULL);
    _exit(code != 0 && (code & 255) == 0 ? 1 : code & 255);
}

void pmi_fini(struct pmi_job *job)
{
    ku_segment_detach(&job->segment);
    pmi_keel_fini();
}
