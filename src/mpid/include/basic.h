/* SPDX-License-Identifier: BSD-3-Clause */
/* basic.h: the predefined datatypes, one row each: what their sizes, the operations on them and their
 * conversion are made from.
 *
 * Fortran's types are those of gfortran (and of all common compilers on the machines we know): default INTEGER,
 * REAL and LOGICAL take 4 bytes, DOUBLE PRECISION 8; a LOGICAL is true when it is not 0; unless the program says
 * otherwise (MPI_Abi_set_fortran_info, MPI_Abi_set_fortran_booleans).  Optional types that the C compiler cannot
 * compute with (REAL*16 without __float128, INTEGER*16 without __int128) have their size, can be sent, and no
 * operation is defined on them; REAL*2 is computed in float and rounded. */
#ifndef MPIR_BASIC_H
#define MPIR_BASIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mpi_const.h"

/* The groups of types that operations are defined on (MPI 5.0, 7.9.2 and 7.9.4; C's truths and characters apart). */
enum MPIR_CLASS {
    MPIR_CLASS_NONE = 0, /* MPI_PACKED, MPI_WCHAR */
    MPIR_CLASS_C_INTEGER = 1,
    MPIR_CLASS_F_INTEGER = 2,
    MPIR_CLASS_FLOAT = 4,
    MPIR_CLASS_LOGICAL = 8, /* Fortran's */
    MPIR_CLASS_COMPLEX = 16,
    MPIR_CLASS_BYTE = 32,
    MPIR_CLASS_MULTI = 64, /* MPI_AINT, MPI_OFFSET, MPI_COUNT */
    MPIR_CLASS_PAIR = 128,
    MPIR_CLASS_CHARACTER = 256, /* MPI_CHAR, MPI_CHARACTER */
    MPIR_CLASS_BOOL = 512       /* C's */
};

/* Fortran's .TRUE. and .FALSE. (of any size, with their sign), once the layer above knows them. */
extern struct MPID_LOGICALS {
    bool set;
    int64_t yes, no;
} MPID_Logicals;

/* How a value is represented: what kernels are chosen by.  Integers: the base plus log2 of the size. */
enum MPIR_REPR {
    MPIR_REPR_NONE = 0,
    MPIR_REPR_SIGNED = 1,   /* 1, 2, 4, 8, 16 bytes: 1 to 5 */
    MPIR_REPR_UNSIGNED = 6, /* 6 to 10 */
    MPIR_REPR_F16 = 11,
    MPIR_REPR_F32,
    MPIR_REPR_F64,
    MPIR_REPR_LONG_DOUBLE,
    MPIR_REPR_F128,
    MPIR_REPR_C16, /* complex, of two such */
    MPIR_REPR_C32,
    MPIR_REPR_C64,
    MPIR_REPR_C_LONG_DOUBLE,
    MPIR_REPR_C128,
    MPIR_REPR_FLOAT_INT, /* pairs */
    MPIR_REPR_DOUBLE_INT,
    MPIR_REPR_LONG_INT,
    MPIR_REPR_2INT,
    MPIR_REPR_SHORT_INT,
    MPIR_REPR_LONG_DOUBLE_INT,
    MPIR_REPR_2FLOAT,
    MPIR_REPR_2DOUBLE,
    MPIR_REPR_BOOL,
    MPIR_REPR_COUNT
};

#define MPIR_LOG2_SIZE(T) \
    (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : sizeof(T) == 8 ? 3 : 4)
#define MPIR_SIGNED(T) (MPIR_REPR_SIGNED + MPIR_LOG2_SIZE(T))
#define MPIR_UNSIGNED(T) (MPIR_REPR_UNSIGNED + MPIR_LOG2_SIZE(T))
#define MPIR_PLAIN_CHAR ((char)-1 < 0 ? MPIR_SIGNED(char) : MPIR_UNSIGNED(char))

typedef struct {
    uint16_t bits;
} MPIR_F16;
typedef struct {
    MPIR_F16 re, im;
} MPIR_C16;

#if defined(__SIZEOF_INT128__)
typedef __int128 MPIR_I128;
typedef unsigned __int128 MPIR_U128;
#define MPIR_REPR_I128 MPIR_SIGNED(MPIR_I128)
#define MPIR_REPR_U128 MPIR_UNSIGNED(MPIR_I128)
#else
typedef struct {
    int64_t half[2];
} MPIR_I128;
#define MPIR_REPR_I128 MPIR_REPR_NONE
#define MPIR_REPR_U128 MPIR_REPR_NONE
#endif

#if defined(__SIZEOF_FLOAT128__)
typedef __float128 MPIR_F128;
#define MPIR_HAVE_F128 1
#else
typedef struct {
    _Alignas(16) char bytes[16];
} MPIR_F128;
#define MPIR_HAVE_F128 0
#endif
typedef struct {
    MPIR_F128 re, im;
} MPIR_C128;

/* ROW(name, C type, class, representation) */
#define MPIR_BASIC_TYPES(ROW) \
    ROW(MPI_AINT, MPI_Aint, MULTI, MPIR_SIGNED(MPI_Aint)) \
    ROW(MPI_COUNT, MPI_Count, MULTI, MPIR_SIGNED(MPI_Count)) \
    ROW(MPI_OFFSET, MPI_Offset, MULTI, MPIR_SIGNED(MPI_Offset)) \
    ROW(MPI_PACKED, char, NONE, MPIR_REPR_NONE) \
    ROW(MPI_SHORT, short, C_INTEGER, MPIR_SIGNED(short)) \
    ROW(MPI_INT, int, C_INTEGER, MPIR_SIGNED(int)) \
    ROW(MPI_LONG, long, C_INTEGER, MPIR_SIGNED(long)) \
    ROW(MPI_LONG_LONG_INT, long long, C_INTEGER, MPIR_SIGNED(long long)) \
    ROW(MPI_UNSIGNED_SHORT, unsigned short, C_INTEGER, MPIR_UNSIGNED(short)) \
    ROW(MPI_UNSIGNED, unsigned, C_INTEGER, MPIR_UNSIGNED(int)) \
    ROW(MPI_UNSIGNED_LONG, unsigned long, C_INTEGER, MPIR_UNSIGNED(long)) \
    ROW(MPI_UNSIGNED_LONG_LONG, unsigned long long, C_INTEGER, MPIR_UNSIGNED(long long)) \
    ROW(MPI_FLOAT, float, FLOAT, MPIR_REPR_F32) \
    ROW(MPI_C_COMPLEX, float _Complex, COMPLEX, MPIR_REPR_C32) \
    ROW(MPI_CXX_FLOAT_COMPLEX, float _Complex, COMPLEX, MPIR_REPR_C32) \
    ROW(MPI_DOUBLE, double, FLOAT, MPIR_REPR_F64) \
    ROW(MPI_C_DOUBLE_COMPLEX, double _Complex, COMPLEX, MPIR_REPR_C64) \
    ROW(MPI_CXX_DOUBLE_COMPLEX, double _Complex, COMPLEX, MPIR_REPR_C64) \
    ROW(MPI_LOGICAL, int32_t, LOGICAL, MPIR_SIGNED(int32_t)) \
    ROW(MPI_INTEGER, int32_t, F_INTEGER, MPIR_SIGNED(int32_t)) \
    ROW(MPI_REAL, float, FLOAT, MPIR_REPR_F32) \
    ROW(MPI_COMPLEX, float _Complex, COMPLEX, MPIR_REPR_C32) \
    ROW(MPI_DOUBLE_PRECISION, double, FLOAT, MPIR_REPR_F64) \
    ROW(MPI_DOUBLE_COMPLEX, double _Complex, COMPLEX, MPIR_REPR_C64) \
    ROW(MPI_CHARACTER, char, CHARACTER, MPIR_UNSIGNED(char)) \
    ROW(MPI_LONG_DOUBLE, long double, FLOAT, MPIR_REPR_LONG_DOUBLE) \
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex, COMPLEX, MPIR_REPR_C_LONG_DOUBLE) \
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex, COMPLEX, MPIR_REPR_C_LONG_DOUBLE) \
    ROW(MPI_C_BOOL, _Bool, BOOL, MPIR_REPR_BOOL) \
    ROW(MPI_CXX_BOOL, _Bool, BOOL, MPIR_REPR_BOOL) \
    ROW(MPI_WCHAR, wchar_t, NONE, MPIR_REPR_NONE) \
    ROW(MPI_INT8_T, int8_t, C_INTEGER, MPIR_SIGNED(int8_t)) \
    ROW(MPI_UINT8_T, uint8_t, C_INTEGER, MPIR_UNSIGNED(int8_t)) \
    ROW(MPI_CHAR, char, CHARACTER, MPIR_PLAIN_CHAR) \
    ROW(MPI_SIGNED_CHAR, signed char, C_INTEGER, MPIR_SIGNED(char)) \
    ROW(MPI_UNSIGNED_CHAR, unsigned char, C_INTEGER, MPIR_UNSIGNED(char)) \
    ROW(MPI_BYTE, unsigned char, BYTE, MPIR_UNSIGNED(char)) \
    ROW(MPI_INT16_T, int16_t, C_INTEGER, MPIR_SIGNED(int16_t)) \
    ROW(MPI_UINT16_T, uint16_t, C_INTEGER, MPIR_UNSIGNED(int16_t)) \
    ROW(MPI_INT32_T, int32_t, C_INTEGER, MPIR_SIGNED(int32_t)) \
    ROW(MPI_UINT32_T, uint32_t, C_INTEGER, MPIR_UNSIGNED(int32_t)) \
    ROW(MPI_INT64_T, int64_t, C_INTEGER, MPIR_SIGNED(int64_t)) \
    ROW(MPI_UINT64_T, uint64_t, C_INTEGER, MPIR_UNSIGNED(int64_t)) \
    ROW(MPI_LOGICAL1, int8_t, LOGICAL, MPIR_SIGNED(int8_t)) \
    ROW(MPI_INTEGER1, int8_t, F_INTEGER, MPIR_SIGNED(int8_t)) \
    ROW(MPI_LOGICAL2, int16_t, LOGICAL, MPIR_SIGNED(int16_t)) \
    ROW(MPI_INTEGER2, int16_t, F_INTEGER, MPIR_SIGNED(int16_t)) \
    ROW(MPI_REAL2, MPIR_F16, FLOAT, MPIR_REPR_F16) \
    ROW(MPI_LOGICAL4, int32_t, LOGICAL, MPIR_SIGNED(int32_t)) \
    ROW(MPI_INTEGER4, int32_t, F_INTEGER, MPIR_SIGNED(int32_t)) \
    ROW(MPI_REAL4, float, FLOAT, MPIR_REPR_F32) \
    ROW(MPI_COMPLEX4, MPIR_C16, COMPLEX, MPIR_REPR_C16) \
    ROW(MPI_LOGICAL8, int64_t, LOGICAL, MPIR_SIGNED(int64_t)) \
    ROW(MPI_INTEGER8, int64_t, F_INTEGER, MPIR_SIGNED(int64_t)) \
    ROW(MPI_REAL8, double, FLOAT, MPIR_REPR_F64) \
    ROW(MPI_COMPLEX8, float _Complex, COMPLEX, MPIR_REPR_C32) \
    ROW(MPI_LOGICAL16, MPIR_I128, LOGICAL, MPIR_REPR_I128) \
    ROW(MPI_INTEGER16, MPIR_I128, F_INTEGER, MPIR_REPR_I128) \
    ROW(MPI_REAL16, MPIR_F128, FLOAT, MPIR_REPR_F128) \
    ROW(MPI_COMPLEX16, double _Complex, COMPLEX, MPIR_REPR_C64) \
    ROW(MPI_COMPLEX32, MPIR_C128, COMPLEX, MPIR_REPR_C128)

/* ROW(name, type of the value, type of the index, representation, layout if the struct is not contiguous) */
#define MPIR_PAIR_TYPES(ROW) \
    ROW(MPI_FLOAT_INT, float, int, MPIR_REPR_FLOAT_INT, &MPID_Layout_float_int) \
    ROW(MPI_DOUBLE_INT, double, int, MPIR_REPR_DOUBLE_INT, &MPID_Layout_double_int) \
    ROW(MPI_LONG_INT, long, int, MPIR_REPR_LONG_INT, &MPID_Layout_long_int) \
    ROW(MPI_2INT, int, int, MPIR_REPR_2INT, &MPID_Layout_2int) \
    ROW(MPI_SHORT_INT, short, int, MPIR_REPR_SHORT_INT, &MPID_Layout_short_int) \
    ROW(MPI_LONG_DOUBLE_INT, long double, int, MPIR_REPR_LONG_DOUBLE_INT, &MPID_Layout_long_double_int) \
    ROW(MPI_2REAL, float, float, MPIR_REPR_2FLOAT, NULL) \
    ROW(MPI_2DOUBLE_PRECISION, double, double, MPIR_REPR_2DOUBLE, NULL) \
    ROW(MPI_2INTEGER, int32_t, int32_t, MPIR_REPR_2INT, NULL)

#endif
