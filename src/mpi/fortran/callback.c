/* callback.c: calling functions that a Fortran program gave: attributes, error handlers, operations, generalized requests.
 *
 * All arguments are addresses; handles are INTEGERs, and so the derived types of mpi_f08; the error code is the last argument.
 * This is part of libmpi_abi, as whoever runs the function may be C; it needs nothing of a Fortran compiler. */
#include "config.h"
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include "bodies.h"
#include "abi.h"
#include "err.h"
#include "object.h"
#include "request.h"
#include "type.h"

_Thread_local enum MPIR_LANGUAGE MPIR_Language;

int MPIR_Keel_call_from(int language)
{
    if (language < MPIR_C || language > MPIR_FORTRAN_INT)
        return MPIR_Err(MPI_ERR_ARG, "language", "is %d; expected 0 to %d", language, MPIR_FORTRAN_INT);
    MPIR_Language = (enum MPIR_LANGUAGE)language;
    return 0;
}

static const int null_of[] = {
    [MPIR_KIND_COMM] = KEEL_MPI_COMM_NULL,
    [MPIR_KIND_WIN] = KEEL_MPI_WIN_NULL,
    [MPIR_KIND_FILE] = KEEL_MPI_FILE_NULL,
    [MPIR_KIND_SESSION] = KEEL_MPI_SESSION_NULL,
};

static int integer_of(const void *object)
{
    return (int)(uint32_t)MPIR_Object_handle(object);
}

static void call_errhandler(const MPIR_Callback *cb, int kind, void *object, int *errcode)
{
    int handle = object ? integer_of(object) : null_of[kind];
    ((void (*)(int *, int *))cb->fn)(&handle, errcode);
}

/* .TRUE. of all compilers has its lowest bit set, .FALSE. has not. */
static bool true_of(int logical)
{
    return logical & 1;
}

static int call_copy(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in, void **out,
                     int *flag)
{
    int handle = integer_of(object), logical = 0, code = MPI_SUCCESS;
    MPI_Aint extra = (MPI_Aint)cb->extra_state, value = (MPI_Aint)in, made = 0;
    (void)kind;
    ((void (*)(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *))cb->fn)(
        &handle, &keyval, &extra, &value, &made, &logical, &code);
    *out = (void *)made;
    *flag = true_of(logical);
    return code;
}

static int call_delete(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in)
{
    int handle = integer_of(object), code = MPI_SUCCESS;
    MPI_Aint extra = (MPI_Aint)cb->extra_state, value = (MPI_Aint)in;
    (void)kind;
    ((void (*)(int *, int *, MPI_Aint *, MPI_Aint *, int *))cb->fn)(&handle, &keyval, &value, &extra, &code);
    return code;
}

/* Those of MPI_KEYVAL_CREATE have INTEGERs. */
static int call_copy_int(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in, void **out,
                         int *flag)
{
    int handle = integer_of(object), logical = 0, code = MPI_SUCCESS;
    int extra = (int)(MPI_Aint)cb->extra_state, value = (int)(MPI_Aint)in, made = 0;
    (void)kind;
    ((void (*)(int *, int *, int *, int *, int *, int *, int *))cb->fn)(&handle, &keyval, &extra, &value,
                                                                        &made, &logical, &code);
    *out = (void *)(MPI_Aint)made;
    *flag = true_of(logical);
    return code;
}

static int call_delete_int(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in)
{
    int handle = integer_of(object), code = MPI_SUCCESS;
    int extra = (int)(MPI_Aint)cb->extra_state, value = (int)(MPI_Aint)in;
    (void)kind;
    ((void (*)(int *, int *, int *, int *, int *))cb->fn)(&handle, &keyval, &value, &extra, &code);
    return code;
}

/* The first two arguments of mpi_f08 are TYPE(C_PTR), VALUE: the same addresses. */
static void call_op(const MPIR_Callback *cb, void *invec, void *inoutvec, int64_t len,
                    struct MPIR_Datatype *datatype)
{
    int handle = integer_of(datatype);
    if (cb->convention == MPIR_CALL_LARGE) {
        ((void (*)(void *, void *, int64_t *, int *))cb->fn)(invec, inoutvec, &len, &handle);
        return;
    }
    while (len > 0) {
        int n = len > INT_MAX ? INT_MAX : (int)len, done = n;
        ((void (*)(void *, void *, int *, int *))cb->fn)(invec, inoutvec, &n, &handle);
        invec = (char *)invec + done * datatype->adi.extent;
        inoutvec = (char *)inoutvec + done * datatype->adi.extent;
        len -= done;
    }
}

/* A status is eight INTEGERs: those of MPIR_Status and two that nobody uses. */
static int call_grequest_query(const MPIR_Callback *cb, MPIR_Status *s)
{
    int status[MPI_F_STATUS_SIZE] = { 0 }, code = MPI_SUCCESS;
    int32_t error = s->MPI_ERROR;
    MPI_Aint extra = (MPI_Aint)cb->extra_state;
    _Static_assert(sizeof *s <= sizeof status, "MPI_STATUS_SIZE");
    memcpy(status, s, sizeof *s);
    ((void (*)(MPI_Aint *, int *, int *))cb->fn)(&extra, status, &code);
    memcpy(s, status, sizeof *s);
    s->MPI_ERROR = error;
    return code;
}

static int call_grequest_free(const MPIR_Callback *cb)
{
    MPI_Aint extra = (MPI_Aint)cb->extra_state;
    int code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, int *))cb->fn)(&extra, &code);
    return code;
}

static int call_grequest_cancel(const MPIR_Callback *cb, int complete)
{
    MPI_Aint extra = (MPI_Aint)cb->extra_state;
    int logical = complete != 0, code = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, int *, int *))cb->fn)(&extra, &logical, &code);
    return code;
}

#define FORTRAN_ABI(lang, copy, delete) \
    { \
        .name = "Fortran", .language = lang, .call_errhandler = call_errhandler, .call_copy_attr = copy, \
        .call_delete_attr = delete, .call_op = call_op, .call_grequest_query = call_grequest_query, \
        .call_grequest_free = call_grequest_free, .call_grequest_cancel = call_grequest_cancel \
    }
const struct MPIR_Abi MPIR_Abi_fortran[] = {
    [MPIR_FORTRAN] = FORTRAN_ABI(MPIR_FORTRAN, call_copy, call_delete),
    [MPIR_FORTRAN_INT] = FORTRAN_ABI(MPIR_FORTRAN_INT, call_copy_int, call_delete_int),
};
