/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups: string tags, groups, hints, handlers, errors. */
/* ranks: 1 2 3 5 8 */
#include "../check.h"

static MPI_Group world;

/* The processes first, first + step, ... */
static MPI_Group every(int first, int step)
{
    int range[1][3] = { { first, check_size - 1, step } };
    MPI_Group g;
    MPI_Group_range_incl(world, 1, range, &g);
    return g;
}

static void expect(MPI_Comm c, MPI_Group g)
{
    MPI_Group h;
    int r = -1, size, sum = 1, flag = 0, *ub = NULL;
    MPI_Comm_group(c, &h);
    MPI_Group_compare(g, h, &r);
    CHECK_EQ(r, MPI_IDENT);
    MPI_Group_free(&h);
    MPI_Comm_size(c, &size);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, size);
    MPI_Comm_get_attr(c, MPI_TAG_UB, &ub, &flag);
    CHECK(flag && *ub >= 32767);
}

static void intra(void)
{
    MPI_Comm c, d, e;
    MPI_Group g = every(check_rank % 2, 2), one;
    MPI_Info info, used;
    char text[10] = "", longest[MPI_MAX_STRINGTAG_LEN];
    int flag = 0, len = sizeof text, v = 0;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_create_from_group(world, "org.example.all", info, MPI_ERRORS_RETURN, &c);
    MPI_Comm_create_from_group(g, "org.example.half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &d);
    MPI_Comm_create_from_group(world, longest, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &e);
    expect(c, world);
    expect(d, g);
    expect(e, world);
    MPI_Comm_get_info(c, &used);
    MPI_Info_get_string(used, "mpi_assert_no_any_tag", &len, text, &flag);
    CHECK(flag && !strcmp(text, "true"), "%s", text);
    MPI_Info_free(&used);
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, check_size, 0, c), MPI_ERR_RANK); /* its handler */
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    MPI_Comm_free(&e);
    MPI_Group_free(&g);
    MPI_Group_incl(world, 1, &check_rank, &one);
    MPI_Comm_create_from_group(one, "", info, MPI_ERRORS_ARE_FATAL, &c);
    expect(c, one);
    MPI_Comm_free(&c);
    MPI_Group_free(&one);
    c = MPI_COMM_WORLD;
    if (check_rank == 0) /* local */
        MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "empty", info, MPI_ERRORS_ARE_FATAL, &c);
    CHECK_EQ(c == MPI_COMM_NULL, check_rank == 0);
    MPI_Info_free(&info);
}

/* Groups that overlap, members alone calling, with histories that differ; other messages under way. */
static void drift(void)
{
    enum { MANY = 20 };
    MPI_Comm c[MANY], mine[MANY];
    MPI_Group one;
    int v = 3, w = 0, right = (check_rank + 1) % check_size;
    MPI_Request r;
    MPI_Group_incl(world, 1, &check_rank, &one);
    MPI_Irecv(&w, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    for (int i = 0; i < MANY; i++) {
        MPI_Group g = every(0, i % 3 + 1);
        char tag[20];
        snprintf(tag, sizeof tag, "tag %d", i);
        mine[i] = c[i] = MPI_COMM_NULL;
        if (i % (check_rank + 1) == 0)
            MPI_Comm_create_from_group(one, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &mine[i]);
        if (check_rank % (i % 3 + 1) == 0) {
            MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c[i]);
            expect(c[i], g);
        }
        MPI_Group_free(&g);
    }
    MPI_Send(&v, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(w, 3);
    for (int i = 0; i < MANY; i++) {
        if (c[i] != MPI_COMM_NULL)
            MPI_Comm_free(&c[i]);
        if (mine[i] != MPI_COMM_NULL)
            MPI_Comm_free(&mine[i]);
    }
    MPI_Group_free(&one);
}

static void inter(void)
{
    int side = check_rank % 2, leader = 0, rank, remote = -1, flag = 0, v = check_rank, w = -1, size;
    MPI_Group mine = every(side, 2), theirs = every(!side, 2), h;
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Info info, used;
    char text[10] = "";
    int len = sizeof text, r;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Group_rank(mine, &rank);
    MPI_Group_size(mine, &size);
    leader = size - 1;
    MPI_Group_size(theirs, &remote);
    for (int i = 0; i < 3; i++) {
        MPI_Intercomm_create_from_groups(mine, leader, rank == leader ? theirs : MPI_GROUP_NULL, remote - 1,
                                         "pair", info, MPI_ERRORS_RETURN, &c);
        MPI_Comm_test_inter(c, &flag);
        CHECK_EQ(flag, 1);
        MPI_Comm_remote_group(c, &h);
        MPI_Group_compare(h, theirs, &r);
        CHECK_EQ(r, MPI_IDENT);
        MPI_Group_free(&h);
        MPI_Comm_group(c, &h);
        MPI_Group_compare(h, mine, &r);
        CHECK_EQ(r, MPI_IDENT);
        MPI_Group_free(&h);
        if (rank < remote) {
            MPI_Sendrecv(&v, 1, MPI_INT, rank, 1, &w, 1, MPI_INT, rank, 1, c, MPI_STATUS_IGNORE);
            CHECK_EQ(w, 2 * rank + !side);
        }
        MPI_Comm_get_info(c, &used);
        MPI_Info_get_string(used, "mpi_assert_exact_length", &len, text, &flag);
        CHECK(flag && !strcmp(text, "true"), "%s", text);
        MPI_Info_free(&used);
        CHECK_ERR(MPI_Send(&v, 1, MPI_INT, remote, 0, c), MPI_ERR_RANK);
        MPI_Comm_free(&c);
    }
    c = MPI_COMM_WORLD;
    MPI_Intercomm_create_from_groups(mine, 0, MPI_GROUP_EMPTY, 0, "x", info, MPI_ERRORS_RETURN, &c);
    CHECK(c == MPI_COMM_NULL);
    c = MPI_COMM_WORLD;
    MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, mine, 0, "x", info, MPI_ERRORS_RETURN, &c);
    CHECK(c == MPI_COMM_NULL);
    CHECK_ERR(MPI_Intercomm_create_from_groups(mine, size, theirs, 0, "x", info, MPI_ERRORS_RETURN, &c),
              MPI_ERR_RANK);
    CHECK_ERR(MPI_Intercomm_create_from_groups(mine, 0, theirs, remote, "x", info, MPI_ERRORS_RETURN, &c),
              MPI_ERR_RANK);
    CHECK_ERR(MPI_Intercomm_create_from_groups(mine, 0, MPI_GROUP_NULL, 0, "x", info, MPI_ERRORS_RETURN, &c),
              MPI_ERR_GROUP);
    CHECK_ERR(MPI_Intercomm_create_from_groups(mine, 0, mine, 0, "x", info, MPI_ERRORS_RETURN, &c),
              MPI_ERR_GROUP);
    CHECK_ERR(MPI_Intercomm_create_from_groups(theirs, 0, mine, 0, "x", info, MPI_ERRORS_RETURN, &c),
              MPI_ERR_GROUP);
    MPI_Info_free(&info);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
}

static void errors(void)
{
    MPI_Comm c;
    enum {
        LONG = MPI_MAX_STRINGTAG_LEN > 1024 ? MPI_MAX_STRINGTAG_LEN : 1024
    }; /* other MPIs' limits are smaller */
    char *tag = malloc(LONG + 1);
    int other = (check_rank + 1) % check_size;
    MPI_Group g;
    MPI_Info info;
    memset(tag, 'y', LONG);
    tag[LONG] = '\0';
    CHECK_ERR(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_ARG);
    CHECK_SAYS("stringtag has");
    free(tag);
    CHECK_ERR(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
              MPI_ERR_GROUP);
    CHECK_ERR(MPI_Comm_create_from_group(world, "t", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &c),
              MPI_ERR_ERRHANDLER);
    if (check_size > 1) {
        MPI_Group_incl(world, 1, &other, &g);
        CHECK_ERR(MPI_Comm_create_from_group(g, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);
        CHECK_SAYS("does not contain this process");
        MPI_Group_free(&g);
    }
    MPI_Info_create(&info); /* a hint that cannot be one in one of them */
    MPI_Info_set(info, "mpi_assert_no_any_source", check_rank == 0 ? "perhaps" : "true");
    CHECK_ERR(MPI_Comm_create_from_group(world, "t", info, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    MPI_Comm_free(&c);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    intra();
    drift();
    check_errors_return();
    errors();
    if (check_size > 1)
        inter();
    MPI_Group_free(&world);
    return check_done();
}
