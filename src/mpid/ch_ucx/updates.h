/* SPDX-License-Identifier: BSD-3-Clause */
/* updates.h: which transports of UCX update memory of a peer by themselves (updates.c). */
#ifndef UCX_UPDATES_H
#define UCX_UPDATES_H

#include <stdbool.h>
#include <ucp/api/ucp.h>

enum { UCX_TRANSPORTS = 16 };

/* What has been found out of one, on one device. */
struct ucx_transport {
    bool asked, has;
    char name[16], device[40];
};

/* Has the endpoint a transport that has all updates of 4 and 8 bytes, as one step to the processors there, too?
 * `known`:
 * UCX_TRANSPORTS of them, zero at first. */
bool dev_ucx_updates(struct ucx_transport *known, ucp_ep_h ep);

#endif
