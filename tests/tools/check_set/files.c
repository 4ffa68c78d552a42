/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c: files. */
#include "set.h"

enum { WRITE = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE };
static MPI_File file;

static void make(void)
{
    MPI_File_open(comm, "check_set.data", WRITE, MPI_INFO_NULL, &file);
}

WRONG(file_left, 1)
{
    MPI_File left;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &left); /* leak-file: - */
}

RIGHT(file_closed, 1)
{
    make();
    MPI_File_close(&file);
}

WRONG(read_of_what_is_written, 1)
{
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_read(file, a, 1, MPI_INT, no); /* returned-error: - */
    MPI_File_close(&file);
}

RIGHT(write_of_what_is_written, 1)
{
    make();
    MPI_File_write_at_all(file, 4 * rank, a, 1, MPI_INT, no);
    MPI_File_read_at_all(file, 4 * rank, a, 1, MPI_INT, no);
    MPI_File_close(&file);
}

WRONG(file_used_after_close, 1)
{
    MPI_File same;
    make();
    same = file;
    MPI_File_close(&file);
    MPI_File_write(same, a, 1, MPI_INT, no); /* returned-error: fh */
}

WRONG(negative_offset, 1)
{
    make();
    MPI_File_write_at(file, -4, a, 1, MPI_INT, no); /* returned-error: offset */
    MPI_File_close(&file);
}

WRONG(half_an_element, 1)
{
    make();
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, a, 1, MPI_INT, no); /* returned-error: count */
    MPI_File_close(&file);
}

RIGHT(whole_elements, 1)
{
    make();
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, rank, d, 1, MPI_DOUBLE, no);
    MPI_File_close(&file);
}

WRONG(split_end_without_begin, 1)
{
    make();
    MPI_File_write_all_end(file, a, no); /* returned-error: - */
    MPI_File_close(&file);
}

WRONG(split_begun_twice, 1)
{
    make();
    MPI_File_write_all_begin(file, a, 1, MPI_INT);
    MPI_File_write_all_begin(file, a, 1, MPI_INT); /* returned-error: - */
    MPI_File_write_all_end(file, a, no);
    MPI_File_close(&file);
}

RIGHT(split_in_turn, 1)
{
    make();
    MPI_File_write_all_begin(file, a, 1, MPI_INT);
    MPI_File_write_all_end(file, a, no);
    MPI_File_read_all_begin(file, b, 1, MPI_INT);
    MPI_File_read_all_end(file, b, no);
    MPI_File_close(&file);
}

WRONG(file_type_not_committed, 1)
{
    MPI_Datatype type;
    make();
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL); /* returned-error: filetype */
    MPI_Type_free(&type);
    MPI_File_close(&file);
}

WRONG(no_such_representation, 1)
{
    make();
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "there is none",
                      MPI_INFO_NULL); /* returned-error: datarep */
    MPI_File_close(&file);
}

WRONG(iwrite_changed, 1)
{
    make();
    MPI_File_iwrite_at(file, 400 * rank, a, 100, MPI_INT, r); /* send-changed: buf */
    a[5] = -1;
    MPI_Wait(r, no);
    MPI_File_close(&file);
}

RIGHT(iwrite_kept, 1)
{
    make();
    MPI_File_iwrite_at(file, 400 * rank, a, 100, MPI_INT, r);
    MPI_Wait(r, no);
    a[5] = -1;
    MPI_File_close(&file);
}

WRONG(iread_twice_into_one_place, 1)
{
    make();
    MPI_File_iread_at(file, 0, b, 10, MPI_INT, r);
    MPI_File_iread_at(file, 0, b + 5, 10, MPI_INT, r + 1); /* overlap: buf */
    MPI_Waitall(2, r, none);
    MPI_File_close(&file);
}

RIGHT(iread_into_two_places, 1)
{
    make();
    MPI_File_iread_at(file, 0, b, 10, MPI_INT, r);
    MPI_File_iread_at(file, 0, b + 10, 10, MPI_INT, r + 1);
    MPI_Waitall(2, r, none);
    MPI_File_close(&file);
}

ASTRAY(other_collective_on_a_file, 2)
{
    make();
    if (rank == size - 1)
        MPI_File_iread_all(file, b, 1, MPI_INT, r); /* collective-order: - in last */
    else
        MPI_File_iwrite_all(file, a, 1, MPI_INT, r); /* collective-order: - in first */
}

RIGHT(files_in_another_order, 2)
{
    MPI_File other;
    make();
    MPI_File_open(comm, "check_set.other", WRITE, MPI_INFO_NULL, &other);
    MPI_File_iwrite_all(rank == 0 ? file : other, a, 1, MPI_INT, r);
    MPI_File_iwrite_all(rank == 0 ? other : file, a, 1, MPI_INT, r + 1);
    MPI_Waitall(2, r, none);
    MPI_File_write(file, a, rank, MPI_INT, no); /* each as often as it likes */
    if (rank == 0)
        MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_close(&other);
    MPI_File_close(&file);
}

WRONG(split_write_changed, 1)
{
    make();
    MPI_File_write_at_all_begin(file, 40 * rank, a, 10, MPI_INT); /* send-changed: buf */
    a[5] = -1;
    MPI_File_write_at_all_end(file, a, no);
    MPI_File_close(&file);
}

RIGHT(split_write_kept, 1)
{
    make();
    MPI_File_write_at_all_begin(file, 40 * rank, a, 10, MPI_INT);
    a[10] = -1;
    MPI_File_write_at_all_end(file, a, no);
    a[5] = -1;
    MPI_File_close(&file);
}

WRONG(sent_while_it_is_read, 1)
{
    make();
    MPI_File_read_at_all_begin(file, 0, b, 10, MPI_INT);
    MPI_Send(b, 1, MPI_INT, next, 1, comm); /* overlap: buf */
    MPI_File_read_at_all_end(file, b, no);
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_File_close(&file);
}

RIGHT(sent_after_it_is_read, 1)
{
    make();
    MPI_File_read_at_all_begin(file, 0, b, 10, MPI_INT);
    MPI_File_read_at_all_end(file, b, no);
    MPI_Send(b, 1, MPI_INT, next, 1, comm);
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_File_close(&file);
}
