/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_INFO_ENV has the values of mpiexec's options. */
/* ranks: 1 3 */
/* mpiexec: -soft 1:64 -host localhost -path /usr/bin:/bin -memory-alloc-kinds mpi,system -initial-errhandler mpi_errors_abort */
#include "../check.h"

static void expect(const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int flag = 0, len = sizeof text;
    MPI_Info_get_string(MPI_INFO_ENV, key, &len, text, &flag);
    CHECK(flag && !strcmp(text, value), "%s is \"%s\"; expected \"%s\"", key, text, value);
}

int main(int argc, char **argv)
{
    char ranks[16];
    check_init(&argc, &argv);
    sprintf(ranks, "%d", check_size);
    expect("maxprocs", ranks);
    expect("soft", "1:64");
    expect("host", "localhost");
    expect("path", "/usr/bin:/bin");
    expect("mpi_memory_alloc_kinds", "mpi,system");
    expect("mpi_initial_errhandler", "mpi_errors_abort");
    return check_done();
}
