/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c: the library goes up with its first user, the world model or a session, and down with its last.
 *
 * The ADI is the same for all users, and does not come and go with each of them:
 *   down    -> up       the first user: MPID_Init
 *   up      -> resting  the last user has gone, and other ranks may have users: MPID_Rest
 *   resting -> up       the next user: MPID_Resume
 *   up      -> down     MPI_Finalize, and no rank of the job has a user: MPID_End, which all ranks do together
 *   resting -> down     the process ends: MPID_Leave
 * So a session begins and ends without the other ranks, however often, and all ranks are in the same epoch
 * (doc/architecture.md):
 * an epoch ends in all of them or lasts until their processes end. */
#include "config.h"
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "beside.h"
#include "calls.h"
#include "comm.h"
#include "drive.h"
#include "env.h"
#include "mpi_err.h"
#include "file.h"
#include "checks.h"
#include "leaks.h"
#include "partitioned.h"
#include "profile.h"
#include "timeline.h"
#include "request.h"
#include "stage.h"
#include "type.h"
#include "util/knob.h"
#include "util/lock.h"
#include "util/segment.h"

/* What MPIR_env.plain points to where it is not for libc to say. */
static const char yes = 1, no = 0;

struct MPIR_env MPIR_env = { .plain = &no, .alone = &no, .phase = MPIR_BEFORE_INIT, .check_args = true };

/* libc's word of whether the process has one thread.  Where it has none (NULL), or several copies of itself, the
 * process has several. */
extern char __libc_single_threaded __attribute__((weak));
#define ONE_THREAD (&__libc_single_threaded && __libc_single_threaded)

enum { DOWN, UP, RESTING };

/* The levels' values lie far apart: an array by value would be four pages of each rank. */
#define LEVEL_ROW(level) ((level) / MPI_THREAD_FUNNELED)
enum { LEVELS = LEVEL_ROW(MPI_THREAD_MULTIPLE) + 1 };
_Static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_SERIALIZED % MPI_THREAD_FUNNELED == 0 &&
                   MPI_THREAD_MULTIPLE % MPI_THREAD_FUNNELED == 0,
               "each level has a row of its own");

/* Sessions and the world model come and go in any threads (12.3.1): one at a time. */
static struct ku_lock lock = KU_LOCK(KU_LOCK_INIT);
static struct {
    int adi, users;
    int levels[LEVELS]; /* users by their level of thread support: LEVEL_ROW */
    bool had_threads;   /* some of MPI_THREAD_MULTIPLE, since there are users */
    int helped;         /* what needs the helper */
    bool
        guarded; /* threads that the levels do not allow do no harm (KEEL_THREAD_GUARD); read without the lock */
    bool met;    /* such threads may be there, since there are users */
    bool noted; /* it has been told that they call */
    bool same;  /* all users since there are some have begun in one thread, `first` */
    pthread_t first;
    bool at_exit;
} library KU_GUARDED_BY(lock);

static void set_check_args(const struct ku_knob *row)
{
    MPIR_ENV_SET(check_args, row->num != 0);
}

static struct ku_knob knob_rows[] = {
    { .name = "CHECK_ARGS",
      .type = KU_KNOB_BOOL,
      .def = "1",
      .unit = "",
      .changed = set_check_args,
      .help = "check the arguments of every MPI call; 0 saves some nanoseconds a call" },
    { .name = "CHECK",
      .type = KU_KNOB_STR,
      .def = "0",
      .unit = "",
      .scope = KU_KNOB_EQUAL,
      .help = "look for faults of the program: 1: all kinds; or error, warning, note, strict, names of "
              "kinds, with commas "
              "(mpiexec -check sets this; doc/checking.md)" },
    { .name = "CHECK_RMA",
      .type = KU_KNOB_BOOL,
      .def = "0",
      .unit = "",
      .help =
          "accesses to windows that conflict within an epoch are errors (MPI_ERR_RMA_CONFLICT); all of them "
          "then go by messages" },
    { .name = "THREAD_GUARD",
      .type = KU_KNOB_BOOL,
      .def = "1",
      .unit = "",
      .once = true,
      .help = "below MPI_THREAD_MULTIPLE, too, calls by several threads at once do no harm, and are told of "
              "once; 0: nothing is done or said about them" },
    { .name = "LEAKS",
      .type = KU_KNOB_BOOL,
      .def = "0",
      .unit = "",
      .help =
          "MPI_Finalize shows what the program has left: communicators, datatypes, requests, and messages "
          "that no receive has asked for" },
    { .name = "PROFILE",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "the file to which mpiexec writes where the time goes (doc/profiling.md); -: stderr (mpiexec "
              "-profile sets "
              "this)" },
    { .name = "PROFILE_FOLDER",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "where each rank keeps the tables of its profile, which mpiexec reads (mpiexec sets this)" },
    { .name = "TRACE",
      .type = KU_KNOB_STR,
      .unit = "",
      .help =
          "the file to which each rank appends what it does when: calls, waiting, messages, for viewers of "
          "Perfetto's format (mpiexec -trace empties it first)" },
    { .name = "TRACE_RANKS",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "the ranks of which TRACE tells, as 0,4-7; unset: all" },
    { .name = "STREAM_BUFFERING",
      .type = KU_KNOB_INT,
      .max = 2,
      .unit = "",
      .once = true,
      .help = "how stdout is buffered from MPI_Init on: 0 not at all, 1 by lines, 2 fully; unset: by "
              "lines into a pipe in a job of several ranks, unless the program has chosen itself" },
};
static struct ku_knob_table knobs = { .rows = knob_rows,
                                      .n = sizeof knob_rows / sizeof *knob_rows,
                                      .area = "mpi" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

/* ---- What the ADI asks of this layer ------------------------------------------------------------------------- */

static void free_request(MPID_Request request)
{
    MPIR_Request_detached_end(request);
}

static void free_datatype(struct MPIR_DATATYPE *datatype)
{
    datatype->obj.refs = 1; /* the one that the release drops */
    MPIR_Datatype_release((MPIR_Datatype *)datatype);
}

static const char *comm_name(const struct MPIR_COMMUNICATOR *comm)
{
    return ((const MPIR_Comm *)comm)->name;
}

/* At the end, when no thread may begin a call of MPI any more. */
KU_UNCHECKED static int others_end(void)
{
    bool threads = library.levels[LEVEL_ROW(MPI_THREAD_SERIALIZED)] > 0 ||
                   library.levels[LEVEL_ROW(MPI_THREAD_MULTIPLE)] > 0;
    return (atomic_load(&MPIR_Greq_under_way) > 0 || atomic_load(&MPIR_File_under_way) > 0
                ? KU_OTHERS_REQUESTS
                : 0) |
           (threads ? KU_OTHERS_THREADS : 0);
}

static const char *parts(MPIR_Request *r, void (*add)(MPIR_Request *message, void *arg), void *arg)
{
    const struct MPIR_Request_ops *ops = MPIR_Request_has_closure(r) ? MPIR_Request_ops_of(r) : NULL;
    return ops && ops->parts ? ops->parts(r, add, arg) : NULL;
}

/* ---- The ADI ------------------------------------------------------------------------------------------------- */

/* Variables of the environment that no table knows, or with a value that cannot be. */
static void show_misspelt(void *arg, const char *text)
{
    (void)arg;
    MPID_Message(text);
}

/* What fork copies is the rank's: its place in the job, messages half done.  A child may do anything but MPI.  It
 * has one thread; another may have had the lock. */
KU_UNCHECKED static void become_child(void)
{
    if (library.adi == DOWN)
        return;
    MPIR_ENV_SET(phase, MPIR_FORKED);
    MPIR_ENV_SET(up, false);
    MPIR_ENV_SET(brief, false);
    MPIR_ENV_SET(plain, &no);
    MPIR_ENV_SET(threaded, false);
    MPIR_ENV_SET(beside, false);
    MPIR_ENV_SET(watched, MPIR_WATCH_NONE);
}

/* stdout by lines in a job of several ranks: their pipe to the launcher would be buffered fully, so that what a
 * rank has written is seen late, and lost if it dies.  Unless the program has chosen itself, by setvbuf: then the
 * buffer is not the usual one. */
static void set_buffering(void)
{
    static const int modes[] = { _IONBF, _IOLBF, _IOFBF };
    struct stat st;
    int mode = _IOLBF;
    if (ku_knob_is_set("STREAM_BUFFERING"))
        mode = modes[ku_knob_int("STREAM_BUFFERING")];
    else if (MPID_MyWorldSize == 1 || fstat(fileno(stdout), &st) != 0 ||
             !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) ||
             (__fbufsize(stdout) != 0 && __fbufsize(stdout) != (size_t)st.st_blksize))
        return;
    fflush(stdout);
    setvbuf(stdout, NULL, mode, BUFSIZ);
}

KU_NEEDS(lock) static int begin(int *argc, char ***argv)
{
    static struct MPID_Config config = { .request_free = free_request,
                                         .request_done = MPIR_Drive_done,
                                         .revoked = MPIR_Comm_revoked,
                                         .lost = MPIR_Accord_lose,
                                         .datatype_free = free_datatype,
                                         .comm_name = comm_name,
                                         .listen_host = &MPIR_Call_host,
                                         .parts = parts,
                                         .others_end = others_end };
    static bool forks;
    int err = MPIR_Beside_begin();
    if (err)
        return err;
    ku_knob_register(&knobs);
    MPID_Init(argc, argv, &config, &err);
    if (err)
        return err;
    if (MPID_Needs() & MPID_NEEDS_TYPES)
        MPIR_Datatype_keep_predefined();
    MPIR_Comm_begin();
    MPIR_Errhandler_initial(); /* its variable is known from here on */
    if (MPID_MyWorldRank == 0) {
        ku_knob_check(show_misspelt, NULL);
        MPIR_Beside_tell();
    }
    if (!forks)
        forks =
            pthread_atfork(NULL, NULL, become_child) == 0; /* without memory children are not told apart */
    MPIR_ENV_SET(check_args, ku_knob_int("CHECK_ARGS") != 0);
    MPIR_Check_begin();
    MPIR_Leaks_begin();
    MPIR_Memory_begin();
    MPIR_Profile_begin();
    MPIR_Timeline_begin();
    set_buffering();
    library.adi = UP;
    return 0;
}

/* The highest level that a user has been granted. */
KU_NEEDS(lock) static int level_now(void)
{
    static const int others[] = { MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_FUNNELED };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (library.levels[LEVEL_ROW(others[i])] > 0)
            return others[i];
    return MPI_THREAD_SINGLE;
}

KU_NEEDS(lock) static enum MPIR_WATCH watch(void)
{
    int level = level_now();
    if (!library.met || library.noted || level == MPI_THREAD_MULTIPLE)
        return MPIR_WATCH_NONE;
    return level < MPI_THREAD_SERIALIZED && library.same ? MPIR_WATCH_MAIN : MPIR_WATCH_OVERLAP;
}

KU_NEEDS(lock) static const char *plain(bool threaded)
{
    if (!MPIR_ENV(brief) || threaded || library.had_threads)
        return &no;
    return !library.guarded ? &yes : &__libc_single_threaded ? &__libc_single_threaded : &no;
}

/* May several threads call at once: those of users, or the helper beside them, or those that nobody asked for? */
KU_NEEDS(lock) static void set_mode(void)
{
    library.met &= library.users > 0;
    bool tested = library.users > 0 && (MPID_Needs_tested() & MPID_NEEDS_THREADS);
    bool threaded =
        library.levels[LEVEL_ROW(MPI_THREAD_MULTIPLE)] > 0 || library.helped > 0 || library.met || tested;
    library.had_threads = library.users > 0 && (library.had_threads || library.met ||
                                                library.levels[LEVEL_ROW(MPI_THREAD_MULTIPLE)] > 0);
    MPIR_ENV_SET(up, library.users > 0);
    bool seen = (MPID_Needs() & MPID_NEEDS_CALLS) != 0;
    MPIR_ENV_SET(listened,
                 MPIR_ENV(up) && (MPID_Needs() & (MPID_NEEDS_LISTENED | MPID_NEEDS_DEVICE_MEMORY)) != 0);
    MPIR_ENV_SET(brief, MPIR_ENV(up) && !seen);
    MPIR_ENV_SET(seat, MPIR_ENV(brief) && !MPIR_ENV(listened));
    MPIR_ENV_SET(alone, plain(threaded));
    MPIR_ENV_SET(plain, MPIR_ENV(listened) ? &no : MPIR_ENV(alone));
    MPIR_ENV_SET(watched, watch());
    if (threaded) { /* others may be about to look */
        MPID_Need(MPID_NEEDS_THREADS, true);
        __atomic_store_n(&MPIR_env.threaded, true, __ATOMIC_RELEASE);
    } else {
        MPIR_ENV_SET(threaded, false);
        MPID_Need(MPID_NEEDS_THREADS, false);
    }
    MPIR_ENV_SET(beside, threaded && MPIR_ENV(seat) && MPIR_ENV(watched) == MPIR_WATCH_NONE);
}

/* Everything above the ADI that was made while it was up. */
KU_NEEDS(lock) static void undo(void)
{
    MPID_Helper_end();
    library.helped = 0; /* by windows that were not freed */
    set_mode();
    MPIR_Part_stop();
    MPIR_Drive_stop();
    MPIR_Accord_end();
    MPIR_Comm_end();
    MPIR_Leaks_end();
    MPIR_Check_end();
    MPIR_Memory_end();
    MPIR_Profile_end();
    MPIR_Timeline_end();
    MPIR_Coll_stop();
    MPIR_Datatype_fini_predefined();
    library.adi = DOWN;
}

/* Who ends without having ended what it uses is not helped: the launcher is to see it.  No other thread may use
 * MPI by now. */
KU_UNCHECKED static void leave_at_exit(void)
{
    if (library.adi != RESTING || MPIR_ENV(phase) == MPIR_FORKED) /* or it is down already */
        return;
    MPIR_File_stop();
    undo();
    MPID_Leave();
}

KU_NEEDS(lock) static void rest(void)
{
    library.adi = RESTING;
    MPID_Rest();
    if (!library.at_exit)
        library.at_exit = atexit(leave_at_exit) == 0;
}

/* ---- Users --------------------------------------------------------------------------------------------------- */

KU_NEEDS(lock) static int enter(int *argc, char ***argv, int *level)
{
    if (library.adi == RESTING) {
        MPID_Resume();
        library.adi = UP;
    }
    int err = library.adi == DOWN ? begin(argc, argv) : 0;
    if (err)
        return err;
    if (*level == MPIR_LEVEL_ANY)
        *level =
            library.levels[LEVEL_ROW(MPI_THREAD_MULTIPLE)] > 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    __atomic_store_n(&library.guarded, ku_knob_int("THREAD_GUARD") != 0, __ATOMIC_RELAXED);
    library.met |= library.guarded && !ONE_THREAD;
    library.same = library.users == 0 || (library.same && pthread_equal(library.first, pthread_self()));
    if (library.users == 0)
        library.first = pthread_self();
    library.users++;
    library.levels[LEVEL_ROW(*level)]++;
    set_mode();
    return 0;
}

/* The caller's procedure has the device lock from here on, which is biased to the thread that initialises. */
static void come_in(void)
{
    if (!MPIR_ENV(threaded))
        return;
    MPID_Thread_come_in();
    if (MPIR_Library_is_first_thread())
        MPID_Thread_alone();
}

int MPIR_Library_enter(int *argc, char ***argv, int *level)
{
    ku_lock(&lock);
    int err = enter(argc, argv, level);
    ku_unlock(&lock);
    if (!err)
        come_in();
    return err;
}

KU_NEEDS(lock) static void count_out(int level)
{
    library.users--;
    library.levels[LEVEL_ROW(level)]--;
    set_mode();
}

void MPIR_Library_leave(int level)
{
    ku_lock(&lock);
    count_out(level);
    if (library.users == 0)
        rest();
    ku_unlock(&lock);
}

void MPIR_Library_leave_all(int level, bool keep)
{
    if (keep) {
        MPID_Flush();
        MPIR_Library_leave(level);
        return;
    }
    ku_lock(&lock);
    count_out(level);
    undo();
    MPID_End();
    ku_unlock(&lock);
}

void MPIR_Library_help(bool on)
{
    ku_lock(&lock);
    library.helped += on ? 1 : -1;
    if (library.helped == 0)
        MPID_Helper(false);
    set_mode();
    bool begins = library.helped == 1 && on;
    ku_unlock(&lock);
    come_in();
    if (begins)
        MPID_Helper(true);
}

/* ---- Threads that the levels do not allow --------------------------------------------------------------------- */

/* (Who calls beside the end of the last user is not to be helped.) */
KU_UNCHECKED bool MPIR_Library_is_guarded(void)
{
    return MPIR_ENV(up) && __atomic_load_n(&library.guarded, __ATOMIC_RELAXED);
}

bool MPIR_Library_meets_threads(void)
{
    return !ONE_THREAD && MPIR_Library_is_guarded();
}

void MPIR_Library_threads(void)
{
    ku_lock(&lock);
    bool begins = library.users > 0 && !library.met;
    if (begins) {
        library.met = true;
        set_mode();
    }
    ku_unlock(&lock);
    if (begins && MPIR_Library_is_first_thread())
        MPID_Thread_alone();
}

bool MPIR_Library_noted(int *level)
{
    ku_lock(&lock);
    bool first = !library.noted;
    library.noted = true;
    *level = level_now();
    set_mode();
    ku_unlock(&lock);
    return first;
}

/* Its users' calls come after their first one's. */
KU_UNCHECKED bool MPIR_Library_is_first_thread(void)
{
    return pthread_equal(library.first, pthread_self()) != 0;
}

/* A session that ends meanwhile keeps the library until it has ended itself. */
KU_UNCHECKED bool MPIR_Library_shared(void)
{
    return library.users > 1;
}
