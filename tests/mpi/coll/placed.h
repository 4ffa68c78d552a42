/* SPDX-License-Identifier: BSD-3-Clause */
/* placed.h: for programs that include forced.h: a communicator by what they say of each process, which is number
 * `place` on node `node`: is it in it (color: 0 or MPI_UNDEFINED), and where (key). */
#ifndef PLACED_H
#define PLACED_H

#include "../check.h"

static int color(int place, int node);
static int key(int place, int node);

static MPI_Comm placed = MPI_COMM_NULL;

static int make_placed(void)
{
    MPI_Comm here, firsts;
    int place, node = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check_rank, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &place);
    MPI_Comm_split(MPI_COMM_WORLD, place == 0 ? 0 : MPI_UNDEFINED, check_rank, &firsts);
    if (place == 0) {
        MPI_Comm_rank(firsts, &node);
        MPI_Comm_free(&firsts);
    }
    MPI_Bcast(&node, 1, MPI_INT, 0, here);
    MPI_Comm_free(&here);
    return MPI_Comm_split(MPI_COMM_WORLD, color(place, node), key(place, node), &placed);
}

#define W placed
#define MAKE_W() make_placed()
#define FREE_W() MPI_Comm_free(&placed)

#endif
