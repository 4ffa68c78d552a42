/* SPDX-License-Identifier: BSD-3-Clause */
/* allocation.c: the hosts that a batch system has given this job, where the command line names none; and how a job
 * that a rank spawns has the hosts of its rank's job: mpiexec tells its ranks in a variable of the environment,
 * lines of key=value. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/daemons/hostlist.h"
#include "options.h"
#include "hosts.h"
#include "pmi/pmi_wire.h"

/* -rmk NAME: whose allocation counts. */
enum manager { SLURM, PBS, LSF, SGE, NMANAGERS };
static const char *const names[NMANAGERS] = { "slurm", "pbs", "lsf", "sge" };

/* Names and numbers of tasks as lists. */
static void take_slurm_nodes(struct parse *p, int group)
{
    const char *list = hostlist_said("SLURM_JOB_NODELIST", group),
               *tasks = hostlist_said("SLURM_TASKS_PER_NODE", group);
    int n = 0;
    char **name = list ? hostlist_names(list, &n) : NULL;
    snprintf(p->name, sizeof p->name, "SLURM_JOB_NODELIST");
    if (!name) {
        refuse(p,
               "SLURM_JOB_NODELIST is \"%.200s\"; expected names of nodes, as n[1-4,7]; -rmk none ignores it",
               list ? list : "");
        return;
    }
    for (int i = 0; i < n; i++) {
        int slots = tasks ? hostlist_number(tasks, i) : 1;
        if (slots == 0) {
            refuse(p,
                   "SLURM_TASKS_PER_NODE is \"%.200s\"; expected a number for each of %d nodes, as 4(x2),1; "
                   "-rmk none "
                   "ignores it",
                   tasks, n);
            break;
        }
        place_slots_on(p, name[i], slots);
    }
    hostlist_free(name, n);
}

/* Slurm.  The job's script and the shell of salloc have no step, or one of their own (-5, -6 as 32 bits); a
 * program that srun has started in several tasks is not alone with the allocation. */
static bool take_slurm(struct parse *p)
{
    const char *of_step = getenv("SLURM_STEP_ID") ? getenv("SLURM_STEP_NUM_TASKS") : NULL;
    int groups = hostlist_groups();
    bool has_job = getenv("SLURM_JOB_ID") && getenv("SLURM_JOB_NODELIST");
    if ((!has_job && groups == 0) || (of_step && atoi(of_step) > 1))
        return false;
    if (groups == 0)
        take_slurm_nodes(p, -1);
    for (int group = 0; group < groups && !p->stop; group++)
        take_slurm_nodes(p, group);
    if (!p->launcher_said)
        p->launch->how.kind = LAUNCH_SLURM;
    return true;
}

/* A host a line and a slot (PBS, LSF), or "HOST SLOTS QUEUE CORES" (Grid Engine). */
static bool take_file(struct parse *p, const char *variable, bool numbers)
{
    const char *path = getenv(variable);
    char *line = NULL, *rest;
    size_t cap = 0;
    if (!path || !*path)
        return false;
    snprintf(p->name, sizeof p->name, "%s", variable);
    FILE *f = fopen(path, "re");
    if (!f)
        refuse(p, "%s is %s: %s; -rmk none ignores it", variable, path, strerror(errno));
    for (int at = 1; f && !p->stop && getline(&line, &cap, f) > 0; at++) {
        char *name = strtok_r(line, " \t\r\n", &rest),
             *slots = name ? strtok_r(NULL, " \t\r\n", &rest) : NULL;
        long n = numbers ? slots ? strtol(slots, &rest, 10) : 0 : 1;
        if (!name)
            continue;
        if (n < 1 || n > HOSTLIST_MOST || name[0] == '-' || (numbers && *rest))
            refuse(p, "%s, line %d of %s: expected HOST%s", variable, at, path, numbers ? " SLOTS" : "");
        else
            place_slots_on(p, name, (int)n);
    }
    free(line);
    if (f)
        fclose(f);
    return true;
}

/* ---- the hosts of the spawning job ---- */

#define REACH "KEEL_REACH"

/* The value of a key, to be kept; NULL: it was not told. */
static char *told(const char *key)
{
    const char *line = getenv(REACH);
    size_t n = strlen(key);
    while (line && *line) {
        size_t len = strcspn(line, "\n");
        if (len > n && strncmp(line, key, n) == 0 && line[n] == '=')
            return xformat("%.*s", (int)(len - n - 1), line + n + 1);
        line += len + (line[len] == '\n');
    }
    return NULL;
}

/* Of a job that goes on without hosts that are lost: the names of its nodes, in their order; those hosts that were
 * lost before it was spawned.  Who else is lost by now, its segment says. */
#define NODES "KEEL_NODES"
#define LOST "KEEL_LOST"

/* Bytes of the first name in a list with commas, without its slots. */
static size_t name_bytes(const char *at)
{
    const char *v6 = *at == '[' ? strchr(at, ']') : NULL;
    return v6 ? (size_t)(v6 + 1 - at) : strcspn(at, ",:");
}

/* The next one; NULL: there is none. */
static const char *next_name(const char *at)
{
    at += strcspn(at, ",");
    return *at ? at + 1 : NULL;
}

static bool is_lost(const char *name, size_t n)
{
    const char *at = getenv(LOST);
    for (; at && *at; at = next_name(at))
        if (name_bytes(at) == n && strncmp(at, name, n) == 0)
            return true;
    return false;
}

static void lose_node(int node)
{
    const char *at = getenv(NODES), *lost = getenv(LOST);
    for (; at && node > 0; node--)
        at = next_name(at);
    size_t n = at ? name_bytes(at) : 0;
    if (n == 0 || is_lost(at, n))
        return;
    char *more = xformat("%s%s%.*s", lost ? lost : "", lost ? "," : "", (int)n, at);
    setenv(LOST, more, 1);
    free(more);
}

/* The list without what is lost, if anything is left. */
static void leave_out_lost(char *hosts)
{
    char *kept = xalloc(strlen(hosts) + 1, 1), *to = kept;
    pmi_keel_lost(lose_node);
    for (const char *at = hosts; at && *at; at = next_name(at))
        if (!is_lost(at, name_bytes(at)))
            to += sprintf(to, "%s%.*s", to > kept ? "," : "", (int)strcspn(at, ","), at);
    if (to > kept)
        strcpy(hosts, kept);
    free(kept);
}

static bool take_reach(struct parse *p)
{
    char *hosts = p->launch->spawned ? told("hosts") : NULL;
    if (!hosts)
        return false;
    leave_out_lost(hosts);
    snprintf(p->name, sizeof p->name, REACH);
    place_names(p, hosts, true);
    free(hosts);
    return true;
}

void allocation_reach(struct parse *p)
{
    struct launch *l = p->launch;
    char *launcher = told("launcher"), *timeout = told("timeout");
    if (launcher && launcher_named(launcher, &l->how.kind))
        p->launcher_said = true;
    l->how.exec = told("exec");
    p->prefix = told("prefix");
    if (timeout && l->node_timeout < 0)
        l->node_timeout = atof(timeout);
    free(launcher);
    free(timeout);
}

/* What other hosts call this one: as it was named, unless that means every host. */
static const char *name_of(const struct host *h, const char *own)
{
    bool any = h->local && own[0] &&
               (strcmp(h->name, "localhost") == 0 || strncmp(h->name, "127.", 4) == 0 ||
                strcmp(h->name, "::1") == 0);
    return any ? own : h->name;
}

static void put_name(FILE *f, const char *name)
{
    bool v6 = strchr(name, ':') != NULL;
    fprintf(f, "%s%s%s", v6 ? "[" : "", name, v6 ? "]" : "");
}

void allocation_tell(const struct parse *p)
{
    const struct launch *l = p->launch;
    char own[256] = "", *text = NULL;
    size_t len;
    FILE *f = p->nhosts > 0 ? open_memstream(&text, &len) : NULL;
    unsetenv(REACH);
    if (!f)
        return;
    gethostname(own, sizeof own - 1);
    fprintf(f, "launcher=%s\ntimeout=%g\n", launcher_name(l->how.kind),
            l->node_timeout < NODE_PATIENCE ? l->node_timeout : 0);
    if (l->how.exec)
        fprintf(f, "exec=%s\n", l->how.exec);
    if (p->prefix)
        fprintf(f, "prefix=%s\n", p->prefix);
    fputs("hosts=", f);
    for (int i = 0; i < p->nhosts; i++) {
        fputs(i ? "," : "", f);
        put_name(f, name_of(&p->hosts[i], own));
        fprintf(f, ":%d", p->hosts[i].slots);
    }
    if (fclose(f) == 0)
        setenv(REACH, text, 1);
    free(text);
}

void allocation_tell_nodes(const struct launch *l)
{
    char own[256] = "", *text = NULL;
    size_t len;
    FILE *f = l->survives && l->remote ? open_memstream(&text, &len) : NULL;
    unsetenv(NODES);
    if (!f)
        return;
    gethostname(own, sizeof own - 1);
    for (int i = 0; i < l->nodes; i++) {
        fputs(i ? "," : "", f);
        put_name(f, name_of(&l->hosts[i], own));
    }
    if (fclose(f) == 0)
        setenv(NODES, text, 1);
    free(text);
}

static bool take(struct parse *p, enum manager which)
{
    return which == SLURM ? take_slurm(p)
           : which == PBS ? take_file(p, "PBS_NODEFILE", false)
           : which == LSF ? take_file(p, "LSB_DJOB_HOSTFILE", false)
                          : take_file(p, "PE_HOSTFILE", true);
}

void do_rmk(struct parse *p, char **v)
{
    p->manager = v[0];
    for (int i = 0; i < NMANAGERS; i++)
        if (strcmp(v[0], names[i]) == 0)
            return;
    if (strcmp(v[0], "none") != 0 && strcmp(v[0], "user") != 0)
        say("note: %s %s: ignored: expected slurm, pbs, lsf, sge, or none", p->name, v[0]);
}

void allocation_hosts(struct parse *p)
{
    if (p->launch->elder > 0 || take_reach(p)) /* the elder's ranks are all here */
        return;
    for (int i = 0; i < NMANAGERS; i++)
        if ((!p->manager || strcmp(p->manager, names[i]) == 0) && take(p, (enum manager)i))
            return;
}
