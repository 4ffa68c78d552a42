/* SPDX-License-Identifier: BSD-3-Clause */
/* arrive.c: packets that the library reports, from their heads until they are handed up: whose they are, in which
 * order, and bodies that are still to come (rdm.h, invariants 1 to 3). */
#include "rdm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the library reports ---- */

static void complain(struct dev *d, const char *what)
{
    if (!d->warned)
        fprintf(stderr,
                "keel: rank %d, device %s: dropped what came from %s; more of it is dropped silently\n",
                (int)d->world.rank, d->name, what);
    d->warned = true;
}

void rdm_stranger(struct dev *d)
{
    complain(d, "a stranger");
}

static struct rdm_in *queue_in(struct dev *d, const void *head, size_t len, void *owner)
{
    struct rdm_in *in = d->free_in;
    if (in != NULL)
        d->free_in = in->next;
    else
        in = malloc(sizeof *in);
    if (in == NULL)
        abort(); /* the packet would be lost, and with it the job: this says where */
    memcpy(&in->head, head, sizeof in->head);
    in->body = NULL;
    in->len = len;
    in->owner = owner;
    in->announced = false;
    in->next = NULL;
    *d->in_last = in;
    d->in_last = &in->next;
    return in;
}

void rdm_arrived(struct dev *d, const void *head, const void *body, size_t len, void *owner)
{
    queue_in(d, head, len, owner)->body = (unsigned char *)(uintptr_t)body;
}

void rdm_announced(struct dev *d, const void *head, size_t len, void *owner)
{
    queue_in(d, head, len, owner)->announced = true;
}

/* ---- handing up ---- */

static void hand_up(struct dev_peer *p, struct rdm_in *in)
{
    struct dev *d = p->dev;
    struct dev_head h = dev_head_le(in->head.head);
    size_t len = in->len - in->head.pad;
    void *body = in->body;
    if (in->head.kind == RDM_FAREWELL) {
        p->got_bye = true;
        return;
    }
    if (d->closing || p->buried)
        return;
    if ((uintptr_t)body % 8 != 0) {
        if (d->scratch == NULL || d->scratch_bytes < len) {
            free(d->scratch);
            d->scratch = malloc(d->scratch_bytes = len + RDM_LARGE);
            if (d->scratch == NULL)
                abort();
        }
        body = memcpy(d->scratch, body, len);
    }
    d->up.deliver(d->up.core, p->grank, &h, body, len);
}

static bool is_ours(struct dev *d, const struct rdm_in *in)
{
    uint32_t source = ku_le32(in->head.source);
    if (source < (uint32_t)d->world.size && source != (uint32_t)d->world.rank && in->head.pad <= in->len &&
        in->head.pad < 8 && in->head.kind >= RDM_PACKET && in->head.kind <= RDM_CREDIT &&
        (in->head.head.len == 0 || in->head.head.len == in->len - in->head.pad))
        return true;
    return false;
}

void rdm_give_back(struct dev *d, struct rdm_in *in)
{
    ku_lock(&d->lock);
    d->lib->release(d, in->owner);
    in->next = d->free_in;
    d->free_in = in;
    ku_unlock(&d->lock);
}

static void hold(struct dev_peer *p, struct rdm_in *in)
{
    uint16_t seq = ku_le16(in->head.seq);
    struct rdm_in **at = &p->held;
    while (*at != NULL && (int16_t)(ku_le16((*at)->head.seq) - seq) < 0)
        at = &(*at)->next;
    in->next = *at;
    *at = in;
}

/* Whose packet is it?  NULL: nobody's who knows the job's secret.  With the lock. */
static struct dev_peer *sender_of(struct dev *d, const struct rdm_in *in)
{
    struct dev_peer *p = is_ours(d, in) ? rdm_peer(d, (int32_t)ku_le32(in->head.source)) : NULL;
    if (p != NULL && !p->has_its_token) {
        p->its_token = rdm_token(d, ku_le64(d->nonce), p->grank, d->world.rank);
        p->has_its_token = true;
    }
    return p != NULL && p->its_token == in->head.token ? p : NULL; /* takes as long whatever differs */
}

/* A packet of this process's own (measure.c). */
static bool is_probe(const struct dev *d, const struct rdm_in *in)
{
    const struct dev_peer *self = d->peers[d->world.rank];
    return in->head.kind == RDM_PROBE && self != NULL && in->head.token == self->token;
}

/* The peer expects this packet next.  What cannot be so, or is older than what is known, says nothing. */
static void take_credits(struct dev_peer *p, uint16_t next)
{
    if ((uint16_t)(next - p->acked) <= (uint16_t)(p->seq - p->acked))
        p->acked = next;
}

/* Does the peer have to know how many of its packets were handed up? */
bool rdm_owed(const struct dev_peer *p)
{
    return (uint16_t)(p->next_in - __atomic_load_n(&p->told_in, __ATOMIC_RELAXED)) >= RDM_CREDITS / 2;
}

/* ---- bodies of packets that were announced ---- */

/* Let the library write it.  `cookie` NULL: to memory of the device. */
static dev_status take_body(struct dev_peer *p, struct rdm_in *in, void *to, void *cookie)
{
    struct dev *d = p->dev;
    struct rdm_op *op;
    dev_status st = DEV_AGAIN;
    ku_lock(&d->lock);
    op = to != NULL ? rdm_op_get(d, false) : NULL;
    if (op != NULL) {
        op->link = p;
        op->what = RDM_OP_BODY;
        op->told = cookie != NULL;
        op->cookie = cookie;
        op->in = cookie == NULL ? in : NULL;
        op->result = NULL;
        st = d->lib->take(d, op, in->owner, to, in->len);
        in->owner = NULL;
        if (st == DEV_QUEUED)
            rdm_mem_begun(op);
        else
            rdm_op_put(d, op);
    }
    if (st == DEV_AGAIN)
        rdm_broken(p, "there is no memory for a packet of its");
    ku_unlock(&d->lock);
    return st;
}

/* True: the packet counts as handed up. */
static bool ask_for_body(struct dev_peer *p, struct rdm_in *in)
{
    struct dev *d = p->dev;
    struct dev_head h = dev_head_le(in->head.head);
    void *cookie = NULL,
         *to = d->up.lend != NULL ? d->up.lend(d->up.core, p->grank, &h, in->len, &cookie) : NULL;
    dev_status st;
    if (to == NULL)
        to = in->body = malloc(in->len);
    st = take_body(p, in, to, cookie);
    if (st == DEV_QUEUED && cookie == NULL)
        p->filling = in;
    if (st == DEV_QUEUED)
        return cookie != NULL;
    if (cookie != NULL)
        d->up.sent(d->up.core, cookie, st == DEV_OK ? DEV_OK : DEV_PEER_GONE);
    else if (st == DEV_OK)
        hand_up(p, in);
    free(in->body);
    return true;
}

/* Hand up what has its turn, from `in` on: as far as there is nothing to wait for. */
static void take_turns(struct dev_peer *p, struct rdm_in *in)
{
    struct dev *d = p->dev;
    while (in != NULL) {
        bool over = true;
        if (!in->announced)
            hand_up(p, in);
        else if (in->body != NULL) { /* it has come */
            hand_up(p, in);
            free(in->body);
        } else if (!d->closing && !p->buried)
            over = ask_for_body(p, in);
        if (!over)
            break;
        __atomic_store_n(&p->next_in, p->next_in + 1, __ATOMIC_RELAXED);
        rdm_give_back(d, in);
        in = p->held;
        if (in == NULL || ku_le16(in->head.seq) != p->next_in)
            break;
        p->held = in->next;
    }
    if (rdm_owed(p) && !p->owes) {
        p->owes = true;
        p->next_owing = d->owing;
        d->owing = p;
    }
}

/* A body is in memory of the device, or never will be, and then nor what follows it. */
void rdm_filled(struct dev_peer *p, dev_status how)
{
    struct rdm_in *in = p->filling;
    p->filling = NULL;
    if (how == DEV_OK) {
        take_turns(p, in);
        return;
    }
    free(in->body);
    rdm_give_back(p->dev, in);
}

/* In the order of the numbers. */
void rdm_receive(struct dev *d, struct rdm_in *in)
{
    struct dev_peer *p;
    int16_t ahead;
    ku_lock(&d->lock);
    p = sender_of(d, in);
    if (p != NULL)
        take_credits(p, ku_le16(in->head.head.own));
    ku_unlock(&d->lock);
    if (p != NULL && in->head.kind == RDM_CREDIT) {
        rdm_give_back(d, in);
        return;
    }
    if (p == NULL && is_probe(d, in)) {
        d->probes++;
        rdm_give_back(d, in);
        return;
    }
    ahead = p != NULL ? (int16_t)(ku_le16(in->head.seq) - p->next_in) : -1;
    if (ahead < 0) {
        complain(d, "a stranger, or an earlier MPI_Init");
        rdm_give_back(d, in);
        return;
    }
    if (ahead > 0) {
        hold(p, in);
        return;
    }
    take_turns(p, in);
}
