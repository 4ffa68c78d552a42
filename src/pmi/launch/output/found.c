/* SPDX-License-Identifier: BSD-3-Clause */
/* found.c: see found.h.
 *
 * Ranks that say the same of a fault are told in one line, with the other reports (report.c); those that say it
 * with other numbers in it have a line of their own, up to SHOWN of them.  A rank that is late is in the summary. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "found.h"
#include "pmi/launch/job/launch.h"
#include "output.h"
#include "report.h"

enum { SHOWN = 4 /* lines of a fault, with different numbers */ };

static int nranks;
static struct found *all, **last = &all;
static struct ku_fault_choice choice;
static int64_t passed_over; /* as they are suppressed */

/* What a rank has told, by its numbers. */
static struct rank {
    struct met {
        struct found *found;
        int64_t times;
    } * met;
    uint32_t room;
} * ranks;

void found_init(const struct launch *l)
{
    const char *words = l->check.words ? l->check.words : getenv("KEEL_CHECK");
    size_t len;
    nranks = l->size;
    ku_fault_choose(words ? words : "0", &choice, &len);
}

static struct found *found_find(const struct ku_fault_words *f)
{
    struct found *o = all;
    while (o && (o->kind != f->kind || strcmp(o->call, f->call) != 0 || strcmp(o->here, f->here) != 0 ||
                 strcmp(o->there, f->there) != 0))
        o = o->next;
    if (o)
        return o;
    o = *last = xalloc(1, sizeof *o);
    last = &o->next;
    *o = (struct found){ .kind = f->kind,
                         .call = xformat("%s", f->call),
                         .argument = xformat("%s", f->argument),
                         .here = xformat("%s", f->here),
                         .there = xformat("%s", f->there),
                         .text = xformat("%s", f->text) };
    o->ranks.bits = xalloc((size_t)nranks / 8 + 1, 1);
    return o;
}

static void found_add(struct found *o, int rank, int64_t times)
{
    unsigned char bit = (unsigned char)(1 << rank % 8);
    o->times += times;
    o->ranks.n += !(o->ranks.bits[rank / 8] & bit);
    o->ranks.bits[rank / 8] |= bit;
}

static void found_remember(int rank, uint32_t number, struct found *o)
{
    ranks = ranks ? ranks : xalloc((size_t)nranks, sizeof *ranks);
    struct rank *r = &ranks[rank];
    if (number >= r->room) {
        uint32_t room = (number | 15) + 1;
        r->met = xgrow(r->met, room, sizeof *r->met);
        memset(r->met + r->room, 0, (room - r->room) * sizeof *r->met);
        r->room = room;
    }
    r->met[number] = (struct met){ o, 1 };
}

/* A line that waits for others like it, or a new one. */
static void found_show(struct found *o, int rank, const struct ku_fault_words *f)
{
    char *line = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&line, &len);
    if (!out)
        return;
    ku_fault_show(out, f);
    if (fclose(out) == 0 && !report_more(rank, line, len) &&
        (o->texts == 0 || (o->texts < SHOWN && strcmp(o->text, f->text) != 0))) {
        report_text(rank, line, len, false);
        o->texts++;
    }
    free(line);
}

enum { NUMBERS_MOST = 1 << 16 /* of a rank */ };

void found_take(int rank, const char *bytes, size_t len)
{
    struct ku_fault_words f;
    char *copy = xformat("%.*s", (int)len, bytes);
    if (ku_fault_take(copy, &f) && f.number < NUMBERS_MOST) {
        struct found *o = suppressed(rank, &f) ? NULL : found_find(&f);
        passed_over += !o;
        found_remember(rank, f.number, o);
        if (o)
            found_add(o, rank, 1);
        if (o && !f.said)
            found_show(o, rank, &f);
    }
    free(copy);
}

void found_own(enum ku_fault_kind kind, int rank, const char *call, const char *place, const char *text)
{
    const struct ku_fault_words f = {
        .kind = kind, .said = true, .call = call, .argument = "", .here = place, .there = "", .text = text
    };
    if (choice.kind[kind] && !suppressed(rank, &f))
        found_add(found_find(&f), rank, 1);
}

void found_times(int rank, const char *bytes, size_t len)
{
    char text[64];
    unsigned number;
    long long times;
    snprintf(text, sizeof text, "%.*s", (int)len, bytes);
    if (sscanf(text, "%u %lld", &number, &times) != 2 || !ranks || number >= ranks[rank].room)
        return;
    struct met *m = &ranks[rank].met[number];
    if (m->found && times > m->times) {
        found_add(m->found, rank, times - m->times);
        m->times = times;
    }
}

const struct found *found_all(void)
{
    return all;
}

/* ---- the summary ---- */

/* What was found of a kind, or of a severity. */
struct sum {
    int faults;
    int64_t times;
    struct fault_ranks ranks;
};

static void found_sum_up(struct sum *s, const struct found *o)
{
    s->faults++;
    s->times += o->times;
    for (int i = 0; i < nranks / 8 + 1; i++)
        s->ranks.bits[i] |= o->ranks.bits[i];
}

static void found_show_kind(enum ku_fault_kind kind)
{
    struct sum s = { .ranks = { xalloc((size_t)nranks / 8 + 1, 1), 0 } };
    for (const struct found *o = all; o; o = o->next)
        if (o->kind == kind)
            found_sum_up(&s, o);
    for (int i = 0; i < nranks; i++)
        s.ranks.n += s.ranks.bits[i / 8] >> i % 8 & 1;
    if (s.faults > 0) {
        char *who = rank_words(s.ranks.bits, s.ranks.n, nranks);
        char *line = xformat("mpiexec:   %s %s: %d place%s, %lld time%s%s%s\n",
                             ku_severity_names[ku_fault_rows[kind].severity], ku_fault_rows[kind].name,
                             s.faults, plural(s.faults), (long long)s.times, plural(s.times),
                             s.ranks.n ? ", " : "", s.ranks.n ? who : "");
        output_message(line);
        free(line);
        free(who);
    }
    free(s.ranks.bits);
}

/* Of mpiexec itself, and of no rank. */
static void found_tell_unused(const char *place, const char *text)
{
    const struct ku_fault_words f = { .kind = KU_FAULT_UNUSED_SUPPRESSION,
                                      .call = "mpiexec",
                                      .argument = "",
                                      .here = place,
                                      .there = "",
                                      .text = text };
    char *line = NULL;
    size_t len;
    FILE *out = choice.kind[f.kind] ? open_memstream(&line, &len) : NULL;
    if (!out)
        return;
    found_find(&f)->times++;
    ku_fault_show(out, &f);
    if (fclose(out) == 0)
        say("%s", line);
    free(line);
}

bool found_end(void)
{
    int n[KU_SEVERITIES] = { 0 };
    suppress_unused(found_tell_unused);
    for (const struct found *o = all; o; o = o->next)
        n[ku_fault_rows[o->kind].severity]++;
    if (!all)
        return false;
    char *line = xformat("mpiexec: -check has found");
    const char *comma = " ";
    for (int s = KU_SEVERITIES; s-- > 0;)
        if (n[s] > 0) {
            char *more = xformat("%s%s%d %s%s", line, comma, n[s], ku_severity_names[s], plural(n[s]));
            free(line);
            line = more;
            comma = ", ";
        }
    char *full =
        passed_over ? xformat("%s (and passed over %lld by -check-suppress):\n", line, (long long)passed_over)
                    : xformat("%s:\n", line);
    output_message(full);
    free(full);
    free(line);
    for (int s = KU_SEVERITIES; s-- > 0;)
        for (int k = 0; k < KU_FAULT_KINDS; k++)
            if ((int)ku_fault_rows[k].severity == s)
                found_show_kind((enum ku_fault_kind)k);
    return n[KU_ERROR] > 0 && !choice.keep_exit;
}
