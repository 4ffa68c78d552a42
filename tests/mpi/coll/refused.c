/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: a process whose arguments are refused has taken part as far as the numbering of collectives goes.
 * What the others sent to it in that call is not taken for the next.  They may be told of it, or not notice. */
/* ranks: 1 2 3 5 8 */
#include "../check.h"

static MPI_Comm comm;
static int root, in, out[8], all[8];

static void fill(int what)
{
    in = 100 * what + check_rank;
    for (int i = 0; i < check_size; i++)
        out[i] = -1;
}

static void unless_told(int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (err)
        MPI_Error_string(err, text, &len);
    CHECK(!err || strstr(text, check_text("rank %d of the communicator", root)), "%s", text);
}

/* Only this process refuses; the others' part does not need it. */
static void gather_refused(int how)
{
    int me = check_rank == root;
    fill(how);
    if (!me)
        unless_told(MPI_Gather(&in, 1, MPI_INT, NULL, 0, MPI_INT, root, comm));
    else if (how == 1)
        CHECK_ERR(MPI_Gather(&in, 1, MPI_INT, out, -1, MPI_INT, root, comm), MPI_ERR_COUNT);
    else if (how == 2)
        CHECK_ERR(MPI_Gather(&in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, root, comm), MPI_ERR_TYPE);
    else
        CHECK_ERR(MPI_Gather(&in, 1, MPI_INT, NULL, 1, MPI_INT, root, comm), MPI_ERR_BUFFER);
}

static void reduce_refused(void)
{
    fill(7);
    if (check_rank == root)
        CHECK_ERR(MPI_Reduce(&in, out, -1, MPI_INT, MPI_SUM, root, comm), MPI_ERR_COUNT);
    else
        unless_told(MPI_Reduce(&in, NULL, 1, MPI_INT, MPI_SUM, root, comm));
}

static void next_is_right(int what)
{
    int sum = 0;
    fill(what);
    CHECK(MPI_Gather(&in, 1, MPI_INT, out, 1, MPI_INT, root, comm) == MPI_SUCCESS);
    for (int i = 0; check_rank == root && i < check_size; i++)
        CHECK_EQ(out[i], 100 * what + i);
    in = 1;
    CHECK(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK_EQ(sum, check_size);
    in = 1000 * what + check_rank;
    CHECK(MPI_Allgather(&in, 1, MPI_INT, all, 1, MPI_INT, comm) == MPI_SUCCESS);
    for (int i = 0; i < check_size; i++)
        CHECK_EQ(all[i], 1000 * what + i);
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
}

static void rounds(void)
{
    for (int i = 0; i < 12; i++) {
        root = i % check_size;
        gather_refused(1 + i % 3);
        next_is_right(10 + i);
        reduce_refused();
        next_is_right(30 + i);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rounds();
    MPI_Comm_free(&comm);
    return check_done();
}
