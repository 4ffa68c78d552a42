/* SPDX-License-Identifier: BSD-3-Clause */
/* remote.c: see remote.h. */
#define _GNU_SOURCE
#include "config.h"
#include "remote.h"
#include "crew.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "feed.h"
#include "fleet.h"
#include "pmi/launch/hang/hang.h"
#include "job.h"
#include "pmi/launch/output/output.h"
#include "pmi/launch/output/report.h"
#include "pmi/launch/profile/profile_report.h"
#include "pmi/launch/pmserver/share.h"
#include "util/cpus.h"

/* A host. */
struct place_of {
    bool greeted, started, lost, done, stopping;
    int question; /* the last that it has answered */
    int jobs;     /* as remote_jobs counts them */
    uint32_t cpus;
    size_t owed[2]; /* bytes of its output that have come and were not acknowledged */
    size_t texts;   /* bytes that it has said itself */
};

/* The stdin of a rank there. */
struct supply {
    int rank, fd; /* fd: -1: it has ended */
    int under_way;
};

static struct {
    const struct remote_ops *ops;
    struct place_of *at;            /* [nodes] */
    int n;                          /* hosts that are not this one */
    bool launched, shut[2], ending; /* launched: the job has been told */
    struct supply *supply;
    int nsupply;
    struct job_ends ends; /* of those that ranks there have spawned */
    double heard;         /* the last answer of a host */
    char *from;           /* this machine, as the first host that answered sees it; NULL: not known */
} remote;

/* Nodes whose daemons we talk with. */
static bool is_there(int node)
{
    return remote.n > 0 && node >= 0 && node < crew.launch->nodes && node != crew.launch->here;
}

static void lose(int node, const char *why)
{
    if (!remote.at[node].lost && !remote.at[node].done) {
        remote.at[node].lost = true;
        remote.at[node].stopping = false;
        remote.ops->lost(node, why);
    }
}

/* ---- what comes ---- */

/* Each says whether it is understood: a daemon that says something else is lost. */

static bool on_hello(int node, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct frame_hello hello;
    get_hello(&u, &hello);
    char *version = get_text(&u), *name = get_text(&u), *at = get_text(&u), *from = get_text(&u);
    struct place_of *p = &remote.at[node];
    bool first = !p->greeted;
    p->cpus = hello.cpus;
    remote.heard = now();
    if (u.wrong || hello.link_version != LINK_VERSION || hello.segment_version != KU_SEG_VERSION ||
        !version || strcmp(version, PACKAGE_VERSION) != 0 || hello.word_bytes != sizeof(void *)) {
        char *why = xformat("its keel daemon is of version %s, mpiexec of %s; install the same on all hosts",
                            version ? version : "unknown", PACKAGE_VERSION);
        lose(node, why);
        free(why);
    } else {
        p->greeted = true;
        if (!remote.from && from && *from)
            remote.from = xformat("%s", from);
    }
    free(version);
    free(name);
    free(at);
    free(from);
    return first;
}

static int ranks_on(int node)
{
    int n = 0;
    for (int i = 0; i < crew.launch->size; i++)
        n += crew.launch->node_of[i] == node;
    return n;
}

static bool on_started(int node, int n, const char *bytes, size_t len)
{
    struct place_of *p = &remote.at[node];
    struct unpack u = { bytes, bytes + len, false };
    if (p->started || n != (crew.launch->bind.no_launch ? 0 : ranks_on(node)) ||
        len != (size_t)n * sizeof(uint32_t))
        return false;
    for (int i = 0; i < crew.launch->size && u.at < u.end; i++) {
        if (crew.launch->node_of[i] != node)
            continue;
        int32_t pid = (int32_t)get_u32(&u);
        if (pid <= 0)
            return false;
        if (crew.ranks[i].pid < 0) /* it has not failed */
            crew.ranks[i].pid = pid;
        crew.launch->pids[i] = pid;
    }
    p->started = true;
    return true;
}

/* Those that were started all the same end with the daemon. */
static void on_failed(int node, int code)
{
    for (int i = 0; i < crew.launch->size; i++)
        if (crew.launch->node_of[i] == node && crew.ranks[i].pid != 0) {
            crew.ranks[i].pid = 0;
            crew.alive--;
        }
    remote.ops->failed(code);
}

static void acknowledge(int node, int which)
{
    struct pack p = { 0 };
    uint32_t n = (uint32_t)remote.at[node].owed[which];
    if (n > 0 && output_room(which)) {
        remote.at[node].owed[which] = 0;
        put_u32(&p, n);
        fleet_send(FRAME_TAKEN, node, which, p.bytes, p.len);
        free(p.bytes);
    }
}

static void on_output(int node, int stream, const char *bytes, size_t len)
{
    int which = stream % 2;
    size_t *owed = &remote.at[node].owed[which], most = OUTPUT_WINDOW;
    if (remote.ending)
        most += (size_t)ranks_on(node) * OUTPUT_LAST;
    if (*owed + len > most) {
        fleet_distrust(node, "it sends more output than it may");
        return;
    }
    output_take(stream / 2, which, bytes, len);
    *owed += len;
    if (*owed >= OUTPUT_WINDOW / 4)
        acknowledge(node, which);
}

/* One is at most what a pipe takes in one piece, as here.  There is no window for them: ranks here may say as many. */
static bool on_record(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct pmi_record r;
    bool found_gone = get_u32(&u) != 0;
    const char *said = get_record(&u, &r);
    if (u.wrong || u.at != u.end || r.job_id != crew.job_id || r.rank != (uint32_t)rank)
        return false;
    remote.ops->record(&r, said, found_gone);
    return true;
}

/* What ends of a host whose ranks have failed is no news. */
static bool on_ended(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct frame_ended e;
    get_ended(&u, &e);
    char *why = get_text(&u);
    bool known = !u.wrong && u.at == u.end;
    if (known && crew.ranks[rank].pid != 0) {
        known = e.pid == crew.ranks[rank].pid && (WIFEXITED(e.status) || WIFSIGNALED(e.status));
        if (known) {
            crew.ranks[rank].pid = 0;
            crew.ranks[rank].status = e.status;
            crew.alive--;
            remote.ops->ended(rank, &e, why);
        }
    }
    free(why);
    return known;
}

/* Of more bytes than are under way it cannot speak. */
static bool on_read(int rank, const char *bytes, size_t len)
{
    struct supply *s = remote.supply;
    struct unpack u = { bytes, bytes + len, false };
    int32_t n = (int32_t)get_u32(&u);
    while (s < remote.supply + remote.nsupply && s->rank != rank)
        s++;
    if (s == remote.supply + remote.nsupply || u.wrong || u.at != u.end || n < -1 || n > s->under_way)
        return false;
    s->under_way -= n < 0 ? 0 : n;
    if (n < 0 && s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
    return true;
}

static bool on_have(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct card_answer a = { .rank = (uint32_t)rank };
    get_card(&u, &a);
    if (u.wrong || a.node < 0 || a.node >= crew.launch->nodes || a.node == crew.launch->node_of[rank])
        return false;
    remote.ops->have(&a);
    return true;
}

static bool on_to(int node, int to, const char *bytes, size_t len)
{
    bool ok = len > 0 && len <= SHARE_PARCEL && to >= SHARE_ALL && to < crew.launch->nodes && to != node;
    if (ok)
        remote.ops->parcel(node, to, bytes, len);
    return ok;
}

static bool on_state(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct hang_state s;
    int question = get_range(&u, 0, INT_MAX);
    get_state(&u, &s);
    char *where = get_text(&u), *process = get_text(&u);
    if (u.wrong || u.at != u.end) {
        free(where);
        free(process);
        return false;
    }
    hang_take(rank, question, &s, where, process);
    return true;
}

/* What the daemon says on stderr begins as messages of ours do: name the host there.  What else comes from there
 * is the agent's. */
static void on_text(int node, const char *bytes, size_t len)
{
    static const char ours[] = "mpiexec: ";
    const size_t n = sizeof ours - 1;
    const char *host = crew.launch->hosts[node].name;
    size_t *texts = &remote.at[node].texts, before = *texts;
    *texts += len;
    if (*texts > TEXT_MOST) {
        if (before <= TEXT_MOST)
            report_host(host, "it has too much to say on stderr; the rest is not shown");
        return;
    }
    for (const char *end = bytes + len, *next; bytes < end; bytes = next) {
        const char *nl = memchr(bytes, '\n', (size_t)(end - bytes));
        next = nl ? nl + 1 : end;
        int length = (int)((nl ? nl : end) - bytes);
        while (length > 0 && bytes[length - 1] == '\r')
            length--;
        bool is = (size_t)length > n && memcmp(bytes, ours, n) == 0;
        char *line = is ? xformat("mpiexec: %s: %.*s\n", host, length - (int)n, bytes + n)
                        : xformat("%.*s\n", length, bytes);
        output_message(line);
        free(line);
    }
}

/* What is about a rank; and what comes only when the job has been told. */
static bool names_rank(int kind)
{
    return kind == FRAME_OUTPUT || kind == FRAME_RECORD || kind == FRAME_ENDED || kind == FRAME_READ ||
           kind == FRAME_STATE || kind == FRAME_HAVE || kind == FRAME_PROFILE;
}

static bool needs_job(int kind)
{
    return names_rank(kind) || kind == FRAME_STARTED || kind == FRAME_STOPPED || kind == FRAME_STATES ||
           kind == FRAME_TO || kind == FRAME_JOBS;
}

static bool is_its_rank(const struct frame *f)
{
    int rank = f->value < 0 ? -1 : f->kind == FRAME_OUTPUT ? f->value / 2 : f->value;
    return rank >= 0 && rank < crew.launch->size && crew.launch->node_of[rank] == f->node;
}

static bool on_jobs(int node, int n, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    int code = (int)get_u32(&u), lost_code = (int)get_u32(&u);
    bool lives = get_u32(&u) != 0;
    if (u.wrong || u.at != u.end || n < 0)
        return false;
    remote.at[node].jobs = n;
    if (!remote.ends.code)
        remote.ends.code = code;
    if (!remote.ends.lost_code)
        remote.ends.lost_code = lost_code;
    remote.ends.lives |= lives;
    return true;
}

int remote_jobs(void)
{
    int n = 0;
    for (int i = 0; remote.n > 0 && i < crew.launch->nodes; i++)
        if (is_there(i) && !remote.at[i].lost && !remote.at[i].done)
            n += remote.at[i].jobs;
    return n;
}

const struct job_ends *remote_job_ends(void)
{
    return &remote.ends;
}

/* Is it understood? */
static bool take(const struct frame *f, const char *bytes)
{
    switch (f->kind) {
    case FRAME_HELLO:
        return on_hello(f->node, bytes, f->len);
    case FRAME_STARTED:
        return on_started(f->node, f->value, bytes, f->len);
    case FRAME_FAILED:
        on_failed(f->node, f->value);
        return true;
    case FRAME_OUTPUT:
        on_output(f->node, f->value, bytes, f->len);
        return true;
    case FRAME_RECORD:
        return on_record(f->value, bytes, f->len);
    case FRAME_ENDED:
        return on_ended(f->value, bytes, f->len);
    case FRAME_READ:
        return on_read(f->value, bytes, f->len);
    case FRAME_STOPPED:
        remote.at[f->node].stopping = false;
        return true;
    case FRAME_JOBS:
        return on_jobs(f->node, f->value, bytes, f->len);
    case FRAME_PROFILE:
        return prof_take(f->value, bytes, f->len);
    case FRAME_HAVE:
        return on_have(f->value, bytes, f->len);
    case FRAME_TO:
        return on_to(f->node, f->value, bytes, f->len);
    case FRAME_STATE:
        return on_state(f->value, bytes, f->len);
    case FRAME_STATES:
        remote.at[f->node].question = f->value;
        return true;
    case FRAME_DONE:
        if (!remote.ending)
            lose(f->node, "its daemon has ended before the job");
        remote.at[f->node].done = true;
        return true;
    case FRAME_TEXT:
        on_text(f->node, bytes, f->len);
        return true;
    case FRAME_LOST: {
        char *why = xformat("%.*s", (int)f->len, bytes);
        lose(f->node, why);
        free(why);
        return true;
    }
    default:
        return false;
    }
}

static void on_frame(const struct frame *f, const char *bytes)
{
    if (!is_there(f->node) || (remote.at[f->node].lost && f->kind != FRAME_TEXT))
        return;
    if (names_rank(f->kind) && !is_its_rank(f))
        fleet_distrust(f->node, "it speaks for another host's rank");
    else if ((needs_job(f->kind) && !remote.launched) || !take(f, bytes))
        fleet_distrust(f->node, LINK_NONSENSE);
}

/* ---- starting ---- */

void remote_start(const struct remote_ops *ops)
{
    struct launch *l = crew.launch;
    struct fleet_plan plan = { .how = l->how, .timeout = l->node_timeout };
    if (!l->remote)
        return;
    remote.ops = ops;
    remote.at = xalloc((size_t)l->nodes, sizeof *remote.at);
    plan.hosts = xalloc((size_t)l->nodes, sizeof *plan.hosts);
    for (int i = 0; i < l->nodes; i++)
        if (i != l->here)
            plan.hosts[plan.nhosts++] = (struct fleet_host){ i, l->hosts[i].name };
    remote.n = plan.nhosts;
    remote.heard = now();
    fleet_start(&plan, on_frame);
}

bool remote_ready(void)
{
    for (int i = 0; remote.n > 0 && i < crew.launch->nodes; i++)
        if (is_there(i) && !remote.at[i].greeted)
            return false;
    return true;
}

/* Who reaches hosts behind it tells within the node-timeout which of them do not answer: if it does not, they are
 * lost all the same.  At any time one of those that are missing is reached by one that has answered, so an answer
 * may be waited for from the last one on. */
static void look_for_answers(void)
{
    char *why = NULL;
    if (remote.launched || now() < remote.heard + 2 * crew.launch->node_timeout)
        return;
    for (int i = 0; i < crew.launch->nodes; i++)
        if (is_there(i) && !remote.at[i].greeted) {
            why = why ? why : xformat("it has not answered within %g s", 2 * crew.launch->node_timeout);
            lose(i, why);
        }
    free(why);
}

bool remote_unknown(void)
{
    for (int i = 0; remote.n > 0 && i < crew.launch->nodes; i++)
        if (is_there(i) && !remote.at[i].greeted && !remote.at[i].lost)
            return true;
    return false;
}

bool remote_started(void)
{
    for (int i = 0; remote.n > 0 && i < crew.launch->nodes; i++)
        if (is_there(i) && !remote.at[i].started)
            return false;
    return true;
}

static void make_supplies(void)
{
    const struct launch *l = crew.launch;
    for (int i = 0; i < l->size; i++) {
        int fd = is_there(l->node_of[i]) ? feed_take(i) : -1;
        if (fd < 0)
            continue;
        remote.supply = xgrow(remote.supply, (size_t)remote.nsupply + 1, sizeof *remote.supply);
        remote.supply[remote.nsupply++] = (struct supply){ .rank = i, .fd = fd };
    }
}

void remote_launch(void)
{
    struct launch *l = crew.launch;
    struct pack p = { 0 };
    if (remote.n == 0)
        return;
    uint64_t cpus = l->here >= 0 ? ku_cpus() : 0;
    for (int i = 0; i < l->nodes; i++)
        cpus += is_there(i) ? remote.at[i].cpus : 0;
    crew.universe = cpus < 1 << 30 ? (uint32_t)cpus : 1 << 30;
    l->master = l->node_of[0] != l->here ? l->hosts[l->node_of[0]].name : remote.from ? remote.from : l->host;
    for (int i = 0; i < l->size; i++)
        if (is_there(l->node_of[i]) && !l->bind.no_launch) {
            crew.ranks[i].pid = -1; /* not known yet */
            crew.alive++;
        }
    make_supplies();
    remote.launched = true;
    job_put(&p);
    fleet_send(FRAME_JOB, NODE_ALL, 0, p.bytes, p.len);
    explicit_bzero(p.bytes, p.len);
    free(p.bytes);
}

/* ---- what is told ---- */

void remote_signal(int sig)
{
    for (int i = 0; remote.n > 0 && sig == SIGTSTP && i < crew.launch->nodes; i++)
        remote.at[i].stopping =
            is_there(i) && remote.at[i].started && !remote.at[i].lost && !remote.at[i].done;
    fleet_send(FRAME_SIGNAL, NODE_ALL, sig, NULL, 0);
}

int remote_stopping(void)
{
    int n = 0;
    for (int i = 0; remote.n > 0 && i < crew.launch->nodes; i++)
        n += remote.at[i].stopping;
    return n;
}

void remote_kill(void)
{
    fleet_send(FRAME_KILL, NODE_ALL, 0, NULL, 0);
}

void remote_kill_rank(int rank, bool in_mpi)
{
    struct pack p = { 0 };
    put_u32(&p, in_mpi);
    fleet_send(FRAME_KILL_RANK, crew.launch->node_of[rank], rank, p.bytes, p.len);
    free(p.bytes);
}

void remote_want(uint32_t rank, uint32_t epoch, int node)
{
    struct pack p = { 0 };
    put_want(&p, epoch, node);
    fleet_send(FRAME_WANT, crew.launch->node_of[rank], (int)rank, p.bytes, p.len);
    free(p.bytes);
}

void remote_card(const struct card_answer *a)
{
    struct pack p = { 0 };
    put_card(&p, a);
    fleet_send(FRAME_CARD, a->node, (int)a->rank, p.bytes, p.len);
    free(p.bytes);
}

void remote_parcel(int from, int to, const void *bytes, size_t len)
{
    fleet_send(FRAME_FROM, to == SHARE_ALL ? NODE_ALL : to, from, bytes, len);
}

void remote_gone(int rank, enum ku_gone how)
{
    struct pack p = { 0 };
    put_u32(&p, how);
    fleet_send(FRAME_GONE, NODE_ALL, rank, p.bytes, p.len);
    free(p.bytes);
}

void remote_release(void)
{
    fleet_send(FRAME_RELEASE, NODE_ALL, 0, NULL, 0);
}

/* ---- the loop ---- */

int remote_room(void)
{
    return fleet_room() + remote.nsupply;
}

int remote_polls(struct pollfd *p)
{
    int n = 0;
    for (int i = 0; i < remote.nsupply; i++)
        if (remote.supply[i].fd >= 0 && remote.supply[i].under_way < STDIN_WINDOW)
            p[n++] = (struct pollfd){ .fd = remote.supply[i].fd, .events = POLLIN };
    return n + fleet_polls(p + n);
}

static void supply(struct supply *s)
{
    char buf[STDIN_WINDOW];
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    if (s->fd < 0 || s->under_way >= STDIN_WINDOW || poll(&p, 1, 0) <= 0)
        return;
    ssize_t n = read(s->fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    fleet_send(FRAME_STDIN, crew.launch->node_of[s->rank], s->rank, buf, n > 0 ? (size_t)n : 0);
    s->under_way += n > 0 ? (int)n : 0;
    if (n <= 0) {
        close(s->fd);
        s->fd = -1;
    }
}

void remote_move(void)
{
    if (remote.n == 0)
        return;
    fleet_move();
    look_for_answers();
    for (int i = 0; i < remote.nsupply; i++)
        supply(&remote.supply[i]);
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < crew.launch->nodes; i++)
            acknowledge(i, which);
        if (remote.launched && output_gone(which) && !remote.shut[which]) {
            remote.shut[which] = true;
            fleet_send(FRAME_SHUT, NODE_ALL, which, NULL, 0);
        }
    }
}

void remote_profile(void)
{
    fleet_send(FRAME_PROFILE, NODE_ALL, 0, NULL, 0);
}

double remote_due(void)
{
    return remote.n > 0 ? fleet_due() : 0;
}

void remote_ask(int question)
{
    fleet_send(FRAME_ASK, NODE_ALL, question, NULL, 0);
}

bool remote_hear(int question)
{
    fleet_move();
    return remote_answered(question);
}

bool remote_answered(int question)
{
    for (int i = 0; remote.n > 0 && i < crew.launch->nodes; i++) {
        const struct place_of *p = &remote.at[i];
        if (is_there(i) && p->started && !p->lost && !p->done && p->question != question)
            return false;
    }
    return true;
}

void remote_end(void)
{
    struct pollfd *p;
    if (remote.n == 0)
        return;
    remote.ending = true;
    fleet_send(FRAME_END, NODE_ALL, 0, NULL, 0);
    for (double until = now() + crew.launch->node_timeout; fleet_open() && now() < until;) {
        p = xalloc((size_t)remote_room() + OUTPUT_POLLS, sizeof *p);
        int n = output_polls(p);
        n += remote_polls(p + n);
        poll(p, (nfds_t)n, output_ms(100));
        free(p);
        output_move();
        remote_move();
        crew_reap();
    }
    fleet_close();
}
