/* SPDX-License-Identifier: BSD-3-Clause */
/* What full.test starts.  full FILE: write until the file system is full, in every way; what was reported as
 * written is there. full FILE readonly: FILE is there, and its file system cannot be written. */
#include "../mpi/check.h"
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

enum { PART = 50000, PIECE = 8 };
enum way { ALONE, MAPPED, TOGETHER, LATER, APPEND, WAYS };
static const char *const ways[] = { "alone", "mapped", "together", "later", "append" };
static const char *name;

static void fresh(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File open_file(enum way way)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype t, ft;
    MPI_Info_create(&info);
    MPI_Info_set(info, "keel_map_write", way == MAPPED ? "enable" : "disable");
    MPI_Info_set(info, "romio_cb_write", way == TOGETHER ? "enable" : "disable");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &f), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, PIECE * check_size, &ft);
    MPI_Type_commit(&ft);
    if (way == MAPPED || way == TOGETHER)
        CHECK_ERR(MPI_File_set_view(f, PIECE * check_rank, MPI_BYTE, ft, "native", MPI_INFO_NULL),
                  MPI_SUCCESS);
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
    return f;
}

static int write_part(MPI_File f, enum way way, int part, const char *data, MPI_Status *s)
{
    MPI_Request r;
    MPI_Offset own = (MPI_Offset)part * PART, apart = ((MPI_Offset)part * check_size + check_rank) * PART;
    switch (way) {
    case ALONE:
        return MPI_File_write_at(f, apart, data, PART, MPI_BYTE, s);
    case MAPPED:
        return MPI_File_write_at(f, own, data, PART, MPI_BYTE, s);
    case TOGETHER:
        return MPI_File_write_at_all(f, own, data, PART, MPI_BYTE, s);
    case LATER:
        CHECK_ERR(MPI_File_iwrite_at(f, apart, data, PART, MPI_BYTE, &r), MPI_SUCCESS);
        return MPI_Wait(&r, s);
    default:
        return MPI_File_write_shared(f, data, PART, MPI_BYTE, s);
    }
}

/* Byte i of what this rank has written. */
static long place(enum way way, long i)
{
    if (way == MAPPED || way == TOGETHER)
        return (i / PIECE * check_size + check_rank) * PIECE + i % PIECE;
    return (i / PART * check_size + check_rank) * PART + i % PART;
}

static bool is_in(const char *file, long size, const char *data)
{
    for (long at = 0; at + PART <= size; at += PART)
        if (!memcmp(file + at, data, PART))
            return true;
    return false;
}

/* Parts that were written are not in the file. */
static int lost(enum way way, int parts)
{
    static char file[8 << 20], data[PART];
    int fd = open(name, O_RDONLY), wrong = 0;
    long size = pread(fd, file, sizeof file, 0);
    close(fd);
    for (int p = 0; p < parts; p++) {
        bool right = true;
        check_fill(data, PART, (uint64_t)(p * check_size + check_rank));
        for (long i = 0; i < PART && way != APPEND; i++) {
            long at = place(way, (long)p * PART + i);
            right &= at < size && file[at] == data[i];
        }
        wrong += way == APPEND ? !is_in(file, size, data) : !right;
    }
    return wrong;
}

static void fill_up(enum way way)
{
    char data[PART];
    MPI_Status s;
    int err = 0, parts = 0, all;
    fresh();
    MPI_File f = open_file(way);
    for (; !err && parts < 1000; parts += !err) {
        check_fill(data, PART, (uint64_t)(parts * check_size + check_rank));
        err = write_part(f, way, parts, data, &s);
    }
    CHECK_ERR(err, MPI_ERR_NO_SPACE);
    CHECK_SAYS(name);
    MPI_Allreduce(&parts, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(lost(way, parts), 0, "%s: of %d parts", ways[way], parts);
    CHECK(all > 5, "%s: only %d parts were written", ways[way], all);
    CHECK_ERR(MPI_File_preallocate(f, 1 << 30), MPI_ERR_NO_SPACE);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

static void cannot_write(void)
{
    MPI_File f;
    MPI_Status s;
    char c = 0, other[512];
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_READ_ONLY);
    CHECK_SAYS("Read-only file system");
    CHECK_SAYS(check_rank ? "rank 0: opening" : "opening");
    CHECK_SAYS(name);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &f), MPI_ERR_READ_ONLY);
    snprintf(other, sizeof other, "%s-other", name);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, other, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_at_all(f, 0, &c, 1, MPI_CHAR, &s), MPI_SUCCESS);
    CHECK(c == 'x');
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    name = argv[1];
    for (int way = 0; way < WAYS && argc == 2; way++)
        fill_up((enum way)way);
    if (argc > 2)
        cannot_write();
    return check_done();
}
