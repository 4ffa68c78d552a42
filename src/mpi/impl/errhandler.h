/* SPDX-License-Identifier: BSD-3-Clause */
/* errhandler.h: error handlers. */
#ifndef MPIR_ERRHANDLER_H
#define MPIR_ERRHANDLER_H

#include "object.h"
#include "abi.h"

enum MPIR_ERRHANDLER {
    MPIR_ERRHANDLER_FATAL,
    MPIR_ERRHANDLER_ABORT,
    MPIR_ERRHANDLER_RETURN,
    MPIR_ERRHANDLER_USER
};

typedef struct MPIR_Errhandler {
    struct keel_object obj;
    enum MPIR_ERRHANDLER what;
    enum MPIR_KIND object_kind; /* user handlers: of communicators, windows, files or sessions */
    MPIR_Callback callback;
    int32_t handles; /* the user's references among obj.refs */
} MPIR_Errhandler;

extern MPIR_Errhandler MPIR_Errors_are_fatal, MPIR_Errors_abort, MPIR_Errors_return;

#define MPIR_ERRHANDLER_PREDEFINED(value, kind_of) \
    { \
        .obj = { .index = KEEL_NO_INDEX, \
                 .gen = 1, \
                 .kind = MPIR_KIND_ERRHANDLER, \
                 .flags = KEEL_OBJ_PREDEFINED, \
                 .refs = 1, \
                 .self = value }, \
        .what = kind_of \
    }

/* MPI::ERRORS_THROW_EXCEPTIONS of other MPIs' C++ bindings.  MPICH's: as MPI_ERRORS_RETURN for the library; who
 * called then throws.  Open MPI's: its function throws.  It is there in the libraries of these ABIs alone; its
 * native value is none of the Standard ABI's. */
enum { MPIR_ERRORS_THROW_EXCEPTIONS = 335 };
extern MPIR_Errhandler MPIR_Errors_throw;

/* The one of files that are opened, and of I/O calls without a valid file: MPI_FILE_NULL's. */
extern MPIR_Errhandler *MPIR_File_errhandler;

/* The one before MPI_Init and after MPI_Finalize, chosen by mpiexec -initial-errhandler; legal at any time. */
MPIR_Errhandler *MPIR_Errhandler_initial(void);
/* MPI_Init: it is that of MPI_COMM_WORLD and MPI_COMM_SELF, too. */
void MPIR_Errhandler_init(void);

/* The communicator to which errors belong that concern no object.  MPI 4.0 made it MPI_COMM_SELF;
 * before, it was MPI_COMM_WORLD. A program that has set a handler on MPI_COMM_WORLD, and never one
 * on MPI_COMM_SELF, is taken to mean the former. */
struct MPIR_Comm *MPIR_Errhandler_comm_of_none(void);

/* MPI_ERR_ERRHANDLER, recorded, for one that objects of this kind cannot have. */
int MPIR_Errhandler_check(enum MPIR_KIND kind, const MPIR_Errhandler *errhandler);

/* Drop a reference (NULL allowed); the last one frees.  Take one with MPIR_Object_ref. */
void MPIR_Errhandler_release(MPIR_Errhandler *errhandler);
/* Take one. */
void MPIR_Errhandler_ref(MPIR_Errhandler *errhandler);

#endif
