/* frame.h: what ch_tcp puts on the wire (doc/wire.md, "On TCP"), and what it checks before it believes it.  Numbers are in
 * the byte order of the sender, which the magic tells. */
#ifndef TCP_FRAME_H
#define TCP_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "device.h"
#include "util/sock.h"

enum {
    TCP_VERSION = 1,
    TCP_MAX_SHORT = 48,
    TCP_MAX_SEND = 128 << 10, /* measured: see README.md */
    TCP_CHECK = 0x4b54
};
#define TCP_MAGIC 0x315043544c45454bull

/* address(): where the process listens. */
struct tcp_address {
    uint8_t family; /* 4 */
    uint8_t zero[1];
    uint8_t port[2]; /* the high byte first */
    uint8_t ip[16];  /* the first four */
};

/* The first bytes of a connection, from either side. */
enum { TCP_HELLO = 1 /* of who connected */, TCP_ANSWER = 2 /* of who accepted: the connection stands */ };
struct tcp_hello {
    uint64_t magic;
    uint32_t version, kind;
    uint64_t job_id;
    uint8_t secret[KU_SECRET_BYTES];
    int32_t from, to; /* global ranks */
    uint32_t epoch, zero;
};

/* Then frames: a head, a body of `len` bytes, zeros up to a multiple of 8. */
enum { TCP_PACKET = 1, TCP_BYE = 2 /* the last one: nothing follows, and nothing more will be read */ };
struct tcp_frame {
    uint32_t len;
    uint16_t kind, check;
    struct dev_head head;
};
enum { TCP_BUF = sizeof(struct tcp_frame) + TCP_MAX_SEND }; /* the longest frame */

static inline uint32_t tcp_frame_bytes(uint32_t len)
{
    return (uint32_t)sizeof(struct tcp_frame) + ((len + 7u) & ~7u);
}

static inline struct tcp_frame tcp_frame_prepare(uint16_t kind, const struct dev_head *head, size_t len)
{
    struct tcp_frame f = { .len = (uint32_t)len, .kind = kind, .check = TCP_CHECK };
    if (head)
        f.head = *head;
    return f;
}

static inline bool tcp_frame_check(const struct tcp_frame *f)
{
    if (f->check != TCP_CHECK)
        return false;
    if (f->kind == TCP_BYE)
        return f->len == 0;
    return f->kind == TCP_PACKET && f->len <= TCP_MAX_SEND && f->head.len <= TCP_MAX_SHORT &&
           (f->head.len == 0 || f->head.len == f->len);
}

static inline struct tcp_hello tcp_hello_prepare(uint32_t kind, const struct dev_world *w, int32_t to)
{
    const struct ku_seg_head *job = w->segment->head;
    struct tcp_hello h = { .magic = TCP_MAGIC,
                           .version = TCP_VERSION,
                           .kind = kind,
                           .job_id = job->job_id,
                           .from = w->rank,
                           .to = to,
                           .epoch = w->epoch };
    memcpy(h.secret, job->secret, sizeof h.secret);
    return h;
}

/* Is it from a process of this job? */
static inline bool tcp_hello_ours(const struct tcp_hello *h, uint32_t kind, const struct dev_world *w)
{
    const struct ku_seg_head *job = w->segment->head;
    bool same = ku_sock_same(h->secret, job->secret, sizeof h->secret);
    return h->magic == TCP_MAGIC && h->version == TCP_VERSION && h->kind == kind &&
           h->job_id == job->job_id && same;
}

static inline struct tcp_address tcp_address_prepare(const struct ku_sock_addr *at)
{
    struct tcp_address a = { .family = 4, .port = { (uint8_t)(at->port >> 8), (uint8_t)at->port } };
    memcpy(a.ip, at->ip, sizeof at->ip);
    return a;
}

static inline bool tcp_address_check(const struct tcp_address *a, size_t len, struct ku_sock_addr *at)
{
    at->port = (uint16_t)(a->port[0] << 8 | a->port[1]);
    memcpy(at->ip, a->ip, sizeof at->ip);
    return len >= sizeof *a && a->family == 4 && at->port != 0;
}

_Static_assert(sizeof(struct tcp_hello) == 72, "a hello is 72 bytes");
_Static_assert(sizeof(struct tcp_frame) == 24, "a frame's body is aligned to 8 where the frame is");
_Static_assert(sizeof(struct tcp_address) == 20, "an address has no holes");
_Static_assert(TCP_MAX_SEND % 8 == 0, "the longest frame needs no padding");

#endif
