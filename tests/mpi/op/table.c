/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined operation on every predefined type, by MPI_Reduce_local: the value where the operation is defined,
 * MPI_ERR_OP with both names where it is not.  Values are computed in integers, apart from the library's kernels. */
/* ranks: 1 2 */
#include <stddef.h>
#include "../check.h"

enum {
    C_INT = 1,
    F_INT = 2,
    FLOATING = 4,
    LOGICAL = 8, /* Fortran's */
    COMPLEX = 16,
    BYTE = 32,
    MULTI = 64,
    PAIR = 128,
    CHARACTER = 256,
    BOOL = 512
};
/* Bytes, characters and LOGICALs are integers, though the standard has fewer operations on them. */
enum { INTEGERS = C_INT | F_INT | MULTI | BYTE | CHARACTER | LOGICAL, N = 37 };

struct type {
    MPI_Datatype t;
    const char *name;
    int class;
    char
        repr; /* i, u: integer; f: float; l: long double; q: __float128; h: half; complex and pairs: of the parts */
    int size; /* of one part */
};
#define ROW(T, CLASS, REPR, C) \
    { \
        T, #T, CLASS, REPR, sizeof(C) \
    }

static const struct type types[] = {
    ROW(MPI_AINT, MULTI, 'i', MPI_Aint),
    ROW(MPI_COUNT, MULTI, 'i', MPI_Count),
    ROW(MPI_OFFSET, MULTI, 'i', MPI_Offset),
    ROW(MPI_PACKED, 0, 'u', char),
    ROW(MPI_SHORT, C_INT, 'i', short),
    ROW(MPI_INT, C_INT, 'i', int),
    ROW(MPI_LONG, C_INT, 'i', long),
    ROW(MPI_LONG_LONG, C_INT, 'i', long long),
    ROW(MPI_UNSIGNED_SHORT, C_INT, 'u', short),
    ROW(MPI_UNSIGNED, C_INT, 'u', int),
    ROW(MPI_UNSIGNED_LONG, C_INT, 'u', long),
    ROW(MPI_UNSIGNED_LONG_LONG, C_INT, 'u', long long),
    ROW(MPI_FLOAT, FLOATING, 'f', float),
    ROW(MPI_C_FLOAT_COMPLEX, COMPLEX, 'f', float),
    ROW(MPI_CXX_FLOAT_COMPLEX, COMPLEX, 'f', float),
    ROW(MPI_DOUBLE, FLOATING, 'f', double),
    ROW(MPI_C_DOUBLE_COMPLEX, COMPLEX, 'f', double),
    ROW(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, 'f', double),
    ROW(MPI_LOGICAL, LOGICAL, 'i', int),
    ROW(MPI_INTEGER, F_INT, 'i', int),
    ROW(MPI_REAL, FLOATING, 'f', float),
    ROW(MPI_COMPLEX, COMPLEX, 'f', float),
    ROW(MPI_DOUBLE_PRECISION, FLOATING, 'f', double),
    ROW(MPI_DOUBLE_COMPLEX, COMPLEX, 'f', double),
    ROW(MPI_CHARACTER, CHARACTER, 'u', char),
    ROW(MPI_LONG_DOUBLE, FLOATING, 'l', long double),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, 'l', long double),
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, 'l', long double),
    ROW(MPI_C_BOOL, BOOL, 'u', char),
    ROW(MPI_CXX_BOOL, BOOL, 'u', char),
    ROW(MPI_WCHAR, 0, 'i', wchar_t),
    ROW(MPI_INT8_T, C_INT, 'i', int8_t),
    ROW(MPI_UINT8_T, C_INT, 'u', int8_t),
    ROW(MPI_CHAR, CHARACTER, (char)-1 < 0 ? 'i' : 'u', char),
    ROW(MPI_SIGNED_CHAR, C_INT, 'i', char),
    ROW(MPI_UNSIGNED_CHAR, C_INT, 'u', char),
    ROW(MPI_BYTE, BYTE, 'u', char),
    ROW(MPI_INT16_T, C_INT, 'i', int16_t),
    ROW(MPI_UINT16_T, C_INT, 'u', int16_t),
    ROW(MPI_INT32_T, C_INT, 'i', int32_t),
    ROW(MPI_UINT32_T, C_INT, 'u', int32_t),
    ROW(MPI_INT64_T, C_INT, 'i', int64_t),
    ROW(MPI_UINT64_T, C_INT, 'u', int64_t),
    ROW(MPI_LOGICAL1, LOGICAL, 'i', int8_t),
    ROW(MPI_INTEGER1, F_INT, 'i', int8_t),
    ROW(MPI_LOGICAL2, LOGICAL, 'i', int16_t),
    ROW(MPI_INTEGER2, F_INT, 'i', int16_t),
    ROW(MPI_REAL2, FLOATING, 'h', int16_t),
    ROW(MPI_LOGICAL4, LOGICAL, 'i', int32_t),
    ROW(MPI_INTEGER4, F_INT, 'i', int32_t),
    ROW(MPI_REAL4, FLOATING, 'f', float),
    ROW(MPI_COMPLEX4, COMPLEX, 'h', int16_t),
    ROW(MPI_LOGICAL8, LOGICAL, 'i', int64_t),
    ROW(MPI_INTEGER8, F_INT, 'i', int64_t),
    ROW(MPI_REAL8, FLOATING, 'f', double),
    ROW(MPI_COMPLEX8, COMPLEX, 'f', float),
    ROW(MPI_COMPLEX16, COMPLEX, 'f', double),
#ifdef __SIZEOF_INT128__
    ROW(MPI_LOGICAL16, LOGICAL, 'i', __int128),
    ROW(MPI_INTEGER16, F_INT, 'i', __int128),
#endif
#ifdef __SIZEOF_FLOAT128__
    ROW(MPI_REAL16, FLOATING, 'q', __float128),
    ROW(MPI_COMPLEX32, COMPLEX, 'q', __float128),
#endif
};

/* ---- numbers as bytes ---- */

/* binary16 of a small integer, by its definition: sign, exponent + 15, ten digits. */
static unsigned half_bits(long long v)
{
    unsigned sign = v < 0 ? 0x8000 : 0, m = (unsigned)(v < 0 ? -v : v), e = 0;
    if (m == 0)
        return 0;
    while (m >> (e + 1))
        e++;
    return sign | (e + 15) << 10 | ((m << (10 - e)) & 0x3ff);
}

static void put(const struct type *t, void *p, long long v)
{
    memset(p, v < 0 ? 0xff : 0, (size_t)t->size);
    switch (t->repr) {
    case 'f':
        if (t->size == 4)
            *(float *)p = (float)v;
        else
            *(double *)p = (double)v;
        break;
    case 'l':
        memset(p, 0, (size_t)t->size);
        *(long double *)p = v;
        break;
#ifdef __SIZEOF_FLOAT128__
    case 'q':
        *(__float128 *)p = v;
        break;
#endif
    case 'h':
        *(uint16_t *)p = (uint16_t)half_bits(v);
        break;
    default:
        memcpy(p, &v, (size_t)(t->size < 8 ? t->size : 8)); /* little end first */
    }
}

/* Minus zero is zero. */
static int same(const struct type *t, const void *p, long long v)
{
    char want[16];
    put(t, want, v);
    switch (t->repr) {
    case 'f':
        return t->size == 4 ? *(const float *)p == v : *(const double *)p == v;
    case 'l':
        return *(const long double *)p == v;
#ifdef __SIZEOF_FLOAT128__
    case 'q':
        return *(const __float128 *)p == v;
#endif
    case 'h':
        return *(const uint16_t *)p == *(uint16_t *)want || (v == 0 && *(const uint16_t *)p == 0x8000);
    }
    return memcmp(p, want, (size_t)t->size) == 0;
}

/* Values that no type rounds or wraps, some equal, some zero, and for signed types some below zero. */
static long long value(const struct type *t, int i, int which)
{
    static const int a[] = { 3, 0, 7, 5, 1, 2, 0, 6, 4 }, b[] = { 5, 0, 7, 2, 0, 9, 1 };
    long long v = which ? b[i % 7] : a[i % 9];
    int negative = t->repr != 'u' && (which ? i % 4 == 1 : i % 3 == 1);
    return negative ? -v : v;
}

static int parts(const struct type *t)
{
    return t->class == COMPLEX ? 2 : 1;
}

/* ---- operations on integers ---- */

struct op {
    MPI_Op op;
    const char *name;
    int classes;
    long long (*f)(long long, long long);
};

#define DEFINE(NAME, EXPR) \
    static long long NAME(long long a, long long b) \
    { \
        return EXPR; \
    }
DEFINE(do_sum, a + b)
DEFINE(do_prod, a *b)
DEFINE(do_max, a > b ? a : b)
DEFINE(do_min, a < b ? a : b)
DEFINE(do_band, a &b)
DEFINE(do_bor, a | b)
DEFINE(do_bxor, a ^ b)
DEFINE(do_land, a &&b)
DEFINE(do_lor, a || b)
DEFINE(do_lxor, !a != !b)

static const struct op ops[] = {
    { MPI_SUM, "MPI_SUM", INTEGERS | FLOATING | COMPLEX, do_sum },
    { MPI_PROD, "MPI_PROD", INTEGERS | FLOATING | COMPLEX, do_prod },
    { MPI_MAX, "MPI_MAX", INTEGERS | FLOATING, do_max },
    { MPI_MIN, "MPI_MIN", INTEGERS | FLOATING, do_min },
    { MPI_BAND, "MPI_BAND", INTEGERS, do_band },
    { MPI_BOR, "MPI_BOR", INTEGERS, do_bor },
    { MPI_BXOR, "MPI_BXOR", INTEGERS, do_bxor },
    { MPI_LAND, "MPI_LAND", INTEGERS | FLOATING | BOOL, do_land },
    { MPI_LOR, "MPI_LOR", INTEGERS | FLOATING | BOOL, do_lor },
    { MPI_LXOR, "MPI_LXOR", INTEGERS | FLOATING | BOOL, do_lxor },
    { MPI_MAXLOC, "MPI_MAXLOC", PAIR, NULL },
    { MPI_MINLOC, "MPI_MINLOC", PAIR, NULL },
};

static void fill(const struct type *t, char *buf, int which)
{
    for (int i = 0; i < N * parts(t); i++)
        put(t, buf + i * t->size, value(t, i, which));
}

static long long expected(const struct type *t, const struct op *op, int i)
{
    if (t->class != COMPLEX || op->f == do_sum)
        return op->f(value(t, i, 0), value(t, i, 1));
    int k = i / 2 * 2;
    long long ar = value(t, k, 0), ai = value(t, k + 1, 0), br = value(t, k, 1), bi = value(t, k + 1, 1);
    return i % 2 ? ar * bi + ai * br : ar * br - ai * bi;
}

static void try_defined(const struct type *t, const struct op *op)
{
    static _Alignas(16) char a[N * 2 * 16], b[N * 2 * 16];
    fill(t, a, 0);
    fill(t, b, 1);
    CHECK_ERR(MPI_Reduce_local(a, b, N, t->t, op->op), MPI_SUCCESS);
    for (int i = 0; i < N * parts(t); i++)
        if (!same(t, b + i * t->size, expected(t, op, i)))
            CHECK(0, "%s on %s: part %d of %lld and %lld; expected %lld", op->name, t->name, i,
                  value(t, i, 0), value(t, i, 1), expected(t, op, i));
    fill(t, b, 1); /* nothing happens to no elements */
    CHECK_ERR(MPI_Reduce_local(a, b, 0, t->t, op->op), MPI_SUCCESS);
    CHECK(same(t, b, value(t, 0, 1)), "%s on %s: count 0", op->name, t->name);
}

static void try_undefined(MPI_Datatype t, const struct op *op)
{
    static _Alignas(16) char a[64], b[64];
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(t, name, &length); /* of synonyms it is one of them */
    CHECK_ERR(MPI_Reduce_local(a, b, 1, t, op->op), MPI_ERR_OP);
    CHECK_SAYS(op->name);
    CHECK_SAYS(name);
}

/* Integer sums and products wrap: the largest plus one, the largest squared. */
static void try_wrapping(const struct type *t)
{
    unsigned char a[16], b[16], want[16];
    memset(a, 0xff, 16);
    if (t->repr == 'i')
        a[t->size - 1] = 0x7f;
    memset(b, 0, 16);
    b[0] = 1;
    CHECK_ERR(MPI_Reduce_local(a, b, 1, t->t, MPI_SUM), MPI_SUCCESS);
    memset(want, 0, 16);
    if (t->repr == 'i')
        want[t->size - 1] = 0x80;
    CHECK(memcmp(b, want, (size_t)t->size) == 0, "%s: the largest + 1", t->name);
    memcpy(b, a, 16);
    CHECK_ERR(MPI_Reduce_local(a, b, 1, t->t, MPI_PROD), MPI_SUCCESS);
    memset(want, 0, 16);
    want[0] = 1; /* (2^k - 1)^2 mod 2^n = 1 for k = n, and for k = n - 1 as 2^k * 2 wraps away */
    CHECK(memcmp(b, want, (size_t)t->size) == 0, "%s: the square of the largest", t->name);
}

/* ---- pairs ---- */

#define TRY_PAIR(T, V, I) \
    do { \
        struct { \
            V v; \
            I i; \
        } a[6] = { { 5, 1 }, { 2, 1 }, { 4, 3 }, { 4, 1 }, { -3, 0 }, { 4, 2 } }, \
          b[6] = { { 3, 2 }, { 8, 2 }, { 4, 2 }, { 4, 2 }, { -4, 9 }, { 4, 2 } }, m[6]; \
        memcpy(m, b, sizeof m); \
        static const int max[6][2] = { { 5, 1 }, { 8, 2 }, { 4, 2 }, { 4, 1 }, { -3, 0 }, { 4, 2 } }; \
        static const int min[6][2] = { { 3, 2 }, { 2, 1 }, { 4, 2 }, { 4, 1 }, { -4, 9 }, { 4, 2 } }; \
        CHECK_ERR(MPI_Reduce_local(a, b, 6, T, MPI_MAXLOC), MPI_SUCCESS); \
        CHECK_ERR(MPI_Reduce_local(a, m, 6, T, MPI_MINLOC), MPI_SUCCESS); \
        for (int k = 0; k < 6; k++) { \
            CHECK(b[k].v == max[k][0] && b[k].i == max[k][1], "%s: MAXLOC %d", #T, k); \
            CHECK(m[k].v == min[k][0] && m[k].i == min[k][1], "%s: MINLOC %d", #T, k); \
        } \
        for (unsigned o = 0; o < sizeof ops / sizeof *ops - 2; o++) \
            try_undefined(T, &ops[o]); \
    } while (0)

/* REAL*2 rounds to nearest even, overflows to infinity, and has subnormals. */
static void try_half(void)
{
    /* 2048 + 1 ties to 2048, 2048 + 3 to 2052; 65504 + 16 to infinity, + 8 stays; 2^-24 + 2^-24; 2^-14 - 2^-24 */
    uint16_t a[6] = { 0x6800, 0x6800, 0x7bff, 0x7bff, 0x0001, 0x0400 };
    uint16_t b[6] = { 0x3c00, 0x4200, 0x4c00, 0x4800, 0x0001, 0x8001 };
    const uint16_t want[6] = { 0x6800, 0x6802, 0x7c00, 0x7bff, 0x0002, 0x03ff };
    CHECK_ERR(MPI_Reduce_local(a, b, 6, MPI_REAL2, MPI_SUM), MPI_SUCCESS);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(b[i], want[i], "sum %d", i);
    uint16_t c[2] = { 0x0001, 0x7c01 },
             d[2] = { 0x3800, 0x3c00 }; /* half of 2^-24 ties to 0; not a number stays one */
    CHECK_ERR(MPI_Reduce_local(c, d, 2, MPI_REAL2, MPI_PROD), MPI_SUCCESS);
    CHECK_EQ(d[0], 0);
    CHECK((d[1] & 0x7c00) == 0x7c00 && (d[1] & 0x3ff) != 0, "a product with what is not a number: 0x%x",
          d[1]);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        for (unsigned o = 0; o < sizeof ops / sizeof *ops; o++)
            if (types[i].class & ops[o].classes)
                try_defined(&types[i], &ops[o]);
            else
                try_undefined(types[i].t, &ops[o]);
        if (types[i].class & INTEGERS)
            try_wrapping(&types[i]);
    }
    TRY_PAIR(MPI_FLOAT_INT, float, int);
    TRY_PAIR(MPI_DOUBLE_INT, double, int);
    TRY_PAIR(MPI_LONG_INT, long, int);
    TRY_PAIR(MPI_2INT, int, int);
    TRY_PAIR(MPI_SHORT_INT, short, int);
    TRY_PAIR(MPI_LONG_DOUBLE_INT, long double, int);
    TRY_PAIR(MPI_2REAL, float, float);
    TRY_PAIR(MPI_2DOUBLE_PRECISION, double, double);
    TRY_PAIR(MPI_2INTEGER, int, int);
    try_half();
    return check_done();
}
