/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies in the middle of a large nonblocking reduction, with others begun after it: each of those who
 * are left is told of each, and none waits for ever. */
/* ranks: 2 3 8 */
/* env: KEEL_COLL=allreduce=slices */
/* nodes: one, because the steps are memory of a node; without them an operation is called another number of times */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "dying.h"

enum { N = 1000000, AFTER = 3 };

static int a[N], b[N], c[AFTER][20000];

static int class_of(int err)
{
    int errclass = 0;
    MPI_Error_class(err, &errclass);
    return errclass;
}

int main(int argc, char **argv)
{
    int told = 0;
    MPI_Op op;
    MPI_Request r[1 + AFTER];
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    outlive();
    MPI_Op_create(add_and_die, 1, &op);
    for (int i = 0; i < 3; i++)
        CHECK_ERR(MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Iallreduce(a, b, N, MPI_INT, op, MPI_COMM_WORLD, &r[0]);
    for (int k = 0; k < AFTER; k++)
        MPI_Iallreduce(a, c[k], 20000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1 + k]);
    for (int k = 0; k < 1 + AFTER; k++)
        told += class_of(MPI_Wait(&r[k], MPI_STATUS_IGNORE)) != MPI_SUCCESS;
    fprintf(stderr, "told %d\n", told == 1 + AFTER);
    MPI_Op_free(&op);
    return check_done();
}
