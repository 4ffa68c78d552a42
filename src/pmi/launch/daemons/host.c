/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: the daemon of another host: parent of its ranks, mover of their output.  It judges nothing: what happens
 * is told to mpiexec, through the agent (ssh) that started it, or through the daemon that did.
 *
 * Invariants
 *   1. When the link up has ended, takes nothing more, or has brought nothing for the time that mpiexec said,
 *      every process of the job here is killed, and this one exits; so it does when it is told what it does not
 *      understand.
 *   2. A rank's end is told after what it has said and (if there is room for it) written before.
 *   3. stdin and stdout are the link's; what anything else here writes to them goes to stderr, which the agent
 *      passes on. */
#define _GNU_SOURCE
#include "config.h"
#include "crew.h"
#include "host.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "body.h"
#include "cards.h"
#include "fleet.h"
#include "pmi/launch/hang/hang.h"
#include "job.h"
#include "pmi/launch/base/oom.h"
#include "pmi/launch/output/output.h"
#include "pmi/launch/pmserver/serve.h"
#include "pmi/launch/pmserver/share.h"
#include "pmi/launch/profile/profile_report.h"
#include "strangers.h"
#include "util/cpus.h"

enum { UP_FD = 100 /* out of the way */ };

/* A rank's stdin. */
struct feeding {
    int rank, fd; /* fd: -1: closed */
    int other;    /* the rank's end, until it has been started */
    struct queue bytes;
    bool ends; /* nothing follows */
};

static struct {
    struct launch launch;
    struct link up;
    double heard, said;
    struct rlimit nofile;
    int node, question;
    bool told;  /* the job has come */
    bool begun; /* and is known */
    size_t sent[2];
    struct feeding *feed;
    int nfeed;
    struct pollfd *polls;
} host;

static void tell(enum frame_kind kind, int value, const void *bytes, size_t len)
{
    host.said = now();
    link_send(&host.up, kind, host.node, value, bytes, len);
}

static void tell_packed(enum frame_kind kind, int value, struct pack *p)
{
    tell(kind, value, p->bytes, p->len);
    free(p->bytes);
}

static void tell_u32(enum frame_kind kind, int value, uint32_t n)
{
    struct pack p = { 0 };
    put_u32(&p, n);
    tell_packed(kind, value, &p);
}

/* ---- output ---- */

static void sink(int rank, int which, const char *data, size_t n)
{
    tell(FRAME_OUTPUT, 2 * rank + which, data, n);
    host.sent[which] += n;
}

static bool room(int which)
{
    return host.sent[which] + OUTPUT_CHUNK <= OUTPUT_WINDOW;
}

static void move_output(void)
{
    output_move();
    if (output_failed())
        die("passing on the ranks' output failed: %s", strerror(output_failed()));
}

/* ---- stdin ---- */

static struct feeding *feeding_of(int rank)
{
    for (int i = 0; i < host.nfeed; i++)
        if (host.feed[i].rank == rank)
            return &host.feed[i];
    return NULL;
}

static void make_feeds(void)
{
    const struct launch *l = &host.launch;
    for (int i = 0; i < l->size; i++) {
        int fds[2];
        if (!crew_is_here(i) || (l->stdin_rank != STDIN_ALL && l->stdin_rank != i))
            continue;
        if (pipe2(fds, O_CLOEXEC) != 0 || fcntl(fds[1], F_SETFL, O_NONBLOCK) != 0)
            die("a pipe for the stdin of rank %d failed: %s", i, strerror(errno));
        host.feed = xgrow(host.feed, (size_t)host.nfeed + 1, sizeof *host.feed);
        host.feed[host.nfeed++] = (struct feeding){ .rank = i, .fd = fds[1], .other = fds[0] };
    }
}

static int take_stdin(int rank)
{
    const struct feeding *f = feeding_of(rank);
    return f ? f->other : -1;
}

static void feed_close(struct feeding *f)
{
    close(f->fd);
    f->fd = -1;
    queue_free(&f->bytes);
}

static void feed_write(struct feeding *f)
{
    while (f->fd >= 0 && queue_waits(&f->bytes) > 0) {
        ssize_t n = write(f->fd, queue_first(&f->bytes), queue_waits(&f->bytes));
        if (n < 0 && errno == EAGAIN)
            return;
        int32_t took = n < 0 ? -1 : (int32_t)n;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EPIPE)
            die("writing to the stdin of rank %d failed: %s", f->rank, strerror(errno));
        tell_u32(FRAME_READ, f->rank, (uint32_t)took);
        if (n < 0)
            feed_close(f);
        else
            queue_took(&f->bytes, (size_t)n);
    }
    if (f->fd >= 0 && f->ends)
        feed_close(f);
}

static bool on_stdin(int rank, const char *bytes, size_t n)
{
    struct feeding *f = feeding_of(rank);
    if (!f || f->ends)
        return false;
    if (f->fd < 0)
        return true;
    queue_put(&f->bytes, bytes, n);
    f->ends = n == 0;
    feed_write(f);
    return true;
}

/* ---- what the ranks do ---- */

static struct ku_seg_rank *rank_here(int rank)
{
    return ku_segment_rank(&crew.segments[host.node], (uint32_t)crew.ranks[rank].local);
}

static void tell_card(const struct card_answer *a)
{
    struct pack p = { 0 };
    put_card(&p, a);
    tell_packed(FRAME_HAVE, (int)a->rank, &p);
}

static void tell_parcel(int to, const void *bytes, size_t len)
{
    tell(FRAME_TO, to, bytes, len);
}

static void on_record(const struct pmi_record *r, const char *bytes)
{
    struct pack p = { 0 };
    if (r->kind == PMI_CARD) {
        cards_there(r->rank);
        return;
    }
    put_u32(&p, atomic_load(&rank_here((int)r->rank)->found_gone));
    put_record(&p, r, bytes);
    tell_packed(FRAME_RECORD, (int)r->rank, &p);
}

static void on_end(int rank, pid_t pid, int status)
{
    struct ku_seg_rank *seg = rank_here(rank);
    struct frame_ended e = { .pid = pid,
                             .status = status,
                             .state = atomic_load(&seg->state),
                             .abort_code = seg->abort_code,
                             .found_gone = atomic_load(&seg->found_gone) };
    struct pack p = { 0 };
    char *why = crew_why(rank, status);
    output_catch_up();
    put_ended(&p, &e);
    put_text(&p, why);
    tell_packed(FRAME_ENDED, rank, &p);
    free(why);
}

static void on_jobs(void)
{
    struct pack p = { 0 };
    put_u32(&p, (uint32_t)crew.ends.code);
    put_u32(&p, (uint32_t)crew.ends.lost_code);
    put_u32(&p, crew.ends.lives);
    tell_packed(FRAME_JOBS, crew.jobs, &p);
}

static void on_other(pid_t pid, int status)
{
    fleet_reaped(pid, status);
}

/* ---- what the ranks wait for ---- */

static void look_at_rank(int rank, struct hang_rank *r)
{
    r->pid = crew.ranks[rank].pid;
    r->status = crew.ranks[rank].status;
    if (!crew_is_here(rank))
        return;
    r->seg = rank_here(rank);
    r->call = ku_segment_call(&crew.segments[host.node], (uint32_t)crew.ranks[rank].local);
}

static void tell_state(int rank, const struct hang_state *s, const char *where, const char *process)
{
    struct pack p = { 0 };
    put_int(&p, host.question);
    put_state(&p, s);
    put_text(&p, where);
    put_text(&p, process);
    tell_packed(FRAME_STATE, rank, &p);
}

static void answer(int question)
{
    host.question = question;
    if (question == ASK_STILL)
        atomic_store(&crew.segments[host.node].head->still, 0);
    else if (question != ASK_WHETHER_THERE)
        hang_tell(tell_state);
    tell(FRAME_STATES, question, NULL, 0);
}

/* What the tables of the ranks here say, if they are profiled. */
static void tell_profile(void)
{
    for (int i = 0; host.launch.profile.on && i < host.launch.size; i++) {
        struct pack p = { 0 };
        if (crew_is_here(i) && prof_read(i, &p))
            tell_packed(FRAME_PROFILE, i, &p);
    }
}

/* ---- what mpiexec says ---- */

static const char *words(const char *text, int n, char *buf, size_t size)
{
    while (text && n-- > 0) {
        text += strcspn(text, " ");
        text += *text == ' ';
    }
    snprintf(buf, size, "%.*s", text ? (int)strcspn(text, " ") : 0, text ? text : "");
    return buf;
}

/* They come through crew.signals now.  Ranks have the mask that this process was started with. */
static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, &host.launch.sigmask) != 0)
        die("sigprocmask failed: %s", strerror(errno));
}

static void begin(const char *bytes, size_t len)
{
    struct launch *l = &host.launch;
    struct unpack u = { bytes, bytes + len, false };
    int code = EXIT_NOT_FOUND;
    l->here = host.node;
    l->remote = true;
    char *wrong = job_get(&u, l);
    if (wrong) {
        say("%s", wrong);
        tell(FRAME_FAILED, EXIT_NOT_FOUND, NULL, 0);
        return;
    }
    l->host = l->hosts[host.node].name;
    l->pids = launch_pids(l->size);
    block_signals();
    host.nofile = crew_begin(l);
    crew.on_record = on_record;
    crew.on_end = on_end;
    crew.on_jobs = on_jobs;
    crew.on_other = on_other;
    crew.on_parcel = tell_parcel;
    crew.take_stdin = take_stdin;
    host.begun = true;
    output_divert(sink, room);
    output_init(l);
    cards_init(tell_card);
    crew_make();
    prof_begin(l);
    crew_hold(l->held);
    make_feeds();
    hang_init(l, crew.segments, look_at_rank);
    struct start st = {
        .launch = l, .nofile = host.nofile, .control_fd = crew.control[1], .job_id = crew.job_id
    };
    if (l->bind.no_launch) {
        tell(FRAME_STARTED, 0, NULL, 0);
    } else if (crew_start(&st, &code)) {
        struct pack p = { 0 };
        for (int i = 0; i < l->size; i++)
            if (crew_is_here(i))
                put_u32(&p, (uint32_t)crew.ranks[i].pid);
        tell_packed(FRAME_STARTED, (int)(p.len / sizeof(uint32_t)), &p);
    } else {
        tell(FRAME_FAILED, code, NULL, 0);
    }
}

/* Say all that there is to be said, however long it takes the others. */
static void talk_to_the_end(void)
{
    while (link_waits(&host.up)) {
        struct pollfd p = { .fd = host.up.out, .events = POLLOUT };
        if (poll(&p, 1, milliseconds(host.launch.node_timeout)) <= 0)
            break;
        link_flush(&host.up);
    }
}

static _Noreturn void end(void)
{
    for (double until = now() + host.launch.node_timeout; fleet_open() && now() < until;) {
        struct pollfd *p = xalloc((size_t)fleet_room(), sizeof *p);
        poll(p, (nfds_t)fleet_polls(p), 100);
        free(p);
        if (host.begun)
            crew_reap();
        fleet_move();
    }
    fleet_close();
    if (host.begun)
        tell_profile();
    serve_end();
    if (!tree_end())
        say("some processes of the job do not end even by SIGKILL");
    if (host.begun) {
        crew_hear();
        output_close();
        move_output();
    }
    tell(FRAME_DONE, 0, NULL, 0);
    talk_to_the_end();
    _exit(0);
}

/* Invariant 1. */
static _Noreturn void link_is_gone(void)
{
    tree_end();
    _exit(EXIT_MPIEXEC);
}

/* The frames of a job that has been begun; each says whether it is understood. */

static bool is_rank(int rank)
{
    return rank >= 0 && rank < host.launch.size;
}

static bool kill_rank(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    uint32_t in_mpi = get_u32(&u);
    if (!is_rank(rank) || !crew_is_here(rank) || u.wrong || u.at != u.end || in_mpi > 1)
        return false;
    crew_kill(rank, in_mpi != 0);
    return true;
}

static bool is_node(int n)
{
    return n >= 0 && n < host.launch.nodes;
}

static bool on_want(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    uint32_t epoch;
    int where;
    get_want(&u, &epoch, &where);
    if (!is_rank(rank) || !crew_is_here(rank) || u.wrong || u.at != u.end || !is_node(where))
        return false;
    cards_want((uint32_t)rank, epoch, where);
    return true;
}

static bool on_card(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct card_answer a = { .rank = (uint32_t)rank };
    get_card(&u, &a);
    if (!is_rank(rank) || crew_is_here(rank) || u.wrong || a.node != host.node)
        return false;
    cards_take(&a);
    return true;
}

static bool on_gone(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    uint32_t how = get_u32(&u);
    if (!is_rank(rank) || u.wrong || u.at != u.end || how < KU_GONE || how > KU_GONE_ENDED)
        return false;
    crew_gone(rank, (enum ku_gone)how);
    return true;
}

/* What one host says to all others comes back to it. */
static bool on_parcel(int from, const char *bytes, size_t len)
{
    bool ok = is_node(from) && len > 0 && len <= SHARE_PARCEL;
    if (ok && from != host.node)
        serve_parcel(from, bytes, len);
    return ok;
}

/* Of no more than has been said. */
static bool on_taken(int which, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    uint32_t n = get_u32(&u);
    if ((which != 0 && which != 1) || u.wrong || u.at != u.end || n > host.sent[which])
        return false;
    host.sent[which] -= n;
    return true;
}

/* What ends, stops or continues is for every process of the job, other signals are for the ranks; as node.c has it. */
static bool on_signal(int sig)
{
    if (sig <= 0 || sig > SIGRTMAX)
        return false;
    if (sig == SIGTSTP) {
        crew_stop(0);
        tell(FRAME_STOPPED, 0, NULL, 0);
    } else if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT || sig == SIGCONT) {
        crew_signal(sig, 0);
    } else {
        crew_signal_ranks(sig, 0);
    }
    return true;
}

static bool obey(const struct frame *f, const char *bytes)
{
    switch (f->kind) {
    case FRAME_SIGNAL:
        return on_signal(f->value);
    case FRAME_KILL:
        crew_signal(SIGKILL, 0);
        return true;
    case FRAME_KILL_RANK:
        return kill_rank(f->value, bytes, f->len);
    case FRAME_WANT:
        return on_want(f->value, bytes, f->len);
    case FRAME_CARD:
        return on_card(f->value, bytes, f->len);
    case FRAME_GONE:
        return on_gone(f->value, bytes, f->len);
    case FRAME_RELEASE:
        crew_hold(false);
        return true;
    case FRAME_ASK:
        answer(f->value);
        return true;
    case FRAME_PROFILE:
        tell_profile();
        return true;
    case FRAME_FROM:
        return on_parcel(f->value, bytes, f->len);
    case FRAME_STDIN:
        return on_stdin(f->value, bytes, f->len);
    case FRAME_TAKEN:
        return on_taken(f->value, bytes, f->len);
    case FRAME_SHUT:
        if (f->value == 0 || f->value == 1)
            output_shut(f->value);
        return f->value == 0 || f->value == 1;
    default:
        return false;
    }
}

static void pass_up(const struct frame *f, const char *bytes)
{
    host.said = now();
    link_pass(&host.up, f, bytes);
}

static bool launch(const char *bytes, size_t len)
{
    struct fleet_plan plan;
    if (fleet_room() > 0 || !fleet_plan_get(&plan, bytes, len))
        return false;
    fleet_start(&plan, pass_up);
    return true;
}

/* A frame for this node. */
static bool take(const struct frame *f, const char *bytes)
{
    if (f->kind == FRAME_LAUNCH)
        return launch(bytes, f->len);
    if (f->kind == FRAME_END)
        end();
    if (f->kind == FRAME_JOB) {
        bool first = !host.told;
        host.told = true;
        if (first)
            begin(bytes, f->len);
        return first;
    }
    return host.begun ? obey(f, bytes) : f->kind < FRAME_HELLO;
}

static void on_frame(const struct frame *f, const char *bytes)
{
    bool mine = f->node == host.node || f->node == NODE_ALL;
    if (f->kind == FRAME_PING)
        return;
    if (f->node != host.node)
        fleet_pass(f, bytes);
    if ((!mine && !fleet_has(f->node)) || (mine && !take(f, bytes)))
        die("what mpiexec says is not understood (frame %d for node %d)", f->kind, f->node);
}

static void on_up(void)
{
    struct frame f;
    const char *bytes;
    link_read(&host.up);
    while (link_next(&host.up, &f, &bytes)) {
        host.heard = now();
        on_frame(&f, bytes);
    }
    if (host.up.broken)
        link_is_gone();
}

static void on_time(void)
{
    double t = now();
    if (t > host.heard + host.launch.node_timeout)
        link_is_gone();
    if (t > host.said + LINK_PING * host.launch.node_timeout)
        tell(FRAME_PING, 0, NULL, 0);
}

/* ---- the loop ---- */

static void reap_agents(void)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        fleet_reaped(pid, status);
}

/* Who signals this daemon means the job. */
static void on_signals(void)
{
    struct signalfd_siginfo info;
    while (host.begun && read(crew.signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            link_is_gone();
    crew_reap();
}

static int fill_polls(void)
{
    struct pollfd *p = host.polls =
        xgrow(host.polls, (size_t)(5 + OUTPUT_POLLS + host.nfeed + fleet_room()), sizeof *host.polls);
    int n = 0;
    p[n++] = (struct pollfd){ .fd = host.up.in, .events = POLLIN };
    if (link_waits(&host.up))
        p[n++] = (struct pollfd){ .fd = host.up.out, .events = POLLOUT };
    if (host.begun) {
        p[n++] = (struct pollfd){ .fd = crew.signals, .events = POLLIN };
        p[n++] = (struct pollfd){ .fd = crew.control[0], .events = POLLIN };
        n += output_polls(p + n);
        n += serve_polls(p + n);
    }
    for (int i = 0; i < host.nfeed; i++)
        if (host.feed[i].fd >= 0 && queue_waits(&host.feed[i].bytes) > 0)
            p[n++] = (struct pollfd){ .fd = host.feed[i].fd, .events = POLLOUT };
    return n + fleet_polls(p + n);
}

static _Noreturn void loop(void)
{
    int tick = milliseconds(LINK_PING * host.launch.node_timeout) + 1;
    for (;;) {
        int n = fill_polls();
        double cards = cards_due(), strangers = strangers_due(),
               due = cards == 0 || (strangers != 0 && strangers < cards) ? strangers : cards;
        int ms = due != 0 && milliseconds(due - now()) + 1 < tick ? milliseconds(due - now()) + 1 : tick;
        if (poll(host.polls, (nfds_t)n, output_ms(ms)) < 0 && errno != EINTR && errno != EAGAIN)
            die("poll failed: %s", strerror(errno));
        on_up();
        link_flush(&host.up);
        if (host.up.cut)
            link_is_gone();
        if (host.begun) {
            move_output();
            crew_hear();
            cards_move();
            serve_move();
            on_signals();
            strangers_look();
        } else {
            reap_agents();
        }
        for (int i = 0; i < host.nfeed; i++)
            feed_write(&host.feed[i]);
        fleet_move();
        on_time();
    }
}

static int raised(int fd)
{
    int up = fcntl(fd, F_DUPFD_CLOEXEC, UP_FD);
    if (up < 0)
        die("fcntl failed: %s", strerror(errno));
    return up;
}

/* Invariant 3. */
static void open_link(void)
{
    int in = raised(0), out = raised(1), null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    static const char banner[] = LINK_BANNER;
    if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(2, 1) < 0)
        die("/dev/null cannot be opened: %s", strerror(errno));
    close(null_fd);
    if (write(out, banner, sizeof banner - 1) != (ssize_t)sizeof banner - 1)
        _exit(EXIT_MPIEXEC);
    link_init(&host.up, in, out, false);
}

static void say_hello(void)
{
    char name[256] = "", at[128], from[128];
    struct pack p = { 0 };
    struct frame_hello hello = { .link_version = LINK_VERSION,
                                 .segment_version = KU_SEG_VERSION,
                                 .word_bytes = sizeof(void *),
                                 .cpus = ku_cpus() };
    gethostname(name, sizeof name - 1);
    put_hello(&p, &hello);
    put_text(&p, PACKAGE_VERSION);
    put_text(&p, name);
    put_text(&p, words(getenv("SSH_CONNECTION"), 2, at, sizeof at));
    put_text(&p, words(getenv("SSH_CONNECTION"), 0, from, sizeof from));
    tell_packed(FRAME_HELLO, 0, &p);
}

/* The daemon's parent does nothing but wait for its end: should it be killed, whatever it leaves is ended here.
 * Should this one be killed, the daemon is told by a signal. */
static void guard(void)
{
    int status = 0;
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        die("fork failed: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(EXIT_MPIEXEC);
        prctl(PR_SET_NAME, "keel-host");
        return;
    }
    prctl(PR_SET_NAME, "keel-guard");
    close(0);
    close(1);
    for (pid_t got = 0; got != pid;) {
        got = waitpid(-1, &status, 0);
        if (got < 0 && errno != EINTR)
            break;
    }
    if (WIFSIGNALED(status))
        say("the daemon (process %d) was killed by signal %d; its ranks are ended", pid, WTERMSIG(status));
    tree_end();
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_MPIEXEC);
}

int host_main(const char *said)
{
    struct launch *l = &host.launch;
    if (sscanf(said, "%d:%lf", &host.node, &l->node_timeout) != 2 || host.node < 0 ||
        !(l->node_timeout > 0)) {
        say("%s is what mpiexec starts on other hosts; it is not for users", HOST_ARGUMENT);
        return EXIT_MPIEXEC;
    }
    setsid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        die("prctl(PR_SET_CHILD_SUBREAPER) failed: %s", strerror(errno));
    guard();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        die("prctl(PR_SET_CHILD_SUBREAPER) failed: %s", strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    l->sigpipe.sa_handler = l->sigttou.sa_handler = SIG_DFL;
    host.heard = host.said = now();
    oom_init("its host");
    open_link();
    say_hello();
    loop();
}
