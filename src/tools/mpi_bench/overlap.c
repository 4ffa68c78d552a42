/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the time of a transfer is hidden behind work that is done between its start and its MPI_Wait.
 *
 * The transfer alone takes t; work of about t takes w; both together take s. Hidden: (t + w - s) of the lesser of
 * t and w. */
#include <stdlib.h>
#include "bench.h"

enum { TAG = 1, ANSWER = 2 };
static const MPI_Comm world = MPI_COMM_WORLD;
static double steps_a_second, work_seconds;
static volatile double sink;

static void steps(long n)
{
    double x = 0;
    for (long i = 0; i < n; i++)
        x += 1.0 / (double)(i + 1);
    sink = x;
}

static void overlap_work(void)
{
    steps((long)(work_seconds * steps_a_second));
}
static void work_alone(long n)
{
    (void)n;
    overlap_work();
}

static void learn_speed(void)
{
    double start, best = 1e9, took;
    for (int i = 0; i < 5; i++) {
        start = MPI_Wtime();
        steps(100000);
        took = MPI_Wtime() - start;
        best = took < best ? took : best;
    }
    steps_a_second = 100000 / best;
    MPI_Bcast(&steps_a_second, 1, MPI_DOUBLE, 0, world);
}

static void overlap_finish(MPI_Request *r)
{
    overlap_work();
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void isend(long n)
{
    MPI_Request r;
    if (rank == 0) {
        MPI_Isend(a, (int)n, MPI_CHAR, 1, TAG, world, &r);
        overlap_finish(&r);
        MPI_Recv(b, 0, MPI_CHAR, 1, ANSWER, world, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(b, (int)n, MPI_CHAR, 0, TAG, world, MPI_STATUS_IGNORE);
        MPI_Send(a, 0, MPI_CHAR, 0, ANSWER, world);
    }
}
static void irecv(long n)
{
    MPI_Request r;
    if (rank == 0) {
        MPI_Irecv(b, (int)n, MPI_CHAR, 1, TAG, world, &r);
        MPI_Send(a, 0, MPI_CHAR, 1, ANSWER, world);
        overlap_finish(&r);
    } else if (rank == 1) {
        MPI_Recv(b, 0, MPI_CHAR, 0, ANSWER, world, MPI_STATUS_IGNORE);
        MPI_Send(a, (int)n, MPI_CHAR, 0, TAG, world);
    }
}
static void ibcast(long n)
{
    MPI_Request r;
    MPI_Ibcast(a, (int)n, MPI_CHAR, 0, world, &r);
    overlap_finish(&r);
}
static void iallgather(long n)
{
    MPI_Request r;
    MPI_Iallgather(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world, &r);
    overlap_finish(&r);
}
static void ialltoall(long n)
{
    MPI_Request r;
    MPI_Ialltoall(a, (int)n, MPI_CHAR, b, (int)n, MPI_CHAR, world, &r);
    overlap_finish(&r);
}
static void iallreduce(long n)
{
    MPI_Request r;
    MPI_Iallreduce(a, b, (int)(n / 8), MPI_DOUBLE, MPI_SUM, world, &r);
    overlap_finish(&r);
}

static void hidden(const struct test *t, long n)
{
    enum { TIMES = 3 };
    double percent[TIMES], third = point_time() / TIMES / 3;
    learn_speed();
    for (int i = 0; i < TIMES; i++) {
        work_seconds = 0;
        double alone = seconds_a_round(t->round, n, third, 0);
        work_seconds = alone;
        double worked = seconds_a_round(work_alone, n, third, 0),
               both = seconds_a_round(t->round, n, third, 0);
        double less = alone < worked ? alone : worked, share = (alone + worked - both) / less * 100;
        percent[i] = share < 0 ? 0 : share > 100 ? 100 : share;
    }
    report(t, t->name, n, percent, TIMES);
}

static size_t room_of_blocks(long n)
{
    return (size_t)n * (size_t)size;
}

#define ROW(name_, ranks_, least_, round_, about_) \
    .group = "overlap", .name = name_, .unit = "%", .least = least_, .least_ranks = ranks_, .round = round_, \
    .run = hidden, .room = room_of_blocks, .about = about_
static const struct test rows[] = {
    { ROW("overlap_isend", 2, 1, isend, "of MPI_Isend to a rank that waits in MPI_Recv") },
    { ROW("overlap_irecv", 2, 1, irecv, "of MPI_Irecv from a rank in MPI_Send") },
    { ROW("overlap_ibcast", 2, 1, ibcast, "of MPI_Ibcast, all ranks work") },
    { ROW("overlap_iallgather", 2, 1, iallgather, "of MPI_Iallgather, all ranks work") },
    { ROW("overlap_ialltoall", 2, 1, ialltoall, "of MPI_Ialltoall, all ranks work") },
    { ROW("overlap_iallreduce", 2, 8, iallreduce, "of MPI_Iallreduce, all ranks work") },
};
const struct table overlap_tests = { rows, sizeof rows / sizeof *rows };
