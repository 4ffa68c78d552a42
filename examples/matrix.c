/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: a distributed matrix, written by all ranks into one file that numpy reads.
 *
 * The ranks are a grid, and each has a block of the matrix.  The file is in numpy's format: rank 0 writes its
 * header, and the view of each rank is its block behind that.  One collective call writes the whole matrix.  Then
 * each rank reads the block of another one and compares.
 *
 *     mpicc -O2 -o matrix matrix.c -lm
 *     mpiexec -n 4 ./matrix waves.npy [ROWS COLUMNS]
 *     python3 matrix_show.py waves.npy waves.png */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

enum { HEADER = 128 /* bytes, as numpy aligns it */ };

struct block {
    int sizes[2], subsizes[2], starts[2];
};

/* Two waves that meet. */
static double value(const struct block *b, int row, int column)
{
    double y = (row + 0.5) / b->sizes[0], x = (column + 0.5) / b->sizes[1];
    return sin(60 * hypot(x - 0.3, y - 0.4)) + sin(60 * hypot(x - 0.7, y - 0.6));
}

/* Which part of `n` is the i-th of `parts`. */
static void divide(int n, int parts, int i, int *start, int *size)
{
    *start = (int)((long)n * i / parts);
    *size = (int)((long)n * (i + 1) / parts) - *start;
}

static struct block block_of(MPI_Comm grid, int rank, const int dims[2], int rows, int columns)
{
    struct block b = { .sizes = { rows, columns } };
    int at[2];
    MPI_Cart_coords(grid, rank, 2, at);
    for (int d = 0; d < 2; d++)
        divide(b.sizes[d], dims[d], at[d], &b.starts[d], &b.subsizes[d]);
    return b;
}

static void check(int err, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    if (err == MPI_SUCCESS)
        return;
    MPI_Error_string(err, text, &len);
    fprintf(stderr, "matrix: %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* numpy's format: magic, version 1.0, the length of the text, a text that ends with a newline. */
static void write_header(MPI_File f, int rows, int columns)
{
    char text[HEADER + 1];
    memset(text, ' ', sizeof text);
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    text[8] = HEADER - 10;
    text[9] = 0;
    int n =
        sprintf(text + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns);
    text[10 + n] = ' ';
    text[HEADER - 1] = '\n';
    check(MPI_File_write_at(f, 0, text, HEADER, MPI_BYTE, MPI_STATUS_IGNORE), "writing the header");
}

/* From here on the file is this block. */
static void set_view(MPI_File f, const struct block *b)
{
    MPI_Datatype part;
    MPI_Type_create_subarray(2, b->sizes, b->subsizes, b->starts, MPI_ORDER_C, MPI_DOUBLE, &part);
    MPI_Type_commit(&part);
    check(MPI_File_set_view(f, HEADER, MPI_DOUBLE, part, "native", MPI_INFO_NULL), "setting the view");
    MPI_Type_free(&part);
}

int main(int argc, char **argv)
{
    int rank, size, dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, wrong = 0;
    MPI_Comm grid;
    MPI_File f;
    MPI_Init(&argc, &argv);
    int rows = argc > 3 ? atoi(argv[2]) : 600, columns = argc > 3 ? atoi(argv[3]) : 800;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || rows < size || columns < size) {
        fprintf(stderr, "usage: matrix FILE [ROWS COLUMNS], both not below the number of ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    struct block mine = block_of(grid, rank, dims, rows, columns),
                 its = block_of(grid, (rank + 1) % size, dims, rows, columns);
    int n = mine.subsizes[0] * mine.subsizes[1], others = its.subsizes[0] * its.subsizes[1];
    double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)others * sizeof *b);
    for (int i = 0; i < n; i++)
        a[i] = value(&mine, mine.starts[0] + i / mine.subsizes[1], mine.starts[1] + i % mine.subsizes[1]);

    check(MPI_File_open(grid, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f),
          "opening the file");
    check(MPI_File_set_size(f, 0), "emptying the file");
    if (rank == 0)
        write_header(f, rows, columns);
    set_view(f, &mine);
    check(MPI_File_write_all(f, a, n, MPI_DOUBLE, MPI_STATUS_IGNORE), "writing");
    check(MPI_File_sync(f), "syncing"); /* what was written is there for the others after this, */
    MPI_Barrier(grid);                  /* this, */
    check(MPI_File_sync(f), "syncing"); /* and this */
    set_view(f, &its);
    check(MPI_File_read_all(f, b, others, MPI_DOUBLE, MPI_STATUS_IGNORE), "reading");
    check(MPI_File_close(&f), "closing the file");

    for (int i = 0; i < others; i++)
        wrong +=
            b[i] != value(&its, its.starts[0] + i / its.subsizes[1], its.starts[1] + i % its.subsizes[1]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, grid);
    if (rank == 0)
        printf("matrix: %d x %d in %d x %d blocks: %s\n", rows, columns, dims[0], dims[1],
               wrong ? "wrong" : "right");
    free(a);
    free(b);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong != 0;
}
