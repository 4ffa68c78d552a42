/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined datatype: size, bounds, how it is packed, and that it is named and cannot be freed. */
/* ranks: 1 2 */
#include <stddef.h>
#include "../check.h"

struct row {
    MPI_Datatype t;
    const char *name;
    int size, extent, true_extent, gap; /* gap: bytes between the value and the index of a pair */
};
#define BASIC(T, C) \
    { \
        T, #T, sizeof(C), sizeof(C), sizeof(C), 0 \
    }
#define FIXED(T, N) \
    { \
        T, #T, N, N, N, 0 \
    }

typedef struct {
    float v;
    int i;
} float_int;
typedef struct {
    double v;
    int i;
} double_int;
typedef struct {
    long v;
    int i;
} long_int;
typedef struct {
    short v;
    int i;
} short_int;
typedef struct {
    long double v;
    int i;
} long_double_int;
#define PAIR(T, S) \
    { \
        T, #T, sizeof(((S *)0)->v) + sizeof(int), sizeof(S), offsetof(S, i) + sizeof(int), \
            offsetof(S, i) - sizeof(((S *)0)->v) \
    }

static const struct row rows[] = {
    BASIC(MPI_AINT, MPI_Aint),
    BASIC(MPI_COUNT, MPI_Count),
    BASIC(MPI_OFFSET, MPI_Offset),
    BASIC(MPI_PACKED, char),
    BASIC(MPI_SHORT, short),
    BASIC(MPI_INT, int),
    BASIC(MPI_LONG, long),
    BASIC(MPI_LONG_LONG, long long),
    BASIC(MPI_LONG_LONG_INT, long long),
    BASIC(MPI_UNSIGNED_SHORT, short),
    BASIC(MPI_UNSIGNED, int),
    BASIC(MPI_UNSIGNED_LONG, long),
    BASIC(MPI_UNSIGNED_LONG_LONG, long long),
    BASIC(MPI_FLOAT, float),
    BASIC(MPI_C_COMPLEX, float _Complex),
    BASIC(MPI_C_FLOAT_COMPLEX, float _Complex),
    BASIC(MPI_CXX_FLOAT_COMPLEX, float _Complex),
    BASIC(MPI_DOUBLE, double),
    BASIC(MPI_C_DOUBLE_COMPLEX, double _Complex),
    BASIC(MPI_CXX_DOUBLE_COMPLEX, double _Complex),
    FIXED(MPI_LOGICAL, 4),
    FIXED(MPI_INTEGER, 4),
    FIXED(MPI_REAL, 4),
    FIXED(MPI_COMPLEX, 8),
    FIXED(MPI_DOUBLE_PRECISION, 8),
    FIXED(MPI_DOUBLE_COMPLEX, 16),
    FIXED(MPI_CHARACTER, 1),
    BASIC(MPI_LONG_DOUBLE, long double),
    BASIC(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex),
    BASIC(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex),
    PAIR(MPI_FLOAT_INT, float_int),
    PAIR(MPI_DOUBLE_INT, double_int),
    PAIR(MPI_LONG_INT, long_int),
    FIXED(MPI_2INT, 8),
    PAIR(MPI_SHORT_INT, short_int),
    PAIR(MPI_LONG_DOUBLE_INT, long_double_int),
    FIXED(MPI_2REAL, 8),
    FIXED(MPI_2DOUBLE_PRECISION, 16),
    FIXED(MPI_2INTEGER, 8),
    BASIC(MPI_C_BOOL, _Bool),
    BASIC(MPI_CXX_BOOL, _Bool),
    BASIC(MPI_WCHAR, wchar_t),
    FIXED(MPI_INT8_T, 1),
    FIXED(MPI_UINT8_T, 1),
    FIXED(MPI_CHAR, 1),
    FIXED(MPI_SIGNED_CHAR, 1),
    FIXED(MPI_UNSIGNED_CHAR, 1),
    FIXED(MPI_BYTE, 1),
    FIXED(MPI_INT16_T, 2),
    FIXED(MPI_UINT16_T, 2),
    FIXED(MPI_INT32_T, 4),
    FIXED(MPI_UINT32_T, 4),
    FIXED(MPI_INT64_T, 8),
    FIXED(MPI_UINT64_T, 8),
    FIXED(MPI_LOGICAL1, 1),
    FIXED(MPI_INTEGER1, 1),
    FIXED(MPI_LOGICAL2, 2),
    FIXED(MPI_INTEGER2, 2),
    FIXED(MPI_REAL2, 2),
    FIXED(MPI_LOGICAL4, 4),
    FIXED(MPI_INTEGER4, 4),
    FIXED(MPI_REAL4, 4),
    FIXED(MPI_COMPLEX4, 4),
    FIXED(MPI_LOGICAL8, 8),
    FIXED(MPI_INTEGER8, 8),
    FIXED(MPI_REAL8, 8),
    FIXED(MPI_COMPLEX8, 8),
    FIXED(MPI_LOGICAL16, 16),
    FIXED(MPI_INTEGER16, 16),
    FIXED(MPI_REAL16, 16),
    FIXED(MPI_COMPLEX16, 16),
    FIXED(MPI_COMPLEX32, 32),
};

/* Pack three: the bytes of each but for the gaps; and back. */
static void try_packing(const struct row *r)
{
    enum { N = 3 };
    _Alignas(16) unsigned char mem[N * 32], packed[N * 32], back[N * 32];
    int size = 0, at = 0;
    check_fill(mem, sizeof mem, 7);
    CHECK_ERR(MPI_Pack_size(N, r->t, MPI_COMM_SELF, &size), MPI_SUCCESS);
    CHECK_EQ(size, N * r->size, "%s", r->name);
    CHECK_ERR(MPI_Pack(mem, N, r->t, packed, sizeof packed, &at, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(at, N * r->size, "%s", r->name);
    memset(back, 0, sizeof back);
    at = 0;
    CHECK_ERR(MPI_Unpack(packed, N * r->size, &at, back, N, r->t, MPI_COMM_SELF), MPI_SUCCESS);
    int value = r->gap ? r->true_extent - 4 - r->gap : r->size;
    for (int e = 0, p = 0; e < N; e++)
        for (int i = 0; i < r->extent; i++) {
            int data = i < value || (i >= value + r->gap && i < r->true_extent), k = e * r->extent + i;
            if (data)
                CHECK(packed[p++] == mem[k], "%s: packed byte %d", r->name, p);
            CHECK(back[k] == (data ? mem[k] : 0), "%s: unpacked byte %d", r->name, k);
        }
}

/* Two have a synonym, which is not their name ("Message Data"). */
static const char *own_name(const char *name)
{
    if (!strcmp(name, "MPI_LONG_LONG"))
        return "MPI_LONG_LONG_INT";
    return strcmp(name, "MPI_C_FLOAT_COMPLEX") ? name : "MPI_C_COMPLEX";
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME];
    int len;
    check_init(&argc, &argv);
    check_errors_return();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        int size = -1, ni = -1, na = -1, nt = -1, combiner = -1;
        MPI_Aint lb = -1, extent = -1;
        MPI_Datatype t = r->t;
        CHECK_ERR(MPI_Type_size(t, &size), MPI_SUCCESS);
        CHECK_EQ(size, r->size, "%s", r->name);
        CHECK_ERR(MPI_Type_get_extent(t, &lb, &extent), MPI_SUCCESS);
        CHECK_EQ(lb, 0, "%s", r->name);
        CHECK_EQ(extent, r->extent, "%s", r->name);
        CHECK_ERR(MPI_Type_get_true_extent(t, &lb, &extent), MPI_SUCCESS);
        CHECK_EQ(lb, 0, "%s", r->name);
        CHECK_EQ(extent, r->true_extent, "%s", r->name);
        CHECK_ERR(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner), MPI_SUCCESS);
        CHECK(ni == 0 && na == 0 && nt == 0 && combiner == MPI_COMBINER_NAMED, "%s", r->name);
        CHECK_ERR(MPI_Type_commit(&t), MPI_SUCCESS);
        CHECK(t == r->t, "%s committed", r->name);
        CHECK_ERR(MPI_Type_free(&t), MPI_ERR_TYPE);
        CHECK_SAYS(own_name(r->name));
        try_packing(r);
        MPI_Type_get_name(t, name, &len);
        CHECK(!strcmp(name, own_name(r->name)), "%s is named \"%s\"", r->name, name);
    }
    return check_done();
}
