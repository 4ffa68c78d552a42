/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_files.h: rows of misuse.c about files. */
#ifndef ROWS_FILES_H
#define ROWS_FILES_H

#include "misuse.h"

static int opened(int mode)
{
    MPI_File f;
    char name[64];
    snprintf(name, sizeof name, "misuse-%d.data", (int)getpid());
    int e = MPI_File_open(S, name, mode | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    if (!e)
        MPI_File_close(&f);
    return e;
}
static int open_no_mode(void)
{
    return opened(0);
}
static int open_two_modes(void)
{
    return opened(MPI_MODE_RDONLY | MPI_MODE_WRONLY);
}
static int open_create_rdonly(void)
{
    return opened(MPI_MODE_RDONLY);
}
static int open_sequential_rdwr(void)
{
    return opened(MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL);
}
static int open_odd_bits(void)
{
    return opened(MPI_MODE_RDWR | 1 << 29);
}
static int open_inter_null(void)
{
    MPI_File f;
    return MPI_File_open(MPI_COMM_NULL, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
}
static int write_rdonly(void)
{
    MPI_File f = file(MPI_MODE_RDWR), g;
    char name[64];
    snprintf(name, sizeof name, "misuse-%d.data", (int)getpid());
    MPI_File_open(S, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &g);
    int e = MPI_File_write(g, a, 1, I, &st);
    MPI_File_close(&g);
    MPI_File_close(&f);
    return e;
}
static int on_file(MPI_File f, int e)
{
    MPI_File_close(&f);
    return e;
}
static int read_wronly(void)
{
    MPI_File f = file(MPI_MODE_WRONLY);
    return on_file(f, MPI_File_read(f, a, 1, I, &st));
}
static int read_offset(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_read_at(f, -1, a, 1, I, &st));
}
static int read_count(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_read(f, a, -1, I, &st));
}
static int read_uncommitted(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_read(f, a, 1, vector(0), &st));
}
static int write_part_of_etype(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    MPI_File_set_view(f, 0, I, I, "native", MPI_INFO_NULL);
    return on_file(f, MPI_File_write(f, a, 3, MPI_CHAR, &st));
}
static int seek_whence(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_seek(f, 0, -99));
}
static int seek_negative(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_seek(f, -1, MPI_SEEK_SET));
}
static int view(MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype, const char *rep)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_set_view(f, at, etype, filetype, (char *)rep, MPI_INFO_NULL));
}
static int view_negative(void)
{
    return view(-1, I, I, "native");
}
static int view_current(void)
{
    return view(MPI_DISPLACEMENT_CURRENT, I, I, "native");
}
static int view_rep(void)
{
    return view(0, I, I, "nobody's");
}
static int view_uncommitted(void)
{
    return view(0, I, vector(0), "native");
}
static int view_part_of_etype(void)
{
    return view(0, I, MPI_CHAR, "native");
}
static int view_empty(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous(0, I, &t);
    MPI_Type_commit(&t);
    return view(0, I, t, "native");
}
static int view_falling(void)
{
    MPI_Datatype t;
    int at[2] = { 4, 0 }, n[2] = { 1, 1 };
    MPI_Type_indexed(2, n, at, I, &t);
    MPI_Type_commit(&t);
    return view(0, I, t, "native");
}
static int file_size_negative(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_set_size(f, -1));
}
static int file_preallocate(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_preallocate(f, -1));
}
static int split_none(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    return on_file(f, MPI_File_read_all_end(f, a, &st));
}
static int split_twice(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    MPI_File_write_all_begin(f, a, 1, I);
    int e = MPI_File_write_all_begin(f, b, 1, I);
    MPI_File_write_all_end(f, a, &st);
    return on_file(f, e);
}
static int split_other(void)
{
    MPI_File f = file(MPI_MODE_RDWR);
    MPI_File_write_all_begin(f, a, 1, I);
    int e = MPI_File_read_all_end(f, a, &st);
    MPI_File_write_all_end(f, a, &st);
    return on_file(f, e);
}
static int rep_twice(void)
{
    MPI_Register_datarep("twice", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, NULL, NULL);
    return MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, NULL, NULL);
}
static int file_close_null(void)
{
    MPI_File f = MPI_FILE_NULL;
    return MPI_File_close(&f);
}
static int file_delete_absent(void)
{
    return MPI_File_delete("/no/such/folder/file", MPI_INFO_NULL);
}
static int shared_in_sequential(void)
{
    MPI_File f = file(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    return on_file(f, MPI_File_write(f, a, 1, I, &st));
}

#endif
