/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.c: processes of other jobs: who they are, and how devices reach them (jobs.h).
 *
 * Two processes of different jobs know each other from the moment in which the layer above has introduced each to
 * the other.  What they prove to each other (dev_identity.key) is made of a key of each job: so of three jobs, two
 * that have been told the key of the third can both talk to it.
 *
 * Invariants
 *   1. Blocks of numbers are disjoint and lie behind the job's own; they ascend in the order of `jobs`.
 *   2. A process is connected as long as its `ties` say so.  Then this process parts with it (MPID_Others_part):
 *      no device knows it any more.  When nobody holds its number (`refs`) either, it is forgotten, and a job with
 *      its last process.
 *   3. All of it is read and changed under the device lock.  What a thread that sends without that lock may read
 *      is the table of peers (peers.h). */
#include "core.h"
#include "jobs.h"
#include <stdlib.h>
#include "util/auth.h"
#include "util/sparse.h"

struct other {     /* a process */
    uint32_t ties; /* introductions and MPID_Other_connect that were not given back */
    uint32_t refs; /* the same of MPID_Other_keep */
    bool parting;  /* no ties, and something is still on its way to it */
    bool left;     /* it has said goodbye to this process */
    uint32_t epoch, card_len;
    uint8_t card[];
};

struct other_job {
    uint64_t id;
    int32_t base, size;
    uint8_t key[DEV_KEY_BYTES]; /* of the pair */
    struct other **process;     /* [size], util/sparse.h */
    int32_t known, idle;        /* how many of these there are, and with no ties */
    int32_t watched;            /* the one that tells who of the job is gone; -1: none has been asked */
    int32_t asks;               /* how many are asked at once the next time */
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

/* Of a name that has been met anew the last one counts. */
static struct other_job *find(uint64_t id, int32_t rank)
{
    for (int i = njobs - 1; i >= 0; i--)
        if (jobs[i].id == id && rank >= 0 && rank < jobs[i].size && jobs[i].process[rank] != NULL)
            return &jobs[i];
    return NULL;
}

static uint64_t own_id(void)
{
    return MPID_core.job.segment.head->job_id;
}

/* The process, if it is of another job and known; else NULL. */
static struct other *other_of(int32_t grank, struct other_job **job)
{
    struct other_job *j = grank < MPID_core.job.size ? NULL : job_of_peer(grank);
    *job = j;
    return j != NULL ? j->process[grank - j->base] : NULL;
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
    const struct other_job *j = find(job, rank);
    (void)core;
    return j != NULL && j->process[rank]->ties > 0 ? j->base + rank : -1;
}

void MPID_Jobs_left(void *core, int32_t peer)
{
    struct other_job *j;
    struct other *o = other_of(peer, &j);
    (void)core;
    if (o != NULL)
        o->left = true;
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
    const struct other_job *j = find(p->job, p->rank);
    return j != NULL ? j->base + p->rank : -1;
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
    struct other_job j = { .id = i->who.job, .base = base, .size = i->job_size, .watched = -1, .asks = 1 };
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

/* The process there is gone for this one, or its connection is: who comes with that name now gets another number. */
static bool is_lost(const struct other_job *j, const struct MPID_Introduction *i)
{
    const struct other *o = j->process[i->who.rank];
    return o->parting || o->left || o->epoch != i->epoch || peer_gone(j->base + i->who.rank);
}

/* A job's entry with room for a process of that name. */
static struct other_job *find_room(const struct MPID_Introduction *i)
{
    struct other_job *j = find(i->who.job, i->who.rank);
    if (j != NULL)
        return is_lost(j, i) ? NULL : j;
    for (int k = njobs - 1; k >= 0; k--)
        if (jobs[k].id == i->who.job && i->who.rank >= 0 && i->who.rank < jobs[k].size)
            return &jobs[k];
    return NULL;
}

int32_t MPID_Introduce(const struct MPID_Introduction *i, int *error_code)
{
    if (i->who.job == own_id())
        return MPID_Process_find(&i->who);
    if (i->who.rank < 0 || i->who.rank >= i->job_size) {
        *error_code = ku_err_set(MPI_ERR_RANK, NULL, "rank %d of another job is none; that has %d ranks",
                                 (int)i->who.rank, (int)i->job_size);
        return -1;
    }
    struct other_job *j = find_room(i);
    if (j == NULL)
        j = add_job(i);
    if (j == NULL) {
        *error_code = ku_err_set(MPI_ERR_NO_MEM, NULL,
                                 "no memory for the processes of another job (%d ranks)", (int)i->job_size);
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
        j->known++;
        j->idle++;
    }
    MPID_Other_connect(j->base + i->who.rank);
    return j->base + i->who.rank;
}

void MPID_Other_connect(int32_t grank)
{
    struct other_job *j;
    struct other *o = other_of(grank, &j);
    if (o != NULL && o->ties++ == 0)
        j->idle--;
}

void MPID_Other_disconnect(int32_t grank)
{
    struct other_job *j;
    struct other *o = other_of(grank, &j);
    if (o != NULL && --o->ties == 0)
        j->idle++;
}

void MPID_Other_keep(int32_t grank)
{
    struct other_job *j;
    struct other *o = other_of(grank, &j);
    if (o != NULL)
        o->refs++;
}

void MPID_Other_release(int32_t grank)
{
    struct other_job *j;
    struct other *o = other_of(grank, &j);
    if (o != NULL)
        o->refs--;
}

/* Those of the job that are not connected. */
static void part_with(struct other_job *j)
{
    for (int32_t r = 0; r < j->size; r++) {
        struct other *o = j->process[r];
        if (o == NULL || o->ties > 0)
            continue;
        o->parting = !MPID_Peer_part(j->base + r);
        if (o->parting)
            continue;
        o->left = false;
        if (o->refs > 0)
            continue;
        free(o);
        j->process[r] = NULL;
        j->known--;
        j->idle--;
    }
}

static void forget_job(int i)
{
    ku_sparse_free((void **)jobs[i].process, (size_t)jobs[i].size);
    njobs--;
    memmove(&jobs[i], &jobs[i + 1], (size_t)(njobs - i) * sizeof *jobs);
}

void MPID_Others_part(void)
{
    for (int i = njobs - 1; i >= 0; i--) {
        if (jobs[i].idle > 0)
            part_with(&jobs[i]);
        if (jobs[i].known == 0)
            forget_job(i);
    }
}

/* ---- Who of another job is gone ----
 *
 * The launcher tells each process who of its own job is gone.  Of another job this process learns it from its
 * connection to the process that is gone, or from another one of that job, which it asks: so it asks one.  If that
 * one is lost itself, twice as many are asked the next time, so that a whole job that is gone is soon found. */

bool MPID_Jobs_met(void)
{
    return njobs > 0;
}

bool MPID_Jobs_awaited(void)
{
    return atomic_load(&meeting) > 0;
}

int32_t MPID_Jobs_connected(uint64_t *name, int32_t most)
{
    int32_t n = 0;
    for (int i = 0; i < njobs; i++)
        if (jobs[i].known > jobs[i].idle && n++ < most)
            name[n - 1] = jobs[i].id;
    return n;
}

static bool may_be_watched(const struct other_job *j, int32_t rank)
{
    return rank >= 0 && j->process[rank] != NULL && j->process[rank]->ties > 0 && !j->process[rank]->left &&
           !peer_gone(j->base + rank);
}

/* Each process begins at another one. */
static void watch(struct other_job *j)
{
    int32_t asked = 0;
    for (int32_t k = 0; k < j->size && asked < j->asks; k++) {
        int32_t rank = (int32_t)(((int64_t)MPID_core.rank + k) % j->size);
        int err = 0;
        struct peer *p = may_be_watched(j, rank) ? peer_get(j->base + rank, &err) : NULL;
        if (p == NULL)
            continue;
        p->signals |= SIGNAL_WATCH;
        MPID_Peer_busy(p);
        j->watched = rank;
        asked++;
    }
    if (j->asks < j->size)
        j->asks *= 2;
}

void MPID_Jobs_watch(void)
{
    for (int i = 0; i < njobs; i++)
        if (jobs[i].idle < jobs[i].known && !may_be_watched(&jobs[i], jobs[i].watched))
            watch(&jobs[i]);
}

static int32_t watchers;

void MPID_Jobs_watched_by(int32_t peer)
{
    int err = 0;
    struct peer *p = peer >= MPID_core.job.size ? peer_get(peer, &err) : NULL;
    if (p == NULL || p->gone || p->watches)
        return;
    p->watches = true;
    watchers++;
    p->signals |= SIGNAL_DIED;
    MPID_Peer_busy(p);
}

void MPID_Jobs_tell(void)
{
    for (struct peer *p = watchers > 0 ? MPID_core.peers.first : NULL; p != NULL; p = p->next_used)
        if (p->watches && !p->gone) {
            p->signals |= SIGNAL_DIED;
            MPID_Peer_busy(p);
        }
}

bool MPID_Jobs_next_dead(const struct peer *p, int32_t *rank)
{
    if (p->told == MPID_core.failed_seen)
        return false;
    *rank = ku_segment_dead(&MPID_core.job.segment, p->told);
    return true;
}

void MPID_Jobs_died(int32_t peer, int32_t rank)
{
    struct other_job *j;
    if (other_of(peer, &j) != NULL && rank < j->size && j->process[rank] != NULL)
        MPID_Peer_gone(j->base + rank);
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
    watchers = 0;
    begun = false;
}
