/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Refused calls one after the other, refused by several processes, each for its own reason, and among nonblocking
 * calls that are under way: each process has its own error or that of one that refused, other calls are right, and
 * so are those after them. */
#include "refused.h"
#include <unistd.h>

enum { MANY = 12 };
static MPI_Comm comm;
static int *in = refused_in, *out = refused_out;

static void used(int times)
{
    comm = refused_fresh();
    for (int i = 0; i < times; i++)
        MPI_Barrier(comm);
}

/* One that is to end with an error that some process in the half-open range has. */
static void by_some(const char *what, int err, int refuses, int mine, int other)
{
    int errclass = -1;
    MPI_Error_class(err, &errclass);
    if (refuses)
        CHECK_EQ(errclass, mine, "%s", what);
    else
        CHECK(errclass == mine || errclass == other, "%s: class %d; expected %d or %d", what, errclass, mine,
              other);
}

/* Ranks 0 and the last refuse it, the others do not. */
static void several(int n)
{
    int first = check_rank == 0, last = check_rank == check_size - 1;
    by_some("MPI_Allreduce",
            MPI_Allreduce(in, out, first ? -1 : n, MPI_INT, last && !first ? MPI_OP_NULL : MPI_SUM, comm),
            first || last, first ? MPI_ERR_COUNT : MPI_ERR_OP, MPI_ERR_COUNT);
    refused_next(comm, n);
    CHECK_ERR(MPI_Alltoall(in, -1, MPI_INT, out, n, MPI_INT, comm), MPI_ERR_COUNT);
    refused_next(comm, n);
}

/* Many in a row, of one process or of each in turn, of which the others come late to some. */
static void in_a_row(int turns, int late)
{
    for (int k = 0; k < MANY; k++) {
        int victim = turns ? k % check_size : check_size - 1, me = check_rank == victim;
        if (late && !me)
            usleep(300);
        if (check_size > 1 || me)
            refused_named("in a row", MPI_Bcast(in, me ? -1 : 4, MPI_INT, victim, comm), MPI_ERR_COUNT,
                          victim, "MPI_Bcast", "count");
        if (check_size > 1 || me)
            refused_named("in a row",
                          MPI_Allgather(in, 1, me ? MPI_DATATYPE_NULL : MPI_INT, out, 1, MPI_INT, comm),
                          MPI_ERR_TYPE, victim, "MPI_Allgather", "sendtype");
    }
    refused_next(comm, 3);
}

/* Every third of the nonblocking calls under way is refused, each by another process; blocking ones among them. */
static void under_way(int n, int blocks)
{
    static int sums[MANY][REFUSED_MANY];
    MPI_Request r[MANY];
    for (int i = 0; i < n; i++)
        in[i] = check_rank + i;
    for (int k = 0; k < MANY; k++) {
        int me = k % 3 == 1 && k % check_size == check_rank;
        r[k] = MPI_REQUEST_NULL;
        int err = MPI_Iallreduce(in, sums[k], n, MPI_INT, me ? MPI_OP_NULL : MPI_SUM, comm, &r[k]);
        CHECK(me ? err != MPI_SUCCESS : err == MPI_SUCCESS, "call %d", k);
        if (blocks && k == MANY / 2)
            CHECK_ERR(MPI_Barrier(comm), MPI_SUCCESS);
    }
    for (int k = MANY; k-- > 0;) {
        int victim = k % check_size, err = MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        if (k % 3 == 1 && victim != check_rank)
            refused_named("under way", err, MPI_ERR_OP, victim, "MPI_Iallreduce", "op");
        else
            CHECK_EQ(err, MPI_SUCCESS, "call %d", k);
        for (int i = 0; i < n && k % 3 != 1; i += 1 + n / 5)
            CHECK_EQ(sums[k][i], check_size * (check_size - 1) / 2 + check_size * i, "call %d", k);
    }
    refused_next(comm, n);
}

/* MPI_Reduce: who does not need the refusing process may not notice. */
static void rooted(int n, int blocking)
{
    for (int root = 0; root < check_size; root++)
        for (int at_root = 0; at_root < 2; at_root++) {
            int victim = at_root ? root : (root + 1) % check_size, err, errclass,
                bad = check_rank == victim ? -1 : n;
            MPI_Request r;
            if (blocking)
                err = MPI_Reduce(in, out, bad, MPI_INT, MPI_SUM, root, comm);
            else
                err = refused_waited(MPI_Ireduce(in, out, bad, MPI_INT, MPI_SUM, root, comm, &r), &r);
            MPI_Error_class(err, &errclass);
            CHECK(errclass == MPI_ERR_COUNT || (errclass == 0 && check_rank != victim && check_rank != root),
                  "class %d", errclass);
            refused_next(comm, n);
        }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int way = 0; way < 12; way++) {
        int n = way % 2 ? REFUSED_MANY / 4 : 3;
        used(way / 2 % 3 * 20);
        several(n);
        in_a_row(way % 2, way / 6);
        MPI_Comm_free(&comm);
        used(way / 2 % 3 * 20);
        under_way(n, way / 6);
        rooted(n, way / 6);
        MPI_Comm_free(&comm);
    }
    return check_done();
}
