/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.c: type signatures as numbers that can be compared: see MPID_Signature_of (mpid_datatype.h).
 *
 * The digest of a sequence is a polynomial, modulo 2^64, whose coefficients stand for what its numbers are.  So
 * that of a sequence behind another one, and of one that is repeated, follows from those of the parts (sign.h):
 * signatures of any length cost what their description has of parts. */
#include "mpid/datatype/signature.h"

#include "basic.h"
#include "mpid.h"
#include "mpid/datatype/external.h"
#include "mpid/datatype/sign.h"

/* ---- What the basic types are ---- */

/* Of one number: what it is ('i' signed, 'u' unsigned, 'f' floating, 'l' a truth, 'w' a wide character, 'b' a
 * byte, 'p' packed), and its bytes.  C's characters are taken for integers, and all integers of a size that have a
 * sign for one type, whatever their names; so are floating types and truths. */
struct number {
    uint8_t is, bytes;
};

/* A basic type is a number, or two: a complex number, a pair. */
struct numbers {
    int n;
    struct number at[2];
};

static uint8_t kind_of(int class, int repr)
{
    switch (class) {
    case MPIR_CLASS_FLOAT:
    case MPIR_CLASS_COMPLEX:
        return 'f';
    case MPIR_CLASS_LOGICAL:
    case MPIR_CLASS_BOOL:
        return 'l';
    case MPIR_CLASS_BYTE:
        return 'b';
    case MPIR_CLASS_CHARACTER:
        return 'i';
    }
    return repr >= MPIR_REPR_UNSIGNED && repr < MPIR_REPR_F16 ? 'u' : 'i';
}

static struct numbers basic_numbers(uint32_t basic, int class, int repr, size_t size)
{
    if (basic == KEEL_MPI_PACKED || basic == KEEL_MPI_WCHAR)
        return (struct numbers){ 1, { { basic == KEEL_MPI_PACKED ? 'p' : 'w', (uint8_t)size } } };
    int n = class == MPIR_CLASS_COMPLEX ? 2 : 1;
    struct number one = { kind_of(class, repr), (uint8_t)(size / (size_t)n) };
    return (struct numbers){ n, { one, one } };
}

#define NUMBER(TYPE) \
    { \
        (TYPE)0.5 != 0 ? 'f' : 'i', sizeof(TYPE) \
    }

static struct numbers numbers_of(uint32_t basic)
{
#define BASIC_CASE(NAME, TYPE, CLASS, REPR) \
    case KEEL_##NAME: \
        return basic_numbers(basic, MPIR_CLASS_##CLASS, REPR, sizeof(TYPE));
#define PAIR_CASE(NAME, VALUE, INDEX, REPR, LAYOUT) \
    case KEEL_##NAME: \
        return (struct numbers){ 2, { NUMBER(VALUE), NUMBER(INDEX) } };
    switch (basic) {
        MPIR_BASIC_TYPES(BASIC_CASE)
        MPIR_PAIR_TYPES(PAIR_CASE)
    }
    return (struct numbers){ 0 };
}

/* ---- Sums ---- */

static const uint64_t BASE = 0x9e3779b97f4a7c15u;

static struct MPID_SUM sum_of_number(struct number x)
{
    uint64_t h = ((uint64_t)x.is << 8 | x.bytes) * 0xbf58476d1ce4e5b9u;
    return (struct MPID_SUM){ h ^ h >> 31, BASE, 1, x.is == 'p' };
}

static struct MPID_SUM signature_join(struct MPID_SUM a, struct MPID_SUM b)
{
    return (struct MPID_SUM){ a.h * b.p + b.h, a.p * b.p, a.n + b.n, a.packed || b.packed };
}

static struct MPID_SUM signature_repeat(struct MPID_SUM one, int64_t times)
{
    struct MPID_SUM all = { 0, 1, 0, false };
    for (; times > 0; times >>= 1, one = times > 0 ? signature_join(one, one) : one)
        if (times & 1)
            all = signature_join(all, one);
    return all;
}

static struct MPID_SUM sum_of_basic(uint32_t basic)
{
    struct numbers b = numbers_of(basic);
    struct MPID_SUM sum = { 0, 1, 0, false };
    for (int i = 0; i < b.n; i++)
        sum = signature_join(sum, sum_of_number(b.at[i]));
    return sum;
}

static struct MPID_SUM sum_of_one(const struct MPID_SIGN_PART *p)
{
    return p->sub ? p->sub->sum : sum_of_basic(p->basic);
}

struct MPID_SUM MPID_Sum_add(struct MPID_SUM sum, const struct MPID_SIGN_PART *p)
{
    struct MPID_SUM none = { 0, 1, 0, false };
    return signature_join(sum.p ? sum : none, signature_repeat(sum_of_one(p), p->times));
}

/* ---- The first numbers of a part ---- */

static struct MPID_SUM first_of(const struct MPID_SIGN_PART *p, int64_t limit)
{
    struct MPID_SUM one = sum_of_one(p), all;
    if (one.n == 0)
        return one;
    if (p->times <= limit / one.n)
        return signature_repeat(one, p->times);
    all = signature_repeat(one, limit / one.n);
    limit -= all.n;
    if (limit > 0 && !p->sub) /* within a pair */
        all = signature_join(all, sum_of_number(numbers_of(p->basic).at[0]));
    for (int64_t i = 0; p->sub && i < p->sub->n && limit > 0; i++) {
        struct MPID_SUM more = first_of(&p->sub->part[i], limit);
        all = signature_join(all, more);
        limit -= more.n;
    }
    return all;
}

/* ---- Their names ---- */

static void signature_name(const struct MPID_SIGN_PART *p, struct MPID_Signature *s, int *n)
{
    for (int64_t t = 0; t < p->times && *n < MPID_SIGNATURE_FIRST; t++) {
        for (int i = 0, m = p->sub ? 0 : numbers_of(p->basic).n; i < m && *n < MPID_SIGNATURE_FIRST; i++)
            s->first[(*n)++] = (uint8_t)p->basic;
        for (int64_t i = 0; p->sub && i < p->sub->n && *n < MPID_SIGNATURE_FIRST; i++)
            signature_name(&p->sub->part[i], s, n);
    }
}

void MPID_Signature_of(const struct MPIR_DATATYPE *t, int64_t count, int64_t limit, struct MPID_Signature *s)
{
    struct MPID_SIGN_PART part = { .times = count, .basic = t->basic, .sub = t->basic ? NULL : t->sign };
    int64_t native = t->basic ? MPID_External_native(t->basic) : t->sign ? t->sign->bytes : 0;
    int n = 0;
    *s = (struct MPID_Signature){ 0 };
    if (count <= 0 || t->size == 0)
        return;
    if (native == 0 || __builtin_mul_overflow(count, t->size / native, &part.times)) {
        s->flags = MPID_SIGNATURE_UNKNOWN;
        return;
    }
    struct MPID_SUM sum = first_of(&part, limit);
    s->digest = sum.h;
    s->n = sum.n;
    s->flags = (t->basic ? MPID_SIGNATURE_UNIFORM : 0) | (sum.packed ? MPID_SIGNATURE_PACKED : 0);
    signature_name(&part, s, &n);
}

/* The numbers of which first[0], first[1], ... are told, each the next one of its basic type. */
static struct number number_at(const uint8_t *first, int i)
{
    int at = 0; /* where that basic type begins */
    for (struct numbers x = numbers_of(first[at] | MPID_SIGNATURE_BASE); x.n > 0 && at + x.n <= i;
         x = numbers_of(first[at] | MPID_SIGNATURE_BASE))
        at += x.n;
    return numbers_of(first[at] | MPID_SIGNATURE_BASE).at[i > at];
}

int MPID_Signature_differ(const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < MPID_SIGNATURE_FIRST && a[i] != 0 && b[i] != 0; i++) {
        struct number x = number_at(a, i), y = number_at(b, i);
        if (x.is != y.is || x.bytes != y.bytes)
            return i;
    }
    return -1;
}

int MPID_Signature_numbers(uint8_t basic)
{
    return numbers_of(basic | MPID_SIGNATURE_BASE).n;
}

/* ---- Where the numbers lie ---- */

struct typed_walk {
    const struct MPIR_DATATYPE *type;
    int64_t offset; /* in the packed form */
    bool (*fn)(void *arg, const struct MPID_Typed_run *run);
    void *arg;
    struct MPID_Typed_run run;
};

static bool typed_run(void *arg, int64_t at, int64_t bytes)
{
    struct typed_walk *w = arg;
    w->run.at = at;
    w->run.bytes = bytes;
    return w->fn(w->arg, &w->run);
}

/* The next `bytes` of the packed form are such numbers. */
static bool typed_numbers(struct typed_walk *w, struct number x, int64_t bytes)
{
    int64_t from = w->offset;
    w->run.is = x.is;
    w->run.size = x.bytes;
    w->offset += bytes;
    return MPID_Layout_runs(w->type, from, bytes, typed_run, w) == bytes;
}

static bool typed_basic(struct typed_walk *w, const struct MPID_SIGN_PART *p)
{
    struct numbers x = numbers_of(p->basic);
    bool alike = x.n < 2 || (x.at[0].is == x.at[1].is && x.at[0].bytes == x.at[1].bytes);
    w->run.basic = p->basic;
    if (alike)
        return x.n > 0 && typed_numbers(w, x.at[0], p->times * x.n * x.at[0].bytes);
    for (int64_t i = 0; i < 2 * p->times; i++)
        if (!typed_numbers(w, x.at[i & 1], x.at[i & 1].bytes))
            return false;
    return true;
}

static bool typed_part(struct typed_walk *w, const struct MPID_SIGN_PART *p)
{
    if (!p->sub)
        return typed_basic(w, p);
    for (int64_t i = 0; i < p->times; i++)
        for (int64_t k = 0; k < p->sub->n; k++)
            if (!typed_part(w, &p->sub->part[k]))
                return false;
    return true;
}

bool MPID_Typed_runs(const struct MPIR_DATATYPE *t, int64_t count,
                     bool (*fn)(void *arg, const struct MPID_Typed_run *run), void *arg)
{
    struct MPID_SIGN_PART part = { .times = count, .basic = t->basic, .sub = t->basic ? NULL : t->sign };
    int64_t native = t->basic ? MPID_External_native(t->basic) : t->sign ? t->sign->bytes : 0;
    struct typed_walk w = { .type = t, .fn = fn, .arg = arg };
    if (count <= 0 || t->size == 0)
        return true;
    return native > 0 && !__builtin_mul_overflow(count, t->size / native, &part.times) &&
           typed_part(&w, &part);
}
