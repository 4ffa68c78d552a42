/* pmi.c: which wire, and what is common to all. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi.h"
#include "util/err.h"
#include "util/wait.h"
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

/* No rank here may still receive in an epoch before job's: it has ended that one, or has never begun. */
static bool all_here(const struct pmi_job *job)
{
    for (int32_t i = 0; i < job->local_size; i++) {
        struct ku_seg_rank *r = ku_segment_rank(&job->segment, (uint32_t)i);
        uint32_t state = atomic_load(&r->state);
        if ((state == KU_RANK_RUNNING || state == KU_RANK_RESTING) &&
            (int32_t)(atomic_load(&r->epoch) - job->epoch) < 0)
            return false;
    }
    return true;
}

void pmi_join(const struct pmi_job *job)
{
    enum { AT_MOST_MS = 100 };
    _Atomic uint32_t *sleeping = &ku_segment_rank(&job->segment, (uint32_t)job->local_rank)->sleeping;
    struct ku_wait w = { 0 };
    while (job->epoch > 1 && !all_here(job)) {
        if (ku_wait_step(&w) == KU_WAIT_AGAIN)
            continue;
        ku_wait_prepare(sleeping, true);
        if (all_here(job))
            ku_wait_cancel(sleeping);
        else
            ku_wait_sleep(sleeping, AT_MOST_MS);
    }
}

void pmi_undo(struct pmi_job *job)
{
    atomic_fetch_sub(&ku_segment_rank(&job->segment, (uint32_t)job->local_rank)->epoch, 1);
}

int pmi_card(const struct pmi_job *job, const void *bytes, uint32_t len)
{
    if (len > KU_CARD_BYTES)
        return ku_err_set(E2BIG, NULL, "the addresses of this process take %u bytes; expected at most %d",
                          len, KU_CARD_BYTES);
    if (job->segment.head->nnodes > 1 && !pmi_keel_send(PMI_CARD, job->epoch, bytes, len))
        return ku_err_set(EPIPE, NULL, "mpiexec did not take this process's addresses");
    ku_segment_card_write(&job->segment, (uint32_t)job->rank, job->epoch, bytes, len);
    return 0;
}

static void set_state(struct pmi_job *job, uint32_t state)
{
    atomic_store(&ku_segment_rank(&job->segment, (uint32_t)job->local_rank)->state, state);
}

void pmi_finalized(struct pmi_job *job)
{
    set_state(job, KU_RANK_FINALIZED);
}

void pmi_rest(struct pmi_job *job)
{
    set_state(job, KU_RANK_RESTING);
}

void pmi_resume(struct pmi_job *job)
{
    set_state(job, KU_RANK_RUNNING);
}

void pmi_message(struct pmi_job *job, const char *text)
{
    (void)job;
    if (!pmi_keel_send(PMI_MESSAGE, 0, text, strlen(text)))
        fprintf(stderr, "%s\n", text);
}

void pmi_still(struct pmi_job *job)
{
    (void)job;
    pmi_keel_send(PMI_STILL, 0, NULL, 0);
}

static int exit_code(int code)
{
    return code != 0 && (code & 255) == 0 ? 1 : code & 255;
}

_Noreturn void pmi_abort(struct pmi_job *job, int code, const char *text)
{
    if (job && job->segment.head) {
        struct ku_seg_rank *me = ku_segment_rank(&job->segment, (uint32_t)job->local_rank);
        me->abort_code = code;
        atomic_store(&me->state, KU_RANK_ABORTED);
    }
    /* The record goes first: whatever the flush runs into, the launcher ends this process too. */
    if (!pmi_keel_send(PMI_ABORT, (uint32_t)code, text, text ? strlen(text) : 0) && text && *text)
        fprintf(stderr, "%s\n", text);
    fflush(NULL);
    _exit(exit_code(code));
}

_Noreturn void pmi_abort_some(struct pmi_job *job, const int32_t *ranks, int32_t n, int code,
                              const char *text)
{
    char record[PMI_SOME_TEXT + PMI_SOME_MAX * sizeof *ranks + sizeof n];
    size_t list = (size_t)n * sizeof *ranks, len = strnlen(text, PMI_SOME_TEXT);
    if (n > PMI_SOME_MAX)
        pmi_abort(job, code, text);
    memcpy(record, &n, sizeof n);
    memcpy(record + sizeof n, ranks, list);
    memcpy(record + sizeof n + list, text, len);
    if (!pmi_keel_send(PMI_ABORT_SOME, (uint32_t)code, record, sizeof n + list + len))
        pmi_abort(job, code, text);
    fflush(NULL);
    _exit(exit_code(code));
}

void pmi_fini(struct pmi_job *job)
{
    ku_segment_detach(&job->segment);
    pmi_keel_fini();
}
