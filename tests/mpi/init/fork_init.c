/* SPDX-License-Identifier: BSD-3-Clause */
/* A child made before MPI_Init may be the rank; another cannot be it as well. */
/* ranks: 1 3 */
#include <sys/wait.h>
#include <unistd.h>
#include "../check.h"

int main(int argc, char **argv)
{
    int status = -1, sum = 0;
    pid_t child = fork();
    if (child != 0) {
        waitpid(child, &status, 0);
        return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    check_init(&argc, &argv);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    return check_done();
}
