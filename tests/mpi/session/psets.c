/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Sets of processes: their names, what is said about them, the groups made of them. */
#include "session.h"

static void check_name(MPI_Session s, int n, char name[MPI_MAX_PSET_NAME_LEN])
{
    char cut[8] = "+++++++";
    int need = 0, len = 4;
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &need, NULL), MPI_SUCCESS);
    CHECK(need > 4 && need <= MPI_MAX_PSET_NAME_LEN, "%d", need);
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, cut), MPI_SUCCESS);
    CHECK_EQ(len, need, "what it takes, although it was cut");
    CHECK_EQ(strlen(cut), 3);
    len = 0;
    strcpy(cut, "as was");
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, cut), MPI_SUCCESS);
    CHECK(!strcmp(cut, "as was"));
    len = MPI_MAX_PSET_NAME_LEN;
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, name), MPI_SUCCESS);
    CHECK_EQ(len, need);
    CHECK_EQ(strlen(name) + 1, need);
    CHECK(strstr(name, "://") != NULL, "%s", name);
}

/* The group holds this process, and as many as the info says. */
static void check_group(MPI_Session s, const char *name, int expected)
{
    MPI_Group g = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    int size = -1, rank = MPI_UNDEFINED;
    CHECK_EQ(MPI_Group_from_session_pset(s, name, &g), MPI_SUCCESS);
    MPI_Group_size(g, &size);
    MPI_Group_rank(g, &rank);
    CHECK(rank != MPI_UNDEFINED, "%s", name);
    if (expected)
        CHECK_EQ(size, expected, "%s", name);
    CHECK_EQ(MPI_Session_get_pset_info(s, name, &info), MPI_SUCCESS);
    CHECK_EQ(atoi(value_of(&info, "mpi_size")), size, "%s", name);
    CHECK(info == MPI_INFO_NULL);
    MPI_Comm c = comm_of(s, name, name);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, size, "%s", name);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
}

/* Names are URIs: the case of letters says nothing. */
static void check_case(MPI_Session s)
{
    MPI_Group g = MPI_GROUP_NULL;
    int node = 0;
    char name[MPI_MAX_PSET_NAME_LEN], *p;
    check_group(s, "mpi://world", check_size);
    check_group(s, "MPI://World", check_size);
    check_group(s, "mpi://self", 1);
    for (int i = 0, n = 0; !MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n) && i < n; i++) {
        int len = sizeof name;
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name);
        if (strncmp(name, "keel://", 7))
            continue;
        for (p = name; *p; p++)
            *p = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
        check_group(s, name, 0);
        node++;
    }
    CHECK(node >= 1);
    CHECK_ERR(MPI_Group_from_session_pset(s, "mpi://worlds", &g), MPI_ERR_ARG);
    CHECK(g == MPI_GROUP_NULL);
}

static void check_unknown(MPI_Session s)
{
    static const char *const names[] = { "",
                                         "mpi:/world",
                                         "mpi://",
                                         "mpi://WORLD ",
                                         "keel://node/",
                                         "keel://node/999999",
                                         "keel://node/-1",
                                         "keel://node/00",
                                         "keel://node/0x0",
                                         "keel://app/77" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        MPI_Group g = MPI_GROUP_EMPTY;
        MPI_Info info;
        CHECK_ERR(MPI_Group_from_session_pset(s, names[i], &g), MPI_ERR_ARG);
        CHECK(g == MPI_GROUP_NULL, "\"%s\"", names[i]);
        CHECK_ERR(MPI_Session_get_pset_info(s, names[i], &info), MPI_ERR_ARG);
    }
}

int main(void)
{
    MPI_Session s = session(), other = session();
    MPI_Comm world = comm_of(s, "mpi://WORLD", "psets");
    MPI_Comm_rank(world, &check_rank);
    MPI_Comm_size(world, &check_size);
    int n = 0, again = -1, len = 8;
    char name[MPI_MAX_PSET_NAME_LEN], same[MPI_MAX_PSET_NAME_LEN];
    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_SUCCESS);
    CHECK(n >= 3, "%d", n);
    int has_world = 0, has_self = 0;
    for (int i = 0; i < n; i++) {
        check_name(s, i, name);
        check_name(other, i, same);
        CHECK(!strcmp(name, same), "%s in one session, %s in another", name, same);
        has_world += !strcmp(name, "mpi://WORLD");
        has_self += !strcmp(name, "mpi://SELF");
        check_group(s, name, !strcmp(name, "mpi://WORLD") ? check_size : !strcmp(name, "mpi://SELF") ? 1 : 0);
    }
    CHECK_EQ(has_world, 1);
    CHECK_EQ(has_self, 1);
    check_case(s);
    check_unknown(s);
    CHECK_ERR(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &len, name), MPI_ERR_ARG);
    CHECK_ERR(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, name), MPI_ERR_ARG);
    len = -1;
    CHECK_ERR(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, name), MPI_ERR_ARG);
    len = 5;
    CHECK_ERR(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &again), MPI_SUCCESS);
    CHECK_EQ(again, n);
    MPI_Comm_free(&world);
    CHECK_EQ(MPI_Session_finalize(&other), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return session_done();
}
