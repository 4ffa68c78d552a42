#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# UCX 1.18.1 (Debian 13; 1.23.0rc1 of unstable likewise) over TCP: an atomic update (ucp_atomic_op_nbx) by an endpoint with
# UCP_ERR_HANDLING_MODE_PEER is not done.  The context has UCP_FEATURE_AMO64, and the endpoint, the key and a put by it are fine; the update ends in
# UCS_ERR_CANCELED ("Request canceled"), and the flush after it says UCS_OK.  With UCP_ERR_HANDLING_MODE_NONE it is emulated by messages and done; with
# UCX 1.13.1 (Debian 12) in both modes.  One would have guessed that the mode says how a peer's death is told, not what an endpoint can do, and
# that one that cannot would be refused when it is made, as endpoints are that cannot tell of deaths.
#
# Seen: mode none: put: Success; update: Success; flush: Success; counter 42
#       mode peer: put: Success; update: Request canceled; flush: Success; counter 41
. "$(dirname "$0")/common.sh"
system trixie libucx-dev=1.18.1+ds-2+b1 libucx0=1.18.1+ds-2+b1 gcc libc6-dev
cat >"$root/tmp/update.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <ucp/api/ucp.h>
static ucp_worker_h here, there; /* both of this process */
static const char *end_of(void *request)
{
    ucs_status_t status = UCS_PTR_STATUS(request);
    time_t late = time(NULL) + 20;
    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS && time(NULL) < late) {
            ucp_worker_progress(here);
            ucp_worker_progress(there);
        }
        ucp_request_free(request);
    }
    return ucs_status_string(status);
}
static void death(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
    printf("endpoint lost: %s; ", ucs_status_string(status));
}
static void must(ucs_status_t status)
{
    if (status != UCS_OK)
        printf("refused: %s; ", ucs_status_string(status));
}
static void update(ucp_context_h context, const char *name, ucp_err_handling_mode_t mode)
{
    ucp_worker_params_t worker = {0};
    ucp_ep_params_t to = {0};
    ucp_mem_map_params_t memory = {0};
    ucp_request_param_t plain = {0}, eight = {0};
    static uint64_t counter;
    uint64_t start = 41, one = 1;
    ucp_address_t *address;
    ucp_ep_h endpoint;
    ucp_mem_h mapped;
    ucp_rkey_h key;
    size_t size;
    void *packed;
    must(ucp_worker_create(context, &worker, &here));
    must(ucp_worker_create(context, &worker, &there));
    must(ucp_worker_get_address(there, &address, &size));
    to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    to.address = address;
    to.err_mode = mode;
    to.err_handler.cb = death;
    must(ucp_ep_create(here, &to, &endpoint));
    memory.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    memory.address = &counter;
    memory.length = sizeof counter;
    must(ucp_mem_map(context, &memory, &mapped));
    must(ucp_rkey_pack(context, mapped, &packed, &size));
    must(ucp_ep_rkey_unpack(endpoint, packed, &key));
    end_of(ucp_put_nbx(endpoint, &start, sizeof start, (uintptr_t)&counter, key, &plain));
    printf("mode %s: put: %s; ", name, end_of(ucp_ep_flush_nbx(endpoint, &plain)));
    eight.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    eight.datatype = ucp_dt_make_contig(sizeof one);
    printf("update: %s; ", end_of(ucp_atomic_op_nbx(endpoint, UCP_ATOMIC_OP_ADD, &one, 1, (uintptr_t)&counter, key, &eight)));
    printf("flush: %s; ", end_of(ucp_ep_flush_nbx(endpoint, &plain)));
    printf("counter %d\n", (int)counter);
    fflush(stdout);
}
int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ucp_context_h context;
    must(ucp_init(&params, NULL, &context));
    update(context, "none", UCP_ERR_HANDLING_MODE_NONE);
    update(context, "peer", UCP_ERR_HANDLING_MODE_PEER);
    return 0;
}
C
inside "$root" "gcc -o /tmp/update /tmp/update.c -lucp -lucs" || exit 1
seen=$(inside "$root" "UCX_TLS=tcp UCX_LOG_FILE=/tmp/log /tmp/update")
value() { sed -n "s/^mode $1: //p" <<<"$seen"; }
expect "mode none" "$(value none)" "put: Success; update: Success; flush: Success; counter 42"
expect "mode peer" "$(value peer)" "put: Success; update: Request canceled; flush: Success; counter 41"
