# SPDX-License-Identifier: BSD-3-Clause
"""How the library calls functions of programs of an ABI, and the native values of their handles."""

import gen_calls
import gen_maps
import gen_pointers
from headers import fill
from kinds import HANDLES

ABI_C = """\
/* Generated from src/mpi/binding; do not edit.  How the library calls functions of programs of the @ABI@ ABI. */
#include "front_abi.h"

@DATA@/* Users' functions take the handle's address, and what they write there is ignored; what they leave as the code is not. */
static void call_errhandler(const MPIR_Callback *cb, int kind, void *object, int *errcode)
{
    uint64_t value = object ? MPIR_Object_handle(object) : 0;
@ERRCODE@    uint32_t depth = MPID_Thread_suspend(); /* it may wait for other threads */
    switch (kind) {
@CASES@
    }
    MPID_Thread_resume(depth);
@CODE_BACK@}

static int call_copy_attr(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in, void **out, int *flag)
{
    uint64_t value = MPIR_Object_handle(object);
    switch (kind) {
@COPY_CASES@
    }
    return MPI_ERR_INTERN;
}

static int call_delete_attr(const MPIR_Callback *cb, int kind, void *object, int keyval, void *attribute)
{
    uint64_t value = MPIR_Object_handle(object);
    switch (kind) {
@DELETE_CASES@
    }
    return MPI_ERR_INTERN;
}

static void call_op_int(const MPIR_Callback *cb, void *invec, void *inoutvec, int64_t len, MPIR_Datatype *datatype)
{
    ABI_Datatype handle = front_native_Datatype(MPIR_Object_handle(datatype));
    while (len > 0) {
        int n = len > INT_MAX ? INT_MAX : (int)len, done = n;
        ((void (*)(void *, void *, int *, ABI_Datatype *@OP_TYPE@))cb->fn)(invec, inoutvec, &n, &handle@OP_EXTRA@);
        invec = (char *)invec + done * datatype->adi.extent;
        inoutvec = (char *)inoutvec + done * datatype->adi.extent;
        len -= done;
    }
}

static void call_op(const MPIR_Callback *cb, void *invec, void *inoutvec, int64_t len, struct MPIR_Datatype *datatype)
{
    if (cb->convention != MPIR_CALL_LARGE) {
        call_op_int(cb, invec, inoutvec, len, datatype);
        return;
    }
    ABI_Datatype handle = front_native_Datatype(MPIR_Object_handle(datatype));
    MPI_Count n = len;
    ((void (*)(void *, void *, MPI_Count *, ABI_Datatype *))cb->fn)(invec, inoutvec, &n, &handle);
}

static int call_grequest_query(const MPIR_Callback *cb, MPIR_Status *s)
{
    ABI_Status status = { .MPI_ERROR = @STATUS_ERROR_OUT@ };
    front_status_out(s, &status);
    uint32_t depth = MPID_Thread_suspend();
    int code = ((int (*)(void *, ABI_Status *))cb->fn)(cb->extra_state, &status);
    MPID_Thread_resume(depth);
    status.MPI_ERROR = @STATUS_ERROR_OUT@;
    front_status_in(s, &status);
    return @CODE_IN@;
}

static int call_grequest_free(const MPIR_Callback *cb)
{
    uint32_t depth = MPID_Thread_suspend();
    int code = ((int (*)(void *))cb->fn)(cb->extra_state);
    MPID_Thread_resume(depth);
    return @CODE_IN@;
}

static int call_grequest_cancel(const MPIR_Callback *cb, int complete)
{
    uint32_t depth = MPID_Thread_suspend();
    int code = ((int (*)(void *, int))cb->fn)(cb->extra_state, complete);
    MPID_Thread_resume(depth);
    return @CODE_IN@;
}

static int call_datarep_extent(const MPIR_Callback *cb, struct MPIR_Datatype *datatype, intptr_t *extent)
{
    ABI_Datatype handle = front_native_Datatype(MPIR_Object_handle(datatype));
    MPI_Aint value = *extent;
    int code = ((int (*)(ABI_Datatype, MPI_Aint *, void *))cb->fn)(handle, &value, cb->extra_state);
    *extent = value;
    return @CODE_IN@;
}

static int call_datarep_convert(const MPIR_Callback *cb, void *userbuf, struct MPIR_Datatype *datatype, int64_t count,
                                void *filebuf, int64_t position)
{
    ABI_Datatype handle = front_native_Datatype(MPIR_Object_handle(datatype));
    if (cb->convention == MPIR_CALL_LARGE)
        return @ERROR@((int (*)(void *, ABI_Datatype, MPI_Count, void *, MPI_Offset, void *))cb->fn)(
            userbuf, handle, count, filebuf, position, cb->extra_state)@END@;
    return @ERROR@((int (*)(void *, ABI_Datatype, int, void *, MPI_Offset, void *))cb->fn)(userbuf, handle, (int)count, filebuf,
                                                                                 position, cb->extra_state)@END@;
}

@HANDLE_VALUE@
const struct MPIR_Abi MPIR_Abi_@ABI@ = {
    .name = "@ABI@",
    .handle = handle_value,
    .call_errhandler = call_errhandler,
    .call_copy_attr = call_copy_attr,
    .call_delete_attr = call_delete_attr,
    .call_op = call_op,
    .call_grequest_query = call_grequest_query,
    .call_grequest_free = call_grequest_free,
    .call_grequest_cancel = call_grequest_cancel,
    .call_datarep_extent = call_datarep_extent,
    .call_datarep_convert = call_datarep_convert,
};
"""

ERRHANDLER_CASE = """\
    case MPIR_KIND_@KIND@: {
        ABI_@SHORT@ handle = front_native_@SHORT@(object ? value : @NULL@);
        ((void (*)(ABI_@SHORT@ *, int *, ...))cb->fn)(&handle, @CODE@);
        break;
    }"""

COPY_CASE = """\
    case MPIR_KIND_@KIND@:
        return @ERROR@((int (*)(ABI_@SHORT@, int, void *, void *, void *, int *))cb->fn)(front_native_@SHORT@(value), keyval,
                                                                        cb->extra_state, in, out, flag)@END@;"""

DELETE_CASE = """\
    case MPIR_KIND_@KIND@:
        return @ERROR@((int (*)(ABI_@SHORT@, int, void *, void *))cb->fn)(front_native_@SHORT@(value), keyval, attribute,
                                                                  cb->extra_state)@END@;"""


def abi_c(abi, maps):
    into = maps.function("in", "error")
    parts = {"ERROR": into + "(" if into else "", "END": ")" if into else ""}
    cases = [fill(ERRHANDLER_CASE, KIND=k, SHORT=HANDLES[k].short, NULL=HANDLES[k].null, CODE="&code" if into else "errcode")
             for k in ("COMM", "WIN", "FILE", "SESSION")]
    copy, delete = ("\n".join(fill(case, KIND=k, SHORT=HANDLES[k].short, **parts) for k in ("COMM", "DATATYPE", "WIN"))
                    for case in (COPY_CASE, DELETE_CASE))
    tables = gen_pointers.data(maps) if abi.coding == "symbols" else gen_maps.tables(maps, False)
    data = "" if maps.identical else "\n\n".join([tables, gen_maps.data(abi), gen_maps.values_c(maps)]) + "\n"
    more = {"OP_TYPE": ", void *", "OP_EXTRA": ", cb->extra_state"} if abi.op else {"OP_TYPE": "", "OP_EXTRA": ""}
    return fill(ABI_C, ABI=abi.name, HANDLE_VALUE=gen_calls.handle_value(abi), **more, CASES="\n".join(cases), COPY_CASES=copy, DELETE_CASES=delete, DATA=data,
                STATUS_ERROR_OUT=maps.apply("out", "error", "s->MPI_ERROR"), CODE_IN=maps.apply("in", "error", "code"),
                ERRCODE="    int given = %s, code = given;\n" % maps.apply("out", "error", "*errcode") if into else "",
                CODE_BACK="    if (code != given)\n        *errcode = %s(code);\n" % into if into else "", **parts)
