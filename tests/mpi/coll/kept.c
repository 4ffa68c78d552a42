/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of long vectors one after another get the memory of their temporary data from the one before, not
 * from the system. */
/* ranks: 4 */
/* env: KEEL_COLL=reduce=binomial,reduce_scatter=halving */
#include <sys/resource.h>
#include "../check.h"

enum { COUNT = 128 << 10, BYTES = COUNT * (int)sizeof(double), CALLS = 20, PAGE = 4096 };

static void run(double *in, double *out, int calls)
{
    for (int i = 0; i < calls; i++) {
        MPI_Reduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce_scatter_block(in, out, COUNT / 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static long pages(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_minflt;
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    double *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < COUNT; i++)
        in[i] = i % 7;
    run(in, out, 5);
    long before = pages();
    run(in, out, CALLS);
    /* What is taken from the system and given back is a vector and more, or 256 pages. */
    long each = (pages() - before) / CALLS;
    CHECK(each < BYTES / PAGE / 2, "%ld new pages a call", each);
    for (int i = 0; i < COUNT / 4; i++)
        CHECK(out[i] == 4 * in[check_rank * (COUNT / 4) + i]);
    free(in);
    free(out);
    return check_done();
}
