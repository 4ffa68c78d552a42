/* env.h: the state of the library in this process.
 *
 * The library is up while somebody uses it: the world model (MPI_Init to MPI_Finalize), or a session.  The ADI may stay up
 * beyond that (src/mpi/init/library.c). */
#ifndef MPIR_ENV_H
#define MPIR_ENV_H

#include <stdbool.h>

/* Of the world model. */
enum MPIR_PHASE {
    MPIR_BEFORE_INIT = 0,
    MPIR_RUNNING,
    MPIR_AFTER_FINALIZE,
    MPIR_FORKED /* a child that a rank made by fork: no rank, and MPI is over for it */
};

extern struct MPIR_env {
    bool up;       /* somebody uses the library: calls are legal, */
    bool brief;    /* and nobody looks on: the short ways of hot procedures do, */
    bool plain;    /* and they come from one thread at a time, and have done so since there are users */
    bool threaded; /* calls come from several at once (MPI_THREAD_MULTIPLE) */
    enum MPIR_PHASE phase;                        /* MPI_COMM_WORLD and MPI_COMM_SELF exist while RUNNING */
    int thread_level;                             /* MPI_THREAD_*, of the world model */
    bool check_args;                              /* generated argument checks; on unless KEEL_CHECK_ARGS=0 */
} MPIR_env __attribute__((visibility("hidden"))); /* the front ends read it without a detour */

/* Any thread reads it, without a lock, while one that holds the library's lock may write.  (An atomic read takes gcc one instruction
 * more than a comparison in memory, so only ThreadSanitizer gets to see one: a field is one byte, or an aligned word.) */
#ifdef __SANITIZE_THREAD__
#define MPIR_ENV(field) __atomic_load_n(&MPIR_env.field, __ATOMIC_RELAXED)
#else
#define MPIR_ENV(field) (MPIR_env.field)
#endif
#define MPIR_ENV_SET(field, value) __atomic_store_n(&MPIR_env.field, value, __ATOMIC_RELAXED)

/* How often MPI_T_init_thread has been called more than MPI_T_finalize. */
extern int MPIR_T_users __attribute__((visibility("hidden")));

/* One of these calls has been granted MPI_THREAD_MULTIPLE. */
extern bool MPIR_T_threaded __attribute__((visibility("hidden")));

/* One more uses the library, with this level of thread support: it is up when 0 is returned, an error class otherwise.
 * MPIR_LEVEL_ANY becomes what the others have, but at least MPI_THREAD_SERIALIZED, which costs nothing.
 * If several threads may call it, the caller has the device lock until its procedure returns (FRONT_BEGINS). */
enum { MPIR_LEVEL_ANY = -1 };
int MPIR_Library_enter(int *argc, char ***argv, int *level);
/* One less of that level; what was sent is on its way (MPID_Flush). */
void MPIR_Library_leave(int level);
/* MPI_Finalize: as MPIR_Library_leave, in all ranks of the job together: nobody uses the library in any of them (then the ADI ends),
 * or (keep) somebody does in one at least. */
void MPIR_Library_leave_all(int level, bool keep);
/* The helper (MPID_Helper) is needed once more, or once less: from the return of the caller's procedure of MPI on it may run
 * (FRONT_BEGINS). */
void MPIR_Library_help(bool on);
/* Does anybody use it in this process besides the caller? */
bool MPIR_Library_shared(void);

#endif
