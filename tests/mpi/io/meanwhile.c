/* SPDX-License-Identifier: BSD-3-Clause */
/* What others do to a file that is open: it is deleted, or truncated at the worst moment. */
/* ranks: 1 3 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

static int truncated; /* 1: the file is, when its window has been mapped */

/* Takes the place of libc's, in the library as well. */
void *mmap(void *to, size_t n, int prot, int flags, int fd, off_t at)
{
    void *map = ((void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"))(to, n, prot,
                                                                                            flags, fd, at);
    if (truncated == 1 && fd >= 0 && (flags & MAP_SHARED) && ftruncate(fd, 0) == 0)
        truncated = 2;
    return map;
}

static void deleted(void)
{
    MPI_File f;
    MPI_Status s;
    int v = check_rank, got = -1;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name,
                            MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        unlink(io_name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR(MPI_File_write_at_all(f, 4 * check_rank, &v, 1, MPI_INT, &s), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_at_all(f, 4 * check_rank, &got, 1, MPI_INT, &s), MPI_SUCCESS);
    CHECK_EQ(got, v);
    CHECK_ERR(MPI_File_close(&f), MPI_ERR_NO_SUCH_FILE);
    CHECK_SAYS(io_name);
    CHECK(f == MPI_FILE_NULL);
}

/* Of each rank alone, so that the file is its own. */
static void cut(int form)
{
    enum { BYTES = 100000 };
    static char data[BYTES], back[BYTES];
    MPI_File f;
    MPI_Info info;
    MPI_Datatype ft;
    MPI_Request r;
    MPI_Status s;
    char name[300];
    int err;
    snprintf(name, sizeof name, "%s-%d", io_name, check_rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "keel_map_write", "enable");
    CHECK_ERR(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                            info, &f),
              MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Type_create_resized(MPI_INT, 0, 12, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&ft);
    check_fill(data, BYTES, 1);
    truncated = 1;
    if (form == 0) {
        err = MPI_File_write_at(f, 0, data, BYTES, MPI_BYTE, &s);
    } else {
        CHECK_ERR(MPI_File_iwrite_at(f, 0, data, BYTES, MPI_BYTE, &r), MPI_SUCCESS);
        err = MPI_Wait(&r, &s);
    }
    if (truncated == 2) {
        CHECK_ERR(err, MPI_ERR_IO);
        CHECK_SAYS(name);
    } else {
        CHECK_ERR(err, MPI_SUCCESS); /* a file system whose pages are not mapped */
    }
    truncated = 0;
    CHECK_ERR(MPI_File_write_at(f, 0, data, BYTES, MPI_BYTE, &s), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_size(f, 60000), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_at(f, 0, back, BYTES, MPI_BYTE, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), 20000);
    CHECK_BYTES(back, 20000, 1);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    io_file("meanwhile");
    deleted();
    cut(0);
    cut(1);
    return check_done();
}
