/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 13 */
/* stderr: MPI_Init_thread: invalid argument \(MPI_ERR_ARG\): required is 17; expected MPI_THREAD_SINGLE */
/* A thread level that does not exist. */
#include "check.h"

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, 17, &provided);
    MPI_Finalize();
    return 0;
}
