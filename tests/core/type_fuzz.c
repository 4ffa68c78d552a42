/* SPDX-License-Identifier: BSD-3-Clause */
/* type_fuzz.c: hostile bytes for MPID_Type_decode.
 *
 *   type_fuzz [N [SEED]]    N inputs: encodings of random types, mutated
 *   type_fuzz - HEX         one input, as a failure prints it
 *
 * What must hold: every input is refused with MPI_ERR_TYPE and a text, or makes a type; no more memory is taken
 * than mpid.h says, and none is left; a type that was made touches nothing outside its true bounds, walked, packed
 * and unpacked; it is encoded and decoded to the same again.  Reads and writes that nobody checks here are
 * AddressSanitizer's (type_fuzz.test). */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mpid.h"
#include "mpi_const.h"
#include "util/err.h"

enum { POOL = 24, LONGEST = 1 << 16, SMALL = 1 << 16, RUNS = 400, SLACK = 2048 };

struct input {
    uint8_t bytes[LONGEST];
    int64_t len;
};

static struct {
    uint64_t random;
    struct input now;
    struct MPIR_DATATYPE pool[POOL];
    long taken, refused, packed;
} fuzz;

/* ---- memory ---- */

static int64_t live, peak;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);

static void *counted(void *p)
{
    live += p ? (int64_t)malloc_usable_size(p) : 0;
    peak = live > peak ? live : peak;
    return p;
}
void *__wrap_malloc(size_t n)
{
    return counted(__real_malloc(n));
}
void *__wrap_calloc(size_t n, size_t size)
{
    return counted(__real_calloc(n, size));
}
void *__wrap_realloc(void *p, size_t n)
{
    int64_t before = p ? (int64_t)malloc_usable_size(p) : 0;
    void *q = counted(__real_realloc(p, n)); /* both are there for a moment */
    live -= q ? before : 0;
    return q;
}
void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return counted(__real_aligned_alloc(align, n));
}
void __wrap_free(void *p)
{
    live -= p ? (int64_t)malloc_usable_size(p) : 0;
    __real_free(p);
}

/* ---- what must hold ---- */

__attribute__((noreturn)) static void failed(const char *what)
{
    printf("failed: %s\n", what);
    for (int64_t i = 0; i < fuzz.now.len; i++)
        printf("%02x", fuzz.now.bytes[i]);
    printf("\n");
    fflush(stdout);
    abort();
}

static void must(bool holds, const char *what)
{
    if (!holds)
        failed(what);
}

static uint32_t dice(uint32_t sides)
{
    fuzz.random = fuzz.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(fuzz.random >> 33) % sides;
}

/* The first element may lie far from its bytes: an address, not a pointer into an array. */
static char *moved(const char *p, uintptr_t by)
{
    return (char *)((uintptr_t)p + by);
}

struct walk {
    const struct MPIR_DATATYPE *t;
    const char *mem; /* where the first element would lie; NULL: look at the bounds only */
    const char *packed;
    int64_t runs, bytes;
};

static bool see_run(void *arg, int64_t at, int64_t bytes)
{
    struct walk *w = arg;
    must(bytes > 0, "a run is empty");
    must(at >= w->t->true_lb && bytes <= w->t->true_extent - (at - w->t->true_lb),
         "a run leaves the true bounds");
    if (w->mem)
        must(memcmp(moved(w->mem, (uintptr_t)at), w->packed + w->bytes, (size_t)bytes) == 0,
             "a run is not what was packed");
    w->bytes += bytes;
    return ++w->runs < RUNS || w->mem;
}

/* All of one element, in memory that ends where the type says. */
static void move(const struct MPIR_DATATYPE *t)
{
    char *mem = calloc(1, (size_t)t->true_extent), *packed = malloc((size_t)t->size),
         *at = moved(mem, -(uintptr_t)t->true_lb);
    struct walk w = { t, at, packed, 0, 0 };
    int64_t from = dice((uint32_t)t->size), len = dice((uint32_t)(t->size - from) + 1), size = 0, place = 0;
    int err = 0;
    memset(mem, (int)dice(256), (size_t)t->true_extent);
    for (int64_t i = 0; i < t->true_extent; i += 7)
        mem[i] = (char)i;
    MPID_Layout_pack(t, at, 1, 0, packed, t->size);
    must(MPID_Layout_runs(t, 0, t->size, see_run, &w) == t->size, "a walk ended early");
    MPID_Layout_pack(t, at, 1, from, packed, len);
    MPID_Layout_unpack(t, at, 1, from, packed, len);
    MPID_Pack_size(1, (struct MPIR_DATATYPE *)t, MPID_MSG_CONVERT, &size);
    if (size >= 0 && size <= 4 * SMALL) {
        char *wire = malloc((size_t)size);
        MPID_Pack(at, 1, (struct MPIR_DATATYPE *)t, wire, size, &place, NULL, 0, MPID_MSGFORM_EXTERNAL32,
                  MPID_MSG_CONVERT, &err);
        must(err || place == size, "external32 has another size");
        free(wire);
    }
    free(mem);
    free(packed);
    fuzz.packed++;
}

static bool equal(const struct MPIR_DATATYPE *a, const struct MPIR_DATATYPE *b)
{
    return a->size == b->size && a->lb == b->lb && a->extent == b->extent && a->true_lb == b->true_lb &&
           a->true_extent == b->true_extent && a->is_contig == b->is_contig && a->align == b->align &&
           a->has_lb == b->has_lb && a->has_ub == b->has_ub && a->basic == b->basic && !a->sign == !b->sign;
}

static void encode_again(const struct MPIR_DATATYPE *t)
{
    struct MPIR_DATATYPE again = { 0 };
    void *once = NULL, *twice = NULL;
    int64_t len = 0, len2 = 0;
    must(MPID_Type_encode(t, &once, &len) == 0, "a decoded type cannot be encoded");
    must(MPID_Type_decode(&again, once, len) == 0, "its encoding cannot be decoded");
    must(equal(t, &again), "encoded and decoded it is another");
    must(MPID_Type_encode(&again, &twice, &len2) == 0 && len == len2 && memcmp(once, twice, (size_t)len) == 0,
         "encoded again it has other bytes");
    MPID_Type_fini(&again);
    free(once);
    free(twice);
}

static void use(const struct MPIR_DATATYPE *t)
{
    struct MPIR_DATATYPE two = { 0 };
    encode_again(t);
    if (t->size > 0) {
        struct walk w = { t, NULL, NULL, 0, 0 };
        int64_t from = (int64_t)((uint64_t)dice(1u << 31) << 32 | dice(1u << 31)) % t->size;
        MPID_Layout_runs(t, dice(2) ? from : 0, dice(2) ? t->size - from : 1, see_run, &w);
    }
    if (t->size > 0 && t->size <= SMALL && t->true_extent <= SMALL)
        move(t);
    if (MPID_Type_hvector(&two, 2, 1 + dice(3), dice(2) ? t->extent : (int64_t)dice(999), t) == 0)
        MPID_Type_fini(&two);
}

static void play(void)
{
    struct MPIR_DATATYPE t = { 0 };
    uint8_t *exact = malloc((size_t)fuzz.now.len + !fuzz.now.len);
    int64_t before = live;
    memcpy(exact, fuzz.now.bytes, (size_t)fuzz.now.len);
    peak = live;
    int err = MPID_Type_decode(&t, exact, fuzz.now.len);
    must(peak - before <= MPID_TYPE_DECODED_RATIO * fuzz.now.len + SLACK, "too much memory");
    free(exact);
    if (err) {
        must(err == MPI_ERR_TYPE && ku_err_last()->code == err && ku_err_last()->text[0], "another error");
        must(t.layout == NULL && t.sign == NULL, "something is left after an error");
        fuzz.refused++;
    } else {
        use(&t);
        MPID_Type_fini(&t);
        fuzz.taken++;
    }
}

/* ---- types to begin with ---- */

static struct MPIR_DATATYPE random_type(void)
{
    enum { MOST = 12 };
    struct MPIR_DATATYPE t = { 0 }, *types[MOST];
    int err = 0;
    int64_t n = 1 + dice(MOST), lengths[MOST], disp[MOST];
    const struct MPIR_DATATYPE *old = &fuzz.pool[dice(POOL)];
    for (int i = 0; i < MOST; i++) {
        types[i] = &fuzz.pool[dice(POOL)];
        lengths[i] = dice(4);
        disp[i] = (int64_t)dice(3000) - 500;
    }
    MPIR_Counts l = { lengths, 1 }, d = { disp, 1 };
    switch (dice(5)) {
    case 0:
        err = MPID_Type_hvector(&t, 1 + dice(30), 1 + dice(4), (int64_t)dice(400) - 50, old);
        break;
    case 1:
        err = MPID_Type_hindexed(&t, n, l, 0, d, 1 + dice(16), old);
        break;
    case 2:
        err = MPID_Type_hindexed(&t, n, (MPIR_Counts){ NULL, 0 }, 1 + dice(3), d, 1 + dice(16), old);
        break;
    case 3:
        err = MPID_Type_resized(&t, (int64_t)dice(64) - 32, dice(4000), old);
        break;
    default:
        err = MPID_Type_struct(&t, n, l, d, types);
    }
    if (err) /* it would be too large */
        MPID_Type_dup(&t, &fuzz.pool[0]);
    return t;
}

/* As deep as types may be. */
static struct MPIR_DATATYPE deep_type(void)
{
    struct MPIR_DATATYPE t = { 0 }, next = { 0 }, *types[2] = { &t, &fuzz.pool[0] };
    int64_t one[2] = { 1, 1 };
    MPID_Type_hvector(&t, 40, 1, 3, &fuzz.pool[0]);
    for (int k = 0; k < 3000; k++) {
        int64_t disp[2] = { 0, t.extent + 5 };
        if (MPID_Type_struct(&next, 2, (MPIR_Counts){ one, 1 }, (MPIR_Counts){ disp, 1 }, types))
            break;
        MPID_Type_fini(&t);
        t = next;
    }
    return t;
}

static void fill_pool(void)
{
    static const struct {
        int size;
        uint32_t basic;
    } basics[] = {
        { 1, KEEL_MPI_INT8_T }, { 4, KEEL_MPI_INT }, { 8, KEEL_MPI_DOUBLE }, { 8, KEEL_MPI_LONG }
    };
    for (int i = 0; i < POOL; i++)
        MPID_Type_basic(&fuzz.pool[i], basics[i % 4].size, basics[i % 4].size, basics[i % 4].basic);
    fuzz.pool[4] = deep_type();
}

static void encode_into(struct input *in, const struct MPIR_DATATYPE *t)
{
    void *bytes = NULL;
    int64_t len = 0;
    in->len = 0;
    if (MPID_Type_encode(t, &bytes, &len))
        return;
    in->len = len < LONGEST ? len : LONGEST;
    memcpy(in->bytes, bytes, (size_t)in->len);
    free(bytes);
}

/* ---- mutations ---- */

/* Put n bytes in the place of `gone` ones. */
static void replace(struct input *in, int64_t at, int64_t gone, const uint8_t *bytes, int64_t n)
{
    if (gone > in->len - at)
        gone = in->len - at;
    if (in->len - gone + n > LONGEST)
        return;
    memmove(in->bytes + at + n, in->bytes + at + gone, (size_t)(in->len - at - gone));
    memmove(in->bytes + at, bytes, (size_t)n);
    in->len += n - gone;
}

/* Some number: small, or near to a power of two. */
static int64_t number(uint8_t *to)
{
    uint64_t v = dice(2) ? dice(40) : ((uint64_t)1 << dice(64)) - dice(3);
    int64_t n = 0;
    for (; v > 0x7f; v >>= 7)
        to[n++] = (uint8_t)(v | 0x80);
    to[n++] = (uint8_t)v;
    return n;
}

static void mutate(struct input *in)
{
    static uint8_t piece[64];
    static struct input other;
    int64_t at = in->len ? dice((uint32_t)in->len) : 0, n = 1 + dice(sizeof piece);
    switch (dice(8)) {
    case 0:
        if (in->len)
            in->bytes[at] ^= (uint8_t)(1u << dice(8));
        break;
    case 1:
        replace(in, at, dice(2), piece, number(piece));
        break;
    case 2:
        replace(in, at, 1 + dice(4), piece, 0);
        break;
    case 3: /* again, elsewhere */
        n = n < in->len - at ? n : in->len - at;
        memcpy(piece, in->bytes + at, (size_t)n);
        replace(in, in->len ? dice((uint32_t)in->len) : 0, dice(2) ? n : 0, piece, n);
        break;
    case 4:
        in->len = at;
        break;
    case 5: /* of another type */
        encode_into(&other, &fuzz.pool[dice(POOL)]);
        if (other.len)
            replace(in, at, dice(20), other.bytes, dice((uint32_t)other.len));
        break;
    case 6: /* a record in front */
        piece[0] = (uint8_t)dice(8);
        for (int64_t i = n = 1; i < 1 + dice(6) && n < (int64_t)sizeof piece - 10; i++)
            n += number(piece + n);
        replace(in, in->len ? 1 : 0, 0, piece, n);
        break;
    default:
        for (int64_t i = 0; i < n && at + i < in->len; i++)
            in->bytes[at + i] = (uint8_t)dice(256);
    }
}

static void unhex(const char *hex)
{
    unsigned b;
    for (fuzz.now.len = 0; fuzz.now.len < LONGEST && sscanf(hex, "%2x", &b) == 1; hex += 2)
        fuzz.now.bytes[fuzz.now.len++] = (uint8_t)b;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 5000;
    if (argc > 2 && argv[1][0] == '-') {
        unhex(argv[2]);
        play();
        return 0;
    }
    fuzz.random = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;
    fill_pool();
    int64_t at_start = 0;
    for (long i = 0; i < n; i++) {
        if (i % 1000 == 0)
            alarm(60); /* that is 60 ms each: more is a hang */
        int victim = 5 + (int)dice(POOL - 5);
        struct MPIR_DATATYPE t = random_type();
        MPID_Type_fini(&fuzz.pool[victim]);
        fuzz.pool[victim] = t;
        encode_into(&fuzz.now, &fuzz.pool[dice(i % 50 == 0 ? 5 : POOL)]);
        for (uint32_t k = dice(4); k > 0; k--)
            mutate(&fuzz.now);
        at_start = live;
        play();
        must(live == at_start, "memory is left");
    }
    for (int i = 0; i < POOL; i++)
        MPID_Type_fini(&fuzz.pool[i]);
    printf("%ld inputs: %ld made a type, of which %ld were packed; %ld refused\n", n, fuzz.taken, fuzz.packed,
           fuzz.refused);
    return n >= 1000 && (fuzz.taken < n / 20 || fuzz.packed < n / 40 || fuzz.refused < n / 4);
}
