/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_pmix_spawn.c: see serve_pmix_parts.h: PMIx_Spawn, and the jobs that have been spawned so, as the servant
 * that serves their ranks sees them (elder.h tells the other side).
 *
 * Such a job is on one host, that of the rank which asks for it, or another one of this job: then that host's
 * servant is asked to start it.  Its servant, the younger one, says what job it is; then the servants of the other
 * hosts are told, and when these have answered it gets its ranks' environments: so all know it before its ranks
 * run. */
#define _GNU_SOURCE
#include "config.h"

#ifdef HAVE_PMIX
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/base/abi_detect.h"
#include "offspring.h"
#include "pmi/launch/frames/packets.h"
#include "servant.h"
#include "serve_pmix.h"
#include "serve_pmix_parts.h"
#include "share.h"

struct younger {
    struct younger *next;
    struct packets to;
    struct space *space; /* NULL: it has not said */
    int via;             /* the rank of this job by which, or by whose children, it has been spawned */
    int out, err;        /* where its output goes, as what it spawns will have it */
    int unanswered;      /* hosts that have not said that they know it */
    int asks;            /* the rank whose environment is asked for meanwhile; -1 */
};

static struct younger *youngers;
static int events = -1;

int serve_pmix_youngers(void)
{
    if (events < 0)
        events = epoll_create1(EPOLL_CLOEXEC);
    if (events < 0)
        die("watching spawned jobs failed: %s", strerror(errno));
    return events;
}

/* ---- what ranks do ---- */

struct event {
    struct shifted shifted;
    struct space *space;
    int rank, code;
    enum younger_word word;
};

static void run_event(struct shifted *s)
{
    static const enum packet_what what[] = { PACKET_BEGUN, PACKET_FINALIZED, PACKET_ABORTED };
    struct event *e = (struct event *)s;
    struct pack p = { 0 };
    put_u32(&p, (uint32_t)e->code);
    if (e->space->younger)
        packets_send(&e->space->younger->to, what[e->word], e->rank, p.bytes, p.len, -1);
    free(p.bytes);
    free(e);
}

void younger_event(struct space *s, int rank, enum younger_word word, int code)
{
    struct event *e = xalloc(1, sizeof *e);
    *e = (struct event){ { run_event }, s, rank, code, word };
    shift(&e->shifted);
}

/* ---- what its servant asks ---- */

static void refuse(struct younger *y, int rank, const char *why)
{
    packets_send(&y->to, PACKET_REFUSED, rank, why, strlen(why), -1);
}

static void tell_environment(struct younger *y, int rank)
{
    struct pack p = { 0 };
    char *why = pmix_environment(y->space, rank, &p);
    if (why)
        refuse(y, rank, why);
    else
        packets_send(&y->to, PACKET_SET, rank, p.bytes, p.len, -1);
    free(p.bytes);
    free(why);
}

static void on_environ(struct younger *y, int rank)
{
    if (!y->space || rank < 0 || rank >= y->space->size)
        refuse(y, rank, "the job that spawns it does not know it");
    else if (y->unanswered > 0)
        y->asks = rank;
    else
        tell_environment(y, rank);
}

/* A younger that has ended meanwhile is found by its space. */
static void on_known(void *arg, int status, const char *bytes, size_t len)
{
    struct space *s = arg;
    struct younger *y = s->younger;
    (void)status, (void)bytes, (void)len;
    if (!y || --y->unanswered > 0 || y->asks < 0)
        return;
    tell_environment(y, y->asks);
    y->asks = -1;
}

static void tell_hosts(struct younger *y)
{
    struct pack p = { 0 };
    space_put(&p, y->space);
    y->unanswered = here.hosts - 1;
    for (int h = 0; h < here.hosts; h++)
        if (h != here.me)
            share_ask(h, ASK_SPACE, p.bytes, p.len, on_known, y->space);
    free(p.bytes);
}

static void on_space(struct younger *y, const struct packet *k)
{
    struct unpack u = { k->bytes, k->bytes + k->len, false };
    struct space *s = y->space ? NULL : space_get(&u, here.me);
    if (!s)
        return;
    s->young = true;
    if (is_well(space_register(s))) {
        y->space = s;
        s->younger = y;
        tell_hosts(y);
    }
}

bool pmix_space_asked(int from, uint32_t id, struct unpack *u)
{
    struct space *s = space_get(u, from);
    if (!s)
        return false;
    share_answer(from, id, is_well(space_register(s)) ? 0 : -1, NULL, 0);
    return true;
}

/* What libpmix's thread has noted of ranks goes before the answer. */
static void settle(struct younger *y, int rank)
{
    struct pollfd p = { .fd = serve_pmix_shifts(), .events = POLLIN };
    while (poll(&p, 1, 0) == 1)
        serve_pmix_shift();
    packets_send(&y->to, PACKET_SETTLED, rank, NULL, 0, -1);
}

static void take(struct younger *y, const struct packet *k)
{
    if (k->what == PACKET_SPACE)
        on_space(y, k);
    else if (k->what == PACKET_ENVIRON)
        on_environ(y, k->value);
    else if (k->what == PACKET_SETTLE)
        settle(y, k->value);
}

static void has_ended(struct younger **at)
{
    struct younger *y = *at;
    *at = y->next;
    if (y->space) {
        y->space->younger = NULL;
        lib.drop_space(y->space->name, NULL, NULL);
    }
    if (y->out >= 0)
        close(y->out);
    if (y->err >= 0)
        close(y->err);
    free(y);
}

void serve_pmix_hear_youngers(void)
{
    for (struct younger **at = &youngers; *at;) {
        struct younger *y = *at;
        for (struct packet *k; (k = packets_next(&y->to)) != NULL; packet_free(k))
            take(y, k);
        packets_flush(&y->to);
        if (y->to.fd < 0)
            has_ended(at);
        else
            at = &y->next;
    }
}

/* ---- PMIx_Spawn ---- */

struct spawning {
    struct shifted shifted;
    pmix_proc_t proc;
    const pmix_info_t *info;
    const pmix_app_t *apps;
    size_t ninfo, napps;
    pmix_spawn_cbfunc_t done; /* NULL: another host asks for it */
    void *arg;
    int from;
    uint32_t id;
    struct younger *younger;
};

/* The keys of the standard's that mpiexec has options for, as offspring_key. */
static void add_keys(struct offspring *o, const pmix_info_t info[], size_t n)
{
    static const char *const names[][2] = { { PMIX_HOST, "host" },
                                            { PMIX_HOSTFILE, "hostfile" },
                                            { PMIX_WDIR, "wdir" },
                                            { PMIX_MAPBY, "map_by" },
                                            { PMIX_BINDTO, "bind_to" } };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(info[i].key, names[k][0]) == 0 && info[i].value.type == PMIX_STRING &&
                info[i].value.data.string)
                offspring_key(o, names[k][1], info[i].value.data.string);
}

static void add_line(struct pack *p, const char *entry)
{
    if (strncmp(entry, "PMIX_", 5) == 0 || strchr(entry, '\n'))
        return;
    if (p->len > 0)
        put_bytes(p, "\n", 1);
    put_bytes(p, entry, strlen(entry));
}

/* Lines of "env".  Where it has one, Open MPI's parent waits at a port for its children. */
static void add_environment(struct offspring *o, const struct spawning *s, const pmix_app_t *a)
{
    struct pack p = { 0 };
    const pmix_info_t *infos[] = { s->info, a->info };
    const size_t n[] = { s->ninfo, a->ninfo };
    for (char **e = a->env; e && *e; e++)
        add_line(&p, *e);
    for (int of = 0; of < 2; of++)
        for (size_t i = 0; i < n[of]; i++)
            if (strcmp(infos[of][i].key, PMIX_SET_ENVAR) == 0 && infos[of][i].value.type == PMIX_ENVAR &&
                infos[of][i].value.data.envar.envar) {
                const char *value = infos[of][i].value.data.envar.value;
                char *entry = xformat("%s=%s", infos[of][i].value.data.envar.envar, value ? value : "");
                add_line(&p, entry);
                free(entry);
            }
    put_bytes(&p, "", 1);
    offspring_key(o, "env", p.bytes);
    free(p.bytes);
}

static bool add_command(struct offspring *o, const struct spawning *s, const pmix_app_t *a)
{
    if (!a->cmd || !*a->cmd || a->maxprocs < 1 || !offspring_add(o, a->cmd, a->maxprocs))
        return false;
    add_keys(o, a->info, a->ninfo);
    add_keys(o, s->info, s->ninfo);
    if (a->cwd && *a->cwd)
        offspring_key(o, "wdir", a->cwd);
    add_environment(o, s, a);
    for (int i = 1; a->argv && a->argv[0] && a->argv[i]; i++)
        offspring_word(o, a->argv[i]);
    return true;
}

/* space: of the job; NULL: it has not been started. */
static void answer(struct spawning *s, struct space *space)
{
    char none[] = "", *name = space ? space->name : none;
    if (s->done)
        s->done(space ? PMIX_SUCCESS : PMIX_ERR_JOB_FAILED_TO_LAUNCH, name, s->arg);
    else
        share_answer(s->from, s->id, space ? 0 : -1, name, strlen(name));
    free(s);
}

static void on_spawned(struct offspring *o, const char *why)
{
    struct spawning *s = o->arg;
    struct younger *y = youngers;
    while (y && y != s->younger)
        y = y->next;
    answer(s, !why && y ? y->space : NULL);
}

/* The same descriptor once more; -1 stays. */
static int again(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* For what `o` asks for; o->elder is for its servant. */
static struct younger *new_younger(struct offspring *o)
{
    int ends[2];
    struct epoll_event e = { .events = EPOLLIN };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return NULL;
    struct younger *y = xalloc(1, sizeof *y);
    *y = (struct younger){
        .next = youngers, .via = o->rank, .out = again(o->out), .err = again(o->err), .asks = -1
    };
    packets_open(&y->to, ends[0]);
    epoll_ctl(serve_pmix_youngers(), EPOLL_CTL_ADD, ends[0], &e);
    youngers = y;
    o->elder = ends[1];
    return y;
}

/* o is the callee's. */
static void begin(struct spawning *s, struct offspring *o)
{
    s->younger = new_younger(o);
    o->done = on_spawned;
    o->arg = s;
    if (s->younger) {
        servant_spawn(o);
        return;
    }
    answer(s, NULL);
    offspring_free(o);
}

/* ---- on another host ---- */

/* The one host of this job that all names of the list are (name, user@name, name:slots); -1: there is none. */
static int host_of_list(const char *list)
{
    int host = -1;
    for (size_t n; *list; list += n + (list[n] == ',')) {
        int h = 0;
        n = strcspn(list, ",");
        char *name = xformat("%.*s", (int)n, list), *at = strrchr(name, '@'), *colon = strrchr(name, ':');
        if (colon && strspn(colon + 1, "0123456789") == strlen(colon + 1) && strchr(name, ':') == colon)
            *colon = 0;
        while (h < here.hosts && strcmp(host_name(h), at ? at + 1 : name) != 0)
            h++;
        free(name);
        if (h == here.hosts || (host >= 0 && host != h))
            return -1;
        host = h;
    }
    return host;
}

/* Where all commands are to run, as far as this job has that host; -1: mpiexec is to find out. */
static int host_of(const struct offspring *o)
{
    int host = -1;
    for (int i = 0; i < o->n; i++) {
        const char *list = offspring_value(&o->command[i], "host");
        int h = list ? host_of_list(list) : here.me;
        if (h < 0 || offspring_value(&o->command[i], "hostfile") || (i > 0 && h != host))
            return -1;
        host = h;
    }
    return host;
}

static void on_spawned_there(void *arg, int status, const char *bytes, size_t len)
{
    char name[PMIX_MAX_NSLEN + 1];
    snprintf(name, sizeof name, "%.*s", len < sizeof name ? (int)len : 0, len > 0 ? bytes : "");
    answer(arg, status == 0 ? space_find(name) : NULL); /* it was told to all hosts before it began */
}

static void ask_host(int host, struct spawning *s, struct offspring *o)
{
    struct pack p = { 0 };
    offspring_pack(&p, o);
    offspring_free(o);
    share_ask(host, ASK_SPAWN, p.bytes, p.len, on_spawned_there, s);
    free(p.bytes);
}

/* As if a rank of this host had asked for it, one whose output is still open. */
bool pmix_spawn_asked(int from, uint32_t id, struct unpack *u)
{
    struct offspring *o = offspring_unpack(u, -1);
    if (!o)
        return false;
    for (int i = 0; i < space_own()->size && o->out < 0; i++)
        if (space_host(space_own(), i) == here.me) {
            o->rank = i;
            o->out = offspring_output(i, 1);
        }
    o->err = offspring_output(o->rank, 2);
    struct spawning *s = xalloc(1, sizeof *s);
    *s = (struct spawning){ .from = from, .id = id };
    begin(s, o);
    return true;
}

/* ---- what ranks ask for ---- */

static void run_spawning(struct shifted *shifted)
{
    struct spawning *s = (struct spawning *)shifted;
    struct space *of = space_find(s->proc.nspace);
    struct younger *by = of->younger;
    struct offspring *o = offspring_new(by ? by->via : of == space_own() ? (int)s->proc.rank : 0);
    bool well = s->napps > 0;
    for (size_t i = 0; i < s->napps && well; i++)
        well = add_command(o, s, &s->apps[i]);
    if (!well) {
        answer(s, NULL);
        offspring_free(o);
        return;
    }
    int host = host_of(o);
    if (host >= 0)
        offspring_forget(o, "host"); /* the mpiexec that runs there knows it by another name */
    if (host >= 0 && host != here.me) {
        ask_host(host, s, o);
        return;
    }
    o->out = by ? again(by->out) : offspring_output(o->rank, 1);
    o->err = by ? again(by->err) : offspring_output(o->rank, 2);
    begin(s, o);
}

pmix_status_t pmix_spawn(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                         const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done, void *arg)
{
    if (!space_is_here(p))
        return PMIX_ERR_NOT_FOUND;
    struct spawning *s = xalloc(1, sizeof *s);
    *s = (struct spawning){ .shifted = { run_spawning },
                            .proc = *p,
                            .info = info,
                            .apps = apps,
                            .ninfo = ninfo,
                            .napps = napps,
                            .done = done,
                            .arg = arg };
    shift(&s->shifted);
    return PMIX_SUCCESS;
}
#endif
