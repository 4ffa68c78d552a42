/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Error handlers as objects: user handlers, their life, inheritance, calls by the program. */
#include "check.h"

static int calls, last_code, other_calls;
static MPI_Comm last_comm;
static MPI_Errhandler to_set;

static void handler(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_code = *code;
}
static void other(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    other_calls++;
    if (to_set != MPI_ERRHANDLER_NULL)
        MPI_Comm_set_errhandler(*comm, to_set);
}

static void saw(MPI_Comm comm, int errclass)
{
    CHECK_EQ(calls, 1);
    CHECK(last_comm == comm, "the handler got another communicator");
    int c = -1;
    MPI_Error_class(last_code, &c);
    CHECK_EQ(c, errclass);
    calls = 0;
}

static void bad_send(MPI_Comm comm)
{
    int x = 0;
    CHECK_ERR(MPI_Send(&x, 1, MPI_INT, 1000, 0, comm), MPI_ERR_RANK);
    CHECK_SAYS("MPI_Send on rank ");
    CHECK_SAYS("dest is 1000");
}

static void life(void)
{
    MPI_Errhandler h, got, twice;
    MPI_Comm dup;
    CHECK_EQ(MPI_Comm_create_errhandler(handler, &h), MPI_SUCCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK_EQ(MPI_Comm_get_errhandler(dup, &got), MPI_SUCCESS);
    CHECK(got == MPI_ERRORS_ARE_FATAL, "the default");
    CHECK_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
    CHECK(got == MPI_ERRHANDLER_NULL, " ");
    CHECK_EQ(MPI_Comm_set_errhandler(dup, h), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_get_errhandler(dup, &got), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_get_errhandler(dup, &twice), MPI_SUCCESS);
    CHECK(got == h && twice == h, " ");
    CHECK_EQ(MPI_Errhandler_free(&h), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
    bad_send(dup);
    saw(dup, MPI_ERR_RANK);
    CHECK_EQ(MPI_Errhandler_free(&twice), MPI_SUCCESS);
    bad_send(dup);
    saw(dup, MPI_ERR_RANK);

    MPI_Comm child;
    MPI_Comm_dup(dup, &child); /* inherits */
    bad_send(child);
    saw(child, MPI_ERR_RANK);
    MPI_Comm_free(&dup); /* the child's stays */
    bad_send(child);
    saw(child, MPI_ERR_RANK);
    CHECK_EQ(MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN), MPI_SUCCESS);
    bad_send(child);
    CHECK_EQ(calls, 0);
    MPI_Comm_free(&child);
}

/* The call returns the code that the handler leaves. */
static int left_code;
static void changes(MPI_Comm *comm, int *code, ...)
{
    handler(comm, code);
    *code = left_code;
}
static void changes_of_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    *code = left_code;
}
static void changes_of_file(MPI_File *file, int *code, ...)
{
    (void)file;
    *code = left_code;
}

static void changes_code(void)
{
    MPI_Errhandler h;
    MPI_Comm dup;
    MPI_Session session;
    MPI_File file;
    MPI_Request r[2];
    MPI_Status s[2];
    int x[2], own;
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_create_errhandler(changes, &h);
    MPI_Comm_set_errhandler(dup, h);
    MPI_Errhandler_free(&h);
    MPI_Add_error_class(&own);
    MPI_Add_error_string(own, "the reactor is hot");
    int codes[] = { own, MPI_ERR_IO, MPI_SUCCESS, MPI_ERR_RANK };
    for (int i = 0; i < 4; i++) {
        left_code = codes[i];
        CHECK_EQ(MPI_Send(x, 1, MPI_INT, 1000, 0, dup), codes[i]);
        saw(dup, MPI_ERR_RANK);
        for (int k = 0; k < 2; k++)
            MPI_Irecv(&x[k], 1, MPI_INT, 0, k, dup, &r[k]);
        MPI_Send((int[]){ 1, 2 }, 2, MPI_INT, 0, 0, dup);
        MPI_Send((int[]){ 1, 2 }, 1, MPI_INT, 0, 1, dup);
        CHECK_EQ(MPI_Waitall(2, r, s), codes[i]);
        saw(dup, MPI_ERR_TRUNCATE);
        CHECK_ERR(s[0].MPI_ERROR, MPI_ERR_TRUNCATE);
        CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
    }
    left_code = own;
    CHECK_ERR(MPI_Comm_call_errhandler(dup, MPI_ERR_TOPOLOGY), MPI_SUCCESS);
    calls = 0;
    MPI_Comm_free(&dup);

    MPI_Session_create_errhandler(changes_of_session, &h);
    MPI_Session_init(MPI_INFO_NULL, h, &session);
    CHECK_EQ(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, x, NULL), own);
    MPI_Errhandler_free(&h);
    MPI_Session_finalize(&session);
    MPI_File_create_errhandler(changes_of_file, &h);
    MPI_File_set_errhandler(MPI_FILE_NULL, h);
    MPI_Errhandler_free(&h);
    CHECK_EQ(MPI_File_open(MPI_COMM_SELF, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
             own);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Remove_error_string(own);
    MPI_Remove_error_class(own);
}

/* A handler that changes the handler of its communicator, and so drops the last reference to itself. */
static void changes_itself(void)
{
    MPI_Errhandler h;
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_create_errhandler(other, &h);
    MPI_Comm_set_errhandler(dup, h);
    MPI_Errhandler_free(&h);
    to_set = MPI_ERRORS_RETURN;
    bad_send(dup);
    bad_send(dup);
    CHECK_EQ(other_calls, 1);
    to_set = MPI_ERRHANDLER_NULL;
    MPI_Comm_free(&dup);
}

static void called_by_program(void)
{
    MPI_Errhandler h;
    int mine;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    CHECK_EQ(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TOPOLOGY), MPI_SUCCESS);
    saw(MPI_COMM_WORLD, MPI_ERR_TOPOLOGY);
    MPI_Add_error_class(&mine);
    CHECK_EQ(MPI_Comm_call_errhandler(MPI_COMM_WORLD, mine), MPI_SUCCESS);
    CHECK_EQ(last_code, mine);
    calls = 0;
    MPI_Remove_error_class(mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TOPOLOGY), MPI_SUCCESS);
    CHECK_EQ(calls, 0);
    MPI_Errhandler_free(&h);
}

/* Errors without an object go to MPI_COMM_SELF's handler. */
static void no_object(void)
{
    MPI_Errhandler h, freed;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    freed = h;
    CHECK_ERR(MPI_Free_mem((void *)&h + 1), MPI_ERR_BASE);
    saw(MPI_COMM_SELF, MPI_ERR_BASE);
    int x;
    CHECK_ERR(MPI_Send(&x, 0, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    saw(MPI_COMM_SELF, MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&h);
    CHECK_ERR(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    CHECK_ERR(MPI_Comm_set_errhandler(MPI_COMM_SELF, freed), MPI_ERR_ERRHANDLER);
    /* (That of MPICH's C++ bindings is known in its own library alone.) */
    CHECK_ERR(MPI_Comm_set_errhandler(MPI_COMM_SELF, (MPI_Errhandler)335), MPI_ERR_ERRHANDLER);
    CHECK_ERR(MPI_Errhandler_free(&freed), MPI_ERR_ERRHANDLER);
    CHECK_ERR(MPI_Comm_create_errhandler(NULL, &h), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    to_set = MPI_ERRHANDLER_NULL;
    check_init(&argc, &argv);
    life();
    changes_itself();
    changes_code();
    called_by_program();
    no_object();
    return check_done();
}
