/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c: see link.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/base/util.h"
#include "link.h"
#include "util/le.h"

enum { READ_BYTES = 64 << 10, NOISE_MOST = 1 << 20 };

void link_init(struct link *l, int in, int out, bool banner)
{
    *l = (struct link){ .in = in, .out = out, .banner = !banner };
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
}

void link_close(struct link *l)
{
    if (l->in >= 0)
        close(l->in);
    if (l->out >= 0)
        close(l->out);
    free(l->rbuf);
    queue_free(&l->said);
    *l = (struct link){ .in = -1, .out = -1, .broken = true };
}

/* As it travels, and back. */
static struct frame frame_le(struct frame f)
{
    return (struct frame){ .len = ku_le32(f.len),
                           .kind = ku_le16(f.kind),
                           .check = ku_le16(f.check),
                           .node = (int32_t)ku_le32((uint32_t)f.node),
                           .value = (int32_t)ku_le32((uint32_t)f.value) };
}

void link_pass(struct link *l, const struct frame *f, const char *bytes)
{
    if (l->broken || l->cut)
        return;
    struct frame travels = frame_le(*f);
    queue_put(&l->said, &travels, sizeof travels);
    queue_put(&l->said, bytes, f->len);
    link_flush(l);
}

void link_send(struct link *l, enum frame_kind kind, int node, int value, const void *bytes, size_t len)
{
    struct frame f = {
        .len = (uint32_t)len, .kind = (uint16_t)kind, .check = FRAME_CHECK, .node = node, .value = value
    };
    link_pass(l, &f, bytes);
}

void link_flush(struct link *l)
{
    while (link_waits(l)) {
        ssize_t n = write(l->out, queue_first(&l->said), queue_waits(&l->said));
        if (n > 0)
            queue_took(&l->said, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            return;
        else if (n < 0 && errno != EINTR) {
            queue_free(&l->said);
            l->cut = true;
        }
    }
}

/* Skip what came before the banner. */
static void find_banner(struct link *l)
{
    static const char banner[] = LINK_BANNER;
    const size_t n = sizeof banner - 1;
    char *at = memmem(l->rbuf + l->roff, l->rlen - l->roff, banner, n);
    l->banner = at != NULL;
    if (at)
        l->roff = (size_t)(at - l->rbuf) + n;
    else if (l->rlen > NOISE_MOST)
        l->wrong = "what answers there is no Keel daemon";
}

void link_read(struct link *l)
{
    for (size_t total = 0; !l->broken && total < 16 * READ_BYTES;) {
        if (l->roff > 0 && l->banner) {
            memmove(l->rbuf, l->rbuf + l->roff, l->rlen - l->roff);
            l->rlen -= l->roff;
            l->roff = 0;
        }
        if (l->rcap - l->rlen < READ_BYTES) {
            l->rcap = 2 * l->rcap + READ_BYTES;
            l->rbuf = xgrow(l->rbuf, l->rcap, 1);
        }
        ssize_t n = read(l->in, l->rbuf + l->rlen, READ_BYTES);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0 && !(n < 0 && errno == EINTR))
            l->broken = true;
        if (n > 0) {
            l->rlen += (size_t)n;
            total += (size_t)n;
        }
        if (!l->banner)
            find_banner(l);
        if (l->wrong)
            l->broken = true;
    }
}

bool link_next(struct link *l, struct frame *f, const char **bytes)
{
    if (!l->banner || l->wrong || l->rlen - l->roff < sizeof *f)
        return false;
    memcpy(f, l->rbuf + l->roff, sizeof *f);
    *f = frame_le(*f);
    if (f->check != FRAME_CHECK || f->len > FRAME_MOST || f->kind < FRAME_PING || f->kind >= FRAME_KINDS) {
        l->wrong = LINK_NONSENSE;
        l->broken = true;
        return false;
    }
    if (l->rlen - l->roff - sizeof *f < f->len)
        return false;
    *bytes = l->rbuf + l->roff + sizeof *f;
    l->roff += sizeof *f + f->len;
    return true;
}
