/* SPDX-License-Identifier: BSD-3-Clause */
/* pack: MPI_Pack and MPI_Unpack beside loops written by hand, and what making a type costs.
 *
 *   pack [seconds a figure] [rows whose name contains this]
 * Prints "row@bytes value unit" lines: pack:NAME and unpack:NAME of the library, hand-pack:NAME and
 * hand-unpack:NAME of the loop, both taken in turns; lines:NAME, the bytes of the cache lines in memory that hold
 * the data, for each byte of these.  One rank, MPI-2 calls only, so that the same source compiles with any MPI.
 * Run by pack.py.  The loops know the block's size at compile time, as a program's do; those of irregular lists
 * read the lengths, as a program's must. */
#include <malloc.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 7, ROOM = 48 << 20 };

static double budget = 0.02;
static char *mem, *packed;
static long n;          /* iterations of the row's outermost loop */
static int *len, *disp; /* in elements of the row's type */
static unsigned long seed;

static long rnd(long limit)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (long)((seed >> 33) % (unsigned long)limit);
}

/* ---- loops written by hand ---- */

#define INLINE static inline __attribute__((always_inline))

/* Both directions of a loop: CALL uses mem (m), packed (p) and `pack`. */
#define BOTH(NAME, CALL) \
    static __attribute__((noinline)) void NAME##_pack(char *restrict m, char *restrict p) \
    { \
        enum { pack = 1 }; \
        CALL; \
    } \
    static __attribute__((noinline)) void NAME##_unpack(char *restrict m, char *restrict p) \
    { \
        enum { pack = 0 }; \
        CALL; \
    }

/* `k` doubles; a constant. */
INLINE void doubles(int pack, double *restrict m, double *restrict p, long k)
{
    if (k >= 64) {
        memcpy(pack ? p : m, pack ? m : p, (size_t)k * 8);
        return;
    }
    for (long j = 0; j < k; j++)
        if (pack)
            p[j] = m[j];
        else
            m[j] = p[j];
}

INLINE void vec(int pack, void *restrict m, void *restrict p, long count, long k, long stride)
{
    double *a = m, *b = p;
    for (long i = 0; i < count; i++)
        doubles(pack, a + i * stride, b + i * k, k);
}

BOTH(contiguous, memcpy(pack ? p : m, pack ? m : p, (size_t)n))
BOTH(vector8, vec(pack, m, p, n, 1, 2))
BOTH(vector16, vec(pack, m, p, n, 2, 4))
BOTH(vector64, vec(pack, m, p, n, 8, 16))
BOTH(vector256, vec(pack, m, p, n, 32, 64))

INLINE void lists(int pack, void *restrict m, void *restrict p)
{
    double *a = m, *b = p;
    for (long i = 0, k = 0; i < n; i++)
        for (int j = 0; j < len[i]; j++, k++)
            if (pack)
                b[k] = a[disp[i] + j];
            else
                a[disp[i] + j] = b[k];
}

/* Of ints, at distances in bytes. */
INLINE void int_lists(int pack, char *restrict m, void *restrict p)
{
    int *b = p;
    for (long i = 0; i < n; i++)
        for (int j = 0; j < len[i]; j++, b++) {
            int *a = (int *)(m + disp[i]) + j;
            if (pack)
                *b = *a;
            else
                *a = *b;
        }
}

INLINE void blocks(int pack, void *restrict m, void *restrict p, long k)
{
    double *a = m, *b = p;
    for (long i = 0; i < n; i++)
        doubles(pack, a + disp[i], b + i * k, k);
}

BOTH(lists, lists(pack, m, p))
BOTH(int_lists, int_lists(pack, m, p))
BOTH(blocks8, blocks(pack, m, p, 1))
BOTH(blocks64, blocks(pack, m, p, 8))

/* A box of x * y * z in an array whose lines have lx and whose planes have ly lines. */
INLINE void box(int pack, void *restrict m, void *restrict p, long x, long y, long z, long lx, long ly)
{
    double *a = m, *b = p;
    for (long k = 0; k < z; k++)
        for (long j = 0; j < y; j++)
            for (long i = 0; i < x; i++, b++)
                if (pack)
                    *b = a[(k * ly + j) * lx + i];
                else
                    a[(k * ly + j) * lx + i] = *b;
}

BOTH(column, box(pack, m + 8, p, 1, n, 1, 16, 0))
BOTH(columns, box(pack, m + 8, p, 3, n, 1, 16, 0))
BOTH(inner2, box(pack, m + 8 * 131, p, 128, n, 1, 130, 0))
BOTH(face_x, box(pack, m + 8, p, 1, 32, n, 8, 32))
BOTH(face_y, box(pack, m + 8 * 128, p, 128, 1, n, 128, 8))
BOTH(inner3, box(pack, m + 8 * (34 * 34 + 35), p, 32, 32, n, 34, 34))

struct pair {
    int i;
    double d;
};
struct mixed {
    char c;
    int i;
    double d;
    int three[3];
};

INLINE void move(int pack, void *m, void *p, size_t bytes)
{
    memcpy(pack ? p : m, pack ? m : p, bytes);
}

INLINE void pairs(int pack, struct pair *restrict m, char *restrict p)
{
    for (long k = 0; k < n; k++, p += 12) {
        move(pack, &m[k].i, p, 4);
        move(pack, &m[k].d, p + 4, 8);
    }
}

INLINE void mixtures(int pack, struct mixed *restrict m, char *restrict p)
{
    for (long k = 0; k < n; k++, p += 25) {
        move(pack, &m[k].c, p, 1);
        move(pack, &m[k].i, p + 1, 4);
        move(pack, &m[k].d, p + 5, 8);
        move(pack, &m[k].three, p + 13, 12);
    }
}

BOTH(pairs, pairs(pack, (struct pair *)m, p))
BOTH(mixtures, mixtures(pack, (struct mixed *)m, p))

/* Nested types: blocks of k doubles. */
INLINE void vec_vec(int pack, void *restrict m, void *restrict p, long k)
{
    for (long i = 0; i < n; i++)
        vec(pack, (double *)m + i * 9 * k, (double *)p + i * 4 * k, 4, k, 2 * k);
}

/* Twice a struct of k and k/4 doubles with gaps, at each place. */
INLINE void vec_struct(int pack, void *restrict m, void *restrict p, long k)
{
    double *a = m, *b = p;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 2; j++, b += k + k / 4) {
            doubles(pack, a + (3 * i + j) * 2 * k, b, k);
            doubles(pack, a + (3 * i + j) * 2 * k + k + 1, b + k, k / 4);
        }
}

INLINE void list_vec(int pack, void *restrict m, void *restrict p, long k)
{
    for (long i = 0; i < n; i++)
        vec(pack, (char *)m + disp[i], (double *)p + i * 4 * k, 4, k, 2 * k);
}

INLINE void struct_vec(int pack, void *restrict m, void *restrict p, long k)
{
    for (long i = 0; i < n; i++) {
        double *a = (double *)m + i * 16 * k, *b = (double *)p + i * 6 * k;
        vec(pack, a, b, 2, k, 2 * k);
        vec(pack, a + 5 * k, b + 2 * k, 3, k, 3 * k);
        doubles(pack, a + 14 * k, b + 5 * k, k);
    }
}

#define NESTED(BYTES) \
    BOTH(vec_vec##BYTES, vec_vec(pack, m, p, BYTES / 8)) \
    BOTH(vec_struct##BYTES, vec_struct(pack, m, p, BYTES / 8)) \
    BOTH(list_vec##BYTES, list_vec(pack, m, p, BYTES / 8)) \
    BOTH(struct_vec##BYTES, struct_vec(pack, m, p, BYTES / 8))
NESTED(64)
NESTED(256)
NESTED(1024)
NESTED(4096)

/* ---- the same as datatypes: each sets n and makes a type of about `bytes` ---- */

static int make_contiguous(long bytes, long k, MPI_Datatype *t)
{
    (void)k;
    n = bytes;
    return MPI_Type_contiguous((int)bytes, MPI_BYTE, t);
}

static int make_vector(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    return MPI_Type_vector((int)n, (int)k, (int)(2 * k), MPI_DOUBLE, t);
}

static int make_regular(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    for (long i = 0; i < n; i++) {
        len[i] = (int)k;
        disp[i] = (int)(2 * k * i);
    }
    return MPI_Type_indexed((int)n, len, disp, MPI_DOUBLE, t);
}

static void irregular(long total, long longest, long gap)
{
    long at = 0, have = 0;
    for (n = 0; have < total; n++) {
        len[n] = 1 + (int)rnd(longest);
        disp[n] = (int)at;
        have += len[n];
        at += len[n] + 1 + rnd(gap);
    }
}

static int make_irregular(long bytes, long k, MPI_Datatype *t)
{
    irregular(bytes / 8, k, 8);
    return MPI_Type_indexed((int)n, len, disp, MPI_DOUBLE, t);
}

static int make_int_lists(long bytes, long k, MPI_Datatype *t)
{
    irregular(bytes / 4, k, 8);
    MPI_Aint *at = malloc((size_t)n * sizeof *at);
    for (long i = 0; i < n; i++)
        at[i] = disp[i] *= 4;
    int err = MPI_Type_create_hindexed((int)n, len, at, MPI_INT, t);
    free(at);
    return err;
}

static int make_blocks(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    for (long i = 0, at = 0; i < n; i++, at += k + rnd(3 * k))
        disp[i] = (int)at;
    return MPI_Type_create_indexed_block((int)n, (int)k, disp, MPI_DOUBLE, t);
}

static int subarray(int ndims, int sub0, int sub1, int sub2, int size0, int size1, int size2, int start0,
                    int start1, int start2, MPI_Datatype *t)
{
    int sizes[3] = { size0, size1, size2 }, subs[3] = { sub0, sub1, sub2 },
        starts[3] = { start0, start1, start2 };
    return MPI_Type_create_subarray(ndims, sizes + 3 - ndims, subs + 3 - ndims, starts + 3 - ndims,
                                    MPI_ORDER_C, MPI_DOUBLE, t);
}

static int make_column(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    return subarray(2, 0, (int)n, (int)k, 0, (int)n, 16, 0, 0, 1, t);
}

static int make_inner2(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    return subarray(2, 0, (int)n, (int)k, 0, (int)n + 2, (int)k + 2, 0, 1, 1, t);
}

static int make_face_x(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    return subarray(3, (int)n, (int)k, 1, (int)n, (int)k, 8, 0, 0, 1, t);
}

static int make_face_y(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k;
    return subarray(3, (int)n, 1, (int)k, (int)n, 8, (int)k, 0, 1, 0, t);
}

static int make_inner3(long bytes, long k, MPI_Datatype *t)
{
    n = bytes / 8 / k / k;
    return subarray(3, (int)n, (int)k, (int)k, (int)n + 2, (int)k + 2, (int)k + 2, 1, 1, 1, t);
}

/* `count` times `part`, `extent` apart; part is freed. */
static int repeated(MPI_Datatype part, long count, long extent, MPI_Datatype *t)
{
    MPI_Datatype one;
    MPI_Type_create_resized(part, 0, extent, &one);
    int err = MPI_Type_contiguous((int)count, one, t);
    MPI_Type_free(&one);
    MPI_Type_free(&part);
    return err;
}

static int make_pairs(long bytes, long k, MPI_Datatype *t)
{
    int ones[2] = { 1, 1 };
    MPI_Aint at[2] = { offsetof(struct pair, i), offsetof(struct pair, d) };
    MPI_Datatype types[2] = { MPI_INT, MPI_DOUBLE }, one;
    n = bytes / k;
    MPI_Type_create_struct(2, ones, at, types, &one);
    return repeated(one, n, sizeof(struct pair), t);
}

static int make_mixtures(long bytes, long k, MPI_Datatype *t)
{
    int lens[4] = { 1, 1, 1, 3 };
    MPI_Aint at[4] = { 0, offsetof(struct mixed, i), offsetof(struct mixed, d),
                       offsetof(struct mixed, three) };
    MPI_Datatype types[4] = { MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_INT }, one;
    n = bytes / k;
    MPI_Type_create_struct(4, lens, at, types, &one);
    return repeated(one, n, sizeof(struct mixed), t);
}

static int make_vec_vec(long bytes, long k, MPI_Datatype *t)
{
    MPI_Datatype inner;
    n = bytes / (4 * k);
    MPI_Type_vector(4, (int)k / 8, (int)k / 4, MPI_DOUBLE, &inner);
    int err = MPI_Type_create_hvector((int)n, 1, 9 * k, inner, t);
    MPI_Type_free(&inner);
    return err;
}

static int make_vec_struct(long bytes, long k, MPI_Datatype *t)
{
    int lens[2] = { (int)k / 8, (int)k / 32 };
    MPI_Aint at[2] = { 0, k + 8 };
    MPI_Datatype types[2] = { MPI_DOUBLE, MPI_DOUBLE }, one, resized;
    n = bytes / (2 * (k + k / 4));
    MPI_Type_create_struct(2, lens, at, types, &one);
    MPI_Type_create_resized(one, 0, 2 * k, &resized);
    int err = MPI_Type_vector((int)n, 2, 3, resized, t);
    MPI_Type_free(&one);
    MPI_Type_free(&resized);
    return err;
}

static int make_list_vec(long bytes, long k, MPI_Datatype *t)
{
    MPI_Datatype inner;
    n = bytes / (4 * k);
    MPI_Aint *at = malloc((size_t)n * sizeof *at), next = 0;
    for (long i = 0; i < n; i++, next += 8 * k + 8 * rnd(8)) {
        at[i] = next;
        disp[i] = (int)next;
        len[i] = 1;
    }
    MPI_Type_vector(4, (int)k / 8, (int)k / 4, MPI_DOUBLE, &inner);
    int err = MPI_Type_create_hindexed((int)n, len, at, inner, t);
    MPI_Type_free(&inner);
    free(at);
    return err;
}

static int make_struct_vec(long bytes, long k, MPI_Datatype *t)
{
    int lens[3] = { 1, 1, (int)k / 8 };
    MPI_Aint at[3] = { 0, 5 * k, 14 * k };
    MPI_Datatype types[3] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DOUBLE }, one;
    n = bytes / (6 * k);
    MPI_Type_vector(2, (int)k / 8, (int)k / 4, MPI_DOUBLE, &types[0]);
    MPI_Type_vector(3, (int)k / 8, 3 * (int)k / 8, MPI_DOUBLE, &types[1]);
    MPI_Type_create_struct(3, lens, at, types, &one);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
    return repeated(one, n, 16 * k, t);
}

/* ---- taking times ---- */

typedef void hand_fn(char *restrict m, char *restrict p);

static const struct row {
    const char *name;
    int (*make)(long bytes, long k, MPI_Datatype *t);
    long k;
    hand_fn *pack, *unpack;
} rows[] = {
#define ROW(NAME, MAKE, K, HAND) \
    { \
        NAME, make_##MAKE, K, HAND##_pack, HAND##_unpack \
    }
    ROW("contiguous", contiguous, 1, contiguous),
    ROW("vector-8", vector, 1, vector8),
    ROW("vector-16", vector, 2, vector16),
    ROW("vector-64", vector, 8, vector64),
    ROW("vector-256", vector, 32, vector256),
    ROW("indexed-regular", regular, 4, lists),
    ROW("indexed-irregular", irregular, 16, lists),
    ROW("indexed-block-8", blocks, 1, blocks8),
    ROW("indexed-block-64", blocks, 8, blocks64),
    ROW("hindexed-ints", int_lists, 24, int_lists),
    ROW("subarray2-column", column, 1, column),
    ROW("subarray2-3columns", column, 3, columns),
    ROW("subarray2-inner", inner2, 128, inner2),
    ROW("subarray3-xface", face_x, 32, face_x),
    ROW("subarray3-yface", face_y, 128, face_y),
    ROW("subarray3-inner", inner3, 32, inner3),
    ROW("struct-int-double", pairs, 12, pairs),
    ROW("struct-mixed", mixtures, 25, mixtures),
#define NESTED_ROWS(BYTES) \
    ROW("vector-vector-" #BYTES, vec_vec, BYTES, vec_vec##BYTES), \
        ROW("vector-struct-" #BYTES, vec_struct, BYTES, vec_struct##BYTES), \
        ROW("indexed-vector-" #BYTES, list_vec, BYTES, list_vec##BYTES), \
        ROW("struct-vector-" #BYTES, struct_vec, BYTES, struct_vec##BYTES)
    NESTED_ROWS(64),
    NESTED_ROWS(256),
    NESTED_ROWS(1024),
    NESTED_ROWS(4096),
};

static MPI_Datatype type;
static int size;

static void library_pack(char *restrict m, char *restrict p)
{
    int position = 0;
    MPI_Pack(m, 1, type, p, size, &position, MPI_COMM_SELF);
}

static void library_unpack(char *restrict m, char *restrict p)
{
    int position = 0;
    MPI_Unpack(p, size, &position, m, 1, type, MPI_COMM_SELF);
}

static double calls(hand_fn *f, long rounds)
{
    double start = MPI_Wtime();
    for (long i = 0; i < rounds; i++)
        f(mem, packed);
    return MPI_Wtime() - start;
}

static long rounds_for(hand_fn *f)
{
    long rounds = 1;
    while (calls(f, rounds) < budget / SAMPLES / 4)
        rounds *= 2;
    return rounds * 3;
}

/* Seconds a call of both, in turns: the least of some samples each. */
static void compare(hand_fn *library, hand_fn *hand, double *best)
{
    long many[2] = { rounds_for(library), rounds_for(hand) };
    best[0] = best[1] = 1e30;
    for (int s = 0; s < SAMPLES; s++)
        for (int w = 0; w < 2; w++) {
            double took = calls(w ? hand : library, many[w]) / (double)many[w];
            best[w] = took < best[w] ? took : best[w];
        }
}

static void report(const char *what, const char *name, const char *at, double value, const char *unit)
{
    printf("%s:%s%s %.6g %s\n", what, name, at, value, unit);
}

/* Bytes of the cache lines that hold data.  Leaves `packed` and the data in memory changed. */
static long in_lines(size_t span)
{
    enum { LINE = 64 };
    long lines = 0;
    char *before = malloc(span);
    memcpy(before, mem, span);
    library_pack(mem, packed);
    for (int i = 0; i < size; i++)
        packed[i] = (char)~packed[i];
    library_unpack(mem, packed);
    for (size_t at = 0; at < span; at += LINE)
        lines += memcmp(mem + at, before + at, span - at < LINE ? span - at : LINE) != 0;
    free(before);
    return lines * LINE;
}

/* Both packed and both unpacked must be the same bytes. */
static void check(const struct row *row, size_t span)
{
    char *other = malloc((size_t)size), *back = malloc(span);
    memset(packed, 0, (size_t)size);
    memset(other, 1, (size_t)size);
    library_pack(mem, packed);
    row->pack(mem, other);
    int wrong = memcmp(packed, other, (size_t)size) != 0;
    for (int i = 0; i < size; i++)
        other[i] = packed[i] = (char)rnd(256);
    memcpy(back, mem, span);
    library_unpack(mem, packed);
    row->unpack(back, other);
    wrong |= memcmp(mem, back, span) != 0;
    if (wrong) {
        fprintf(stderr, "%s: the loop and the library differ\n", row->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(other);
    free(back);
}

static void one_row(const struct row *row, long bytes, const char *at)
{
    double best[2];
    MPI_Aint lb, extent;
    seed = 1;
    row->make(bytes, row->k, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &lb, &extent);
    if (lb + extent > ROOM) {
        fprintf(stderr, "%s: no room\n", row->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    report("lines", row->name, at, (double)in_lines((size_t)(lb + extent)) / size, "bytes");
    check(row, (size_t)(lb + extent));
    compare(library_pack, row->pack, best);
    report("pack", row->name, at, size / best[0] / 1e9, "GB/s");
    report("hand-pack", row->name, at, size / best[1] / 1e9, "GB/s");
    compare(library_unpack, row->unpack, best);
    report("unpack", row->name, at, size / best[0] / 1e9, "GB/s");
    report("hand-unpack", row->name, at, size / best[1] / 1e9, "GB/s");
    MPI_Type_free(&type);
    fflush(stdout);
}

/* ---- small packs, and what making a type costs ---- */

BOTH(small, memcpy(pack ? p : m, pack ? m : p, (size_t)n))
BOTH(small_vector, vec(pack, m, p, 12, 1, 2))
BOTH(small_pairs, (n = 8, pairs(pack, (struct pair *)m, p)))

static void small(const char *name, int (*make)(long, long, MPI_Datatype *), long bytes, long k,
                  hand_fn *pack, hand_fn *unpack)
{
    double best[2];
    make(bytes, k, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    compare(library_pack, pack, best);
    report("small-pack", name, "", best[0] * 1e9, "ns");
    report("hand-small-pack", name, "", best[1] * 1e9, "ns");
    compare(library_unpack, unpack, best);
    report("small-unpack", name, "", best[0] * 1e9, "ns");
    report("hand-small-unpack", name, "", best[1] * 1e9, "ns");
    MPI_Type_free(&type);
}

static double in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
}

static void making(const char *name, int (*make)(long, long, MPI_Datatype *), long bytes, long k)
{
    double best = 1e30, memory = 0;
    for (int i = 0; i < 3; i++) {
        seed = 1;
        double before = in_use(), start = MPI_Wtime();
        make(bytes, k, &type);
        MPI_Type_commit(&type);
        double took = MPI_Wtime() - start;
        memory = in_use() - before;
        best = took < best ? took : best;
        MPI_Type_free(&type);
    }
    report("make", name, "", best * 1e3, "ms");
    report("memory", name, "", memory / (double)n, "B/entry");
}

int main(int argc, char **argv)
{
    static const struct {
        long bytes;
        const char *name;
    } sizes[] = { { 1 << 20, "@1M" }, { 32 << 10, "@32K" } };
    enum { MANY = 1000000 };
    MPI_Init(&argc, &argv);
    budget = argc > 1 ? atof(argv[1]) : budget;
    const char *only = argc > 2 ? argv[2] : "";
    mem = aligned_alloc(4096, ROOM);
    packed = aligned_alloc(4096, 32 << 20);
    len = malloc(MANY * sizeof *len);
    disp = malloc(MANY * sizeof *disp);
    for (long i = 0; i < ROOM; i++)
        mem[i] = (char)rnd(256);
    memset(packed, 0, 32 << 20);
    for (size_t s = 0; s < 2; s++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            if (r == 0 || strstr(rows[r].name, only)) /* always: what memcpy does */
                one_row(&rows[r], sizes[s].bytes, sizes[s].name);
    if (strstr("small", only)) {
        small("100bytes", make_contiguous, 100, 1, small_pack, small_unpack);
        small("12doubles", make_vector, 96, 1, small_vector_pack, small_vector_unpack);
        small("8pairs", make_pairs, 96, 12, small_pairs_pack, small_pairs_unpack);
    }
    if (strstr("making", only)) {
        making("indexed-irregular", make_irregular, (long)MANY * 60, 16);
        making("indexed-block", make_blocks, (long)MANY * 8, 1);
        making("hindexed", make_int_lists, (long)MANY * 45, 24);
        making("hindexed-vector", make_list_vec, (long)MANY * 4 * 64, 64);
    }
    MPI_Finalize();
    return 0;
}
