/* SPDX-License-Identifier: BSD-3-Clause */
/* Round after round a member dies somewhere in a call; those that live shrink, count themselves and go on, until one is
 * left. */
/* ranks: 4 8 16 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"

static unsigned seed;

static unsigned any(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* Some calls, one of which the victim does not come to; 0, or the first error. */
static int work(MPI_Comm comm, int victim, unsigned what)
{
    int rank, size, err = 0;
    long sum, v = 1, all[64];
    double long_data[5000];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(long_data, 0, sizeof long_data);
    for (unsigned i = 0; i < 8 && !err; i++) {
        if (i == what % 8 && rank == victim)
            ft_die();
        switch ((i + what) % 7) {
        case 0:
            err = MPI_Barrier(comm);
            break;
        case 1:
            err = MPI_Allreduce(&v, &sum, 1, MPI_LONG, MPI_SUM, comm);
            break;
        case 2:
            err = MPI_Bcast(long_data, 5000, MPI_DOUBLE, (int)(what % (unsigned)size), comm);
            break;
        case 3:
            err = MPI_Allgather(&v, 1, MPI_LONG, all, 1, MPI_LONG, comm);
            break;
        case 4:
            err = MPI_Sendrecv(&v, 1, MPI_LONG, (rank + 1) % size, 5, &sum, 1, MPI_LONG,
                               (rank + size - 1) % size, 5, comm, MPI_STATUS_IGNORE);
            break;
        case 5:
            err = MPI_Allreduce(MPI_IN_PLACE, long_data, 5000, MPI_DOUBLE, MPI_MAX, comm);
            break;
        default:
            err = MPI_Sendrecv(long_data, 2500, MPI_DOUBLE, (rank + 1) % size, 6, long_data + 2500, 2500,
                               MPI_DOUBLE, (rank + size - 1) % size, 6, comm, MPI_STATUS_IGNORE);
        }
    }
    return err;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, next;
    check_init(&argc, &argv);
    check_errors_return();
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    comm = MPI_COMM_WORLD;
    for (int size = check_size; size > 1; size--) {
        int victim = (int)any((unsigned)size), flag;
        unsigned what = any(56);
        int err = work(comm, victim, what);
        if (err)
            MPIX_Comm_revoke(comm);
        flag = err == 0;
        MPIX_Comm_agree(comm, &flag);
        next = ft_shrunk(comm, size - 1);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
        if (next == MPI_COMM_NULL)
            return 1;
        comm = next;
        int least = 0; /* who dies in the last call may have been missed by nobody */
        err = MPI_Allreduce(&flag, &least, 1, MPI_INT, MPI_MIN, comm);
        if (!err) /* else others have gone on to where the next one dies */
            CHECK_EQ(flag, least, "what all have agreed on");
    }
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    return check_done();
}
