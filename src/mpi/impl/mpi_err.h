/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_err.h: from a failed body to the user's error handler.
 *
 * A body decides an error with MPIR_Err and returns its class; the generated front passes it to
 * MPIR_Err_comm (or _win, _file; MPIR_Err_none where no object is involved:
 * MPIR_Errhandler_comm_of_none says whose handler), which composes the full text MPI_Send on rank
 * 1 (host h, pid 123): invalid rank (MPI_ERR_RANK): dest is 7; expected 0 to 3 or MPI_PROC_NULL
 * [communicator MPI_COMM_WORLD] and runs the handler.  What the call returns to the user is the
 * class itself; MPI_Error_string of the class of the thread's latest error gives its full text.  A
 * handler that ends the job shows the text without the words in "on rank ... )": the launcher
 * knows them and merges equal texts of several ranks. */
#ifndef MPIR_ERR_H
#define MPIR_ERR_H

#include "mpi_const.h"
#include "util/err.h"

struct MPIR_Comm;
struct MPIR_Session;
struct MPIR_Win;
struct MPIR_Errhandler;
struct MPIR_HANDLE;

/* Record and return an error class.  arg: the argument's name in the standard's C binding, or NULL. */
#define MPIR_Err(errclass, arg, ...) ku_err_set((errclass), (arg), __VA_ARGS__)

/* Run the handler of `comm`; returns the class if the handler returns.  If the error is the one of a request, recorded
 * by MPIR_Err_request, it is the handler of the request's communicator instead. */
int MPIR_Err_comm(struct MPIR_Comm *comm, const char *function, int errclass) __attribute__((cold));
/* The handler of a window. */
int MPIR_Err_win(struct MPIR_Win *win, const char *function, int errclass) __attribute__((cold));
/* The handler of a session: of calls on it, and on the groups derived from it. */
int MPIR_Err_session(struct MPIR_Session *session, const char *function, int errclass) __attribute__((cold));
/* The handler that a call was given (MPI_Session_init, MPI_Comm_create_from_group), for an object that there is not. */
int MPIR_Err_given(struct MPIR_Errhandler *handler, const char *function, int errclass) __attribute__((cold));
/* The same where no argument names a communicator (MPIR_Errhandler_comm_of_none); the initial
 * handler outside MPI_Init .. Finalize. */
int MPIR_Err_none(const char *function, int errclass) __attribute__((cold));
/* I/O calls that have no valid file (MPI_File_open, a handle that is none): the default handler of files. */
int MPIR_Err_no_file(const char *function, int errclass) __attribute__((cold));
/* The handler of a file. */
struct MPIR_File;
int MPIR_Err_file(struct MPIR_File *file, const char *function, int errclass) __attribute__((cold));
/* Called while nobody uses the library, or the world model is wanted and does not run: the text says which; then as
 * MPIR_Err_none. */
int MPIR_Err_state(const char *function) __attribute__((cold));

/* Record the error a completed request holds, in words (truncation: both lengths, source, tag), and that it
 * concerns the request's communicator.  Returns the class. */
int MPIR_Err_request(const struct MPIR_HANDLE *request) __attribute__((cold));

/* The exit code of a job that an error of this class (or user-defined code) ends: the class where it is 1 to
 * 255, else 16 (MPI_ERR_OTHER). */
int MPIR_Err_exit_code(int errorcode);

/* The standard's text for a class, e.g. "invalid rank"; NULL for an unknown class. */
const char *MPIR_Err_class_text(int errclass);
/* "MPI_ERR_RANK"; NULL for an unknown or user-defined class. */
const char *MPIR_Err_class_name(int errclass);

/* Text of a user-defined class or code ("" if none was added), or NULL if the code is unknown; valid until it
 * is changed or removed. */
const char *MPIR_Err_user_text(int errorcode);
/* Where the largest class or code in use stands, always up to date: the attribute MPI_LASTUSEDCODE. */
int *MPIR_Err_lastusedcode(void);

#endif
