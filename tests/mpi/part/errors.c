/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* What must not be done with partitioned requests, and the words of it. */
#include "check.h"

static MPI_Request psend(int partitions, int count)
{
    static char buf[1000];
    MPI_Request r = MPI_REQUEST_NULL;
    CHECK_ERR(
        MPI_Psend_init(buf, partitions, count, MPI_CHAR, check_rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
        MPI_SUCCESS);
    return r;
}

static MPI_Request precv(int partitions, int count)
{
    static char buf[1000];
    MPI_Request r = MPI_REQUEST_NULL;
    CHECK_ERR(
        MPI_Precv_init(buf, partitions, count, MPI_CHAR, check_rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
        MPI_SUCCESS);
    return r;
}

static void making(void)
{
    char buf[8] = "";
    MPI_Request r;
    const MPI_Comm w = MPI_COMM_WORLD;
    CHECK_ERR(MPI_Psend_init(buf, -1, 1, MPI_CHAR, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    CHECK_SAYS("partitions is -1; expected 0 or more");
    CHECK_ERR(MPI_Precv_init(buf, -1, 1, MPI_CHAR, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Psend_init_c(buf, -3, 1, MPI_CHAR, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    CHECK_SAYS("partitions is -3");
    CHECK_ERR(MPI_Precv_init_c(buf, 2, -1, MPI_CHAR, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Psend_init_c(buf, 1 << 30, (MPI_Count)1 << 40, MPI_CHAR, 0, 1, w, MPI_INFO_NULL, &r),
              MPI_ERR_COUNT);
    CHECK_SAYS("more than 2^62");
    CHECK_ERR(MPI_Precv_init(buf, 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 1, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    CHECK_ERR(MPI_Precv_init(buf, 1, 1, MPI_CHAR, 0, MPI_ANY_TAG, w, MPI_INFO_NULL, &r), MPI_ERR_TAG);
    CHECK_ERR(MPI_Psend_init(buf, 1, 1, MPI_CHAR, check_size, 1, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    CHECK_ERR(MPI_Psend_init(NULL, 1, 1, MPI_CHAR, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_BUFFER);
}

static void out_of_turn(void)
{
    static const int twice[] = { 5, 6, 5 }, beyond[] = { 0, 10 };
    MPI_Request s = psend(10, 2), r = precv(4, 5), plain;
    int flag;
    CHECK_ERR(MPI_Pready(0, s), MPI_ERR_REQUEST);
    CHECK_SAYS("inactive");
    CHECK_ERR(MPI_Pready_range(0, 1, s), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Pready_list(2, twice, s), MPI_ERR_REQUEST);
    MPI_Start(&s);
    MPI_Start(&r);
    CHECK_ERR(MPI_Start(&s), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Pready(-1, s), MPI_ERR_ARG);
    CHECK_SAYS("partition is -1; expected 0 to 9");
    CHECK_ERR(MPI_Pready(10, s), MPI_ERR_ARG);
    CHECK_ERR(MPI_Pready_range(8, 10, s), MPI_ERR_ARG);
    CHECK_SAYS("partition_high is 10");
    CHECK_ERR(MPI_Pready_range(4, 2, s), MPI_ERR_ARG);
    CHECK_ERR(MPI_Pready_list(3, twice, s), MPI_ERR_ARG);
    CHECK_SAYS("array_of_partitions[2] is 5, which is ready already");
    CHECK_ERR(MPI_Pready_list(2, beyond, s), MPI_ERR_ARG);
    CHECK_SAYS("array_of_partitions[1] is 10");
    CHECK_ERR(MPI_Pready(3, s), MPI_SUCCESS);
    CHECK_ERR(MPI_Pready(3, s), MPI_ERR_ARG);
    CHECK_SAYS("partition is 3, which is ready already");
    CHECK_ERR(MPI_Pready_range(0, 9, s), MPI_ERR_ARG);
    CHECK_SAYS("of which 3 is ready already");
    CHECK_ERR(MPI_Pready(0, r), MPI_ERR_REQUEST);
    CHECK_SAYS("a partitioned receive");
    CHECK_ERR(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
    CHECK_SAYS("a partitioned send");
    CHECK_ERR(MPI_Parrived(r, 4, &flag), MPI_ERR_ARG);
    CHECK_SAYS("partition is 4; expected 0 to 3");
    CHECK_ERR(MPI_Parrived(r, -1, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPI_Cancel(&s), MPI_ERR_REQUEST);
    CHECK_SAYS("cannot be cancelled");
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Request_free(&s), MPI_ERR_REQUEST);
    CHECK_SAYS("1 of 10 partitions");
    CHECK_ERR(MPI_Request_free(&r), MPI_ERR_REQUEST);
    /* none of this has done anything */
    CHECK_ERR(MPI_Pready_range(0, 2, s), MPI_SUCCESS);
    CHECK_ERR(MPI_Pready_range(4, 9, s), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(MPI_Pready(0, s), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Request_free(&s), MPI_SUCCESS);
    CHECK_ERR(MPI_Request_free(&r), MPI_SUCCESS);
    MPI_Send_init(&flag, 1, MPI_INT, check_rank, 9, MPI_COMM_WORLD, &plain);
    CHECK_ERR(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    CHECK_SAYS("not partitioned");
    CHECK_ERR(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
    MPI_Request_free(&plain);
}

/* All that was sent is dropped, and the next messages are whole: a round after the error fails likewise. */
static void lengths(int ns, int cs, int nr, int cr, int at_once)
{
    MPI_Request s = psend(ns, cs), r = precv(nr, cr);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&r);
        MPI_Start(&s);
        if (at_once)
            MPI_Pready_range(0, ns - 1, s);
        else
            for (int i = 0; i < ns; i++)
                MPI_Pready(i, s);
        CHECK_ERR(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        char words[100];
        snprintf(words, sizeof words, "have %d bytes in all, those of the receive have %d", ns * cs, nr * cr);
        CHECK_SAYS(words);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    making();
    out_of_turn();
    for (int at_once = 0; at_once < 2; at_once++) {
        lengths(4, 7, 5, 5, at_once);
        lengths(5, 5, 4, 6, at_once);
        lengths(1, 100, 10, 9, at_once);
        lengths(3, 1, 2, 0, at_once);
    }
    out_of_turn();
    return check_done();
}
