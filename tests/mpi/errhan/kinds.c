/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Error handlers for windows, files and sessions; the default handler of files. */
#include "check.h"

static int comm_calls, file_calls, last_code;
static MPI_File last_file;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    comm_calls++;
}
static void on_file(MPI_File *file, int *code, ...)
{
    file_calls++;
    last_file = *file;
    last_code = *code;
}
static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
}
static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}

static void files(MPI_Errhandler file, MPI_Errhandler comm)
{
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    CHECK_EQ(MPI_File_get_errhandler(MPI_FILE_NULL, &got), MPI_SUCCESS);
    CHECK(got == MPI_ERRORS_RETURN, "the default");
    MPI_Errhandler_free(&got);
    CHECK_ERR(MPI_File_set_errhandler(MPI_FILE_NULL, comm), MPI_ERR_ERRHANDLER);
    CHECK_SAYS("is an error handler for communicators; expected one for files");
    CHECK_EQ(comm_calls, 0, "it goes to the default handler of files");
    CHECK_ERR(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    CHECK_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, file), MPI_SUCCESS);
    CHECK_EQ(MPI_File_get_errhandler(MPI_FILE_NULL, &got), MPI_SUCCESS);
    CHECK(got == file, " ");
    MPI_Errhandler_free(&got);
    CHECK_EQ(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE), MPI_SUCCESS);
    CHECK_EQ(file_calls, 1);
    CHECK_EQ(last_code, MPI_ERR_NO_SUCH_FILE);
    CHECK(last_file == MPI_FILE_NULL, " ");
    CHECK_ERR(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    CHECK_EQ(file_calls, 2);
    CHECK_ERR(MPI_File_get_errhandler((MPI_File)MPI_COMM_WORLD, &got), MPI_ERR_FILE);
    CHECK_EQ(file_calls, 3);
    CHECK_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
    CHECK_EQ(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    CHECK_EQ(file_calls, 3);
}

/* A handler for another kind of object is none for a communicator. */
static void wrong(MPI_Errhandler *h, const char *says)
{
    MPI_Errhandler copy = *h;
    CHECK_ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, *h), MPI_ERR_ERRHANDLER);
    CHECK_SAYS(says);
    CHECK_EQ(MPI_Errhandler_free(h), MPI_SUCCESS);
    CHECK(*h == MPI_ERRHANDLER_NULL, " ");
    CHECK_ERR(MPI_Errhandler_free(&copy), MPI_ERR_ERRHANDLER);
}

int main(int argc, char **argv)
{
    MPI_Errhandler session = MPI_ERRHANDLER_NULL, early = MPI_ERRHANDLER_NULL, file = session, win = session,
                   comm;
    CHECK_EQ(MPI_Session_create_errhandler(on_session, &early), MPI_SUCCESS, "before MPI_Init");
    CHECK_EQ(MPI_Errhandler_free(&early), MPI_SUCCESS);
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_EQ(MPI_Session_create_errhandler(on_session, &session), MPI_SUCCESS);
    CHECK_EQ(MPI_File_create_errhandler(on_file, &file), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_create_errhandler(on_win, &win), MPI_SUCCESS);
    MPI_Comm_create_errhandler(on_comm, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, comm);
    files(file, comm);
    comm_calls = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong(&session, "for sessions");
    wrong(&file, "for files");
    wrong(&win, "for windows");
    MPI_Errhandler_free(&comm);
    CHECK_ERR(MPI_File_create_errhandler(NULL, &file), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_create_errhandler(on_win, NULL), MPI_ERR_ARG);
    return check_done();
}
