/* SPDX-License-Identifier: BSD-3-Clause */
/* Forms of access that differ in where they begin and how they end: each writes, or reads, what another form reads
 * or has written. */
/* ranks: 1 2 3 */
#include "io.h"

enum { N = 1000 /* ints of each rank */ };

static int out[N], in[N];

static void fill(int form)
{
    for (int i = 0; i < N; i++)
        out[i] = 1000000 * form + 10000 * check_rank + i;
    memset(in, -1, sizeof in);
}

/* The file has what this rank should have written. */
static void look(MPI_File f, const char *form)
{
    MPI_Status s;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR(MPI_File_read_at(f, (MPI_Offset)check_rank * N, in, N, MPI_INT, &s), MPI_SUCCESS);
    CHECK(io_count(&s) == (int)sizeof in && memcmp(in, out, sizeof in) == 0, "%s", form);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void came(const MPI_Status *s, const char *form)
{
    CHECK(io_count(s) == (int)sizeof in && memcmp(in, out, sizeof in) == 0, "%s", form);
    memset(in, -1, sizeof in);
}

static void finish(MPI_Request *r, MPI_Status *s)
{
    CHECK(*r != MPI_REQUEST_NULL, "no request");
    MPI_Wait(r, s);
}

static void writes(MPI_File f, MPI_Offset mine)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    fill(1);
    CHECK_ERR(MPI_File_iwrite_at_all(f, mine, out, N, MPI_INT, &r), MPI_SUCCESS);
    finish(&r, &s);
    look(f, "MPI_File_iwrite_at_all");
    fill(2);
    MPI_File_seek(f, mine, MPI_SEEK_SET);
    CHECK_ERR(MPI_File_write_all_begin(f, out, N, MPI_INT), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_all_end(f, out, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), (int)sizeof out);
    look(f, "MPI_File_write_all_begin");
}

static void reads(MPI_File f, MPI_Offset mine)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Offset at;
    fill(3);
    CHECK_ERR(MPI_File_write_at_all(f, mine, out, N, MPI_INT, &s), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(f, mine, MPI_SEEK_SET);
    CHECK_ERR(MPI_File_iread(f, in, N, MPI_INT, &r), MPI_SUCCESS);
    finish(&r, &s);
    came(&s, "MPI_File_iread");
    MPI_File_seek(f, mine, MPI_SEEK_SET);
    CHECK_ERR(MPI_File_iread_all(f, in, N, MPI_INT, &r), MPI_SUCCESS);
    finish(&r, &s);
    came(&s, "MPI_File_iread_all");
    MPI_File_get_position(f, &at);
    CHECK_EQ(at, mine + N, "behind what was read");
    CHECK_ERR(MPI_File_iread_at_all(f, mine, in, N, MPI_INT, &r), MPI_SUCCESS);
    finish(&r, &s);
    came(&s, "MPI_File_iread_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    CHECK_ERR(MPI_File_iread_shared(f, in, N, MPI_INT, &r), MPI_SUCCESS);
    finish(&r, &s);
    int whose = in[0] / 10000 % 100, seen = 0, all = 0;
    CHECK(io_count(&s) == (int)sizeof in && whose < check_size && in[N - 1] == in[0] + N - 1,
          "MPI_File_iread_shared: of rank %d", whose);
    seen = 1 << whose;
    MPI_Allreduce(&seen, &all, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
    CHECK_EQ(all, (1 << check_size) - 1, "each part was read by one rank");
}

int main(int argc, char **argv)
{
    MPI_File f;
    check_init(&argc, &argv);
    io_file("forms");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    writes(f, (MPI_Offset)check_rank * N);
    reads(f, (MPI_Offset)check_rank * N);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    io_remove();
    return check_done();
}
