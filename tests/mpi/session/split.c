/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* MPI_Comm_split_type by a set of processes: in sessions only. */
#include "session.h"

static MPI_Comm by(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_EQ(MPI_Comm_split_type(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, -check_rank, info, &part), MPI_SUCCESS);
    MPI_Info_free(&info);
    return part;
}

/* A communicator of as many processes as the set has. */
static void whole(MPI_Session s, MPI_Comm comm, const char *name)
{
    MPI_Comm part = by(comm, "mpi_pset_name", name);
    MPI_Info info;
    int size = -1, rank = -1;
    CHECK(part != MPI_COMM_NULL, "%s", name);
    if (part == MPI_COMM_NULL)
        return;
    MPI_Comm_size(part, &size);
    MPI_Comm_rank(part, &rank);
    MPI_Session_get_pset_info(s, name, &info);
    CHECK_EQ(size, atoi(value_of(&info, "mpi_size")), "%s", name);
    if (!strcmp(name, "mpi://WORLD"))
        CHECK_EQ(rank, check_size - 1 - check_rank, "the key orders them");
    MPI_Barrier(part);
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    MPI_Session s = session();
    MPI_Comm comm = comm_of(s, "mpi://WORLD", "split"), part;
    char node[MPI_MAX_PSET_NAME_LEN];
    int len = sizeof node;
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_size(comm, &check_size);
    whole(s, comm, "mpi://WORLD");
    whole(s, comm, "mpi://SELF");
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 2, &len, node);
    whole(s, comm, node); /* other nodes' processes name their own */
    part = by(comm, "mpi_pset_name", "keel://node/0");
    CHECK_EQ(part != MPI_COMM_NULL, !strcmp(node, "keel://node/0"), "all name this one");
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    CHECK(by(comm, "mpi_pset_name", "mpi://NOBODY") == MPI_COMM_NULL);
    /* Only those that are in a set have to name the same. */
    part = by(comm, "mpi_pset_name", check_rank == 0 ? "mpi://SELF" : "mpi://NOBODY");
    CHECK_EQ(part != MPI_COMM_NULL, check_rank == 0);
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    MPI_Comm_free(&comm);
    MPI_Init(&argc, &argv);
    CHECK(by(MPI_COMM_WORLD, "mpi_pset_name", "mpi://WORLD") == MPI_COMM_NULL, "it is of no session");
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return check_done();
}
