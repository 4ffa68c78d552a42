/* SPDX-License-Identifier: BSD-3-Clause */
/* external.c: to and from external32.
 *
 * Bytes go between the user's buffer and a window in the native packed form (type_copy.h), and are converted
 * between the window and the external form, one run of equal basic elements after the other, as the type's
 * signature says.  Contiguous buffers are their own window. */
#include "mpid/datatype/external.h"

#include <endian.h>
#include <float.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>
#include "basic.h"
#include "mpid/datatype/type_copy.h"
#include "mpid/datatype/sign.h"
#include "util/err.h"

/* ---- how each basic type is converted ---- */

enum how {
    UNKNOWN,
    NUMBER,   /* the same bytes, most significant first */
    SIGNED,   /* fewer bytes there */
    UNSIGNED, /* fewer bytes there */
    TRUTH,    /* 0 or not 0 */
    LOGICAL,  /* Fortran's: as MPID_Logicals tell, or the same */
    LONG_DOUBLE
};

/* Equal units that follow each other: a complex number has two. */
struct form {
    uint8_t how, native, wire, units;
};

/* A basic type: one form, or a value's and an index's. */
struct forms {
    struct form f[2];
};

#define NUMBERS(SIZE, UNITS) \
    { \
        NUMBER, (SIZE) / (UNITS), (SIZE) / (UNITS), UNITS \
    }

static struct form form_of_repr(int repr, int size)
{
    switch (repr) {
    case MPIR_REPR_LONG_DOUBLE:
        return (struct form){ LONG_DOUBLE, sizeof(long double), 16, 1 };
    case MPIR_REPR_C_LONG_DOUBLE:
        return (struct form){ LONG_DOUBLE, sizeof(long double), 16, 2 };
    case MPIR_REPR_C16:
    case MPIR_REPR_C32:
    case MPIR_REPR_C64:
    case MPIR_REPR_C128:
        return (struct form)NUMBERS(size, 2);
    default:
        return (struct form)NUMBERS(size, 1);
    }
}

/* The types whose size there is another, or whose bytes are no number. */
static struct form form_of(int32_t basic, int class, int repr, int size)
{
    switch (basic) {
    case KEEL_MPI_LONG:
        return (struct form){ size == 4 ? NUMBER : SIGNED, (uint8_t)size, 4, 1 };
    case KEEL_MPI_UNSIGNED_LONG:
        return (struct form){ size == 4 ? NUMBER : UNSIGNED, (uint8_t)size, 4, 1 };
    case KEEL_MPI_WCHAR:
        return (struct form){ size == 2 ? NUMBER : UNSIGNED, (uint8_t)size, 2, 1 };
    }
    if (class == MPIR_CLASS_BOOL || class == MPIR_CLASS_LOGICAL)
        return (struct form){ class == MPIR_CLASS_BOOL ? TRUTH : LOGICAL, (uint8_t)size, (uint8_t)size, 1 };
    return form_of_repr(repr, size);
}

/* The value of a pair; its index is a number. */
#define PAIR_VALUE(NAME, VALUE) \
    ((NAME) == KEEL_MPI_LONG_INT \
         ? form_of(KEEL_MPI_LONG, MPIR_CLASS_C_INTEGER, MPIR_SIGNED(long), sizeof(long)) \
     : (NAME) == KEEL_MPI_LONG_DOUBLE_INT ? form_of_repr(MPIR_REPR_LONG_DOUBLE, sizeof(long double)) \
                                          : (struct form)NUMBERS(sizeof(VALUE), 1))

static struct forms forms_of(uint32_t basic)
{
#define BASIC_CASE(NAME, TYPE, CLASS, REPR) \
    case KEEL_##NAME: \
        return (struct forms){ { form_of(KEEL_##NAME, MPIR_CLASS_##CLASS, REPR, sizeof(TYPE)) } };
#define PAIR_CASE(NAME, VALUE, INDEX, REPR, LAYOUT) \
    case KEEL_##NAME: \
        return (struct forms){ { PAIR_VALUE(KEEL_##NAME, VALUE), NUMBERS(sizeof(INDEX), 1) } };
    switch (basic) {
        MPIR_BASIC_TYPES(BASIC_CASE)
        MPIR_PAIR_TYPES(PAIR_CASE)
    }
    return (struct forms){ 0 };
}

int64_t MPID_External_native(uint32_t basic)
{
    struct forms b = forms_of(basic);
    return b.f[0].native * b.f[0].units + b.f[1].native * b.f[1].units;
}

int64_t MPID_External_wire(uint32_t basic)
{
    struct forms b = forms_of(basic);
    if (b.f[0].how == UNKNOWN)
        return -1;
    return b.f[0].wire * b.f[0].units + b.f[1].wire * b.f[1].units;
}

int64_t MPID_External_size(const struct MPIR_DATATYPE *t)
{
    if (t->size == 0)
        return 0;
    if (t->basic == 0)
        return t->sign ? t->sign->wire * (t->size / t->sign->bytes) : -1;
    int64_t native = MPID_External_native(t->basic);
    return native ? t->size / native * MPID_External_wire(t->basic) : -1;
}

/* ---- numbers ---- */

static const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* n numbers of `bytes`, each turned round. */
static void swap(char *d, const char *s, int bytes, int64_t n)
{
    if (bytes == 1 || big_endian) {
        memcpy(d, s, (size_t)(n * bytes));
    } else if (bytes == 2) {
        for (uint16_t x; n > 0; n--, s += 2, d += 2) {
            memcpy(&x, s, 2);
            x = htobe16(x);
            memcpy(d, &x, 2);
        }
    } else if (bytes == 4) {
        for (uint32_t x; n > 0; n--, s += 4, d += 4) {
            memcpy(&x, s, 4);
            x = htobe32(x);
            memcpy(d, &x, 4);
        }
    } else {
        for (uint64_t x[2]; n > 0; n--, s += bytes, d += bytes) { /* 8 or 16 */
            int words = bytes / 8;
            memcpy(x, s, (size_t)bytes);
            for (int i = 0; i < words; i++) {
                uint64_t w = htobe64(x[words - 1 - i]);
                memcpy(d + 8 * i, &w, 8);
            }
        }
    }
}

/* A number of `bytes`, most significant first or native, extended. */
static uint64_t external_load(const char *p, int bytes, bool wire, bool is_signed)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | (unsigned char)p[wire || big_endian ? i : bytes - 1 - i];
    int shift = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(x << shift) >> shift) : x;
}

static void external_store(char *p, uint64_t x, int bytes, bool wire)
{
    for (int i = bytes - 1; i >= 0; i--, x >>= 8)
        p[wire || big_endian ? i : bytes - 1 - i] = (char)x;
}

/* *ok: the number fits. */
static void narrow(struct form f, char *wire, const char *native, bool *ok)
{
    bool is_signed = f.how == SIGNED;
    uint64_t x = external_load(native, f.native, false, is_signed);
    external_store(wire, x, f.wire, true);
    *ok = external_load(wire, f.wire, true, is_signed) == x;
}

struct MPID_LOGICALS MPID_Logicals;

/* 0 or 1, in either order of bytes. */
static void truth(char *d, const char *s, int bytes, bool to_wire)
{
    bool any = false;
    for (int i = 0; i < bytes; i++)
        any |= s[i] != 0;
    memset(d, 0, (size_t)bytes);
    d[to_wire || big_endian ? bytes - 1 : 0] = any;
}

static void store_logical(char *d, int64_t x, int bytes)
{
    memset(d, x < 0 ? 0xff : 0, 16);
    if (bytes >= 8)
        memcpy(d + (big_endian ? bytes - 8 : 0), &x, 8);
    else
        memcpy(d, (char *)&x + (big_endian ? 8 - bytes : 0), (size_t)bytes);
}

static void logical(char *d, const char *s, int bytes, bool to_wire)
{
    const struct MPID_LOGICALS *l = &MPID_Logicals;
    char no[16], yes[16];
    if (!l->set) {
        truth(d, s, bytes, to_wire);
        return;
    }
    store_logical(no, l->no, bytes);
    store_logical(yes, l->yes, bytes);
    if (to_wire) {
        memset(d, 0, (size_t)bytes);
        d[bytes - 1] = memcmp(s, no, (size_t)bytes) != 0;
    } else {
        truth(d, s, bytes, false);
        memcpy(d, d[big_endian ? bytes - 1 : 0] ? yes : no, (size_t)bytes);
    }
}

/* ---- long double: x87's 80 bits have an explicit first bit and 63 of fraction, binary128 has 112 of fraction ---- */

#define BIT63 ((uint64_t)1 << 63)
enum { EXPONENT = 0x7fff };

static void long_double_out(char *wire, const char *native)
{
#if LDBL_MANT_DIG == 64
    uint64_t m, e = external_load(native + 8, 2, false, false), sign = e >> 15;
    memcpy(&m, native, 8);
    uint64_t fraction = m & ~BIT63;
    e &= EXPONENT;
    if (e && !(m & BIT63)) { /* no number since the 80387 */
        e = EXPONENT;
        fraction = BIT63 >> 1;
    }
    if (e == 0 && (m & BIT63)) /* the 8087's other way to write the smallest normal numbers */
        e = 1;
    external_store(wire, sign << 63 | e << 48 | fraction >> 15, 8, true);
    external_store(wire + 8, fraction << 49, 8, true);
#else
    _Static_assert(sizeof(long double) == 16, "long double is x87's or binary128");
    swap(wire, native, 16, 1);
#endif
}

static void long_double_in(char *native, const char *wire)
{
#if LDBL_MANT_DIG == 64
    uint64_t hi = external_load(wire, 8, true, false), lo = external_load(wire + 8, 8, true, false),
             e = hi >> 48 & EXPONENT;
    uint64_t m = (hi << 16 >> 1) | lo >> 49, rest = lo << 15; /* rest: what is rounded away, from bit 63 on */
    if (e == EXPONENT) {
        if (m == 0 && rest) /* a NaN stays one */
            m = BIT63 >> 1;
    } else if (rest > BIT63 || (rest == BIT63 && (m & 1))) {
        m++;
        if (m & BIT63) { /* to the next power of two, or to infinity */
            m = 0;
            e++;
        }
    }
    memset(native, 0, sizeof(long double));
    external_store(native, m | (e ? BIT63 : 0), 8, false);
    external_store(native + 8, (hi >> 63) << 15 | e, 2, false);
#else
    swap(native, wire, 16, 1);
#endif
}

/* ---- units ---- */

/* n units to the external form; how many before one that does not fit. */
static int64_t out(struct form f, char *wire, const char *native, int64_t n)
{
    bool ok = true;
    if (f.how == NUMBER) {
        swap(wire, native, f.native, n);
        return n;
    }
    for (int64_t i = 0; i < n; i++, wire += f.wire, native += f.native) {
        if (f.how == TRUTH)
            truth(wire, native, f.native, true);
        else if (f.how == LOGICAL)
            logical(wire, native, f.native, true);
        else if (f.how == LONG_DOUBLE)
            long_double_out(wire, native);
        else
            narrow(f, wire, native, &ok);
        if (!ok)
            return i;
    }
    return n;
}

static void in(struct form f, char *native, const char *wire, int64_t n)
{
    if (f.how == NUMBER) {
        swap(native, wire, f.native, n);
        return;
    }
    for (int64_t i = 0; i < n; i++, wire += f.wire, native += f.native) {
        if (f.how == TRUTH)
            truth(native, wire, f.native, false);
        else if (f.how == LOGICAL)
            logical(native, wire, f.native, false);
        else if (f.how == LONG_DOUBLE)
            long_double_in(native, wire);
        else
            external_store(native, external_load(wire, f.wire, true, f.how == SIGNED), f.native, false);
    }
}

/* ---- the walk ---- */

enum { WINDOW = 16 * 1024 };

/* One conversion on its way. */
struct conversion {
    const struct MPIR_DATATYPE *t;
    char *buf;
    int64_t count;
    bool packing;
    char *wire;
    int64_t skip, left; /* external bytes to leave out first; external bytes that may be used */
    int err;
    char *window;    /* native packed bytes: [at, end) are to be converted, or there is room for them */
    int64_t at, end; /* for contiguous buffers all of it */
    int64_t next;    /* packed offset of what the window is filled with or emptied to next */
    char bytes[WINDOW];
};

/* The window has at least `unit` bytes, if there are as many. */
static void turn(struct conversion *c, int64_t unit)
{
    if (c->end - c->at >= unit || c->t->is_contig)
        return;
    if (c->packing) {
        int64_t kept = c->end - c->at, n = c->count * c->t->size - c->next;
        memmove(c->bytes, c->bytes + c->at, (size_t)kept);
        n = n < WINDOW - kept ? n : WINDOW - kept;
        MPID_Layout_pack(c->t, c->buf, c->count, c->next, c->bytes + kept, n);
        c->next += n;
        c->end = kept + n;
    } else {
        MPID_Layout_unpack(c->t, c->buf, c->count, c->next, c->bytes, c->at);
        c->next += c->at;
    }
    c->at = 0;
}

static void does_not_fit(struct conversion *c, struct form f)
{
    uint64_t x = external_load(c->window + c->at, f.native, false, f.how == SIGNED);
    bool minus = f.how == SIGNED && x >> 63;
    c->err = ku_err_set(MPI_ERR_VALUE_TOO_LARGE, NULL,
                        "%s%llu in %d bytes has no room in the %d bytes that its datatype has in external32",
                        minus ? "-" : "", (unsigned long long)(minus ? -x : x), f.native, f.wire);
}

/* Leave out as many of n things of `wire` bytes as still have to be; returns how many are left. */
static int64_t leave_out(struct conversion *c, int64_t n, int64_t wire, int64_t native)
{
    int64_t out = c->skip / wire < n ? c->skip / wire : n;
    c->skip -= out * wire;
    if (c->t->is_contig)
        c->at += out * native;
    else
        c->next += out * native;
    return n - out;
}

static void convert_units(struct conversion *c, struct form f, int64_t n)
{
    n = leave_out(c, n, f.wire, f.native);
    if (n > 0 && c->skip > 0)
        c->err = ku_err_set(MPI_ERR_ARG, NULL, "the data begins inside a basic element of the datatype");
    while (n > 0 && !c->err && c->left >= f.wire) {
        turn(c, f.native);
        int64_t k = (c->end - c->at) / f.native, most = c->left / f.wire, done;
        k = k < n ? k : n;
        k = k < most ? k : most;
        if (c->packing)
            done = out(f, c->wire, c->window + c->at, k);
        else
            in(f, c->window + c->at, c->wire, done = k);
        c->at += done * f.native;
        c->wire += done * f.wire;
        c->left -= done * f.wire;
        n -= done;
        if (done < k)
            does_not_fit(c, f);
    }
    if (n > 0)
        c->left = 0; /* less than a unit is left: it stays */
}

static void convert_basic(struct conversion *c, uint32_t basic, int64_t times)
{
    struct forms b = forms_of(basic);
    if (b.f[1].units == 0) {
        convert_units(c, b.f[0], times * b.f[0].units);
        return;
    }
    times = leave_out(c, times, b.f[0].wire + b.f[1].wire, b.f[0].native + b.f[1].native);
    for (int64_t i = 0; i < times && c->left > 0 && !c->err; i++) {
        convert_units(c, b.f[0], 1);
        convert_units(c, b.f[1], 1);
    }
}

static void convert_sign(struct conversion *c, const struct MPID_SIGN *sign, int64_t times)
{
    times = leave_out(c, times, sign->wire, sign->bytes);
    for (int64_t i = 0; i < times; i++)
        for (int64_t p = 0; p < sign->n && c->left > 0 && !c->err; p++) {
            if (sign->part[p].sub)
                convert_sign(c, sign->part[p].sub, sign->part[p].times);
            else
                convert_basic(c, sign->part[p].basic, sign->part[p].times);
        }
}

/* All of it, as far as `left` goes; the external bytes that were used. */
static int64_t convert(struct conversion *c)
{
    const struct MPIR_DATATYPE *t = c->t;
    const char *begin = c->wire;
    c->window = t->is_contig ? c->buf : c->bytes;
    c->end = t->is_contig ? c->count * t->size : c->packing ? 0 : WINDOW;
    if (c->left > 0 && c->count > 0 && t->size > 0) {
        if (t->basic)
            convert_basic(c, t->basic, t->size / MPID_External_native(t->basic) * c->count);
        else
            convert_sign(c, t->sign, t->size / t->sign->bytes * c->count);
    }
    if (!c->packing && !t->is_contig && c->at > 0)
        MPID_Layout_unpack(t, c->buf, c->count, c->next, c->bytes, c->at);
    return c->wire - begin;
}

int MPID_External_pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count, void *dst)
{
    struct conversion c;
    memset(&c, 0, offsetof(struct conversion, bytes));
    c.t = t;
    c.buf = (char *)buf;
    c.count = count;
    c.packing = true;
    c.wire = dst;
    c.left = MPID_External_size(t) * count;
    convert(&c);
    return c.err;
}

int MPID_External_unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count, int64_t skip,
                         const void *src, int64_t len, int64_t *done)
{
    struct conversion c;
    memset(&c, 0, offsetof(struct conversion, bytes));
    c.t = t;
    c.buf = buf;
    c.count = count;
    c.wire = (char *)src;
    c.skip = skip;
    c.left = len;
    *done = convert(&c);
    return c.err;
}
