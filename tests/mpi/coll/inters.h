/* SPDX-License-Identifier: BSD-3-Clause */
/* inters.h: every collective on intercommunicators between groups of all sorts of sizes, in all forms; included by
 * programs that force other algorithms (KEEL_COLL). */
#ifndef INTERS_H
#define INTERS_H

#include "values.h"

static MPI_Comm half, inter;
static int side, n, m, rank; /* this process's group, 0 or 1; its size and the other's; the rank in it */

/* The number by which a process is known to val. */
static int id(int s, int r)
{
    return 40 * s + r;
}

static int me(void)
{
    return id(side, rank);
}

static int remote(int r)
{
    return id(!side, r);
}

enum group_way { FIRST_ONES, LAST_ONE, ODD_ONES, THIRD, WAYS };

/* Which group a process is in. */
static int side_of(enum group_way way, int r)
{
    switch (way) {
    case FIRST_ONES:
        return r >= (check_size + 1) / 2;
    case LAST_ONE:
        return r != check_size - 1;
    case ODD_ONES:
        return r % 2;
    default:
        return r >= (check_size + 2) / 3;
    }
}

static void make_groups(enum group_way way)
{
    int other = 0;
    side = side_of(way, check_rank);
    while (side_of(way, other) == side)
        other++;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 3, &inter);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &m);
    MPI_Comm_rank(inter, &rank);
}

static void free_groups(void)
{
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* What this process gives as the root, if the root is rank r of group s. */
static int root_arg(int s, int r)
{
    return side != s ? r : rank == r ? MPI_ROOT : MPI_PROC_NULL;
}

/* Elements 0 .. len - 1 at `step` ints from each other are those of rank r; what is between is as it was. */
static void expect_values(const int *out, int64_t len, int step, int r, const char *what)
{
    for (int64_t i = 0; i < len; i++)
        if (out[i * step] != val(r, i) || (step > 1 && out[i * step + 1] != GUARD)) {
            CHECK_EQ(out[i * step], val(r, i), "%s of %lld, element %lld of %d", what, (long long)len,
                     (long long)i, r);
            CHECK(step == 1 || out[i * step + 1] == GUARD, "%s: a gap", what);
            return;
        }
}

/* ---- Barrier ------------------------------------------------------------------------------------------------- */

/* Nobody is through before the last of the other group has come. */
static void test_barrier(int late)
{
    double came = 0, through, last;
    MPI_Barrier(MPI_COMM_WORLD);
    if (side == late && rank == n - 1) {
        for (double t = MPI_Wtime(); MPI_Wtime() < t + 0.002;)
            ;
        came = MPI_Wtime();
    }
    MPI_Barrier(inter);
    through = MPI_Wtime();
    MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (side != late)
        CHECK(through >= last, "through %g s too early", last - through);
}

/* ---- From and to a root -------------------------------------------------------------------------------------- */

/* Each process with a type of its own: ints in a row, with gaps, and from before the buffer. */
static MPI_Datatype own_type(int *step, int *shift)
{
    int which = (rank + side) % 3;
    *step = which ? 2 : 1;
    *shift = which == 2;
    return which == 0 ? MPI_INT : which == 1 ? gappy : low;
}

static void bcast(int s, int r, int len)
{
    int step, shift, root = root_arg(s, r), *b = ints(2 * len + 1);
    MPI_Datatype type = own_type(&step, &shift);
    for (int i = 0; root == MPI_ROOT && i < len; i++)
        b[i * step] = val(id(s, r), i);
    if (root == MPI_PROC_NULL)
        MPI_Bcast(NULL, -1, MPI_DATATYPE_NULL, root, inter);
    else
        MPI_Bcast(b + shift, len, type, root, inter);
    if (root >= 0)
        expect_values(b, len, step, id(s, r), "bcast");
    CHECK_EQ(b[2 * len + 1], GUARD, "bcast");
    CHECK(side != s || root == MPI_ROOT || b[0] == GUARD, "bcast wrote in the root's group");
    free(b);
}

static void gather(int s, int r, int len)
{
    int step, shift, root = root_arg(s, r), all = m * len;
    MPI_Datatype type = own_type(&step, &shift);
    int *in = ints(2 * len), *out = ints(2 * all + 1);
    for (int i = 0; i < len; i++)
        in[i * step] = val(me(), i);
    if (root == MPI_ROOT)
        MPI_Gather(NULL, -1, MPI_DATATYPE_NULL, out + 1, len, low, root, inter);
    else
        MPI_Gather(root >= 0 ? in + shift : NULL, root >= 0 ? len : -1, root >= 0 ? type : MPI_DATATYPE_NULL,
                   NULL, -1, MPI_DATATYPE_NULL, root, inter);
    for (int j = 0; root == MPI_ROOT && j < m; j++)
        expect_values(out + 2 * j * len, len, 2, remote(j), "gather");
    CHECK_EQ(out[2 * all + 1], GUARD, "gather");
    free(in);
    free(out);
}

static void scatter(int s, int r, int len)
{
    int step, shift, root = root_arg(s, r);
    MPI_Datatype type = own_type(&step, &shift);
    int *in = ints(2 * m * len), *out = ints(2 * len + 1);
    for (int i = 0; i < m * len; i++)
        in[2 * i] = val(remote(i / (len ? len : 1)), i % (len ? len : 1));
    if (root == MPI_ROOT)
        MPI_Scatter(in, len, gappy, NULL, -1, MPI_DATATYPE_NULL, root, inter);
    else
        MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, root >= 0 ? out + shift : NULL, root >= 0 ? len : -1,
                    root >= 0 ? type : MPI_DATATYPE_NULL, root, inter);
    if (root >= 0)
        expect_values(out, len, step, me(), "scatter");
    CHECK_EQ(out[2 * len + 1], GUARD, "scatter");
    free(in);
    free(out);
}

/* Rank r of a group has so many elements: some none. */
static int ragged(int r, int shift)
{
    return (r * 7 + shift) % 5 * (shift > 3 ? 300 : 1);
}

/* Blocks of the p ranks of group s, with two elements between them; returns where the last ends. */
static int layout(int p, int s, int shift, int *cnt, int *dsp)
{
    int at = 1;
    for (int i = 0; i < p; i++) {
        cnt[i] = ragged(i + s, shift);
        dsp[i] = at;
        at += cnt[i] + 2;
    }
    return at;
}

static void vectors(int s, int r, int shift)
{
    int cnt[64], dsp[64], len = ragged(rank + side, shift), root = root_arg(s, r);
    int all = layout(m, !side, shift, cnt, dsp), *in = filled(me(), len), *out = ints(all), *back = ints(len);
    MPI_Gatherv(in, len, MPI_INT, out, cnt, dsp, MPI_INT, root, inter);
    for (int j = 0; root == MPI_ROOT && j < m; j++) {
        expect_values(out + dsp[j], cnt[j], 1, remote(j), "gatherv");
        CHECK_EQ(out[dsp[j] + cnt[j]], GUARD, "gatherv");
    }
    MPI_Scatterv(out, cnt, dsp, MPI_INT, back, len, MPI_INT, root, inter);
    if (root >= 0)
        expect_values(back, len, 1, me(), "scatterv");
    CHECK(root >= 0 || back[0] == GUARD, "scatterv wrote in the root's group");
    CHECK_EQ(back[len], GUARD, "scatterv");
    free(in);
    free(out);
    free(back);
}

static void reduce(int s, int r, int len)
{
    int root = root_arg(s, r), first = remote(0), last = remote(m - 1), *in = filled(me(), len),
        *out = ints(len);
    struct affine *fin = affines_of(me(), len), *fout = affines(len);
    if (root == MPI_PROC_NULL) {
        MPI_Reduce(NULL, NULL, -1, MPI_DATATYPE_NULL, MPI_OP_NULL, root, inter);
        MPI_Reduce(NULL, NULL, -1, MPI_DATATYPE_NULL, MPI_OP_NULL, root, inter);
    } else {
        MPI_Reduce(root >= 0 ? in : NULL, root >= 0 ? NULL : out, len, MPI_INT, MPI_SUM, root, inter);
        MPI_Reduce(root >= 0 ? fin : NULL, root >= 0 ? NULL : fout, len, type_affine, op_affine, root, inter);
    }
    if (root == MPI_ROOT) {
        expect_sum(out, len, 0, first, last, "reduce");
        expect_affine(fout, len, 0, first, last, "reduce, not commutative");
    }
    expect_sum(in, len, 0, me(), me(), "input of reduce");
    free(in);
    free(out);
    free(fin);
    free(fout);
}

static void test_rooted(void)
{
    for (int s = 0; s < 2; s++) {
        int p = side == s ? n : m;
        for (int r = 0; r<p; r += p> 1 ? p - 1 : 1) {
            for (int k = 0; k < NCOUNTS; k++) {
                bcast(s, r, counts[k]);
                gather(s, r, counts[k] > 500 ? 1300 : counts[k]);
                scatter(s, r, counts[k] > 500 ? 1300 : counts[k]);
                reduce(s, r, counts[k]);
            }
            for (int shift = 0; shift < 6; shift++)
                vectors(s, r, shift);
        }
    }
}

/* ---- All to all ---------------------------------------------------------------------------------------------- */

/* How many elements a process of group s gives: it need not be as many as in the other group. */
static int len_of(int s, int len, int way)
{
    return way == 0 ? len : way == 1 ? (s ? 2 * len : len) : s == way - 2 ? len : 0;
}

static void allgather(int len, int way)
{
    int step, shift, mine = len_of(side, len, way), theirs = len_of(!side, len, way);
    MPI_Datatype type = own_type(&step, &shift);
    int *in = filled(me(), mine), *out = ints(2 * m * theirs + 1);
    MPI_Allgather(in, mine, MPI_INT, out + shift, theirs, type, inter);
    for (int j = 0; j < m; j++)
        expect_values(out + j * theirs * step, theirs, step, remote(j), "allgather");
    CHECK_EQ(out[2 * m * theirs + 1], GUARD, "allgather");
    free(in);
    free(out);
}

static void allgatherv(int shift)
{
    int cnt[64], dsp[64], len = ragged(rank + side, shift), all = layout(m, !side, shift, cnt, dsp);
    int *in = filled(me(), len), *out = ints(all);
    MPI_Allgatherv(in, len, MPI_INT, out, cnt, dsp, MPI_INT, inter);
    for (int j = 0; j < m; j++) {
        expect_values(out + dsp[j], cnt[j], 1, remote(j), "allgatherv");
        CHECK_EQ(out[dsp[j] + cnt[j]], GUARD, "allgatherv");
    }
    free(in);
    free(out);
}

static void alltoall(int len, int way)
{
    int mine = len_of(side, len, way), theirs = len_of(!side, len, way);
    int *in = ints(m * mine), *out = ints(2 * m * theirs + 1);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < mine; i++)
            in[j * mine + i] = pair_val(me(), remote(j), i);
    MPI_Alltoall(in, mine, MPI_INT, out + 1, theirs, low, inter);
    for (int i = 0; i < m * theirs; i++)
        if (out[2 * i] != pair_val(remote(i / theirs), me(), i % theirs) || out[2 * i + 1] != GUARD) {
            CHECK(0, "alltoall of %d, element %d from %d", theirs, i % theirs, i / theirs);
            break;
        }
    CHECK_EQ(out[2 * m * theirs + 1], GUARD, "alltoall");
    free(in);
    free(out);
}

/* Elements from process a to b: none for a third of the pairs. */
static int pair_len(int a, int b)
{
    int x = a * 5 + b * 3;
    return x % 3 == 0 ? 0 : x % 11 * (x % 2 ? 1 : 100);
}

static void alltoallv(void)
{
    int sc[64], sd[64], rc[64], rd[64], sn = 0, rn = 0, *in, *out;
    MPI_Count lc[64];
    MPI_Aint ld[64];
    MPI_Datatype st[64], rt[64];
    for (int j = 0; j < m; j++) {
        sc[j] = pair_len(me(), remote(j));
        lc[j] = rc[j] = pair_len(remote(j), me());
        sd[j] = sn;
        rd[j] = rn;
        sn += sc[j];
        rn += 2 * rc[j] + 2;
    }
    in = ints(sn);
    out = ints(rn);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < sc[j]; i++)
            in[sd[j] + i] = pair_val(me(), remote(j), i);
    MPI_Alltoallv(in, sc, sd, MPI_INT, out, rc, rd, MPI_INT, inter);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < rc[j]; i++)
            CHECK_EQ(out[rd[j] + i], pair_val(remote(j), me(), i), "alltoallv from %d", j);
        CHECK_EQ(out[rd[j] + rc[j]], GUARD, "alltoallv");
    }
    free(out);
    out = ints(rn);
    for (int j = 0; j < m; j++) { /* displacements in bytes; each pair in another type */
        sd[j] *= 4;
        ld[j] = 4 * rd[j] + (j % 2 ? 4 : 0);
        st[j] = MPI_INT;
        rt[j] = j % 2 ? low : gappy;
    }
    if (form == BLOCKING) {
        MPI_Count lsc[64];
        MPI_Aint lsd[64];
        for (int j = 0; j < m; j++) {
            lsc[j] = sc[j];
            lsd[j] = sd[j];
        }
        MPI_Alltoallw_c(in, lsc, lsd, st, out, lc, ld, rt, inter);
    } else {
        int d[64];
        for (int j = 0; j < m; j++)
            d[j] = (int)ld[j];
        MPI_Alltoallw(in, sc, sd, st, out, rc, d, rt, inter);
    }
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < rc[j]; i++)
            CHECK_EQ(out[rd[j] + 2 * i], pair_val(remote(j), me(), i), "alltoallw from %d", j);
        CHECK_EQ(out[rd[j] + 2 * rc[j] + 1], GUARD, "alltoallw");
    }
    free(in);
    free(out);
}

static void allreduce(int len)
{
    int first = remote(0), last = remote(m - 1), *in = filled(me(), len), *out = ints(len);
    struct affine *fin = affines_of(me(), len), *fout = affines(len);
    MPI_Allreduce(in, out, len, MPI_INT, MPI_SUM, inter);
    MPI_Allreduce_c(fin, fout, len, type_affine, op_affine, inter);
    expect_sum(out, len, 0, first, last, "allreduce");
    expect_affine(fout, len, 0, first, last, "allreduce, not commutative");
    expect_sum(in, len, 0, me(), me(), "input of allreduce");
    free(in);
    free(out);
    free(fin);
    free(fout);
}

/* Sums of very different size, and a NaN: all of a group get the same bits. */
static void same_bits(int len)
{
    double *x = malloc((size_t)len * sizeof *x), *y = malloc((size_t)len * sizeof *x);
    double *all = malloc((size_t)len * (size_t)n * sizeof *all);
    for (int i = 0; i < len; i++)
        x[i] = 1.0 / (1 + val(me(), i)) * (i % 3 ? 1e-9 : 1e9);
    if (rank == n / 2)
        x[len - 1] = 0.0 / (x[0] - x[0]);
    MPI_Allreduce(x, y, len, MPI_DOUBLE, MPI_SUM, inter);
    MPI_Allgather(y, len, MPI_DOUBLE, all, len, MPI_DOUBLE, half);
    for (int r = 0; r < n; r++)
        CHECK(!memcmp(y, all + (size_t)r * (size_t)len, (size_t)len * sizeof *y),
              "allreduce of %d: rank %d has other bits", len, r);
    free(x);
    free(y);
    free(all);
}

/* Both groups have n * m * each elements in all. */
static void reduce_scatter_block(int each)
{
    int all = n * m * each, len = m * each, first = remote(0), last = remote(m - 1);
    int *in = filled(me(), all), *out = ints(len);
    struct affine *fin = affines_of(me(), all), *fout = affines(len);
    MPI_Reduce_scatter_block(in, out, len, MPI_INT, MPI_SUM, inter);
    MPI_Reduce_scatter_block(fin, fout, len, type_affine, op_affine, inter);
    expect_sum(out, len, (int64_t)len * rank, first, last, "reduce_scatter_block");
    expect_affine(fout, len, (int64_t)len * rank, first, last, "reduce_scatter_block, not commutative");
    free(in);
    free(out);
    free(fin);
    free(fout);
}

/* In each group another division of the same vector. */
static void reduce_scatter(int all)
{
    int cnt[64], left = all, at = 0, first = remote(0), last = remote(m - 1), *in = filled(me(), all), *out;
    MPI_Count large[64];
    for (int i = 0; i < n; i++) {
        cnt[i] = i == n - 1 ? left : (left * (i + 2 * side)) % 7 * left / 8;
        at += i < rank ? cnt[i] : 0;
        left -= cnt[i];
        large[i] = cnt[i];
    }
    struct affine *fin = affines_of(me(), all), *fout = affines(cnt[rank]);
    out = ints(cnt[rank]);
    MPI_Reduce_scatter(in, out, cnt, MPI_INT, MPI_SUM, inter);
    MPI_Reduce_scatter_c(fin, fout, large, type_affine, op_affine, inter);
    expect_sum(out, cnt[rank], at, first, last, "reduce_scatter");
    expect_affine(fout, cnt[rank], at, first, last, "reduce_scatter, not commutative");
    free(in);
    free(out);
    free(fin);
    free(fout);
}

/* A user operation on a type that begins before its buffer: gaps are not touched. */
static void reduce_types(void)
{
    MPI_Op op;
    int len = 40, *in = ints(2 * len + 1), *out = ints(2 * len + 1);
    MPI_Op_create(add_gappy, 1, &op);
    for (int i = 0; i < len; i++)
        in[2 * i] = val(me(), i);
    MPI_Allreduce(in + 1, out + 1, len, low, op, inter);
    for (int i = 0; i < len; i++) {
        CHECK_EQ(out[2 * i], summed(remote(0), remote(m - 1), i), "allreduce with gaps, element %d", i);
        CHECK_EQ(out[2 * i + 1], GUARD, "allreduce with gaps, gap %d", i);
    }
    MPI_Op_free(&op);
    free(in);
    free(out);
}

static void test_all(void)
{
    static const int lens[] = { 0, 1, 17, 1300 };
    for (int k = 0; k < 4; k++)
        for (int way = 0; way < 4; way++) {
            allgather(lens[k], way);
            alltoall(lens[k], way);
        }
    for (int shift = 0; shift < 6; shift++)
        allgatherv(shift);
    alltoallv();
    for (int k = 0; k < NCOUNTS; k++) {
        allreduce(counts[k]);
        reduce_scatter(counts[k]);
    }
    for (int each = 0; each < 3; each++)
        reduce_scatter_block(10 * each);
    same_bits(1);
    same_bits(1000);
    reduce_types();
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    make_values();
    for (int way = 0; way < WAYS; way++) {
        make_groups((enum group_way)way);
        for (form = BLOCKING; form < FORMS; form++) {
            test_barrier(0);
            test_barrier(1);
            test_rooted();
            test_all();
        }
        free_groups();
    }
    free_values();
    return check_done();
}

#endif
