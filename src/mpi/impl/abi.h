/* SPDX-License-Identifier: BSD-3-Clause */
/* abi.h: user callbacks, stored with their calling convention, and what a front end must do to call one.
 *
 * The bodies know no ABI: a callback is {function, convention, extra state, the front end it came through}.
 */
#ifndef MPIR_ABI_H
#define MPIR_ABI_H

#include <stdbool.h>
#include <stdint.h>

struct MPIR_Datatype;
struct MPIR_STATUS;

/* A handle of MPI_T, as its bodies get it: a number that they look up, or 0 for the null handle. */
typedef uint64_t MPIR_T_handle;

enum MPIR_CONVENTION { MPIR_CALL_SMALL = 0, MPIR_CALL_LARGE /* counts are MPI_Count */ };

/* Who calls: C; Fortran; Fortran's first binding, whose attributes are INTEGERs; Fortran with INTEGERs of 8 bytes,
 * where both bindings are alike.  What Fortran gives as callbacks and as values of attributes is of another
 * convention. */
enum MPIR_LANGUAGE { MPIR_C = 0, MPIR_FORTRAN, MPIR_FORTRAN_INT, MPIR_FORTRAN_8 };

/* Of the present call of this thread (src/mpi/fortran). */
extern _Thread_local enum MPIR_LANGUAGE MPIR_Language;

typedef struct MPIR_Callback {
    void (*fn)(void);
    enum MPIR_CONVENTION convention;
    void *extra_state;
    const struct MPIR_Abi *abi;
} MPIR_Callback;

/* One a front end; the generated code fills it in.  `object`: the object whose handle is passed. */
struct MPIR_Abi {
    const char *name;
    enum MPIR_LANGUAGE language;
    /* The native value of one of the handles that lie there, of the MPIR_KIND; NULL in Fortran's. */
    uint64_t (*handle)(int kind, const void *handles, int64_t index);
    bool settles; /* a call whose error such an error handler has got returns MPI_SUCCESS */
    /* MPI_Comm_errhandler_function and its like: kind is the object's MPIR_KIND; *errcode becomes what the
     * function leaves there. */
    void (*call_errhandler)(const MPIR_Callback *cb, int kind, void *object, int *errcode);
    /* MPI_Comm_copy_attr_function and MPI_Comm_delete_attr_function and their like; they return what the function
     * does. */
    int (*call_copy_attr)(const MPIR_Callback *cb, int kind, void *object, int keyval, void *value_in,
                          void **value_out, int *flag);
    int (*call_delete_attr)(const MPIR_Callback *cb, int kind, void *object, int keyval, void *value);
    /* MPI_User_function: inoutvec[i] = invec[i] op inoutvec[i]. */
    void (*call_op)(const MPIR_Callback *cb, void *invec, void *inoutvec, int64_t len,
                    struct MPIR_Datatype *datatype);
    /* The operation, error handler or key value that the function was given for is no more.  May be NULL. */
    void (*gone)(const MPIR_Callback *cb);
    /* The functions of a generalized request; each returns the user's error code.  The status goes both ways, but for
     * MPI_ERROR, which is left alone. */
    int (*call_grequest_query)(const MPIR_Callback *cb, struct MPIR_STATUS *status);
    int (*call_grequest_free)(const MPIR_Callback *cb);
    int (*call_grequest_cancel)(const MPIR_Callback *cb, int complete);
    /* The functions of a data representation; each returns the user's error code. */
    int (*call_datarep_extent)(const MPIR_Callback *cb, struct MPIR_Datatype *datatype, intptr_t *extent);
    int (*call_datarep_convert)(const MPIR_Callback *cb, void *userbuf, struct MPIR_Datatype *datatype,
                                int64_t count, void *filebuf, int64_t position);
};

/* What a library of another ABI than the Standard ABI says of itself to bodies.  Without it (the address is NULL)
 * all is as mpi_const.h has it. */
struct MPIR_Differs {
    const char *name;                 /* whose ABI it is */
    int abi_version, abi_subversion;  /* what MPI_Abi_get_version says: -1, it is not the standard's */
    int bsend_overhead;               /* MPI_BSEND_OVERHEAD */
    int (*cb_safety)(int native);     /* how programs write an MPI_T_cb_safety */
    uint64_t (*comm)(const void *at); /* the native handle of the MPI_Comm that lies there */
    int (*error_in)(int code), (*error_out)(int code);
    /* Of Fortran: the handle of an object of a MPIR_KIND, the null one for NULL; a status. */
    int (*integer)(int kind, const void *object);
    void (*status_in)(struct MPIR_STATUS *status, const int32_t *integers);
    void (*status_out)(const struct MPIR_STATUS *status, int32_t *integers);
    int status_size;
};
extern const struct MPIR_Differs MPIR_Differs __attribute__((weak, visibility("hidden")));

/* The one of Fortran's functions, by the language of the call that gave them. */
extern const struct MPIR_Abi MPIR_Abi_fortran[];

#endif
