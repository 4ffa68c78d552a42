/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of files: their classes and words, whose handler is called, and that nobody waits for ever. */
/* ranks: 1 2 3 */
/* across: errors of one rank reach all */
#include "io.h"
#include <fcntl.h>
#include <sys/stat.h>

static int calls;
static MPI_File seen;

static void on_error(MPI_File *f, int *code, ...)
{
    int errclass;
    calls++;
    seen = *f;
    MPI_Error_class(*code, &errclass);
    CHECK_EQ(errclass, MPI_ERR_READ_ONLY);
}

/* Rank 0 makes the file; the last one means another, or says another amode. */
static void one_fails(void)
{
    MPI_File f;
    char name[512], who[32];
    int last = check_rank == check_size - 1;
    snprintf(who, sizeof who, "rank %d", check_size - 1);
    snprintf(name, sizeof name, "%s%s", io_name, last ? "-none" : "");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_ERR_NO_SUCH_FILE);
    CHECK_SAYS(io_name);
    CHECK_SAYS("-none: No such file or directory");
    if (!last)
        CHECK_SAYS(who);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, last ? 0 : MPI_MODE_RDWR, MPI_INFO_NULL, &f),
              MPI_ERR_AMODE);
    CHECK_SAYS("amode");
    CHECK_SAYS("expected one");
    if (!last) {
        CHECK_SAYS(who);
        CHECK_SAYS(io_name);
    }
}

static void opening(void)
{
    MPI_File f = (MPI_File)&calls;
    char name[512];
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
    CHECK(f == MPI_FILE_NULL);
    CHECK_SAYS(io_name);
    CHECK_SAYS(check_rank ? "rank 0: opening " : "opening ");
    CHECK_SAYS("No such file or directory");
    snprintf(name, sizeof name, "%s/folder/x", io_name);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_ERR_NO_SUCH_FILE);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    memset(name, 'x', 400);
    memcpy(name, "/tmp/", 5);
    name[400] = 0;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    static const int wrong[] = { 0,
                                 MPI_MODE_RDONLY | MPI_MODE_RDWR,
                                 MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                 MPI_MODE_RDONLY | MPI_MODE_EXCL,
                                 MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                                 MPI_MODE_RDWR | 1 << 20,
                                 MPI_MODE_CREATE };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, wrong[i], MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    if (check_size > 1) {
        int amode = check_rank ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_WRONLY | MPI_MODE_CREATE;
        CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, amode, MPI_INFO_NULL, &f), MPI_ERR_NOT_SAME);
        /* one rank alone is wrong */
        amode = check_rank == check_size - 1 ? 0 : MPI_MODE_RDWR | MPI_MODE_CREATE;
        CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, amode, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
        one_fails();
    }
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL,
                            MPI_INFO_NULL, &f),
              MPI_ERR_FILE_EXISTS);
    if (check_rank == 0) {
        snprintf(name, sizeof name, "%s-none", io_name);
        CHECK_ERR(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
        CHECK_SAYS("-none");
    }
}

static void accesses(void)
{
    MPI_File f;
    MPI_Errhandler h, old;
    MPI_Request r;
    MPI_Status s;
    char c[8] = "";
    MPI_Offset at;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write(f, c, 1, MPI_CHAR, &s), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_write_all(f, c, 1, MPI_CHAR, &s), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_iwrite(f, c, 1, MPI_CHAR, &r), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_write_shared(f, c, 1, MPI_CHAR, &s), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_write_ordered(f, c, 1, MPI_CHAR, &s), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_set_size(f, 1), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_preallocate(f, 1), MPI_ERR_READ_ONLY);
    CHECK_ERR(MPI_File_read_at(f, -1, c, 1, MPI_CHAR, &s), MPI_ERR_ARG);
    CHECK_ERR(MPI_File_read_at_all(f, check_rank ? 0 : -1, c, 1, MPI_CHAR, &s),
              check_rank ? MPI_SUCCESS : MPI_ERR_ARG);
    CHECK_ERR(MPI_File_get_byte_offset(f, -1, &at), MPI_ERR_ARG);
    CHECK_ERR(MPI_File_read_all_end(f, c, &s), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_File_read_all_begin(f, c, 1, MPI_CHAR), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_all(f, c, 1, MPI_CHAR, &s), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_File_read_at_all_end(f, c, &s), MPI_ERR_REQUEST);
    MPI_File keep = f;
    CHECK_ERR(MPI_File_close(&f), MPI_ERR_REQUEST);
    f = keep;
    CHECK_ERR(MPI_File_read_all_end(f, c, &s), MPI_SUCCESS);
    /* handlers: the file's own, and that of MPI_FILE_NULL for what comes */
    CHECK_ERR(MPI_File_get_errhandler(f, &old), MPI_SUCCESS);
    CHECK(old == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(on_error, &h);
    CHECK_ERR(MPI_File_set_errhandler(f, h), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write(f, c, 1, MPI_CHAR, &s), MPI_ERR_READ_ONLY);
    CHECK(calls == 1 && seen == f);
    CHECK_ERR(MPI_File_call_errhandler(f, MPI_ERR_READ_ONLY), MPI_SUCCESS);
    CHECK_EQ(calls, 2);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_errhandler(MPI_FILE_NULL, h), MPI_SUCCESS);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_errhandler(f, &old), MPI_SUCCESS);
    CHECK(old == h, "files that are opened have the default handler");
    MPI_Errhandler_free(&old);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Errhandler_free(&h);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_WRONLY, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read(f, c, 1, MPI_CHAR, &s), MPI_ERR_ACCESS);
    CHECK_ERR(MPI_File_set_size(f, -1), MPI_ERR_ARG);
    if (check_size > 1)
        CHECK_ERR(MPI_File_set_size(f, check_rank), MPI_ERR_NOT_SAME);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

static void views(void)
{
    MPI_File f;
    MPI_Datatype bad, odd;
    int at[2] = { 8, 0 }, len[2] = { 1, 1 };
    char c[12] = "";
    MPI_Status s;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_SUCCESS);
    MPI_Type_indexed(2, len, at, MPI_INT, &bad);
    MPI_Type_commit(&bad);
    MPI_Type_contiguous(3, MPI_BYTE, &odd);
    MPI_Type_commit(&odd);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, bad, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_File_set_view(f, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_SAYS("nonsense");
    if (check_size > 1) /* one is wrong: all hear of it */
        CHECK_ERR(MPI_File_set_view(f, check_rank ? 0 : -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
                  MPI_ERR_ARG);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write(f, c, 6, MPI_BYTE, &s), MPI_ERR_TYPE);
    CHECK_ERR(MPI_File_write_at(f, INT64_MAX / 2, c, 8, MPI_BYTE, &s), MPI_ERR_ARG);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Type_free(&bad);
    MPI_Type_free(&odd);
}

/* A device that is always full. */
static void full(void)
{
    MPI_File f;
    MPI_Request r;
    MPI_Status s;
    char c[100] = "";
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at(f, 0, c, 100, MPI_CHAR, &s), MPI_ERR_NO_SPACE);
    CHECK_SAYS("/dev/full");
    CHECK_SAYS("No space left");
    CHECK_ERR(MPI_File_iwrite_at(f, 0, c, 100, MPI_CHAR, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, &s), MPI_ERR_NO_SPACE);
    CHECK_SAYS("/dev/full");
    CHECK_ERR(MPI_File_write_at_all_begin(f, 0, c, 100, MPI_CHAR), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at_all_end(f, c, &s), MPI_ERR_NO_SPACE);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    /* together: an aggregator's error reaches all */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_nodes", "1");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, info, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at_all(f, 100 * check_rank, c, 100, MPI_CHAR, &s), MPI_ERR_NO_SPACE);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    io_file("errors");
    opening();
    accesses();
    views();
    full();
    io_remove();
    return check_done();
}
