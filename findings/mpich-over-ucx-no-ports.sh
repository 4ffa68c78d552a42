#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian 12's MPICH 4.0.2-3+b1 (Debian 13's 4.2.1 likewise), which is built over UCX (device ch4:ucx), has no ports under its own mpiexec:
# MPI_Open_port returns MPI_ERR_OTHER, "The function is currently not supported with ucx netmod", and MPI_Comm_spawn, whose jobs meet by such a
# port, MPI_ERR_OTHER, "Error in spawn call".  So no program that spawns or connects jobs runs with it.  One would have guessed that a distribution's
# MPICH has all of MPI's dynamic processes, as the standard asks for them, its mpiexec starts spawned jobs, and all functions are there to be linked.
#
# Seen: device: ch4:ucx
#       MPI_Open_port: MPI_ERR_OTHER: The function is currently not supported with ucx netmod
#       MPI_Comm_spawn: MPI_ERR_OTHER: Error in spawn call
. "$(dirname "$0")/common.sh"
system bookworm mpich=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1 gcc libc6-dev
cat >"$root/tmp/ports.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static void say(const char *function, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, size;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &size);
    char *last = strrchr(text, ':'); /* of the lines of its error stack */
    printf("%s: %s:%s\n", function, class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : class == MPI_SUCCESS ? "MPI_SUCCESS" : "another",
           last ? last + 1 : text);
}
int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm spawned;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&spawned);
    if (spawned == MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        say("MPI_Open_port", MPI_Open_port(MPI_INFO_NULL, port));
        say("MPI_Comm_spawn", MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &spawned, MPI_ERRCODES_IGNORE));
    }
    MPI_Finalize();
    return 0;
}
C
inside "$root" "mpicc.mpich -o /tmp/ports /tmp/ports.c" || exit 1
expect "device" "$(inside "$root" mpichversion | sed -n 's/^MPICH Device:[[:space:]]*//p')" "ch4:ucx"
seen=$(inside "$root" "timeout 60 mpiexec.hydra -n 1 /tmp/ports")
value() { sed -n "s/^$1: //p" <<<"$seen"; }
expect "MPI_Open_port" "$(value MPI_Open_port)" "MPI_ERR_OTHER: The function is currently not supported with ucx netmod"
expect "MPI_Comm_spawn" "$(value MPI_Comm_spawn)" "MPI_ERR_OTHER: Error in spawn call"
