/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank whose connections end a second before it does: another fails since it misses it, and a third since that
 * one failed.  What is told, and the job's exit code, is of the first. */
/* ranks: 3 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it makes three of it */
/* exit: 137 */
/* stderr: ^mpiexec: rank 2 \(.*, pid \d+\) was killed by signal 9 */
#include "../check.h"
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int v = 1, w = 0;
    struct stat s;
    check_init(&argc, &argv);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank == 2) {
        for (int fd = 3; fd < 1024; fd++)
            if (fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode))
                close(fd);
        sleep(1);
        raise(SIGKILL);
    }
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return check_done();
}
