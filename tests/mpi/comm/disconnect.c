/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* MPI_Comm_disconnect: what was buffered, and what was freed under way, has left when it returns. */
#include "../check.h"

enum { BIG = 1 << 21 };
static char out[BIG], in[BIG];

static void pending(MPI_Comm comm)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    MPI_Request r[2], sent;
    memset(out, check_rank + 1, BIG);
    MPI_Irecv(in, BIG, MPI_CHAR, left, 0, comm, &r[0]);
    MPI_Isend(out, BIG, MPI_CHAR, right, 0, comm, &sent);
    MPI_Request_free(&sent);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], left + 1);
    CHECK_EQ(in[BIG - 1], left + 1);
    if (check_rank % 2 == 0 && check_rank + 1 < check_size)
        MPI_Bsend(out, BIG, MPI_CHAR, right, 1, comm);
    if (check_rank % 2 == 1) {
        MPI_Recv(in, BIG, MPI_CHAR, left, 1, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(in[BIG - 1], left + 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < 5; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        pending(comm);
        CHECK_EQ(MPI_Comm_disconnect(&comm), MPI_SUCCESS);
        CHECK(comm == MPI_COMM_NULL);
        memset(out, 77, BIG); /* it has been sent */
    }
    void *p;
    int size;
    MPI_Buffer_detach(&p, &size);
    CHECK_ERR(MPI_Comm_disconnect(&null), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_disconnect(&world), MPI_ERR_COMM);
    return check_done();
}
