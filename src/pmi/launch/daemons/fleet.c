/* SPDX-License-Identifier: BSD-3-Clause */
/* fleet.c: see fleet.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fleet.h"
#include "hostlist.h"
#include "pmi/launch/frames/frame_pack.h"
#include "pmi/launch/base/scratch.h"

static const double LAST_WORDS_SECONDS = 1; /* between the end of a link and that of its agent */
static const double PAUSE_SECONDS = 0.5;    /* before a host is tried again */
enum { ERROR_BYTES = 4096, FLEET_POLLS = 3 /* of a child */ };

enum state { SAYS_NOTHING, TALKS, DONE, LOST };

struct child {
    struct fleet_host host;
    struct fleet_plan behind; /* hosts behind it */
    struct link link;
    pid_t pid; /* of the agent; 0: it has ended */
    int status, err;
    enum state state;
    double heard, said, over; /* over: the link has ended then; 0: no */
    double again;           /* its agent could not reach it; the next one is started then; 0: there is one */
    bool ready;             /* something has come, or may go */
    char text[ERROR_BYTES]; /* what the agent, or the host's shell, says on stderr */
    size_t ntext;
};

static struct {
    struct fleet_plan plan;
    fleet_take *take;
    struct child *children;
    int n;
    int *via; /* by node: number of the child + 1 */
    int nvia;
    double begun;
} fleet;

/* ---- starting ---- */

static bool in_path(const char *name, char *path)
{
    const char *dirs = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, X_OK) == 0;
    for (dirs = dirs ? dirs : "/usr/bin:/bin"; *dirs; dirs += strcspn(dirs, ":"), dirs += *dirs == ':')
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)strcspn(dirs, ":"), dirs, name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

/* For the shell over there, of whichever kind. */
static char *quoted(const char *text)
{
    char *q = xalloc(4 * strlen(text) + 3, 1), *to = q;
    *to++ = '\'';
    for (; *text; text++)
        if (*text == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *text;
    *to++ = '\'';
    return q;
}

struct words {
    char **word; /* NULL follows the last; each is to be freed */
    int n;
};

/* Owned from here on. */
static void add_word(struct words *w, char *word)
{
    w->word = xgrow(w->word, (size_t)w->n + 2, sizeof *w->word);
    w->word[w->n++] = word;
    w->word[w->n] = NULL;
}

static void add_words(struct words *w, const char *text)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        int n = (int)strcspn(text, " ");
        add_word(w, xformat("%.*s", n, text));
        text += n;
    }
}

static void free_words(struct words *w)
{
    for (int i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w->word);
}

static void add_ssh(struct words *w, const struct fleet_host *h, double timeout)
{
    add_words(w, "-x -T -oBatchMode=yes");
    add_word(w, xformat("-oConnectTimeout=%d", timeout > 4 ? milliseconds(timeout / 2) / 1000 : 2));
    add_word(w, xformat("%s", h->name));
}

/* Unbuffered: else what is no whole line stays there.  The one task gets the input by --input=all: of a component
 * of a heterogeneous job
 * --input=0 gives it none (Slurm 24.11, 26.05). */
static void add_srun(struct words *w, const struct fleet_host *h)
{
    add_words(w, "--nodes=1 --ntasks=1 --overlap --quiet --kill-on-bad-exit=0 --input=all --unbuffered");
    add_word(w, xformat("--nodelist=%s", h->name));
    int group = hostlist_group(h->name);
    if (group >= 0) /* without it srun takes the first component */
        add_word(w, xformat("--het-group=%d", group));
}

/* The agent's words, and what it is to start.  -launcher-exec may bring options: "ssh -p 2222". */
static struct words agent_words(const struct launcher *how, const struct fleet_host *h, double timeout)
{
    static const char *const name[] = { [LAUNCH_SSH] = "ssh", [LAUNCH_SLURM] = "srun", [LAUNCH_FORK] = "" };
    struct words w = { 0 };
    char *role = xformat("%s=%d:%g", HOST_ARGUMENT, h->node, timeout);
    add_words(&w, how->exec ? how->exec : name[how->kind]);
    if (how->exec && w.n == 0)
        die("-launcher-exec names no program");
    if (how->kind == LAUNCH_SLURM || w.n == 0) {
        if (w.n > 0)
            add_srun(&w, h);
        add_word(&w, xformat("%s", how->daemon));
        add_word(&w, role);
        return w;
    }
    char *path = quoted(how->daemon);
    add_ssh(&w, h, timeout);
    add_word(&w, xformat("exec %s %s", path, role));
    free(path);
    free(role);
    return w;
}

static pid_t spawn(const char *path, char **argv, const int fd[3])
{
    char **env = scratch_environment();
    pid_t pid = vfork();
    if (pid != 0)
        return pid;
    sigset_t none;
    setpgid(0, 0);
    sigemptyset(&none);
    for (int i = 0; i < 3; i++)
        dup2(fd[i], i);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTOU, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(path, argv, env);
    _exit(127);
}

static void start_child(struct child *c)
{
    char path[PATH_MAX];
    int in[2], out[2], err[2];
    const struct launcher *how = &fleet.plan.how;
    struct words w = agent_words(how, &c->host, fleet.plan.timeout);
    if (!in_path(w.word[0], path))
        die("%s is not found in PATH; it is what starts ranks on other hosts (-launcher, -launcher-exec)",
            w.word[0]);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        die("pipes to %s failed: %s", c->host.name, strerror(errno));
    const int fd[3] = { in[0], out[1], err[1] };
    c->pid = spawn(path, w.word, fd);
    if (c->pid < 0)
        die("starting %s failed: %s", path, strerror(errno));
    free_words(&w);
    setpgid(c->pid, c->pid);
    tree_spare(c->pid);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    link_init(&c->link, out[0], in[1], true);
    c->err = err[0];
    fcntl(c->err, F_SETFL, O_NONBLOCK);
    c->heard = c->said = now();
}

static void put_plan(struct pack *p, const struct fleet_plan *plan)
{
    put_int(p, plan->how.kind);
    put_text(p, plan->how.exec);
    put_text(p, plan->how.daemon);
    put_int(p, plan->how.fanout);
    put_double(p, plan->timeout);
    put_int(p, plan->nhosts);
    for (int i = 0; i < plan->nhosts; i++) {
        put_int(p, plan->hosts[i].node);
        put_text(p, plan->hosts[i].name);
    }
}

bool fleet_plan_get(struct fleet_plan *plan, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    plan->how.kind = (enum launcher_kind)get_range(&u, LAUNCH_SSH, LAUNCH_FORK);
    plan->how.exec = get_text(&u);
    plan->how.daemon = get_text(&u);
    plan->how.fanout = get_range(&u, 1, INT_MAX);
    plan->timeout = get_double(&u);
    plan->nhosts = get_range(&u, 0, 1 << 20);
    plan->hosts = xalloc((size_t)plan->nhosts, sizeof *plan->hosts);
    for (int i = 0; i < plan->nhosts && !u.wrong; i++) {
        plan->hosts[i].node = get_range(&u, 0, 1 << 20);
        plan->hosts[i].name = get_text(&u);
        u.wrong = u.wrong || !plan->hosts[i].name;
    }
    return !u.wrong && u.at == u.end && plan->how.daemon && plan->timeout > 0 &&
           plan->timeout <= NODE_PATIENCE;
}

/* The hosts are cut into as many pieces as there are children: the first of each piece is the child, the others
 * are behind it. */
void fleet_start(const struct fleet_plan *p, fleet_take *take)
{
    fleet.plan = *p;
    fleet.take = take;
    fleet.begun = now();
    fleet.n = p->nhosts < p->how.fanout ? p->nhosts : p->how.fanout;
    fleet.children = xalloc((size_t)fleet.n, sizeof *fleet.children);
    for (int i = 0; i < p->nhosts; i++)
        fleet.nvia = p->hosts[i].node >= fleet.nvia ? p->hosts[i].node + 1 : fleet.nvia;
    fleet.via = xalloc((size_t)fleet.nvia, sizeof *fleet.via);
    for (int i = 0, at = 0; i < fleet.n; i++) {
        struct child *c = &fleet.children[i];
        int n = p->nhosts / fleet.n + (i < p->nhosts % fleet.n);
        c->host = p->hosts[at];
        c->behind = *p;
        c->behind.hosts = p->hosts + at + 1;
        c->behind.nhosts = n - 1;
        for (int k = 0; k < n; k++)
            fleet.via[p->hosts[at + k].node] = i + 1;
        at += n;
        start_child(c);
    }
}

/* ---- talking ---- */

static void send_to(struct child *c, const struct frame *f, const char *bytes)
{
    if (c->state == LOST || c->again)
        return;
    c->said = now();
    link_pass(&c->link, f, bytes);
}

void fleet_pass(const struct frame *f, const char *bytes)
{
    if (fleet_has(f->node))
        send_to(&fleet.children[fleet.via[f->node] - 1], f, bytes);
    for (int i = 0; i < fleet.n && f->node == NODE_ALL; i++)
        send_to(&fleet.children[i], f, bytes);
}

void fleet_send(enum frame_kind kind, int node, int value, const void *bytes, size_t len)
{
    struct frame f = {
        .len = (uint32_t)len, .kind = (uint16_t)kind, .check = FRAME_CHECK, .node = node, .value = value
    };
    fleet_pass(&f, bytes);
}

/* As if it had come from there. */
static void make_frame(enum frame_kind kind, int node, const char *text, size_t len)
{
    struct frame f = { .len = (uint32_t)len, .kind = (uint16_t)kind, .check = FRAME_CHECK, .node = node };
    fleet.take(&f, text);
}

/* ---- losing ---- */

/* The agent's last line, without what does not concern the user: "user@host: " before it, a full stop behind. */
static char *last_line(const struct child *c)
{
    size_t end = c->ntext;
    while (end > 0 && strchr("\r\n.", c->text[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && c->text[begin - 1] != '\n')
        begin--;
    const char *at = c->text + begin, *colon = memmem(at, end - begin, ": ", 2);
    if (colon && memchr(at, '@', (size_t)(colon - at)) && !memchr(at, ' ', (size_t)(colon - at)))
        at = colon + 2;
    else if (colon && colon - at == 3 && memcmp(at, "ssh", 3) == 0)
        at = colon + 2;
    return xformat("%.*s", (int)(c->text + end - at), at);
}

static char *reason(const struct child *c)
{
    const struct launcher *how = &fleet.plan.how;
    const char *agent = how->exec ? how->exec : how->kind == LAUNCH_SLURM ? "srun" : "ssh";
    char *line = last_line(c), *text;
    const char *slash = memrchr(agent, '/', strcspn(agent, " "));
    agent = slash ? slash + 1 : agent;
    int name = (int)strcspn(agent, " ");
    bool ended = c->pid == 0, exited = ended && WIFEXITED(c->status);
    int code = exited ? WEXITSTATUS(c->status) : -1;
    if (c->link.wrong)
        text = xformat("%s", c->link.wrong);
    else if (!c->over)
        text = xformat(c->state == TALKS ? "nothing has come from it for %g s"
                                         : "it has not answered within %g s",
                       fleet.plan.timeout);
    else if (c->state == SAYS_NOTHING && code == 127)
        text = xformat("keel daemon not found at %s", how->daemon);
    else if (c->state == SAYS_NOTHING && code == 126)
        text = xformat("keel daemon at %s cannot be executed", how->daemon);
    else if (how->kind == LAUNCH_SSH && code == 255)
        text = xformat("%.*s: %s", name, agent, *line ? line : "the connection has ended");
    else if (exited && *line && c->state == SAYS_NOTHING)
        text = xformat("%s (exit code %d)", line, code);
    else if (exited)
        text = xformat("its daemon has ended (exit code %d)", code);
    else if (ended && how->kind == LAUNCH_FORK)
        text = xformat("its daemon was killed by signal %d", WTERMSIG(c->status));
    else if (ended)
        text = xformat("%.*s was killed by signal %d", name, agent, WTERMSIG(c->status));
    else
        text = xformat("the connection has ended");
    free(line);
    return text;
}

static void close_text(struct child *c)
{
    if (c->err >= 0)
        close(c->err);
    c->err = -1;
}

/* Nothing has come from the host: perhaps it, or its name, is not there yet.  Where a shell answers that there is
 * no daemon, it is. */
static bool may_try_again(const struct child *c)
{
    int code = c->pid == 0 && WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -1;
    return c->state == SAYS_NOTHING && !c->link.wrong && code != 126 && code != 127 &&
           now() + PAUSE_SECONDS < fleet.begun + fleet.plan.how.patience;
}

static void try_later(struct child *c)
{
    link_close(&c->link);
    close_text(c);
    if (c->pid > 0)
        kill(-c->pid, SIGKILL);
    c->ntext = 0;
    c->over = 0;
    c->again = now() + PAUSE_SECONDS;
}

static void lose(struct child *c)
{
    char *why = reason(c);
    c->state = LOST;
    link_close(&c->link);
    close_text(c);
    if (c->pid > 0)
        kill(-c->pid, SIGKILL);
    make_frame(FRAME_LOST, c->host.node, why, strlen(why));
    for (int i = 0; i < c->behind.nhosts; i++) {
        char *text = xformat("it was reached through %s, which is lost", c->host.name);
        make_frame(FRAME_LOST, c->behind.hosts[i].node, text, strlen(text));
        free(text);
    }
    free(why);
}

/* ---- what comes ---- */

/* Lines that the daemon, or the agent, says later than at first are told. */
static void tell_text(struct child *c)
{
    char *end = memrchr(c->text, '\n', c->ntext);
    size_t n = end ? (size_t)(end - c->text) + 1 : c->ntext == sizeof c->text || c->err < 0 ? c->ntext : 0;
    if (n == 0 || c->state == SAYS_NOTHING)
        return;
    make_frame(FRAME_TEXT, c->host.node, c->text, n);
    memmove(c->text, c->text + n, c->ntext - n);
    c->ntext -= n;
}

static void read_text(struct child *c)
{
    while (c->err >= 0) {
        if (c->ntext == sizeof c->text) { /* the last is what counts */
            c->ntext /= 2;
            memmove(c->text, c->text + sizeof c->text - c->ntext, c->ntext);
        }
        ssize_t n = read(c->err, c->text + c->ntext, sizeof c->text - c->ntext);
        if (n > 0) {
            c->ntext += (size_t)n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_text(c);
        } else if (errno == EAGAIN) {
            break;
        }
        tell_text(c);
    }
}

static void begin_talking(struct child *c)
{
    c->state = TALKS;
    c->ntext = 0; /* greetings */
    if (c->behind.nhosts > 0) {
        struct pack p = { 0 };
        put_plan(&p, &c->behind);
        struct frame f = {
            .len = (uint32_t)p.len, .kind = FRAME_LAUNCH, .check = FRAME_CHECK, .node = c->host.node
        };
        send_to(c, &f, p.bytes);
        free(p.bytes);
    }
}

static bool is_behind(const struct child *c, int node)
{
    return node >= 0 && node < fleet.nvia && fleet.via[node] == c - fleet.children + 1;
}

bool fleet_has(int node)
{
    return node >= 0 && node < fleet.nvia && fleet.via[node] != 0;
}

/* One behind a child keeps its link, which is the child's. */
void fleet_distrust(int node, const char *why)
{
    struct child *c = fleet_has(node) ? &fleet.children[fleet.via[node] - 1] : NULL;
    if (c && c->host.node == node) {
        c->link.wrong = why;
        c->link.broken = true;
    } else if (c) {
        make_frame(FRAME_LOST, node, why, strlen(why));
    }
}

static void read_frames(struct child *c)
{
    struct frame f;
    const char *bytes;
    link_read(&c->link);
    while (c->state != LOST && link_next(&c->link, &f, &bytes)) {
        c->heard = now();
        if (f.kind == FRAME_PING)
            continue;
        if (!is_behind(c, f.node)) {
            fleet_distrust(c->host.node, "it speaks for another host");
            break;
        }
        if (f.kind == FRAME_HELLO && f.node == c->host.node && c->state == SAYS_NOTHING)
            begin_talking(c);
        if (f.kind == FRAME_DONE && f.node == c->host.node)
            c->state = DONE;
        fleet.take(&f, bytes);
    }
}

static void ping(struct child *c)
{
    struct frame f = { .kind = FRAME_PING, .check = FRAME_CHECK, .node = c->host.node };
    if (c->state == TALKS && now() > c->said + LINK_PING * fleet.plan.timeout)
        send_to(c, &f, NULL);
}

static void look_at(struct child *c)
{
    if (c->state == LOST || (c->again && now() < c->again))
        return;
    if (c->again) {
        c->again = 0;
        start_child(c);
    }
    if (c->ready)
        read_text(c);
    if (c->ready && !c->link.broken)
        read_frames(c);
    if (c->state == LOST)
        return;
    link_flush(&c->link);
    if ((c->link.broken || c->link.cut) && c->over == 0)
        c->over = now();
    ping(c);
    if (c->state == DONE)
        return;
    bool over =
        c->over && (c->link.wrong || (c->pid == 0 && c->err < 0) || now() > c->over + LAST_WORDS_SECONDS);
    bool silent = !c->over && now() > c->heard + fleet.plan.timeout;
    if ((over || silent) && may_try_again(c))
        try_later(c);
    else if (over || silent)
        lose(c);
}

int fleet_room(void)
{
    return FLEET_POLLS * fleet.n;
}

static int child_polls(const struct child *c, struct pollfd *p)
{
    int n = 0;
    if (c->err >= 0)
        p[n++] = (struct pollfd){ .fd = c->err, .events = POLLIN };
    if (!c->link.broken)
        p[n++] = (struct pollfd){ .fd = c->link.in, .events = POLLIN };
    if (link_waits(&c->link))
        p[n++] = (struct pollfd){ .fd = c->link.out, .events = POLLOUT };
    return n;
}

int fleet_polls(struct pollfd *p)
{
    int n = 0;
    for (int i = 0; i < fleet.n; i++)
        n += child_polls(&fleet.children[i], p + n);
    return n;
}

/* Which children have something: one call of the system for all of them, as hundreds may be there, of which one has. */
static void fleet_look(void)
{
    struct pollfd *p = xalloc((size_t)fleet_room() + 1, sizeof *p);
    int n = fleet_polls(p), at = 0;
    bool known = poll(p, (nfds_t)n, 0) >= 0;
    for (int i = 0; i < fleet.n; i++) {
        struct pollfd own[FLEET_POLLS];
        fleet.children[i].ready = !known;
        for (int k = child_polls(&fleet.children[i], own); k > 0; k--)
            fleet.children[i].ready |= p[at++].revents != 0;
    }
    free(p);
}

void fleet_move(void)
{
    fleet_look();
    for (int i = 0; i < fleet.n; i++)
        look_at(&fleet.children[i]);
}

double fleet_due(void)
{
    double due = 0;
    for (int i = 0; i < fleet.n; i++) {
        const struct child *c = &fleet.children[i];
        double at = c->over ? c->over + LAST_WORDS_SECONDS : c->said + LINK_PING * fleet.plan.timeout;
        if (c->state == SAYS_NOTHING && !c->over)
            at = c->heard + fleet.plan.timeout;
        if (c->again)
            at = c->again;
        if (c->state < DONE && (due == 0 || at < due))
            due = at;
    }
    return due;
}

bool fleet_reaped(pid_t pid, int status)
{
    for (int i = 0; i < fleet.n; i++)
        if (fleet.children[i].pid == pid) {
            fleet.children[i].pid = 0;
            fleet.children[i].status = status;
            return true;
        }
    return false;
}

int fleet_open(void)
{
    int n = 0;
    for (int i = 0; i < fleet.n; i++)
        n += fleet.children[i].state == TALKS;
    return n;
}

void fleet_close(void)
{
    for (int i = 0; i < fleet.n; i++)
        link_close(&fleet.children[i].link);
    for (double until = now() + LAST_WORDS_SECONDS; now() < until;) {
        int left = 0;
        int status;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
            fleet_reaped(pid, status);
        for (int i = 0; i < fleet.n; i++) {
            read_text(&fleet.children[i]);
            left += fleet.children[i].pid != 0;
        }
        if (left == 0)
            break;
        usleep(1000);
    }
    for (int i = 0; i < fleet.n; i++)
        if (fleet.children[i].pid)
            kill(-fleet.children[i].pid, SIGKILL);
}
