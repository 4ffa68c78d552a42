/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_pmix_space.c: see serve_pmix_parts.h: arrays of keys and values; the jobs that libpmix knows.
 *
 * Simulated nodes are one node here: libpmix takes all ranks that it talks with for neighbours. */
#define _GNU_SOURCE
#include "config.h"

#ifdef HAVE_PMIX
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "serve_pmix_parts.h"

struct pmix_host here;
static _Atomic(struct space *)
    spaces; /* those that are spawned are added, and stay: libpmix's thread looks there, too */
static struct space own = { .host = -1 };
static int *own_local; /* of each rank of this job: its number on its host */

/* ---- arrays of key and value ---- */

pmix_value_t *infos_add(struct infos *a, const char *key, pmix_data_type_t type)
{
    bool full = (a->n & (a->n - 1)) == 0; /* a power of two, or 0 */
    if (full)
        a->at = xgrow(a->at, a->n > 0 ? 2 * a->n : 1, sizeof *a->at);
    pmix_info_t *i = &a->at[a->n++];
    memset(i, 0, sizeof *i);
    snprintf(i->key, sizeof i->key, "%s", key);
    i->value.type = type;
    return &i->value;
}

void infos_text(struct infos *a, const char *key, const char *text)
{
    infos_add(a, key, PMIX_STRING)->data.string = xformat("%s", text);
}

void infos_u32(struct infos *a, const char *key, int n)
{
    infos_add(a, key, PMIX_UINT32)->data.uint32 = (uint32_t)n;
}

void infos_u16(struct infos *a, const char *key, int n)
{
    infos_add(a, key, PMIX_UINT16)->data.uint16 = (uint16_t)n;
}

void infos_rank(struct infos *a, const char *key, int rank)
{
    infos_add(a, key, PMIX_PROC_RANK)->data.rank = (pmix_rank_t)rank;
}

void infos_flag(struct infos *a, const char *key, bool flag)
{
    infos_add(a, key, PMIX_BOOL)->data.flag = flag;
}

void infos_array(struct infos *a, const char *key, const struct infos *of)
{
    pmix_data_array_t *array = xalloc(1, sizeof *array);
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = of->n, .array = of->at };
    infos_add(a, key, PMIX_DATA_ARRAY)->data.darray = array;
}

void free_content(pmix_value_t *v)
{
    if (v->type == PMIX_STRING)
        free(v->data.string);
    else if (v->type == PMIX_BYTE_OBJECT)
        free(v->data.bo.bytes);
    else if (v->type == PMIX_DATA_ARRAY)
        free(v->data.darray);
}

void infos_free_processes(pmix_proc_info_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(at[i].hostname);
        free(at[i].executable_name);
    }
    free(at);
}

void infos_free(struct infos *a)
{
    for (size_t i = 0; i < a->n; i++) {
        pmix_value_t *v = &a->at[i].value;
        if (v->type == PMIX_STRING)
            free(v->data.string);
        if (v->type == PMIX_DATA_ARRAY && v->data.darray->type == PMIX_PROC_INFO) {
            infos_free_processes(v->data.darray->array, v->data.darray->size);
            free(v->data.darray);
        } else if (v->type == PMIX_DATA_ARRAY && v->data.darray->type == PMIX_PROC) {
            free(v->data.darray->array);
            free(v->data.darray);
        } else if (v->type == PMIX_DATA_ARRAY) {
            struct infos of = { v->data.darray->array, v->data.darray->size };
            infos_free(&of);
            free(v->data.darray);
        }
    }
    free(a->at);
}

const pmix_value_t *directive(const pmix_info_t info[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(info[i].key, key) == 0)
            return &info[i].value;
    return NULL;
}

/* ---- jobs ---- */

const char *host_name(int host)
{
    const struct launch *l = crew.launch;
    const char *name = l->remote ? l->hosts[host].name : l->host, *at = strrchr(name, '@');
    return at ? at + 1 : name;
}

int space_host(const struct space *s, int rank)
{
    if (s->host >= 0)
        return s->host;
    return crew.launch->remote ? crew.launch->node_of[rank] : 0;
}

struct space *space_own(void)
{
    return &own;
}

struct space *space_after(const struct space *s)
{
    return s == &own ? atomic_load(&spaces) : s->next;
}

struct space *space_find(const char *name)
{
    struct space *s = &own;
    if (strncmp(name, own.name, sizeof own.name) == 0)
        return s;
    s = atomic_load(&spaces);
    while (s && strncmp(name, s->name, sizeof s->name) != 0)
        s = s->next;
    return s;
}

bool space_has(const struct space *s, const pmix_proc_t *p)
{
    return p->rank == PMIX_RANK_WILDCARD || p->rank < (pmix_rank_t)s->size;
}

bool space_is_here(const pmix_proc_t *p)
{
    const struct space *s = space_find(p->nspace);
    return s && p->rank < (pmix_rank_t)s->size && space_host(s, (int)p->rank) == here.me;
}

void space_proc(pmix_proc_t *p, const struct space *s, int rank)
{
    memset(p, 0, sizeof *p);
    memcpy(p->nspace, s->name, sizeof p->nspace);
    p->rank = (pmix_rank_t)rank;
}

int space_ranks_on(const struct space *s, int host)
{
    int n = 0;
    for (int i = 0; i < s->size; i++)
        n += space_host(s, i) == host;
    return n;
}

void space_make_own(void)
{
    const struct launch *l = crew.launch;
    int *taken = xalloc((size_t)here.hosts, sizeof *taken),
        universe = (int)crew.segments[here.me].head->universe;
    own.size = l->size;
    own.universe = universe > l->size ? universe : l->size;
    own.napps = l->napps;
    own.app = xalloc((size_t)l->napps, sizeof *own.app);
    for (int i = 0; i < l->napps; i++)
        own.app[i] = l->apps[i].n;
    own_local = xalloc((size_t)l->size, sizeof *own_local);
    for (int i = 0; i < l->size; i++)
        own_local[i] = taken[space_host(&own, i)]++;
    free(taken);
    snprintf(own.name, sizeof own.name, "keel-%016" PRIx64, crew.job_id);
}

void space_put(struct pack *p, const struct space *s)
{
    put_text(p, s->name);
    put_u32(p, (uint32_t)s->universe);
    put_u32(p, (uint32_t)s->napps);
    for (int i = 0; i < s->napps; i++)
        put_u32(p, (uint32_t)s->app[i]);
}

/* Ranks of an application, of a job. */
static int take_count(struct unpack *u, int most)
{
    uint32_t n = get_u32(u);
    u->wrong = u->wrong || n < 1 || n > (uint32_t)most;
    return u->wrong ? 0 : (int)n;
}

struct space *space_get(struct unpack *u, int host)
{
    enum { MOST = 1 << 16 }; /* on one host */
    struct space *s = xalloc(1, sizeof *s);
    char *name = get_text(u);
    u->wrong = u->wrong || !name || !*name || strlen(name) > PMIX_MAX_NSLEN || space_find(name);
    s->host = host;
    s->universe = take_count(u, INT32_MAX);
    s->napps = take_count(u, MOST);
    s->app = xalloc((size_t)s->napps, sizeof *s->app);
    for (int i = 0; i < s->napps; i++)
        s->size += s->app[i] = take_count(u, MOST - s->size > 0 ? MOST - s->size : 0);
    if (!u->wrong && u->at == u->end) {
        snprintf(s->name, sizeof s->name, "%s", name);
        free(name);
        return s;
    }
    free(name);
    free(s->app);
    free(s);
    return NULL;
}

/* ---- what libpmix is told of one ---- */

static void append(char **list, const char *separator, const char *text)
{
    char *longer = xformat("%s%s%s", *list ? *list : "", *list && **list ? separator : "", text);
    free(*list);
    *list = longer;
}

/* The ranks on a host, with commas. */
static char *ranks_on(const struct space *s, int host)
{
    struct pack p = { 0 };
    char number[16];
    for (int i = 0; i < s->size; i++)
        if (space_host(s, i) == host)
            put_bytes(&p, number, (size_t)snprintf(number, sizeof number, "%s%d", p.len ? "," : "", i));
    put_bytes(&p, "", 1);
    return p.bytes;
}

/* The hosts that it is on, from *host on: the next one; false: there is none. */
static bool next_host(const struct space *s, int *host)
{
    while (s->host >= 0 && *host < here.hosts && *host != s->host)
        ++*host;
    return *host < here.hosts;
}

static pmix_status_t add_maps(struct infos *a, const struct space *s)
{
    char *names = NULL, *ranks = NULL, *nodes = NULL, *map = NULL;
    for (int i = 0; next_host(s, &i); i++) {
        char *on = ranks_on(s, i);
        append(&names, ",", host_name(i));
        append(&ranks, ";", on);
        free(on);
    }
    pmix_status_t status = lib.regex(names, &nodes);
    if (status == PMIX_SUCCESS)
        status = lib.ranks(ranks, &map);
    if (status == PMIX_SUCCESS) {
        infos_add(a, PMIX_NODE_MAP, PMIX_STRING)->data.string = nodes;
        infos_add(a, PMIX_PROC_MAP, PMIX_STRING)->data.string = map;
    }
    free(names);
    free(ranks);
    return status;
}

static void add_hosts(struct infos *a, const struct space *s)
{
    for (int i = 0; next_host(s, &i); i++) {
        struct infos of = { 0 };
        char *peers = ranks_on(s, i);
        infos_text(&of, PMIX_HOSTNAME, host_name(i));
        infos_u32(&of, PMIX_NODEID, i);
        infos_u32(&of, PMIX_NODE_SIZE, space_ranks_on(s, i));
        infos_u32(&of, PMIX_LOCAL_SIZE, space_ranks_on(s, i));
        infos_text(&of, PMIX_LOCAL_PEERS, peers);
        infos_array(a, PMIX_NODE_INFO_ARRAY, &of);
        free(peers);
    }
}

static void add_processes(struct infos *a, const struct space *s)
{
    for (int i = 0, section = 0, first = 0; i < s->size; i++) {
        struct infos of = { 0 };
        int local = s == &own ? own_local[i] : i;
        if (i == first + s->app[section])
            first += s->app[section++];
        infos_rank(&of, PMIX_RANK, i);
        infos_u32(&of, PMIX_APPNUM, section);
        infos_rank(&of, PMIX_GLOBAL_RANK, i);
        infos_rank(&of, PMIX_APP_RANK, i - first);
        infos_rank(&of, PMIX_APPLDR, first);
        infos_u16(&of, PMIX_LOCAL_RANK, local);
        infos_u16(&of, PMIX_NODE_RANK, local);
        infos_u32(&of, PMIX_NODEID, space_host(s, i));
        infos_text(&of, PMIX_HOSTNAME, host_name(space_host(s, i)));
        if (s != &own)
            infos_flag(&of, PMIX_SPAWNED, true);
        infos_array(a, PMIX_PROC_DATA, &of);
    }
}

static pmix_status_t add_job(const struct space *s)
{
    struct infos a = { 0 };
    char *peers = ranks_on(s, here.me);
    int on_here = space_ranks_on(s, here.me);
    pmix_status_t status = add_maps(&a, s);
    infos_text(&a, PMIX_JOBID, s->name);
    infos_u32(&a, PMIX_JOB_SIZE, s->size);
    infos_u32(&a, PMIX_UNIV_SIZE, s->universe);
    infos_u32(&a, PMIX_MAX_PROCS, s->universe);
    infos_u32(&a, PMIX_JOB_NUM_APPS, s->napps);
    infos_u32(&a, PMIX_NUM_NODES, s->host < 0 ? here.hosts : 1);
    infos_u32(&a, PMIX_NODEID, here.me);
    infos_u32(&a, PMIX_NODE_SIZE, on_here);
    infos_u32(&a, PMIX_LOCAL_SIZE, on_here);
    infos_text(&a, PMIX_LOCAL_PEERS, peers);
    infos_rank(&a, PMIX_LOCALLDR, atoi(peers));
    infos_text(&a, PMIX_TMPDIR, here.folder);
    infos_text(&a, PMIX_NSDIR, here.folder);
    infos_flag(&a, PMIX_TDIR_RMCLEAN, true);
    if (s == &own && crew.launch->held)
        infos_flag(&a, PMIX_DEBUG_STOP_IN_INIT, true);
    add_hosts(&a, s);
    add_processes(&a, s);
    if (status == PMIX_SUCCESS)
        status = lib.add_space(s->name, on_here, a.at, a.n, NULL, NULL);
    free(peers);
    infos_free(&a);
    return status;
}

static pmix_status_t add_clients(const struct space *s)
{
    pmix_status_t status = PMIX_SUCCESS;
    for (int i = 0; i < s->size && is_well(status); i++)
        if (space_host(s, i) == here.me) {
            pmix_proc_t p;
            space_proc(&p, s, i);
            status = lib.add_client(&p, geteuid(), getegid(), NULL, NULL, NULL);
        }
    return status;
}

pmix_status_t space_register(struct space *s)
{
    if (s != &own) {
        s->next = atomic_load(&spaces);
        atomic_store(&spaces, s); /* by the main thread alone */
    }
    pmix_status_t status = add_job(s);
    return is_well(status) ? add_clients(s) : status;
}
#else
typedef int serve_pmix_space_is_empty;
#endif
