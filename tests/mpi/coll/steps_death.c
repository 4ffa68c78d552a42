/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies in the middle of a large reduction: the others are told, none waits for ever. */
/* ranks: 2 3 8 */
/* env: KEEL_COLL=allreduce=slices */
/* nodes: one, because the steps are memory of a node; without them an operation is called another number of times */
/* exit: 3 */
/* stderr: (?s)\A(?!.*told 0).*told 1.*\Z */
#include "dying.h"

enum { N = 1000000 };

int main(int argc, char **argv)
{
    static int a[N], b[N];
    int errclass = 0;
    MPI_Op op;
    check_init(&argc, &argv);
    check_outlives();
    check_errors_return();
    outlive();
    MPI_Op_create(add_and_die, 1, &op);
    for (int i = 0; i < 3; i++)
        CHECK_ERR(MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Error_class(MPI_Allreduce(a, b, N, MPI_INT, op, MPI_COMM_WORLD), &errclass);
    fprintf(stderr, "told %d\n", errclass != MPI_SUCCESS);
    MPI_Op_free(&op);
    return check_done();
}
