/* jobs.c: processes of other jobs: who they are, and how devices reach them (jobs.h).
 *
 * Two processes of different jobs know each other from the moment in which the layer above has introduced each to the other.  What they
 * prove to each other (dev_identity.key) is made of a key of each job: so of three jobs, two that have been told the key of the
 * third can both talk to it.
 *
 * Invariants
 *   1. Blocks of numbers are disjoint and lie behind the job's own; they ascend in the order of `jobs`.
 *   2. All of it is read and changed under the device lock.  What a thread that sends without that lock may read is the table of
 *      peers (peers.h). */
#include "core.h"
#include "jobs.h"
#include <stdlib.h>
#include "util/auth.h"
#include "util/sparse.h"

struct other { /* a process */
    uint32_t epoch, card_len;
    uint8_t card[];
};

struct other_job {
    uint64_t id;
    int32_t base, size;
    uint8_t key[DEV_KEY_BYTES]; /* of the pair */
    struct other **process;     /* [size], util/sparse.h */
};

static struct other_job *jobs;
static int njobs, room;
static bool begun;
static _Atomic int meeting;

static struct other_job *job_of_peer(int32_t peer)
{
    int low = 0, high = njobs;
    while (low < high) {
        int mid = (low + high) / 2;
        if (peer < jobs[mid].base)
            high = mid;
        else if (peer - jobs[mid].base >= jobs[mid].size)
            low = mid + 1;
        else
            return &jobs[mid];
    }
    return NULL;
}

static struct other_job *find_job(uint64_t id)
{
    for (int i = njobs - 1; i >= 0; i--)
        if (jobs[i].id == id)
            return &jobs[i];
    return NULL;
}

static uint64_t own_id(void)
{
    return MPID_core.job.segment.head->job_id;
}

/* ---- What devices ask ---- */

bool MPID_Jobs_identity(void *core, int32_t peer, struct dev_identity *id)
{
    const struct other_job *j = job_of_peer(peer);
    (void)core;
    if (j == NULL || j->process[peer - j->base] == NULL)
        return false;
    *id = (struct dev_identity){ .job = j->id,
                                 .rank = peer - j->base,
                                 .epoch = j->process[peer - j->base]->epoch };
    memcpy(id->key, j->key, sizeof id->key);
    return true;
}

int32_t MPID_Jobs_peer_of(void *core, uint64_t job, int32_t rank)
{
    const struct other_job *j = find_job(job);
    (void)core;
    return j != NULL && rank >= 0 && rank < j->size && j->process[rank] != NULL ? j->base + rank : -1;
}

const void *MPID_Jobs_card(int32_t peer, uint32_t *len)
{
    const struct other_job *j = job_of_peer(peer);
    const struct other *o = j != NULL ? j->process[peer - j->base] : NULL;
    *len = o != NULL ? o->card_len : 0;
    return o != NULL ? o->card : NULL;
}

/* ---- What the layer above says ---- */

int MPID_Others_begin(void)
{
    if (begun)
        return 0;
    const char *why = ku_auth_ready();
    if (why != NULL)
        return ku_err_set(MPI_ERR_OTHER, NULL, "%s", why);
    int err = MPID_Devset_reach_others();
    begun = err == 0;
    return err;
}

void MPID_Others_awaited(bool on)
{
    atomic_fetch_add(&meeting, on ? 1 : -1);
}

bool MPID_Others_may_come(void)
{
    return njobs > 0 || atomic_load(&meeting) > 0;
}

/* What this job gives others, so that its secret stays its own. */
static void own_key(uint8_t key[MPID_JOB_KEY])
{
    static const char use[] = "guests of this job";
    ku_auth_hmac(MPID_core.job.segment.head->secret, KU_SECRET_BYTES, use, sizeof use, key);
}

static void pair_key(uint64_t other, const uint8_t *theirs, uint8_t key[DEV_KEY_BYTES])
{
    uint8_t mine[MPID_JOB_KEY];
    own_key(mine);
    bool first = own_id() < other;
    ku_auth_hmac(first ? mine : theirs, MPID_JOB_KEY, first ? theirs : mine, MPID_JOB_KEY, key);
}

void MPID_Process_of(int32_t grank, struct MPID_Process *p)
{
    const struct other_job *j = grank < MPID_core.job.size ? NULL : job_of_peer(grank);
    *p = j != NULL ? (struct MPID_Process){ j->id, grank - j->base }
                   : (struct MPID_Process){ own_id(), grank };
}

int32_t MPID_Process_find(const struct MPID_Process *p)
{
    if (p->job == own_id())
        return p->rank >= 0 && p->rank < MPID_core.job.size ? p->rank : -1;
    return MPID_Jobs_peer_of(NULL, p->job, p->rank);
}

void MPID_Introduction_own(struct MPID_Introduction *i, const void *card, size_t len)
{
    *i = (struct MPID_Introduction){ .who = { own_id(), MPID_core.rank },
                                     .job_size = MPID_core.job.size,
                                     .epoch = MPID_core.job.epoch,
                                     .card = card,
                                     .card_len = (uint32_t)len };
    own_key(i->key);
}

static struct other_job *add_job(const struct MPID_Introduction *i)
{
    int32_t base = njobs > 0 ? jobs[njobs - 1].base + jobs[njobs - 1].size : MPID_core.job.size;
    if (i->job_size < 1 || i->job_size > INT32_MAX - base)
        return NULL;
    if (njobs == room) {
        int more = room ? 2 * room : 8;
        struct other_job *all = realloc(jobs, (size_t)more * sizeof *all);
        if (all == NULL)
            return NULL;
        jobs = all;
        room = more;
    }
    struct other_job j = { .id = i->who.job, .base = base, .size = i->job_size };
    j.process = (struct other **)ku_sparse_new((size_t)j.size);
    if (j.process == NULL || !MPID_Peers_grow(&MPID_core.peers, base + j.size)) {
        ku_sparse_free((void **)j.process, (size_t)j.size);
        return NULL;
    }
    pair_key(j.id, i->key, j.key);
    jobs[njobs] = j;
    MPID_Lanes_tune();
    return &jobs[njobs++];
}

/* Its process there is gone for this one: a process of that name that comes now is met anew. */
static bool is_lost(const struct other_job *j, int32_t rank)
{
    return j->process[rank] != NULL && peer_gone(j->base + rank);
}

int32_t MPID_Introduce(const struct MPID_Introduction *i, int *error_code)
{
    struct other_job *j = find_job(i->who.job);
    if (i->who.job == own_id())
        return MPID_Process_find(&i->who);
    if (j != NULL && i->who.rank >= 0 && i->who.rank < j->size && is_lost(j, i->who.rank))
        j = NULL;
    if (j == NULL)
        j = add_job(i);
    if (j == NULL) {
        *error_code = ku_err_set(MPI_ERR_NO_MEM, NULL,
                                 "no memory for the processes of another job (%d ranks)", (int)i->job_size);
        return -1;
    }
    if (i->who.rank < 0 || i->who.rank >= j->size) {
        *error_code = ku_err_set(MPI_ERR_RANK, NULL, "rank %d of another job is none; that has %d ranks",
                                 (int)i->who.rank, (int)j->size);
        return -1;
    }
    struct other **at = &j->process[i->who.rank];
    if (*at == NULL) {
        struct other *o = malloc(sizeof *o + i->card_len);
        if (o == NULL) {
            *error_code =
                ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the address of another job's process");
            return -1;
        }
        *o = (struct other){ .epoch = i->epoch, .card_len = i->card_len };
        if (i->card_len > 0)
            memcpy(o->card, i->card, i->card_len);
        *at = o;
    }
    return j->base + i->who.rank;
}

void MPID_Jobs_fini(void)
{
    for (int i = 0; i < njobs; i++) {
        for (int32_t r = 0; r < jobs[i].size; r++)
            free(jobs[i].process[r]);
        ku_sparse_free((void **)jobs[i].process, (size_t)jobs[i].size);
    }
    free(jobs);
    jobs = NULL;
    njobs = room = 0;
    begun = false;
}
