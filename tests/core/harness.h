/* SPDX-License-Identifier: BSD-3-Clause */
/* harness.h: a launcher small enough for a test: a segment a (simulated) node, n forked ranks, a deadline.
 *
 * Ranks that die by a signal, or exit without having left the ADI, are marked dead in the segments, and cards are taken
 * from node to node, as mpiexec does.
 * Under a real launcher (KEEL_JOB is set) job_run runs the one rank that this process is. */
#ifndef TESTS_CORE_HARNESS_H
#define TESTS_CORE_HARNESS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "mpid.h"
#include "mpid_team.h"
#include "pmi/pmi.h"
#include "util/card.h"
#include "util/instances.h"
#include "util/segment.h"
#include "util/segment_alloc.h"
#include "util/wait.h"

enum {
    JOB_MAX = 64,
    JOB_NODES = 4,
    JOB_KILLED = 1000 /* a rank's result: ended by this signal number more */
};

#define CHECK(cond, ...) \
    do { \
        if (!(cond)) { \
            fprintf(stderr, "%s:%d: rank %d: %s: ", __FILE__, __LINE__, MPID_MyWorldRank, #cond); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            exit(1); \
        } \
    } while (0)

/* The ranks are dealt out to that many nodes in turn, so that ranks of a node are not neighbours. */
static int job_nodes = 1;
/* The ranks are instances of one process (instances.h). */
__attribute__((weak)) bool job_as_instances; /* one for all files of a program */

struct job {
    struct ku_segment segment[JOB_NODES];
    int n, nodes;
    int32_t node_of[JOB_MAX];
    pid_t pid[JOB_MAX];
    int result[JOB_MAX]; /* exit code, or JOB_KILLED + signal */
    int from_ranks;      /* the control pipe */
    char control[8192];  /* what came through it: records with their texts, but those of cards */
    size_t ncontrol;
};

static inline double job_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void job_mark(struct job *j, int rank)
{
    uint32_t local = 0;
    const struct ku_segment *s = &j->segment[j->node_of[rank]];
    while (ku_segment_grank_of(s)[local] != rank)
        local++;
    uint32_t state = atomic_load(&ku_segment_rank(s, local)->state);
    if (state == KU_RANK_FINALIZED || state == KU_RANK_ABORTED)
        return;
    for (int i = 0; i < j->nodes; i++)
        ku_segment_mark_gone(&j->segment[i], (uint32_t)rank, KU_GONE);
}

/* A card that a node wants and has not got yet. */
struct job_want {
    uint32_t rank, epoch;
    int node;
};
static struct {
    struct ku_heap heap[JOB_NODES];
    bool open[JOB_NODES];
    struct job_want at[JOB_MAX * JOB_NODES];
    int n;
} job_wants;

static inline struct ku_heap *job_heap(const struct job *j, int node)
{
    if (!job_wants.open[node])
        ku_heap_open(&job_wants.heap[node], &j->segment[node], 0, 0);
    job_wants.open[node] = true;
    return &job_wants.heap[node];
}

static inline void job_want(const struct pmi_record *r, uint32_t rank, int node)
{
    struct job_want *w = job_wants.at, *end = w + job_wants.n;
    while (w < end && (w->rank != rank || w->epoch != r->value || w->node != node))
        w++;
    if (w == end && job_wants.n < JOB_MAX * JOB_NODES)
        job_wants.at[job_wants.n++] = (struct job_want){ rank, r->value, node };
}

/* Take the cards that are there to the nodes that want them. */
static inline void job_cards(const struct job *j)
{
    int kept = 0;
    for (int i = 0; i < job_wants.n; i++) {
        struct job_want w = job_wants.at[i];
        void *bytes = NULL;
        uint32_t len = 0;
        enum ku_card_state is =
            ku_card_copy(job_heap(j, j->node_of[w.rank]), w.rank / (uint32_t)j->nodes, w.epoch, &bytes, &len);
        if (is == KU_CARD_NONE || is == KU_CARD_ASKED ||
            !ku_card_answer(job_heap(j, w.node), w.rank, w.epoch, is == KU_CARD_PAST ? KU_CARD_EMPTY : is,
                            bytes, len))
            job_wants.at[kept++] = w;
        free(bytes);
    }
    job_wants.n = kept;
}

/* Take in what the ranks say; take cards from node to node. */
static inline void job_listen(struct job *j)
{
    ssize_t got;
    size_t at = 0;
    while ((got = read(j->from_ranks, j->control + j->ncontrol, sizeof j->control - j->ncontrol)) > 0)
        j->ncontrol += (size_t)got;
    for (struct pmi_record r; at + sizeof r <= j->ncontrol;) {
        memcpy(&r, j->control + at, sizeof r);
        size_t bytes = sizeof r + r.len;
        uint32_t rank;
        if (at + bytes > j->ncontrol)
            break;
        if (r.kind == PMI_ASK && r.len == sizeof rank) {
            memcpy(&rank, j->control + at + sizeof r, sizeof rank);
            job_want(&r, rank, j->node_of[r.rank]);
        }
        if (r.kind == PMI_ASK || r.kind == PMI_CARD)
            memmove(j->control + at, j->control + at + bytes, (j->ncontrol -= bytes) - at);
        else
            at += bytes;
    }
    job_cards(j);
}

static inline void job_name(const struct job *j, int rank, int control)
{
    char text[128];
    snprintf(text, sizeof text, "%d:%d:%d:%d:%llx:0", KU_SEG_VERSION, (int)getppid(),
             j->segment[j->node_of[rank]].fd, control, (unsigned long long)j->segment[0].head->job_id);
    setenv("KEEL_JOB", text, 1);
    snprintf(text, sizeof text, "%d", rank);
    setenv("KEEL_RANK", text, 1);
}

static inline void job_child(const struct job *j, int rank, int control, int (*fn)(int, void *), void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    job_name(j, rank, control);
    exit(fn(rank, arg));
}

/* All ranks as instances of one process: the first of them ends the job by its exit code. */
struct job_together {
    const struct job *job;
    int control, (*fn)(int, void *);
    void *arg;
};

static inline int job_instance(int rank, void *arg)
{
    const struct job_together *t = arg;
    job_name(t->job, rank, t->control);
    return t->fn(rank, t->arg);
}

static inline void job_children(const struct job *j, int control, int (*fn)(int, void *), void *arg)
{
    enum { STACK = 8 << 20 };
    struct job_together t = { j, control, fn, arg };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int bad = ku_instances_run(j->n, job_instance, &t, STACK);
    if (bad < 0)
        perror("ku_instances_run");
    exit(bad != 0);
}

/* Wait for all until the deadline; then kill what is left.  Returns the number of ranks that did not exit with 0. */
static inline int job_wait(struct job *j, double seconds)
{
    double end = job_now() + seconds;
    int left = job_as_instances ? 1 : j->n, bad = 0;
    while (left > 0) {
        job_listen(j);
        for (int i = 0; i < j->n; i++) {
            int status;
            if (j->pid[i] <= 0 || waitpid(j->pid[i], &status, WNOHANG) != j->pid[i])
                continue;
            j->result[i] = WIFEXITED(status) ? WEXITSTATUS(status) : JOB_KILLED + WTERMSIG(status);
            j->pid[i] = 0;
            left--;
            for (int k = i; k < (job_as_instances ? j->n : i + 1); k++)
                job_mark(j, k);
        }
        if (left > 0 && job_now() > end) {
            fprintf(stderr, "job_run: %d of %d ranks still run after %.0f s\n", left, j->n, seconds);
            for (int i = 0; i < j->n; i++)
                if (j->pid[i] > 0)
                    kill(j->pid[i], SIGKILL);
            end += 1e9;
        }
        usleep(2000);
    }
    for (int i = 0; i < j->n; i++)
        bad += j->result[i] != 0;
    return bad;
}

static inline int job_segments(struct job *j)
{
    j->nodes = job_nodes < j->n ? job_nodes : j->n;
    for (int i = 0; i < j->n; i++)
        j->node_of[i] = i % j->nodes;
    for (int i = 0; i < j->nodes; i++)
        if (ku_segment_create(&j->segment[i], (uint32_t)j->n,
                              (uint32_t)((j->n - i + j->nodes - 1) / j->nodes), (uint32_t)i,
                              (uint32_t)j->nodes) != 0)
            return -1;
    for (int i = 0; i < j->nodes; i++)
        ku_segment_join(&j->segment[i], j->segment[0].head->job_id, j->segment[0].head->secret, j->node_of);
    return 0;
}

/* Run fn(rank, arg) as n ranks.  Returns the number of ranks whose result is not 0; j->result has each. */
static inline int job_run_in(struct job *j, int n, double seconds, int (*fn)(int, void *), void *arg)
{
    int control[2], bad;
    fflush(NULL);
    memset(j, 0, sizeof *j);
    j->n = n;
    if (job_segments(j) != 0 || pipe(control) != 0 || fcntl(control[0], F_SETFL, O_NONBLOCK) != 0) {
        perror("job_run");
        return n;
    }
    for (int i = 0; i < (job_as_instances ? 1 : n); i++) {
        j->pid[i] = fork();
        if (j->pid[i] == 0 && job_as_instances)
            job_children(j, control[1], fn, arg);
        if (j->pid[i] == 0)
            job_child(j, i, control[1], fn, arg);
    }
    j->from_ranks = control[0];
    bad = job_wait(j, seconds);
    job_listen(j);
    close(control[0]);
    close(control[1]); /* not before: ranks compare theirs with this one */
    for (int i = 0; i < j->nodes; i++) {
        if (job_wants.open[i])
            ku_heap_close(&job_wants.heap[i]);
        ku_segment_detach(&j->segment[i]);
    }
    memset(job_wants.open, 0, sizeof job_wants.open);
    job_wants.n = 0;
    return bad;
}

static inline int job_run(int n, double seconds, int (*fn)(int, void *), void *arg)
{
    struct job j;
    if (getenv("KEEL_JOB") != NULL)
        return fn(atoi(getenv("KEEL_RANK")), arg);
    return job_run_in(&j, n, seconds, fn, arg);
}

#endif
