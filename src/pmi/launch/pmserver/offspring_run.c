/* SPDX-License-Identifier: BSD-3-Clause */
/* offspring_run.c: see offspring.h: starting it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/base/abi_detect.h"
#include "offspring.h"
#include "pmi/launch/frames/frame_pack.h"
#include "util/err.h"
#include "util/installed.h"
#include "util/start_job.h"

/* An mpiexec that lives. */
struct started {
    struct started *next;
    struct offspring *of; /* NULL: it has been answered */
    pid_t pid;            /* of the process that makes mpiexec independent; 0: it has ended */
    int alive;
};

static struct started *all;
static int events = -1;

static const char *value_of(const void *command, const char *key)
{
    return offspring_value(command, key);
}

static char *put_variable(const struct offspring *o)
{
    struct pack p = { 0 };
    put_bytes(&p, OFFSPRING_PUT "=", sizeof OFFSPRING_PUT);
    for (int i = 0; i + 1 < o->nput; i += 2) {
        char *line = xformat("%s=%s\n", o->put[i], o->put[i + 1]);
        put_bytes(&p, line, strlen(line));
        free(line);
    }
    put_bytes(&p, "", 1);
    return p.bytes;
}

/* This process has none of its own. */
int offspring_output(int rank, int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", crew.launch->pids[rank], fd);
    return crew.launch->pids[rank] > 0 ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY) : -1;
}

static const char *program(void)
{
    static char path[PATH_MAX];
    const char *said = getenv("KEEL_MPIEXEC");
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return said && *said ? said : n > 0 ? path : ku_installed_mpiexec();
}

static int run(struct started *s, int daemon)
{
    struct offspring *o = s->of;
    char job[128], rank[32], elder[48], *put = put_variable(o), own_library[] = NEEDS_ABI "=" NEEDS_NO_ABI,
                                        *set[] = { job, rank, put, elder, own_library, NULL };
    const struct ku_segment *seg = &crew.segments[crew.launch->node_of[o->rank]];
    struct ku_command *c = xalloc((size_t)o->n, sizeof *c);
    snprintf(job, sizeof job, "KEEL_JOB=%d:%d:%d:%d:%llx:0", KU_SEG_VERSION, daemon, seg->fd, crew.control[1],
             (unsigned long long)crew.job_id);
    snprintf(rank, sizeof rank, "KEEL_RANK=%d", o->rank);
    snprintf(elder, sizeof elder, OFFSPRING_ELDER "=%d", o->elder);
    for (int i = 0; i < o->n; i++)
        c[i] = (struct ku_command){ o->command[i].program, o->command[i].word, o->command[i].maxprocs,
                                    value_of, &o->command[i] };
    o->out = o->out < 0 ? offspring_output(o->rank, 1) : o->out;
    o->err = o->err < 0 ? offspring_output(o->rank, 2) : o->err;
    struct ku_surroundings around = { .set = set,
                                      .out = o->out < 0 ? 2 : o->out,
                                      .err = o->err,
                                      .more = o->elder,
                                      .universe = (int)(seg->head->universe > (uint32_t)crew.launch->size
                                                            ? seg->head->universe
                                                            : (uint32_t)crew.launch->size) };
    int error = ku_spawn(program(), c, o->n, &around, &s->pid, &s->alive);
    free(c);
    free(put);
    return error;
}

static void answer(struct started *s, const char *why)
{
    struct offspring *o = s->of;
    s->of = NULL;
    if (!o)
        return;
    o->done(o, why);
    offspring_free(o);
}

void offspring_begin(struct offspring *o, int daemon)
{
    struct started *s = xalloc(1, sizeof *s);
    struct epoll_event e = { .events = EPOLLIN };
    *s = (struct started){ .of = o, .alive = -1 };
    if (run(s, daemon) != 0 || epoll_ctl(offspring_events(), EPOLL_CTL_ADD, s->alive, &e) != 0) {
        say("a job that rank %d spawns: %s", o->rank, ku_err_last()->text);
        answer(s, ku_err_last()->text);
        if (s->alive >= 0)
            close(s->alive);
        free(s);
        return;
    }
    if (o->elder >= 0)
        close(o->elder);
    o->elder = -1;
    s->next = all;
    all = s;
}

int offspring_events(void)
{
    if (events < 0)
        events = epoll_create1(EPOLL_CLOEXEC);
    if (events < 0)
        die("watching spawned jobs failed: %s", strerror(errno));
    return events;
}

/* True: it has ended. */
static bool look_at(struct started *s)
{
    enum ku_spawned is = ku_spawn_look(s->alive);
    if (s->pid && waitpid(s->pid, NULL, is == KU_SPAWN_WAITS ? WNOHANG : 0) == s->pid)
        s->pid = 0;
    if (is == KU_SPAWN_STARTED)
        answer(s, NULL);
    if (is == KU_SPAWN_ENDED)
        answer(s, "the job has ended before all its processes were started");
    return is == KU_SPAWN_ENDED;
}

void offspring_look(void)
{
    for (struct started **at = &all; *at;) {
        struct started *s = *at;
        if (!look_at(s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        close(s->alive);
        free(s);
    }
}
