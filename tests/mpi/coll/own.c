/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives with teams of their own: started in another order on each rank, many at once, beside
 * blocking and nonblocking calls, more than there are teams for, of all sizes; and their counters tell that they
 * go that way. */
/* ranks: 1 2 3 5 8 */
/* timeout: 120 */
#include "../tool/tool.h"

enum { MANY = 80, ROUNDS = 30, LONG = 400000 };

static MPI_Comm comm;
static MPI_Op affine;

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    unsigned *x = in, *y = inout;
    (void)type;
    for (int i = 0; i < *len; i++) { /* x -> a x + b: not commutative */
        y[2 * i + 1] += x[2 * i + 1] * y[2 * i];
        y[2 * i] *= x[2 * i];
    }
}

/* What number k of the started ones is, in each process's own order. */
static int turn(int k, int n, int round)
{
    static const int steps[] = { 1, 7, 11, 13, 17, 19, 23, 29 };
    int step = steps[(check_rank + round) % 8];
    return (int)((long)(k + round) * step % n);
}

static void many(void)
{
    MPI_Request r[MANY], order[MANY];
    long in[MANY], out[MANY];
    for (int k = 0; k < MANY; k++) {
        if (k % 3 == 0)
            MPI_Bcast_init(&out[k], 1, MPI_LONG, k % check_size, comm, MPI_INFO_NULL, &r[k]);
        else if (k % 3 == 1)
            MPI_Allreduce_init(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &r[k]);
        else
            MPI_Scan_init(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &r[k]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        long sum = 0, before = check_rank;
        MPI_Request others[2];
        for (int k = 0; k < MANY; k++) {
            in[k] = check_rank + k * round;
            out[k] = k % 3 == 0 && k % check_size == check_rank ? 7 * k + round : -1;
        }
        for (int k = 0; k < MANY / 2; k++) {
            order[k] = r[turn(k, MANY, round)];
            MPI_Start(&order[k]);
        }
        MPI_Iallreduce(&before, &sum, 1, MPI_LONG, MPI_SUM, comm, &others[0]);
        MPI_Ibarrier(comm, &others[1]);
        for (int k = MANY / 2; k < MANY; k++)
            order[k] = r[turn(k, MANY, round)];
        MPI_Startall(MANY - MANY / 2, order + MANY / 2);
        MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
        if (round % 2)
            MPI_Waitall(MANY, order, MPI_STATUSES_IGNORE);
        for (int k = MANY; round % 2 == 0 && k-- > 0;) {
            int flag = 0;
            while (k % 4 == 0 && !flag)
                MPI_Test(&order[k], &flag, MPI_STATUS_IGNORE);
            if (k % 4)
                MPI_Wait(&order[k], MPI_STATUS_IGNORE);
        }
        CHECK_EQ(sum, (long)check_size * (check_size - 1) / 2);
        for (int k = 0; k < MANY; k++) {
            long ranks = k % 3 == 2 ? check_rank + 1 : check_size;
            CHECK_EQ(out[k], k % 3 == 0 ? 7 * k + round : ranks * (ranks - 1) / 2 + ranks * k * round,
                     "operation %d of round %d", k, round);
        }
    }
    for (int k = 0; k < MANY; k++)
        MPI_Request_free(&r[(k * 7) % MANY]);
}

/* One of each kind that a team knows, of some sizes, again and again. */
static void sizes(int n)
{
    size_t whole = (size_t)n * (size_t)check_size;
    unsigned *in = malloc(whole * sizeof *in), *sum = malloc((size_t)n * sizeof *sum),
             *all = malloc(whole * sizeof *all), *swapped = malloc(whole * sizeof *swapped),
             *one = malloc((size_t)n * sizeof *one), *pairs = malloc(2 * (size_t)n * sizeof *pairs),
             *mine = malloc(2 * (size_t)n * sizeof *mine);
    MPI_Datatype pair;
    MPI_Request r[6];
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Allreduce_init(in, sum, n, MPI_UNSIGNED, MPI_SUM, comm, MPI_INFO_NULL, &r[0]);
    MPI_Allgather_init(in, n, MPI_UNSIGNED, all, n, MPI_UNSIGNED, comm, MPI_INFO_NULL, &r[1]);
    MPI_Alltoall_init(in, n, MPI_UNSIGNED, swapped, n, MPI_UNSIGNED, comm, MPI_INFO_NULL, &r[2]);
    MPI_Bcast_init(one, n, MPI_UNSIGNED, check_size / 2, comm, MPI_INFO_NULL, &r[3]);
    MPI_Allreduce_init(mine, pairs, n, pair, affine, comm, MPI_INFO_NULL, &r[4]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &r[5]);
    MPI_Type_free(&pair);
    for (int round = 0; round < 4; round++) {
        MPI_Request order[6];
        unsigned a = 1, b = 0;
        int bad = 0;
        for (size_t i = 0; i < whole; i++)
            in[i] = (unsigned)(i + 1000003u * (unsigned)check_rank + (unsigned)round);
        for (int i = 0; i < n; i++) {
            mine[2 * i] = (unsigned)check_rank + 3;
            mine[2 * i + 1] = (unsigned)(check_rank * 5 + round);
            one[i] = check_rank == check_size / 2 ? (unsigned)(i * 3 + round) : 0;
        }
        for (int i = 0; i < 6; i++) {
            order[i] = r[turn(i, 6, 0) % 6];
            MPI_Start(&order[i]);
        }
        MPI_Waitall(6, order, MPI_STATUSES_IGNORE);
        for (int k = 0; k < check_size; k++) {
            b = b * ((unsigned)k + 3) + (unsigned)(k * 5 + round);
            a *= (unsigned)k + 3;
        }
        unsigned ranks = (unsigned)check_size;
        for (int i = 0; i < n; i++) {
            bad += sum[i] != ranks * (unsigned)(i + round) + 1000003u * (ranks * (ranks - 1) / 2);
            bad += one[i] != (unsigned)(i * 3 + round);
            bad += pairs[2 * i] != a || pairs[2 * i + 1] != b;
            for (int k = 0; k < check_size; k++) {
                bad += all[k * n + i] != (unsigned)(i + round) + 1000003u * (unsigned)k;
                bad += swapped[k * n + i] != (unsigned)(check_rank * n + i + round) + 1000003u * (unsigned)k;
            }
        }
        CHECK(bad == 0, "%d elements: %d wrong in round %d", n, bad, round);
    }
    for (int i = 0; i < 6; i++)
        MPI_Request_free(&r[i]);
    free(in), free(sum), free(all), free(swapped), free(one), free(pairs), free(mine);
}

/* Longer than what a stream has room for, from all in turn, beside blocking broadcasts. */
static void long_streams(void)
{
    int *a = malloc(sizeof(int) * 2 * LONG), *b = malloc(sizeof(int) * 2 * LONG), c[4];
    MPI_Request r[2], now;
    for (int root = 0; root < check_size; root++) {
        MPI_Bcast_init(a, 2 * LONG, MPI_INT, root, comm, MPI_INFO_NULL, &r[0]);
        MPI_Bcast_init(b, 2 * LONG, MPI_INT, check_size - 1 - root, comm, MPI_INFO_NULL, &r[1]);
        for (int i = 0; i < 2 * LONG; i++) {
            a[i] = check_rank == root ? i : -1;
            b[i] = check_rank == check_size - 1 - root ? -i : 1;
        }
        MPI_Start(&r[check_rank % 2]);
        MPI_Start(&r[1 - check_rank % 2]);
        c[0] = check_rank == root ? root : -1;
        MPI_Ibcast(c, 1, MPI_INT, root, comm, &now);
        c[1] = check_rank == root ? root : -1;
        MPI_Bcast(c + 1, 1, MPI_INT, root, comm);
        MPI_Wait(&now, MPI_STATUS_IGNORE);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        int bad = c[0] != root || c[1] != root;
        for (int i = 0; i < 2 * LONG; i++)
            bad += a[i] != i || b[i] != -i;
        CHECK(bad == 0, "from %d: %d", root, bad);
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
    }
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 1, 5, 12, 100, 3000, 16000, 70000 };
    uint64_t n = 0;
    MPI_Comm node;
    int here;
    MPI_T_pvar_session counters;
    check_init(&argc, &argv);
    tool_begin();
    OK(MPI_T_pvar_session_create(&counters));
    MPI_T_pvar_handle used = tool_watch(counters, "keel_coll_scan_team", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    MPI_Op_create(compose, 0, &affine);
    for (int dup = 0; dup < 2; dup++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        many();
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            sizes(counts[i]);
        long_streams();
        MPI_Comm_free(&comm);
    }
    OK(MPI_T_pvar_read(counters, used, &n));
    CHECK(here != check_size || check_size == 1 || n >= 2 * 20, "%d scans by teams of their own", (int)n);
    OK(MPI_T_pvar_session_free(&counters));
    OK(MPI_T_finalize());
    MPI_Op_free(&affine);
    return check_done();
}
