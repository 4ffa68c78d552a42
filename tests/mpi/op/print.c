/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints, for every predefined operation and predefined type from pair number argv[1] on, what MPI_Reduce_local
 * makes of some values, in hexadecimal, or "refused" where it returns an error.  It needs nothing of this library:
 * peers.test compares its output on this one and on others. */
/* ranks: 1 */
/* stdout: ^MPI_SUM MPI_INT 08000000 */
/* stdout: ^MPI_SUM MPI_CHAR 08fd */
/* stdout: ^MPI_BAND MPI_DOUBLE refused$ */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { N = 8, MOST = 32 /* bytes of an element */ };

/* i: integer; b: 0 or 1; f: floating point; l: long double; q: __float128; h: binary16 */
struct part {
    char repr;
    size_t at, size;
};

struct type {
    MPI_Datatype t;
    const char *name;
    size_t extent;
    struct part part[2]; /* of complex numbers and pairs both */
};

#define ONE(T, REPR, SIZE) \
    { \
        T, #T, SIZE, \
        { \
            { \
                REPR, 0, SIZE \
            } \
        } \
    }
#define TWO(T, REPR, SIZE) \
    { \
        T, #T, 2 * (SIZE), \
        { \
            { REPR, 0, SIZE }, \
            { \
                REPR, SIZE, SIZE \
            } \
        } \
    }
#define PAIR(T, REPR, S) \
    { \
        T, #T, sizeof(S), \
        { \
            { REPR, 0, sizeof((S){ 0 }.v) }, \
            { \
                'i', offsetof(S, i), sizeof(int) \
            } \
        } \
    }

struct float_int {
    float v;
    int i;
};
struct double_int {
    double v;
    int i;
};
struct long_int {
    long v;
    int i;
};
struct two_int {
    int v, i;
};
struct short_int {
    short v;
    int i;
};
struct long_double_int {
    long double v;
    int i;
};

/* All that this library's mpi.h has; the constants are no constant expressions everywhere. */
static int types_of(struct type *to)
{
    const struct type all[] = {
        ONE(MPI_AINT, 'i', sizeof(MPI_Aint)),
        ONE(MPI_COUNT, 'i', sizeof(MPI_Count)),
        ONE(MPI_OFFSET, 'i', sizeof(MPI_Offset)),
        ONE(MPI_PACKED, 'i', 1),
        ONE(MPI_BYTE, 'i', 1),
        ONE(MPI_CHAR, 'i', 1),
        ONE(MPI_SIGNED_CHAR, 'i', 1),
        ONE(MPI_UNSIGNED_CHAR, 'i', 1),
        ONE(MPI_WCHAR, 'i', sizeof(wchar_t)),
        ONE(MPI_SHORT, 'i', sizeof(short)),
        ONE(MPI_UNSIGNED_SHORT, 'i', sizeof(short)),
        ONE(MPI_INT, 'i', sizeof(int)),
        ONE(MPI_UNSIGNED, 'i', sizeof(int)),
        ONE(MPI_LONG, 'i', sizeof(long)),
        ONE(MPI_UNSIGNED_LONG, 'i', sizeof(long)),
        ONE(MPI_LONG_LONG, 'i', sizeof(long long)),
        ONE(MPI_UNSIGNED_LONG_LONG, 'i', sizeof(long long)),
        ONE(MPI_INT8_T, 'i', 1),
        ONE(MPI_UINT8_T, 'i', 1),
        ONE(MPI_INT16_T, 'i', 2),
        ONE(MPI_UINT16_T, 'i', 2),
        ONE(MPI_INT32_T, 'i', 4),
        ONE(MPI_UINT32_T, 'i', 4),
        ONE(MPI_INT64_T, 'i', 8),
        ONE(MPI_UINT64_T, 'i', 8),
        ONE(MPI_FLOAT, 'f', 4),
        ONE(MPI_DOUBLE, 'f', 8),
        ONE(MPI_LONG_DOUBLE, 'l', sizeof(long double)),
        ONE(MPI_C_BOOL, 'b', sizeof(_Bool)),
        TWO(MPI_C_FLOAT_COMPLEX, 'f', 4),
        TWO(MPI_C_DOUBLE_COMPLEX, 'f', 8),
        TWO(MPI_C_LONG_DOUBLE_COMPLEX, 'l', sizeof(long double)),
        ONE(MPI_CXX_BOOL, 'b', sizeof(_Bool)),
        TWO(MPI_CXX_FLOAT_COMPLEX, 'f', 4),
        TWO(MPI_CXX_DOUBLE_COMPLEX, 'f', 8),
        TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, 'l', sizeof(long double)),
        ONE(MPI_CHARACTER, 'i', 1),
        ONE(MPI_LOGICAL, 'i', 4),
        ONE(MPI_INTEGER, 'i', 4),
        ONE(MPI_REAL, 'f', 4),
        ONE(MPI_DOUBLE_PRECISION, 'f', 8),
        TWO(MPI_COMPLEX, 'f', 4),
        TWO(MPI_DOUBLE_COMPLEX, 'f', 8),
        ONE(MPI_INTEGER1, 'i', 1),
        ONE(MPI_INTEGER2, 'i', 2),
        ONE(MPI_INTEGER4, 'i', 4),
        ONE(MPI_INTEGER8, 'i', 8),
        ONE(MPI_REAL4, 'f', 4),
        ONE(MPI_REAL8, 'f', 8),
        TWO(MPI_COMPLEX8, 'f', 4),
        TWO(MPI_COMPLEX16, 'f', 8),
#ifdef MPI_LOGICAL1
        ONE(MPI_LOGICAL1, 'i', 1),
#endif
#ifdef MPI_LOGICAL2
        ONE(MPI_LOGICAL2, 'i', 2),
#endif
#ifdef MPI_LOGICAL4
        ONE(MPI_LOGICAL4, 'i', 4),
#endif
#ifdef MPI_LOGICAL8
        ONE(MPI_LOGICAL8, 'i', 8),
#endif
#ifdef MPI_LOGICAL16
        ONE(MPI_LOGICAL16, 'i', 16),
#endif
#ifdef MPI_INTEGER16
        ONE(MPI_INTEGER16, 'i', 16),
#endif
#ifdef MPI_REAL2
        ONE(MPI_REAL2, 'h', 2),
#endif
#ifdef MPI_COMPLEX4
        TWO(MPI_COMPLEX4, 'h', 2),
#endif
        ONE(MPI_REAL16, 'q', 16),
        TWO(MPI_COMPLEX32, 'q', 16),
        PAIR(MPI_FLOAT_INT, 'f', struct float_int),
        PAIR(MPI_DOUBLE_INT, 'f', struct double_int),
        PAIR(MPI_LONG_INT, 'i', struct long_int),
        PAIR(MPI_2INT, 'i', struct two_int),
        PAIR(MPI_SHORT_INT, 'i', struct short_int),
        PAIR(MPI_LONG_DOUBLE_INT, 'l', struct long_double_int),
        TWO(MPI_2INTEGER, 'i', 4),
        TWO(MPI_2REAL, 'f', 4),
        TWO(MPI_2DOUBLE_PRECISION, 'f', 8),
    };
    int n = 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].t != MPI_DATATYPE_NULL)
            to[n++] = all[i];
    return n;
}

/* binary16 of a small integer: sign, exponent + 15, ten digits. */
static uint16_t half_bits(int v)
{
    unsigned m = (unsigned)(v < 0 ? -v : v), e = 0;
    while (m >> (e + 1))
        e++;
    return (uint16_t)(m ? (v < 0 ? 0x8000 : 0) | (e + 15) << 10 | ((m << (10 - e)) & 0x3ff) : 0);
}

static void put(const struct part *p, char *element, int v)
{
    union {
        char bytes[16];
        int64_t i;
        float f;
        double d;
        long double l;
        __float128 q;
        uint16_t h;
    } u;
    memset(&u, v < 0 && p->repr == 'i' ? 0xff : 0, sizeof u);
    switch (p->repr) {
    case 'i':
        u.i = v; /* little end first; the rest is its sign */
        break;
    case 'b':
        u.bytes[0] = v != 0;
        break;
    case 'f':
        if (p->size == 4)
            u.f = (float)v;
        else
            u.d = v;
        break;
    case 'l':
        u.l = v;
        break;
    case 'q':
        u.q = v;
        break;
    case 'h':
        u.h = half_bits(v);
    }
    memcpy(element + p->at, u.bytes, p->size);
}

static void fill(const struct type *t, char *to, const int *value)
{
    memset(to, 0, N * MOST);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 2 && t->part[k].size; k++)
            put(&t->part[k], to + i * t->extent, value[(i + 3 * k) % N]);
}

static void print(const struct type *t, const char *from)
{
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 2 && t->part[k].size; k++)
            for (size_t b = 0; b < (t->part[k].repr == 'l' ? 10 : t->part[k].size); b++)
                printf("%02x", (unsigned char)from[i * t->extent + t->part[k].at + b]);
    printf("\n");
}

/* The name is out before the call: some libraries end the process where they have no such function. */
static void try(const struct type *t, MPI_Op op, const char *name)
{
    static const int a[N] = { 3, 0, 7, -5, 1, -128, 0, 100 }, b[N] = { 5, -3, 7, 2, 0, 127, 0, 99 };
    static _Alignas(16) char in[N * MOST], inout[N * MOST];
    printf("%s %s ", name, t->name);
    fflush(stdout);
    fill(t, in, a);
    fill(t, inout, b);
    if (MPI_Reduce_local(in, inout, N, t->t, op) != MPI_SUCCESS)
        printf("refused\n");
    else
        print(t, inout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#define OP(O) \
    { \
        O, #O \
    }
    const struct {
        MPI_Op op;
        const char *name;
    } ops[] = { OP(MPI_SUM),    OP(MPI_PROD),   OP(MPI_MAX),     OP(MPI_MIN),  OP(MPI_BAND),
                OP(MPI_BOR),    OP(MPI_BXOR),   OP(MPI_LAND),    OP(MPI_LOR),  OP(MPI_LXOR),
                OP(MPI_MAXLOC), OP(MPI_MINLOC), OP(MPI_REPLACE), OP(MPI_NO_OP) };
    struct type types[100];
    int n = types_of(types), nops = sizeof ops / sizeof *ops;
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i < n * nops; i++)
        try(&types[i / nops], ops[i % nops].op, ops[i % nops].name);
    MPI_Finalize();
    return 0;
}
