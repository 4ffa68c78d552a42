/* SPDX-License-Identifier: BSD-3-Clause */
/* mailbox.h: what ch_stub keeps in a rank's area of the segment; all zero is an empty mailbox. */
#ifndef STUB_MAILBOX_H
#define STUB_MAILBOX_H

#include <stdatomic.h>
#include <stdint.h>
#include "device.h"
#include "util/segment.h"

enum { STUB_BODY = 4096 };
#define STUB_FREE 0u
#define STUB_WRITING 0x80000000u
#define STUB_FULL 0x40000000u
#define STUB_RANK 0x3fffffffu /* with WRITING and FULL: the sender's local rank */

struct stub_box {
    _Alignas(64) _Atomic uint32_t state;
    _Atomic uint32_t waiting; /* 1: some sender found it taken */
    uint32_t len;
    struct dev_head head;
    _Alignas(64) char body[STUB_BODY];
};

#endif
