/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi.c: which wire, and what is common to all. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "pmi.h"
#include "util/err.h"
#include "util/wait.h"
#include "pmi_wire.h"

/* ---- The rank in its node's segment ---- */

static int local_rank(const struct ku_segment *s, int rank)
{
    const int32_t *grank = ku_segment_grank_of(s);
    if ((uint32_t)rank < s->head->nlocal && grank[rank] == rank)
        return rank;
    for (uint32_t i = 0; i < s->head->nlocal; i++)
        if (grank[i] == rank)
            return (int)i;
    return -1;
}

int pmi_find_seat(struct pmi_job *job)
{
    const struct ku_seg_head *h = job->segment.head;
    job->local_rank = local_rank(&job->segment, job->rank);
    job->local_size = (int32_t)h->nlocal;
    return job->local_rank >= 0
               ? 0
               : ku_err_set(EINVAL, NULL, "this process's rank is %d; this node's ranks are %d, the job's %d",
                            job->rank, job->local_size, (int)h->size);
}

/* Is another process the rank now?  One that rests is, as long as it lives. */
static bool is_taken(uint32_t state, int32_t pid)
{
    return pid != getpid() && (state == KU_RANK_RUNNING || (state == KU_RANK_RESTING && kill(pid, 0) == 0));
}

/* Epochs of the rank that ended without coming to the barrier at the end count as if they had. */
static void make_up(struct ku_seg_head *h, struct ku_seg_rank *me, uint32_t epochs)
{
    atomic_fetch_add(&h->ended, epochs - me->ended);
    me->ended = epochs;
}

/* Make the rank ours.  A rank may be taken again after it has finalized (a script that runs two programs);
 * but not while another process is it: a program started by a rank would then talk in that rank's name. */
int pmi_take_seat(struct pmi_job *job)
{
    struct ku_seg_rank *me = ku_segment_rank(&job->segment, (uint32_t)job->local_rank);
    int32_t pid = getpid(), old = atomic_load(&me->pid);
    uint32_t state = atomic_load(&me->state);
    if (state == KU_RANK_DEAD || state == KU_RANK_ABORTED)
        return ku_err_set(EBUSY, NULL, "rank %d of this job has ended already", job->rank);
    if (is_taken(state, old) || !atomic_compare_exchange_strong(&me->pid, &old, pid))
        return ku_err_set(EBUSY, NULL,
                          "rank %d of this job is process %d already; start an MPI program from an MPI "
                          "program by \"mpiexec -n 1 program\"",
                          job->rank, old);
    job->epoch = atomic_fetch_add(&me->epoch, 1) + 1;
    if (job->epoch - 1 != me->ended)
        make_up(job->segment.head, me, job->epoch - 1);
    if (job->epoch > 1)
        ku_segment_wake_all(&job->segment); /* who is in pmi_join */
    atomic_store(&me->state, KU_RANK_RUNNING);
    return 0;
}

/* ---- The contract ---- */

int pmi_init(struct pmi_job *job)
{
    memset(job, 0, sizeof *job);
    job->segment.fd = -1;
    if (pmi_keel_is_there())
        return pmi_keel_init(job);
    if (pmi_kvs_is_there())
        return pmi_kvs_init(job);
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

int pmi_card(const struct pmi_job *job, struct ku_heap *heap, const void *bytes, uint32_t len)
{
    bool wanted;
    int err = ku_card_write(heap, bytes, len, &wanted);
    if (err)
        return err;
    if (wanted && !pmi_keel_send(PMI_CARD, job->epoch, NULL, 0))
        return ku_err_set(EPIPE, NULL, "mpiexec did not take this process's addresses");
    return pmi_kvs_card(job, bytes, len);
}

enum ku_card_state pmi_card_of(const struct pmi_job *job, struct ku_heap *heap, int32_t rank,
                               struct ku_card *card)
{
    bool ask;
    uint32_t whose = (uint32_t)rank;
    enum ku_card_state is = ku_card_look(heap, whose, card, &ask);
    if (!ask)
        return is;
    if (pmi_keel_is_there()) { /* a launcher that is gone ends this process by another way */
        pmi_keel_send(PMI_ASK, job->epoch, &whose, sizeof whose);
        return is;
    }
    pmi_kvs_ask(job, heap, rank);
    return ku_card_look(heap, whose, card, &ask);
}

static void set_state(struct pmi_job *job, uint32_t state)
{
    atomic_store(&ku_segment_rank(&job->segment, (uint32_t)job->local_rank)->state, state);
}

void pmi_finalized(struct pmi_job *job)
{
    set_state(job, KU_RANK_FINALIZED);
    pmi_kvs_finalized();
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

void pmi_look(const struct pmi_job *job)
{
    pmi_kvs_look(job);
}

void pmi_still(struct pmi_job *job)
{
    (void)job;
    pmi_keel_send(PMI_STILL, 0, NULL, 0);
}

void pmi_doubts(struct pmi_job *job, int32_t rank)
{
    (void)job;
    pmi_keel_send(PMI_DOUBTS, (uint32_t)rank, NULL, 0);
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
    if (!pmi_keel_send(PMI_ABORT, (uint32_t)code, text, text ? strlen(text) : 0) &&
        !pmi_kvs_abort(exit_code(code), text) && text && *text)
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
    pmi_kvs_fini();
}
