/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c: buffers that are copies of the program's (array sections of Fortran), given to a request.
 *
 * The operation may be over already: then they are brought back here, else by whoever completes it. */
#include "config.h"
#include "bodies.h"
#include "mpi_err.h"
#include "request.h"
#include "stage.h"

int MPIR_Keel_request_copies(MPIR_Request *request, void *copies)
{
    struct MPIR_Copies *c = copies, **kept;
    bool has = MPIR_Request_has_closure(request) && request->aux;
    const struct MPIR_Request_ops *ops = has ? MPIR_Request_ops_of(request) : NULL;
    if (MPIR_Stage_takes(request, c))
        return 0;
    if (!ops || !ops->copies) {
        if (!MPIR_Request_is_complete(request))
            return MPIR_Err(MPI_ERR_REQUEST, "request", "is of an operation that takes no copies of buffers");
        c->move(c, MPIR_COPY_OUT, 0, -1);
        c->move(c, MPIR_COPY_GONE, 0, -1);
        return 0;
    }
    kept = ops->copies(request);
    c->next = *kept;
    *kept = c;
    if (MPIR_Request_is_active(request) && atomic_load_explicit(&request->is_complete, memory_order_acquire))
        c->move(c, MPIR_COPY_OUT, 0, -1);
    return 0;
}
