/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* A delete callback of MPI_COMM_SELF that fails: MPI_Finalize fails before anything is done, and can be called
 * again. */
#include "check.h"

static int fails = 2, calls;

static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    calls++;
    CHECK_ERR(MPI_Finalize(), MPI_ERR_COMM);
    return fails-- > 0 ? MPI_ERR_IO : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int k, finalized;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &k, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, k, NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_ERR(MPI_Finalize(), MPI_ERR_IO);
        MPI_Finalized(&finalized);
        CHECK_EQ(finalized, 0);
        CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    }
    MPI_Comm_free_keyval(&k);
    int failed = check_done();
    CHECK_EQ(calls, 3);
    return failed || check_failures;
}
