/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: the command line: one row an option, of the standard's, MPICH's and Open MPI's families alike.
 *
 * One or two dashes, `-opt value` and `-opt=value`.  An option of another MPI that means nothing here has a
 * row too: it is taken with its values, and a note says so, where leaving it out changes what the user asked
 * for. */
#include "config.h"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"
#include "options.h"
#include "params.h"
#include "hosts.h"
#include "rankfile.h"

enum { POD_PATIENCE = 60 /* seconds: the pods of a job get their names one after another */ };

/* ---- complaints ---- */

void refuse(struct parse *p, const char *fmt, ...)
{
    if (p->stop)
        return;
    va_list ap;
    char text[1024];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say("%s", text);
    p->stop = true;
    p->code = EXIT_MPIEXEC;
}

long whole_number(struct parse *p, const char *text, long min, long max)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < min || n > max) {
        refuse(p, "%s is \"%s\"; expected a whole number from %ld to %ld", p->name, text, min, max);
        return min;
    }
    return n;
}

static double seconds(struct parse *p, const char *text)
{
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end || !(s >= 0) || s > 1e9) {
        refuse(p, "%s is \"%s\"; expected seconds, from 0 (no limit) to 1000000000", p->name, text);
        return 0;
    }
    return s;
}

/* ---- what options do ---- */

void said(struct parse *p, const char *key, const char *value)
{
    const char *before = p->app.said;
    if (!strchr(value, '\n'))
        p->app.said = xformat("%s%s%s=%s", before ? before : "", before ? "\n" : "", key, value);
}

static void do_n(struct parse *p, char **v)
{
    p->app.n = (int)whole_number(p, v[0], 1, 1 << 20);
}

static void do_ppn(struct parse *p, char **v)
{
    p->per_node = (int)whole_number(p, v[0], 1, 1 << 20);
}

static void do_fake_nodes(struct parse *p, char **v)
{
    p->launch->nodes = (int)whole_number(p, v[0], 1, 1 << 20);
}

static void do_wdir(struct parse *p, char **v)
{
    p->app.wdir = v[0];
    if (access(v[0], X_OK) != 0)
        refuse(p, "%s: %s: %s", p->name, v[0], strerror(errno));
}

static void do_path(struct parse *p, char **v)
{
    p->app.path = v[0];
    said(p, "path", v[0]);
}

static void do_merge(struct parse *p, char **v)
{
    (void)v;
    p->launch->merge_stderr = true;
}

static void do_verbose(struct parse *p, char **v)
{
    (void)v;
    p->launch->verbose = true;
}

static void do_timeout(struct parse *p, char **v)
{
    p->launch->timeout = seconds(p, v[0]);
    p->launch->timeout_by = xformat("%s", p->name);
}

/* A certain deadlock is reported anyway, and ends the job where nobody is there to look at it. */
static void do_hang_report(struct parse *p, char **v)
{
    if (v[0])
        p->launch->hang_seconds = seconds(p, v[0]);
}

static void do_kill(struct parse *p, char **v)
{
    (void)v;
    p->launch->hang_kill = true;
    p->launch->hang_keep = false;
}

static void do_no_kill(struct parse *p, char **v)
{
    (void)v;
    p->launch->hang_kill = false;
    p->launch->hang_keep = true;
}

/* The signals that a process holds back in this set of /proc/PID/status, a bit each. */
static unsigned long long blocked_signals(pid_t pid)
{
    char path[64], line[256];
    unsigned long long set = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "SigBlk:", 7) == 0)
            set = strtoull(line + 7, NULL, 16);
    if (f)
        fclose(f);
    return set;
}

/* It takes the signal through a descriptor: a process that would die of it is none. */
static void do_report(struct parse *p, char **v)
{
    pid_t pid = (pid_t)whole_number(p, v[0], 1, INT_MAX);
    char path[64], exe[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = p->stop ? 0 : readlink(path, exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(exe, '/');
    if (!slash || !strstr(slash, "mpiexec") || !(blocked_signals(pid) >> (REPORT_SIGNAL - 1) & 1))
        refuse(p, "%s: process %d is no mpiexec that is running a job, or another user's", p->name, (int)pid);
    else if (sigqueue(pid, REPORT_SIGNAL, (union sigval){ .sival_int = REPORT_VALUE }) != 0)
        refuse(p, "%s: process %d cannot be asked: %s", p->name, (int)pid, strerror(errno));
    p->stop = true;
}

static void do_stdin(struct parse *p, char **v)
{
    if (strcmp(v[0], "none") == 0)
        p->launch->stdin_rank = STDIN_NONE;
    else if (strcmp(v[0], "all") == 0)
        p->launch->stdin_rank = STDIN_ALL;
    else
        p->launch->stdin_rank = (int)whole_number(p, v[0], 0, (1 << 20) - 1);
}

/* One of the standard's triplets "a:b:c" (a, a+b, ... up to c), "a:b" or "a": the largest number of it up to
 * `max`; 0 if there is none, -1 if this is no triplet. */
static long largest(const char *t, size_t n, long max)
{
    long v[3] = { 0, 0, 1 }; /* first, last, step */
    int k = 0;
    for (const char *end = t + n; t < end && k < 3; k++) {
        char *next;
        v[k] = strtol(t, &next, 10);
        if (next == t || v[k] < 0 || v[k] > 1 << 20 || (next < end && *next != ':'))
            return -1;
        t = next + 1;
        if (next == end)
            n = 0;
    }
    if (k == 0 || n || (k == 3 && v[2] == 0))
        return -1;
    long last = k == 1 ? v[0] : v[1] < max ? v[1] : max;
    return v[0] > max || v[0] > last ? 0 : last - (last - v[0]) % v[2];
}

/* -soft: as many ranks as it allows, up to -n if that is given. */
static void apply_soft(struct parse *p)
{
    long best = 0, max = p->app.n ? p->app.n : 1 << 20;
    for (const char *t = p->soft; *t; t += strcspn(t, ","), t += *t == ',') {
        long n = largest(t, strcspn(t, ","), max);
        if (n < 0) {
            refuse(p,
                   "-soft is \"%s\"; expected numbers of ranks, first:last or first:last:step, separated by "
                   "commas",
                   p->soft);
            return;
        }
        best = n > best ? n : best;
    }
    if (best == 0)
        refuse(p, "-soft %s allows no number of ranks from 1 to %ld", p->soft, max);
    p->app.n = (int)best;
    p->soft = NULL;
}

static void do_soft(struct parse *p, char **v)
{
    p->soft = v[0];
    said(p, "soft", v[0]);
}

static void do_arch(struct parse *p, char **v)
{
    struct utsname here;
    said(p, "arch", v[0]);
    if (uname(&here) == 0 && strcasecmp(here.machine, v[0]) != 0)
        say("note: %s %s: ignored: ranks are started on this machine (%s)", p->name, v[0], here.machine);
}

static void do_usize(struct parse *p, char **v)
{
    if (strcasecmp(v[0], "infinite") == 0)
        p->launch->universe = INT_MAX;
    else if (strcasecmp(v[0], "system") != 0)
        p->launch->universe = (int)whole_number(p, v[0], 0, INT_MAX);
}

static void do_print_codes(struct parse *p, char **v)
{
    (void)v;
    p->launch->print_codes = true;
}

/* - is stdout, + is stderr. */
static void do_report_pid(struct parse *p, char **v)
{
    FILE *f = strcmp(v[0], "-") == 0 ? stdout : strcmp(v[0], "+") == 0 ? stderr : fopen(v[0], "we");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fflush(f) != 0)
        refuse(p, "%s: %s cannot be written: %s", p->name, v[0], strerror(errno));
    if (f && f != stdout && f != stderr)
        fclose(f);
}

static void do_configfile(struct parse *p, char **v)
{
    if (p->had_file)
        refuse(p, "%s %s: only one file is read", p->name, v[0]);
    else if (!(p->file = config_file(p->name, v[0]))) {
        p->stop = true;
        p->code = EXIT_MPIEXEC;
    }
    p->had_file = true;
}

/* -hosts is for every section, -host for this one. */
static void do_host(struct parse *p, char **v)
{
    bool all = strcmp(p->name + strspn(p->name, "-"), "hosts") == 0;
    said(p, "host", v[0]);
    place_names(p, v[0], all);
}

static const char *const launchers[] = {
    [LAUNCH_SSH] = "ssh", [LAUNCH_SLURM] = "slurm", [LAUNCH_FORK] = "fork"
};

bool launcher_named(const char *name, enum launcher_kind *kind)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strcmp(name, launchers[i]) == 0) {
            *kind = (enum launcher_kind)i;
            return true;
        }
    return false;
}

const char *launcher_name(enum launcher_kind kind)
{
    return launchers[kind];
}

static void do_launcher(struct parse *p, char **v)
{
    p->launcher_said = launcher_named(v[0], &p->launch->how.kind);
    if (!p->launcher_said)
        say("note: %s %s: ignored: other hosts are reached by ssh, slurm or fork", p->name, v[0]);
}

static void do_launcher_exec(struct parse *p, char **v)
{
    p->launch->how.exec = v[0];
}

static void do_fanout(struct parse *p, char **v)
{
    p->launch->how.fanout = (int)whole_number(p, v[0], 1, 1 << 20);
}

static void do_prefix(struct parse *p, char **v)
{
    p->prefix = v[0];
}

static void do_node_timeout(struct parse *p, char **v)
{
    p->launch->node_timeout = seconds(p, v[0]);
}

static void do_host_retry(struct parse *p, char **v)
{
    p->launch->how.patience = seconds(p, v[0]);
}

/* All memory that a rank can have is supported anyway. */
static void do_memory_alloc_kinds(struct parse *p, char **v)
{
    said(p, "mpi_memory_alloc_kinds", v[0]);
}

static void do_pernode(struct parse *p, char **v)
{
    (void)v;
    p->per_node = 1;
}

static void do_nolocal(struct parse *p, char **v)
{
    (void)v;
    p->not_here = true;
}

/* Open MPI's --default-hostfile none names no file. */
static void do_hostfile(struct parse *p, char **v)
{
    if (strcmp(v[0], "none") == 0 && strcmp(p->name + strspn(p->name, "-"), "default-hostfile") == 0)
        return;
    place_file(p, v[0]);
}

static void do_pmi(struct parse *p, char **v)
{
    (void)v;
    p->launch->pmi = true;
}

static void do_pmix(struct parse *p, char **v)
{
    (void)v;
    if (p->launch->pmix == SERVE_PMIX_NO)
        p->launch->pmix = SERVE_PMIX;
}

static void do_pmix_tools(struct parse *p, char **v)
{
    p->launch->pmix = SERVE_PMIX_TOOLS;
    p->launch->stop = !v[0] ? STOP_NO : strcmp(v[0], "exec") == 0 ? STOP_ON_EXEC : STOP_IN_INIT;
    if (v[0] && strcmp(v[0], "stop") != 0 && strcmp(v[0], "exec") != 0)
        refuse(p, "%s=%s: expected %s, %s=stop or %s=exec", p->name, v[0], p->name, p->name, p->name);
}

/* ---- the rows ---- */

enum {
    IGNORE_MAX = 2,
    PAIR = 12,  /* two values, or one that has a '=' in it */
    IF_ANY = 13 /* the next word, if there is one */
};

static const struct option {
    const char *names; /* without dashes, separated by | */
    int values;        /* how many values follow; -1: one, if one was written with = */
    void (*set)(struct parse *p, char **values);
    const char *note; /* of an option that means nothing here; NULL: nothing is said */
} options[] = {
#define TOPIC(names, title)
#define WHAT(names, values, set, args, help) { names, values, set, NULL },
#define TAKE(names, values) { names, values, NULL, NULL },
#define NOTE(names, values, help) { names, values, NULL, help },
#include "options.def"
};

/* ---- reading ---- */

static bool has_name(const char *names, const char *name, size_t n)
{
    for (const char *p = names; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == n && strncmp(p, name, n) == 0)
            return true;
    return false;
}

static const struct option *find_option(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (has_name(options[i].names, name, n))
            return &options[i];
    return NULL;
}

/* Letters that must change to make one of the other, at most 3. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0)
        return (int)(n + m) < 3 ? (int)(n + m) : 3;
    int row[64], diag;
    if (m >= 64)
        return 3;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        diag = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = diag + (a[i - 1] != b[j - 1]);
            diag = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m] < 3 ? row[m] : 3;
}

/* How far an option's name is from what was written: letters that differ; 2 if one begins with the other. */
static int remoteness(const char *name, size_t n, const char *option, size_t m)
{
    size_t common = n < m ? n : m;
    int d = distance(name, n, option, m);
    return d > 2 && common > 3 && strncasecmp(name, option, common) == 0 ? 2 : d;
}

/* Of names as near, one that does something here is meant. */
static void unknown(struct parse *p, const char *arg, const char *name, size_t n)
{
    int best = n > 3 ? 2 * 3 : 2 * 2;
    const char *near = NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (const char *o = options[i].names; *o; o += strcspn(o, "|"), o += *o == '|') {
            int d = 2 * remoteness(name, n, o, strcspn(o, "|")) + !options[i].set;
            if (d < best && strcspn(o, "|") > 2) {
                best = d;
                near = o;
            }
        }
    if (near)
        refuse(p, "%.*s is not an option; did you mean %.*s%.*s? (mpiexec --help lists all)",
               (int)(name + n - arg), arg, (int)(name - arg), arg, (int)strcspn(near, "|"), near);
    else
        refuse(p, "%s is not an option (mpiexec --help lists all)", arg);
}

/* -n4, -np4, -ppn2: a number of ranks without a space.  The length of the option's name; `n` if this is none. */
static size_t before_digits(const char *name, size_t n)
{
    size_t letters = strcspn(name, "0123456789=");
    const struct option *o = find_option(name, letters);
    bool digits = letters > 0 && letters < n && strspn(name + letters, "0123456789") == n - letters;
    return digits && o && (o->set == do_n || o->set == do_ppn) ? letters : n;
}

/* One option at argv[0]; how many words it took. */
static int read_option(struct parse *p, char **argv)
{
    const char *name = argv[0] + 1 + (argv[0][1] == '-');
    size_t n = strcspn(name, "="), letters = name[n] ? n : before_digits(name, n);
    char *value = letters < n ? (char *)name + letters
                  : name[n]   ? (char *)name + n + 1
                              : NULL,
         *values[IGNORE_MAX + 1] = { NULL };
    n = letters;
    const struct option *o = find_option(name, n);
    int taken = 1, have = 0;
    int want = !o                    ? 0
               : o->values == PAIR   ? value ? 1 : 2
               : o->values == IF_ANY ? value || argv[1] != NULL
                                     : abs(o->values);
    snprintf(p->name, sizeof p->name, "%.*s", (int)(name + n - argv[0]), argv[0]);
    if (!o) {
        unknown(p, argv[0], name, n);
        return 1;
    }
    if (value && want == 0) {
        refuse(p, "%s takes no value; \"%s\" was given", p->name, value);
        return 1;
    }
    if (value)
        values[have++] = value;
    while (have < want && o->values > 0 && argv[taken]) {
        values[have++] = argv[taken++];
        if (o->values == PAIR)
            want = strchr(values[0], '=') ? 1 : 2;
    }
    if (have < want && o->values > 0)
        refuse(p, "%s needs %s", p->name, want == 1 ? "a value" : "two values");
    else if (o->set)
        o->set(p, values);
    else if (o->note)
        say("note: %s%s%s: %s", p->name, values[0] ? " " : "", values[0] ? values[0] : "", o->note);
    return taken;
}

void option_give(struct parse *p, const char *option, const char *written, char *value)
{
    char *values[IGNORE_MAX + 1] = { value };
    const struct option *o = find_option(option, strlen(option));
    snprintf(p->name, sizeof p->name, "%s", written);
    o->set(p, values);
}

static void join_edits(struct app *a, const struct env_edits *first, const struct env_edits *second)
{
    struct env_edits both = { xalloc((size_t)(first->n + second->n), sizeof(char *)), first->n + second->n };
    for (int i = 0; i < both.n; i++)
        both.edit[i] = i < first->n ? first->edit[i] : second->edit[i - first->n];
    free(a->edits.edit);
    a->edits = both;
}

static void end_section(struct parse *p, char **argv, int argc)
{
    struct launch *l = p->launch;
    if (argc == 0) {
        refuse(p,
               l->napps
                   ? "there is no program after the last ':'; expected mpiexec [options] program [arguments]"
                   : "no program given; expected mpiexec [options] program [arguments] (mpiexec --help)");
        return;
    }
    p->app.maxprocs = p->app.n;
    if (p->soft)
        apply_soft(p);
    p->app.argv = xalloc((size_t)argc + 1, sizeof *p->app.argv);
    memcpy(p->app.argv, argv, (size_t)argc * sizeof *argv);
    l->apps = xgrow(l->apps, (size_t)l->napps + 1, sizeof *l->apps);
    p->lists = xgrow(p->lists, (size_t)l->napps + 1, sizeof *p->lists);
    p->lists[l->napps] = p->app_hosts;
    p->app_hosts = (struct host_list){ 0 };
    l->apps[l->napps++] = p->app;
    p->app = (struct app){ 0 };
}

/* One section: options, then the program and its arguments up to `end`. */
static char **read_section(struct parse *p, char **argv)
{
    while (!p->stop && *argv && argv[0][0] == '-' && argv[0][1] && strcmp(argv[0], ":") != 0) {
        if (strcmp(argv[0], "--") == 0) {
            argv++;
            break;
        }
        argv += read_option(p, argv);
        if (p->file && *argv) {
            refuse(p, "after -configfile FILE comes nothing; \"%s\" was given", *argv);
        } else if (p->file) {
            argv = p->file;
            p->file = NULL;
        }
    }
    int argc = 0;
    while (argv[argc] && strcmp(argv[argc], ":") != 0)
        argc++;
    if (!p->stop)
        end_section(p, argv, argc);
    return argv + argc;
}

/* What was said for every section reaches each, before what it says itself. */
static void complete(struct parse *p)
{
    struct launch *l = p->launch;
    if (l->spawned)
        allocation_reach(p);
    params_hosts(p);
    if (p->nhosts == 0 && l->nodes <= 1 && !p->rankfile)
        allocation_hosts(p);
    options_check(p);
    options_profile(p);
    if (p->not_here && !p->stop)
        place_not_here(p);
    for (int i = 0; i < l->napps; i++) {
        struct app *a = &l->apps[i];
        if (a->n == 0)
            a->n = p->rankfile && l->napps == 1 ? rankfile_size(p->rankfile)
                   : p->nmap && l->napps == 1   ? p->nmap
                   : p->nhosts > 0              ? place_slots(p, i)
                   : l->napps > 1               ? 1
                   : p->per_node                ? p->per_node
                                                : options_ppr(p);
        if (a->n < 1)
            a->n = 1;
        if (a->maxprocs == 0)
            a->maxprocs = a->n;
        if (a->inherit == INHERIT_UNSAID) {
            a->inherit = p->all.inherit;
            a->inherit_list = p->all.inherit_list;
        }
        join_edits(a, &p->all.edits, &a->edits);
        l->size += a->n;
        if (l->size > 1 << 20)
            refuse(p, "the job would have more than %d ranks", 1 << 20);
    }
    free(p->all.edits.edit);
    if (!p->stop)
        place_ranks(p);
    if (!p->stop && !l->spawned)
        allocation_tell(p);
    if (!p->stop)
        allocation_tell_nodes(l);
    options_prefix(p);
    l->unwatched = !isatty(0) && !isatty(2) && !debugger_waits();
    if (l->stdin_rank == STDIN_ALL && l->size == 1)
        l->stdin_rank = 0;
    if (l->stdin_rank >= l->size)
        refuse(p, "--stdin is %d; the job's ranks are 0 to %d, or none, or all", l->stdin_rank, l->size - 1);
}

static void from_environment(struct parse *p, const char *name, double *value)
{
    const char *text = getenv(name);
    if (text && *text) {
        snprintf(p->name, sizeof p->name, "%s", name);
        *value = seconds(p, text);
    }
}

bool options_parse(struct launch *l, char **argv, int *code)
{
    static struct parse p; /* kept: the job points into its pieces */
    p.launch = l;
    l->timeout_by = "MPIEXEC_TIMEOUT";
    from_environment(&p, l->timeout_by, &l->timeout);
    l->node_timeout = -1;
    from_environment(&p, "MPIEXEC_NODE_TIMEOUT", &l->node_timeout);
    l->how.patience = getenv("KUBERNETES_SERVICE_HOST") ? POD_PATIENCE : 0;
    from_environment(&p, "MPIEXEC_HOST_RETRY", &l->how.patience);
    params_environment(&p);
    for (argv = read_section(&p, argv + 1); !p.stop && *argv; argv = read_section(&p, argv + 1))
        ; /* *argv is ':' */
    if (!p.stop)
        complete(&p);
    if (!p.stop)
        params_note();
    *code = p.code;
    return !p.stop;
}
