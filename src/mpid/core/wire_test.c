/* Packets: what the constructors make, what the check refuses, and that doc/wire.md says the same as wire.h. */
#include "wire.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 4 };

/* The rows of doc/wire.md: "| name | offset | bytes |" and "| KIND | number |". */
static const struct row {
    const char *name;
    size_t offset, bytes;
} fields[] = {
#define FIELD(s, f) \
    { \
#s "." #f, offsetof(struct s, f), sizeof(((struct s *)0)->f) \
    }
    FIELD(dev_head, seq),       FIELD(dev_head, kind),        FIELD(dev_head, len),
    FIELD(dev_head, context),   FIELD(dev_head, tag),         FIELD(dev_head, source),
    FIELD(pkt_op, index),       FIELD(pkt_op, gen),           FIELD(pkt_rts, total),
    FIELD(pkt_rts, sender),     FIELD(pkt_rts, grank),        FIELD(pkt_rts, bytes),
    FIELD(pkt_cts, sender),     FIELD(pkt_cts, receiver),     FIELD(pkt_cts, want),
    FIELD(pkt_cts, error),      FIELD(pkt_cts, start),        FIELD(pkt_cancel, sender),
    FIELD(pkt_cancel, grank),   FIELD(pkt_cancel, cancelled), FIELD(pkt_share, sender),
    FIELD(pkt_share, receiver), FIELD(pkt_share, want),       FIELD(pkt_share, address),
    FIELD(pkt_share, chunk),    FIELD(pkt_share, claim),
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
              { "START", PKT_START } };

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
    ck_assert_msg(pkt_check(&p->head, p->body, len, RANKS) != NULL, "%s is taken", what);
}

START_TEST(what_is_made_is_taken)
{
    struct pkt p;
    struct pkt_op op = { 5, 7 };
    for (uint64_t n = 0; n < 60; n++) {
        pkt_rts_prepare(&p, 1, 2, 3, RANKS - 1, op, n);
        ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len, RANKS));
    }
    pkt_cts_prepare(&p, op, op, 10, 0, false);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len, RANKS));
    pkt_share_prepare(&p, &(struct pkt_share){ .sender = op, .want = 1, .chunk = 1, .claim = 7 });
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len, RANKS));
    pkt_shared_prepare(&p, op, true);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len, RANKS));
    ck_assert(pkt_shared_op(&p.head).index == op.index && pkt_shared_op(&p.head).gen == op.gen);
    p.head = pkt_start_prepare(op, RANKS - 1);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 48, RANKS));
    ck_assert(pkt_start_op(&p.head).index == op.index && pkt_start_op(&p.head).gen == op.gen);
    pkt_cancel_prepare(&p, 1, 2, 3, 0, op);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len, RANKS));
    pkt_cancel_ack_prepare(&p, op, 0, true);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, p.head.len, RANKS));
    for (int n = 0; n <= PKT_SHORT_MAX; n++) {
        p.head = pkt_short_prepare(1, 2, 3, (size_t)n);
        ck_assert_ptr_null(pkt_check(&p.head, p.body, (size_t)n, RANKS));
    }
    p.head = pkt_eager_prepare(1, 2, 3);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 48, RANKS));
    p.head = pkt_signal_prepare(PKT_XOFF, 3, 0);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0, RANKS));
    p.head = pkt_signal_prepare(PKT_SYNC, 3, 31);
    ck_assert_ptr_null(pkt_check(&p.head, p.body, 0, RANKS));
}
END_TEST

START_TEST(what_is_wrong_is_refused)
{
    struct pkt p;
    struct pkt_op op = { 5, 7 };
    uint64_t huge = UINT64_MAX;
    pkt_rts_prepare(&p, 1, 2, 3, RANKS, op, 8);
    refused(&p, p.head.len, "a rank too large");
    pkt_rts_prepare(&p, 1, 2, 3, -1, op, 8);
    refused(&p, p.head.len, "a negative rank");
    pkt_rts_prepare(&p, 1, 2, 3, 0, op, 8);
    refused(&p, p.head.len - 1u, "an RTS too short");
    refused(&p, 3, "an RTS without its body");
    p.body[20] = 0; /* bytes */
    refused(&p, sizeof(struct pkt_rts), "an RTS without its payload");
    pkt_rts_prepare(&p, 1, 2, 3, 0, op, 100);
    memcpy(p.body, &huge, 8);
    refused(&p, p.head.len, "a message of 2^64 bytes");
    p.head = pkt_start_prepare(op, RANKS);
    refused(&p, 1, "a START of rank 4");
    p.head = pkt_start_prepare(op, 1);
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
    pkt_cancel_prepare(&p, 1, 2, 3, RANKS, op);
    refused(&p, p.head.len, "a cancel of rank 4");
    p.head = pkt_signal_prepare(PKT_XON, RANKS, 0);
    refused(&p, 0, "a signal of rank 4");
    p.head = pkt_signal_prepare(PKT_SYNC, 0, 32);
    refused(&p, 0, "a round of 32");
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
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
