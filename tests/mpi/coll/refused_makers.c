/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* timeout: 120 */
/* One process has arguments with which it cannot take part in making a communicator, a window, a file, or in
 * starting processes.  The others are told who it is instead of waiting.  What comes after works. */
#include "refused.h"

/* Found before anything is said, or by the call's own checks, whose outcome travels with what its members agree on. */
static void named(const char *call, int err, int errclass, int victim, const char *arg)
{
    char words[80];
    int len;
    check_words[0] = '\0';
    if (err)
        MPI_Error_string(err, check_words, &len);
    snprintf(words, sizeof words, "rank %d of the communicator failed with this error", victim);
    if (check_rank != victim && strstr(check_words, words))
        check_err(__FILE__, __LINE__, call, err, errclass);
    else
        refused_named(call, err, errclass, victim, call, arg);
}

static MPI_Comm comm, cart, made;
static int victim, me;

#define MADE(on, errclass, name, arg, ...) \
    do { \
        named("MPI_" #name, MPI_##name(__VA_ARGS__), errclass, victim, arg); \
        refused_next(on, 1); \
    } while (0)

static void communicators(void)
{
    MPI_Comm *to = me ? NULL : &made;
    MPI_Request r;
    MPI_Group group, given;
    MPI_Comm_group(comm, &group);
    given = me ? MPI_GROUP_NULL : group;
    MADE(comm, MPI_ERR_ARG, Comm_dup, "newcomm", comm, to);
    MADE(comm, MPI_ERR_ARG, Comm_dup_with_info, "newcomm", comm, MPI_INFO_NULL, to);
    refused_named("MPI_Comm_idup", refused_waited(MPI_Comm_idup(comm, to, &r), &r), MPI_ERR_ARG, victim,
                  "MPI_Comm_idup", "newcomm");
    refused_next(comm, 1);
    refused_named("MPI_Comm_idup_with_info",
                  refused_waited(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, to, &r), &r), MPI_ERR_ARG,
                  victim, "MPI_Comm_idup_with_info", "newcomm");
    refused_next(comm, 1);
    MADE(comm, MPI_ERR_GROUP, Comm_create, "group", comm, given, &made);
    MADE(comm, MPI_ERR_ARG, Comm_split, "newcomm", comm, check_rank % 2, 0, to);
    MADE(comm, MPI_ERR_ARG, Comm_split_type, "newcomm", comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, to);
    MPI_Group_free(&group);
}

static void topologies(void)
{
    int one[2] = { check_size, 1 }, zero[2] = { 0, 0 }, index[64], edges[64],
        next = (check_rank + 1) % check_size, degree = 1;
    int *none = NULL;
    for (int i = 0; i < check_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % check_size;
    }
    for (int reorder = 0; reorder < 2; reorder++) {
        MADE(comm, MPI_ERR_ARG, Cart_create, "periods", comm, 1, one, me ? none : zero, reorder, &made);
        MADE(comm, MPI_ERR_ARG, Graph_create, "edges", comm, check_size, index, me ? none : edges, reorder,
             &made);
        MADE(comm, MPI_ERR_ARG, Dist_graph_create, "destinations", comm, 1, &check_rank, &degree,
             me ? none : &next, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &made);
        MADE(comm, MPI_ERR_ARG, Dist_graph_create_adjacent, "destinations", comm, 0, none, MPI_UNWEIGHTED, 1,
             me ? none : &next, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &made);
    }
    MADE(cart, MPI_ERR_ARG, Cart_sub, "remain_dims", cart, me ? none : one, &made);
}

static void windows(void)
{
    MPI_Win win, *to = me ? NULL : &win;
    void *base = NULL;
    MADE(comm, MPI_ERR_ARG, Win_create, "win", refused_in, 8, 1, MPI_INFO_NULL, comm, to);
    MADE(comm, MPI_ERR_ARG, Win_allocate, "win", 8, 1, MPI_INFO_NULL, comm, &base, to);
    MADE(comm, MPI_ERR_ARG, Win_allocate, "baseptr", 8, 1, MPI_INFO_NULL, comm, me ? NULL : &base, &win);
    MADE(comm, MPI_ERR_ARG, Win_allocate_shared, "win", 8, 1, MPI_INFO_NULL, comm, &base, to);
    MADE(comm, MPI_ERR_ARG, Win_create_dynamic, "win", MPI_INFO_NULL, comm, to);
}

static void others(void)
{
    MPI_File file, *to = me ? NULL : &file;
    char port[MPI_MAX_PORT_NAME] = "";
    int root = victim == 0 ? check_size - 1 : 0;
    MADE(comm, MPI_ERR_ARG, File_open, "fh", comm, "refused", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
         to);
    if (check_rank == root)
        CHECK_ERR(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    MADE(comm, MPI_ERR_ARG, Comm_accept, "newcomm", port, MPI_INFO_NULL, root, comm, me ? NULL : &made);
    MADE(comm, MPI_ERR_ARG, Comm_connect, "newcomm", port, MPI_INFO_NULL, root, comm, me ? NULL : &made);
    MADE(comm, MPI_ERR_ARG, Comm_spawn, "intercomm", "nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, comm,
         me ? NULL : &made, MPI_ERRCODES_IGNORE);
    MADE(comm, MPI_ERR_ARG, Comm_spawn, "command", me ? NULL : "nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL,
         victim, comm, &made, MPI_ERRCODES_IGNORE);
    if (check_rank == root)
        CHECK_ERR(MPI_Close_port(port), MPI_SUCCESS);
}

/* Only neighbors need anything of the victim: others hear of it, or have done their part before. */
static void near(const char *call, int err, int errclass, const char *arg)
{
    int d = (check_rank - victim + check_size) % check_size;
    if (err || d <= 1 || d == check_size - 1)
        refused_named(call, err, errclass, victim, call, arg);
    refused_next(cart, 1);
}

static int used_once(int err, MPI_Request *r)
{
    if (err)
        return err;
    CHECK_ERR(MPI_Start(r), MPI_SUCCESS);
    err = MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Request_free(r);
    return err;
}

static void neighbors(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype t = me ? MPI_DATATYPE_NULL : MPI_INT;
    int *in = refused_in, *out = refused_out, n = me ? -1 : 1;
    near("MPI_Neighbor_allgather_init",
         used_once(MPI_Neighbor_allgather_init(in, n, MPI_INT, out, 1, MPI_INT, cart, MPI_INFO_NULL, &r), &r),
         MPI_ERR_COUNT, "sendcount");
    near("MPI_Neighbor_allgather", MPI_Neighbor_allgather(in, n, MPI_INT, out, 1, MPI_INT, cart),
         MPI_ERR_COUNT, "sendcount");
    near("MPI_Neighbor_alltoall", MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, t, cart), MPI_ERR_TYPE,
         "recvtype");
    near("MPI_Ineighbor_allgather",
         refused_waited(MPI_Ineighbor_allgather(in, 1, t, out, 1, MPI_INT, cart, &r), &r), MPI_ERR_TYPE,
         "sendtype");
    near("MPI_Ineighbor_alltoall",
         refused_waited(MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, n, MPI_INT, cart, &r), &r), MPI_ERR_COUNT,
         "recvcount");
    near("MPI_Neighbor_allgather", MPI_Neighbor_allgather(in, 1, MPI_INT, me ? NULL : out, 1, MPI_INT, cart),
         MPI_ERR_BUFFER, "recvbuf");
}

static void between_groups(void)
{
    MPI_Comm half, inter, whole;
    int side = check_rank % 2, err, len;
    CHECK_ERR(MPI_Comm_split(comm, side, 0, &half), MPI_SUCCESS);
    CHECK_ERR(MPI_Intercomm_create(half, 0, comm, !side, 7, &inter), MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    check_words[0] = '\0';
    err = MPI_Intercomm_merge(inter, side, me ? NULL : &whole);
    if (err)
        MPI_Error_string(err, check_words, &len);
    check_err(__FILE__, __LINE__, "MPI_Intercomm_merge", err, MPI_ERR_ARG);
    if (!me)
        refused_says("MPI_Intercomm_merge", side == victim % 2 ? "local group" : "remote group", victim / 2,
                     "MPI_Intercomm_merge", "newintracomm");
    CHECK_ERR(MPI_Intercomm_merge(inter, side, &whole), MPI_SUCCESS);
    refused_next(whole, 1);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int periodic = 1;
    check_init(&argc, &argv);
    for (victim = 0; victim<check_size; victim += check_size> 3 && victim == 0 ? check_size / 2 : 1) {
        if (victim > check_size / 2)
            victim = check_size - 1;
        me = check_rank == victim;
        comm = refused_fresh();
        CHECK_ERR(MPI_Cart_create(comm, 1, &check_size, &periodic, 0, &cart), MPI_SUCCESS);
        communicators();
        topologies();
        windows();
        neighbors();
        others();
        between_groups();
        MPI_Comm_free(&cart);
        MPI_Comm_free(&comm);
    }
    return check_done();
}
