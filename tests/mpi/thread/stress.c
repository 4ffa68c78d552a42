/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that send, receive, probe, wait and call collectives, each on a communicator of its own and all on one. */
/* ranks: 1 2 4 */
/* cflags: -pthread */
/* args: 4 40 */
/* across: devices differ in what may run at once */
#include "thread.h"

enum { MANY = 16, LONG = 200000 };

static int rounds = 40;

static int right(void)
{
    return (check_rank + 1) % check_size;
}
static int left(void)
{
    return (check_rank + check_size - 1) % check_size;
}

/* The value that the thread with this number sends from that rank in a round. */
static int value(int rank, int id, int round, int i)
{
    return ((rank * 64 + id) * 1000 + round) * 64 + i;
}

static void ring(struct thread *me, MPI_Comm comm, int tag, int round)
{
    int out = value(check_rank, me->id, round, 0), in = -1;
    MPI_Status s;
    MPI_Sendrecv(&out, 1, MPI_INT, right(), tag, &in, 1, MPI_INT, left(), tag, comm, &s);
    THREAD_CHECK(in == value(left(), me->id, round, 0), "%d from %d", in, s.MPI_SOURCE);
}

static void many(struct thread *me, MPI_Comm comm, int tag, int round, int way)
{
    int out[MANY], in[MANY], done = 0, at, n, where[2 * MANY];
    MPI_Request r[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = value(check_rank, me->id, round, i);
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left(), tag, comm, &r[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&out[i], 1, MPI_INT, right(), tag, comm, &r[MANY + i]);
    switch (way % 4) {
    case 0:
        MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (; done < 2 * MANY; done++)
            MPI_Waitany(2 * MANY, r, &at, MPI_STATUS_IGNORE);
        break;
    case 2:
        for (; done < 2 * MANY; done += n)
            MPI_Waitsome(2 * MANY, r, &n, where, MPI_STATUSES_IGNORE);
        break;
    default:
        while (!done)
            MPI_Testall(2 * MANY, r, &done, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < MANY; i++)
        THREAD_CHECK(in[i] == value(left(), me->id, round, i), "%d instead of number %d of round %d", in[i],
                     i, round);
}

static void probes(struct thread *me, MPI_Comm comm, int tag, int round)
{
    int out = value(check_rank, me->id, round, 1), in = -1, n;
    MPI_Request r;
    MPI_Message m;
    MPI_Status s;
    MPI_Isend(&out, 1, MPI_INT, right(), tag, comm, &r);
    if (round % 2) {
        MPI_Probe(left(), tag, comm, &s);
        MPI_Recv(&in, 1, MPI_INT, left(), tag, comm, &s);
    } else {
        MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &m, &s);
        MPI_Mrecv(&in, 1, MPI_INT, &m, &s);
    }
    MPI_Get_count(&s, MPI_INT, &n);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    THREAD_CHECK(in == value(left(), me->id, round, 1) && n == 1, "%d, %d of them", in, n);
}

static void lengthy(struct thread *me, MPI_Comm comm, int tag, int round)
{
    int n = 1 + (int)(((uint32_t)round * 7919u) % LONG);
    int *out = malloc(sizeof(int) * LONG), *in = malloc(sizeof(int) * LONG), wrong = 0;
    MPI_Request r[2];
    for (int i = 0; i < n; i++) {
        out[i] = value(check_rank, me->id, round, i);
        in[i] = -1;
    }
    MPI_Irecv(in, LONG, MPI_INT, left(), tag, comm, &r[0]);
    MPI_Isend(out, n, MPI_INT, right(), tag, comm, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        wrong += in[i] != value(left(), me->id, round, i);
    THREAD_CHECK(wrong == 0, "%d of %d", wrong, n);
    free(out);
    free(in);
}

static void collectives(struct thread *me, int round)
{
    int mine = value(check_rank, me->id, round, 0), sum = 0, expect = 0, root = round % check_size, b;
    int all[64];
    MPI_Request r[2];
    for (int i = 0; i < check_size; i++)
        expect += value(i, me->id, round, 0);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, me->comm);
    THREAD_CHECK(sum == expect, "%d, not %d", sum, expect);
    b = check_rank == root ? mine : -1;
    MPI_Bcast(&b, 1, MPI_INT, root, me->comm);
    THREAD_CHECK(b == value(root, me->id, round, 0), "%d", b);
    MPI_Barrier(me->comm);
    sum = 0;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, me->comm, &r[0]);
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, me->comm, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    THREAD_CHECK(sum == expect && all[root] == b, "%d, not %d; %d, not %d", sum, expect, all[root], b);
}

static void work(struct thread *me)
{
    for (int round = 0; round < rounds; round++) {
        ring(me, me->comm, 7, round);
        ring(me, MPI_COMM_WORLD, me->id, round);
        many(me, me->comm, 8, round, round);
        many(me, MPI_COMM_WORLD, me->id, round, round / 4);
        probes(me, me->comm, 9, round);
        if (round % 8 == me->id % 8)
            lengthy(me, round % 16 < 8 ? me->comm : MPI_COMM_WORLD, me->id, round);
        collectives(me, round);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2)
        rounds = atoi(argv[2]);
    threads_run(&argc, &argv, work, argc > 1 ? atoi(argv[1]) : 4);
    return check_done();
}
