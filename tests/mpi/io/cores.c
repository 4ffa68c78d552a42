/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that mpiexec has bound to a share each: a thread that accesses a file for one may use the cores of all. */
/* ranks: 2 */
/* mpiexec: -bind-to share */
/* nodes: one, because the cores are those of a node */
#define _GNU_SOURCE
#include "io.h"
#include <dirent.h>
#include <sched.h>

int main(int argc, char **argv)
{
    cpu_set_t mine, all, both[2], has;
    MPI_File f;
    MPI_Request r;
    int others = 0, value = 1;
    sched_getaffinity(0, sizeof mine, &mine);
    check_init(&argc, &argv);
    io_file("cores");
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, both, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    CPU_OR(&all, &both[0], &both[1]);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    CHECK_ERR(MPI_File_iwrite_at(f, 4 * check_rank, &value, 1, MPI_INT, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *d; tasks && (d = readdir(tasks)) != NULL;) {
        int id = atoi(d->d_name);
        if (id == 0 || id == getpid() || sched_getaffinity(id, sizeof has, &has) != 0)
            continue;
        others++;
        CHECK(CPU_EQUAL(&has, &all), "the thread may use %d cpus; expected %d", CPU_COUNT(&has),
              CPU_COUNT(&all));
    }
    if (tasks)
        closedir(tasks);
    CHECK(others > 0, "there is no thread that accesses files");
    sched_getaffinity(0, sizeof has, &has);
    CHECK(CPU_EQUAL(&has, &mine), "the rank has left its share");
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    io_remove();
    return check_done();
}
