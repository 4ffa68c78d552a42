/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c: a rank's program, environment and descriptors; vfork and exec, so that starting costs no copied pages.
 *
 * In a large job the daemon has two descriptors for each rank that runs already: a child that gets a copy of all
 * of them, to close them at exec, makes starting the job quadratic.  There the child begins with the daemon's own
 * table and leaves it with a copy of what lies low; the daemon keeps the rest above. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pmi/launch/base/abi_detect.h"
#include "pmi/launch/pmserver/offspring.h"
#include "pmi/launch/profile/profile_report.h"
#include "start.h"
#include "util/installed.h"
#include "util/segment.h"

extern char **environ;

/* What each rank is told, in the names of all families: its number in the job and on its node, and how many there
 * are. */
enum what { RANK, SIZE, LOCAL_RANK, LOCAL_SIZE };
static const struct var {
    const char *name;
    enum what what;
} vars[] = {
    { "KEEL_RANK", RANK },
    { "PMI_RANK", RANK },
    { "PMI_SIZE", SIZE },
    { "MPI_LOCALRANKID", LOCAL_RANK },
    { "MPI_LOCALNRANKS", LOCAL_SIZE },
    { "OMPI_COMM_WORLD_RANK", RANK },
    { "OMPI_COMM_WORLD_SIZE", SIZE },
    { "OMPI_COMM_WORLD_LOCAL_RANK", LOCAL_RANK },
    { "OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE },
    { "OMPI_COMM_WORLD_NODE_RANK", LOCAL_RANK },
    { "MV2_COMM_WORLD_RANK", RANK },
    { "MV2_COMM_WORLD_SIZE", SIZE },
    { "MV2_COMM_WORLD_LOCAL_RANK", LOCAL_RANK },
    { "MV2_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE },
    { "RANK", RANK },
    { "WORLD_SIZE", SIZE },
    { "LOCAL_RANK", LOCAL_RANK },
    { "LOCAL_WORLD_SIZE", LOCAL_SIZE },
};
static char fortran[] = "GFORTRAN_UNBUFFERED_PRECONNECTED=y"; /* its stdout is a pipe, but watched */
static char gives_way[] = "OMP_WAIT_POLICY=passive";
static char is_spawned[] = "PMI_SPAWNED=1"; /* there is a parent's port in the key-value space */
enum {
    NVARS = sizeof vars / sizeof *vars,
    VAR_BYTES = 48,
    JOB_BYTES = 128,
    WIRES_BYTES = 400,
    STACK_BYTES = 64 << 10
};

struct starter {
    const struct start *start;
    const struct app *app;
    char program[PATH_MAX];
    char **env; /* NVARS strings of `value` first, then the rest, NULL */
    size_t nenv;
    char value[NVARS][VAR_BYTES];
    char job[JOB_BYTES]; /* KEEL_JOB=... */
    int appnum;
    char *section, *sections, *pwd, *master;
    char **script;  /* for a script without #!: run by sh, as shells do */
    char *lost;     /* see starter_lost */
    bool pmi;       /* see starter_pmi */
    bool pmix;      /* see starter_pmix */
    size_t nshared; /* of env: what follows is one rank's */
    char *other;    /* the library of another MPI that the program is linked with and keeps; NULL: none */
    char pmi_fd[VAR_BYTES];
    char threads[VAR_BYTES], told[2 * VAR_BYTES + sizeof BIND_TOLD];
    char *libraries; /* LD_LIBRARY_PATH=... with the folders of our libraries first; NULL: as it was */
    char *audit;     /* LD_AUDIT=... with what sees to it that ours are taken; NULL: as it was */
    char wires[WIRES_BYTES]; /* KEEL_WIRES=...: others' variables that the rank has from us (keel.c) */
    char *stack;             /* of a child that shares our descriptors; NULL: none does */
};

/* ---- environment ---- */

static bool names(const char *entry, const char *name, size_t n)
{
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static void env_unset(struct starter *s, const char *name, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < s->nenv; i++)
        if (!names(s->env[i], name, n))
            s->env[k++] = s->env[i];
    s->env[s->nenv = k] = NULL;
}

static void env_add(struct starter *s, char *entry)
{
    s->env = xgrow(s->env, s->nenv + 2, sizeof *s->env);
    s->env[s->nenv++] = entry;
    s->env[s->nenv] = NULL;
}

static void env_set(struct starter *s, char *entry)
{
    env_unset(s, entry, strcspn(entry, "="));
    env_add(s, entry);
}

/* What another launcher has told mpiexec itself. */
static void env_unset_pmix(struct starter *s)
{
    size_t k = 0;
    for (size_t i = 0; i < s->nenv; i++)
        if (strncmp(s->env[i], "PMIX_", 5) != 0 || strncmp(s->env[i], "PMIX_MCA_", 9) == 0)
            s->env[k++] = s->env[i];
    s->env[s->nenv = k] = NULL;
}

static bool env_has(const struct starter *s, const char *entry)
{
    for (size_t i = 0; i < s->nenv; i++)
        if (names(s->env[i], entry, strcspn(entry, "=")))
            return true;
    return false;
}

static const char *env_get(const struct starter *s, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < s->nenv; i++)
        if (names(s->env[i], name, n))
            return s->env[i] + n + 1;
    return NULL;
}

static bool in_list(const char *list, const char *entry)
{
    size_t n = strcspn(entry, "=");
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && strncmp(p, entry, n) == 0)
            return true;
    return false;
}

/* The user's environment as his options shape it. */
static void env_inherit(struct starter *s)
{
    size_t total = 0;
    while (environ[total])
        total++;
    s->env = xgrow(s->env, total + 2, sizeof *s->env);
    enum inherit inherit = s->app->inherit;
    for (char **e = environ; *e; e++)
        if (inherit == INHERIT_UNSAID || inherit == INHERIT_ALL ||
            (inherit == INHERIT_LIST && in_list(s->app->inherit_list, *e)))
            s->env[s->nenv++] = *e;
    s->env[s->nenv] = NULL;
    for (int i = 0; i < s->app->edits.n; i++) {
        char *edit = s->app->edits.edit[i];
        if (strchr(edit, '='))
            env_set(s, edit);
        else
            env_unset(s, edit, strlen(edit));
    }
}

/* Where there are several sections a rank may ask who is in which: KEEL_SECTIONS, the ranks of each. */
static void env_sections(struct starter *s)
{
    static const char name[] = "KEEL_SECTIONS";
    const struct launch *l = s->start->launch;
    env_unset(s, name, sizeof name - 1); /* of an mpiexec that started this one */
    for (int i = 0; l->napps > 1 && i < l->napps; i++) {
        char *longer = xformat("%s%c%d", i ? s->sections : name, i ? ',' : '=', l->apps[i].n);
        free(s->sections);
        s->sections = longer;
    }
    if (s->sections)
        env_add(s, s->sections);
}

/* For torch.distributed: where rank 0 is. */
static const char *launch_master(const struct launch *l)
{
    return l->remote && l->master ? l->master : "127.0.0.1";
}

/* Keel's own variables go over the user's. */
static void env_build(struct starter *s, int appnum)
{
    env_inherit(s);
    s->appnum = appnum;
    strcpy(s->job, "KEEL_JOB="); /* its value, and those of `vars`, when a rank is started */
    env_set(s, s->job);
    strcpy(s->wires, "KEEL_WIRES=");
    env_set(s, s->wires);
    s->section = xformat("KEEL_SECTION=maxprocs=%d%s%s", s->app->maxprocs, s->app->said ? "\n" : "",
                         s->app->said ? s->app->said : "");
    env_set(s, s->section);
    env_sections(s);
    if (prof_environment())
        env_set(s, (char *)prof_environment());
    if (!env_get(s, "GFORTRAN_UNBUFFERED_PRECONNECTED"))
        env_add(s, fortran);
    if (!env_get(s, "MASTER_ADDR"))
        env_add(s, s->master = xformat("MASTER_ADDR=%s", launch_master(s->start->launch)));
    if (s->app->wdir && s->app->wdir[0] == '/') {
        s->pwd = xformat("PWD=%s", s->app->wdir);
        env_set(s, s->pwd);
    }
    for (int i = 0; i < NVARS; i++) {
        snprintf(s->value[i], VAR_BYTES, "%s=", vars[i].name);
        env_set(s, s->value[i]);
    }
}

/* ---- the program ---- */

static bool executable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* <dir>/<name>, seen from the rank's working directory. */
static bool try_dir(struct starter *s, const char *dir, size_t len, const char *name)
{
    char full[PATH_MAX];
    const char *wdir = s->app->wdir;
    if (len == 0) {
        dir = ".";
        len = 1;
    }
    if (snprintf(s->program, sizeof s->program, "%.*s/%s", (int)len, dir, name) >= (int)sizeof s->program)
        return false;
    if (!wdir || s->program[0] == '/')
        return executable(s->program);
    return snprintf(full, sizeof full, "%s/%s", wdir, s->program) < (int)sizeof full && executable(full);
}

static bool try_path(struct starter *s, const char *path, const char *name)
{
    while (path) {
        size_t len = strcspn(path, ":");
        if (try_dir(s, path, len, name))
            return true;
        path = path[len] ? path + len + 1 : NULL;
    }
    return false;
}

/* Where the program is.  A plain name is looked up in -path, then in the ranks' PATH, then in their
 * directory. */
static bool find_program(struct starter *s)
{
    const char *name = s->app->argv[0], *path = env_get(s, "PATH");
    if (strchr(name, '/')) {
        snprintf(s->program, sizeof s->program, "%s", name);
        return true;
    }
    return (s->app->path && try_path(s, s->app->path, name)) ||
           try_path(s, path ? path : "/usr/local/bin:/bin:/usr/bin", name) || try_dir(s, ".", 1, name);
}

struct failure {
    int err, unbound;
    bool at_chdir, at_trace;
};

/* Why exec said no, in words; and the exit code for that. */
static int exec_failed(const struct starter *s, const struct failure *why)
{
    struct stat st;
    const char *wdir = s->app->wdir, *name = s->app->argv[0];
    int err = why->err;
    if (why->at_trace) {
        say("a rank cannot be stopped before its program begins (-pmix-tools=exec): ptrace: %s",
            strerror(err));
        return EXIT_MPIEXEC;
    }
    if (why->at_chdir) {
        say("the working directory %s cannot be entered: %s", wdir, strerror(err));
        return EXIT_NOT_FOUND;
    }
    if (err == ENOENT && !wdir && stat(s->program, &st) == 0)
        say("%s is there, but the interpreter or loader it names is not", name);
    else if (err == EACCES && !wdir && stat(s->program, &st) == 0 && S_ISDIR(st.st_mode))
        say("%s is a directory; expected a program", name);
    else
        say("%s cannot be executed: %s%s%s", name, strerror(err), wdir ? ", in " : "", wdir ? wdir : "");
    return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXEC;
}

/* A program finds our library, also in the place of another MPI's.  So does what it loads or starts later. */
static void set_libraries(struct starter *s, const struct needs *needs, const char *program)
{
    const char *abi = env_get(s, NEEDS_ABI), *before = env_get(s, "LD_LIBRARY_PATH"),
               *audits = env_get(s, "LD_AUDIT");
    char *folders = needs_folders(needs, program, abi, before),
         *redirector = needs_redirector(needs, program, abi);
    if (folders) {
        size_t n = strlen(folders) - (before && *before ? 0 : 1); /* without the last ':' */
        s->libraries = xformat("LD_LIBRARY_PATH=%.*s%s", (int)n, folders, before ? before : "");
        env_set(s, s->libraries);
    }
    if (redirector) {
        s->audit = xformat("LD_AUDIT=%s%s%s", redirector, audits && *audits ? ":" : "", audits ? audits : "");
        env_set(s, s->audit);
    }
    free(folders);
    free(redirector);
}

/* The ranks of a program of another MPI, which is not served, do not find each other. */
static void note_alone(const struct starter *s, const char *why)
{
    if (s->start->launch->size > 1 && s->other)
        say("note: %s is linked with %s, another MPI's library: each of its processes may be rank 0 of 1%s; "
            "expected a program made with %s/mpicc",
            s->app->argv[0], s->other, why, ku_installed_bindir());
}

static void look_at_needs(struct starter *s)
{
    struct needs needs = { 0 };
    bool relative = s->app->wdir && s->program[0] != '/';
    char *program = xformat("%s%s%s", relative ? s->app->wdir : "", relative ? "/" : "", s->program);
    needs_read(program, &needs);
    set_libraries(s, &needs, program);
    const char *path = env_get(s, "LD_LIBRARY_PATH");
    if (!s->audit)
        needs_resolve(&needs, program, path);
    bool foreign = needs.other && !needs_replaces(&needs, env_get(s, NEEDS_ABI));
    s->pmi = s->start->launch->pmi || (foreign && needs.pmi);
    s->pmix = s->start->launch->pmix || (foreign && needs.pmix);
    s->other = foreign ? xformat("%s", needs.other) : NULL;
    if (!s->pmi && !s->pmix)
        note_alone(s, "");
    s->lost = needs_lost(&needs, program, path);
    needs_free(&needs);
    free(program);
}

bool starter_unwatched(const struct starter *s)
{
    return s->pmi || s->pmix || s->other;
}

bool starter_pmi(const struct starter *s)
{
    return s->pmi;
}

bool starter_pmix(const struct starter *s)
{
    return s->pmix;
}

void starter_no_pmix(struct starter *s, const char *why)
{
    char *text = xformat(", as PMIx cannot be served (%s)", why);
    s->pmix = false;
    note_alone(s, text);
    free(text);
}

const char *starter_lost(const struct starter *s)
{
    return s->lost;
}

struct starter *starter_new(const struct start *st, const struct app *app, int appnum, int *code)
{
    struct starter *s = xalloc(1, sizeof *s);
    s->start = st;
    s->app = app;
    env_build(s, appnum);
    if (!find_program(s)) {
        say("%s is not found (looked in PATH and the working directory)", app->argv[0]);
        *code = EXIT_NOT_FOUND;
        starter_free(s);
        return NULL;
    }
    look_at_needs(s);
    bool spawned = env_has(s, OFFSPRING_PUT);
    env_unset(s, OFFSPRING_PUT, sizeof OFFSPRING_PUT - 1);
    if (s->pmi) {
        strcpy(s->pmi_fd, "PMI_FD="); /* its value when a rank is started */
        env_set(s, s->pmi_fd);
    }
    if (s->pmi && spawned)
        env_set(s, is_spawned);
    if (s->pmix)
        env_unset_pmix(s);
    s->nshared = s->nenv;
    size_t argc = 0;
    while (app->argv[argc])
        argc++;
    s->script = xalloc(argc + 2, sizeof *s->script);
    s->script[0] = "/bin/sh";
    s->script[1] = s->program;
    memcpy(s->script + 2, app->argv + 1, argc * sizeof *s->script);
    if (start_shares_files(st->launch))
        s->stack = xalloc(STACK_BYTES, 1);
    return s;
}

void starter_free(struct starter *s)
{
    free(s->env); /* but for these the strings are others' */
    free(s->section);
    free(s->sections);
    free(s->pwd);
    free(s->master);
    free(s->script);
    free(s->stack);
    free(s->lost);
    free(s->other);
    free(s->libraries);
    free(s->audit);
    free(s);
}

/* ---- the process ---- */

/* What the child is to know.  Its memory is the parent's, so nothing may be changed but `why` and the segment, and
 * nothing allocated. */
struct child {
    struct starter *s;
    const struct place *at;
    const int *fd;
    bool join_front;
    pid_t daemon;
    volatile struct failure why;
};

/* Shells do not take a file for a script whose first line has a zero byte, such as a program that is cut off. */
static bool is_script(const char *program)
{
    char head[128];
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : 0;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < n && head[i] != '\n'; i++)
        if (head[i] == 0)
            return false;
    return true;
}

static void become_rank(const struct starter *s, const struct place *at, const int fd[3], bool join_front,
                        pid_t daemon, volatile struct failure *why)
{
    const struct launch *l = s->start->launch;
    setpgid(0, join_front ? l->front_pgid : 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != daemon)
        _exit(EXIT_MPIEXEC);
    for (int i = 0; i < 3; i++)
        if (dup2(fd[i], i) < 0) {
            why->err = errno;
            return;
        }
    setrlimit(RLIMIT_NOFILE, &s->start->nofile);
    if (fcntl(at->segment_fd, F_SETFD, 0) != 0 || fcntl(s->start->control_fd, F_SETFD, 0) != 0 ||
        (at->pmi_fd >= 0 && fcntl(at->pmi_fd, F_SETFD, 0) != 0)) {
        why->err = errno;
        return;
    }
    if (s->app->wdir && chdir(s->app->wdir) != 0) {
        why->err = errno;
        why->at_chdir = true;
        return;
    }
    if (at->cpus && sched_setaffinity(0, sizeof *at->cpus, at->cpus) != 0) {
        why->unbound = errno;
        at->where->flags = 0;
    }
    sigaction(SIGPIPE, &l->sigpipe, NULL);
    sigaction(SIGTTOU, &l->sigttou, NULL);
    if (join_front) /* the terminal's Ctrl-\ asks mpiexec what the ranks wait for */
        signal(SIGQUIT, SIG_IGN);
    sigprocmask(SIG_SETMASK, &l->sigmask, NULL);
    if (l->stop == STOP_ON_EXEC && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        why->err = errno;
        why->at_trace = true;
        return;
    }
    execve(s->program, s->app->argv, s->env);
    int err = errno;
    if (err == ENOEXEC && is_script(s->program)) {
        execve("/bin/sh", s->script, s->env);
        err = errno;
    }
    why->err = err; /* mpiexec sees it: nothing may be in it if a program runs */
}

/* How many threads it is to have, and that this was us. */
static void env_told(struct starter *s, const struct thread_advice *told)
{
    if (!told->threads && !told->gives_way)
        return;
    snprintf(s->threads, sizeof s->threads, "OMP_NUM_THREADS=%d", told->threads);
    snprintf(s->told, sizeof s->told, BIND_TOLD "=%s%s%s", told->threads ? s->threads : "",
             told->threads && told->gives_way ? " " : "", told->gives_way ? gives_way : "");
    if (told->threads)
        env_add(s, s->threads);
    if (told->gives_way)
        env_add(s, gives_way);
    env_add(s, s->told);
}

/* What differs from rank to rank. */
static void env_place(struct starter *s, const struct place *at)
{
    const int value[] = { [RANK] = at->rank,
                          [SIZE] = s->start->launch->size,
                          [LOCAL_RANK] = at->local,
                          [LOCAL_SIZE] = at->nlocal };
    for (int i = 0; i < NVARS; i++)
        snprintf(s->value[i], VAR_BYTES, "%s=%d", vars[i].name, value[vars[i].what]);
    s->env[s->nenv = s->nshared] = NULL;
    for (char **e = at->pmix; e && *e; e++)
        if (!env_has(s, *e))
            env_add(s, *e);
    env_told(s, &at->told);
    snprintf(s->pmi_fd, sizeof s->pmi_fd, "PMI_FD=%d", at->pmi_fd);
    const char *fd = env_get(s, "PMI_FD"), *space = env_get(s, "PMIX_NAMESPACE");
    snprintf(s->wires, sizeof s->wires, "KEEL_WIRES=%.20s %.300s", fd ? fd : "", space ? space : "");
    snprintf(s->job, sizeof s->job, "KEEL_JOB=%d:%d:%d:%d:%llx:%d", KU_SEG_VERSION, getpid(), at->segment_fd,
             s->start->control_fd, s->start->job_id, s->appnum);
}

bool start_shares_files(const struct launch *l)
{
    enum { MANY = 32 };
    return l->size > MANY;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* A table of our own, with what the rank needs. */
static bool own_files(const struct child *c)
{
    int most = larger(larger(c->at->segment_fd, c->s->start->control_fd), c->at->pmi_fd);
    for (int i = 0; i < 3; i++)
        most = larger(most, c->fd[i]);
#ifdef SYS_close_range
    const unsigned unshare_too = 1u << 1; /* CLOSE_RANGE_UNSHARE; Linux 5.9 */
    if (syscall(SYS_close_range, most + 1, ~0u, unshare_too) == 0)
        return true;
#endif
    return unshare(CLONE_FILES) == 0;
}

static int sharing_child(void *arg)
{
    struct child *c = arg;
    if (own_files(c))
        become_rank(c->s, c->at, c->fd, c->join_front, c->daemon, &c->why);
    else
        c->why.err = errno;
    _exit(EXIT_NOT_EXEC);
}

/* A rank that is to stop has the kernel stop it at the end of exec, for its tracer.  It stays stopped, without
 * one: a debugger can be its tracer then, and SIGCONT lets it go. */
static void stop_on_exec(pid_t pid)
{
    siginfo_t is = { .si_pid = 0 };
    while (waitid(P_PID, (id_t)pid, &is, WSTOPPED | WEXITED | WNOWAIT) == 0 || errno == EINTR) {
        if (is.si_pid == pid && (is.si_code != CLD_TRAPPED || is.si_status == SIGTRAP))
            break; /* it is there, or has been killed: crew_reap judges that */
        if (is.si_pid == pid)
            ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)is.si_status);
        is.si_pid = 0;
    }
    if (is.si_code == CLD_TRAPPED && ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGSTOP) != 0 &&
        errno != ESRCH)
        die("process %d cannot be left stopped (-pmix-tools=exec): ptrace: %s", pid, strerror(errno));
}

pid_t starter_run(struct starter *s, struct place *at, const int fd[3], bool join_front, int *code)
{
    struct child c = { s, at, fd, join_front, getpid(), { 0, 0, false, false } };
    env_place(s, at);
    pid_t pid = s->stack ? clone(sharing_child, s->stack + STACK_BYTES,
                                 CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &c)
                         : vfork();
    if (pid == 0) {
        become_rank(s, at, fd, join_front, c.daemon, &c.why);
        _exit(EXIT_NOT_EXEC);
    }
    struct failure why = c.why;
    at->unbound = why.unbound;
    if (pid < 0) {
        say("starting rank %d failed: %s%s", at->rank, strerror(errno),
            errno == EAGAIN ? " (is the number of processes limited, ulimit -u or pids.max?)" : "");
        *code = EXIT_MPIEXEC;
    } else if (why.err) {
        *code = exec_failed(s, &why);
        pid = -1;
    } else if (s->start->launch->stop == STOP_ON_EXEC) {
        stop_on_exec(pid);
    }
    return pid;
}
