/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* One process of an intercommunicator refuses a call: those of the other group, which need what it has, are told
 * who it is; those of its own group are told, or do not need it.  What comes after works. */
#include "refused.h"

static MPI_Comm inter, group;
static int side, rank, size, theirs, *in = refused_in, *out = refused_out;
static int victim_side, victim, me;

static void make(void)
{
    side = check_rank >= check_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, side ? 0 : check_size / 2, 5, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &theirs);
    me = side == victim_side && rank == victim;
}

static void told(const char *call, const char *arg, int err, int errclass, int needs)
{
    int c = -1, len;
    MPI_Error_class(err, &c);
    CHECK(c == errclass || (c == MPI_SUCCESS && !me && !needs), "%s: class %d; expected %d", call, c,
          errclass);
    if (err && !me) {
        MPI_Error_string(err, check_words, &len);
        refused_says(call, side == victim_side ? "local group" : "remote group", victim, call, arg);
    }
}

static void next_is_right(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        in[i] = rank + i;
    CHECK_ERR(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
    for (int i = 0; i < n; i += 1 + n / 5)
        CHECK_EQ(out[i], theirs * (theirs - 1) / 2 + theirs * i);
    CHECK_ERR(MPI_Allgather(&rank, 1, MPI_INT, out, 1, MPI_INT, inter), MPI_SUCCESS);
    for (int i = 0; i < theirs; i++)
        sum += out[i];
    CHECK_EQ(sum, theirs * (theirs - 1) / 2);
    CHECK_ERR(MPI_Barrier(inter), MPI_SUCCESS);
}

static void calls(int n)
{
    int needs = side != victim_side, bad = me ? -1 : n;
    int root = me ? MPI_ROOT : side == victim_side ? MPI_PROC_NULL : victim;
    MPI_Datatype t = me ? MPI_DATATYPE_NULL : MPI_INT;
    MPI_Op op = me ? MPI_OP_NULL : MPI_SUM;
    MPI_Request r;
    told("MPI_Allreduce", "op", MPI_Allreduce(in, out, n, MPI_INT, op, inter), MPI_ERR_OP, needs);
    next_is_right(n);
    told("MPI_Allgather", "sendtype", MPI_Allgather(in, n, t, out, n, MPI_INT, inter), MPI_ERR_TYPE, needs);
    told("MPI_Alltoall", "sendcount", MPI_Alltoall(in, bad, MPI_INT, out, n, MPI_INT, inter), MPI_ERR_COUNT,
         needs);
    next_is_right(n);
    told("MPI_Bcast", "count", MPI_Bcast(in, bad, MPI_INT, root, inter), MPI_ERR_COUNT, needs);
    told("MPI_Scatter", "sendcount", MPI_Scatter(in, bad, MPI_INT, out, n, MPI_INT, root, inter),
         MPI_ERR_COUNT, needs);
    next_is_right(n);
    told("MPI_Iallreduce", "op", refused_waited(MPI_Iallreduce(in, out, n, MPI_INT, op, inter, &r), &r),
         MPI_ERR_OP, needs);
    told("MPI_Ibcast", "count", refused_waited(MPI_Ibcast(in, bad, MPI_INT, root, inter, &r), &r),
         MPI_ERR_COUNT, needs);
    next_is_right(n);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int k = 0; k < 8; k++) {
        victim_side = k % 2;
        victim = k / 2 % 2 ? (victim_side ? check_size - check_size / 2 : check_size / 2) - 1 : 0;
        make();
        for (int i = 0; i < k; i++)
            MPI_Barrier(inter);
        calls(k / 4 ? REFUSED_MANY / 4 : 3);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&group);
    }
    return check_done();
}
