/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators: each named error, with the argument, its value and what was expected. */
/* ranks: 2 3 5 */
#include "../check.h"

static MPI_Comm half, inter;
static int side, n, m, rank;
static int a[64], b[64], cnt[64], dsp[64];

static void roots(void)
{
    char words[80];
    snprintf(words, sizeof words, "root is %d; expected 0 to %d, MPI_ROOT or MPI_PROC_NULL", m, m - 1);
    CHECK_ERR(MPI_Bcast(a, 1, MPI_INT, m, inter), MPI_ERR_ROOT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, m, inter), MPI_ERR_ROOT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -17, inter), MPI_ERR_ROOT);
    CHECK_SAYS("root is -17");
    CHECK_ERR(MPI_Gatherv(a, 1, MPI_INT, b, cnt, dsp, MPI_INT, MPI_ANY_SOURCE, inter), MPI_ERR_ROOT);
    CHECK_ERR(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, m, inter), MPI_ERR_ROOT);
    CHECK_ERR(MPI_Scatterv(a, cnt, dsp, MPI_INT, b, 1, MPI_INT, m, inter), MPI_ERR_ROOT);
    CHECK_ERR(MPI_Bcast(a, 1, MPI_INT, MPI_ROOT, half), MPI_ERR_ROOT);
}

/* What there is no such operation of. */
static void refused(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    CHECK_ERR(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_SAYS("is an intercommunicator; expected an intracommunicator");
    CHECK_ERR(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_ERR(MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, inter, &r), MPI_ERR_COMM);
    CHECK_ERR(MPI_Iexscan(a, b, 1, MPI_INT, MPI_SUM, inter, &r), MPI_ERR_COMM);
    CHECK_ERR(MPI_Scan_init(a, b, 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &r), MPI_ERR_COMM);
    CHECK_ERR(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_COMM);
    CHECK_SAYS("is an intercommunicator");
    CHECK_ERR(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_COMM);
    CHECK_ERR(MPI_Ineighbor_alltoallv(a, cnt, dsp, MPI_INT, b, cnt, dsp, MPI_INT, inter, &r), MPI_ERR_COMM);
    CHECK(r == MPI_REQUEST_NULL);
}

static void in_place(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype t[64];
    for (int i = 0; i < 64; i++)
        t[i] = MPI_INT;
    CHECK_ERR(MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_SAYS("sendbuf is MPI_IN_PLACE, which is allowed on intracommunicators only");
    CHECK_ERR(MPI_Iallreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter, &r), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, cnt, dsp, MPI_INT, inter),
              MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, cnt, dsp, MPI_INT, inter),
              MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, b, cnt, dsp, t, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce_scatter(MPI_IN_PLACE, b, cnt, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce_scatter_block(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, 0, inter), MPI_ERR_BUFFER);
    CHECK_SAYS("sendbuf is MPI_IN_PLACE");
    CHECK_SAYS("intercommunicator");
    CHECK_ERR(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, 0, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Gatherv(MPI_IN_PLACE, 1, MPI_INT, b, cnt, dsp, MPI_INT, 0, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Scatter(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, inter), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Scatterv(a, cnt, dsp, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, inter), MPI_ERR_BUFFER);
    CHECK(r == MPI_REQUEST_NULL);
}

static void arguments(void)
{
    char words[80];
    CHECK_ERR(MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BAND, inter), MPI_ERR_OP);
    CHECK_ERR(MPI_Reduce(a, b, 1, MPI_COMPLEX, MPI_LXOR, 0, inter), MPI_ERR_OP);
    CHECK_ERR(MPI_Reduce_scatter(a, b, cnt, MPI_DOUBLE, MPI_BOR, inter), MPI_ERR_OP);
    cnt[m - 1] = -3;
    snprintf(words, sizeof words, "recvcounts[%d] is -3; expected 0 or more", m - 1);
    CHECK_ERR(MPI_Allgatherv(a, 1, MPI_INT, b, cnt, dsp, MPI_INT, inter), MPI_ERR_COUNT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Gatherv(a, 1, MPI_INT, b, cnt, dsp, MPI_INT, MPI_ROOT, inter), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Scatterv(a, cnt, dsp, MPI_INT, b, 1, MPI_INT, MPI_ROOT, inter), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Alltoallv(a, cnt, dsp, MPI_INT, b, cnt, dsp, MPI_INT, inter), MPI_ERR_COUNT);
    cnt[m - 1] = 0;
    cnt[n - 1] = -4; /* these are of the own group */
    snprintf(words, sizeof words, "recvcounts[%d] is -4; expected 0 or more", n - 1);
    CHECK_ERR(MPI_Reduce_scatter(a, b, cnt, MPI_INT, MPI_SUM, inter), MPI_ERR_COUNT);
    CHECK_SAYS(words);
    cnt[n - 1] = 0;
    CHECK_ERR(MPI_Bcast(a, -1, MPI_INT, 0, inter), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Alltoall(a, 1, MPI_INT, b, -2, MPI_INT, inter), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Allgather(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, inter), MPI_ERR_TYPE);
}

/* After an error the next collective is right. */
static void expect_fine(void)
{
    int x = 100 * side + rank, sum = -1;
    CHECK_ERR(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
    CHECK_EQ(sum, 100 * !side * m + m * (m - 1) / 2);
}

static int class_of(int err)
{
    int c;
    MPI_Error_class(err, &c);
    return c;
}

/* Group 0 gives `mine` elements each and expects `theirs`; group 1 thinks of them the other way round, or wrongly. */
static void disagree(int mine, int theirs)
{
    int give = side ? 4 : mine, take = side ? 4 : theirs, wrong = side ? mine != 4 : theirs != 4;
    CHECK_EQ(class_of(MPI_Allgather(a, give, MPI_INT, b, take, MPI_INT, inter)),
             wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "allgather: %d, %d", mine, theirs);
    CHECK_EQ(class_of(MPI_Alltoall(a, give, MPI_INT, b, take, MPI_INT, inter)),
             wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "alltoall: %d, %d", mine, theirs);
    expect_fine();
    if (mine != theirs)
        return;
    /* who has found an error sends nothing any more, which who expects nothing does not see */
    int err = class_of(MPI_Allreduce(a, b, give, MPI_INT, MPI_SUM, inter));
    if (side == 1 || mine > 0)
        CHECK_EQ(err, wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "allreduce: %d", mine);
    CHECK_EQ(class_of(MPI_Reduce_scatter_block(a, b, side ? give * m : 5 * m, MPI_INT, MPI_SUM, inter)),
             MPI_ERR_TRUNCATE, "reduce_scatter_block: %d", mine);
    expect_fine();
}

static void disagree_with_root(int mine)
{
    int root = side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, len = side ? 4 : mine;
    int there = side && mine != 4 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    int here = root == MPI_ROOT && mine != 4 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    CHECK_EQ(class_of(MPI_Bcast(a, len, MPI_INT, root, inter)), there, "bcast: %d", mine);
    if (side == 1 && rank == 0 && mine != 4) {
        char words[80];
        CHECK_ERR(MPI_Scatter(a, len, MPI_INT, b, len, MPI_INT, root, inter), MPI_ERR_TRUNCATE);
        snprintf(words, sizeof words,
                 mine < 4 ? "rank 0 sent %d bytes; expected 16" : "a message of %d bytes", 4 * mine);
        CHECK_SAYS(words);
    } else {
        CHECK_EQ(class_of(MPI_Scatter(a, len, MPI_INT, b, len, MPI_INT, root, inter)), there, "scatter");
    }
    CHECK_EQ(class_of(MPI_Gather(a, len, MPI_INT, b, len, MPI_INT, root, inter)), here, "gather: %d", mine);
    CHECK_EQ(class_of(MPI_Reduce(a, b, len, MPI_INT, MPI_SUM, root, inter)), here, "reduce: %d", mine);
    expect_fine();
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    side = check_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &m);
    MPI_Comm_rank(inter, &rank);
    roots();
    refused();
    in_place();
    arguments();
    expect_fine();
    static const int lens[] = { 4, 0, 2, 7 };
    for (int i = 0; i < 4; i++) {
        disagree_with_root(lens[i]);
        for (int j = 0; j < 4; j++)
            disagree(lens[i], lens[j]);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return check_done();
}
