#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI 5.0.7 (Debian 13; 4.1.4 of Debian 12 and 6.0.0rc2 of unstable likewise): MPI_Dims_create of 72 processes in two dimensions
# is 12 6, of 180 is 18 10.  The standard has them "as close to each other as possible", which is 9 8 and 15 12, and what MPICH says.
# All other numbers up to 200 have the closest ones, 60, 144 and 200 among them.  So a program that lets MPI choose its grid has another one with
# another library, and what it has written a file a process for (a checkpoint) does not fit.
#
# Seen: Open MPI: 36: 6 6; 60: 10 6; 72: 12 6; 144: 12 12; 180: 18 10; 200: 20 10;
#       MPICH: 36: 6 6; 60: 10 6; 72: 9 8; 144: 12 12; 180: 15 12; 200: 20 10;
. "$(dirname "$0")/common.sh"
system trixie libmpich-dev=4.3.0+really4.2.1-1 openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 gcc libc6-dev
cat >"$root/tmp/dims.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int numbers[] = {36, 60, 72, 144, 180, 200};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 6; i++) {
        int dims[2] = {0, 0};
        MPI_Dims_create(numbers[i], 2, dims);
        printf("%d: %d %d; ", numbers[i], dims[0], dims[1]);
    }
    MPI_Finalize();
    return 0;
}
C
inside "$root" "mpicc.mpich -o /tmp/by_mpich /tmp/dims.c && mpicc.openmpi -o /tmp/by_openmpi /tmp/dims.c" || exit 1
expect "Open MPI" "$(inside "$root" /tmp/by_openmpi)" "36: 6 6; 60: 10 6; 72: 12 6; 144: 12 12; 180: 18 10; 200: 20 10; "
expect "MPICH" "$(inside "$root" /tmp/by_mpich)" "36: 6 6; 60: 10 6; 72: 9 8; 144: 12 12; 180: 15 12; 200: 20 10; "
