/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c: orders of the cells of a grid in which consecutive pieces are blocks: it is divided into tiles of as
 * many cells as a node has processes, and goes through one tile after the other. */
#include "tiles.h"
#include <stdlib.h>
#include <string.h>

enum { SHAPES_MOST = 2048 };

/* All shapes of so many cells that fit the grid. */
static void list_shapes(struct tiles *t, int dim, int32_t cells, struct tile_shape *shape)
{
    if (dim == t->ndims) {
        if (cells == 1)
            t->shapes[t->nshapes++] = *shape;
        return;
    }
    for (int32_t b = 1; b <= t->dims[dim] && b <= cells && t->nshapes < SHAPES_MOST; b++)
        if (cells % b == 0) {
            shape->size[dim] = b;
            list_shapes(t, dim + 1, cells / b, shape);
        }
}

/* Those with little surface first: what is tried before the time is up. */
static int by_surface(const void *a, const void *b)
{
    const struct tile_shape *x = a, *y = b;
    if (x->surface != y->surface)
        return x->surface < y->surface ? -1 : 1;
    for (int i = 0; i < TILES_DIMS; i++)
        if (x->size[i] != y->size[i])
            return x->size[i] < y->size[i] ? -1 : 1;
    return 0;
}

/* Cells on the sides at which a tile has neighbors. */
static int64_t surface_of(const struct tiles *t, const struct tile_shape *shape, int32_t cells)
{
    int64_t surface = 0;
    for (int i = 0; i < t->ndims; i++)
        surface += shape->size[i] < t->dims[i] ? cells / shape->size[i] : 0;
    return surface;
}

/* Where a counter over the dimensions goes from `at`, in steps, from `low` up to below `high`; false at the end. */
static bool count_up(int n, int32_t *at, const int32_t *low, const int32_t *high, const int32_t *step)
{
    for (int i = n - 1; i >= 0; i--) {
        at[i] += step ? step[i] : 1;
        if (at[i] < high[i])
            return true;
        at[i] = low[i];
    }
    return false;
}

static int32_t *write_tile(const struct tiles *t, const int32_t *low, const int32_t *shape, int32_t *order)
{
    int32_t at[TILES_DIMS], high[TILES_DIMS];
    for (int i = 0; i < t->ndims; i++) {
        at[i] = low[i];
        high[i] = low[i] + shape[i] < t->dims[i] ? low[i] + shape[i] : t->dims[i];
    }
    do {
        int32_t cell = 0;
        for (int i = 0; i < t->ndims; i++)
            cell = cell * t->dims[i] + at[i];
        *order++ = cell;
    } while (count_up(t->ndims, at, low, high, NULL));
    return order;
}

static bool next_order(struct fit_orders *o, int32_t *order)
{
    struct tiles *t = (struct tiles *)o;
    const int32_t zero[TILES_DIMS] = { 0 };
    int32_t low[TILES_DIMS] = { 0 };
    if (t->next == t->nshapes)
        return false;
    const int32_t *shape = t->shapes[t->next++].size;
    do
        order = write_tile(t, low, shape, order);
    while (count_up(t->ndims, low, zero, t->dims, shape));
    return true;
}

void MPIR_Tiles_init(struct tiles *t, int ndims, const int *dims)
{
    *t = (struct tiles){ .orders.next = next_order };
    for (int i = 0; i < ndims; i++)
        if (dims[i] > 1) /* at most 31 */
            t->dims[t->ndims++] = dims[i];
}

bool MPIR_Tiles_of(struct tiles *t, int32_t cells)
{
    struct tile_shape shape = { 0 };
    int before = t->nshapes;
    if (!t->shapes)
        t->shapes = malloc(SHAPES_MOST * sizeof *t->shapes);
    if (!t->shapes)
        return false;
    list_shapes(t, 0, cells, &shape);
    for (int i = before; i < t->nshapes; i++)
        t->shapes[i].surface = surface_of(t, &t->shapes[i], cells);
    qsort(t->shapes + before, (size_t)(t->nshapes - before), sizeof *t->shapes, by_surface);
    return true;
}

void MPIR_Tiles_free(struct tiles *t)
{
    free(t->shapes);
}
