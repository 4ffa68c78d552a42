/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made from intercommunicators: MPI_Comm_create, MPI_Comm_split, MPI_Comm_split_type, MPI_Intercomm_merge. */
/* ranks: 2 3 5 8 */
#include "../check.h"

static MPI_Comm half, inter;
static MPI_Group world;
static int side, nlocal, nremote, rank; /* side 1: the first third, at least one; so sides differ in size */

static int world_of(int which, int r)
{
    int third = (check_size + 2) / 3;
    return which ? r : third + r;
}

static void expect_group(MPI_Group g, int n, const int *granks, const char *what)
{
    int size = -1;
    MPI_Group_size(g, &size);
    CHECK_EQ(size, n, "%s", what);
    for (int i = 0; i < n && size == n; i++) {
        int w = -1;
        MPI_Group_translate_ranks(g, 1, &i, world, &w);
        CHECK_EQ(w, granks[i], "%s: rank %d", what, i);
    }
    MPI_Group_free(&g);
}

/* c is an intercommunicator between these processes of this side and those of the other; messages go through. */
static void expect(MPI_Comm c, int n, const int *local, int m, const int *remote, const char *what)
{
    MPI_Group g;
    int flag = 0, v, w;
    MPI_Comm_test_inter(c, &flag);
    CHECK_EQ(flag, 1, "%s", what);
    MPI_Comm_group(c, &g);
    expect_group(g, n, local, what);
    MPI_Comm_remote_group(c, &g);
    expect_group(g, m, remote, what);
    MPI_Request *r = malloc((size_t)m * sizeof *r);
    v = check_rank;
    for (int i = 0; i < m; i++)
        MPI_Isend(&v, 1, MPI_INT, i, 3, c, &r[i]);
    for (int i = 0; i < m; i++) {
        MPI_Recv(&w, 1, MPI_INT, i, 3, c, MPI_STATUS_IGNORE);
        CHECK_EQ(w, remote[i], "%s: from %d", what, i);
    }
    MPI_Waitall(m, r, MPI_STATUSES_IGNORE);
    free(r);
}

/* Every k-th process of each side, backwards on one. */
static void create(int k)
{
    int mine[64], theirs[64], n = 0, m = 0, ranks[64];
    MPI_Group g, sub;
    MPI_Comm c = MPI_COMM_WORLD;
    for (int i = 0; i < nlocal; i += k)
        ranks[n++] = side ? i : (nlocal - 1) / k * k - i;
    for (int i = 0; i < n; i++)
        mine[i] = world_of(side, ranks[i]);
    for (int i = 0; i < nremote; i += k)
        theirs[m++] = world_of(!side, side ? (nremote - 1) / k * k - i : i);
    MPI_Comm_group(inter, &g);
    MPI_Group_incl(g, n, ranks, &sub);
    MPI_Comm_create(inter, sub, &c);
    if (rank % k) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        expect(c, n, mine, m, theirs, "create");
        MPI_Comm_free(&c);
    }
    /* one side has nobody: nobody gets anything */
    c = MPI_COMM_WORLD;
    MPI_Comm_create(inter, side ? MPI_GROUP_EMPTY : sub, &c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Group_free(&sub);
    MPI_Group_free(&g);
}

/* Colors 0 .. k - 1, sorted backwards. */
static void split(int k)
{
    int mine[64], theirs[64], n = 0, m = 0, color = rank % k;
    MPI_Comm c = MPI_COMM_WORLD;
    for (int i = nlocal; i-- > 0;)
        if (i % k == color)
            mine[n++] = world_of(side, i);
    for (int i = nremote; i-- > 0;)
        if (i % k == color)
            theirs[m++] = world_of(!side, i);
    MPI_Comm_split(inter, color, -rank, &c);
    if (m == 0) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        expect(c, n, mine, m, theirs, "split");
        MPI_Comm d;
        MPI_Comm_dup(c, &d);
        expect(d, n, mine, m, theirs, "a copy of what was split");
        MPI_Comm_free(&d);
        MPI_Comm_free(&c);
    }
    MPI_Comm_split(inter, side, 0, &c); /* colors of one side only */
    CHECK(c == MPI_COMM_NULL);
    MPI_Comm_split(inter, rank == 0 ? 7 : MPI_UNDEFINED, 0, &c);
    CHECK_EQ(c != MPI_COMM_NULL, rank == 0);
    if (rank == 0) {
        mine[0] = check_rank;
        theirs[0] = world_of(!side, 0);
        expect(c, 1, mine, 1, theirs, "the two first");
        MPI_Comm_free(&c);
    }
}

/* By node: as often as both sides have somebody there. */
static void split_type(void)
{
    MPI_Comm c, node;
    int size = -1, remote = 0, in_node[2] = { 0, 0 };
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    in_node[side] = 1;
    MPI_Allreduce(MPI_IN_PLACE, in_node, 2, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    CHECK_EQ(c != MPI_COMM_NULL, in_node[!side] > 0);
    if (c != MPI_COMM_NULL) {
        MPI_Comm_size(c, &size);
        MPI_Comm_remote_size(c, &remote);
        CHECK_EQ(size, in_node[side]);
        CHECK_EQ(remote, in_node[!side]);
        MPI_Comm_free(&c);
    }
}

static void merge(int high)
{
    MPI_Comm c;
    MPI_Group g;
    int flag = 1, ranks[64], n = 0, first, last, sum = check_rank;
    MPI_Intercomm_merge(inter, high < 0 ? 0 : high == side ? 12 : 0, &c);
    MPI_Comm_test_inter(c, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_group(c, &g);
    int zero = 0;
    MPI_Group_translate_ranks(g, 1, &zero, world, &first);
    last = high < 0 ? first < world_of(0, 0) : !high; /* the side that comes first */
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < (side == (s ? !last : last) ? nlocal : nremote); i++)
            ranks[n++] = world_of(s ? !last : last, i);
    expect_group(g, check_size, ranks, "merged");
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    MPI_Comm_free(&c);
}

/* All processes must find the same. */
static void errors(void)
{
    MPI_Comm c;
    MPI_Group g;
    int err;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Intercomm_merge(half, 0, &c), MPI_ERR_COMM);
    CHECK_SAYS("is an intracommunicator");
    if (check_size > 2) /* not the same in the larger side */
        CHECK_ERR(MPI_Intercomm_merge(inter, check_rank == check_size - 1, &c), MPI_ERR_ARG);
    CHECK_ERR(MPI_Comm_split(inter, check_rank == 0 ? -5 : 0, 0, &c), MPI_ERR_ARG);
    CHECK_SAYS("is -5 on rank 0");
    CHECK_ERR(MPI_Comm_create(inter, world, &c), MPI_ERR_GROUP); /* not those of one side */
    MPI_Comm_group(inter, &g);
    CHECK_ERR(MPI_Comm_create_group(inter, g, 3, &c), MPI_ERR_COMM);
    CHECK_ERR(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 3, &c), MPI_ERR_COMM);
    CHECK_SAYS("local_comm is an intercommunicator");
    MPI_Group other = side && nlocal > 1 && rank ? MPI_GROUP_EMPTY : g;
    err = MPI_Comm_create(inter, other, &c); /* different groups on one side */
    CHECK_ERR(err, check_size > 3 ? MPI_ERR_GROUP : MPI_SUCCESS);
    if (err == MPI_SUCCESS)
        MPI_Comm_free(&c);
    MPI_Group_free(&g);
}

/* Wrong leaders and groups: told in all, and the next call works. */
static void wrong_leaders(void)
{
    MPI_Comm c, copy, some;
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Intercomm_create(half, nlocal, MPI_COMM_WORLD, 0, 3, &c), MPI_ERR_RANK);
    CHECK_SAYS("local_leader is");
    CHECK_ERR(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_size, 3, &c), MPI_ERR_RANK);
    CHECK_ERR(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 3, &c), MPI_ERR_COMM);
    CHECK_ERR(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_of(side, 0), 3, &c), MPI_ERR_RANK);
    if (rank == 0)
        CHECK_SAYS("expected a process of another group");
    CHECK_ERR(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_of(!side, 0), -3, &c), MPI_ERR_TAG);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(half, rank == 0, 0, &some);
    CHECK_ERR(MPI_Intercomm_create(half, 0, copy, world_of(!side, 0), 2147483647, &c), MPI_SUCCESS);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&some);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    int third = (check_size + 2) / 3;
    side = check_rank < third;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Comm_size(half, &nlocal);
    MPI_Comm_rank(half, &rank);
    nremote = check_size - nlocal;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_of(!side, 0), 0, &inter);
    for (int k = 1; k <= 3; k++) {
        create(k);
        split(k);
    }
    split_type();
    merge(0);
    merge(1);
    merge(-1);
    wrong_leaders();
    errors();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Group_free(&world);
    return check_done();
}
