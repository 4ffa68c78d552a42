/* SPDX-License-Identifier: BSD-3-Clause */
/* What the front end checks of the other arguments, and its words. */
/* ranks: 1 2 4 */
#include <check.h>
#include <limits.h>
#include <stdbool.h>

static int x[4];

static void counts_and_ranks(void)
{
    CHECK_ERR(MPI_Send(x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_SAYS("count is -1; expected 0 or more");
    CHECK_ERR(MPI_Send(x, INT_MIN, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_SAYS("MPI_Send_c");
    CHECK_ERR(MPI_Send_c(x, -2, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK(!strstr(check_words, "64-bit"), "the large form hints at itself: %s", check_words);
    CHECK_ERR(MPI_Send(x, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_SAYS(check_text("dest is %d; expected 0 to %d or MPI_PROC_NULL", check_size, check_size - 1));
    CHECK_ERR(MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_ERR(MPI_Send(x, 1, MPI_INT, MPI_ROOT, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_ERR(MPI_Recv(x, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_SAYS("MPI_ANY_SOURCE");
    CHECK_ERR(MPI_Send(x, 1, MPI_INT, 0, -1, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_ERR(MPI_Send(x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_SAYS("tag is MPI_ANY_TAG");
    CHECK_ERR(MPI_Recv(x, 1, MPI_INT, 0, -3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    CHECK_ERR(MPI_Bcast(x, 1, MPI_INT, check_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_SAYS(check_text("root is %d; expected 0 to %d", check_size, check_size - 1));
    CHECK_ERR(MPI_Bcast(x, 1, MPI_INT, MPI_PROC_NULL, MPI_COMM_WORLD), MPI_ERR_ROOT);
}

static void buffers(void)
{
    CHECK_ERR(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_SAYS("buf is NULL");
    CHECK_ERR(MPI_Send((void *)100, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_SAYS("MPI_IN_PLACE");
    CHECK_ERR(MPI_Send(NULL, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_ERR(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allreduce(NULL, x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_SUCCESS);
    MPI_Datatype absolute, empty;
    MPI_Aint at;
    int one = 1;
    MPI_Get_address(x, &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    CHECK_ERR(MPI_Send(MPI_BOTTOM, 1, absolute, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    CHECK_ERR(MPI_Send(x, 1, empty, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_SAYS("datatype is not committed");
    MPI_Type_commit(&empty);
    CHECK_ERR(MPI_Send(NULL, 5, empty, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Type_free(&absolute);
    MPI_Type_free(&empty);
}

static void out_pointers(void)
{
    CHECK_ERR(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_SAYS("rank is NULL");
    CHECK_ERR(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Isend(x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_SAYS("request is NULL");
    CHECK_ERR(MPI_Comm_free(NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Op_create(NULL, 1, (MPI_Op[1]){ MPI_OP_NULL }), MPI_ERR_ARG);
    CHECK_ERR(MPI_Get_count(NULL, MPI_INT, x), MPI_ERR_ARG);
}

/* Arguments that only the root looks at may be anything elsewhere. */
static void significance(void)
{
    int root = check_size - 1, in = check_rank, all[8] = { 0 };
    int wrong[8] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    bool here = check_rank == root;
    CHECK_ERR(MPI_Gather(&in, 1, MPI_INT, here ? all : NULL, here ? 1 : -9,
                         here ? MPI_INT : (MPI_Datatype)(intptr_t)77777, root, MPI_COMM_WORLD),
              MPI_SUCCESS);
    for (int i = 0; here && i < check_size; i++)
        CHECK_EQ(all[i], i);
    CHECK_ERR(MPI_Scatter(here ? all : NULL, here ? 1 : -9, here ? MPI_INT : MPI_DATATYPE_NULL, &in, 1,
                          MPI_INT, root, MPI_COMM_WORLD),
              MPI_SUCCESS);
    CHECK_EQ(in, check_rank);
    CHECK_ERR(MPI_Reduce(&in, here ? all : NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD), MPI_SUCCESS);
    if (!here)
        CHECK_ERR(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD),
                  MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allgatherv(&in, 1, MPI_INT, all, wrong, wrong, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_SAYS("recvcounts[0] is -1");
    CHECK_ERR(MPI_Allgather(MPI_IN_PLACE, -4, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_SELF),
              MPI_SUCCESS);
}

/* An int that can't hold the answer. */
static void narrowing(void)
{
    MPI_Datatype big;
    MPI_Count size;
    int n;
    MPI_Type_contiguous(INT_MAX, MPI_DOUBLE, &big);
    CHECK_ERR(MPI_Type_size(big, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_UNDEFINED);
    CHECK_ERR(MPI_Type_size_x(big, &size), MPI_SUCCESS);
    CHECK_EQ(size, INT_MAX * 8ll);
    CHECK_ERR(MPI_Type_size_c(big, &size), MPI_SUCCESS);
    CHECK_EQ(size, INT_MAX * 8ll);
    CHECK_ERR(MPI_Type_commit(&big), MPI_SUCCESS);
    CHECK_ERR(MPI_Pack_size(1, big, MPI_COMM_WORLD, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_UNDEFINED);
    CHECK_ERR(MPI_Pack_size_c(1, big, MPI_COMM_WORLD, &size), MPI_SUCCESS);
    CHECK_EQ(size, INT_MAX * 8ll);
    MPI_Type_free(&big);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    counts_and_ranks();
    buffers();
    out_pointers();
    significance();
    narrowing();
    return check_done();
}
