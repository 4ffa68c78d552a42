/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Errors that concern no object: MPI_COMM_WORLD's handler gets them as before MPI 4.0 while the
 * program has set that one alone; once it has set one on MPI_COMM_SELF, that does ("Error
 * Handling"; "Semantic Changes Starting in MPI-4.0"). */
#include "check.h"

static int world_calls, self_calls;
static MPI_Comm last_comm;

static void on_world(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    world_calls++;
    last_comm = *comm;
}
static void on_self(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    self_calls++;
    last_comm = *comm;
}

/* One error of each kind of object that has no handler of its own, and of none; how many there
 * were. */
static int objectless(void)
{
    int n, x = 0;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL, freed;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_ERR(MPI_Group_size(group, &n), MPI_ERR_GROUP);
    CHECK_ERR(MPI_Group_incl(MPI_GROUP_EMPTY, 1, &x, &group), MPI_ERR_RANK);
    CHECK_ERR(MPI_Type_size(type, &n), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Info_set(info, "a", "b"), MPI_ERR_INFO);
    CHECK_ERR(MPI_Op_free(&op), MPI_ERR_OP);
    CHECK_ERR(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_ERR(MPI_Type_dup(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Add_error_string(MPI_ERR_ARG, "x"), MPI_ERR_ARG);
    MPI_Type_dup(MPI_INT, &freed);
    type = freed;
    MPI_Type_free(&freed);
    CHECK_ERR(MPI_Type_size(type, &n), MPI_ERR_TYPE);
    return 12;
}

static void counted(int world, int self, MPI_Comm comm)
{
    world_calls = self_calls = 0;
    int errors = objectless();
    CHECK_EQ(world_calls, world ? errors : 0);
    CHECK_EQ(self_calls, self ? errors : 0);
    CHECK((!world && !self) || last_comm == comm, "the handler gets the communicator it was attached to");
}

/* What does concern an object is not touched by this: nor is a session's. */
static void with_object(void)
{
    int x = 0;
    MPI_Session session;
    world_calls = self_calls = 0;
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_EQ(world_calls, 1);
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    CHECK_ERR(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_finalize(&session), MPI_SUCCESS);
    CHECK_EQ(world_calls + self_calls, 1, "those of a session are the session's");
}

int main(int argc, char **argv)
{
    MPI_Errhandler world, self;
    check_init(&argc, &argv);
    MPI_Comm_create_errhandler(on_world, &world);
    MPI_Comm_create_errhandler(on_self, &self);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    counted(0, 0, MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    counted(1, 0, MPI_COMM_WORLD);
    with_object();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
    counted(0, 1, MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    counted(0, 0, MPI_COMM_NULL);
    MPI_Errhandler_free(&world);
    MPI_Errhandler_free(&self);
    return check_done();
}
