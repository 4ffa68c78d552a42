/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: see share.h.
 *
 * A message is its kind and a body; a parcel is 1 if it is the last of a message, else 0, and bytes of the message. */
#include "share.h"
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/launch.h"
#include "pmi/launch/frames/frame_pack.h"

enum kind { FENCE = 1, FENCED, ASK, ANSWER };
enum { BUSY = 1 };

struct piece {
    bool came;
    char *bytes;
    size_t len;
};

struct fence {
    struct fence *next;
    char *key;
    int32_t *hosts; /* NULL: this host has not entered, and does not collect */
    int n, came;
    struct piece *piece; /* [n], where it collects */
    share_done *done;    /* NULL: this host has not entered */
    void *arg;
};

struct question {
    struct question *next;
    uint32_t id;
    int host;
    share_done *done;
    void *arg;
};

static struct {
    int me, hosts;
    const struct share_ops *ops;
    struct pack *coming; /* of each host: a message that is not whole yet */
    struct fence *fences;
    struct question *questions;
    uint32_t next_id;
} share;

void share_begin(int me, int hosts, const struct share_ops *ops)
{
    share.me = me;
    share.hosts = hosts;
    share.ops = ops;
    share.coming = xalloc((size_t)hosts, sizeof *share.coming);
}

static void free_fence(struct fence *f)
{
    for (int i = 0; f->piece && i < f->n; i++)
        free(f->piece[i].bytes);
    free(f->piece);
    free(f->hosts);
    free(f->key);
    free(f);
}

void share_end(void)
{
    for (struct fence *f = share.fences, *next; f; f = next) {
        next = f->next;
        free_fence(f);
    }
    for (struct question *q = share.questions, *next; q; q = next) {
        next = q->next;
        free(q);
    }
    for (int i = 0; i < share.hosts; i++)
        free(share.coming[i].bytes);
    free(share.coming);
    memset(&share, 0, sizeof share);
}

/* ---- messages ---- */

static void send_message(int to, const struct pack *m)
{
    for (size_t at = 0; at < m->len;) {
        size_t left = m->len - at, most = SHARE_PARCEL - sizeof(uint32_t), n = left < most ? left : most;
        struct pack parcel = { 0 };
        put_u32(&parcel, n == left);
        put_bytes(&parcel, m->bytes + at, n);
        share.ops->send(to, parcel.bytes, parcel.len);
        free(parcel.bytes);
        at += n;
    }
}

static void get_rest(struct unpack *u, const char **bytes, size_t *len)
{
    *bytes = u->at;
    *len = (size_t)(u->end - u->at);
    u->at = u->end;
}

/* ---- fences ---- */

static struct fence **find(const char *key)
{
    struct fence **f = &share.fences;
    while (*f && strcmp((*f)->key, key) != 0)
        f = &(*f)->next;
    return f;
}

static struct fence *find_or_make(const char *key)
{
    struct fence **at = find(key);
    if (!*at) {
        *at = xalloc(1, sizeof **at);
        (*at)->key = xformat("%s", key);
    }
    return *at;
}

static void set_hosts(struct fence *f, const int32_t *hosts, int n)
{
    f->n = n;
    f->hosts = xalloc((size_t)n, sizeof *f->hosts);
    memcpy(f->hosts, hosts, (size_t)n * sizeof *hosts);
    if (hosts[0] == share.me)
        f->piece = xalloc((size_t)n, sizeof *f->piece);
}

/* It is over before anybody is told: who is told may enter the next one. */
static void leave(struct fence *f, const char *bytes, size_t len)
{
    struct fence **at = find(f->key);
    *at = f->next;
    f->done(f->arg, 0, bytes, len);
    free_fence(f);
}

static void tell_all(const struct fence *f, const struct pack *bytes)
{
    struct pack m = { 0 };
    put_u32(&m, FENCED);
    put_text(&m, f->key);
    put_bytes(&m, bytes->bytes, bytes->len);
    if (f->n == share.hosts)
        send_message(SHARE_ALL, &m);
    else
        for (int i = 1; i < f->n; i++)
            send_message(f->hosts[i], &m);
    free(m.bytes);
}

/* False: this host was not expected (any more). */
static bool collect(struct fence *f, int host, const void *bytes, size_t len)
{
    int i = 0;
    while (i < f->n && f->hosts[i] != host)
        i++;
    if (i == f->n || f->piece[i].came)
        return false;
    f->piece[i] = (struct piece){ .came = true, .bytes = xalloc(len, 1), .len = len };
    if (len > 0)
        memcpy(f->piece[i].bytes, bytes, len);
    if (++f->came < f->n)
        return true;
    struct pack all = { 0 };
    for (i = 0; i < f->n; i++)
        put_bytes(&all, f->piece[i].bytes, f->piece[i].len);
    if (f->n > 1)
        tell_all(f, &all);
    leave(f, all.bytes, all.len);
    free(all.bytes);
    return true;
}

static void send_piece(const struct fence *f, const void *bytes, size_t len)
{
    struct pack m = { 0 };
    put_u32(&m, FENCE);
    put_text(&m, f->key);
    put_u32(&m, (uint32_t)f->n);
    for (int i = 0; i < f->n; i++)
        put_u32(&m, (uint32_t)f->hosts[i]);
    put_bytes(&m, bytes, len);
    send_message(f->hosts[0], &m);
    free(m.bytes);
}

static bool same_hosts(const struct fence *f, const int32_t *hosts, int n)
{
    return f->n == n && memcmp(f->hosts, hosts, (size_t)n * sizeof *hosts) == 0;
}

void share_fence(const char *key, const int32_t *hosts, int n, const void *bytes, size_t len,
                 share_done *done, void *arg)
{
    struct fence *f = find_or_make(key);
    if (f->done || (f->hosts && !same_hosts(f, hosts, n))) {
        done(arg, BUSY, NULL, 0);
        return;
    }
    if (!f->hosts)
        set_hosts(f, hosts, n);
    f->done = done;
    f->arg = arg;
    if (f->piece)
        collect(f, share.me, bytes, len);
    else
        send_piece(f, bytes, len);
}

/* From another host, to this one, which collects. */
static bool on_fence(int from, struct unpack *u)
{
    char *key = get_text(u);
    uint32_t n = get_u32(u);
    bool ok = key && !u->wrong && n >= 2 && n <= (uint32_t)share.hosts;
    int32_t *hosts = ok ? xalloc(n, sizeof *hosts) : NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        hosts[i] = (int32_t)get_u32(u);
        ok = !u->wrong && hosts[i] >= 0 && hosts[i] < share.hosts && (i == 0 || hosts[i] > hosts[i - 1]);
    }
    const char *bytes;
    size_t len;
    get_rest(u, &bytes, &len);
    ok = ok && hosts[0] == share.me && from != share.me;
    if (ok) {
        struct fence *f = find_or_make(key);
        if (!f->hosts)
            set_hosts(f, hosts, (int)n);
        ok = same_hosts(f, hosts, (int)n) && f->piece && collect(f, from, bytes, len);
    }
    free(hosts);
    free(key);
    return ok;
}

static bool on_fenced(int from, struct unpack *u)
{
    char *key = get_text(u);
    struct fence *f = key ? *find(key) : NULL;
    bool ok = f && f->done && !f->piece && f->hosts[0] == from;
    const char *bytes;
    size_t len;
    get_rest(u, &bytes, &len);
    free(key);
    if (ok)
        leave(f, bytes, len);
    return ok;
}

/* ---- questions ---- */

void share_ask(int host, int what, const void *bytes, size_t len, share_done *done, void *arg)
{
    struct question *q = xalloc(1, sizeof *q);
    *q = (struct question){
        .next = share.questions, .id = share.next_id++, .host = host, .done = done, .arg = arg
    };
    share.questions = q;
    if (host == share.me) {
        if (!share.ops->asked(host, q->id, what, bytes, len))
            die("a question to this host itself is not understood");
        return;
    }
    struct pack m = { 0 };
    put_u32(&m, ASK);
    put_u32(&m, q->id);
    put_u32(&m, (uint32_t)what);
    put_bytes(&m, bytes, len);
    send_message(host, &m);
    free(m.bytes);
}

static bool answered(int from, uint32_t id, int status, const char *bytes, size_t len)
{
    struct question **at = &share.questions, *q;
    while (*at && !((*at)->id == id && (*at)->host == from))
        at = &(*at)->next;
    q = *at;
    if (!q)
        return false;
    *at = q->next;
    q->done(q->arg, status, bytes, len);
    free(q);
    return true;
}

void share_answer(int to, uint32_t id, int status, const void *bytes, size_t len)
{
    if (to == share.me) {
        answered(to, id, status, bytes, len);
        return;
    }
    struct pack m = { 0 };
    put_u32(&m, ANSWER);
    put_u32(&m, id);
    put_u32(&m, (uint32_t)status);
    put_bytes(&m, bytes, len);
    send_message(to, &m);
    free(m.bytes);
}

/* ---- what comes ---- */

static bool on_message(int from, const struct pack *m)
{
    struct unpack u = { m->bytes, m->bytes + m->len, false };
    uint32_t kind = get_u32(&u), id, value;
    const char *bytes;
    size_t len;
    if (kind == FENCE)
        return on_fence(from, &u);
    if (kind == FENCED)
        return on_fenced(from, &u);
    id = get_u32(&u);
    value = get_u32(&u);
    if (u.wrong || (kind != ASK && kind != ANSWER))
        return false;
    get_rest(&u, &bytes, &len);
    return kind == ASK ? share.ops->asked(from, id, (int)value, bytes, len)
                       : answered(from, id, (int)value, bytes, len);
}

bool share_take(int from, const char *bytes, size_t len)
{
    struct unpack u = { bytes, bytes + len, false };
    uint32_t last = get_u32(&u);
    if (from < 0 || from >= share.hosts || from == share.me || u.wrong || last > 1 || u.at == u.end)
        return false;
    struct pack *m = &share.coming[from];
    put_bytes(m, u.at, (size_t)(u.end - u.at));
    if (m->len > SHARE_MOST)
        return false;
    if (!last)
        return true;
    struct pack whole = *m;
    *m = (struct pack){ 0 };
    bool ok = on_message(from, &whole);
    free(whole.bytes);
    return ok;
}
