/* SPDX-License-Identifier: BSD-3-Clause */
/* Representations of data: external32, and what a program registers; extents of types in the file. */
/* ranks: 1 2 */
#include "io.h"

static int reads, writes;

/* Each int has 5 bytes in the file: a mark, and the int backwards; others as they are. */
static int extent(MPI_Datatype t, MPI_Aint *e, void *state)
{
    MPI_Aint lb;
    CHECK(state == &reads);
    if (t == MPI_INT)
        *e = 5;
    else
        MPI_Type_get_extent(t, &lb, e);
    return MPI_SUCCESS;
}

static int to_file(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state)
{
    unsigned char *to = file, *from = user;
    writes++;
    CHECK(t == MPI_INT && position == 0 && state == &reads);
    for (int i = 0; i < count; i++) {
        to[5 * i] = 'i';
        for (int k = 0; k < 4; k++)
            to[5 * i + 1 + k] = from[4 * i + 3 - k];
    }
    return MPI_SUCCESS;
}

static int from_file(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state)
{
    unsigned char *from = file, *to = user;
    reads++;
    CHECK(t == MPI_INT && position == 0 && state == &reads);
    for (int i = 0; i < count; i++) {
        if (from[5 * i] != 'i')
            return MPI_ERR_OTHER;
        for (int k = 0; k < 4; k++)
            to[4 * i + 3 - k] = from[5 * i + 1 + k];
    }
    return MPI_SUCCESS;
}

static void bytes_at(MPI_Offset at, int n, unsigned char *to)
{
    FILE *plain = fopen(io_name, "rb");
    fseek(plain, at, SEEK_SET);
    memset(to, 0, (size_t)n);
    CHECK_EQ(fread(to, 1, (size_t)n, plain), n);
    fclose(plain);
}

static void external(MPI_File f)
{
    MPI_Datatype ft, vec;
    MPI_Aint e;
    MPI_Count ec;
    MPI_Offset at;
    MPI_Status s;
    long v[3] = { 1, -2, 0x01020304 }, got[4] = { 9, 9, 9, 9 };
    unsigned char b[64];
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_type_extent(f, MPI_LONG, &e), MPI_SUCCESS);
    CHECK_EQ(e, 4, "MPI_LONG has 4 bytes in external32");
    CHECK_ERR(MPI_File_get_type_extent_c(f, MPI_LONG_DOUBLE, &ec), MPI_SUCCESS);
    CHECK_EQ(ec, 16);
    /* every second element, rank by rank: the filetype scales */
    MPI_Type_vector(3, 1, check_size, MPI_LONG, &vec);
    MPI_Type_dup(vec, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_set_view(f, 100 + 4 * check_rank, MPI_LONG, ft, "external32", MPI_INFO_NULL),
              MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_byte_offset(f, 2, &at), MPI_SUCCESS);
    CHECK_EQ(at, 100 + 4 * check_rank + 8 * check_size);
    CHECK_ERR(MPI_File_write_all(f, v, 3, MPI_LONG, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), 3 * sizeof(long));
    CHECK_ERR(MPI_File_sync(f), MPI_SUCCESS);
    bytes_at(100 + 4 * check_rank + 4 * check_size, 4, b);
    CHECK(b[0] == 0xff && b[1] == 0xff && b[2] == 0xff && b[3] == 0xfe);
    bytes_at(at, 4, b);
    CHECK(b[0] == 1 && b[1] == 2 && b[2] == 3 && b[3] == 4, "big-endian");
    CHECK_ERR(MPI_File_read_at(f, 0, got, 3, MPI_LONG, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), 3 * sizeof(long));
    CHECK(got[0] == 1 && got[1] == -2 && got[2] == 0x01020304 && got[3] == 9);
    MPI_Request r;
    memset(got, 0, sizeof got);
    CHECK_ERR(MPI_File_iread_at(f, 1, got, 1, MPI_LONG, &r), MPI_SUCCESS);
    MPI_Wait(&r, &s);
    CHECK_EQ(got[0], -2);
    long big = 1L << 40;
    CHECK_ERR(MPI_File_write_at(f, 0, &big, 1, MPI_LONG, &s), MPI_ERR_VALUE_TOO_LARGE);
    MPI_Type_free(&vec);
    MPI_Type_free(&ft);
}

static void registered(MPI_File f)
{
    int v[5], got[5] = { 0 };
    char rep[MPI_MAX_DATAREP_STRING];
    unsigned char b[8];
    MPI_Aint e;
    MPI_Offset d;
    MPI_Datatype et, ft;
    MPI_Status s;
    CHECK_ERR(MPI_Register_datarep("marked", from_file, to_file, extent, &reads), MPI_SUCCESS);
    CHECK_ERR(MPI_Register_datarep("marked", from_file, to_file, extent, &reads), MPI_ERR_DUP_DATAREP);
    CHECK_ERR(MPI_Register_datarep("native", from_file, to_file, extent, &reads), MPI_ERR_DUP_DATAREP);
    CHECK_ERR(MPI_File_set_view(f, 1000 * (1 + check_rank), MPI_INT, MPI_INT, "marked", MPI_INFO_NULL),
              MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_view(f, &d, &et, &ft, rep), MPI_SUCCESS);
    CHECK(!strcmp(rep, "marked") && et == MPI_INT);
    CHECK_ERR(MPI_File_get_type_extent(f, MPI_INT, &e), MPI_SUCCESS);
    CHECK_EQ(e, 5);
    for (int i = 0; i < 5; i++)
        v[i] = 0x11223344 + i;
    CHECK_ERR(MPI_File_write_at(f, 2, v, 5, MPI_INT, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), 20);
    CHECK_ERR(MPI_File_read_at(f, 2, got, 5, MPI_INT, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), 20);
    CHECK(!memcmp(v, got, sizeof v) && reads == 1 && writes == 1);
    MPI_File_sync(f);
    bytes_at(1000 * (1 + check_rank) + 10, 5, b);
    CHECK(b[0] == 'i' && b[1] == 0x11 && b[4] == 0x44);
    CHECK_ERR(MPI_File_read_at(f, 0, got, 1, MPI_INT, &s), MPI_ERR_CONVERSION);
    CHECK_SAYS("marked");
    MPI_Request r;
    CHECK_ERR(MPI_File_iread_at(f, 3, got, 1, MPI_INT, &r), MPI_SUCCESS);
    MPI_Wait(&r, &s);
    CHECK_EQ(got[0], v[1]);
    CHECK_ERR(
        MPI_Register_datarep_c("plain", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent, &reads),
        MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_File f;
    check_init(&argc, &argv);
    check_errors_return();
    io_file("rep");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    external(f);
    MPI_Barrier(MPI_COMM_WORLD);
    registered(f);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    io_remove();
    return check_done();
}
