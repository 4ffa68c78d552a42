/* win.h: windows, as other chapters meet them; src/mpi/rma has the rest. */
#ifndef MPIR_WIN_H
#define MPIR_WIN_H

#include <stdatomic.h>
#include <stdint.h>
#include "comm.h"
#include "errhandler.h"
#include "object.h"

struct rma;

/* What there is to know of a target to which load and store are all, in a window without targets by message: front ends access it at once
 * (front.h). */
struct MPIR_Near {
    int32_t rank;
    char *base;
    int64_t size, unit;
    uint64_t most;                 /* displacements that are not beyond the part */
    _Atomic uint32_t *busy, *gate; /* of updates (src/mpi/rma/update.c) */
};
extern const struct MPIR_Near MPIR_Near_none; /* its rank is nobody's */

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
    struct rma *rma;              /* src/mpi/rma/rma.h */
    const struct MPIR_Near *near; /* the one that was accessed last in this epoch */
} MPIR_Win;

static inline void MPIR_Near_forget(MPIR_Win *win)
{
    win->near = &MPIR_Near_none;
}

/* What the predefined attribute with this key value is; NULL: there is none, or it is a base that is NULL. */
void *MPIR_Win_attribute(MPIR_Win *win, int keyval);

#endif
