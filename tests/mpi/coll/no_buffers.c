/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer in which nothing is read or written may be NULL: MPI_Exscan's result at rank 0, that of
 * MPI_Reduce_scatter where this rank gets no elements, and neighborhood collectives' on a side without neighbors
 * ("Exclusive Scan", "MPI_REDUCE_SCATTER", "Neighborhood Collective Communication").  Where something is, it may
 * not. */
/* ranks: 1 2 3 5 */
#include "forms.h"

#define W MPI_COMM_WORLD

static void exscan(void)
{
    int mine = check_rank + 1, sum = -1;
    CHECK_ERR(MPI_Exscan(&mine, check_rank ? &sum : NULL, 1, MPI_INT, MPI_SUM, W), MPI_SUCCESS);
    if (check_rank > 0)
        CHECK_EQ(sum, check_rank * (check_rank + 1) / 2);
    CHECK_ERR(MPI_Exscan_c(&mine, check_rank ? &sum : NULL, 1, MPI_INT, MPI_SUM, W), MPI_SUCCESS);
}

static void reduce_scatter(void)
{
    int in[16], counts[16], out = -1;
    MPI_Count large[16];
    for (int i = 0; i < check_size; i++)
        large[i] = counts[i] = i % 2;
    for (int i = 0; i < check_size; i++)
        in[i] = check_rank + i;
    CHECK_ERR(MPI_Reduce_scatter(in, check_rank % 2 ? &out : NULL, counts, MPI_INT, MPI_SUM, W), MPI_SUCCESS);
    if (check_rank % 2)
        CHECK_EQ(out, check_size * (check_size - 1) / 2 + check_size * (check_rank / 2));
    CHECK_ERR(MPI_Reduce_scatter_c(in, check_rank % 2 ? &out : NULL, large, MPI_INT, MPI_SUM, W),
              MPI_SUCCESS);
}

/* A line: rank 0 has no source, the last rank no destination. */
static void neighbors(void)
{
    int before = check_rank - 1, after = check_rank + 1, in = -1, one = 1, zero = 0;
    const int *out = check_rank + 1 < check_size ? &check_rank : NULL;
    int *to = check_rank > 0 ? &in : NULL;
    MPI_Comm line;
    MPI_Dist_graph_create_adjacent(W, to != NULL, &before, MPI_UNWEIGHTED, out != NULL, &after,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &line);
    CHECK_ERR(MPI_Neighbor_allgather(out, 1, MPI_INT, to, 1, MPI_INT, line), MPI_SUCCESS);
    CHECK_EQ(in, before);
    in = -1;
    CHECK_ERR(MPI_Neighbor_alltoall(out, 1, MPI_INT, to, 1, MPI_INT, line), MPI_SUCCESS);
    CHECK_EQ(in, before);
    in = -1;
    CHECK_ERR(
        MPI_Neighbor_allgatherv(out, 1, MPI_INT, to, to ? &one : NULL, to ? &zero : NULL, MPI_INT, line),
        MPI_SUCCESS);
    CHECK_EQ(in, before);
    in = -1;
    CHECK_ERR(MPI_Neighbor_alltoallv(out, out ? &one : NULL, out ? &zero : NULL, MPI_INT, to,
                                     to ? &one : NULL, to ? &zero : NULL, MPI_INT, line),
              MPI_SUCCESS);
    CHECK_EQ(in, before);
    MPI_Comm_free(&line);
}

/* What is refused is refused by all, so that nobody waits. */
static void refused(void)
{
    int all[16] = { 0 }, ones[16];
    MPI_Comm pair;
    MPI_Comm_dup(MPI_COMM_SELF, &pair);
    for (int i = 0; i < 16; i++)
        ones[i] = 1;
    CHECK_ERR(MPI_Exscan(MPI_IN_PLACE, NULL, 1, MPI_INT, MPI_SUM, pair), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Exscan(NULL, all, 1, MPI_INT, MPI_SUM, pair), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce_scatter(all, NULL, ones, MPI_INT, MPI_SUM, W), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce_scatter(MPI_IN_PLACE, NULL, ones, MPI_INT, MPI_SUM, W), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce_scatter(all, NULL, NULL, MPI_INT, MPI_SUM, W), MPI_ERR_ARG);
    MPI_Comm_free(&pair);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &(int){ 0 }, MPI_UNWEIGHTED, 1, &(int){ 0 },
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &pair);
    CHECK_ERR(MPI_Neighbor_allgather(NULL, 1, MPI_INT, all, 1, MPI_INT, pair), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Neighbor_alltoall(all, 1, MPI_INT, NULL, 1, MPI_INT, pair), MPI_ERR_BUFFER);
    MPI_Comm_free(&pair);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (form = BLOCKING; form < FORMS; form++) {
        exscan();
        reduce_scatter();
        neighbors();
        refused();
    }
    return check_done();
}
