/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* No partitions ("Communication Initialization and Starting with Partitioning": a nonnegative number): both sides
 * complete without MPI_Pready, also where the other side divides no bytes into some; rounds follow each other. */
#include "check.h"

static void round_trip(int to, int from, int ours, int theirs)
{
    MPI_Request r[2];
    MPI_Status s[2];
    CHECK_ERR(MPI_Psend_init(NULL, ours, 0, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]),
              MPI_SUCCESS);
    CHECK_ERR(MPI_Precv_init(NULL, theirs, 0, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]),
              MPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        CHECK_ERR(MPI_Startall(2, r), MPI_SUCCESS);
        if (ours > 0)
            MPI_Pready_range(0, ours - 1, r[0]);
        CHECK_ERR(MPI_Waitall(2, r, s), MPI_SUCCESS);
        int n = -1;
        MPI_Get_count(&s[1], MPI_INT, &n);
        CHECK_EQ(n, 0);
        CHECK_EQ(s[1].MPI_SOURCE, from);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void refused(void)
{
    int flag = -1, data = 0;
    MPI_Request s, r;
    MPI_Psend_init(&data, 0, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(&data, 0, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    CHECK_ERR(MPI_Parrived(r, 0, &flag), MPI_ERR_ARG);
    CHECK_SAYS("partition is 0; the request has no partitions");
    CHECK_ERR(MPI_Start(&s), MPI_SUCCESS);
    CHECK_ERR(MPI_Start(&r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    round_trip(to, from, 0, 0);
    round_trip(to, from, 0, 4);
    round_trip(to, from, 4, 0);
    refused();
    return check_done();
}
