/* SPDX-License-Identifier: BSD-3-Clause */
/* frame.h: what ch_tcp puts on the wire (doc/wire.md, "On TCP"), and what it checks before it believes it.
 * Numbers are little-endian there, and in the machine's order in the structs here: tcp_hello_le and tcp_frame_le
 * convert, both ways. */
#ifndef TCP_FRAME_H
#define TCP_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "device.h"
#include "util/auth.h"
#include "util/sock.h"

enum {
    TCP_VERSION = 4,
    TCP_MAX_SHORT = 48,
    TCP_MAX_SEND = 128 << 10,
    TCP_MAX_LYING = 1 << 20, /* measured: see README.md */
    TCP_CHECK = 0x4b54
};
#define TCP_MAGIC 0x315043544c45454bull

/* address(): where the process listens: the same port at several addresses. */
enum { TCP_ADDRESSES = 10 };
struct tcp_address {
    uint8_t n, zero;              /* of those below */
    uint8_t port[2];              /* the high byte first */
    uint8_t host[8];              /* a number for the host and its network, zero: not known (ku_sock_host) */
    uint8_t nonce[KU_AUTH_NONCE]; /* of who is called */
    struct tcp_place {
        uint8_t family; /* 4 or 6 */
        uint8_t prefix; /* bits of its network */
        uint8_t ip[16]; /* IPv4: the first four */
    } at[TCP_ADDRESSES];
};

/* The first bytes of a connection, from either side. */
enum { TCP_HELLO = 1 /* of who connected */, TCP_ANSWER = 2 /* of who accepted: the connection stands */ };
struct tcp_hello {
    uint64_t magic;
    uint32_t version, kind;
    uint64_t job_id, to_job;      /* of who sends it, of who is to read it */
    int32_t from, to;             /* ranks in these */
    uint32_t epoch, zero;         /* epoch: of who is called */
    uint64_t serial;              /* of this attempt, in both: every one of a rank has a higher one */
    uint8_t nonce[KU_AUTH_NONCE]; /* of who connected, in both */
    uint8_t proof[KU_AUTH_PROOF]; /* of who sends it */
};

/* Then frames: a head, a body of `len` bytes, zeros up to a multiple of 8. */
enum { TCP_PACKET = 1, TCP_BYE = 2 /* the last one: nothing follows, and nothing more will be read */ };
struct tcp_frame {
    uint32_t len;
    uint16_t kind, check;
    struct dev_head head;
};
enum { TCP_BUF = sizeof(struct tcp_frame) + TCP_MAX_SEND }; /* the longest frame that is gathered */

static inline uint32_t tcp_frame_bytes(uint32_t len)
{
    return (uint32_t)sizeof(struct tcp_frame) + ((len + 7u) & ~7u);
}

static inline struct tcp_frame tcp_frame_le(struct tcp_frame f)
{
    f.len = ku_le32(f.len);
    f.kind = ku_le16(f.kind);
    f.check = ku_le16(f.check);
    f.head = dev_head_le(f.head);
    return f;
}

/* As it travels. */
static inline struct tcp_frame tcp_frame_prepare(uint16_t kind, const struct dev_head *head, size_t len)
{
    struct tcp_frame f = { .len = (uint32_t)len, .kind = kind, .check = TCP_CHECK };
    if (head)
        f.head = *head;
    return tcp_frame_le(f);
}

static inline bool tcp_frame_check(const struct tcp_frame *f)
{
    if (f->check != TCP_CHECK)
        return false;
    if (f->kind == TCP_BYE)
        return f->len == 0;
    return f->kind == TCP_PACKET && f->len <= TCP_MAX_LYING && f->head.len <= TCP_MAX_SHORT &&
           (f->head.len == 0 || f->head.len == f->len);
}

static inline struct tcp_hello tcp_hello_le(struct tcp_hello h)
{
    h.magic = ku_le64(h.magic);
    h.version = ku_le32(h.version);
    h.kind = ku_le32(h.kind);
    h.job_id = ku_le64(h.job_id);
    h.to_job = ku_le64(h.to_job);
    h.from = (int32_t)ku_le32((uint32_t)h.from);
    h.to = (int32_t)ku_le32((uint32_t)h.to);
    h.epoch = ku_le32(h.epoch);
    h.zero = ku_le32(h.zero);
    h.serial = ku_le64(h.serial);
    return h;
}

/* What a hello and its answer prove. */
static inline struct ku_auth tcp_hello_facts(const struct tcp_hello *h, const uint8_t *called_nonce)
{
    uint64_t from = (uint64_t)h->epoch << 32 | (uint32_t)h->from,
             to = (uint64_t)h->epoch << 32 | (uint32_t)h->to;
    bool calls = h->kind == TCP_HELLO;
    struct ku_auth a = { .purpose = "rank wire",
                         .job = calls ? h->job_id : h->to_job,
                         .caller = calls ? from : to,
                         .called = calls ? to : from,
                         .serial = h->serial };
    memcpy(a.caller_nonce, h->nonce, sizeof a.caller_nonce);
    memcpy(a.called_nonce, called_nonce, sizeof a.called_nonce);
    return a;
}

static inline enum ku_auth_role tcp_hello_role(const struct tcp_hello *h)
{
    return h->kind == TCP_HELLO ? KU_AUTH_CALLER : KU_AUTH_CALLED;
}

/* A process of the job w, as that is told to its peers. */
static inline struct dev_identity tcp_of_job(const struct dev_world *w, int32_t rank)
{
    struct dev_identity id = w->self;
    id.rank = rank;
    return id;
}

static inline struct tcp_hello tcp_hello_to(uint32_t kind, const struct dev_world *w,
                                            const struct dev_identity *to, uint64_t serial,
                                            const uint8_t *nonce, const uint8_t *called_nonce)
{
    struct tcp_hello h = { .magic = TCP_MAGIC,
                           .version = TCP_VERSION,
                           .kind = kind,
                           .job_id = w->self.job,
                           .to_job = to->job,
                           .from = w->rank,
                           .to = to->rank,
                           .epoch = kind == TCP_HELLO ? to->epoch : w->epoch,
                           .serial = serial };
    memcpy(h.nonce, nonce, sizeof h.nonce);
    struct ku_auth facts = tcp_hello_facts(&h, called_nonce);
    ku_auth_prove(to->key, &facts, tcp_hello_role(&h), h.proof);
    return h;
}

/* The same, to a rank of this job. */
static inline struct tcp_hello tcp_hello_prepare(uint32_t kind, const struct dev_world *w, int32_t to,
                                                 uint64_t serial, const uint8_t *nonce,
                                                 const uint8_t *called_nonce)
{
    struct dev_identity id = tcp_of_job(w, to);
    return tcp_hello_to(kind, w, &id, serial, nonce, called_nonce);
}

/* Does it look like one for a process of this job? */
static inline bool tcp_hello_check(const struct tcp_hello *h, uint32_t kind, const struct dev_world *w)
{
    return h->magic == TCP_MAGIC && h->version == TCP_VERSION && h->kind == kind &&
           h->to_job == w->self.job && h->zero == 0;
}

/* Was it made by who knows the key, for this connection? */
static inline bool tcp_hello_proven(const struct tcp_hello *h, const uint8_t *key,
                                    const uint8_t *called_nonce)
{
    struct ku_auth facts = tcp_hello_facts(h, called_nonce);
    return ku_auth_proven(key, &facts, tcp_hello_role(h), h->proof);
}

/* n of the addresses, which have one port. */
static inline struct tcp_address tcp_address_prepare(const struct ku_sock_addr *at, int n, uint64_t host,
                                                     const uint8_t *nonce)
{
    struct tcp_address a = { .n = (uint8_t)n, .port = { (uint8_t)(at->port >> 8), (uint8_t)at->port } };
    host = ku_le64(host);
    memcpy(a.host, &host, sizeof a.host);
    memcpy(a.nonce, nonce, sizeof a.nonce);
    for (int i = 0; i < n; i++) {
        a.at[i] = (struct tcp_place){ .family = at[i].family, .prefix = at[i].prefix };
        memcpy(a.at[i].ip, at[i].ip, sizeof at[i].ip);
    }
    return a;
}

/* The bytes of it that are told. */
static inline size_t tcp_address_bytes(const struct tcp_address *a)
{
    return sizeof *a - (size_t)(TCP_ADDRESSES - a->n) * sizeof a->at[0];
}

static inline bool tcp_address_check(const struct tcp_address *a, size_t len)
{
    return len >= sizeof *a - sizeof a->at && a->n <= TCP_ADDRESSES && len >= tcp_address_bytes(a) &&
           (a->port[0] || a->port[1]);
}

static inline struct ku_sock_addr tcp_address_at(const struct tcp_address *a, int i)
{
    struct ku_sock_addr at = { .family = a->at[i].family,
                               .prefix = a->at[i].prefix,
                               .port = (uint16_t)(a->port[0] << 8 | a->port[1]) };
    memcpy(at.ip, a->at[i].ip, sizeof at.ip);
    return at;
}

_Static_assert(sizeof(struct tcp_hello) == 120, "a hello is 120 bytes");
_Static_assert(sizeof(struct tcp_frame) == 24, "a frame's body is aligned to 8 where the frame is");
_Static_assert(sizeof(struct tcp_address) <= DEV_ADDRESS_MAX, "an address fits in a card");
_Static_assert(TCP_MAX_SEND % 8 == 0 && TCP_MAX_LYING % 8 == 0, "the longest frames need no padding");

#endif
