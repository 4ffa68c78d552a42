/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create and MPI_Comm_create_group: subsets, disjoint groups at once, only members calling, tags.
 */
/* ranks: 1 2 3 4 5 8 */
#include "../check.h"

static MPI_Group world;

static void expect(MPI_Comm c, MPI_Group g)
{
    MPI_Group h;
    int r = -1, size, sum = 1;
    MPI_Comm_group(c, &h);
    MPI_Group_compare(g, h, &r);
    CHECK_EQ(r, MPI_IDENT);
    MPI_Group_free(&h);
    MPI_Comm_size(c, &size);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, size);
}

/* The processes with this one's remainder by k, backwards. */
static MPI_Group remainder_group(int k, int wanted)
{
    int ranks[64], n = 0;
    MPI_Group g;
    for (int i = check_size - 1; i >= 0; i--)
        if (i % k == wanted)
            ranks[n++] = i;
    MPI_Group_incl(world, n, ranks, &g);
    return g;
}

static void create(void)
{
    MPI_Group g = remainder_group(2, 0);
    MPI_Comm c;
    MPI_Comm_create(MPI_COMM_WORLD, g, &c);
    if (check_rank % 2) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        expect(c, g);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&g);
    g = remainder_group(2, check_rank % 2); /* disjoint groups in one call */
    MPI_Comm_create(MPI_COMM_WORLD, g, &c);
    expect(c, g);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &c);
    CHECK(c == MPI_COMM_NULL);
}

/* Only the members call; the others are somewhere else, in a message that comes later. */
static void create_group(void)
{
    MPI_Group g = remainder_group(2, 0);
    MPI_Comm c = MPI_COMM_NULL, d = MPI_COMM_NULL;
    int token = 0;
    if (check_rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, g, 17, &c);
        MPI_Comm_create_group(MPI_COMM_WORLD, g, 17, &d);
        expect(c, g);
        expect(d, g);
        if (check_rank + 1 < check_size)
            MPI_Send(&token, 1, MPI_INT, check_rank + 1, 17, MPI_COMM_WORLD);
        MPI_Comm_free(&c);
        MPI_Comm_free(&d);
    } else {
        MPI_Recv(&token, 1, MPI_INT, check_rank - 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Group_free(&g);
}

/* Context ids of processes drift apart when only some of them make communicators; they must still agree. */
static void drift(void)
{
    MPI_Comm c[8], all, self;
    MPI_Group g = remainder_group(check_size, 0);
    int n = 0;
    if (check_rank == 0)
        for (; n < 8; n++)
            MPI_Comm_create_group(MPI_COMM_WORLD, g, n, &c[n]);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    int v = check_rank;
    MPI_Bcast(&v, 1, MPI_INT, check_size - 1, all);
    CHECK_EQ(v, check_size - 1);
    while (n > 0)
        MPI_Comm_free(&c[--n]);
    MPI_Comm_free(&all);
    MPI_Comm_free(&self);
    MPI_Group_free(&g);
}

static void errors(void)
{
    MPI_Comm c, self;
    int one = 0, r;
    MPI_Group g;
    MPI_Group_incl(world, 1, &one, &g);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    if (check_rank != 0) {
        CHECK_ERR(MPI_Comm_create(self, g, &c), MPI_ERR_GROUP);
        CHECK_SAYS("expected a subset");
    }
    CHECK_ERR(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &c), MPI_ERR_GROUP);
    CHECK_ERR(MPI_Comm_create_group(MPI_COMM_WORLD, g, -3, &c), MPI_ERR_TAG);
    CHECK_SAYS("-3");
    MPI_Comm freed = self;
    MPI_Comm_free(&self);
    CHECK_ERR(MPI_Comm_size(freed, &r), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_rank(MPI_COMM_NULL, &r), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
    c = MPI_COMM_WORLD;
    CHECK_ERR(MPI_Comm_free(&c), MPI_ERR_COMM);
    CHECK_SAYS("MPI_COMM_WORLD");
    c = MPI_COMM_SELF;
    CHECK_ERR(MPI_Comm_free(&c), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_remote_size(MPI_COMM_WORLD, &r), MPI_ERR_COMM);
    CHECK_SAYS("is an intracommunicator");
    MPI_Group h;
    CHECK_ERR(MPI_Comm_remote_group(MPI_COMM_WORLD, &h), MPI_ERR_COMM);
    MPI_Group_free(&g);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    create();
    create_group();
    drift();
    check_errors_return();
    errors();
    MPI_Group_free(&world);
    return check_done();
}
