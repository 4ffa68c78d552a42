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
} MPIR_Errhandler;

extern MPIR_Errhandler MPIR_Errors_are_fatal, MPIR_Errors_abort, MPIR_Errors_return;

/* Drop a reference (NULL allowed); the last one frees.  Take one with MPIR_Object_ref. */
void MPIR_Errhandler_release(MPIR_Errhandler *errhandler);

#endif
