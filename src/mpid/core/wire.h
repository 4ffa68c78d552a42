/* wire.h: the packets that cores exchange: version 1 of the wire format (doc/wire.md says the same in words, and
 * wire_test compares the two).
 *
 * Every packet is a struct dev_head and a body.  Numbers are in the sender's byte order; equal machines are all there
 * is so far.  Packets are built by the pkt_*_prepare functions only; what comes in is checked by the pkt_*_check
 * functions before any of it is used. */
#ifndef MPID_WIRE_H
#define MPID_WIRE_H

#include <string.h>
#include "device.h"

enum {
    PKT_VERSION = 1,
    PKT_SHORT_MAX = 48,  /* bytes of payload in a SHORT packet */
    PKT_INLINE_MAX = 24, /* bytes of payload in an RTS packet */
};

/* What the fields context, tag, source of the head mean is told for each kind. */
enum pkt_kind {
    PKT_SHORT = 1, /* a whole message: context, tag, source; head.len bytes follow */
    PKT_EAGER,     /* a whole message: context, tag, source; the body is the payload */
    PKT_RTS, /* a message announced: context, tag, source; struct pkt_rts, payload if it is at most 24 bytes */
    PKT_CTS,    /* the answer to RTS: struct pkt_cts; context, tag, source 0 */
    PKT_DATA,   /* a part of the payload: context: receiver's operation; tag, source: see pkt_data_prepare */
    PKT_CANCEL, /* take an RTS back: context, tag, source of the message; struct pkt_cancel */
    PKT_CANCEL_ACK, /* the answer: struct pkt_cancel */
    PKT_XOFF,       /* source: global rank; send to it no more messages eagerly */
    PKT_XON,        /* source: global rank; eager messages are welcome again */
    PKT_SYNC,       /* source: global rank; tag: round of the barrier of MPID_End */
    PKT_SHARE,  /* an answer to RTS: copy a part of the message to the receiver's memory: struct pkt_share */
    PKT_SHARED, /* the sender's part is there: context: receiver's operation; tag: its generation; source: see pkt_shared_prepare */
    PKT_START, /* the first bytes of a message, right after its RTS: context, tag: sender's operation; source: its global rank */
    PKT_KINDS
};

/* One side's operation: index and generation in its table, so that a stale or made-up one is found out. */
struct pkt_op {
    uint32_t index;
    uint32_t gen;
};

struct pkt_rts {
    uint64_t total;       /* bytes of the message */
    struct pkt_op sender; /* comes back in CTS */
    int32_t grank;        /* global rank of the sender */
    uint32_t bytes;       /* payload that follows: total, or 0 */
};

struct pkt_cts {
    struct pkt_op sender;   /* from RTS */
    struct pkt_op receiver; /* goes into DATA */
    uint64_t want;          /* bytes to send, at most the message's; 0: there is nothing (more) to send */
    uint32_t error;         /* an error class if the receiver cannot take the message, else 0 */
    uint32_t start; /* 1: START is taken if it came after RTS, and DATA goes on behind it; 0: it is not */
};

/* The message in `chunks` pieces of `chunk` bytes (the last one may be shorter); who copies which is told by a word that both
 * sides change (pull.c). */
struct pkt_share {
    struct pkt_op sender; /* from RTS */
    struct pkt_op receiver;
    uint64_t want;    /* bytes, at most the message's */
    uint64_t address; /* where they go, in the receiver's memory */
    uint32_t chunk;
    uint32_t claim; /* bits 0 to 7: the word, of the receiver's device; others: which use of it */
};

struct pkt_cancel {
    struct pkt_op sender;
    int32_t grank;
    uint32_t cancelled; /* CANCEL_ACK: 1 if the message was taken back */
};

_Static_assert(sizeof(struct pkt_rts) == 24 && sizeof(struct pkt_rts) + PKT_INLINE_MAX <= PKT_SHORT_MAX,
               "rts");
_Static_assert(sizeof(struct pkt_cts) == 32 && sizeof(struct pkt_cts) <= PKT_SHORT_MAX, "cts");
_Static_assert(sizeof(struct pkt_share) == 40 && sizeof(struct pkt_share) <= PKT_SHORT_MAX, "share");
_Static_assert(sizeof(struct pkt_cancel) == 16, "cancel");
_Static_assert(PKT_KINDS <= 255, "a kind is 8 bits");

/* A control packet with its body, as it goes to send_short. */
struct pkt {
    struct dev_head head;
    _Alignas(8) unsigned char body[PKT_SHORT_MAX];
};

/* Heads and bodies are put together in words, and not field by field: the device moves them as words, and a processor lets a load
 * that spans several earlier stores wait until these, and all before them, are in its cache. */
static inline uint64_t pkt_pair(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return first | (uint64_t)second << 32;
#else
    return second | (uint64_t)first << 32;
#endif
}
static inline uint64_t pkt_op_pair(struct pkt_op op)
{
    return pkt_pair(op.index, op.gen);
}

static inline struct dev_head pkt_head(enum pkt_kind kind, size_t len, uint32_t context, uint32_t tag,
                                       uint32_t source)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word[2] = { (uint64_t)kind << 16 | (uint64_t)len << 24 | (uint64_t)context << 32,
                         pkt_pair(tag, source) };
    struct dev_head h;
    memcpy(&h, word, sizeof h);
    return h;
#endif
    return (struct dev_head){
        .kind = (uint8_t)kind, .len = (uint8_t)len, .context = context, .tag = tag, .source = source
    };
}

static inline struct dev_head pkt_short_prepare(uint32_t context, int tag, int source, size_t len)
{
    return pkt_head(PKT_SHORT, len, context, (uint32_t)tag, (uint32_t)source);
}

static inline struct dev_head pkt_eager_prepare(uint32_t context, int tag, int source)
{
    return pkt_head(PKT_EAGER, 0, context, (uint32_t)tag, (uint32_t)source);
}

/* The caller fills in `total` <= PKT_INLINE_MAX bytes of payload at pkt_rts_payload, if it is that short. */
static inline void pkt_rts_prepare(struct pkt *p, uint32_t context, int tag, int source, int32_t grank,
                                   struct pkt_op sender, uint64_t total)
{
    uint32_t bytes = total <= PKT_INLINE_MAX ? (uint32_t)total : 0;
    uint64_t b[] = { total, pkt_op_pair(sender), pkt_pair((uint32_t)grank, bytes) };
    _Static_assert(sizeof b == sizeof(struct pkt_rts), "rts");
    p->head = pkt_head(PKT_RTS, sizeof b + bytes, context, (uint32_t)tag, (uint32_t)source);
    memcpy(p->body, b, sizeof b);
}
/* Where the message lies in the sender's memory, in an RTS without payload; 0: the receiver may not know. */
static inline void pkt_rts_address(struct pkt *p, uint64_t address)
{
    if (address == 0)
        return;
    memcpy(p->body + sizeof(struct pkt_rts), &address, sizeof address);
    p->head = pkt_head(PKT_RTS, sizeof(struct pkt_rts) + sizeof address, p->head.context, p->head.tag,
                       p->head.source);
}
/* `payload`: what follows struct pkt_rts, with zeros up to PKT_INLINE_MAX. */
static inline uint64_t pkt_rts_address_of(const void *payload)
{
    uint64_t address;
    memcpy(&address, payload, sizeof address);
    return address;
}
static inline unsigned char *pkt_rts_payload(struct pkt *p)
{
    return p->body + sizeof(struct pkt_rts);
}

static inline void pkt_cts_prepare(struct pkt *p, struct pkt_op sender, struct pkt_op receiver, uint64_t want,
                                   int error, bool start)
{
    uint64_t b[] = { pkt_op_pair(sender), pkt_op_pair(receiver), want, pkt_pair((uint32_t)error, start) };
    _Static_assert(sizeof b == sizeof(struct pkt_cts), "cts");
    p->head = pkt_head(PKT_CTS, sizeof b, 0, 0, 0);
    memcpy(p->body, b, sizeof b);
}

/* The caller fills in what pkt_share says. */
static inline void pkt_share_prepare(struct pkt *p, const struct pkt_share *share)
{
    uint64_t b[] = { pkt_op_pair(share->sender), pkt_op_pair(share->receiver), share->want, share->address,
                     pkt_pair(share->chunk, share->claim) };
    _Static_assert(sizeof b == sizeof *share, "share");
    p->head = pkt_head(PKT_SHARE, sizeof b, 0, 0, 0);
    memcpy(p->body, b, sizeof b);
}

/* `failed`: the last piece that the sender had taken is not there. */
static inline void pkt_shared_prepare(struct pkt *p, struct pkt_op receiver, bool failed)
{
    p->head = pkt_head(PKT_SHARED, 0, receiver.index, receiver.gen, failed);
}
static inline struct pkt_op pkt_shared_op(const struct dev_head *h)
{
    return (struct pkt_op){ .index = h->context, .gen = h->tag };
}

static inline struct dev_head pkt_start_prepare(struct pkt_op sender, int32_t grank)
{
    return pkt_head(PKT_START, 0, sender.index, sender.gen, (uint32_t)grank);
}
static inline struct pkt_op pkt_start_op(const struct dev_head *h)
{
    return (struct pkt_op){ .index = h->context, .gen = h->tag };
}

/* Offsets have 48 bits; the receiver's generation shares a word with their upper 16. */
static inline struct dev_head pkt_data_prepare(struct pkt_op receiver, uint64_t offset)
{
    return pkt_head(PKT_DATA, 0, receiver.index, (uint32_t)offset,
                    (uint32_t)(offset >> 32 & 0xffff) | (receiver.gen & 0xffff) << 16);
}
static inline uint64_t pkt_data_offset(const struct dev_head *h)
{
    return h->tag | (uint64_t)(h->source & 0xffff) << 32;
}
static inline struct pkt_op pkt_data_op(const struct dev_head *h)
{
    return (struct pkt_op){ .index = h->context, .gen = h->source >> 16 };
}

static inline void pkt_cancel_prepare(struct pkt *p, uint32_t context, int tag, int source, int32_t grank,
                                      struct pkt_op sender)
{
    struct pkt_cancel b = { .sender = sender, .grank = grank };
    p->head = pkt_head(PKT_CANCEL, sizeof b, context, (uint32_t)tag, (uint32_t)source);
    memcpy(p->body, &b, sizeof b);
}

static inline void pkt_cancel_ack_prepare(struct pkt *p, struct pkt_op sender, int32_t grank, bool cancelled)
{
    struct pkt_cancel b = { .sender = sender, .grank = grank, .cancelled = cancelled };
    p->head = pkt_head(PKT_CANCEL_ACK, sizeof b, 0, 0, 0);
    memcpy(p->body, &b, sizeof b);
}

/* XOFF, XON, SYNC (round; else 0): a head alone. */
static inline struct dev_head pkt_signal_prepare(enum pkt_kind kind, int32_t grank, uint32_t round)
{
    return pkt_head(kind, 0, 0, round, (uint32_t)grank);
}

static inline const char *pkt_check_share(const void *body, size_t len)
{
    struct pkt_share s;
    if (len != sizeof s)
        return "a SHARE packet of wrong length";
    memcpy(&s, body, sizeof s);
    return s.chunk > 0 && s.want > 0 && (s.claim & 0xff) < DEV_WORDS ? NULL : "a SHARE packet out of range";
}

/* Is the body of this packet as long as its kind says, and what it holds in range?  NULL, or what is wrong. */
static inline const char *pkt_check(const struct dev_head *h, const void *body, size_t len, int32_t nranks)
{
    struct pkt_rts rts;
    struct pkt_cancel cancel;
    switch (h->kind) {
    case PKT_SHORT:
        return len == h->len && len <= PKT_SHORT_MAX ? NULL : "a short message of wrong length";
    case PKT_EAGER:
    case PKT_DATA:
        return NULL;
    case PKT_RTS:
        if (len < sizeof rts)
            return "an RTS too short";
        memcpy(&rts, body, sizeof rts);
        if (rts.grank < 0 || rts.grank >= nranks)
            return "an RTS of a rank outside the job";
        if (rts.total > INT64_MAX || (rts.bytes != 0 && rts.bytes != rts.total))
            return "an RTS with a wrong length";
        if (len != sizeof rts + rts.bytes &&
            (rts.total <= PKT_INLINE_MAX || len != sizeof rts + sizeof(uint64_t)))
            return "an RTS with a wrong length";
        return rts.total > PKT_INLINE_MAX || rts.bytes == rts.total ? NULL : "an RTS without its payload";
    case PKT_CTS:
        return len == sizeof(struct pkt_cts) ? NULL : "a CTS of wrong length";
    case PKT_START:
        return len > 0 && h->source < (uint32_t)nranks ? NULL : "a START out of range";
    case PKT_SHARE:
        return pkt_check_share(body, len);
    case PKT_SHARED:
        return len == 0 && h->source <= 1 ? NULL : "a SHARED packet of wrong length";
    case PKT_CANCEL:
    case PKT_CANCEL_ACK:
        if (len != sizeof cancel)
            return "a cancel of wrong length";
        memcpy(&cancel, body, sizeof cancel);
        return cancel.grank >= 0 && cancel.grank < nranks ? NULL : "a cancel of a rank outside the job";
    case PKT_SYNC:
        if (h->tag >= 32)
            return "a barrier round out of range";
        /* fall through */
    case PKT_XOFF:
    case PKT_XON:
        return h->source < (uint32_t)nranks ? NULL : "a signal of a rank outside the job";
    default:
        return "an unknown kind";
    }
}

#endif
