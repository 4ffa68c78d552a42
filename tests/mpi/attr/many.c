/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* timeout: 60 */
/* Thousands of key values and attributes. */
#include "check.h"

enum { N = 20000 };
static int keys[N], values[N], deletes;

static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)extra;
    CHECK_EQ(keyval, keys[(int *)value - values]);
    deletes++;
    return MPI_SUCCESS;
}

static double seconds_a_get(MPI_Comm comm, int n)
{
    double start = MPI_Wtime(), took;
    int gets = 0;
    do {
        for (int i = 0; i < n; i++) {
            int *value = NULL, flag = 0;
            MPI_Comm_get_attr(comm, keys[i], &value, &flag);
            CHECK(flag && value == &values[i], "key %d", i);
        }
        gets += n;
        took = MPI_Wtime() - start;
    } while (took < 0.02);
    return took / gets;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, dup;
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < N; i++) {
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_fn, &keys[i], NULL);
        MPI_Comm_set_attr(comm, keys[i], &values[i]);
    }
    double few = seconds_a_get(comm, 4), all = seconds_a_get(comm, N);
    CHECK(all < 50 * few, "a get takes %g us among the first 4 keys, %g us among all", 1e6 * few, 1e6 * all);
    MPI_Comm_dup(comm, &dup);
    for (int i = 0; i < N; i += 2) /* holes */
        MPI_Comm_delete_attr(comm, keys[i]);
    CHECK_EQ(deletes, N / 2);
    for (int i = 0; i < N; i++) {
        int *value = NULL, flag = -1;
        MPI_Comm_get_attr(comm, keys[i], &value, &flag);
        CHECK_EQ(flag, i % 2);
        MPI_Comm_get_attr(dup, keys[i], &value, &flag);
        CHECK(flag && value == &values[i], "key %d", i);
    }
    for (int i = 0; i < 100000; i++) /* one place, over and over */
        MPI_Comm_set_attr(comm, keys[1], &values[1]);
    CHECK_EQ(deletes, N / 2 + 100000);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&dup);
    CHECK_EQ(deletes, N + 100000 + N);
    for (int i = 0; i < N; i++)
        MPI_Comm_free_keyval(&keys[i]);
    return check_done();
}
