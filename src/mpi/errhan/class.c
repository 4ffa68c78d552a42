/* SPDX-License-Identifier: BSD-3-Clause */
/* class.c: the standard's error classes, in words. */
#include "config.h"
#include <stddef.h>
#include "mpi_err.h"
#include "mpid.h"

/* Classes of extensions (MPIX_), by the names that other MPIs' texts have for them.  Of those without a number of the
 * ADI, programs only ask. */
enum {
    MPI_ERR_PROC_FAILED = MPID_ERR_PROC_FAILED,
    MPI_ERR_PROC_FAILED_PENDING = MPID_ERR_PROC_FAILED_PENDING,
    MPI_ERR_REVOKED = MPID_ERR_REVOKED,
    MPIX_ERR_EAGAIN,
    MPIX_ERR_NOREQ,
    MPIX_ERR_STREAM,
    MPIX_ERR_TIMEOUT
};

/* Arrays, not pointers: those would be written by the loader, in each process, and the table is one for all. */
struct class_row {
    int errclass;
    char name[36], text[64];
};

#define ENDS_IN(string, array) \
    (0 * (int)sizeof(char[sizeof(string) <= sizeof((struct class_row){ 0 }.array) ? 1 : -1]))
#define ROW(c, words) \
    { \
        c + ENDS_IN(#c, name) + ENDS_IN(words, text), #c, words \
    }

static const struct class_row rows[] = {
    ROW(MPI_SUCCESS, "no error"),
    ROW(MPI_ERR_BUFFER, "invalid buffer pointer"),
    ROW(MPI_ERR_COUNT, "invalid count"),
    ROW(MPI_ERR_TYPE, "invalid datatype"),
    ROW(MPI_ERR_TAG, "invalid tag"),
    ROW(MPI_ERR_COMM, "invalid communicator"),
    ROW(MPI_ERR_RANK, "invalid rank"),
    ROW(MPI_ERR_REQUEST, "invalid request"),
    ROW(MPI_ERR_ROOT, "invalid root"),
    ROW(MPI_ERR_GROUP, "invalid group"),
    ROW(MPI_ERR_OP, "invalid operation"),
    ROW(MPI_ERR_TOPOLOGY, "invalid topology"),
    ROW(MPI_ERR_DIMS, "invalid dimension"),
    ROW(MPI_ERR_ARG, "invalid argument"),
    ROW(MPI_ERR_UNKNOWN, "unknown error"),
    ROW(MPI_ERR_TRUNCATE, "message truncated on receive"),
    ROW(MPI_ERR_OTHER, "other error"),
    ROW(MPI_ERR_INTERN, "internal error of the MPI library"),
    ROW(MPI_ERR_PENDING, "request neither failed nor completed"),
    ROW(MPI_ERR_IN_STATUS, "error code is in status"),
    ROW(MPI_ERR_ACCESS, "permission denied"),
    ROW(MPI_ERR_AMODE, "invalid access mode of MPI_File_open"),
    ROW(MPI_ERR_ASSERT, "invalid assertion"),
    ROW(MPI_ERR_BAD_FILE, "invalid file name"),
    ROW(MPI_ERR_BASE, "invalid base passed to MPI_Free_mem"),
    ROW(MPI_ERR_CONVERSION, "error in a user-supplied data conversion function"),
    ROW(MPI_ERR_DISP, "invalid displacement"),
    ROW(MPI_ERR_DUP_DATAREP, "data representation is already registered"),
    ROW(MPI_ERR_FILE_EXISTS, "file exists"),
    ROW(MPI_ERR_FILE_IN_USE, "file is open in some process"),
    ROW(MPI_ERR_FILE, "invalid file handle"),
    ROW(MPI_ERR_INFO_KEY, "info key longer than MPI_MAX_INFO_KEY"),
    ROW(MPI_ERR_INFO_NOKEY, "no such info key"),
    ROW(MPI_ERR_INFO_VALUE, "info value longer than MPI_MAX_INFO_VAL"),
    ROW(MPI_ERR_INFO, "invalid info object"),
    ROW(MPI_ERR_IO, "I/O error"),
    ROW(MPI_ERR_KEYVAL, "invalid key value"),
    ROW(MPI_ERR_LOCKTYPE, "invalid lock type"),
    ROW(MPI_ERR_NAME, "service name is not published"),
    ROW(MPI_ERR_NO_MEM, "out of memory"),
    ROW(MPI_ERR_NOT_SAME, "collective argument not identical on all processes"),
    ROW(MPI_ERR_NO_SPACE, "not enough space"),
    ROW(MPI_ERR_NO_SUCH_FILE, "file does not exist"),
    ROW(MPI_ERR_PORT, "invalid port name"),
    ROW(MPI_ERR_QUOTA, "quota exceeded"),
    ROW(MPI_ERR_READ_ONLY, "read-only file or file system"),
    ROW(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    ROW(MPI_ERR_RMA_CONFLICT, "conflicting accesses to window"),
    ROW(MPI_ERR_RMA_RANGE, "target memory is not part of the window"),
    ROW(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    ROW(MPI_ERR_RMA_SYNC, "wrong synchronization of RMA calls"),
    ROW(MPI_ERR_SERVICE, "invalid service name passed to MPI_Unpublish_name"),
    ROW(MPI_ERR_SIZE, "invalid size"),
    ROW(MPI_ERR_SPAWN, "error in spawning processes"),
    ROW(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    ROW(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    ROW(MPI_ERR_WIN, "invalid window"),
    ROW(MPI_ERR_RMA_FLAVOR, "window has the wrong flavor for the call"),
    ROW(MPI_ERR_PROC_ABORTED, "a peer process has aborted"),
    ROW(MPI_ERR_VALUE_TOO_LARGE, "value is too large to store"),
    ROW(MPI_ERR_SESSION, "invalid session"),
    ROW(MPI_ERR_ERRHANDLER, "invalid error handler"),
    ROW(MPI_ERR_ABI, "error in the application binary interface"),
    ROW(MPI_ERR_PROC_FAILED, "a process has failed"),
    ROW(MPI_ERR_PROC_FAILED_PENDING, "a process that might match the request has failed"),
    ROW(MPI_ERR_REVOKED, "the communication object was revoked"),
    ROW(MPIX_ERR_EAGAIN, "operation cannot be begun now"),
    ROW(MPIX_ERR_NOREQ, "no request can be allocated"),
    ROW(MPIX_ERR_STREAM, "invalid stream"),
    ROW(MPIX_ERR_TIMEOUT, "operation timed out"),
    ROW(MPI_T_ERR_CANNOT_INIT, "tool interface cannot be initialized now"),
    ROW(MPI_T_ERR_NOT_ACCESSIBLE, "tool interface: not accessible"),
    ROW(MPI_T_ERR_NOT_INITIALIZED, "tool interface is not initialized"),
    ROW(MPI_T_ERR_NOT_SUPPORTED, "tool interface: not supported"),
    ROW(MPI_T_ERR_MEMORY, "tool interface: out of memory"),
    ROW(MPI_T_ERR_INVALID, "tool interface: invalid use or parameter"),
    ROW(MPI_T_ERR_INVALID_INDEX, "tool interface: invalid index"),
    ROW(MPI_T_ERR_INVALID_ITEM, "tool interface: invalid item"),
    ROW(MPI_T_ERR_INVALID_SESSION, "tool interface: invalid session"),
    ROW(MPI_T_ERR_INVALID_HANDLE, "tool interface: invalid handle"),
    ROW(MPI_T_ERR_INVALID_NAME, "tool interface: no such name"),
    ROW(MPI_T_ERR_OUT_OF_HANDLES, "tool interface: out of handles"),
    ROW(MPI_T_ERR_OUT_OF_SESSIONS, "tool interface: out of sessions"),
    ROW(MPI_T_ERR_CVAR_SET_NOT_NOW, "control variable cannot be set now"),
    ROW(MPI_T_ERR_CVAR_SET_NEVER, "control variable can never be set"),
    ROW(MPI_T_ERR_PVAR_NO_WRITE, "performance variable cannot be written or reset"),
    ROW(MPI_T_ERR_PVAR_NO_STARTSTOP, "performance variable cannot be started or stopped"),
    ROW(MPI_T_ERR_PVAR_NO_ATOMIC, "performance variable cannot be read and reset at once"),
    ROW(MPI_ERR_LASTCODE, "the last of the predefined error classes"),
};

static const struct class_row *class_find(int errclass)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].errclass == errclass)
            return &rows[i];
    return NULL;
}

const char *MPIR_Err_class_text(int errclass)
{
    const struct class_row *row = class_find(errclass);
    return row ? row->text : NULL;
}

const char *MPIR_Err_class_name(int errclass)
{
    const struct class_row *row = class_find(errclass);
    return row ? row->name : NULL;
}
