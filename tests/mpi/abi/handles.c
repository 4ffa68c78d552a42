/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that name nothing: null, made up, freed, of another kind; each a clear error, none followed. */
/* ranks: 1 2 */
/* abi: mpich, because handles are integers there, and every integer may be one */
#include <check.h>

static intptr_t bits(const void *handle)
{
    return (intptr_t)handle;
}

/* A communicator's handle with some bits changed. */
static MPI_Comm changed(MPI_Comm comm, uint64_t flip)
{
    return (MPI_Comm)(intptr_t)((uint64_t)bits(comm) ^ flip);
}

static void null_handles(void)
{
    int n, index, flag;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_ERR(MPI_Comm_rank(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    CHECK_SAYS("MPI_Comm_rank");
    CHECK_SAYS("comm is MPI_COMM_NULL; expected a communicator");
    CHECK_ERR(MPI_Send(&n, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_SAYS("datatype is MPI_DATATYPE_NULL");
    CHECK_ERR(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    CHECK_ERR(MPI_Allreduce(&n, &index, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_SAYS("op is MPI_OP_NULL");
    CHECK_ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    CHECK_ERR(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(index, MPI_UNDEFINED);
}

static void garbage(void)
{
    static const uint64_t values[] = {
        0xdeadbeef,         0x7fff12345678,    0x1, 0xfff, 0x1000, UINT64_MAX, 0x004b000104000000,
        0x004b0001ffffffff, 0x004b000103ffffff
    };
    int n, mine = 5;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint64_t v = values[i];
        if (v == (uint64_t)bits(&mine)) /* never */
            continue;
        CHECK_ERR(MPI_Comm_size((MPI_Comm)(intptr_t)v, &n), MPI_ERR_COMM);
        CHECK_ERR(MPI_Type_size((MPI_Datatype)(intptr_t)v, &n), MPI_ERR_TYPE);
        CHECK_ERR(MPI_Group_rank((MPI_Group)(intptr_t)v, &n), MPI_ERR_GROUP);
        CHECK_ERR(MPI_Op_commutative((MPI_Op)(intptr_t)v, &n), MPI_ERR_OP);
        MPI_Request r = (MPI_Request)(intptr_t)v;
        CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    }
    CHECK_ERR(MPI_Comm_size((MPI_Comm)&mine, &n), MPI_ERR_COMM); /* an address is not followed */
    CHECK_SAYS("which is no handle");
    CHECK_EQ(mine, 5);
}

static void freed(void)
{
    MPI_Comm comm, old, next;
    MPI_Datatype type, oldtype;
    MPI_Group group, oldgroup;
    int n;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    old = comm;
    CHECK_ERR(MPI_Comm_free(&comm), MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL, "MPI_Comm_free leaves the handle");
    CHECK_ERR(MPI_Comm_size(old, &n), MPI_ERR_COMM);
    CHECK_SAYS("was freed");
    MPI_Comm_dup(MPI_COMM_WORLD, &next); /* likely in the same place */
    CHECK(next != old, "a new communicator has a freed one's handle");
    CHECK_ERR(MPI_Comm_size(old, &n), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_size(changed(next, 1ull << 33), &n), MPI_ERR_COMM); /* another generation */
    CHECK_ERR(MPI_Comm_size(changed(next, 1), &n), MPI_ERR_COMM);          /* another index */
    CHECK_ERR(MPI_Comm_size(next, &n), MPI_SUCCESS);
    MPI_Comm_free(&next);
    MPI_Type_contiguous(3, MPI_INT, &type);
    oldtype = type;
    CHECK_ERR(MPI_Type_free(&type), MPI_SUCCESS);
    CHECK(type == MPI_DATATYPE_NULL, "MPI_Type_free leaves the handle");
    CHECK_ERR(MPI_Type_size(oldtype, &n), MPI_ERR_TYPE);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    oldgroup = group;
    CHECK_ERR(MPI_Group_free(&group), MPI_SUCCESS);
    CHECK_ERR(MPI_Group_size(oldgroup, &n), MPI_ERR_GROUP);
}

static void of_another_kind(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    int n;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK_ERR(MPI_Comm_size((MPI_Comm)type, &n), MPI_ERR_COMM);
    CHECK_SAYS("is a datatype; expected a communicator");
    CHECK_ERR(MPI_Type_size((MPI_Datatype)comm, &n), MPI_ERR_TYPE);
    CHECK_SAYS("is a communicator; expected a datatype");
    CHECK_ERR(MPI_Comm_size((MPI_Comm)MPI_INT, &n), MPI_ERR_COMM);
    CHECK_SAYS("is a datatype");
    CHECK_ERR(MPI_Comm_size((MPI_Comm)MPI_GROUP_NULL, &n), MPI_ERR_COMM);
    CHECK_SAYS("MPI_GROUP_NULL");
    MPI_Irecv(&n, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Message message = (MPI_Message)request;
    CHECK_ERR(MPI_Mrecv(&n, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_SAYS("is a request; expected a matched message");
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

static void in_arrays(void)
{
    MPI_Request many[20];
    int buf[20], block = 1, i;
    MPI_Datatype types[1] = { (MPI_Datatype)(intptr_t)12345678, }, made;
    MPI_Aint at = 0;
    for (i = 0; i < 20; i++)
        MPI_Irecv(&buf[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &many[i]);
    for (i = 0; i < 20; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Request keep = many[18];
    many[18] = (MPI_Request)(intptr_t)0xabcdef0123;
    CHECK_ERR(MPI_Waitall(20, many, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
#ifdef ABI_OPENMPI /* where an address that is no handle's is known by its lower half */
    CHECK_SAYS("array_of_requests element 18 is ");
#else
    CHECK_SAYS("array_of_requests element 18 is 0xabcdef0123");
#endif
    many[18] = keep;
    CHECK_ERR(MPI_Waitall(20, many, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (i = 0; i < 20; i++)
        CHECK(buf[i] == i && many[i] == MPI_REQUEST_NULL, "request %d", i);
    CHECK_ERR(MPI_Waitall(3, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    CHECK_ERR(MPI_Waitall(-1, many, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Type_create_struct(1, &block, &at, types, &made), MPI_ERR_TYPE);
    CHECK_SAYS("element 0");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    null_handles();
    garbage();
    freed();
    of_another_kind();
    in_arrays();
    return check_done();
}
