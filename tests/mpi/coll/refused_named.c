/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* timeout: 120 */
/* One process has arguments from which nobody can tell what it means (a count, a type, an operation).  The others,
 * which have found nothing wrong, are told who it is instead of waiting: at a team, by messages, over several
 * nodes, in the first call of a communicator, of few bytes and of many, blocking and not.  What comes after works. */
#include "refused.h"

static MPI_Comm comm;
static int victim, me, *in = refused_in, *out = refused_out, counts[8], displs[8];

#define NAMED(errclass, name, arg, ...) \
    do { \
        refused_named("MPI_" #name, MPI_##name(__VA_ARGS__, comm), errclass, victim, "MPI_" #name, arg); \
        refused_next(comm, 1); \
    } while (0)
#define INAMED(errclass, name, arg, ...) \
    do { \
        MPI_Request r_; \
        refused_named("MPI_" #name, refused_waited(MPI_##name(__VA_ARGS__, comm, &r_), &r_), errclass, \
                      victim, "MPI_" #name, arg); \
        refused_next(comm, 1); \
    } while (0)

/* Calls in which all need something of the victim. */
static void calls(int n)
{
    MPI_Datatype t = me ? MPI_DATATYPE_NULL : MPI_INT, I = MPI_INT;
    MPI_Op op = me ? MPI_OP_NULL : MPI_SUM;
    int bad = me ? -1 : n;
    for (int i = 0; i < check_size; i++) {
        counts[i] = me && i == check_size - 1 ? -1 : n;
        displs[i] = i * n;
    }
    NAMED(MPI_ERR_COUNT, Allreduce, "count", in, out, bad, I, MPI_SUM);
    NAMED(MPI_ERR_TYPE, Allreduce, "datatype", in, out, n, t, MPI_SUM);
    NAMED(MPI_ERR_OP, Allreduce, "op", in, out, n, I, op);
    INAMED(MPI_ERR_OP, Iallreduce, "op", in, out, n, I, op);
    NAMED(MPI_ERR_TYPE, Allgather, "sendtype", in, n, t, out, n, I);
    INAMED(MPI_ERR_TYPE, Iallgather, "sendtype", in, n, t, out, n, I);
    NAMED(MPI_ERR_COUNT, Allgatherv, "recvcounts", in, n, I, out, counts, displs, I);
    NAMED(MPI_ERR_COUNT, Alltoall, "recvcount", in, n, I, out, bad, I);
    INAMED(MPI_ERR_COUNT, Ialltoall, "recvcount", in, n, I, out, bad, I);
    INAMED(MPI_ERR_COUNT, Ialltoallv, "sendcounts", in, counts, displs, I, out, counts, displs, I);
    NAMED(MPI_ERR_OP, Reduce_scatter_block, "op", in, out, n, I, op);
    NAMED(MPI_ERR_COUNT, Reduce_scatter, "recvcounts", in, out, counts, I, MPI_SUM);
    NAMED(MPI_ERR_COUNT, Bcast, "count", in, bad, I, victim);
    INAMED(MPI_ERR_COUNT, Ibcast, "count", in, bad, I, victim);
    NAMED(MPI_ERR_COUNT, Scatter, "sendcount", in, bad, I, out, n, I, victim);
    INAMED(MPI_ERR_COUNT, Iscatter, "sendcount", in, bad, I, out, n, I, victim);
    if (victim == 0) {
        NAMED(MPI_ERR_OP, Scan, "op", in, out, n, I, op);
        INAMED(MPI_ERR_OP, Iexscan, "op", in, out, n, I, op);
    }
}

/* The first call of a communicator, when its members have to agree on how they do it; and the fifth, when they ask
 * for a team. */
static void first(int before, int blocking)
{
    int n = me ? -1 : 1;
    MPI_Request r;
    comm = refused_fresh();
    for (int i = 0; i < before; i++)
        CHECK_ERR(MPI_Barrier(comm), MPI_SUCCESS);
    for (int again = 0; again < 2; again++)
        if (blocking)
            refused_named("first", MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT, victim,
                          "MPI_Allreduce", "count");
        else
            refused_named("first", refused_waited(MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &r), &r),
                          MPI_ERR_COUNT, victim, "MPI_Iallreduce", "count");
    refused_next(comm, 5);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (victim = 0; victim<check_size; victim += check_size> 3 && victim == 0 ? check_size / 2 : 1) {
        if (victim > check_size / 2)
            victim = check_size - 1;
        me = check_rank == victim;
        for (int before = 0; before < 8; before++)
            first(before, before % 2 ^ (victim != 0));
        for (int few = 0; few < 2; few++)
            for (int used = 0; used < 2; used++) {
                comm = refused_fresh();
                for (int i = 0; i < 40 * used; i++)
                    MPI_Barrier(comm);
                calls(few ? 3 : REFUSED_MANY / 4);
                MPI_Comm_free(&comm);
            }
    }
    return check_done();
}
