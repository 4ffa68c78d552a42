/* A rank that waits for a second uses less than 1% of a core, whatever it waits in. */
/* ranks: 2 4 */
#include "../check.h"
#include <time.h>

#define W MPI_COMM_WORLD

static double cpu_before;

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rank 0 keeps the others waiting. */
static void begin(void)
{
    struct timespec second = { 1, 0 };
    MPI_Barrier(W);
    if (check_rank == 0)
        nanosleep(&second, NULL);
    cpu_before = cpu();
}

static void end(const char *what)
{
    double used = cpu() - cpu_before;
    CHECK(getenv("LD_PRELOAD") /* Valgrind */ || used < 0.01,
          "%s: %g s of processor time in a second; expected less than 0.01", what, used);
}

/* The same after MPI_Finalize. */
static int end_finalized(void)
{
    double used = cpu() - cpu_before;
    if (getenv("LD_PRELOAD") || used < 0.03) /* it frees things, too */
        return 0;
    fprintf(stderr, "MPI_Finalize: %g s of processor time; expected less than 0.03\n", used);
    return 1;
}

static void tell(int n)
{
    for (int k = 0; k < n; k++)
        for (int r = 1; r < check_size; r++)
            MPI_Send(&k, 1, MPI_INT, r, k, W);
}

static void messages(void)
{
    int v[3];
    MPI_Request r[3];
    begin();
    if (check_rank == 0)
        tell(1);
    else
        MPI_Recv(v, 1, MPI_INT, 0, 0, W, MPI_STATUS_IGNORE);
    end("MPI_Recv");
    begin();
    if (check_rank == 0) {
        tell(1);
    } else {
        MPI_Irecv(v, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, r);
        MPI_Wait(r, MPI_STATUS_IGNORE);
    }
    end("MPI_Wait");
    begin();
    if (check_rank == 0) {
        tell(3);
    } else {
        for (int k = 0; k < 3; k++)
            MPI_Irecv(&v[k], 1, MPI_INT, 0, k, W, &r[k]);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    }
    end("MPI_Waitall");
    begin();
    if (check_rank == 0) {
        tell(1);
    } else {
        MPI_Probe(0, 0, W, MPI_STATUS_IGNORE);
        end("MPI_Probe");
        MPI_Recv(v, 1, MPI_INT, 0, 0, W, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int v = 1;
    check_init(&argc, &argv);
    messages();
    begin();
    MPI_Barrier(W);
    end("MPI_Barrier");
    begin();
    MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, W);
    end("MPI_Allreduce");
    CHECK_EQ(v, check_size);
    begin();
    int failed = check_done();
    return end_finalized() || failed;
}
