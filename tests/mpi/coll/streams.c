/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts that run ahead of their readers, are larger than any memory between, change roots, and are of any form. */
/* ranks: 1 2 3 5 8 17 */
/* timeout: 120 */
#include "../check.h"

enum { LARGE = 700001 };

static int val(int root, int k, int i)
{
    return root * 1000003 + k * 977 + i;
}

/* One after the other, sometimes from the same root, small and large by turns. */
static void many(MPI_Comm c, int ahead)
{
    static const int counts[] = { 1, 0, 250, 251, 9000, 2, 40000 };
    static int a[40001];
    int rank, p;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &p);
    for (int k = 0; k < 150; k++) {
        int root = ahead ? 0 : k * 5 % p, n = k % 3 == 2 ? counts[k % 7] : 1;
        for (int i = 0; i <= n; i++)
            a[i] = rank == root ? val(root, k, i) : -1;
        MPI_Bcast(a, n, MPI_INT, root, c);
        for (int i = 0; i < n; i++)
            if (a[i] != val(root, k, i)) {
                CHECK_EQ(a[i], val(root, k, i), "bcast %d from %d, element %d of %d", k, root, i, n);
                break;
            }
        if (rank != root)
            CHECK_EQ(a[n], -1, "bcast %d: beyond the end", k);
    }
}

/* Far larger than the ring; here and there in other types, with gaps. */
static void large(void)
{
    MPI_Datatype vec, big;
    int *a = malloc(2 * LARGE * sizeof *a);
    MPI_Type_create_resized(MPI_INT, 0, 8, &vec);
    MPI_Type_commit(&vec);
    MPI_Type_vector(LARGE, 1, 2, MPI_INT, &big);
    MPI_Type_commit(&big);
    for (int root = 0; root<check_size; root += check_size> 4 ? 4 : 1) {
        for (int i = 0; i < 2 * LARGE; i++)
            a[i] = check_rank == root && i % 2 == 0 ? val(root, 3, i / 2) : -1;
        if (check_rank % 2)
            MPI_Bcast(a, LARGE, vec, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(a, 1, big, root, MPI_COMM_WORLD);
        for (int i = 0; i < 2 * LARGE; i++)
            if (a[i] != (i % 2 ? -1 : val(root, 3, i / 2))) {
                CHECK_EQ(a[i], i % 2 ? -1 : val(root, 3, i / 2), "large bcast from %d, element %d", root, i);
                break;
            }
    }
    MPI_Type_free(&vec);
    MPI_Type_free(&big);
    free(a);
}

/* Readers that expect something else hear of it, whatever the sizes, nobody else does, and what follows is right. */
static void differ(int shown, int expected)
{
    int *a = calloc(LARGE, sizeof *a), odd = check_size - 1, v = check_rank == 0 ? 4711 : 0;
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int k = 0; k < 6; k++)
        MPI_Barrier(c);
    int err = MPI_Bcast(a, check_rank == odd ? expected : shown, MPI_INT, 0, c), errclass;
    MPI_Error_class(err, &errclass);
    CHECK_EQ(errclass, check_rank == odd && odd > 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "%d shown, %d expected",
             shown, expected);
    MPI_Bcast(&v, 1, MPI_INT, 0, c);
    CHECK_EQ(v, 4711);
    if (odd > 0) /* the one that did not want the pieces may be the next source of some */
        MPI_Bcast(a, 100000, MPI_INT, odd, c);
    many(c, 0);
    MPI_Comm_free(&c);
    free(a);
}

static int one_node(void)
{
    MPI_Comm node;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n == check_size;
}

static void all_differ(void)
{
    differ(1, 2);
    differ(2, 1);
    differ(1, LARGE);
    differ(LARGE, 1);
    differ(0, 3);
    differ(3, 0);
    differ(100000, 100001);
}

int main(int argc, char **argv)
{
    MPI_Comm c;
    check_init(&argc, &argv);
    check_errors_return();
    many(MPI_COMM_WORLD, 1);
    many(MPI_COMM_WORLD, 0);
    large();
    if (one_node())
        all_differ();
    for (int k = 0; k < 40; k++) { /* the memory of teams is used again */
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &c);
        if (k % 10 == 0)
            many(c, k % 20 == 0);
        MPI_Comm_free(&c);
    }
    return check_done();
}
