/* report.c: equal reports of several ranks are shown once, as "ranks 0-3, 7: ...". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launch.h"
#include "output.h"
#include "report.h"

static const double MERGE_SECONDS = 0.05; /* how long a text waits for its equals */
enum { MAX_TEXTS = 256 };                 /* distinct texts kept; more are shown at once */

struct entry {
    char *text;
    bool failure; /* else a rank's own message */
    enum failure_kind kind;
    int value;
    bool core, mpi;
    pid_t pid; /* of the first rank */
    char *program;
    int first;
    unsigned char *ranks; /* bit set */
    int n;
};

static int nranks;
static const char *host;
static struct entry entries[MAX_TEXTS];
static int nentries;
static double due;
static long long oom_before;

/* Processes the kernel's out-of-memory killer has ended since boot; -1 if it does not say. */
static long long oom_kills(void)
{
    char text[16384], *p;
    int fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    p = strstr(text, "\noom_kill ");
    return p ? atoll(p + 10) : -1;
}

void report_init(int n, const char *hostname)
{
    nranks = n;
    host = hostname;
    oom_before = oom_kills();
}

static void add_rank(struct entry *e, int rank)
{
    if (!(e->ranks[rank / 8] & 1 << rank % 8))
        e->n++;
    e->ranks[rank / 8] |= (unsigned char)(1 << rank % 8);
}

static struct entry *new_entry(int rank)
{
    if (nentries == MAX_TEXTS)
        report_flush();
    if (due == 0)
        due = now() + MERGE_SECONDS;
    struct entry *e = &entries[nentries++];
    *e = (struct entry){ .first = rank, .ranks = xalloc((size_t)nranks / 8 + 1, 1) };
    return e;
}

void report_text(int rank, const char *text, size_t len)
{
    while (len > 0 && text[len - 1] == '\n')
        len--;
    if (len == 0)
        return;
    for (int i = 0; i < nentries; i++)
        if (!entries[i].failure && strlen(entries[i].text) == len &&
            memcmp(entries[i].text, text, len) == 0) {
            add_rank(&entries[i], rank);
            return;
        }
    struct entry *e = new_entry(rank);
    e->text = xformat("%.*s", (int)len, text);
    add_rank(e, rank);
}

void report_failure(int rank, enum failure_kind kind, int value, bool core, bool mpi, pid_t pid,
                    const char *program)
{
    for (int i = 0; i < nentries; i++) {
        struct entry *e = &entries[i];
        if (e->failure && e->kind == kind && e->value == value && e->mpi == mpi &&
            !strcmp(e->program, program)) {
            add_rank(e, rank);
            return;
        }
    }
    struct entry *e = new_entry(rank);
    e->failure = true;
    e->kind = kind;
    e->value = value;
    e->core = core;
    e->mpi = mpi;
    e->pid = pid;
    e->program = xformat("%s", program);
    add_rank(e, rank);
}

double report_due(void)
{
    return due;
}

static void entry_free(struct entry *e)
{
    free(e->text);
    free(e->program);
    free(e->ranks);
}

void report_forget(int sig)
{
    int kept = 0;
    for (int i = 0; i < nentries; i++)
        if (entries[i].failure && entries[i].kind == FAILED_SIGNAL && entries[i].value == sig)
            entry_free(&entries[i]);
        else
            entries[kept++] = entries[i];
    nentries = kept;
}

/* "rank 3" or "ranks 0-2, 5". */
static char *rank_list(const struct entry *e)
{
    char *list = xformat(e->n > 1 ? "ranks " : "rank ");
    const char *comma = "";
    for (int i = 0; i < nranks; i++) {
        int last = i;
        while (last < nranks && e->ranks[last / 8] & 1 << last % 8)
            last++;
        if (last-- == i)
            continue;
        char *more =
            last > i ? xformat("%s%s%d-%d", list, comma, i, last) : xformat("%s%s%d", list, comma, i);
        free(list);
        list = more;
        comma = ", ";
        i = last;
    }
    return list;
}

static char *signal_text(const struct entry *e)
{
    const char *name = sigabbrev_np(e->value), *what = sigdescr_np(e->value);
    long long oom = e->value == SIGKILL ? oom_kills() : -1;
    return xformat(
        "%s killed by signal %d (%s%s%s%s%s)%s", e->n > 1 ? "were" : "was", e->value, name ? "SIG" : "",
        name ? name : "unknown", what ? ", " : "", what ? what : "", e->core ? ", core dumped" : "",
        oom > oom_before && oom_before >= 0
            ? "; the kernel's out-of-memory killer was at work: the ranks need more memory than there is"
            : "");
}

static char *failure_text(const struct entry *e)
{
    switch (e->kind) {
    case FAILED_SIGNAL:
        return signal_text(e);
    case FAILED_NOT_FINALIZED:
        return xformat("exited with 0 without calling MPI_Finalize");
    default:
        return xformat("exited with code %d%s", e->value, e->mpi ? " without calling MPI_Finalize" : "");
    }
}

static void show(const struct entry *e)
{
    char *ranks = rank_list(e), *line;
    if (e->failure) {
        char *what = failure_text(e);
        if (e->n > 1)
            line = xformat("mpiexec: %s (%s on %s; first rank %d, pid %d) %s\n", ranks, e->program, host,
                           e->first, e->pid, what);
        else
            line = xformat("mpiexec: %s (%s on %s, pid %d) %s\n", ranks, e->program, host, e->pid, what);
        free(what);
    } else {
        line = xformat("%s: %s\n", ranks, e->text);
    }
    output_message(line);
    free(line);
    free(ranks);
}

void report_flush(void)
{
    due = 0;
    if (nentries)
        output_catch_up();
    for (int i = 0; i < nentries; i++) {
        show(&entries[i]);
        entry_free(&entries[i]);
    }
    nentries = 0;
}
