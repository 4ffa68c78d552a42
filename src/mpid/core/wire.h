/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h: the packets that cores exchange: version 6 of the wire format (doc/wire.md says the same in words, and
 * wire_test compares the two).
 *
 * Every packet is a struct dev_head and a body.  A body's numbers are little-endian, whatever the machine; the
 * head is the device's to convert (dev_head_le).  Packets are built by the pkt_*_prepare functions only; what
 * comes in is checked by the pkt_*_check functions before any of it is used, and read by the pkt_*_of functions
 * only. */
#ifndef MPID_WIRE_H
#define MPID_WIRE_H

#include <string.h>
#include "keel_atomic.h"
#include "device.h"

enum {
    PKT_VERSION = 6,
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
    PKT_XOFF,       /* send to this process no more messages eagerly */
    PKT_XON,        /* eager messages are welcome again */
    PKT_SYNC,       /* tag: round of the barrier of MPID_End */
    PKT_SHARE, /* an answer to RTS: copy a part of the message to the receiver's memory: struct pkt_share */
    /* the sender's part is there: context: receiver's operation; tag: its generation; source: see
     * pkt_shared_prepare */
    PKT_SHARED,
    PKT_START, /* the first bytes of a message, right after its RTS: context, tag: sender's operation */
    PKT_PUT,   /* bytes for the receiver's memory: context: region; tag, source: see pkt_part_prepare */
    PKT_GET,   /* wanted: bytes of the receiver's memory: struct pkt_get */
    PKT_GOT,   /* a part of them: context: the operation that asked; tag, source: see pkt_part_prepare */
    PKT_ATOMIC, /* update an element of the receiver's memory: context: operation, tag: type; struct pkt_atomic */
    PKT_FLUSH, /* wanted: an answer when all PUTs before it are done: context, tag: the operation that asks */
    PKT_MEM_ACK, /* the answer to ATOMIC and FLUSH, and to a GET that is refused: struct pkt_mem_ack */
    PKT_WATCH,   /* between jobs: tell me which processes of your job are found gone */
    PKT_DIED,    /* the answers, from now on: tag: a rank in the sender's job */
    PKT_RTS_KEY, /* RTS of a long message that the receiver's device may get: struct pkt_rts, the device's key to it */
    PKT_BYE, /* through a joint segment: nothing more comes from this process, and it takes nothing more */
    PKT_CTS_KEY, /* an answer to RTS_KEY: the sender's device may put the message: struct pkt_cts, the key to where */
    /* nobody is to wait for messages with this tag (refuse.c): context, tag, source: who says so; struct
     * pkt_refused, words */
    PKT_REFUSED,
    PKT_NOTE, /* what listeners are told of the next message: context, tag, source of that; struct pkt_note (note.c) */
    PKT_NOTE_ALONE, /* what listeners tell each other of no message: context, tag, source: theirs; struct pkt_note */
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
};

struct pkt_cts {
    struct pkt_op sender;   /* from RTS */
    struct pkt_op receiver; /* goes into DATA */
    uint64_t want;          /* bytes to send, at most the message's; 0: there is nothing (more) to send */
    uint32_t error;         /* an error class if the receiver cannot take the message, else 0 */
    uint32_t start; /* 1: START is taken if it came after RTS, and DATA goes on behind it; 0: it is not */
};

/* The message in `chunks` pieces of `chunk` bytes (the last one may be shorter); who copies which is told by a
 * word that both sides change (pull.c). */
struct pkt_share {
    struct pkt_op sender; /* from RTS */
    struct pkt_op receiver;
    uint64_t want;    /* bytes, at most the message's */
    uint64_t address; /* where they go, in the receiver's memory */
    uint32_t chunk;
    uint32_t claim; /* bits 0 to 7: the word, of the receiver's device; others: which use of it */
};

struct pkt_get {
    struct pkt_op asker;  /* comes back in GOT or MEM_ACK */
    struct pkt_op region; /* of the receiver */
    uint64_t offset, len; /* len is not 0 */
};

struct pkt_atomic {
    struct pkt_op asker; /* comes back in MEM_ACK */
    struct pkt_op region;
    uint64_t offset;           /* of an element that is aligned to its size */
    uint64_t operand, compare; /* the bits of elements, as unsigned numbers (keel_atomic_read) */
};

struct pkt_mem_ack {
    struct pkt_op asker;
    uint64_t value; /* ATOMIC: the bits of the element before */
    uint32_t error; /* an error class: refused (FLUSH: some PUT since the last one was); 0 */
    uint32_t zero;
};

/* What a process tells others of its memory, for them to reach it (MPID_Mem_key).  Behind it for each device of
 * which it is registered with, as in a card: the length of the device's name in a byte, the name, the length of
 * its key in two, the key. */
struct mem_key {
    uint32_t magic; /* MEM_KEY_MAGIC */
    uint32_t rank;  /* in the job */
    struct pkt_op region;
    uint64_t address; /* of its first byte, there */
    uint64_t len;
};
enum { MEM_KEY_MAGIC = 0x4b454d4b };

struct pkt_note {
    uint64_t digest; /* as MPID_Note has it (mpid_listen.h) */
    uint64_t numbers;
    uint64_t address;
    uint32_t module, offset;
    uint32_t call;
    uint16_t flags, what;
    uint8_t first[8];
};

struct pkt_cancel {
    struct pkt_op sender;
    uint32_t cancelled; /* CANCEL_ACK: 1 if the message was taken back */
};

/* Behind it, at most MPID_REFUSAL_WORDS bytes of words. */
struct pkt_refused {
    uint32_t error; /* an error class */
    uint32_t flags; /* PKT_REFUSED_* */
};
enum {
    PKT_REFUSED_INTER = 1,  /* `source` is a rank of one of two groups: */
    PKT_REFUSED_REMOTE = 2, /* not of the one in which the receiver of the packet is */
    PKT_REFUSED_ALL = 4     /* the communicator is revoked, of which the context is the first */
};

/* Every body but that of a message is short enough for the device to tell its sender (DEV_SHORT_TELLS). */
_Static_assert(sizeof(struct pkt_rts) == 16 && sizeof(struct pkt_rts) + PKT_INLINE_MAX <= DEV_SHORT_TELLS,
               "rts");
_Static_assert(sizeof(struct pkt_cts) == 32 && sizeof(struct pkt_cts) <= DEV_SHORT_TELLS, "cts");
_Static_assert(sizeof(struct pkt_share) == 40 && sizeof(struct pkt_share) <= DEV_SHORT_TELLS, "share");
_Static_assert(sizeof(struct pkt_cancel) == 12, "cancel");
_Static_assert(sizeof(struct pkt_get) == 32 && sizeof(struct pkt_get) <= DEV_SHORT_TELLS, "get");
_Static_assert(sizeof(struct pkt_atomic) == 40 && sizeof(struct pkt_atomic) <= DEV_SHORT_TELLS, "atomic");
_Static_assert(sizeof(struct pkt_mem_ack) == 24 && sizeof(struct mem_key) == 32, "mem_ack, mem_key");
_Static_assert(PKT_KINDS <= 255, "a kind is 8 bits");

/* A control packet with its body, as it goes to send_short. */
struct pkt {
    struct dev_head head;
    _Alignas(8) unsigned char body[PKT_SHORT_MAX];
};

/* Heads and bodies are put together in words, and not field by field: the device moves them as words, and a
 * processor lets a load that spans several earlier stores wait until these, and all before them, are in its cache. */
static inline uint64_t pkt_pair(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return first | (uint64_t)second << 32;
#else
    return second | (uint64_t)first << 32;
#endif
}
/* The same of a body, as it travels. */
static inline uint64_t pkt_pair_le(uint32_t first, uint32_t second)
{
    return pkt_pair(ku_le32(first), ku_le32(second));
}
static inline uint64_t pkt_op_pair(struct pkt_op op)
{
    return pkt_pair_le(op.index, op.gen);
}
static inline struct pkt_op pkt_op_le(struct pkt_op op)
{
    return KU_LE_IS(op, ((struct pkt_op){ ku_le32(op.index), ku_le32(op.gen) }));
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
static inline void pkt_rts_prepare(struct pkt *p, uint32_t context, int tag, int source, struct pkt_op sender,
                                   uint64_t total)
{
    uint32_t bytes = total <= PKT_INLINE_MAX ? (uint32_t)total : 0;
    uint64_t b[] = { ku_le64(total), pkt_op_pair(sender) };
    _Static_assert(sizeof b == sizeof(struct pkt_rts), "rts");
    p->head = pkt_head(PKT_RTS, sizeof b + bytes, context, (uint32_t)tag, (uint32_t)source);
    memcpy(p->body, b, sizeof b);
}
/* Where the message lies in the sender's memory, in an RTS without payload; 0: the receiver may not know. */
static inline void pkt_rts_address(struct pkt *p, uint64_t address)
{
    if (address == 0)
        return;
    address = ku_le64(address);
    memcpy(p->body + sizeof(struct pkt_rts), &address, sizeof address);
    p->head = pkt_head(PKT_RTS, sizeof(struct pkt_rts) + sizeof address, p->head.context, p->head.tag,
                       p->head.source);
}
/* `payload`: what follows struct pkt_rts, with zeros up to PKT_INLINE_MAX. */
static inline uint64_t pkt_rts_address_of(const void *payload)
{
    uint64_t address;
    memcpy(&address, payload, sizeof address);
    return ku_le64(address);
}
/* As it is where nothing is to be swapped: what is taken apart is stored field by field (see pkt_pair). */
static inline struct pkt_rts pkt_rts_of(const void *body)
{
    struct pkt_rts b;
    memcpy(&b, body, sizeof b);
    return KU_LE_IS(b, ((struct pkt_rts){ .total = ku_le64(b.total), .sender = pkt_op_le(b.sender) }));
}
static inline unsigned char *pkt_rts_payload(struct pkt *p)
{
    return p->body + sizeof(struct pkt_rts);
}

/* RTS_KEY: the caller puts the device's key, of `key` bytes, behind the struct pkt_rts in the body. */
static inline struct dev_head pkt_rts_key_prepare(void *body, uint32_t context, int tag, int source,
                                                  struct pkt_op sender, uint64_t total, size_t key)
{
    uint64_t b[] = { ku_le64(total), pkt_op_pair(sender) };
    size_t len = sizeof b + key;
    memcpy(body, b, sizeof b);
    return pkt_head(PKT_RTS_KEY, len <= PKT_SHORT_MAX ? len : 0, context, (uint32_t)tag, (uint32_t)source);
}

static inline void pkt_cts_prepare(struct pkt *p, struct pkt_op sender, struct pkt_op receiver, uint64_t want,
                                   int error, bool start)
{
    uint64_t b[] = { pkt_op_pair(sender), pkt_op_pair(receiver), ku_le64(want),
                     pkt_pair_le((uint32_t)error, start) };
    _Static_assert(sizeof b == sizeof(struct pkt_cts), "cts");
    p->head = pkt_head(PKT_CTS, sizeof b, 0, 0, 0);
    memcpy(p->body, b, sizeof b);
}

/* CTS_KEY: the caller puts the device's key, of `key` bytes, behind the struct pkt_cts in the body. */
static inline struct dev_head pkt_cts_key_prepare(void *body, struct pkt_op sender, struct pkt_op receiver,
                                                  uint64_t want, size_t key)
{
    uint64_t b[] = { pkt_op_pair(sender), pkt_op_pair(receiver), ku_le64(want), 0 };
    size_t len = sizeof b + key;
    memcpy(body, b, sizeof b);
    return pkt_head(PKT_CTS_KEY, len <= PKT_SHORT_MAX ? len : 0, 0, 0, 0);
}

static inline struct pkt_cts pkt_cts_of(const void *body)
{
    struct pkt_cts b;
    memcpy(&b, body, sizeof b);
    return KU_LE_IS(b, ((struct pkt_cts){ .sender = pkt_op_le(b.sender),
                                          .receiver = pkt_op_le(b.receiver),
                                          .want = ku_le64(b.want),
                                          .error = ku_le32(b.error),
                                          .start = ku_le32(b.start) }));
}

/* The caller fills in what pkt_share says. */
static inline void pkt_share_prepare(struct pkt *p, const struct pkt_share *share)
{
    uint64_t b[] = { pkt_op_pair(share->sender), pkt_op_pair(share->receiver), ku_le64(share->want),
                     ku_le64(share->address), pkt_pair_le(share->chunk, share->claim) };
    _Static_assert(sizeof b == sizeof *share, "share");
    p->head = pkt_head(PKT_SHARE, sizeof b, 0, 0, 0);
    memcpy(p->body, b, sizeof b);
}

static inline struct pkt_share pkt_share_of(const void *body)
{
    struct pkt_share b;
    memcpy(&b, body, sizeof b);
    return KU_LE_IS(b, ((struct pkt_share){ .sender = pkt_op_le(b.sender),
                                            .receiver = pkt_op_le(b.receiver),
                                            .want = ku_le64(b.want),
                                            .address = ku_le64(b.address),
                                            .chunk = ku_le32(b.chunk),
                                            .claim = ku_le32(b.claim) }));
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

static inline struct dev_head pkt_start_prepare(struct pkt_op sender)
{
    return pkt_head(PKT_START, 0, sender.index, sender.gen, 0);
}
static inline struct pkt_op pkt_start_op(const struct dev_head *h)
{
    return (struct pkt_op){ .index = h->context, .gen = h->tag };
}

/* A part of something of the receiver's: of a message (DATA), of its memory (PUT), of what a GET asked for (GOT).
 * Offsets have 48 bits; the receiver's generation shares a word with their upper 16. */
static inline struct dev_head pkt_part_prepare(enum pkt_kind kind, struct pkt_op receiver, uint64_t offset)
{
    return pkt_head(kind, 0, receiver.index, (uint32_t)offset,
                    (uint32_t)(offset >> 32 & 0xffff) | (receiver.gen & 0xffff) << 16);
}
static inline struct dev_head pkt_data_prepare(struct pkt_op receiver, uint64_t offset)
{
    return pkt_part_prepare(PKT_DATA, receiver, offset);
}
static inline uint64_t pkt_data_offset(const struct dev_head *h)
{
    return h->tag | (uint64_t)(h->source & 0xffff) << 32;
}
static inline struct pkt_op pkt_data_op(const struct dev_head *h)
{
    return (struct pkt_op){ .index = h->context, .gen = h->source >> 16 };
}

static inline void pkt_cancel_prepare(struct pkt *p, uint32_t context, int tag, int source,
                                      struct pkt_op sender)
{
    struct pkt_cancel b = { .sender = pkt_op_le(sender) };
    p->head = pkt_head(PKT_CANCEL, sizeof b, context, (uint32_t)tag, (uint32_t)source);
    memcpy(p->body, &b, sizeof b);
}

static inline void pkt_cancel_ack_prepare(struct pkt *p, struct pkt_op sender, bool cancelled)
{
    struct pkt_cancel b = { .sender = pkt_op_le(sender), .cancelled = ku_le32(cancelled) };
    p->head = pkt_head(PKT_CANCEL_ACK, sizeof b, 0, 0, 0);
    memcpy(p->body, &b, sizeof b);
}

static inline struct pkt_cancel pkt_cancel_of(const void *body)
{
    struct pkt_cancel b;
    memcpy(&b, body, sizeof b);
    return KU_LE_IS(
        b, ((struct pkt_cancel){ .sender = pkt_op_le(b.sender), .cancelled = ku_le32(b.cancelled) }));
}

/* The same both ways: to the wire's order and from it. */
static inline struct pkt_get pkt_get_le(const struct pkt_get *b)
{
    return (struct pkt_get){ .asker = pkt_op_le(b->asker),
                             .region = pkt_op_le(b->region),
                             .offset = ku_le64(b->offset),
                             .len = ku_le64(b->len) };
}
static inline struct pkt_atomic pkt_atomic_le(const struct pkt_atomic *b)
{
    return (struct pkt_atomic){ .asker = pkt_op_le(b->asker),
                                .region = pkt_op_le(b->region),
                                .offset = ku_le64(b->offset),
                                .operand = ku_le64(b->operand),
                                .compare = ku_le64(b->compare) };
}
static inline struct pkt_mem_ack pkt_mem_ack_le(const struct pkt_mem_ack *b)
{
    return (struct pkt_mem_ack){ .asker = pkt_op_le(b->asker),
                                 .value = ku_le64(b->value),
                                 .error = ku_le32(b->error) };
}
static inline struct mem_key mem_key_le(const struct mem_key *k)
{
    return (struct mem_key){ .magic = ku_le32(k->magic),
                             .rank = ku_le32(k->rank),
                             .region = pkt_op_le(k->region),
                             .address = ku_le64(k->address),
                             .len = ku_le64(k->len) };
}

static inline void pkt_get_prepare(struct pkt *p, const struct pkt_get *get)
{
    struct pkt_get b = pkt_get_le(get);
    p->head = pkt_head(PKT_GET, sizeof b, 0, 0, 0);
    memcpy(p->body, &b, sizeof b);
}
static inline struct pkt_get pkt_get_of(const void *body)
{
    struct pkt_get b;
    memcpy(&b, body, sizeof b);
    return pkt_get_le(&b);
}

static inline void pkt_atomic_prepare(struct pkt *p, enum keel_atomic_op op, enum keel_atomic_type type,
                                      const struct pkt_atomic *atomic)
{
    struct pkt_atomic b = pkt_atomic_le(atomic);
    p->head = pkt_head(PKT_ATOMIC, sizeof b, op, type, 0);
    memcpy(p->body, &b, sizeof b);
}
static inline struct pkt_atomic pkt_atomic_of(const void *body)
{
    struct pkt_atomic b;
    memcpy(&b, body, sizeof b);
    return pkt_atomic_le(&b);
}

static inline void pkt_flush_prepare(struct pkt *p, struct pkt_op asker)
{
    p->head = pkt_head(PKT_FLUSH, 0, asker.index, asker.gen, 0);
}
static inline struct pkt_op pkt_flush_op(const struct dev_head *h)
{
    return (struct pkt_op){ .index = h->context, .gen = h->tag };
}

static inline void pkt_mem_ack_prepare(struct pkt *p, struct pkt_op asker, uint64_t value, int error)
{
    struct pkt_mem_ack b = { .asker = asker, .value = value, .error = (uint32_t)error };
    b = pkt_mem_ack_le(&b);
    p->head = pkt_head(PKT_MEM_ACK, sizeof b, 0, 0, 0);
    memcpy(p->body, &b, sizeof b);
}
static inline struct pkt_mem_ack pkt_mem_ack_of(const void *body)
{
    struct pkt_mem_ack b;
    memcpy(&b, body, sizeof b);
    return pkt_mem_ack_le(&b);
}

static inline void pkt_refused_prepare(struct pkt *p, uint32_t context, int tag, int source, int error,
                                       uint32_t flags, const char *words, size_t n)
{
    uint64_t b = pkt_pair_le((uint32_t)error, flags);
    _Static_assert(sizeof b == sizeof(struct pkt_refused), "refused");
    p->head = pkt_head(PKT_REFUSED, sizeof b + n, context, (uint32_t)tag, (uint32_t)source);
    memcpy(p->body, &b, sizeof b);
    memcpy(p->body + sizeof b, words, n);
}
static inline struct pkt_refused pkt_refused_of(const void *body)
{
    struct pkt_refused b;
    memcpy(&b, body, sizeof b);
    return KU_LE_IS(b, ((struct pkt_refused){ .error = ku_le32(b.error), .flags = ku_le32(b.flags) }));
}

/* The same both ways. */
static inline struct pkt_note pkt_note_le(const struct pkt_note *b)
{
    struct pkt_note n = { .digest = ku_le64(b->digest),
                          .numbers = ku_le64(b->numbers),
                          .address = ku_le64(b->address),
                          .module = ku_le32(b->module),
                          .offset = ku_le32(b->offset),
                          .call = ku_le32(b->call),
                          .flags = ku_le16(b->flags),
                          .what = ku_le16(b->what) };
    memcpy(n.first, b->first, sizeof n.first);
    return n;
}
static inline void pkt_note_prepare(struct pkt *p, enum pkt_kind kind, uint32_t context, int tag, int source,
                                    const struct pkt_note *note)
{
    struct pkt_note b = pkt_note_le(note);
    _Static_assert(sizeof b == PKT_SHORT_MAX, "note");
    p->head = pkt_head(kind, sizeof b, context, (uint32_t)tag, (uint32_t)source);
    memcpy(p->body, &b, sizeof b);
}
static inline struct pkt_note pkt_note_of(const void *body)
{
    struct pkt_note b;
    memcpy(&b, body, sizeof b);
    return pkt_note_le(&b);
}

/* XOFF, XON, WATCH, BYE, SYNC (tag: its round), DIED (tag: a rank): a head alone. */
static inline struct dev_head pkt_signal_prepare(enum pkt_kind kind, uint32_t tag)
{
    return pkt_head(kind, 0, 0, tag, 0);
}

static inline const char *pkt_check_share(const void *body, size_t len)
{
    struct pkt_share s;
    if (len != sizeof s)
        return "a SHARE packet of wrong length";
    s = pkt_share_of(body);
    return s.chunk > 0 && s.want > 0 && (s.claim & 0xff) < DEV_WORDS ? NULL : "a SHARE packet out of range";
}

static inline const char *pkt_check_mem(const struct dev_head *h, const void *body, size_t len)
{
    struct pkt_get get;
    switch (h->kind) {
    case PKT_PUT:
    case PKT_GOT:
        return len > 0 ? NULL : "memory of no bytes";
    case PKT_GET:
        if (len != sizeof get)
            return "a GET of wrong length";
        memcpy(&get, body, sizeof get);
        return get.len > 0 ? NULL : "a GET of no bytes";
    case PKT_ATOMIC:
        if (len != sizeof(struct pkt_atomic))
            return "an ATOMIC of wrong length";
        return keel_atomic_has(h->context, h->tag) ? NULL : "an ATOMIC that does not exist";
    case PKT_FLUSH:
        return len == 0 ? NULL : "a FLUSH of wrong length";
    case PKT_MEM_ACK:
        return len == sizeof(struct pkt_mem_ack) ? NULL : "a MEM_ACK of wrong length";
    default:
        return "an unknown kind";
    }
}

static inline const char *pkt_check_refused(const void *body, size_t len)
{
    struct pkt_refused b;
    if (len < sizeof b || len > DEV_SHORT_TELLS)
        return "a REFUSED packet of wrong length";
    b = pkt_refused_of(body);
    return b.error != 0 && b.flags <= (PKT_REFUSED_INTER | PKT_REFUSED_REMOTE | PKT_REFUSED_ALL)
               ? NULL
               : "a REFUSED packet out of range";
}

static inline const char *pkt_check_rts_key(const void *body, size_t len)
{
    struct pkt_rts rts;
    if (len <= sizeof rts || len > sizeof rts + DEV_KEY_MAX)
        return "an RTS with no key, or one too long";
    rts = pkt_rts_of(body);
    return rts.total > PKT_INLINE_MAX && rts.total <= INT64_MAX ? NULL : "an RTS with a wrong length";
}

/* Is the body of this packet as long as its kind says, and what it holds in range?  NULL, or what is wrong. */
static inline const char *pkt_check(const struct dev_head *h, const void *body, size_t len)
{
    struct pkt_rts rts;
    size_t want;
    switch (h->kind) {
    case PKT_SHORT:
        return len == h->len && len <= PKT_SHORT_MAX ? NULL : "a short message of wrong length";
    case PKT_EAGER:
    case PKT_DATA:
        return NULL;
    case PKT_RTS:
        if (len < sizeof rts)
            return "an RTS too short";
        rts = pkt_rts_of(body);
        if (rts.total > INT64_MAX)
            return "an RTS with a wrong length";
        want = rts.total <= PKT_INLINE_MAX ? rts.total : 0; /* a longer message: nothing, or its address */
        return len == sizeof rts + want ||
                       (want == 0 && rts.total != 0 && len == sizeof rts + sizeof(uint64_t))
                   ? NULL
                   : "an RTS without its payload";
    case PKT_RTS_KEY:
        return pkt_check_rts_key(body, len);
    case PKT_CTS:
        return len == sizeof(struct pkt_cts) ? NULL : "a CTS of wrong length";
    case PKT_CTS_KEY:
        return len > sizeof(struct pkt_cts) && len <= sizeof(struct pkt_cts) + DEV_KEY_MAX
                   ? NULL
                   : "a CTS_KEY without a key, or with a too long one";
    case PKT_START:
        return len > 0 ? NULL : "a START of no bytes";
    case PKT_SHARE:
        return pkt_check_share(body, len);
    case PKT_SHARED:
        return len == 0 && h->source <= 1 ? NULL : "a SHARED packet of wrong length";
    case PKT_CANCEL:
    case PKT_CANCEL_ACK:
        return len == sizeof(struct pkt_cancel) ? NULL : "a cancel of wrong length";
    case PKT_SYNC:
        return h->tag < 32 ? NULL : "a barrier round out of range";
    case PKT_XOFF:
    case PKT_XON:
    case PKT_WATCH:
    case PKT_BYE:
        return NULL;
    case PKT_REFUSED:
        return pkt_check_refused(body, len);
    case PKT_NOTE:
    case PKT_NOTE_ALONE:
        return len == sizeof(struct pkt_note) ? NULL : "a NOTE of wrong length";
    case PKT_DIED:
        return h->tag <= INT32_MAX ? NULL : "a rank out of range";
    default:
        return pkt_check_mem(h, body, len);
    }
}

#endif
