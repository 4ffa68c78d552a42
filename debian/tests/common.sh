# SPDX-License-Identifier: BSD-3-Clause
# What the tests share; sourced by them.  They run in a folder of their own.
set -eu
cd "${AUTOPKGTEST_TMP:?expected a folder for the test}"
triplet=$(gcc -dumpmachine)

fail() {
    echo "$*" >&2
    exit 1
}

same() { # WHAT IS EXPECTED
    [ "$2" = "$3" ] || fail "$1: \"$2\", expected \"$3\""
}

# A sum over all ranks, each with its number: 4 ranks give 6.
cat >sum.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
C
expected="4 ranks, sum 6"

runs() { # WHAT COMMAND...: on 4 ranks, by Keel
    what=$1
    shift
    same "$what" "$(mpiexec.keel -n 4 "$@")" "$expected"
}

library_of() { # PROGRAM: the libraries of an MPI that mpiexec.keel gives it
    mpiexec.keel -n 1 sh -c "LD_TRACE_LOADED_OBJECTS=1 $1" | sed -n 's/.*=> \(.*lib[^ ]*mpi[^ ]*\) .*/\1/p'
}
