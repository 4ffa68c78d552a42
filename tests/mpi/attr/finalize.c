/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* stdout: (?s)\A(?=.*order 5 4 3 2 1 9 8 7 6 0).*\Z */
/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the latest set first, while MPI works; then others'. */
#include "check.h"

static int order[16], n, last_key, ending;

static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int finalized = -1, rank, size, got = -1;
    (void)extra, (void)keyval;
    if (!ending)
        return MPI_SUCCESS;
    order[n++] = (int)(intptr_t)value;
    MPI_Finalized(&finalized);
    CHECK_EQ(finalized, 0);
    CHECK_EQ(MPI_Comm_size(comm, &size), MPI_SUCCESS);
    CHECK(comm == (n <= 5 ? MPI_COMM_SELF : MPI_COMM_WORLD), "number %d", n);
    CHECK_EQ(size, n <= 5 ? 1 : check_size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int from = (rank + check_size - 1) % check_size;
    CHECK_EQ(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % check_size, 0, &got, 1, MPI_INT, from, 0,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             MPI_SUCCESS);
    CHECK_EQ(got, from);
    CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    if ((intptr_t)value == 1) /* set while MPI_COMM_SELF goes: MPI_COMM_WORLD's turn comes later */
        MPI_Comm_set_attr(MPI_COMM_WORLD, last_key, (void *)9);
    return MPI_SUCCESS;
}
static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    int initialized = 0;
    (void)keyval, (void)extra;
    CHECK(type == MPI_CHAR, " ");
    CHECK_EQ(MPI_Initialized(&initialized), MPI_SUCCESS);
    order[n++] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static int key(void)
{
    int k;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &k, NULL);
    return k;
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    int of_type;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &of_type, NULL);
    MPI_Type_set_attr(MPI_CHAR, of_type, (void *)0);
    MPI_Type_free_keyval(&of_type);
    for (intptr_t i = 6; i <= 8; i++) {
        int k = key();
        MPI_Comm_set_attr(MPI_COMM_WORLD, k, (void *)i);
        MPI_Comm_free_keyval(&k);
    }
    last_key = key();
    int again = key(); /* its place is that of its latest value */
    MPI_Comm_set_attr(MPI_COMM_SELF, again, (void *)7);
    for (intptr_t i = 1; i <= 4; i++) {
        int k = key();
        MPI_Comm_set_attr(MPI_COMM_SELF, k, (void *)i);
        MPI_Comm_free_keyval(&k);
    }
    MPI_Comm_set_attr(MPI_COMM_SELF, again, (void *)5);
    MPI_Comm_free_keyval(&again);
    ending = 1;
    int rank = check_rank, failed = check_done();
    if (rank == 0) {
        printf("order");
        for (int i = 0; i < n; i++)
            printf(" %d", order[i]);
        printf("\n");
    }
    return failed || check_failures;
}
