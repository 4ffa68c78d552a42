/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c: MPID_Pack and its like (the paper's 4.1).  All processes hold data alike as yet, so messages travel in
 * the native layout; external32 is for those who ask for it by msgrep.  A message in another representation is
 * refused by name rather than misread. */
#include "mpid.h"
#include "mpid/datatype/type_copy.h"
#include "mpid/datatype/external.h"
#include "util/err.h"

void MPID_Msg_rep(struct MPIR_COMMUNICATOR *comm, int partner, struct MPIR_DATATYPE *datatype,
                  MPID_Msgrep_t *msgrep, MPID_Msg_pack_t *msgact)
{
    *msgrep = MPID_MSGFORM_NATIVE;
    MPID_Msg_act(comm, partner, datatype, *msgrep, msgact);
}

void MPID_Msg_act(struct MPIR_COMMUNICATOR *comm, int partner, struct MPIR_DATATYPE *datatype,
                  MPID_Msgrep_t msgrep, MPID_Msg_pack_t *msgact)
{
    (void)comm;
    (void)partner;
    (void)datatype;
    *msgact = msgrep == MPID_MSGFORM_EXTERNAL32 ? MPID_MSG_CONVERT : MPID_MSG_OK;
}

void MPID_Pack_size(int64_t count, struct MPIR_DATATYPE *datatype, MPID_Msg_pack_t msgact, int64_t *size)
{
    int64_t one = msgact == MPID_MSG_CONVERT ? MPID_External_size(datatype) : datatype->size;
    if (one < 0)
        *size = -1;
    else if (__builtin_mul_overflow(count, one, size))
        *size = INT64_MAX;
}

/* As size_in for other than the native representation, and for sizes that do not fit. */
static __attribute__((noinline)) int64_t size_of_rare(MPID_Msgrep_t msgrep, int64_t count,
                                                      struct MPIR_DATATYPE *datatype, int *error_code)
{
    MPID_Msg_pack_t act;
    int64_t size = -1;
    MPID_Msg_act(NULL, 0, datatype, msgrep, &act);
    if (msgrep != MPID_MSGFORM_NATIVE && msgrep != MPID_MSGFORM_EXTERNAL32) {
        *error_code = ku_err_set(MPI_ERR_INTERN, "msgrep", "is %d; expected %d (native) or %d (external32)",
                                 msgrep, MPID_MSGFORM_NATIVE, MPID_MSGFORM_EXTERNAL32);
        return -1;
    }
    MPID_Pack_size(count, datatype, act, &size);
    if (size < 0)
        *error_code =
            ku_err_set(MPI_ERR_TYPE, "datatype",
                       "has no representation in external32; expected predefined types, not nested too "
                       "deep");
    return size;
}

/* The bytes that the data takes in this representation; -1 with *error_code set. */
static inline int64_t size_in(MPID_Msgrep_t msgrep, int64_t count, struct MPIR_DATATYPE *datatype,
                              int *error_code)
{
    int64_t size;
    if (msgrep == MPID_MSGFORM_NATIVE && !__builtin_mul_overflow(count, datatype->size, &size))
        return size;
    return size_of_rare(msgrep, count, datatype, error_code);
}

void MPID_Pack(const void *src, int64_t count, struct MPIR_DATATYPE *datatype, void *dest, int64_t maxcount,
               int64_t *position, struct MPIR_COMMUNICATOR *comm, int partner, MPID_Msgrep_t msgrep,
               MPID_Msg_pack_t msgact, int *error_code)
{
    (void)comm;
    (void)partner;
    (void)msgact;
    int64_t size = size_in(msgrep, count, datatype, error_code);
    if (size < 0)
        return;
    if (*position < 0 || *position > maxcount || size > maxcount - *position) {
        *error_code = ku_err_set(MPI_ERR_TRUNCATE, NULL,
                                 "the data takes %lld bytes; the buffer has %lld, of which %lld are used",
                                 (long long)size, (long long)maxcount, (long long)*position);
        return;
    }
    char *to = (char *)dest + *position;
    if (msgrep == MPID_MSGFORM_NATIVE)
        MPID_Layout_pack(datatype, src, count, 0, to, size);
    else if ((*error_code = MPID_External_pack(datatype, src, count, to)) != 0)
        return;
    *position += size;
}

/* src[*in_position, maxcount) is what has arrived, and goes behind the *out_position packed bytes that the
 * destination holds already (packed as msgrep says): a message may be unpacked in pieces, in external32 of whole basic
 * elements.  More than fits: what fits is unpacked, MPI_ERR_TRUNCATE. */
void MPID_Unpack(const void *src, int64_t maxcount, MPID_Msgrep_t msgrep, int64_t *in_position, void *dest,
                 int64_t count, struct MPIR_DATATYPE *datatype, int64_t *out_position,
                 struct MPIR_COMMUNICATOR *comm, int partner, int *error_code)
{
    (void)comm;
    (void)partner;
    int64_t size = size_in(msgrep, count, datatype, error_code);
    if (size < 0)
        return;
    int64_t there = maxcount - *in_position, room = size - *out_position;
    if (there > room)
        *error_code =
            ku_err_set(MPI_ERR_TRUNCATE, NULL, "%lld bytes arrived; the datatype and count take %lld",
                       (long long)there, (long long)room);
    int64_t n = there < room ? there : room;
    if (n <= 0)
        return;
    const char *from = (const char *)src + *in_position;
    if (msgrep == MPID_MSGFORM_NATIVE) {
        MPID_Layout_unpack(datatype, dest, count, *out_position, from, n);
    } else {
        int err = MPID_External_unpack(datatype, dest, count, *out_position, from, n, &n);
        if (err)
            *error_code = err;
    }
    *in_position += n;
    *out_position += n;
}
