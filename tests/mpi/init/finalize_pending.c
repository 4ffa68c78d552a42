/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* across: what is sent last has to leave before a rank ends */
/* Messages of all kinds that were sent, buffered or let go before MPI_Finalize arrive at a rank that receives
 * late. */
#include <unistd.h>
#include "check.h"

enum { BIG = 3 << 20, SMALL = 40, MANY = 50 };

static void give(int to)
{
    static char attached[BIG + 64 * 1024 + MPI_BSEND_OVERHEAD * 4];
    static char big[BIG], one[SMALL];
    MPI_Request r;
    check_fill(big, BIG, 1);
    for (int i = 0; i < MANY; i++) {
        check_fill(one, SMALL, (uint64_t)i);
        MPI_Send(one, SMALL, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    }
    MPI_Isend(big, BIG, MPI_CHAR, to, 1, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    CHECK(r == MPI_REQUEST_NULL, " ");
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Bsend(big, BIG, MPI_CHAR, to, 2, MPI_COMM_WORLD);
}

static void take(int from)
{
    char *big = malloc(BIG), one[SMALL];
    usleep(200000);
    for (int tag = 2; tag; tag--) {
        memset(big, 0, BIG);
        MPI_Recv(big, BIG, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_BYTES(big, BIG, 1);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Recv(one, SMALL, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_BYTES(one, SMALL, (uint64_t)i);
    }
    free(big);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    int partner = check_rank ^ 1;
    if (check_rank % 2 == 0 && partner < check_size)
        give(partner);
    else if (partner < check_size)
        take(partner);
    return check_done();
}
