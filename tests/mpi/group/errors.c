/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: each named error, with the value and what was expected.
 */
/* ranks: 1 2 4 */
#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Group world, g = MPI_GROUP_NULL, freed;
    char words[64];
    int ranks[4] = { 0, 0, 0, 0 }, out[4], n, r;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    n = check_size;

    ranks[0] = n;
    CHECK_ERR(MPI_Group_incl(world, 1, ranks, &g), MPI_ERR_RANK);
    snprintf(words, sizeof words, "[0] is %d; expected 0 to %d", n, n - 1);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Group_excl(world, 1, ranks, &g), MPI_ERR_RANK);
    CHECK_ERR(MPI_Group_translate_ranks(world, 1, ranks, world, out), MPI_ERR_RANK);
    CHECK_SAYS(words);
    ranks[0] = 0;
    ranks[1] = -1;
    CHECK_ERR(MPI_Group_incl(world, 2, ranks, &g), MPI_ERR_RANK);
    CHECK_SAYS("[1] is -1");
    ranks[1] = 0;
    CHECK_ERR(MPI_Group_incl(world, 2, ranks, &g), MPI_ERR_RANK);
    CHECK_SAYS("[1] is 0, as is ranks[0]");
    CHECK_ERR(MPI_Group_excl(world, 2, ranks, &g), MPI_ERR_RANK);
    CHECK_SAYS("different ranks");
    CHECK_ERR(MPI_Group_incl(MPI_GROUP_EMPTY, 1, ranks, &g), MPI_ERR_RANK);
    CHECK_SAYS("no members");
    CHECK_ERR(MPI_Group_incl(world, -1, ranks, &g), MPI_ERR_COUNT);
    CHECK_SAYS("n is -1");

    CHECK_ERR(MPI_Group_incl(world, 1, NULL, &g), MPI_ERR_ARG);
    CHECK_SAYS("ranks is NULL");
    CHECK_ERR(MPI_Group_excl(world, 1, NULL, &g), MPI_ERR_ARG);
    CHECK_ERR(MPI_Group_range_incl(world, 1, NULL, &g), MPI_ERR_ARG);
    CHECK_SAYS("ranges is NULL");
    CHECK_ERR(MPI_Group_range_incl(world, 2, NULL, &g), MPI_ERR_ARG);
    CHECK_ERR(MPI_Group_range_excl(world, 1, NULL, &g), MPI_ERR_ARG);
    CHECK_ERR(MPI_Group_translate_ranks(world, 1, NULL, world, out), MPI_ERR_ARG);
    CHECK_SAYS("ranks1 is NULL");
    CHECK_ERR(MPI_Group_translate_ranks(world, 1, ranks, world, NULL), MPI_ERR_ARG);
    CHECK_SAYS("ranks2 is NULL");
    CHECK_ERR(MPI_Group_translate_ranks(world, 0, NULL, world, NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_Group_incl(world, 0, NULL, &g), MPI_SUCCESS);

    {
        int zero[1][3] = { { 0, 0, 0 } }, away[1][3] = { { 0, n, -1 } }, beyond[1][3] = { { 0, n, 1 } };
        int twice[2][3] = { { 0, n - 1, 1 }, { n - 1, n - 1, 1 } };
        CHECK_ERR(MPI_Group_range_incl(world, 1, zero, &g), MPI_ERR_ARG);
        CHECK_SAYS("{0, 0, 0}");
        CHECK_ERR(MPI_Group_range_incl(world, 1, away, &g), MPI_ERR_ARG);
        CHECK_ERR(MPI_Group_range_excl(world, 1, zero, &g), MPI_ERR_ARG);
        CHECK_ERR(MPI_Group_range_incl(world, 1, beyond, &g), MPI_ERR_RANK);
        CHECK_ERR(MPI_Group_range_excl(world, 1, beyond, &g), MPI_ERR_RANK);
        CHECK_ERR(MPI_Group_range_incl(world, 2, twice, &g), MPI_ERR_RANK);
        CHECK_SAYS("came before");
        CHECK_ERR(MPI_Group_range_excl(world, 2, twice, &g), MPI_ERR_RANK);
    }

    CHECK_ERR(MPI_Group_size(MPI_GROUP_NULL, &r), MPI_ERR_GROUP);
    ranks[0] = 0;
    MPI_Group_incl(world, 1, ranks, &g);
    freed = g;
    MPI_Group_free(&g);
    CHECK_ERR(MPI_Group_size(freed, &r), MPI_ERR_GROUP);
    CHECK_ERR(MPI_Group_free(&freed), MPI_ERR_GROUP);
    MPI_Group_free(&world);
    return check_done();
}
