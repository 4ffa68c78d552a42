/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives at a team (whose members have a core each): many at once, among other calls, completed
 * in any order, with what they use freed meanwhile, waited for asleep; and they do go that way. */
/* ranks: 1 2 3 4 5 8 */
/* env: KEEL_SPIN_US=5 */
#include "../tool/tool.h"
#include <unistd.h>

enum { MANY = 60 };

static long sum_of(long each)
{
    return (long)check_size * (check_size - 1) / 2 + check_size * each;
}

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++) /* x -> a x + b, by pairs: not commutative */
        ((unsigned *)inout)[2 * i + 1] += ((unsigned *)in)[2 * i + 1] * ((unsigned *)inout)[2 * i],
            ((unsigned *)inout)[2 * i] *= ((unsigned *)in)[2 * i];
}

static void many(int turn)
{
    MPI_Request r[MANY];
    long in[MANY], out[MANY];
    for (int k = 0; k < MANY; k++) {
        in[k] = check_rank + k;
        out[k] = -1;
        MPI_Iallreduce(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[k]);
    }
    if (turn % 3 == 0)
        for (int k = MANY; k-- > 0;)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
    else if (turn % 3 == 1)
        MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    else
        for (int done = 0, at; done < MANY; done++)
            MPI_Waitany(MANY, r, &at, MPI_STATUS_IGNORE);
    for (int k = 0; k < MANY; k++)
        CHECK_EQ(out[k], sum_of(k));
}

/* Blocking ones, large ones, messages and other communicators between. */
static void mixed(int turn, MPI_Comm other)
{
    static char large[40000];
    MPI_Request r[7];
    long in[3] = { check_rank, check_rank + 1, check_rank + 2 }, out[3] = { 0 }, all = 0;
    int mine = check_rank * 7 + turn, each[16], to = (check_rank + 1) % check_size, got = -1;
    MPI_Iallreduce(&in[0], &out[0], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Iallgather(&mine, 1, MPI_INT, each, 1, MPI_INT, MPI_COMM_WORLD, &r[1]);
    MPI_Ibarrier(other, &r[2]);
    MPI_Iallreduce(&in[1], &out[1], 1, MPI_LONG, MPI_SUM, other, &r[3]);
    MPI_Ibcast(large, sizeof large, MPI_CHAR, turn % check_size, MPI_COMM_WORLD, &r[4]);
    MPI_Iallreduce(&in[2], &out[2], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[5]);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &r[6]);
    if (turn % 2)
        MPI_Allreduce(&in[0], &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (turn % 3 == 0)
        MPI_Bcast(large, turn % 5 ? 8 : (int)sizeof large, MPI_CHAR, turn % check_size, other);
    if (turn % 5 == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&mine, 1, MPI_INT, to, turn, MPI_COMM_WORLD);
    if (turn % 4 == 0) {
        int flag = 0;
        while (!flag)
            MPI_Testall(7, r, &flag, MPI_STATUSES_IGNORE);
    } else
        MPI_Waitall(7, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 3; k++)
        CHECK_EQ(out[k], sum_of(k));
    for (int i = 0; i < check_size; i++)
        CHECK_EQ(each[i], i * 7 + turn);
    CHECK_EQ(got, (check_rank + check_size - 1) % check_size * 7 + turn);
    CHECK_EQ(all, turn % 2 ? check_size - 1 : 0);
}

/* What a line holds, what a short room holds, a long one, and what goes by messages, in flight at once. */
static void sizes(void)
{
    static const int counts[] = { 1, 13, 300, 6000, 40000, 7 };
    enum { SIZES = sizeof counts / sizeof *counts };
    long *in[SIZES], *sum[SIZES], *scan[SIZES], *all[SIZES], *swapped[SIZES];
    MPI_Request r[4 * SIZES];
    for (int s = 0; s < SIZES; s++) {
        size_t n = (size_t)counts[s], whole = n * (size_t)check_size;
        in[s] = malloc(whole * sizeof(long));
        sum[s] = malloc(n * sizeof(long));
        scan[s] = malloc(n * sizeof(long));
        all[s] = malloc(whole * sizeof(long));
        swapped[s] = malloc(whole * sizeof(long));
        for (size_t i = 0; i < whole; i++)
            in[s][i] = (long)i + 1000003L * check_rank;
        MPI_Iallreduce(in[s], sum[s], counts[s], MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[4 * s]);
        MPI_Iscan(in[s], scan[s], counts[s], MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[4 * s + 1]);
        MPI_Iallgather(in[s], counts[s], MPI_LONG, all[s], counts[s], MPI_LONG, MPI_COMM_WORLD,
                       &r[4 * s + 2]);
        MPI_Ialltoall(in[s], counts[s], MPI_LONG, swapped[s], counts[s], MPI_LONG, MPI_COMM_WORLD,
                      &r[4 * s + 3]);
    }
    MPI_Waitall(4 * SIZES, r, MPI_STATUSES_IGNORE);
    for (int s = 0; s < SIZES; s++) {
        int bad = 0, n = counts[s];
        for (int i = 0; i < n; i++) {
            bad += sum[s][i] != 1000003L * check_size * (check_size - 1) / 2 + (long)check_size * i;
            bad += scan[s][i] != 1000003L * check_rank * (check_rank + 1) / 2 + (long)(check_rank + 1) * i;
            for (int k = 0; k < check_size; k++) {
                bad += all[s][k * n + i] != i + 1000003L * k;
                bad += swapped[s][k * n + i] != check_rank * n + i + 1000003L * k;
            }
        }
        CHECK_EQ(bad, 0, "%d elements", n);
        free(in[s]), free(sum[s]), free(scan[s]), free(all[s]), free(swapped[s]);
    }
}

/* The operation, the type and the communicator are freed while the call is under way. */
static void freed(int turn)
{
    MPI_Comm c;
    MPI_Datatype two;
    MPI_Op op;
    MPI_Request r[2];
    unsigned in[2] = { 2, (unsigned)check_rank }, out[2] = { 0, 0 }, a = 1, b = 0;
    int scan = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < 6; i++)
        MPI_Barrier(c); /* it has a team now */
    MPI_Type_contiguous(2, MPI_UNSIGNED, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(compose, 0, &op);
    if (turn == check_rank)
        usleep(20000);
    MPI_Iallreduce(in, out, 1, two, op, c, &r[0]);
    MPI_Iscan(&check_rank, &scan, 1, MPI_INT, MPI_SUM, c, &r[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&two);
    MPI_Comm_free(&c);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = check_size; i-- > 0;) { /* as compose does, from the last down */
        unsigned x[2] = { 2, (unsigned)i };
        b = i == check_size - 1 ? x[1] : b + x[1] * a;
        a = i == check_size - 1 ? x[0] : a * x[0];
    }
    CHECK(out[0] == a && out[1] == b, "%u %u; expected %u %u", out[0], out[1], a, b);
    CHECK_EQ(scan, check_rank * (check_rank + 1) / 2);
}

/* Who waits sleeps meanwhile, for this or for a message, and is woken by the last to come. */
static void asleep(int last)
{
    MPI_Request r[2];
    long one = 1, all = 0;
    int got = -1;
    if (check_rank == last)
        usleep(60000);
    MPI_Iallreduce(&one, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&got, 1, MPI_INT, (check_rank + 1) % check_size, 5, MPI_COMM_WORLD, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    if (check_rank == last)
        usleep(60000);
    MPI_Send(&check_rank, 1, MPI_INT, (check_rank + check_size - 1) % check_size, 5, MPI_COMM_WORLD);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    CHECK_EQ(all, check_size);
    CHECK_EQ(got, (check_rank + 1) % check_size);
}

static int all_by_shmem(void)
{
    const char *devices = getenv("KEEL_DEVICES");
    MPI_Comm node;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == check_size && !(devices && strstr(devices, "tcp"));
}

/* They are counted as calls that meet at a team, wherever the blocking form is: that is all ranks in one node's
 * memory. */
static void counted(void)
{
    MPI_T_pvar_session s;
    unsigned long long blocking = 0, n = 0;
    int one = 1, all;
    MPI_T_pvar_session_create(&s);
    MPI_T_pvar_handle h = tool_watch(s, "keel_coll_allreduce_team", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(MPI_T_pvar_read(s, h, &blocking), MPI_SUCCESS);
    many(1);
    CHECK_EQ(MPI_T_pvar_read(s, h, &n), MPI_SUCCESS);
    CHECK_EQ(n, blocking * (1 + MANY));
    if (all_by_shmem())
        CHECK_EQ(blocking, check_size > 1);
    MPI_T_pvar_session_free(&s);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    check_init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 0; i < 6; i++)
        MPI_Barrier(other);
    for (int turn = 0; turn < 30; turn++)
        many(turn);
    for (int turn = 0; turn < 200; turn++)
        mixed(turn, other);
    for (int turn = 0; turn < 3; turn++)
        sizes();
    for (int turn = 0; turn < 4; turn++)
        freed(turn);
    for (int turn = 0; turn < 3; turn++)
        asleep(turn % check_size);
    tool_begin();
    counted();
    MPI_T_finalize();
    MPI_Comm_free(&other);
    return check_done();
}
