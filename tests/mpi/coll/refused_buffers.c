/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 8 */
/* One process has buffers that cannot be used (NULL, one for both): it gets an error, and nobody waits for it.
 * The others get an error as well where they need something of it.  All kinds and forms, few bytes and many, and
 * the calls after it are right. */
#include "check.h"

enum { MOST = 8, FEW = 3, MANY = 40000 };
static MPI_Comm comm;
static int *in, *out, victim, counts[MOST], displs[MOST];

/* What a call has returned: the victim an error, others perhaps. */
static void done(const char *what, int err, MPI_Request *r, int all_need_it)
{
    int errclass = 0;
    if (r && !err && *r != MPI_REQUEST_NULL)
        err = MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Error_class(err, &errclass);
    if (check_rank == victim)
        CHECK(errclass == MPI_ERR_BUFFER, "%s: class %d", what, errclass);
    else
        CHECK(err || !all_need_it, "%s: no error, though it needs rank %d", what, victim);
}

#define FORMS(name, lower, need, ...) \
    do { \
        MPI_Request r_ = MPI_REQUEST_NULL; \
        done("MPI_" #name, MPI_##name(__VA_ARGS__, comm), NULL, need); \
        int err_ = MPI_I##lower(__VA_ARGS__, comm, &r_); \
        done("MPI_I" #lower, err_, &r_, need); \
    } while (0)

static void calls(int n, int root, int aliased)
{
    int me = check_rank == victim, at_root = check_rank == root, roots = victim == root;
    void *from = me ? (aliased ? (void *)out : NULL) : in, *to = me && !aliased ? NULL : out;
    MPI_Datatype I = MPI_INT;
    for (int i = 0; i < check_size; i++) {
        counts[i] = n;
        displs[i] = i * n;
    }
    FORMS(Allreduce, allreduce, 1, from, to, n, I, MPI_SUM);
    FORMS(Allgather, allgather, 1, from, n, I, to, n, I);
    FORMS(Allgatherv, allgatherv, 1, from, n, I, to, counts, displs, I);
    FORMS(Alltoall, alltoall, 1, from, n, I, to, n, I);
    FORMS(Alltoallv, alltoallv, 1, from, counts, displs, I, to, counts, displs, I);
    FORMS(Reduce_scatter, reduce_scatter, 1, from, to, counts, I, MPI_SUM);
    FORMS(Reduce_scatter_block, reduce_scatter_block, 1, from, to, n, I, MPI_SUM);
    FORMS(Scan, scan, 0, from, to, n, I, MPI_SUM);
    if (aliased ? roots : 1) {
        FORMS(Reduce, reduce, !roots && at_root, from, at_root ? to : NULL, n, I, MPI_SUM, root);
        FORMS(Gather, gather, !roots && at_root, from, n, I, at_root ? to : NULL, n, I, root);
        FORMS(Gatherv, gatherv, !roots && at_root, from, n, I, at_root ? to : NULL, counts, displs, I, root);
        FORMS(Scatter, scatter, roots, at_root ? from : NULL, n, I, to, n, I, root);
        FORMS(Scatterv, scatterv, roots, at_root ? from : NULL, counts, displs, I, to, n, I, root);
    }
    if (!aliased)
        FORMS(Bcast, bcast, roots, to, n, I, root);
}

static void next_is_right(int n)
{
    for (int i = 0; i < n; i++)
        in[i] = check_rank + i;
    CHECK_ERR(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    for (int i = 0; i < n; i += 1 + n / 7)
        CHECK_EQ(out[i], check_size * (check_size - 1) / 2 + check_size * i);
    CHECK_ERR(MPI_Barrier(comm), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    in = calloc(MOST * MANY, sizeof *in);
    out = calloc(MOST * MANY, sizeof *out);
    for (int k = 0; k < 8; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int i = 0; k % 2 && i < 40; i++) /* it has a team by then, where it can have one */
            MPI_Barrier(comm);
        victim = k / 4 ? check_size - 1 : 0;
        calls(k % 4 < 2 ? FEW : MANY, k / 2 % 2 ? 0 : check_size - 1, k / 2 % 3 == 1);
        next_is_right(k % 4 < 2 ? FEW : MANY);
        MPI_Comm_free(&comm);
    }
    free(in);
    free(out);
    return check_done();
}
