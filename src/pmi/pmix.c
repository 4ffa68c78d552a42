/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix.c: PMIx, the interface of Open MPI's mpirun and prun, of Slurm's pmix plug-in, and of others, through
 * libpmix.  The library is loaded when a launcher offers PMIx, and never else. */
#define _GNU_SOURCE
#include "config.h"
#include <errno.h>
#include <stdlib.h>
#include "pmix_library.h"
#include "server.h"
#include "util/err.h"
#include "util/installed.h"

static bool pmix_is_there(void)
{
    return getenv("PMIX_NAMESPACE") != NULL && getenv("PMIX_RANK") != NULL;
}

static int open_library(const struct pmi_x_function *f, size_t n)
{
    int err = pmi_x_library(f, n);
    struct ku_err why = *ku_err_last();
    return err ? ku_err_set(err, NULL, "this process was started through PMIx, and %s; or use %s", why.text,
                            ku_installed_mpiexec())
               : 0;
}

#ifdef HAVE_PMIX
#include <pmix.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t info[], size_t n);
    pmix_status_t (*fini)(const pmix_info_t info[], size_t n);
    pmix_status_t (*put)(pmix_scope_t scope, const char key[], pmix_value_t *value);
    pmix_status_t (*commit)(void);
    pmix_status_t (*fence)(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t done, void *arg);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t n,
                         pmix_value_t **value);
    pmix_status_t (*abort)(int status, const char text[], pmix_proc_t procs[], size_t n);
    const char *(*text)(pmix_status_t status);
    pmix_status_t (*nodes)(const char *space, char **names);
    pmix_status_t (*peers)(const char *node, const char *space, pmix_proc_t **procs, size_t *n);
    pmix_proc_t me;
} lib;
static const int32_t *node_of; /* as the facts have it */

static const struct pmi_x_function functions[] = {
    { "PMIx_Init", (void **)&lib.init },
    { "PMIx_Finalize", (void **)&lib.fini },
    { "PMIx_Put", (void **)&lib.put },
    { "PMIx_Commit", (void **)&lib.commit },
    { "PMIx_Fence_nb", (void **)&lib.fence },
    { "PMIx_Get", (void **)&lib.get },
    { "PMIx_Abort", (void **)&lib.abort },
    { "PMIx_Error_string", (void **)&lib.text },
    { "PMIx_Resolve_nodes", (void **)&lib.nodes },
    { "PMIx_Resolve_peers", (void **)&lib.peers },
};

static int pmix_fail(const char *what, const char *of, pmix_status_t status)
{
    return status == PMIX_SUCCESS
               ? 0
               : ku_err_set(EPROTO, NULL, "the launcher's PMIx: %s %s: %s", what, of, lib.text(status));
}

/* ---- Values ---- */

static pmix_status_t get_of(uint32_t rank, const char *key, pmix_value_t **value)
{
    pmix_proc_t p = lib.me;
    p.rank = rank;
    return lib.get(&p, key, NULL, 0, value);
}

/* A number of the job's, or of a rank's; `none` if it is not told. */
static int32_t pmix_number_of(uint32_t rank, const char *key, int32_t none)
{
    pmix_value_t *v = NULL;
    if (get_of(rank, key, &v) != PMIX_SUCCESS)
        return none;
    int32_t n = v->type == PMIX_UINT32 && v->data.uint32 <= INT32_MAX ? (int32_t)v->data.uint32 : none;
    free(v);
    return n;
}

/* ---- The ranks' nodes: a number of each rank's (Open MPI); else names of nodes, and the ranks of each (Slurm) ---- */

static bool nodes_by_number(struct pmi_facts *f)
{
    for (int32_t r = 0; r < f->size; r++)
        if ((f->node_of[r] = pmix_number_of((uint32_t)r, PMIX_NODEID, -1)) < 0)
            return false;
    return true;
}

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Are there as many numbers as nodes?  Slurm 24.11 with PMIx 5 tells a rank its own node's number for that of each rank
 * (findings/slurm-pmix-node-of-others.sh).  True without memory, too. */
static bool are_all(const struct pmi_facts *f)
{
    int32_t nodes = pmix_number_of(PMIX_RANK_WILDCARD, PMIX_NUM_NODES, -1), n = 1;
    int32_t *sorted = nodes > 0 ? malloc((size_t)f->size * sizeof *sorted) : NULL;
    if (!sorted)
        return true;
    memcpy(sorted, f->node_of, (size_t)f->size * sizeof *sorted);
    qsort(sorted, (size_t)f->size, sizeof *sorted, by_value);
    for (int32_t r = 1; r < f->size; r++)
        n += sorted[r] != sorted[r - 1];
    free(sorted);
    return n == nodes;
}

static bool take_peers(struct pmi_facts *f, const char *name, int32_t node)
{
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    if (lib.peers(name, lib.me.nspace, &procs, &n) != PMIX_SUCCESS)
        return false;
    for (size_t i = 0; i < n; i++)
        if (procs[i].rank < (uint32_t)f->size)
            f->node_of[procs[i].rank] = node;
    free(procs);
    return true;
}

static bool nodes_by_name(struct pmi_facts *f)
{
    char *names = NULL, *rest = NULL;
    if (lib.nodes(lib.me.nspace, &names) != PMIX_SUCCESS || !names)
        return false;
    int32_t node = 0;
    bool ok = true;
    for (int32_t r = 0; r < f->size; r++)
        f->node_of[r] = -1;
    for (char *name = strtok_r(names, ",", &rest); name && ok; name = strtok_r(NULL, ",", &rest))
        ok = take_peers(f, name, node++);
    for (int32_t r = 0; r < f->size; r++)
        ok = ok && f->node_of[r] >= 0;
    free(names);
    return ok;
}

/* ---- The server's functions ---- */

static int pmix_learn(struct pmi_facts *f)
{
    f->rank = (int32_t)lib.me.rank;
    f->size = pmix_number_of(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, -1);
    if (f->size < 1 || f->rank < 0 || f->rank >= f->size)
        return ku_err_set(EPROTO, NULL, "the launcher's PMIx says rank %d of %d", f->rank, f->size);
    f->universe = pmix_number_of(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, -1);
    f->appnum = pmix_number_of(lib.me.rank, PMIX_APPNUM, -1);
    f->value_max = 8 << 10;
    f->node_of = calloc((size_t)f->size, sizeof *f->node_of);
    if (!f->node_of)
        return ku_err_set(ENOMEM, NULL, "no memory for the nodes of %d ranks", f->size);
    if (f->size > 1 && !(nodes_by_number(f) && are_all(f)) && !nodes_by_name(f) && !nodes_by_number(f))
        return ku_err_set(EPROTO, NULL, "the launcher's PMIx does not tell on which nodes the ranks are");
    node_of = f->node_of;
    return f->size > 1 ? pmi_renumber(f->node_of, f->size) : 0;
}

static int pmix_init(struct pmi_facts *f)
{
    int err = open_library(functions, sizeof functions / sizeof *functions);
    if (!err)
        err = pmix_fail("PMIx_Init", "failed", lib.init(&lib.me, NULL, 0));
    if (!err && (err = pmix_learn(f)) != 0) {
        lib.fini(NULL, 0);
        free(f->node_of);
        f->node_of = NULL;
    }
    return err;
}

static int pmix_put(const char *key, const char *value, enum pmi_reach reach)
{
    pmix_scope_t to = reach == PMI_REACH_NODE ? PMIX_LOCAL : PMIX_GLOBAL;
    pmix_value_t v = { .type = PMIX_STRING };
    v.data.string = strdup(value);
    if (!v.data.string)
        return ku_err_set(ENOMEM, NULL, "no memory to publish %s", key);
    int err = pmix_fail("publishing", key, lib.put(to, key, &v));
    free(v.data.string);
    return err;
}

static int pmix_get(int32_t from, const char *key, char *value, size_t cap)
{
    pmix_value_t *v = NULL;
    int err = pmix_fail("looking up", key, get_of((uint32_t)from, key, &v));
    if (err)
        return err;
    bool is = v->type == PMIX_STRING && v->data.string && strlen(v->data.string) < cap;
    if (is)
        strcpy(value, v->data.string);
    if (v->type == PMIX_STRING)
        free(v->data.string);
    free(v);
    return is ? 0 : ku_err_set(EPROTO, NULL, "the launcher's PMIx has no text of that size as %s", key);
}

/* ---- The fence ---- */

struct fence {
    sem_t over;
    pmix_status_t status;
};

static void pmix_on_fenced(pmix_status_t status, void *arg)
{
    struct fence *f = arg;
    f->status = status;
    sem_post(&f->over);
}

/* A rank may have reason to come late.  But one that has ended before it came is told by nobody where the launcher
 * does not end the job for that: then the others would wait for ever without a word.  One of each node says so,
 * and the next, as it may be that one. */
static void tell_of_waiting(int seconds)
{
    int before = 0;
    for (int32_t r = 0; r < (int32_t)lib.me.rank; r++)
        before += node_of[r] == node_of[lib.me.rank];
    if (before < 2)
        fprintf(stderr,
                "rank %u has waited for other ranks in MPI_Init for %d s.  If one has ended before it called "
                "MPI_Init, the "
                "launcher does not tell: srun -K, or SLURM_KILL_BAD_EXIT=1, ends such a job\n",
                lib.me.rank, seconds);
}

static void pmix_wait_for(struct fence *f)
{
    enum { PATIENCE = 20 /* seconds */ };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    int got;
    while ((got = sem_timedwait(&f->over, &until)) != 0 && errno == EINTR)
        ;
    if (got == 0)
        return;
    tell_of_waiting(PATIENCE);
    while (sem_wait(&f->over) != 0 && errno == EINTR)
        ;
}

/* All that other nodes may ask for is collected: what is fetched when it is asked for is never found if its rank
 * has died. */
static int fence(void)
{
    pmix_info_t collect = { .key = PMIX_COLLECT_DATA };
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    int err = pmix_fail("PMIx_Commit", "failed", lib.commit());
    if (err)
        return err;
    struct fence f = { .status = PMIX_SUCCESS };
    sem_init(&f.over, 0, 0);
    pmix_status_t s = lib.fence(NULL, 0, &collect, 1, pmix_on_fenced, &f);
    if (s == PMIX_SUCCESS) {
        pmix_wait_for(&f);
        s = f.status;
    }
    sem_destroy(&f.over);
    return pmix_fail("PMIx_Fence", "failed", s == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : s);
}

static void pmix_end(int code, const char *text)
{
    if (text && *text)
        fprintf(stderr, "%s\n", text);
    lib.abort(code, text ? text : "", NULL, 0);
}

static void fini(void)
{
    lib.fini(NULL, 0);
}

#else /* without PMIx's headers */

static int pmix_init(struct pmi_facts *f)
{
    (void)f;
    return open_library(NULL, 0);
}

static int pmix_put(const char *key, const char *value, enum pmi_reach reach)
{
    (void)key, (void)value, (void)reach;
    return ENOSYS;
}
static int pmix_get(int32_t from, const char *key, char *value, size_t cap)
{
    (void)from, (void)key, (void)value, (void)cap;
    return ENOSYS;
}
static int fence(void)
{
    return ENOSYS;
}
static void pmix_end(int code, const char *text)
{
    (void)code, (void)text;
}
static void fini(void)
{
}
#endif

const struct pmi_server pmi_x = {
    "PMIx", pmix_is_there, pmix_init, pmix_put, pmix_get, fence, pmix_end, fini
};
