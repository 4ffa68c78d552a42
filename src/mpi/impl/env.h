/* env.h: the state of the library in this process. */
#ifndef MPIR_ENV_H
#define MPIR_ENV_H

#include <stdbool.h>

enum MPIR_PHASE {
    MPIR_BEFORE_INIT = 0,
    MPIR_RUNNING,
    MPIR_AFTER_FINALIZE,
    MPIR_FORKED /* a child that a rank made by fork: no rank, and MPI is over for it */
};

extern struct MPIR_env {
    enum MPIR_PHASE phase;
    int thread_level;                             /* MPI_THREAD_* */
    bool check_args;                              /* generated argument checks; on unless KEEL_CHECK_ARGS=0 */
} MPIR_env __attribute__((visibility("hidden"))); /* the front ends read it without a detour */

/* How often MPI_T_init_thread has been called more than MPI_T_finalize. */
extern int MPIR_T_users __attribute__((visibility("hidden")));

#endif
