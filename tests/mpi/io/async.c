/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking access: many at a time, completed in any order; view, datatype and handle may go meanwhile;
 * nonblocking collective calls on several files; a wait for an access and a message together. */
/* ranks: 1 2 4 */
#include "io.h"

enum { MANY = 64, BYTES = 20000 };

static void many(MPI_File f)
{
    static unsigned char to[MANY][BYTES], back[MANY][BYTES];
    MPI_Request r[MANY];
    MPI_Status s[MANY];
    for (int i = 0; i < MANY; i++) {
        check_fill(to[i], BYTES, (uint64_t)(check_rank * MANY + i));
        CHECK_ERR(
            MPI_File_iwrite_at(f, (MPI_Offset)(check_rank * MANY + i) * BYTES, to[i], BYTES, MPI_BYTE, &r[i]),
            MPI_SUCCESS);
    }
    CHECK_ERR(MPI_Waitall(MANY, r, s), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(io_count(&s[i]), BYTES);
    CHECK_ERR(MPI_File_sync(f), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++)
        CHECK_ERR(MPI_File_iread_at(f, (MPI_Offset)(check_rank * MANY + i) * BYTES, back[i], BYTES, MPI_BYTE,
                                    &r[i]),
                  MPI_SUCCESS);
    for (int left = MANY; left > 0; left--) {
        int i = -1;
        CHECK_ERR(MPI_Waitany(MANY, r, &i, &s[0]), MPI_SUCCESS);
        CHECK(i >= 0 && i < MANY && !memcmp(to[i], back[i], BYTES), "access %d", i);
    }
}

static void everything_goes(void)
{
    MPI_File f;
    MPI_Datatype ft, mt;
    MPI_Request r[2];
    MPI_Status s;
    int v[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, flag = 0;
    MPI_Type_vector(4, 1, 2, MPI_INT, &ft);
    MPI_Type_commit(&ft);
    MPI_Type_vector(4, 1, 2, MPI_INT, &mt);
    MPI_Type_commit(&mt);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 1000 * check_rank, MPI_INT, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_iwrite_all(f, v, 1, mt, &r[0]), MPI_SUCCESS);
    MPI_Type_free(&mt);
    MPI_Type_free(&ft);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    while (!flag)
        CHECK_ERR(MPI_Test(&r[0], &flag, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), 16);
    int got[8] = { 0 };
    CHECK_ERR(MPI_File_read_at(f, 1000 * check_rank, got, 7, MPI_INT, &s), MPI_SUCCESS);
    CHECK(got[0] == 1 && got[2] == 3 && got[4] == 5 && got[6] == 7);
    /* a message and an access in one wait */
    int peer = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size,
        x = check_rank, y = -1;
    CHECK_ERR(MPI_Irecv(&y, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &r[0]), MPI_SUCCESS);
    CHECK_ERR(MPI_File_iread_at_all(f, 1000 * check_rank, got, 1, MPI_INT, &r[1]), MPI_SUCCESS);
    MPI_Send(&x, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    CHECK_ERR(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(y, from);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

/* Reads that end at the end of the file, and behind it. */
static void ends(void)
{
    MPI_File f;
    MPI_Request r;
    MPI_Status s;
    char c[100];
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_size(f, 150), MPI_SUCCESS);
    for (int at = 0; at <= 200; at += 50) {
        int expect = at >= 150 ? 0 : at > 50 ? 150 - at : 100;
        CHECK_ERR(MPI_File_iread_at(f, at, c, 100, MPI_CHAR, &r), MPI_SUCCESS);
        MPI_Wait(&r, &s);
        CHECK_EQ(io_count(&s), expect);
        CHECK_ERR(MPI_File_read_at_all(f, at, c, 100, MPI_CHAR, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), expect);
        CHECK_ERR(MPI_File_read_at_all_begin(f, at, c, 100, MPI_CHAR), MPI_SUCCESS);
        CHECK_ERR(MPI_File_read_at_all_end(f, c, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), expect);
    }
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

/* Together, up to the end of the file. */
static void ends_together(void)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype ft;
    MPI_Status s;
    char c[64];
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "cb_buffer_size", "4096");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, info, &f), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_File_set_size(f, 8 * check_size * 4 - 3), MPI_SUCCESS);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * check_size, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_set_view(f, 8 * check_rank, MPI_BYTE, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&ft);
    CHECK_ERR(MPI_File_read_all(f, c, 64, MPI_BYTE, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), check_rank == check_size - 1 ? 29 : 32);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_File f;
    check_init(&argc, &argv);
    io_file("async");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    many(f);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    everything_goes();
    ends();
    ends_together();
    io_remove();
    return check_done();
}
