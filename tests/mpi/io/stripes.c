/* SPDX-License-Identifier: BSD-3-Clause */
/* Stripes of Lustre, which is imitated: a file that is made gets those of the hints, one that is there keeps its
 * own, and what the file has is shown.  Where there is no Lustre nothing of it is asked. */
/* ranks: 1 3 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/vfs.h>

/* As Lustre's documentation of lov_user_md_v1 has it. */
struct lov {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t size;
    uint16_t count, first;
};
static struct lov
    has; /* of the file; magic 0: none, and Lustre gives it the default when it is opened for good */
static int is_lustre, refuses, asked, delayed;

/* These take the place of libc's, in the library as well. */
int statfs(const char *name, struct statfs *s)
{
    int r = ((int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs"))(name, s);
    s->f_type = is_lustre ? 0x0BD00BD0 : 0x01021994;
    return r;
}

int fstatfs(int fd, struct statfs *s)
{
    int r = ((int (*)(int, struct statfs *))dlsym(RTLD_NEXT, "fstatfs"))(fd, s);
    s->f_type = is_lustre ? 0x0BD00BD0 : 0x01021994;
    return r;
}

int open(const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    int ours = io_name[0] && !strcmp(name, io_name), waits = (flags & 020400) == 020400;
    if (ours && waits)
        delayed++;
    else if (ours && has.magic == 0)
        has = (struct lov){ .magic = 0x0BD10BD0, .size = 1 << 20, .count = 1 };
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(name, flags & ~020400, mode);
}

int ioctl(int fd, unsigned long what, ...)
{
    va_list ap;
    va_start(ap, what);
    struct lov *l = va_arg(ap, void *);
    va_end(ap);
    if (what != 0x4008669a)
        return ((int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl"))(fd, what, l);
    asked++;
    errno = has.magic ? EEXIST : EINVAL;
    if (has.magic || refuses || l->magic != 0x0BD10BD0 || l->size % 65536 || l->first != 0xffff)
        return -1;
    has = (struct lov){ .magic = 0x0BD30BD0, .size = l->size, .count = l->count ? l->count : 1 };
    return 0;
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t n)
{
    (void)fd;
    if (strcmp(name, "lustre.lov") || !is_lustre || n < sizeof has) {
        errno = ENODATA;
        return -1;
    }
    memcpy(value, &has, sizeof has);
    return sizeof has;
}

static void shows(MPI_File f, const char *key, const char *expected)
{
    MPI_Info info;
    char value[64] = "";
    int flag;
    MPI_File_get_info(f, &info);
    MPI_Info_get(info, key, 63, value, &flag);
    CHECK(flag == (expected != NULL) && (!flag || !strcmp(value, expected)), "%s is \"%s\"; expected %s", key,
          value, expected);
    MPI_Info_free(&info);
}

/* Rank 0 makes the file, and is the only one here that Lustre would answer. */
static void made(MPI_Comm comm, int amode, const char *unit, const char *factor, int asks)
{
    MPI_File f;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_unit", "131072");
    MPI_Info_set(info, "striping_factor", "4");
    asked = delayed = 0;
    CHECK_ERR(MPI_File_open(comm, io_name, amode, info, &f), MPI_SUCCESS);
    CHECK_EQ(asked, asks && check_rank == 0);
    shows(f, "striping_unit", unit);
    shows(f, "striping_factor", factor);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Info_free(&info);
}

static void gone(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(io_name);
    has.magic = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    MPI_Comm one;
    check_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank, 0, &one);
    io_file("stripes");
    made(MPI_COMM_WORLD, amode, "131072", "4", 0);
    CHECK_EQ(delayed, 0);
    gone();
    is_lustre = 1;
    if (check_rank == 0) {
        made(one, amode | MPI_MODE_EXCL, "131072", "4", 1); /* it gets what the hints say */
        made(one, amode, "131072", "4", 0);
        has.size = 65536;
        has.count = 9;
        made(one, amode, "65536", "9", 0); /* it is there, and keeps what it has */
        unlink(io_name);
        has.magic = 0;
        refuses = 1;
        made(one, amode, "1048576", "1", 1); /* Lustre's default */
    }
    MPI_Comm_free(&one);
    io_remove();
    return check_done();
}
