/* SPDX-License-Identifier: BSD-3-Clause */
/* The copies of a caller's arrays are in the request itself: a nonblocking exchange among up to 16 ranks allocates
 * no more with arrays than without. */
/* ranks: 2 16 */
/* env: KEEL_COLL=alltoall=pairwise,alltoallv=pairwise,alltoallw=pairwise */
#include "../check.h"

#ifndef __SANITIZE_ADDRESS__ /* which has its own malloc */
extern void *__libc_malloc(size_t n);
static long allocations;
void *malloc(size_t n)
{
    allocations++;
    return __libc_malloc(n);
}
#else
static long allocations;
#endif

enum kind { PLAIN, V, W };
enum { CALLS = 20 };

static long allocations_of(enum kind kind)
{
    static int s[64], r[64], counts[64], displs[64];
    MPI_Datatype types[64];
    for (int i = 0; i < check_size; i++) {
        counts[i] = 1;
        displs[i] = kind == W ? i * (int)sizeof(int) : i;
        types[i] = MPI_INT;
    }
    long before = allocations;
    for (int i = 0; i < CALLS; i++) {
        MPI_Request q;
        if (kind == W)
            MPI_Ialltoallw(s, counts, displs, types, r, counts, displs, types, MPI_COMM_WORLD, &q);
        else if (kind == V)
            MPI_Ialltoallv(s, counts, displs, MPI_INT, r, counts, displs, MPI_INT, MPI_COMM_WORLD, &q);
        else
            MPI_Ialltoall(s, 1, MPI_INT, r, 1, MPI_INT, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    return allocations - before;
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int kind = 0; kind < 3; kind++)
        allocations_of(kind); /* what is made once */
    /* One a call would be CALLS more; a message that comes early may take one, in any of them. */
    long plain = allocations_of(PLAIN), v = allocations_of(V), w = allocations_of(W);
    CHECK(v < plain + CALLS / 2, "of alltoallv: %ld, without arrays %ld", v, plain);
    CHECK(w < plain + CALLS / 2, "of alltoallw: %ld, without arrays %ld", w, plain);
    return check_done();
}
