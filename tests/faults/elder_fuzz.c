/* SPDX-License-Identifier: BSD-3-Clause */
/* elder_fuzz.c: what the processes that serve PMIx (keel-pmi) say to each other about jobs that ranks spawn,
 * hostile: the server's own side with a libpmix of this file's making, which says yes to everything.
 *
 *   elder_fuzz [N [SEED]]    N inputs in batches, each batch a process and of one of three kinds
 *   elder_fuzz - SEED        the one batch of this seed, as a failure prints it
 *
 *   younger   packets of a spawned job's servant to the one that serves its ranks (serve_pmix_spawn.c)
 *   elder     packets of that one to the servant of the spawned job (elder.c)
 *   hosts     questions and answers of other hosts' servants about spawned jobs and data of ranks (serve_pmix.c,
 *             share.c)
 *
 * What must hold: what is passed on is of the kinds that the receiver expects, about ranks that there are; each
 * PMIx_Spawn is answered once; no descriptor is left.  Reads and writes out of bounds, and leaks, are
 * AddressSanitizer's (pmi_fuzz.test). */
#define _GNU_SOURCE
#include "config.h"
#include <stdio.h>
#ifndef HAVE_PMIX
int main(void)
{
    puts("skipped: built without PMIx");
    return 77;
}
#else
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pmi/launch/daemons/crew.h"
#include "pmi/launch/pmserver/elder.h"
#include "pmi/launch/pmserver/offspring.h"
#include "pmi/launch/base/scratch.h"
#include "pmi/launch/pmserver/servant.h"
#include "pmi/launch/pmserver/serve_pmix.h"
#include "pmi/launch/pmserver/serve_pmix_parts.h"
#include "pmi/launch/pmserver/share.h"
#include "pmi/pmix_library.h"

#define PROGRAM "elder_fuzz"
#include "random.h"
#include "memory.h"

enum { HOSTS = 3, RANKS = 4, BATCH = 2000, ASK = 3, ANSWER = 4, QUESTIONS = 64 };

/* Shared by all batches' processes. */
static struct totals {
    long inputs, taken, refused;
} * totals;

static void one_taken(bool ok)
{
    totals->inputs++;
    totals->taken += ok;
    totals->refused += !ok;
}

/* ---- mpiexec's other parts ---- */

struct crew crew;

void say(const char *fmt, ...)
{
    (void)fmt;
}

void die(const char *fmt, ...)
{
    fail(fmt);
    abort();
}

double now(void)
{
    return 1;
}

const char *scratch_make(void)
{
    return "/nowhere";
}

static void see_rank(int rank)
{
    if (rank < 0 || rank >= RANKS)
        fail("an event of nobody");
}

void servant_begun(int rank)
{
    see_rank(rank);
}

void servant_finalized(int rank)
{
    see_rank(rank);
}

void servant_aborted(int rank, int code, const char *text)
{
    (void)code, (void)text;
    see_rank(rank);
}

int offspring_output(int rank, int fd)
{
    see_rank(rank);
    return random_below(2) ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
}

/* The job that is being spawned, and this program's end of its servant's socket. */
static struct {
    struct offspring *of;
    int fd;
} job = { .fd = -1 };

static void let_job_end(const char *why)
{
    struct offspring *o = job.of;
    job.of = NULL;
    if (o) {
        o->done(o, why);
        offspring_free(o);
    }
    if (job.fd >= 0)
        close(job.fd);
    job.fd = -1;
    serve_pmix_hear_youngers();
}

void servant_spawn(struct offspring *o)
{
    for (int i = 0; i < o->n; i++)
        if (!o->command[i].program || o->command[i].maxprocs < 1 || o->command[i].nkeys % 2 != 0)
            fail("a program that cannot be");
    if (job.of)
        let_job_end(random_below(2) ? "another one" : NULL);
    job.of = o;
    job.fd = fcntl(o->elder, F_DUPFD_CLOEXEC, 3);
}

/* ---- a libpmix ---- */

static pmix_server_module_t *module;

static pmix_status_t x_init(pmix_server_module_t *m, pmix_info_t info[], size_t n)
{
    (void)info, (void)n;
    module = m;
    return PMIX_SUCCESS;
}

static pmix_status_t x_add_space(const pmix_nspace_t space, int local, pmix_info_t info[], size_t n,
                                 pmix_op_cbfunc_t done, void *arg)
{
    (void)info, (void)done, (void)arg;
    if (!*space || strlen(space) > PMIX_MAX_NSLEN || local < 0 || n == 0)
        fail("a job that cannot be");
    return strcmp(space, space_own()->name) == 0 || random_below(20) ? PMIX_SUCCESS : PMIX_ERROR;
}

static pmix_status_t x_add_client(const pmix_proc_t *proc, uid_t uid, gid_t gid, void *object,
                                  pmix_op_cbfunc_t done, void *arg)
{
    (void)uid, (void)gid, (void)object, (void)done, (void)arg;
    if (!space_is_here(proc))
        fail("a rank that is not here");
    return PMIX_SUCCESS;
}

static void x_drop_space(const pmix_nspace_t space, pmix_op_cbfunc_t done, void *arg)
{
    (void)done, (void)arg;
    if (!space_find(space))
        fail("a job that is not known");
}

static pmix_status_t x_environment(const pmix_proc_t *proc, char ***env)
{
    if (!space_find(proc->nspace))
        fail("an environment for nobody");
    *env = xalloc(2, sizeof **env);
    (*env)[0] = xformat("PMIX_RANK=%u", proc->rank);
    return PMIX_SUCCESS;
}

static pmix_status_t x_data_of(const pmix_proc_t *proc, pmix_dmodex_response_fn_t done, void *arg)
{
    if (!space_is_here(proc))
        fail("data of nobody");
    char data[] = "data";
    if (random_below(4) == 0)
        return PMIX_ERR_NOT_FOUND;
    done(PMIX_SUCCESS, random_below(2) ? data : NULL, sizeof data, arg);
    return PMIX_SUCCESS;
}

static pmix_status_t x_regex(const char *names, char **to)
{
    *to = xformat("%s", names);
    return PMIX_SUCCESS;
}

static pmix_status_t x_get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t n,
                           pmix_value_t **value)
{
    (void)info, (void)n, (void)value;
    if (!space_find(proc->nspace) || strlen(key) > PMIX_MAX_KEYLEN)
        fail("a key of nobody");
    return random_below(2) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static const char *x_text(pmix_status_t status)
{
    return status == PMIX_SUCCESS ? "SUCCESS" : "an error";
}

static pmix_status_t x_define_set(const pmix_proc_t *members, size_t n, const char *name)
{
    (void)members, (void)n, (void)name;
    return PMIX_SUCCESS;
}

static pmix_status_t x_notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                              const pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *arg)
{
    (void)code, (void)source, (void)range, (void)info, (void)n, (void)done, (void)arg;
    return PMIX_SUCCESS;
}

/* pmix_library.c's would load the true one. */
int pmi_x_library(const struct pmi_x_function *f, size_t n)
{
    (void)f, (void)n;
    lib = (struct pmix_functions){ .init = x_init,
                                   .add_space = x_add_space,
                                   .add_client = x_add_client,
                                   .drop_space = x_drop_space,
                                   .fork_environment = x_environment,
                                   .data_of = x_data_of,
                                   .regex = x_regex,
                                   .ranks = x_regex,
                                   .get = x_get,
                                   .text = x_text,
                                   .define_set = x_define_set,
                                   .notify = x_notify };
    return 0;
}

static void run_shifted(void)
{
    struct pollfd p = { .fd = serve_pmix_shifts(), .events = POLLIN };
    while (poll(&p, 1, 0) == 1)
        serve_pmix_shift();
}

/* ---- bytes ---- */

static const uint32_t numbers[] = {
    0, 1, 2, 3, 4, 5, 7, 65537, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x100000, 0x100001
};

static uint32_t a_number(void)
{
    return random_below(3) ? random_below(4) : numbers[random_below(sizeof numbers / sizeof *numbers)];
}

/* Names of jobs: this one, new ones, nonsense. */
static void put_name(struct pack *p, bool fresh)
{
    static unsigned next;
    char name[700];
    uint32_t kind = random_below(fresh ? 12 : 4);
    if (kind == 0 || (!fresh && kind < 3)) {
        put_text(p, space_own()->name);
        return;
    }
    if (kind == 1) {
        put_text(p, random_below(2) ? NULL : "");
        return;
    }
    if (kind == 2) {
        memset(name, 'x', sizeof name);
        name[250 + random_below(sizeof name - 250)] = 0;
    } else {
        snprintf(name, sizeof name, "keel-%016x", fresh ? next++ : random_below(next + 1));
    }
    put_text(p, name);
}

static void put_space(struct pack *p)
{
    uint32_t n = random_below(8) ? 1 + random_below(3) : a_number();
    put_name(p, true);
    put_u32(p, random_below(4) ? 8 : a_number());
    put_u32(p, n);
    for (uint32_t i = 0; i < n && i < 5; i++)
        put_u32(p, random_below(8) ? 1 + random_below(3) : a_number());
}

static void put_offspring(struct pack *p)
{
    char *words[] = { "a", "", "b c" }, *keys[] = { "wdir", "/tmp", "host", "h1", "env" };
    uint32_t n = random_below(8) ? 1 + random_below(3) : a_number();
    put_u32(p, n);
    for (uint32_t i = 0; i < n && i < 4; i++) {
        put_text(p, random_below(16) ? "program" : NULL);
        put_u32(p, random_below(8) ? 1 + random_below(9) : a_number());
        put_texts(p, words, (int)random_below(4));
        put_texts(p, keys, random_below(8) ? 2 * (int)random_below(3) : (int)random_below(6));
    }
}

static void put_data(struct pack *p)
{
    char key[700] = "key";
    if (random_below(8) == 0) {
        memset(key, 'k', sizeof key);
        key[random_below(sizeof key)] = 0;
    }
    put_name(p, false);
    put_u32(p, a_number());
    put_text(p, random_below(3) ? key : NULL);
}

static void mutate(struct pack *p)
{
    char noise[40];
    if (random_below(3))
        return;
    size_t at = p->len ? random_below((uint32_t)p->len) : 0;
    switch (random_below(4)) {
    case 0:
        if (p->len)
            p->bytes[at] = (char)random_below(256);
        break;
    case 1:
        p->len = at;
        break;
    case 2:
        if (p->len - at >= sizeof(uint32_t))
            memcpy(p->bytes + at, &numbers[random_below(sizeof numbers / sizeof *numbers)], sizeof(uint32_t));
        break;
    default:
        memset(noise, (int)random_below(256), sizeof noise);
        put_bytes(p, noise, random_below(sizeof noise));
    }
}

/* ---- packets ---- */

/* With a descriptor now and then, which nobody asked for. */
static void send_packet(int to, uint32_t what, uint32_t value, const struct pack *body)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } with = { .head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
    uint32_t head[2] = { what, value };
    struct iovec v[2] = { { head, random_below(500) ? sizeof head : random_below(8) },
                          { body->bytes, body->len } };
    struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
    int fds[2] = { 1, 2 };
    uint32_t n = random_below(16) ? 0 : 1 + random_below(2);
    if (n > 0) {
        with.head.cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(&with.head), fds, n * sizeof(int));
        m.msg_control = &with;
        m.msg_controllen = CMSG_SPACE(n * sizeof(int));
    }
    sendmsg(to, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static uint32_t a_kind(uint32_t usual)
{
    return random_below(6) ? usual : random_below(4) ? random_below(PACKET_ABORTED + 3) : a_number();
}

/* What has come to a hostile process: of one of these kinds, a bit each.  How many. */
static int see_packets(int fd, uint32_t kinds, int ranks)
{
    static char bytes[PACKET_MOST];
    int32_t head[2];
    struct iovec v[2] = { { head, sizeof head }, { bytes, sizeof bytes } };
    struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
    int n = 0;
    for (ssize_t len; (len = recvmsg(fd, &m, MSG_DONTWAIT)) > 0; n++) {
        if (len < (ssize_t)sizeof head || head[0] < 0 || head[0] > 31 || !(kinds >> head[0] & 1))
            fail("a packet that nobody expects");
        if (head[1] < 0 && ranks > 0)
            fail("a packet about nobody");
        if (ranks > 0 && head[1] >= ranks)
            fail("a packet about a rank that there is not");
    }
    return n;
}

/* ---- parcels ---- */

static struct {
    uint32_t id;
    int host;
} asked[QUESTIONS];
static int nasked, nanswered;

static void on_parcel(int to, const void *bytes, size_t len)
{
    struct unpack u = { bytes, (const char *)bytes + len, false };
    uint32_t last = get_u32(&u), kind = get_u32(&u), id = get_u32(&u);
    if (u.wrong || last > 1 || to < SHARE_ALL || to >= HOSTS || to == here.me)
        fail("a parcel that is none");
    nanswered += kind == ANSWER;
    if (kind == ASK && nasked < QUESTIONS) {
        asked[nasked].id = id;
        asked[nasked++].host = to;
    }
}

static bool on_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    return what >= NAMES_END && serve_pmix_asked(from, id, what, bytes, len);
}

static bool tell(int from, uint32_t kind, uint32_t id, uint32_t value, const struct pack *body)
{
    struct pack p = { 0 };
    put_u32(&p, 1);
    put_u32(&p, kind);
    put_u32(&p, id);
    put_u32(&p, value);
    put_bytes(&p, body->bytes, body->len);
    bool ok = share_take(from, p.bytes, p.len);
    free(p.bytes);
    return ok;
}

/* Some of the questions are answered, some wrongly, some not. */
static void answer_some(void)
{
    while (nasked > 0) {
        struct pack body = { 0 };
        int i = (int)random_below((uint32_t)nasked), host = asked[i].host;
        uint32_t id = asked[i].id;
        asked[i] = asked[--nasked];
        if (random_below(16) == 0)
            continue;
        put_bytes(&body, "keel-0", random_below(7));
        if (random_below(8) == 0)
            host = (int)random_below(HOSTS);
        one_taken(tell(host, ANSWER, id, random_below(2) ? 0 : a_number(), &body));
        free(body.bytes);
    }
}

/* ---- the three kinds ---- */

static int spawns, answers;

static void on_spawn_answered(pmix_status_t status, pmix_nspace_t space, void *arg)
{
    (void)arg;
    answers++;
    if (status == PMIX_SUCCESS && !space_find(space))
        fail("a job that nobody knows has been spawned");
}

static void ask_for_job(void)
{
    char *argv[] = { "program", "word", NULL },
         *hosts[] = { "h0", "h1", "u@h2:3", "h1,h1", "h0,h1", "elsewhere", "" };
    pmix_info_t info;
    pmix_app_t app = { .cmd = "program", .argv = argv, .maxprocs = (int)random_below(5) };
    pmix_proc_t p;
    memset(&info, 0, sizeof info);
    snprintf(info.key, sizeof info.key, "%s", PMIX_HOST);
    info.value.type = PMIX_STRING;
    info.value.data.string = hosts[random_below(sizeof hosts / sizeof *hosts)];
    space_proc(&p, space_own(), here.me);
    spawns += module->spawn(&p, &info, random_below(2), &app, 1, on_spawn_answered, NULL) == PMIX_SUCCESS;
    run_shifted();
}

/* A rank of the job that came last does something. */
static void rank_acts(void)
{
    const struct space *s = space_after(space_own());
    pmix_proc_t p;
    if (!s)
        return;
    space_proc(&p, s, (int)random_below(4));
    if (random_below(2))
        module->client_connected(&p, NULL, NULL, NULL);
    else
        module->abort(&p, NULL, 7, NULL, NULL, 0, NULL, NULL);
    run_shifted();
}

static void one_younger(void)
{
    static const uint32_t usual[] = { PACKET_SPACE, PACKET_ENVIRON, PACKET_ENVIRON, PACKET_SETTLE },
                          told = 1u << PACKET_SET | 1u << PACKET_REFUSED | 1u << PACKET_SETTLED |
                                 1u << PACKET_BEGUN | 1u << PACKET_FINALIZED | 1u << PACKET_ABORTED;
    ask_for_job();
    answer_some();
    for (uint32_t i = random_below(30); i > 0 && job.fd >= 0; i--) {
        struct pack body = { 0 };
        uint32_t what = usual[random_below(4)];
        if (what == PACKET_SPACE)
            put_space(&body);
        mutate(&body);
        send_packet(job.fd, a_kind(what), a_number(), &body);
        free(body.bytes);
        serve_pmix_hear_youngers();
        if (random_below(3) == 0)
            rank_acts();
        if (random_below(3))
            answer_some();
        one_taken(see_packets(job.fd, told, 0) > 0);
    }
    let_job_end(random_below(2) ? "for a reason" : NULL);
    answer_some();
}

static void younger(void)
{
    for (long before = totals->inputs; totals->inputs < before + BATCH;)
        one_younger();
    if (answers > spawns || answers < spawns / 2) /* hosts that never answer have the rest */
        fail("a spawn is answered twice, or not at all");
}

static void elder(void)
{
    static const uint32_t usual[] = { PACKET_SET,   PACKET_REFUSED,   PACKET_SETTLED,
                                      PACKET_BEGUN, PACKET_FINALIZED, PACKET_ABORTED },
                          passed = 1u << PACKET_SET | 1u << PACKET_REFUSED | 1u << PACKET_SETTLED;
    struct packets daemon;
    int to_daemon[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_daemon) != 0)
        fail("no sockets");
    packets_open(&daemon, to_daemon[0]);
    for (int i = 0; i < BATCH; i++) {
        struct pack body = { 0 };
        if (random_below(4) == 0)
            elder_environment(&daemon, (int)random_below(RANKS));
        if (random_below(4) == 0)
            elder_settle((int)random_below(RANKS));
        put_bytes(&body, "NAME=VALUE", 11);
        mutate(&body);
        send_packet(job.fd, a_kind(usual[random_below(6)]), a_number(), &body);
        free(body.bytes);
        elder_hear(&daemon);
        see_packets(job.fd, 1u << PACKET_SPACE | 1u << PACKET_ENVIRON | 1u << PACKET_SETTLE, RANKS);
        one_taken(see_packets(to_daemon[1], passed, RANKS) > 0);
    }
    close(job.fd);
    elder_hear(&daemon);
    see_packets(to_daemon[1], passed, RANKS);
    packets_close(&daemon);
    close(to_daemon[1]);
}

static void hosts(void)
{
    for (int i = 0; i < BATCH; i++) {
        struct pack body = { 0 };
        static void (*const put[])(struct pack *) = { put_data, NULL, put_space, put_offspring };
        uint32_t what = random_below(4);
        if (put[what])
            put[what](&body);
        mutate(&body);
        one_taken(tell((int)a_number(), random_below(20) ? ASK : a_number(), a_number(),
                       random_below(20) ? ASK_DATA + what : a_number(), &body));
        free(body.bytes);
        run_shifted();
        serve_pmix_on_time();
        if (random_below(3) == 0)
            let_job_end(random_below(2) ? "for a reason" : NULL);
    }
    let_job_end(NULL);
    while (serve_pmix_due() != 0)
        serve_pmix_on_time();
    run_shifted();
    if (nanswered == 0)
        fail("nothing was answered");
}

/* ---- all ---- */

static int descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void make_job(bool remote)
{
    static struct launch l;
    static struct app app = { .n = RANKS };
    static struct host host[HOSTS] = { { .name = "h0" }, { .name = "h1" }, { .name = "user@h2" } };
    static int32_t node_of[RANKS] = { 0, 1, 2, 2 };
    static int pids[RANKS];
    static struct ku_segment segment[HOSTS];
    l = (struct launch){ .apps = &app,
                         .napps = 1,
                         .size = RANKS,
                         .nodes = HOSTS,
                         .node_of = node_of,
                         .remote = remote,
                         .here = (int)random_below(HOSTS),
                         .hosts = host,
                         .pids = pids,
                         .host = "h0" };
    for (int i = 0; i < HOSTS; i++)
        segment[i].head = xalloc(1, sizeof *segment[i].head);
    crew.launch = &l;
    crew.segments = segment;
    crew.ranks = xalloc(RANKS, sizeof *crew.ranks);
    crew.job_id = 12345;
}

static void begin_pmix(void)
{
    static const struct share_ops ops = { on_parcel, on_asked };
    char *why = serve_pmix_begin();
    if (why)
        fail(why);
    share_begin(crew.launch->here, HOSTS, &ops);
    serve_pmix_youngers();
}

static void batch(uint64_t number)
{
    int kind = (int)(number % 3), ends[2];
    seed = number;
    state = number * 0x9e3779b97f4a7c15u + 1;
    make_job(kind != 1);
    if (kind != 1) {
        begin_pmix();
    } else {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            fail("no sockets");
        crew.launch->elder = ends[0];
        job.fd = ends[1];
    }
    int before = descriptors() - (kind == 1 ? 2 : 0);
    (kind == 0 ? younger : kind == 1 ? elder : hosts)();
    if (kind == 1 && elder_fd() >= 0)
        fail("a socket that has ended is kept");
    if (descriptors() != before)
        fail("descriptors are left");
}

/* Each in a process of its own: what a servant knows of jobs stays as long as it lives. */
static void run_batch(uint64_t number)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        batch(number);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        printf("FAILED: a batch ended with status %x; " PROGRAM " - %" PRIu64 "\n", (unsigned)status, number);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    bool single = argc > 2 && strcmp(argv[1], "-") == 0;
    long n = single ? 1 : argc > 1 ? atol(argv[1]) : 40000;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (totals == MAP_FAILED)
        return 1;
    for (uint64_t i = 0; totals->inputs < n; i++)
        run_batch(first + i);
    printf("%ld inputs: %ld were answered or taken, %ld were not\n", totals->inputs, totals->taken,
           totals->refused);
    if (!single && (totals->taken < n / 20 || totals->refused < n / 20)) {
        printf("FAILED: hardly any of one kind\n");
        return 1;
    }
    return 0;
}
#endif
