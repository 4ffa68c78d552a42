/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Partitioned messages around a ring (a process alone sends to itself): any numbers of partitions on the two
 * sides, any size of them, made ready in any order, several rounds. */
#include "check.h"

enum { ROUNDS = 3, ORDERS = 6 };
static int to, from;

/* Make all n partitions ready. */
static void make_ready(MPI_Request r, int n, int order)
{
    int *list = malloc((size_t)n * sizeof *list);
    for (int i = 0; i < n; i++)
        list[i] = (int)((long long)i * 7919 % n); /* 7919 is a prime: all of them, mixed */
    switch (order) {
    case 0:
        CHECK_EQ(MPI_Pready_range(0, n - 1, r), MPI_SUCCESS);
        break;
    case 1:
        CHECK_EQ(MPI_Pready_list(n, list, r), MPI_SUCCESS);
        break;
    case 2:
        for (int i = 0; i < n; i++)
            CHECK_EQ(MPI_Pready(i, r), MPI_SUCCESS);
        break;
    case 3:
        for (int i = n - 1; i >= 0; i--)
            CHECK_EQ(MPI_Pready(i, r), MPI_SUCCESS);
        break;
    case 4:
        for (int i = 0; i < n; i++)
            CHECK_EQ(MPI_Pready(list[i], r), MPI_SUCCESS);
        break;
    default:
        CHECK_EQ(MPI_Pready(n - 1, r), MPI_SUCCESS);
        if (n > 2)
            CHECK_EQ(MPI_Pready_range(0, n / 2, r), MPI_SUCCESS);
        for (int i = n > 2 ? n / 2 + 1 : 0; i < n - 1; i++)
            CHECK_EQ(MPI_Pready(i, r), MPI_SUCCESS);
    }
    free(list);
}

static void check_status(const MPI_Status *s, int expected)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(s, MPI_CHAR, &count);
    MPI_Test_cancelled(s, &cancelled);
    CHECK_EQ(count, expected);
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, 3);
    CHECK_EQ(cancelled, 0);
}

static void start(MPI_Request *r, int way)
{
    if (way % 3 == 0)
        CHECK_EQ(MPI_Startall(2, r), MPI_SUCCESS);
    else {
        CHECK_EQ(MPI_Start(&r[way % 3 == 1]), MPI_SUCCESS);
        CHECK_EQ(MPI_Start(&r[way % 3 != 1]), MPI_SUCCESS);
    }
}

static void finish(MPI_Request *r, MPI_Status *s, int way)
{
    MPI_Request kept[2] = { r[0], r[1] };
    int flag = 0;
    if (way % 4 == 0)
        CHECK_EQ(MPI_Waitall(2, r, s), MPI_SUCCESS);
    else if (way % 4 == 1) {
        CHECK_EQ(MPI_Wait(&r[0], &s[0]), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r[1], &s[1]), MPI_SUCCESS);
    } else if (way % 4 == 2) {
        while (!flag)
            CHECK_EQ(MPI_Test(&r[1], &flag, &s[1]), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r[0], &s[0]), MPI_SUCCESS);
    } else
        while (!flag)
            CHECK_EQ(MPI_Testall(2, r, &flag, s), MPI_SUCCESS);
    CHECK(r[0] == kept[0] && r[1] == kept[1], "a handle changed");
}

/* ns partitions to nr: nr * unit bytes each to ns * unit bytes each. */
static void exchange(int ns, int nr, int unit)
{
    size_t total = (size_t)ns * (size_t)nr * (size_t)unit;
    unsigned char *out = calloc(total + 1, 1), *in = calloc(total + 1, 1);
    MPI_Request r[2];
    MPI_Status s[2];
    CHECK_EQ(MPI_Psend_init(out, ns, nr * unit, MPI_CHAR, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Precv_init(in, nr, ns * unit, MPI_CHAR, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]),
             MPI_SUCCESS);
    for (int order = 0; order < ORDERS; order++)
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t seed = (uint64_t)(order * 100 + i);
            check_fill(out, total, seed * 10 + (uint64_t)check_rank);
            memset(in, 0, total);
            start(r, order + i);
            make_ready(r[0], ns, order);
            finish(r, s, i + order);
            check_status(&s[1], (int)total);
            CHECK_BYTES(in, total, seed * 10 + (uint64_t)from);
        }
    CHECK_EQ(MPI_Request_free(&r[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Request_free(&r[1]), MPI_SUCCESS);
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "freed");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int shapes[][2] = { { 1, 1 },  { 4, 4 },   { 1, 7 },  { 7, 1 },    { 12, 5 },
                                     { 5, 12 }, { 13, 17 }, { 64, 2 }, { 65, 129 }, { 300, 200 } };
    static const int units[] = { 0, 1, 13, 500 };
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof units / sizeof *units; k++)
            if (shapes[i][0] * shapes[i][1] * units[k] < 1000000)
                exchange(shapes[i][0], shapes[i][1], units[k]);
    exchange(3, 2, 700000); /* partitions of more than a megabyte */
    exchange(1, 4, 300000);
    return check_done();
}
