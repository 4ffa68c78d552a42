/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_client.c: what mpiexec's PMIx server answers, asked through libpmix alone, without MPI.  Each rank checks
 * what it gets, and says "rank N is content".
 *   fetch          values are put and looked up: with a fence that collects, with one that does not, without any
 *   part           a fence of some ranks alone, while the others go on
 *   names          published, looked up, waited for, withdrawn
 *   connect        PMIx_Connect, PMIx_Disconnect of all
 *   spawn [HOST]   the last rank spawns two processes of this program (on HOST, and they say where they are), and
 *                  all of both jobs meet and read what the others have put; a program that is not there, and none
 *                  at all, are refused, and the job goes on
 *   child SPACE DEPTH    such a process: its parents' job; a child of depth 1 spawns one more
 *   abort CODE     rank 1 ends the job
 *   leave          rank 1 ends without PMIx_Finalize
 *   big BYTES      a value of that size from each rank, in a fence
 *   one-waits      rank 0 waits in a fence for the others, who never come
 *   stay SECONDS   they tell that they are there, and sleep */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static unsigned size;
static int spawned; /* its node has the number that it has in its parents' job */

static void check(int ok, const char *what)
{
    if (!ok) {
        printf("rank %u: %s\n", me.rank, what);
        fflush(stdout);
        _exit(1);
    }
}

static unsigned number(unsigned rank, const char *key)
{
    pmix_proc_t p = me;
    pmix_value_t *v = NULL;
    p.rank = rank;
    check(PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS, key);
    check(v->type == PMIX_UINT32 || v->type == PMIX_UINT16 || v->type == PMIX_PROC_RANK, key);
    unsigned n = v->type == PMIX_UINT16 ? v->data.uint16 : v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return n;
}

static void put(const char *key, const char *text)
{
    pmix_value_t v = { .type = PMIX_STRING };
    v.data.string = (char *)text;
    check(PMIx_Put(PMIX_GLOBAL, key, &v) == PMIX_SUCCESS, "PMIx_Put");
    check(PMIx_Commit() == PMIX_SUCCESS, "PMIx_Commit");
}

static void fence(int collect, const pmix_proc_t *procs, size_t n)
{
    pmix_info_t info;
    bool flag = collect;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &flag, PMIX_BOOL);
    check(PMIx_Fence(procs, n, &info, 1) == PMIX_SUCCESS, "PMIx_Fence");
}

static void see(unsigned rank, const char *key, const char *want)
{
    pmix_proc_t p = me;
    pmix_value_t *v = NULL;
    p.rank = rank;
    check(PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS, key);
    check(v->type == PMIX_STRING && strcmp(v->data.string, want) == 0, "another value than that was put");
    PMIX_VALUE_RELEASE(v);
}

/* The host of a rank, and its number there. */
static void where(unsigned rank, char *text, size_t cap)
{
    pmix_proc_t p = me;
    pmix_value_t *v = NULL;
    p.rank = rank;
    check(PMIx_Get(&p, PMIX_HOSTNAME, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_STRING, PMIX_HOSTNAME);
    snprintf(text, cap, "%s %u", v->data.string, number(rank, PMIX_LOCAL_RANK));
    PMIX_VALUE_RELEASE(v);
}

/* What the server says of a rank is the same on all hosts. */
static void facts(void)
{
    char text[300];
    check(number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE) >= size, PMIX_UNIV_SIZE);
    check(number(me.rank, PMIX_LOCAL_RANK) < number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE), PMIX_LOCAL_RANK);
    check(spawned || number(me.rank, PMIX_NODEID) < number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES), PMIX_NODEID);
    where(me.rank, text, sizeof text);
    put("where", text);
    fence(1, NULL, 0);
    for (unsigned r = 0; r < size; r++) {
        where(r, text, sizeof text);
        see(r, "where", text);
    }
}

static void fetch(void)
{
    char key[32], text[32];
    for (int round = 0; round < 3; round++) {
        snprintf(key, sizeof key, "key-%d", round);
        snprintf(text, sizeof text, "value %d of %u", round, me.rank);
        if (round == 2)
            usleep(50000 * (size - me.rank)); /* who asks has to wait until it is there */
        put(key, text);
        if (round < 2)
            fence(round == 0, NULL, 0);
        for (unsigned r = 0; r < size; r++) {
            snprintf(text, sizeof text, "value %d of %u", round, r);
            see(r, key, text);
        }
    }
    fence(0, NULL, 0);
}

/* Ranks 0 and the last one; then all. */
static void part(void)
{
    pmix_proc_t two[2] = { me, me };
    two[0].rank = 0;
    two[1].rank = size - 1;
    if (me.rank == 0 || me.rank == size - 1) {
        put("part", me.rank ? "last" : "first");
        fence(1, two, 2);
        see(0, "part", "first");
        see(size - 1, "part", "last");
    }
    fence(0, NULL, 0);
}

static pmix_status_t look_up(const char *key, char *value, size_t cap, int wait)
{
    pmix_pdata_t d;
    pmix_info_t info[2];
    int all = 0, seconds = wait;
    PMIX_PDATA_CONSTRUCT(&d);
    snprintf(d.key, sizeof d.key, "%s", key);
    PMIX_INFO_LOAD(&info[0], PMIX_WAIT, &all, PMIX_INT);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_status_t s = PMIx_Lookup(&d, 1, wait ? info : NULL, wait ? 2 : 0);
    if (s == PMIX_SUCCESS && d.value.type == PMIX_STRING)
        snprintf(value, cap, "%s", d.value.data.string);
    return s;
}

static void names(void)
{
    char value[64] = "", *keys[] = { "a name", NULL };
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, "a name", "a port", PMIX_STRING);
    check(look_up("a name", value, sizeof value, 0) != PMIX_SUCCESS, "nothing is published yet");
    fence(0, NULL, 0);
    if (me.rank == size - 1) {
        usleep(200000);
        check(PMIx_Publish(&info, 1) == PMIX_SUCCESS, "PMIx_Publish");
        check(PMIx_Publish(&info, 1) != PMIX_SUCCESS, "it is published already");
    }
    check(look_up("a name", value, sizeof value, 30) == PMIX_SUCCESS, "PMIx_Lookup, waiting");
    check(strcmp(value, "a port") == 0, "another value than that was published");
    fence(0, NULL, 0);
    if (me.rank == 0)
        check(PMIx_Unpublish(keys, NULL, 0) == PMIX_SUCCESS, "PMIx_Unpublish");
    fence(0, NULL, 0);
    check(look_up("a name", value, sizeof value, 0) != PMIX_SUCCESS, "it is withdrawn");
    if (me.rank == 0)
        check(look_up("another name", value, sizeof value, 1) != PMIX_SUCCESS, "what nobody publishes");
    fence(0, NULL, 0);
}

static void connect_all(void)
{
    pmix_proc_t all = me;
    all.rank = PMIX_RANK_WILDCARD;
    check(PMIx_Connect(&all, 1, NULL, 0) == PMIX_SUCCESS, "PMIx_Connect");
    check(PMIx_Disconnect(&all, 1, NULL, 0) == PMIX_SUCCESS, "PMIx_Disconnect");
}

static char *self, *host;

static pmix_status_t start(const char *program, unsigned n, const char *depth, char *space)
{
    char *argv[] = { (char *)program, "child", me.nspace, (char *)depth, NULL };
    char *env[] = { "SPAWNED_BY=pmix_client", NULL };
    pmix_app_t app = { .cmd = (char *)program, .argv = argv, .env = env, .maxprocs = (int)n, .cwd = "/" };
    pmix_info_t info;
    if (host)
        PMIX_INFO_LOAD(&info, PMIX_HOST, host, PMIX_STRING);
    return PMIx_Spawn(host ? &info : NULL, host ? 1 : 0, &app, 1, space);
}

static void see_in(const char *space, unsigned rank, const char *key, const char *want)
{
    pmix_proc_t p;
    pmix_value_t *v = NULL;
    PMIX_LOAD_PROCID(&p, space, rank);
    check(PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_STRING, key);
    check(strcmp(v->data.string, want) == 0, "another value than a process of the other job has put");
    PMIX_VALUE_RELEASE(v);
}

static unsigned size_of(const char *space)
{
    pmix_proc_t p;
    pmix_value_t *v = NULL;
    PMIX_LOAD_PROCID(&p, space, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&p, PMIX_JOB_SIZE, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_UINT32, PMIX_JOB_SIZE);
    unsigned n = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return n;
}

/* All of both jobs: each names its own first. */
static void meet(const char *other)
{
    pmix_proc_t both[2];
    char text[64];
    snprintf(text, sizeof text, "rank %u of %.40s", me.rank, me.nspace);
    put("meet", text);
    PMIX_LOAD_PROCID(&both[0], me.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], other, PMIX_RANK_WILDCARD);
    check(PMIx_Connect(both, 2, NULL, 0) == PMIX_SUCCESS, "PMIx_Connect of two jobs");
    for (unsigned r = 0; r < size_of(other); r++) {
        snprintf(text, sizeof text, "rank %u of %.40s", r, other);
        see_in(other, r, "meet", text);
    }
    check(PMIx_Disconnect(both, 2, NULL, 0) == PMIX_SUCCESS, "PMIx_Disconnect of two jobs");
}

static void spawn(void)
{
    char space[PMIX_MAX_NSLEN + 1] = "";
    pmix_nspace_t none;
    pmix_value_t *v = NULL;
    pmix_proc_t spawner = me;
    spawner.rank = size - 1;
    if (me.rank == size - 1) {
        check(start("/nowhere/program", 1, "0", none) != PMIX_SUCCESS,
              "a program that is not there is refused");
        check(start(self, 2, "1", space) == PMIX_SUCCESS, "PMIx_Spawn");
        put("space", space);
    }
    check(PMIx_Get(&spawner, "space", NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_STRING, "space");
    snprintf(space, sizeof space, "%s", v->data.string);
    PMIX_VALUE_RELEASE(v);
    check(size_of(space) == 2, "the size of the spawned job");
    meet(space);
}

static void child(const char *parents, const char *depth)
{
    char space[PMIX_MAX_NSLEN + 1] = "", where[8] = "";
    pmix_value_t *v = NULL;
    const char *by = getenv("SPAWNED_BY");
    check(by && strcmp(by, "pmix_client") == 0, "the environment of a spawned process");
    check(getcwd(where, sizeof where) && strcmp(where, "/") == 0, "the directory of a spawned process");
    check(PMIx_Get(&me, PMIX_SPAWNED, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_BOOL && v->data.flag,
          PMIX_SPAWNED);
    PMIX_VALUE_RELEASE(v);
    check(PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_STRING, PMIX_HOSTNAME);
    printf("a child of depth %s is on %s\n", depth, v->data.string);
    PMIX_VALUE_RELEASE(v);
    meet(parents);
    if (strcmp(depth, "1") != 0)
        return;
    if (me.rank == 0) {
        check(start(self, 1, "0", space) == PMIX_SUCCESS, "PMIx_Spawn by a spawned process");
        put("space", space);
    }
    pmix_proc_t first = me;
    first.rank = 0;
    check(PMIx_Get(&first, "space", NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_STRING, "space");
    meet(v->data.string);
    PMIX_VALUE_RELEASE(v);
}

static void big(size_t n)
{
    char *text = malloc(n + 1);
    memset(text, 'a' + (int)(me.rank % 26), n);
    text[n] = 0;
    put("big", text);
    fence(1, NULL, 0);
    for (unsigned r = 0; r < size; r++) {
        memset(text, 'a' + (int)(r % 26), n);
        see(r, "big", text);
    }
    free(text);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int value = argc > 2 ? atoi(argv[2]) : 0;
    self = argv[0];
    host = argc > 2 && strcmp(word, "spawn") == 0 ? argv[2] : NULL;
    spawned = strcmp(word, "child") == 0;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        puts("PMIx_Init failed");
        return 1;
    }
    size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    facts();
    if (strcmp(word, "fetch") == 0)
        fetch();
    else if (strcmp(word, "part") == 0)
        part();
    else if (strcmp(word, "names") == 0)
        names();
    else if (strcmp(word, "connect") == 0)
        connect_all();
    else if (strcmp(word, "spawn") == 0)
        spawn();
    else if (spawned && argc > 3)
        child(argv[2], argv[3]);
    else if (strcmp(word, "big") == 0)
        big((size_t)value);
    else if (strcmp(word, "abort") == 0 && me.rank == 1)
        PMIx_Abort(value, "for a reason", NULL, 0);
    else if (strcmp(word, "leave") == 0 && me.rank == 1)
        return 0;
    if (strcmp(word, "one-waits") == 0) { /* the others ask for nothing any more */
        printf("rank %u %s\n", me.rank, me.rank ? "sleeps" : "waits");
        fflush(stdout);
        if (me.rank == 0)
            fence(0, NULL, 0);
    }
    if (strcmp(word, "abort") == 0 || strcmp(word, "leave") == 0 || strcmp(word, "one-waits") == 0)
        sleep(60);
    if (strcmp(word, "stay") == 0) {
        printf("rank %u is there\n", me.rank);
        fflush(stdout);
        sleep((unsigned)value);
    }
    printf("%s %u is content\n", spawned ? "child" : "rank", me.rank);
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}
