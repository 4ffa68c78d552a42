/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be called before MPI_Init and after MPI_Finalize works then. */
/* ranks: 1 3 */
#include <check.h>

static int bad;

static void expect(int ok, const char *what, const char *when)
{
    if (!ok) {
        fprintf(stderr, "%s %s\n", what, when);
        bad = 1;
    }
}

static void anytime(const char *when, int initialized, int finalized)
{
    int a = -1, b = -1, len = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], error[MPI_MAX_ERROR_STRING];
    expect(MPI_Initialized(&a) == MPI_SUCCESS && a == initialized, "MPI_Initialized", when);
    expect(MPI_Finalized(&a) == MPI_SUCCESS && a == finalized, "MPI_Finalized", when);
    expect(MPI_Get_version(&a, &b) == MPI_SUCCESS && a == MPI_VERSION && b == MPI_SUBVERSION,
           "MPI_Get_version", when);
    expect(MPI_Abi_get_version(&a, &b) == MPI_SUCCESS && a == MPI_ABI_VERSION && b == MPI_ABI_SUBVERSION,
           "MPI_Abi_get_version", when);
    expect(MPI_Get_library_version(text, &len) == MPI_SUCCESS && len > 0 && (int)strlen(text) == len,
           "MPI_Get_library_version", when);
    expect(MPI_Error_class(MPI_ERR_TAG, &a) == MPI_SUCCESS && a == MPI_ERR_TAG, "MPI_Error_class", when);
    expect(MPI_Error_string(MPI_ERR_TAG, error, &len) == MPI_SUCCESS && strstr(error, "tag"),
           "MPI_Error_string", when);
#ifndef ABI_OPENMPI /* whose integers are its own */
    expect(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101, "MPI_Comm_toint", when);
#endif
    expect(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "MPI_Comm_fromint", when);
    expect(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE, "MPI_Type_fromint", when);
    double t = MPI_Wtime();
    expect(MPI_Wtime() >= t && MPI_Wtick() > 0 && MPI_Wtick() < 1, "MPI_Wtime", when);
}

int main(int argc, char **argv)
{
    anytime("before MPI_Init", 0, 0);
    MPI_Init(&argc, &argv);
    anytime("within", 1, 0);
    MPI_Finalize();
    anytime("after MPI_Finalize", 1, 1);
    return bad;
}
