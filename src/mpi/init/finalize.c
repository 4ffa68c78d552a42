/* SPDX-License-Identifier: BSD-3-Clause */
/* finalize.c: leaving MPI, in order or at once.
 *
 * First the delete callbacks of attributes run.  When MPI_Finalize returns, nobody needs this process any more:
 *   1. what it has buffered or detached (MPI_Bsend, MPI_Request_free) has left it;
 *   2. all ranks have come to the barrier, so each has received what it waits for;
 *   3. MPID_End hands the last packets over and lets the devices go; if a session lives in some rank, the ADI of
 *      all of them stays. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include "attr.h"
#include "bsend.h"
#include "comm.h"
#include "env.h"
#include "mpi_err.h"
#include "file.h"
#include "leaks.h"
#include "p2p.h"
#include "parent.h"
#include "partitioned.h"
#include "profile.h"
#include "request.h"

/* Where memory does not do: dissemination.  In round k hear from the rank 2^k before, tell the one 2^k after.
 * Ranks that are gone (MPI_ERRORS_ABORT) are not waited for.  *any: is it true in any of them? */
static int barrier(MPIR_Comm *comm, bool *any)
{
    const int tag = MPID_TAG_UB; /* no agreement uses it; and MPI_COMM_WORLD may have been revoked */
    int rank = comm->adi.rank, size = comm->adi.size, err = 0;
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    for (int64_t step = 1; step < size && !err; step *= 2) {
        int to = (int)((rank + step) % size), from = (int)((rank - step + size) % size);
        char mine = *any, theirs = 0;
        err = MPIR_P2p_sendrecv(&mine, 1, byte, to, tag, &theirs, 1, byte, from, tag, comm, MPID_CONTEXT_FAIL,
                                NULL);
        if (err == MPID_Gone_class()) { /* one of the two is gone; the other may still wait */
            MPIR_P2p_send(&mine, 1, byte, to, tag, comm, MPID_CONTEXT_FAIL);
            err = 0;
        }
        *any = *any || theirs;
    }
    return err;
}

/* A thread that waits would do so for ever, for what the end of MPI takes away. */
static int check_alone(void)
{
    const char *call = NULL;
    int n = MPIR_ENV(threaded) ? MPID_Thread_waiting(&call) : 0;
    if (n == 0)
        return 0;
    return MPIR_Err(MPI_ERR_OTHER, NULL,
                    "called while %d other thread%s of this process wait%s in %s; expected none", n,
                    n > 1 ? "s" : "", n > 1 ? "" : "s", call ? call : "a call of MPI");
}

int MPIR_Finalize(void)
{
    int err = check_alone();
    if (err)
        return err;
    err =
        MPIR_Attr_finalize(); /* the program's callbacks: while MPI works, and nothing is lost if one fails */
    if (err)
        return err;
    bool keep = MPIR_Library_shared(); /* by a session, in this process or another */
    err = MPIR_Bsend_drain(NULL);
    MPIR_Request_drain(NULL);
    MPIR_Part_fini(NULL);
    MPIR_Spawn_end();
    int late = MPIR_Coll_meet(&MPIR_Comm_world, keep) ? 0 : barrier(&MPIR_Comm_world, &keep);
    if (err || late)
        return err ? err : late;
    MPIR_Profile_final();
    if (!keep)
        MPIR_Leaks_show();
    if (!keep)
        MPIR_File_stop();
    MPIR_Comm_fini_predefined();
    MPIR_ENV_SET(phase, MPIR_AFTER_FINALIZE);
    MPIR_Library_leave_all(MPIR_ENV(thread_level), keep);
    return 0;
}

int MPIR_Abort(MPIR_Comm *comm, int errorcode)
{
    char text[256];
    if (comm->name[0])
        snprintf(text, sizeof text, "MPI_Abort: called with error code %d [communicator %s]", errorcode,
                 comm->name);
    else
        snprintf(text, sizeof text, "MPI_Abort: called with error code %d", errorcode);
    MPID_Abort(NULL, errorcode, NULL, text); /* the whole job, as users expect even of MPI_COMM_SELF */
}
