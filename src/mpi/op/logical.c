/* logical.c: the logical operations on Fortran's LOGICALs, whose .TRUE. and .FALSE. the program has told
 * (MPI_Abi_set_fortran_booleans) and are not 1 and 0.  What is not .FALSE. counts as .TRUE. */
#include <stddef.h>
#include "basic.h"
#include "kernel.h"

static inline bool decide(int32_t op, bool a, bool b)
{
    return op == KEEL_MPI_LAND ? a & b : op == KEEL_MPI_LOR ? a | b : a ^ b;
}

#define LOOP(T) \
    static void loop_##T(int32_t op, const void *in, void *inout, int64_t n) \
    { \
        const T yes = (T)MPID_Logicals.yes, no = (T)MPID_Logicals.no; \
        const T *a = in; \
        T *b = inout; \
        for (int64_t i = 0; i < n; i++) \
            b[i] = decide(op, a[i] != no, b[i] != no) ? yes : no; \
    }
LOOP(int8_t)
LOOP(int16_t)
LOOP(int32_t)
LOOP(int64_t)
#if defined(__SIZEOF_INT128__)
LOOP(MPIR_I128)
#endif

void MPIR_Op_logicals(int32_t op, int64_t size, const void *in, void *inout, int64_t n)
{
    switch (size) {
    case 1:
        loop_int8_t(op, in, inout, n);
        break;
    case 2:
        loop_int16_t(op, in, inout, n);
        break;
    case 4:
        loop_int32_t(op, in, inout, n);
        break;
    case 8:
        loop_int64_t(op, in, inout, n);
        break;
#if defined(__SIZEOF_INT128__)
    case 16:
        loop_MPIR_I128(op, in, inout, n);
#endif
    }
}
