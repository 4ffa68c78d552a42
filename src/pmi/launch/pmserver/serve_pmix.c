/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_pmix.c: see serve_pmix.h.
 *
 * libpmix talks with the ranks in a thread of its own, and calls the functions of `module` there.  What ranks wait
 * for until it is noted (that they begin, end, abort the job) is noted in that thread; all else is shifted to the
 * main thread, through a pipe of pointers. */
#define _GNU_SOURCE
#include "config.h"
#include "serve_pmix.h"
#include "pmi/pmix_library.h"
#include "util/err.h"
#include "pmi/launch/job/launch.h"

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
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/base/scratch.h"
#include "serve_pmix_parts.h"
#include "servant.h"
#include "share.h"
#include "util/cpus.h"

extern char **environ;

struct pmix_functions lib;

static const struct pmi_x_function functions[] = {
    { "PMIx_server_init", (void **)&lib.init },
    { "PMIx_server_register_nspace", (void **)&lib.add_space },
    { "PMIx_server_register_client", (void **)&lib.add_client },
    { "PMIx_server_deregister_nspace", (void **)&lib.drop_space },
    { "PMIx_server_setup_fork", (void **)&lib.fork_environment },
    { "PMIx_server_dmodex_request", (void **)&lib.data_of },
    { "PMIx_generate_regex", (void **)&lib.regex },
    { "PMIx_generate_ppn", (void **)&lib.ranks },
    { "PMIx_Data_pack", (void **)&lib.pack },
    { "PMIx_Data_unpack", (void **)&lib.unpack },
    { "PMIx_Get", (void **)&lib.get },
    { "PMIx_Error_string", (void **)&lib.text },
    { "PMIx_server_define_process_set", (void **)&lib.define_set },
    { "PMIx_Notify_event", (void **)&lib.notify },
};

static int shifts[2];

/* ---- to the main thread ---- */

/* libpmix's thread must not wait for the main one, which may wait for it: the pipe is as long as it can be (begin). */
void shift(struct shifted *s)
{
    while (write(shifts[1], &s, sizeof s) < 0 && errno == EINTR)
        ;
}

int serve_pmix_shifts(void)
{
    return shifts[0];
}

void serve_pmix_shift(void)
{
    struct shifted *s;
    if (read(shifts[0], &s, sizeof s) == sizeof s)
        s->run(s);
}

/* ---- what ranks do: noted at once ---- */

/* Of this job, or of one that its ranks have spawned, which has a servant of its own. */
static bool note(const pmix_proc_t *p, enum younger_word word, int code)
{
    struct space *s = space_find(p->nspace);
    if (!space_is_here(p))
        return false;
    if (s->young)
        younger_event(s, (int)p->rank, word, code);
    else if (word == YOUNGER_BEGUN)
        servant_begun((int)p->rank);
    else if (word == YOUNGER_FINALIZED)
        servant_finalized((int)p->rank);
    else
        servant_aborted((int)p->rank, code, "");
    return true;
}

static pmix_status_t on_connected(const pmix_proc_t *p, void *object, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)done, (void)arg;
    return note(p, YOUNGER_BEGUN, 0) ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t on_finalized(const pmix_proc_t *p, void *object, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)done, (void)arg;
    note(p, YOUNGER_FINALIZED, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Some or all: it is the job that ends.  What programs have to say of it they say themselves. */
static pmix_status_t on_abort(const pmix_proc_t *p, void *object, int status, const char text[],
                              pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)procs, (void)n, (void)text, (void)done, (void)arg;
    note(p, YOUNGER_ABORTED, status);
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
    bool *in = xalloc((size_t)here.hosts, sizeof *in);
    for (size_t i = 0; i < n; i++) {
        const struct space *s = space_find(procs[i].nspace);
        for (int h = 0; h < here.hosts; h++)
            in[h] = in[h] || (procs[i].rank == PMIX_RANK_WILDCARD ? space_ranks_on(s, h) > 0
                                                                  : space_host(s, (int)procs[i].rank) == h);
    }
    f->hosts = xalloc((size_t)here.hosts, sizeof *f->hosts);
    for (int h = 0; h < here.hosts; h++)
        if (in[h])
            f->hosts[f->n++] = h;
    free(in);
}

/* All of them are ranks of jobs that this server knows. */
static bool are_known(const pmix_proc_t procs[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct space *s = space_find(procs[i].nspace);
        if (!s || !space_has(s, &procs[i]))
            return false;
    }
    return n > 0;
}

static int by_name(const void *a, const void *b)
{
    const pmix_proc_t *p = a, *q = b;
    int order = strncmp(p->nspace, q->nspace, sizeof p->nspace);
    return order ? order : (p->rank > q->rank) - (p->rank < q->rank);
}

/* Jobs may name their ranks in different orders; the key is the same on all hosts. */
static char *key_of(const char *name, const pmix_proc_t procs[], size_t n)
{
    pmix_proc_t *sorted = xalloc(n, sizeof *sorted);
    struct pack key = { 0 };
    memcpy(sorted, procs, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    put_bytes(&key, name, strlen(name));
    for (size_t i = 0; i < n; i++) {
        char number[16];
        if (i == 0 || strncmp(sorted[i].nspace, sorted[i - 1].nspace, sizeof sorted->nspace) != 0) {
            put_bytes(&key, " ", 1);
            put_bytes(&key, sorted[i].nspace, strnlen(sorted[i].nspace, sizeof sorted->nspace));
        }
        if (sorted[i].rank == PMIX_RANK_WILDCARD)
            put_bytes(&key, " *", 2);
        else
            put_bytes(&key, number, (size_t)snprintf(number, sizeof number, " %" PRIu32, sorted[i].rank));
    }
    put_bytes(&key, "", 1);
    free(sorted);
    return key.bytes;
}

static struct fence *new_fence(const char *name, const pmix_proc_t procs[], size_t n)
{
    struct fence *f = xalloc(1, sizeof *f);
    f->shifted.run = run_fence;
    f->key = key_of(name, procs, n);
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
    struct space *space;
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
    put_text(&p, w->space->name);
    put_u32(&p, (uint32_t)w->rank);
    put_text(&p, w->key);
    share_ask(space_host(w->space, w->rank), ASK_DATA, p.bytes, p.len, on_data, w);
    free(p.bytes);
}

static pmix_status_t on_wanted(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                               pmix_modex_cbfunc_t done, void *arg)
{
    if (p->rank == PMIX_RANK_WILDCARD || !are_known(p, 1) || space_is_here(p))
        return PMIX_ERR_NOT_FOUND;
    const pmix_value_t *key = directive(info, ninfo, PMIX_REQUIRED_KEY);
    struct wanted *w = xalloc(1, sizeof *w);
    *w = (struct wanted){ { run_wanted }, space_find(p->nspace), (int)p->rank, NULL, done, arg };
    if (key && key->type == PMIX_STRING && key->data.string)
        w->key = xformat("%s", key->data.string);
    shift(&w->shifted);
    return PMIX_SUCCESS;
}

/* The other side of that.  libpmix answers when the rank has put anything; that the key is there is looked for now
 * and then before. */
struct request {
    struct shifted shifted;
    struct request *next;
    int from;
    pmix_proc_t proc;
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
    if (!r->key)
        return true;
    infos_flag(&a, PMIX_OPTIONAL, true);
    bool found = lib.get(&r->proc, r->key, a.at, a.n, &v) == PMIX_SUCCESS;
    infos_free(&a);
    if (v)
        free_content(v);
    free(v);
    return found;
}

/* False: it is to be tried again. */
static bool request(struct request *r)
{
    if (!is_there(r))
        return false;
    pmix_status_t s = lib.data_of(&r->proc, on_found, r);
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

static bool asked_data(int from, uint32_t id, struct unpack *u)
{
    pmix_proc_t proc = { 0 };
    char *name = get_text(u);
    proc.rank = get_u32(u);
    char *key = get_text(u);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", name ? name : "");
    free(name);
    if (u->wrong || u->at != u->end || !space_is_here(&proc) || (key && strlen(key) > PMIX_MAX_KEYLEN)) {
        free(key);
        return false;
    }
    struct request *r = xalloc(1, sizeof *r);
    *r = (struct request){ .shifted = { run_found }, .from = from, .proc = proc, .id = id, .key = key };
    if (!request(r)) {
        r->next = requests;
        requests = r;
    }
    return true;
}

bool serve_pmix_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    return what == ASK_DATA      ? asked_data(from, id, &u)
           : what == ASK_SPACE   ? pmix_space_asked(from, id, &u)
           : what == ASK_SPAWN   ? pmix_spawn_asked(from, id, &u)
           : what == ASK_RELEASE ? pmix_release_asked(from, id, &u)
                                 : false;
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
           : status == NAMES_APART ? PMIX_ERR_NOT_SUPPORTED
                                   : PMIX_ERR_NOT_FOUND;
}

static bool take_found(struct unpack *u, pmix_pdata_t *to)
{
    static const char ours[] = "PMIx ";
    struct name n;
    names_get(u, &n);
    struct unpack in = { n.bytes, n.bytes + n.len, !n.name || strncmp(n.name, ours, sizeof ours - 1) != 0 };
    char *space = in.wrong ? NULL : get_text(&in);
    bool is = space && !in.wrong;
    memset(to, 0, sizeof *to);
    if (is) {
        size_t left = (size_t)(in.end - in.at);
        pmix_data_buffer_t b = { .bytes_allocated = left, .bytes_used = left };
        int32_t one = 1;
        b.base_ptr = b.unpack_ptr = (char *)(uintptr_t)in.at;
        b.pack_ptr = b.base_ptr + left;
        snprintf(to->proc.nspace, sizeof to->proc.nspace, "%s", space);
        to->proc.rank = n.rank;
        snprintf(to->key, sizeof to->key, "%s", n.name + sizeof ours - 1);
        is = lib.unpack(NULL, &b, &to->value, &one, PMIX_VALUE) == PMIX_SUCCESS;
    }
    free(space);
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

/* The publisher's job, and the value. */
static pmix_status_t put_value(struct pack *p, const char *space, const pmix_info_t *info)
{
    pmix_data_buffer_t b = { 0 };
    struct pack of = { 0 };
    pmix_status_t s = lib.pack(NULL, &b, (void *)(uintptr_t)&info->value, 1, PMIX_VALUE);
    char *name = xformat("PMIx %s", info->key);
    put_text(&of, space);
    put_bytes(&of, b.base_ptr, b.bytes_used);
    names_put(p, name, of.bytes, of.len);
    free(of.bytes);
    free(name);
    free(b.base_ptr);
    return s;
}

/* Open MPI's jobs that meet leave what is to be read once. */
static enum names_how how_to_publish(const pmix_info_t info[], size_t n)
{
    const pmix_value_t *range = directive(info, n, PMIX_RANGE),
                       *persists = directive(info, n, PMIX_PERSISTENCE);
    bool once =
        persists && persists->type == PMIX_PERSIST && persists->data.persist == PMIX_PERSIST_FIRST_READ;
    bool within = range && range->type == PMIX_DATA_RANGE &&
                  (range->data.range == PMIX_RANGE_NAMESPACE || range->data.range == PMIX_RANGE_LOCAL ||
                   range->data.range == PMIX_RANGE_PROC_LOCAL);
    return once ? NAMES_ONCE : within ? 0 : NAMES_FOR_ALL;
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
    put_u32(&n->body, how_to_publish(info, ninfo));
    put_u32(&n->body, count);
    for (size_t i = 0; i < ninfo && s == PMIX_SUCCESS; i++)
        if (!is_directive(info[i].key))
            s = put_value(&n->body, p->nspace, &info[i]);
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

/* ---- beginning ---- */

/* libpmix takes as many functions as it knows.  These may be more than the one knew that this was built with: it
 * finds NULL then. */
static struct {
    pmix_server_module_t known;
    void *later[64];
} module = {
    .known = {
        .client_connected = on_connected,
        .client_finalized = on_finalized,
        .abort = on_abort,
        .fence_nb = on_fence,
        .direct_modex = on_wanted,
        .publish = on_publish,
        .lookup = on_lookup,
        .unpublish = on_unpublish,
        .spawn = pmix_spawn,
        .connect = on_connect,
        .disconnect = on_disconnect,
        .notify_event = pmix_event,
        .query = pmix_query,
        .tool_connected = pmix_tool,
    },
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
    char *own = xformat("%s.server", space_own()->name);
    infos_text(&a, PMIX_SERVER_NSPACE, own);
    infos_rank(&a, PMIX_SERVER_RANK, here.me);
    infos_text(&a, PMIX_SERVER_TMPDIR, here.folder);
    infos_text(&a, PMIX_SYSTEM_TMPDIR, here.folder);
    infos_text(&a, PMIX_HOSTNAME, host_name(here.me));
    infos_u32(&a, PMIX_NODEID, here.me);
    if (crew.launch->pmix == SERVE_PMIX_TOOLS)
        infos_flag(&a, PMIX_SERVER_TOOL_SUPPORT, true);
    pmix_status_t s = lib.init(&module.known, a.at, a.n);
    free(own);
    infos_free(&a);
    if (is_well(s))
        s = space_register(space_own());
    if (is_well(s))
        pmix_define_sets();
    return s;
}

char *serve_pmix_begin(void)
{
    const struct launch *l = crew.launch;
    if (pmi_x_library(functions, sizeof functions / sizeof *functions) != 0)
        return xformat("%s", ku_err_last()->text);
    here.folder = scratch_make();
    if (!here.folder || pipe2(shifts, O_CLOEXEC) != 0)
        return xformat("a folder for libpmix's files cannot be made: %s", strerror(errno));
    fcntl(shifts[1], F_SETPIPE_SZ, 1 << 20);
    here.me = l->remote ? l->here : 0;
    here.hosts = l->remote ? l->nodes : 1;
    space_make_own();
    forget_foreign();
    pmix_status_t s = begin();
    return is_well(s) ? NULL : xformat("libpmix's server does not start: %s", lib.text(s));
}

/* More ranks than cores: Open MPI's let others run while they wait only if they are told, as its own launcher does
 * then. */
static bool is_crowded(void)
{
    return space_ranks_on(space_own(), here.me) > (int)ku_cpus();
}

/* Open MPI 4 takes PMIx for a launcher's only where it knows that one; of those that it knows this one does
 * nothing else.  Its files of shared memory are to go where they are removed. */
static void add_open_mpi(struct pack *p)
{
    static const char jsm[] = "JSM_JSRUN_PORT=0", yields[] = "OMPI_MCA_mpi_yield_when_idle=1",
                      *const folders[] = { "btl_vader", "btl_sm", "osc_rdma", "osc_sm" };
    put_bytes(p, jsm, sizeof jsm);
    if (is_crowded())
        put_bytes(p, yields, sizeof yields);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *set = xformat("OMPI_MCA_%s_backing_directory=%s", folders[i], here.folder);
        put_bytes(p, set, strlen(set) + 1);
        free(set);
    }
}

char *pmix_environment(const struct space *s, int rank, struct pack *p)
{
    pmix_proc_t proc;
    char **env = NULL;
    space_proc(&proc, s, rank);
    pmix_status_t status = lib.fork_environment(&proc, &env);
    for (char **e = env; e && *e; e++) {
        put_bytes(p, *e, strlen(*e) + 1);
        free(*e);
    }
    free(env);
    add_open_mpi(p);
    return is_well(status) ? NULL
                           : xformat("libpmix has no environment for rank %d: %s", rank, lib.text(status));
}

char *serve_pmix_environment(int rank, struct pack *p)
{
    return pmix_environment(space_own(), rank, p);
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

int serve_pmix_youngers(void)
{
    return -1;
}

void serve_pmix_hear_youngers(void)
{
}

bool serve_pmix_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    (void)from, (void)id, (void)what, (void)bytes, (void)len;
    return false;
}
#endif
