/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that waits for a second uses less than 1% of a core, whatever it waits in. */
/* ranks: 2 9 */
/* timeout: 120 */
/* beside: waits */
#include "../check.h"
#include <time.h>

#define W MPI_COMM_WORLD

/* Seconds of processor time: what a rank that waits for one second may take, and what a moved virtual machine may
 * add to that. */
#define MOST 0.01
#define MOST_DISTURBED 0.1

static double cpu_before;
static char disturbed[120]; /* what took too much in this round */

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
    if (getenv("LD_PRELOAD") /* Valgrind */ || check_rank == 0)
        return;
    CHECK(used < MOST_DISTURBED, "%s: %g s of processor time in a second; expected less than %g", what, used,
          MOST);
    if (used >= MOST)
        snprintf(disturbed, sizeof disturbed,
                 "%s: %g s of processor time in a second, twice; expected less than %g", what, used, MOST);
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

/* ---- One other ---- */

/* Ways to wait for three messages from rank 0, of tags 0 to 2, or for it to receive one of tag 3. */
static const char *const ways[] = {
    "MPI_Recv",  "MPI_Wait",   "MPI_Waitall",  "MPI_Waitany", "MPI_Waitsome",
    "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Ssend",   "MPI_Send (big)"
};
enum { WAYS = sizeof ways / sizeof *ways, BIG = 1 << 18 };

static char *big;

static void three(int way, int *v)
{
    MPI_Request r[3];
    int n = 0, at[3], got = 0;
    for (int k = 0; k < 3; k++)
        MPI_Irecv(&v[k], 1, MPI_INT, k == 1 ? MPI_ANY_SOURCE : 0, k, W, &r[k]);
    if (way == 1) {
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    } else if (way == 3) {
        MPI_Waitany(3, r, &n, MPI_STATUS_IGNORE);
    } else if (way == 4) {
        MPI_Waitsome(3, r, &got, at, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

static void receive(int *v, int from)
{
    for (int k = from; k < 3; k++)
        MPI_Recv(&v[k], 1, MPI_INT, 0, k, W, MPI_STATUS_IGNORE);
}

static void wait_so(int way, int *v)
{
    MPI_Message m;
    switch (way) {
    case 0:
        receive(v, 0);
        return;
    case 5:
        MPI_Probe(0, 0, W, MPI_STATUS_IGNORE);
        receive(v, 0);
        return;
    case 6:
        MPI_Mprobe(MPI_ANY_SOURCE, 0, W, &m, MPI_STATUS_IGNORE);
        MPI_Mrecv(&v[0], 1, MPI_INT, &m, MPI_STATUS_IGNORE);
        receive(v, 1);
        return;
    case 7:
        MPI_Sendrecv(NULL, 0, MPI_INT, 0, 3, &v[0], 1, MPI_INT, 0, 0, W, MPI_STATUS_IGNORE);
        receive(v, 1);
        return;
    case 8:
        MPI_Ssend(NULL, 0, MPI_INT, 0, 3, W);
        receive(v, 0);
        return;
    case 9:
        MPI_Send(big, BIG, MPI_CHAR, 0, 3, W);
        receive(v, 0);
        return;
    default:
        three(way, v);
    }
}

static int way_of(int rank, int first)
{
    return (rank - 1 + first) % WAYS;
}

/* Rank r waits in way first + r - 1. */
static void messages(int first)
{
    int v[3] = { -1, -1, -1 }, way = way_of(check_rank + WAYS, first);
    begin();
    if (check_rank > 0) {
        wait_so(way, v);
        end(ways[way]);
        CHECK(v[0] == 0 && v[1] == 1 && v[2] == 2, "%s: got %d, %d, %d", ways[way], v[0], v[1], v[2]);
        return;
    }
    for (int r = 1; r < check_size; r++)
        if (way_of(r, first) >= 7)
            MPI_Recv(big, BIG, MPI_CHAR, r, 3, W, MPI_STATUS_IGNORE);
    for (int k = 0; k < 3; k++)
        for (int r = 1; r < check_size; r++)
            MPI_Send(&k, 1, MPI_INT, r, k, W);
}

/* ---- All others ---- */

static void collectives(int unused)
{
    int v = 1, *all = calloc((size_t)check_size, sizeof *all),
        *mine = calloc((size_t)check_size, sizeof *mine);
    (void)unused;
    begin();
    MPI_Barrier(W);
    end("MPI_Barrier");
    begin();
    MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, W);
    end("MPI_Allreduce");
    CHECK_EQ(v, check_size);
    begin();
    v = check_rank == 0 ? 7 : 0;
    MPI_Bcast(&v, 1, MPI_INT, 0, W);
    end("MPI_Bcast");
    CHECK_EQ(v, 7);
    begin();
    MPI_Bcast(big, BIG, MPI_CHAR, 0, W);
    end("MPI_Bcast (big)");
    begin();
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, W);
    end("MPI_Alltoall");
    begin();
    MPI_Gather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, check_size - 1, W);
    end("MPI_Gather");
    begin();
    MPI_Scan(&check_rank, &v, 1, MPI_INT, MPI_SUM, W);
    end("MPI_Scan");
    CHECK_EQ(v, check_rank * (check_rank + 1) / 2);
    MPI_Comm dup;
    begin();
    MPI_Comm_dup(W, &dup);
    end("MPI_Comm_dup");
    MPI_Comm_free(&dup);
    free(all);
    free(mine);
}

/* Once more if somebody took a little too much: a virtual machine that is moved counts that as time of its
 * processes. */
static void twice(void (*round)(int), int first)
{
    for (int tries = 0, again = 1; again && tries < 2; tries++) {
        disturbed[0] = '\0';
        round(first);
        again = disturbed[0] != '\0';
        MPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_MAX, W);
    }
    CHECK(disturbed[0] == '\0', "%s", disturbed);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    big = calloc(1, BIG);
    for (int first = 0; first < WAYS; first += check_size - 1)
        twice(messages, first);
    twice(collectives, 0);
    free(big);
    begin();
    int failed = check_done();
    return end_finalized() || failed;
}
