/* SPDX-License-Identifier: BSD-3-Clause */
/* talk.c: see talk.h.
 *
 * Each rank begins with the line cmd=init, which says the version; version 1 goes on with lines, version 2 with
 * frames.  All keys of the job are in one space, and are there as soon as they are put; those of other hosts after
 * the next fence. */
#include "talk.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/launch.h"
#include "pmi/launch/frames/frame_pack.h"
#include "pmi/words.h"
#include "talk_spawn.h"

enum {
    KEY = 64,          /* as get_maxes tells */
    VALUE = 1024,      /* likewise */
    ANSWER = 4096,     /* the longest answer: a value, of which every letter may be doubled, and words */
    REQUEST = 1 << 16, /* the longest frame, which has the arguments of a spawn */
    MAPPING = 1000,    /* a value, too */
    VALUES = 1 << 22,  /* keys of a job: more are nonsense */
};

struct pair {
    struct pair *next;
    char *key, *value;
    bool news; /* for other hosts at the next fence */
};

struct client {
    int version;        /* 0: it has not said */
    bool waits;         /* in the barrier */
    bool asks;          /* for a name */
    bool waits_for_job; /* which it spawns */
    struct spawn_words spawn;
    enum talk_name what;
    bool bad;
    char *in;
    size_t have, cap;
    char thread[32]; /* "thrid=N;" of the request that is answered, or of the barrier's */
};

static struct talk {
    const struct talk_job *job;
    struct client *clients;
    struct pair **table;
    size_t nbuckets, npairs;
    int waiting, here; /* ranks in the barrier; ranks that talk here */
    char space[32], mapping[MAPPING];
} talk;

/* ---- keys and values ---- */

static size_t bucket_of(const char *key, size_t n)
{
    uint64_t hash = 14695981039346656037u;
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    return hash & (n - 1);
}

static struct pair *find(const char *key)
{
    struct pair *p = talk.table[bucket_of(key, talk.nbuckets)];
    while (p && strcmp(p->key, key) != 0)
        p = p->next;
    return p;
}

static void grow(void)
{
    size_t n = 2 * talk.nbuckets;
    struct pair **table = xalloc(n, sizeof *table);
    for (size_t i = 0; i < talk.nbuckets; i++)
        for (struct pair *p = talk.table[i], *next; p; p = next) {
            next = p->next;
            p->next = table[bucket_of(p->key, n)];
            table[bucket_of(p->key, n)] = p;
        }
    free(talk.table);
    talk.table = table;
    talk.nbuckets = n;
}

/* A line must end where it says; so must each letter be one that can be printed. */
static bool is_text(const char *text)
{
    while (*text && (unsigned char)*text >= ' ' && *text != 127)
        text++;
    return !*text;
}

static bool put(const char *key, const char *value, bool news)
{
    if (!is_text(key) || !is_text(value))
        return false;
    struct pair *p = find(key);
    if (!p && talk.npairs == VALUES)
        return false;
    if (!p) {
        if (++talk.npairs > talk.nbuckets)
            grow();
        struct pair **at = &talk.table[bucket_of(key, talk.nbuckets)];
        p = xalloc(1, sizeof *p);
        *p = (struct pair){ .next = *at, .key = xformat("%s", key) };
        *at = p;
    }
    free(p->value);
    p->value = xformat("%s", value);
    p->news = news;
    return true;
}

/* Where the ranks are, as (vector,(first node,nodes,ranks on each),...); "" if that takes too long a value. */
static void map(char *to, size_t cap)
{
    const struct talk_job *j = talk.job;
    size_t n = (size_t)snprintf(to, cap, "(vector");
    for (int rank = 0; rank < j->size && n < cap;) {
        int first = j->node_of[rank], each = 0, nodes = 0;
        while (rank + each < j->size && j->node_of[rank + each] == first)
            each++;
        for (bool same = true; same; nodes += same) /* as many on the next node, and on the one behind it */
            for (int i = 0; i < each; i++)
                same = same && rank + nodes * each + i < j->size &&
                       j->node_of[rank + nodes * each + i] == first + nodes;
        n += (size_t)snprintf(to + n, cap - n, ",(%d,%d,%d)", first, nodes, each);
        rank += nodes * each;
    }
    if (n < cap)
        n += (size_t)snprintf(to + n, cap - n, ")");
    if (n >= cap)
        *to = 0;
}

static void put_lines(const char *at)
{
    char key[KEY], value[VALUE];
    while (at && *at && pmi_next_word(&at, '\n', key, sizeof key, value, sizeof value))
        put(key, value, false);
}

void talk_begin(const struct talk_job *job)
{
    talk = (struct talk){ .job = job, .nbuckets = 64 };
    talk.clients = xalloc((size_t)job->size, sizeof *talk.clients);
    talk.table = xalloc(talk.nbuckets, sizeof *talk.table);
    for (int i = 0; i < job->size; i++)
        talk.here += job->host < 0 || job->node_of[i] == job->host;
    snprintf(talk.space, sizeof talk.space, "keel-%016" PRIx64, job->id);
    map(talk.mapping, sizeof talk.mapping);
    put_lines(job->put);
}

void talk_end(void)
{
    for (size_t i = 0; i < talk.nbuckets; i++)
        for (struct pair *p = talk.table[i], *next; p; p = next) {
            next = p->next;
            free(p->key);
            free(p->value);
            free(p);
        }
    for (int i = 0; i < talk.job->size; i++) {
        free(talk.clients[i].in);
        talk_spawn_free(&talk.clients[i].spawn);
    }
    free(talk.table);
    free(talk.clients);
    talk = (struct talk){ 0 };
}

static const char *value_of(const char *key)
{
    if (strcmp(key, "PMI_process_mapping") == 0)
        return *talk.mapping ? talk.mapping : NULL;
    const struct pair *p = find(key);
    return p ? p->value : NULL;
}

/* ---- answers ---- */

static void answer(int rank, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* In the form that the rank's version has: words with their separators come from the caller. */
static void answer(int rank, const char *fmt, ...)
{
    char text[PMI_FRAME_HEAD + ANSWER];
    va_list args;
    va_start(args, fmt);
    size_t len = (size_t)vsnprintf(text + PMI_FRAME_HEAD, ANSWER - 1, fmt, args);
    va_end(args);
    if (talk.clients[rank].version == 2) {
        pmi_frame_head(text, len);
        talk.job->send(rank, text, PMI_FRAME_HEAD + len);
    } else {
        text[PMI_FRAME_HEAD + len] = '\n';
        talk.job->send(rank, text + PMI_FRAME_HEAD, len + 1);
    }
}

static void let_out(void)
{
    talk.waiting = 0;
    for (int i = 0; i < talk.job->size; i++) {
        struct client *c = &talk.clients[i];
        bool waits = c->waits;
        c->waits = false;
        if (waits && c->version == 2)
            answer(i, "cmd=kvs-fence-response;%src=0;", c->thread);
        else if (waits)
            answer(i, "cmd=barrier_out");
    }
}

bool talk_fenced(const void *bytes, size_t len)
{
    struct unpack u = { bytes, (const char *)bytes + len, false };
    while (u.at < u.end && !u.wrong) {
        char *key = get_text(&u), *value = get_text(&u);
        u.wrong = u.wrong || !key || !value || strlen(key) >= KEY || strlen(value) >= VALUE ||
                  !put(key, value, false);
        free(key);
        free(value);
    }
    if (!u.wrong)
        let_out();
    return !u.wrong;
}

static void tell_news(void)
{
    struct pack news = { 0 };
    for (size_t i = 0; i < talk.nbuckets; i++)
        for (struct pair *p = talk.table[i]; p; p = p->next)
            if (p->news) {
                p->news = false;
                put_text(&news, p->key);
                put_text(&news, p->value);
            }
    talk.job->fence(news.bytes, news.len);
    free(news.bytes);
}

static void barrier(int rank)
{
    struct client *c = &talk.clients[rank];
    if (c->waits) {
        c->bad = true;
        return;
    }
    c->waits = true;
    if (++talk.waiting < talk.here)
        return;
    if (talk.here == talk.job->size) {
        let_out();
        return;
    }
    tell_news();
}

/* ---- PMI-1 ---- */

static void put_1(int rank, const char *line)
{
    char key[KEY], value[VALUE];
    bool ok = pmi_word(line, PMI_LINE_END, "key", key, sizeof key) &&
              pmi_word(line, PMI_LINE_END, "value", value, sizeof value) && put(key, value, true);
    answer(rank, "cmd=put_result rc=%d msg=%s", ok ? 0 : -1, ok ? "success" : "no_key_or_value_or_too_long");
}

static void get_1(int rank, const char *line)
{
    char key[KEY];
    const char *value = pmi_word(line, PMI_LINE_END, "key", key, sizeof key) ? value_of(key) : NULL;
    if (value)
        answer(rank, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        answer(rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

/* ---- names ---- */

static void ask_name(int rank, const char *text, char end, const char *key, enum talk_name what)
{
    struct client *c = &talk.clients[rank];
    char name[KEY], port[VALUE] = "";
    if (c->asks) {
        c->bad = true;
        return;
    }
    c->asks = true;
    c->what = what;
    if (pmi_word(text, end, key, name, sizeof name) && is_text(name) &&
        (what != TALK_PUBLISH || (pmi_word(text, end, "port", port, sizeof port) && is_text(port))))
        talk.job->name(rank, what, name, port);
    else
        talk_named(rank, false, NULL);
}

static void named_1(int rank, bool ok, const char *port)
{
    static const char *const names[] = { "publish", "lookup", "unpublish" };
    const struct client *c = &talk.clients[rank];
    const char *why = c->what == TALK_PUBLISH ? "name_is_published_already" : "name_is_not_published";
    answer(rank, "cmd=%s_result info=%s rc=%d msg=%s%s%s", names[c->what], ok ? "ok" : "fail", ok ? 0 : -1,
           ok ? "success" : why, ok && c->what == TALK_LOOK_UP ? " port=" : "",
           ok && c->what == TALK_LOOK_UP ? port : "");
}

/* A rank that looks finds the port as `value`, or as `port`. */
static void named_2(int rank, bool ok, const char *port)
{
    static const char *const names[] = { "publish", "lookup", "unpublish" };
    const struct client *c = &talk.clients[rank];
    char doubled[2 * VALUE + 2];
    const char *why = c->what == TALK_PUBLISH ? "name is published already" : "name is not published";
    pmi_double(doubled, sizeof doubled, port ? port : "");
    if (ok && c->what == TALK_LOOK_UP && strlen(doubled) < VALUE)
        answer(rank, "cmd=name-lookup-response;%src=0;found=TRUE;value=%s;port=%s;", c->thread, doubled,
               doubled);
    else
        answer(rank, "cmd=name-%s-response;%src=%d;%s%s%s%s", names[c->what], c->thread, ok ? 0 : 1,
               c->what == TALK_LOOK_UP ? "found=FALSE;" : "", ok ? "" : "errmsg=", ok ? "" : why,
               ok ? "" : ";");
}

void talk_named(int rank, bool ok, const char *port)
{
    struct client *c = &talk.clients[rank];
    ok = ok && (c->what != TALK_LOOK_UP || (port && strlen(port) < VALUE));
    c->asks = false;
    if (c->version == 2)
        named_2(rank, ok, port);
    else
        named_1(rank, ok, port);
}

/* ---- spawning ---- */

static void spawn(int rank)
{
    struct client *c = &talk.clients[rank];
    struct offspring *o = talk_spawn_take(&c->spawn);
    if (o && !c->waits_for_job) {
        c->waits_for_job = true;
        talk.job->spawn(rank, o);
        return;
    }
    c->bad = c->bad || c->waits_for_job;
    if (o)
        offspring_free(o);
    talk_spawned(rank, "the request is not understood");
}

void talk_spawned(int rank, const char *why)
{
    struct client *c = &talk.clients[rank];
    c->waits_for_job = false;
    if (c->version == 2)
        answer(rank, "cmd=spawn-response;%src=%d;%s%s%sjobid=%s;nerrs=0;", c->thread, why ? 1 : 0,
               why ? "errmsg=" : "", why ? why : "", why ? ";" : "", talk.space);
    else
        answer(rank, "cmd=spawn_result rc=%d msg=%s", why ? -1 : 0,
               why ? "the_job_cannot_be_started" : "success");
}

/* ---- what PMI-1 asks ---- */

static void ask_1(int rank, const char *line)
{
    char cmd[32] = "";
    int32_t code = 1;
    const struct talk_job *j = talk.job;
    pmi_word(line, PMI_LINE_END, "cmd", cmd, sizeof cmd);
    if (strcmp(cmd, "get_maxes") == 0)
        answer(rank, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d", 256, KEY, VALUE);
    else if (strcmp(cmd, "get_appnum") == 0)
        answer(rank, "cmd=appnum appnum=%d", j->section_of[rank]);
    else if (strcmp(cmd, "get_universe_size") == 0)
        answer(rank, "cmd=universe_size size=%d", j->universe);
    else if (strcmp(cmd, "get_my_kvsname") == 0)
        answer(rank, "cmd=my_kvsname kvsname=%s", talk.space);
    else if (strcmp(cmd, "put") == 0)
        put_1(rank, line);
    else if (strcmp(cmd, "get") == 0)
        get_1(rank, line);
    else if (strcmp(cmd, "barrier_in") == 0)
        barrier(rank);
    else if (strcmp(cmd, "publish_name") == 0)
        ask_name(rank, line, PMI_LINE_END, "service", TALK_PUBLISH);
    else if (strcmp(cmd, "lookup_name") == 0)
        ask_name(rank, line, PMI_LINE_END, "service", TALK_LOOK_UP);
    else if (strcmp(cmd, "unpublish_name") == 0)
        ask_name(rank, line, PMI_LINE_END, "service", TALK_WITHDRAW);
    else if (strcmp(cmd, "finalize") == 0) {
        j->on(rank, TALK_FINALIZED, 0);
        answer(rank, "cmd=finalize_ack");
    } else if (strcmp(cmd, "abort") == 0) {
        pmi_number(line, PMI_LINE_END, "exitcode", &code);
        j->on(rank, TALK_ABORT, code);
    } else {
        talk.clients[rank].bad = true;
    }
}

static void line_1(int rank, const char *line)
{
    struct client *c = &talk.clients[rank];
    enum spawn_words_are are = talk_spawn_line(&c->spawn, rank, line);
    c->bad = c->bad || are == SPAWN_WRONG;
    if (are == SPAWN_WHOLE)
        spawn(rank);
    else if (are == SPAWN_NONE)
        ask_1(rank, line);
}

static void begin(int rank, const char *line)
{
    struct client *c = &talk.clients[rank];
    int32_t version = 0;
    bool ok = pmi_says(line, PMI_LINE_END, "cmd", "init") &&
              pmi_number(line, PMI_LINE_END, "pmi_version", &version) && (version == 1 || version == 2);
    c->bad = !ok;
    if (!ok)
        return;
    answer(rank, "cmd=response_to_init pmi_version=%d pmi_subversion=%d rc=0", version, version == 1);
    c->version = version;
    talk.job->on(rank, TALK_INIT, 0);
}

/* ---- PMI-2 ---- */

static void put_2(int rank, const char *name, const char *frame, const char *thread)
{
    char key[KEY], value[VALUE];
    bool ok = pmi_word(frame, PMI_FRAME_END, "key", key, sizeof key) &&
              pmi_word(frame, PMI_FRAME_END, "value", value, sizeof value) && put(key, value, true);
    answer(rank, "cmd=%s-response;%src=%d;%s", name, thread, ok ? 0 : 1,
           ok ? "" : "errmsg=no key or value, or too long;");
}

static void get_2(int rank, const char *name, const char *frame, const char *thread)
{
    char key[KEY], doubled[2 * VALUE + 2], universe[16];
    const char *value = NULL;
    if (pmi_word(frame, PMI_FRAME_END, "key", key, sizeof key))
        value = value_of(key);
    if (!value && strcmp(name, "info-getjobattr") == 0 && strcmp(key, "universeSize") == 0) {
        snprintf(universe, sizeof universe, "%d", talk.job->universe);
        value = universe;
    }
    pmi_double(doubled, sizeof doubled, value ? value : "");
    if (value)
        answer(rank, "cmd=%s-response;%src=0;found=TRUE;value=%s;", name, thread, doubled);
    else
        answer(rank, "cmd=%s-response;%src=0;found=FALSE;", name, thread);
}

static void frame_2(int rank, const char *frame)
{
    char cmd[32] = "", thread[16];
    struct client *c = &talk.clients[rank];
    const struct talk_job *j = talk.job;
    c->thread[0] = 0;
    if (pmi_word(frame, PMI_FRAME_END, "thrid", thread, sizeof thread) && !strchr(thread, PMI_FRAME_END))
        snprintf(c->thread, sizeof c->thread, "thrid=%s;", thread);
    pmi_word(frame, PMI_FRAME_END, "cmd", cmd, sizeof cmd);
    if (strcmp(cmd, "fullinit") == 0)
        answer(rank,
               "cmd=fullinit-response;%src=0;pmi-version=2;pmi-subversion=0;rank=%d;size=%d;appnum=%d;"
               "debugged=FALSE;pmiverbose=FALSE;%s",
               c->thread, rank, j->size, j->section_of[rank], j->put ? "spawner-jobid=keel-spawner;" : "");
    else if (strcmp(cmd, "job-getid") == 0)
        answer(rank, "cmd=job-getid-response;%src=0;jobid=%s;", c->thread, talk.space);
    else if (strcmp(cmd, "kvs-put") == 0)
        put_2(rank, cmd, frame, c->thread);
    else if (strcmp(cmd, "kvs-get") == 0 || strcmp(cmd, "info-getjobattr") == 0)
        get_2(rank, cmd, frame, c->thread);
    else if (strcmp(cmd, "kvs-fence") == 0)
        barrier(rank);
    else if (strcmp(cmd, "name-publish") == 0)
        ask_name(rank, frame, PMI_FRAME_END, "name", TALK_PUBLISH);
    else if (strcmp(cmd, "name-lookup") == 0)
        ask_name(rank, frame, PMI_FRAME_END, "name", TALK_LOOK_UP);
    else if (strcmp(cmd, "name-unpublish") == 0)
        ask_name(rank, frame, PMI_FRAME_END, "name", TALK_WITHDRAW);
    else if (strcmp(cmd, "spawn") == 0) {
        talk_spawn_frame(&c->spawn, rank, frame);
        spawn(rank);
    } else if (strcmp(cmd, "finalize") == 0) {
        j->on(rank, TALK_FINALIZED, 0);
        answer(rank, "cmd=finalize-response;%src=0;", c->thread);
    } else if (strcmp(cmd, "abort") == 0) {
        j->on(rank, TALK_ABORT, 1);
    } else if (*cmd && !strchr(cmd, PMI_FRAME_END)) {
        answer(rank, "cmd=%s-response;%src=1;errmsg=mpiexec (Keel) does not do that;", cmd, c->thread);
    } else {
        c->bad = true;
    }
}

/* ---- bytes ---- */

/* A whole line, or a whole frame, at the beginning of what has come: how many bytes it has; 0: not yet. */
static size_t whole(struct client *c)
{
    if (c->version != 2) {
        char *end = memchr(c->in, '\n', c->have);
        if (end)
            *end = 0;
        return end ? (size_t)(end - c->in) + 1 : 0;
    }
    int32_t len = c->have >= PMI_FRAME_HEAD ? pmi_frame_length(c->in) : 0;
    c->bad = c->bad || len < 0 || len > REQUEST;
    return c->bad || c->have < PMI_FRAME_HEAD || c->have < PMI_FRAME_HEAD + (size_t)len
               ? 0
               : PMI_FRAME_HEAD + (size_t)len;
}

static void hear(int rank, size_t len)
{
    struct client *c = &talk.clients[rank];
    if (c->version == 2) {
        char frame[REQUEST + 1];
        memcpy(frame, c->in + PMI_FRAME_HEAD, len - PMI_FRAME_HEAD);
        frame[len - PMI_FRAME_HEAD] = 0;
        frame_2(rank, frame);
    } else if (c->version == 1) {
        line_1(rank, c->in);
    } else {
        begin(rank, c->in);
    }
}

bool talk_take(int rank, const char *bytes, size_t len)
{
    struct client *c = &talk.clients[rank];
    if (c->bad)
        return false;
    if (c->have + len > c->cap) {
        c->cap = 2 * (c->have + len);
        c->in = xgrow(c->in, c->cap, 1);
    }
    memcpy(c->in + c->have, bytes, len);
    c->have += len;
    for (size_t n; !c->bad && (n = whole(c)) > 0;) {
        hear(rank, n);
        c->have -= n;
        memmove(c->in, c->in + n, c->have);
    }
    c->bad = c->bad || c->have > PMI_FRAME_HEAD + (c->version == 2 ? REQUEST : ANSWER);
    return !c->bad;
}
