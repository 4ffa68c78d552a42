/* SPDX-License-Identifier: BSD-3-Clause */
/* fort.c: what the Fortran entry points share, and the procedures that C does not have. */
#include "fort.h"
#include <stdio.h>
#include <string.h>

#ifdef KF_MPICH
#include "mpich_constants.inc"
#else
/* The constants that are addresses, under the names that compilers give to COMMON blocks, and aligned as those
 * are, so that either definition will do.  An executable has its own under one of the names, and that is what its
 * address is. */
#define ALIAS(seen, name) __attribute__((alias("mpi_fortran_" #name "_"), seen))
#define DEFINE(name, type, n) \
    __attribute__((aligned(32), visibility("default"))) type mpi_fortran_##name##_[n]; \
    extern type kf_our_##name[n] ALIAS(visibility("hidden"), name); \
    extern type mpi_fortran_##name[n] ALIAS(visibility("default"), name); \
    extern type mpi_fortran_##name##__[n] ALIAS(visibility("default"), name);
KF_CONSTANTS(DEFINE)

struct kf_constants kf_constants;

static const void *theirs(const void *ours, const void *one, const void *none, const void *two)
{
    return one != ours ? one : none != ours ? none : two;
}

__attribute__((constructor)) static void find_constants(void)
{
#define FIND(name, type, n) \
    kf_constants.name = \
        theirs(kf_our_##name, mpi_fortran_##name##_, mpi_fortran_##name, mpi_fortran_##name##__);
    KF_CONSTANTS(FIND)
#ifndef MPI_F_STATUS_IGNORE /* variables of C's library, which programs in C read */
    MPI_F_STATUS_IGNORE = (MPI_Fint *)(uintptr_t)kf_constants.status_ignore;
    MPI_F_STATUSES_IGNORE = (MPI_Fint *)(uintptr_t)kf_constants.statuses_ignore;
#ifdef KF_OPENMPI
    MPI_F08_STATUS_IGNORE = (MPI_F08_status *)(uintptr_t)kf_constants.status_ignore;
    MPI_F08_STATUSES_IGNORE = (MPI_F08_status *)(uintptr_t)kf_constants.statuses_ignore;
#endif
#endif
}
#endif

/* ---- Values ---- */

void kf_fail(MPI_Comm comm, int code, int *ierror)
{
    PMPI_Comm_call_errhandler(comm, code);
    if (ierror)
        *ierror = code;
}

#ifdef KF_INTEGER8
void kf_too_large(MPI_Comm comm, int64_t *ierror)
{
    int code;
    kf_fail(comm, MPI_ERR_VALUE_TOO_LARGE, &code);
    if (ierror)
        *ierror = code;
}
#endif

int kf_narrow(int *to, MPI_Aint value)
{
    if (value < INT_MIN || value > INT_MAX) {
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_VALUE_TOO_LARGE);
        return MPI_ERR_VALUE_TOO_LARGE;
    }
    *to = (int)value;
    return MPI_SUCCESS;
}

void *kf_malloc(int64_t n, size_t size)
{
    void *p = malloc((size_t)n * size);
    if (!p) {
        fprintf(stderr, "Keel MPI: no memory for %lld bytes of a Fortran call's arguments\n",
                (long long)n * (long long)size);
        PMPI_Abort(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        abort();
    }
    return p;
}

void kf_string_in(char *dst, const char *src, size_t len, bool both)
{
    while (len > 0 && src[len - 1] == ' ')
        len--;
    while (both && len > 0 && *src == ' ') {
        src++;
        len--;
    }
    memcpy(dst, src, len);
    dst[len] = '\0';
}

void kf_string_out(char *dst, size_t len, const char *src)
{
    size_t n = strlen(src);
    memcpy(dst, src, n < len ? n : len);
    if (n < len)
        memset(dst + n, ' ', len - n);
}

static bool is_blank(const char *s, size_t len)
{
    while (len > 0 && s[len - 1] == ' ')
        len--;
    return len == 0;
}

/* n strings that lie `apart` from each other, behind the n + 1 pointers to them. */
static char **strings(char **list, char *text, const char *from, size_t len, size_t apart, int64_t n)
{
    for (int64_t i = 0; i < n; i++, from += apart, text += len + 1) {
        list[i] = text;
        kf_string_in(text, from, len, false);
    }
    list[n] = NULL;
    return list;
}

static char **one_block(const char *from, size_t len, int64_t n)
{
    char **list = kf_malloc(n + 1, sizeof *list + len + 1);
    return strings(list, (char *)(list + n + 1), from, len, len, n);
}

char **kf_argv(const char *argv, size_t len, bool significant)
{
    int64_t n = 0;
    if (!significant || kf_is_argv_null(argv))
        return MPI_ARGV_NULL;
    while (!is_blank(argv + (size_t)n * len, len))
        n++;
    return one_block(argv, len, n);
}

char **kf_array_of_commands(const char *commands, size_t len, int count, bool significant)
{
    return significant ? one_block(commands, len, kf_positive(count)) : NULL;
}

char ***kf_array_of_argv(const char *argvs, size_t len, int count, bool significant)
{
    int64_t all = 0, n;
    size_t apart = (size_t)kf_positive(count) * len;
    if (!significant || kf_is_argvs_null(argvs) || count < 1)
        return MPI_ARGVS_NULL;
    for (int i = 0; i < count; i++)
        for (const char *s = argvs + (size_t)i * len; !is_blank(s, len); s += apart)
            all++;
    char ***lists = kf_malloc(1, (size_t)count * sizeof *lists + (size_t)(all + count) * sizeof **lists +
                                     (size_t)all * (len + 1));
    char **list = (char **)(lists + count), *text = (char *)(list + all + count);
    for (int i = 0; i < count; i++) {
        const char *first = argvs + (size_t)i * len;
        for (n = 0; !is_blank(first + (size_t)n * apart, len); n++)
            ;
        lists[i] = strings(list, text, first, len, apart, n);
        list += n + 1;
        text += (size_t)n * (len + 1);
    }
    return lists;
}

/* ---- Questions ---- */

/* Part of the modules of a compiler whose INTEGER, LOGICAL, REAL and DOUBLE PRECISION have other sizes than usual
 * (build-modules). */
__attribute__((weak)) void keel_fortran_kinds(int32_t bytes[4]);

void kf_begin(void)
{
    kf_int yes = 1, no = 0, was_true, was_false;
    int is_set = 1;
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Abi_get_fortran_booleans(sizeof yes, &was_true, &was_false, &is_set) == MPI_SUCCESS && !is_set)
        PMPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no);
    if (PMPI_Abi_get_fortran_info(&info) != MPI_SUCCESS)
        return;
    if (info != MPI_INFO_NULL) {
        PMPI_Info_free(&info);
        return;
    }
    static const char *const keys[] = { "mpi_integer_size", "mpi_logical_size", "mpi_real_size",
                                        "mpi_double_precision_size" };
    int32_t bytes[] = { sizeof(kf_int), sizeof(kf_int), 4, 8 };
    if (keel_fortran_kinds)
        keel_fortran_kinds(bytes);
    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return;
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[12];
        snprintf(text, sizeof text, "%d", (int)bytes[i]);
        PMPI_Info_set(info, keys[i], text);
    }
    PMPI_Abi_set_fortran_info(info);
    PMPI_Info_free(&info);
}

int kf_size(MPI_Comm comm, void *sendbuf, bool sends)
{
    int inter = 0, n = 0;
    if (sends && kf_buffer(sendbuf) == MPI_IN_PLACE)
        return 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        (inter ? PMPI_Comm_remote_size(comm, &n) : PMPI_Comm_size(comm, &n)) != MPI_SUCCESS)
        return 0;
    return n;
}

bool kf_is_root(MPI_Comm comm, int root)
{
    int rank = -1, flag = 0;
    return PMPI_Initialized(&flag) == MPI_SUCCESS && flag && comm != MPI_COMM_NULL &&
           PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

int kf_dims(MPI_Comm comm)
{
    int n = 0;
    return PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS ? n : 0;
}

int kf_neighbors(MPI_Comm comm, bool sends)
{
    int status = MPI_UNDEFINED, n = 0, in = 0, out = 0, rank, weighted;
    if (PMPI_Topo_test(comm, &status) != MPI_SUCCESS)
        return 0;
    if (status == MPI_CART)
        return 2 * kf_dims(comm);
    if (status == MPI_GRAPH)
        return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS &&
                       PMPI_Graph_neighbors_count(comm, rank, &n) == MPI_SUCCESS
                   ? n
                   : 0;
    if (status != MPI_DIST_GRAPH ||
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS)
        return 0;
    return sends ? out : in;
}

/* ---- MPI's own callbacks ---- */

static void f_null_copy(kf_int *object, kf_int *keyval, void *extra, void *in, void *out, kf_int *flag,
                        kf_int *ierror)
{
    (void)object, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = kf_logical(0);
    *ierror = MPI_SUCCESS;
}

static void f_dup(kf_int *object, kf_int *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out, kf_int *flag,
                  kf_int *ierror)
{
    (void)object, (void)keyval, (void)extra;
    *out = *in;
    *flag = kf_logical(1);
    *ierror = MPI_SUCCESS;
}

static void f_dup_int(kf_int *object, kf_int *keyval, kf_int *extra, kf_int *in, kf_int *out, kf_int *flag,
                      kf_int *ierror)
{
    (void)object, (void)keyval, (void)extra;
    *out = *in;
    *flag = kf_logical(1);
    *ierror = MPI_SUCCESS;
}

static void f_null_delete(kf_int *object, kf_int *keyval, void *value, void *extra, kf_int *ierror)
{
    (void)object, (void)keyval, (void)value, (void)extra;
    *ierror = MPI_SUCCESS;
}

/* MPI_CONVERSION_FN_NULL: the library gets C's and never calls it. */
static void f_no_conversion(void *userbuf, kf_int *datatype, void *count, void *filebuf, MPI_Offset *position,
                            MPI_Aint *extra_state, kf_int *ierror)
{
    (void)userbuf, (void)datatype, (void)count, (void)filebuf, (void)position, (void)extra_state;
    *ierror = MPI_ERR_CONVERSION;
}

/* Each has an address of its own, which a program may have in its own table: so the names are compared. */
#define CALLBACKS(ROW) \
    ROW(mpi_null_copy_fn, f_null_copy, 0) \
    ROW(mpi_comm_null_copy_fn, f_null_copy, 0) \
    ROW(mpi_type_null_copy_fn, f_null_copy, 0) \
    ROW(mpi_win_null_copy_fn, f_null_copy, 0) \
    ROW(mpi_dup_fn, f_dup_int, 1) \
    ROW(mpi_comm_dup_fn, f_dup, 1) \
    ROW(mpi_type_dup_fn, f_dup, 1) \
    ROW(mpi_win_dup_fn, f_dup, 1) \
    ROW(mpi_null_delete_fn, f_null_delete, 0) \
    ROW(mpi_comm_null_delete_fn, f_null_delete, 0) \
    ROW(mpi_type_null_delete_fn, f_null_delete, 0) \
    ROW(mpi_win_null_delete_fn, f_null_delete, 0) \
    ROW(mpi_conversion_fn_null, f_no_conversion, 0) \
    ROW(mpi_conversion_fn_null_c, f_no_conversion, 0)

#ifdef KF_THEIRS
#define NAME_ROW(name, function, value) \
    KF_NAME(name, function) KF_SPELL(__mpi_f08_callbacks_MOD_##name, function) KF_SPELL(p##name##_, function)
#define IS_MODULES(fn, name) \
    ((fn) == (void (*)(void))__mpi_f08_callbacks_MOD_##name || (fn) == (void (*)(void))p##name##_)
#else
#define NAME_ROW(name, function, value) KF_NAME(name, function)
#define IS_MODULES(fn, name) false
#endif
CALLBACKS(NAME_ROW)

void (*kf_function(void (*fn)(void)))(void)
{
#define VALUE_ROW(name, function, value) \
    if (fn == (void (*)(void))name##_ || fn == (void (*)(void))name##__ || fn == (void (*)(void))name || \
        IS_MODULES(fn, name)) \
        return (void (*)(void))value;
    CALLBACKS(VALUE_ROW)
    return fn;
}

/* ---- What C does not have ---- */

static void f_sync_reg(void *buf)
{
    (void)buf;
}
KF_NAME(mpi_f_sync_reg, f_sync_reg)
KF_NAME(pmpi_f_sync_reg, f_sync_reg)
KF_NAME(mpi_f_sync_reg_f08ts, f_sync_reg)
KF_NAME(pmpi_f_sync_reg_f08ts, f_sync_reg)

/* ---- Other MPIs' modules ---- */

#ifdef KF_THEIRS
static kf_int f_equal(const kf_int *a, const kf_int *b)
{
    return kf_logical(*a == *b);
}

static kf_int f_unequal(const kf_int *a, const kf_int *b)
{
    return kf_logical(*a != *b);
}

/* What class(*) knows of a type, as gfortran has it; the first is a hash that it makes of the names. */
struct kf_vtab {
    int hash;
    size_t size;
    const void *extends, *def_init;
    void (*copy)(const void *from, void *to);
    void (*final)(void), (*deallocate)(void);
};
#define KF_VISIBLE __attribute__((visibility("default")))
#define KF_TYPE_OF(module, of, type, hash, bytes) \
    KF_VISIBLE extern const char __##module##_MOD___def_init_##of##_##type[bytes]; \
    KF_VISIBLE extern struct kf_vtab __##module##_MOD___vtab_##of##_##type; \
    KF_VISIBLE void __##module##_MOD___copy_##of##_##type(const void *from, void *to); \
    const char __##module##_MOD___def_init_##of##_##type[bytes] = { 0 }; \
    void __##module##_MOD___copy_##of##_##type(const void *from, void *to) \
    { \
        memcpy(to, from, bytes); \
    } \
    struct kf_vtab __##module##_MOD___vtab_##of##_##type = { \
        hash, bytes, NULL, __##module##_MOD___def_init_##of##_##type, __##module##_MOD___copy_##of##_##type, \
        NULL, NULL, \
    };
#define KF_TYPE(module, type, hash, bytes) KF_TYPE_OF(module, module, type, hash, bytes)

/* An extension that C's library says is not here; with n arguments before ierror. */
#define KF_BEFORE_1 void *a
#define KF_BEFORE_2 KF_BEFORE_1, void *b
#define KF_BEFORE_3 KF_BEFORE_2, void *c
#define KF_BEFORE_4 KF_BEFORE_3, void *d
#define KF_BEFORE_6 KF_BEFORE_4, void *e, void *f
#define KF_BEFORE_7 KF_BEFORE_6, void *g
#define KF_BEFORE_8 KF_BEFORE_7, void *h
#define KF_BEFORE_9 KF_BEFORE_8, void *i
#define KF_ABSENT(name, c_name, n) \
    extern int MPIX_##c_name(void); \
    _Pragma("GCC diagnostic push") _Pragma( \
        "GCC diagnostic ignored \"-Wunused-parameter\"") static void f_##name(KF_BEFORE_##n, kf_int *ierror) \
    { \
        int rc = MPIX_##c_name(); \
        if (ierror) \
            *ierror = rc; \
    } \
    _Pragma("GCC diagnostic pop")
#endif

#ifdef KF_MPICH
#include "mpich_modules.inc"
#elif defined(KF_OPENMPI)
#include "openmpi_modules.inc"
#endif
