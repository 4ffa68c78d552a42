#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian unstable's MPICH 5.0.2-2: under its own mpiexec each rank takes itself to be alone on its node.  On one host MPI_Comm_split_type with
# MPI_COMM_TYPE_SHARED gives communicators of one rank, and MPI_Win_allocate_shared over two ranks is refused ("processes are not in the same shared memory
# domain").  mpiexec has the place of each rank (PMI_process_mapping), but the library does not ask for it, with the defaults of its variables
# (MPIR_CVAR_NOLOCAL is 0); 4.2.1 of Debian 13 asks, and does both.  One would have guessed what the older ones do.
#
# Seen: ranks on the node: 1; shared window: processes are not in the same shared memory domain; PMI_process_mapping asked for 0 times
. "$(dirname "$0")/common.sh"
system sid mpich=5.0.2-2 libmpich-dev=5.0.2-2 libmpich12=5.0.2-2 gcc libc6-dev
cat >"$root/tmp/node.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING] = ": given";
    MPI_Comm node;
    MPI_Win window;
    void *base;
    int rank, ranks, size, code;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    if (code == MPI_SUCCESS)
        MPI_Win_free(&window);
    else
        MPI_Error_string(code, text, &size);
    if (rank == 0)
        printf("ranks on the node: %d; shared window%s\n", ranks, strrchr(text, ':'));
    MPI_Finalize();
    return 0;
}
C
inside "$root" "mpicc.mpich -o /tmp/node /tmp/node.c" || exit 1
expect "on one host, two ranks" "$(inside "$root" "timeout 60 mpiexec.hydra -n 2 /tmp/node")" \
    "ranks on the node: 1; shared window: processes are not in the same shared memory domain"
expect "PMI_process_mapping asked for" "$(inside "$root" "timeout 60 mpiexec.hydra -verbose -n 2 /tmp/node 2>&1" | grep -c 'key=PMI_process_mapping')" 0
