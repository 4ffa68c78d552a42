/* SPDX-License-Identifier: BSD-3-Clause */
/* fort.h: what the generated Fortran entry points are made of.
 *
 * They call the library as a C program does, so that a tool around MPI_X sees each call once; whatever else they
 * need they ask through PMPI_X. */
#ifndef KEEL_FORT_H
#define KEEL_FORT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "mpi.h"
#if defined(KF_MPICH) || defined(KF_OPENMPI)
#define KF_THEIRS /* programs have that MPI's modules */
#include "fort_their_handles.h"
#else
#include "fort_handles.h"
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* arrays that a call fills in, of KF_ARRAY */
#endif

#ifdef KF_INTEGER8
typedef int64_t kf_int; /* INTEGER, and LOGICAL */
#else
typedef int kf_int;
#endif

/* A procedure under a name of Fortran's, as compilers spell it; weak, so that a tool may have it. */
#define KF_SPELL(symbol, function) \
    extern __typeof(function) symbol __attribute__((weak, alias(#function), visibility("default")));
#define KF_NAME(name, function) \
    KF_SPELL(name, function) KF_SPELL(name##_, function) KF_SPELL(name##__, function)

/* ---- Constants that are addresses: COMMON blocks, which an executable may have in the library's stead ---- */

#ifdef KF_MPICH
#include "mpich.inc"
#else
#ifdef MPI_BUFFER_AUTOMATIC
#define KF_AUTOMATIC(ROW) ROW(buffer_automatic, kf_int, 1)
#else
#define KF_AUTOMATIC(ROW)
#endif
#define KF_CONSTANTS(ROW) \
    ROW(bottom, kf_int, 1) \
    ROW(in_place, kf_int, 1) \
    KF_AUTOMATIC(ROW) \
    ROW(status_ignore, kf_int, MPI_F_STATUS_SIZE) \
    ROW(statuses_ignore, kf_int, MPI_F_STATUS_SIZE) \
    ROW(errcodes_ignore, kf_int, 1) \
    ROW(unweighted, kf_int, 1) \
    ROW(weights_empty, kf_int, 1) \
    ROW(argv_null, char, 1) \
    ROW(argvs_null, char, 1)

/* Where the program has them (fort.c). */
struct kf_constants {
#define KF_ROW(name, type, n) const void *name;
    KF_CONSTANTS(KF_ROW)
#undef KF_ROW
};
extern struct kf_constants kf_constants;

static inline void *kf_buffer(void *p)
{
    if (__builtin_expect(p == kf_constants.bottom, 0))
        return MPI_BOTTOM;
    if (__builtin_expect(p == kf_constants.in_place, 0))
        return MPI_IN_PLACE;
#ifdef MPI_BUFFER_AUTOMATIC
    if (__builtin_expect(p == kf_constants.buffer_automatic, 0))
        return MPI_BUFFER_AUTOMATIC;
#endif
    return p;
}

static inline MPI_Status *kf_status(void *p)
{
    return p == kf_constants.status_ignore ? MPI_STATUS_IGNORE : (MPI_Status *)p;
}

static inline MPI_Status *kf_statuses(void *p)
{
    return p == kf_constants.statuses_ignore ? MPI_STATUSES_IGNORE : (MPI_Status *)p;
}

static inline int *kf_weights(void *p)
{
    return p == kf_constants.unweighted      ? MPI_UNWEIGHTED
           : p == kf_constants.weights_empty ? MPI_WEIGHTS_EMPTY
                                             : p;
}

static inline int *kf_errcodes(void *p)
{
    return p == kf_constants.errcodes_ignore ? MPI_ERRCODES_IGNORE : p;
}

static inline bool kf_is_argv_null(const char *p)
{
    return p == kf_constants.argv_null;
}

static inline bool kf_is_argvs_null(const char *p)
{
    return p == kf_constants.argvs_null;
}

#endif

/* ---- Values ---- */

#ifndef kf_integer
/* MPI_X_toint, without a call: the low half of a handle. */
static inline int kf_integer(const void *handle)
{
    return (int)(uint32_t)(uintptr_t)handle;
}
static inline bool kf_is_named(int datatype)
{
    return (datatype & ~0xfff) == 0;
}
#endif

/* .TRUE. of all compilers has its lowest bit set, .FALSE. has not. */
static inline int kf_is_true(int logical)
{
    return logical & 1;
}

static inline int kf_logical(int flag)
{
    return flag != 0;
}

static inline int kf_positive(int n)
{
    return n > 0 ? n : 0;
}

/* An address in an INTEGER, as MPI-1 had it; an error if it does not fit. */
int kf_narrow(int *to, MPI_Aint value);

/* ---- Room for what is converted: on the stack, if it is little ---- */

enum { KF_SMALL = 1024 /* bytes */ };
void *kf_malloc(int64_t n, size_t size);
#define KF_ARRAY(type, name, n) \
    type name##_small[KF_SMALL / sizeof(type)]; \
    const int64_t name##_room = (n); \
    type *name = name##_room <= (int64_t)(KF_SMALL / sizeof(type)) ? name##_small \
                                                                   : kf_malloc(name##_room, sizeof(type))
#define KF_FREE(name) \
    if (name != name##_small) \
    free(name)

/* ---- INTEGERs of 8 bytes ---- */

/* A rank, a tag, a color ... that is no int of C. */
void kf_too_large(MPI_Comm comm, int64_t *ierror);

#ifdef KF_INTEGER8
static inline bool kf_is_sentinel(const void *p)
{
    return p == kf_constants.status_ignore || p == kf_constants.statuses_ignore ||
           p == kf_constants.unweighted || p == kf_constants.weights_empty ||
           p == kf_constants.errcodes_ignore;
}
#endif

static inline void kf_narrow_all(int *to, const int64_t *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (int)from[i];
}

static inline void kf_widen(int64_t *to, const int *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i];
}

static inline bool kf_are_large(const int64_t *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] > INT_MAX || a[i] < INT_MIN)
            return true;
    return false;
}

static inline int64_t kf_total(const int64_t *a, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] > 0 ? a[i] : 0;
    return sum;
}

/* An array argument as name_i, with name_n of its entries, or the constant that stands for one. */
#define KF_INTEGERS(name, n) \
    const int64_t name##_n = kf_is_sentinel(name) ? 0 : (n); \
    KF_ARRAY(int, name##_v, name##_n); \
    kf_narrow_all(name##_v, name, name##_n); \
    int *name##_i = kf_is_sentinel(name) ? (int *)name : name##_v
#define KF_DONE(name) KF_FREE(name##_v)

/* Without trailing blanks, and leading ones if both; dst has len + 1 bytes. */
void kf_string_in(char *dst, const char *src, size_t len, bool both);
/* Cut or padded with blanks. */
void kf_string_out(char *dst, size_t len, const char *src);

/* Arguments of MPI_Comm_spawn and MPI_Comm_spawn_multiple, as C has them, in memory for free(); NULL where they
 * are not significant.  A blank string ends a list of arguments; those of command i are array_of_argv(i, 1), (i,
 * 2), ... */
char **kf_argv(const char *argv, size_t len, bool significant);
char **kf_array_of_commands(const char *commands, size_t len, int count, bool significant);
char ***kf_array_of_argv(const char *argvs, size_t len, int count, bool significant);

/* ---- What needs a question ---- */

bool kf_is_root(MPI_Comm comm, int root);

/* Keel's own (api.txt), and so not in mpi.h. */
int PMPI_Keel_call_from(int language);
int PMPI_Keel_request_copies(MPI_Request request, void *copies);
int PMPI_Keel_type_runs(MPI_Datatype datatype, void *runs, int *basic);

/* Of MPI_Keel_call_from.  With INTEGERs of 8 bytes those of the first binding are the addresses of the later ones. */
#ifdef KF_INTEGER8
enum { KF_C, KF_FORTRAN = 3, KF_INT = 3 };
#else
enum { KF_C, KF_FORTRAN, KF_INT };
#endif

/* MPI_Init and its like: tell the library what LOGICALs are, unless somebody has. */
void kf_begin(void);
/* A callback; MPI's own are what C calls them. */
void (*kf_function(void (*fn)(void)))(void);
/* How many entries the arrays of MPI_Alltoallw and of its neighborhood form have. */
int kf_size(MPI_Comm comm, void *sendbuf, bool sends);
int kf_neighbors(MPI_Comm comm, bool sends);
int kf_dims(MPI_Comm comm);
/* An error that C does not find: to the communicator's error handler. */
void kf_fail(MPI_Comm comm, int code, int *ierror);

/* The buffer of mpif.h and of mpi is a choice argument, where nothing can be returned (3.6). */
static inline void kf_detached(void *argument, void *address)
{
    (void)argument;
    (void)address;
}

/* ---- Descriptors (section.c) ---- */

/* The part of CFI_cdesc_t that all compilers have alike. */
struct kf_array {
    void *base_addr;
    size_t elem_len;
    int version;
    signed char rank;
    char others[3]; /* attribute and type, in an order of each compiler's own */
    struct {
        intptr_t lower_bound, extent, sm;
    } dim[];
};

#ifdef KF_THEIRS
/* What gfortran passes for TYPE(*), DIMENSION(..) where a procedure is not BIND(C). */
struct kf_gfortran {
    void *base_addr;
    size_t offset, elem_len;
    int version;
    signed char rank, type;
    short attribute;
    intptr_t span; /* bytes of which a stride counts */
    struct {
        intptr_t stride, lower_bound, upper_bound;
    } dim[];
};

/* That as one of C's. */
struct kf_room {
    _Alignas(struct kf_array) char bytes[sizeof(struct kf_array) + 15 * 3 * sizeof(intptr_t)];
};
static inline struct kf_array *kf_from_gfortran(struct kf_room *room, const struct kf_gfortran *g)
{
    struct kf_array *a = (struct kf_array *)(void *)room->bytes;
    intptr_t span = g->span ? g->span : (intptr_t)g->elem_len;
    a->base_addr = g->base_addr;
    a->elem_len = g->elem_len;
    a->rank = g->rank;
    for (int i = 0; i < g->rank && i < 15; i++) {
        a->dim[i].lower_bound = g->dim[i].lower_bound;
        a->dim[i].extent = g->dim[i].upper_bound - g->dim[i].lower_bound + 1;
        a->dim[i].sm = g->dim[i].stride * span;
    }
    return a;
}
#endif

/* What stands for an array section during a call. */
struct kf_section {
    void *at;    /* what C gets */
    void *copy;  /* NULL: none */
    void *kept;  /* a copy for the request; NULL: none */
    void *known; /* where the datatype is kept; NULL: it is to be freed */
    int type;    /* 0, or the datatype of which the buffer is one element */
    unsigned place;
};
enum { KF_IN, KF_INOUT };

/* The highest rank of a buffer that is a constant. */
#ifdef KF_MPICH
enum { KF_CONSTANT_RANK = 1 }; /* MPI_BUFFER_AUTOMATIC */
#else
enum { KF_CONSTANT_RANK = 0 };
#endif
static inline void *kf_base(const struct kf_array *a)
{
    return a->rank <= KF_CONSTANT_RANK ? kf_buffer(a->base_addr) : a->base_addr;
}

/* Do its elements lie apart?  The last dimension of an assumed-size array has the extent -1. */
static inline bool kf_scattered(const struct kf_array *a)
{
    intptr_t next = (intptr_t)a->elem_len;
    bool apart = false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i].extent == 0)
            return false;
        apart |= a->dim[i].sm != next && a->dim[i].extent != 1;
        next *= a->dim[i].extent;
    }
    return apart;
}

/* Each returns an error class, or 0.  Of `count` elements of a datatype: the one element of s->type, or, if that
 * is 0, no difference. */
int kf_describe(struct kf_section *s, const struct kf_array *a, MPI_Count count, int datatype);
/* A contiguous copy; kf_close brings it back into `into`, unless that is NULL. */
int kf_copy(struct kf_section *s, const struct kf_array *a);
/* The one or the other for a call that blocks, whichever is faster. */
int kf_represent(struct kf_section *s, const struct kf_array *a, MPI_Count count, int datatype);
/* A copy that kf_give gives to the request; begins: the operation does, and does not wait for MPI_Start. */
int kf_keep(struct kf_section *s, const struct kf_array *a, int mode, bool begins);
int kf_give_slowly(struct kf_section *s, MPI_Request request);
static inline int kf_give(struct kf_section *s, int request)
{
    return __builtin_expect(s->kept != NULL, 0) ? kf_give_slowly(s, kf_Request(request)) : 0;
}
/* A buffer of one element of a datatype: the section's first one. */
int kf_first(const struct kf_array *a, int datatype);
void kf_close_slowly(struct kf_section *s, const struct kf_array *into);
static inline void kf_close(struct kf_section *s, const struct kf_array *into)
{
    if (__builtin_expect(s->copy != NULL || s->type != 0 || s->kept != NULL, 0))
        kf_close_slowly(s, into);
}

#endif
