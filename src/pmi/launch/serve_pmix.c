/* serve_pmix.c: see serve_pmix.h.
 *
 * libpmix talks with the ranks in a thread of its own, and calls the functions of `module` there.  What ranks wait for until it is noted (that
 * they begin, end, abort the job) is noted in that thread; all else is shifted to the main thread, through a pipe of pointers.
 *
 * Simulated nodes are one node here: libpmix takes all ranks that it talks with for neighbours. */
#define _GNU_SOURCE
#include "config.h"
#include "serve_pmix.h"
#include "pmi/pmix_library.h"
#include "util/err.h"
#include "launch.h"

#ifdef HAVE_PMIX
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "crew.h"
#include "names.h"
#include "scratch.h"
#include "servant.h"
#include "share.h"
#include "util/cpus.h"

extern char **environ;

static struct {
    pmix_status_t (*init)(pmix_server_module_t *module, pmix_info_t info[], size_t n);
    pmix_status_t (*add_space)(const pmix_nspace_t space, int local, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t done, void *arg);
    pmix_status_t (*add_client)(const pmix_proc_t *proc, uid_t uid, gid_t gid, void *object,
                                pmix_op_cbfunc_t done, void *arg);
    pmix_status_t (*fork_environment)(const pmix_proc_t *proc, char ***env);
    pmix_status_t (*data_of)(const pmix_proc_t *proc, pmix_dmodex_response_fn_t done, void *arg);
    pmix_status_t (*regex)(const char *nodes, char **to);
    pmix_status_t (*ranks)(const char *ranks, char **to);
    pmix_status_t (*pack)(const pmix_proc_t *target, pmix_data_buffer_t *b, void *src, int32_t n,
                          pmix_data_type_t type);
    pmix_status_t (*unpack)(const pmix_proc_t *source, pmix_data_buffer_t *b, void *dest, int32_t *n,
                            pmix_data_type_t type);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t n,
                         pmix_value_t **value);
    const char *(*text)(pmix_status_t status);
} lib;

static const struct pmi_x_function functions[] = {
    { "PMIx_server_init", (void **)&lib.init },
    { "PMIx_server_register_nspace", (void **)&lib.add_space },
    { "PMIx_server_register_client", (void **)&lib.add_client },
    { "PMIx_server_setup_fork", (void **)&lib.fork_environment },
    { "PMIx_server_dmodex_request", (void **)&lib.data_of },
    { "PMIx_generate_regex", (void **)&lib.regex },
    { "PMIx_generate_ppn", (void **)&lib.ranks },
    { "PMIx_Data_pack", (void **)&lib.pack },
    { "PMIx_Data_unpack", (void **)&lib.unpack },
    { "PMIx_Get", (void **)&lib.get },
    { "PMIx_Error_string", (void **)&lib.text },
};

enum {
    ASK_DATA = NAMES_END
}; /* all that a rank has put: 4 bytes, the rank; a text: the key that is to be among it; status: libpmix's */

/* The job as libpmix sees it: hosts with ranks. */
static struct {
    pmix_nspace_t space;
    int me, hosts;
    int *local; /* of each rank: its number on its host */
    int shift[2];
    const char *folder; /* for files */
} job;

static int host_of(int rank)
{
    return crew.launch->remote ? crew.launch->node_of[rank] : 0;
}

static const char *name_of(int host)
{
    const struct launch *l = crew.launch;
    const char *name = l->remote ? l->hosts[host].name : l->host, *at = strrchr(name, '@');
    return at ? at + 1 : name;
}

/* ---- to the main thread ---- */

struct shifted {
    void (*run)(struct shifted *s); /* frees it, or keeps it */
};

/* libpmix's thread must not wait for the main one, which may wait for it: the pipe is as long as it can be (begin). */
static void shift(struct shifted *s)
{
    while (write(job.shift[1], &s, sizeof s) < 0 && errno == EINTR)
        ;
}

int serve_pmix_shifts(void)
{
    return job.shift[0];
}

void serve_pmix_shift(void)
{
    struct shifted *s;
    if (read(job.shift[0], &s, sizeof s) == sizeof s)
        s->run(s);
}

/* ---- arrays of key and value ---- */

struct infos {
    pmix_info_t *at;
    size_t n;
};

static pmix_value_t *add(struct infos *a, const char *key, pmix_data_type_t type)
{
    a->at = xgrow(a->at, a->n + 1, sizeof *a->at);
    pmix_info_t *i = &a->at[a->n++];
    memset(i, 0, sizeof *i);
    snprintf(i->key, sizeof i->key, "%s", key);
    i->value.type = type;
    return &i->value;
}

static void add_text(struct infos *a, const char *key, const char *text)
{
    add(a, key, PMIX_STRING)->data.string = xformat("%s", text);
}

static void add_u32(struct infos *a, const char *key, int n)
{
    add(a, key, PMIX_UINT32)->data.uint32 = (uint32_t)n;
}

static void add_u16(struct infos *a, const char *key, int n)
{
    add(a, key, PMIX_UINT16)->data.uint16 = (uint16_t)n;
}

static void add_rank(struct infos *a, const char *key, int rank)
{
    add(a, key, PMIX_PROC_RANK)->data.rank = (pmix_rank_t)rank;
}

static void add_flag(struct infos *a, const char *key, bool flag)
{
    add(a, key, PMIX_BOOL)->data.flag = flag;
}

static void add_array(struct infos *a, const char *key, const struct infos *of)
{
    pmix_data_array_t *array = xalloc(1, sizeof *array);
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = of->n, .array = of->at };
    add(a, key, PMIX_DATA_ARRAY)->data.darray = array;
}

/* What libpmix has made; of arrays only the head. */
static void free_content(pmix_value_t *v)
{
    if (v->type == PMIX_STRING)
        free(v->data.string);
    else if (v->type == PMIX_BYTE_OBJECT)
        free(v->data.bo.bytes);
    else if (v->type == PMIX_DATA_ARRAY)
        free(v->data.darray);
}

static void free_infos(struct infos *a)
{
    for (size_t i = 0; i < a->n; i++) {
        pmix_value_t *v = &a->at[i].value;
        if (v->type == PMIX_STRING)
            free(v->data.string);
        if (v->type == PMIX_DATA_ARRAY) {
            struct infos of = { v->data.darray->array, v->data.darray->size };
            free_infos(&of);
            free(v->data.darray);
        }
    }
    free(a->at);
}

static const pmix_value_t *directive(const pmix_info_t info[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(info[i].key, key) == 0)
            return &info[i].value;
    return NULL;
}

/* ---- the job ---- */

static void append(char **list, const char *separator, const char *text)
{
    char *longer = xformat("%s%s%s", *list ? *list : "", *list && **list ? separator : "", text);
    free(*list);
    *list = longer;
}

/* The ranks of a host, with commas. */
static char *ranks_on(int host)
{
    struct pack p = { 0 };
    char number[16];
    for (int i = 0; i < crew.launch->size; i++)
        if (host_of(i) == host)
            put_bytes(&p, number, (size_t)snprintf(number, sizeof number, "%s%d", p.len ? "," : "", i));
    put_bytes(&p, "", 1);
    return p.bytes;
}

static pmix_status_t add_maps(struct infos *a)
{
    char *names = NULL, *ranks = NULL, *nodes = NULL, *map = NULL;
    for (int i = 0; i < job.hosts; i++) {
        char *on = ranks_on(i);
        append(&names, ",", name_of(i));
        append(&ranks, ";", on);
        free(on);
    }
    pmix_status_t s = lib.regex(names, &nodes);
    if (s == PMIX_SUCCESS)
        s = lib.ranks(ranks, &map);
    if (s == PMIX_SUCCESS) {
        add(a, PMIX_NODE_MAP, PMIX_STRING)->data.string = nodes;
        add(a, PMIX_PROC_MAP, PMIX_STRING)->data.string = map;
    }
    free(names);
    free(ranks);
    return s;
}

static int count_on(int host)
{
    int n = 0;
    for (int i = 0; i < crew.launch->size; i++)
        n += host_of(i) == host;
    return n;
}

static int ranks_here(void)
{
    return count_on(job.me);
}

static void add_hosts(struct infos *a)
{
    for (int i = 0; i < job.hosts; i++) {
        struct infos of = { 0 };
        char *peers = ranks_on(i);
        add_text(&of, PMIX_HOSTNAME, name_of(i));
        add_u32(&of, PMIX_NODEID, i);
        add_u32(&of, PMIX_NODE_SIZE, count_on(i));
        add_u32(&of, PMIX_LOCAL_SIZE, count_on(i));
        add_text(&of, PMIX_LOCAL_PEERS, peers);
        add_array(a, PMIX_NODE_INFO_ARRAY, &of);
        free(peers);
    }
}

static void add_processes(struct infos *a)
{
    const struct launch *l = crew.launch;
    for (int i = 0, section = 0, first = 0; i < l->size; i++) {
        struct infos of = { 0 };
        if (i == first + l->apps[section].n)
            first += l->apps[section++].n;
        add_rank(&of, PMIX_RANK, i);
        add_u32(&of, PMIX_APPNUM, section);
        add_rank(&of, PMIX_GLOBAL_RANK, i);
        add_rank(&of, PMIX_APP_RANK, i - first);
        add_rank(&of, PMIX_APPLDR, first);
        add_u16(&of, PMIX_LOCAL_RANK, job.local[i]);
        add_u16(&of, PMIX_NODE_RANK, job.local[i]);
        add_u32(&of, PMIX_NODEID, host_of(i));
        add_text(&of, PMIX_HOSTNAME, name_of(host_of(i)));
        add_array(a, PMIX_PROC_DATA, &of);
    }
}

static pmix_status_t add_job(void)
{
    const struct launch *l = crew.launch;
    struct infos a = { 0 };
    char *peers = ranks_on(job.me);
    int universe = (int)crew.segments[l->remote ? l->here : 0].head->universe;
    pmix_status_t s = add_maps(&a);
    add_text(&a, PMIX_JOBID, job.space);
    add_u32(&a, PMIX_JOB_SIZE, l->size);
    add_u32(&a, PMIX_UNIV_SIZE, universe > l->size ? universe : l->size);
    add_u32(&a, PMIX_MAX_PROCS, universe > l->size ? universe : l->size);
    add_u32(&a, PMIX_JOB_NUM_APPS, l->napps);
    add_u32(&a, PMIX_NUM_NODES, job.hosts);
    add_u32(&a, PMIX_NODEID, job.me);
    add_u32(&a, PMIX_NODE_SIZE, ranks_here());
    add_u32(&a, PMIX_LOCAL_SIZE, ranks_here());
    add_text(&a, PMIX_LOCAL_PEERS, peers);
    add_rank(&a, PMIX_LOCALLDR, atoi(peers));
    add_text(&a, PMIX_TMPDIR, job.folder);
    add_text(&a, PMIX_NSDIR, job.folder);
    add_flag(&a, PMIX_TDIR_RMCLEAN, true);
    add_hosts(&a);
    add_processes(&a);
    if (s == PMIX_SUCCESS)
        s = lib.add_space(job.space, ranks_here(), a.at, a.n, NULL, NULL);
    free(peers);
    free_infos(&a);
    return s;
}

static bool is_well(pmix_status_t s)
{
    return s == PMIX_SUCCESS || s == PMIX_OPERATION_SUCCEEDED;
}

static void proc_of(pmix_proc_t *p, int rank)
{
    memset(p, 0, sizeof *p);
    memcpy(p->nspace, job.space, sizeof p->nspace);
    p->rank = (pmix_rank_t)rank;
}

static pmix_status_t add_clients(void)
{
    pmix_status_t s = PMIX_SUCCESS;
    for (int i = 0; i < crew.launch->size && is_well(s); i++)
        if (host_of(i) == job.me) {
            pmix_proc_t p;
            proc_of(&p, i);
            s = lib.add_client(&p, geteuid(), getegid(), NULL, NULL, NULL);
        }
    return s;
}

/* ---- what ranks do: noted at once ---- */

static bool is_ours(const pmix_proc_t *p)
{
    return strncmp(p->nspace, job.space, sizeof job.space) == 0 && p->rank < (pmix_rank_t)crew.launch->size &&
           host_of((int)p->rank) == job.me;
}

static pmix_status_t on_connected(const pmix_proc_t *p, void *object, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)done, (void)arg;
    if (!is_ours(p))
        return PMIX_ERR_NOT_FOUND;
    servant_begun((int)p->rank);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *p, void *object, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)done, (void)arg;
    if (is_ours(p))
        servant_finalized((int)p->rank);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Some or all: it is the job that ends.  What programs have to say of it they say themselves. */
static pmix_status_t on_abort(const pmix_proc_t *p, void *object, int status, const char text[],
                              pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)procs, (void)n, (void)text, (void)done, (void)arg;
    if (is_ours(p))
        servant_aborted((int)p->rank, status, "");
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- fences ---- */

struct fence {
    struct shifted shifted;
    char *key;
    int32_t *hosts;
    int n;
    char *data;
    size_t len;
    pmix_modex_cbfunc_t done; /* of a fence */
    pmix_op_cbfunc_t simple;  /* of an operation that is one, without data */
    void *arg;
};

static void free_fence(struct fence *f)
{
    free(f->key);
    free(f->hosts);
    free(f->data);
    free(f);
}

/* libpmix frees what it gets when it has read it. */
static void answer(pmix_modex_cbfunc_t done, void *arg, pmix_status_t status, const char *bytes, size_t len)
{
    char *copy = len > 0 ? xalloc(len, 1) : NULL;
    if (copy)
        memcpy(copy, bytes, len);
    done(status, copy, len, arg, free, copy);
}

static void on_fenced(void *arg, int status, const char *bytes, size_t len)
{
    struct fence *f = arg;
    pmix_status_t s = status == 0 ? PMIX_SUCCESS : PMIX_ERR_INVALID_OPERATION;
    if (f->simple)
        f->simple(s, f->arg);
    else
        answer(f->done, f->arg, s, bytes, len);
    free_fence(f);
}

static void run_fence(struct shifted *s)
{
    struct fence *f = (struct fence *)s;
    share_fence(f->key, f->hosts, f->n, f->data, f->len, on_fenced, f);
}

static void take_hosts(struct fence *f, const pmix_proc_t procs[], size_t n)
{
    bool *in = xalloc((size_t)job.hosts, sizeof *in);
    for (size_t i = 0; i < n; i++)
        for (int h = 0; h < job.hosts; h++)
            in[h] = in[h] || procs[i].rank == PMIX_RANK_WILDCARD || host_of((int)procs[i].rank) == h;
    f->hosts = xalloc((size_t)job.hosts, sizeof *f->hosts);
    for (int h = 0; h < job.hosts; h++)
        if (in[h])
            f->hosts[f->n++] = h;
    free(in);
}

/* All of its ranks are of this job. */
static bool are_known(const pmix_proc_t procs[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(procs[i].nspace, job.space, sizeof job.space) != 0 ||
            (procs[i].rank != PMIX_RANK_WILDCARD && procs[i].rank >= (pmix_rank_t)crew.launch->size))
            return false;
    return n > 0;
}

static struct fence *new_fence(const char *name, const pmix_proc_t procs[], size_t n)
{
    struct fence *f = xalloc(1, sizeof *f);
    struct pack key = { 0 };
    char number[16];
    put_bytes(&key, name, strlen(name));
    for (size_t i = 0; i < n; i++)
        if (procs[i].rank == PMIX_RANK_WILDCARD)
            put_bytes(&key, " *", 2);
        else
            put_bytes(&key, number, (size_t)snprintf(number, sizeof number, " %" PRIu32, procs[i].rank));
    put_bytes(&key, "", 1);
    f->shifted.run = run_fence;
    f->key = key.bytes;
    take_hosts(f, procs, n);
    return f;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t ninfo,
                              char *data, size_t len, pmix_modex_cbfunc_t done, void *arg)
{
    (void)info, (void)ninfo;
    if (!are_known(procs, n))
        return PMIX_ERR_NOT_SUPPORTED;
    struct fence *f = new_fence("PMIx fence", procs, n);
    f->data = data;
    f->len = len;
    f->done = done;
    f->arg = arg;
    shift(&f->shifted);
    return PMIX_SUCCESS;
}

static pmix_status_t simple_fence(const char *name, const pmix_proc_t procs[], size_t n,
                                  pmix_op_cbfunc_t done, void *arg)
{
    if (!are_known(procs, n))
        return PMIX_ERR_NOT_SUPPORTED;
    struct fence *f = new_fence(name, procs, n);
    f->simple = done;
    f->arg = arg;
    shift(&f->shifted);
    return PMIX_SUCCESS;
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t done, void *arg)
{
    (void)info, (void)ninfo;
    return simple_fence("PMIx connect", procs, n, done, arg);
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                                   size_t ninfo, pmix_op_cbfunc_t done, void *arg)
{
    (void)info, (void)ninfo;
    return simple_fence("PMIx disconnect", procs, n, done, arg);
}

/* ---- what a rank of another host has put ---- */

struct wanted {
    struct shifted shifted;
    int rank;
    char *key; /* that is to be among it; NULL: none is */
    pmix_modex_cbfunc_t done;
    void *arg;
};

static void on_data(void *arg, int status, const char *bytes, size_t len)
{
    struct wanted *w = arg;
    answer(w->done, w->arg, status, bytes, len);
    free(w->key);
    free(w);
}

static void run_wanted(struct shifted *s)
{
    struct wanted *w = (struct wanted *)s;
    struct pack p = { 0 };
    put_u32(&p, (uint32_t)w->rank);
    put_text(&p, w->key);
    share_ask(host_of(w->rank), ASK_DATA, p.bytes, p.len, on_data, w);
    free(p.bytes);
}

static pmix_status_t on_wanted(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                               pmix_modex_cbfunc_t done, void *arg)
{
    if (p->rank == PMIX_RANK_WILDCARD || !are_known(p, 1) || is_ours(p))
        return PMIX_ERR_NOT_FOUND;
    const pmix_value_t *key = directive(info, ninfo, PMIX_REQUIRED_KEY);
    struct wanted *w = xalloc(1, sizeof *w);
    *w = (struct wanted){ { run_wanted }, (int)p->rank, NULL, done, arg };
    if (key && key->type == PMIX_STRING && key->data.string)
        w->key = xformat("%s", key->data.string);
    shift(&w->shifted);
    return PMIX_SUCCESS;
}

/* The other side of that.  libpmix answers when the rank has put anything; that the key is there is looked for now and then before. */
struct request {
    struct shifted shifted;
    struct request *next;
    int from, rank;
    uint32_t id;
    char *key;
    pmix_status_t status;
    char *data;
    size_t len;
};

static const double AGAIN_SECONDS = 0.005;
static struct request *requests; /* for keys that are not there yet */

static void free_request(struct request *r)
{
    free(r->key);
    free(r->data);
    free(r);
}

static void run_found(struct shifted *s)
{
    struct request *r = (struct request *)s;
    share_answer(r->from, r->id, r->status, r->data, r->len);
    free_request(r);
}

static void on_found(pmix_status_t status, char *data, size_t len, void *arg)
{
    struct request *r = arg;
    r->status = status;
    r->len = data ? len : 0;
    r->data = xalloc(r->len, 1);
    if (r->len > 0)
        memcpy(r->data, data, r->len);
    shift(&r->shifted);
}

static bool is_there(const struct request *r)
{
    struct infos a = { 0 };
    pmix_value_t *v = NULL;
    pmix_proc_t p;
    if (!r->key)
        return true;
    proc_of(&p, r->rank);
    add_flag(&a, PMIX_OPTIONAL, true);
    bool found = lib.get(&p, r->key, a.at, a.n, &v) == PMIX_SUCCESS;
    free_infos(&a);
    if (v)
        free_content(v);
    free(v);
    return found;
}

/* False: it is to be tried again. */
static bool request(struct request *r)
{
    pmix_proc_t p;
    if (!is_there(r))
        return false;
    proc_of(&p, r->rank);
    pmix_status_t s = lib.data_of(&p, on_found, r);
    if (s == PMIX_SUCCESS)
        return true;
    share_answer(r->from, r->id, s, NULL, 0);
    free_request(r);
    return true;
}

double serve_pmix_due(void)
{
    return requests ? now() + AGAIN_SECONDS : 0;
}

void serve_pmix_on_time(void)
{
    struct request *all = requests;
    requests = NULL;
    for (struct request *r = all, *next; r; r = next) {
        next = r->next;
        if (!request(r)) {
            r->next = requests;
            requests = r;
        }
    }
}

bool serve_pmix_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    uint32_t rank = get_u32(&u);
    char *key = get_text(&u);
    if (what != ASK_DATA || u.wrong || u.at != u.end || rank >= (uint32_t)crew.launch->size ||
        host_of((int)rank) != job.me || (key && strlen(key) > PMIX_MAX_KEYLEN)) {
        free(key);
        return false;
    }
    struct request *r = xalloc(1, sizeof *r);
    *r = (struct request){ .shifted = { run_found }, .from = from, .rank = (int)rank, .id = id, .key = key };
    if (!request(r)) {
        r->next = requests;
        requests = r;
    }
    return true;
}

/* ---- names ---- */

struct naming {
    struct shifted shifted;
    enum names_what what;
    struct pack body;
    pmix_op_cbfunc_t done;
    pmix_lookup_cbfunc_t found;
    void *arg;
};

/* Directives come among what is published. */
static bool is_directive(const char *key)
{
    return strncmp(key, "pmix.", 5) == 0;
}

static pmix_status_t status_of(int status)
{
    return status == NAMES_OK      ? PMIX_SUCCESS
           : status == NAMES_TAKEN ? PMIX_ERR_DUPLICATE_KEY
           : status == NAMES_LATE  ? PMIX_ERR_TIMEOUT
                                   : PMIX_ERR_NOT_FOUND;
}

static bool take_found(struct unpack *u, pmix_pdata_t *to)
{
    static const char ours[] = "PMIx ";
    struct name n;
    names_get(u, &n);
    bool is = n.name && strncmp(n.name, ours, sizeof ours - 1) == 0;
    memset(to, 0, sizeof *to);
    if (is) {
        pmix_data_buffer_t b = { .bytes_allocated = n.len, .bytes_used = n.len };
        int32_t one = 1;
        b.base_ptr = b.unpack_ptr = (char *)(uintptr_t)n.bytes;
        b.pack_ptr = b.base_ptr + n.len;
        proc_of(&to->proc, (int)n.rank);
        snprintf(to->key, sizeof to->key, "%s", n.name + sizeof ours - 1);
        is = lib.unpack(NULL, &b, &to->value, &one, PMIX_VALUE) == PMIX_SUCCESS;
    }
    free(n.name);
    return is;
}

static void on_named(void *arg, int status, const char *bytes, size_t len)
{
    struct naming *n = arg;
    struct unpack u = { bytes, bytes + len, false };
    pmix_pdata_t *found = NULL;
    size_t nfound = 0;
    while (n->found && u.at < u.end) {
        found = xgrow(found, nfound + 1, sizeof *found);
        if (!take_found(&u, &found[nfound]))
            break;
        nfound++;
    }
    if (n->found)
        n->found(status_of(status), found, nfound, n->arg);
    else
        n->done(status_of(status), n->arg);
    for (size_t i = 0; i < nfound; i++)
        free_content(&found[i].value);
    free(found);
    free(n->body.bytes);
    free(n);
}

static void run_naming(struct shifted *s)
{
    struct naming *n = (struct naming *)s;
    names_ask(n->what, &n->body, on_named, n);
}

static struct naming *new_naming(enum names_what what, void *arg)
{
    struct naming *n = xalloc(1, sizeof *n);
    *n = (struct naming){ .shifted = { run_naming }, .what = what, .arg = arg };
    return n;
}

static void put_key(struct pack *p, const char *key)
{
    char *name = xformat("PMIx %s", key);
    put_text(p, name);
    free(name);
}

static void put_keys(struct pack *p, char **keys)
{
    uint32_t n = 0;
    while (keys && keys[n])
        n++;
    put_u32(p, n);
    for (uint32_t i = 0; i < n; i++)
        put_key(p, keys[i]);
}

static pmix_status_t put_value(struct pack *p, const pmix_info_t *info)
{
    pmix_data_buffer_t b = { 0 };
    pmix_status_t s = lib.pack(NULL, &b, (void *)(uintptr_t)&info->value, 1, PMIX_VALUE);
    char *name = xformat("PMIx %s", info->key);
    names_put(p, name, b.base_ptr, b.bytes_used);
    free(name);
    free(b.base_ptr);
    return s;
}

static pmix_status_t on_publish(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t done, void *arg)
{
    struct naming *n = new_naming(NAMES_PUBLISH, arg);
    pmix_status_t s = PMIX_SUCCESS;
    uint32_t count = 0;
    for (size_t i = 0; i < ninfo; i++)
        count += !is_directive(info[i].key);
    put_u32(&n->body, p->rank);
    put_u32(&n->body, count);
    for (size_t i = 0; i < ninfo && s == PMIX_SUCCESS; i++)
        if (!is_directive(info[i].key))
            s = put_value(&n->body, &info[i]);
    n->done = done;
    if (s == PMIX_SUCCESS) {
        shift(&n->shifted);
        return s;
    }
    free(n->body.bytes);
    free(n);
    return s;
}

/* PMIX_WAIT: for so many; 0: for all. */
static pmix_status_t on_lookup(const pmix_proc_t *p, char **keys, const pmix_info_t info[], size_t ninfo,
                               pmix_lookup_cbfunc_t found, void *arg)
{
    (void)p;
    struct naming *n = new_naming(NAMES_LOOK_UP, arg);
    const pmix_value_t *wait = directive(info, ninfo, PMIX_WAIT),
                       *timeout = directive(info, ninfo, PMIX_TIMEOUT);
    uint32_t nkeys = 0, need = 0;
    while (keys[nkeys])
        nkeys++;
    if (wait)
        need = wait->type == PMIX_INT && wait->data.integer > 0 && (uint32_t)wait->data.integer < nkeys
                   ? (uint32_t)wait->data.integer
                   : nkeys;
    put_u32(&n->body, need);
    put_u32(&n->body, timeout && timeout->type == PMIX_INT && timeout->data.integer > 0
                          ? (uint32_t)timeout->data.integer
                          : 0);
    put_keys(&n->body, keys);
    n->found = found;
    shift(&n->shifted);
    return PMIX_SUCCESS;
}

static pmix_status_t on_unpublish(const pmix_proc_t *p, char **keys, const pmix_info_t info[], size_t ninfo,
                                  pmix_op_cbfunc_t done, void *arg)
{
    (void)info, (void)ninfo;
    struct naming *n = new_naming(NAMES_WITHDRAW, arg);
    put_u32(&n->body, p->rank);
    put_keys(&n->body, keys);
    n->done = done;
    shift(&n->shifted);
    return PMIX_SUCCESS;
}

/* ---- what is refused ---- */

static pmix_status_t on_spawn(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                              const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done, void *arg)
{
    (void)p, (void)info, (void)ninfo, (void)apps, (void)napps, (void)done, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

/* ---- beginning ---- */

static pmix_server_module_t module = {
    .client_connected = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_wanted,
    .publish = on_publish,
    .lookup = on_lookup,
    .unpublish = on_unpublish,
    .spawn = on_spawn,
    .connect = on_connect,
    .disconnect = on_disconnect,
};

/* What another launcher has told mpiexec itself is not for its ranks. */
static bool is_foreign(const char *entry)
{
    return strncmp(entry, "PMIX_", 5) == 0 && strncmp(entry, "PMIX_MCA_", 9) != 0;
}

static void forget_foreign(void)
{
    int n = 0;
    for (char **e = environ; *e; e++)
        if (!is_foreign(*e))
            environ[n++] = *e;
    environ[n] = NULL;
}

static pmix_status_t begin(void)
{
    struct infos a = { 0 };
    char *own = xformat("%s.server", job.space);
    add_text(&a, PMIX_SERVER_NSPACE, own);
    add_rank(&a, PMIX_SERVER_RANK, job.me);
    add_text(&a, PMIX_SERVER_TMPDIR, job.folder);
    add_text(&a, PMIX_SYSTEM_TMPDIR, job.folder);
    add_text(&a, PMIX_HOSTNAME, name_of(job.me));
    add_u32(&a, PMIX_NODEID, job.me);
    pmix_status_t s = lib.init(&module, a.at, a.n);
    free(own);
    free_infos(&a);
    if (is_well(s))
        s = add_job();
    return is_well(s) ? add_clients() : s;
}

char *serve_pmix_begin(void)
{
    const struct launch *l = crew.launch;
    if (pmi_x_library(functions, sizeof functions / sizeof *functions) != 0)
        return xformat("%s", ku_err_last()->text);
    job.folder = scratch_make();
    if (!job.folder || pipe2(job.shift, O_CLOEXEC) != 0)
        return xformat("a folder for libpmix's files cannot be made: %s", strerror(errno));
    fcntl(job.shift[1], F_SETPIPE_SZ, 1 << 20);
    job.me = l->remote ? l->here : 0;
    job.hosts = l->remote ? l->nodes : 1;
    job.local = xalloc((size_t)l->size, sizeof *job.local);
    int *taken = xalloc((size_t)job.hosts, sizeof *taken);
    for (int i = 0; i < l->size; i++)
        job.local[i] = taken[host_of(i)]++;
    free(taken);
    snprintf(job.space, sizeof job.space, "keel-%016" PRIx64, crew.job_id);
    forget_foreign();
    pmix_status_t s = begin();
    return is_well(s) ? NULL : xformat("libpmix's server does not start: %s", lib.text(s));
}

/* More ranks than cores: Open MPI's let others run while they wait only if they are told, as its own launcher does then. */
static bool is_crowded(void)
{
    return ranks_here() > (int)ku_cpus();
}

/* Open MPI 4 takes PMIx for a launcher's only where it knows that one; of those that it knows this one does nothing else.  Its files of
 * shared memory are to go where they are removed. */
static void add_open_mpi(struct pack *p)
{
    static const char jsm[] = "JSM_JSRUN_PORT=0", yields[] = "OMPI_MCA_mpi_yield_when_idle=1",
                      *const folders[] = { "btl_vader", "btl_sm", "osc_rdma", "osc_sm" };
    put_bytes(p, jsm, sizeof jsm);
    if (is_crowded())
        put_bytes(p, yields, sizeof yields);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *set = xformat("OMPI_MCA_%s_backing_directory=%s", folders[i], job.folder);
        put_bytes(p, set, strlen(set) + 1);
        free(set);
    }
}

char *serve_pmix_environment(int rank, struct pack *p)
{
    pmix_proc_t proc;
    char **env = NULL;
    proc_of(&proc, rank);
    pmix_status_t s = lib.fork_environment(&proc, &env);
    for (char **e = env; e && *e; e++) {
        put_bytes(p, *e, strlen(*e) + 1);
        free(*e);
    }
    free(env);
    add_open_mpi(p);
    return is_well(s) ? NULL : xformat("libpmix has no environment for rank %d: %s", rank, lib.text(s));
}

#else /* without PMIx's headers */

double serve_pmix_due(void)
{
    return 0;
}

void serve_pmix_on_time(void)
{
}

char *serve_pmix_begin(void)
{
    pmi_x_library(NULL, 0);
    return xformat("%s", ku_err_last()->text);
}

char *serve_pmix_environment(int rank, struct pack *p)
{
    (void)rank, (void)p;
    return NULL;
}

int serve_pmix_shifts(void)
{
    return -1;
}

void serve_pmix_shift(void)
{
}

bool serve_pmix_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    (void)from, (void)id, (void)what, (void)bytes, (void)len;
    return false;
}
#endif
