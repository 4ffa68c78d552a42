/* SPDX-License-Identifier: BSD-3-Clause */
/* cart.c: Cartesian topologies.  Ranks are numbered in row-major order: the last coordinate varies fastest. */
#include "topo.h"
#include "process_topology.h"
#include <stdlib.h>
#include "bodies.h"
#include "remap.h"

/* ---- Grids as arguments ---------------------------------------------------------------------------------------- */

/* Can comm's group be such a grid?  Of *cells processes then: none where a dimension is 0. */
static int check_grid(const MPIR_Comm *comm, int ndims, const int *dims, const int *periods, int32_t *cells)
{
    int64_t product = 1;
    int err;
    if (ndims < 0)
        return MPIR_Err(MPI_ERR_DIMS, "ndims", "is %d; expected at least 0", ndims);
    if ((err = MPIR_Topo_check_array(dims, ndims, "dims")) ||
        (err = MPIR_Topo_check_array(periods, ndims, "periods")))
        return err;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return MPIR_Err(MPI_ERR_DIMS, "dims", "has %d at index %d; expected at least 0", dims[i], i);
        if (product <= comm->adi.size || dims[i] == 0)
            product *= dims[i];
    }
    if (product > comm->adi.size)
        return MPIR_Err(MPI_ERR_DIMS, "dims",
                        "make a grid of %lld processes or more; expected at most the %d of the communicator",
                        (long long)product, comm->adi.size);
    *cells = (int32_t)product;
    return 0;
}

static MPIR_Topo *alloc_cart(int ndims)
{
    MPIR_Topo *t = MPIR_Topo_alloc(MPI_CART, 2 * (size_t)ndims);
    if (t) {
        t->cart.ndims = ndims;
        t->cart.dims = t->data;
        t->cart.periods = t->data + ndims;
    }
    return t;
}

static int make_cart(int ndims, const int *dims, const int *periods, MPIR_Topo **topo)
{
    MPIR_Topo *t = *topo = alloc_cart(ndims);
    if (!t)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < ndims; i++) {
        t->cart.dims[i] = dims[i];
        t->cart.periods[i] = periods[i] != 0;
    }
    return 0;
}

/* ---- Constructors ---------------------------------------------------------------------------------------------- */

int MPIR_Cart_create(MPIR_Comm *comm_old, int ndims, const int *dims, const int *periods, int reorder,
                     MPIR_Comm **comm_cart)
{
    MPIR_Topo *t = NULL;
    int32_t cells = 0, *order = NULL;
    int err = MPIR_Comm_check_intra(comm_old);
    if (err)
        return err;
    err = check_grid(comm_old, ndims, dims, periods, &cells);
    if (!err)
        err = make_cart(ndims, dims, periods, &t);
    int n = err ? 0 : ndims;
    const struct topo_same same[] = { { "ndims", (uint32_t)ndims },
                                      { "dims", MPIR_Topo_digest(dims, n) },
                                      { "periods", t ? MPIR_Topo_digest(t->cart.periods, n) : 0 },
                                      { "reorder", reorder != 0 } };
    err = MPIR_Topo_agree(comm_old, err, same, 4);
    if (err) {
        MPIR_Topo_release(t);
        return err;
    }
    if (reorder)
        err = MPIR_Remap(comm_old, t, cells, &order);
    err = MPIR_Topo_create(comm_old, cells, order, t, err, comm_cart);
    free(order);
    return err;
}

/* comm's ranks whose coordinates in the dropped dimensions are this process's, in order. */
static int32_t *members(const MPIR_Comm *comm, const int *remain_dims, int32_t cells)
{
    const MPIR_Topo *t = comm->topo;
    int32_t *order = malloc((size_t)cells * sizeof *order), n = 1, step = 1, rest = comm->adi.rank,
            base = rest;
    if (!order) {
        MPIR_Topo_no_memory();
        return NULL;
    }
    order[0] = 0;
    for (int i = t->cart.ndims - 1; i >= 0; i--) {
        int32_t d = t->cart.dims[i];
        if (remain_dims[i]) {
            base -= rest % d * step; /* to coordinate 0 */
            for (int32_t j = n; j < n * d; j++)
                order[j] = order[j - n] + step;
            n *= d;
        }
        rest /= d;
        step *= d;
    }
    for (int32_t j = 0; j < n; j++)
        order[j] += base;
    return order;
}

static int make_sub(const MPIR_Topo *t, const int *remain_dims, MPIR_Topo **topo, int32_t *cells)
{
    int n = 0;
    *cells = 1;
    for (int i = 0; i < t->cart.ndims; i++)
        n += remain_dims[i] != 0;
    MPIR_Topo *sub = *topo = alloc_cart(n);
    if (!sub)
        return MPI_ERR_NO_MEM;
    for (int i = 0, j = 0; i < t->cart.ndims; i++)
        if (remain_dims[i]) {
            sub->cart.dims[j] = t->cart.dims[i];
            sub->cart.periods[j++] = t->cart.periods[i];
            *cells *= t->cart.dims[i];
        }
    return 0;
}

/* A digest of which entries are true. */
static uint32_t digest_of_flags(const int *flags, int n)
{
    uint32_t h = (uint32_t)n;
    for (int i = 0; i < n; i++)
        h = MPIR_Topo_digest((const int[]){ (int)h, flags[i] != 0 }, 2);
    return h;
}

int MPIR_Cart_sub(MPIR_Comm *comm, const int *remain_dims, MPIR_Comm **newcomm)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_CART);
    MPIR_Topo *sub = NULL;
    int32_t cells = 0, *order = NULL;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    int err = MPIR_Topo_check_array(remain_dims, t->cart.ndims, "remain_dims");
    if (!err)
        err = make_sub(t, remain_dims, &sub, &cells);
    if (!err && !(order = members(comm, remain_dims, cells)))
        err = MPI_ERR_NO_MEM;
    const struct topo_same same = { "remain_dims", err ? 0 : digest_of_flags(remain_dims, t->cart.ndims) };
    err = MPIR_Topo_agree(comm, err, &same, 1);
    if (err)
        MPIR_Topo_release(sub);
    else
        err = MPIR_Topo_create(comm, cells, order, sub, 0, newcomm);
    free(order);
    return err;
}

int MPIR_Cart_map(MPIR_Comm *comm, int ndims, const int *dims, const int *periods, int *newrank)
{
    MPIR_Topo *t = NULL;
    int32_t cells;
    int err = MPIR_Comm_check_intra(comm);
    if (!err)
        err = check_grid(comm, ndims, dims, periods, &cells);
    if (!err)
        err = make_cart(ndims, dims, periods, &t);
    if (!err)
        err = MPIR_Remap_own(comm, t, cells, newrank);
    MPIR_Topo_release(t);
    return err;
}

/* ---- Inquiry --------------------------------------------------------------------------------------------------- */

int MPIR_Cartdim_get(MPIR_Comm *comm, int *ndims)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_CART);
    if (!t)
        return MPI_ERR_TOPOLOGY;
    *ndims = t->cart.ndims;
    return 0;
}

/* The first n of them. */
static void coords_of(const MPIR_Topo *t, int rank, int n, int *coords)
{
    for (int i = t->cart.ndims - 1; i >= 0; i--) {
        if (i < n)
            coords[i] = rank % t->cart.dims[i];
        rank /= t->cart.dims[i];
    }
}

static int check_maxdims(const MPIR_Topo *t, int maxdims)
{
    if (maxdims >= t->cart.ndims)
        return 0;
    return MPIR_Err(MPI_ERR_ARG, "maxdims", "is %d; expected at least %d, the number of dimensions", maxdims,
                    t->cart.ndims);
}

/* Arrays that are too short get what they hold, as other libraries do. */
int MPIR_Cart_get(MPIR_Comm *comm, int maxdims, int *dims, int *periods, int *coords)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_CART);
    int err;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    int n = maxdims < t->cart.ndims ? maxdims : t->cart.ndims;
    if ((err = MPIR_Topo_check_array(dims, n, "dims")) ||
        (err = MPIR_Topo_check_array(periods, n, "periods")) ||
        (err = MPIR_Topo_check_array(coords, n, "coords")))
        return err;
    for (int i = 0; i < n; i++) {
        dims[i] = t->cart.dims[i];
        periods[i] = t->cart.periods[i];
    }
    coords_of(t, comm->adi.rank, n, coords);
    return 0;
}

int MPIR_Cart_coords(MPIR_Comm *comm, int rank, int maxdims, int *coords)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_CART);
    int err;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    if ((err = check_maxdims(t, maxdims)) || (err = MPIR_Topo_check_array(coords, t->cart.ndims, "coords")))
        return err;
    coords_of(t, rank, t->cart.ndims, coords);
    return 0;
}

/* x on a ring of d. */
static int wrap(int64_t x, int d)
{
    x %= d;
    return (int)(x < 0 ? x + d : x);
}

int MPIR_Cart_rank(MPIR_Comm *comm, const int *coords, int *rank)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_CART);
    int r = 0;
    if (!t)
        return MPI_ERR_TOPOLOGY;
    int err = MPIR_Topo_check_array(coords, t->cart.ndims, "coords");
    for (int i = 0; i < t->cart.ndims && !err; i++) {
        int d = t->cart.dims[i], x = coords[i];
        if (!t->cart.periods[i] && (x < 0 || x >= d))
            err = MPIR_Err(MPI_ERR_ARG, "coords",
                           "has %d at index %d; expected 0 to %d, as this dimension is not periodic", x, i,
                           d - 1);
        r = r * d + wrap(x, d);
    }
    if (!err)
        *rank = r;
    return err;
}

void MPIR_Cart_around(const MPIR_Comm *comm, int dim, int disp, int *below, int *above)
{
    const MPIR_Topo *t = comm->topo;
    int d = t->cart.dims[dim], step = 1, rank = comm->adi.rank;
    for (int i = t->cart.ndims - 1; i > dim; i--)
        step *= t->cart.dims[i];
    int x = rank / step % d;
    int64_t down = (int64_t)x - disp, up = (int64_t)x + disp;
    bool ring = t->cart.periods[dim];
    *below = ring || (down >= 0 && down < d) ? rank + (wrap(down, d) - x) * step : MPI_PROC_NULL;
    *above = ring || (up >= 0 && up < d) ? rank + (wrap(up, d) - x) * step : MPI_PROC_NULL;
}

int MPIR_Cart_shift(MPIR_Comm *comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    const MPIR_Topo *t = MPIR_Topo_of(comm, MPI_CART);
    if (!t)
        return MPI_ERR_TOPOLOGY;
    if (t->cart.ndims == 0)
        return MPIR_Err(MPI_ERR_DIMS, "direction",
                        "is %d; expected a communicator with dimensions: comm has none", direction);
    if (direction < 0 || direction >= t->cart.ndims)
        return MPIR_Err(MPI_ERR_DIMS, "direction", "is %d; expected 0 to %d", direction, t->cart.ndims - 1);
    MPIR_Cart_around(comm, direction, disp, rank_source, rank_dest);
    return 0;
}
