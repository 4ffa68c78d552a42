/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec.c: the front process: the command line, the terminal's signals, the exit code. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"
#include "pmi/launch/mapping/bind.h"
#include "pmi/launch/pmserver/offspring.h"
#include "pmi/launch/base/oom.h"
#include "pmi/pmi_wire.h"
#include "pmi/launch/base/scratch.h"
#include "util/start_job.h"

/* If the daemon does not end by itself in this time after the last word to it, it is killed. */
static const double PATIENCE_SECONDS = 20, PATIENCE_AFTER_KILL = 5, PATIENCE_TO_STOP = 1;
static const double TWICE_SECONDS = 2;   /* a second SIGQUIT within this time is meant for the ranks */
static const double PRESS_SECONDS = 0.1; /* pass at least until a person presses a key again */

static struct front {
    const struct launch *launch;
    int daemon; /* socket */
    pid_t pid;  /* of the daemon */
    int signals, by_signal;
    double asked_at; /* a signal that ends the job has come; 0: none */
    int spawner; /* socket to the process that has spawned this job; -1: none, or it has said all it has to */
    int alive;   /* the same socket, as long as this process lives; -1: none */
    double quit_at;  /* of the last SIGQUIT, which asked for a report */
    double force_at; /* the daemon is killed at this time; 0: not yet */
    double
        stop_at; /* we stop at this time, if the daemon has not said before that the ranks stand still; 0: no */
} front;

/* 0, 1 and 2 must be open, or pipes of ours would land there. */
static void open_standard(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 3)
        ;
    if (fd > 2)
        close(fd);
}

/* Not passed on: what says that mpiexec itself is broken, what concerns its own descriptors and children, and what
 * nobody can catch. */
static bool is_forwarded(int sig)
{
    static const int own[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP,
                               SIGABRT, SIGSYS,  SIGCHLD, SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (sig == own[i])
            return false;
    return sig < 32 || sig >= SIGRTMIN; /* of the real-time signals, from 32, libc keeps some for itself */
}

/* Signals come through a descriptor; but what mpiexec was started to ignore (nohup, background jobs) stays
 * ignored. */
static void take_signals(struct launch *l)
{
    sigset_t set;
    sigemptyset(&set);
    for (int sig = 1; sig <= SIGRTMAX; sig++) {
        struct sigaction old;
        if (is_forwarded(sig) && sigaction(sig, NULL, &old) == 0 &&
            (old.sa_handler != SIG_IGN || sig == SIGCONT))
            sigaddset(&set, sig);
    }
    sigaction(SIGPIPE, NULL, &l->sigpipe);
    sigaction(SIGTTOU, NULL, &l->sigttou);
    front.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGCHLD); /* for the daemon's own descriptor */
    if (front.signals < 0 || sigprocmask(SIG_BLOCK, &set, &l->sigmask) != 0)
        die("signals cannot be caught: %s", strerror(errno));
}

static void tell(int word, int value, bool from_tty)
{
    struct front_message m = { .word = word, .value = value, .from_tty = from_tty };
    if (send(front.daemon, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno != EPIPE)
        die("passing on signal %d failed: %s; the job is ended", value, strerror(errno));
}

/* Ctrl-\ asks what the ranks wait for; twice, it ends them. */
static bool asks_for_report(int sig)
{
    double t = now();
    if (sig != SIGQUIT || front.asked_at > 0 || (front.quit_at && t < front.quit_at + TWICE_SECONDS))
        return false;
    front.quit_at = t;
    return true;
}

/* Is the job to be killed at once, as it has been asked to end before?  A person says so by a key, pressed again.
 * timeout and others send a signal to the process and then to its group, so it comes twice: ranks have their time
 * all the same. */
static bool insists(int sig)
{
    return now() >= front.asked_at + (sig == SIGINT || sig == SIGQUIT ? PRESS_SECONDS : GRACE_SECONDS);
}

static void on_signal(int sig, bool from_tty)
{
    if (asks_for_report(sig)) {
        tell(WORD_REPORT, 0, false);
        return;
    }
    if (sig == SIGUSR2 && front.launch->profile.on) {
        tell(WORD_PROFILE, 0, false);
        return;
    }
    bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
    if (ends && front.asked_at > 0) {
        if (insists(sig)) {
            tell(WORD_KILL, 0, false);
            front.force_at = now() + PATIENCE_AFTER_KILL;
        }
        return;
    }
    tell(WORD_SIGNAL, sig, from_tty);
    if (ends) {
        front.asked_at = now();
        front.by_signal = sig;
        front.force_at = now() + PATIENCE_SECONDS;
    }
    if (sig == SIGTSTP)
        front.stop_at = now() + PATIENCE_TO_STOP;
    else if (ends || sig == SIGCONT)
        front.stop_at = 0; /* what came after the stop counts, also if it came before we have stopped */
}

/* It has been answered then. */
static bool is_question(const struct signalfd_siginfo *info)
{
    if (info->ssi_signo != (uint32_t)REPORT_SIGNAL || info->ssi_code != SI_QUEUE)
        return false;
    if (info->ssi_int == REPORT_VALUE || info->ssi_int == REPORT_TOO_VALUE)
        tell(WORD_REPORT, info->ssi_int == REPORT_TOO_VALUE, false);
    else if (info->ssi_int == REST_VALUE)
        tell(WORD_REST, 0, false);
    else
        return false;
    return true;
}

static void on_signalfd(void)
{
    struct signalfd_siginfo info;
    while (read(front.signals, &info, sizeof info) == sizeof info)
        if (!is_question(&info))
            on_signal((int)info.ssi_signo, info.ssi_code == SI_KERNEL);
}

static void stop(void)
{
    on_signalfd();
    if (!front.stop_at)
        return;
    front.stop_at = 0;
    raise(SIGSTOP);
}

/* End as a program ends that was ended by this signal: shells then stop their scripts. */
static _Noreturn void die_of(int sig)
{
    struct rlimit none = { 0, 0 };
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + sig); /* process 1 of a container does not die of signals */
}

static _Noreturn void done(const struct front_message *m)
{
    while (waitpid(front.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (m->value)
        debugger_failure(m->value);
    if (front.by_signal && !m->all_zero)
        die_of(front.by_signal);
    if (m->all_lost) /* spawned.c */
        die_of(SIGKILL);
    _exit(front.by_signal ? 0 : m->value);
}

static _Noreturn void daemon_was_killed(int status)
{
    char *oom = oom_words(status);
    die("the node daemon (process %d) was killed by signal %d; %s%sthe job is ended", front.pid,
        WTERMSIG(status), oom ? oom : "", oom ? "; " : "");
}

/* The daemon ended without its last word, or does not end: all its processes are ours now. */
static _Noreturn void daemon_is_gone(void)
{
    int status = 0;
    kill(front.pid, front.force_at && now() >= front.force_at ? SIGKILL : 0);
    while (waitpid(front.pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status)) { /* it said why */
        tree_end();
        _exit(WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_MPIEXEC);
    }
    if (front.by_signal)
        tree_end();
    else
        daemon_was_killed(status);
    die_of(front.by_signal);
}

static void started(void)
{
    const char word = KU_SPAWN_SAYS_STARTED;
    if (front.spawner >= 0)
        pmi_keel_send(PMI_BORN, (uint32_t)getpid(), NULL, 0);
    if (front.alive >= 0)
        send(front.alive, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    debugger_table(front.launch);
    if (front.launch->held && front.launch->stop != STOP_IN_INIT)
        tell(WORD_RELEASE, 0, false);
}

/* The process that has spawned this job is not connected to it any more, or has ended. */
static void on_spawner(void)
{
    char said = 0;
    ssize_t n = recv(front.spawner, &said, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n == 1 && said == KU_SPAWN_SAYS_FREE)
        pmi_keel_send(PMI_FREE, (uint32_t)getpid(), NULL, 0);
    front.spawner = -1; /* it stays open: it tells the other side that this process lives */
}

static _Noreturn void front_main(void)
{
    for (;;) {
        struct pollfd p[3] = { { .fd = front.daemon, .events = POLLIN },
                               { .fd = front.signals, .events = POLLIN },
                               { .fd = front.spawner, .events = POLLIN } };
        if (front.force_at && now() >= front.force_at)
            daemon_is_gone();
        if (front.stop_at && now() >= front.stop_at)
            stop();
        if (poll(p, 3, front.force_at || front.stop_at ? 100 : -1) < 0 && errno != EINTR && errno != EAGAIN)
            die("poll failed: %s", strerror(errno));
        if (p[1].revents)
            on_signalfd();
        if (p[2].revents)
            on_spawner();
        if (p[0].revents) {
            struct front_message m;
            ssize_t n = recv(front.daemon, &m, sizeof m, MSG_DONTWAIT);
            if (n == sizeof m && m.word == WORD_DONE)
                done(&m);
            if (n == sizeof m && m.word == WORD_STOPPED && front.stop_at)
                stop();
            if (n == sizeof m && m.word == WORD_STARTED)
                started();
            if (n == 0 || (n < 0 && errno == ECONNRESET))
                daemon_is_gone();
            if (n < 0 && errno != EAGAIN && errno != EINTR)
                die("reading from the node daemon failed: %s; the job is ended", strerror(errno));
        }
    }
}

/* ---- a job that a rank of another one spawns ---- */

/* The cores that the spawning job has, not only those of the rank that has started this process. */
static void take_cores_of(int daemon)
{
    cpu_set_t cpus;
    if (sched_getaffinity(daemon, sizeof cpus, &cpus) == 0)
        sched_setaffinity(0, sizeof cpus, &cpus);
}

/* Ranks whose job ranks that are served have spawned are served in the same way: PMIx by the servant of that job. */
static void serve_likewise(struct launch *l)
{
    const char *elder = getenv(OFFSPRING_ELDER);
    int fd = elder ? atoi(elder) : -1;
    bool served = elder && getenv(OFFSPRING_PUT);
    unsetenv(OFFSPRING_ELDER);
    if (served && fd > 2 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
        l->elder = fd;
    l->pmix = l->elder > 0 ? SERVE_PMIX : SERVE_PMIX_NO;
    l->pmi = served && !l->pmix;
}

/* What a job survives, the jobs that it spawns do, too: do_recovery leaves that in the ranks' environment. */
static void survive_likewise(struct launch *l)
{
    const char *survives = getenv(SURVIVES);
    l->survives = survives && strcmp(survives, "1") == 0;
}

/* The servant of the spawning job serves processes of its own host alone. */
static void check_likewise(const struct launch *l)
{
    if (l->elder == 0 || !l->remote)
        return;
    say("processes that PMIx_Spawn starts are on one host, which is one of the job that asks for them; "
        "expected the name of one of its hosts");
    _exit(EXIT_MPIEXEC);
}

/* --spawned=FD: the descriptor stays open as long as this job lives.  The process that the rank has started ends
 * at once, so that its program never meets a child that it does not know; from then on the daemon of the spawning
 * job is the parent, and is told so. */
static void become_spawned(int fd)
{
    pid_t pid, daemon = pmi_keel_daemon();
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        die("%s%d: expected a descriptor that is open", KU_SPAWN_ARGUMENT, fd);
    pid = fork();
    if (pid < 0)
        die("fork failed: %s", strerror(errno));
    if (pid > 0)
        _exit(0);
    setpgid(0, 0);
    front.alive = fd;
    if (daemon) {
        take_cores_of(daemon);
        front.spawner = fd;
    }
}

/* From here on the daemon of the spawning job may ask: by a signal, which is blocked now. */
static void tell_spawner(void)
{
    if (front.spawner >= 0)
        pmi_keel_send(PMI_JOB, (uint32_t)getpid(), NULL, 0);
    pmi_keel_fini();
}

int main(int argc, char **argv)
{
    static struct launch l;
    static char host[256] = "localhost";
    int code = 0, sockets[2], spawned = -1;
    front.spawner = front.alive = -1;
    open_standard();
    scratch_init();
    bind_forget_told();
    if (argc == 2 && strncmp(argv[1], HOST_ARGUMENT "=", sizeof HOST_ARGUMENT) == 0)
        _exit(host_main(argv[1] + sizeof HOST_ARGUMENT));
    if (argc > 1 && strncmp(argv[1], KU_SPAWN_ARGUMENT, sizeof KU_SPAWN_ARGUMENT - 1) == 0) {
        spawned = atoi(argv[1] + sizeof KU_SPAWN_ARGUMENT - 1);
        argv[1] = argv[0];
        argv++;
    }
    l.spawned = spawned >= 0;
    if (l.spawned) {
        serve_likewise(&l);
        survive_likewise(&l);
    }
    if (!options_parse(&l, argv, &code))
        _exit(fflush(stdout) != 0 ? EXIT_MPIEXEC : code);
    check_likewise(&l);
    if (spawned >= 0)
        become_spawned(spawned);
    if (gethostname(host, sizeof host - 1) == 0 && host[0])
        l.host = host;
    else
        l.host = "localhost";
    l.front_pgid = getpgrp();
    take_signals(&l);
    tell_spawner();
    front.launch = &l;
    l.held = debugger_waits() || l.stop == STOP_IN_INIT;
    l.pids = launch_pids(l.size);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        die("prctl(PR_SET_CHILD_SUBREAPER) failed: %s", strerror(errno));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        die("socketpair failed: %s", strerror(errno));
    oom_init("this machine");
    front.daemon = sockets[0];
    front.pid = fork();
    if (front.pid < 0)
        die("fork failed: %s", strerror(errno));
    if (front.pid == 0) {
        close(sockets[0]);
        close(front.signals);
        _exit(node_main(&l, sockets[1]));
    }
    close(sockets[1]);
    front_main();
}
