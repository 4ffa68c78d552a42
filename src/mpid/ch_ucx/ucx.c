/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx.c: the device over UCX, a plug-in.  What is not UCX's is in src/mpid/rdm.
 *
 * A packet is an active message: struct rdm_head is its header, the body its data.  UCX keeps what has come until
 * it has been handed up.  An endpoint is made when something is sent; UCX chooses what carries it, by its own
 * configuration (UCX_TLS, ...). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <unistd.h>
#include "mpid/rdm/rdm.h"
#include "updates.h"

enum {
    AM_ID = 1,
    LYING = 1 << 30,       /* bytes of a body */
    ANNOUNCED = 192 << 10, /* from here on a body in one piece goes by UCX's rendezvous */
    POLLS = 16,
    CLOSE_MS = 2000,
    SETTLE_MS = 40
};

struct ucx {
    struct dev dev;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_bytes;
    size_t rkey_bytes;
    bool heard; /* a packet has come in this poll: it goes up before more is looked for */
    bool blind; /* what UCX_TLS leaves cannot tell of deaths, or is not to: the launcher alone does */
    /* what carries packets out of this node updates memory by itself (updates.c); known when the device is open */
    bool updates;
    struct ucx_transport transports[UCX_TRANSPORTS];
};

static struct ucx *ucx_of(const struct dev *d)
{
    return (struct ucx *)(uintptr_t)d;
}

/* ---- receiving ---- */

static ucs_status_t arrived(void *arg, const void *header, size_t header_bytes, void *data, size_t len,
                            const ucp_am_recv_param_t *param)
{
    struct ucx *u = arg;
    bool announced = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    bool kept = announced || (len > 0 && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
    u->heard = true;
    if (header_bytes != sizeof(struct rdm_head) || (len > 0 && !kept)) {
        rdm_stranger(&u->dev);
        return UCS_OK;
    }
    if (announced)
        rdm_announced(&u->dev, header, len, data);
    else
        rdm_arrived(&u->dev, header, data, len, kept ? data : NULL);
    return kept ? UCS_INPROGRESS : UCS_OK;
}

static void ucx_release(struct dev *d, void *owner)
{
    if (owner != NULL)
        ucp_am_data_release(ucx_of(d)->worker, owner);
}

/* ---- peers ---- */

static void broke(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    rdm_broken(arg, ucs_status_string(status));
}

/* UCX says on stderr that it has no transport which tells of deaths: once, as it is not asked for one again. */
static ucs_status_t make_endpoint(struct dev_peer *p, const void *address, ucp_ep_h *ep)
{
    struct ucx *u = ucx_of(p->dev);
    ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                             UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                             UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                               .address = address,
                               .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                               .err_handler = { broke, p } };
    ucs_status_t st = u->blind ? UCS_ERR_UNREACHABLE : ucp_ep_create(u->worker, &params, ep);
    if (st != UCS_ERR_UNREACHABLE)
        return st;
    u->blind = true;
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    params.field_mask &= ~(uint64_t)UCP_EP_PARAM_FIELD_ERR_HANDLER;
    return ucp_ep_create(u->worker, &params, ep);
}

static dev_status connect_to(struct dev_peer *p, const void *address, size_t len)
{
    struct ucx *u = ucx_of(p->dev);
    ucp_ep_h ep;
    ucs_status_t st;
    void *aligned = malloc(len); /* UCX reads words of it */
    if (aligned == NULL)
        return DEV_ERROR;
    st = make_endpoint(p, memcpy(aligned, address, len), &ep);
    free(aligned);
    if (st != UCS_OK)
        return DEV_NO_SUPPORT;
    p->to = ep;
    p->updates = u->updates && dev_ucx_updates(u->transports, ep);
    return DEV_OK;
}

/* Begin to close an endpoint: NULL, or what to wait for.  One that does not tell of deaths cannot be closed by
 * force: it goes with the worker. */
static ucs_status_ptr_t begin_close(struct dev_peer *p, bool force)
{
    ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                  .flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0 };
    bool can = p->to != NULL && !(force && ucx_of(p->dev)->blind);
    ucs_status_ptr_t r = can ? ucp_ep_close_nbx(p->to, &param) : NULL;
    p->to = NULL;
    return UCS_PTR_IS_PTR(r) ? r : NULL;
}

static void disconnect(struct dev_peer *p)
{
    ucs_status_ptr_t r = begin_close(p, true);
    if (r != NULL)
        ucp_request_free(r); /* when it is done */
}

/* ---- sending ---- */

static void sent(void *request, ucs_status_t status, void *arg)
{
    struct rdm_op *op = arg;
    if (status != UCS_OK)
        rdm_broken(op->link, ucs_status_string(status));
    rdm_done(op, status == UCS_OK ? DEV_OK : DEV_PEER_GONE);
    ucp_request_free(request);
}

/* What UCX has answered: DEV_OK, it is done. */
static dev_status ucx_answer(struct dev_peer *p, ucs_status_ptr_t r)
{
    if (r == NULL)
        return DEV_OK;
    if (UCS_PTR_IS_PTR(r))
        return DEV_QUEUED;
    switch (UCS_PTR_STATUS(r)) {
    case UCS_ERR_NO_RESOURCE:
    case UCS_ERR_NO_MEMORY:
        return DEV_AGAIN;
    case UCS_ERR_UNSUPPORTED:
        return DEV_NO_SUPPORT;
    default:
        rdm_broken(p, ucs_status_string(UCS_PTR_STATUS(r)));
        return DEV_PEER_GONE;
    }
}

static void body_here(void *request, ucs_status_t status, size_t len, void *arg)
{
    (void)len;
    sent(request, status, arg);
}

static dev_status ucx_take(struct dev *d, struct rdm_op *op, void *owner, void *to, size_t len)
{
    ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                  .cb.recv_am = body_here,
                                  .user_data = op };
    return ucx_answer(op->link, ucp_am_recv_data_nbx(ucx_of(d)->worker, owner, to, len, &param));
}

static dev_status ucx_post(struct dev_peer *p, struct rdm_op *op, const struct dev_iov *iov, int n)
{
    ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                  UCP_OP_ATTR_FIELD_FLAGS,
                                  .flags = UCP_AM_SEND_FLAG_EAGER,
                                  .cb.send = sent,
                                  .user_data = op };
    size_t head = sizeof op->head, count = n == 1 ? iov[0].len - head : iov[1].len;
    const void *data = n == 1 ? (const char *)iov[0].base + head : iov[1].base;
    ucp_dt_iov_t *pieces = (ucp_dt_iov_t *)(void *)op->context; /* UCX wants it until the end */
    _Static_assert(sizeof op->context >= (RDM_PIECES - 1) * sizeof *pieces, "room for the pieces");
    if (n == 2 && count >= ANNOUNCED)
        param.flags = UCP_AM_SEND_FLAG_RNDV;
    if (n > 2) {
        for (int i = 1; i < n; i++)
            pieces[i - 1] = (ucp_dt_iov_t){ (void *)(uintptr_t)iov[i].base, iov[i].len };
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = ucp_dt_make_iov();
        data = pieces;
        count = (size_t)n - 1;
    }
    return ucx_answer(p, ucp_am_send_nbx(p->to, AM_ID, &op->head, head, data, count, &param));
}

/* ---- memory of peers: a key is UCX's packed rkey ---- */

static void *ucx_expose(struct dev *d, void *base, size_t len, unsigned char *key, size_t *key_bytes)
{
    struct ucx *u = ucx_of(d);
    ucp_mem_map_params_t params = { .field_mask =
                                        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                    .address = base,
                                    .length = len };
    ucp_mem_h mem;
    void *packed;
    size_t bytes;
    if (ucp_mem_map(u->context, &params, &mem) != UCS_OK)
        return NULL;
    if (ucp_rkey_pack(u->context, mem, &packed, &bytes) != UCS_OK) {
        ucp_mem_unmap(u->context, mem);
        return NULL;
    }
    if (bytes <= *key_bytes)
        memcpy(key, packed, bytes);
    ucp_rkey_buffer_release(packed);
    if (bytes > *key_bytes) {
        ucp_mem_unmap(u->context, mem);
        return NULL;
    }
    *key_bytes = bytes;
    return mem;
}

static void unexpose(struct dev *d, void *its)
{
    ucp_mem_unmap(ucx_of(d)->context, its);
}

static bool is_key(const struct dev_remote *r)
{
    return r->key_bytes == ucx_of(r->peer->dev)->rkey_bytes;
}

static void ucx_forget(struct dev_remote *r)
{
    ucp_rkey_destroy(r->its);
}

/* UCX's own form of the key, once there is an endpoint. */
static bool has_rkey(struct dev_remote *r)
{
    ucp_rkey_h rkey;
    if (r->its == NULL && ucp_ep_rkey_unpack(r->peer->to, r->key, &rkey) == UCS_OK)
        r->its = rkey;
    return r->its != NULL;
}

static ucp_request_param_t telling(struct rdm_op *op)
{
    return (ucp_request_param_t){ .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                  .cb.send = sent,
                                  .user_data = op };
}

static dev_status ucx_move(struct dev_remote *r, struct rdm_op *op, uint64_t offset, void *local, size_t len,
                           bool put)
{
    ucp_request_param_t param = telling(op);
    if (!has_rkey(r))
        return DEV_NO_SUPPORT;
    return ucx_answer(r->peer, put ? ucp_put_nbx(r->peer->to, local, len, r->base + offset, r->its, &param)
                                   : ucp_get_nbx(r->peer->to, local, len, r->base + offset, r->its, &param));
}

/* UCX has some of them, of 4 and 8 bytes. */
static bool to_ucx(enum keel_atomic_op op, ucp_atomic_op_t *its)
{
    static const struct {
        bool has;
        ucp_atomic_op_t op;
    } known[KEEL_ATOMIC_OPS] = {
        [KEEL_ATOMIC_FETCH] = { true, UCP_ATOMIC_OP_ADD }, /* of nothing */
        [KEEL_ATOMIC_REPLACE] = { true, UCP_ATOMIC_OP_SWAP },
        [KEEL_ATOMIC_SUM] = { true, UCP_ATOMIC_OP_ADD },
        [KEEL_ATOMIC_AND] = { true, UCP_ATOMIC_OP_AND },
        [KEEL_ATOMIC_OR] = { true, UCP_ATOMIC_OP_OR },
        [KEEL_ATOMIC_XOR] = { true, UCP_ATOMIC_OP_XOR },
        [KEEL_ATOMIC_COMPARE_SWAP] = { true, UCP_ATOMIC_OP_CSWAP },
    };
    *its = known[op].op;
    return known[op].has;
}

/* One step also for the processor there: the context asks for that (open_context).  Never by messages of UCX's:
 * the core has its own. */
static dev_status ucx_update(struct dev_remote *r, struct rdm_op *op, uint64_t offset,
                             enum keel_atomic_op what, enum keel_atomic_type type)
{
    struct rdm_amo *amo = (struct rdm_amo *)(void *)op->body;
    ucp_request_param_t param = telling(op);
    size_t n = keel_atomic_bytes(type);
    bool swaps = what == KEEL_ATOMIC_COMPARE_SWAP; /* UCX wants what is to be put in the place of the reply */
    ucp_atomic_op_t its;
    if (n < 4 || type >= KEEL_FLOAT || !r->peer->updates || !to_ucx(what, &its) || !has_rkey(r))
        return DEV_NO_SUPPORT;
    if (swaps)
        amo->old = amo->operand;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype = ucp_dt_make_contig(n);
    param.reply_buffer = &amo->old;
    return ucx_answer(r->peer, ucp_atomic_op_nbx(r->peer->to, its, swaps ? &amo->compare : &amo->operand, 1,
                                                 r->base + offset, r->its, &param));
}

static dev_status ucx_flush(struct dev_peer *p, struct rdm_op *op)
{
    ucp_request_param_t param = telling(op);
    return ucx_answer(p, ucp_ep_flush_nbx(p->to, &param));
}

static void poll_worker(struct dev *d)
{
    struct ucx *u = ucx_of(d);
    u->heard = false;
    for (int i = 0; i < POLLS && !u->heard && ucp_worker_progress(u->worker) != 0; i++)
        ;
}

static bool arm(struct dev *d)
{
    return ucp_worker_arm(ucx_of(d)->worker) == UCS_OK;
}

static size_t address(const struct dev *d, void *buf, size_t cap)
{
    const struct ucx *u = ucx_of(d);
    return rdm_address(d, u->address, u->address_bytes, buf, cap);
}

static const struct rdm_lib lib = { .keeps = true,
                                    .connect = connect_to,
                                    .disconnect = disconnect,
                                    .post = ucx_post,
                                    .poll = poll_worker,
                                    .release = ucx_release,
                                    .take = ucx_take,
                                    .arm = arm,
                                    .expose = ucx_expose,
                                    .unexpose = unexpose,
                                    .is_key = is_key,
                                    .forget = ucx_forget,
                                    .move = ucx_move,
                                    .update = ucx_update,
                                    .flush = ucx_flush };

/* ---- opening and closing ---- */

/* UCX 1.13 lets no peer write to user memory by an endpoint that tells of deaths where the network cannot withdraw
 * a key again, as TCP:
 * it sends the body of a rendezvous in segments, which the receiver copies. */
static const struct dev_knob knobs[] = {
    { .name = "UCX_DEATHS",
      .type = DEV_KNOB_BOOL,
      .def = "yes",
      .help =
          "endpoints of UCX tell of peers that have died; no: the launcher alone does, and UCX may then move "
          "long messages without a copy where it does not otherwise" },
};

static void ucx_fini(struct dev *d)
{
    if (d == NULL)
        return;
    struct ucx *u = ucx_of(d);
    if (u->address != NULL)
        ucp_worker_release_address(u->worker, u->address);
    if (u->worker != NULL)
        ucp_worker_destroy(u->worker);
    if (u->context != NULL)
        ucp_cleanup(u->context);
    rdm_free_buffers(d);
    rdm_fini(d);
    free(u);
}

/* With UCX's own configuration, but that updates have to be one step for processors, too. */
static ucs_status_t open_context(struct ucx *u)
{
    ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                            .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | UCP_FEATURE_RMA |
                                        UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
                            .estimated_num_eps = (size_t)u->dev.world.size };
    ucp_config_t *config;
    ucs_status_t st = ucp_config_read(NULL, NULL, &config);
    if (st != UCS_OK)
        return st;
    st = ucp_config_modify(config, "ATOMIC_MODE", "cpu");
    if (st == UCS_OK)
        st = ucp_init(&params, config, &u->context);
    ucp_config_release(config);
    return st;
}

static ucs_status_t open_worker(struct ucx *u)
{
    ucp_worker_params_t worker = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE |
                                                 UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT,
                                   .thread_mode = UCS_THREAD_MODE_SERIALIZED,
                                   .am_alignment = 8 };
    ucp_am_handler_param_t handler = { .field_mask =
                                           UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                           UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                       .id = AM_ID,
                                       .flags = UCP_AM_FLAG_PERSISTENT_DATA,
                                       .cb = arrived,
                                       .arg = u };
    ucs_status_t st = open_context(u);
    if (st == UCS_OK)
        st = ucp_worker_create(u->context, &worker, &u->worker);
    if (st == UCS_OK)
        st = ucp_worker_set_am_recv_handler(u->worker, &handler);
    if (st == UCS_OK)
        st = ucp_worker_get_address(u->worker, &u->address, &u->address_bytes);
    return st;
}

/* How long a key is, the same for all memory: UCX does not check what it is given. */
static size_t rkey_bytes(struct ucx *u)
{
    unsigned char key[DEV_KEY_MAX];
    size_t bytes = RDM_KEY_MOST;
    void *its = ucx_expose(&u->dev, &u->dev, sizeof u->dev, key, &bytes);
    if (its == NULL)
        return 0;
    unexpose(&u->dev, its);
    return bytes;
}

/* Is there a network card that does more than a socket's? */
static bool has_card(void)
{
    DIR *dir = opendir("/sys/class/infiniband");
    bool found = false;
    struct dirent *e;
    while (dir != NULL && (e = readdir(dir)) != NULL)
        found = found || e->d_name[0] != '.';
    if (dir != NULL)
        closedir(dir);
    return found;
}

/* By an address of this worker.  False: UCX has no way there. */
static bool measure_by(struct ucx *u, uint32_t address_flags)
{
    ucp_worker_attr_t own = { .field_mask =
                                  UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
                              .address_flags = address_flags };
    bool reached;
    if (ucp_worker_query(u->worker, &own) != UCS_OK)
        return false;
    reached = rdm_measure(&u->dev, own.address, own.address_length);
    ucp_worker_release_address(u->worker, own.address);
    return reached;
}

/* What a card costs, and whether it updates memory by itself: by the address that names networks alone, as by the
 * whole one UCX would reach this process within it.  Where UCX is left without a network, by what it has. */
static void ucx_measure(struct ucx *u)
{
    bool blind = u->blind;
    if (!rdm_asks_card(&u->dev, has_card() ? 1700 : 0))
        return;
    u->updates = true; /* is to be found out (connect_to) */
    u->updates = (measure_by(u, UCP_WORKER_ADDRESS_FLAG_NET_ONLY) || measure_by(u, 0)) &&
                 u->dev.peers[u->dev.world.rank]->updates;
    u->blind = blind;
}

static dev_status ucx_open(const struct dev_services *services, const struct dev_world *world,
                           struct dev **dev)
{
    struct ucx *u;
    ucs_status_t why;
    dev_status st = DEV_NO_SUPPORT;
    sigset_t signals;
    int fd = -1;
    if (world->size < 2) {
        services->error(services->core, "ucx: there is nobody to talk to");
        return DEV_NO_SUPPORT;
    }
    u = calloc(1, sizeof *u);
    if (u == NULL) {
        services->error(services->core, "ucx: out of memory");
        return DEV_ERROR;
    }
    rdm_init(&u->dev, "ucx", &lib, services, world);
    u->dev.max_lying = LYING;
    u->blind = services->knob_number(services->core, "UCX_DEATHS") == 0;
    ku_hush(&signals, 0);
    why = open_worker(u);
    ku_hush_end(&signals);
    if (why == UCS_OK && ucp_worker_get_efd(u->worker, &fd) != UCS_OK)
        fd = -1; /* some transport cannot wake: it is looked at */
    if (why != UCS_OK)
        rdm_say(&u->dev, "UCX %s cannot be opened: %s", ucp_get_version_string(), ucs_status_string(why));
    else
        st = rdm_open(&u->dev, fd);
    u->dev.has_memory = st == DEV_OK && (u->rkey_bytes = rkey_bytes(u)) > 0;
    u->dev.max_moved = SIZE_MAX;
    if (st != DEV_OK) {
        ucx_fini(&u->dev);
        return st;
    }
    ucx_measure(u);
    *dev = &u->dev;
    return DEV_OK;
}

/* May an endpoint connect that UCX has made by itself, for a peer that has called? */
static bool may_connect(const struct dev *d)
{
    for (int32_t i = 0; i < d->world.size; i++)
        if (i != d->world.rank && (d->peers[i] == NULL || d->peers[i]->state != RDM_READY))
            return true;
    return false;
}

/* UCX 1.13 aborts the process if its worker goes while an endpoint connects.  It does not say whether one does: so
 * until nothing has happened for some time. */
static void ucx_settle(struct ucx *u, uint64_t end)
{
    uint64_t now = rdm_now(), last = now;
    for (; now < end && now - last < SETTLE_MS * 1000000ull; now = rdm_now())
        if (ucp_worker_progress(u->worker) != 0)
            last = now;
        else
            usleep(20);
}

static void ucx_close(struct dev *d)
{
    struct ucx *u = ucx_of(d);
    uint64_t end = rdm_now() + CLOSE_MS * 1000000ull;
    rdm_close(d);
    for (struct dev_peer *p = d->known; p != NULL; p = p->next_known) {
        ucs_status_ptr_t r = begin_close(p, p->got_bye || p->state >= RDM_DYING);
        while (r != NULL && ucp_request_check_status(r) == UCS_INPROGRESS && rdm_now() < end)
            if (ucp_worker_progress(u->worker) == 0)
                usleep(20);
        if (r != NULL)
            ucp_request_free(r);
    }
    if (may_connect(d))
        ucx_settle(u, end);
    rdm_drop_unread(d);
}

/* Costs: estimates, but what was measured. */
static void ucx_caps(const struct dev *d, struct dev_caps *caps)
{
    bool card = has_card();
    *caps = (struct dev_caps){ .max_short = RDM_SHORT,
                               .max_send = d->max_send,
                               .max_lying = d->max_lying,
                               .latency_ns = rdm_latency(d, 11000),
                               .bandwidth_mbs = card ? 10000 : 2500,
                               .reach = DEV_REACH_ANY,
                               .mem_kinds = 1u << DEV_MEM_HOST,
                               .stream = true,
                               .unaided = d->has_memory && card,
                               .no_atomic = !ucx_of(d)->updates };
}

static int about(const struct dev *d, char *text, size_t cap)
{
    const char *tls = getenv("UCX_TLS");
    int n = snprintf(text, cap, "UCX %s%s%.80s", ucp_get_version_string(), tls != NULL ? ", UCX_TLS=" : "",
                     tls != NULL ? tls : "");
    return rdm_about(d, text, cap, n);
}

static const struct dev_mem_ops ucx_mem = { .size = sizeof ucx_mem, RDM_MEM_SLOTS, .atomic = rdm_atomic };

static const struct dev_ops ucx_ops = {
    .size = sizeof ucx_ops,
    .version = DEV_VERSION,
    .name = "ucx",
    .reach = DEV_REACH_ANY,
    .open = ucx_open,
    .caps = ucx_caps,
    .close = ucx_close,
    .fini = ucx_fini,
    .address = address,
    RDM_SLOTS,
    .about = about,
    .mem = &ucx_mem,
    .knobs = knobs,
    .nknobs = sizeof knobs / sizeof *knobs,
    .knob_size = sizeof knobs[0],
};

__attribute__((visibility("default"))) const struct dev_ops *keel_device(void);

const struct dev_ops *keel_device(void)
{
    return &ucx_ops;
}
