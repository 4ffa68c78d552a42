/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi.c: the device over libfabric, a plug-in.  What is not libfabric's is in src/mpid/rdm.
 *
 * A provider is chosen by what it can do: reliable datagrams (FI_EP_RDM) with FI_MSG, and FI_RMA if there is.  Of
 * those that libfabric lists, in its order, the first that opens is taken.
 *
 * Packets are received into slabs.  Where the provider has FI_MULTI_RECV and completes in order a slab takes many
 * of them; else one.  (ofi_rxm, which does not complete in order, says that it has let a slab go while a longer
 * packet still comes into it.)  A slab is posted again when the provider has let it go and all packets in it have
 * been handed up; if that lasts, another takes its place.
 *
 * What ofi_rxm does not send at once its receiver fetches.  A card serves that; without one the sender's processor
 * does, in libfabric, and what was sent would wait until this process calls it: then packets are so short that
 * none has to be fetched.
 *
 * What has ended in an error is never posted again, neither a slab nor an operation.  ofi_rxm fetches a long
 * packet in several reads, and when its sender dies each of them is told as the end of the same receive: the later
 * ones would be taken for the end of the next. */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "mpid/rdm/rdm.h"

enum {
    API = FI_VERSION(1, 9), /* what is used here exists since */
    BATCH = 16,             /* completions a look */
    CQ_SIZE = 4096,
    OUTSTANDING = 1024,
    SLABS = 4, /* posted, each for many packets */
    SLAB_BYTES = 1 << 20,
    SINGLES = 64, /* posted, where each takes one */
    LYING = 256 << 10,
    EAGER = 16000,       /* of ofi_rxm, with its head and ours: what it sends at once */
    ORDER_STRICT = 0x1ff /* FI_ORDER_STRICT, whose name libfabric 2 warns of */
};

struct slab {
    struct fi_context2 context;
    bool is_slab; /* true: where struct rdm_op has false */
    struct slab *next, *next_all;
    uint32_t users; /* packets in it that are not handed up */
    bool posted;
    struct fid_mr *mr;
    unsigned char *bytes;
};

_Static_assert(offsetof(struct slab, is_slab) == offsetof(struct rdm_op, is_slab),
               "a completion tells which of them it is of");

static bool is_slab(const void *context)
{
    return ((const struct slab *)context)->is_slab;
}

struct ofi {
    struct dev dev;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    bool multi, local_mr, delivery; /* delivery: of puts is told */
    bool updates;                   /* by the provider: the user has vouched for them */
    enum { UNKNOWN, HAS, LACKS } has_update[KEEL_ATOMIC_OPS][KEEL_ATOMIC_TYPES];
    size_t inject_most, slab_bytes;
    int posted, want_posted;
    struct slab *all, *idle; /* idle: to be posted */
    uint64_t next_key;
    char unregistered[120]; /* why memory could not be registered, the last time */
    unsigned char address[512];
    size_t address_bytes;
};

static const struct rdm_lib lib;

static struct ofi *ofi_of(const struct dev *d)
{
    return (struct ofi *)(uintptr_t)d;
}

static dev_status ofi_answer(struct dev_peer *p, ssize_t err)
{
    if (err == 0)
        return DEV_QUEUED;
    if (err == -FI_EAGAIN || err == -FI_ENOMEM)
        return DEV_AGAIN;
    rdm_broken(p, fi_strerror((int)-err));
    return DEV_PEER_GONE;
}

/* ---- memory registration ---- */

static struct fid_mr *register_memory(struct ofi *o, void *base, size_t len, uint64_t access)
{
    struct fid_mr *mr;
    bool by_provider = o->info->domain_attr->mr_mode & FI_MR_PROV_KEY;
    int err = fi_mr_reg(o->domain, base, len, access, 0, by_provider ? 0 : ++o->next_key, 0, &mr, NULL);
    if (err == 0 && o->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        err = fi_mr_bind(mr, &o->ep->fid, 0);
        err = err == 0 ? fi_mr_enable(mr) : err;
        if (err != 0)
            fi_close(&mr->fid);
    }
    if (err == 0)
        return mr;
    snprintf(o->unregistered, sizeof o->unregistered, "%zu bytes could not be registered: %s%s", len,
             fi_strerror(-err), err == -FI_ENOMEM ? " (see ulimit -l)" : "");
    rdm_say(&o->dev, "%s", o->unregistered);
    return NULL;
}

static void *ofi_describe(struct dev *d, void *base, size_t len)
{
    return register_memory(ofi_of(d), base, len, FI_SEND | FI_READ | FI_WRITE);
}

static void undescribe(struct dev *d, void *desc)
{
    (void)d;
    fi_close(&((struct fid_mr *)desc)->fid);
}

/* ---- memory of peers: a key is the library's number, little-endian ---- */

static void *ofi_expose(struct dev *d, void *base, size_t len, unsigned char *key, size_t *key_bytes)
{
    struct fid_mr *mr = register_memory(ofi_of(d), base, len, FI_REMOTE_READ | FI_REMOTE_WRITE);
    uint64_t number = mr != NULL ? fi_mr_key(mr) : FI_KEY_NOTAVAIL;
    if (mr != NULL && number == FI_KEY_NOTAVAIL) { /* one of more than 8 bytes */
        fi_close(&mr->fid);
        return NULL;
    }
    number = ku_le64(number);
    memcpy(key, &number, sizeof number);
    *key_bytes = sizeof number;
    return mr;
}

static void unexpose(struct dev *d, void *its)
{
    undescribe(d, its);
}

static bool is_key(const struct dev_remote *r)
{
    return r->key_bytes == sizeof(uint64_t);
}

static void ofi_forget(struct dev_remote *r)
{
    (void)r;
}

/* Where the provider wants local memory registered: for this operation.  A cache of registrations is the
 * provider's, if it has one. */
static dev_status take_local(struct ofi *o, struct rdm_op *op, void *local, size_t len)
{
    op->local = o->local_mr ? register_memory(o, local, len, FI_READ | FI_WRITE) : NULL;
    return o->local_mr && op->local == NULL ? DEV_NO_SUPPORT : DEV_OK;
}

static void leave_local(struct rdm_op *op)
{
    if (op->local != NULL)
        fi_close(&((struct fid_mr *)op->local)->fid);
    op->local = NULL;
}

/* A put is told when it is done at the peer: flush asks for that. */
static dev_status ofi_move(struct dev_remote *r, struct rdm_op *op, uint64_t offset, void *local, size_t len,
                           bool put)
{
    struct dev_peer *p = r->peer;
    struct ofi *o = ofi_of(p->dev);
    dev_status st = take_local(o, op, local, len);
    void *desc = op->local != NULL ? fi_mr_desc(op->local) : NULL;
    struct iovec from = { local, len };
    struct fi_rma_iov to = { .addr = offset, .len = len };
    struct fi_msg_rma msg = { .msg_iov = &from,
                              .desc = &desc,
                              .iov_count = 1,
                              .addr = (fi_addr_t)(uintptr_t)p->to,
                              .rma_iov = &to,
                              .rma_iov_count = 1,
                              .context = op->context };
    if (st != DEV_OK)
        return st;
    memcpy(&to.key, r->key, sizeof to.key);
    to.key = ku_le64(to.key);
    to.addr += o->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? r->base : 0;
    st = ofi_answer(p, put ? fi_writemsg(o->ep, &msg, FI_DELIVERY_COMPLETE) : fi_readmsg(o->ep, &msg, 0));
    if (st != DEV_QUEUED)
        leave_local(op);
    return st;
}

/* The provider's updates are one step to each other.  To the processor's they are not, unless it says so somewhere
 * else than in libfabric (fi_atomic(3): a domain and the processors are two actors): so they are used where the
 * user has vouched for that. */
static enum fi_op fi_op_of(enum keel_atomic_op what)
{
    static const enum fi_op ops[KEEL_ATOMIC_OPS] = {
        [KEEL_ATOMIC_FETCH] = FI_ATOMIC_READ, [KEEL_ATOMIC_REPLACE] = FI_ATOMIC_WRITE,
        [KEEL_ATOMIC_SUM] = FI_SUM,           [KEEL_ATOMIC_PROD] = FI_PROD,
        [KEEL_ATOMIC_MIN] = FI_MIN,           [KEEL_ATOMIC_MAX] = FI_MAX,
        [KEEL_ATOMIC_AND] = FI_BAND,          [KEEL_ATOMIC_OR] = FI_BOR,
        [KEEL_ATOMIC_XOR] = FI_BXOR,          [KEEL_ATOMIC_COMPARE_SWAP] = FI_CSWAP,
    };
    return ops[what];
}

static enum fi_datatype fi_type_of(enum keel_atomic_type type)
{
    static const enum fi_datatype types[KEEL_ATOMIC_TYPES] = {
        [KEEL_INT8] = FI_INT8,     [KEEL_INT16] = FI_INT16,   [KEEL_INT32] = FI_INT32,
        [KEEL_INT64] = FI_INT64,   [KEEL_UINT8] = FI_UINT8,   [KEEL_UINT16] = FI_UINT16,
        [KEEL_UINT32] = FI_UINT32, [KEEL_UINT64] = FI_UINT64, [KEEL_FLOAT] = FI_FLOAT,
        [KEEL_DOUBLE] = FI_DOUBLE,
    };
    return types[type];
}

static bool has_update(struct ofi *o, enum keel_atomic_op what, enum keel_atomic_type type)
{
    struct fi_atomic_attr attr = { 0 };
    uint64_t flags = what == KEEL_ATOMIC_COMPARE_SWAP ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
    if (o->has_update[what][type] == UNKNOWN)
        o->has_update[what][type] =
            fi_query_atomic(o->domain, fi_type_of(type), fi_op_of(what), &attr, flags) == 0 &&
                    attr.count > 0 && attr.size == keel_atomic_bytes(type)
                ? HAS
                : LACKS;
    return o->has_update[what][type] == HAS;
}

/* All of them tell the old value, and with it that they are done. */
static dev_status ofi_update(struct dev_remote *r, struct rdm_op *op, uint64_t offset,
                             enum keel_atomic_op what, enum keel_atomic_type type)
{
    struct dev_peer *p = r->peer;
    struct ofi *o = ofi_of(p->dev);
    struct rdm_amo *amo = (struct rdm_amo *)(void *)op->body;
    void *desc = op->desc != NULL ? fi_mr_desc(op->desc) : NULL;
    fi_addr_t to = (fi_addr_t)(uintptr_t)p->to;
    uint64_t at = offset + (o->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? r->base : 0), key;
    if (!o->updates || !has_update(o, what, type))
        return DEV_NO_SUPPORT;
    memcpy(&key, r->key, sizeof key);
    key = ku_le64(key);
    op->local = NULL;
    if (what == KEEL_ATOMIC_COMPARE_SWAP)
        return ofi_answer(p, fi_compare_atomic(o->ep, &amo->operand, 1, desc, &amo->compare, desc, &amo->old,
                                               desc, to, at, key, fi_type_of(type), fi_op_of(what),
                                               op->context));
    return ofi_answer(p, fi_fetch_atomic(o->ep, &amo->operand, 1, desc, &amo->old, desc, to, at, key,
                                         fi_type_of(type), fi_op_of(what), op->context));
}

/* ---- receiving ---- */

static struct slab *slab_new(struct ofi *o)
{
    struct slab *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->bytes = aligned_alloc(4096, (o->slab_bytes + 4095) / 4096 * 4096);
    if (s->bytes == NULL ||
        (o->local_mr && (s->mr = register_memory(o, s->bytes, o->slab_bytes, FI_RECV)) == NULL)) {
        free(s->bytes);
        free(s);
        return NULL;
    }
    s->is_slab = true;
    s->next_all = o->all;
    return o->all = s;
}

static ssize_t post_slab(struct ofi *o, struct slab *s)
{
    void *desc = s->mr != NULL ? fi_mr_desc(s->mr) : NULL;
    struct iovec iov = { s->bytes, o->slab_bytes };
    struct fi_msg msg = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &s->context
    };
    ssize_t err = fi_recvmsg(o->ep, &msg, o->multi ? FI_MULTI_RECV : 0);
    if (err == 0) {
        s->posted = true;
        o->posted++;
    }
    return err;
}

/* As many are posted as should be. */
static ssize_t post_all(struct ofi *o)
{
    while (o->posted < o->want_posted) {
        struct slab *s = o->idle != NULL ? o->idle : slab_new(o);
        ssize_t err = s != NULL ? 0 : -FI_ENOMEM;
        if (s != NULL && s == o->idle)
            o->idle = s->next;
        if (err == 0 && (err = post_slab(o, s)) != 0) {
            s->next = o->idle;
            o->idle = s;
        }
        if (err != 0)
            return err;
    }
    return 0;
}

static void ofi_let_go(struct ofi *o, struct slab *s)
{
    if (s->users > 0 || s->posted)
        return;
    s->next = o->idle;
    o->idle = s;
}

static void ofi_release(struct dev *d, void *owner)
{
    struct slab *s = owner;
    s->users--;
    ofi_let_go(ofi_of(d), s);
}

static void received(struct ofi *o, const struct fi_cq_data_entry *e)
{
    struct slab *s = e->op_context;
    if (!o->multi || e->flags & FI_MULTI_RECV) {
        s->posted = false;
        o->posted--;
    }
    if (e->flags & FI_RECV && e->len >= sizeof(struct rdm_head)) {
        const unsigned char *head = o->multi ? e->buf : s->bytes;
        s->users++;
        rdm_arrived(&o->dev, head, head + sizeof(struct rdm_head), e->len - sizeof(struct rdm_head), s);
    } else {
        if (e->flags & FI_RECV)
            rdm_stranger(&o->dev);
        ofi_let_go(o, s);
    }
}

/* ---- completions ---- */

/* The peer has refused an operation on its memory, and is well. */
static bool is_refusal(int err)
{
    return err == FI_EACCES || err == FI_EINVAL || err == FI_ENOKEY || err == FI_EPERM;
}

/* Completions have been lost (fi_cq(3), "overrun"), or the library can give none: nobody is told any more what has
 * been sent. */
static void lost(struct ofi *o, int err)
{
    char text[100];
    snprintf(text, sizeof text, "the completion queue cannot be used: %s", fi_strerror(err));
    for (struct dev_peer *p = o->dev.known; p != NULL; p = p->next_known)
        rdm_broken(p, text);
}

static void ofi_failed(struct ofi *o)
{
    struct fi_cq_err_entry e = { 0 };
    char text[100];
    const char *why;
    if (fi_cq_readerr(o->cq, &e, 0) != 1)
        return;
    if (e.err == FI_EOVERRUN)
        lost(o, FI_EOVERRUN);
    if (e.op_context == NULL)
        return;
    why = e.prov_errno != 0 ? fi_cq_strerror(o->cq, e.prov_errno, e.err_data, NULL, 0) : NULL;
    snprintf(text, sizeof text, "%s%s%s", fi_strerror(e.err), why != NULL ? ": " : "",
             why != NULL ? why : "");
    if (is_slab(e.op_context)) {
        struct slab *s = e.op_context;
        if (s->posted && (!o->multi || e.flags & FI_MULTI_RECV || e.err == FI_ECANCELED)) {
            s->posted = false; /* and never posted again: see above */
            o->posted--;
        }
    } else {
        struct rdm_op *op = e.op_context;
        bool refused = op->what == RDM_OP_MEMORY && is_refusal(e.err);
        if (!refused)
            rdm_broken(op->link, text);
        leave_local(op);
        rdm_done(op, refused ? DEV_ERROR : DEV_PEER_GONE);
    }
}

static void poll_cq(struct dev *d)
{
    struct ofi *o = ofi_of(d);
    struct fi_cq_data_entry e[BATCH];
    ssize_t n = fi_cq_read(o->cq, e, BATCH);
    if (n == -FI_EAVAIL)
        ofi_failed(o);
    else if (n < 0 && n != -FI_EAGAIN && n != -FI_EINTR)
        lost(o, (int)-n);
    for (ssize_t i = 0; i < n; i++) {
        if (e[i].op_context == NULL)
            continue;
        if (is_slab(e[i].op_context))
            received(o, &e[i]);
        else {
            leave_local(e[i].op_context);
            rdm_done(e[i].op_context, DEV_OK);
        }
    }
    if (o->posted < o->want_posted)
        post_all(o);
}

static bool arm(struct dev *d)
{
    struct ofi *o = ofi_of(d);
    struct fid *fids[] = { &o->cq->fid };
    return fi_trywait(o->fabric, fids, 1) == FI_SUCCESS;
}

/* ---- sending ---- */

static dev_status ofi_post(struct dev_peer *p, struct rdm_op *op, const struct dev_iov *iov, int n)
{
    struct ofi *o = ofi_of(p->dev);
    fi_addr_t to = (fi_addr_t)(uintptr_t)p->to;
    void *desc = op->desc != NULL ? fi_mr_desc(op->desc) : NULL;
    struct iovec pieces[RDM_PIECES];
    void *descs[RDM_PIECES] = { NULL };
    if (n == 1)
        return ofi_answer(p, fi_send(o->ep, iov[0].base, iov[0].len, desc, to, op->context));
    for (int i = 0; i < n; i++)
        pieces[i] = (struct iovec){ (void *)(uintptr_t)iov[i].base, iov[i].len };
    return ofi_answer(p, fi_sendv(o->ep, pieces, descs, (size_t)n, to, op->context));
}

static dev_status inject(struct dev_peer *p, const void *bytes, size_t len)
{
    struct ofi *o = ofi_of(p->dev);
    dev_status st;
    if (len > o->inject_most)
        return DEV_NO_SUPPORT;
    st = ofi_answer(p, fi_inject(o->ep, bytes, len, (fi_addr_t)(uintptr_t)p->to));
    return st == DEV_QUEUED ? DEV_OK : st;
}

/* ---- addresses: of what kind it is, then the library's ---- */

struct kind {
    uint32_t format, protocol; /* little-endian */
};

static struct kind ofi_kind_of(const struct ofi *o)
{
    return (struct kind){ ku_le32(o->info->addr_format), ku_le32(o->info->ep_attr->protocol) };
}

static dev_status connect_to(struct dev_peer *p, const void *address, size_t len)
{
    struct ofi *o = ofi_of(p->dev);
    struct kind kind = ofi_kind_of(o);
    fi_addr_t to;
    if (len <= sizeof kind || memcmp(address, &kind, sizeof kind) != 0 ||
        fi_av_insert(o->av, (const char *)address + sizeof kind, 1, &to, 0, NULL) != 1)
        return DEV_NO_SUPPORT;
    p->to = (void *)(uintptr_t)to;
    return DEV_OK;
}

static void disconnect(struct dev_peer *p)
{
    (void)p; /* what is under way may still name the entry; it goes with the vector */
}

static size_t address(const struct dev *d, void *buf, size_t cap)
{
    const struct ofi *o = ofi_of(d);
    return rdm_address(d, o->address, o->address_bytes, buf, cap);
}

#define OF_MEMORY \
    .expose = ofi_expose, .unexpose = unexpose, .is_key = is_key, .forget = ofi_forget, .move = ofi_move, \
    .update = ofi_update

static const struct rdm_lib lib = {
    OF_MEMORY,        .connect = connect_to, .disconnect = disconnect, .post = ofi_post,
    .inject = inject, .poll = poll_cq,       .release = ofi_release,   .arm = arm,
};

static const struct rdm_lib lib_registering = {
    OF_MEMORY,
    .connect = connect_to,
    .disconnect = disconnect,
    .post = ofi_post,
    .inject = inject,
    .poll = poll_cq,
    .release = ofi_release,
    .arm = arm,
    .describe = ofi_describe,
    .undescribe = undescribe,
};

/* ---- opening ---- */

static const struct dev_knob knobs[] = {
    { .name = "OFI_PROVIDER",
      .type = DEV_KNOB_TEXT,
      .help = "the provider of libfabric that ch_ofi uses, as fi_info names it (tcp;ofi_rxm); without it the "
              "first that serves" },
    { .name = "OFI_ATOMICS",
      .type = DEV_KNOB_BOOL,
      .def = "no",
      .help = "updates of windows by the provider of libfabric: only where these are one step also for the "
              "processor's own updates, which libfabric does not promise" },
};

static void close_fid(struct fid *fid)
{
    if (fid != NULL)
        fi_close(fid);
}

/* Undo open_endpoint, of which not all need have been done. */
static void close_endpoint(struct ofi *o)
{
    rdm_free_buffers(&o->dev);
    if (o->ep != NULL)
        fi_close(&o->ep->fid);
    while (o->all != NULL) {
        struct slab *s = o->all;
        o->all = s->next_all;
        if (s->mr != NULL)
            fi_close(&s->mr->fid);
        free(s->bytes);
        free(s);
    }
    close_fid(o->cq != NULL ? &o->cq->fid : NULL);
    close_fid(o->av != NULL ? &o->av->fid : NULL);
    close_fid(o->domain != NULL ? &o->domain->fid : NULL);
    close_fid(o->fabric != NULL ? &o->fabric->fid : NULL);
    o->ep = NULL;
    o->cq = NULL;
    o->av = NULL;
    o->domain = NULL;
    o->fabric = NULL;
    o->idle = NULL;
    o->posted = 0;
}

static struct fi_info *hints_for(uint64_t caps, const char *provider)
{
    struct fi_info *h = fi_allocinfo();
    if (h == NULL)
        return NULL;
    h->caps = caps;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->ep_attr->type = FI_EP_RDM;
    h->domain_attr->threading = FI_THREAD_DOMAIN;
    h->domain_attr->resource_mgmt = FI_RM_ENABLED;
    h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    h->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    if (provider != NULL && *provider != 0)
        h->fabric_attr->prov_name = strdup(provider);
    return h;
}

static int open_queue(struct ofi *o)
{
    struct fi_cq_attr attr = { .size = CQ_SIZE, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
    int err = fi_cq_open(o->domain, &attr, &o->cq, NULL);
    if (err == 0)
        return 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(o->domain, &attr, &o->cq, NULL);
}

static bool has_card(const struct fi_info *i)
{
    return i->nic != NULL && i->nic->link_attr != NULL && i->nic->link_attr->speed > 0;
}

static bool is_fetched_by_processor(const struct fi_info *i)
{
    return i->ep_attr->protocol == FI_PROTO_RXM && !has_card(i) &&
           i->domain_attr->data_progress != FI_PROGRESS_AUTO;
}

static void set_limits(struct ofi *o)
{
    const struct fi_info *i = o->info;
    size_t room = i->tx_attr->size > 0 && i->tx_attr->size < OUTSTANDING ? i->tx_attr->size : OUTSTANDING;
    o->multi = i->caps & FI_MULTI_RECV && i->rx_attr->comp_order & ORDER_STRICT;
    o->local_mr = i->domain_attr->mr_mode & FI_MR_LOCAL;
    o->dev.lib = o->local_mr ? &lib_registering : &lib;
    o->dev.most_outstanding = (uint32_t)room;
    o->dev.pieces = i->tx_attr->iov_limit < RDM_PIECES ? (int)i->tx_attr->iov_limit : RDM_PIECES;
    o->dev.max_send = is_fetched_by_processor(i) ? EAGER : RDM_LARGE;
    o->dev.max_lying = o->local_mr ? 0 : o->multi ? LYING : o->dev.max_send;
    o->dev.near_only = i->addr_format == FI_ADDR_STR;
    o->dev.has_memory = o->delivery;
    o->updates = o->delivery && i->caps & FI_ATOMIC;
    o->dev.max_moved = i->ep_attr->max_msg_size;
    o->inject_most = i->tx_attr->inject_size;
    o->slab_bytes = o->multi ? SLAB_BYTES : sizeof(struct rdm_head) + RDM_LARGE + 8;
    o->want_posted = o->multi ? SLABS : SINGLES;
}

/* Can the provider tell when a put is done at the peer? */
static bool has_delivery(const struct fi_info *info)
{
    struct fi_info *hints = fi_dupinfo(info), *found = NULL;
    bool has = false;
    if (hints != NULL) {
        hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
        has = fi_getinfo(API, NULL, NULL, 0, hints, &found) == 0;
        fi_freeinfo(hints);
    }
    if (found != NULL)
        fi_freeinfo(found);
    return has;
}

static int open_endpoint(struct ofi *o)
{
    struct fi_av_attr av = { .type = FI_AV_TABLE };
    size_t least = sizeof(struct rdm_head) + LYING;
    int err = fi_fabric(o->info->fabric_attr, &o->fabric, NULL);
    o->delivery = o->info->caps & FI_RMA && has_delivery(o->info);
    set_limits(o);
    err = err != 0 ? err : fi_domain(o->fabric, o->info, &o->domain, NULL);
    err = err != 0 ? err : fi_endpoint(o->domain, o->info, &o->ep, NULL);
    err = err != 0 ? err : fi_av_open(o->domain, &av, &o->av, NULL);
    err = err != 0 ? err : open_queue(o);
    err = err != 0 ? err : fi_ep_bind(o->ep, &o->av->fid, 0);
    err = err != 0 ? err : fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV);
    err = err != 0 ? err : fi_enable(o->ep);
    if (err == 0 && o->multi) /* enabled first: shm of libfabric 1.17 would read what it has not made */
        fi_setopt(&o->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
    err = err != 0 ? err : (int)post_all(o);
    if (err == 0) {
        struct kind kind = ofi_kind_of(o);
        size_t n = sizeof o->address - sizeof kind;
        memcpy(o->address, &kind, sizeof kind);
        err = fi_getname(&o->ep->fid, o->address + sizeof kind, &n);
        o->address_bytes = sizeof kind + n;
    }
    return err;
}

static bool serves(const struct fi_info *i, const struct dev_world *w)
{
    return (i->addr_format != FI_ADDR_STR || w->size == w->local_size) &&
           (i->ep_attr->max_msg_size == 0 ||
            i->ep_attr->max_msg_size >= sizeof(struct rdm_head) + RDM_LARGE + 8);
}

/* The first of the list that opens. */
static dev_status open_one_of(struct ofi *o, struct fi_info *list)
{
    int err = -FI_ENODATA;
    for (struct fi_info *i = list; i != NULL; i = i->next) {
        if (!serves(i, &o->dev.world))
            continue;
        o->info = fi_dupinfo(i);
        o->unregistered[0] = 0;
        if (o->info != NULL && i->ep_attr->protocol == FI_PROTO_RXM) {
            /* Without it ofi_rxm of libfabric 2.1 has crashed in fi_av_insert. */
            o->info->caps |= FI_SOURCE;
            o->info->rx_attr->caps |= FI_SOURCE;
        }
        err = o->info != NULL ? open_endpoint(o) : -FI_ENOMEM;
        if (err == 0)
            return DEV_OK;
        rdm_say(&o->dev, "provider %s does not open: %s", i->fabric_attr->prov_name,
                o->unregistered[0] != 0 ? o->unregistered : fi_strerror(-err));
        close_endpoint(o);
        fi_freeinfo(o->info);
        o->info = NULL;
    }
    if (err == -FI_ENODATA)
        rdm_say(&o->dev, "no provider of libfabric has reliable datagrams here");
    return DEV_NO_SUPPORT;
}

/* libfabric makes queues of ofi_rxm as long as for 256 peers, 25 MB, which it touches one place after the other.
 * It is told how many there are, unless the user has; programs that this process starts are not. */
static int get_info(struct ofi *o, struct fi_info *hints, struct fi_info **list)
{
    static const char name[] = "FI_UNIVERSE_SIZE";
    bool said = getenv(name) != NULL;
    char peers[16];
    int err;
    snprintf(peers, sizeof peers, "%d", (int)o->dev.world.size);
    if (!said)
        setenv(name, peers, 1);
    err = fi_getinfo(API, NULL, NULL, 0, hints, list);
    if (!said)
        unsetenv(name);
    return err;
}

static dev_status open_by_hints(struct ofi *o)
{
    static const uint64_t wishes[] = { FI_MSG | FI_RMA | FI_ATOMIC | FI_MULTI_RECV,
                                       FI_MSG | FI_RMA | FI_ATOMIC,
                                       FI_MSG | FI_RMA | FI_MULTI_RECV,
                                       FI_MSG | FI_MULTI_RECV,
                                       FI_MSG | FI_RMA,
                                       FI_MSG };
    const char *provider = o->dev.up.knob(o->dev.up.core, "OFI_PROVIDER");
    struct fi_info *hints, *list = NULL;
    dev_status st = DEV_NO_SUPPORT;
    int err = 0;
    for (size_t i = o->dev.up.knob_number(o->dev.up.core, "OFI_ATOMICS") != 0 ? 0 : 2;
         i < sizeof wishes / sizeof *wishes && st != DEV_OK; i++) {
        hints = hints_for(wishes[i], provider);
        err = hints != NULL ? get_info(o, hints, &list) : -FI_ENOMEM;
        if (err == 0) {
            st = open_one_of(o, list);
            fi_freeinfo(list);
        }
        fi_freeinfo(hints);
    }
    if (st != DEV_OK && err != 0)
        rdm_say(&o->dev, "libfabric %u.%u has no provider%s%s for reliable datagrams here: %s",
                FI_MAJOR(fi_version()), FI_MINOR(fi_version()), provider != NULL && *provider ? " " : "",
                provider != NULL ? provider : "", fi_strerror(-err));
    return st;
}

static void ofi_fini(struct dev *d)
{
    if (d == NULL)
        return;
    struct ofi *o = ofi_of(d);
    close_endpoint(o);
    if (o->info != NULL)
        fi_freeinfo(o->info);
    rdm_fini(d);
    free(o);
}

static int descriptor(struct ofi *o)
{
    int fd = -1;
    return fi_control(&o->cq->fid, FI_GETWAIT, &fd) == 0 ? fd : -1;
}

static dev_status ofi_open(const struct dev_services *services, const struct dev_world *world,
                           struct dev **dev)
{
    struct ofi *o;
    dev_status st;
    sigset_t signals;
    if (world->size < 2) {
        services->error(services->core, "ofi: there is nobody to talk to");
        return DEV_NO_SUPPORT;
    }
    o = calloc(1, sizeof *o);
    if (o == NULL) {
        services->error(services->core, "ofi: out of memory");
        return DEV_ERROR;
    }
    rdm_init(&o->dev, "ofi", &lib, services, world);
    ku_hush(&signals, 0);
    st = open_by_hints(o);
    ku_hush_end(&signals);
    if (st == DEV_OK)
        st = rdm_open(&o->dev, descriptor(o));
    if (st != DEV_OK) {
        ofi_fini(&o->dev);
        return st;
    }
    if (rdm_asks_card(&o->dev, has_card(o->info) ? 1800 : 0))
        rdm_measure(&o->dev, o->address, o->address_bytes);
    *dev = &o->dev;
    return DEV_OK;
}

/* Costs: of a network card what it says of its link, and what was measured; of what the processor does, estimates. */
static void ofi_caps(const struct dev *d, struct dev_caps *caps)
{
    const struct ofi *o = ofi_of(d);
    bool card = has_card(o->info);
    *caps = (struct dev_caps){
        .max_short = RDM_SHORT,
        .max_send = d->max_send,
        .max_lying = d->max_lying,
        .latency_ns = rdm_latency(d, d->near_only ? 3000 : 12000),
        .bandwidth_mbs = card ? (uint32_t)(o->info->nic->link_attr->speed / 8000000) : 2500,
        .reach = d->near_only ? DEV_REACH_NODE : DEV_REACH_ANY,
        .mem_kinds = 1u << DEV_MEM_HOST,
        .unaided = d->has_memory && (card || o->info->domain_attr->data_progress == FI_PROGRESS_AUTO),
        .no_atomic = !o->updates
    };
}

/* Does libfabric keep registrations, and so notice what becomes of the memory?  False: each is made anew. */
static bool keeps_registrations(void)
{
    static const struct {
        const char *name, *off;
    } rows[] = { { "FI_MR_CACHE_MONITOR", "disabled" }, { "FI_MR_CACHE_MAX_COUNT", "0" } };
    bool keeps = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *is = getenv(rows[i].name);
        keeps = keeps && (is == NULL || strcmp(is, rows[i].off) != 0);
    }
    return keeps;
}

static int ofi_about(const struct dev *d, char *text, size_t cap)
{
    const struct ofi *o = ofi_of(d);
    uint64_t pins = FI_MR_LOCAL | FI_MR_ALLOCATED;
    int n = snprintf(text, cap, "libfabric %u.%u, provider %.40s on %.40s%s", FI_MAJOR(fi_version()),
                     FI_MINOR(fi_version()), o->info->fabric_attr->prov_name, o->info->domain_attr->name,
                     !(o->info->domain_attr->mr_mode & pins) ? ""
                     : keeps_registrations()                 ? ", which registers memory and keeps that"
                                             : ", which registers memory and does not keep that");
    return rdm_about(d, text, cap, n);
}

static const struct dev_mem_ops ofi_mem = { .size = sizeof ofi_mem, RDM_MEM_SLOTS, .atomic = rdm_atomic };

static const struct dev_ops ofi_ops = {
    .size = sizeof ofi_ops,
    .version = DEV_VERSION,
    .name = "ofi",
    .reach = DEV_REACH_ANY,
    .open = ofi_open,
    .caps = ofi_caps,
    .close = rdm_close,
    .fini = ofi_fini,
    .address = address,
    RDM_SLOTS,
    .about = ofi_about,
    .mem = &ofi_mem,
    .knobs = knobs,
    .nknobs = sizeof knobs / sizeof *knobs,
    .knob_size = sizeof knobs[0],
};

__attribute__((visibility("default"))) const struct dev_ops *keel_device(void);

const struct dev_ops *keel_device(void)
{
    return &ofi_ops;
}
