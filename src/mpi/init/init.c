/* SPDX-License-Identifier: BSD-3-Clause */
/* init.c: entering MPI: MPI_Init, MPI_Init_thread, and what may be asked about it at any time. */
#include "config.h"
#include "bodies.h"
#include <pthread.h>
#include "comm.h"
#include "env.h"
#include "mpi_err.h"
#include "info.h"
#include "parent.h"

static pthread_t main_thread;
static bool called; /* MPI_Init has been */

static int init_start(int *argc, char ***argv, int level)
{
    if (MPIR_ENV(phase) != MPIR_BEFORE_INIT)
        return MPIR_Err(MPI_ERR_OTHER, NULL, "called %s; expected one call in a program",
                        MPIR_ENV(phase) == MPIR_RUNNING  ? "although MPI is initialized already"
                        : MPIR_ENV(phase) == MPIR_FORKED ? "in a child that a rank made by fork"
                                                         : "after MPI_Finalize");
    int err = MPIR_Library_enter(argc, argv, &level);
    if (err)
        return err;
    err = MPIR_Comm_init_predefined();
    if (err) {
        MPIR_Library_leave(level);
        return err;
    }
    MPIR_Errhandler_init();
    main_thread = pthread_self();
    MPIR_Info_env_init(argc ? *argc : 0, argv ? *argv : NULL);
    MPIR_ENV_SET(thread_level, level);
    MPIR_ENV_SET(phase, MPIR_RUNNING);
    called = true;
    return MPIR_Parent_meet();
}

int MPIR_Init(int *argc, char ***argv)
{
    return init_start(argc, argv, MPI_THREAD_SINGLE);
}

int MPIR_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED &&
        required != MPI_THREAD_SERIALIZED && required != MPI_THREAD_MULTIPLE)
        return MPIR_Err(MPI_ERR_ARG, "required",
                        "is %d; expected MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE", required);
    int err = init_start(argc, argv, required);
    if (!err)
        *provided = required;
    return err;
}

int MPIR_Initialized(int *flag)
{
    *flag = called;
    return 0;
}

int MPIR_Finalized(int *flag)
{
    *flag =
        called && MPIR_ENV(phase) >=
                      MPIR_AFTER_FINALIZE; /* in a rank's forked child too: it is not to call MPI_Finalize */
    return 0;
}

int MPIR_Query_thread(int *provided)
{
    *provided = MPIR_ENV(thread_level);
    return 0;
}

int MPIR_Is_thread_main(int *flag)
{
    *flag = pthread_equal(pthread_self(), main_thread) != 0;
    return 0;
}
