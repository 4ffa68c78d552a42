/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective with a rank that has failed ends at all that live. Where each needs something of all, it ends with an
 * error at each; elsewhere it may end well at some. */
/* ranks: 2 4 7 */
/* across: that one is lost, and that others say so, is heard from the device */
/* mpiexec: -with-ft ulfm */
/* stderr: \Ampiexec: rank \d+ \([^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n\Z */
#include "ft.h"

enum { LONG = 20000, MOST = 8, KINDS = 17 };
static int from[LONG * MOST], to[LONG * MOST], counts[MOST], places[MOST];
static MPI_Request request;

static int blocking(int kind, int n, int root, MPI_Comm c)
{
    switch (kind) {
    case 0:
        return MPI_Barrier(c);
    case 1:
        return MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, c);
    case 2:
        return MPI_Allgather(from, n, MPI_INT, to, n, MPI_INT, c);
    case 3:
        return MPI_Allgatherv(from, n, MPI_INT, to, counts, places, MPI_INT, c);
    case 4:
        return MPI_Alltoall(from, n, MPI_INT, to, n, MPI_INT, c);
    case 5:
        return MPI_Reduce_scatter_block(from, to, n, MPI_INT, MPI_SUM, c);
    case 6:
        return MPI_Bcast(from, n, MPI_INT, root, c);
    case 7:
        return MPI_Gather(from, n, MPI_INT, to, n, MPI_INT, root, c);
    case 8:
        return MPI_Scatter(from, n, MPI_INT, to, n, MPI_INT, root, c);
    case 9:
        return MPI_Reduce(from, to, n, MPI_INT, MPI_SUM, root, c);
    case 10:
        return MPI_Scan(from, to, n, MPI_INT, MPI_SUM, c);
    default:
        return MPI_Exscan(from, to, n, MPI_INT, MPI_SUM, c);
    }
}

static int nonblocking(int kind, int n, int root, MPI_Comm c)
{
    int err;
    switch (kind) {
    case 12:
        err = MPI_Ibarrier(c, &request);
        break;
    case 13:
        err = MPI_Iallreduce(from, to, n, MPI_INT, MPI_SUM, c, &request);
        break;
    case 14:
        err = MPI_Ialltoall(from, n, MPI_INT, to, n, MPI_INT, c, &request);
        break;
    case 15:
        err = MPI_Ibcast(from, n, MPI_INT, root, c, &request);
        break;
    default:
        err = MPI_Iallgather(from, n, MPI_INT, to, n, MPI_INT, c, &request);
    }
    return err ? err : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Everybody needs something of everybody. */
static int is_for_all(int kind)
{
    return kind <= 5 || (kind >= 12 && kind != 15);
}

static void look(int kind, int n, int root, int dead, int err)
{
    int class = ft_class(err);
    int fails = is_for_all(kind) || (root == dead && kind >= 6 && kind <= 9 && (kind == 6 || kind == 8)) ||
                (check_rank == root && (kind == 7 || kind == 9));
    if (kind == 15 && root == dead)
        fails = 1;
    if (class != MPIX_ERR_PROC_FAILED && (fails || class != MPI_SUCCESS))
        CHECK_EQ(class, MPIX_ERR_PROC_FAILED, "collective %d of %d ints, root %d", kind, n, root);
}

static int run(int kind, int n, int root, MPI_Comm c)
{
    for (int r = 0; r < check_size; r++) {
        counts[r] = n;
        places[r] = r * n;
    }
    return kind < 12 ? blocking(kind, n, root, c) : nonblocking(kind, n, root, c);
}

int main(int argc, char **argv)
{
    static MPI_Comm comm[KINDS][4];
    check_init(&argc, &argv);
    check_errors_return();
    int dead = check_size - 1;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 4; i++) { /* short or long, the root lives or not */
            CHECK_ERR(MPI_Comm_dup(MPI_COMM_WORLD, &comm[kind][i]), MPI_SUCCESS);
            if (kind % 2) /* others have not been used yet */
                CHECK_ERR(run(kind, i / 2 ? LONG : 1, i % 2 ? dead : 0, comm[kind][i]), MPI_SUCCESS);
        }
    ft_last_dies();
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 4; i++) {
            int n = i / 2 ? LONG : 1, root = i % 2 ? dead : 0;
            look(kind, n, root, dead, run(kind, n, root, comm[kind][i]));
            CHECK_ERR(MPI_Comm_free(&comm[kind][i]), MPI_SUCCESS);
        }
    MPI_Comm left = ft_shrunk(MPI_COMM_WORLD, dead);
    if (left != MPI_COMM_NULL)
        MPI_Comm_free(&left);
    return check_done();
}
