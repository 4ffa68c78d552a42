/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.h: a device around a device, with the same table: it counts, delays, refuses, queues and loses. */
#ifndef DEV_HOOK_H
#define DEV_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "device.h"

/* What it does: nothing, where all is 0. */
struct dev_hook_how {
    uint32_t delay_us;   /* each packet is delivered so much after it came */
    uint32_t refuse;     /* percent of sends that answer DEV_AGAIN */
    uint32_t queue;      /* percent of sends that answer DEV_QUEUED instead of DEV_OK */
    uint32_t late;       /* percent of packets, with those behind them, that are delivered some looks later */
    uint32_t gone_after; /* a peer is gone when so many packets have been sent to it */
    bool stats;          /* show, when it is closed, what was counted */
    void (*show)(const char *text);
};

/* "delay:us=50,refuse:percent=10,queue:percent=5,late:percent=5,gone:after=1000,stats".  False: that is none; the
 * words are in ku_err_last(). */
bool dev_hook_parse(const char *text, struct dev_hook_how *how);

/* As inner->open, of the device with the hook around it. */
dev_status dev_hook_open(const struct dev_ops *inner, const struct dev_hook_how *how,
                         const struct dev_services *services, const struct dev_world *world,
                         struct dev **dev);

/* Its table but for `open`.  It has the optional operations that the inner one has; not `mem` and `near`, so that
 * the core goes its general way, by packets. */
void dev_hook_table(const struct dev_ops *inner, struct dev_ops *outer);

#endif
