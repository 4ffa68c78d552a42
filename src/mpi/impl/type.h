/* SPDX-License-Identifier: BSD-3-Clause */
/* type.h: datatypes: the ADI's layout plus what MPI remembers of how a type was made. */
#ifndef MPIR_TYPE_H
#define MPIR_TYPE_H

#include "mpid.h"
#include "object.h"

typedef struct MPIR_Datatype {
    struct MPIR_DATATYPE adi;
    int32_t combiner;             /* MPI_COMBINER_* */
    int64_t ni, na, nc, nt;       /* numbers of integers, addresses, counts, types in contents */
    int64_t *contents;            /* the constructor's arguments, owned: na + nc addresses and counts, */
    int32_t *integers;            /* and behind them ni integers */
    struct MPIR_Datatype **types; /* [nt], each referenced */
    int64_t nelements;            /* basic elements in one element of this type */
    char *name;                   /* that the program has given, owned; NULL: none */
    void *attributes;
} MPIR_Datatype;

/* The i-th argument: integers, addresses, counts. */
static inline int64_t MPIR_Datatype_argument(const MPIR_Datatype *t, int64_t i)
{
    return i < t->ni ? t->integers[i] : t->contents[i - t->ni];
}

void MPIR_Datatype_release(MPIR_Datatype *t);

/* Another type that was made in the same way, without name and attributes; a predefined one itself.  MPI_ERR_NO_MEM. */
int MPIR_Datatype_copy(MPIR_Datatype *t, MPIR_Datatype **copy);

/* May messages take data of a committed type as bytes? */
static inline bool MPIR_Datatype_as_bytes(const MPIR_Datatype *t)
{
    return t->adi.is_contig && !(MPID_Needs() & MPID_NEEDS_TYPES);
}
/* Somebody needs the types of messages: no predefined type goes as bytes. */
void MPIR_Datatype_keep_predefined(void);

/* MPI_Finalize: the predefined types have their own names again, and those without a name are gone. */
void MPIR_Datatype_fini_predefined(void);

/* Drop the predefined types without a name (MPI_Type_create_f90_*, MPI_Type_get_value_index). */
void MPIR_Datatype_fini_unnamed(void);

/* The name that the program has given it, or that the standard has; NULL: it has none. */
const char *MPIR_Datatype_name(const MPIR_Datatype *t);

/* The predefined type with this ABI value; never NULL for a value of the ABI header. */
MPIR_Datatype *MPIR_Datatype_predefined(int32_t value);

/* A predefined type has the size of another one, and operations treat it as that one; a pair, of two of them. */
void MPIR_Datatype_same_as(int32_t value, int32_t like);

/* Copy between (buf, count, type) pairs in this process, truncating like a receive; returns an error class.
 */
int MPIR_Localcopy(const void *src, int64_t scount, MPIR_Datatype *stype, void *dst, int64_t rcount,
                   MPIR_Datatype *rtype);

/* Whole basic elements in the first `bytes` bytes of data that are laid out as `there` (`type`
 * itself, or a type made as it was from other basic types), and the bytes that these have, here and there. */
struct MPIR_ELEMENTS {
    int64_t n, here, there;
};
/* pairs: a pair (MPI_FLOAT_INT) may end behind its value; its index has the same size in both. */
struct MPIR_ELEMENTS MPIR_Datatype_elements(const MPIR_Datatype *type, const MPIR_Datatype *there,
                                            int64_t bytes, bool pairs);

/* Bytes from the first to the last byte that `count` elements touch, and where the first lies from the
 * buffer. */
int64_t MPIR_Datatype_span(const MPIR_Datatype *t, int64_t count, int64_t *gap);

#endif
