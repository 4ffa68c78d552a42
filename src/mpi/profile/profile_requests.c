/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_requests.c: see profile_tables.h: the requests of which the profile has to know more than the call that gets
 * them says. */
#include "config.h"
#include <stdlib.h>
#include "profile_tables.h"

/* ---- Sends that are started: a hash table ---- */

static struct MPIR_Profiled_request *table; /* [requests_room] */
static uint32_t nrequests, requests_room;

static uint32_t request_at(const struct MPIR_Profiled_request *of, uint32_t room, uint64_t handle)
{
    uint32_t i = (uint32_t)MPIR_Profiled_mix(handle, 0) & (room - 1);
    while (of[i].handle && of[i].handle != handle)
        i = (i + 1) & (room - 1);
    return i;
}

static bool requests_grow(void)
{
    uint32_t room = requests_room ? 2 * requests_room : 64;
    struct MPIR_Profiled_request *more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < requests_room; i++)
        if (table[i].handle)
            more[request_at(more, room, table[i].handle)] = table[i];
    free(table);
    table = more;
    requests_room = room;
    return true;
}

/* Without memory it is not known. */
void MPIR_Profiled_keep(const struct MPIR_Profiled_request *r)
{
    if (!r->handle || (2 * (nrequests + 1) > requests_room && !requests_grow()))
        return;
    struct MPIR_Profiled_request *at = &table[request_at(table, requests_room, r->handle)];
    nrequests += !at->handle;
    *at = *r;
}

const struct MPIR_Profiled_request *MPIR_Profiled_kept(uint64_t handle)
{
    if (!nrequests || !handle)
        return NULL;
    const struct MPIR_Profiled_request *at = &table[request_at(table, requests_room, handle)];
    return at->handle ? at : NULL;
}

/* Those behind it move up, so that they are found. */
void MPIR_Profiled_drop(uint64_t handle)
{
    uint32_t i = nrequests ? request_at(table, requests_room, handle) : 0, mask = requests_room - 1;
    if (!nrequests || !table[i].handle)
        return;
    nrequests--;
    table[i].handle = 0;
    for (uint32_t j = (i + 1) & mask; table[j].handle; j = (j + 1) & mask) {
        struct MPIR_Profiled_request moved = table[j];
        table[j].handle = 0;
        table[request_at(table, requests_room, moved.handle)] = moved;
    }
}

/* ---- Collectives: the last ones, as many as fit ---- */

enum { SLOTS_KEPT = 256 };
static struct kept_slot {
    uint64_t handle, which;
} * slots;

void MPIR_Profiled_keep_slot(uint64_t handle, uint64_t which)
{
    if (slots || (slots = calloc(SLOTS_KEPT, sizeof *slots)))
        slots[MPIR_Profiled_mix(handle, 0) % SLOTS_KEPT] = (struct kept_slot){ handle, which };
}

uint64_t MPIR_Profiled_kept_slot(uint64_t handle)
{
    const struct kept_slot *s = slots ? &slots[MPIR_Profiled_mix(handle, 0) % SLOTS_KEPT] : NULL;
    return s && s->handle == handle ? s->which : 0;
}

void MPIR_Profiled_forget(void)
{
    free(table);
    free(slots);
    table = NULL;
    slots = NULL;
    nrequests = requests_room = 0;
}
