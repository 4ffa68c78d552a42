/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits on a communicator when another member revokes it ends, whatever it is; a persistent request cannot be
 * started any more, and all can be freed. */
/* ranks: 2 5 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
#include "ft.h"
#include <time.h>

enum { LONG = 300000, WAYS = 13 };
static int data[LONG], more[LONG];

/* Begin one that waits for ever: *r, or else the call itself waits. */
static int begin(int way, MPI_Comm comm, MPI_Request *r)
{
    MPI_Message message;
    *r = MPI_REQUEST_NULL;
    switch (way) {
    case 0:
        return MPI_Recv(data, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    case 1:
        return MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    case 2:
        return MPI_Send(data, LONG, MPI_INT, 0, 1, comm);
    case 3:
        return MPI_Ssend(data, 1, MPI_INT, 0, 1, comm);
    case 4:
        return MPI_Probe(0, 1, comm, MPI_STATUS_IGNORE);
    case 5:
        return MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, MPI_STATUS_IGNORE);
    case 6:
        return MPI_Barrier(comm);
    case 7:
        return MPI_Allreduce(data, more, LONG, MPI_INT, MPI_SUM, comm);
    case 8:
        return MPI_Irecv(data, LONG, MPI_INT, MPI_ANY_SOURCE, 1, comm, r);
    case 9:
        return MPI_Isend(data, LONG, MPI_INT, 0, 1, comm, r);
    case 10:
        return MPI_Iallreduce(data, more, LONG, MPI_INT, MPI_SUM, comm, r);
    case 11:
        CHECK_ERR(MPI_Recv_init(data, 1, MPI_INT, 0, 1, comm, r), MPI_SUCCESS);
        return MPI_Start(r);
    default:
        CHECK_ERR(MPI_Precv_init(data, 4, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, r), MPI_SUCCESS);
        return MPI_Start(r);
    }
}

static void waits(int way, MPI_Comm comm)
{
    MPI_Request r;
    int err = begin(way, comm, &r);
    if (way >= 8) {
        CHECK_ERR(err, MPI_SUCCESS);
        CHECK_ERR(MPI_Send(&way, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        err = MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (ft_class(err) != MPIX_ERR_REVOKED)
        CHECK_EQ(ft_class(err), MPIX_ERR_REVOKED, "way %d", way);
    if (way >= 11) {
        err = MPI_Start(&r); /* the error of it, or of the wait */
        CHECK_ERR(err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
        CHECK_ERR(MPI_Request_free(&r), MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    for (int way = 0; way < WAYS; way++) {
        MPI_Comm comm;
        CHECK_ERR(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
        if (check_rank == 0) {
            struct timespec t = { 0, 20 * 1000000L };
            nanosleep(&t, NULL); /* the others wait by now, or do so later */
            for (int r = 1, v; r < check_size && way >= 8; r++)
                CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK_ERR(MPIX_Comm_revoke(comm), MPI_SUCCESS);
        } else {
            waits(way, comm);
        }
        CHECK_ERR(MPI_Comm_free(&comm), MPI_SUCCESS);
    }
    CHECK_ERR(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    return check_done();
}
