/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack_external, MPI_Unpack_external, MPI_Pack_external_size: the bytes of every predefined type, and back. */
/* ranks: 1 2 */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <wchar.h>
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)
#define REP "external32"

static unsigned char wire[4096];

/* What an assignment writes into the 6 bytes behind x87's 10 is anything. */
static int has_padding(MPI_Datatype t)
{
    return t == MPI_LONG_DOUBLE || t == MPI_LONG_DOUBLE_INT || t == MPI_C_LONG_DOUBLE_COMPLEX ||
           t == MPI_CXX_LONG_DOUBLE_COMPLEX;
}

/* n of `in` must be the bytes `want` at an odd position in the middle of a buffer, and come back. */
static void both_ways(int line, MPI_Datatype t, const void *in, int n, const unsigned char *want, int bytes)
{
    unsigned char back[512], again[512];
    MPI_Aint size = -1, at = 5, extent, lb;
    MPI_Count size_c = -1, at_c = 5;
    OK(MPI_Pack_external_size(REP, n, t, &size));
    CHECK_EQ(size, bytes, "line %d", line);
    OK(MPI_Pack_external_size_c(REP, n, t, &size_c));
    CHECK_EQ(size_c, bytes, "line %d", line);
    memset(wire, 0xee, sizeof wire);
    OK(MPI_Pack_external(REP, in, n, t, wire, 5 + bytes, &at));
    CHECK_EQ(at, 5 + bytes, "line %d", line);
    CHECK(wire[4] == 0xee && wire[5 + bytes] == 0xee, "line %d: beyond the data", line);
    for (int i = 0; i < bytes; i++)
        CHECK(wire[5 + i] == want[i], "line %d: byte %d is 0x%02x; expected 0x%02x", line, i, wire[5 + i],
              want[i]);
    memset(wire, 0xee, sizeof wire);
    OK(MPI_Pack_external_c(REP, in, n, t, wire, 5 + bytes, &at_c));
    CHECK(at_c == 5 + bytes && memcmp(wire + 5, want, (size_t)bytes) == 0, "line %d: packed with _c", line);
    OK(MPI_Type_get_extent(t, &lb, &extent));
    for (int large = 0; large < 2; large++) {
        at = at_c = 5;
        memset(back, 0, sizeof back);
        if (large)
            OK(MPI_Unpack_external_c(REP, wire, 5 + bytes, &at_c, back, n, t));
        else
            OK(MPI_Unpack_external(REP, wire, 5 + bytes, &at, back, n, t));
        CHECK_EQ(large ? at_c : at, 5 + bytes, "line %d", line);
        CHECK(has_padding(t) || memcmp(back, in, (size_t)(n * extent)) == 0, "line %d: what comes back",
              line);
        at = 0;
        OK(MPI_Pack_external(REP, back, n, t, again, bytes, &at));
        CHECK(memcmp(again, want, (size_t)bytes) == 0, "line %d: packed once more", line);
    }
}
#define W(...) (const unsigned char[]){ __VA_ARGS__ }, (int)sizeof((const unsigned char[]){ __VA_ARGS__ })
#define BOTH(TYPE, C, VALUE, ...) \
    do { \
        C value_[1]; \
        memset(value_, 0, sizeof value_); \
        value_[0] = VALUE; \
        both_ways(__LINE__, TYPE, value_, 1, W(__VA_ARGS__)); \
    } while (0)

static void integers(void)
{
    BOTH(MPI_PACKED, char, 'x', 'x');
    BOTH(MPI_BYTE, unsigned char, 0xfe, 0xfe);
    BOTH(MPI_CHAR, char, 'a', 'a');
    BOTH(MPI_SIGNED_CHAR, signed char, -2, 0xfe);
    BOTH(MPI_UNSIGNED_CHAR, unsigned char, 200, 200);
    BOTH(MPI_CHARACTER, char, 'F', 'F');
    BOTH(MPI_WCHAR, wchar_t, 0x20ac, 0x20, 0xac);
    BOTH(MPI_SHORT, short, -2, 0xff, 0xfe);
    BOTH(MPI_UNSIGNED_SHORT, unsigned short, 0xfedc, 0xfe, 0xdc);
    BOTH(MPI_INT, int, 0x01020304, 1, 2, 3, 4);
    BOTH(MPI_UNSIGNED, unsigned, 0xfedcba98u, 0xfe, 0xdc, 0xba, 0x98);
    BOTH(MPI_LONG, long, -2, 0xff, 0xff, 0xff, 0xfe);
    BOTH(MPI_LONG, long, 0x7fffffff, 0x7f, 0xff, 0xff, 0xff);
    BOTH(MPI_LONG, long, -0x7fffffffL - 1, 0x80, 0, 0, 0);
    BOTH(MPI_UNSIGNED_LONG, unsigned long, 0xfedcba98ul, 0xfe, 0xdc, 0xba, 0x98);
    BOTH(MPI_LONG_LONG, long long, 0x0102030405060708ll, 1, 2, 3, 4, 5, 6, 7, 8);
    BOTH(MPI_LONG_LONG_INT, long long, -3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd);
    BOTH(MPI_UNSIGNED_LONG_LONG, unsigned long long, 1ull << 63, 0x80, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_INT8_T, int8_t, -1, 0xff);
    BOTH(MPI_UINT8_T, uint8_t, 0x81, 0x81);
    BOTH(MPI_INT16_T, int16_t, 0x0102, 1, 2);
    BOTH(MPI_UINT16_T, uint16_t, 0x0102, 1, 2);
    BOTH(MPI_INT32_T, int32_t, 0x01020304, 1, 2, 3, 4);
    BOTH(MPI_UINT32_T, uint32_t, 0x01020304, 1, 2, 3, 4);
    BOTH(MPI_INT64_T, int64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    BOTH(MPI_UINT64_T, uint64_t, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    BOTH(MPI_AINT, MPI_Aint, -256, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0);
    BOTH(MPI_COUNT, MPI_Count, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    BOTH(MPI_OFFSET, MPI_Offset, 259, 0, 0, 0, 0, 0, 0, 1, 3);
    BOTH(MPI_INTEGER, int32_t, 260, 0, 0, 1, 4);
    BOTH(MPI_INTEGER1, int8_t, 5, 5);
    BOTH(MPI_INTEGER2, int16_t, 0x0605, 6, 5);
    BOTH(MPI_INTEGER4, int32_t, 0x0605, 0, 0, 6, 5);
    BOTH(MPI_INTEGER8, int64_t, 0x0605, 0, 0, 0, 0, 0, 0, 6, 5);
#if defined(__SIZEOF_INT128__)
    BOTH(MPI_INTEGER16, __int128, (__int128)0x0102 << 64 | 0x0304, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0,
         3, 4);
#endif
}

static void truths(void)
{
    BOTH(MPI_C_BOOL, _Bool, 1, 1);
    BOTH(MPI_CXX_BOOL, _Bool, 0, 0);
    BOTH(MPI_LOGICAL, int32_t, 1, 0, 0, 0, 1);
    BOTH(MPI_LOGICAL1, int8_t, 1, 1);
    BOTH(MPI_LOGICAL2, int16_t, 1, 0, 1);
    BOTH(MPI_LOGICAL4, int32_t, 0, 0, 0, 0, 0);
    BOTH(MPI_LOGICAL8, int64_t, 1, 0, 0, 0, 0, 0, 0, 0, 1);
    const unsigned char other[4] = { 0x40, 0, 0, 0 }; /* nonzero is true, wherever the bit is */
    int32_t x = 7;
    MPI_Aint at = 0;
    OK(MPI_Unpack_external(REP, other, 4, &at, &x, 1, MPI_LOGICAL));
    CHECK_EQ(x, 1);
}

static void reals(void)
{
    BOTH(MPI_FLOAT, float, -1.5f, 0xbf, 0xc0, 0, 0);
    BOTH(MPI_REAL, float, 1.0f, 0x3f, 0x80, 0, 0);
    BOTH(MPI_REAL4, float, INFINITY, 0x7f, 0x80, 0, 0);
    BOTH(MPI_DOUBLE, double, -2.0, 0xc0, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_DOUBLE_PRECISION, double, 1.0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_REAL8, double, 0x1p-1074, 0, 0, 0, 0, 0, 0, 0, 1);
    BOTH(MPI_REAL2, uint16_t, 0x3c01, 0x3c, 1);
    BOTH(MPI_C_COMPLEX, float complex, 1.0f - 2.0f * I, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0);
    BOTH(MPI_C_FLOAT_COMPLEX, float complex, 2.0f, 0x40, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_COMPLEX, float complex, 2.0f, 0x40, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_COMPLEX8, float complex, 2.0f, 0x40, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_CXX_FLOAT_COMPLEX, float complex, 2.0f, 0x40, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_C_DOUBLE_COMPLEX, double complex, 1.0 - 2.0 * I, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0,
         0, 0, 0);
    BOTH(MPI_DOUBLE_COMPLEX, double complex, 2.0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_COMPLEX16, double complex, 2.0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_CXX_DOUBLE_COMPLEX, double complex, 2.0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_COMPLEX4, uint32_t, 0x3c003c01, 0x3c, 1, 0x3c, 0);
#if defined(__SIZEOF_FLOAT128__) && !defined(__clang__)
    BOTH(MPI_REAL16, __float128, -1.0, 0xbf, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
#endif
}

/* Valgrind computes with 64 bits of the 80. */
static int has_80_bits(void)
{
    volatile long double one = 1, more = LDBL_EPSILON;
    return one + more != one;
}

/* long double is binary128 there: x87's 80 bits are converted, exactly. */
static void long_doubles(void)
{
#define Z7 0, 0, 0, 0, 0, 0, 0
    BOTH(MPI_LONG_DOUBLE, long double, 1.0L, 0x3f, 0xff, Z7, Z7);
    BOTH(MPI_LONG_DOUBLE, long double, -1.5L, 0xbf, 0xff, 0x80, Z7, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_LONG_DOUBLE, long double, 0.0L, 0, 0, Z7, Z7);
    BOTH(MPI_LONG_DOUBLE, long double, -0.0L, 0x80, 0, Z7, Z7);
    BOTH(MPI_LONG_DOUBLE, long double, (long double)INFINITY, 0x7f, 0xff, Z7, Z7);
    BOTH(MPI_LONG_DOUBLE, long double, -(long double)INFINITY, 0xff, 0xff, Z7, Z7);
    if (!has_80_bits())
        return;
#if LDBL_MANT_DIG == 64
    BOTH(MPI_LONG_DOUBLE, long double, 1.0L + LDBL_EPSILON, 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0,
         0);
    BOTH(MPI_LONG_DOUBLE, long double, LDBL_MAX, 0x7f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
         0, 0, 0, 0, 0, 0);
    BOTH(MPI_LONG_DOUBLE, long double, LDBL_MIN, 0, 1, Z7, Z7);
    BOTH(MPI_LONG_DOUBLE, long double, LDBL_MIN / 2, 0, 0, 0x80, 0, 0, 0, 0, 0, Z7, 0);
    BOTH(MPI_LONG_DOUBLE, long double, 0x1p-16445L, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0);
    BOTH(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, 1.0L, 0x3f, 0xff, Z7, Z7, 0, 0, Z7, Z7);
    BOTH(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex, 2.0L, 0x40, 0, Z7, Z7, 0, 0, Z7, Z7);
#endif
    long double x[2] = { NAN, 0 }, y[2];
    MPI_Aint at = 0;
    OK(MPI_Pack_external(REP, x, 1, MPI_LONG_DOUBLE, wire, 16, &at));
    CHECK(wire[0] == 0x7f && wire[1] == 0xff && (wire[2] & 0x80), "a quiet NaN");
    memset(wire + 2, 0, 14);
    wire[15] = 1; /* a NaN whose only bits are those that x87 has not */
    at = 0;
    OK(MPI_Unpack_external(REP, wire, 16, &at, y, 1, MPI_LONG_DOUBLE));
    CHECK(isnan(y[0]), "a NaN stays one");
}

/* binary128 has 49 bits more than x87: to nearest, ties to even. */
static void rounding(void)
{
#if LDBL_MANT_DIG == 64
    const struct {
        unsigned char in[16];
        long double out;
    } rows[] = {
        { { 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 }, 1.0L },                    /* tie: even */
        { { 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0 }, 1.0L + 2 * LDBL_EPSILON }, /* tie: even */
        { { 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1 }, 1.0L + LDBL_EPSILON },
        { { 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 1.0L },
        { { 0x3f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          1.0L },
        { { 0x7f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          INFINITY },
        { { 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          LDBL_MIN },
        { { 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }, -0.0L },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        long double got = -7;
        MPI_Aint at = 0;
        OK(MPI_Unpack_external(REP, rows[i].in, 16, &at, &got, 1, MPI_LONG_DOUBLE));
        CHECK(got == rows[i].out && signbit(got) == signbit(rows[i].out), "row %d: %La", (int)i, got);
    }
#endif
}

static void pairs(void)
{
    struct {
        float v;
        int i;
    } fi = { 1.0f, 2 };
    struct {
        double v;
        int i;
    } di;
    struct {
        long v;
        int i;
    } li;
    struct {
        short v;
        int i;
    } si;
    struct {
        long double v;
        int i;
    } ldi;
    int two[2] = { 1, 2 };
    float r[2] = { 1, 2 };
    double d[2] = { 1, 2 };
    memset(&di, 0, sizeof di), memset(&li, 0, sizeof li), memset(&si, 0, sizeof si),
        memset(&ldi, 0, sizeof ldi);
    di.v = 1, di.i = 3, li.v = -1, li.i = 4, si.v = 0x102, si.i = 5, ldi.v = 1, ldi.i = 6;
    both_ways(__LINE__, MPI_FLOAT_INT, &fi, 1, W(0x3f, 0x80, 0, 0, 0, 0, 0, 2));
    both_ways(__LINE__, MPI_DOUBLE_INT, &di, 1, W(0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3));
    both_ways(__LINE__, MPI_LONG_INT, &li, 1, W(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 4));
    both_ways(__LINE__, MPI_SHORT_INT, &si, 1, W(1, 2, 0, 0, 0, 5));
    both_ways(__LINE__, MPI_LONG_DOUBLE_INT, &ldi, 1, W(0x3f, 0xff, Z7, Z7, 0, 0, 0, 6));
    both_ways(__LINE__, MPI_2INT, two, 1, W(0, 0, 0, 1, 0, 0, 0, 2));
    both_ways(__LINE__, MPI_2INTEGER, two, 1, W(0, 0, 0, 1, 0, 0, 0, 2));
    both_ways(__LINE__, MPI_2REAL, r, 1, W(0x3f, 0x80, 0, 0, 0x40, 0, 0, 0));
    both_ways(__LINE__, MPI_2DOUBLE_PRECISION, d, 1,
              W(0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0));
}

struct record {
    char c;
    long l[2];
    struct {
        short s;
        double d;
    } in[2];
};

/* A struct of structs, resized and strided; far more of it than any buffer inside the library holds. */
static void derived(void)
{
    enum { N = 3000, BYTES = 1 + 2 * 4 + 2 * (2 + 8) };
    const MPI_Datatype sd[2] = { MPI_SHORT, MPI_DOUBLE };
    const MPI_Aint in_at[2] = { 0, offsetof(struct record, in[0].d) - offsetof(struct record, in[0].s) };
    const MPI_Aint at[3] = { offsetof(struct record, c), offsetof(struct record, l),
                             offsetof(struct record, in) };
    const int ones[2] = { 1, 1 }, lengths[3] = { 1, 2, 2 };
    MPI_Datatype in, types[3] = { MPI_CHAR, MPI_LONG, MPI_DATATYPE_NULL }, rec, every;
    struct record *a = calloc(2 * N, sizeof *a), *b = calloc(2 * N, sizeof *b);
    unsigned char *buf = malloc((size_t)N * BYTES + 3);
    MPI_Aint size = 0, pos = 3;
    OK(MPI_Type_create_struct(2, ones, in_at, sd, &in));
    types[2] = in;
    OK(MPI_Type_create_struct(3, lengths, at, types, &rec));
    OK(MPI_Type_vector(N, 1, 2, rec, &every)); /* every other record */
    OK(MPI_Type_commit(&every));
    for (int i = 0; i < 2 * N; i += 2) {
        a[i].c = (char)i, a[i].l[0] = -i, a[i].l[1] = i;
        for (int k = 0; k < 2; k++)
            a[i].in[k].s = (short)(i + k), a[i].in[k].d = i + 0.5 * k;
    }
    OK(MPI_Pack_external_size(REP, 1, every, &size));
    CHECK_EQ(size, N * BYTES);
    OK(MPI_Pack_external(REP, a, 1, every, buf, N * BYTES + 3, &pos));
    CHECK_EQ(pos, N * BYTES + 3);
    for (int i = 0; i < N; i++) {
        const unsigned char *p = buf + 3 + i * BYTES;
        CHECK(p[0] == (unsigned char)(2 * i) && p[7] == (2 * i >> 8 & 255) && p[8] == (2 * i & 255) &&
                  p[9] == (2 * i >> 8 & 255) && p[20] == ((2 * i + 1) & 255),
              "record %d", i);
    }
    pos = 3;
    OK(MPI_Unpack_external(REP, buf, N * BYTES + 3, &pos, b, 1, every));
    CHECK_EQ(pos, N * BYTES + 3);
    for (int i = 0; i < 2 * N; i++)
        CHECK(a[i].c == b[i].c && a[i].l[0] == b[i].l[0] && a[i].l[1] == b[i].l[1] &&
                  a[i].in[0].s == b[i].in[0].s && a[i].in[1].d == b[i].in[1].d,
              "record %d comes back", i);
    OK(MPI_Type_free(&in));
    OK(MPI_Type_free(&rec));
    OK(MPI_Type_free(&every));
    free(a), free(b), free(buf);
}

/* What one rank packs another unpacks, sent as bytes. */
static void sent(void)
{
    int x[4] = { 1, -2, check_rank, 4 }, y[4] = { 0 }, peer = check_size - 1 - check_rank;
    char out[16], back[16];
    MPI_Aint at = 0;
    OK(MPI_Pack_external(REP, x, 4, MPI_INT, out, sizeof out, &at));
    OK(MPI_Sendrecv(out, 16, MPI_BYTE, peer, 0, back, 16, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    at = 0;
    OK(MPI_Unpack_external(REP, back, 16, &at, y, 4, MPI_INT));
    CHECK(y[0] == 1 && y[1] == -2 && y[2] == peer && y[3] == 4, "from rank %d", peer);
}

static void mistakes(void)
{
    long big[3] = { 1, -2, 0x80000000L };
    unsigned long ubig = 0x100000000ul;
    wchar_t w = 0x1f600;
    int x[4] = { 0 };
    MPI_Aint at = 0, size;
    MPI_Datatype un;
    x[0] = 0x01020304; /* under any name it is external32 */
    CHECK_ERR(MPI_Pack_external_size("External32", 1, MPI_INT, &size), MPI_SUCCESS);
    CHECK_EQ(size, 4);
    CHECK_ERR(MPI_Pack_external("native", x, 1, MPI_INT, wire, 100, &at), MPI_SUCCESS);
    CHECK(at == 4 && !memcmp(wire, "\1\2\3\4", 4), "at %ld", (long)at);
    x[0] = 0;
    at = 0;
    CHECK_ERR(MPI_Unpack_external("external", wire, 4, &at, x, 1, MPI_INT), MPI_SUCCESS);
    CHECK_EQ(x[0], 0x01020304);
    at = 0;
    CHECK_ERR(MPI_Pack_external_size(NULL, 1, MPI_INT, &size), MPI_ERR_ARG);
    CHECK_ERR(MPI_Pack_external(REP, big, 3, MPI_LONG, wire, 100, &at), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_SAYS("2147483648");
    CHECK_EQ(at, 0);
    big[1] = -0x80000001L;
    CHECK_ERR(MPI_Pack_external(REP, big, 3, MPI_LONG, wire, 100, &at), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_SAYS("-2147483649");
    CHECK_ERR(MPI_Pack_external(REP, &ubig, 1, MPI_UNSIGNED_LONG, wire, 100, &at), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_SAYS("4294967296");
    CHECK_ERR(MPI_Pack_external(REP, &w, 1, MPI_WCHAR, wire, 100, &at), MPI_ERR_VALUE_TOO_LARGE);
    at = 90;
    CHECK_ERR(MPI_Pack_external(REP, x, 3, MPI_INT, wire, 100, &at), MPI_ERR_TRUNCATE);
    CHECK_SAYS("the data takes 12 bytes; the buffer has 100, of which 90 are used");
    CHECK_ERR(MPI_Unpack_external(REP, wire, 100, &at, x, 3, MPI_INT), MPI_ERR_TRUNCATE);
    CHECK_SAYS("12");
    CHECK_EQ(at, 90);
    at = -1;
    CHECK_ERR(MPI_Pack_external(REP, x, 1, MPI_INT, wire, 100, &at), MPI_ERR_ARG);
    CHECK_SAYS("position is -1");
    at = 0;
    CHECK_ERR(MPI_Pack_external(REP, x, -1, MPI_INT, wire, 100, &at), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Pack_external(REP, x, 1, MPI_DATATYPE_NULL, wire, 100, &at), MPI_ERR_TYPE);
    OK(MPI_Type_contiguous(2, MPI_INT, &un));
    CHECK_ERR(MPI_Pack_external(REP, x, 1, un, wire, 100, &at), MPI_ERR_TYPE);
    CHECK_SAYS("commit");
    OK(MPI_Type_free(&un));
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    integers();
    truths();
    reals();
    long_doubles();
    if (has_80_bits())
        rounding();
    pairs();
    derived();
    sent();
    mistakes();
    return check_done();
}
