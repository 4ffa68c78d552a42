/* pack.c: MPID_Pack and its like (the paper's 4.1).  All processes hold data alike as yet, so the one
 * representation is the native layout; a message in another one (msgrep) is refused by name rather than
 * misread. */
#include "mpid.h"
#include "mpid/core/copy.h"
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
    (void)msgrep;
    *msgact = MPID_MSG_OK;
}

void MPID_Pack_size(int64_t count, struct MPIR_DATATYPE *datatype, MPID_Msg_pack_t msgact, int64_t *size)
{
    (void)msgact;
    if (__builtin_mul_overflow(count, datatype->size, size))
        *size = INT64_MAX;
}

static bool known_msgrep(MPID_Msgrep_t msgrep, int *error_code)
{
    if (msgrep == MPID_MSGFORM_NATIVE)
        return true;
    *error_code = ku_err_set(MPI_ERR_INTERN, "msgrep", "is %d; expected %d (native), the only one known",
                             msgrep, MPID_MSGFORM_NATIVE);
    return false;
}

void MPID_Pack(const void *src, int64_t count, struct MPIR_DATATYPE *datatype, void *dest, int64_t maxcount,
               int64_t *position, struct MPIR_COMMUNICATOR *comm, int partner, MPID_Msgrep_t msgrep,
               MPID_Msg_pack_t msgact, int *error_code)
{
    int64_t size;
    (void)comm;
    (void)partner;
    if (!known_msgrep(msgrep, error_code))
        return;
    MPID_Pack_size(count, datatype, msgact, &size);
    if (*position < 0 || *position > maxcount || size > maxcount - *position) {
        *error_code = ku_err_set(MPI_ERR_TRUNCATE, NULL,
                                 "the data takes %lld bytes; the buffer has %lld, of which %lld are used",
                                 (long long)size, (long long)maxcount, (long long)*position);
        return;
    }
    MPID_Layout_pack(datatype, src, count, 0, (char *)dest + *position, size);
    *position += size;
}

/* src[*in_position, maxcount) is what has arrived, and goes behind the *out_position packed bytes that the
 * destination holds already: a message may be unpacked in pieces.  More than fits: what fits is unpacked,
 * MPI_ERR_TRUNCATE. */
void MPID_Unpack(const void *src, int64_t maxcount, MPID_Msgrep_t msgrep, int64_t *in_position, void *dest,
                 int64_t count, struct MPIR_DATATYPE *datatype, int64_t *out_position,
                 struct MPIR_COMMUNICATOR *comm, int partner, int *error_code)
{
    int64_t size;
    (void)comm;
    (void)partner;
    if (!known_msgrep(msgrep, error_code))
        return;
    MPID_Pack_size(count, datatype, MPID_MSG_OK, &size);
    int64_t there = maxcount - *in_position, room = size - *out_position;
    if (there > room)
        *error_code =
            ku_err_set(MPI_ERR_TRUNCATE, NULL, "%lld bytes arrived; the datatype and count take %lld",
                       (long long)there, (long long)room);
    int64_t n = there < room ? there : room;
    if (n <= 0)
        return;
    MPID_Layout_unpack(datatype, dest, count, *out_position, (const char *)src + *in_position, n);
    *in_position += n;
    *out_position += n;
}
