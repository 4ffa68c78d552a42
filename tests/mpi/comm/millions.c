/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten million communicators made and freed, 60,000 alive at once; what that costs is printed. */
/* ranks: 1 2 */
/* part: long */
/* timeout: 900 */
#include "../check.h"

enum { MADE = 10000000, ALIVE = 60000 };

static long resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

static void made(void)
{
    MPI_Comm c;
    double t = MPI_Wtime();
    for (int i = 0; i < MADE; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_free(&c);
    }
    t = MPI_Wtime() - t;
    if (check_rank == 0)
        printf("%d ranks: %d made and freed in %.1f s, %.0f a second\n", check_size, MADE, t, MADE / t);
}

static void alive(void)
{
    MPI_Comm *c = malloc(ALIVE * sizeof *c);
    int sum = 0;
    memset(c, 0, ALIVE * sizeof *c);
    long before = resident();
    double t = MPI_Wtime();
    for (int i = 0; i < ALIVE; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
    t = MPI_Wtime() - t;
    if (check_rank == 0)
        printf("%d alive: %.0f bytes each, %.0f a second\n", ALIVE,
               1024.0 * (double)(resident() - before) / ALIVE, ALIVE / t);
    for (int i = 0; i < ALIVE; i += 1009) {
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(sum, i * check_size);
    }
    for (int i = 0; i < ALIVE; i++) /* freed in another order */
        MPI_Comm_free(&c[(i * 7919LL) % ALIVE]);
    free(c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    made();
    alive();
    return check_done();
}
