/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c: see job.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "job.h"

extern char **environ;

static int length(char *const *list)
{
    int n = 0;
    while (list[n])
        n++;
    return n;
}

static void put_app(struct pack *p, const struct app *a)
{
    put_int(p, a->n);
    put_texts(p, a->argv, length(a->argv));
    put_text(p, a->wdir);
    put_text(p, a->path);
    put_int(p, a->inherit);
    put_text(p, a->inherit_list);
    put_texts(p, a->edits.edit, a->edits.n);
    put_int(p, a->maxprocs);
    put_text(p, a->said);
}

static void get_app(struct unpack *u, struct app *a)
{
    int argc;
    a->n = get_range(u, 1, 1 << 20);
    a->argv = get_texts(u, &argc);
    u->wrong = u->wrong || argc == 0;
    a->wdir = get_text(u);
    a->path = get_text(u);
    a->inherit = (enum inherit)get_range(u, INHERIT_UNSAID, INHERIT_LIST);
    a->inherit_list = get_text(u);
    a->edits.edit = get_texts(u, &a->edits.n);
    a->maxprocs = get_range(u, 0, INT_MAX);
    a->said = get_text(u);
}

static void put_bind(struct pack *p, const struct bind_policy *b)
{
    const int number[] = { b->to, b->to_level, b->map_level, b->rank_level, b->pe, b->ppr };
    const bool flag[] = { b->share,       b->mapped, b->ranked,  b->hwthreads, b->no_oversubscribe,
                          b->overload_ok, b->report, b->display, b->no_launch, b->untold };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        put_int(p, number[i]);
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
        put_int(p, flag[i]);
    put_text(p, b->list);
    put_text(p, b->cpu_set);
}

static void get_bind(struct unpack *u, struct bind_policy *b)
{
    b->to = (enum bind_to)get_range(u, BIND_DEFAULT, BIND_RANKS);
    b->to_level = (enum level)get_range(u, 0, LEVELS - 1);
    b->map_level = (enum level)get_range(u, 0, LEVELS - 1);
    b->rank_level = (enum level)get_range(u, 0, LEVELS - 1);
    b->pe = get_range(u, 0, 1 << 16);
    b->ppr = get_range(u, 0, 1 << 16);
    bool *const flag[] = { &b->share,       &b->mapped, &b->ranked,  &b->hwthreads, &b->no_oversubscribe,
                           &b->overload_ok, &b->report, &b->display, &b->no_launch, &b->untold };
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
        *flag[i] = get_range(u, 0, 1) != 0;
    b->list = get_text(u);
    b->cpu_set = get_text(u);
    u->wrong = u->wrong || ((b->to == BIND_LIST || b->to == BIND_RANKS) && !b->list);
}

void job_put(struct pack *p)
{
    const struct launch *l = crew.launch;
    char dir[PATH_MAX];
    mode_t mask = umask(077);
    umask(mask);
    put_int(p, (int64_t)crew.job_id);
    put_bytes(p, crew.secret, sizeof crew.secret);
    put_int(p, crew.universe);
    put_int(p, l->size);
    put_int(p, l->nodes);
    for (int i = 0; i < l->size; i++)
        put_u32(p, (uint32_t)l->node_of[i]);
    for (int i = 0; i < l->nodes; i++)
        put_text(p, l->hosts[i].name);
    put_int(p, l->napps);
    for (int i = 0; i < l->napps; i++)
        put_app(p, &l->apps[i]);
    put_bind(p, &l->bind);
    put_int(p, l->stdin_rank);
    put_int(p, l->universe);
    put_int(p, l->verbose);
    put_int(p, l->stop == STOP_ON_EXEC ? 2 : l->held);
    put_int(p, l->pmi);
    put_int(p, l->pmix);
    put_int(p, l->profile.on);
    put_text(p, l->master);
    put_int(p, mask);
    put_text(p, getcwd(dir, sizeof dir));
    put_texts(p, environ, length(environ));
}

/* What says where and who we are stays our own; SSH_ begins several names. */
static bool is_of_host(const char *entry)
{
    static const char *const names[] = { "HOSTNAME=",
                                         "SSH_",
                                         "XDG_RUNTIME_DIR=",
                                         "XDG_SESSION_ID=",
                                         "DBUS_SESSION_BUS_ADDRESS=",
                                         "SLURM_NODEID=",
                                         "SLURMD_NODENAME=" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void take_environment(char **list, int n)
{
    char **own = environ;
    int kept = 0;
    environ = xalloc((size_t)(n + length(own)) + 1, sizeof *environ);
    for (int i = 0; own[i]; i++)
        if (is_of_host(own[i]))
            environ[kept++] = own[i];
    for (int i = 0; i < n; i++)
        if (!is_of_host(list[i]) && strchr(list[i], '='))
            environ[kept++] = list[i];
}

char *job_get(struct unpack *u, struct launch *l)
{
    int nenv;
    crew.job_id = (uint64_t)get_int(u);
    get_bytes(u, crew.secret, sizeof crew.secret);
    crew.universe = (uint32_t)get_range(u, 0, INT_MAX);
    l->size = get_range(u, 1, 1 << 20);
    l->nodes = get_range(u, 1, 1 << 20);
    l->node_of = xalloc((size_t)l->size, sizeof *l->node_of);
    bool any = false;
    for (int i = 0; i < l->size; i++) {
        l->node_of[i] = (int)get_u32(u);
        u->wrong = u->wrong || l->node_of[i] < 0 || l->node_of[i] >= l->nodes;
        any = any || l->node_of[i] == l->here;
    }
    l->hosts = xalloc((size_t)l->nodes, sizeof *l->hosts);
    for (int i = 0; i < l->nodes; i++) {
        l->hosts[i].name = get_text(u);
        u->wrong = u->wrong || !l->hosts[i].name;
    }
    l->napps = get_range(u, 1, l->size);
    l->apps = xalloc((size_t)l->napps, sizeof *l->apps);
    int64_t total = 0;
    for (int i = 0; i < l->napps; i++) {
        get_app(u, &l->apps[i]);
        total += l->apps[i].n;
    }
    get_bind(u, &l->bind);
    l->stdin_rank = get_range(u, STDIN_ALL, 1 << 20);
    l->universe = get_range(u, 0, INT_MAX);
    l->verbose = get_int(u) != 0;
    int waits = get_range(u, 0, 2);
    l->held = waits == 1;
    l->stop = waits == 2 ? STOP_ON_EXEC : STOP_NO;
    l->pmi = get_int(u) != 0;
    l->pmix = (enum serve_pmix)get_range(u, SERVE_PMIX_NO, SERVE_PMIX_TOOLS);
    l->profile.on = get_int(u) != 0;
    l->master = get_text(u);
    mode_t mask = (mode_t)get_range(u, 0, 0777);
    char *dir = get_text(u), **env = get_texts(u, &nenv);
    if (u->wrong || u->at != u->end || total != l->size || !any)
        return xformat("the job as told is not understood");
    umask(mask);
    take_environment(env, nenv);
    return dir && chdir(dir) != 0
               ? xformat("the working directory %s cannot be entered: %s", dir, strerror(errno))
               : NULL;
}
