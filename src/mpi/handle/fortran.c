/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.c: what the program has said of its Fortran compiler (21.4.1).
 *
 * Until it says so, INTEGER, REAL and LOGICAL have 4 bytes, DOUBLE PRECISION 8, as src/mpid/include/basic.h has
 * them.  A size that differs (compiler options such as -i8 and -r8) makes the types without a size in their name
 * the same as the one that has it.  All of it may be called at any time and by any thread. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <string.h>
#include "basic.h"
#include "mpi_err.h"
#include "info.h"
#include "mpid.h"
#include "type.h"
#include "util/lock.h"

static struct ku_lock lock = KU_LOCK(KU_LOCK_FORTRAN);

/* The types whose size a key tells, and what they are with 1, 2, 4, 8 and 16 bytes; 0: there is no such type. */
struct row {
    const char *key;
    int32_t one, two, complex; /* a number, a pair of them, a complex of them; 0: none */
    int64_t bytes;
};
static struct row rows[] = {
    { "mpi_logical_size", KEEL_MPI_LOGICAL, 0, 0, 4 },
    { "mpi_integer_size", KEEL_MPI_INTEGER, KEEL_MPI_2INTEGER, 0, 4 },
    { "mpi_real_size", KEEL_MPI_REAL, KEEL_MPI_2REAL, KEEL_MPI_COMPLEX, 4 },
    { "mpi_double_precision_size", KEEL_MPI_DOUBLE_PRECISION, KEEL_MPI_2DOUBLE_PRECISION,
      KEEL_MPI_DOUBLE_COMPLEX, 8 },
};
enum { ROWS = sizeof rows / sizeof *rows, SIZES = 5 };

static const int32_t logicals[SIZES] = { KEEL_MPI_LOGICAL1, KEEL_MPI_LOGICAL2, KEEL_MPI_LOGICAL4,
                                         KEEL_MPI_LOGICAL8, KEEL_MPI_LOGICAL16 };
static const int32_t integers[SIZES] = { KEEL_MPI_INTEGER1, KEEL_MPI_INTEGER2, KEEL_MPI_INTEGER4,
                                         KEEL_MPI_INTEGER8, KEEL_MPI_INTEGER16 };
static const int32_t reals[SIZES] = { 0, KEEL_MPI_REAL2, KEEL_MPI_REAL4, KEEL_MPI_REAL8, KEEL_MPI_REAL16 };
static const int32_t complexes[SIZES] = { 0, KEEL_MPI_COMPLEX4, KEEL_MPI_COMPLEX8, KEEL_MPI_COMPLEX16,
                                          KEEL_MPI_COMPLEX32 };

static const char *const supported[] = {
    "mpi_logical1_supported",       "mpi_logical2_supported",  "mpi_logical4_supported",
    "mpi_logical8_supported",       "mpi_logical16_supported", "mpi_integer1_supported",
    "mpi_integer2_supported",       "mpi_integer4_supported",  "mpi_integer8_supported",
    "mpi_integer16_supported",      "mpi_real2_supported",     "mpi_real4_supported",
    "mpi_real8_supported",          "mpi_real16_supported",    "mpi_complex4_supported",
    "mpi_complex8_supported",       "mpi_complex16_supported", "mpi_complex32_supported",
    "mpi_double_complex_supported",
};
enum { SUPPORTED = sizeof supported / sizeof *supported };

static struct {
    bool set;
    uint32_t told, yes; /* by the index in `supported` */
} fortran KU_GUARDED_BY(lock);

static const int32_t *types_of(const struct row *r)
{
    return r->one == KEEL_MPI_LOGICAL ? logicals : r->one == KEEL_MPI_INTEGER ? integers : reals;
}

/* The index of a size; -1: not 1, 2, 4, 8 or 16. */
static int fortran_place_of(int64_t bytes)
{
    for (int i = 0; i < SIZES; i++)
        if (bytes == 1 << i)
            return i;
    return -1;
}

static int check_size(const struct row *r, int64_t bytes)
{
    int at = fortran_place_of(bytes);
    if (at >= 0 && types_of(r)[at])
        return 0;
    return MPIR_Err(MPI_ERR_INFO_VALUE, "info", "has the value %lld for %s; expected %s4, 8 or 16",
                    (long long)bytes, r->key, types_of(r) == reals ? "2, " : "1, 2, ");
}

static void resize(struct row *r, int64_t bytes)
{
    int at = fortran_place_of(bytes);
    if (bytes == r->bytes)
        return;
    r->bytes = bytes;
    MPIR_Datatype_same_as(r->one, types_of(r)[at]);
    if (r->two)
        MPIR_Datatype_same_as(r->two, types_of(r)[at]);
    if (r->complex)
        MPIR_Datatype_same_as(r->complex, complexes[at]);
}

/* Everything is looked at before anything changes. */
KU_NEEDS(lock) static int set_info(const MPIR_Info *info)
{
    int64_t bytes[ROWS];
    uint32_t told = 0, yes = 0;
    int err = 0;
    for (int i = 0; i < ROWS && !err; i++) {
        bytes[i] = rows[i].bytes;
        if (MPIR_Info_number(info, rows[i].key, &bytes[i], &err))
            err = check_size(&rows[i], bytes[i]);
    }
    for (int i = 0; i < SUPPORTED && !err; i++) {
        bool is = false;
        told |= (uint32_t)MPIR_Info_bool(info, supported[i], &is, &err) << i;
        yes |= (uint32_t)is << i;
    }
    if (err)
        return err;
    for (int i = 0; i < ROWS; i++)
        resize(&rows[i], bytes[i]);
    fortran.set = true;
    fortran.told = told;
    fortran.yes = yes;
    return 0;
}

int MPIR_Abi_set_fortran_info(MPIR_Info *info)
{
    ku_lock(&lock);
    int err = fortran.set ? MPIR_Err(MPI_ERR_ABI, NULL,
                                     "the properties of Fortran have been set already, and cannot change")
                          : set_info(info);
    ku_unlock(&lock);
    return err;
}

KU_NEEDS(lock) static int fill(MPIR_Info *info)
{
    int err = 0;
    for (int i = 0; i < ROWS && !err; i++) {
        char value[24];
        snprintf(value, sizeof value, "%lld", (long long)rows[i].bytes);
        err = MPIR_Info_set(info, rows[i].key, value);
    }
    for (int i = 0; i < SUPPORTED && !err; i++)
        if (fortran.told >> i & 1)
            err = MPIR_Info_set(info, supported[i], fortran.yes >> i & 1 ? "true" : "false");
    return err;
}

int MPIR_Abi_get_fortran_info(MPIR_Info **info)
{
    int err = 0;
    *info = NULL;
    ku_lock(&lock);
    if (fortran.set) {
        err = MPIR_Info_create(info);
        if (!err)
            err = fill(*info);
        if (err && *info)
            MPIR_Info_free(info);
    }
    ku_unlock(&lock);
    return err;
}

/* ---- .TRUE. and .FALSE. ---- */

static int check_logical(int size, const void *yes, const void *no)
{
    if (fortran_place_of(size) < 0)
        return MPIR_Err(MPI_ERR_ARG, "logical_size", "is %d; expected 1, 2, 4, 8 or 16", size);
    if (!yes || !no)
        return MPIR_Err(MPI_ERR_ARG, yes ? "logical_false" : "logical_true",
                        "is NULL; expected the address of a LOGICAL");
    return 0;
}

/* The number whose lowest bytes these are; the others, of a LOGICAL of 16 bytes, repeat its sign. */
static int64_t fortran_number_of(int size, const void *p)
{
    int64_t x = 0;
    int shift = size < 8 ? 64 - 8 * size : 0;
    memcpy(&x, p, size < 8 ? (size_t)size : 8);
    return (int64_t)((uint64_t)x << shift) >> shift;
}

static void fortran_store(int size, void *p, int64_t x)
{
    int64_t all[2] = { x, x < 0 ? -1 : 0 };
    memcpy(p, all, (size_t)size);
}

static int set_booleans(int size, const void *yes, const void *no)
{
    struct MPID_LOGICALS l = { true, fortran_number_of(size, yes), fortran_number_of(size, no) };
    if (l.yes == l.no)
        return MPIR_Err(MPI_ERR_ARG, "logical_true", "is %lld, and so is logical_false", (long long)l.yes);
    MPID_Logicals = l;
    return 0;
}

int MPIR_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    int err = check_logical(logical_size, logical_true, logical_false);
    if (err)
        return err;
    ku_lock(&lock);
    err = MPID_Logicals.set
              ? MPIR_Err(MPI_ERR_ABI, NULL, "the values of Fortran's logicals have been set already")
              : set_booleans(logical_size, logical_true, logical_false);
    ku_unlock(&lock);
    return err;
}

int MPIR_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
    int err = check_logical(logical_size, logical_true, logical_false);
    if (err)
        return err;
    ku_lock(&lock);
    *is_set = MPID_Logicals.set;
    if (MPID_Logicals.set) {
        fortran_store(logical_size, logical_true, MPID_Logicals.yes);
        fortran_store(logical_size, logical_false, MPID_Logicals.no);
    }
    ku_unlock(&lock);
    return 0;
}
