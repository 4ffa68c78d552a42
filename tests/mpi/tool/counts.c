/* SPDX-License-Identifier: BSD-3-Clause */
/* What performance variables count: messages and bytes, one by one; started, stopped, written, reset, in sessions
 * that know nothing of each other; queues and their marks; collectives; objects. */
/* ranks: 2 3 5 */
/* across: it counts a device's messages */
#include "tool.h"

enum { SMALL = 8, LARGE = 1 << 20, N = 7 };

static MPI_T_pvar_session session, other;
static char out[LARGE], in[LARGE];

/* One message of rank 0 to rank 1, and one back, so that both have finished with it. */
static void ping(int bytes)
{
    if (check_rank == 0) {
        MPI_Send(out, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        MPI_Recv(in, 0, MPI_CHAR, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (check_rank == 1) {
        MPI_Recv(in, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, 0, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
    }
}

/* Ranks 0 and 1 have looked at what they counted: only now others send them anything. */
static void stage_end(void)
{
    if (check_rank == 1)
        MPI_Send(out, 0, MPI_CHAR, 0, 50, MPI_COMM_WORLD);
    else if (check_rank == 0) {
        MPI_Recv(in, 0, MPI_CHAR, 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 2; i < check_size; i++)
            MPI_Send(out, 0, MPI_CHAR, i, 51, MPI_COMM_WORLD);
    } else
        MPI_Recv(in, 0, MPI_CHAR, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static MPI_T_pvar_handle counter(const char *name)
{
    return tool_watch(session, name, MPI_T_PVAR_CLASS_COUNTER);
}

static MPI_T_pvar_handle sum(const char *name)
{
    return tool_watch(session, name, MPI_T_PVAR_CLASS_AGGREGATE);
}

static unsigned long long value(MPI_T_pvar_handle h)
{
    return tool_read(session, h);
}

/* Rank 0 sends nothing before rank 1 counts; the message that says so does not count. */
static void both_count(MPI_T_pvar_handle sent, MPI_T_pvar_handle got)
{
    if (check_rank == 1) {
        MPI_Send(out, 0, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
        OK(MPI_T_pvar_reset(session, sent));
    } else if (check_rank == 0) {
        MPI_Recv(in, 0, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        OK(MPI_T_pvar_reset(session, got));
    }
}

static void messages(void)
{
    MPI_T_pvar_handle sent = counter("keel_messages_sent"), sent_bytes = sum("keel_bytes_sent"),
                      got = counter("keel_messages_received"), got_bytes = sum("keel_bytes_received"),
                      rndv = counter("keel_messages_rendezvous"), eager = counter("keel_messages_eager"),
                      self = counter("keel_messages_self"), self_bytes = sum("keel_bytes_self");
    int is_pair = check_rank < 2, is_first = check_rank == 0;
    both_count(sent, got);
    for (int i = 0; i < N; i++)
        ping(SMALL);
    CHECK_EQ(value(sent), is_pair * N);
    CHECK_EQ(value(got), is_pair * N);
    CHECK_EQ(value(sent_bytes), is_first * N * SMALL);
    CHECK_EQ(value(got_bytes), (check_rank == 1) * N * SMALL);
    CHECK_EQ(value(rndv), 0);
    CHECK_EQ(value(eager), 0, "they were short");
    ping(500);
    CHECK_EQ(value(eager), is_first);
    ping(LARGE);
    CHECK_EQ(value(rndv), is_first);
    CHECK_EQ(value(sent_bytes), is_first * (N * SMALL + 500 + LARGE));
    CHECK_EQ(value(got_bytes), (check_rank == 1) * (N * SMALL + 500 + LARGE));
    CHECK_EQ(value(sent), is_pair * (N + 2));
    CHECK_EQ(value(self), 0);
    MPI_Sendrecv(out, 77, MPI_CHAR, check_rank, 1, in, 77, MPI_CHAR, check_rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(value(self), 1);
    CHECK_EQ(value(self_bytes), 77);
    CHECK_EQ(value(sent), is_pair * (N + 2) + 1);
}

/* Started and stopped, written, reset, read and reset; and another session beside it. */
static void control(void)
{
    MPI_T_pvar_handle h = counter("keel_messages_sent"),
                      same = tool_watch(other, "keel_messages_sent", MPI_T_PVAR_CLASS_COUNTER), idle;
    unsigned long long seen = 4711, hundred = 100;
    int count, p = check_rank < 2; /* messages of a ping */
    OK(MPI_T_pvar_handle_alloc(session, tool_pvar("keel_messages_sent", MPI_T_PVAR_CLASS_COUNTER), NULL,
                               &idle, &count));
    ping(SMALL);
    CHECK_EQ(value(h), p);
    CHECK_EQ(value(idle), 0, "it has not been started");
    OK(MPI_T_pvar_stop(session, h));
    ping(SMALL);
    CHECK_EQ(value(h), p);
    OK(MPI_T_pvar_stop(session, h)); /* it is */
    OK(MPI_T_pvar_start(session, h));
    OK(MPI_T_pvar_start(session, h)); /* it is */
    ping(SMALL);
    CHECK_EQ(value(h), 2 * p, "the time stopped does not count");
    OK(MPI_T_pvar_write(session, h, &hundred));
    CHECK_EQ(value(h), 100);
    ping(SMALL);
    CHECK_EQ(value(h), 100 + p);
    OK(MPI_T_pvar_readreset(session, h, &seen));
    CHECK_EQ(seen, 100 + p);
    CHECK_EQ(value(h), 0);
    ping(SMALL);
    CHECK_EQ(value(h), p);
    OK(MPI_T_pvar_reset(session, h));
    CHECK_EQ(value(h), 0);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    ping(SMALL);
    CHECK_EQ(value(h), p);
    CHECK_EQ(value(idle), p);
    OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    ping(SMALL);
    CHECK_EQ(value(h), p);
    CHECK_EQ(value(idle), p);
    OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_EQ(value(h), 0);
    CHECK_EQ(value(idle), 0);
    CHECK_EQ(tool_read(other, same), 7 * p, "the other session goes on");
    OK(MPI_T_pvar_handle_free(session, &idle));
    OK(MPI_T_pvar_handle_free(other, &same));
}

/* Rank 1 sends N messages that nobody receives yet, and one that is received: then they are here. */
static void come(int n)
{
    if (check_rank == 1) {
        MPI_Recv(in, 0, MPI_CHAR, 0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            MPI_Send(out, 300, MPI_CHAR, 0, 10, MPI_COMM_WORLD);
        MPI_Send(out, 0, MPI_CHAR, 0, 11, MPI_COMM_WORLD);
        MPI_Recv(in, 0, MPI_CHAR, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (check_rank == 0) {
        MPI_Send(out, 0, MPI_CHAR, 1, 13, MPI_COMM_WORLD);
        MPI_Recv(in, 0, MPI_CHAR, 1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void take(int n)
{
    for (int i = 0; i < n && check_rank == 0; i++)
        MPI_Recv(in, 300, MPI_CHAR, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void carry_on(void)
{
    if (check_rank == 0)
        MPI_Send(out, 0, MPI_CHAR, 1, 12, MPI_COMM_WORLD);
}

static void queues(void)
{
    MPI_T_pvar_handle level = tool_watch(session, "keel_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL),
                      bytes = tool_watch(session, "keel_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL),
                      high = tool_watch(session, "keel_unexpected_messages", MPI_T_PVAR_CLASS_HIGHWATERMARK),
                      later,
                      low = tool_watch(session, "keel_unexpected_messages", MPI_T_PVAR_CLASS_LOWWATERMARK),
                      came = counter("keel_unexpected_messages");
    unsigned long long at_start = value(level), bytes_at_start = value(bytes), came_before;
    int here = check_rank == 0 ? N : 0;
    come(N);
    CHECK_EQ(value(level), at_start + here);
    CHECK(value(bytes) >= bytes_at_start + here * 300u, "%llu", value(bytes));
    CHECK(value(high) >= at_start + here, "%llu", value(high));
    CHECK_EQ(value(low), at_start);
    came_before = value(came);
    CHECK(came_before >= (unsigned)here, "%llu", came_before);
    take(3);
    later = tool_watch(other, "keel_unexpected_messages", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    CHECK_EQ(tool_read(other, later), value(level), "it knows nothing of what was before");
    CHECK(value(high) >= at_start + here, "%llu", value(high));
    OK(MPI_T_pvar_reset(session, low)); /* from here on it is what is here now */
    if (check_rank == 0)
        CHECK_EQ(value(low), at_start + N - 3);
    take(2);
    if (check_rank == 0) {
        CHECK_EQ(value(level), at_start + N - 5);
        CHECK_EQ(value(low), at_start + N - 5);
        CHECK_EQ(tool_read(other, later), at_start + N - 3);
    }
    OK(MPI_T_pvar_stop(session, low));
    take(2);
    if (check_rank == 0) {
        CHECK_EQ(value(low), at_start + N - 5, "it was stopped");
        OK(MPI_T_pvar_start(session, low));
        CHECK_EQ(value(low), at_start);
        OK(MPI_T_pvar_reset(session, high));
        CHECK_EQ(value(high), at_start);
    }
    CHECK_EQ(value(level), at_start);
    carry_on();
    OK(MPI_T_pvar_handle_free(other, &later));
}

static void posted(void)
{
    MPI_T_pvar_handle level = tool_watch(session, "keel_posted_receives", MPI_T_PVAR_CLASS_LEVEL), of_comm,
                      of_other, unexpected;
    MPI_Comm comm = MPI_COMM_WORLD, dup, null = MPI_COMM_NULL;
    MPI_Request r[3];
    int count, i = tool_pvar("keel_comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL), x = 0;
    unsigned long long v = 0, before = value(level);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    IS(MPI_T_pvar_handle_alloc(session, i, NULL, &of_comm, &count), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_handle_alloc(session, i, &null, &of_comm, &count), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_handle_alloc(session, i, &comm, &of_comm, &count));
    OK(MPI_T_pvar_handle_alloc(session, i, &dup, &of_other, &count));
    CHECK_EQ(count, 1);
    for (int k = 0; k < 3; k++)
        MPI_Irecv(&x, 1, MPI_INT, check_rank, 20, k < 2 ? dup : comm, &r[k]);
    CHECK_EQ(value(level), before + 3);
    CHECK_EQ(value(of_comm), 1);
    CHECK_EQ(value(of_other), 2);
    for (int k = 0; k < 3; k++)
        MPI_Send(&x, 1, MPI_INT, check_rank, 20, k < 2 ? dup : comm);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(value(level), before);
    CHECK_EQ(value(of_other), 0);
    i = tool_pvar("keel_comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL);
    OK(MPI_T_pvar_handle_alloc(session, i, &dup, &unexpected, &count));
    MPI_Send(&x, 1, MPI_INT, check_rank, 21, dup);
    CHECK_EQ(value(unexpected), 1);
    MPI_Recv(&x, 1, MPI_INT, check_rank, 21, dup, MPI_STATUS_IGNORE);
    CHECK_EQ(value(unexpected), 0);
    MPI_Comm_free(&dup);
    IS(MPI_T_pvar_read(session, of_other, &v), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_handle_free(session, &of_other));
    OK(MPI_T_pvar_read(session, of_comm, &v));
}

static void collectives(void)
{
    MPI_T_pvar_handle all = counter("keel_coll_allgather"), none = counter("keel_coll_scan"), last;
    MPI_T_enum names;
    int one = 1, many[64], count, state = -1, len = 32,
        i = tool_pvar("keel_last_collective", MPI_T_PVAR_CLASS_STATE);
    char name[32] = "";
    MPI_Request r;
    MPI_Allgather(&one, 1, MPI_INT, many, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallgather(&one, 1, MPI_INT, many, 1, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(value(all), 2);
    CHECK_EQ(value(none), 0);
    OK(MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_pvar_handle_alloc(session, i, NULL, &last, &count));
    OK(MPI_T_pvar_read(session, last, &state));
    OK(MPI_T_enum_get_item(names, state, &state, name, &len));
    CHECK(!strcmp(name, "allgather"), "%s", name);
}

static void objects(void)
{
    MPI_T_pvar_handle types = tool_watch(session, "keel_datatypes", MPI_T_PVAR_CLASS_LEVEL),
                      requests = tool_watch(session, "keel_requests", MPI_T_PVAR_CLASS_LEVEL),
                      segment = tool_watch(session, "keel_segment", MPI_T_PVAR_CLASS_SIZE);
    unsigned long long before = value(types), requests_before = value(requests);
    MPI_Datatype t;
    MPI_Request r;
    int x = 0;
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    CHECK_EQ(value(types), before + 1);
    MPI_Type_free(&t);
    CHECK_EQ(value(types), before);
    MPI_Irecv(&x, 1, MPI_INT, check_rank, 30, MPI_COMM_WORLD, &r);
    CHECK_EQ(value(requests), requests_before + 1);
    MPI_Send(&x, 1, MPI_INT, check_rank, 30, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(value(requests), requests_before);
    CHECK(value(segment) > 4096, "%llu", value(segment));
}

/* A rank that waits long sleeps. */
static void sleeps(void)
{
    MPI_T_pvar_handle n = counter("keel_sleeps"),
                      timer = tool_watch(session, "keel_time_asleep", MPI_T_PVAR_CLASS_TIMER);
    double asleep = -1, ten = 10;
    if (check_rank == 0) {
        double until = MPI_Wtime() + 0.3;
        while (MPI_Wtime() < until)
            ;
        MPI_Send(out, 0, MPI_CHAR, 1, 40, MPI_COMM_WORLD);
    } else if (check_rank == 1) {
        MPI_Recv(in, 0, MPI_CHAR, 0, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        OK(MPI_T_pvar_read(session, timer, &asleep));
        CHECK(value(n) > 0 && asleep > 0.1 && asleep < 10, "%llu sleeps of %g s", value(n), asleep);
    }
    OK(MPI_T_pvar_stop(session, timer));
    OK(MPI_T_pvar_write(session, timer, &ten));
    OK(MPI_T_pvar_readreset(session, timer, &asleep));
    CHECK(asleep > 9.999 && asleep < 10.001, "%g", asleep);
    OK(MPI_T_pvar_read(session, timer, &asleep));
    CHECK(asleep == 0, "%g", asleep);
}

int main(int argc, char **argv)
{
    tool_begin();
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_session_create(&other));
    check_init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    messages();
    stage_end();
    control();
    stage_end();
    queues();
    stage_end();
    posted();
    collectives();
    objects();
    sleeps();
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_pvar_session_free(&other));
    OK(MPI_T_finalize());
    return check_done();
}
