/* SPDX-License-Identifier: BSD-3-Clause */
/* rdm.c: see rdm.h. */
#include "rdm.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "util/auth.h"

#define MS 1000000ull

enum {
    GAP_NS = 4000,      /* from a refusal to the next attempt; twice as long each time, */
    GAP_MOST = 1000000, /* at most */
    QUIET_MS = 20,      /* a dead peer's packets are waited for, */
    HOLD_MS = 1000,     /* and until the library has done with its */
    CLOSE_MS = 5000,    /* farewells are waited for */
    BLIND_NS = 50000,   /* a sleep where the library has no descriptor, or it is left out: at first; */
    BLIND_MOST = 10,    /* so many times that at most, */
    VAIN_MOST = 16,     /* after so many sleeps in vain, */
    VAIN_AGAIN = 64,    /* but for every 64th; */
    LONG_NS = 300000,   /* a sleep on the library's descriptor that takes so long was none; */
    PEACE_NS = 5000000, /* two sleeps with so much between them have nothing to do with each other */
    INS = 256,          /* records of packets that have come, made at the start */
    STOCK = 16          /* buffers, half of them large, if they are to be registered */
};

uint64_t rdm_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void rdm_say(struct dev *d, const char *format, ...)
{
    char text[200];
    va_list args;
    int n = snprintf(text, sizeof text, "%s: ", d->name);
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    d->up.error(d->up.core, text);
}

/* ---- buffers ---- */

static size_t op_bytes(bool large)
{
    return (sizeof(struct rdm_op) + (large ? RDM_LARGE : RDM_SHORT) + 8 + 63) / 64 * 64;
}

struct rdm_op *rdm_op_get(struct dev *d, bool large)
{
    struct rdm_op **list = large ? &d->free_large : &d->free_small, *op = *list;
    if (op != NULL) {
        *list = op->next;
        return op;
    }
    if (large && d->nlarge == RDM_BUFFERS)
        return NULL;
    op = aligned_alloc(64, op_bytes(large));
    if (op == NULL)
        return NULL;
    memset(op, 0, sizeof *op);
    op->large = large;
    if (d->lib->describe != NULL && (op->desc = d->lib->describe(d, op, op_bytes(large))) == NULL) {
        free(op);
        return NULL;
    }
    d->nlarge += large;
    op->next_all = d->all;
    return d->all = op;
}

void rdm_op_put(struct dev *d, struct rdm_op *op)
{
    struct rdm_op **list = op->large ? &d->free_large : &d->free_small;
    op->next = *list;
    *list = op;
}

static void free_buffers(struct dev *d)
{
    while (d->all != NULL) {
        struct rdm_op *op = d->all;
        d->all = op->next_all;
        if (op->desc != NULL && d->lib->undescribe != NULL)
            d->lib->undescribe(d, op->desc);
        free(op);
    }
}

/* ---- peers ---- */

struct dev_peer *rdm_peer(struct dev *d, int32_t grank)
{
    struct dev_peer *p = d->peers[grank];
    if (p != NULL)
        return p;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->dev = d;
    p->grank = grank;
    p->next_known = d->known;
    d->known = p;
    return d->peers[grank] = p;
}

dev_status rdm_peer_init(struct dev *d, int32_t grank, struct dev_peer **peer)
{
    if (grank < 0 || grank >= d->world.size || grank == d->world.rank ||
        (d->near_only && dev_local_of(&d->world, grank) < 0)) {
        return DEV_NO_SUPPORT;
    }
    ku_lock(&d->lock);
    *peer = rdm_peer(d, grank);
    ku_unlock(&d->lock);
    if (*peer != NULL)
        return DEV_OK;
    rdm_say(d, "out of memory for rank %d", (int)grank);
    return DEV_ERROR;
}

void rdm_peer_stop(struct dev_peer *p)
{
    (void)p; /* close() does it for all at once */
}

void rdm_peer_fini(struct dev_peer *p)
{
    (void)p; /* it goes with the device: the peer may have sent though no send asked for it */
}

static void die(struct dev_peer *p, const char *why)
{
    if (p->state >= RDM_DYING)
        return;
    p->state = RDM_DYING;
    snprintf(p->why, sizeof p->why, "%s", why);
    p->bury_at = rdm_now() + QUIET_MS * MS;
    p->next_dying = p->dev->dying;
    p->dev->dying = p;
}

void rdm_broken(struct dev_peer *p, const char *why)
{
    die(p, why);
}

dev_status rdm_refuse(struct dev *d)
{
    if (!d->refused) {
        d->refused = true;
        d->retry_at = rdm_now() + d->gap;
    }
    return DEV_AGAIN;
}

static void greet(struct dev_peer *p);

dev_status rdm_link_ready(struct dev_peer *p)
{
    struct dev *d = p->dev;
    if (p->state == RDM_GONE || p->got_bye)
        return DEV_PEER_GONE;
    if (p->state == RDM_READY)
        return DEV_OK;
    if (p->state == RDM_DYING)
        return rdm_refuse(d); /* until it is told (bury) */
    if (p->state == RDM_GREETING) {
        greet(p);
        return p->state == RDM_READY ? DEV_OK : rdm_refuse(d);
    }
    if (p->state == RDM_NEW) {
        p->state = RDM_WANTED;
        p->next_wanted = d->wanted;
        d->wanted = p;
    }
    return rdm_refuse(d);
}

/* Of packets from one rank to another that has told this nonce, as it stands in the address. */
uint64_t rdm_token(const struct dev *d, uint64_t nonce, int32_t from, int32_t to)
{
    struct ku_auth facts = { .purpose = "rdm packet",
                             .job = d->world.self.job,
                             .caller = (uint64_t)from,
                             .called = (uint64_t)to,
                             .serial = d->world.epoch };
    uint8_t proof[KU_AUTH_PROOF];
    uint64_t token;
    memcpy(facts.called_nonce, &nonce, sizeof nonce);
    ku_auth_prove(d->world.self.key, &facts, KU_AUTH_CALLER, proof);
    memcpy(&token, proof, sizeof token);
    return token;
}

size_t rdm_address(const struct dev *d, const void *own, size_t n, void *buf, size_t cap)
{
    uint64_t nonce = ku_le64(d->nonce);
    size_t all = sizeof nonce + n, room = cap > sizeof nonce ? cap - sizeof nonce : 0;
    memcpy(buf, &nonce, cap < sizeof nonce ? cap : sizeof nonce);
    if (room > 0)
        memcpy((char *)buf + sizeof nonce, own, n < room ? n : room);
    return all;
}

/* Its address has come. */
static void connect_to(struct dev_peer *p, const unsigned char *address, size_t len)
{
    struct dev *d = p->dev;
    uint64_t nonce = 0;
    ku_lock(&d->lock);
    if (p->state == RDM_WANTED) {
        if (len > sizeof nonce)
            memcpy(&nonce, address, sizeof nonce);
        p->token = rdm_token(d, nonce, d->world.rank, p->grank);
        if (len > sizeof nonce && d->lib->connect(p, address + sizeof nonce, len - sizeof nonce) == DEV_OK) {
            p->state = d->lib->keeps ? RDM_GREETING : RDM_READY;
            if (p->state == RDM_GREETING)
                greet(p);
        } else
            die(p, "its address is none for this device");
    }
    ku_unlock(&d->lock);
}

/* False: not known yet. */
static bool look_up(struct dev_peer *p)
{
    struct dev *d = p->dev;
    unsigned char few[512], *address = few;
    size_t n = d->up.address(d->up.core, p->grank, few, sizeof few);
    if (n == 0)
        return false;
    if (n != DEV_ADDRESS_NEVER && n > sizeof few) {
        address = n <= RDM_ADDRESS_MOST ? malloc(n) : NULL;
        if (address == NULL || d->up.address(d->up.core, p->grank, address, n) != n)
            n = 0;
    }
    connect_to(p, address, n == DEV_ADDRESS_NEVER ? 0 : n);
    if (address != few)
        free(address);
    return true;
}

static int look_up_wanted(struct dev *d)
{
    struct dev_peer *p, *next;
    int events = 0;
    ku_lock(&d->lock);
    p = d->wanted;
    d->wanted = NULL;
    ku_unlock(&d->lock);
    for (; p != NULL; p = next) {
        bool lost;
        next = p->next_wanted;
        ku_lock(&d->lock);
        lost = p->state >= RDM_DYING;
        ku_unlock(&d->lock);
        if (lost || look_up(p)) {
            events++;
            continue;
        }
        ku_lock(&d->lock);
        p->next_wanted = d->wanted;
        d->wanted = p;
        ku_unlock(&d->lock);
    }
    return events;
}

/* ---- sending ---- */

/* With the lock: no more than a store. */
void rdm_outstanding(struct dev *d, int more)
{
    uint32_t is = atomic_load_explicit(&d->outstanding, memory_order_relaxed);
    atomic_store_explicit(&d->outstanding, is + (uint32_t)more, memory_order_relaxed);
}

static bool library_has_room(const struct dev_peer *p)
{
    return p->in_flight < RDM_WINDOW &&
           atomic_load_explicit(&p->dev->outstanding, memory_order_relaxed) < p->dev->most_outstanding &&
           (p->oldest == NULL || (uint16_t)(p->seq - p->oldest->seq) < RDM_AHEAD);
}

static bool rdm_has_room(const struct dev_peer *p)
{
    return library_has_room(p) && (uint16_t)(p->seq - p->acked) < RDM_CREDITS;
}

static dev_status may_send(struct dev_peer *p)
{
    struct dev *d = p->dev;
    dev_status st = rdm_link_ready(p);
    if (st != DEV_OK)
        return st;
    if (rdm_has_room(p))
        return DEV_OK;
    if (d->in ==
        NULL) /* perhaps the library has done with some; what has come meanwhile waits for progress */
        d->lib->poll(d);
    return p->state == RDM_READY && rdm_has_room(p) ? DEV_OK : rdm_refuse(d);
}

static void fill_head(struct dev_peer *p, struct rdm_head *h, enum rdm_kind kind, const struct dev_head *head,
                      size_t pad)
{
    struct rdm_head r = { .token = p->token,
                          .source = ku_le32((uint32_t)p->dev->world.rank),
                          .seq = ku_le16(p->seq),
                          .kind = (uint8_t)kind,
                          .pad = (uint8_t)pad };
    if (head != NULL)
        r.head = dev_head_le(*head);
    r.head.own = ku_le16(__atomic_load_n(&p->next_in, __ATOMIC_RELAXED));
    *h = r;
}

/* The library has taken a packet with this head. */
static void has_taken(struct dev_peer *p, const struct rdm_head *h)
{
    __atomic_store_n(&p->told_in, ku_le16(h->head.own), __ATOMIC_RELAXED);
    p->seq += h->kind != RDM_CREDIT;
}

static size_t padding(size_t len)
{
    return -len & 7;
}

static void track(struct rdm_op *op)
{
    struct dev_peer *p = op->link;
    op->older = p->newest;
    op->newer = NULL;
    *(p->newest != NULL ? &p->newest->newer : &p->oldest) = op;
    p->newest = op;
    p->in_flight++;
}

static void untrack(struct rdm_op *op)
{
    struct dev_peer *p = op->link;
    *(op->older != NULL ? &op->older->newer : &p->oldest) = op->newer;
    *(op->newer != NULL ? &op->newer->older : &p->newest) = op->older;
    p->in_flight--;
}

/* Hand it to the library, with its number.  DEV_QUEUED, DEV_OK: it has been taken; else `op` is the caller's again. */
static dev_status rdm_post(struct dev_peer *p, struct rdm_op *op, const struct dev_iov *iov, int n)
{
    struct dev *d = p->dev;
    dev_status st;
    op->link = p;
    op->seq = p->seq;
    op->how = DEV_OK;
    st = d->lib->post(p, op, iov, n);
    if (st == DEV_AGAIN)
        return rdm_refuse(d);
    if (st != DEV_OK && st != DEV_QUEUED)
        return rdm_refuse(d); /* until it is told why (rdm_broken, bury) */
    has_taken(p, &op->head);
    p->untold = 0;
    if (st == DEV_QUEUED) {
        track(op);
        rdm_outstanding(d, 1);
        if (d->lib->keeps && !op->told)
            d->lib->poll(d); /* on its way before this process turns to something else */
    }
    return st;
}

/* A packet that lies in the op's buffer. */
static dev_status post_copied(struct dev_peer *p, struct rdm_op *op, const struct dev_head *head, size_t len)
{
    size_t pad = padding(len);
    struct dev_iov iov = { &op->head, sizeof op->head + len + pad, DEV_MEM_HOST };
    dev_status st;
    fill_head(p, &op->head, RDM_PACKET, head, pad);
    memset(op->body + len, 0, pad);
    op->what = RDM_OP_PACKET;
    op->told = false;
    st = rdm_post(p, op, &iov, 1);
    if (st == DEV_OK)
        rdm_op_put(p->dev, op);
    return st == DEV_QUEUED ? DEV_OK : st;
}

static dev_status inject(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    struct {
        struct rdm_head head;
        unsigned char body[RDM_SHORT + 8];
    } b;
    size_t pad = padding(head->len);
    dev_status st;
    if (p->dev->lib->inject == NULL || p->untold >= RDM_UNTOLD)
        return DEV_NO_SUPPORT;
    fill_head(p, &b.head, RDM_PACKET, head, pad);
    memcpy(b.body, body, head->len);
    memset(b.body + head->len, 0, pad);
    st = p->dev->lib->inject(p, &b, sizeof b.head + head->len + pad);
    if (st == DEV_OK) {
        has_taken(p, &b.head);
        p->untold++;
    }
    return st == DEV_AGAIN ? rdm_refuse(p->dev) : st;
}

/* One that is a head alone. */
dev_status rdm_send_head(struct dev_peer *p, enum rdm_kind kind, enum rdm_what what)
{
    struct rdm_op *op = rdm_op_get(p->dev, false);
    struct dev_iov iov;
    dev_status st;
    if (op == NULL)
        return rdm_refuse(p->dev);
    iov = (struct dev_iov){ &op->head, sizeof op->head, DEV_MEM_HOST };
    fill_head(p, &op->head, kind, NULL, 0);
    op->what = what;
    op->told = false;
    st = rdm_post(p, op, &iov, 1);
    if (st != DEV_QUEUED)
        rdm_op_put(p->dev, op);
    return st;
}

/* Once the library has done with this it sends at once what it is given. */
static void greet(struct dev_peer *p)
{
    dev_status st = p->greeted ? DEV_QUEUED : rdm_send_head(p, RDM_CREDIT, RDM_OP_GREETING);
    p->greeted = st == DEV_QUEUED;
    if (st == DEV_OK && p->state == RDM_GREETING)
        p->state = RDM_READY;
}

static dev_status send_copied(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov,
                              int n, size_t len)
{
    struct rdm_op *op = rdm_op_get(p->dev, len > RDM_SHORT);
    size_t at = 0;
    dev_status st;
    if (op == NULL)
        return rdm_refuse(p->dev);
    for (int i = 0; i < n; i++) {
        if (iov[i].len > 0)
            memcpy(op->body + at, iov[i].base, iov[i].len);
        at += iov[i].len;
    }
    st = post_copied(p, op, head, len);
    if (st != DEV_OK)
        rdm_op_put(p->dev, op);
    return st;
}

static dev_status send_lying(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov,
                             int n, void *cookie)
{
    struct dev_iov all[RDM_PIECES];
    struct rdm_op *op = rdm_op_get(p->dev, false);
    int k = 1;
    dev_status st;
    if (op == NULL)
        return rdm_refuse(p->dev);
    fill_head(p, &op->head, RDM_PACKET, head, 0);
    all[0] = (struct dev_iov){ &op->head, sizeof op->head, DEV_MEM_HOST };
    for (int i = 0; i < n; i++)
        if (iov[i].len > 0)
            all[k++] = iov[i];
    op->what = RDM_OP_PACKET;
    op->told = true;
    op->cookie = cookie;
    st = rdm_post(p, op, all, k);
    if (st != DEV_QUEUED)
        rdm_op_put(p->dev, op);
    return st;
}

dev_status rdm_send_short(struct dev_peer *p, const struct dev_head *head, const void *body)
{
    struct dev_iov iov = { body, head->len, DEV_MEM_HOST };
    dev_status st;
    ku_lock(&p->dev->lock);
    st = may_send(p);
    if (st == DEV_OK && (st = inject(p, head, body)) == DEV_NO_SUPPORT)
        st = send_copied(p, head, &iov, 1, head->len);
    ku_unlock(&p->dev->lock);
    return st;
}

dev_status rdm_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                    void *cookie)
{
    struct dev *d = p->dev;
    size_t len = 0;
    dev_status st;
    for (int i = 0; i < n; i++)
        len += iov[i].len;
    ku_lock(&d->lock);
    st = may_send(p);
    if (st == DEV_OK)
        st = len > RDM_COPY && len <= d->max_lying && n < d->pieces ? send_lying(p, head, iov, n, cookie)
                                                                    : send_copied(p, head, iov, n, len);
    ku_unlock(&d->lock);
    return st;
}

void *rdm_reserve(struct dev_peer *p, size_t want)
{
    struct dev *d = p->dev;
    struct rdm_op *op = NULL;
    ku_lock(&d->lock);
    if (want <= d->max_send && d->nrooms < RDM_ROOMS)
        op = rdm_op_get(d, true);
    if (op != NULL)
        d->nrooms++;
    else
        rdm_refuse(d);
    ku_unlock(&d->lock);
    return op != NULL ? op->body : NULL;
}

static struct rdm_op *op_of(void *room)
{
    return (struct rdm_op *)((char *)room - offsetof(struct rdm_op, body));
}

dev_status rdm_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len)
{
    struct dev *d = p->dev;
    dev_status st;
    ku_lock(&d->lock);
    st = may_send(p);
    if (st == DEV_OK)
        st = post_copied(p, op_of(room), head, len);
    if (st == DEV_PEER_GONE)
        rdm_op_put(d, op_of(room));
    d->nrooms -= st != DEV_AGAIN; /* else it is still the core's */
    ku_unlock(&d->lock);
    return st;
}

void rdm_drop(struct dev_peer *p, void *room)
{
    ku_lock(&p->dev->lock);
    p->dev->nrooms--;
    rdm_op_put(p->dev, op_of(room));
    ku_unlock(&p->dev->lock);
}

/* ---- what the library reports ---- */

void rdm_queue_done(struct rdm_op *op, dev_status how)
{
    struct dev *d = op->link->dev;
    op->how = how;
    op->next = NULL;
    *d->done_last = op;
    d->done_last = &op->next;
}

void rdm_done(struct rdm_op *op, dev_status how)
{
    struct dev_peer *p = op->link;
    if (op->broken) /* a library may tell several times of what it has not done */
        return;
    op->broken = how != DEV_OK;
    rdm_outstanding(p->dev, -1);
    rdm_queue_done(op, how);
    if (op->what >= RDM_OP_MEMORY)
        rdm_mem_done(op);
    else
        untrack(op);
    if (op->what == RDM_OP_FAREWELL)
        p->bye_done = true;
    if (op->what == RDM_OP_GREETING && p->state == RDM_GREETING && how == DEV_OK)
        p->state = RDM_READY;
}

/* Tell those that were not told in passing. */
static void pay(struct dev *d)
{
    struct dev_peer *p = d->owing, *next;
    d->owing = NULL;
    for (; p != NULL; p = next) {
        dev_status st;
        next = p->next_owing;
        ku_lock(&d->lock);
        st = rdm_owed(p) ? rdm_link_ready(p) : DEV_PEER_GONE;
        if (st == DEV_OK)
            st = library_has_room(p) ? rdm_send_head(p, RDM_CREDIT, RDM_OP_CREDIT) : rdm_refuse(d);
        ku_unlock(&d->lock);
        p->owes = st == DEV_AGAIN;
        if (p->owes) {
            p->next_owing = d->owing;
            d->owing = p;
        }
    }
}

static void rdm_finish(struct dev *d, struct rdm_op *op)
{
    dev_status how = op->how;
    bool told = op->told;
    void *cookie = op->cookie;
    struct dev_peer *filled_for = op->what == RDM_OP_BODY && op->in != NULL ? op->link : NULL;
    ku_lock(&d->lock);
    if (!op->broken)
        rdm_op_put(d, op);
    else
        d->nlarge -= op->large; /* it is kept until the end: rdm_done */
    ku_unlock(&d->lock);
    if (told)
        d->up.sent(d->up.core, cookie, how == DEV_OK || how == DEV_ERROR ? how : DEV_PEER_GONE);
    if (filled_for != NULL)
        rdm_filled(filled_for, how);
}

int rdm_hand_over(struct dev *d)
{
    struct rdm_op *op, *next_op;
    struct rdm_in *in, *next_in;
    int events = 0;
    ku_lock(&d->lock);
    d->lib->poll(d);
    op = d->done;
    d->done = NULL;
    d->done_last = &d->done;
    in = d->in;
    d->in = NULL;
    d->in_last = &d->in;
    ku_unlock(&d->lock);
    for (; op != NULL; op = next_op, events++) {
        next_op = op->next;
        rdm_finish(d, op);
    }
    for (; in != NULL; in = next_in, events++) {
        next_in = in->next;
        rdm_receive(d, in);
    }
    if (d->owing != NULL)
        pay(d);
    if (events > 0)
        d->vain = 0;
    return events;
}

/* ---- deaths ---- */

/* The first of the list that the core waits for, from now on no more; NULL: there is none. */
static struct rdm_op *take_told(struct rdm_op *op)
{
    while (op != NULL && !op->told)
        op = op->newer;
    if (op != NULL)
        op->told = false;
    return op;
}

/* What the core waits for on this link has ended.  In the library's hands it stays until that reports it, perhaps
 * to another thread. */
static void end_all(struct dev_peer *p)
{
    struct dev *d = p->dev;
    struct rdm_op *op;
    do {
        void *cookie = NULL;
        ku_lock(&d->lock);
        op = take_told(p->oldest);
        op = op != NULL ? op : take_told(p->mem_oldest);
        if (op != NULL) {
            cookie = op->cookie;
            op->result = NULL;
        }
        ku_unlock(&d->lock);
        if (op != NULL)
            d->up.sent(d->up.core, cookie, DEV_PEER_GONE);
    } while (op != NULL);
}

static void bury(struct dev_peer *p)
{
    struct dev *d = p->dev;
    bool dead = d->up.is_failed(d->up.core, p->grank);
    ku_lock(&d->lock);
    p->state = RDM_GONE;
    p->buried = true;
    d->lib->disconnect(p);
    ku_unlock(&d->lock);
    end_all(p);
    while (p->held != NULL) {
        struct rdm_in *in = p->held;
        p->held = in->next;
        rdm_give_back(d, in);
    }
    if (p->got_bye && !dead)
        return;
    if (!dead && p->why[0] != 0 && !d->closing)
        fprintf(stderr, "keel: rank %d, device %s: rank %d is lost: %s\n", (int)d->world.rank, d->name,
                (int)p->grank, p->why);
    if (!d->closing)
        d->up.peer_gone(d->up.core, p->grank);
}

static int bury_the_dead(struct dev *d)
{
    uint64_t now = rdm_now();
    struct dev_peer *p, *next;
    int events = 0;
    ku_lock(&d->lock);
    p = d->dying;
    d->dying = NULL;
    ku_unlock(&d->lock);
    for (; p != NULL; p = next) {
        bool due;
        next = p->next_dying;
        ku_lock(&d->lock);
        due = now >= p->bury_at && (p->in_flight + p->mem_in_flight == 0 || now >= p->bury_at + HOLD_MS * MS);
        if (!due) {
            p->next_dying = d->dying;
            d->dying = p;
        }
        ku_unlock(&d->lock);
        if (due)
            bury(p);
        events += due;
    }
    return events;
}

static void look_at_deaths(struct dev *d)
{
    for (int32_t grank; (grank = d->up.next_failed(d->up.core, &d->failed_seen)) >= 0;) {
        ku_lock(&d->lock);
        struct dev_peer *p = grank != d->world.rank ? rdm_peer(d, grank) : NULL;
        if (p != NULL)
            die(p, "");
        ku_unlock(&d->lock);
    }
}

/* ---- progress and sleeping ---- */

/* A sender was refused: now it may try again, for it has got better, or it is time. */
static int retry(struct dev *d, int events)
{
    int due = 0;
    ku_lock(&d->lock);
    if (d->refused && (events > 0 || rdm_now() >= d->retry_at)) {
        d->refused = false;
        d->gap = events > 0 ? GAP_NS : d->gap * 2 < GAP_MOST ? d->gap * 2 : GAP_MOST;
        due = 1;
    }
    ku_unlock(&d->lock);
    return due;
}

int rdm_progress(struct dev *d)
{
    int events = d->wanted != NULL ? look_up_wanted(d) : 0;
    events += rdm_hand_over(d);
    look_at_deaths(d);
    if (d->dying != NULL && events == 0)
        events += bury_the_dead(d);
    if (d->refused)
        events += retry(d, events);
    return events;
}

int rdm_wait_fd(struct dev *d)
{
    return d->epoll;
}

bool rdm_unsent(const struct dev *d)
{
    return d->outstanding > 0 || d->wanted != NULL;
}

static void set_timer(struct dev *d, uint64_t at)
{
    struct itimerspec t = { .it_value = { .tv_sec = (time_t)(at / 1000000000u),
                                          .tv_nsec = (long)(at % 1000000000u) } };
    if (at == 0 && !d->timer_set)
        return;
    d->timer_set = at != 0;
    timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

/* Is the library's descriptor one of the device's? */
static void see(struct dev *d, bool on)
{
    struct epoll_event ev = { .events = on ? EPOLLIN : 0 };
    if (d->unwatched == on && epoll_ctl(d->epoll, EPOLL_CTL_MOD, d->lib_fd, &ev) == 0)
        d->unwatched = !on;
}

/* May the process sleep on it?  *at: until then, whatever comes. */
static bool arm_library(struct dev *d, uint64_t *at)
{
    uint64_t now = rdm_now();
    uint32_t times;
    d->vain = now - d->armed_at < (d->lib_fd < 0 || d->unwatched ? PEACE_NS : LONG_NS) ? d->vain + 1 : 0;
    d->armed_at = now;
    if (d->lib_fd >= 0 && (d->vain < VAIN_MOST || d->vain % VAIN_AGAIN == 0)) {
        see(d, true);
        return d->lib->arm(d);
    }
    if (d->lib_fd >= 0)
        see(d, false);
    times = d->vain < VAIN_MOST ? 1 : (d->vain - VAIN_MOST) / 4 + 1;
    *at = now + (uint64_t)BLIND_NS * (times < BLIND_MOST ? times : BLIND_MOST);
    return true;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

bool rdm_arm(struct dev *d)
{
    uint64_t at = 0;
    bool armed;
    ku_lock(&d->lock);
    armed = d->in == NULL && d->done == NULL && arm_library(d, &at);
    if (d->refused)
        at = earlier(at, d->retry_at);
    for (struct dev_peer *p = d->dying; p != NULL; p = p->next_dying)
        at = earlier(at, rdm_now() >= p->bury_at ? rdm_now() + MS : p->bury_at);
    set_timer(d, at);
    ku_unlock(&d->lock);
    return armed;
}

/* ---- opening and closing ---- */

void rdm_init(struct dev *d, const char *name, const struct rdm_lib *lib, const struct dev_services *services,
              const struct dev_world *world)
{
    d->name = name;
    d->lib = lib;
    memcpy(&d->up, services, services->size < sizeof d->up ? services->size : sizeof d->up);
    d->world = *world;
    d->epoll = d->timer = d->lib_fd = -1;
    d->in_last = &d->in;
    d->done_last = &d->done;
    d->gap = GAP_NS;
    d->pieces = RDM_PIECES;
    d->max_send = RDM_LARGE;
    d->most_outstanding = UINT32_MAX;
    ku_lock_init(&d->lock, KU_LOCK_SEND);
}

/* Buffers with which something can always be sent, also when later ones cannot be registered. */
static bool stock_buffers(struct dev *d)
{
    struct rdm_op *op[STOCK];
    int n = 0;
    while (n < STOCK && (op[n] = rdm_op_get(d, n % 2 == 0)) != NULL)
        n++;
    for (int i = n; i-- > 0;)
        rdm_op_put(d, op[i]);
    return n == STOCK;
}

/* What has come cannot be refused: there is a stock for when there is no memory. */
static bool stock(struct dev *d)
{
    for (int i = 0; i < INS; i++) {
        struct rdm_in *in = malloc(sizeof *in);
        if (in == NULL)
            return false;
        in->next = d->free_in;
        d->free_in = in;
    }
    return true;
}

static bool rdm_watch(struct dev *d, int fd)
{
    struct epoll_event ev = { .events = EPOLLIN };
    return fd < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) == 0;
}

dev_status rdm_open(struct dev *d, int lib_fd)
{
    const char *why = ku_auth_ready();
    if (why != NULL) {
        rdm_say(d, "%s", why);
        return DEV_NO_SUPPORT;
    }
    d->lib_fd = lib_fd;
    d->peers = calloc((size_t)d->world.size, sizeof *d->peers);
    if (d->peers == NULL || !stock(d)) {
        rdm_say(d, "out of memory for %d ranks", (int)d->world.size);
        return DEV_ERROR;
    }
    if (d->lib->describe != NULL && !stock_buffers(d))
        return DEV_NO_SUPPORT; /* it has been said why */
    d->epoll = epoll_create1(EPOLL_CLOEXEC);
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (d->epoll < 0 || d->timer < 0 || !rdm_watch(d, d->timer) || !rdm_watch(d, lib_fd) ||
        getrandom(&d->nonce, sizeof d->nonce, 0) != sizeof d->nonce) {
        rdm_say(d, "the system refused a descriptor or random bytes: %s", strerror(errno));
        return DEV_ERROR;
    }
    return DEV_OK;
}

void rdm_fini(struct dev *d)
{
    struct rdm_in *in;
    while (d->peers != NULL && d->known != NULL) {
        struct dev_peer *p = d->known;
        d->known = p->next_known;
        if (p->filling != NULL) { /* the library has never told */
            free(p->filling->body);
            free(p->filling);
        }
        while ((in = p->held) != NULL) {
            p->held = in->next;
            free(in);
        }
        free(p);
    }
    while ((in = d->in) != NULL) {
        d->in = in->next;
        free(in);
    }
    while ((in = d->free_in) != NULL) {
        d->free_in = in->next;
        free(in);
    }
    free(d->scratch);
    free(d->peers);
    if (d->timer >= 0)
        close(d->timer);
    if (d->epoll >= 0)
        close(d->epoll);
    ku_lock_fini(&d->lock);
}

void rdm_free_buffers(struct dev *d)
{
    free_buffers(d);
}

static void say_farewell(struct dev_peer *p)
{
    struct dev *d = p->dev;
    ku_lock(&d->lock);
    if (rdm_link_ready(p) == DEV_OK &&
        library_has_room(p)) { /* also beyond the credits: the peer may have closed */
        dev_status st = rdm_send_head(p, RDM_FAREWELL, RDM_OP_FAREWELL);
        p->said_bye = st == DEV_OK || st == DEV_QUEUED;
        p->bye_done = st == DEV_OK;
    }
    ku_unlock(&d->lock);
}

/* Nothing more is to be done for the peer. */
static bool has_left(struct dev_peer *p)
{
    if (p->state >= RDM_DYING || p->got_bye || (p->state == RDM_NEW && p->next_in == 0) ||
        (p->state <= RDM_GREETING && p->seq == 0 && p->next_in == 0))
        return p->in_flight == 0 || p->state >= RDM_DYING || p->got_bye;
    if (!p->said_bye)
        say_farewell(p);
    return p->said_bye && p->bye_done && p->in_flight + p->mem_in_flight == 0;
}

/* What has come and nobody will read. */
void rdm_drop_unread(struct dev *d)
{
    struct rdm_in *in;
    while ((in = d->in) != NULL) {
        d->in = in->next;
        rdm_give_back(d, in);
    }
    d->in_last = &d->in;
    for (struct dev_peer *p = d->known; p != NULL; p = p->next_known)
        while ((in = p->held) != NULL) {
            p->held = in->next;
            rdm_give_back(d, in);
        }
}

void rdm_close(struct dev *d)
{
    uint64_t end = rdm_now() + CLOSE_MS * MS;
    bool all = false;
    d->closing = true;
    while (!all && rdm_now() < end) {
        if (d->wanted != NULL)
            look_up_wanted(d);
        look_at_deaths(d);
        all = true;
        for (struct dev_peer *p = d->known; p != NULL; p = p->next_known)
            all = has_left(p) && all;
        if (rdm_hand_over(d) == 0 && !all)
            usleep(50);
    }
    for (struct dev_peer *p = d->known; p != NULL; p = p->next_known)
        end_all(p);
    rdm_drop_unread(d);
}
