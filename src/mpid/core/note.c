/* SPDX-License-Identifier: BSD-3-Clause */
/* note.c: what a sender lets the receiver's listeners know of a message (mpid_listen.h): a packet NOTE right
 * before its first one.
 *
 * The packets of two processes keep their order, so a note belongs to the next message of its sender in its
 * context.  Until that has met its receive the note stands beside it, in tables that exist while a listener gives
 * notes: under the request of what waits to be sent, under context and sender when it comes, under the message
 * that is kept for its receive. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    uint64_t key;
    int32_t tag;
    struct MPID_Note note;
};

static struct notes {
    struct entry **table; /* [1 << bits]; NULL: there are none */
    uint32_t bits, n;
} waiting, come, kept;

static struct entry **notes_bucket(const struct notes *t, uint64_t key)
{
    return &t->table[key * 0x9e3779b97f4a7c15u >> (64 - t->bits)];
}

static struct entry **notes_find(const struct notes *t, uint64_t key)
{
    struct entry **at = t->table != NULL ? notes_bucket(t, key) : NULL;
    while (at != NULL && *at != NULL && (*at)->key != key)
        at = &(*at)->next;
    return at != NULL && *at != NULL ? at : NULL;
}

static bool notes_grow(struct notes *t)
{
    struct notes more = { .bits = t->table != NULL ? t->bits + 2 : 6, .n = t->n };
    more.table = calloc((size_t)1 << more.bits, sizeof(struct entry *));
    if (more.table == NULL)
        return false;
    for (uint32_t i = 0; t->table != NULL && i < 1u << t->bits; i++)
        for (struct entry *e = t->table[i], *next; e != NULL; e = next) {
            struct entry **at = notes_bucket(&more, e->key);
            next = e->next;
            e->next = *at;
            *at = e;
        }
    free(t->table);
    *t = more;
    return true;
}

/* Without memory there is no note. */
static void notes_put(struct notes *t, uint64_t key, int32_t tag, const struct MPID_Note *note)
{
    struct entry **at = notes_find(t, key), *e = at != NULL ? *at : malloc(sizeof *e);
    if (e == NULL)
        return;
    if (at == NULL) {
        if (t->n >= (t->table != NULL ? 1u << t->bits : 0) && !notes_grow(t) && t->table == NULL) {
            free(e);
            return;
        }
        at = notes_bucket(t, key);
        e->next = *at;
        *at = e;
        t->n++;
    }
    e->key = key;
    e->tag = tag;
    e->note = *note;
}

/* Out of the table; false: there is none. */
static bool notes_take(struct notes *t, uint64_t key, int32_t *tag, struct MPID_Note *note)
{
    struct entry **at = notes_find(t, key), *e = at != NULL ? *at : NULL;
    if (e == NULL)
        return false;
    *tag = e->tag;
    *note = e->note;
    *at = e->next;
    t->n--;
    free(e);
    return true;
}

static void notes_drop_all(struct notes *t)
{
    for (uint32_t i = 0; t->table != NULL && i < 1u << t->bits; i++)
        for (struct entry *e = t->table[i], *next; e != NULL; e = next) {
            next = e->next;
            free(e);
        }
    free(t->table);
    *t = (struct notes){ 0 };
}

void MPID_Notes_fini(void)
{
    notes_drop_all(&waiting);
    notes_drop_all(&come);
    notes_drop_all(&kept);
}

static uint64_t sender_key(uint32_t context, int32_t source)
{
    return (uint64_t)context << 32 | (uint32_t)source;
}

/* ---- At the sender ---- */

void MPID_Note_begin(struct MPIR_HANDLE *r, const struct MPID_Transfer *t)
{
    struct MPID_Note note = { 0 };
    for (int i = 0; i < MPID_Listeners.n; i++) {
        const struct MPID_Listener *l = MPID_Listeners.at[i];
        if (l->note != NULL && l->note(l->self, t, &note) != 0) {
            notes_put(&waiting, (uintptr_t)r, r->tag, &note);
            r->state |= REQ_NOTED;
            return;
        }
    }
}

void MPID_Note_end(const struct MPIR_HANDLE *r)
{
    struct MPID_Note note;
    int32_t tag;
    notes_take(&waiting, (uintptr_t)r, &tag, &note);
}

static void notes_make(struct pkt *p, enum pkt_kind kind, uint32_t context, int32_t tag, int32_t source,
                       const struct MPID_Note *n)
{
    struct pkt_note b = { .digest = n->digest,
                          .numbers = (uint64_t)n->numbers,
                          .address = n->address,
                          .module = n->module,
                          .offset = n->offset,
                          .call = n->call,
                          .flags = n->flags,
                          .what = n->what };
    memcpy(b.first, n->first, sizeof b.first);
    pkt_note_prepare(p, kind, context, tag, source, &b);
}

dev_status MPID_Note_send(struct peer *p, struct MPIR_HANDLE *r)
{
    struct entry **at = notes_find(&waiting, (uintptr_t)r);
    struct pkt k;
    dev_status s = DEV_OK;
    if (at != NULL) {
        notes_make(&k, PKT_NOTE, r->context_id, r->tag, r->rank, &(*at)->note);
        s = MPID_Peer_control(p, &k);
        if (s == DEV_AGAIN)
            return s;
        MPID_Note_end(r);
    }
    r->state &= ~(uint32_t)REQ_NOTED;
    return s;
}

/* ---- At the receiver ---- */

void MPID_Note_self(struct MPIR_HANDLE *r)
{
    struct MPID_Note note;
    int32_t tag;
    if (notes_take(&waiting, (uintptr_t)r, &tag, &note))
        notes_put(&come, sender_key(r->context_id, r->rank), tag, &note);
    r->state &= ~(uint32_t)REQ_NOTED;
}

static struct MPID_Note note_of(const void *body)
{
    struct pkt_note b = pkt_note_of(body);
    struct MPID_Note n = { .digest = b.digest,
                           .numbers = (int64_t)b.numbers,
                           .address = b.address,
                           .module = b.module,
                           .offset = b.offset,
                           .call = b.call,
                           .flags = b.flags,
                           .what = b.what };
    memcpy(n.first, b.first, sizeof n.first);
    return n;
}

void MPID_Note_in(const struct dev_head *h, const void *body)
{
    struct MPID_Note n = note_of(body);
    if (needs_some(MPID_NEEDS_OBSERVERS)) /* else nobody takes it out again */
        notes_put(&come, sender_key(h->context, (int32_t)h->source), (int32_t)h->tag, &n);
}

/* A note with another tag is that of a message which could not be sent. */
static bool just_come(uint32_t context, int32_t source, int32_t tag, struct MPID_Note *note)
{
    int32_t its;
    return notes_take(&come, sender_key(context, source), &its, note) && its == tag;
}

void MPID_Note_keep(const struct umsg *m, uint32_t context)
{
    struct MPID_Note note;
    int32_t tag;
    notes_take(&kept, (uintptr_t)m, &tag, &note); /* of another message that was there */
    if (just_come(context, m->source, m->tag, &note))
        notes_put(&kept, (uintptr_t)m, m->tag, &note);
}

const struct MPID_Note *MPID_Note_beside(const struct umsg *m)
{
    struct entry **at = notes_find(&kept, (uintptr_t)m);
    return at != NULL ? &(*at)->note : NULL;
}

bool MPID_Note_take(uint32_t context, int32_t source, int32_t tag, const struct umsg *m,
                    struct MPID_Note *note)
{
    return m != NULL ? notes_take(&kept, (uintptr_t)m, &tag, note) : just_come(context, source, tag, note);
}

/* ---- Of no message ---- */

void MPID_Note_alone_in(const struct dev_head *h, const void *body)
{
    const struct MPID_Note n = note_of(body);
    MPID_Tell_noted(&(const struct MPID_Noted){ h->context, (int32_t)h->source, (int32_t)h->tag, &n });
}

void MPID_Note_alone(int32_t grank, const struct MPID_Noted *noted)
{
    struct ku_err words = *ku_err_last();
    struct pkt k;
    int err = 0;
    if (grank == MPID_core.rank) {
        MPID_Tell_noted(noted);
        return;
    }
    struct peer *p = peer_gone(grank) ? NULL : peer_get(grank, &err);
    if (p != NULL && !p->gone) {
        notes_make(&k, PKT_NOTE_ALONE, noted->context, noted->tag, noted->source, noted->note);
        MPID_Rndv_control(p, &k);
    }
    *ku_err_last() = words;
}
