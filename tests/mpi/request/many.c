/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* timeout: 60 */
/* 100,000 requests at once, completed by every form that takes many; the time grows with their number. */
#include "check.h"

enum { MANY = 100000 };
static int in[MANY], out[MANY];
static MPI_Request r[2 * MANY];
static int indices[2 * MANY];

static double exchange(int n, int how, int reverse)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, left = 2 * n,
        k = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &r[k++]);
    for (int i = 0; i < n; i++) {
        int j = reverse ? n - 1 - i : i;
        out[j] = j + check_rank;
        MPI_Isend(&out[j], 1, MPI_INT, to, j, MPI_COMM_WORLD, &r[k++]);
    }
    if (how == 0)
        MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
    for (int flag = 0; how == 1 && !flag;)
        MPI_Testall(k, r, &flag, MPI_STATUSES_IGNORE);
    while (how == 2 && left > 0) {
        int done = 0;
        MPI_Waitsome(k, r, &done, indices, MPI_STATUSES_IGNORE);
        left -= done;
    }
    for (int i = 0, index = -1, flag = 1; how >= 3 && i < k; i += flag) {
        if (how == 3)
            MPI_Waitany(k, r, &index, MPI_STATUS_IGNORE);
        else
            MPI_Testany(k, r, &index, &flag, MPI_STATUS_IGNORE);
        if (flag)
            CHECK(index >= 0 && index < k && r[index] == MPI_REQUEST_NULL, "index %d", index);
    }
    double seconds = MPI_Wtime() - start;
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i], i + from);
        in[i] = -1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds;
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    exchange(1000, 0, 0);
    double small = exchange(MANY / 10, 0, 1), large = exchange(MANY, 0, 1);
    CHECK(large < 100 * small + 1.0, "10,000 requests took %.3f s, 100,000 took %.3f s", small, large);
    exchange(MANY / 5, 1, 0);
    int n = check_size <= 2 ? MANY : MANY / 5;
    exchange(n, 2, 1);
    exchange(n, 3, 1); /* calls that look at all of them each time would take minutes */
    exchange(n, 4, 0);
    return check_done();
}
