/* The copies of a caller's arrays are in the request itself: a nonblocking exchange among up to 16 ranks allocates no more with
 * arrays than without. */
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
    for (int i = 0; i < 20; i++) {
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
    long plain = allocations_of(PLAIN);
    CHECK_EQ(allocations_of(V), plain, "of alltoallv");
    CHECK_EQ(allocations_of(W), plain, "of alltoallw");
    return check_done();
}
