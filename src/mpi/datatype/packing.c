/* SPDX-License-Identifier: BSD-3-Clause */
/* packing.c: MPI_Pack and MPI_Pack_external with their like, and copies within the process. */
#include <string.h>
#include "type.h"
#include "comm.h"
#include "mpi_err.h"
#include "bodies.h"

/* The position must lie in a buffer of `size` bytes. */
static int check_position(int64_t position, int64_t size)
{
    if (position >= 0 && position <= size)
        return MPI_SUCCESS;
    return MPIR_Err(MPI_ERR_ARG, "position", "is %lld; expected 0 to %lld, the buffer's size",
                    (long long)position, (long long)size);
}

/* Do the data, *size bytes as they lie, fit between the position and the end?  What every call needs to know, at
 * once; `end` is not negative. */
static inline bool packing_fits(MPI_Count count, const MPIR_Datatype *datatype, int64_t position, int64_t end,
                                int64_t *size)
{
    return !__builtin_mul_overflow(count, datatype->adi.size, size) && (uint64_t)position <= (uint64_t)end &&
           *size <= end - position;
}

static __attribute__((noinline)) int pack_unfit(const void *inbuf, MPI_Count incount, MPIR_Datatype *datatype,
                                                void *outbuf, MPI_Count outsize, MPI_Count *position,
                                                MPIR_Comm *comm)
{
    int err = check_position(*position, outsize);
    if (!err)
        MPID_Pack(inbuf, incount, &datatype->adi, outbuf, outsize, position, &comm->adi, MPI_ANY_SOURCE,
                  MPID_MSGFORM_NATIVE, MPID_MSG_OK, &err);
    return err;
}

int MPIR_Pack(const void *inbuf, MPI_Count incount, MPIR_Datatype *datatype, void *outbuf, MPI_Count outsize,
              MPI_Count *position, MPIR_Comm *comm)
{
    int64_t size, at = *position;
    if (!packing_fits(incount, datatype, at, outsize, &size))
        return pack_unfit(inbuf, incount, datatype, outbuf, outsize, position, comm);
    *position = at + size;
    MPID_Layout_pack(&datatype->adi, inbuf, incount, 0, (char *)outbuf + at, size);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int unpack(const void *inbuf, MPI_Count insize, MPI_Count *position,
                                            void *outbuf, MPI_Count outcount, MPIR_Datatype *datatype,
                                            MPID_Msgrep_t rep, MPID_Msg_pack_t act,
                                            struct MPIR_COMMUNICATOR *comm)
{
    int64_t size, done = 0;
    int err = check_position(*position, insize);
    if (err)
        return err;
    MPID_Pack_size(outcount, &datatype->adi, act, &size);
    if (size > insize - *position)
        return MPIR_Err(MPI_ERR_TRUNCATE, "insize",
                        "is %lld; expected at least %lld more than position, which is %lld",
                        (long long)insize, (long long)size, (long long)*position);
    MPID_Unpack(inbuf, *position + size, rep, position, outbuf, outcount, &datatype->adi, &done, comm,
                MPI_ANY_SOURCE, &err);
    return err;
}

int MPIR_Unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                MPIR_Datatype *datatype, MPIR_Comm *comm)
{
    int64_t size, at = *position;
    if (!packing_fits(outcount, datatype, at, insize, &size))
        return unpack(inbuf, insize, position, outbuf, outcount, datatype, MPID_MSGFORM_NATIVE, MPID_MSG_OK,
                      &comm->adi);
    *position = at + size;
    MPID_Layout_unpack(&datatype->adi, outbuf, outcount, 0, (const char *)inbuf + at, size);
    return MPI_SUCCESS;
}

int MPIR_Pack_size(MPI_Count incount, MPIR_Datatype *datatype, MPIR_Comm *comm, MPI_Count *size)
{
    (void)comm;
    MPID_Pack_size(incount, &datatype->adi, MPID_MSG_OK, size);
    if (*size == INT64_MAX)
        *size = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* ---- external32: the only representation there is, so its name is not looked at ---- */

int MPIR_Pack_external(const char *datarep, const void *inbuf, MPI_Count incount, MPIR_Datatype *datatype,
                       void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    int err = check_position(*position, outsize);
    (void)datarep;
    if (!err)
        MPID_Pack(inbuf, incount, &datatype->adi, outbuf, outsize, position, NULL, MPI_ANY_SOURCE,
                  MPID_MSGFORM_EXTERNAL32, MPID_MSG_CONVERT, &err);
    return err;
}

int MPIR_Unpack_external(const char *datarep, const void *inbuf, MPI_Count insize, MPI_Count *position,
                         void *outbuf, MPI_Count outcount, MPIR_Datatype *datatype)
{
    (void)datarep;
    return unpack(inbuf, insize, position, outbuf, outcount, datatype, MPID_MSGFORM_EXTERNAL32,
                  MPID_MSG_CONVERT, NULL);
}

int MPIR_Pack_external_size(const char *datarep, MPI_Count incount, MPIR_Datatype *datatype, MPI_Count *size)
{
    (void)datarep;
    MPID_Pack_size(incount, &datatype->adi, MPID_MSG_CONVERT, size);
    if (*size < 0)
        return MPIR_Err(MPI_ERR_TYPE, "datatype", "is nested too deep for external32");
    if (*size == INT64_MAX)
        *size = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPIR_Localcopy(const void *src, int64_t scount, MPIR_Datatype *stype, void *dst, int64_t rcount,
                   MPIR_Datatype *rtype)
{
    int64_t there = scount * stype->adi.size, room = rcount * rtype->adi.size;
    MPID_Copy(src, scount, &stype->adi, dst, rcount, &rtype->adi, there < room ? there : room);
    if (there <= room)
        return MPI_SUCCESS;
    return MPIR_Err(MPI_ERR_TRUNCATE, NULL, "%lld bytes of data; the receiving count and datatype take %lld",
                    (long long)there, (long long)room);
}
