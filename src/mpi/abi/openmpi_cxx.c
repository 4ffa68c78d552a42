/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi_cxx.c: what Open MPI's library of C++ bindings (libmpi_cxx.so.40 of Open MPI 4) asks of the library
 * beneath it.
 *
 * The bindings reach into Open MPI's objects only in functions in C of their own, ompi_cxx_*, which they call by
 * their symbols (ompi/mpi/cxx/cxx_glue.h, a header that Open MPI installs).  Those are here instead:
 * $libdir/keel/openmpi/libmpi_cxx.so.40 has nothing in it, and needs this library before Open MPI's own
 * (files.am), so that the run-time loader finds these first.
 *
 * A function of the program in C++ is called by one of the bindings' own functions, which gets it as an argument. */
#include "config.h"
#include <dlfcn.h>
#include "front_abi.h"
#include "attr.h"
#include "errhandler.h"

/* ---- Communicators ---- */

enum { UNKNOWN, INTRACOMM, INTERCOMM, CARTCOMM, GRAPHCOMM };

FRONT_EXPORT int PMPI_Comm_test_inter(ABI_Comm comm, int *flag);
FRONT_EXPORT int PMPI_Topo_test(ABI_Comm comm, int *status);

FRONT_EXPORT int ompi_cxx_comm_get_type(ABI_Comm comm);
int ompi_cxx_comm_get_type(ABI_Comm comm)
{
    enum { CART = 1, GRAPH = 2 }; /* MPI_CART, MPI_GRAPH of this ABI */
    int inter, topology;
    if (PMPI_Comm_test_inter(comm, &inter) || PMPI_Topo_test(comm, &topology))
        return UNKNOWN;
    return inter ? INTERCOMM : topology == CART ? CARTCOMM : topology == GRAPH ? GRAPHCOMM : INTRACOMM;
}

/* ---- Attributes ----
 *
 * The state that the functions get is the bindings', which they allocate and the library frees with the key value. */

#define COPY(short) \
    ((int (*)(ABI_##short, int, void *, void *, void *, int *, ABI_##short))cb->fn)( \
        front_native_##short(value), keyval, cb->extra_state, in, out, flag, NULL)

static int call_copy_attr(const MPIR_Callback *cb, int kind, void *object, int keyval, void *in, void **out,
                          int *flag)
{
    uint64_t value = MPIR_Object_handle(object);
    return front_in_error(kind == MPIR_KIND_WIN        ? COPY(Win)
                          : kind == MPIR_KIND_DATATYPE ? COPY(Datatype)
                                                       : COPY(Comm));
}

static int call_delete_attr(const MPIR_Callback *cb, int kind, void *object, int keyval, void *attribute)
{
    return MPIR_Abi_openmpi.call_delete_attr(cb, kind, object, keyval, attribute);
}

static void free_state(const MPIR_Callback *cb)
{
    free(cb->extra_state);
}

static const struct MPIR_Abi cxx_keyval = {
    .name = "Open MPI's C++ bindings",
    .call_copy_attr = call_copy_attr,
    .call_delete_attr = call_delete_attr,
    .gone = free_state,
};

static int with_state(int err, const int *keyval, void *bindings_extra_state)
{
    if (!err && bindings_extra_state)
        MPIR_Keyval_call_by(*keyval, &cxx_keyval);
    return err;
}

#define KEYVAL(kind, name) \
    FRONT_EXPORT int PMPI_##kind##_create_keyval(ABI_Function *copy, ABI_Function *delete, int *keyval, \
                                                 void *state); \
    FRONT_EXPORT int ompi_cxx_attr_create_keyval_##name(ABI_Function *copy, ABI_Function *delete, \
                                                        int *keyval, void *state, int flags, \
                                                        void *bindings_state); \
    int ompi_cxx_attr_create_keyval_##name(ABI_Function *copy, ABI_Function *delete, int *keyval, \
                                           void *state, int flags __attribute__((unused)), \
                                           void *bindings_state) \
    { \
        return with_state(PMPI_##kind##_create_keyval(copy, delete, keyval, state), keyval, bindings_state); \
    }
KEYVAL(Comm, comm)
KEYVAL(Type, type)
KEYVAL(Win, win)

/* ---- Error handlers ---- */

typedef void invoke_function(void *handle, int *code, const char *message, void *fn);
typedef void throw_function(void *handle, int *code, ...);
static invoke_function *invoke[MPIR_KIND_COUNT];
static throw_function *throws[MPIR_KIND_COUNT];

/* Call `fn`, or what throws, with the address of a handle, as a C function gets it. */
static void call(int kind, void *handle, int *code, void *fn)
{
    if (fn)
        invoke[kind](handle, code, "", fn);
    else
        throws[kind](handle, code);
}

static void call_errhandler(const MPIR_Callback *cb, int kind, void *object, int *errcode)
{
    uint64_t value = object ? MPIR_Object_handle(object) : 0;
    int given = front_out_error(*errcode), code = given;
    kind = kind == MPIR_KIND_SESSION ? MPIR_KIND_COMM : kind; /* the bindings have no sessions */
    if (!cb->fn && !throws[kind])
        return;
    uint32_t depth = MPID_Thread_suspend(); /* it may wait for other threads, or throw */
    if (kind == MPIR_KIND_WIN) {
        ABI_Win handle = front_native_Win(object ? value : KEEL_MPI_WIN_NULL);
        call(kind, &handle, &code, (void *)cb->fn);
    } else if (kind == MPIR_KIND_FILE) {
        ABI_File handle = front_native_File(object ? value : KEEL_MPI_FILE_NULL);
        call(kind, &handle, &code, (void *)cb->fn);
    } else {
        ABI_Comm handle = front_native_Comm(object ? value : KEEL_MPI_COMM_NULL);
        call(kind, &handle, &code, (void *)cb->fn);
    }
    MPID_Thread_resume(depth);
    if (code != given)
        *errcode = front_in_error(code);
}

static const struct MPIR_Abi cxx_errhandler = {
    .name = "Open MPI's C++ bindings",
    .call_errhandler = call_errhandler,
};

MPIR_Errhandler MPIR_Errors_throw = {
    .obj = { .index = KEEL_NO_INDEX,
             .gen = 1,
             .kind = MPIR_KIND_ERRHANDLER,
             .flags = KEEL_OBJ_PREDEFINED,
             .refs = 1,
             .self = MPIR_ERRORS_THROW_EXCEPTIONS },
    .what = MPIR_ERRHANDLER_USER,
    .callback = { .abi = &cxx_errhandler },
};

/* Of the library that `caller` lies in: what is in scope for that one need not be for this. */
static void *symbol_beside(void *caller, const char *name)
{
    Dl_info info;
    void *library = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = dlsym(library ? library : RTLD_DEFAULT, name);
    if (library)
        dlclose(library);
    return found;
}

static ABI_Errhandler called_by(int kind, ABI_Errhandler handle, void *caller, const char *name)
{
    MPIR_Errhandler *h = front_known_Errhandler(handle);
    if (!invoke[kind])
        *(void **)&invoke[kind] = symbol_beside(caller, name);
    if (h && invoke[kind])
        h->callback.abi = &cxx_errhandler;
    return handle;
}

#define ERRHANDLER(kind, name, of) \
    FRONT_EXPORT int PMPI_##kind##_create_errhandler(ABI_Function *fn, ABI_Errhandler *errhandler); \
    FRONT_EXPORT ABI_Errhandler ompi_cxx_errhandler_create_##name(ABI_Function *fn); \
    ABI_Errhandler ompi_cxx_errhandler_create_##name(ABI_Function *fn) \
    { \
        ABI_Errhandler handle; \
        PMPI_##kind##_create_errhandler(fn, &handle); /* null if that fails */ \
        return called_by(of, handle, __builtin_return_address(0), \
                         "ompi_mpi_cxx_" #name "_errhandler_invoke"); \
    }
ERRHANDLER(Comm, comm, MPIR_KIND_COMM)
ERRHANDLER(File, file, MPIR_KIND_FILE)
ERRHANDLER(Win, win, MPIR_KIND_WIN)

#define INVOKE(kind, name) \
    FRONT_EXPORT int PMPI_##kind##_call_errhandler(ABI_##kind object, int code); \
    FRONT_EXPORT int ompi_cxx_errhandler_invoke_##name(ABI_##kind object, int code, const char *message); \
    int ompi_cxx_errhandler_invoke_##name(ABI_##kind object, int code, \
                                          const char *message __attribute__((unused))) \
    { \
        PMPI_##kind##_call_errhandler(object, code); \
        return code; \
    }
INVOKE(Comm, comm)
INVOKE(File, file)

/* The bindings' start: what MPI::ERRORS_THROW_EXCEPTIONS is to call. */
FRONT_EXPORT void ompi_cxx_errhandler_set_callbacks(void *errhandler, throw_function *comm,
                                                    throw_function *file, throw_function *win);
void ompi_cxx_errhandler_set_callbacks(void *errhandler __attribute__((unused)), throw_function *comm,
                                       throw_function *file, throw_function *win)
{
    throws[MPIR_KIND_COMM] = comm;
    throws[MPIR_KIND_FILE] = file;
    throws[MPIR_KIND_WIN] = win;
}

/* ---- Operations ---- */

/* The operation was made with a function that gets one argument more. */
FRONT_EXPORT void ompi_op_set_cxx_callback(ABI_Op op, void *fn);
void ompi_op_set_cxx_callback(ABI_Op op, void *fn)
{
    MPIR_Op *o = MPIR_Object_of(MPIR_KIND_OP, front_value_Op(op));
    if (o)
        o->callback.extra_state = fn;
}

/* ---- Data representations ---- */

/* What the bindings' functions of one find the program's by.  It lives as long as the data representation, which
 * is for ever. */
struct datarep {
    void *read, *write, *extent, *state;
};
FRONT_EXPORT struct datarep *ompi_cxx_new_intercept_state(void *read, void *write, void *extent, void *state);
struct datarep *ompi_cxx_new_intercept_state(void *read, void *write, void *extent, void *state)
{
    struct datarep *d = malloc(sizeof *d);
    if (d)
        *d = (struct datarep){ read, write, extent, state };
    return d;
}

/* ---- What only their own ompi_cxx_* call: it must be there for a program all whose symbols are bound at its start  */

#define BENEATH_CXX(name, bytes) \
    extern FRONT_EXPORT char name[bytes] __attribute__((aligned(32))); \
    char name[bytes];
BENEATH_CXX(ompi_errcode_intern_lastused, 4)
BENEATH_CXX(ompi_errcodes_intern, 120)
BENEATH_CXX(ompi_registered_datareps, 64)

#define NEVER_CALLED(name) \
    FRONT_EXPORT int name(void); \
    int name(void) \
    { \
        return front_out_error(MPIR_front_fail(front_target(NULL), #name, MPIR_front_absent())); \
    }
NEVER_CALLED(ompi_attr_create_keyval)
NEVER_CALLED(ompi_errhandler_create)
NEVER_CALLED(ompi_errhandler_invoke)
