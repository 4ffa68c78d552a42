/* SPDX-License-Identifier: BSD-3-Clause */
/* forced.h: every collective, in all forms, on all sorts of arguments; included by programs that each force other
 * algorithms (KEEL_COLL).  Results are compared with what one process computes by itself. */
#ifndef FORCED_H
#define FORCED_H

#include "values.h"

/* A program may give a communicator of its own, of some or all ranks in any order, and how it is made:
 * MPI_COMM_NULL leaves a process out. */
#ifndef W
#define W MPI_COMM_WORLD
#define MAKE_W() 0
#define FREE_W() 0
#endif

static int some_root(int i)
{
    return i == 0 ? 0 : i == 1 ? check_size - 1 : check_size / 2;
}

/* ---- Bcast, barrier ------------------------------------------------------------------------------------------ */

static void test_bcast(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int q = 0; q < 3; q++) {
            int n = counts[k], root = some_root(q);
            int *b = check_rank == root ? filled(root, n) : ints(n);
            MPI_Bcast(b, n, MPI_INT, root, W);
            for (int i = 0; i < n; i++)
                if (b[i] != val(root, i)) {
                    CHECK_EQ(b[i], val(root, i), "bcast of %d from %d, element %d", n, root, i);
                    break;
                }
            CHECK_EQ(b[n], GUARD, "bcast");
            free(b);
            MPI_Barrier(W);
        }
}

/* Different types of the same signature; gaps stay as they were. */
static void test_bcast_types(void)
{
    for (int k = 0; k < NCOUNTS; k++) {
        int n = counts[k], root = some_root(k), *b = ints(2 * n + 1);
        if (check_rank == root) {
            for (int i = 0; i < n; i++)
                b[i] = val(root, i);
            MPI_Bcast(b, n, MPI_INT, root, W);
        } else {
            MPI_Bcast(check_rank % 2 ? b : b + 1, n, check_rank % 2 ? gappy : low, root, W);
            for (int i = 0; i < n; i++) {
                CHECK_EQ(b[2 * i], val(root, i), "bcast with gaps, %d of %d", i, n);
                CHECK_EQ(b[2 * i + 1], GUARD, "gap %d of %d", i, n);
            }
        }
        free(b);
    }
}

/* One element at some, many at others. */
static void test_bcast_counts(void)
{
    for (int k = 0; k < NCOUNTS; k++) {
        int n = counts[k], root = some_root(k), one = (check_rank + root) % 3;
        int *b = check_rank == root ? filled(root, n) : ints(n);
        MPI_Datatype all;
        MPI_Type_contiguous(n, MPI_INT, &all);
        MPI_Type_commit(&all);
        MPI_Bcast(b,
                  one == 0   ? 1
                  : one == 1 ? n
                             : 4 * n,
                  one == 0   ? all
                  : one == 1 ? MPI_INT
                             : MPI_BYTE,
                  root, W);
        for (int i = 0; i < n; i++)
            if (b[i] != val(root, i)) {
                CHECK_EQ(b[i], val(root, i), "bcast of %d from %d, element %d", n, root, i);
                break;
            }
        CHECK_EQ(b[n], GUARD, "bcast");
        MPI_Type_free(&all);
        free(b);
    }
}

/* ---- Gather, scatter ----------------------------------------------------------------------------------------- */

static void test_gather(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int q = 0; q < 3; q++)
            for (int place = 0; place < 2; place++) {
                int n = counts[k], root = some_root(q), p = check_size;
                int *in = filled(check_rank, n), *out = ints(check_rank == root ? (int64_t)n * p : 0);
                if (check_rank == root && place) {
                    memcpy(out + (int64_t)n * root, in, (size_t)n * sizeof *in);
                    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, root, W);
                } else if (check_rank == root) {
                    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, W);
                } else {
                    MPI_Gather(in, n, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, W);
                }
                for (int64_t i = 0; check_rank == root && i < (int64_t)n * p; i++)
                    if (out[i] != val((int)(i / n), i % n)) {
                        CHECK_EQ(out[i], val((int)(i / n), i % n), "gather of %d to %d, element %lld", n,
                                 root, (long long)i);
                        break;
                    }
                CHECK_EQ(out[check_rank == root ? (int64_t)n * p : 0], GUARD, "gather");
                free(in);
                free(out);
            }
}

/* Senders and the root use different types. */
static void test_gather_types(void)
{
    int n = 5, root = check_size / 2, p = check_size, *in = ints(2 * n), *out = ints(2 * n * p + 1);
    for (int i = 0; i < n; i++)
        in[2 * i] = val(check_rank, i);
    MPI_Gather(check_rank % 2 ? in : in + 1, n, check_rank % 2 ? gappy : low, out + 1, n, low, root, W);
    for (int i = 0; check_rank == root && i < n * p; i++) {
        CHECK_EQ(out[2 * i], val(i / n, i % n), "gather with types, element %d", i);
        CHECK_EQ(out[2 * i + 1], GUARD, "gather with types, gap %d", i);
    }
    free(in);
    free(out);
}

static void test_scatter(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int q = 0; q < 3; q++)
            for (int place = 0; place < 2; place++) {
                int n = counts[k], root = some_root(q);
                int64_t all = check_rank == root ? (int64_t)n * check_size : 0;
                int *in = ints(all), *out = ints(n);
                for (int64_t i = 0; i < all; i++)
                    in[i] = val((int)(i / n), i % n);
                if (check_rank == root && place) {
                    MPI_Scatter(in, n, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, W);
                    memcpy(out, in + (int64_t)n * root, (size_t)n * sizeof *in);
                } else if (check_rank == root) {
                    MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, W);
                } else {
                    MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, out, n, MPI_INT, root, W);
                }
                for (int i = 0; i < n; i++)
                    if (out[i] != val(check_rank, i)) {
                        CHECK_EQ(out[i], val(check_rank, i), "scatter of %d from %d, element %d", n, root, i);
                        break;
                    }
                CHECK_EQ(out[n], GUARD, "scatter");
                free(in);
                free(out);
            }
}

static void test_scatter_types(void)
{
    int n = 6, root = check_size - 1, p = check_size, *in = ints(2 * n * p + 1), *out = ints(2 * n + 1);
    for (int i = 0; i < n * p; i++)
        in[2 * i] = val(i / n, i % n);
    MPI_Scatter(in + 1, n, low, check_rank % 2 ? out + 1 : out, n, check_rank % 2 ? low : gappy, root, W);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[2 * i], val(check_rank, i), "scatter with types, element %d", i);
        CHECK_EQ(out[2 * i + 1], GUARD, "scatter with types, gap %d", i);
    }
    free(in);
    free(out);
}

/* Rank r has (r * 7 + shift) % 5 elements: some none. */
static int ragged(int r, int shift)
{
    return (r * 7 + shift) % 5 * (shift > 3 ? 300 : 1);
}

/* Counts and displacements that leave two elements between blocks; *all: where the last ends. */
static void ragged_layout(int shift, int *cnt, int *dsp, int *all)
{
    *all = 1;
    for (int i = 0; i < check_size; i++) {
        cnt[i] = ragged(i, shift);
        dsp[i] = *all;
        *all += cnt[i] + 2;
    }
}

static void expect_ragged(const int *out, const int *cnt, const int *dsp, int all, const char *what)
{
    int *expected = ints(all);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < cnt[r]; i++)
            expected[dsp[r] + i] = val(r, i);
    for (int i = 0; i <= all; i++)
        if (out[i] != expected[i]) {
            CHECK_EQ(out[i], expected[i], "%s, element %d", what, i);
            break;
        }
    free(expected);
}

static void test_vectors(void)
{
    int cnt[128], dsp[128], all;
    for (int shift = 0; shift < 6; shift++) {
        int root = some_root(shift % 3), n = ragged(check_rank, shift);
        int *in = filled(check_rank, n), *out, *mine = ints(n);
        ragged_layout(shift, cnt, dsp, &all);
        out = ints(all);
        MPI_Gatherv(in, n, MPI_INT, out, cnt, dsp, MPI_INT, root, W);
        if (check_rank == root)
            expect_ragged(out, cnt, dsp, all, "gatherv");
        else
            CHECK_EQ(out[dsp[0]], GUARD, "gatherv wrote at another rank than the root");
        MPI_Scatterv(out, cnt, dsp, MPI_INT, mine, n, MPI_INT, root, W);
        for (int i = 0; i < n; i++)
            CHECK_EQ(mine[i], val(check_rank, i), "scatterv, element %d", i);
        CHECK_EQ(mine[n], GUARD, "scatterv");
        free(out);
        out = ints(all);
        MPI_Allgatherv(in, n, MPI_INT, out, cnt, dsp, MPI_INT, W);
        expect_ragged(out, cnt, dsp, all, "allgatherv");
        free(out);
        out = ints(all);
        memcpy(out + dsp[check_rank], in, (size_t)n * sizeof *in);
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, cnt, dsp, MPI_INT, W);
        expect_ragged(out, cnt, dsp, all, "allgatherv in place");
        if (check_rank == root)
            MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, cnt, dsp, MPI_INT, root, W);
        else
            MPI_Gatherv(in, n, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, W);
        expect_ragged(out, cnt, dsp, all, "gatherv in place");
        if (check_rank == root)
            MPI_Scatterv(out, cnt, dsp, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, W);
        else
            MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, n, MPI_INT, root, W);
        expect_ragged(out, cnt, dsp, all, "scatterv in place");
        free(in);
        free(out);
        free(mine);
    }
}

/* The large forms, and blocks in a derived type. */
static void test_vectors_large(void)
{
    MPI_Count cnt[128];
    MPI_Aint dsp[128];
    int all = 0, n = ragged(check_rank, 2), *in = filled(check_rank, n), *out;
    for (int i = 0; i < check_size; i++) {
        cnt[i] = ragged(i, 2);
        dsp[i] = all;
        all += (int)cnt[i];
    }
    out = ints(2 * all + 1);
    MPI_Allgatherv_c(in, n, MPI_INT, out + 1, cnt, dsp, low, W);
    for (int r = 0, k = 0; r < check_size; r++)
        for (int i = 0; i < cnt[r]; i++, k++) {
            CHECK_EQ(out[2 * k], val(r, i), "allgatherv_c, element %d of %d", i, r);
            CHECK_EQ(out[2 * k + 1], GUARD, "allgatherv_c, gap");
        }
    free(in);
    free(out);
}

/* ---- Allgather, alltoall ------------------------------------------------------------------------------------- */

static void test_allgather(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int place = 0; place < 2; place++) {
            int n = counts[k], p = check_size, *in = filled(check_rank, n), *out = ints((int64_t)n * p);
            if (place)
                memcpy(out + (int64_t)n * check_rank, in, (size_t)n * sizeof *in);
            MPI_Allgather(place ? MPI_IN_PLACE : in, place ? 0 : n, place ? MPI_DATATYPE_NULL : MPI_INT, out,
                          n, MPI_INT, W);
            for (int64_t i = 0; i < (int64_t)n * p; i++)
                if (out[i] != val((int)(i / n), i % n)) {
                    CHECK_EQ(out[i], val((int)(i / n), i % n), "allgather of %d, element %lld", n,
                             (long long)i);
                    break;
                }
            CHECK_EQ(out[(int64_t)n * p], GUARD, "allgather");
            free(in);
            free(out);
        }
    int n = 4, p = check_size, *in = filled(check_rank, n), *out = ints(2 * n * p + 1);
    MPI_Allgather(in, n, MPI_INT, out + 1, n, low, W);
    for (int i = 0; i < n * p; i++) {
        CHECK_EQ(out[2 * i], val(i / n, i % n), "allgather with types, element %d", i);
        CHECK_EQ(out[2 * i + 1], GUARD, "allgather with types, gap %d", i);
    }
    free(in);
    free(out);
}

static void test_alltoall(void)
{
    for (int k = 0; k < NCOUNTS - 1; k++)
        for (int form = 0; form < 3; form++) { /* 0: plain, 1: in place, 2: received in another type */
            int n = counts[k], p = check_size, step = form == 2 ? 2 : 1;
            int *in = ints((int64_t)n * p), *out = ints((int64_t)n * p * step + 1);
            for (int b = 0; b < p; b++)
                for (int i = 0; i < n; i++)
                    in[b * n + i] = pair_val(check_rank, b, i);
            if (form == 1) {
                memcpy(out, in, (size_t)n * (size_t)p * sizeof *in);
                MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, W);
            } else {
                MPI_Alltoall(in, n, MPI_INT, form ? out + 1 : out, n, form ? low : MPI_INT, W);
            }
            for (int a = 0; a < p; a++)
                for (int i = 0; i < n; i++) {
                    CHECK_EQ(out[(a * n + i) * step], pair_val(a, check_rank, i),
                             "alltoall form %d of %d from %d", form, n, a);
                    if (step == 2)
                        CHECK_EQ(out[(a * n + i) * step + 1], GUARD, "alltoall, gap");
                }
            CHECK_EQ(out[(int64_t)n * p * step], GUARD, "alltoall");
            free(in);
            free(out);
        }
}

/* Elements from a to b: none for a third of the pairs. */
static int pair_count(int a, int b, int symmetric)
{
    int x = symmetric ? (a < b ? a * 5 + b * 3 : b * 5 + a * 3) : a * 5 + b * 3;
    return x % 3 == 0 ? 0 : x % 11 * (x % 2 ? 1 : 100);
}

static void expect_pairs(const int *out, const int *cnt, const int *dsp, const char *what)
{
    for (int a = 0; a < check_size; a++) {
        for (int i = 0; i < cnt[a]; i++)
            CHECK_EQ(out[dsp[a] + i], pair_val(a, check_rank, i), "%s from %d", what, a);
        CHECK_EQ(out[dsp[a] + cnt[a]], GUARD, "%s, after the block of %d", what, a);
    }
}

static void test_alltoallv(void)
{
    int p = check_size, sc[128], sd[128], rc[128], rd[128], sn = 0, rn = 0, *in, *out;
    MPI_Datatype st[128], rt[128];
    MPI_Count lsc[128], lrc[128];
    MPI_Aint lsd[128], lrd[128];
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        sn = rn = 0;
        for (int i = 0; i < p; i++) {
            lsc[i] = sc[i] = pair_count(check_rank, i, symmetric);
            lrc[i] = rc[i] = pair_count(i, check_rank, symmetric);
            lsd[i] = sd[i] = sn;
            lrd[i] = rd[i] = rn;
            sn += sc[i];
            rn += rc[i] + 1;
            st[i] = rt[i] = MPI_INT;
        }
        in = ints(sn);
        for (int b = 0; b < p; b++)
            for (int i = 0; i < sc[b]; i++)
                in[sd[b] + i] = pair_val(check_rank, b, i);
        out = ints(rn);
        MPI_Alltoallv(in, sc, sd, MPI_INT, out, rc, rd, MPI_INT, W);
        expect_pairs(out, rc, rd, "alltoallv");
        free(out);
        out = ints(rn);
        MPI_Alltoallv_c(in, lsc, lsd, MPI_INT, out, lrc, lrd, MPI_INT, W);
        expect_pairs(out, rc, rd, "alltoallv_c");
        free(out);
        out = ints(rn);
        for (int i = 0; i < p; i++) { /* w: displacements in bytes */
            sd[i] *= 4;
            rd[i] *= 4;
            lsd[i] *= 4;
            lrd[i] *= 4;
        }
        MPI_Alltoallw(in, sc, sd, st, out, rc, rd, rt, W);
        MPI_Alltoallw_c(in, lsc, lsd, st, out, lrc, lrd, rt, W);
        for (int i = 0; i < p; i++)
            rd[i] /= 4;
        expect_pairs(out, rc, rd, "alltoallw");
        free(out);
        if (symmetric) {
            for (int form = 0; form < 2; form++) {
                out = ints(rn);
                for (int b = 0; b < p; b++)
                    for (int i = 0; i < rc[b]; i++)
                        out[rd[b] + i] = pair_val(check_rank, b, i);
                if (form == 0)
                    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, rc, rd, MPI_INT, W);
                else
                    MPI_Alltoallw_c(MPI_IN_PLACE, NULL, NULL, NULL, out, lrc, lrd, rt, W);
                expect_pairs(out, rc, rd, form ? "alltoallw in place" : "alltoallv in place");
                free(out);
            }
        }
        free(in);
    }
}

/* Each pair in another type. */
static void test_alltoallw_types(void)
{
    int p = check_size, n = 3, sc[128], sd[128], rd[128], *in = ints(n * p), *out = ints(2 * n * p + 1);
    MPI_Datatype st[128], rt[128];
    for (int b = 0; b < p; b++) {
        sc[b] = n;
        sd[b] = 4 * n * b;
        rd[b] = 8 * n * b + (b % 2 ? 4 : 0);
        st[b] = MPI_INT;
        rt[b] = b % 2 ? low : gappy;
        for (int i = 0; i < n; i++)
            in[n * b + i] = pair_val(check_rank, b, i);
    }
    MPI_Alltoallw(in, sc, sd, st, out, sc, rd, rt, W);
    for (int i = 0; i < n * p; i++) {
        CHECK_EQ(out[2 * i], pair_val(i / n, check_rank, i % n), "alltoallw with types, element %d", i);
        CHECK_EQ(out[2 * i + 1], GUARD, "alltoallw with types, gap %d", i);
    }
    free(in);
    free(out);
}

/* ---- Reductions ---------------------------------------------------------------------------------------------- */

static struct affine *my_affines(int64_t n)
{
    return affines_of(check_rank, n);
}

static void test_reduce(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int q = 0; q < 3; q++)
            for (int place = 0; place < 2; place++) {
                int n = counts[k], root = some_root(q), last = check_size - 1, at_root = check_rank == root;
                int *in = filled(check_rank, n), *out = place && at_root ? filled(check_rank, n) : ints(n);
                struct affine *fin = my_affines(n), *fout = place && at_root ? my_affines(n) : affines(n);
                MPI_Reduce(place && at_root ? MPI_IN_PLACE : in, at_root ? out : NULL, n, MPI_INT, MPI_SUM,
                           root, W);
                MPI_Reduce(place && at_root ? MPI_IN_PLACE : fin, at_root ? fout : NULL, n, type_affine,
                           op_affine, root, W);
                if (at_root) {
                    expect_sum(out, n, 0, 0, last, "reduce");
                    expect_affine(fout, n, 0, 0, last, "reduce, not commutative");
                }
                expect_sum(in, n, 0, check_rank, check_rank, "input of reduce");
                free(in);
                free(out);
                free(fin);
                free(fout);
            }
}

static void test_allreduce(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int place = 0; place < 2; place++) {
            int n = counts[k], last = check_size - 1;
            int *in = filled(check_rank, n), *out = place ? filled(check_rank, n) : ints(n);
            struct affine *fin = my_affines(n), *fout = place ? my_affines(n) : affines(n);
            MPI_Allreduce(place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, W);
            MPI_Allreduce(place ? MPI_IN_PLACE : fin, fout, n, type_affine, op_affine, W);
            expect_sum(out, n, 0, 0, last, "allreduce");
            expect_affine(fout, n, 0, 0, last, "allreduce, not commutative");
            expect_sum(in, n, 0, check_rank, check_rank, "input of allreduce");
            free(in);
            free(out);
            free(fin);
            free(fout);
        }
}

/* Sums of doubles of very different size, and MAX with NaN: all ranks get the same bits. */
static void test_same_bits(void)
{
    for (int k = 1; k < NCOUNTS; k++) {
        int n = counts[k];
        double *x = malloc((size_t)n * sizeof *x),
               *all = malloc((size_t)n * (size_t)check_size * sizeof *all);
        for (int form = 0; form < 2; form++) {
            for (int i = 0; i < n; i++)
                x[i] = 1.0 / (1 + val(check_rank, i)) * (i % 3 ? 1e-9 : 1e9);
            if (form && check_rank == check_size / 2)
                x[n - 1] = 0.0 / (x[0] - x[0]);
            MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, form ? MPI_MAX : MPI_SUM, W);
            MPI_Allgather(x, n, MPI_DOUBLE, all, n, MPI_DOUBLE, W);
            for (int r = 0; r < check_size; r++)
                CHECK(!memcmp(x, all + (size_t)r * (size_t)n, (size_t)n * sizeof *x),
                      "allreduce of %d, form %d: rank %d has other bits", n, form, r);
        }
        free(x);
        free(all);
    }
}

static void test_scan(void)
{
    for (int k = 0; k < NCOUNTS; k++)
        for (int place = 0; place < 2; place++) {
            int n = counts[k];
            int *in = filled(check_rank, n), *out = place ? filled(check_rank, n) : ints(n);
            struct affine *fin = my_affines(n), *fout = place ? my_affines(n) : affines(n);
            MPI_Scan(place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, W);
            MPI_Scan(place ? MPI_IN_PLACE : fin, fout, n, type_affine, op_affine, W);
            expect_sum(out, n, 0, 0, check_rank, "scan");
            expect_affine(fout, n, 0, 0, check_rank, "scan, not commutative");
            free(out);
            free(fout);
            out = place ? filled(check_rank, n) : ints(n);
            fout = place ? my_affines(n) : affines(n);
            MPI_Exscan(place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, W);
            MPI_Exscan(place ? MPI_IN_PLACE : fin, fout, n, type_affine, op_affine, W);
            if (check_rank > 0) {
                expect_sum(out, n, 0, 0, check_rank - 1, "exscan");
                expect_affine(fout, n, 0, 0, check_rank - 1, "exscan, not commutative");
            } else if (n > 0) {
                CHECK_EQ(out[0], place ? in[0] : GUARD, "rank 0's buffer in exscan");
            }
            free(in);
            free(out);
            free(fin);
            free(fout);
        }
}

static void test_reduce_scatter_block(void)
{
    for (int k = 0; k < NCOUNTS - 1; k++)
        for (int place = 0; place < 2; place++) {
            int n = counts[k], p = check_size, all = n * p;
            int *in = filled(check_rank, all), *out = place ? filled(check_rank, all) : ints(n);
            struct affine *fin = my_affines(all), *fout = place ? my_affines(all) : affines(n);
            MPI_Reduce_scatter_block(place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, W);
            MPI_Reduce_scatter_block(place ? MPI_IN_PLACE : fin, fout, n, type_affine, op_affine, W);
            if (place) {
                out[n] = GUARD;
                fout[n].a = GUARD;
            }
            expect_sum(out, n, (int64_t)n * check_rank, 0, p - 1, "reduce_scatter_block");
            expect_affine(fout, n, (int64_t)n * check_rank, 0, p - 1,
                          "reduce_scatter_block, not commutative");
            free(in);
            free(out);
            free(fin);
            free(fout);
        }
}

static void test_reduce_scatter(void)
{
    int cnt[128];
    MPI_Count large[128];
    for (int shift = 0; shift < 6; shift++)
        for (int place = 0; place < 2; place++) {
            int p = check_size, all = 0, at = 0, n = ragged(check_rank, shift);
            for (int i = 0; i < p; i++) {
                at = i == check_rank ? all : at;
                large[i] = cnt[i] = ragged(i, shift);
                all += cnt[i];
            }
            int *in = filled(check_rank, all), *out = place ? filled(check_rank, all) : ints(n);
            struct affine *fin = my_affines(all), *fout = place ? my_affines(all) : affines(n);
            MPI_Reduce_scatter(place ? MPI_IN_PLACE : in, out, cnt, MPI_INT, MPI_SUM, W);
            MPI_Reduce_scatter_c(place ? MPI_IN_PLACE : fin, fout, large, type_affine, op_affine, W);
            if (place) {
                out[n] = GUARD;
                fout[n].a = GUARD;
            }
            expect_sum(out, n, at, 0, p - 1, "reduce_scatter");
            expect_affine(fout, n, at, 0, p - 1, "reduce_scatter, not commutative");
            free(in);
            free(out);
            free(fin);
            free(fout);
        }
}

static void test_reduce_types(void)
{
    MPI_Op op;
    int n = 40, *in = ints(2 * n + 1), *out = ints(2 * n + 1);
    MPI_Op_create(add_gappy, 1, &op);
    for (int i = 0; i < n; i++)
        in[2 * i] = val(check_rank, i);
    MPI_Allreduce(in + 1, out + 1, n, low, op, W);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[2 * i], summed(0, check_size - 1, i), "allreduce with gaps, element %d", i);
        CHECK_EQ(out[2 * i + 1], GUARD, "allreduce with gaps, gap %d", i);
    }
    MPI_Op_free(&op);
    free(in);
    free(out);
}

static void run_all(void)
{
    make_values();
    test_bcast();
    test_bcast_types();
    test_bcast_counts();
    test_gather();
    test_gather_types();
    test_scatter();
    test_scatter_types();
    test_vectors();
    test_vectors_large();
    test_allgather();
    test_alltoall();
    test_alltoallv();
    test_alltoallw_types();
    test_reduce();
    test_allreduce();
    test_same_bits();
    test_scan();
    test_reduce_scatter_block();
    test_reduce_scatter();
    test_reduce_types();
    free_values();
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    (void)MAKE_W();
    if (W != MPI_COMM_NULL) {
        int rank = check_rank, size = check_size;
        MPI_Comm_rank(W, &check_rank);
        MPI_Comm_size(W, &check_size);
        for (form = BLOCKING; form < FORMS; form++)
            run_all();
        check_rank = rank;
        check_size = size;
        (void)FREE_W();
    }
    return check_done();
}

#endif
