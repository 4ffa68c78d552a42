/* SPDX-License-Identifier: BSD-3-Clause */
/* elder.c: see elder.h. */
#include "elder.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/frames/frame_pack.h"
#include "servant.h"

static struct {
    bool joined;
    struct packets to;
    int asks; /* a rank whose environment is asked for; -1 */
} elder = { .to.fd = -1, .asks = -1 };

int elder_fd(void)
{
    return elder.joined ? elder.to.fd : crew.launch->elder > 0 ? crew.launch->elder : -1;
}

static void refuse(struct packets *daemon, int rank, const char *why)
{
    packets_send(daemon, PACKET_REFUSED, rank, why, strlen(why), -1);
}

/* As space_put says it. */
static void join(void)
{
    const struct launch *l = crew.launch;
    struct pack p = { 0 };
    char *name = xformat("keel-%016" PRIx64, crew.job_id);
    uint32_t universe = crew.segments[0].head->universe;
    packets_open(&elder.to, elder_fd());
    elder.joined = true;
    put_text(&p, name);
    put_u32(&p, universe > (uint32_t)l->size ? universe : (uint32_t)l->size);
    put_u32(&p, (uint32_t)l->napps);
    for (int i = 0; i < l->napps; i++)
        put_u32(&p, (uint32_t)l->apps[i].n);
    packets_send(&elder.to, PACKET_SPACE, 0, p.bytes, p.len, -1);
    free(p.bytes);
    free(name);
}

void elder_environment(struct packets *daemon, int rank)
{
    if (!elder.joined)
        join();
    elder.asks = rank;
    packets_send(&elder.to, PACKET_ENVIRON, rank, NULL, 0, -1);
    elder_hear(daemon);
}

bool elder_settle(int rank)
{
    if (!elder.joined || elder.to.fd < 0)
        return false;
    packets_send(&elder.to, PACKET_SETTLE, rank, NULL, 0, -1);
    return true;
}

static void take(struct packets *daemon, const struct packet *k)
{
    struct unpack u = { k->bytes, k->bytes + k->len, false };
    if (k->value < 0 || k->value >= crew.launch->size)
        return;
    if (k->what == PACKET_BEGUN)
        servant_begun(k->value);
    else if (k->what == PACKET_FINALIZED)
        servant_finalized(k->value);
    else if (k->what == PACKET_ABORTED)
        servant_aborted(k->value, (int)get_u32(&u), "");
    else if (k->what == PACKET_SET || k->what == PACKET_REFUSED || k->what == PACKET_SETTLED)
        packets_send(daemon, (enum packet_what)k->what, k->value, k->bytes, k->len, -1);
    if (k->what == PACKET_SET || k->what == PACKET_REFUSED)
        elder.asks = -1;
}

void elder_hear(struct packets *daemon)
{
    if (!elder.joined)
        return;
    packets_flush(&elder.to);
    for (struct packet *k; (k = packets_next(&elder.to)) != NULL; packet_free(k))
        take(daemon, k);
    if (elder.to.fd < 0 && elder.asks >= 0) {
        refuse(daemon, elder.asks, "the process that serves PMIx to the job that has spawned it has ended");
        elder.asks = -1;
    }
}
