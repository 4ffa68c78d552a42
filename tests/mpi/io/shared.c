/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file pointer: appends of all ranks are whole and lose nothing; ordered access is in the order of
 * ranks; seek. */
/* ranks: 1 2 3 5 8 */
/* across: rank 0 has the pointer */
#include "io.h"

enum { RECORDS = 50, INTS = 4 };

static void appends(MPI_File f, int nonblocking)
{
    int rec[INTS], *all, seen[16] = { 0 };
    MPI_Offset at;
    MPI_Status s;
    CHECK_ERR(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_SUCCESS);
    for (int i = 0; i < RECORDS; i++) {
        MPI_Request r;
        rec[0] = rec[3] = check_rank;
        rec[1] = rec[2] = i;
        if (nonblocking) {
            CHECK_ERR(MPI_File_iwrite_shared(f, rec, INTS, MPI_INT, &r), MPI_SUCCESS);
            CHECK_ERR(MPI_Wait(&r, &s), MPI_SUCCESS);
        } else {
            CHECK_ERR(MPI_File_write_shared(f, rec, INTS, MPI_INT, &s), MPI_SUCCESS);
        }
        CHECK_EQ(io_count(&s), sizeof rec);
    }
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
    CHECK_ERR(MPI_File_get_position_shared(f, &at), MPI_SUCCESS);
    CHECK_EQ(at, check_size * RECORDS * INTS);
    all = calloc((size_t)(check_size * RECORDS), sizeof rec);
    CHECK_ERR(MPI_File_read_at(f, 0, all, check_size * RECORDS * INTS, MPI_INT, &s), MPI_SUCCESS);
    for (int i = 0; i < check_size * RECORDS; i++) {
        int *one = all + i * INTS;
        if (one[0] < 0 || one[0] >= check_size || one[0] != one[3] || one[1] != one[2] ||
            one[1] != seen[one[0]]++) {
            check_wrong(__FILE__, __LINE__, "record %d is torn or out of order", i);
            break;
        }
    }
    free(all);
    /* reading shared: each record goes to one rank */
    long sum = 0, total = 0;
    CHECK_ERR(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_SUCCESS);
    for (int i = 0; i < RECORDS; i++) {
        CHECK_ERR(MPI_File_read_shared(f, rec, INTS, MPI_INT, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), sizeof rec);
        sum += rec[0] * 1000 + rec[1];
    }
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long expect = 0;
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < RECORDS; i++)
            expect += r * 1000 + i;
    CHECK_EQ(total, expect);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank r writes r + 1 ints. */
static void ordered(MPI_File f, int split)
{
    int v[16], got[16], n = check_rank + 1;
    MPI_Status s;
    MPI_Offset at;
    CHECK_ERR(MPI_File_seek_shared(f, 7, MPI_SEEK_SET), MPI_SUCCESS);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++)
            v[i] = round * 10000 + check_rank * 100 + i;
        if (split) {
            CHECK_ERR(MPI_File_write_ordered_begin(f, v, n, MPI_INT), MPI_SUCCESS);
            CHECK_ERR(MPI_File_write_ordered_end(f, v, &s), MPI_SUCCESS);
        } else {
            CHECK_ERR(MPI_File_write_ordered(f, v, n, MPI_INT, &s), MPI_SUCCESS);
        }
        CHECK_EQ(io_count(&s), n * 4);
    }
    int each = check_size * (check_size + 1) / 2;
    MPI_File_sync(f);
    CHECK_ERR(MPI_File_get_position_shared(f, &at), MPI_SUCCESS);
    CHECK_EQ(at, 7 + 3 * each);
    CHECK_ERR(MPI_File_seek_shared(f, -3 * each, MPI_SEEK_CUR), MPI_SUCCESS);
    for (int round = 0; round < 3; round++) {
        memset(got, 0, sizeof got);
        if (split) {
            CHECK_ERR(MPI_File_read_ordered_begin(f, got, n, MPI_INT), MPI_SUCCESS);
            CHECK_ERR(MPI_File_read_ordered_end(f, got, &s), MPI_SUCCESS);
        } else {
            CHECK_ERR(MPI_File_read_ordered(f, got, n, MPI_INT, &s), MPI_SUCCESS);
        }
        for (int i = 0; i < n; i++)
            CHECK_EQ(got[i], round * 10000 + check_rank * 100 + i);
        int first;
        MPI_File_read_at(f, 7 + round * each + check_rank * (check_rank + 1) / 2, &first, 1, MPI_INT, &s);
        CHECK_EQ(first, round * 10000 + check_rank * 100);
    }
}

static void sequential(void)
{
    MPI_File f;
    MPI_Offset at;
    char c = 'x';
    CHECK_ERR(
        MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f),
        MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_shared(f, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write(f, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERR(MPI_File_write_at(f, 0, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERR(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERR(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERR(MPI_File_get_position_shared(f, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
              MPI_SUCCESS);
    int v = 77;
    CHECK_ERR(MPI_File_write_ordered(f, &v, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    FILE *plain = fopen(io_name, "rb");
    fseek(plain, check_size + 4 * check_rank, SEEK_SET);
    CHECK(fread(&v, 4, 1, plain) == 1 && v == 77, "an int behind what all had written: %d", v);
    fclose(plain);
}

int main(int argc, char **argv)
{
    MPI_File f;
    check_init(&argc, &argv);
    io_file("shared");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    appends(f, 0);
    appends(f, 1);
    ordered(f, 0);
    ordered(f, 1);
    CHECK_ERR(MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Offset at = 5;
    MPI_File_get_position_shared(f, &at);
    CHECK_EQ(at, 0, "a view begins there");
    MPI_Barrier(MPI_COMM_WORLD);
    int v = check_rank;
    MPI_Request r;
    CHECK_ERR(MPI_File_iread_shared(f, &v, 1, MPI_INT, &r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    sequential();
    io_remove();
    return check_done();
}
