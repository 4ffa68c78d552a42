/* init.c: entering MPI: MPI_Init, MPI_Init_thread, and what may be asked about it at any time. */
#include "config.h"
#include "bodies.h"
#include <pthread.h>
#include "comm.h"
#include "env.h"
#include "drive.h"
#include "err.h"
#include "info.h"
#include "request.h"
#include "type.h"
#include "util/knob.h"
#include "util/segment.h"

struct MPIR_env MPIR_env = { .phase = MPIR_BEFORE_INIT, .check_args = true };

static pthread_t main_thread;

static void set_check_args(const struct ku_knob *row)
{
    MPIR_env.check_args = row->num != 0;
}

static struct ku_knob knob_rows[] = {
    { .name = "CHECK_ARGS",
      .type = KU_KNOB_BOOL,
      .def = "1",
      .unit = "",
      .changed = set_check_args,
      .help = "check the arguments of every MPI call; 0 saves some nanoseconds a call" },
};
static struct ku_knob_table knobs = { .rows = knob_rows, .n = 1, .area = "mpi" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

/* What the ADI gives back to this layer. */
static void free_request(MPID_Request request)
{
    MPIR_Request_release(request);
}
static void free_datatype(struct MPIR_DATATYPE *datatype)
{
    datatype->obj.refs = 1; /* the one that the release drops */
    MPIR_Datatype_release((MPIR_Datatype *)datatype);
}

/* Variables of the environment that no table knows, or with a value that cannot be. */
static void show_misspelt(void *arg, const char *text)
{
    (void)arg;
    MPID_Message(text);
}

/* What fork copies is the rank's: its place in the job, messages half done.  A child may do anything but MPI. */
static void become_child(void)
{
    if (MPIR_env.phase == MPIR_RUNNING)
        MPIR_env.phase = MPIR_FORKED;
}

static const char *comm_name(const struct MPIR_COMMUNICATOR *comm)
{
    return ((const MPIR_Comm *)comm)->name;
}

static int others_end(void)
{
    return (atomic_load(&MPIR_Greq_under_way) > 0 ? KU_OTHERS_REQUESTS : 0) |
           (MPIR_env.thread_level >= MPI_THREAD_SERIALIZED ? KU_OTHERS_THREADS : 0);
}

static int start(int *argc, char ***argv, int level)
{
    static struct MPID_Config config = { .request_free = free_request,
                                         .request_done = MPIR_Drive_done,
                                         .datatype_free = free_datatype,
                                         .comm_name = comm_name,
                                         .others_end = others_end };
    int err = 0;
    if (MPIR_env.phase != MPIR_BEFORE_INIT)
        return MPIR_Err(MPI_ERR_OTHER, NULL, "called %s; expected one call in a program",
                        MPIR_env.phase == MPIR_RUNNING  ? "although MPI is initialized already"
                        : MPIR_env.phase == MPIR_FORKED ? "in a child that a rank made by fork"
                                                        : "after MPI_Finalize");
    ku_knob_register(&knobs);
    MPID_Init(argc, argv, &config, &err);
    if (err)
        return err;
    err = MPIR_Comm_init_predefined();
    if (err) {
        MPID_End();
        return err;
    }
    MPIR_Errhandler_init();
    if (MPID_MyWorldRank == 0)
        ku_knob_check(show_misspelt, NULL);
    pthread_atfork(NULL, NULL, become_child); /* without memory for it children are not told apart */
    main_thread = pthread_self();
    MPIR_env.check_args = ku_knob_int("CHECK_ARGS") != 0;
    MPIR_Info_env_init(argc ? *argc : 0, argv ? *argv : NULL);
    MPIR_env.thread_level = level;
    MPIR_env.phase = MPIR_RUNNING;
    return 0;
}

int MPIR_Init(int *argc, char ***argv)
{
    return start(argc, argv, MPI_THREAD_SINGLE);
}

int MPIR_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED &&
        required != MPI_THREAD_SERIALIZED && required != MPI_THREAD_MULTIPLE)
        return MPIR_Err(MPI_ERR_ARG, "required",
                        "is %d; expected MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE", required);
    int level = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
    int err = start(argc, argv, level);
    if (!err)
        *provided = level;
    return err;
}

int MPIR_Initialized(int *flag)
{
    *flag = MPIR_env.phase != MPIR_BEFORE_INIT;
    return 0;
}

int MPIR_Finalized(int *flag)
{
    *flag = MPIR_env.phase >=
            MPIR_AFTER_FINALIZE; /* in a forked child too: nobody is to call MPI_Finalize there */
    return 0;
}

int MPIR_Query_thread(int *provided)
{
    *provided = MPIR_env.thread_level;
    return 0;
}

int MPIR_Is_thread_main(int *flag)
{
    *flag = pthread_equal(pthread_self(), main_thread) != 0;
    return 0;
}
