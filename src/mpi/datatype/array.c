/* SPDX-License-Identifier: BSD-3-Clause */
/* array.c: MPI_Type_create_subarray and MPI_Type_create_darray (MPI 5.0, 6.1.3 and 6.1.4).
 *
 * Both go through the dimensions from the fastest to the slowest; after each, the type is one line (plane, ...) of the
 * whole array with this process's part in it, and its extent is that line's. */
#include "type.h"
#include "mpi_err.h"
#include "construct.h"
#include "bodies.h"

/* One dimension of a whole array of `size` elements and the part of it that is described: runs of `run` elements that
 * begin at `start` and every `period` from there, the last of them `last` long; `runs` in all. */
struct dimension {
    int64_t size, start, runs, run, period, last;
};

static int too_large(const char *arg, int dim, int64_t size, int64_t extent)
{
    return MPIR_Err(
        MPI_ERR_TYPE, arg,
        "has %lld in dimension %d, where an element spans %lld bytes; expected less than 2^63 bytes",
        (long long)size, dim, (long long)extent);
}

/* *line becomes the part of one line made of `old`; *line is new on success. */
static int add_runs(struct MPIR_DATATYPE *line, const struct MPIR_DATATYPE *old, const struct dimension *d)
{
    const MPIR_Counts none = { NULL, 0 };
    int64_t full = d->last == d->run ? d->runs : d->runs - 1, start = d->start;
    if (d->runs <= 1)
        return MPID_Type_hindexed(line, d->runs, none, d->last, (MPIR_Counts){ &start, 1 }, old->extent, old);
    /* old's extent times the size fits, so all below does */
    struct MPIR_DATATYPE runs = { 0 };
    int err = MPID_Type_hvector(&runs, full, d->run, d->period * old->extent, old);
    if (err)
        return err;
    struct MPIR_DATATYPE *const types[2] = { &runs, (struct MPIR_DATATYPE *)old };
    const int64_t lengths[2] = { 1, full < d->runs ? d->last : 0 };
    const int64_t at[2] = { d->start * old->extent, (d->start + full * d->period) * old->extent };
    err = MPID_Type_struct(line, 2, (MPIR_Counts){ lengths, 1 }, (MPIR_Counts){ at, 1 }, types);
    MPID_Type_fini(&runs);
    return err;
}

/* *t becomes the next dimension of what it is. */
static int add_dimension(struct MPIR_DATATYPE *t, const struct dimension *d, const char *arg, int index)
{
    struct MPIR_DATATYPE part = { 0 }, whole = { 0 };
    int64_t extent;
    if (__builtin_mul_overflow(d->size, t->extent, &extent))
        return too_large(arg, index, d->size, t->extent);
    int err = add_runs(&part, t, d);
    if (err)
        return err;
    err = MPID_Type_resized(&whole, 0, extent, &part);
    MPID_Type_fini(&part);
    if (err)
        return err;
    whole.obj = t->obj;
    MPID_Type_fini(t);
    *t = whole;
    return MPI_SUCCESS;
}

/* Which dimension is the n-th from the fastest. */
static int nth(int n, int ndims, int order)
{
    return order == MPI_ORDER_C ? ndims - 1 - n : n;
}

static int check_order(int order)
{
    if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN)
        return MPI_SUCCESS;
    return MPIR_Err(MPI_ERR_ARG, "order", "is %d; expected MPI_ORDER_C (%d) or MPI_ORDER_FORTRAN (%d)", order,
                    MPI_ORDER_C, MPI_ORDER_FORTRAN);
}

static int check_ndims(int ndims, int least)
{
    return ndims >= least ? MPI_SUCCESS
                          : MPIR_Err(MPI_ERR_ARG, "ndims", "is %d; expected at least %d", ndims, least);
}

/* array[i] is x, which must lie between lo and hi. */
static int bad_entry(const char *array, int i, int64_t x, int64_t lo, int64_t hi)
{
    return MPIR_Err(MPI_ERR_ARG, array, "has %lld at index %d; expected %lld to %lld", (long long)x, i,
                    (long long)lo, (long long)hi);
}

static int bad_positive(const char *array, int i, int64_t x)
{
    return MPIR_Err(MPI_ERR_ARG, array, "has %lld at index %d; expected at least 1", (long long)x, i);
}

/* ---- subarrays ---- */

static int check_subarray(int ndims, MPIR_Counts sizes, MPIR_Counts subsizes, MPIR_Counts starts)
{
    for (int i = 0; i < ndims; i++) {
        int64_t size = MPIR_counts_get(sizes, i), sub = MPIR_counts_get(subsizes, i),
                start = MPIR_counts_get(starts, i);
        if (size < 1)
            return bad_positive("array_of_sizes", i, size);
        if (sub < 1 || sub > size)
            return bad_entry("array_of_subsizes", i, sub, 1, size);
        if (start < 0 || start > size - sub)
            return bad_entry("array_of_starts", i, start, 0, size - sub);
    }
    return MPI_SUCCESS;
}

/* An array of no dimensions has one element. */
int MPIR_Type_create_subarray(int ndims, MPIR_Counts array_of_sizes, MPIR_Counts array_of_subsizes,
                              MPIR_Counts array_of_starts, int order, MPIR_Datatype *oldtype,
                              MPIR_Datatype **newtype, bool large)
{
    const struct arg args[] = { ARG(INT, ndims), ARG_ARRAY(COUNT, ndims, array_of_sizes),
                                ARG_ARRAY(COUNT, ndims, array_of_subsizes),
                                ARG_ARRAY(COUNT, ndims, array_of_starts), ARG(INT, order) };
    MPIR_Datatype *t;
    int err;
    if ((err = check_ndims(ndims, 0)) || (err = check_order(order)) ||
        (err = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_SUBARRAY,
                                                     .large = large,
                                                     .nargs = 5,
                                                     .args = args,
                                                     .ntypes = 1,
                                                     .types = &oldtype },
                                 &t)))
        return err;
    err = check_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts);
    if (!err)
        err = MPID_Type_dup(&t->adi, &oldtype->adi);
    for (int n = 0; n < ndims && !err; n++) {
        int i = nth(n, ndims, order);
        int64_t run = MPIR_counts_get(array_of_subsizes, i);
        err = add_dimension(&t->adi,
                            &(struct dimension){ .size = MPIR_counts_get(array_of_sizes, i),
                                                 .start = MPIR_counts_get(array_of_starts, i),
                                                 .runs = 1,
                                                 .run = run,
                                                 .last = run },
                            "array_of_sizes", i);
    }
    return MPIR_Datatype_made(t, err, newtype);
}

/* ---- distributed arrays ---- */

/* How an array is distributed. */
struct grid {
    int size, rank, ndims;
    MPIR_Counts gsizes;
    const int *distribs, *dargs, *psizes;
};

static int check_distribution(const struct grid *g, int i)
{
    int64_t gsize = MPIR_counts_get(g->gsizes, i);
    int darg = g->dargs[i], psize = g->psizes[i];
    switch (g->distribs[i]) {
    case MPI_DISTRIBUTE_NONE:
        return MPI_SUCCESS;
    case MPI_DISTRIBUTE_BLOCK:
    case MPI_DISTRIBUTE_CYCLIC:
        break;
    default:
        return MPIR_Err(
            MPI_ERR_ARG, "array_of_distribs",
            "has %d at index %d; expected MPI_DISTRIBUTE_BLOCK (%d), MPI_DISTRIBUTE_CYCLIC (%d) or "
            "MPI_DISTRIBUTE_NONE (%d)",
            g->distribs[i], i, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE);
    }
    if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        return MPI_SUCCESS;
    if (darg < 1)
        return MPIR_Err(MPI_ERR_ARG, "array_of_dargs",
                        "has %d at index %d; expected at least 1, or MPI_DISTRIBUTE_DFLT_DARG", darg, i);
    if (g->distribs[i] == MPI_DISTRIBUTE_BLOCK && (int64_t)darg * psize < gsize)
        return MPIR_Err(
            MPI_ERR_ARG, "array_of_dargs",
            "has %d at index %d: blocks for %lld elements on %d processes; expected enough for all "
            "%lld elements",
            darg, i, (long long)darg * psize, psize, (long long)gsize);
    return MPI_SUCCESS;
}

static int check_grid(const struct grid *g)
{
    int64_t processes = 1;
    int err = MPI_SUCCESS;
    if (g->size < 1)
        return MPIR_Err(MPI_ERR_ARG, "size", "is %d; expected at least 1", g->size);
    if (g->rank < 0 || g->rank >= g->size)
        return MPIR_Err(MPI_ERR_ARG, "rank", "is %d; expected 0 to %d", g->rank, g->size - 1);
    for (int i = 0; i < g->ndims && !err; i++) {
        if (MPIR_counts_get(g->gsizes, i) < 1)
            return bad_positive("array_of_gsizes", i, MPIR_counts_get(g->gsizes, i));
        if (g->psizes[i] < 1)
            return bad_positive("array_of_psizes", i, g->psizes[i]);
        if (__builtin_mul_overflow(processes, g->psizes[i], &processes))
            processes = INT64_MAX / 2; /* no int is as large, whatever follows */
        err = check_distribution(g, i);
    }
    if (!err && processes != g->size)
        return MPIR_Err(MPI_ERR_ARG, "array_of_psizes", "multiply to %lld; expected %d, the size",
                        (long long)processes, g->size);
    return err;
}

/* The part of dimension i of the process at coordinate `r` of it: the standard's cyclic(). */
static struct dimension part_of(const struct grid *g, int i, int64_t r)
{
    int64_t gsize = MPIR_counts_get(g->gsizes, i), psize = g->psizes[i], darg = g->dargs[i];
    if (g->distribs[i] == MPI_DISTRIBUTE_NONE)
        darg = gsize;
    else if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        darg = g->distribs[i] == MPI_DISTRIBUTE_BLOCK ? (gsize - 1) / psize + 1 : 1;
    if (darg > gsize)
        darg = gsize; /* the same blocks; and darg * psize cannot overflow then, if a second block exists */
    int64_t blocks = (gsize - 1) / darg + 1, tail = gsize - (blocks - 1) * darg;
    struct dimension d = { .size = gsize, .run = darg, .last = darg };
    d.runs = blocks / psize + (r < blocks % psize);
    if (d.runs == 0)
        return d;
    d.start = r * darg;
    d.period = d.runs > 1 ? psize * darg : 0;
    if ((blocks - 1) % psize == r)
        d.last = tail;
    return d;
}

int MPIR_Type_create_darray(int size, int rank, int ndims, MPIR_Counts array_of_gsizes,
                            const int *array_of_distribs, const int *array_of_dargs,
                            const int *array_of_psizes, int order, MPIR_Datatype *oldtype,
                            MPIR_Datatype **newtype, bool large)
{
    const MPIR_Counts distribs = { array_of_distribs, 0 }, dargs = { array_of_dargs, 0 },
                      psizes = { array_of_psizes, 0 };
    const struct arg args[] = { ARG(INT, size),
                                ARG(INT, rank),
                                ARG(INT, ndims),
                                ARG_ARRAY(COUNT, ndims, array_of_gsizes),
                                { ARG_INT, "array_of_distribs", 0, ndims, distribs },
                                { ARG_INT, "array_of_dargs", 0, ndims, dargs },
                                { ARG_INT, "array_of_psizes", 0, ndims, psizes },
                                ARG(INT, order) };
    const struct grid g = { size,           rank,           ndims, array_of_gsizes, array_of_distribs,
                            array_of_dargs, array_of_psizes };
    MPIR_Datatype *t;
    int err;
    if ((err = check_ndims(ndims, 1)) || (err = check_order(order)) ||
        (err = MPIR_Datatype_new(&(struct contents){ .combiner = MPI_COMBINER_DARRAY,
                                                     .large = large,
                                                     .nargs = 8,
                                                     .args = args,
                                                     .ntypes = 1,
                                                     .types = &oldtype },
                                 &t)))
        return err;
    err = check_grid(&g);
    if (!err)
        err = MPID_Type_dup(&t->adi, &oldtype->adi);
    for (int n = 0; n < ndims && !err; n++) {
        int i = nth(n, ndims, order), before = rank, r = 0;
        for (int k = 0, left = size; k <= i; k++) { /* row-major coordinates in the grid, in either order */
            left /= array_of_psizes[k];
            r = before / left;
            before %= left;
        }
        struct dimension d = part_of(&g, i, r);
        err = add_dimension(&t->adi, &d, "array_of_gsizes", i);
    }
    return MPIR_Datatype_made(t, err, newtype);
}
