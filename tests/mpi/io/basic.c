/* SPDX-License-Identifier: BSD-3-Clause */
/* Open, size, amode, group, info, views, seek and position, the end of the file, delete on close. */
/* ranks: 1 2 4 */
/* across: a file is opened and closed by all */
#include "io.h"
#include <sys/stat.h>

static void open_and_ask(void)
{
    MPI_File f;
    MPI_Group g, w;
    MPI_Info info;
    int amode, cmp, flag;
    char value[64];
    MPI_Offset size;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "cb_buffer_size", "nonsense");
    MPI_Info_set(info, "unknown_key", "x");
    CHECK_ERR(
        MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL, info, &f),
        MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_File_get_amode(f, &amode), MPI_SUCCESS);
    CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL);
    CHECK_ERR(MPI_File_get_group(f, &g), MPI_SUCCESS);
    MPI_Comm_group(MPI_COMM_WORLD, &w);
    MPI_Group_compare(g, w, &cmp);
    CHECK_EQ(cmp, MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_free(&w);
    CHECK_ERR(MPI_File_get_info(f, &info), MPI_SUCCESS);
    MPI_Info_get(info, "cb_nodes", 63, value, &flag);
    CHECK(flag && !strcmp(value, "1"));
    MPI_Info_get(info, "cb_buffer_size", 63, value, &flag);
    CHECK(flag && !strcmp(value, "4194304"), "is %s", value);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    CHECK_ERR(MPI_File_set_info(f, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_get_info(f, &info);
    MPI_Info_get(info, "cb_buffer_size", 63, value, &flag);
    CHECK(flag && !strcmp(value, "65536"));
    MPI_Info_get(info, "unknown_key", 63, value, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_File_set_size(f, 1000), MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_size(f, &size), MPI_SUCCESS);
    CHECK_EQ(size, 1000);
    CHECK_ERR(MPI_File_preallocate(f, 5000), MPI_SUCCESS);
    MPI_File_get_size(f, &size);
    CHECK_EQ(size, 5000);
    CHECK_ERR(MPI_File_preallocate(f, 100), MPI_SUCCESS);
    MPI_File_get_size(f, &size);
    CHECK_EQ(size, 5000, "preallocate never truncates");
    CHECK_ERR(MPI_File_get_atomicity(f, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_File_set_atomicity(f, 1), MPI_SUCCESS);
    MPI_File_get_atomicity(f, &flag);
    CHECK_EQ(flag, 1);
    CHECK_ERR(MPI_File_sync(f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

static void views(void)
{
    MPI_File f;
    MPI_Datatype ft, e, t, vec;
    MPI_Offset disp, at;
    char rep[MPI_MAX_DATAREP_STRING];
    int v[4] = { 1, 2, 3, 4 }, got[8], ni, na, nd, combiner;
    MPI_Status s;
    MPI_Type_vector(2, 1, 3, MPI_INT, &vec);
    MPI_Type_create_resized(vec, 0, 24, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(
        MPI_File_open(MPI_COMM_SELF, check_rank ? "/dev/null" : io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f),
        MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_view(f, &disp, &e, &t, rep), MPI_SUCCESS);
    CHECK(disp == 0 && e == MPI_BYTE && t == MPI_BYTE && !strcmp(rep, "native"));
    CHECK_ERR(MPI_File_set_view(f, 100, MPI_INT, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&ft);
    MPI_Type_free(&vec);
    CHECK_ERR(MPI_File_get_view(f, &disp, &e, &t, rep), MPI_SUCCESS);
    CHECK(disp == 100 && e == MPI_INT && t != MPI_DATATYPE_NULL);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK_EQ(combiner, MPI_COMBINER_RESIZED);
    MPI_Type_free(&t);
    static const int expect[] = { 100, 112, 124, 136, 148 };
    for (int i = 0; i < 5; i++) {
        CHECK_ERR(MPI_File_get_byte_offset(f, i, &at), MPI_SUCCESS);
        CHECK_EQ(at, expect[i]);
    }
    if (check_rank == 0) {
        CHECK_ERR(MPI_File_set_size(f, 0), MPI_SUCCESS);
        CHECK_ERR(MPI_File_write(f, v, 4, MPI_INT, &s), MPI_SUCCESS);
        MPI_File_get_size(f, &at);
        CHECK_EQ(at, 140);
        CHECK_ERR(MPI_File_get_position(f, &at), MPI_SUCCESS);
        CHECK_EQ(at, 4);
        CHECK_ERR(MPI_File_seek(f, -3, MPI_SEEK_CUR), MPI_SUCCESS);
        CHECK_ERR(MPI_File_read(f, got, 8, MPI_INT, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), 12, "up to the end of the file");
        CHECK(got[0] == 2 && got[1] == 3 && got[2] == 4);
        CHECK_ERR(MPI_File_seek(f, 0, MPI_SEEK_END), MPI_SUCCESS);
        MPI_File_get_position(f, &at);
        CHECK_EQ(at, 4);
        CHECK_ERR(MPI_File_read(f, got, 1, MPI_INT, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), 0);
        CHECK_ERR(MPI_File_seek(f, -9, MPI_SEEK_SET), MPI_ERR_ARG);
        MPI_File_get_position(f, &at);
        CHECK_EQ(at, 4, "neither an error nor a read of nothing moves it");
        CHECK_ERR(MPI_File_seek(f, 0, 12345), MPI_ERR_ARG);
    }
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

/* A block, then a subarray: the subarray's bounds are those of the whole type, so that its second element begins
 * before the end of the first.  Access to the first alone is what such types are made for (the header and a part
 * of a variable); that to both is in the order of the type, too. */
static void tangled(void)
{
    enum { HEAD = 400, ROW = 30, PART = 15 };
    MPI_File f;
    MPI_Datatype sub, type, types[2];
    MPI_Aint displs[2] = { 0, HEAD }, lb, extent;
    int sizes[2] = { 2, ROW }, subsizes[2] = { 1, PART }, starts[2] = { 1, 0 }, lengths[2] = { HEAD, 1 };
    unsigned char out[2 * (HEAD + PART)], in[2 * (HEAD + PART)], whole[HEAD + 4 * ROW] = { 0 };
    for (int i = 0; i < 2 * (HEAD + PART); i++)
        out[i] = (unsigned char)(i % 251 + 1);
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_BYTE, &sub);
    types[0] = MPI_BYTE;
    types[1] = sub;
    MPI_Type_create_struct(2, lengths, displs, types, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == HEAD && extent == 2 * ROW);
    MPI_Type_commit(&type);
    if (check_rank != 0)
        goto end;
    CHECK_ERR(MPI_File_open(MPI_COMM_SELF, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_SUCCESS);
    for (int all = 0; all < 2; all++) {
        CHECK_ERR(MPI_File_set_size(f, 0), MPI_SUCCESS);
        CHECK_ERR(MPI_File_set_view(f, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
        memset(in, 0, sizeof in);
        if (all) {
            CHECK_ERR(MPI_File_write_at_all(f, 0, out, HEAD + PART, MPI_BYTE, MPI_STATUS_IGNORE),
                      MPI_SUCCESS);
            CHECK_ERR(MPI_File_read_at_all(f, 3, in, HEAD + PART - 3, MPI_BYTE, MPI_STATUS_IGNORE),
                      MPI_SUCCESS);
        } else {
            CHECK_ERR(MPI_File_write_at(f, 0, out, HEAD + PART, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK_ERR(MPI_File_read_at(f, 3, in, HEAD + PART - 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        CHECK(memcmp(in, out + 3, HEAD + PART - 3) == 0, "read back");
        CHECK_ERR(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
        CHECK_ERR(MPI_File_read_at(f, 0, whole, HEAD + ROW + PART, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(memcmp(whole, out, HEAD) == 0, "the block");
        CHECK(whole[HEAD] == 0 && whole[HEAD + ROW - 1] == 0, "between");
        CHECK(memcmp(whole + HEAD + ROW, out + HEAD, PART) == 0, "the subarray");
    }
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_at_all(f, 0, in, 2 * (HEAD + PART), MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(in[HEAD + PART] == out[2 * ROW], "the second element begins at the extent");
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
end:
    MPI_Type_free(&type);
    MPI_Type_free(&sub);
}

/* Offsets of 2^40 bytes, in a file with holes, and a count above 2^31. */
static void far(void)
{
    MPI_File f;
    MPI_Status s;
    MPI_Count n;
    MPI_Offset size, at = ((MPI_Offset)1 << 40) + 4096 * check_rank;
    int x = check_rank + 5, y = 0;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at_all(f, at, &x, 1, MPI_INT, &s), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read_at_c(f, at, &y, 1, MPI_INT, &s), MPI_SUCCESS);
    CHECK_EQ(y, x);
    CHECK_ERR(MPI_File_sync(f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_size(f, &size), MPI_SUCCESS);
    CHECK_EQ(size, ((MPI_Offset)1 << 40) + 4096 * (check_size - 1) + 4);
    CHECK_ERR(MPI_File_seek(f, (MPI_Offset)1 << 40, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_ERR(MPI_File_get_position(f, &at), MPI_SUCCESS);
    CHECK_EQ(at, (MPI_Offset)1 << 40);
    /* the same int, 2^31 + 10 elements of a type without extent: memory of one int */
    MPI_Datatype zero;
    MPI_Type_create_resized(MPI_BYTE, 0, 0, &zero);
    MPI_Type_commit(&zero);
    char c = 0;
    MPI_File_seek(f, 1000, MPI_SEEK_END);
    CHECK_ERR(MPI_File_read_c(f, &c, ((MPI_Count)1 << 31) + 10, zero, &s), MPI_SUCCESS);
    MPI_Get_count_c(&s, zero, &n);
    CHECK_EQ(n, 0);
    MPI_File_get_position(f, &at);
    CHECK_EQ(at, size + 1000);
    MPI_Type_free(&zero);
    CHECK_ERR(MPI_File_set_size(f, 10), MPI_SUCCESS);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

/* A process whose view has no data takes part with nothing, also where all go in two phases. */
static void no_part(const char *together)
{
    MPI_File f;
    MPI_Info info;
    MPI_Status s;
    MPI_Offset at;
    MPI_Datatype ft;
    int lens[3] = { 1, 1, 1 }, nothing = check_rank % 2;
    MPI_Aint places[3] = { 100 + 8 * check_rank, 200 + 8 * check_rank, 300 + 8 * check_rank };
    double v[3] = { 1, 2, 3 }, got[3] = { 0 };
    MPI_Info_create(&info);
    MPI_Info_set(info, "collective_buffering", together);
    MPI_Type_create_hindexed(3, nothing ? (int[]){ 0, 0, 0 } : lens, places, MPI_DOUBLE, &ft);
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR, info, &f), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_BYTE, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at_all(f, 0, v, nothing ? 0 : 3, MPI_DOUBLE, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), nothing ? 0 : 24);
    CHECK_ERR(MPI_File_read_all(f, got, nothing ? 0 : 3, MPI_DOUBLE, &s), MPI_SUCCESS);
    CHECK(nothing || (got[0] == 1 && got[1] == 2 && got[2] == 3));
    if (nothing) {
        CHECK_ERR(MPI_File_write_at(f, 0, v, 1, MPI_DOUBLE, &s), MPI_ERR_ARG);
        CHECK_ERR(MPI_File_read(f, got, 1, MPI_DOUBLE, &s), MPI_ERR_ARG);
        CHECK_ERR(MPI_File_seek(f, 0, MPI_SEEK_END), MPI_SUCCESS);
        CHECK_ERR(MPI_File_get_position(f, &at), MPI_SUCCESS);
        CHECK_EQ(at, 0);
        CHECK_ERR(MPI_File_get_byte_offset(f, 0, &at), MPI_SUCCESS);
        CHECK_EQ(at, 0);
    }
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Type_free(&ft);
    MPI_Info_free(&info);
}

static void handles(void)
{
    MPI_File f;
    CHECK_ERR(MPI_File_open(MPI_COMM_SELF, io_name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK(MPI_File_f2c(MPI_File_c2f(f)) == f);
    CHECK(MPI_File_fromint(MPI_File_toint(f)) == f);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    MPI_File old = f;
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Offset size;
    CHECK_ERR(MPI_File_get_size(old, &size), MPI_ERR_FILE);
    CHECK_ERR(MPI_File_get_size(MPI_FILE_NULL, &size), MPI_ERR_FILE);
}

static void modes(void)
{
    MPI_File f;
    MPI_Offset at;
    struct stat st;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    MPI_File_get_position(f, &at);
    CHECK_EQ(at, 10);
    MPI_File_get_position_shared(f, &at);
    CHECK_EQ(at, 10);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    CHECK_ERR(
        MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f),
        MPI_SUCCESS);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    CHECK(stat(io_name, &st) != 0);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    io_file("basic");
    open_and_ask();
    views();
    tangled();
    MPI_Barrier(MPI_COMM_WORLD);
    no_part("disable");
    no_part("enable");
    far();
    handles();
    MPI_Barrier(MPI_COMM_WORLD);
    modes();
    io_remove();
    return check_done();
}
