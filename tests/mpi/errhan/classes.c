/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Every class of the standard: is its own class, has a text with its name; codes that do not exist. */
#include "check.h"

static const struct {
    int value;
    const char *name;
} classes[] = {
    { MPI_SUCCESS, "MPI_SUCCESS" },
    { MPI_ERR_BUFFER, "MPI_ERR_BUFFER" },
    { MPI_ERR_COUNT, "MPI_ERR_COUNT" },
    { MPI_ERR_TYPE, "MPI_ERR_TYPE" },
    { MPI_ERR_TAG, "MPI_ERR_TAG" },
    { MPI_ERR_COMM, "MPI_ERR_COMM" },
    { MPI_ERR_RANK, "MPI_ERR_RANK" },
    { MPI_ERR_REQUEST, "MPI_ERR_REQUEST" },
    { MPI_ERR_ROOT, "MPI_ERR_ROOT" },
    { MPI_ERR_GROUP, "MPI_ERR_GROUP" },
    { MPI_ERR_OP, "MPI_ERR_OP" },
    { MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY" },
    { MPI_ERR_DIMS, "MPI_ERR_DIMS" },
    { MPI_ERR_ARG, "MPI_ERR_ARG" },
    { MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN" },
    { MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE" },
    { MPI_ERR_OTHER, "MPI_ERR_OTHER" },
    { MPI_ERR_INTERN, "MPI_ERR_INTERN" },
    { MPI_ERR_PENDING, "MPI_ERR_PENDING" },
    { MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS" },
    { MPI_ERR_ACCESS, "MPI_ERR_ACCESS" },
    { MPI_ERR_AMODE, "MPI_ERR_AMODE" },
    { MPI_ERR_ASSERT, "MPI_ERR_ASSERT" },
    { MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE" },
    { MPI_ERR_BASE, "MPI_ERR_BASE" },
    { MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION" },
    { MPI_ERR_DISP, "MPI_ERR_DISP" },
    { MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP" },
    { MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS" },
    { MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE" },
    { MPI_ERR_FILE, "MPI_ERR_FILE" },
    { MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY" },
    { MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY" },
    { MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE" },
    { MPI_ERR_INFO, "MPI_ERR_INFO" },
    { MPI_ERR_IO, "MPI_ERR_IO" },
    { MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL" },
    { MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE" },
    { MPI_ERR_NAME, "MPI_ERR_NAME" },
    { MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM" },
    { MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME" },
    { MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE" },
    { MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE" },
    { MPI_ERR_PORT, "MPI_ERR_PORT" },
    { MPI_ERR_QUOTA, "MPI_ERR_QUOTA" },
    { MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY" },
    { MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH" },
    { MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT" },
    { MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE" },
    { MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED" },
    { MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC" },
    { MPI_ERR_SERVICE, "MPI_ERR_SERVICE" },
    { MPI_ERR_SIZE, "MPI_ERR_SIZE" },
    { MPI_ERR_SPAWN, "MPI_ERR_SPAWN" },
    { MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP" },
    { MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION" },
    { MPI_ERR_WIN, "MPI_ERR_WIN" },
    { MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR" },
    { MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED" },
    { MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE" },
    { MPI_ERR_SESSION, "MPI_ERR_SESSION" },
    { MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER" },
    { MPI_ERR_ABI, "MPI_ERR_ABI" },
    { MPI_T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT" },
    { MPI_T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE" },
    { MPI_T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED" },
    { MPI_T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED" },
    { MPI_T_ERR_MEMORY, "MPI_T_ERR_MEMORY" },
    { MPI_T_ERR_INVALID, "MPI_T_ERR_INVALID" },
    { MPI_T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX" },
    { MPI_T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM" },
    { MPI_T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION" },
    { MPI_T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE" },
    { MPI_T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME" },
    { MPI_T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES" },
    { MPI_T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS" },
    { MPI_T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW" },
    { MPI_T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER" },
    { MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE" },
    { MPI_T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP" },
    { MPI_T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC" },
    { MPI_ERR_LASTCODE, "MPI_ERR_LASTCODE" },
};

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, errclass;
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++) { /* legal before MPI_Init */
        errclass = len = -1;
        text[0] = 0;
        CHECK_EQ(MPI_Error_class(classes[i].value, &errclass), MPI_SUCCESS, "%s", classes[i].name);
        CHECK_EQ(errclass, classes[i].value);
        CHECK_EQ(MPI_Error_string(classes[i].value, text, &len), MPI_SUCCESS, "%s", classes[i].name);
        CHECK_EQ(len, (int)strlen(text));
        CHECK(strstr(text, classes[i].name) && len > (int)strlen(classes[i].name) + 6, "%s: %s",
              classes[i].name, text);
    }
    check_init(&argc, &argv);
    check_errors_return();
    CHECK_EQ(MPI_Error_string(MPI_SUCCESS, text, &len), MPI_SUCCESS);
    CHECK(!strncmp(text, "no error", 8), "%s", text);
    static const int bad[] = {
        -1,
#if !defined ABI_MPICH && !defined ABI_OPENMPI /* which may have a class of that number */
        63,
#endif
        500,
        1019,
        MPI_ERR_LASTCODE + 1,
        2147483647,
        -2147483647
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_ERR(MPI_Error_class(bad[i], &errclass), MPI_ERR_ARG);
        CHECK_ERR(MPI_Error_string(bad[i], text, &len), MPI_ERR_ARG);
        CHECK_SAYS("errorcode is");
    }
    return check_done();
}
