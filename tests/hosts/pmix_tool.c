/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_tool.c: a tool that connects to mpiexec's PMIx server (-pmix-tools): it says what it is told, a line a fact.
 *   pmix_tool FILE           the server's file; the job's name, its processes, the process sets with their
 *                            members, what is supported
 *   pmix_tool FILE release   lets processes go on that stop in PMIx_Init (or, with our library, in MPI_Init) */
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static char space[PMIX_MAX_NSLEN + 1];

static pmix_status_t ask(const char *key, const char *qualifier, const char *value, pmix_info_t **info,
                         size_t *n)
{
    pmix_query_t *q;
    pmix_status_t s;
    *info = NULL;
    *n = 0;
    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(s, q->keys, key);
    if (s == PMIX_SUCCESS && qualifier) {
        PMIX_QUERY_QUALIFIERS_CREATE(q, 1);
        PMIX_INFO_LOAD(&q->qualifiers[0], qualifier, value, PMIX_STRING);
    }
    if (s == PMIX_SUCCESS)
        s = PMIx_Query_info(q, 1, info, n);
    PMIX_QUERY_FREE(q, 1);
    return s;
}

/* PMIx's own texts are others in each version: NOT-FOUND in 4, PMIX_ERR_NOT_FOUND later. */
static const char *name_of(pmix_status_t s)
{
    switch (s) {
    case PMIX_SUCCESS:
        return "done";
    case PMIX_ERR_NOT_FOUND:
        return "not found";
    case PMIX_ERR_NOT_SUPPORTED:
        return "not supported";
    default:
        return PMIx_Error_string(s);
    }
}

static void text(const char *key, char *to, size_t cap)
{
    pmix_info_t *info;
    size_t n;
    pmix_status_t s = ask(key, NULL, NULL, &info, &n);
    if (s == PMIX_SUCCESS && n == 1 && info->value.type == PMIX_STRING)
        snprintf(to, cap, "%s", info->value.data.string);
    else
        printf("%s: %s\n", key, name_of(s));
}

static void processes(const char *key)
{
    pmix_info_t *info;
    size_t n;
    pmix_status_t s = ask(key, PMIX_NSPACE, space, &info, &n);
    if (s != PMIX_SUCCESS || n != 1 || info->value.type != PMIX_DATA_ARRAY) {
        printf("%s: %s\n", key, name_of(s));
        return;
    }
    const pmix_proc_info_t *p = info->value.data.darray->array;
    for (size_t i = 0; i < info->value.data.darray->size; i++)
        printf("%s: rank %u on %s is process %d of %s, state %d\n", key, p[i].proc.rank, p[i].hostname,
               (int)p[i].pid, p[i].executable_name, p[i].state);
}

static void members(const char *set)
{
    pmix_info_t *info;
    size_t n;
    pmix_status_t s = ask(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, set, &info, &n);
    printf("%s:", set);
    if (s != PMIX_SUCCESS || n != 1 || info->value.type != PMIX_DATA_ARRAY)
        printf(" %s", name_of(s));
    const pmix_proc_t *p = s == PMIX_SUCCESS ? info->value.data.darray->array : NULL;
    for (size_t i = 0; p && i < info->value.data.darray->size; i++)
        printf(" %u", p[i].rank);
    printf("\n");
}

static void sets(void)
{
    char names[4000] = "";
    pmix_info_t *info;
    size_t n;
    if (ask(PMIX_QUERY_NUM_PSETS, NULL, NULL, &info, &n) == PMIX_SUCCESS && n == 1)
        printf("sets: %zu\n", info->value.data.size);
    text(PMIX_QUERY_PSET_NAMES, names, sizeof names);
    for (char *rest = names, *name; (name = strsep(&rest, ",")) != NULL;)
        members(name);
    members("no such set");
}

static int release(void)
{
    pmix_proc_t all;
    pmix_info_t info[2];
    bool flag = true;
    PMIX_LOAD_PROCID(&all, space, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_PROC);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_NON_DEFAULT, &flag, PMIX_BOOL);
    pmix_status_t s = PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, &me, PMIX_RANGE_CUSTOM, info, 2, NULL, NULL);
    printf("release: %s\n", name_of(s));
    return s == PMIX_SUCCESS ? 0 : 1;
}

int main(int argc, char **argv)
{
    pmix_info_t info;
    char supported[400] = "";
    int code = 0;
    if (argc < 2)
        return 2;
    PMIX_INFO_LOAD(&info, PMIX_TOOL_ATTACHMENT_FILE, argv[1], PMIX_STRING);
    pmix_status_t s = PMIx_tool_init(&me, &info, 1);
    if (s != PMIX_SUCCESS) {
        printf("PMIx_tool_init: %s\n", name_of(s));
        return 1;
    }
    text(PMIX_QUERY_NAMESPACES, space, sizeof space);
    if (argc > 2) {
        code = release();
    } else {
        printf("job: %s\n", space);
        processes(PMIX_QUERY_PROC_TABLE);
        processes(PMIX_QUERY_LOCAL_PROC_TABLE);
        sets();
        text(PMIX_QUERY_DEBUG_SUPPORT, supported, sizeof supported);
        printf("debugging: %s\n", supported);
        text(PMIX_QUERY_QUEUE_LIST, supported, sizeof supported); /* there is none */
    }
    fflush(stdout);
    PMIx_tool_finalize();
    return code;
}
