/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* Messages of derived types to ranks that have not come to MPI_Init yet: they wait for them, and none is lost; a
 * message that fits a packet does not wait. */
#include <unistd.h>
#include "check.h"

enum { N = 100000, SMALL = 30 };
static double out[2 * N], in[2 * N];

static MPI_Datatype every_other(int n)
{
    MPI_Datatype t;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    return t;
}

static void take(int from, int n, MPI_Datatype t, int tag)
{
    int wrong = 0;
    memset(in, 0, sizeof in);
    MPI_Recv(in, 1, t, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * n; i++)
        wrong += in[i] != (i % 2 ? 0 : i + 1);
    CHECK_EQ(wrong, 0, "doubles of message %d", tag);
}

int main(int argc, char **argv)
{
    const char *of_job = getenv("KEEL_RANK");
    MPI_Request r;
    if (of_job && atoi(of_job) % 2)
        usleep(300000);
    check_init(&argc, &argv);
    MPI_Datatype small = every_other(SMALL), large = every_other(N);
    for (int i = 0; i < 2 * N; i++)
        out[i] = i + 1;
    if (check_rank % 2 == 0) {
        MPI_Send(out, 1, small, check_rank + 1, 1, MPI_COMM_WORLD);
        MPI_Isend(out, 1, large, check_rank + 1, 2, MPI_COMM_WORLD, &r);
        MPI_Send(out, 1, small, check_rank + 1, 3, MPI_COMM_WORLD);
        MPI_Ssend(out, 1, large, check_rank + 1, 4, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        take(check_rank - 1, SMALL, small, 3);
        take(check_rank - 1, SMALL, small, 1);
        take(check_rank - 1, N, large, 2);
        take(check_rank - 1, N, large, 4);
    }
    MPI_Type_free(&small);
    MPI_Type_free(&large);
    return check_done();
}
