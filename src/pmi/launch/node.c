/* node.c: the node daemon: parent of the ranks, mover of their output, judge of their ends.
 *
 * States (node.phase) and who takes each arrow
 *   RUN     -> LINGER   end_soon: a rank failed, or asked for the job's end; others may be failing too, and
 * say why LINGER  -> TERM     on_time after LINGER_SECONDS: SIGTERM to every process of the job RUN, LINGER
 * -> TERM on_signal (the user's signal is forwarded), on_timeout TERM    -> KILL     on_time after
 * GRACE_SECONDS, or the user's second signal: SIGKILL until none is left any     -> out of the loop when no
 * rank is alive: finish
 *
 * Invariants
 *   1. Before a rank's end is judged, what it sent through the control pipe has been read.
 *   2. node.code is set once, by the first failure that is no consequence of another (the rank had not found anybody gone), if
 *      there is one; what ranks do after TERM is our doing and is not judged.
 *   3. When the front is gone, every process of the job is killed, and this one exits. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "feed.h"
#include "hang.h"
#include "launch.h"
#include "oom.h"
#include "output.h"
#include "pmi/pmi.h"
#include "report.h"
#include "start.h"
#include "util/err.h"
#include "util/segment.h"

static const double LINGER_SECONDS = 0.05, LINGER_MOST_SECONDS = 0.5, STOP_SECONDS = 0.3, GRACE_SECONDS = 2,
                    KILL_SECONDS = 10;
enum { HIGH_FD = 200 /* scripts use the low numbers for themselves */, CONTROL_BYTES = 4 * PIPE_BUF };
enum {
    OWN_FDS = 24 /* descriptors besides those of ranks' output: pipes, signals, what is read now and then */
};

enum phase { RUN, LINGER, TERM, KILL };

struct rank {
    pid_t pid;  /* 0: not started, or reaped */
    int status; /* then, as waitpid has it */
    const struct app *app;
    int node, local; /* its number there */
    bool let_go;     /* it ends alone (PMI_ABORT_SOME) */
    bool aborts;     /* it has said so */
};

static struct node {
    struct launch *launch;
    int front, signals, control[2];
    struct ku_segment *segments; /* one a node: all are simulated here */
    struct rank *ranks;
    int *by_pid; /* hash: rank + 1, 0 for empty */
    unsigned hash_mask;
    int alive;
    enum phase phase;
    double phase_due, linger_until, timeout_due, kill_until;
    int code;       /* -1: nothing has failed */
    int code_after; /* of what may be a consequence only; -1: none */
    int user_signal;
    bool perhaps_user; /* a rank died of what a terminal sends to all: the front's word may be on its way */
    bool all_zero;
    char records[CONTROL_BYTES]; /* control records, the last perhaps in part */
    size_t nrecords;
} node;

/* ---- ranks by pid ---- */

static unsigned slot_of(pid_t pid)
{
    return (unsigned)pid * 2654435761u & node.hash_mask;
}

static void remember(int rank)
{
    unsigned i = slot_of(node.ranks[rank].pid);
    while (node.by_pid[i])
        i = (i + 1) & node.hash_mask;
    node.by_pid[i] = rank + 1;
}

static int rank_of(pid_t pid)
{
    for (unsigned i = slot_of(pid); node.by_pid[i]; i = (i + 1) & node.hash_mask)
        if (node.ranks[node.by_pid[i] - 1].pid == pid)
            return node.by_pid[i] - 1;
    return -1;
}

static struct ku_seg_rank *seg_rank(int rank)
{
    return ku_segment_rank(&node.segments[node.ranks[rank].node], (uint32_t)node.ranks[rank].local);
}

/* For hang.c. */
static void look_at_rank(int rank, struct hang_rank *r)
{
    r->pid = node.ranks[rank].pid;
    r->status = node.ranks[rank].status;
    r->seg = seg_rank(rank);
    r->call = ku_segment_call(&node.segments[node.ranks[rank].node], (uint32_t)node.ranks[rank].local);
}

/* ---- ending the job ---- */

static void set_code(int code)
{
    if (node.code < 0)
        node.code = code;
}

/* Had this rank found another gone?  Its end may then have come to our notice before that of the other, whose sockets the
 * kernel closes first. */
static bool is_after(int rank)
{
    return atomic_load(&seg_rank(rank)->found_gone) != 0;
}

static void set_code_of(int rank, int code)
{
    if (!is_after(rank))
        set_code(code);
    else if (node.code_after < 0)
        node.code_after = code;
}

/* No cause has come: what looked like a consequence decides. */
static void settle_code(void)
{
    if (node.code_after >= 0)
        set_code(node.code_after);
}

/* Whoever fails meanwhile prolongs it a little: many ranks may have much the same to say. */
static void end_soon(void)
{
    double t = now();
    if (node.phase == RUN) {
        node.phase = LINGER;
        node.linger_until = t + LINGER_MOST_SECONDS;
    }
    if (node.phase == LINGER)
        node.phase_due = t + LINGER_SECONDS < node.linger_until ? t + LINGER_SECONDS : node.linger_until;
}

/* But not those in process group `but` (0: no exception). */
static void signal_ranks(int sig, pid_t but)
{
    for (int i = 0; i < node.launch->size; i++)
        if (node.ranks[i].pid && !(but && getpgid(node.ranks[i].pid) == but))
            kill(node.ranks[i].pid, sig);
}

static void signal_all(int sig, pid_t but)
{
    if (tree_signal(sig, but) < 0)
        signal_ranks(sig, but);
}

/* Forward `sig` and give the processes time to end by it. */
static void end_by(int sig, pid_t but)
{
    signal_all(sig, but);
    signal_all(SIGCONT, 0);
    settle_code();
    if (node.phase < TERM) {
        node.phase = TERM;
        node.phase_due = now() + GRACE_SECONDS;
    }
}

static void end_at_once(void)
{
    if (node.phase != KILL)
        node.kill_until = now() + KILL_SECONDS;
    node.phase = KILL;
    signal_all(SIGKILL, 0);
    node.phase_due = now() + 0.05; /* whoever forked meanwhile */
}

/* Invariant 3. */
static _Noreturn void front_is_gone(void)
{
    tree_end();
    _exit(EXIT_MPIEXEC);
}

/* ---- what ranks say ---- */

static int abort_exit_code(uint32_t code)
{
    return code != 0 && (code & 255) == 0 ? 1 : (int)(code & 255);
}

static void on_abort(int rank, uint32_t code, const char *text, size_t len)
{
    char standard[64];
    if (len == 0)
        len = (size_t)snprintf(standard, sizeof standard, "ended the job with code %d", (int)code);
    node.ranks[rank].aborts = true;
    report_text(rank, text ? text : standard, len, is_after(rank));
    set_code_of(rank, abort_exit_code(code));
    end_soon();
}

/* Some ranks end, and the job goes on.  That they do is no failure to be judged. */
static void on_abort_some(const struct pmi_record *r, const char *bytes)
{
    int32_t n = 0;
    if (r->len >= sizeof n)
        memcpy(&n, bytes, sizeof n);
    size_t text = sizeof n + (size_t)n * sizeof n;
    if (n < 1 || n > PMI_SOME_MAX || r->len < text)
        return;
    report_text((int)r->rank, bytes + text, r->len - text, is_after((int)r->rank));
    set_code_of((int)r->rank, abort_exit_code(r->value));
    for (int32_t i = 0, rank; i < n; i++) {
        memcpy(&rank, bytes + sizeof n + (size_t)i * sizeof n, sizeof rank);
        if (rank < 0 || rank >= node.launch->size)
            continue;
        node.ranks[rank].let_go = true;
        if (node.ranks[rank].pid && rank != (int32_t)r->rank) /* that one flushes its output and leaves */
            kill(node.ranks[rank].pid, SIGKILL);
    }
}

/* A rank's card, for the nodes where it could not write it itself. */
static void on_card(const struct pmi_record *r, const char *bytes)
{
    for (int i = 0; i < node.launch->nodes && r->len <= KU_CARD_BYTES; i++)
        if (i != node.ranks[r->rank].node)
            ku_segment_card_write(&node.segments[i], r->rank, r->value, bytes, r->len);
}

static void on_record(const struct pmi_record *r, const char *text)
{
    if (node.phase >= TERM)
        return;
    if (r->kind == PMI_ABORT)
        on_abort((int)r->rank, r->value, r->len ? text : NULL, r->len);
    else if (r->kind == PMI_ABORT_SOME)
        on_abort_some(r, text);
    else if (r->kind == PMI_MESSAGE)
        report_text((int)r->rank, text, r->len, false);
    else if (r->kind == PMI_CARD)
        on_card(r, text);
    else if (r->kind == PMI_STILL)
        hang_still();
}

/* Bytes of the first record in the buffer; 0 if it is not whole yet. */
static size_t first_record(void)
{
    struct pmi_record r;
    if (node.nrecords < sizeof r)
        return 0;
    memcpy(&r, node.records, sizeof r);
    if (r.job_id != node.segments[0].head->job_id || r.rank >= (uint32_t)node.launch->size ||
        r.len > PIPE_BUF) {
        say("a process of the job wrote bytes into mpiexec's control pipe that are no record; they are "
            "dropped");
        node.nrecords = 0;
        return 0;
    }
    return sizeof r + r.len <= node.nrecords ? sizeof r + r.len : 0;
}

static void on_control(void)
{
    ssize_t n;
    while ((n = read(node.control[0], node.records + node.nrecords, sizeof node.records - node.nrecords)) >
           0) {
        node.nrecords += (size_t)n;
        for (size_t len; (len = first_record()) > 0;) {
            struct pmi_record r;
            memcpy(&r, node.records, sizeof r);
            on_record(&r, node.records + sizeof r);
            node.nrecords -= len;
            memmove(node.records, node.records + len, node.nrecords);
        }
    }
}

/* ---- ranks' ends ---- */

/* For those who stay a little longer. */
static void publish_death(int rank)
{
    for (int i = 0; i < node.launch->nodes; i++)
        ku_segment_mark_gone(&node.segments[i], (uint32_t)rank);
}

static bool is_ending(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

/* As a shell's $?. */
static int status_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Invariant 2: a rank ended, and not through us. */
static void judge(int rank, pid_t pid, int status)
{
    struct ku_seg_rank *sr = seg_rank(rank);
    uint32_t state = atomic_load(&sr->state);
    bool running = state == KU_RANK_RUNNING;
    if (node.ranks[rank].let_go) {
        publish_death(rank);
        return;
    }
    if (state == KU_RANK_ABORTED) {
        if (!node.ranks[rank].aborts) /* its record did not come through */
            on_abort(rank, (uint32_t)sr->abort_code, NULL, 0);
        return;
    }
    if (status == 0 && !running)
        return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE && output_reader_gone()) {
        set_code(output_failed() ? EXIT_MPIEXEC : 128 + SIGPIPE);
        if (running) /* the others may wait for it */
            end_by(SIGTERM, 0);
        return;
    }
    struct failure_facts facts = { .kind = FAILED_CODE,
                                   .mpi = running,
                                   .program = node.ranks[rank].app->argv[0] };
    facts.value = status_code(status);
    if (WIFSIGNALED(status)) {
        facts.kind = FAILED_SIGNAL;
        facts.value = WTERMSIG(status);
        facts.core = WCOREDUMP(status);
        if (facts.value == SIGKILL)
            oom_was(&facts.oom, &facts.oom_perhaps);
        node.perhaps_user = node.perhaps_user || is_ending(facts.value);
    } else if (status == 0) {
        facts.kind = FAILED_NOT_FINALIZED;
    }
    report_failure(rank, &facts, pid, is_after(rank));
    set_code_of(rank, status == 0 ? EXIT_NOT_FINALIZED : status_code(status));
    if (state != KU_RANK_FINALIZED) {
        publish_death(rank);
        end_soon();
    }
}

static void on_child(void)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR);) {
        int rank = pid > 0 ? rank_of(pid) : -1;
        if (rank < 0)
            continue; /* interrupted, or an orphan that became ours */
        node.ranks[rank].pid = 0;
        node.ranks[rank].status = status;
        node.alive--;
        node.all_zero = node.all_zero && status == 0;
        on_control();
        if (node.phase < TERM)
            judge(rank, pid, status);
    }
}

/* ---- what the user says ---- */

static bool is_stopped(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };
    return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* If it cannot be told it is gone, and we shall see that. */
static void tell_front(int word)
{
    struct front_message m = { .word = word };
    send(node.front, &m, sizeof m, MSG_NOSIGNAL);
}

/* The front stops itself, and the shell goes on, when the ranks stand still: before that, rank 0 could still read what
 * is typed to the shell.  A rank may catch the signal and not stop, so there is an end to waiting. */
static void stop_all(pid_t but)
{
    double until = now() + STOP_SECONDS;
    int rank = 0;
    hang_stopped(true);
    signal_all(SIGTSTP, but);
    while (rank < node.launch->size && now() < until)
        if (node.ranks[rank].pid == 0 || is_stopped(node.ranks[rank].pid))
            rank++;
        else
            usleep(500);
    tell_front(WORD_STOPPED);
}

static void on_signal(int sig, bool from_tty)
{
    pid_t but = from_tty ? node.launch->front_pgid : 0;
    if (is_ending(sig)) {
        node.user_signal = sig;
        report_forget(sig);
        set_code(128 + sig);
        end_by(sig, but);
    } else if (sig == SIGTSTP) {
        stop_all(but);
    } else if (sig == SIGCONT) {
        hang_stopped(false);
        signal_all(sig, but);
    } else {
        signal_ranks(sig, but);
    }
}

/* Do the ranks wait in MPI_Init? */
static void hold_ranks(bool hold)
{
    for (int i = 0; i < node.launch->nodes; i++)
        atomic_store(&node.segments[i].head->held, hold);
}

static void on_front(void)
{
    struct front_message m;
    ssize_t n = recv(node.front, &m, sizeof m, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        front_is_gone();
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        die("reading from mpiexec's front process failed: %s; the job is ended", strerror(errno));
    if (n == sizeof m && m.word == WORD_SIGNAL)
        on_signal(m.value, m.from_tty);
    else if (n == sizeof m && m.word == WORD_KILL)
        end_at_once();
    else if (n == sizeof m && m.word == WORD_RELEASE)
        hold_ranks(false);
    else if (n == sizeof m && m.word == WORD_REPORT)
        hang_report("what the ranks wait for (SIGQUIT; twice within 2 s: passed on to them)");
}

static void on_signalfd(void)
{
    struct signalfd_siginfo info;
    while (read(node.signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            on_signal((int)info.ssi_signo, false);
    on_child();
}

/* ---- time ---- */

static double sooner(double a, double b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static int poll_ms(void)
{
    double due = sooner(sooner(node.phase == RUN ? 0 : node.phase_due, node.timeout_due), report_due());
    due = sooner(due, node.phase == RUN ? hang_due() : 0);
    if (due == 0)
        return -1;
    double ms = (due - now()) * 1000 + 1;
    return ms < 0 ? 0 : ms > 1e9 ? 1000000000 : (int)ms;
}

static void on_timeout(void)
{
    node.timeout_due = 0;
    report_flush();
    char *text = xformat("the job has not ended within %g s (--timeout); ending it", node.launch->timeout);
    hang_report(text);
    free(text);
    set_code(EXIT_TIMEOUT);
    end_by(SIGTERM, 0);
}

static void on_time(void)
{
    double t = now();
    if (report_due() && t >= report_due() && node.phase != LINGER)
        report_flush();
    if (node.timeout_due && t >= node.timeout_due)
        on_timeout();
    if (node.phase == RUN && hang_due() && t >= hang_due() && hang_on_time()) {
        set_code(EXIT_HANG);
        end_by(SIGTERM, 0);
        return;
    }
    if (node.phase == RUN || t < node.phase_due)
        return;
    if (node.phase == LINGER) {
        report_flush();
        end_by(SIGTERM, 0);
    } else {
        end_at_once();
    }
}

/* ---- start ---- */

/* The same as a descriptor not below `from`, if there is one left. */
static int raise_fd(int fd, int from)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* A descriptor for ranks to have, out of the way of what scripts do with theirs.  It is become_rank that lets one through
 * exec, as not all are for each rank. */
static int high_fd(int fd)
{
    return raise_fd(fd, HIGH_FD);
}

/* A file, or the job's memory, that is larger than ulimit -f allows is an error of the call that makes it so.  Caught rather
 * than ignored: the ranks shall have it as it was. */
static void too_large(int sig)
{
    (void)sig;
}

static void watch_signals(void)
{
    sigset_t set;
    signal(SIGXFSZ, too_large);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    node.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (node.signals < 0)
        die("signalfd failed: %s", strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTOU, SIG_IGN); /* we are not in the foreground, but write to the terminal */
}

/* Have as many descriptors as we may, or more if we need them and are allowed to.  The limits before that. */
static struct rlimit raise_files(void)
{
    const struct launch *l = node.launch;
    rlim_t ranks = (output_direct(l) ? 0 : 2) + (l->stdin_rank == STDIN_ALL ? 2 : 0);
    rlim_t need = OWN_FDS + (rlim_t)l->nodes + ranks * (rlim_t)l->size;
    struct rlimit before = { .rlim_cur = need, .rlim_max = need }, r;
    getrlimit(RLIMIT_NOFILE, &before);
    r = before;
    r.rlim_cur = r.rlim_max;
    if (r.rlim_max < need)
        r.rlim_cur = r.rlim_max = need;
    if (setrlimit(RLIMIT_NOFILE, &r) != 0 && before.rlim_max < need)
        die("%d ranks take about %llu descriptors in mpiexec, but it may have %llu (ulimit -Hn); raise that, "
            "or start at most %d",
            l->size, (unsigned long long)need, (unsigned long long)before.rlim_max,
            before.rlim_max > OWN_FDS + (rlim_t)l->nodes + ranks
                ? (int)((before.rlim_max - OWN_FDS - (rlim_t)l->nodes) / ranks)
                : 1);
    return before;
}

/* Deal the ranks out to the nodes in blocks whose sizes differ by one at most, and make each node's segment.  The cores
 * are shared out too: a node believes that it has as many of them as its ranks are of the job's, and at least one. */
static void make_nodes(void)
{
    int size = node.launch->size, nodes = node.launch->nodes, rank = 0;
    int32_t *node_of = xalloc((size_t)size, sizeof *node_of);
    node.segments = xalloc((size_t)nodes, sizeof *node.segments);
    for (int i = 0; i < nodes; i++) {
        int nlocal = size / nodes + (i < size % nodes);
        for (int l = 0; l < nlocal; l++, rank++) {
            node_of[rank] = node.ranks[rank].node = i;
            node.ranks[rank].local = l;
        }
        struct ku_segment *s = &node.segments[i];
        if (ku_segment_create(s, (uint32_t)size, (uint32_t)nlocal, (uint32_t)i, (uint32_t)nodes) != 0)
            die("the job's %s", ku_err_last()->text);
        uint64_t share = (uint64_t)s->head->universe * (uint64_t)nlocal / (uint64_t)size;
        s->head->cpus = share > 0 ? (uint32_t)share : 1;
        if (node.launch->universe)
            s->head->universe = (uint32_t)node.launch->universe;
        s->fd = high_fd(s->fd);
    }
    for (int i = 0; i < nodes; i++)
        ku_segment_join(&node.segments[i], &node.segments[0], node_of);
    bind_plan(node.launch, node.segments, node_of);
    free(node_of);
}

static void make_job(void)
{
    uint32_t n = (uint32_t)node.launch->size;
    node.ranks = xalloc(n, sizeof *node.ranks);
    make_nodes();
    if (pipe2(node.control, O_CLOEXEC) != 0 || fcntl(node.control[0], F_SETFL, O_NONBLOCK) != 0)
        die("pipe failed: %s", strerror(errno));
    node.control[1] = high_fd(node.control[1]);
    struct stat st;
    for (int i = 0; i < node.launch->nodes && fstat(node.control[1], &st) == 0; i++)
        node.segments[i].head->control_ino = st.st_ino;
    for (node.hash_mask = 15; node.hash_mask < 2 * n; node.hash_mask = 2 * node.hash_mask + 1)
        ;
    node.by_pid = xalloc(node.hash_mask + 1, sizeof *node.by_pid);
}

static void make_pipe(int rank, int which, int *end)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        die("a pipe for the output of rank %d failed: %s%s", rank, strerror(errno),
            errno == EMFILE ? " (each rank takes two descriptors; is ulimit -Hn too small?)" : "");
    if (start_shares_files(node.launch))
        fds[0] = raise_fd(fds[0], node.control[1] + 1);
    output_add(rank, which, fds[0]);
    *end = fds[1];
}

/* A single rank simply has our descriptors, as under a shell; several get pipes, so that lines stay whole. */
static bool start_rank(struct starter *s, int rank, int null_fd, int *code)
{
    const struct launch *l = node.launch;
    bool direct = output_direct(l);
    bool fed = l->stdin_rank == STDIN_ALL;
    int fd[3] = { fed ? feed_take(rank) : rank == l->stdin_rank ? 0 : null_fd, 1, l->merge_stderr ? 1 : 2 };
    bool tty = (fd[0] == 0 && isatty(0)) || (direct && (isatty(1) || isatty(2)));
    for (int i = 1; i < 3 && !direct; i++)
        make_pipe(rank, i - 1, &fd[i]);
    const struct ku_segment *seg = &node.segments[node.ranks[rank].node];
    struct place at = {
        rank,    node.ranks[rank].local, (int)seg->head->nlocal,
        seg->fd, bind_of(rank),          ku_segment_place(seg, (uint32_t)node.ranks[rank].local),
        0
    };
    pid_t pid = starter_run(s, &at, fd, tty, code);
    for (int i = 1; i < 3 && !direct; i++)
        close(fd[i]);
    if (fed)
        close(fd[0]);
    if (at.unbound)
        bind_refused(rank, at.unbound);
    if (pid < 0)
        return false;
    node.ranks[rank].pid = l->pids[rank] = pid;
    node.alive++;
    remember(rank);
    if (l->verbose)
        say("rank %d is process %d on %s: %s", rank, pid, l->host, node.ranks[rank].app->argv[0]);
    return true;
}

static bool start_all(const struct start *st, int *code)
{
    int rank = 0, null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        die("/dev/null cannot be opened: %s", strerror(errno));
    for (int a = 0; a < node.launch->napps; a++) {
        const struct app *app = &node.launch->apps[a];
        struct starter *s = starter_new(st, app, a, code);
        if (!s)
            return false;
        for (int i = 0; i < app->n; i++, rank++) {
            node.ranks[rank].app = app;
            if (!start_rank(s, rank, null_fd, code))
                return false;
        }
        starter_free(s);
    }
    close(null_fd);
    return true;
}

/* ---- the loop, and the end ---- */

/* Wait for something to happen, at most `ms` (-1: for ever), and do what it asks for. */
static void step(int ms)
{
    struct pollfd p[3 + OUTPUT_POLLS] = { { .fd = node.front, .events = POLLIN },
                                          { .fd = node.signals, .events = POLLIN },
                                          { .fd = node.control[0], .events = POLLIN } };
    int n = 3 + output_polls(p + 3);
    if (poll(p, (nfds_t)n, ms) < 0) {
        if (errno != EINTR && errno != EAGAIN)
            die("poll failed: %s", strerror(errno));
        return;
    }
    output_move();
    if (p[2].revents)
        on_control();
    if (p[1].revents)
        on_signalfd();
    if (p[0].revents)
        on_front();
}

/* Nobody takes the rest of the output, and nobody should wait for that any more. */
static bool give_up(double since)
{
    bool ended = node.phase == TERM && (node.user_signal || node.code == EXIT_TIMEOUT);
    return node.phase == KILL || (ended && now() > since + GRACE_SECONDS) ||
           (node.timeout_due && now() > node.timeout_due);
}

/* --print-all-exitcodes: by rank. */
static void print_codes(void)
{
    char *text = xformat("mpiexec: exit codes: [%s] ", node.launch->host);
    size_t n = strlen(text);
    text = xgrow(text, n + 5 * (size_t)node.launch->size + 2, 1);
    for (int i = 0; i < node.launch->size; i++)
        n += (size_t)sprintf(text + n, "%s%d", i ? "," : "", status_code(node.ranks[i].status));
    strcpy(text + n, "\n");
    output_message(text);
    free(text);
}

static void finish(void)
{
    settle_code();
    if (!tree_end())
        say("some processes of the job do not end even by SIGKILL");
    output_close();
    report_flush();
    if (node.launch->print_codes)
        print_codes();
    for (double since = now(); !output_done() && !give_up(since);)
        step(100);
    if (output_failed()) {
        say("passing on the ranks' output failed: %s", strerror(output_failed()));
        set_code(EXIT_MPIEXEC);
    }
    struct front_message m = { .word = WORD_DONE,
                               .value = node.code < 0 ? 0 : node.code,
                               .all_zero = node.all_zero };
    if (send(node.front, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno != EPIPE)
        say("telling the job's exit code to mpiexec's front process failed: %s", strerror(errno));
}

int node_main(struct launch *l, int front)
{
    node.launch = l;
    node.front = front;
    node.code = node.code_after = -1;
    node.all_zero = true;
    setpgid(0, 0);
    prctl(PR_SET_NAME, "keel-node"); /* killall -9 mpiexec leaves this one to clean up */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        die("prctl(PR_SET_CHILD_SUBREAPER) failed: %s", strerror(errno));
    watch_signals();
    struct start st = { .launch = l, .nofile = raise_files() };
    if (l->stdin_rank == STDIN_ALL)
        feed_start(l, front, node.signals);
    make_job();
    hold_ranks(l->held);
    st.control_fd = node.control[1];
    st.job_id = node.segments[0].head->job_id;
    output_init(l);
    report_init(l->size, l->host);
    hang_init(l, node.segments, look_at_rank);
    if (l->timeout > 0)
        node.timeout_due = now() + l->timeout;
    int code = 0;
    if (l->bind.no_launch) {
        finish();
        return 0;
    }
    if (start_all(&st, &code)) {
        tell_front(WORD_STARTED);
    } else {
        set_code(code);
        end_at_once();
    }
    while ((node.alive > 0 && !(node.phase == KILL && now() > node.kill_until)) ||
           (node.perhaps_user && node.phase == LINGER)) {
        step(poll_ms());
        on_time();
    }
    finish();
    return node.code < 0 ? 0 : node.code;
}
