/* SPDX-License-Identifier: BSD-3-Clause */
/* node.c: the node daemon: parent of the ranks, mover of their output, judge of their ends.
 *
 * States (node.phase) and who takes each arrow
 *   RUN     -> LINGER   end_soon: a rank failed, or asked for the job's end; others may be failing too, and
 *                       say why; end_when_answered: a host is lost before anything runs
 *   LINGER  -> TERM     on_time after LINGER_SECONDS: SIGTERM to every process of the job
 *   RUN, LINGER -> TERM on_signal (the user's signal is forwarded), on_timeout
 *   TERM    -> KILL     on_time after GRACE_SECONDS, or the user's second signal: SIGKILL until none is left
 *   any     -> out of the loop when no rank is alive: finish
 *
 * Invariants
 *   1. Before a rank's end is judged, what it sent through the control pipe has been read.
 *   2. node.code is set once, by the first failure that is no consequence of another (the rank had not found
 *      anybody gone), if there is one; what ranks do after TERM is our doing and is not judged.
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
#include "cards.h"
#include "crew.h"
#include "doubts.h"
#include "feed.h"
#include "fleet.h"
#include "pmi/launch/hang/hang.h"
#include "pmi/launch/output/found.h"
#include "pmi/launch/job/spawned.h"
#include "pmi/launch/job/launch.h"
#include "pmi/launch/output/output.h"
#include "pmi/pmi.h"
#include "pmi/launch/frames/frame_pack.h"
#include "pmi/launch/profile/profile_report.h"
#include "remote.h"
#include "pmi/launch/output/report.h"
#include "pmi/launch/pmserver/serve.h"
#include "pmi/launch/pmserver/share.h"
#include "start.h"
#include "strangers.h"
#include "util/err.h"
#include "util/segment.h"

static const double LINGER_SECONDS = 0.05, LINGER_MOST_SECONDS = 0.5, CAUSE_SECONDS = 3, ANSWERS_SECONDS = 10,
                    KILL_SECONDS = 10, PROFILE_ANSWERS_SECONDS = 0.5;

enum phase { RUN, LINGER, TERM, KILL };

/* What is noted of a rank to judge its end. */
struct file {
    bool let_go;   /* it ends alone (PMI_ABORT_SOME) */
    bool aborts;   /* it has said so */
    int unreached; /* we have ended it, as this rank and it could not reach each other; ... + 1, 0: no */
};

static struct node {
    int front;
    struct file *files;         /* of each rank */
    struct ku_seg_rank *mirror; /* of each rank of another host, as that has told; NULL: there are none */
    enum phase phase;
    double phase_due, linger_until, cause_until, timeout_due, kill_until;
    double profile_due,
        profile_at; /* the next report of the profile: the hosts are asked, it is written; 0: none */
    int code;       /* -1: nothing has failed */
    int code_after; /* of what may be a consequence only; -1: none */
    int user_signal;
    int lost;          /* ranks without which the job has gone on */
    int lost_code;     /* of the first of them; -1: none */
    bool perhaps_user; /* a rank died of what a terminal sends to all: the front's word may be on its way */
    bool all_zero;
    bool stopping;  /* the front waits to be told that all ranks stand still */
    bool begun;     /* ranks may have been started: all hosts have answered */
    bool started;   /* it has been told that all are started */
    bool timed_out; /* and told; it is to be ended */
} node;

static struct ku_seg_rank *seg_rank(int rank)
{
    if (!crew_is_here(rank))
        return &node.mirror[rank];
    return ku_segment_rank(&crew.segments[crew.launch->node_of[rank]], (uint32_t)crew.ranks[rank].local);
}

/* For hang.c. */
static void look_at_rank(int rank, struct hang_rank *r)
{
    r->pid = crew.ranks[rank].pid;
    r->status = crew.ranks[rank].status;
    r->seg = NULL;
    if (!crew_is_here(rank))
        return;
    r->seg = seg_rank(rank);
    r->call = ku_segment_call(&crew.segments[crew.launch->node_of[rank]], (uint32_t)crew.ranks[rank].local);
}

/* ---- ending the job ---- */

static void set_code(int code)
{
    if (node.code < 0)
        node.code = code;
}

/* Had this rank found another gone?  Its end may then have come to our notice before that of the other, whose
 * sockets the kernel closes first. */
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

/* Whoever fails meanwhile prolongs it a little: many ranks may have much the same to say.  What may be a
 * consequence waits for its cause: the kernel closes a dying rank's sockets before we are told of its end, another
 * host's word takes its time, and that a host is lost is known only after a while: until then it has not answered. */
static void end_soon(void)
{
    double t = now();
    if (node.phase == RUN) {
        node.phase = LINGER;
        node.linger_until = 0;
        node.phase_due = t + CAUSE_SECONDS;
        node.cause_until = t + CAUSE_SECONDS + crew.launch->node_timeout;
        remote_ask(ASK_WHETHER_THERE);
    }
    if (node.phase != LINGER || node.code < 0)
        return;
    if (node.linger_until == 0)
        node.linger_until = t + LINGER_MOST_SECONDS;
    node.phase_due = t + LINGER_SECONDS < node.linger_until ? t + LINGER_SECONDS : node.linger_until;
}

/* A host is lost before anything runs: of those of which nothing is known yet as many may fail, and each is to be
 * named.  So long as ssh may take to find out. */
static void end_when_answered(void)
{
    double ssh = crew.launch->node_timeout / 2;
    if (node.phase == RUN) {
        node.phase = LINGER;
        node.phase_due = now() + (ssh < ANSWERS_SECONDS ? ssh : ANSWERS_SECONDS);
    }
}

static void signal_all(int sig, pid_t but)
{
    crew_signal(sig, but);
    remote_signal(sig);
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
    crew_signal(SIGKILL, 0);
    remote_kill();
    node.phase_due = now() + 0.05; /* whoever forked meanwhile */
}

/* Invariant 3. */
static _Noreturn void front_is_gone(void)
{
    tree_end();
    found_write(crew.launch, EXIT_MPIEXEC);
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
    node.files[rank].aborts = true;
    report_text(rank, text ? text : standard, len, is_after(rank));
    set_code_of(rank, abort_exit_code(code));
    end_soon();
}

static void kill_rank(int rank, bool in_mpi)
{
    if (crew_is_here(rank))
        crew_kill(rank, in_mpi);
    else
        remote_kill_rank(rank, in_mpi);
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
        if (rank < 0 || rank >= crew.launch->size)
            continue;
        node.files[rank].let_go = true;
        if (crew.ranks[rank].pid == 0 ||
            rank == (int32_t)r->rank) /* that one flushes its output and leaves */
            continue;
        kill_rank(rank, false);
    }
}

/* ---- cards ---- */

/* A rank wants the card of a rank of another node. */
static void on_ask(const struct pmi_record *r, const char *bytes)
{
    uint32_t rank;
    int from = crew.launch->node_of[r->rank];
    if (r->len != sizeof rank)
        return;
    memcpy(&rank, bytes, sizeof rank);
    if (rank >= (uint32_t)crew.launch->size || crew.launch->node_of[rank] == from)
        return;
    if (crew_is_here((int)rank))
        cards_want(rank, r->value, from);
    else
        remote_want(rank, r->value, from);
}

static void on_have(const struct card_answer *a)
{
    if (crew.segments[a->node].head)
        cards_take(a);
    else
        remote_card(a);
}

/* ---- parcels of those who serve other MPIs' programs ---- */

static void pass_parcel(int from, int to, const void *bytes, size_t len)
{
    int here = crew.launch->here;
    if (here >= 0 && from != here && (to == here || to == SHARE_ALL))
        serve_parcel(from, bytes, len);
    if (to == SHARE_ALL || to != here)
        remote_parcel(from, to, bytes, len);
}

static void on_parcel(int to, const void *bytes, size_t len)
{
    pass_parcel(crew.launch->here, to, bytes, len);
}

static void on_record(const struct pmi_record *r, const char *text)
{
    if (r->kind == PMI_MESSAGE && r->value == PMI_TIMES)
        found_times((int)r->rank, text, r->len);
    else if (node.phase >= TERM)
        return;
    else if (r->kind == PMI_ABORT)
        on_abort((int)r->rank, r->value, r->len ? text : NULL, r->len);
    else if (r->kind == PMI_ABORT_SOME)
        on_abort_some(r, text);
    else if (r->kind == PMI_MESSAGE && r->value == PMI_FAULT)
        found_take((int)r->rank, text, r->len);
    else if (r->kind == PMI_MESSAGE)
        report_text((int)r->rank, text, r->len, false);
    else if (r->kind == PMI_ASK)
        on_ask(r, text);
    else if (r->kind == PMI_CARD)
        cards_there(r->rank);
    else if (r->kind == PMI_REST)
        hang_rests((pid_t)r->value, text, r->len);
    else if (r->kind == PMI_STILL)
        hang_still(crew.launch->node_of[r->rank]);
    else if (r->kind == PMI_DOUBTS && crew.launch->survives && r->value < (uint32_t)crew.launch->size)
        doubts_add((int)r->rank, (int)r->value);
}

/* ---- ranks' ends ---- */

/* For those who stay, if only a little longer. */
static void publish_end(int rank, enum ku_gone how)
{
    crew_gone(rank, how);
    remote_gone(rank, how);
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

/* For doubts.h. */
static void end_doubted(int rank, int other)
{
    node.files[rank].unreached = other + 1;
    kill_rank(rank, true);
}

/* What is known besides of the end of such a rank: to be freed; NULL: it is none. */
static char *doubted_why(int rank, int status)
{
    int other = node.files[rank].unreached;
    return other > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
               ? xformat("rank %d and it could not reach each other, so mpiexec has ended it", other - 1)
               : NULL;
}

/* -with-ft: n ranks have failed with that code.  Are there others, here or in jobs that are connected to this one?
 * (The mpiexec of a spawned job tells the one above that nobody is left here; front's `done`.) */
static bool lives_without(int n, int code)
{
    if (node.lost_code < 0 && n > 0)
        node.lost_code = code;
    node.lost += n;
    return node.lost < crew.launch->size || crew.launch->spawned || spawned_pids(NULL, 0) + remote_jobs() > 0;
}

/* Invariant 2: a rank ended, and not through us. */
static void judge(int rank, pid_t pid, int status, const char *why)
{
    struct ku_seg_rank *sr = seg_rank(rank);
    uint32_t state = atomic_load(&sr->state);
    bool running = state == KU_RANK_RUNNING;
    if (node.files[rank].let_go) {
        publish_end(rank, KU_GONE);
        return;
    }
    if (state == KU_RANK_ABORTED) {
        if (!node.files[rank].aborts) /* its record did not come through */
            on_abort(rank, (uint32_t)sr->abort_code, NULL, 0);
        return;
    }
    if (status == 0 && !running) {
        if (crew.launch->survives) /* who has it to wait for in an agreement does without it */
            publish_end(rank, KU_GONE_ENDED);
        return;
    }
    if (status_code(status) == 128 + SIGPIPE && output_reader_gone()) { /* also as a shell tells of a child */
        set_code(output_failed() ? EXIT_MPIEXEC : 128 + SIGPIPE);
        if (running) /* the others may wait for it */
            end_by(SIGTERM, 0);
        return;
    }
    struct failure_facts facts = {
        .kind = FAILED_CODE, .mpi = running, .why = why, .program = crew.ranks[rank].app->argv[0]
    };
    facts.value = status_code(status);
    if (WIFSIGNALED(status)) {
        facts.kind = FAILED_SIGNAL;
        facts.value = WTERMSIG(status);
        facts.core = WCOREDUMP(status);
        node.perhaps_user = node.perhaps_user || is_ending(facts.value);
    } else if (status == 0) {
        facts.kind = FAILED_NOT_FINALIZED;
    }
    int code = status == 0 ? EXIT_NOT_FINALIZED : status_code(status);
    facts.goes_on = running && crew.launch->survives && lives_without(1, code);
    report_failure(rank, &facts, pid, is_after(rank));
    if (facts.goes_on) {
        if (crew.launch->counts_failed)
            set_code_of(rank, code);
        publish_end(rank, KU_GONE);
        return;
    }
    if (running && node.lost_code >= 0) /* nobody is left */
        set_code(node.lost_code);
    set_code_of(rank, code);
    if (state != KU_RANK_FINALIZED) {
        publish_end(rank, KU_GONE);
        end_soon();
    }
}

static void on_end(int rank, pid_t pid, int status)
{
    node.all_zero = node.all_zero && status == 0;
    if (node.phase >= TERM)
        return;
    char *doubted = doubted_why(rank, status), *why = doubted ? doubted : crew_why(rank, status);
    judge(rank, pid, status, why);
    free(why);
    hang_ended();
}

static void on_other(pid_t pid, int status)
{
    fleet_reaped(pid, status);
}

/* ---- other hosts ---- */

static void on_far_record(const struct pmi_record *r, const char *bytes, bool found_gone)
{
    struct ku_seg_rank *m = &node.mirror[r->rank];
    uint32_t started = KU_RANK_STARTED;
    if (found_gone)
        atomic_store(&m->found_gone, 1);
    if (r->kind == PMI_RUNS)
        atomic_compare_exchange_strong(&m->state, &started, KU_RANK_RUNNING);
    else
        on_record(r, bytes);
}

static void on_far_end(int rank, const struct frame_ended *e, const char *why)
{
    struct ku_seg_rank *m = &node.mirror[rank];
    atomic_store(&m->state, e->state);
    atomic_store(&m->found_gone, e->found_gone);
    m->abort_code = e->abort_code;
    node.all_zero = node.all_zero && e->status == 0;
    char *doubted = doubted_why(rank, e->status);
    if (node.phase < TERM)
        judge(rank, e->pid, e->status, doubted ? doubted : why);
    free(doubted);
    hang_ended();
}

static void on_failed(int code)
{
    set_code(code > 0 && code < 256 ? code : EXIT_MPIEXEC);
    end_at_once();
}

/* The ranks that are lost with a host: a bit each; how many they are. */
static int ranks_lost_with(int where, unsigned char *bits, bool *running)
{
    const struct launch *l = crew.launch;
    int n = 0;
    *running = true;
    for (int i = 0; i < l->size; i++)
        if (l->node_of[i] == where && crew.ranks[i].pid != 0) {
            n++;
            bits[i / 8] |= (unsigned char)(1 << i % 8);
            *running = *running && atomic_load(&node.mirror[i].state) == KU_RANK_RUNNING;
        }
    return n;
}

static void ranks_end_with_host(const unsigned char *bits, bool publish)
{
    for (int i = 0; i < crew.launch->size; i++)
        if (bits[i / 8] & 1 << i % 8) {
            crew.ranks[i].pid = 0;
            crew.ranks[i].status = SIGKILL;
            crew.alive--;
            node.all_zero = false;
            if (publish)
                publish_end(i, KU_GONE_WITH_HOST);
        }
}

static void report_lost(int where, const char *why, const unsigned char *bits, int n, bool on)
{
    char *ranks = on && n > 0 ? rank_words(bits, n, crew.launch->size) : NULL,
         *text = ranks ? xformat("%s; %s %s lost; the job goes on", why, ranks, n > 1 ? "are" : "is")
                       : xformat("%s%s", why,
                                 on                      ? "; none of its ranks was left; the job goes on"
                                 : n > 0 && node.started ? "; its ranks are lost"
                                                         : "");
    report_host(crew.launch->hosts[where].name, text);
    free(text);
    free(ranks);
}

/* Its ranks are gone with it. */
static void on_lost(int where, const char *why)
{
    unsigned char *bits = xalloc((size_t)crew.launch->size / 8 + 1, 1);
    bool running;
    int n = ranks_lost_with(where, bits, &running);
    bool on =
        crew.launch->survives && node.phase == RUN && node.begun && running && lives_without(n, EXIT_MPIEXEC);
    ranks_end_with_host(bits, on || node.started);
    if (node.phase < TERM)
        report_lost(where, why, bits, n, on);
    free(bits);
    if (on && crew.launch->counts_failed && n > 0)
        set_code(EXIT_MPIEXEC);
    if (on)
        hang_ended();
    if (on || node.phase >= TERM)
        return;
    if (running && node.lost_code >= 0) /* nobody is left */
        set_code(node.lost_code);
    set_code(EXIT_MPIEXEC);
    if (node.begun)
        end_soon();
    else
        end_when_answered();
}

/* ---- the profile ---- */

static void profile_look_here(void)
{
    for (int i = 0; i < crew.launch->size; i++) {
        struct pack p = { 0 };
        if (crew_is_here(i) && prof_read(i, &p))
            prof_take(i, p.bytes, p.len);
        free(p.bytes);
    }
}

/* Other hosts' answers come in some time; one that is late is written with what it has said before. */
static void profile_ask(void)
{
    const struct launch *l = crew.launch;
    if (!l->profile.on || !node.begun)
        return;
    remote_profile();
    node.profile_at = now() + (l->remote ? PROFILE_ANSWERS_SECONDS : 0);
    node.profile_due = l->profile.every > 0 ? now() + l->profile.every : 0;
}

static void profile_write(void)
{
    node.profile_at = 0;
    profile_look_here();
    prof_write(crew.launch);
}

/* ---- what the user says ---- */

/* If it cannot be told it is gone, and we shall see that. */
static void tell_front(int word)
{
    struct front_message m = { .word = word };
    send(node.front, &m, sizeof m, MSG_NOSIGNAL);
}

/* Tell the front when all ranks stand still. */
static void look_at_stopping(void)
{
    if (node.stopping && remote_stopping() == 0) {
        node.stopping = false;
        tell_front(WORD_STOPPED);
    }
}

/* The hosts' ranks stop as well. */
static void stop_all(pid_t but)
{
    hang_stopped(true);
    remote_signal(SIGTSTP);
    crew_stop(but);
    node.stopping = true;
    look_at_stopping();
}

static void on_signal(int sig, bool from_tty)
{
    pid_t but = from_tty ? crew.launch->front_pgid : 0;
    if (is_ending(sig)) {
        node.user_signal = sig;
        tree_release(0); /* the user ends all */
        report_forget(sig);
        set_code(128 + sig);
        end_by(sig, but);
    } else if (sig == SIGTSTP) {
        stop_all(but);
    } else if (sig == SIGCONT) {
        hang_stopped(false);
        signal_all(sig, but);
    } else {
        crew_signal_ranks(sig, but);
        remote_signal(sig);
    }
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
    else if (n == sizeof m && m.word == WORD_KILL) {
        node.user_signal = SIGKILL;
        tree_release(0);
        end_at_once();
    } else if (n == sizeof m && m.word == WORD_RELEASE) {
        crew_hold(false);
        remote_release();
    } else if (n == sizeof m && m.word == WORD_PROFILE)
        profile_ask();
    else if (n == sizeof m && m.word == WORD_REST)
        hang_look();
    else if (n == sizeof m && m.word == WORD_REPORT)
        hang_report(m.value ? "what the ranks of a job that was spawned wait for"
                            : "what the ranks wait for (SIGQUIT, which twice within 2 s is passed on to "
                              "them, or --report)");
}

/* Only the rank that has mpiexec's stdin is in the terminal's foreground. */
static void on_stopped(int rank, int sig)
{
    int reader = crew.launch->stdin_rank;
    char *whose = reader >= 0 ? xformat("that is rank %d", reader) : xformat("now nobody does");
    char *text = xformat(
        "stopped by SIG%s: only the rank that reads mpiexec's stdin may use the terminal (-stdin; %s)",
        sigabbrev_np(sig), whose);
    report_text(rank, text, strlen(text), false);
    free(text);
    free(whose);
}

/* Nothing but the terminal would let these go on, and it never does. */
static void look_at_stopped(void)
{
    int n = crew_stopped_by_terminal(on_stopped);
    if (n == 0 || n < crew.alive)
        return;
    report_flush();
    say("no other rank is left; ending the job");
    set_code(128 + SIGTTIN);
    end_by(SIGHUP, 0);
}

static void on_signalfd(void)
{
    struct signalfd_siginfo info;
    while (read(crew.signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            on_signal((int)info.ssi_signo, false);
    crew_reap();
    if (node.phase == RUN)
        look_at_stopped();
}

/* ---- time ---- */

static double sooner(double a, double b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static int poll_ms(void)
{
    double due = sooner(sooner(node.phase == RUN ? 0 : node.phase_due, node.timeout_due),
                        node.phase == LINGER ? 0 : report_due());
    due = sooner(due, node.phase == RUN ? sooner(node.profile_due, node.profile_at) : 0);
    due = sooner(due, node.phase == RUN ? doubts_due() : 0);
    due = sooner(sooner(due, node.phase == RUN ? hang_due() : 0),
                 sooner(sooner(remote_due(), cards_due()), strangers_due()));
    return due == 0 ? -1 : milliseconds(due - now()) + 1;
}

static void end_for_time(void)
{
    set_code(EXIT_TIMEOUT);
    tree_release(0);
    end_by(SIGTERM, 0);
}

/* The report of jobs that have been spawned takes its time. */
static void on_timeout(void)
{
    node.timeout_due = 0;
    if (node.timed_out) {
        end_for_time();
        return;
    }
    report_flush();
    char *text = xformat("the job has not ended within %g s (%s); ending it", crew.launch->timeout,
                         crew.launch->timeout_by);
    if (node.started)
        hang_report(text);
    else
        say("%s; not all hosts have answered", text);
    free(text);
    node.timed_out = true;
    if (spawned_pids(NULL, 0) > 0)
        node.timeout_due = now() + HANG_SPAWNED_SECONDS;
    else
        end_for_time();
}

static void on_time(void)
{
    double t = now();
    if (report_due() && t >= report_due() && node.phase != LINGER)
        report_flush();
    if (node.timeout_due && t >= node.timeout_due)
        on_timeout();
    if (node.phase == RUN && node.profile_due && t >= node.profile_due)
        profile_ask();
    if (node.phase == RUN)
        doubts_settle(end_doubted);
    if (node.phase == RUN && node.profile_at && t >= node.profile_at)
        profile_write();
    if (node.phase == RUN && hang_due() && t >= hang_due() && hang_on_time()) {
        set_code(EXIT_HANG);
        end_by(SIGTERM, 0);
        return;
    }
    bool answered = node.phase == LINGER && !node.begun && !remote_unknown();
    if (node.phase == RUN || (t < node.phase_due && !answered))
        return;
    if (node.phase == LINGER && node.code < 0 && t < node.cause_until &&
        !remote_answered(ASK_WHETHER_THERE)) {
        node.phase_due = t + LINGER_SECONDS;
    } else if (node.phase == LINGER) {
        report_flush();
        end_by(SIGTERM, 0);
    } else {
        end_at_once();
    }
}

/* ---- the loop, and the end ---- */

/* Wait for something to happen, at most `ms` (-1: for ever), and do what it asks for. */
static void step(int ms)
{
    struct pollfd few[4 + OUTPUT_POLLS], *p = few;
    if (remote_room() > 0)
        p = xalloc((size_t)remote_room() + sizeof few / sizeof *few, sizeof *p);
    p[0] = (struct pollfd){ .fd = node.front, .events = POLLIN };
    p[1] = (struct pollfd){ .fd = crew.signals, .events = POLLIN };
    p[2] = (struct pollfd){ .fd = crew.control[0], .events = POLLIN };
    int n = 3 + output_polls(p + 3);
    n += serve_polls(p + n);
    n += remote_polls(p + n);
    int got = poll(p, (nfds_t)n, output_ms(ms)), why = errno;
    bool front = p[0].revents, signals = p[1].revents, control = p[2].revents;
    if (p != few)
        free(p);
    if (got < 0 && why != EINTR && why != EAGAIN)
        die("poll failed: %s", strerror(why));
    if (got < 0)
        return;
    output_move();
    if (control)
        crew_hear();
    cards_move();
    serve_move();
    if (signals)
        on_signalfd();
    remote_move();
    look_at_stopping();
    if (node.phase == RUN)
        strangers_look();
    if (front)
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
    char *text = xformat("mpiexec: exit codes: [%s] ", crew.launch->host);
    size_t n = strlen(text);
    text = xgrow(text, n + 5 * (size_t)crew.launch->size + 2, 1);
    for (int i = 0; i < crew.launch->size; i++)
        n += (size_t)sprintf(text + n, "%s%d", i ? "," : "", status_code(crew.ranks[i].status));
    strcpy(text + n, "\n");
    output_message(text);
    free(text);
}

static void judge_jobs(void)
{
    const struct job_ends *here = &crew.ends, *there = remote_job_ends();
    if (here->code || there->code)
        set_code(here->code ? here->code : there->code);
    if ((here->lost_code || there->lost_code) && (!crew.launch->survives || crew.launch->counts_failed))
        set_code(here->lost_code ? here->lost_code : there->lost_code);
}

/* -with-ft: all ranks have failed, and nobody has gone on in the jobs that they had spawned. */
static bool nobody_lives(void)
{
    return node.lost >= crew.launch->size && !crew.ends.lives && !remote_job_ends()->lives;
}

static void finish(void)
{
    settle_code();
    judge_jobs();
    bool all_lost = nobody_lives();
    if (all_lost)
        set_code(node.lost_code);
    if (node.begun && crew.launch->profile.on)
        profile_look_here();
    remote_end();
    serve_end();
    if (!tree_end())
        say("some processes of the job do not end even by SIGKILL");
    output_close();
    report_flush();
    if (found_end())
        set_code(EXIT_FAULTS);
    if (crew.launch->profile.on)
        prof_write(crew.launch);
    if (crew.launch->print_codes)
        print_codes();
    for (double since = now(); !output_done() && !give_up(since);)
        step(100);
    if (output_failed()) {
        say("passing on the ranks' output failed: %s", strerror(output_failed()));
        set_code(EXIT_MPIEXEC);
    }
    if (!found_write(crew.launch, node.code < 0 ? 0 : node.code))
        set_code(EXIT_MPIEXEC);
    struct front_message m = { .word = WORD_DONE,
                               .value = node.code < 0 ? 0 : node.code,
                               .all_zero = node.begun && node.all_zero,
                               .all_lost = all_lost && crew.launch->spawned };
    if (send(node.front, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno != EPIPE)
        say("telling the job's exit code to mpiexec's front process failed: %s", strerror(errno));
}

/* Start all ranks, here and elsewhere. */
static void start(struct start *st)
{
    static const struct remote_ops ops = {
        on_far_record, on_far_end, on_failed, on_lost, on_have, pass_parcel
    };
    int code = 0;
    remote_start(&ops);
    while (node.phase < TERM && (node.phase != RUN || !remote_ready())) {
        step(poll_ms());
        on_time();
    }
    if (node.phase >= TERM)
        return;
    node.begun = true;
    remote_launch();
    crew_make();
    if (prof_begin(crew.launch) && crew.launch->profile.every > 0)
        node.profile_due = now() + crew.launch->profile.every;
    crew_hold(crew.launch->held);
    st->control_fd = crew.control[1];
    if (!crew.launch->bind.no_launch && !crew_start(st, &code)) {
        set_code(code);
        end_at_once();
    }
}

static bool goes_on(void)
{
    if (!node.started && remote_started() && node.phase == RUN) {
        node.started = true;
        tell_front(WORD_STARTED);
    }
    bool wait = node.phase < TERM && !node.started;
    bool outlived = crew.free_jobs > 0 && !node.user_signal && node.code != EXIT_TIMEOUT;
    return wait || outlived ||
           (crew.alive + crew.jobs + remote_jobs() > 0 && !(node.phase == KILL && now() > node.kill_until)) ||
           (node.perhaps_user && node.phase == LINGER);
}

int node_main(struct launch *l, int front)
{
    node.front = front;
    node.code = node.code_after = node.lost_code = -1;
    node.all_zero = true;
    setpgid(0, 0);
    prctl(PR_SET_NAME, "keel-node"); /* killall -9 mpiexec leaves this one to clean up */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        die("prctl(PR_SET_CHILD_SUBREAPER) failed: %s", strerror(errno));
    crew.on_record = on_record;
    crew.on_end = on_end;
    crew.on_other = on_other;
    crew.on_parcel = on_parcel;
    cards_init(remote_card);
    struct start st = { .launch = l, .nofile = crew_begin(l) };
    feed_start(l, front, crew.signals);
    crew_new_job();
    st.job_id = crew.job_id;
    node.files = xalloc((size_t)l->size, sizeof *node.files);
    if (l->remote)
        node.mirror = xalloc((size_t)l->size, sizeof *node.mirror);
    output_init(l);
    report_init(l);
    found_init(l);
    if (!found_write(l, -1))
        return EXIT_MPIEXEC;
    hang_init(l, crew.segments, look_at_rank);
    if (l->remote)
        hang_init_far(remote_ask, remote_hear);
    if (l->timeout > 0)
        node.timeout_due = now() + l->timeout;
    start(&st);
    while (goes_on()) {
        step(poll_ms());
        on_time();
    }
    finish();
    return node.code < 0 ? 0 : node.code;
}
