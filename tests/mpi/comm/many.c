/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators by the thousand: made and freed again and again in the same memory, and many alive at once. */
/* ranks: 1 2 4 */
#include "../check.h"

enum { CYCLES = 10000, ALIVE = 500 };

/* KB of memory this process has; 0: not known, or not to be judged (AddressSanitizer and Valgrind keep what is
 * freed). */
static long resident(void)
{
    long pages = 0;
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload"))
        return 0;
#ifndef __SANITIZE_ADDRESS__
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
#endif
    return pages * 4;
}

static void cycle(int i)
{
    MPI_Comm d;
    MPI_Request r;
    switch (i % 8) {
    case 0:
        MPI_Comm_idup(MPI_COMM_WORLD, &d, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -i, &d);
        break;
    default:
        MPI_Comm_dup(MPI_COMM_WORLD, &d);
    }
    MPI_Comm_free(&d);
}

static void cycles(void)
{
    long before;
    for (int i = 0; i < CYCLES / 10; i++)
        cycle(i);
    before = resident();
    for (int i = 0; i < CYCLES; i++)
        cycle(i);
    CHECK(resident() <= before + 256, "%ld KB after %d cycles, %ld KB after %d", before, CYCLES / 10,
          resident(), CYCLES + CYCLES / 10);
}

static void alive(void)
{
    static MPI_Comm c[ALIVE];
    int sum;
    for (int i = 0; i < ALIVE; i++)
        if (i % 2)
            MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &c[i]);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
    for (int i = ALIVE - 1; i >= 0; i -= 7) {
        sum = check_rank + i;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * i);
    }
    for (int i = 0; i < ALIVE; i++)
        MPI_Comm_free(&c[i]);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    cycles();
    alive();
    return check_done();
}
