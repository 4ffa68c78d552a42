/* SPDX-License-Identifier: BSD-3-Clause */
/* callback.c: calling functions that a Fortran program gave: attributes, error handlers, operations, generalized
 * requests.
 *
 * All arguments are addresses; handles are INTEGERs, and so the derived types of mpi_f08; the error code is the
 * last argument. This is part of libmpi_abi, as whoever runs the function may be C; it needs nothing of a Fortran
 * compiler. */
#include "config.h"
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include "bodies.h"
#include "abi.h"
#include "mpi_err.h"
#include "object.h"
#include "request.h"
#include "type.h"

_Thread_local enum MPIR_LANGUAGE MPIR_Language;

int MPIR_Keel_call_from(int language)
{
    if (language < MPIR_C || language > MPIR_FORTRAN_8)
        return MPIR_Err(MPI_ERR_ARG, "language", "is %d; expected 0 to %d", language, MPIR_FORTRAN_8);
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
    if (&MPIR_Differs)
        return MPIR_Differs.integer(((const struct keel_object *)object)->kind, object);
    return (int)(uint32_t)MPIR_Object_handle(object);
}

static int null_handle(int kind)
{
    return &MPIR_Differs ? MPIR_Differs.integer(kind, NULL) : null_of[kind];
}

static int shown(int code)
{
    return &MPIR_Differs ? MPIR_Differs.error_out(code) : code;
}

/* What a function has returned. */
static int code_of(int code)
{
    return &MPIR_Differs ? MPIR_Differs.error_in(code) : code;
}

/* A status in Fortran: eight INTEGERs, those of MPIR_Status and two that nobody uses; or what the ABI says.
 * Returns how many. */
static int status_out(const MPIR_Status *s, int32_t *words)
{
    _Static_assert(sizeof *s <= MPI_F_STATUS_SIZE * sizeof *words, "MPI_STATUS_SIZE");
    memset(words, 0, MPI_F_STATUS_SIZE * sizeof *words);
    if (&MPIR_Differs)
        MPIR_Differs.status_out(s, words);
    else
        memcpy(words, s, sizeof *s);
    return &MPIR_Differs ? MPIR_Differs.status_size : MPI_F_STATUS_SIZE;
}

static void status_in(MPIR_Status *s, const int32_t *words)
{
    if (&MPIR_Differs)
        MPIR_Differs.status_in(s, words);
    else
        memcpy(s, words, sizeof *s);
}

/* .TRUE. of all compilers has its lowest bit set, .FALSE. has not. */
static bool true_of(int logical)
{
    return logical & 1;
}

#define INT int
#define CALL(what) call_##what
#include "callback.inc"
#undef INT
#undef CALL

#define INT int64_t
#define CALL(what) call8_##what
#include "callback.inc"
#undef INT
#undef CALL

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
    return code_of(code);
}

static int call_delete_int(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in)
{
    int handle = integer_of(object), code = MPI_SUCCESS;
    int extra = (int)(MPI_Aint)cb->extra_state, value = (int)(MPI_Aint)in;
    (void)kind;
    ((void (*)(int *, int *, int *, int *, int *))cb->fn)(&handle, &keyval, &value, &extra, &code);
    return code_of(code);
}

#define FORTRAN_ABI(lang, set, copy, delete) \
    { \
        .name = "Fortran", .language = lang, .call_errhandler = set##_errhandler, .call_copy_attr = copy, \
        .call_delete_attr = delete, .call_op = set##_op, .call_grequest_query = set##_grequest_query, \
        .call_grequest_free = set##_grequest_free, .call_grequest_cancel = set##_grequest_cancel, \
        .call_datarep_extent = set##_datarep_extent, .call_datarep_convert = set##_datarep_convert \
    }
const struct MPIR_Abi MPIR_Abi_fortran[] = {
    [MPIR_FORTRAN] = FORTRAN_ABI(MPIR_FORTRAN, call, call_copy, call_delete),
    [MPIR_FORTRAN_INT] = FORTRAN_ABI(MPIR_FORTRAN_INT, call, call_copy_int, call_delete_int),
    [MPIR_FORTRAN_8] = FORTRAN_ABI(MPIR_FORTRAN_8, call8, call8_copy, call8_delete),
};
