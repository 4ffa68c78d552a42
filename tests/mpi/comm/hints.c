/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of communicators: known keys are kept, per communicator; others ignored; wrong values are errors. */
/* ranks: 1 2 3 5 */
#include "../check.h"

static const char *const assertions[] = { "mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                          "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
                                          "mpi_assert_strict_persistent_collective_ordering" };

/* NULL: the key is not there. */
static void expect(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info used = MPI_INFO_NULL;
    char text[MPI_MAX_INFO_VAL] = "";
    int flag = -1, len = sizeof text;
    MPI_Comm_get_info(comm, &used);
    CHECK(used != MPI_INFO_NULL);
    MPI_Info_get_string(used, key, &len, text, &flag);
    CHECK_EQ(flag, value != NULL, "%s", key);
    CHECK(!value || !strcmp(value, text), "%s is %s; expected %s", key, text, value);
    MPI_Info_free(&used);
}

static void expect_defaults(MPI_Comm comm)
{
    for (int i = 0; i < 5; i++)
        expect(comm, assertions[i], "false");
    expect(comm, "mpi_memory_alloc_kinds", "mpi,system");
    expect(comm, "mpi_assert_memory_alloc_kinds", NULL);
}

static MPI_Info one(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void set(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info = one(key, value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

static void set_and_get(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_defaults(comm);
    for (int i = 0; i < 5; i++) {
        set(comm, assertions[i], "true");
        for (int k = 0; k < 5; k++)
            expect(comm, assertions[k], k <= i ? "true" : "false");
    }
    set(comm, "somebody_elses", "value");
    expect(comm, "somebody_elses", NULL);
    MPI_Comm_set_info(comm, MPI_INFO_NULL);
    expect(comm, assertions[0], "true");
    set(comm, assertions[0], "  false ");
    expect(comm, assertions[0], "false");
    expect(comm, assertions[1], "true");
    expect_defaults(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static void memory_kinds(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    set(comm, "mpi_assert_memory_alloc_kinds", "system, mpi:alloc_mem");
    expect(comm, "mpi_assert_memory_alloc_kinds", "system, mpi:alloc_mem");
    set(comm, "mpi_assert_memory_alloc_kinds", "gpu:device,system"); /* not supported: ignored */
    expect(comm, "mpi_assert_memory_alloc_kinds", "system, mpi:alloc_mem");
    set(comm, "mpi_assert_memory_alloc_kinds", "");
    expect(comm, "mpi_assert_memory_alloc_kinds", "");
    set(comm, "mpi_memory_alloc_kinds", "gpu");
    expect(comm, "mpi_memory_alloc_kinds", "mpi,system");
    MPI_Comm_free(&comm);
}

/* Hints come from the info given, not from the communicator copied. */
static void copies(void)
{
    MPI_Comm comm, copy;
    MPI_Info info = one(assertions[2], "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    expect(comm, assertions[2], "true");
    expect(comm, assertions[1], "false");
    MPI_Comm_dup(comm, &copy);
    expect_defaults(copy);
    MPI_Comm_free(&copy);
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, &copy);
    expect(copy, assertions[2], "true");
    expect(copy, "mpi_assert_memory_alloc_kinds", "system");
    MPI_Comm_free(&copy);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy);
    expect_defaults(copy);
    MPI_Comm_free(&copy);
    for (int adjacent = 0; adjacent < 2; adjacent++) { /* a ring */
        int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, one = 1;
        if (adjacent)
            MPI_Dist_graph_create_adjacent(comm, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, info, 0,
                                           &copy);
        else
            MPI_Dist_graph_create(comm, 1, &check_rank, &one, &to, MPI_UNWEIGHTED, info, 0, &copy);
        expect(copy, assertions[2], "true");
        expect(copy, assertions[1], "false");
        MPI_Comm_free(&copy);
    }
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

/* A value that cannot be one says nothing, and other keys do. */
static void odd(void)
{
    MPI_Comm comm, copy = MPI_COMM_NULL;
    MPI_Info info = one(assertions[1], "yes"), good = one(assertions[1], "true");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Comm_set_info(comm, info), MPI_SUCCESS);
    expect_defaults(comm);
    MPI_Info_set(info, assertions[0], "true");
    CHECK_ERR(MPI_Comm_set_info(comm, info), MPI_SUCCESS);
    expect(comm, assertions[0], "true");
    expect(comm, assertions[1], "false");
    CHECK_ERR(MPI_Comm_dup_with_info(comm, check_rank == 0 ? info : good, &copy), MPI_SUCCESS);
    expect(copy, assertions[1], check_rank == 0 ? "false" : "true");
    MPI_Comm_free(&copy);
    CHECK_ERR(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, &copy), MPI_SUCCESS);
    expect(copy, assertions[0], "true");
    MPI_Comm_free(&copy);
    CHECK_ERR(MPI_Dist_graph_create(comm, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, check_rank == 0 ? info : good,
                                    0, &copy),
              MPI_SUCCESS);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Info_free(&good);
}

/* A wildcard where the program promised none is told, in every call that takes one; on others it works. */
static void promises(void)
{
    MPI_Comm comm, copy;
    int v = 1, w = 0, flag;
    MPI_Request r;
    MPI_Status s;
    MPI_Message m;
    MPI_Info info = one(assertions[1], "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Recv(&w, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &s), MPI_ERR_RANK);
    CHECK_SAYS("mpi_assert_no_any_source");
    CHECK_ERR(MPI_Irecv(&w, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &r), MPI_ERR_RANK);
    CHECK_ERR(MPI_Probe(MPI_ANY_SOURCE, 0, comm, &s), MPI_ERR_RANK);
    CHECK_ERR(MPI_Improbe(MPI_ANY_SOURCE, 0, comm, &flag, &m, &s), MPI_ERR_RANK);
    MPI_Isend(&v, 1, MPI_INT, check_rank, 3, comm, &r);
    CHECK_ERR(MPI_Recv(&w, 1, MPI_INT, check_rank, MPI_ANY_TAG, comm, &s), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    set(comm, assertions[0], "true");
    CHECK_ERR(MPI_Recv(&w, 1, MPI_INT, check_rank, MPI_ANY_TAG, comm, &s), MPI_ERR_TAG);
    CHECK_SAYS("mpi_assert_no_any_tag");
    CHECK_ERR(MPI_Iprobe(check_rank, MPI_ANY_TAG, comm, &flag, &s), MPI_ERR_TAG);
    CHECK_ERR(MPI_Recv_init(&w, 1, MPI_INT, check_rank, MPI_ANY_TAG, comm, &r), MPI_ERR_TAG);
    CHECK_ERR(MPI_Recv(&w, 1, MPI_INT, check_rank, -9, comm, &s), MPI_ERR_TAG);
    CHECK_SAYS("is -9");
    MPI_Comm_dup(comm, &copy); /* promises are not inherited */
    MPI_Isend(&v, 1, MPI_INT, check_rank, 3, copy, &r);
    CHECK_ERR(MPI_Recv(&w, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &s), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    set_and_get();
    memory_kinds();
    copies();
    odd();
    promises();
    return check_done();
}
