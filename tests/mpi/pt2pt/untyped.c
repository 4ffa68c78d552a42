/* SPDX-License-Identifier: BSD-3-Clause */
/* No data, and nobody at the other end: then MPI_DATATYPE_NULL will do for a type.  With data, or with somebody,
 * it is an error. */
/* ranks: 1 2 */
#include "check.h"

static MPI_Comm comm;
static int x[4];

/* The call is taken, and what it starts is complete. */
#define TAKEN(call) \
    do { \
        MPI_Request r = MPI_REQUEST_NULL; \
        MPI_Status s; \
        CHECK_ERR(call, MPI_SUCCESS); \
        CHECK_ERR(MPI_Wait(&r, &s), MPI_SUCCESS); \
        (void)s; \
    } while (0)
#define TAKEN_AND_STARTED(call) \
    do { \
        MPI_Request r = MPI_REQUEST_NULL; \
        CHECK_ERR(call, MPI_SUCCESS); \
        CHECK_ERR(MPI_Start(&r), MPI_SUCCESS); \
        CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS); \
        CHECK_ERR(MPI_Request_free(&r), MPI_SUCCESS); \
    } while (0)

static void taken(MPI_Datatype t, int nobody)
{
    TAKEN(MPI_Send(NULL, 0, t, nobody, 0, comm));
    TAKEN(MPI_Ssend(NULL, 0, t, nobody, 0, comm));
    TAKEN(MPI_Bsend(NULL, 0, t, nobody, 0, comm));
    TAKEN(MPI_Rsend(NULL, 0, t, nobody, 0, comm));
    TAKEN(MPI_Send_c(NULL, 0, t, nobody, 0, comm));
    TAKEN(MPI_Isend(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN(MPI_Issend(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN(MPI_Ibsend(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN(MPI_Irsend(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN(MPI_Recv(NULL, 0, t, nobody, 0, comm, &s));
    TAKEN(MPI_Recv(NULL, 0, t, nobody, 0, comm, MPI_STATUS_IGNORE));
    TAKEN(MPI_Irecv(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN_AND_STARTED(MPI_Send_init(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN_AND_STARTED(MPI_Ssend_init(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN_AND_STARTED(MPI_Bsend_init(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN_AND_STARTED(MPI_Rsend_init(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN_AND_STARTED(MPI_Recv_init(NULL, 0, t, nobody, 0, comm, &r));
    TAKEN(MPI_Sendrecv(NULL, 0, t, nobody, 0, NULL, 0, t, nobody, 0, comm, &s));
    TAKEN(MPI_Sendrecv(NULL, 0, MPI_INT, nobody, 0, NULL, 0, t, nobody, 0, comm, &s));
    TAKEN(MPI_Sendrecv(NULL, 0, t, nobody, 0, NULL, 0, MPI_INT, nobody, 0, comm, &s));
    TAKEN(MPI_Isendrecv(NULL, 0, t, nobody, 0, NULL, 0, t, nobody, 0, comm, &r));
    TAKEN(MPI_Sendrecv_replace(NULL, 0, t, nobody, 0, nobody, 0, comm, &s));
    TAKEN(MPI_Isendrecv_replace(NULL, 0, t, nobody, 0, nobody, 0, comm, &r));
    MPI_Message m = MPI_MESSAGE_NO_PROC;
    TAKEN(MPI_Mrecv(NULL, 0, t, &m, &s));
    CHECK(m == MPI_MESSAGE_NULL);
    m = MPI_MESSAGE_NO_PROC;
    TAKEN(MPI_Imrecv(NULL, 0, t, &m, &r));
    CHECK(m == MPI_MESSAGE_NULL);
}

static void refused(MPI_Datatype t, int nobody)
{
    MPI_Request r;
    MPI_Status s;
    MPI_Message m = MPI_MESSAGE_NO_PROC;
    CHECK_ERR(MPI_Send(x, 1, t, nobody, 0, comm), MPI_ERR_TYPE);
    CHECK_SAYS("datatype is MPI_DATATYPE_NULL");
    CHECK_ERR(MPI_Recv(x, 1, t, nobody, 0, comm, &s), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Irecv(x, 1, t, nobody, 0, comm, &r), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Mrecv(x, 1, t, &m, &s), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Send(x, 0, t, 0, 0, comm), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Recv(x, 0, t, 0, 0, comm, &s), MPI_ERR_TYPE);
    CHECK_SAYS("datatype is MPI_DATATYPE_NULL");
    CHECK_ERR(MPI_Sendrecv(x, 0, t, 0, 0, x, 0, t, nobody, 0, comm, &s), MPI_ERR_TYPE);
    CHECK_SAYS("sendtype");
    CHECK_ERR(MPI_Sendrecv(x, 0, t, nobody, 0, x, 0, t, 0, 0, comm, &s), MPI_ERR_TYPE);
    CHECK_SAYS("recvtype");
    CHECK_ERR(MPI_Sendrecv_replace(x, 0, t, nobody, 0, 0, 0, comm, &s), MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    comm = MPI_COMM_WORLD;
    taken(MPI_DATATYPE_NULL, MPI_PROC_NULL);
    refused(MPI_DATATYPE_NULL, MPI_PROC_NULL);
    return check_done();
}
