/* SPDX-License-Identifier: BSD-3-Clause */
/* A file system that keeps pages on each machine, as this one is told to be, or is taken for: nothing is mapped,
 * and a sync gets a lock, on which NFS looks for newer data. */
/* ranks: 1 3 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/vfs.h>

static int is_nfs, refused; /* the system's answers */
static int locks, unlocks, mappings;

/* These take the place of libc's, in the library as well. */
int fstatfs(int fd, struct statfs *s)
{
    int r = ((int (*)(int, struct statfs *))dlsym(RTLD_NEXT, "fstatfs"))(fd, s);
    s->f_type = is_nfs ? 0x6969 : 0x01021994;
    return r;
}

int fcntl(int fd, int how, ...)
{
    va_list ap;
    va_start(ap, how);
    struct flock *l = va_arg(ap, void *);
    va_end(ap);
    locks += how == F_OFD_SETLKW;
    unlocks += how == F_OFD_SETLK && l->l_type == F_UNLCK;
    if (how == F_OFD_SETLKW && refused) {
        errno = refused;
        return -1;
    }
    return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl"))(fd, how, l);
}

void *mmap(void *to, size_t n, int prot, int flags, int fd, off_t at)
{
    mappings += fd >= 0 && (flags & MAP_SHARED);
    return ((void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"))(to, n, prot, flags, fd,
                                                                                       at);
}

static void run(const char *hint, int nfs, int is_far)
{
    enum { WORDS = 1000 };
    MPI_File f;
    MPI_Info info;
    MPI_Datatype ft;
    MPI_Status s;
    MPI_Offset size;
    int out[WORDS], in[WORDS];
    char value[64] = "";
    int flag, from = (check_rank + 1) % check_size;
    is_nfs = nfs;
    MPI_Info_create(&info);
    MPI_Info_set(info, "keel_close_to_open", hint);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &f), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_get_info(f, &info);
    MPI_Info_get(info, "keel_close_to_open", 63, value, &flag);
    CHECK(flag && !strcmp(value, hint), "is %s", value);
    MPI_Info_free(&info);
    MPI_Type_create_resized(MPI_INT, 0, 4 * check_size, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_set_view(f, 4 * check_rank, MPI_INT, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    check_fill(out, sizeof out, (uint64_t)check_rank);
    locks = unlocks = mappings = 0;
    CHECK_ERR(MPI_File_write_at(f, 0, out, WORDS, MPI_INT, &s), MPI_SUCCESS);
    CHECK_EQ(mappings, !is_far && !nfs && check_size > 1, "%s", hint);
    CHECK_ERR(MPI_File_sync(f), MPI_SUCCESS);
    CHECK_EQ(locks, is_far);
    CHECK_EQ(unlocks, is_far);
    CHECK_ERR(MPI_File_set_view(f, 4 * from, MPI_INT, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_at(f, 0, in, WORDS, MPI_INT, &s), MPI_SUCCESS);
    CHECK_BYTES(in, sizeof in, (uint64_t)from);
    CHECK_ERR(MPI_File_get_size(f, &size), MPI_SUCCESS);
    CHECK_EQ(size, 4 * WORDS * check_size);
    CHECK_EQ(locks, 2 * is_far);
    refused = ENOLCK;
    CHECK_ERR(MPI_File_sync(f), MPI_SUCCESS);
    refused = EIO;
    CHECK_ERR(MPI_File_sync(f), is_far ? MPI_ERR_IO : MPI_SUCCESS);
    if (is_far)
        CHECK_SAYS(io_name);
    refused = 0;
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Type_free(&ft);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    io_file("far");
    run("automatic", 0, 0);
    run("automatic", 1, 1);
    run("enable", 0, 1);
    run("disable", 1, 0);
    io_remove();
    return check_done();
}
