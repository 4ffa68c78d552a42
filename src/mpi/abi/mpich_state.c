/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich_state.c: MPICH's functions (since 4.3) that make operations and error handlers whose function gets a state
 * of the program's, and that call the program when the object is no more.  MPICH 5's library of C++ bindings is
 * made with them. */
#include "config.h"
#include "front_abi.h"
#include "errhandler.h"
#include "op.h"

typedef void op_function(void *invec, void *inoutvec, MPI_Count len, ABI_Datatype datatype, void *state);
typedef void gone_function(void *state);

struct state {
    void *state;
    gone_function *gone; /* NULL: nobody wants to know */
};

static void *mpich_state_state_of(const MPIR_Callback *cb)
{
    return ((struct state *)cb->extra_state)->state;
}

static void call_op(const MPIR_Callback *cb, void *invec, void *inoutvec, int64_t len,
                    MPIR_Datatype *datatype)
{
    ABI_Datatype handle = front_native_Datatype(MPIR_Object_handle(datatype));
    ((op_function *)cb->fn)(invec, inoutvec, len, handle, mpich_state_state_of(cb));
}

#define CALL(short, null) \
    ((void (*)(ABI_##short, int, void *))cb->fn)(front_native_##short(object ? value : null), code, state)

static void call_errhandler(const MPIR_Callback *cb, int kind, void *object, int *errcode)
{
    uint64_t value = object ? MPIR_Object_handle(object) : 0;
    int code = front_out_error(*errcode);
    void *state = mpich_state_state_of(cb);
    uint32_t depth = MPID_Thread_suspend(); /* it may wait for other threads */
    if (kind == MPIR_KIND_WIN)
        CALL(Win, KEEL_MPI_WIN_NULL);
    else if (kind == MPIR_KIND_FILE)
        CALL(File, KEEL_MPI_FILE_NULL);
    else if (kind == MPIR_KIND_SESSION)
        CALL(Session, KEEL_MPI_SESSION_NULL);
    else
        CALL(Comm, KEEL_MPI_COMM_NULL);
    MPID_Thread_resume(depth);
}

static void gone(const MPIR_Callback *cb)
{
    struct state *s = cb->extra_state;
    if (s->gone) {
        uint32_t depth = MPID_Thread_suspend();
        s->gone(s->state);
        MPID_Thread_resume(depth);
    }
    free(s);
}

static const struct MPIR_Abi with_state = {
    .name = "MPICH's functions with a state",
    .settles =
        true, /* as in MPICH, whose call returns MPI_SUCCESS after any error handler of the program's */
    .call_op = call_op,
    .call_errhandler = call_errhandler,
    .gone = gone,
};

static struct state *new_state(const char *call, gone_function *gone_fn, void *state, int *err)
{
    struct state *s = malloc(sizeof *s);
    if (s)
        *s = (struct state){ state, gone_fn };
    else
        *err = front_out_error(MPIR_front_fail(front_target(NULL), call,
                                               MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a state")));
    return s;
}

static int with(MPIR_Callback *cb, struct state *s)
{
    cb->abi = &with_state;
    cb->extra_state = s;
    return MPI_SUCCESS;
}

#define EXPORT(name, ...) \
    FRONT_EXPORT int P##name(__VA_ARGS__); \
    FRONT_EXPORT int name(__VA_ARGS__) __attribute__((weak, alias("P" #name))); \
    int P##name(__VA_ARGS__)

FRONT_EXPORT int PMPI_Op_create_c(ABI_Function *fn, int commute, ABI_Op *op);

EXPORT(MPIX_Op_create_x, ABI_Function *fn, gone_function *gone_fn, int commute, void *extra_state, ABI_Op *op)
{
    int err = MPI_SUCCESS;
    struct state *s = new_state("MPIX_Op_create_x", gone_fn, extra_state, &err);
    if (s && (err = PMPI_Op_create_c(fn, commute, op)) == MPI_SUCCESS)
        return with(&((MPIR_Op *)front_known_Op(*op))->callback, s);
    free(s);
    return err;
}

#define ERRHANDLER(kind) \
    FRONT_EXPORT int PMPI_##kind##_create_errhandler(ABI_Function *fn, ABI_Errhandler *errhandler); \
    EXPORT(MPIX_##kind##_create_errhandler_x, ABI_Function *fn, gone_function *gone_fn, void *extra_state, \
           ABI_Errhandler *errhandler) \
    { \
        int err = MPI_SUCCESS; \
        struct state *s = new_state("MPIX_" #kind "_create_errhandler_x", gone_fn, extra_state, &err); \
        if (s && (err = PMPI_##kind##_create_errhandler(fn, errhandler)) == MPI_SUCCESS) \
            return with(&((MPIR_Errhandler *)front_known_Errhandler(*errhandler))->callback, s); \
        free(s); \
        return err; \
    }
ERRHANDLER(Comm)
ERRHANDLER(File)
ERRHANDLER(Session)
ERRHANDLER(Win)
