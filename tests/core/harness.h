/* harness.h: a launcher small enough for a test: a segment, n forked ranks, a deadline.
 *
 * Ranks that die by a signal, or exit without having left the ADI, are marked dead in the segment, as mpiexec does.
 * Under a real launcher (KEEL_JOB is set) job_run runs the one rank that this process is. */
#ifndef TESTS_CORE_HARNESS_H
#define TESTS_CORE_HARNESS_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "mpid.h"
#include "util/segment.h"
#include "util/wait.h"

enum { JOB_MAX = 64, JOB_KILLED = 1000 /* a rank's result: ended by this signal number more */ };

#define CHECK(cond, ...) \
    do { \
        if (!(cond)) { \
            fprintf(stderr, "%s:%d: rank %d: %s: ", __FILE__, __LINE__, MPID_MyWorldRank, #cond); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            exit(1); \
        } \
    } while (0)

struct job {
    struct ku_segment segment;
    int n;
    pid_t pid[JOB_MAX];
    int result[JOB_MAX]; /* exit code, or JOB_KILLED + signal */
    char control[4096];  /* what the ranks told the launcher: records with their texts */
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
    struct ku_seg_rank *r = ku_segment_rank(&j->segment, (uint32_t)rank);
    uint32_t state = atomic_load(&r->state);
    if (state == KU_RANK_FINALIZED || state == KU_RANK_ABORTED)
        return;
    ku_segment_mark_gone(&j->segment, (uint32_t)rank);
}

static inline void job_child(struct job *j, int rank, int control, int (*fn)(int, void *), void *arg)
{
    char text[128];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(text, sizeof text, "%d:%d:%d:%d:%llx:0", KU_SEG_VERSION, (int)getppid(), j->segment.fd, control,
             (unsigned long long)j->segment.head->job_id);
    setenv("KEEL_JOB", text, 1);
    snprintf(text, sizeof text, "%d", rank);
    setenv("KEEL_RANK", text, 1);
    exit(fn(rank, arg));
}

/* Wait for all until the deadline; then kill what is left.  Returns the number of ranks that did not exit with 0. */
static inline int job_wait(struct job *j, double seconds)
{
    double end = job_now() + seconds;
    int left = j->n, bad = 0;
    while (left > 0) {
        for (int i = 0; i < j->n; i++) {
            int status;
            if (j->pid[i] <= 0 || waitpid(j->pid[i], &status, WNOHANG) != j->pid[i])
                continue;
            j->result[i] = WIFEXITED(status) ? WEXITSTATUS(status) : JOB_KILLED + WTERMSIG(status);
            j->pid[i] = 0;
            left--;
            job_mark(j, i);
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

/* Run fn(rank, arg) as n ranks.  Returns the number of ranks whose result is not 0; j->result has each. */
static inline int job_run_in(struct job *j, int n, double seconds, int (*fn)(int, void *), void *arg)
{
    int control[2], bad;
    fflush(NULL);
    memset(j, 0, sizeof *j);
    j->n = n;
    if (ku_segment_create(&j->segment, (uint32_t)n, (uint32_t)n, 0, 1) != 0 || pipe(control) != 0) {
        perror("job_run");
        return n;
    }
    for (int i = 0; i < n; i++) {
        j->pid[i] = fork();
        if (j->pid[i] == 0)
            job_child(j, i, control[1], fn, arg);
    }
    close(control[1]);
    bad = job_wait(j, seconds);
    ssize_t got = read(control[0], j->control, sizeof j->control);
    j->ncontrol = got > 0 ? (size_t)got : 0;
    close(control[0]);
    ku_segment_detach(&j->segment);
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
