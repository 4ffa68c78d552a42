/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.h: orders of the cells of a grid, for dividing it into blocks. */
#ifndef TOPO_TILES_H
#define TOPO_TILES_H

#include "fit.h"

enum { TILES_DIMS = 32 };
struct tile_shape {
    int64_t surface;
    int32_t size[TILES_DIMS];
};
struct tiles {
    struct fit_orders orders; /* first: what MPIR_Fit gets */
    int ndims;
    int32_t dims[TILES_DIMS]; /* those above 1 */
    int nshapes, next;
    struct tile_shape *shapes; /* [nshapes] */
};

void MPIR_Tiles_init(struct tiles *t, int ndims, const int *dims);
/* Add the orders by tiles of so many cells; false without memory. */
bool MPIR_Tiles_of(struct tiles *t, int32_t cells);
void MPIR_Tiles_free(struct tiles *t);

#endif
