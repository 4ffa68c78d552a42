/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_datatype.h: datatypes: making, packing, copying, walking and encoding (mpid.h). */
#ifndef KEEL_MPID_DATATYPE_H
#define KEEL_MPID_DATATYPE_H

#include "mpid_base.h"

/* ---- Packing (4) ----------------------------------------------------------------------------- */

/* Pack and unpack (4.1), natively or in external32, as msgrep says; msgact is what MPID_Msg_act says of it.
 * Positions are in bytes; too small a destination: MPI_ERR_TRUNCATE.  A number without room in external32:
 * MPI_ERR_VALUE_TOO_LARGE. MPID_Pack_size is exact; INT64_MAX: 63 bits do not hold it; -1: the datatype cannot be
 * converted. */
void MPID_Msg_rep(struct MPIR_COMMUNICATOR *comm, int partner, struct MPIR_DATATYPE *datatype,
                  MPID_Msgrep_t *msgrep, MPID_Msg_pack_t *msgact);
void MPID_Msg_act(struct MPIR_COMMUNICATOR *comm, int partner, struct MPIR_DATATYPE *datatype,
                  MPID_Msgrep_t msgrep, MPID_Msg_pack_t *msgact);
void MPID_Pack_size(int64_t count, struct MPIR_DATATYPE *datatype, MPID_Msg_pack_t msgact, int64_t *size);
void MPID_Pack(const void *src, int64_t count, struct MPIR_DATATYPE *datatype, void *dest, int64_t maxcount,
               int64_t *position, struct MPIR_COMMUNICATOR *comm, int partner, MPID_Msgrep_t msgrep,
               MPID_Msg_pack_t msgact, int *error_code);
void MPID_Unpack(const void *src, int64_t maxcount, MPID_Msgrep_t msgrep, int64_t *in_position, void *dest,
                 int64_t count, struct MPIR_DATATYPE *datatype, int64_t *out_position,
                 struct MPIR_COMMUNICATOR *comm, int partner, int *error_code);

/* ---- Datatypes (extension) ------------------------------------------------------------------- */

/* Datatypes.  Each call fills in *newtype, which the caller provides (obj is left alone), from old types that
 * it does not keep.  Displacements, strides and extents are bytes.  0, or MPI_ERR_NO_MEM, or MPI_ERR_TYPE
 * when a size or extent leaves 63 bits. */
int MPID_Type_basic(struct MPIR_DATATYPE *newtype, int64_t size, int align, uint32_t basic);
int MPID_Type_dup(struct MPIR_DATATYPE *newtype, const struct MPIR_DATATYPE *old);
int MPID_Type_hvector(struct MPIR_DATATYPE *newtype, int64_t count, int64_t blocklength, int64_t stride,
                      const struct MPIR_DATATYPE *old);
/* Block i: blocklengths[i] (or `blocklength` where blocklengths.p is NULL) elements at displacements[i] *
 * unit. */
int MPID_Type_hindexed(struct MPIR_DATATYPE *newtype, int64_t count, MPIR_Counts blocklengths,
                       int64_t blocklength, MPIR_Counts displacements, int64_t unit,
                       const struct MPIR_DATATYPE *old);
int MPID_Type_struct(struct MPIR_DATATYPE *newtype, int64_t count, MPIR_Counts blocklengths,
                     MPIR_Counts displacements, struct MPIR_DATATYPE *const *types);
int MPID_Type_resized(struct MPIR_DATATYPE *newtype, int64_t lb, int64_t extent,
                      const struct MPIR_DATATYPE *old);
int MPID_Type_commit(struct MPIR_DATATYPE *type);
/* Free what the type holds (its layout); not the struct. */
void MPID_Type_fini(struct MPIR_DATATYPE *type);
/* The layouts of the C structs {double; int} and so on, for static types of such pairs; where the struct has no
 * gap and no padding the type is contiguous and has none. */
extern struct MPID_LAYOUT MPID_Layout_float_int, MPID_Layout_double_int, MPID_Layout_long_int,
    MPID_Layout_2int, MPID_Layout_short_int, MPID_Layout_long_double_int;

/* The type signature of `count` elements (MPI 5.0, 5.1), or of its first `limit` numbers, so that it can be
 * compared with one of another process: equal digests of as many numbers are equal sequences.  A complex number is
 * two numbers, and so is a pair.  Integers of one size and sign are equal, whatever their names, and so are
 * floating types of one size. */
enum { MPID_SIGNATURE_FIRST = 8, MPID_SIGNATURE_BASE = 0x200 /* which all values of basic types have */ };
enum {
    MPID_SIGNATURE_UNKNOWN = 1, /* nothing is known of it */
    MPID_SIGNATURE_PACKED = 2,  /* there is MPI_PACKED in it, which stands for anything */
    MPID_SIGNATURE_UNIFORM = 4  /* it is one basic type, repeated */
};
struct MPID_Signature {
    uint64_t digest;
    int64_t n;
    uint32_t flags;
    uint8_t first
        [MPID_SIGNATURE_FIRST]; /* of which basic types its first numbers are: the low byte; 0: there are none */
};
void MPID_Signature_of(const struct MPIR_DATATYPE *t, int64_t count, int64_t limit, struct MPID_Signature *s);
/* Which of the first numbers is the first that is not alike in both; -1: none of them. */
int MPID_Signature_differ(const uint8_t *a, const uint8_t *b);
int MPID_Signature_numbers(uint8_t basic); /* that one element has */

/* Numbers of one kind that lie one behind the other in memory, `at` bytes from the address of the first element. */
struct MPID_Typed_run {
    int64_t at, bytes;
    uint32_t basic; /* the basic type that they are of */
    uint8_t
        is; /* 'i': integers, 'u': without a sign, 'f': floating, 'l': truths, 'w': wide characters, 'b': bytes,
                     * 'p': packed */
    uint8_t size; /* bytes of a number */
};
/* The memory of `count` elements in the order of the type signature.  fn returns false to stop.  False: it did, or
 * nothing is known of the type. */
bool MPID_Typed_runs(const struct MPIR_DATATYPE *t, int64_t count,
                     bool (*fn)(void *arg, const struct MPID_Typed_run *run), void *arg);

/* Copy the first `len` packed bytes of one typed buffer into another of this process; they do not overlap, and both
 * have so many. */
void MPID_Copy(const void *src, int64_t scount, const struct MPIR_DATATYPE *stype, void *dest, int64_t dcount,
               const struct MPIR_DATATYPE *dtype, int64_t len);
/* Bytes [offset, offset + len) of the packed form, to dst or from src.  The range must lie within the packed form. */
void MPID_Layout_pack(const struct MPIR_DATATYPE *t, const void *buf, int64_t count, int64_t offset,
                      void *dst, int64_t len);
void MPID_Layout_unpack(const struct MPIR_DATATYPE *t, void *buf, int64_t count, int64_t offset,
                        const void *src, int64_t len);

/* The memory of bytes [offset, offset + len) of the packed form of any number of elements, as runs of contiguous
 * bytes in the order of the packed form; runs that touch are one.  `at` is a run's distance in bytes from the
 * address of the first element.  fn returns false to stop; that run then counts as not taken.  Returns the packed
 * bytes of the runs that were taken: `len`, or less where fn stopped.  A walk may begin anywhere: the place is
 * found in O(depth of the type), with O(log n) for lists of n entries.  A size of 0 has no runs. */
int64_t MPID_Layout_runs(const struct MPIR_DATATYPE *t, int64_t offset, int64_t len,
                         bool (*fn)(void *arg, int64_t at, int64_t bytes), void *arg);

/* A datatype as bytes that mean the same in every process, whatever its byte order: its layout, bounds and
 * signature, not how it was made.  Parts that the type shares are written once.  MPID_Type_encode allocates
 * *bytes, which the caller gives to free().  MPI_ERR_TYPE: they would be more than MPID_TYPE_ENCODED_MAX;
 * MPI_ERR_NO_MEM. */
#define MPID_TYPE_ENCODED_MAX ((int64_t)1 << 28)
int MPID_Type_encode(const struct MPIR_DATATYPE *type, void **bytes, int64_t *len);
/* The type of all the bytes, committed.  They are not trusted: what is no datatype is MPI_ERR_TYPE with a text
 * that says why and where; *newtype then holds nothing.  A decoded type touches no memory outside its true
 * bounds.  Decoding takes at most MPID_TYPE_DECODED_RATIO bytes of memory for each of them, and time linear in
 * their number.  Or MPI_ERR_NO_MEM. */
#define MPID_TYPE_DECODED_RATIO 64
int MPID_Type_decode(struct MPIR_DATATYPE *newtype, const void *bytes, int64_t len);

#endif
