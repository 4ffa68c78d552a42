/* SPDX-License-Identifier: BSD-3-Clause */
/* env.h: the state of the library in this process.
 *
 * The library is up while somebody uses it: the world model (MPI_Init to MPI_Finalize), or a session.  The ADI may
 * stay up beyond that (src/mpi/init/library.c). */
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
    bool up;    /* somebody uses the library: calls are legal, */
    bool brief; /* and nobody looks on: the short ways of hot procedures do, */
    bool
        seat; /* and nobody listens to calls: hot procedures may take the lock where it is biased to their thread */
    bool listened; /* listeners are told of calls (calls.h), */
    const char *
        plain; /* *plain: or nobody is, and there is one thread, so there has been no other since there are users */
    const char *alone;     /* the same, but for listeners */
    bool threaded;         /* there may be several: calls take the device lock, */
    bool beside;           /* but for the ways that go beside it */
    unsigned char watched; /* enum MPIR_WATCH: the threads are more than the program has asked for */
    enum MPIR_PHASE phase; /* MPI_COMM_WORLD and MPI_COMM_SELF exist while RUNNING */
    int thread_level;      /* MPI_THREAD_*, of the world model */
    bool check_args;       /* generated argument checks; on unless KEEL_CHECK_ARGS=0 */
} MPIR_env __attribute__((visibility("hidden"))); /* the front ends read it without a detour */

/* Any thread reads it, without a lock, while one that holds the library's lock may write.  (An atomic read takes
 * gcc one instruction more than a comparison in memory, so only ThreadSanitizer gets to see one: a field is one
 * byte, or an aligned word.) */
#ifdef __SANITIZE_THREAD__
#define MPIR_ENV(field) __atomic_load_n(&MPIR_env.field, __ATOMIC_RELAXED)
#else
#define MPIR_ENV(field) (MPIR_env.field)
#endif
#define MPIR_ENV_SET(field, value) __atomic_store_n(&MPIR_env.field, value, __ATOMIC_RELAXED)

/* The hot procedures look at it when they begin and when they end.  Mostly it is libc's own word of whether the
 * process has one thread:
 * so nobody has to tell the library of the second one, and until then nothing is paid for it. */
#define MPIR_PLAIN (*MPIR_ENV(plain) != 0)

/* Below MPI_THREAD_MULTIPLE: is it looked for calls by another thread than the one that may call, or for calls at
 * one time? */
enum MPIR_WATCH { MPIR_WATCH_NONE, MPIR_WATCH_MAIN, MPIR_WATCH_OVERLAP };

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
/* MPI_Finalize: as MPIR_Library_leave, in all ranks of the job together: nobody uses the library in any of them
 * (then the ADI ends), or (keep) somebody does in one at least. */
void MPIR_Library_leave_all(int level, bool keep);
/* The helper (MPID_Helper) is needed once more, or once less: from the return of the caller's procedure of MPI on
 * it may run (FRONT_BEGINS). */
void MPIR_Library_help(bool on);
/* Is the library up, and guarded against threads that its users' levels do not allow?  And has the process several
 * threads? */
bool MPIR_Library_is_guarded(void);
bool MPIR_Library_meets_threads(void);
/* Then, with the device lock: from now on calls take it. */
void MPIR_Library_threads(void);
/* What is watched for has been met.  True: for the first time in this process; it is not watched any more. */
bool MPIR_Library_noted(int *level);
bool MPIR_Library_is_first_thread(void); /* with the library's first user of now */
/* Does anybody use it in this process besides the caller? */
bool MPIR_Library_shared(void);

#endif
