/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_bench.c: the copy functions beside loops written by hand; prints nanoseconds a call and the ratio. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mpid.h"
#include "mpid/datatype/type_copy.h"

enum { REPEAT = 7 };

static char *mem, *packed;
static int64_t nblocks, block, stride;
static int64_t *where;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- by hand ---- */

static void hand_doubles(void)
{
    const double *a = (const double *)mem;
    double *b = (double *)packed;
    for (int64_t i = 0; i < nblocks; i++)
        b[i] = a[i * (stride / 8)];
}

static void hand_blocks(void)
{
    for (int64_t i = 0; i < nblocks; i++)
        memcpy(packed + i * block, mem + i * stride, (size_t)block);
}

static void hand_records(void)
{
    struct {
        int i;
        double d;
    } *a = (void *)mem;
    for (int64_t k = 0; k < nblocks; k++) {
        memcpy(packed + 12 * k, &a[k].i, 4);
        memcpy(packed + 12 * k + 4, &a[k].d, 8);
    }
}

static void hand_indexed(void)
{
    const double *a = (const double *)mem;
    double *b = (double *)packed;
    for (int64_t i = 0; i < nblocks; i++)
        b[i] = a[where[i]];
}

static void hand_plane(void) /* nblocks rows of 3 blocks */
{
    const double *a = (const double *)mem;
    double *b = (double *)packed;
    for (int64_t i = 0; i < nblocks; i++)
        for (int j = 0; j < 3; j++)
            *b++ = a[i * (stride / 8) + 2 * j];
}

/* ---- comparing ---- */

static double best(void (*f)(void), const struct MPIR_DATATYPE *t, int64_t count, int64_t calls)
{
    double least = 1e30;
    for (int r = 0; r < REPEAT; r++) {
        double start = now();
        for (int64_t i = 0; i < calls; i++)
            if (f)
                f();
            else
                MPID_Layout_pack(t, mem, count, 0, packed, count * t->size);
        double each = (now() - start) / (double)calls;
        least = each < least ? each : least;
    }
    return least;
}

static void compare(const char *what, void (*f)(void), const struct MPIR_DATATYPE *t, int64_t count)
{
    int64_t calls = 1 + 20000000 / (count * t->size + 2000);
    double hand = best(f, t, count, calls), ours = best(NULL, t, count, calls);
    printf("%-40s %12.0f %12.0f %8.2f\n", what, hand, ours, hand / ours);
}

int main(void)
{
    struct MPIR_DATATYPE d, i4, c, t, u;
    char name[80];
    mem = aligned_alloc(64, 64 << 20);
    packed = aligned_alloc(64, 64 << 20);
    where = malloc(sizeof *where * 100000);
    if (!mem || !packed || !where)
        return 1;
    memset(mem, 1, 64 << 20);
    memset(packed, 1, 64 << 20);
    MPID_Type_basic(&d, 8, 8, 8);
    MPID_Type_basic(&i4, 4, 4, 4);
    MPID_Type_basic(&c, 1, 1, 1);
    printf("%-40s %12s %12s %8s\n", "pack", "by hand, ns", "layout, ns", "ratio");
    for (nblocks = 10; nblocks <= 100000; nblocks *= 100) {
        stride = 16;
        MPID_Type_hvector(&t, nblocks, 1, stride, &d);
        snprintf(name, sizeof name, "%lld doubles, stride 2", (long long)nblocks);
        compare(name, hand_doubles, &t, 1);
        MPID_Type_fini(&t);
    }
    for (block = 12; block < 5000; block = block * 5 / 2) {
        nblocks = 40000 / block + 4;
        stride = block * 2;
        MPID_Type_hvector(&t, nblocks, block, stride, &c);
        snprintf(name, sizeof name, "%lld blocks of %lld bytes", (long long)nblocks, (long long)block);
        compare(name, hand_blocks, &t, 1);
        MPID_Type_fini(&t);
    }
    int64_t one[2] = { 1, 1 }, at[2] = { 0, 8 };
    struct MPIR_DATATYPE *both[2] = { &i4, &d };
    MPID_Type_struct(&t, 2, (MPIR_Counts){ one, 1 }, (MPIR_Counts){ at, 1 }, both);
    for (nblocks = 1; nblocks <= 10000; nblocks *= 100) {
        snprintf(name, sizeof name, "%lld of {int, double}", (long long)nblocks);
        compare(name, hand_records, &t, nblocks);
    }
    MPID_Type_fini(&t);
    nblocks = 10000;
    for (int64_t i = 0; i < nblocks; i++)
        where[i] = i * 7919 % 20011;
    MPID_Type_hindexed(&t, nblocks, (MPIR_Counts){ 0 }, 1, (MPIR_Counts){ where, 1 }, 8, &d);
    compare("10000 doubles anywhere", hand_indexed, &t, 1);
    MPID_Type_fini(&t);
    stride = 80;
    MPID_Type_hvector(&u, 3, 1, 16, &d);
    MPID_Type_hvector(&t, nblocks, 1, stride, &u);
    compare("10000 rows of 3 strided doubles", hand_plane, &t, 1);
    MPID_Type_fini(&u);
    MPID_Type_fini(&t);
    free(mem);
    free(packed);
    free(where);
    return 0;
}
