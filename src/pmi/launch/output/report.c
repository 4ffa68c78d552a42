/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c: equal reports of several ranks are shown once, as "ranks 0-3, 7: ..."; causes before consequences. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/launch.h"
#include "output.h"
#include "report.h"

/* Texts are shown when so long no other has come, or so long after the first: where cores are few, many ranks come
 * one by one. */
static const double MERGE_SECONDS = 0.05, MERGE_MOST = 0.5;
enum { MAX_TEXTS = 256 }; /* distinct texts kept; more are shown at once */

struct entry {
    char *text;    /* a rank's own message; NULL: a failure */
    char *program; /* of a failure */
    char *why;     /* the same; "" : nothing */
    struct failure_facts facts;
    pid_t pid; /* of the first rank */
    int first;
    bool after;           /* every rank that says this had found another gone before */
    unsigned char *ranks; /* bit set */
    int n;
};

static int nranks;
static const struct launch *job;
static struct entry entries[MAX_TEXTS];
static int nentries;
static double due, due_most;

static void wait_for_more(void)
{
    double t = now();
    if (due == 0)
        due_most = t + MERGE_MOST;
    due = t + MERGE_SECONDS < due_most ? t + MERGE_SECONDS : due_most;
}

void report_init(const struct launch *l)
{
    job = l;
    nranks = l->size;
}

static struct entry *new_entry(void)
{
    if (nentries == MAX_TEXTS)
        report_flush();
    struct entry *e = &entries[nentries++];
    *e = (struct entry){ .ranks = xalloc((size_t)nranks / 8 + 1, 1), .first = -1, .after = true };
    return e;
}

static void add_rank(struct entry *e, int rank, pid_t pid, bool after)
{
    if (!(e->ranks[rank / 8] & 1 << rank % 8))
        e->n++;
    e->ranks[rank / 8] |= (unsigned char)(1 << rank % 8);
    e->after = e->after && after;
    if (e->first < 0) {
        e->first = rank;
        e->pid = pid;
    }
}

/* Bytes of what a rank says before the place where that was (TRACE_FIRST). */
static size_t before_place(const char *text, size_t len)
{
    const char *place = memmem(text, len, TRACE_FIRST, sizeof TRACE_FIRST - 1);
    return place ? (size_t)(place - text) : len;
}

/* The same words at the same place; that of one may not be known, where many say much at once. */
static bool same_text(const struct entry *e, const char *text, size_t len)
{
    if (!e->text)
        return false;
    size_t own_len = strlen(e->text), own = before_place(e->text, own_len), head = before_place(text, len);
    bool known = own < own_len && head < len;
    return own == head && memcmp(e->text, text, head) == 0 &&
           (!known || (own_len == len && memcmp(e->text, text, len) == 0));
}

void report_text(int rank, const char *text, size_t len, bool after)
{
    struct entry *e = entries;
    while (len > 0 && text[len - 1] == '\n')
        len--;
    if (len == 0)
        return;
    while (e < entries + nentries && !same_text(e, text, len))
        e++;
    if (e == entries + nentries) {
        e = new_entry();
        e->text = xformat("%.*s", (int)len, text);
    }
    if (len > strlen(e->text)) {
        free(e->text);
        e->text = xformat("%.*s", (int)len, text);
    }
    add_rank(e, rank, 0, after);
    wait_for_more();
}

bool report_more(int rank, const char *text, size_t len)
{
    struct entry *e = entries;
    while (e < entries + nentries && !same_text(e, text, len))
        e++;
    if (e == entries + nentries)
        return false;
    add_rank(e, rank, 0, false);
    return true;
}

/* What is known besides, but for the first of several lines: addresses differ from rank to rank. */
static const char *common_words(const char *why)
{
    const char *line = why ? strchr(why, '\n') : NULL;
    return line ? line : why ? why : "";
}

static bool has_place(const char *why)
{
    return why && strstr(why, TRACE_FIRST);
}

static bool same_failure(const struct entry *e, const struct failure_facts *f)
{
    if (e->text)
        return false;
    bool unknown = has_place(e->why) ? !f->why : !*e->why && has_place(f->why); /* as in same_text */
    return e->facts.kind == f->kind && e->facts.value == f->value && e->facts.mpi == f->mpi &&
           (unknown || !strcmp(common_words(e->why), common_words(f->why))) &&
           !strcmp(e->program, f->program);
}

void report_failure(int rank, const struct failure_facts *facts, pid_t pid, bool after)
{
    struct entry *e = entries;
    while (e < entries + nentries && !same_failure(e, facts))
        e++;
    if (e == entries + nentries) {
        e = new_entry();
        e->facts = *facts;
        e->program = xformat("%s", facts->program);
        e->why = xformat("%s", facts->why ? facts->why : "");
    }
    if (!*e->why && has_place(facts->why)) {
        free(e->why);
        e->why = xformat("%s", facts->why);
    }
    e->facts.core = e->facts.core || facts->core;
    add_rank(e, rank, pid, after);
    wait_for_more();
}

/* Several hosts may be lost for one reason. */
enum { NAMES_SHOWN = 20 };
static struct lost_hosts {
    struct lost_hosts *next;
    char *why, *names;
    int n;
} * lost, **last_lost = &lost;

void report_host(const char *name, const char *why)
{
    struct lost_hosts *l = lost;
    while (l && strcmp(l->why, why) != 0)
        l = l->next;
    if (!l) {
        l = *last_lost = xalloc(1, sizeof *l);
        last_lost = &l->next;
        l->why = xformat("%s", why);
        l->names = xformat("%s", name);
        l->n = 1;
    } else if (++l->n <= NAMES_SHOWN) {
        char *more = xformat("%s, %s", l->names, name);
        free(l->names);
        l->names = more;
    }
    wait_for_more();
}

static void show_lost(void)
{
    while (lost) {
        struct lost_hosts *l = lost;
        char *line = l->n > NAMES_SHOWN
                         ? xformat("mpiexec: %s and %d more: %s\n", l->names, l->n - NAMES_SHOWN, l->why)
                         : xformat("mpiexec: %s: %s\n", l->names, l->why);
        output_message(line);
        free(line);
        lost = l->next;
        free(l->why);
        free(l->names);
        free(l);
    }
    last_lost = &lost;
}

double report_due(void)
{
    return due;
}

static void entry_free(struct entry *e)
{
    free(e->text);
    free(e->program);
    free(e->why);
    free(e->ranks);
}

void report_forget(int sig)
{
    int kept = 0;
    for (int i = 0; i < nentries; i++)
        if (!entries[i].text && entries[i].facts.kind == FAILED_SIGNAL && entries[i].facts.value == sig)
            entry_free(&entries[i]);
        else
            entries[kept++] = entries[i];
    nentries = kept;
}

char *rank_words(const unsigned char *bits, int n, int of)
{
    char *list = xformat(n > 1 ? "ranks " : "rank ");
    const char *comma = "";
    for (int i = 0; i < of; i++) {
        int last = i;
        while (last < of && bits[last / 8] & 1 << last % 8)
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

static char *rank_list(const struct entry *e)
{
    return rank_words(e->ranks, e->n, nranks);
}

static char *signal_text(const struct entry *e)
{
    const struct failure_facts *f = &e->facts;
    const char *name = sigabbrev_np(f->value), *what = sigdescr_np(f->value);
    return xformat("%s killed by signal %d (%s%s%s%s%s)%s%s", e->n > 1 ? "were" : "was", f->value,
                   name ? "SIG" : "", name ? name : "unknown", what ? ", " : "", what ? what : "",
                   f->core ? ", core dumped" : "", *e->why && *e->why != '\n' ? "; " : "", e->why);
}

static char *failure_text(const struct entry *e)
{
    switch (e->facts.kind) {
    case FAILED_SIGNAL:
        return signal_text(e);
    case FAILED_NOT_FINALIZED:
        return xformat("exited with 0 without calling MPI_Finalize (or MPI_Session_finalize)");
    default:
        return xformat("exited with code %d%s%s%s", e->facts.value,
                       e->facts.mpi ? " without calling MPI_Finalize (or MPI_Session_finalize)" : "",
                       *e->why ? ": " : "", e->why);
    }
}

/* The host of the first rank; where there are more, that is said. */
static const char *hosts_of(const struct entry *e)
{
    static char text[300];
    bool more = false;
    for (int i = 0; job->remote && i < nranks; i++)
        if (e->ranks[i / 8] & 1 << i % 8)
            more = more || job->node_of[i] != job->node_of[e->first];
    snprintf(text, sizeof text, "%s%s", launch_host(job, e->first), more ? " and others" : "");
    return text;
}

static void show(const struct entry *e)
{
    char *ranks = rank_list(e), *line;
    if (!e->text) {
        char *what = failure_text(e);
        const char *on = e->facts.goes_on ? "; the job goes on" : "";
        if (e->n > 1)
            line = xformat("mpiexec: %s (%s on %s; first rank %d, pid %d) %s%s\n", ranks, e->program,
                           hosts_of(e), e->first, e->pid, what, on);
        else
            line = xformat("mpiexec: %s (%s on %s, pid %d) %s%s\n", ranks, e->program, hosts_of(e), e->pid,
                           what, on);
        free(what);
    } else {
        line = xformat("%s: %s\n", ranks, e->text);
    }
    output_message(line);
    free(line);
    free(ranks);
}

/* All consequences but the first, in one line. */
static void show_rest(void)
{
    struct entry all = { .ranks = xalloc((size_t)nranks / 8 + 1, 1) };
    bool first = true;
    for (int i = 0; i < nentries; i++) {
        if (entries[i].after && !first)
            for (int r = 0; r < nranks; r++)
                if (entries[i].ranks[r / 8] & 1 << r % 8)
                    add_rank(&all, r, 0, true);
        first = first && !entries[i].after;
    }
    char *ranks = rank_list(&all),
         *line = xformat("mpiexec: %s failed, too, having found others gone\n", ranks);
    output_message(line);
    free(line);
    free(ranks);
    free(all.ranks);
}

void report_flush(void)
{
    int consequences = 0;
    due = 0;
    if (nentries || lost)
        output_catch_up();
    show_lost();
    for (int i = 0; i < nentries; i++)
        if (!entries[i].after)
            show(&entries[i]);
    for (int i = 0; i < nentries; i++)
        if (entries[i].after && (consequences++ == 0 || nentries == 2))
            show(&entries[i]);
    if (consequences > 1 && nentries > 2)
        show_rest();
    for (int i = 0; i < nentries; i++)
        entry_free(&entries[i]);
    nentries = 0;
}
