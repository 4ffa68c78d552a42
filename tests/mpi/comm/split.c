/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split and MPI_Comm_split_type: colors, keys, order, and processes that take no part.
 */
/* ranks: 1 2 3 4 5 8 16 */
#include "../check.h"

/* c has exactly these world ranks, in this order; a collective on it works. */
static void expect(MPI_Comm c, int n, const int *ranks, const char *what)
{
    int size = -1, rank = -1, got[64], sum = check_rank, total = 0;
    MPI_Comm_size(c, &size);
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(size, n, "%s", what);
    if (size != n)
        return;
    CHECK_EQ(ranks[rank], check_rank, "%s", what);
    MPI_Allgather(&check_rank, 1, MPI_INT, got, 1, MPI_INT, c);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(got[i], ranks[i], "%s: rank %d", what, i);
        total += ranks[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, total, "%s", what);
}

static void colors(int k, int direction)
{
    int ranks[64], n = 0;
    MPI_Comm c;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % k, direction * check_rank, &c);
    for (int i = 0; i < check_size; i++) {
        int r = direction < 0 ? check_size - 1 - i : i;
        if (r % k == check_rank % k)
            ranks[n++] = r;
    }
    expect(c, n, ranks, "split by remainder");
    MPI_Comm_free(&c);
}

/* Equal keys: the order is that of the old ranks. */
static void ties(void)
{
    int ranks[64], n = 0;
    MPI_Comm c, d;
    MPI_Comm_split(MPI_COMM_WORLD, 5, check_rank < check_size / 2 ? 1 : 0, &c);
    for (int i = check_size / 2; i < check_size; i++)
        ranks[n++] = i;
    for (int i = 0; i < check_size / 2; i++)
        ranks[n++] = i;
    expect(c, n, ranks, "halves swapped");
    MPI_Comm_split(c, 0, INT32_MIN, &d); /* a split of a split, extreme keys */
    expect(d, n, ranks, "split again");
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
}

static void some(void)
{
    int ranks[64], n = 0;
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 3 == 1 ? MPI_UNDEFINED : INT32_MAX, 0, &c);
    for (int i = 0; i < check_size; i++)
        if (i % 3 != 1)
            ranks[n++] = i;
    if (check_rank % 3 == 1) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        expect(c, n, ranks, "some");
        MPI_Comm_free(&c);
    }
}

static void by_type(void)
{
    int size = 0, first, firsts[64], together = 0;
    const char *on_node = getenv("MPI_LOCALNRANKS");
    MPI_Comm c;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    MPI_Comm_size(c, &size);
    if (on_node)
        CHECK_EQ(size, atoi(on_node), "as many as the launcher put on this node");
    first = check_rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, c);
    MPI_Allgather(&first, 1, MPI_INT, firsts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < check_size; i++)
        together += firsts[i] == first;
    CHECK_EQ(size, together);
    MPI_Comm_free(&c);
    MPI_Comm_split_type(MPI_COMM_WORLD, check_rank ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &c);
    if (check_rank) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        MPI_Comm_size(c, &size);
        CHECK_EQ(size, 1);
        MPI_Comm_free(&c);
    }
}

static void errors(void)
{
    MPI_Comm c;
    CHECK_ERR(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? -5 : 0, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("is -5 on rank 0");
    CHECK_ERR(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &c), MPI_ERR_ARG);
    CHECK_SAYS("split_type is 12345");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int k = 1; k <= 4; k++) {
        colors(k, 1);
        colors(k, -1);
    }
    ties();
    some();
    by_type();
    check_errors_return();
    errors();
    return check_done();
}
