/* SPDX-License-Identifier: BSD-3-Clause */
/* published.c: see published.h. */
#include "published.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/launch.h"
#include "util/err.h"
#include "util/publish.h"

enum { KEEPER = 0, MOST = 1 << 16 /* names of a job */ };
static const double AGAIN_SECONDS = 0.02; /* until another job is looked at for names that are waited for */
/* Names to be read once are for this job, but one that nobody has read for so long is shown to others, without
 * what was published: who waits for it in another job waits in vain, and is told so. */
static const double APART_SECONDS = 0.3;
static const char apart[] = "once "; /* before such a name */
/* Two jobs that wait for each other's names are both told.  So a job that has met such a name of another shows its
 * own at once, publishes that it has met it, and refuses its rank when the other job has met its names, too, or
 * has ended: a job that is refused may end soon, and its names with it. */
static const char met[] = "met "; /* before a name that this job has met */
static const double MET_SECONDS = 5;

struct entry {
    struct entry *next;
    char *name, *bytes;
    uint32_t rank, len;
    struct ku_published *shown; /* to other jobs; NULL */
    bool once;
    double show_at; /* once: when it is shown; 0: it has been */
};

/* Somebody waits for names. */
struct waiting {
    struct waiting *next;
    int from;
    uint32_t id, need;
    char **name;   /* ends with NULL */
    double due;    /* 0: never */
    double met_at; /* one of the names in another job, which shows it without its bytes; 0: none */
};

static struct entry *entries;
static int nentries;
static struct waiting *waitings;

void names_ask(enum names_what what, const struct pack *body, share_done *done, void *arg)
{
    share_ask(KEEPER, what, body->bytes, body->len, done, arg);
}

/* ---- bodies ---- */

void names_put(struct pack *p, const char *name, const void *bytes, size_t len)
{
    put_text(p, name);
    put_u32(p, (uint32_t)len);
    put_bytes(p, bytes, len);
}

/* The unpack is wrong if they are not there. */
static const char *get_piece(struct unpack *u, uint32_t *len)
{
    const char *bytes = u->at + sizeof *len;
    *len = get_u32(u);
    u->wrong = u->wrong || *len > (size_t)(u->end - u->at);
    if (u->wrong)
        *len = 0;
    else
        u->at += *len;
    return bytes;
}

void names_get(struct unpack *u, struct name *n)
{
    n->name = get_text(u);
    n->rank = get_u32(u);
    n->bytes = get_piece(u, &n->len);
    if (u->wrong) {
        free(n->name);
        n->name = NULL;
    }
}

static void free_names(char **name)
{
    for (char **n = name; n && *n; n++)
        free(*n);
    free(name);
}

/* A list that ends with NULL; NULL: it is wrong. */
static char **get_names(struct unpack *u)
{
    uint32_t n = get_u32(u);
    if (u->wrong || n > MOST)
        return NULL;
    char **name = xalloc((size_t)n + 1, sizeof *name);
    for (uint32_t i = 0; i < n && !u->wrong; i++) {
        name[i] = get_text(u);
        u->wrong = u->wrong || !name[i];
    }
    if (!u->wrong && u->at == u->end)
        return name;
    free_names(name);
    return NULL;
}

/* ---- what is kept ---- */

static struct entry **find(const char *name)
{
    struct entry **e = &entries;
    while (*e && strcmp((*e)->name, name) != 0)
        e = &(*e)->next;
    return e;
}

static void drop(struct entry **at)
{
    struct entry *e = *at;
    *at = e->next;
    nentries--;
    if (e->shown)
        ku_publish_withdraw(e->shown);
    free(e->name);
    free(e->bytes);
    free(e);
}

/* Of another job: its bytes, to be freed, from `at` on; NULL: there is none. */
static char *look_at_others(const char *name, uint32_t *rank, const char **at, uint32_t *len)
{
    char *bytes;
    size_t all;
    if (ku_publish_look_up(name, &bytes, &all) != 0)
        return NULL;
    struct unpack u = { bytes, bytes + all, false };
    *rank = get_u32(&u);
    *at = u.at;
    *len = (uint32_t)(u.end - u.at);
    if (!u.wrong && all < SHARE_MOST / 2)
        return bytes;
    free(bytes);
    *at = NULL;
    return NULL;
}

static bool put_found(struct pack *p, const char *name)
{
    const struct entry *e = *find(name);
    uint32_t rank = e ? e->rank : 0, len = e ? e->len : 0;
    const char *at = e ? e->bytes : NULL;
    char *others = e ? NULL : look_at_others(name, &rank, &at, &len);
    if (at) {
        put_text(p, name);
        put_u32(p, rank);
        put_u32(p, len);
        put_bytes(p, at, len);
    }
    free(others);
    return at != NULL;
}

static void drop_once(char *const *name)
{
    for (struct entry **e; *name; name++)
        if (*(e = find(*name)) && (*e)->once)
            drop(e);
}

static bool answer_if_there(int from, uint32_t id, char *const *name, uint32_t need, int none)
{
    struct pack p = { 0 };
    uint32_t found = 0;
    for (char *const *n = name; *n; n++)
        found += put_found(&p, *n);
    bool answers = found >= need;
    if (answers) {
        drop_once(name);
        share_answer(from, id, found ? NAMES_OK : none, p.bytes, p.len);
    }
    free(p.bytes);
    return answers;
}

static void let_go(struct waiting **at)
{
    struct waiting *w = *at;
    *at = w->next;
    free_names(w->name);
    free(w);
}

static void look_at_waiting(void)
{
    for (struct waiting **at = &waitings; *at;)
        if (answer_if_there((*at)->from, (*at)->id, (*at)->name, (*at)->need, NAMES_NONE))
            let_go(at);
        else
            at = &(*at)->next;
}

static bool is_published(const char *before, const char *name)
{
    char *shown = xformat("%s%s", before, name), *bytes = NULL;
    size_t len;
    bool is = ku_publish_look_up(shown, &bytes, &len) == 0;
    free(bytes);
    free(shown);
    return is;
}

static const char *find_apart(char *const *name)
{
    while (*name && (*find(*name) || !is_published(apart, *name)))
        name++;
    return *name;
}

static void show_apart(struct entry *e)
{
    char *name = xformat("%s%s", apart, e->name);
    e->show_at = 0;
    ku_publish(name, "", 0, &e->shown); /* if that fails, who waits goes on */
    free(name);
}

static void show_those_apart(double t)
{
    for (struct entry *e = entries; e; e = e->next)
        if (e->show_at && t >= e->show_at)
            show_apart(e);
}

/* Until this job ends. */
static void publish_met(const char *name)
{
    char *text = xformat("%s%s", met, name);
    if (*find(text) || nentries == MOST) {
        free(text);
        return;
    }
    struct entry *e = xalloc(1, sizeof *e);
    *e = (struct entry){ .next = entries, .name = text, .bytes = xalloc(1, 1), .rank = UINT32_MAX };
    entries = e;
    nentries++;
    ku_publish(text, "", 0, &e->shown);
}

static bool others_have_met_ours(void)
{
    for (const struct entry *e = entries; e; e = e->next)
        if (e->once && e->shown && !is_published(met, e->name))
            return false;
    return true;
}

static void refuse(struct waiting **at)
{
    say("a rank waits for one of another mpiexec's (MPI_Comm_connect, MPI_Comm_accept): ranks that are "
        "served PMIx meet only those that the same mpiexec serves, and what these have spawned; use "
        "Keel's library (without --abi=none), or one mpiexec with two sections");
    share_answer((*at)->from, (*at)->id, NAMES_APART, NULL, 0);
    let_go(at);
}

static void refuse_those_apart(double t)
{
    for (struct waiting **at = &waitings; *at;) {
        struct waiting *w = *at;
        const char *name = find_apart(w->name);
        if (name && !w->met_at) {
            w->met_at = t;
            publish_met(name);
            show_those_apart(INFINITY);
        }
        if (w->met_at && (!name || t >= w->met_at + MET_SECONDS || others_have_met_ours()))
            refuse(at);
        else
            at = &w->next;
    }
}

double names_due(void)
{
    double due = waitings ? now() + AGAIN_SECONDS : 0;
    for (const struct waiting *w = waitings; w; w = w->next)
        if (w->due && w->due < due)
            due = w->due;
    for (const struct entry *e = entries; e; e = e->next)
        if (e->show_at && (!due || e->show_at < due))
            due = e->show_at;
    return due;
}

void names_on_time(void)
{
    double t = now();
    look_at_waiting();
    show_those_apart(t);
    refuse_those_apart(t);
    for (struct waiting **at = &waitings; *at;)
        if ((*at)->due && t >= (*at)->due) {
            answer_if_there((*at)->from, (*at)->id, (*at)->name, 0, NAMES_LATE);
            let_go(at);
        } else {
            at = &(*at)->next;
        }
}

void names_end(void)
{
    while (entries)
        drop(&entries);
    while (waitings)
        let_go(&waitings);
}

/* ---- questions ---- */

static bool look_up(int from, uint32_t id, struct unpack *u)
{
    uint32_t need = get_u32(u), seconds = get_u32(u), n = 0;
    char **name = get_names(u);
    while (name && name[n])
        n++;
    if (!name || need > n) {
        free_names(name);
        return false;
    }
    if (answer_if_there(from, id, name, need, NAMES_NONE)) {
        free_names(name);
        return true;
    }
    struct waiting *w = xalloc(1, sizeof *w);
    *w = (struct waiting){ .next = waitings,
                           .from = from,
                           .id = id,
                           .need = need,
                           .name = name,
                           .due = seconds ? now() + seconds : 0 };
    waitings = w;
    return true;
}

/* Where it cannot be shown to other jobs it is known to this one; so are names that are too long for it. */
static enum names_status show(struct entry *e)
{
    struct pack p = { 0 };
    put_u32(&p, e->rank);
    put_bytes(&p, e->bytes, e->len);
    int err = ku_publish(e->name, p.bytes, p.len, &e->shown);
    if (err && err != EEXIST && err != EINVAL)
        say("note: a name that rank %u has published is known to its own job only: %s", e->rank,
            ku_err_last()->text);
    free(p.bytes);
    return err == EEXIST ? NAMES_TAKEN : NAMES_OK;
}

static enum names_status add(uint32_t rank, uint32_t how, struct name *n)
{
    if (*find(n->name) || nentries == MOST) {
        free(n->name);
        return NAMES_TAKEN;
    }
    struct entry *e = xalloc(1, sizeof *e);
    *e = (struct entry){ .next = entries,
                         .name = n->name,
                         .bytes = xalloc(n->len, 1),
                         .rank = rank,
                         .len = n->len,
                         .once = (how & NAMES_ONCE) != 0,
                         .show_at = how & NAMES_ONCE ? now() + APART_SECONDS : 0 };
    if (n->len > 0)
        memcpy(e->bytes, n->bytes, n->len);
    entries = e;
    nentries++;
    enum names_status s = how == NAMES_FOR_ALL ? show(e) : NAMES_OK;
    if (s != NAMES_OK)
        drop(&entries);
    return s;
}

/* All of them, or none. */
static bool publish(int from, uint32_t id, struct unpack *u)
{
    uint32_t rank = get_u32(u), how = get_u32(u), n = get_u32(u), added = 0;
    enum names_status status = NAMES_OK;
    for (uint32_t i = 0; i < n && !u->wrong && status == NAMES_OK; i++) {
        struct name one = { .name = get_text(u) };
        one.bytes = get_piece(u, &one.len);
        u->wrong = u->wrong || !one.name;
        if (u->wrong)
            free(one.name);
        else
            status = add(rank, how, &one);
        added += !u->wrong && status == NAMES_OK;
    }
    bool ok = !u->wrong && (status != NAMES_OK || u->at == u->end);
    for (; added > 0 && (!ok || status != NAMES_OK); added--)
        drop(&entries);
    if (!ok)
        return false;
    share_answer(from, id, status, NULL, 0);
    look_at_waiting();
    return true;
}

static bool withdraw(int from, uint32_t id, struct unpack *u)
{
    uint32_t rank = get_u32(u);
    char **name = get_names(u);
    int before = nentries;
    if (!name)
        return false;
    for (char **n = name; *n; n++)
        if (*find(*n))
            drop(find(*n));
    for (struct entry **e = &entries; !*name && *e;)
        if ((*e)->rank == rank)
            drop(e);
        else
            e = &(*e)->next;
    bool none = *name && nentries == before;
    free_names(name);
    share_answer(from, id, none ? NAMES_NONE : NAMES_OK, NULL, 0);
    return true;
}

bool names_asked(int from, uint32_t id, int what, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    return what == NAMES_PUBLISH   ? publish(from, id, &u)
           : what == NAMES_LOOK_UP ? look_up(from, id, &u)
                                   : what == NAMES_WITHDRAW && withdraw(from, id, &u);
}
