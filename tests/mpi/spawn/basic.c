/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* MPI_Comm_spawn: parents and children talk, on the intercommunicator and on one of both groups; who is whose
 * parent. */
#include "../check.h"

enum { LONG = 300000 };
static int out[LONG], in[8 * LONG];

/* Both sides call it with what they are in it. */
static void talk(MPI_Comm inter, int children, int parents, int is_parent)
{
    int others = 0, flag = 0, rank, size, right = is_parent ? children : parents;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag, "no intercommunicator");
    MPI_Comm_remote_size(inter, &others);
    CHECK_EQ(others, right, "remote group");
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    for (int i = 0; i < LONG; i++)
        out[i] = i + rank;
    for (int n = 1, times = 0; times < 2;
         n = LONG, times++) { /* every process with every one of the other side */
        MPI_Request r[2 * 8];
        for (int i = 0; i < others; i++) {
            MPI_Isend(out, n, MPI_INT, i, 7, inter, &r[2 * i]);
            MPI_Irecv(in + i * LONG, n, MPI_INT, i, 7, inter, &r[2 * i + 1]);
        }
        MPI_Waitall(2 * others, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < others; i++)
            CHECK_EQ(in[i * LONG + n - 1], n - 1 + i, "%d elements of %d", n, i);
        MPI_Barrier(inter);
    }
    int root = is_parent ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0,
        word = is_parent && rank == 0 ? 123 : 0, sum = 0, one = rank + 1;
    MPI_Bcast(&word, 1, MPI_INT, root, inter);
    CHECK_EQ(word, !is_parent || rank == 0 ? 123 : 0, "broadcast");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, others * (others + 1) / 2, "of the other side");
}

static void all_in_one(MPI_Comm inter, int children, int parents, int is_parent)
{
    MPI_Comm all, node, dup;
    int rank, size, at[16], result;
    MPI_Group mine, whole, both;
    MPI_Intercomm_merge(inter, !is_parent, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_EQ(size, children + parents);
    CHECK_EQ(rank, is_parent ? check_rank : parents + check_rank);
    MPI_Allgather(&rank, 1, MPI_INT, at, 1, MPI_INT, all);
    for (int i = 0; i < size; i++)
        CHECK_EQ(at[i], i, "allgather");
    MPI_Comm_group(all, &whole);
    MPI_Comm_group(MPI_COMM_WORLD, &mine);
    MPI_Group_intersection(whole, mine, &both);
    MPI_Group_compare(both, mine, &result);
    CHECK_EQ(result, MPI_IDENT, "this job's processes in the whole");
    MPI_Group_free(&both);
    MPI_Group_difference(whole, mine, &both);
    MPI_Group_size(both, &result);
    CHECK_EQ(result, is_parent ? children : parents, "the others");
    MPI_Group_free(&both);
    MPI_Group_free(&mine);
    MPI_Group_free(&whole);
    MPI_Comm_dup(all, &dup);
    MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &result);
    CHECK(result <= check_size, "%d processes that share memory; of this job are %d", result, check_size);
    MPI_Comm_free(&node);
    MPI_Comm_split(dup, rank % 2, -rank, &node); /* of both jobs */
    MPI_Barrier(node);
    MPI_Comm_free(&node);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
    enum { CHILDREN = 3 };
    MPI_Comm parent, inter;
    int errs[CHILDREN] = { -1, -1, -1 }, len, parents = argc > 1 ? atoi(argv[1]) : 0;
    char name[MPI_MAX_OBJECT_NAME], number[12], *args[] = { number, "two words", NULL };
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        snprintf(number, sizeof number, "%d", check_size);
        int root = check_size - 1;
        CHECK_EQ(MPI_Comm_spawn(check_rank == root ? argv[0] : NULL, args, CHILDREN, MPI_INFO_NULL, root,
                                MPI_COMM_WORLD, &inter, errs),
                 MPI_SUCCESS);
        for (int i = 0; i < CHILDREN; i++)
            CHECK_EQ(errs[i], MPI_SUCCESS, "child %d", i);
        talk(inter, CHILDREN, check_size, 1);
        all_in_one(inter, CHILDREN, check_size, 1);
        CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
        CHECK(inter == MPI_COMM_NULL, "after MPI_Comm_disconnect");
    } else {
        CHECK_EQ(argc, 3, "arguments");
        CHECK(strcmp(argv[2], "two words") == 0, "argument %s", argv[2]);
        CHECK_EQ(check_size, CHILDREN);
        MPI_Comm_get_name(parent, name, &len);
        CHECK(strcmp(name, "MPI_COMM_PARENT") == 0, "name %s", name);
        talk(parent, CHILDREN, parents, 0);
        all_in_one(parent, CHILDREN, parents, 0);
        MPI_Comm_disconnect(&parent);
        MPI_Comm_get_parent(&parent);
        CHECK(parent == MPI_COMM_NULL, "a parent after MPI_Comm_disconnect");
    }
    return check_done();
}
