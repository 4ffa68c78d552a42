/* pack.c: MPI_Pack and its like, and copies within the process. */
#include "type.h"
#include "comm.h"
#include "err.h"
#include "bodies.h"

/* The position must lie in a buffer of `size` bytes. */
static int check_position(int64_t position, int64_t size)
{
    if (position >= 0 && position <= size)
        return MPI_SUCCESS;
    return MPIR_Err(MPI_ERR_ARG, "position", "is %lld; expected 0 to %lld, the buffer's size",
                    (long long)position, (long long)size);
}

int MPIR_Pack(const void *inbuf, MPI_Count incount, MPIR_Datatype *datatype, void *outbuf, MPI_Count outsize,
              MPI_Count *position, MPIR_Comm *comm)
{
    int err = check_position(*position, outsize);
    if (!err)
        MPID_Pack(inbuf, incount, &datatype->adi, outbuf, outsize, position, &comm->adi, MPI_ANY_SOURCE,
                  MPID_MSGFORM_NATIVE, MPID_MSG_OK, &err);
    return err;
}

int MPIR_Unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                MPIR_Datatype *datatype, MPIR_Comm *comm)
{
    int64_t size, done = 0;
    int err = check_position(*position, insize);
    if (err)
        return err;
    MPID_Pack_size(outcount, &datatype->adi, MPID_MSG_OK, &size);
    if (size > insize - *position)
        return MPIR_Err(MPI_ERR_TRUNCATE, "insize",
                        "is %lld; expected at least %lld more than position, which is %lld",
                        (long long)insize, (long long)size, (long long)*position);
    MPID_Unpack(inbuf, *position + size, MPID_MSGFORM_NATIVE, position, outbuf, outcount, &datatype->adi,
                &done, &comm->adi, MPI_ANY_SOURCE, &err);
    return err;
}

int MPIR_Pack_size(MPI_Count incount, MPIR_Datatype *datatype, MPIR_Comm *comm, MPI_Count *size)
{
    (void)comm;
    MPID_Pack_size(incount, &datatype->adi, MPID_MSG_OK, size);
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
