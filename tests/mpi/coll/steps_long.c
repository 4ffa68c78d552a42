/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on more data than fits a bench, step by step: many rounds, blocks of different lengths, an operation
 * that does not commute, types with gaps, in place; beside what one process computes. */
/* ranks: 2 3 5 8 */
/* env: KEEL_COLL=gather=pieces,scatter=pieces,allgather=pieces,allgatherv=pieces,alltoall=pieces,alltoallv=pieces,alltoallw=pieces,gatherv=pieces,scatterv=pieces,reduce=slices,allreduce=slices,reduce_scatter=slices */
#include "../check.h"

enum { N = 600011, BLOCK = 200003, GUARD = 0x5a5a5a5a };
static const MPI_Comm W = MPI_COMM_WORLD;

/* Affine functions of one number, modulo 2^16: what they do after each other depends on the order. */
struct affine {
    unsigned short times, plus;
};

static void after(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct affine *f = in;
    struct affine *g = inout;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (MPI_Aint i = 0, step = extent / (MPI_Aint)sizeof *f; i < *len; i++, f += step, g += step)
        *g = (struct affine){ (unsigned short)(f->times * g->times),
                              (unsigned short)(f->plus * g->times + g->plus) };
}

static struct affine value(int r, long i)
{
    return (struct affine){ (unsigned short)(2 * (r * 77 + i) + 1), (unsigned short)(i * 31 + r * 1009 + 5) };
}

static struct affine expected(long i)
{
    struct affine all = value(0, i);
    for (int r = 1; r < check_size; r++) {
        struct affine v = value(r, i);
        all = (struct affine){ (unsigned short)(all.times * v.times),
                               (unsigned short)(all.plus * v.times + v.plus) };
    }
    return all;
}

static int same(struct affine a, struct affine b)
{
    return a.times == b.times && a.plus == b.plus;
}

/* n results of the elements from `first` on, `step` apart. */
static void right(const struct affine *a, long first, long n, int step, const char *what)
{
    for (long i = 0; i < n; i++)
        if (!same(a[i * step], expected(first + i))) {
            CHECK(0, "%s: element %ld of %ld", what, i, n);
            return;
        }
}

static struct affine *operands(long n, int step)
{
    struct affine *a = malloc((size_t)(n * step) * sizeof *a);
    for (long i = 0; i < n * step; i++)
        a[i] = i % step ? (struct affine){ 7, 7 } : value(check_rank, i / step);
    return a;
}

static void gaps_kept(const struct affine *a, long n)
{
    for (long i = 0; i < n; i++)
        if (!same(a[2 * i + 1], (struct affine){ 7, 7 })) {
            CHECK(0, "gap %ld", i);
            return;
        }
}

static void reductions(MPI_Op op, MPI_Datatype type, int step)
{
    int root = check_size - 1, *lengths = malloc((size_t)check_size * sizeof(int));
    long at = 0, all = 0;
    struct affine *in = operands(N, step), *out = operands(N, step);
    MPI_Allreduce(in, out, N, type, op, W);
    right(out, 0, N, step, "allreduce");
    free(out);
    out = operands(N, step);
    MPI_Allreduce(MPI_IN_PLACE, out, N, type, op, W);
    right(out, 0, N, step, "allreduce in place");
    if (step == 2)
        gaps_kept(out, N);
    free(out);
    out = operands(N, step);
    MPI_Reduce(check_rank == root ? MPI_IN_PLACE : in, out, N, type, op, root, W);
    if (check_rank == root)
        right(out, 0, N, step, "reduce");
    for (int i = 0; i < check_size; i++) {
        lengths[i] = i == 1 ? 0 : i % 2 ? BLOCK / 3 : N / check_size / 2 + i;
        at += i < check_rank ? lengths[i] : 0;
        all += lengths[i];
    }
    free(out);
    out = operands(N, step);
    MPI_Reduce_scatter(in, out, lengths, type, op, W);
    right(out, at, lengths[check_rank], step, "reduce_scatter");
    free(out);
    out = operands(all, step);
    MPI_Reduce_scatter(MPI_IN_PLACE, out, lengths, type, op, W);
    right(out, at, lengths[check_rank], step, "reduce_scatter in place");
    free(in);
    free(out);
    free(lengths);
}

/* ---- What moves data ---- */

static int number(int from, int to, long i)
{
    return from * 1000003 + to * 10007 + (int)i;
}

static int *blocks(int n, int fill)
{
    int *a = malloc((size_t)BLOCK * (size_t)n * sizeof *a);
    for (long i = 0; i < (long)BLOCK * n; i++)
        a[i] = fill ? number(check_rank, (int)(i / BLOCK), i % BLOCK) : GUARD;
    return a;
}

static void from_to(const int *a, int from, int to, const char *what)
{
    for (long i = 0; i < BLOCK; i++)
        if (a[i] != number(from, to, i)) {
            CHECK_EQ(a[i], number(from, to, i), "%s: from %d to %d, %ld", what, from, to, i);
            return;
        }
}

static void moves(void)
{
    int p = check_size, root = p / 2, *out = blocks(p, 1), *in = blocks(p, 0);
    MPI_Alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, W);
    for (int r = 0; r < p; r++)
        from_to(in + (long)r * BLOCK, r, check_rank, "alltoall");
    memcpy(in, out, (size_t)p * BLOCK * sizeof *in);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, BLOCK, MPI_INT, W);
    for (int r = 0; r < p; r++)
        from_to(in + (long)r * BLOCK, r, check_rank, "alltoall in place");
    MPI_Allgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, W);
    for (int r = 0; r < p; r++)
        from_to(in + (long)r * BLOCK, r, 0, "allgather");
    MPI_Gather(out + BLOCK, BLOCK, MPI_INT, in, BLOCK, MPI_INT, root, W);
    for (int r = 0; r < p && check_rank == root; r++)
        from_to(in + (long)r * BLOCK, r, 1, "gather");
    MPI_Scatter(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, root, W);
    from_to(in, root, check_rank, "scatter");
    free(in);
    free(out);
}

/* Blocks of different lengths, in a type with gaps on every second process. */
static void allgatherv(MPI_Datatype gappy)
{
    int p = check_size, step = check_rank % 2 ? 2 : 1, *lengths = malloc((size_t)p * sizeof(int)),
        *places = malloc((size_t)p * sizeof(int)), all = 0, *mine = blocks(2, 1);
    for (int i = 0; i < p; i++) {
        lengths[i] = i == 1 ? 0 : BLOCK / (i + 1);
        places[i] = all + 5 * (i + 1);
        all = places[i] + lengths[i];
    }
    int *in = malloc((size_t)(all + 1) * (size_t)step * sizeof *in);
    MPI_Allgatherv(mine, lengths[check_rank], MPI_INT, in, lengths, places, step == 2 ? gappy : MPI_INT, W);
    for (int r = 0; r < p; r++)
        for (int i = 0; i < lengths[r]; i += 97)
            CHECK_EQ(in[(long)(places[r] + i) * step], number(r, 0, i), "allgatherv: from %d, %d", r, i);
    free(lengths);
    free(places);
    free(mine);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Datatype pair, gappy;
    check_init(&argc, &argv);
    MPI_Op_create(after, 0, &op);
    MPI_Type_contiguous(2, MPI_UNSIGNED_SHORT, &pair);
    MPI_Type_create_resized(pair, 0, 8, &gappy);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&gappy);
    reductions(op, pair, 1);
    reductions(op, gappy, 2);
    moves();
    MPI_Type_free(&gappy);
    MPI_Type_create_resized(MPI_INT, 0, 8, &gappy);
    MPI_Type_commit(&gappy);
    allgatherv(gappy);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Type_free(&gappy);
    return check_done();
}
