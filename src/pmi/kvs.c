/* SPDX-License-Identifier: BSD-3-Clause */
/* kvs.c: a job that a launcher of others has started.  What our own launcher would do, the ranks do for themselves:
 *
 *   - The lowest rank of each node makes the segment; the others open it through /proc.
 *   - Business cards go through the launcher's key-value space: each rank puts its own, all meet, and a rank that
 *     wants one gets it and stores it for its node (util/card.h).
 *   - How ranks end is the launcher's business, as far as it goes.  Not every launcher ends a job of which a rank
 *     has died (Slurm's srun without -K): so a rank that has slept for long looks whether the processes of its node
 *     are there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "server.h"
#include "util/cpus.h"
#include "util/err.h"
#include "util/installed.h"
#include "util/lock.h"
#include "util/wait.h"
#include "pmi_wire.h"

enum { KEY = 32 };

static const struct pmi_server *const servers[] = { &pmi_1, &pmi_2, &pmi_x };

static const struct pmi_server *server;
static struct pmi_facts facts;
static bool finished;
static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE); /* a server answers one at a time */

static const struct pmi_server *kvs_find(void)
{
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (servers[i]->is_there())
            return servers[i];
    return NULL;
}

bool pmi_kvs_is_there(void)
{
    return kvs_find() != NULL;
}

/* ---- Bytes as values: "LENGTH:" and base64 without '=', in as many values as it takes ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t text_bytes(size_t len)
{
    return 24 + (len * 4 + 2) / 3;
}

static void encode(char *text, const uint8_t *bytes, size_t len)
{
    text += sprintf(text, "%zu:", len);
    for (size_t i = 0; i < len; i += 3) {
        uint32_t left = (uint32_t)(len - i < 3 ? len - i : 3), v = (uint32_t)bytes[i] << 16;
        v |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        v |= left > 2 ? bytes[i + 2] : 0;
        for (uint32_t d = 0; d <= left; d++)
            *text++ = digits[v >> (18 - 6 * d) & 63];
    }
    *text = 0;
}

/* `text` has all of it. */
static bool decode(const char *text, uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i < 3 ? len - i : 3;
        uint32_t v = 0;
        for (size_t d = 0; d <= left; d++) {
            const char *at = *text ? strchr(digits, *text++) : NULL;
            if (!at)
                return false;
            v |= (uint32_t)(at - digits) << (18 - 6 * d);
        }
        for (size_t b = 0; b < left; b++)
            bytes[i + b] = (uint8_t)(v >> (16 - 8 * b));
    }
    return *text == 0;
}

static int put_bytes(const char *key, const void *bytes, size_t len, enum pmi_reach reach)
{
    char *text = malloc(text_bytes(len)), name[KEY];
    int err = text ? 0 : ku_err_set(ENOMEM, NULL, "no memory for %zu bytes to be published", len);
    if (text)
        encode(text, bytes, len);
    size_t all = text ? strlen(text) : 0, n = facts.value_max;
    for (size_t at = 0, i = 0; at < all && !err; at += n, i++) {
        char *piece = strndup(text + at, n);
        snprintf(name, sizeof name, "%s-%zu", key, i);
        err = piece ? server->put(name, piece, reach)
                    : ku_err_set(ENOMEM, NULL, "no memory to publish %s", name);
        free(piece);
    }
    free(text);
    return err;
}

static int nonsense(const char *key, const char *text)
{
    return ku_err_set(EPROTO, NULL, "the launcher has \"%.40s\" as %s; expected what rank put there", text,
                      key);
}

/* *bytes is to be freed. */
static int get_bytes(int32_t from, const char *key, uint8_t **bytes, size_t *len, size_t most)
{
    size_t cap = facts.value_max + 1, have = 0, need = 1;
    char *text = malloc(text_bytes(most) + cap), *value = malloc(cap), name[KEY], *end = NULL;
    int err = text && value
                  ? 0
                  : ku_err_set(ENOMEM, NULL, "no memory for what the launcher knows of rank %d", from);
    *bytes = NULL;
    for (size_t i = 0; have < need && !err; i++) {
        snprintf(name, sizeof name, "%s-%zu", key, i);
        err = server->get(from, name, value, cap);
        if (err)
            break;
        size_t n = strlen(value);
        memcpy(text + have, value, n + 1);
        have += n;
        if (i == 0) {
            *len = strtoul(value, &end, 10);
            if (*end != ':' || end == value || *len > most)
                err = nonsense(name, value);
            end = text + (end - value) + 1;
            need = (size_t)(end - text) + (*len * 4 + 2) / 3;
        }
        if (!err && (n == 0 || have > need))
            err = nonsense(name, value);
    }
    if (!err && !(*bytes = malloc(*len + 1)))
        err = ku_err_set(ENOMEM, NULL, "no memory for what the launcher knows of rank %d", from);
    if (!err && !decode(end, *bytes, *len)) {
        free(*bytes);
        *bytes = NULL;
        err = nonsense(key, text);
    }
    free(text);
    free(value);
    return err;
}

/* ---- The segment ---- */

struct node_facts {
    int32_t rank, node, nodes, local_size, leader;
};

static void look_around(struct node_facts *n)
{
    *n = (struct node_facts){ .rank = facts.rank, .node = facts.node_of[facts.rank], .leader = -1 };
    for (int32_t r = 0; r < facts.size; r++) {
        n->nodes = facts.node_of[r] >= n->nodes ? facts.node_of[r] + 1 : n->nodes;
        if (facts.node_of[r] != n->node)
            continue;
        n->local_size++;
        if (n->leader < 0)
            n->leader = r;
    }
}

/* What rank 0 says to all, and each leader to its node. */
struct job_secret {
    uint64_t job_id;
    uint8_t secret[KU_SECRET_BYTES];
};
struct where {
    int32_t pid, fd;
};

static int lead(struct pmi_job *job, const struct node_facts *n)
{
    struct ku_segment *s = &job->segment;
    char key[KEY];
    int err = ku_segment_create(s, (uint32_t)facts.size, (uint32_t)n->local_size, (uint32_t)n->node,
                                (uint32_t)n->nodes);
    if (err)
        return err;
    if (n->nodes > 1 && facts.rank == 0) {
        struct job_secret j = { .job_id = s->head->job_id };
        memcpy(j.secret, s->head->secret, sizeof j.secret);
        err = put_bytes("keel-job", &j, sizeof j, PMI_REACH_ALL);
    }
    atomic_store(&s->head->held, 1); /* until it is joined */
    struct where w = { getpid(), s->fd };
    snprintf(key, sizeof key, "keel-node%d", n->node);
    return err ? err : put_bytes(key, &w, sizeof w, PMI_REACH_NODE);
}

/* Launchers bind ranks, so a rank may use less of the machine than its node's ranks together: each tells, and the
 * leader counts. */
static void affinity_key(char key[KEY], int32_t rank)
{
    snprintf(key, KEY, "keel-a%d", rank);
}

static int tell_affinity(void)
{
    cpu_set_t set;
    char key[KEY];
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set); /* none: of a machine with more cpus than the set has */
    affinity_key(key, facts.rank);
    return put_bytes(key, &set, sizeof set, PMI_REACH_NODE);
}

static int count_cpus(struct ku_seg_head *h)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int32_t r = 0; r < facts.size; r++) {
        uint8_t *set = NULL;
        size_t len = 0;
        char key[KEY];
        if (facts.node_of[r] != facts.node_of[facts.rank])
            continue;
        affinity_key(key, r);
        int err = get_bytes(r, key, &set, &len, sizeof(cpu_set_t));
        if (err)
            return err;
        for (size_t i = 0; i < len; i++)
            ((uint8_t *)&all)[i] |= set[i];
        free(set);
    }
    if (CPU_COUNT(&all) > 0)
        h->cpus = ku_cpus_quota("/proc/self/cgroup", "/sys/fs/cgroup", (uint32_t)CPU_COUNT(&all));
    h->universe = h->cpus;
    atomic_store(&h->fence_all, h->nlocal > h->cpus ? KU_FENCE_ALL : KU_FENCE_NONE);
    return 0;
}

static int kvs_join(struct pmi_job *job, const struct node_facts *n)
{
    struct job_secret *j = NULL;
    size_t len = 0;
    int err = n->nodes == 1 ? 0 : get_bytes(0, "keel-job", (uint8_t **)&j, &len, sizeof *j);
    if (!err && n->nodes > 1 && len != sizeof *j)
        err = nonsense("keel-job", "too few bytes");
    if (!err && n->nodes > 1)
        ku_segment_join(&job->segment, j->job_id, j->secret, facts.node_of);
    free(j);
    if (!err && facts.size > 1)
        err = count_cpus(job->segment.head);
    atomic_store(&job->segment.head->held, 0);
    return err;
}

static int kvs_follow(struct pmi_job *job, const struct node_facts *n)
{
    struct where *w = NULL;
    size_t len = 0;
    char key[KEY], path[64];
    snprintf(key, sizeof key, "keel-node%d", n->node);
    int err = get_bytes(n->leader, key, (uint8_t **)&w, &len, sizeof *w), fd = -1;
    if (!err && len != sizeof *w)
        err = nonsense(key, "too few bytes");
    if (!err) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", w->pid, w->fd);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            err = ku_err_set(errno, NULL,
                             "the shared memory of rank %d (%s) cannot be opened: %s; use %s, which "
                             "hands it to the ranks",
                             n->leader, path, strerror(errno), ku_installed_mpiexec());
    }
    if (!err) {
        err = ku_segment_attach(&job->segment, fd);
        if (err)
            close(fd);
    }
    free(w);
    while (!err && atomic_load(&job->segment.head->held))
        usleep(50);
    return err;
}

static int make_segment(struct pmi_job *job)
{
    struct node_facts n;
    look_around(&n);
    bool leads = n.leader == facts.rank;
    int err = leads ? lead(job, &n) : 0;
    if (!err && facts.size > 1)
        err = tell_affinity();
    if (!err && facts.size > 1)
        err = server->fence();
    if (!err)
        err = leads ? kvs_join(job, &n) : kvs_follow(job, &n);
    return err;
}

/* The segment goes with the process that made it, which may have little to do: it stays until the others of its
 * node have found it.  If one of them ends before, the launcher ends the job. */
static void wait_for_followers(struct pmi_job *job)
{
    for (int32_t i = 0; i < job->local_size; i++)
        while (i != job->local_rank &&
               atomic_load(&ku_segment_rank(&job->segment, (uint32_t)i)->state) == KU_RANK_STARTED)
            usleep(50);
}

/* ---- The wire ---- */

int pmi_kvs_init(struct pmi_job *job)
{
    const struct pmi_server *s = kvs_find();
    if (finished || server)
        return ku_err_set(
            EBUSY, NULL, "this process has left the job that its launcher (%s) started; it cannot join again",
            s->name);
    int err = s->init(&facts);
    if (err)
        return err;
    server = s;
    err = make_segment(job);
    job->wire = s->name;
    job->rank = facts.rank;
    job->size = facts.size;
    job->appnum = facts.appnum;
    job->universe_size = facts.universe > facts.size ? facts.universe : facts.size;
    if (!err)
        err = pmi_find_seat(job);
    if (!err)
        err = pmi_take_seat(job);
    if (!err && job->local_rank == 0)
        wait_for_followers(job);
    if (err)
        pmi_fini(job);
    return err;
}

static bool several_nodes(const struct pmi_job *job)
{
    return job->segment.head->nnodes > 1;
}

static void card_key(char key[KEY], int32_t rank, uint32_t epoch)
{
    snprintf(key, KEY, "keel-c%d-%u", rank, epoch);
}

int pmi_kvs_card(const struct pmi_job *job, const void *bytes, uint32_t len)
{
    char key[KEY];
    if (!server || !several_nodes(job))
        return 0;
    card_key(key, job->rank, job->epoch);
    int err = put_bytes(key, bytes, len, PMI_REACH_ALL);
    return err ? err : server->fence();
}

void pmi_kvs_ask(const struct pmi_job *job, struct ku_heap *heap, int32_t rank)
{
    char key[KEY];
    uint8_t *bytes;
    size_t len;
    card_key(key, rank, job->epoch);
    ku_lock(&lock);
    int err = get_bytes(rank, key, &bytes, &len, KU_CARD_MAX);
    ku_unlock(&lock);
    enum ku_card_state is = err || len == 0 ? KU_CARD_EMPTY : KU_CARD_THERE;
    while (!ku_card_answer(heap, (uint32_t)rank, job->epoch, is, bytes, (uint32_t)len))
        sched_yield();
    free(bytes);
}

/* Its process is gone, or waits for its parent to see that; and it had not left MPI before. */
static bool has_died(const struct ku_seg_rank *r)
{
    uint32_t state = atomic_load(&r->state);
    int32_t pid = atomic_load(&r->pid);
    if (state != KU_RANK_RUNNING && state != KU_RANK_RESTING)
        return false;
    if (kill(pid, 0) != 0)
        return errno == ESRCH && atomic_load(&r->state) == state;
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *after_name = strrchr(text, ')');
    return after_name && strncmp(after_name, ") Z", 3) == 0 && atomic_load(&r->state) == state;
}

void pmi_kvs_look(const struct pmi_job *job)
{
    const struct ku_segment *s = &job->segment;
    if (!server || !ku_segment_mark_begin(s))
        return;
    for (uint32_t i = 0; i < s->head->nlocal; i++)
        if (i != (uint32_t)job->local_rank && has_died(ku_segment_rank(s, i)))
            ku_segment_mark_gone(s, (uint32_t)ku_segment_grank_of(s)[i], KU_GONE);
    ku_segment_mark_end(s);
}

bool pmi_kvs_abort(int code, const char *text)
{
    if (!server)
        return false;
    server->abort(code, text);
    return true;
}

/* The launcher takes a process for failed that ends without this. */
void pmi_kvs_finalized(void)
{
    if (server)
        server->fini();
    finished = server != NULL;
    server = NULL;
}

void pmi_kvs_fini(void)
{
    free(facts.node_of);
    facts.node_of = NULL;
}
