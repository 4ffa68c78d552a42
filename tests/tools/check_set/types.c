/* SPDX-License-Identifier: BSD-3-Clause */
/* types.c: messages that do not fit their receives. */
#include "set.h"
#include <stddef.h>

struct pair {
    int i;
    double d;
};
static struct pair p[100], q[100];

static MPI_Datatype made(MPI_Datatype first, MPI_Aint at, MPI_Datatype second, MPI_Aint there)
{
    MPI_Datatype type, sized;
    MPI_Type_create_struct(2, (int[]){ 1, 1 }, (MPI_Aint[]){ at, there }, (MPI_Datatype[]){ first, second },
                           &type);
    MPI_Type_create_resized(type, 0, sizeof(struct pair), &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&type);
    return sized;
}

static MPI_Datatype in_order(void)
{
    return made(MPI_INT, offsetof(struct pair, i), MPI_DOUBLE, offsetof(struct pair, d));
}

WRONG(double_for_long, 1)
{
    MPI_Isend(a, 10, MPI_LONG, next, 1, comm, r);
    MPI_Recv(d, 10, MPI_DOUBLE, prev, 1, comm, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
}

RIGHT(same_types, 1)
{
    MPI_Isend(a, 10, MPI_LONG, next, 1, comm, r);
    MPI_Recv(d, 10, MPI_INT64_T, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(unsigned_for_int, 1)
{
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 1, MPI_UNSIGNED, prev, 1, comm, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
}

RIGHT(int_of_fortran, 1)
{
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 1, MPI_INTEGER, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(bytes_for_ints, 1)
{
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 40, MPI_BYTE, prev, 1, comm, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
}

RIGHT(bytes_for_bytes, 1)
{
    MPI_Isend(a, 40, MPI_BYTE, next, 1, comm, r);
    MPI_Recv(b, 50, MPI_BYTE, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(fields_in_another_order, 1)
{
    MPI_Datatype id = in_order(), di = made(MPI_DOUBLE, offsetof(struct pair, d), MPI_INT, 0);
    MPI_Isend(p, 5, id, next, 1, comm, r);
    MPI_Recv(q, 5, di, prev, 1, comm, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
    MPI_Type_free(&id);
    MPI_Type_free(&di);
}

RIGHT(same_order_other_places, 1)
{
    MPI_Datatype id = in_order(), other = made(MPI_INT, 8, MPI_DOUBLE, 0);
    MPI_Isend(p, 5, id, next, 1, comm, r);
    MPI_Recv(q, 5, other, prev, 1, comm, no);
    MPI_Wait(r, no);
    MPI_Type_free(&id);
    MPI_Type_free(&other);
}

WRONG(column_for_doubles, 1)
{
    MPI_Isend(a, 1, column, next, 1, comm, r);
    MPI_Recv(d, 5, MPI_DOUBLE, prev, 1, comm, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
}

RIGHT(column_for_ints, 1)
{
    MPI_Isend(a, 2, column, next, 1, comm, r);
    MPI_Recv(b, 20, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(posted_first, 1)
{
    MPI_Irecv(d, 10, MPI_FLOAT, prev, 1, comm, r); /* type-mismatch: datatype */
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

RIGHT(posted_longer, 1)
{
    MPI_Irecv(b, 100, MPI_INT, prev, 1, comm, r);
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

WRONG(any_source, 1)
{
    MPI_Irecv(d, 10, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, r); /* type-mismatch: datatype */
    MPI_Ssend(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

RIGHT(any_source_fits, 1)
{
    MPI_Irecv(b, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, r);
    MPI_Ssend(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

WRONG(matched_probe, 1)
{
    MPI_Message m;
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Mprobe(prev, 1, comm, &m, no);
    MPI_Mrecv(d, 10, MPI_FLOAT, &m, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
}

RIGHT(matched_probe_fits, 1)
{
    MPI_Message m;
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Mprobe(prev, 1, comm, &m, no);
    MPI_Imrecv(b, 10, MPI_INT, &m, r + 1);
    MPI_Waitall(2, r, none);
}

WRONG(sendrecv_types, 1)
{
    MPI_Sendrecv(a, 10, MPI_INT, next, 1, d, 10, MPI_FLOAT, prev, 1, comm, no); /* type-mismatch: recvtype */
}

RIGHT(sendrecv_types_fit, 1)
{
    MPI_Sendrecv(a, 1, column, next, 1, b, 10, MPI_INT, prev, 1, comm, no);
}

WRONG(persistent_receive_types, 1)
{
    MPI_Recv_init(d, 10, MPI_FLOAT, prev, 1, comm, r); /* type-mismatch: datatype */
    MPI_Start(r);
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

RIGHT(persistent_receive_types_fit, 1)
{
    MPI_Recv_init(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Start(r);
    MPI_Send(a, 10, MPI_INT32_T, next, 1, comm);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

WRONG(large_count_types, 1)
{
    MPI_Isend_c(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv_c(d, 10, MPI_FLOAT, prev, 1, comm, no); /* type-mismatch: datatype */
    MPI_Wait(r, no);
}

RIGHT(large_count_types_fit, 1)
{
    MPI_Isend_c(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(too_long, 1)
{
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 9, MPI_INT, prev, 1, comm, no); /* message-too-long: count, returned-error: - */
    MPI_Wait(r, no);
}

RIGHT(long_enough, 1)
{
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 11, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(too_long_by_type, 1)
{
    MPI_Isend(d, 10, MPI_DOUBLE, next, 1, comm, r);
    MPI_Recv(e, 10, MPI_FLOAT, prev, 1, comm, no); /* message-too-long: count, returned-error: - */
    MPI_Wait(r, no);
}

RIGHT(packed, 1)
{
    char room[1000];
    int at = 0;
    MPI_Datatype id = in_order();
    MPI_Pack(p, 5, id, room, sizeof room, &at, comm);
    MPI_Isend(room, at, MPI_PACKED, next, 1, comm, r);
    MPI_Recv(q, 5, id, prev, 1, comm, no);
    MPI_Wait(r, no);
    MPI_Type_free(&id);
}

RIGHT(nothing, 1)
{
    MPI_Isend(NULL, 0, MPI_INT, next, 1, comm, r);
    MPI_Recv(NULL, 0, MPI_FLOAT, prev, 1, comm, no);
    MPI_Wait(r, no);
}

RIGHT(type_freed_under_way, 1)
{
    MPI_Datatype id = in_order(), other = in_order();
    MPI_Irecv(q, 5, id, prev, 1, comm, r);
    MPI_Type_free(&id);
    MPI_Isend(p, 5, other, next, 1, comm, r + 1);
    MPI_Type_free(&other);
    MPI_Waitall(2, r, none);
}

WRONG(left_when_the_communicator_goes, 1)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin);
    MPI_Isend(a, 1, MPI_INT, next, 1, twin, r);
    MPI_Probe(prev, 1, twin, no);
    MPI_Wait(r, no);
    MPI_Comm_free(&twin); /* leak-message: - */
}

RIGHT(received_before_the_communicator_goes, 1)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin);
    MPI_Isend(a, 1, MPI_INT, next, 1, twin, r);
    MPI_Probe(prev, 1, twin, no);
    MPI_Recv(b, 1, MPI_INT, prev, 1, twin, no);
    MPI_Wait(r, no);
    MPI_Comm_free(&twin);
}
