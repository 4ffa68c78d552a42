/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.c: see crew.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "crew.h"
#include "cards.h"
#include "feed.h"
#include "pmi/launch/hang/hang.h"
#include "pmi/launch/base/oom.h"
#include "pmi/launch/job/spawned.h"
#include "pmi/launch/hang/trace.h"
#include "pmi/launch/output/output.h"
#include "pmi/launch/pmserver/serve.h"
#include "strangers.h"
#include "util/err.h"

enum {
    OWN_FDS = 24 /* descriptors besides those of ranks' output: pipes, signals, what is read now and then */
};

static int *by_pid; /* hash: rank + 1, 0 for empty */
static unsigned hash_mask;
static char records[4 * PIPE_BUF + 1]; /* control records, the last perhaps in part, and a 0 at the end */
static size_t nrecords;
static bool killed; /* everything here has been */
static char *lost;  /* what to say of programs whose loader does not find our library */

/* ---- ranks by pid ---- */

static unsigned slot_of(pid_t pid)
{
    return (unsigned)pid * 2654435761u & hash_mask;
}

static void remember(int rank)
{
    unsigned i = slot_of(crew.ranks[rank].pid);
    while (by_pid[i])
        i = (i + 1) & hash_mask;
    by_pid[i] = rank + 1;
}

static int rank_of(pid_t pid)
{
    for (unsigned i = slot_of(pid); by_pid[i]; i = (i + 1) & hash_mask)
        if (crew.ranks[by_pid[i] - 1].pid == pid)
            return by_pid[i] - 1;
    return -1;
}

/* ---- signals ---- */

/* But not those in process group `but` (0: no exception). */
void crew_signal_ranks(int sig, pid_t but)
{
    for (int i = 0; i < crew.launch->size; i++)
        if (crew.ranks[i].pid && crew_is_here(i) && !(but && getpgid(crew.ranks[i].pid) == but))
            kill(crew.ranks[i].pid, sig);
}

void crew_signal(int sig, pid_t but)
{
    killed = killed || sig == SIGKILL;
    if (tree_signal(sig, but) < 0)
        crew_signal_ranks(sig, but);
}

/* ---- what ranks say ---- */

/* Bytes of the first record in the buffer; 0 if it is not whole yet. */
static size_t first_record(void)
{
    struct pmi_record r;
    if (nrecords < sizeof r)
        return 0;
    memcpy(&r, records, sizeof r);
    if (r.job_id != crew.job_id || r.rank >= (uint32_t)crew.launch->size || !crew_is_here((int)r.rank) ||
        r.len > PIPE_BUF) {
        say("a process of the job wrote bytes into mpiexec's control pipe that are no record; they are "
            "dropped");
        nrecords = 0;
        return 0;
    }
    return sizeof r + r.len <= nrecords ? sizeof r + r.len : 0;
}

/* A rank waits until we have looked where it is. */
static void on_trace(const struct pmi_record *r, const char *bytes)
{
    struct crew_rank *rank = &crew.ranks[r->rank];
    struct ku_segment *s = &crew.segments[crew.launch->node_of[r->rank]];
    struct pmi_trace t;
    if (r->len != sizeof t || !rank->pid)
        return;
    memcpy(&t, bytes, sizeof t);
    free(rank->trace);
    pid_t pid = atomic_load(&ku_segment_rank(s, (uint32_t)rank->local)->pid); /* perhaps a script's child */
    rank->trace = trace_text(pid > 0 ? pid : rank->pid, &t);
    rank->trace_signal = t.signal;
    atomic_store(&ku_segment_call(s, (uint32_t)rank->local)->traced, 1);
}

/* What a rank says of the error for which it ends, with the place where that happened. */
static void on_last_words(const struct pmi_record *r, const char *bytes)
{
    static char text[PIPE_BUF];
    struct pmi_record longer = *r;
    size_t most = sizeof text - sizeof *r, len = r->len < most ? r->len : most;
    memcpy(text, bytes, len);
    len += (size_t)snprintf(text + len, most - len + 1, "%s", crew.ranks[r->rank].trace);
    longer.len = (uint32_t)(len < most ? len : most);
    crew.on_record(&longer, text);
}

/* A report with places: the rank waits until they have been looked up. */
static void on_places(const struct pmi_record *r, const char *bytes)
{
    struct pmi_record longer = *r;
    const struct crew_rank *rank = &crew.ranks[r->rank];
    struct ku_segment *s = &crew.segments[crew.launch->node_of[r->rank]];
    pid_t pid = atomic_load(&ku_segment_rank(s, (uint32_t)rank->local)->pid); /* perhaps a script's child */
    char *text = NULL;
    size_t len = 0, most = PIPE_BUF - sizeof *r;
    FILE *out = open_memstream(&text, &len);
    for (size_t i = 0; out && i < r->len; i++)
        if (bytes[i] != PMI_PLACE_BEGIN[0]) {
            fputc(bytes[i], out);
        } else {
            char *end;
            uint64_t address = strtoull(bytes + i + 1, &end, 16);
            bool full = bytes[i + 1] == '+';
            char *where = hang_where(pid > 0 ? pid : rank->pid, address, full);
            fputs(where ? where : full ? "" : "a place that is not known", out);
            free(where);
            i = (size_t)(end - bytes);
        }
    if (out && fclose(out) == 0) {
        longer.len = (uint32_t)(len < most ? len : most);
        crew.on_record(&longer, text);
    }
    free(text);
    atomic_store(&ku_segment_call(s, (uint32_t)rank->local)->traced, 1);
}

static void on_record(const struct pmi_record *r, const char *bytes)
{
    const struct crew_rank *rank = &crew.ranks[r->rank];
    bool last = (r->kind == PMI_ABORT && r->len) || r->kind == PMI_ABORT_SOME;
    if (r->kind == PMI_JOB)
        spawned_add((pid_t)r->value);
    else if (r->kind == PMI_BORN)
        spawned_born((pid_t)r->value);
    else if (r->kind == PMI_FREE)
        spawned_free((pid_t)r->value);
    else if (r->kind == PMI_TRACE)
        on_trace(r, bytes);
    else if (r->kind == PMI_MESSAGE && (r->value == PMI_PLACES || r->value == PMI_FAULT))
        on_places(r, bytes);
    else if (last && rank->trace && rank->trace_signal == 0)
        on_last_words(r, bytes);
    else
        crew.on_record(r, bytes);
}

void crew_hear(void)
{
    ssize_t n;
    while ((n = read(crew.control[0], records + nrecords, sizeof records - 1 - nrecords)) > 0) {
        nrecords += (size_t)n;
        for (size_t len; (len = first_record()) > 0;) {
            struct pmi_record r;
            memcpy(&r, records, sizeof r);
            on_record(&r, records + sizeof r);
            nrecords -= len;
            memmove(records, records + len, nrecords);
        }
    }
}

/* ---- ranks' ends ---- */

/* A rank that has ended well, and had not begun with MPI, or had done with it: those who look whether all sleep
 * (core/wait_report.c) count it out, and look again. */
static void count_out(int rank)
{
    for (int i = 0; i < crew.launch->nodes; i++) {
        const struct ku_segment *s = &crew.segments[i];
        int32_t here = s->head ? ku_segment_local_of(s, rank) : -1;
        uint32_t started = KU_RANK_STARTED, resting = KU_RANK_RESTING;
        if (here < 0)
            continue;
        _Atomic uint32_t *state = &ku_segment_rank(s, (uint32_t)here)->state;
        bool absent = atomic_compare_exchange_strong(state, &started, KU_RANK_FINALIZED);
        if (absent || atomic_compare_exchange_strong(state, &resting, KU_RANK_FINALIZED))
            ku_segment_wake_all(s);
        if (absent)
            cards_absent((uint32_t)rank);
    }
}

void crew_reap(void)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR);) {
        int rank = pid > 0 && by_pid ? rank_of(pid) : -1;
        if (rank < 0) { /* interrupted, or an orphan that became ours */
            if (pid > 0)
                crew_hear(); /* it may have said just now that it is a job */
            if (pid > 0 && !spawned_ended(pid, status) && !serve_reaped(pid, status, killed) && crew.on_other)
                crew.on_other(pid, status);
            continue;
        }
        crew.ranks[rank].pid = 0;
        crew.ranks[rank].status = status;
        crew.alive--;
        serve_settle(rank);
        crew_hear();
        if (status == 0)
            count_out(rank);
        crew.on_end(rank, pid, status);
    }
}

/* ---- start ---- */

/* A file, or the job's memory, that is larger than ulimit -f allows is an error of the call that makes it so.
 * Caught rather than ignored: the ranks shall have it as it was. */
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
    crew.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (crew.signals < 0)
        die("signalfd failed: %s", strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTOU, SIG_IGN); /* we are not in the foreground, but write to the terminal */
}

/* Have as many descriptors as we may, or more if we need them and are allowed to.  The limits before that. */
static struct rlimit raise_files(void)
{
    const struct launch *l = crew.launch;
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

struct rlimit crew_begin(struct launch *l)
{
    crew.launch = l;
    crew.control[0] = crew.control[1] = -1;
    crew.segments = xalloc((size_t)l->nodes, sizeof *crew.segments);
    crew.ranks = xalloc((size_t)l->size, sizeof *crew.ranks);
    int *taken = xalloc((size_t)l->nodes, sizeof *taken), rank = 0;
    for (int a = 0; a < l->napps; a++)
        for (int i = 0; i < l->apps[a].n; i++, rank++) {
            crew.ranks[rank].app = &l->apps[a];
            crew.ranks[rank].local = taken[l->node_of[rank]]++;
        }
    free(taken);
    watch_signals();
    return raise_files();
}

void crew_new_job(void)
{
    if (getrandom(&crew.job_id, sizeof crew.job_id, 0) != sizeof crew.job_id ||
        getrandom(crew.secret, sizeof crew.secret, 0) != sizeof crew.secret)
        die("getrandom failed: %s", strerror(errno));
}

/* How many ranks a node has. */
static int ranks_on(int node)
{
    int n = 0;
    for (int i = 0; i < crew.launch->size; i++)
        n += crew.launch->node_of[i] == node;
    return n;
}

/* The segment of a node that is here.  Several are if they are simulated; they share out the cores: a node
 * believes that it has as many of them as its ranks are of the job's, and at least one. */
static void make_node(int node)
{
    const struct launch *l = crew.launch;
    struct ku_segment *s = &crew.segments[node];
    int nlocal = ranks_on(node);
    if (ku_segment_create(s, (uint32_t)l->size, (uint32_t)nlocal, (uint32_t)node, (uint32_t)l->nodes) != 0)
        die("the job's %s", ku_err_last()->text);
    if (!l->remote) {
        uint64_t share = (uint64_t)s->head->universe * (uint64_t)nlocal / (uint64_t)l->size;
        s->head->cpus = share > 0 ? (uint32_t)share : 1;
    }
    if (crew.universe)
        s->head->universe = crew.universe;
    if (l->universe)
        s->head->universe = (uint32_t)l->universe;
    s->fd = high_fd(s->fd);
    ku_segment_join(s, crew.job_id, crew.secret, l->node_of);
}

void crew_make(void)
{
    const struct launch *l = crew.launch;
    for (int i = 0; i < l->nodes; i++)
        if (!l->remote || i == l->here)
            make_node(i);
    bind_plan(l, crew.segments);
    if (pipe2(crew.control, O_CLOEXEC) != 0 || fcntl(crew.control[0], F_SETFL, O_NONBLOCK) != 0)
        die("pipe failed: %s", strerror(errno));
    crew.control[1] = high_fd(crew.control[1]);
    struct stat st;
    for (int i = 0; i < l->nodes && fstat(crew.control[1], &st) == 0; i++)
        if (crew.segments[i].head)
            crew.segments[i].head->control_ino = st.st_ino;
    unsigned n = (unsigned)l->size;
    for (hash_mask = 15; hash_mask < 2 * n; hash_mask = 2 * hash_mask + 1)
        ;
    by_pid = xalloc(hash_mask + 1, sizeof *by_pid);
}

static void make_pipe(int rank, int which, int *end)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        die("a pipe for the output of rank %d failed: %s%s", rank, strerror(errno),
            errno == EMFILE ? " (each rank takes two descriptors; is ulimit -Hn too small?)" : "");
    if (start_shares_files(crew.launch))
        fds[0] = fd_from(fds[0], crew.control[1] + 1);
    output_add(rank, which, fds[0]);
    *end = fds[1];
}

/* Of a rank that is served PMIx.  Who has not asked for that may well do without. */
static char **environment_of(struct starter *s, int rank)
{
    char *why, **list = serve_environment(rank, &why);
    if (why && crew.launch->pmix)
        die("PMIx cannot be served: %s", why);
    if (why)
        starter_no_pmix(s, why);
    free(why);
    return list;
}

static void free_list(char **list)
{
    for (char **s = list; s && *s; s++)
        free(*s);
    free(list);
}

/* A single rank simply has our descriptors, as under a shell; several get pipes, so that lines stay whole. */
static bool start_rank(struct starter *s, int rank, int null_fd, int *code)
{
    const struct launch *l = crew.launch;
    bool direct = output_direct(l);
    int given = crew.take_stdin ? crew.take_stdin(rank) : l->stdin_rank == STDIN_ALL ? feed_take(rank) : -1;
    bool fed = given >= 0;
    int fd[3] = { fed                                         ? given
                  : rank == l->stdin_rank && !crew.take_stdin ? 0
                                                              : null_fd,
                  1, l->merge_stderr ? 1 : 2 };
    bool tty = (fd[0] == 0 && isatty(0)) || (direct && (isatty(1) || isatty(2)));
    for (int i = 1; i < 3 && !direct; i++)
        make_pipe(rank, i - 1, &fd[i]);
    const struct ku_segment *seg = &crew.segments[l->node_of[rank]];
    struct place at = { rank,
                        crew.ranks[rank].local,
                        (int)seg->head->nlocal,
                        seg->fd,
                        bind_of(rank),
                        ku_segment_place(seg, (uint32_t)crew.ranks[rank].local),
                        bind_told(rank),
                        starter_pmi(s) ? serve_rank(rank) : -1,
                        starter_pmix(s) ? environment_of(s, rank) : NULL,
                        0 };
    pid_t pid = starter_run(s, &at, fd, tty, code);
    for (int i = 1; i < 3 && !direct; i++)
        close(fd[i]);
    if (fed)
        close(fd[0]);
    if (at.pmi_fd >= 0)
        close(at.pmi_fd);
    free_list(at.pmix);
    if (at.unbound)
        bind_refused(rank, at.unbound);
    if (pid < 0)
        return false;
    if (starter_lost(s) && !lost)
        lost = xformat("%s", starter_lost(s));
    crew.ranks[rank].lost = starter_lost(s) != NULL;
    crew.ranks[rank].watched = !starter_unwatched(s);
    crew.ranks[rank].pid = l->pids[rank] = pid;
    crew.alive++;
    remember(rank);
    if (l->verbose)
        say("rank %d is process %d on %s: %s", rank, pid, launch_host(l, rank),
            crew.ranks[rank].app->argv[0]);
    return true;
}

/* The ranks of one section that are here, from number `rank` on. */
static bool start_section(const struct start *st, int a, int rank, int null_fd, int *code)
{
    const struct app *app = &crew.launch->apps[a];
    struct starter *s = NULL;
    bool ok = true;
    for (int i = 0; i < app->n && ok; i++, rank++)
        if (crew_is_here(rank))
            ok = (s || (s = starter_new(st, app, a, code))) && start_rank(s, rank, null_fd, code);
    if (s)
        starter_free(s);
    return ok;
}

bool crew_start(const struct start *st, int *code)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool ok = true;
    if (null_fd < 0)
        die("/dev/null cannot be opened: %s", strerror(errno));
    for (int a = 0, rank = 0; a < crew.launch->napps && ok; rank += crew.launch->apps[a++].n)
        ok = start_section(st, a, rank, null_fd, code);
    close(null_fd);
    strangers_begin();
    return ok;
}

char *crew_why(int rank, int status)
{
    bool loader = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND && crew.ranks[rank].lost;
    const struct crew_rank *r = &crew.ranks[rank];
    bool traced = r->trace && WIFSIGNALED(status) && WTERMSIG(status) == r->trace_signal;
    return loader ? xformat("%s", lost) : traced ? xformat("%s", r->trace) : oom_words(status);
}

/* ---- what ranks are told ---- */

static const double STOP_SECONDS = 0.3;

/* The signal that has stopped it; 0: it is not stopped. */
static int is_stopped(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };
    bool is = waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
    return is ? info.si_status : 0;
}

/* Whoever is in the front's process group is stopped with it while that is in the background, and goes on when it
 * is fetched back. */
int crew_stopped_by_terminal(void (*first)(int rank, int sig))
{
    siginfo_t any = { .si_pid = 0 };
    int n = 0;
    if (waitid(P_ALL, 0, &any, WSTOPPED | WNOHANG | WNOWAIT) != 0 || any.si_pid == 0)
        return 0;
    for (int i = 0; i < crew.launch->size; i++) {
        struct crew_rank *r = &crew.ranks[i];
        int sig = r->pid && crew_is_here(i) ? is_stopped(r->pid) : 0;
        if ((sig != SIGTTIN && sig != SIGTTOU) || getpgid(r->pid) == crew.launch->front_pgid)
            continue;
        n++;
        if (!r->told_stopped)
            first(i, sig);
        r->told_stopped = true;
    }
    return n;
}

/* The front stops itself, and the shell goes on, when the ranks stand still: before that, rank 0 could still read what
 * is typed to the shell.  A rank may catch the signal and not stop, so there is an end to waiting. */
void crew_stop(pid_t but)
{
    double until = now() + STOP_SECONDS;
    int rank = 0;
    crew_signal(SIGTSTP, but);
    while (rank < crew.launch->size && now() < until)
        if (crew.ranks[rank].pid == 0 || !crew_is_here(rank) || is_stopped(crew.ranks[rank].pid))
            rank++;
        else
            usleep(500);
}

void crew_kill(int rank, bool in_mpi)
{
    const struct ku_segment *s = &crew.segments[crew.launch->node_of[rank]];
    uint32_t state = atomic_load(&ku_segment_rank(s, (uint32_t)crew.ranks[rank].local)->state);
    if (crew.ranks[rank].pid > 0 && (!in_mpi || state == KU_RANK_RUNNING))
        kill(crew.ranks[rank].pid, SIGKILL);
}

void crew_hold(bool hold)
{
    for (int i = 0; i < crew.launch->nodes; i++)
        if (crew.segments[i].head)
            atomic_store(&crew.segments[i].head->held, hold);
}

void crew_gone(int rank, enum ku_gone how)
{
    for (int i = 0; i < crew.launch->nodes; i++) {
        struct ku_segment *s = &crew.segments[i];
        if (s->head)
            ku_segment_mark_gone(s, (uint32_t)rank, how);
    }
    cards_gone((uint32_t)rank);
}
