/* SPDX-License-Identifier: BSD-3-Clause */
/* Of binaries.test: a program of parallel HDF5.  Each rank writes its rows of a dataset, collectively, and reads
 * those of another; an attribute; a chunked dataset that is extended.  Prints sums, which do not depend on the
 * number of ranks. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 60, COLUMNS = 40 };

static hid_t transfer(void)
{
    hid_t p = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(p, H5FD_MPIO_COLLECTIVE);
    return p;
}

/* The rows of one rank: in the file, and in memory. */
static hid_t part(hid_t file, int rank, int ranks, hsize_t *rows)
{
    hsize_t start[2] = { (hsize_t)(ROWS * rank / ranks), 0 };
    hsize_t count[2] = { (hsize_t)(ROWS * (rank + 1) / ranks) - start[0], COLUMNS };
    H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL);
    *rows = count[0];
    return H5Screate_simple(2, count, NULL);
}

int main(int argc, char **argv)
{
    static double mine[ROWS][COLUMNS];
    int rank, ranks;
    double sum = 0, weighted = 0, all[2], both[2];
    hsize_t rows, dims[2] = { ROWS, COLUMNS }, chunk[2] = { 7, 11 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_DATASET_CREATE), dxpl = transfer();
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_chunk(create, 2, chunk);
    hid_t file = H5Fcreate("data.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access),
          space = H5Screate_simple(2, dims, NULL);
    hid_t plain = H5Dcreate2(file, "plain", H5T_IEEE_F64BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t chunked = H5Dcreate2(file, "chunked", H5T_NATIVE_INT, space, H5P_DEFAULT, create, H5P_DEFAULT);
    hid_t memory = part(space, rank, ranks, &rows);
    for (hsize_t i = 0; i < rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            mine[i][j] = (double)(ROWS * rank / ranks + (int)i) * 1000 + j;
    int bad = H5Dwrite(plain, H5T_NATIVE_DOUBLE, memory, space, dxpl, mine) < 0;
    bad |= H5Dwrite(chunked, H5T_NATIVE_DOUBLE, memory, space, dxpl, mine) < 0;
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    hid_t other = part(space, (rank + 1) % ranks, ranks, &rows);
    for (int k = 0; k < 2; k++) {
        bad |= H5Dread(k ? chunked : plain, H5T_NATIVE_DOUBLE, other, space, dxpl, mine) < 0;
        for (hsize_t i = 0; i < rows; i++)
            for (int j = 0; j < COLUMNS; j++) {
                sum += mine[i][j];
                weighted += mine[i][j] * (j + 1 + k);
            }
    }
    both[0] = sum;
    both[1] = bad ? -1e30 : weighted;
    MPI_Reduce(both, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sums %.0f %.0f\n", all[0], all[1]);
    H5Dclose(plain);
    H5Dclose(chunked);
    H5Fclose(file);
    MPI_Finalize();
    return 0;
}
