/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: each named error, with the argument, its value and what was expected. */
/* ranks: 2 3 4 */
/* abi: mpich, because texts tell the native number */
#include "../check.h"

#define W MPI_COMM_WORLD

static int a[64], b[64], cnt[64], dsp[64];

static void roots(void)
{
    char words[80];
    snprintf(words, sizeof words, "root is %d; expected 0 to %d", check_size, check_size - 1);
    CHECK_ERR(MPI_Bcast(a, 1, MPI_INT, check_size, W), MPI_ERR_ROOT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, check_size, W), MPI_ERR_ROOT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -1, W), MPI_ERR_ROOT);
    CHECK_SAYS("root is -1");
    CHECK_ERR(MPI_Gatherv(a, 1, MPI_INT, b, cnt, dsp, MPI_INT, -1, W), MPI_ERR_ROOT);
    CHECK_ERR(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, MPI_ANY_SOURCE, W), MPI_ERR_ROOT);
    CHECK_ERR(MPI_Scatterv(a, cnt, dsp, MPI_INT, b, 1, MPI_INT, check_size + 7, W), MPI_ERR_ROOT);
}

static void ops(void)
{
    CHECK_ERR(MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BAND, W), MPI_ERR_OP);
    CHECK_SAYS("MPI_BAND");
    CHECK_ERR(MPI_Reduce(a, b, 1, MPI_COMPLEX, MPI_LXOR, 0, W), MPI_ERR_OP);
    CHECK_ERR(MPI_Scan(a, b, 1, MPI_PACKED, MPI_SUM, W), MPI_ERR_OP);
    CHECK_ERR(MPI_Exscan(a, b, 1, MPI_INT, MPI_MAXLOC, W), MPI_ERR_OP);
    CHECK_ERR(MPI_Reduce_scatter(a, b, cnt, MPI_DOUBLE, MPI_BOR, W), MPI_ERR_OP);
    CHECK_ERR(MPI_Reduce_scatter_block(a, b, 1, MPI_DOUBLE, MPI_BOR, W), MPI_ERR_OP);
    CHECK_ERR(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, W), MPI_ERR_OP);
}

static void arguments(void)
{
    MPI_Datatype t;
    cnt[check_size - 1] = -3;
    char words[80];
    snprintf(words, sizeof words, "[%d] is -3; expected 0 or more", check_size - 1);
    CHECK_ERR(MPI_Allgatherv(a, 1, MPI_INT, b, cnt, dsp, MPI_INT, W), MPI_ERR_COUNT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Alltoallv(a, cnt, dsp, MPI_INT, b, cnt, dsp, MPI_INT, W), MPI_ERR_COUNT);
    CHECK_SAYS(words);
    CHECK_ERR(MPI_Reduce_scatter(a, b, cnt, MPI_INT, MPI_SUM, W), MPI_ERR_COUNT);
    CHECK_SAYS(words);
    cnt[check_size - 1] = 0;
    CHECK_ERR(MPI_Bcast(a, -1, MPI_INT, 0, W), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, W), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Allgather(a, 1, MPI_INT, b, -2, MPI_INT, W), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, W), MPI_ERR_TYPE);
    MPI_Type_contiguous(2, MPI_INT, &t);
    CHECK_ERR(MPI_Bcast(a, 1, t, 0, W), MPI_ERR_TYPE);
    MPI_Type_free(&t);
    CHECK_ERR(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_ERR(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
}

/* MPI_IN_PLACE at a process other than the root; the root does not wait: nothing of it needs the others. */
static void in_place(void)
{
    MPI_Comm c;
    MPI_Comm_dup(W, &c);
    if (check_rank == 0) {
        MPI_Comm_free(&c);
        return;
    }
    CHECK_ERR(MPI_Reduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, 0, c), MPI_ERR_BUFFER);
    CHECK_SAYS("MPI_IN_PLACE");
    CHECK_ERR(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, 0, c), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Scatter(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, c), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Gatherv(MPI_IN_PLACE, 1, MPI_INT, b, cnt, dsp, MPI_INT, 0, c), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Scatterv(a, cnt, dsp, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, c), MPI_ERR_BUFFER);
    MPI_Comm_free(&c);
}

/* Ranks that disagree on a count hear of it, and the next collective works. */
static void disagree(void)
{
    MPI_Comm c;
    int err, errclass = 0;
    MPI_Comm_dup(W, &c);
    err = MPI_Bcast(a, check_rank == 0 ? 20 : 10, MPI_INT, 0, c);
    MPI_Error_class(err, &errclass);
    CHECK_EQ(errclass, check_rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE, "bcast: the root sends more");
    err = MPI_Bcast(a, check_rank == 0 ? 10 : 20, MPI_INT, 0, c);
    CHECK_ERR(err, check_rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    if (check_rank)
        CHECK_SAYS(check_rank == 1 ? "rank 0 sent 40 bytes; expected 80" : "bytes; expected 80");
    err = MPI_Gather(a, check_rank == 1 ? 5 : 4, MPI_INT, b, 4, MPI_INT, 0, c);
    MPI_Error_class(err, &errclass);
    CHECK_EQ(errclass, check_rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "gather: rank 1 sends more");
    a[0] = check_rank == 0 ? 77 : 0;
    CHECK_ERR(MPI_Bcast(a, 1, MPI_INT, 0, c), MPI_SUCCESS);
    CHECK_EQ(a[0], 77);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    for (int i = 0; i < 64; i++)
        cnt[i] = dsp[i] = 0;
    roots();
    ops();
    arguments();
    disagree();
    in_place();
    return check_done();
}
