#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPICH 4.2.1 and Open MPI 5.0.7 (Debian 13; MPICH 4.0.2 and 5.0.2, Open MPI 4.1.4 and 6.0.0rc2 likewise), files in "external32", the format by
# which all MPI libraries read each other's files: an MPI_LONG has 4 bytes there, and both libraries convert it to 4; but the
# extent by which they find the data in the file is that in memory, 8 (MPI_File_get_type_extent).  So four numbers 1 2 3 4 written by one call lie
# in bytes 0 to 15, and of these the second one, read alone, is 3.  Written by a call each, they lie 8 bytes apart.  And MPICH's file has
# 32 bytes in both cases, Open MPI's 16 or 28.  One would have guessed 16 in all of these, the same bytes from both, and 2.  The types whose
# size in memory is the external one (MPI_INT, MPI_DOUBLE, MPI_INT64_T) are not touched by this, nor is MPI_Pack_external.
#
# Seen: MPICH: extent 8, packed 16, by one call 32 bytes, by four calls 32 bytes, the second is 3; of MPI_INT64_T 32 bytes, the second is 2
#       Open MPI: extent 8, packed 16, by one call 16 bytes, by four calls 28 bytes, the second is 3; of MPI_INT64_T 32 bytes, the second is 2
. "$(dirname "$0")/common.sh"
system trixie libmpich-dev=4.3.0+really4.2.1-1 openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 gcc libc6-dev
cat >"$root/tmp/file.c" <<'C'
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
static MPI_File new_file(MPI_Datatype type)
{
    MPI_File file;
    remove("/tmp/numbers");
    MPI_File_open(MPI_COMM_SELF, "/tmp/numbers", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, type, type, "external32", MPI_INFO_NULL);
    return file;
}
static int size(MPI_File file)
{
    MPI_Offset size;
    MPI_File_get_size(file, &size);
    MPI_File_close(&file);
    return (int)size;
}
int main(int argc, char **argv)
{
    long longs[4] = {1, 2, 3, 4}, second = 0;
    int64_t fixed[4] = {1, 2, 3, 4}, fixed_second = 0;
    char packed[64];
    MPI_Aint extent, used = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Pack_external("external32", longs, 4, MPI_LONG, packed, sizeof packed, &used);
    file = new_file(MPI_LONG);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    MPI_File_write_at(file, 0, longs, 4, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 1, &second, 1, MPI_LONG, MPI_STATUS_IGNORE);
    printf("extent %d, packed %d, by one call %d bytes, ", (int)extent, (int)used, size(file));
    file = new_file(MPI_LONG);
    for (int i = 0; i < 4; i++)
        MPI_File_write_at(file, i, &longs[i], 1, MPI_LONG, MPI_STATUS_IGNORE);
    printf("by four calls %d bytes, the second is %ld; ", size(file), second);
    file = new_file(MPI_INT64_T);
    MPI_File_write_at(file, 0, fixed, 4, MPI_INT64_T, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 1, &fixed_second, 1, MPI_INT64_T, MPI_STATUS_IGNORE);
    printf("of MPI_INT64_T %d bytes, the second is %d\n", size(file), (int)fixed_second);
    MPI_Finalize();
    return 0;
}
C
inside "$root" "mpicc.mpich -o /tmp/by_mpich /tmp/file.c && mpicc.openmpi -o /tmp/by_openmpi /tmp/file.c" || exit 1
rest="the second is 3; of MPI_INT64_T 32 bytes, the second is 2"
expect "MPICH" "$(inside "$root" /tmp/by_mpich)" "extent 8, packed 16, by one call 32 bytes, by four calls 32 bytes, $rest"
expect "Open MPI" "$(inside "$root" /tmp/by_openmpi)" "extent 8, packed 16, by one call 16 bytes, by four calls 28 bytes, $rest"
