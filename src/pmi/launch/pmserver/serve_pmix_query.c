/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_pmix_query.c: see serve_pmix_parts.h: what tools and ranks may ask of the PMIx server (PMIx_Query_info),
 * tools that connect (-pmix-tools), and the release of processes that stop in PMIx_Init for a debugger or a tool.
 *
 * libpmix calls these functions in its thread, and they answer there: what they read is settled when ranks run. */
#define _GNU_SOURCE
#include "config.h"

#ifdef HAVE_PMIX
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "serve_pmix_parts.h"
#include "share.h"

/* ---- process sets, as MPI's sessions have them (mpi/session/pset.c) ---- */

static bool is_any(int rank, int number)
{
    (void)rank, (void)number;
    return true;
}

static bool is_on_node(int rank, int node)
{
    return crew.launch->node_of[rank] == node;
}

static bool is_of_section(int rank, int section)
{
    return crew.ranks[rank].app == &crew.launch->apps[section];
}

/* A set: its name, and who is in it, of whom `in` says so with `number`. */
struct set {
    char name[48];
    bool (*in)(int rank, int number);
    int number;
};

/* The i-th one, from 0 on.  False: there is none. */
static bool set_of(int i, struct set *s)
{
    const struct launch *l = crew.launch;
    *s = (struct set){ "mpi://WORLD", is_any, 0 };
    if (i > 0 && i <= l->nodes) {
        *s = (struct set){ "", is_on_node, i - 1 };
        snprintf(s->name, sizeof s->name, "keel://node/%d", s->number);
    } else if (i > l->nodes) {
        *s = (struct set){ "", is_of_section, i - l->nodes - 1 };
        snprintf(s->name, sizeof s->name, "keel://app/%d", s->number);
    }
    return i <= l->nodes + l->napps;
}

/* To be freed. */
static pmix_proc_t *members_of(const struct set *set, size_t *n)
{
    const struct space *s = space_own();
    pmix_proc_t *members = xalloc((size_t)s->size, sizeof *members);
    *n = 0;
    for (int rank = 0; rank < s->size; rank++)
        if (set->in(rank, set->number))
            space_proc(&members[(*n)++], s, rank);
    return members;
}

void pmix_define_sets(void)
{
    struct set set;
    for (int i = 0; set_of(i, &set); i++) {
        size_t n;
        pmix_proc_t *members = members_of(&set, &n);
        if (n > 0)
            lib.define_set(members, n, set.name);
        free(members);
    }
}

static void add_set_names(struct infos *a, const char *key)
{
    struct pack p = { 0 };
    struct set set;
    for (int i = 0; set_of(i, &set); i++) {
        put_bytes(&p, ",", i > 0);
        put_bytes(&p, set.name, strlen(set.name));
    }
    put_bytes(&p, "", 1);
    infos_text(a, key, p.bytes);
    free(p.bytes);
}

static void add_proc_array(struct infos *a, const char *key, pmix_data_type_t type, void *at, size_t n)
{
    pmix_data_array_t *array = xalloc(1, sizeof *array);
    *array = (pmix_data_array_t){ .type = type, .size = n, .array = at };
    infos_add(a, key, PMIX_DATA_ARRAY)->data.darray = array;
}

static pmix_status_t add_members(struct infos *a, const char *key, const pmix_query_t *q)
{
    const pmix_value_t *name = directive(q->qualifiers, q->nqual, PMIX_PSET_NAME);
    struct set set;
    for (int i = 0; name && name->type == PMIX_STRING && set_of(i, &set); i++)
        if (strcmp(name->data.string, set.name) == 0) {
            size_t n;
            pmix_proc_t *members = members_of(&set, &n);
            add_proc_array(a, key, PMIX_PROC, members, n);
            return PMIX_SUCCESS;
        }
    return PMIX_ERR_NOT_FOUND;
}

/* ---- questions ---- */

static void add_names(struct infos *a)
{
    struct pack p = { 0 };
    for (const struct space *s = space_own(); s; s = space_after(s))
        if (s == space_own() || s->younger) {
            put_bytes(&p, ",", p.len > 0);
            put_bytes(&p, s->name, strlen(s->name));
        }
    put_bytes(&p, "", 1);
    infos_text(a, PMIX_QUERY_NAMESPACES, p.bytes);
    free(p.bytes);
}

static atomic_bool let_go_before; /* the ranks that stop */

/* A rank of this host, in its segment. */
static uint32_t segment_state(int rank)
{
    const struct ku_segment *s = &crew.segments[crew.launch->node_of[rank]];
    return atomic_load(&ku_segment_rank(s, (uint32_t)crew.ranks[rank].local)->state);
}

static pmix_proc_state_t state_of(int rank)
{
    if (space_host(space_own(), rank) != here.me)
        return PMIX_PROC_STATE_UNDEF;
    uint32_t state = segment_state(rank);
    bool stops = crew.launch->stop == STOP_ON_EXEC && !atomic_load(&let_go_before);
    return state == KU_RANK_STARTED     ? stops ? PMIX_PROC_STATE_PREPPED : PMIX_PROC_STATE_RUNNING
           : state == KU_RANK_FINALIZED ? PMIX_PROC_STATE_TERMINATED
           : state == KU_RANK_ABORTED   ? PMIX_PROC_STATE_CALLED_ABORT
           : state == KU_RANK_DEAD      ? PMIX_PROC_STATE_ABORTED_BY_SIG
                                        : PMIX_PROC_STATE_CONNECTED;
}

/* The ranks of this job whose processes are known here; `local`: those of this host. */
static pmix_status_t add_table(struct infos *a, const char *key, bool local)
{
    const struct space *s = space_own();
    pmix_proc_info_t *at = xalloc((size_t)s->size, sizeof *at);
    size_t n = 0;
    for (int rank = 0; rank < s->size; rank++) {
        pid_t pid = crew.launch->pids[rank];
        bool on_here = space_host(s, rank) == here.me;
        if (local && !on_here)
            continue;
        if (pid <= 0) {
            infos_free_processes(at, n);
            return PMIX_ERR_NOT_FOUND;
        }
        space_proc(&at[n].proc, s, rank);
        at[n].hostname = xformat("%s", host_name(space_host(s, rank)));
        at[n].executable_name = xformat("%s", crew.ranks[rank].app->argv[0]);
        at[n].pid = pid;
        at[n++].state = state_of(rank);
    }
    add_proc_array(a, key, PMIX_PROC_INFO, at, n);
    return PMIX_SUCCESS;
}

static pmix_status_t answer_one(struct infos *a, const char *key, const pmix_query_t *q)
{
    const pmix_value_t *of = directive(q->qualifiers, q->nqual, PMIX_NSPACE);
    bool ours = !of || of->type != PMIX_STRING || strcmp(of->data.string, space_own()->name) == 0;
    if (strcmp(key, PMIX_QUERY_NAMESPACES) == 0)
        add_names(a);
    else if (strcmp(key, PMIX_QUERY_PROC_TABLE) == 0)
        return ours ? add_table(a, key, false) : PMIX_ERR_NOT_FOUND;
    else if (strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0)
        return ours ? add_table(a, key, true) : PMIX_ERR_NOT_FOUND;
    else if (strcmp(key, PMIX_QUERY_NUM_PSETS) == 0)
        infos_add(a, key, PMIX_SIZE)->data.size = (size_t)(1 + crew.launch->nodes + crew.launch->napps);
    else if (strcmp(key, PMIX_QUERY_PSET_NAMES) == 0)
        add_set_names(a, key);
    else if (strcmp(key, PMIX_QUERY_PSET_MEMBERSHIP) == 0)
        return add_members(a, key, q);
    else if (strcmp(key, PMIX_QUERY_SPAWN_SUPPORT) == 0)
        infos_text(a, key,
                   PMIX_HOST "," PMIX_HOSTFILE "," PMIX_WDIR "," PMIX_MAPBY "," PMIX_BINDTO
                             "," PMIX_SET_ENVAR);
    else if (strcmp(key, PMIX_QUERY_DEBUG_SUPPORT) == 0)
        infos_text(a, key, PMIX_DEBUG_STOP_IN_INIT "," PMIX_DEBUG_STOP_ON_EXEC);
    else
        return PMIX_ERR_NOT_SUPPORTED;
    return PMIX_SUCCESS;
}

static void release(void *arg)
{
    struct infos *a = arg;
    infos_free(a);
    free(a);
}

pmix_status_t pmix_query(pmix_proc_t *from, pmix_query_t *q, size_t n, pmix_info_cbfunc_t done, void *arg)
{
    struct infos *a = xalloc(1, sizeof *a);
    pmix_status_t status = PMIX_SUCCESS;
    size_t missing = 0;
    (void)from;
    for (size_t i = 0; i < n; i++)
        for (char **key = q[i].keys; key && *key; key++) {
            pmix_status_t s = answer_one(a, *key, &q[i]);
            missing += s != PMIX_SUCCESS;
            status = s != PMIX_SUCCESS ? s : status;
        }
    if (missing > 0 && a->n > 0)
        status = PMIX_QUERY_PARTIAL_SUCCESS;
    done(status, a->at, a->n, arg, release, a);
    return PMIX_SUCCESS;
}

/* ---- tools ---- */

/* It gets a name, unless it brings one.  Only those of this user. */
void pmix_tool(pmix_info_t *info, size_t n, pmix_tool_connection_cbfunc_t done, void *arg)
{
    static atomic_uint number;
    const pmix_value_t *user = directive(info, n, PMIX_USERID), *name = directive(info, n, PMIX_NSPACE),
                       *rank = directive(info, n, PMIX_RANK);
    pmix_proc_t p = { .rank = 0 };
    bool named = name && name->type == PMIX_STRING && name->data.string && *name->data.string;
    if (named)
        snprintf(p.nspace, sizeof p.nspace, "%s", name->data.string);
    else
        snprintf(p.nspace, sizeof p.nspace, "%.200s.tool.%u", space_own()->name,
                 atomic_fetch_add(&number, 1));
    if (named && rank && rank->type == PMIX_PROC_RANK)
        p.rank = rank->data.rank;
    bool ours = user && user->type == PMIX_UINT32 && user->data.uint32 == geteuid() && !space_find(p.nspace);
    done(ours ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS, &p, arg);
}

/* ---- stopping in PMIx_Init, and going on ---- */

static void let_go(void)
{
    const struct launch *l = crew.launch;
    atomic_store(&let_go_before, true);
    for (int rank = 0; l->stop == STOP_ON_EXEC && rank < l->size; rank++)
        if (l->pids[rank] > 0 && space_host(space_own(), rank) == here.me &&
            segment_state(rank) == KU_RANK_STARTED)
            kill(l->pids[rank], SIGCONT);
    for (int i = 0; i < crew.launch->nodes; i++)
        if (crew.segments[i].head)
            atomic_store(&crew.segments[i].head->held,
                         0); /* ranks with our library, which wait in pmi_init */
}

static void server_name(pmix_proc_t *p)
{
    memset(p, 0, sizeof *p);
    snprintf(p->nspace, sizeof p->nspace, "%.200s.server", space_own()->name);
    p->rank = (pmix_rank_t)here.me;
}

/* The ranks of this host, wherever the word has come from. */
static void release_here(void)
{
    struct infos a = { 0 };
    pmix_proc_t *all = xalloc(1, sizeof *all), server;
    let_go();
    space_proc(all, space_own(), 0);
    all->rank = PMIX_RANK_WILDCARD;
    server_name(&server);
    infos_flag(&a, PMIX_EVENT_NON_DEFAULT, true);
    infos_add(&a, PMIX_EVENT_CUSTOM_RANGE, PMIX_PROC)->data.proc = all;
    lib.notify(PMIX_DEBUGGER_RELEASE, &server, PMIX_RANGE_CUSTOM, a.at, a.n, NULL, NULL);
    infos_free(&a);
    free(all);
}

static void on_released(void *arg, int status, const char *bytes, size_t len)
{
    (void)arg, (void)status, (void)bytes, (void)len;
}

struct releasing {
    struct shifted shifted;
};

static void run_release(struct shifted *s)
{
    free(s);
    release_here();
    for (int h = 0; h < here.hosts; h++)
        if (h != here.me)
            share_ask(h, ASK_RELEASE, "", 0, on_released, NULL);
}

bool pmix_release_asked(int from, uint32_t id, const struct unpack *u)
{
    if (u->at != u->end)
        return false;
    release_here();
    share_answer(from, id, 0, NULL, 0);
    return true;
}

/* Only a tool says this, or a rank of ours: both are this user's.  What this server has told its ranks itself
 * comes here, too. */
pmix_status_t pmix_event(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                         pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *arg)
{
    pmix_proc_t server;
    (void)range, (void)info, (void)n, (void)done, (void)arg;
    server_name(&server);
    if (code != PMIX_DEBUGGER_RELEASE || strcmp(source->nspace, server.nspace) == 0)
        return PMIX_OPERATION_SUCCEEDED;
    struct releasing *r = xalloc(1, sizeof *r);
    r->shifted.run = run_release;
    shift(&r->shifted);
    return PMIX_OPERATION_SUCCEEDED;
}
#endif
