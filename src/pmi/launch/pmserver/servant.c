/* SPDX-License-Identifier: BSD-3-Clause */
/* servant.c: see servant.h.  What it learns of the ranks goes where the daemon looks anyway: that a rank has
 * begun, or has ended properly, into its node's segment; an abort into the control pipe.  What it has to say to
 * the servants of other hosts goes through the daemons. */
#define _GNU_SOURCE
#include "servant.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "elder.h"
#include "published.h"
#include "offspring.h"
#include "pmi/launch/frames/packets.h"
#include "pmi/launch/base/scratch.h"
#include "serve_pmix.h"
#include "share.h"
#include "talk.h"

enum {
    FROM_DAEMON = -1,
    FROM_PMIX = -2,
    FROM_OFFSPRING = -3,
    FROM_YOUNGERS = -4,
    FROM_ELDER = -5
}; /* of what epoll tells; else it is a rank */

static struct {
    struct packets daemon;
    pid_t daemon_pid;
    int *fd; /* of each rank; -1: none */
    int events;
    bool asks_to_write; /* epoll tells when the daemon's socket takes more */
    bool pmix;
} servant;

/* ---- what is learned of ranks ---- */

static struct ku_seg_rank *seg_rank(int rank)
{
    return ku_segment_rank(&crew.segments[crew.launch->node_of[rank]], (uint32_t)crew.ranks[rank].local);
}

static void tell(int rank, enum pmi_record_kind kind, int value, const char *text)
{
    struct {
        struct pmi_record head;
        char text[1000];
    } r = { .head = { crew.job_id, (uint32_t)rank, kind, (uint32_t)value, 0 } };
    snprintf(r.text, sizeof r.text, "%s", text);
    r.head.len = (uint32_t)strlen(r.text);
    while (write(crew.control[1], &r, sizeof r.head + r.head.len) < 0 && errno == EINTR)
        ;
}

void servant_begun(int rank)
{
    atomic_store(&seg_rank(rank)->state, KU_RANK_RUNNING);
}

void servant_finalized(int rank)
{
    atomic_store(&seg_rank(rank)->state, KU_RANK_FINALIZED);
}

void servant_aborted(int rank, int code, const char *text)
{
    struct ku_seg_rank *r = seg_rank(rank);
    r->abort_code = code;
    atomic_store(&r->state, KU_RANK_ABORTED);
    tell(rank, PMI_ABORT, code, text);
}

/* ---- PMI-1 and PMI-2 ---- */

static void shut(int rank)
{
    close(servant.fd[rank]);
    servant.fd[rank] = -1;
}

/* Answers are short, and a rank reads each before it asks again: one that does not is no rank of any MPI's. */
static void on_send(int rank, const char *bytes, size_t len)
{
    if (servant.fd[rank] >= 0 &&
        send(servant.fd[rank], bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len)
        shut(rank);
}

static void on_event(int rank, enum talk_event event, int code)
{
    if (event == TALK_ABORT)
        servant_aborted(rank, code, "");
    else if (event == TALK_INIT)
        servant_begun(rank);
    else
        servant_finalized(rank);
}

static _Noreturn void not_understood(void)
{
    die("what another host's ranks have told each other through mpiexec is not understood");
}

static void on_fenced(void *arg, int status, const char *bytes, size_t len)
{
    (void)arg;
    if (status != 0 || !talk_fenced(bytes, len))
        not_understood();
}

static void on_fence(const void *bytes, size_t len)
{
    const struct launch *l = crew.launch;
    int32_t *all = xalloc((size_t)l->nodes, sizeof *all);
    for (int i = 0; i < l->nodes; i++)
        all[i] = i;
    share_fence("PMI", all, l->nodes, bytes, len, on_fenced, NULL);
    free(all);
}

struct named {
    int rank;
    enum talk_name what;
};

static void on_named(void *arg, int status, const char *bytes, size_t len)
{
    struct named *n = arg;
    struct unpack u = { bytes, bytes + len, false };
    struct name found = { 0 };
    char *port = NULL;
    if (status == NAMES_OK && n->what == TALK_LOOK_UP) {
        names_get(&u, &found);
        port = found.name ? xformat("%.*s", (int)found.len, found.bytes) : NULL;
    }
    talk_named(n->rank, status == NAMES_OK, port);
    free(found.name);
    free(port);
    free(n);
}

static void on_name(int rank, enum talk_name what, const char *name, const char *port)
{
    static const enum names_what kind[] = { NAMES_PUBLISH, NAMES_LOOK_UP, NAMES_WITHDRAW };
    struct pack p = { 0 };
    struct named *n = xalloc(1, sizeof *n);
    char *key = xformat("PMI %s", name);
    *n = (struct named){ rank, what };
    put_u32(&p, what == TALK_LOOK_UP ? 0 : (uint32_t)rank);
    if (what == TALK_LOOK_UP)
        put_u32(&p, 0);
    if (what == TALK_PUBLISH)
        put_u32(&p, NAMES_FOR_ALL);
    put_u32(&p, 1);
    if (what == TALK_PUBLISH)
        names_put(&p, key, port, strlen(port));
    else
        put_text(&p, key);
    names_ask(kind[what], &p, on_named, n);
    free(p.bytes);
    free(key);
}

/* ---- jobs that are spawned ---- */

static void watch(int fd, int32_t what)
{
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)what };
    if (epoll_ctl(servant.events, EPOLL_CTL_ADD, fd, &e) != 0)
        die("watching what ranks say to their launcher failed: %s", strerror(errno));
}

static void on_spawned(struct offspring *o, const char *why)
{
    talk_spawned(o->rank, why);
}

void servant_spawn(struct offspring *o)
{
    static bool watched;
    if (!watched)
        watch(offspring_events(), FROM_OFFSPRING);
    watched = true;
    offspring_begin(o, servant.daemon_pid);
}

static void on_spawn(int rank, struct offspring *o)
{
    (void)rank;
    o->done = on_spawned;
    servant_spawn(o);
}

/* ---- what ranks say ---- */

/* False: there is no more for now. */
static bool hear(int rank)
{
    char bytes[4096];
    ssize_t n = recv(servant.fd[rank], bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (n > 0 && !talk_take(rank, bytes, (size_t)n)) {
        tell(rank, PMI_MESSAGE, 0, "what it says to its launcher (PMI_FD) is neither PMI-1 nor PMI-2");
        n = 0;
    }
    if (n <= 0 && servant.fd[rank] >= 0)
        shut(rank);
    return n > 0 && servant.fd[rank] >= 0;
}

/* ---- what the daemon says ---- */

/* The first rank that is served PMIx makes this process load libpmix; or so does another host that asks for what
 * that has put.  NULL; or why that does not work, to be freed. */
static char *need_pmix(void)
{
    char *why = servant.pmix ? NULL : serve_pmix_begin();
    if (!why && !servant.pmix) {
        servant.pmix = true;
        prctl(PR_SET_PDEATHSIG, 0); /* there is something to be removed then */
        watch(serve_pmix_shifts(), FROM_PMIX);
        watch(serve_pmix_youngers(), FROM_YOUNGERS);
    }
    return why;
}

static void tell_environment(int rank)
{
    struct pack p = { 0 };
    if (elder_fd() >= 0) {
        elder_environment(&servant.daemon, rank);
        return;
    }
    char *why = need_pmix();
    if (!why)
        why = serve_pmix_environment(rank, &p);
    if (why)
        packets_send(&servant.daemon, PACKET_REFUSED, rank, why, strlen(why), -1);
    else
        packets_send(&servant.daemon, PACKET_SET, rank, p.bytes, p.len, -1);
    free(p.bytes);
    free(why);
}

/* This rank has ended: all that it has said is heard before the daemon is answered. */
static void settle(int rank)
{
    while (servant.fd[rank] >= 0 && hear(rank))
        ;
    if (!elder_settle(rank))
        packets_send(&servant.daemon, PACKET_SETTLED, rank, NULL, 0, -1);
}

static void take(struct packet *k)
{
    if (k->what == PACKET_FROM) {
        if (!share_take(k->value, k->bytes, k->len))
            not_understood();
    } else if (k->what == PACKET_SOCKET) {
        servant.fd[k->value] = k->fd;
        watch(k->fd, k->value);
    } else if (k->what == PACKET_ENVIRON) {
        tell_environment(k->value);
    } else {
        settle(k->value);
    }
}

static void on_daemon(void)
{
    for (struct packet *k; (k = packets_next(&servant.daemon)) != NULL; free(k))
        take(k);
}

/* ---- other hosts ---- */

static void on_parcel(int to, const void *bytes, size_t len)
{
    packets_send(&servant.daemon, PACKET_TO, to, bytes, len, -1);
}

static bool on_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    if (what == NAMES_PUBLISH)
        prctl(PR_SET_PDEATHSIG, 0); /* there may be something to be taken back then */
    if (what < NAMES_END)
        return names_asked(from, id, what, bytes, len);
    char *why = need_pmix();
    bool ok = why || serve_pmix_asked(from, id, what, bytes, len);
    if (why)
        share_answer(from, id, -1, NULL, 0);
    free(why);
    return ok;
}

static void share(void)
{
    static const struct share_ops ops = { on_parcel, on_asked };
    const struct launch *l = crew.launch;
    share_begin(l->remote ? l->here : 0, l->remote ? l->nodes : 1, &ops);
}

/* ---- the process ---- */

static void close_between(int from, int to)
{
#ifdef SYS_close_range
    if (from > to || syscall(SYS_close_range, from, to, 0) == 0)
        return;
#endif
    struct rlimit r = { 1 << 16, 0 };
    getrlimit(RLIMIT_NOFILE, &r);
    for (int fd = from; fd <= to && (rlim_t)fd < r.rlim_cur; fd++)
        close(fd);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Whoever waits for the end of what the daemon has open shall not wait for us; but for stderr. */
static void close_others(int *kept, size_t n)
{
    int from = 3;
    qsort(kept, n, sizeof *kept, by_number);
    close(0);
    close(1);
    for (size_t i = 0; i < n; i++) {
        close_between(from, kept[i] - 1);
        from = kept[i] < from ? from : kept[i] + 1;
    }
    close_between(from, INT_MAX);
}

static void begin_talk(void)
{
    static struct talk_job job;
    const struct launch *l = crew.launch;
    int32_t *section_of = xalloc((size_t)l->size, sizeof *section_of);
    servant.fd = xalloc((size_t)l->size, sizeof *servant.fd);
    for (int i = 0; i < l->size; i++) {
        servant.fd[i] = -1;
        section_of[i] = (int32_t)(crew.ranks[i].app - l->apps);
    }
    int host = l->remote ? l->here : -1;
    job = (struct talk_job){ .size = l->size,
                             .host = host,
                             .universe = (int)crew.segments[host < 0 ? 0 : host].head->universe,
                             .node_of = l->node_of,
                             .section_of = section_of,
                             .id = crew.job_id,
                             .send = on_send,
                             .on = on_event,
                             .fence = on_fence,
                             .put = getenv(OFFSPRING_PUT),
                             .name = on_name,
                             .spawn = on_spawn };
    talk_begin(&job);
}

/* The daemon is gone, and so are its ranks. */
static _Noreturn void end(void)
{
    names_end();
    if (servant.pmix)
        scratch_remove();
    _exit(0);
}

static void watch_writing(void)
{
    bool want = packets_wait(&servant.daemon);
    struct epoll_event e = { .events = EPOLLIN | (want ? EPOLLOUT : 0), .data.u32 = (uint32_t)FROM_DAEMON };
    if (want != servant.asks_to_write && epoll_ctl(servant.events, EPOLL_CTL_MOD, servant.daemon.fd, &e) == 0)
        servant.asks_to_write = want;
}

static int wait_ms(void)
{
    double due = names_due(), pmix = serve_pmix_due();
    if (pmix != 0 && (due == 0 || pmix < due))
        due = pmix;
    return due == 0 ? -1 : milliseconds(due - now()) + 1;
}

_Noreturn void servant_main(int from)
{
    struct epoll_event e;
    prctl(PR_SET_NAME, "keel-pmi");
    servant.daemon_pid = getppid();
    unsetenv("KEEL_PARENT"); /* jobs that are spawned here have another */
    int kept[] = { from, crew.control[1], elder_fd() };
    close_others(kept, sizeof kept / sizeof *kept);
    packets_open(&servant.daemon, from);
    servant.events = epoll_create1(EPOLL_CLOEXEC);
    watch(from, FROM_DAEMON);
    if (elder_fd() >= 0)
        watch(elder_fd(), FROM_ELDER);
    begin_talk();
    share();
    for (;;) {
        int n = epoll_wait(servant.events, &e, 1, wait_ms()), what = (int32_t)e.data.u32;
        packets_flush(&servant.daemon);
        names_on_time();
        serve_pmix_on_time();
        if (n == 1 && what == FROM_DAEMON)
            on_daemon();
        else if (n == 1 && what == FROM_PMIX)
            serve_pmix_shift();
        else if (n == 1 && what == FROM_OFFSPRING)
            offspring_look();
        else if (n == 1 && what == FROM_YOUNGERS)
            serve_pmix_hear_youngers();
        else if (n == 1 && what == FROM_ELDER)
            elder_hear(&servant.daemon);
        else if (n == 1 && servant.fd[what] >= 0)
            hear(what);
        if (servant.daemon.fd < 0)
            end();
        watch_writing();
    }
}
