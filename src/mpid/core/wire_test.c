/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets: what the constructors make, what the check refuses, and that doc/wire.md says the same as wire.h. */
#include "wire.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include "util/golden.h"

/* The rows of doc/wire.md: "| name | offset | bytes |" and "| KIND | number |". */
static const struct row {
    const char *name;
    size_t offset, bytes;
} fields[] = {
#define FIELD(s, f) \
    { \
#s "." #f, offsetof(struct s, f), sizeof(((struct s *)0)->f) \
    }
    FIELD(dev_head, own),       FIELD(dev_head, kind),        FIELD(dev_head, len),
    FIELD(dev_head, context),   FIELD(dev_head, tag),         FIELD(dev_head, source),
    FIELD(pkt_op, index),       FIELD(pkt_op, gen),           FIELD(pkt_rts, total),
    FIELD(pkt_rts, sender),     FIELD(pkt_cts, sender),       FIELD(pkt_cts, receiver),
    FIELD(pkt_cts, want),       FIELD(pkt_cts, error),        FIELD(pkt_cts, start),
    FIELD(pkt_cancel, sender),  FIELD(pkt_cancel, cancelled), FIELD(pkt_share, sender),
    FIELD(pkt_share, receiver), FIELD(pkt_share, want),       FIELD(pkt_share, address),
    FIELD(pkt_share, chunk),    FIELD(pkt_share, claim),      FIELD(pkt_get, asker),
    FIELD(pkt_get, region),     FIELD(pkt_get, offset),       FIELD(pkt_get, len),
    FIELD(pkt_atomic, asker),   FIELD(pkt_atomic, region),    FIELD(pkt_atomic, offset),
    FIELD(pkt_atomic, operand), FIELD(pkt_atomic, compare),   FIELD(pkt_mem_ack, asker),
    FIELD(pkt_mem_ack, value),  FIELD(pkt_mem_ack, error),    FIELD(pkt_mem_ack, zero),
    FIELD(mem_key, magic),      FIELD(mem_key, rank),         FIELD(mem_key, region),
    FIELD(mem_key, address),    FIELD(mem_key, len),          FIELD(pkt_refused, error),
    FIELD(pkt_refused, flags),  FIELD(pkt_note, digest),      FIELD(pkt_note, numbers),
    FIELD(pkt_note, address),   FIELD(pkt_note, module),      FIELD(pkt_note, offset),
    FIELD(pkt_note, call),      FIELD(pkt_note, flags),       FIELD(pkt_note, what),
    FIELD(pkt_note, first),
};
static const struct {
    const char *name;
    int kind;
} kinds[] = { { "SHORT", PKT_SHORT },
              { "EAGER", PKT_EAGER },
              { "RTS", PKT_RTS },
              { "CTS", PKT_CTS },
              { "DATA", PKT_DATA },
              { "CANCEL", PKT_CANCEL },
              { "CANCEL_ACK", PKT_CANCEL_ACK },
              { "XOFF", PKT_XOFF },
              { "XON", PKT_XON },
              { "SYNC", PKT_SYNC },
              { "SHARE", PKT_SHARE },
              { "SHARED", PKT_SHARED },
              { "START", PKT_START },
              { "PUT", PKT_PUT },
              { "GET", PKT_GET },
              { "GOT", PKT_GOT },
              { "ATOMIC", PKT_ATOMIC },
              { "FLUSH", PKT_FLUSH },
              { "MEM_ACK", PKT_MEM_ACK },
              { "WATCH", PKT_WATCH },
              { "DIED", PKT_DIED },
              { "RTS_KEY", PKT_RTS_KEY },
              { "CTS_KEY", PKT_CTS_KEY },
              { "BYE", PKT_BYE },
              { "REFUSED", PKT_REFUSED },
              { "NOTE", PKT_NOTE },
              { "NOTE_ALONE", PKT_NOTE_ALONE } };

static char *document(void)
{
    char path[1000], *text = calloc(1, 1 << 20);
    const char *dir = getenv("srcdir");
    snprintf(path, sizeof path, "%s/doc/wire.md", dir != NULL ? dir : SRCDIR);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s cannot be read", path);
    ck_assert(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

START_TEST(the_document_agrees)
{
    char *text = document(), row[200];
    int rows = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        snprintf(row, sizeof row, "| `%s` | %zu | %zu |", fields[i].name, fields[i].offset, fields[i].bytes);
        ck_assert_msg(strstr(text, row) != NULL, "doc/wire.md lacks the row %s", row);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(row, sizeof row, "| %s | %d |", kinds[i].name, kinds[i].kind);
        ck_assert_msg(strstr(text, row) != NULL, "doc/wire.md lacks the row %s", row);
    }
    ck_assert_int_eq(sizeof kinds / sizeof *kinds, PKT_KINDS - 1);
    for (char *p = text; (p = strstr(p, "\n| `")) != NULL; p++)
        rows++;
    ck_assert_int_eq(rows,
                     sizeof fields / sizeof *fields); /* nothing in the document that is not in the header */
    free(text);
}
END_TEST

static void refused(struct pkt *p, size_t len, const char *what)
{
    ck_assert_msg(pkt_check(&p->head, p->body, len) != NULL, "%s is taken", what);
}

START_TEST(what_is_made_is_taken)
{
    struct pkt p = { 0 };
    struct pkt_op op = { 5, 7 };
    for (uint64_t n = 0; n < 60; n++) {
        pkt_rts_prepare(&p, 1, 2, 3, op, n);
        ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    }
    p.head = pkt_rts_key_prepare(p.body, 1, 2, 3, op, 100000, 32);
    ck_assert_uint_eq(p.head.len, sizeof(struct pkt_rts) + 32);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    p.head = pkt_rts_key_prepare(p.body, 1, 2, 3, op, 100000, DEV_KEY_MAX);
    ck_assert_uint_eq(p.head.len, 0);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, sizeof(struct pkt_rts) + DEV_KEY_MAX));
    pkt_cts_prepare(&p, op, op, 10, 0, false);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_share_prepare(&p, &(struct pkt_share){ .sender = op, .want = 1, .chunk = 1, .claim = 7 });
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_shared_prepare(&p, op, true);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    ck_assert(pkt_shared_op(&p.head).index == op.index && pkt_shared_op(&p.head).gen == op.gen);
    p.head = pkt_start_prepare(op);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 48));
    ck_assert(pkt_start_op(&p.head).index == op.index && pkt_start_op(&p.head).gen == op.gen);
    p.head = pkt_part_prepare(PKT_PUT, op, 9);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 1000));
    p.head = pkt_part_prepare(PKT_GOT, op, 9);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 1));
    pkt_get_prepare(&p, &(struct pkt_get){ .asker = op, .len = UINT64_MAX });
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_atomic_prepare(&p, KEEL_ATOMIC_MAX, KEEL_DOUBLE, &(struct pkt_atomic){ .asker = op });
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_flush_prepare(&p, op);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0));
    ck_assert(pkt_flush_op(&p.head).index == op.index && pkt_flush_op(&p.head).gen == op.gen);
    pkt_mem_ack_prepare(&p, op, 1, 2);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_cancel_prepare(&p, 1, 2, 3, op);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_cancel_ack_prepare(&p, op, true);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    for (int n = 0; n <= PKT_SHORT_MAX; n++) {
        p.head = pkt_short_prepare(1, 2, 3, (size_t)n);
        ck_assert_ptr_null(pkt_check(&p.head, p.body, (size_t)n));
    }
    p.head = pkt_eager_prepare(1, 2, 3);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 48));
    p.head = pkt_signal_prepare(PKT_XOFF, 0);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0));
    p.head = pkt_signal_prepare(PKT_WATCH, 0);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0));
    p.head = pkt_signal_prepare(PKT_DIED, INT32_MAX);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0));
    p.head = pkt_signal_prepare(PKT_BYE, 0);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0));
    for (size_t n = 0; n <= DEV_SHORT_TELLS - sizeof(struct pkt_refused); n++) {
        static const char words[PKT_SHORT_MAX] = "MPI_Bcast count";
        pkt_refused_prepare(&p, 1, 2, 3, 4, PKT_REFUSED_INTER | PKT_REFUSED_REMOTE, words, n);
        ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
        ck_assert(pkt_refused_of(p.body).error == 4 && pkt_refused_of(p.body).flags == 3);
        ck_assert(p.head.len == 8 + n && memcmp(p.body + 8, words, n) == 0);
    }
    pkt_note_prepare(&p, PKT_NOTE, 1, 2, 3, &(struct pkt_note){ .numbers = 1 });
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    pkt_note_prepare(&p, PKT_NOTE_ALONE, 1, 2, 3, &(struct pkt_note){ .numbers = 1 });
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len));
    p.head = pkt_signal_prepare(PKT_SYNC, 31);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0));
}
END_TEST

START_TEST(what_is_wrong_is_refused)
{
    struct pkt p;
    struct pkt_op op = { 5, 7 };
    uint64_t huge = UINT64_MAX;
    pkt_rts_prepare(&p, 1, 2, 3, op, 8);
    refused(&p, p.head.len - 1u, "an RTS too short");
    refused(&p, 3, "an RTS without its body");
    refused(&p, sizeof(struct pkt_rts), "an RTS without its payload");
    pkt_rts_prepare(&p, 1, 2, 3, op, 100);
    memcpy(p.body, &huge, 8);
    refused(&p, p.head.len, "a message of 2^64 bytes");
    p.head = pkt_rts_key_prepare(p.body, 1, 2, 3, op, 100000, 8);
    refused(&p, sizeof(struct pkt_rts), "an RTS without its key");
    refused(&p, sizeof(struct pkt_rts) + DEV_KEY_MAX + 1, "a key too long");
    p.head = pkt_rts_key_prepare(p.body, 1, 2, 3, op, PKT_INLINE_MAX, 8);
    refused(&p, sizeof(struct pkt_rts) + 8, "a key to a short message");
    p.head = pkt_start_prepare(op);
    refused(&p, 0, "a START of no bytes");
    p.head = pkt_short_prepare(1, 2, 3, 49);
    refused(&p, 49, "a short message of 49 bytes");
    p.head = pkt_short_prepare(1, 2, 3, 40);
    refused(&p, 41, "a length that differs");
    pkt_cts_prepare(&p, op, op, 10, 0, false);
    refused(&p, 31, "a CTS too short");
    pkt_share_prepare(&p, &(struct pkt_share){ .sender = op, .want = 1, .chunk = 1, .claim = 7 });
    refused(&p, 39, "a SHARE too short");
    pkt_share_prepare(&p, &(struct pkt_share){ .sender = op, .want = 1, .chunk = 1, .claim = DEV_WORDS });
    refused(&p, p.head.len, "a word that is not there");
    pkt_share_prepare(&p, &(struct pkt_share){ .sender = op, .want = 1 });
    refused(&p, p.head.len, "pieces of no bytes");
    pkt_cancel_prepare(&p, 1, 2, 3, op);
    refused(&p, 11, "a cancel too short");
    p.head = pkt_signal_prepare(PKT_SYNC, 32);
    refused(&p, 0, "a round of 32");
    p.head = pkt_signal_prepare(PKT_DIED, UINT32_MAX);
    refused(&p, 0, "a rank of -1");
    p.head = pkt_part_prepare(PKT_PUT, op, 5);
    refused(&p, 0, "a PUT of no bytes");
    p.head = pkt_part_prepare(PKT_GOT, op, 5);
    refused(&p, 0, "a GOT of no bytes");
    pkt_get_prepare(&p, &(struct pkt_get){ .asker = op, .len = 1 });
    refused(&p, 31, "a GET too short");
    pkt_get_prepare(&p, &(struct pkt_get){ .asker = op });
    refused(&p, p.head.len, "a GET of no bytes");
    pkt_atomic_prepare(&p, KEEL_ATOMIC_SUM, KEEL_INT8, &(struct pkt_atomic){ .asker = op });
    refused(&p, 39, "an ATOMIC too short");
    pkt_atomic_prepare(&p, KEEL_ATOMIC_OPS, KEEL_INT8, &(struct pkt_atomic){ .asker = op });
    refused(&p, p.head.len, "an update that does not exist");
    pkt_atomic_prepare(&p, KEEL_ATOMIC_SUM, KEEL_ATOMIC_TYPES, &(struct pkt_atomic){ .asker = op });
    refused(&p, p.head.len, "a type that does not exist");
    pkt_atomic_prepare(&p, KEEL_ATOMIC_AND, KEEL_DOUBLE, &(struct pkt_atomic){ .asker = op });
    refused(&p, p.head.len, "AND of doubles");
    pkt_flush_prepare(&p, op);
    refused(&p, 1, "a FLUSH with a body");
    pkt_refused_prepare(&p, 1, 2, 3, 4, 0, "", 0);
    refused(&p, 7, "a REFUSED too short");
    refused(&p, PKT_SHORT_MAX + 1, "a REFUSED too long");
    pkt_refused_prepare(&p, 1, 2, 3, 0, 0, "", 0);
    refused(&p, 8, "a REFUSED without an error");
    pkt_refused_prepare(&p, 1, 2, 3, 4, 8, "", 0);
    refused(&p, 8, "a REFUSED with a flag that does not exist");
    pkt_note_prepare(&p, PKT_NOTE, 1, 2, 3, &(struct pkt_note){ .numbers = 1 });
    refused(&p, 47, "a NOTE too short");
    pkt_note_prepare(&p, PKT_NOTE_ALONE, 1, 2, 3, &(struct pkt_note){ .numbers = 1 });
    refused(&p, 47, "a NOTE_ALONE too short");
    pkt_mem_ack_prepare(&p, op, 0, 0);
    refused(&p, 23, "a MEM_ACK too short");
    p.head.kind = 0;
    refused(&p, 0, "kind 0");
    p.head.kind = PKT_KINDS;
    refused(&p, 0, "a kind that is not there");
}
END_TEST

START_TEST(data_names_place_and_operation)
{
    static const uint64_t offsets[] = { 0, 1, 0xffffffff, 0x100000000, 0xffffffffffff };
    for (int i = 0; i < 5; i++) {
        struct dev_head h = pkt_data_prepare((struct pkt_op){ 0xabcdef01, 0xfedc }, offsets[i]);
        ck_assert_uint_eq(pkt_data_offset(&h), offsets[i]);
        ck_assert_uint_eq(pkt_data_op(&h).index, 0xabcdef01);
        ck_assert_uint_eq(pkt_data_op(&h).gen, 0xfedc);
    }
}
END_TEST

/* All updates of bytes against the same in C. */
static int8_t new_byte(enum keel_atomic_op op, bool is_signed, int8_t old, int8_t with, int8_t compare)
{
    bool less = is_signed ? with < old : (uint8_t)with < (uint8_t)old;
    int8_t is[KEEL_ATOMIC_OPS] = { old,
                                   with,
                                   (int8_t)(old + with),
                                   (int8_t)(old * with),
                                   less ? with : old,
                                   less ? old : with,
                                   old & with,
                                   old | with,
                                   old ^ with,
                                   old == compare ? with : old };
    return is[op];
}

START_TEST(updates_are_those_of_c)
{
    for (int op = 0; op < KEEL_ATOMIC_OPS; op++)
        for (int a = -128; a < 128; a += 5)
            for (int b = -128; b < 128; b += 3) {
                int8_t at[3] = { 77, (int8_t)a, 78 }, with = (int8_t)b, compare = (int8_t)(b % 2 ? a : b),
                       old = 0;
                keel_atomic(&at[1], (enum keel_atomic_op)op, KEEL_INT8, &with, &compare, &old);
                ck_assert_int_eq(at[1], new_byte((enum keel_atomic_op)op, true, (int8_t)a, with, compare));
                ck_assert(old == a && at[0] == 77 && at[2] == 78);
                at[1] = (int8_t)a;
                keel_atomic(&at[1], (enum keel_atomic_op)op, KEEL_UINT8, &with, &compare, NULL);
                ck_assert_int_eq(at[1], new_byte((enum keel_atomic_op)op, false, (int8_t)a, with, compare));
            }
}
END_TEST

START_TEST(updates_of_every_width)
{
    static const double want[] = { 6, -2, 4, -12, -2, 6 }; /* of 6 with -2 */
    for (int op = 0; op <= KEEL_ATOMIC_MAX; op++) {
        int16_t a = 6, a2 = -2;
        int32_t b = 6, b2 = -2;
        int64_t c = 6, c2 = -2;
        float f = 6, f2 = -2, f_old = 0;
        double d = 6, d2 = -2, d_old = 0;
        keel_atomic(&a, (enum keel_atomic_op)op, KEEL_INT16, &a2, NULL, NULL);
        keel_atomic(&b, (enum keel_atomic_op)op, KEEL_INT32, &b2, NULL, NULL);
        keel_atomic(&c, (enum keel_atomic_op)op, KEEL_INT64, &c2, NULL, NULL);
        keel_atomic(&f, (enum keel_atomic_op)op, KEEL_FLOAT, &f2, NULL, &f_old);
        keel_atomic(&d, (enum keel_atomic_op)op, KEEL_DOUBLE, &d2, NULL, &d_old);
        ck_assert(a == want[op] && b == want[op] && c == want[op] && f == want[op] && d == want[op]);
        ck_assert(f_old == 6 && d_old == 6);
    }
    ck_assert(!keel_atomic_has(KEEL_ATOMIC_AND, KEEL_FLOAT) && keel_atomic_has(KEEL_ATOMIC_AND, KEEL_UINT64));
}
END_TEST

/* Numbers of which no two bytes are equal, backwards or not. */
static const struct pkt_op one = { 0x04030201, 0x0605 }, other = { 0x14131211, 0x1615 };
#define OF_ONE 1, 2, 3, 4, 5, 6, 0, 0
#define OF_OTHER 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0, 0

START_TEST(bodies_are_these_bytes)
{
    static const uint8_t rts[] = { 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, OF_ONE,
                                   0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31 },
                         cts[] = { OF_ONE, OF_OTHER, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22,
                                   0x21,   0x44,     0x43, 0,    0,    1,    0,    0,    0 },
                         share[] = { OF_ONE, OF_OTHER, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22,
                                     0x21,   0x38,     0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
                                     0x54,   0x53,     0x52, 0x51, 4,    0x63, 0x62, 0x61 },
                         cancel[] = { OF_ONE, 0, 0, 0, 0 }, cancel_ack[] = { OF_OTHER, 1, 0, 0, 0 };
    uint64_t total = 0x2122232425262728, address = 0x3132333435363738;
    struct pkt p;
    pkt_rts_prepare(&p, 7, 8, 9, one, total);
    pkt_rts_address(&p, address);
    golden("RTS", p.body, rts, "8448");
    p.head = pkt_rts_key_prepare(p.body, 7, 8, 9, one, total, sizeof address);
    golden("RTS_KEY", p.body, rts, "8448");
    struct pkt_rts r = pkt_rts_of(p.body);
    ck_assert(r.total == total && r.sender.index == one.index && r.sender.gen == one.gen);
    ck_assert(pkt_rts_address_of(p.body + sizeof r) == address);
    pkt_cts_prepare(&p, one, other, total, 0x4344, true);
    golden("CTS", p.body, cts, "4444844");
    struct pkt_cts c = pkt_cts_of(p.body);
    ck_assert(c.sender.index == one.index && c.sender.gen == one.gen && c.receiver.index == other.index &&
              c.receiver.gen == other.gen && c.want == total && c.error == 0x4344 && c.start == 1);
    static const uint8_t cts_key[] = { OF_ONE, OF_OTHER, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22,
                                       0x21,   0,        0,    0,    0,    0,    0,    0,    0 };
    p.head = pkt_cts_key_prepare(p.body, one, other, total, 8);
    ck_assert_uint_eq(p.head.len, sizeof cts_key + 8);
    p.head.len = sizeof cts_key;
    golden("CTS_KEY", p.body, cts_key, "4444844");
    pkt_share_prepare(&p, &(struct pkt_share){ one, other, total, address, 0x51525354, 0x61626304 });
    golden("SHARE", p.body, share, "44448844");
    struct pkt_share s = pkt_share_of(p.body);
    ck_assert(s.sender.gen == one.gen && s.receiver.index == other.index && s.want == total &&
              s.address == address && s.chunk == 0x51525354 && s.claim == 0x61626304);
    pkt_cancel_prepare(&p, 7, 8, 9, one);
    golden("CANCEL", p.body, cancel, "444");
    pkt_cancel_ack_prepare(&p, other, true);
    golden("CANCEL_ACK", p.body, cancel_ack, "444");
    ck_assert(pkt_cancel_of(p.body).sender.index == other.index && pkt_cancel_of(p.body).cancelled == 1);
}
END_TEST

START_TEST(a_note_is_these_bytes)
{
    static const uint8_t bytes[] = { 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x38, 0x37, 0x36, 0x35,
                                     0x34, 0x33, 0x32, 0x31, 0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
                                     0x54, 0x53, 0x52, 0x51, 0x64, 0x63, 0x62, 0x61, 0x74, 0x73, 0x72, 0x71,
                                     0x82, 0x81, 0x92, 0x91, 1,    2,    3,    4,    5,    6,    7,    8 };
    struct pkt_note n = { 0x2122232425262728,
                          0x3132333435363738,
                          0x4142434445464748,
                          0x51525354,
                          0x61626364,
                          0x71727374,
                          0x8182,
                          0x9192,
                          { 1, 2, 3, 4, 5, 6, 7, 8 } };
    struct pkt p;
    pkt_note_prepare(&p, PKT_NOTE, 7, 8, 9, &n);
    ck_assert_uint_eq(p.head.len, sizeof bytes);
    golden("NOTE", p.body, bytes, "8884442211111111");
    struct pkt_note back = pkt_note_of(p.body);
    ck_assert_int_eq(memcmp(&back, &n, sizeof n), 0);
}
END_TEST

START_TEST(bodies_of_memory_are_these_bytes)
{
    static const uint8_t get[] = { OF_ONE, OF_OTHER, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22,
                                   0x21,   0x38,     0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31 },
                         atomic[] = { OF_ONE, OF_OTHER, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22,
                                      0x21,   0x38,     0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
                                      0x48,   0x47,     0x46, 0x45, 0x44, 0x43, 0x42, 0x41 },
                         ack[] = { OF_ONE, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
                                   0x44,   0x43, 0,    0,    0,    0,    0,    0 },
                         key[] = { 0x54, 0x53, 0x52, 0x51, 0x64, 0x63, 0x62, 0x61, OF_ONE,
                                   0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x38,
                                   0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31 };
    uint64_t offset = 0x2122232425262728, len = 0x3132333435363738, compare = 0x4142434445464748;
    struct pkt p;
    pkt_get_prepare(&p, &(struct pkt_get){ one, other, offset, len });
    golden("GET", p.body, get, "444488");
    struct pkt_get g = pkt_get_of(p.body);
    ck_assert(g.asker.gen == one.gen && g.region.index == other.index && g.offset == offset && g.len == len);
    pkt_atomic_prepare(&p, KEEL_ATOMIC_SUM, KEEL_INT64,
                       &(struct pkt_atomic){ one, other, offset, len, compare });
    golden("ATOMIC", p.body, atomic, "4444888");
    struct pkt_atomic a = pkt_atomic_of(p.body);
    ck_assert(a.asker.index == one.index && a.region.gen == other.gen && a.offset == offset);
    ck_assert(a.operand == len && a.compare == compare);
    pkt_mem_ack_prepare(&p, one, offset, 0x4344);
    golden("MEM_ACK", p.body, ack, "44844");
    ck_assert(pkt_mem_ack_of(p.body).value == offset && pkt_mem_ack_of(p.body).error == 0x4344);
    struct mem_key k = { 0x51525354, 0x61626364, one, offset, len };
    k = mem_key_le(&k);
    golden("mem_key", &k, key, "444488");
    k = mem_key_le(&k);
    ck_assert(k.magic == 0x51525354 && k.rank == 0x61626364 && k.region.gen == one.gen && k.len == len);
}
END_TEST

START_TEST(heads_are_these_bytes)
{
    static const struct {
        struct dev_head head;
        uint8_t bytes[16];
    } heads[] = {
        { { 0x0201, PKT_SHORT, 48, 0x24232221, 0x34333231, 0x44434241 },
          { 1, 2, 1, 48, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44 } },
        { { 0x0201, PKT_DATA, 0, 0x24232221, 0x34333231, 0x16150605 },
          { 1, 2, 5, 0, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 5, 6, 0x15, 0x16 } },
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct dev_head h = dev_head_le(heads[i].head), back = dev_head_le(h);
        golden("head", &h, heads[i].bytes, "211444");
        ck_assert_int_eq(memcmp(&back, &heads[i].head, sizeof back), 0);
    }
    struct dev_head h = pkt_data_prepare((struct pkt_op){ 0x24232221, 0x1615 }, 0x060534333231);
    h.own = 0x0201;
    ck_assert_int_eq(memcmp(&h, &heads[1].head, sizeof h), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wire");
    TCase *t = tcase_create("wire");
    SRunner *r = srunner_create(s);
    int failed;
    tcase_add_test(t, the_document_agrees);
    tcase_add_test(t, what_is_made_is_taken);
    tcase_add_test(t, what_is_wrong_is_refused);
    tcase_add_test(t, data_names_place_and_operation);
    tcase_add_test(t, updates_are_those_of_c);
    tcase_add_test(t, updates_of_every_width);
    tcase_add_test(t, bodies_are_these_bytes);
    tcase_add_test(t, bodies_of_memory_are_these_bytes);
    tcase_add_test(t, a_note_is_these_bytes);
    tcase_add_test(t, heads_are_these_bytes);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
