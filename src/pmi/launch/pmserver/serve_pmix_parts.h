/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_pmix_parts.h: what the files of the PMIx server share (serve_pmix*.c): libpmix's functions, arrays of its
 * keys and values, the jobs that it knows, and the way from its thread to the main one. */
#ifndef SERVE_PMIX_PARTS_H
#define SERVE_PMIX_PARTS_H

#if __has_include(<pmix_server.h>)
#include <pmix_server.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "published.h"
#include "pmi/launch/frames/frame_pack.h"

struct pmix_functions {
    pmix_status_t (*init)(pmix_server_module_t *module, pmix_info_t info[], size_t n);
    pmix_status_t (*add_space)(const pmix_nspace_t space, int local, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t done, void *arg);
    pmix_status_t (*add_client)(const pmix_proc_t *proc, uid_t uid, gid_t gid, void *object,
                                pmix_op_cbfunc_t done, void *arg);
    void (*drop_space)(const pmix_nspace_t space, pmix_op_cbfunc_t done, void *arg);
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
    pmix_status_t (*define_set)(const pmix_proc_t *members, size_t n, const char *name);
    pmix_status_t (*notify)(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                            const pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *arg);
};
extern struct pmix_functions lib;

/* Questions to the servant of another host. */
enum pmix_question {
    ASK_DATA =
        /* all that a rank has put: a text, its job; 4 bytes, the rank; a text: the key that is to be among it;
         * status: libpmix's */
    NAMES_END,
    ASK_RELEASE, /* processes that stop in PMIx_Init go on; status: 0 */
    ASK_SPACE,   /* a job that ranks have spawned, as space_put; status: 0, or -1: there is no PMIx */
    ASK_SPAWN,   /* spawn a job there, as offspring_pack; status: 0, and its name; or -1 */
};

/* ---- to the main thread ---- */

struct shifted {
    void (*run)(struct shifted *s); /* frees it, or keeps it */
};
void shift(struct shifted *s);

/* ---- arrays of key and value ---- */

struct infos {
    pmix_info_t *at;
    size_t n;
};
pmix_value_t *infos_add(struct infos *a, const char *key, pmix_data_type_t type);
void infos_text(struct infos *a, const char *key, const char *text);
void infos_u32(struct infos *a, const char *key, int n);
void infos_u16(struct infos *a, const char *key, int n);
void infos_rank(struct infos *a, const char *key, int rank);
void infos_flag(struct infos *a, const char *key, bool flag);
void infos_array(struct infos *a, const char *key, const struct infos *of);
void infos_free(struct infos *a);
void infos_free_processes(pmix_proc_info_t *at, size_t n);
/* What libpmix has made; of arrays only the head. */
void free_content(pmix_value_t *v);
/* NULL: there is none. */
const pmix_value_t *directive(const pmix_info_t info[], size_t n, const char *key);

static inline bool is_well(pmix_status_t s)
{
    return s == PMIX_SUCCESS || s == PMIX_OPERATION_SUCCEEDED;
}

/* ---- jobs ---- */

struct younger; /* serve_pmix_spawn.c */
/* A job that libpmix knows: this one, and those that its ranks have spawned, which are on one host each. */
struct space {
    struct space *next;
    pmix_nspace_t name;
    int size, universe, napps;
    int *app;                /* [napps]: ranks */
    int host;                /* where it is; -1: this job, whose ranks are where launch says */
    bool young;              /* its servant is another, on this host */
    struct younger *younger; /* then, for the main thread: as long as that lives */
};

/* This host, and how many there are; the folder for files. */
struct pmix_host {
    int me, hosts;
    const char *folder;
};
extern struct pmix_host here;

const char *host_name(int host);
struct space *space_after(const struct space *s); /* all of them, from space_own on; NULL: it is the last */
struct space *space_own(void);                    /* this job */
struct space *space_find(const char *name);       /* NULL: it is not known.  In any thread */
int space_host(const struct space *s, int rank);
bool space_has(const struct space *s, const pmix_proc_t *p); /* it is one of its ranks, or all */
bool space_is_here(const pmix_proc_t *p);                    /* a rank of a job that is known, on this host */
void space_proc(pmix_proc_t *p, const struct space *s, int rank);
int space_ranks_on(const struct space *s, int host);

void space_make_own(void);
/* A job that ranks have spawned: a text, its name; the size of its universe, how many applications, the ranks of
 * each, in 4 bytes.  NULL: it is nonsense. */
struct space *space_get(struct unpack *u, int host);
void space_put(struct pack *p, const struct space *s);
/* Tell libpmix.  The ranks that are here are to be served. */
pmix_status_t space_register(struct space *s);

/* ---- spawned jobs (serve_pmix_spawn.c) ---- */

enum younger_word { YOUNGER_BEGUN, YOUNGER_FINALIZED, YOUNGER_ABORTED };
/* In any thread: what a rank does in whose job another servant is. */
void younger_event(struct space *s, int rank, enum younger_word word, int code);
/* The function of libpmix's module. */
pmix_status_t pmix_spawn(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                         const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done, void *arg);
/* ASK_SPACE, ASK_SPAWN.  False: it is nonsense. */
bool pmix_space_asked(int from, uint32_t id, struct unpack *u);
bool pmix_spawn_asked(int from, uint32_t id, struct unpack *u);

/* ---- questions, tools (serve_pmix_query.c) ---- */

void pmix_define_sets(void);
/* Functions of libpmix's module. */
pmix_status_t pmix_query(pmix_proc_t *from, pmix_query_t *q, size_t n, pmix_info_cbfunc_t done, void *arg);
void pmix_tool(pmix_info_t *info, size_t n, pmix_tool_connection_cbfunc_t done, void *arg);
pmix_status_t pmix_event(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                         pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *arg);
/* ASK_RELEASE.  False: it is nonsense. */
bool pmix_release_asked(int from, uint32_t id, const struct unpack *u);

/* The environment of a rank (serve_pmix.c).  NULL; or why there is none, to be freed. */
char *pmix_environment(const struct space *s, int rank, struct pack *p);
#endif /* there is PMIx */

#endif
