/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic mode: what one access writes is seen whole or not at all, among processes and among nonblocking accesses
 * of one process; more of them at a time than the library has room for; accesses that do not overlap go on beside
 * each other. */
/* ranks: 1 2 4 12 */
/* across: the locks are other ones between nodes */
#include "io.h"

enum { WORDS = 4000, ROUNDS = 30, MANY = 4 };

static MPI_File open_view(void)
{
    MPI_File f;
    MPI_Datatype ft;
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    MPI_Type_create_resized(MPI_INT, 0, 12, &ft); /* pieces, which no system call keeps together */
    MPI_Type_commit(&ft);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, ft, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&ft);
    CHECK_ERR(MPI_File_set_atomicity(f, 1), MPI_SUCCESS);
    return f;
}

static void all_alike(const int *v, int n)
{
    for (int i = 1; i < n; i++)
        if (v[i] != v[0]) {
            CHECK(0, "word %d is %d, and the first is %d", i, v[i], v[0]);
            return;
        }
}

static void fill(int *v, int value)
{
    for (int i = 0; i < WORDS; i++)
        v[i] = value;
}

/* All write the same place, and read it. */
static void same_place(MPI_File f)
{
    static int out[MANY][WORDS], in[MANY][WORDS];
    MPI_Request r[2 * MANY];
    MPI_Status s[2 * MANY];
    for (int k = 0; k < ROUNDS; k++) {
        fill(out[0], check_rank * ROUNDS + k);
        CHECK_ERR(MPI_File_write_at(f, 0, out[0], WORDS, MPI_INT, &s[0]), MPI_SUCCESS);
        CHECK_ERR(MPI_File_read_at(f, 0, in[0], WORDS, MPI_INT, &s[0]), MPI_SUCCESS);
        all_alike(in[0], WORDS);
    }
    for (int k = 0; k < ROUNDS / MANY; k++) {
        for (int i = 0; i < MANY; i++) {
            fill(out[i], (check_rank * ROUNDS + k) * MANY + i);
            CHECK_ERR(MPI_File_iwrite_at(f, 0, out[i], WORDS, MPI_INT, &r[2 * i]), MPI_SUCCESS);
            CHECK_ERR(MPI_File_iread_at(f, 0, in[i], WORDS, MPI_INT, &r[2 * i + 1]), MPI_SUCCESS);
        }
        CHECK_ERR(MPI_Waitall(2 * MANY, r, s), MPI_SUCCESS);
        for (int i = 0; i < MANY; i++)
            all_alike(in[i], WORDS);
    }
}

/* Each has its place, which overlaps that of its neighbor by half. */
static void chain(MPI_File f)
{
    static int out[WORDS], in[WORDS];
    MPI_Status s;
    MPI_Offset mine = (MPI_Offset)check_rank * WORDS / 2;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < ROUNDS; k++) {
        fill(out, check_rank * ROUNDS + k);
        CHECK_ERR(MPI_File_write_at(f, mine, out, WORDS, MPI_INT, &s), MPI_SUCCESS);
        CHECK_ERR(MPI_File_read_at(f, mine, in, WORDS, MPI_INT, &s), MPI_SUCCESS);
        all_alike(in, WORDS / 2);
        all_alike(in + WORDS / 2, WORDS / 2);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    io_file("atomic");
    MPI_File f = open_view();
    same_place(f);
    chain(f);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    io_remove();
    return check_done();
}
