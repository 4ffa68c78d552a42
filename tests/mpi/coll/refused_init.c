/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* One process refuses to make a persistent collective: the others are told who it is when they make it, or when
 * they start it.  Those made after it work, and so do other calls. */
#include "refused.h"

static MPI_Comm comm;
static int victim, me, *in = refused_in, *out = refused_out;

/* `err` is that of the call that makes it. */
static void refused(const char *call, const char *arg, int errclass, int err, MPI_Request *r)
{
    for (int start = 0; start < 3; start++) {
        int e = err;
        if (!me && !err) {
            CHECK_ERR(MPI_Start(r), MPI_SUCCESS);
            e = MPI_Wait(r, MPI_STATUS_IGNORE);
        }
        refused_named(call, e, errclass, victim, call, arg);
    }
    if (!me && !err)
        MPI_Request_free(r);
}

static void works(int n)
{
    MPI_Request r;
    CHECK_ERR(MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), MPI_SUCCESS);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++)
            in[i] = check_rank + i + k;
        CHECK_ERR(MPI_Start(&r), MPI_SUCCESS);
        CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < n; i += 1 + n / 5)
            CHECK_EQ(out[i], check_size * (check_size - 1) / 2 + check_size * (i + k));
    }
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int k = 0; k < 12; k++) {
        int n = k % 2 ? REFUSED_MANY / 4 : 3;
        MPI_Request r;
        victim = k / 2 % 2 ? check_size - 1 : 0;
        me = check_rank == victim;
        comm = refused_fresh();
        for (int i = 0; i < k / 4 * 20; i++)
            MPI_Barrier(comm);
        refused("MPI_Allreduce_init", "count", MPI_ERR_COUNT,
                MPI_Allreduce_init(in, out, me ? -1 : n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), &r);
        refused_next(comm, n);
        works(n);
        refused("MPI_Bcast_init", "datatype", MPI_ERR_TYPE,
                MPI_Bcast_init(in, n, me ? MPI_DATATYPE_NULL : MPI_INT, victim, comm, MPI_INFO_NULL, &r), &r);
        works(n);
        refused("MPI_Allreduce_init", "op", MPI_ERR_OP,
                MPI_Allreduce_init(in, out, n, MPI_INT, me ? MPI_OP_NULL : MPI_SUM, comm, MPI_INFO_NULL, &r),
                &r);
        refused_next(comm, 1);
        MPI_Comm_free(&comm);
    }
    return check_done();
}
