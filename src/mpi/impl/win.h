/* win.h: windows, as other chapters meet them; src/mpi/rma has the rest. */
#ifndef MPIR_WIN_H
#define MPIR_WIN_H

#include "comm.h"
#include "errhandler.h"
#include "object.h"

struct rma;

typedef struct MPIR_Win {
    struct keel_object obj;
    MPIR_Comm *
        comm; /* its own, of the same processes: barriers, and messages in the context for one-sided communication */
    MPIR_Errhandler *errhandler;
    void *attributes; /* src/mpi/attr */
    char name[128];   /* MPI_MAX_OBJECT_NAME */
    /* This process's part.  The attributes of 12.2.6 are the addresses of these. */
    void *base;
    int64_t size;
    int unit, flavor, model;
    struct rma *rma; /* src/mpi/rma/rma.h */
} MPIR_Win;

/* What the predefined attribute with this key value is; NULL: there is none, or it is a base that is NULL. */
void *MPIR_Win_attribute(MPIR_Win *win, int keyval);

#endif
