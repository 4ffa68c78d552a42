/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_sum.c: see profile_report.h: what ranks' tables say, kept and put together. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/frames/frame_pack.h"
#include "pmi/launch/job/launch.h"
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/output/output.h"
#include "profile_report.h"

const char *const prof_whys[] = { "?", "late sender", "late receiver", "late for the collective" };
static struct prof_rank *ranks; /* [size] */

/* ---- What a rank says ---- */

static void get_sum(struct unpack *u, struct ku_profiled_sum *s)
{
    s->calls = (uint64_t)get_int(u);
    s->ns = (uint64_t)get_int(u);
    s->waited = (uint64_t)get_int(u);
    s->late = (uint64_t)get_int(u);
    s->bytes = (uint64_t)get_int(u);
}

static void get_named(struct unpack *u, struct prof_named **all, int *n, bool comm)
{
    for (char *name; !u->wrong && (name = get_text(u)) != NULL;) {
        *all = xgrow(*all, (size_t)*n + 1, sizeof **all);
        struct prof_named *c = &(*all)[(*n)++];
        *c = (struct prof_named){ .name = name };
        if (comm) {
            c->context = (uint32_t)get_int(u);
            c->use = (uint32_t)get_int(u);
            c->first = get_range(u, 0, INT_MAX);
            c->size = get_range(u, 0, INT_MAX);
        }
        get_sum(u, &c->sum);
    }
}

static void get_sites(struct unpack *u, struct prof_rank *r)
{
    for (char *call; !u->wrong && (call = get_text(u)) != NULL;) {
        r->site = xgrow(r->site, (size_t)r->nsites + 1, sizeof *r->site);
        struct prof_place *s = &r->site[r->nsites++];
        *s = (struct prof_place){ .call = call, .place = get_text(u) };
        s->number = get_range(u, 0, KU_PROFILED_SITES);
        s->most = (uint64_t)get_int(u);
        get_sum(u, &s->sum);
        s->place = s->place ? s->place : xformat("?");
    }
}

static void get_peers(struct unpack *u, struct prof_rank *r)
{
    int most = crew.launch->size - 1;
    for (int peer; !u->wrong && (peer = get_range(u, -1, most)) >= 0;) {
        r->wait = xgrow(r->wait, (size_t)r->nwaits + 1, sizeof *r->wait);
        struct prof_wait *w = &r->wait[r->nwaits++];
        *w = (struct prof_wait){ .peer = peer };
        w->site = get_range(u, -1, KU_PROFILED_SITES);
        w->why = get_range(u, 0, KU_LATE_COLLECTIVE);
        w->stream = (uint32_t)get_int(u);
        w->n = (uint64_t)get_int(u);
        w->ns = (uint64_t)get_int(u);
        w->most = (uint64_t)get_int(u);
    }
    for (int peer; !u->wrong && (peer = get_range(u, -1, most)) >= 0;) {
        r->pair = xgrow(r->pair, (size_t)r->npairs + 1, sizeof *r->pair);
        struct prof_pair *q = &r->pair[r->npairs++];
        *q = (struct prof_pair){ .peer = peer };
        q->site = get_range(u, -1, KU_PROFILED_SITES);
        q->stream = (uint32_t)get_int(u);
        q->device = get_text(u);
        q->n = (uint64_t)get_int(u);
        q->bytes = (uint64_t)get_int(u);
        q->device = q->device ? q->device : xformat("?");
    }
}

static void prof_free(struct prof_rank *r)
{
    for (int i = 0; i < r->ncalls; i++)
        free(r->call[i].name);
    for (int i = 0; i < r->ncomms; i++)
        free(r->comm[i].name);
    for (int i = 0; i < r->nsites; i++) {
        free(r->site[i].call);
        free(r->site[i].place);
    }
    for (int i = 0; i < r->npairs; i++)
        free(r->pair[i].device);
    free(r->call);
    free(r->comm);
    free(r->site);
    free(r->wait);
    free(r->pair);
    *r = (struct prof_rank){ .there = false };
}

bool prof_take(int rank, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    struct prof_rank r = { .there = true };
    ranks = ranks ? ranks : xalloc((size_t)crew.launch->size, sizeof *ranks);
    r.ended = get_range(&u, 0, 1) != 0;
    r.ran = (uint64_t)get_int(&u);
    r.inside_for = (uint64_t)get_int(&u);
    r.inside = get_range(&u, -1, KU_PROFILED_SITES);
    r.memory = (uint64_t)get_int(&u);
    r.lost = (uint64_t)get_int(&u);
    get_sum(&u, &r.all);
    for (int i = 0; i < KU_PROFILED_CLASSES; i++) {
        r.sent[i] = (uint64_t)get_int(&u);
        get_sum(&u, &r.by_class[i]);
    }
    get_named(&u, &r.call, &r.ncalls, false);
    get_named(&u, &r.comm, &r.ncomms, true);
    get_sites(&u, &r);
    get_peers(&u, &r);
    if (u.wrong || u.at != u.end) {
        prof_free(&r);
        return false;
    }
    const struct prof_rank *old = &ranks[rank];
    r.ran = r.ran < old->ran ? old->ran : r.ran; /* of one that was killed its last call is known */
    r.memory = r.memory < old->memory ? old->memory : r.memory;
    prof_free(&ranks[rank]);
    ranks[rank] = r;
    return true;
}

const struct prof_place *prof_place_of(const struct prof_rank *r, int number)
{
    int from = 0, to = r->nsites;
    while (from < to) { /* they come in this order */
        int at = (from + to) / 2;
        if (r->site[at].number == number)
            return &r->site[at];
        if (r->site[at].number < number)
            from = at + 1;
        else
            to = at;
    }
    return NULL;
}

const char *prof_class(int class, char text[16])
{
    static const char unit[] = " KMG";
    int shift = class > 0 ? class - 1 : 0, u = shift / 10;
    if (class == 0)
        snprintf(text, 16, "0");
    else if (u == 0)
        snprintf(text, 16, "%d", 1 << shift);
    else
        snprintf(text, 16, "%d %c", 1 << shift % 10, unit[u]);
    return text;
}

/* ---- All together ---- */

static void prof_total_add(struct prof_total *t, const struct ku_profiled_sum *s, uint64_t longest, int rank)
{
    prof_add(&t->sum, s);
    t->longest = t->longest < longest ? longest : t->longest;
    if (t->ranks == 0 || s->ns > t->most_ns) {
        t->most_ns = s->ns;
        t->most_rank = rank;
    }
    if (t->ranks == 0 || s->ns < t->least_ns) {
        t->least_ns = s->ns;
        t->least_rank = rank;
    }
    t->ranks++;
}

/* The row with the same words and numbers, or a new one. */
static struct prof_total *prof_row(struct prof_total **all, int *n, const struct prof_total *like)
{
    for (int i = 0; i < *n; i++) {
        const struct prof_total *t = &(*all)[i];
        if (t->context == like->context && t->use == like->use && t->size == like->size &&
            strcmp(t->name, like->name) == 0 && (!like->place || strcmp(t->place, like->place) == 0))
            return &(*all)[i];
    }
    *all = xgrow(*all, (size_t)*n + 1, sizeof **all);
    (*all)[*n] = *like;
    return &(*all)[(*n)++];
}

static void prof_add_rank(struct prof_all *a, int rank)
{
    const struct prof_rank *r = &ranks[rank];
    a->there++;
    a->ran += r->ran;
    prof_add(&a->all, &r->all);
    for (int i = 0; i < r->ncalls; i++) {
        struct prof_total like = { .name = r->call[i].name };
        prof_total_add(prof_row(&a->call, &a->ncalls, &like), &r->call[i].sum, 0, rank);
    }
    for (int i = 0; i < r->ncomms; i++) {
        const struct prof_named *c = &r->comm[i];
        struct prof_total like = { .name = c->name, .context = c->context, .use = c->use, .size = c->size };
        prof_total_add(prof_row(&a->comm, &a->ncomms, &like), &c->sum, 0, rank);
    }
    for (int i = 0; i < r->nsites; i++) {
        const struct prof_place *s = &r->site[i];
        struct prof_total like = { .name = s->call, .place = s->place };
        if (s->sum.calls > 0)
            prof_total_add(prof_row(&a->site, &a->nsites, &like), &s->sum, s->most, rank);
    }
}

/* Where the late one was.  Of a collective it has said so; of a message it is the place from which it sends most of
 * that kind, which its own table has. */
static const struct prof_place *prof_there(int rank, const struct prof_wait *w)
{
    const struct prof_rank *peer = &ranks[w->peer];
    const struct prof_pair *best = NULL;
    if (!peer->there)
        return NULL;
    if (w->why == KU_LATE_COLLECTIVE)
        return prof_place_of(peer, (int)w->stream - 1);
    if (w->why != KU_LATE_SENDER)
        return NULL;
    for (int i = 0; i < peer->npairs; i++) {
        const struct prof_pair *q = &peer->pair[i];
        bool fits = q->peer == rank && q->site >= 0 && (w->stream == 0 || q->stream == w->stream);
        if (fits && (!best || q->n > best->n))
            best = q;
    }
    return best ? prof_place_of(peer, best->site) : NULL;
}

static bool is_same_place(const struct prof_place *a, const struct prof_place *b)
{
    return a == b || (a && b && strcmp(a->call, b->call) == 0 && strcmp(a->place, b->place) == 0);
}

/* Of a collective all that have waited at one place for a rank are one row; of messages each rank has its own, which
 * begin at `from`. */
static void prof_blame(struct prof_all *a, int from, int rank, const struct prof_wait *w)
{
    struct prof_culprit c = { .why = w->why,
                              .rank = rank,
                              .peer = w->peer,
                              .ranks = 1,
                              .here = prof_place_of(&ranks[rank], w->site),
                              .there = prof_there(rank, w),
                              .n = w->n,
                              .ns = w->ns,
                              .most = w->most };
    a->caused[w->peer] += w->ns;
    for (int i = from; i < a->nculprits; i++) {
        struct prof_culprit *o = &a->culprit[i];
        if (o->why != c.why || o->peer != c.peer || (o->rank != rank && c.why != KU_LATE_COLLECTIVE) ||
            !is_same_place(o->here, c.here) || !is_same_place(o->there, c.there))
            continue;
        o->ranks += o->rank != rank;
        o->n = c.why == KU_LATE_COLLECTIVE && o->rank != rank ? (o->n > c.n ? o->n : c.n) : o->n + c.n;
        o->ns += c.ns;
        if (c.most > o->most) {
            o->most = c.most;
            o->rank = rank;
        }
        return;
    }
    a->culprit = xgrow(a->culprit, (size_t)a->nculprits + 1, sizeof *a->culprit);
    a->culprit[a->nculprits++] = c;
}

static void prof_blame_of(struct prof_all *a, int rank, bool collectives)
{
    int from = collectives ? 0 : a->nculprits;
    for (int k = 0; k < ranks[rank].nwaits; k++)
        if ((ranks[rank].wait[k].why == KU_LATE_COLLECTIVE) == collectives)
            prof_blame(a, from, rank, &ranks[rank].wait[k]);
}

static int prof_by_time(const void *a, const void *b)
{
    const struct prof_total *x = a, *y = b;
    return x->sum.ns < y->sum.ns ? 1 : x->sum.ns > y->sum.ns ? -1 : strcmp(x->name, y->name);
}

static int prof_by_wait(const void *a, const void *b)
{
    const struct prof_culprit *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : x->rank - y->rank;
}

static void prof_sort(struct prof_all *a)
{
    if (a->ncalls > 0)
        qsort(a->call, (size_t)a->ncalls, sizeof *a->call, prof_by_time);
    if (a->ncomms > 0)
        qsort(a->comm, (size_t)a->ncomms, sizeof *a->comm, prof_by_time);
    if (a->nsites > 0)
        qsort(a->site, (size_t)a->nsites, sizeof *a->site, prof_by_time);
    if (a->nculprits > 0)
        qsort(a->culprit, (size_t)a->nculprits, sizeof *a->culprit, prof_by_wait);
}

/* ---- Writing ---- */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

static void prof_put(FILE *out, const char *name, const struct prof_all *a)
{
    if (has_suffix(name, ".json"))
        prof_json(out, a);
    else if (has_suffix(name, ".html"))
        prof_html(out, a);
    else
        prof_text(out, a);
}

/* A reader of the file finds the old page, or the new one. */
static bool prof_file(const char *name, const struct prof_all *a)
{
    char *new = xformat("%s.new-%d", name, getpid());
    FILE *out = fopen(new, "we");
    bool ok = out != NULL;
    if (out) {
        prof_put(out, name, a);
        ok = !ferror(out);
        ok = fclose(out) == 0 && ok && rename(new, name) == 0;
    }
    if (!ok) {
        int why = errno;
        unlink(new);
        say("warning: the profile cannot be written to %s: %s", name, strerror(why));
    }
    free(new);
    return ok;
}

static void prof_stderr(const struct prof_all *a)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (out) {
        prof_text(out, a);
        if (fclose(out) == 0)
            output_message(text);
    }
    free(text);
}

bool prof_write(const struct launch *l)
{
    struct prof_all a = { .launch = l, .rank = ranks, .size = l->size };
    bool ok = true;
    a.caused = xalloc((size_t)l->size, sizeof *a.caused);
    for (int i = 0; ranks && i < l->size; i++)
        if (ranks[i].there)
            prof_add_rank(&a, i);
    for (int i = 0; ranks && i < l->size; i++)
        prof_blame_of(&a, i, true);
    for (int i = 0; ranks && i < l->size; i++)
        prof_blame_of(&a, i, false);
    prof_sort(&a);
    for (int i = 0; a.there > 0 && i < l->profile.nfiles; i++)
        if (strcmp(l->profile.file[i], "-") == 0)
            prof_stderr(&a);
        else
            ok = prof_file(l->profile.file[i], &a) && ok;
    free(a.caused);
    free(a.call);
    free(a.comm);
    free(a.site);
    free(a.culprit);
    return ok;
}
