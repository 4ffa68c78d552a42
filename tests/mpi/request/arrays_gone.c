/* SPDX-License-Identifier: BSD-3-Clause */
/* A program overwrites and unmaps the arrays that it gave to MPI_Startall, to the calls that wait or test for some
 * of several requests, and to MPI_Pready_list, as soon as each has returned; the rest of the requests go on in
 * another array. */
/* ranks: 1 2 3 */
/* across: what is under way is told elsewhere */
#include <sys/mman.h>
#include "../check.h"

enum { N = 20, LENGTH = 3000, PARTS = 40 };

static int in[N][LENGTH], out[N][LENGTH], to, from;
static MPI_Request kept[2 * N];

static void *pages(const void *array, size_t bytes)
{
    void *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    memcpy(p, array, bytes);
    return p;
}

static void gone(void *p, size_t bytes)
{
    memset(p, 0x3b, bytes);
    munmap(p, bytes + 1);
}

/* The requests in an array of their own, and back to `kept`. */
static MPI_Request *lend(void)
{
    return pages(kept, sizeof kept);
}

static void return_from(MPI_Request *r)
{
    memcpy(kept, r, sizeof kept);
    gone(r, sizeof kept);
}

static int value(int rank, int i, int k, int round)
{
    return rank * 1000000 + i * 1000 + k % 999 + round;
}

static void begin_round(int round)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < LENGTH; k++) {
            out[i][k] = value(check_rank, i, k, round);
            in[i][k] = -1;
        }
    MPI_Request *r = lend();
    MPI_Startall(2 * N, r);
    return_from(r);
}

static void check_round(int round)
{
    int bad = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < LENGTH; k++)
            bad += in[i][k] != value(from, i, k, round);
    CHECK_EQ(bad, 0, "round %d", round);
}

/* Until all are over, by one call after the other. */
static void finish_some(int (*call)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    for (int done = 0; done < 2 * N;) {
        int count = 0, none[2 * N] = { 0 }, *indices = pages(none, sizeof none);
        MPI_Status nothing[2 * N] = { 0 }, *s = pages(nothing, sizeof nothing);
        MPI_Request *r = lend();
        call(2 * N, r, &count, indices, s);
        return_from(r);
        gone(indices, sizeof none);
        gone(s, sizeof nothing);
        done += count;
        if (count < 0 || count > 2 * N)
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
}

static void finish_each(int tests)
{
    for (int done = 0; done < 2 * N;) {
        int index = -1, flag = 1;
        MPI_Request *r = lend();
        if (tests)
            MPI_Testany(2 * N, r, &index, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Waitany(2 * N, r, &index, MPI_STATUS_IGNORE);
        return_from(r);
        done += flag && index != MPI_UNDEFINED;
    }
}

static void finish(int how)
{
    int flag = 0;
    switch (how) {
    case 0:
        finish_some(MPI_Waitsome);
        break;
    case 1:
        finish_some(MPI_Testsome);
        break;
    case 2:
    case 3:
        finish_each(how == 3);
        break;
    default:
        while (!flag) {
            MPI_Request *r = lend();
            MPI_Testall(2 * N, r, &flag, MPI_STATUSES_IGNORE);
            return_from(r);
        }
    }
}

static void try_requests(void)
{
    for (int i = 0; i < N; i++) {
        MPI_Recv_init(in[i], LENGTH, MPI_INT, from, i, MPI_COMM_WORLD, &kept[i]);
        MPI_Send_init(out[i], LENGTH, MPI_INT, to, i, MPI_COMM_WORLD, &kept[N + i]);
    }
    for (int how = 0; how < 5; how++) {
        begin_round(how);
        finish(how);
        check_round(how);
    }
    for (int i = 0; i < 2 * N; i++)
        MPI_Request_free(&kept[i]);
}

static void try_parts(void)
{
    MPI_Request r[2];
    int list[PARTS];
    MPI_Precv_init(in, PARTS, 10, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Psend_init(out, PARTS, 10, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    for (int i = 0; i < PARTS; i++)
        list[i] = (i * 7 + 3) % PARTS;
    for (int i = 0; i < PARTS * 10; i++)
        out[0][i] = value(check_rank, 0, i, 0);
    int *given = pages(list, sizeof list);
    MPI_Pready_list(PARTS, given, r[1]);
    gone(given, sizeof list);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    int bad = 0;
    for (int i = 0; i < PARTS * 10; i++)
        bad += in[0][i] != value(from, 0, i, 0);
    CHECK_EQ(bad, 0);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    try_requests();
    try_parts();
    return check_done();
}
