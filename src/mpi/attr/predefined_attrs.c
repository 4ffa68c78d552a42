/* SPDX-License-Identifier: BSD-3-Clause */
/* predefined_attrs.c: the attributes that MPI itself attaches to communicators (10.1.2, 12.10).  Every
 * communicator has them. */
#include "config.h"
#include <stddef.h>
#include "mpi_err.h"
#include "keyval.h"
#include "mpid.h"

static const struct predefined_row {
    int keyval;
    enum MPIR_KIND kind;
    const char *name;
} rows[] = {
    { MPI_TAG_UB, MPIR_KIND_COMM, "MPI_TAG_UB" },
    { MPI_IO, MPIR_KIND_COMM, "MPI_IO" },
    { MPI_HOST, MPIR_KIND_COMM, "MPI_HOST" },
    { MPI_WTIME_IS_GLOBAL, MPIR_KIND_COMM, "MPI_WTIME_IS_GLOBAL" },
    { MPI_APPNUM, MPIR_KIND_COMM, "MPI_APPNUM" },
    { MPI_LASTUSEDCODE, MPIR_KIND_COMM, "MPI_LASTUSEDCODE" },
    { MPI_UNIVERSE_SIZE, MPIR_KIND_COMM, "MPI_UNIVERSE_SIZE" },
    { MPI_WIN_BASE, MPIR_KIND_WIN, "MPI_WIN_BASE" },
    { MPI_WIN_DISP_UNIT, MPIR_KIND_WIN, "MPI_WIN_DISP_UNIT" },
    { MPI_WIN_SIZE, MPIR_KIND_WIN, "MPI_WIN_SIZE" },
    { MPI_WIN_CREATE_FLAVOR, MPIR_KIND_WIN, "MPI_WIN_CREATE_FLAVOR" },
    { MPI_WIN_MODEL, MPIR_KIND_WIN, "MPI_WIN_MODEL" },
};

const char *MPIR_Keyval_predefined(int keyval, enum MPIR_KIND *kind)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].keyval == keyval) {
            *kind = rows[i].kind;
            return rows[i].name;
        }
    return NULL;
}

/* MPI_Wtime is the machine's clock: the same for all ranks of one node. */
static bool on_one_node(const struct MPID_World *w)
{
    return w->local_size == MPID_MyWorldSize;
}

int *MPIR_Keyval_predefined_value(int keyval)
{
    /* Written at each call, so that a program that writes to them harms itself at most. */
    static int tag_ub, io, host, wtime_is_global, appnum, universe_size;
    const struct MPID_World *w = MPID_World();
    switch (keyval) {
    case MPI_TAG_UB:
        tag_ub = MPID_TAG_UB;
        return &tag_ub;
    case MPI_IO:
        io = MPI_ANY_SOURCE;
        return &io;
    case MPI_HOST:
        host = MPI_PROC_NULL;
        return &host;
    case MPI_WTIME_IS_GLOBAL:
        wtime_is_global = on_one_node(w);
        return &wtime_is_global;
    case MPI_APPNUM:
        appnum = w->appnum;
        return appnum < 0 ? NULL : &appnum;
    case MPI_UNIVERSE_SIZE:
        universe_size = w->universe_size;
        return universe_size < 0 ? NULL : &universe_size;
    case MPI_LASTUSEDCODE:
        return MPIR_Err_lastusedcode();
    }
    return NULL;
}
