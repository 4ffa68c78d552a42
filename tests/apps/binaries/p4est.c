/* SPDX-License-Identifier: BSD-3-Clause */
/* Of binaries.test: a program of p4est.  A forest is refined, balanced and partitioned; its checksum and ghost
 * layer. */
#include <p4est_bits.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>
#include <stdio.h>

static int refine(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q)
{
    (void)forest;
    return q->level < 6 && (q->x >> 24) % 3 == tree % 2 && ((q->x ^ q->y) >> 25) % 3 != 1;
}

int main(int argc, char **argv)
{
    sc_MPI_Init(&argc, &argv);
    sc_init(sc_MPI_COMM_WORLD, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    p4est_connectivity_t *shape = p4est_connectivity_new_moebius();
    p4est_t *forest = p4est_new_ext(sc_MPI_COMM_WORLD, shape, 0, 2, 1, 0, NULL, NULL);
    p4est_refine(forest, 1, refine, NULL);
    unsigned refined = p4est_checksum(forest);
    p4est_partition(forest, 0, NULL);
    p4est_balance(forest, P4EST_CONNECT_FULL, NULL);
    p4est_partition(forest, 0, NULL);
    p4est_ghost_t *ghost = p4est_ghost_new(forest, P4EST_CONNECT_FULL);
    int wrong = !p4est_ghost_is_valid(forest, ghost) || !p4est_is_valid(forest) ||
                !p4est_is_balanced(forest, P4EST_CONNECT_FULL);
    unsigned balanced = p4est_checksum(forest);
    if (forest->mpirank == 0)
        printf("%lld quadrants, checksums %08x %08x, %s\n", (long long)forest->global_num_quadrants, refined,
               balanced, wrong ? "wrong" : "right");
    p4est_ghost_destroy(ghost);
    p4est_destroy(forest);
    p4est_connectivity_destroy(shape);
    sc_finalize();
    sc_MPI_Finalize();
    return 0;
}
