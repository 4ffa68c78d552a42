/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank is killed in a collective write: the others are told so, whether it accesses the file for them or they
 * for it. */
/* ranks: 4 */
/* exit: 137 */
/* stdout: (?s)(?=.*rank 0 is told)(?=.*rank 1 is told)(?=.*rank 3 is told) */
/* stderr: killed by signal 9 */
/* across: what is sent to it, and what is waited for */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io.h"
#include <dlfcn.h>
#include <signal.h>

enum { VICTIM = 2, BYTES = 1 << 20 };
static _Atomic int writes_left = -1;

/* Takes the place of libc's, in the library as well: an aggregator dies in the midst of its windows. */
ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    if (writes_left > 0 && --writes_left == 0)
        raise(SIGKILL);
    return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(fd, buf, n, at);
}

int main(int argc, char **argv)
{
    static char data[BYTES];
    MPI_File f;
    MPI_Info info;
    MPI_Datatype ft;
    MPI_Status s;
    int err = 0, errclass;
    check_init(&argc, &argv);
    io_file("killed");
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_buffer_size", "65536");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &f), MPI_SUCCESS);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * check_size, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_set_view(f, 8 * check_rank, MPI_DOUBLE, ft, "native", info), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, &s), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(io_name);
    if (check_rank == VICTIM)
        writes_left = 5;
    while (!err)
        err = MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, &s);
    MPI_Error_class(err, &errclass);
    CHECK_EQ(errclass, MPI_ERR_PROC_ABORTED);
    if (errclass == MPI_ERR_PROC_ABORTED) {
        printf("rank %d is told\n", check_rank);
        fflush(stdout);
    }
    for (;;)
        MPI_Barrier(MPI_COMM_WORLD); /* until the job is ended */
}
