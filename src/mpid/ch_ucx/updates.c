/* SPDX-License-Identifier: BSD-3-Clause */
/* updates.c: does an endpoint's transport update the memory of its peer by itself, as one step to the processors
 * there, too?
 *
 * UCX takes updates by any endpoint, and where the transport has none it emulates them by messages: up to 1.13
 * always, from 1.18 on not by an endpoint that tells of deaths.  There the first update ends in an error, and the
 * endpoint with it.  So it is asked beforehand: UCP names the transports of an endpoint, and UCT what each of them
 * can do. */
#include "updates.h"
#include <string.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#if UCP_API_VERSION < UCP_VERSION(1, 14)

/* It does not name them. */
bool dev_ucx_updates(struct ucx_transport *known, ucp_ep_h ep)
{
    (void)known;
    (void)ep;
    return false;
}

#else

enum { LANES = 16 };

/* The operations that to_ucx (ucx.c) has, of 4 and of 8 bytes, with the old value. */
static bool has_all(const struct uct_iface_attr *can)
{
    const uint64_t all = 1u << UCT_ATOMIC_OP_ADD | 1u << UCT_ATOMIC_OP_AND | 1u << UCT_ATOMIC_OP_OR |
                         1u << UCT_ATOMIC_OP_XOR | 1u << UCT_ATOMIC_OP_SWAP | 1u << UCT_ATOMIC_OP_CSWAP;
    return (can->cap.flags & UCT_IFACE_FLAG_ATOMIC_CPU) != 0 && (can->cap.atomic32.fop_flags & all) == all &&
           (can->cap.atomic64.fop_flags & all) == all;
}

/* What the transport says of itself when it is open. */
static bool ask(uct_md_h md, uct_worker_h worker, const uct_tl_resource_desc_t *r)
{
    uct_iface_params_t params = { .field_mask =
                                      UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
                                  .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
                                  .mode.device = { .tl_name = r->tl_name, .dev_name = r->dev_name } };
    uct_iface_config_t *config;
    uct_iface_attr_t can;
    uct_iface_h iface;
    bool has = false;
    if (uct_md_iface_config_read(md, r->tl_name, NULL, NULL, &config) != UCS_OK)
        return false;
    if (uct_iface_open(md, worker, &params, config, &iface) == UCS_OK) {
        has = uct_iface_query(iface, &can) == UCS_OK && has_all(&can);
        uct_iface_close(iface);
    }
    uct_config_release(config);
    return has;
}

/* Is it one of this domain of memory, and has it updates? */
static bool ask_domain(uct_component_h component, const char *name, uct_worker_h worker,
                       const struct ucx_transport *t)
{
    uct_md_config_t *config;
    uct_tl_resource_desc_t *list;
    uct_md_h md;
    unsigned n;
    bool has = false;
    if (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK)
        return false;
    if (uct_md_open(component, name, config, &md) == UCS_OK) {
        if (uct_md_query_tl_resources(md, &list, &n) == UCS_OK) {
            for (unsigned i = 0; i < n && !has; i++)
                has = strcmp(list[i].tl_name, t->name) == 0 && strcmp(list[i].dev_name, t->device) == 0 &&
                      ask(md, worker, &list[i]);
            uct_release_tl_resource_list(list);
        }
        uct_md_close(md);
    }
    uct_config_release(config);
    return has;
}

static bool ask_component(uct_component_h component, uct_worker_h worker, const struct ucx_transport *t)
{
    uct_component_attr_t attr = { .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT };
    bool has = false;
    if (uct_component_query(component, &attr) != UCS_OK || attr.md_resource_count == 0)
        return false;
    uct_md_resource_desc_t domains[attr.md_resource_count];
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = domains;
    if (uct_component_query(component, &attr) != UCS_OK)
        return false;
    for (unsigned i = 0; i < attr.md_resource_count && !has; i++)
        has = ask_domain(component, domains[i].md_name, worker, t);
    return has;
}

static bool ask_all(uct_worker_h worker, const struct ucx_transport *t)
{
    uct_component_h *list;
    unsigned n;
    bool has = false;
    if (uct_query_components(&list, &n) != UCS_OK)
        return false;
    for (unsigned i = 0; i < n && !has; i++)
        has = ask_component(list[i], worker, t);
    uct_release_component_list(list);
    return has;
}

/* By a worker that makes no thread. */
static bool has_updates(const struct ucx_transport *t)
{
    ucs_async_context_t *async;
    uct_worker_h worker;
    bool has = false;
    if (ucs_async_context_create(UCS_ASYNC_MODE_POLL, &async) != UCS_OK)
        return false;
    if (uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker) == UCS_OK) {
        has = ask_all(worker, t);
        uct_worker_destroy(worker);
    }
    ucs_async_context_destroy(async);
    return has;
}

/* As has_updates, asked once for each: an interface of a card takes milliseconds to open. */
static bool recall(struct ucx_transport *known, const ucp_transport_entry_t *t)
{
    struct ucx_transport one = { .asked = true };
    int i = 0;
    strncpy(one.name, t->transport_name, sizeof one.name - 1);
    strncpy(one.device, t->device_name, sizeof one.device - 1);
    while (i < UCX_TRANSPORTS && known[i].asked)
        if (strcmp(known[i].name, one.name) == 0 && strcmp(known[i].device, one.device) == 0)
            return known[i].has;
        else
            i++;
    one.has = has_updates(&one);
    if (i < UCX_TRANSPORTS)
        known[i] = one;
    return one.has;
}

bool dev_ucx_updates(struct ucx_transport *known, ucp_ep_h ep)
{
    ucp_transport_entry_t lanes[LANES];
    ucp_ep_attr_t attr = { .field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
                           .transports = {
                               .entries = lanes, .num_entries = LANES, .entry_size = sizeof lanes[0] } };
    bool has = false;
    if (ucp_ep_query(ep, &attr) != UCS_OK)
        return false;
    for (unsigned i = 0; i < attr.transports.num_entries && !has; i++)
        has = recall(known, &lanes[i]);
    return has;
}

#endif
