/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich_cxx.c: what MPICH's library of C++ bindings (libmpicxx.so.12; Debian's libmpichcxx.so.12) asks of the
 * library beneath it.
 *
 * It gives MPI a function of the program in C++, and then tells how it is to be called: by one of its own
 * functions, whose first or last argument is the program's.  These are the same for all operations, for all error
 * handlers, and for all attributes of a kind of object. */
#include "config.h"
#include "front_abi.h"
#include "attr.h"
#include "errhandler.h"

MPIR_Errhandler MPIR_Errors_throw =
    MPIR_ERRHANDLER_PREDEFINED(MPIR_ERRORS_THROW_EXCEPTIONS, MPIR_ERRHANDLER_RETURN);

typedef void cxx_function(void);
typedef void cxx_op(void *invec, void *inoutvec, int len, ABI_Datatype datatype, cxx_function *fn);
typedef void cxx_errhandler(int kind, void *handle, int *errcode, cxx_function *fn);
typedef int cxx_copy(cxx_function *fn, int handle, int keyval, void *extra_state, int type, void *attribute,
                     void **copied, int *flag);
typedef int cxx_delete(cxx_function *fn, int handle, int keyval, int type, void *attribute,
                       void *extra_state);

static struct {
    cxx_op *op;
    cxx_errhandler *errhandler;
    cxx_copy *copy[MPIR_KIND_COUNT];
    cxx_delete *delete[MPIR_KIND_COUNT];
} proxy;

static void call_op(const MPIR_Callback *cb, void *invec, void *inoutvec, int64_t len,
                    MPIR_Datatype *datatype)
{
    ABI_Datatype handle = front_native_Datatype(MPIR_Object_handle(datatype));
    while (len > 0) {
        int n = len > INT_MAX ? INT_MAX : (int)len;
        proxy.op(invec, inoutvec, n, handle, cb->fn);
        invec = (char *)invec + n * datatype->adi.extent;
        inoutvec = (char *)inoutvec + n * datatype->adi.extent;
        len -= n;
    }
}

static void call_errhandler(const MPIR_Callback *cb, int kind, void *object, int *errcode)
{
    enum { COMM, FILE_, WIN };
    uint64_t value = object ? MPIR_Object_handle(object) : 0;
    int given = front_out_error(*errcode), code = given;
    uint32_t depth = MPID_Thread_suspend();
    if (kind == MPIR_KIND_WIN) {
        ABI_Win handle = front_native_Win(object ? value : KEEL_MPI_WIN_NULL);
        proxy.errhandler(WIN, &handle, &code, cb->fn);
    } else if (kind == MPIR_KIND_FILE) {
        ABI_File handle = front_native_File(object ? value : KEEL_MPI_FILE_NULL);
        proxy.errhandler(FILE_, &handle, &code, cb->fn);
    } else {
        ABI_Comm handle = front_native_Comm(object ? value : KEEL_MPI_COMM_NULL);
        proxy.errhandler(COMM, &handle, &code, cb->fn);
    }
    MPID_Thread_resume(depth);
    if (code != given)
        *errcode = front_in_error(code);
}

static int native(int kind, const void *object)
{
    uint64_t value = MPIR_Object_handle(object);
    return (int)(kind == MPIR_KIND_WIN        ? front_native_Win(value)
                 : kind == MPIR_KIND_DATATYPE ? front_native_Datatype(value)
                                              : front_native_Comm(value));
}

static int call_copy_attr(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in, void **out,
                          int *flag)
{
    return front_in_error(
        proxy.copy[kind](cb->fn, native(kind, object), keyval, cb->extra_state, 0, in, out, flag));
}

static int call_delete_attr(const MPIR_Callback *cb, int kind, void *object, int keyval, void *attribute)
{
    return front_in_error(
        proxy.delete[kind](cb->fn, native(kind, object), keyval, 0, attribute, cb->extra_state));
}

static const struct MPIR_Abi cxx = {
    .name = "MPICH's C++ bindings",
    .settles = true, /* else the bindings would call the handler once more */
    .call_op = call_op,
    .call_errhandler = call_errhandler,
    .call_copy_attr = call_copy_attr,
    .call_delete_attr = call_delete_attr,
};

FRONT_EXPORT void MPII_Op_set_cxx(ABI_Op op, cxx_function *call);
FRONT_EXPORT void MPII_Errhandler_set_cxx(ABI_Errhandler errhandler, cxx_function *call);
FRONT_EXPORT void MPII_Keyval_set_proxy(int keyval, cxx_copy *copy, cxx_delete *delete);

void MPII_Op_set_cxx(ABI_Op op, cxx_function *call)
{
    MPIR_Op *o = front_known_Op(op);
    if (!o)
        return;
    proxy.op = (cxx_op *)call;
    o->callback.abi = &cxx;
}

void MPII_Errhandler_set_cxx(ABI_Errhandler errhandler, cxx_function *call)
{
    MPIR_Errhandler *h = front_known_Errhandler(errhandler);
    if (!h)
        return;
    proxy.errhandler = (cxx_errhandler *)call;
    h->callback.abi = &cxx;
}

void MPII_Keyval_set_proxy(int keyval, cxx_copy *copy, cxx_delete *delete)
{
    int kind = MPIR_Keyval_call_by(keyval, &cxx);
    if (kind < 0)
        return;
    proxy.copy[kind] = copy;
    proxy.delete[kind] = delete;
}
