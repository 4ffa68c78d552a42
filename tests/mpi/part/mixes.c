/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 */
/* Partitioned requests among others: all ranks with all, every way to complete them, MPI_PROC_NULL, an
 * intercommunicator, progress while the process waits for something else. */
#include "check.h"

enum { N = 6, MAX = 8 };

/* Ranks send to all, themselves included, with as many partitions as the receiver's rank says. */
static void all_to_all(int way)
{
    static int out[MAX][N * MAX], in[MAX][N * MAX];
    int n = check_size, count, list[2 * MAX], seen = 0, flag, k;
    MPI_Request r[2 * MAX];
    MPI_Status st[2 * MAX];
    for (int p = 0; p < n; p++) {
        int mine = N * (check_rank + 1);
        for (int i = 0; i < N * MAX; i++)
            out[p][i] = 10000 * check_rank + 1000 * p + i;
        MPI_Psend_init(out[p], p + 1, N, MPI_INT, p, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[p]);
        MPI_Precv_init(in[p], N, mine / N, MPI_INT, p, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n + p]);
    }
    MPI_Startall(2 * n, r);
    MPI_Request_get_status(r[n + check_rank], &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0, "nothing was sent to itself");
    for (int i = 0; i < n; i++)
        for (int p = i; p < n; p++)
            MPI_Pready(i, r[p]);
    while (seen < 2 * n) {
        if (way == 0) {
            MPI_Waitany(2 * n, r, &k, st);
            count = 1;
            list[0] = k;
        } else if (way == 1)
            MPI_Testsome(2 * n, r, &count, list, st);
        else if (way == 2)
            MPI_Waitsome(2 * n, r, &count, list, st);
        else {
            MPI_Testany(2 * n, r, &k, &flag, st);
            count = flag;
            list[0] = k;
        }
        for (int i = 0; i < count; i++)
            if (list[i] >= n) {
                CHECK_EQ(st[i].MPI_SOURCE, list[i] - n);
                MPI_Get_count(&st[i], MPI_INT, &k);
                CHECK_EQ(k, N * (check_rank + 1));
            }
        seen += count;
    }
    MPI_Waitany(2 * n, r, &k, st);
    CHECK_EQ(k, MPI_UNDEFINED, "all are inactive");
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < N * (check_rank + 1); i++)
            CHECK_EQ(in[p][i], 10000 * p + 1000 * check_rank + i);
        MPI_Request_free(&r[p]);
        MPI_Request_free(&r[n + p]);
    }
}

static void nobody(void)
{
    int buf[4] = { 1, 2, 3, 4 }, flag;
    MPI_Request s, r;
    MPI_Status st;
    MPI_Psend_init(buf, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(buf, 2, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&s);
        MPI_Start(&r);
        MPI_Pready_range(0, 2, s);
        MPI_Test(&s, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0, "one is not ready");
        MPI_Pready(3, s);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Parrived(r, 1, &flag);
        CHECK_EQ(flag, 1);
        MPI_Wait(&r, &st);
        CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQ(st.MPI_TAG, MPI_ANY_TAG);
        CHECK_EQ(buf[0], 1);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

/* Long partitions are taken while their receiver waits for a message that comes after. */
static void progress(void)
{
    enum { LONG = 300000 };
    static char out[3 * LONG], in[3 * LONG];
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, token = 0;
    MPI_Request r[2], late;
    MPI_Psend_init(out, 3, LONG, MPI_CHAR, to, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 3, LONG, MPI_CHAR, from, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    check_fill(out, sizeof out, (uint64_t)check_rank);
    MPI_Startall(2, r);
    for (int i = 2; i >= 0; i--)
        MPI_Pready(i, r[0]);
    if (check_rank == 0) {
        MPI_Irecv(&token, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &late);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
        MPI_Wait(&late, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&token, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    }
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    CHECK_BYTES(in, sizeof in, (uint64_t)from);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* Between the two halves of the job: each rank with the one of the same place on the other side. */
static void between(void)
{
    int half = check_size / 2, side = check_rank >= half, out[N], in[N];
    MPI_Comm local, inter;
    MPI_Request r[2];
    if (half == 0)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank < 2 * half ? side : MPI_UNDEFINED, 0, &local);
    if (local == MPI_COMM_NULL)
        return;
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : half, 5, &inter);
    MPI_Psend_init(out, N, 1, MPI_INT, check_rank % half, 4, inter, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 2, N / 2, MPI_INT, check_rank % half, 4, inter, MPI_INFO_NULL, &r[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, r);
        for (int i = 0; i < N; i++) {
            out[i] = 100 * check_rank + 10 * round + i;
            MPI_Pready(i, r[0]);
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            CHECK_EQ(in[i], 100 * (side ? check_rank - half : check_rank + half) + 10 * round + i);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int way = 0; way < 4; way++)
        all_to_all(way);
    nobody();
    progress();
    between();
    return check_done();
}
