/* SPDX-License-Identifier: BSD-3-Clause */
/* first.h: communicators that nobody has used but for nonblocking collectives: what the processes agree on they
 * agree on in the background, and then the calls go to the team, or are composed over the nodes, in their order;
 * with blocking calls, copies of the communicator and refused calls among them. */
#ifndef FIRST_H
#define FIRST_H

#include "../tool/tool.h"
#include <unistd.h>

enum { MANY = 24, TEAM_AFTER = 5 };

static long sum_of(long each)
{
    return (long)check_size * (check_size - 1) / 2 + check_size * each;
}

static MPI_Comm fresh(int way)
{
    MPI_Comm c;
    MPI_Group all;
    if (way == 0) { /* what MPI_COMM_WORLD has agreed on holds for it */
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        return c;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_from_group(all, "fresh", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
    MPI_Group_free(&all);
    return c;
}

/* So many at once, of several kinds, then a blocking call, which comes after them; freed while they are under way. */
static void at_once(int way, int n, int late)
{
    MPI_Request r[MANY];
    long in[MANY], out[MANY], sum = 0, mine = check_rank;
    MPI_Comm c = fresh(way);
    if (check_rank == late)
        usleep(3000);
    for (int k = 0; k < n; k++) {
        in[k] = check_rank + k;
        out[k] = k % 3 == 1 && check_rank == k % check_size ? k : -1;
        if (k % 3 == 0)
            MPI_Iallreduce(&in[k], &out[k], 1, MPI_LONG, MPI_SUM, c, &r[k]);
        else if (k % 3 == 1)
            MPI_Ibcast(&out[k], 1, MPI_LONG, k % check_size, c, &r[k]);
        else
            MPI_Ibarrier(c, &r[k]);
    }
    if (n % 2)
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, c);
    MPI_Comm_free(&c);
    for (int k = n; k-- > 0;)
        MPI_Wait(&r[k], MPI_STATUS_IGNORE);
    for (int k = 0; k < n; k++)
        CHECK_EQ(out[k], k % 3 == 0 ? sum_of(k) : k % 3 == 1 ? k : -1, "call %d of %d", k, n);
    CHECK_EQ(sum, n % 2 ? sum_of(0) : 0);
}

/* One after the other: from the sixth on at the latest each is done by that row, if the blocking call is. */
static void counted(int way, const char *row)
{
    MPI_T_pvar_session s;
    MPI_Request r;
    MPI_Comm c = fresh(way);
    long in = check_rank, out;
    MPI_T_pvar_session_create(&s);
    MPI_T_pvar_handle h = tool_watch(s, row, MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long before = tool_read(s, h);
    for (int k = 0; k < MANY; k++) {
        out = -1;
        MPI_Iallreduce(&in, &out, 1, MPI_LONG, MPI_SUM, c, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(out, sum_of(0));
    }
    unsigned long long n = tool_read(s, h) - before;
    before = tool_read(s, h);
    MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, c); /* where this one is not, nor are they */
    if (tool_read(s, h) > before)
        CHECK(n >= MANY - TEAM_AFTER && n <= MANY, "%s: %llu of %d", row, n, MANY);
    else
        CHECK_EQ(n, 0, "%s", row);
    MPI_T_pvar_session_free(&s);
    MPI_Comm_free(&c);
}

/* A copy that is begun while the first is being agreed on. */
static void copied(int way)
{
    MPI_Comm c = fresh(way), copy;
    MPI_Request r[MANY + 1];
    long in = check_rank, out[MANY], sum = -1;
    for (int k = 0; k < MANY; k++)
        MPI_Iallreduce(&in, &out[k], 1, MPI_LONG, MPI_SUM, c, &r[k]);
    MPI_Comm_idup(c, &copy, &r[MANY]);
    MPI_Waitall(MANY + 1, r, MPI_STATUSES_IGNORE);
    MPI_Iallreduce(&in, &sum, 1, MPI_LONG, MPI_SUM, copy, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK_EQ(sum, sum_of(0));
    MPI_Allreduce(&in, &out[0], 1, MPI_LONG, MPI_SUM, copy);
    for (int k = 0; k < MANY; k++)
        CHECK_EQ(out[k], sum_of(0));
    MPI_Comm_free(&c);
    MPI_Comm_free(&copy);
}

/* The root refuses a call that the others can do without it, at each place among the first ones.  They are told of
 * it where they have to agree on something first. */
static void refused(int place)
{
    MPI_Comm c = fresh(0);
    MPI_Request r[2 * TEAM_AFTER + 1];
    long in = check_rank, out[2 * TEAM_AFTER + 1], all[16];
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    for (int k = 0; k <= 2 * TEAM_AFTER; k++) {
        r[k] = MPI_REQUEST_NULL;
        out[k] = sum_of(0);
        if (k != place)
            OK(MPI_Iallreduce(&in, &out[k], 1, MPI_LONG, MPI_SUM, c, &r[k]));
        else if (check_rank == 0)
            CHECK_ERR(MPI_Igather(&in, 1, MPI_LONG, all, -1, MPI_LONG, 0, c, &r[k]), MPI_ERR_COUNT);
        else
            OK(MPI_Igather(&in, 1, MPI_LONG, NULL, 0, MPI_LONG, 0, c, &r[k]));
    }
    int err = MPI_Wait(&r[place], MPI_STATUS_IGNORE);
    CHECK(err == MPI_SUCCESS || err == MPI_ERR_COUNT, "class %d", err);
    OK(MPI_Waitall(2 * TEAM_AFTER + 1, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k <= 2 * TEAM_AFTER; k++)
        CHECK_EQ(out[k], sum_of(0), "call %d", k);
    OK(MPI_Allgather(&in, 1, MPI_LONG, all, 1, MPI_LONG, c));
    for (int i = 0; i < check_size; i++)
        CHECK_EQ(all[i], i);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = 1; n <= MANY; n++)
        at_once(n / 2 % 2, n, n % check_size);
    tool_begin();
    for (int way = 0; way < 2; way++) {
        counted(way, "keel_coll_allreduce_team");
        counted(way, "keel_coll_allreduce_nodes");
        copied(way);
    }
    MPI_T_finalize();
    for (int place = 0; place <= 2 * TEAM_AFTER; place++)
        refused(place);
    return check_done();
}

#endif
