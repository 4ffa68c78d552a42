/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix that names the kind of a file system, as ROMIO has them, is no part of the file's name; other colons are. */
/* ranks: 1 3 */
#include "io.h"

static int exists(const char *name)
{
    return access(name, F_OK) == 0;
}

/* The file is made as `prefix``name`, and so deleted. */
static void made_as(const char *prefix, const char *name, const char *is)
{
    char given[600];
    MPI_File f;
    snprintf(given, sizeof given, "%s%s", prefix, name);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, given, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f),
             MPI_SUCCESS);
    CHECK_EQ(MPI_File_close(&f), MPI_SUCCESS);
    CHECK_EQ(exists(is), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        CHECK_EQ(MPI_File_delete(given, MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(exists(is), 0);
}

int main(int argc, char **argv)
{
    static const char *const prefixes[] = { "ufs:", "nfs:", "lustre:",     "gpfs:",   "pvfs2:", "panfs:",
                                            "xfs:", "UFS:", "bglockless:", "testfs:", "" };
    char folder[256], other[400];
    MPI_File f;
    check_init(&argc, &argv);
    const char *name = io_file("prefix");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        made_as(prefixes[i], name, name);
    snprintf(other, sizeof other, "%s:12:30", name);
    made_as("ufs:", other, other);
    made_as("", other, other);

    snprintf(folder, sizeof folder, "%.200s", name);
    *strrchr(folder, '/') = '\0';
    CHECK_EQ(chdir(folder), 0);
    snprintf(other, sizeof other, "nothing:%s", strrchr(name, '/') + 1);
    made_as("", other, other);
    check_errors_return();
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, "ufs:", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    return check_done();
}
