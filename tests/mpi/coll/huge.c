/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts beyond 2^31: bcast and allreduce of 2^31 + 5 bytes.  Needs 9 GB; says so and passes where there is less. */
/* ranks: 2 */
/* part: long */
/* timeout: 300 */
/* stdout: (whole|skipped) */
#include "../check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Count n = ((MPI_Count)1 << 31) + 5;
    long long room = (long long)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int enough = room > 12ll << 30;
    unsigned char *x = NULL;
    check_init(&argc, &argv);
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!enough) {
        if (check_rank == 0)
            printf("skipped: less than 12 GB are free\n");
        return check_done();
    }
    x = malloc((size_t)n);
    memset(x, check_rank == 0 ? 9 : 1, (size_t)n);
    x[n - 1] = (unsigned char)(check_rank == 0 ? 17 : 1);
    MPI_Bcast_c(x, n, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
    CHECK_EQ(x[0], 9);
    CHECK_EQ(x[n - 2], 9);
    CHECK_EQ(x[n - 1], 17);
    MPI_Allreduce_c(MPI_IN_PLACE, x, n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(x[0], 9 * check_size);
    CHECK_EQ(x[n / 2], 9 * check_size);
    CHECK_EQ(x[n - 1], 17 * check_size);
    free(x);
    if (check_rank == 0 && !check_failures)
        printf("whole\n");
    return check_done();
}
