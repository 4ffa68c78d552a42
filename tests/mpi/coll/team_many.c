/* SPDX-License-Identifier: BSD-3-Clause */
/* Any number of communicators have teams at a time: thousands in use meet without messages, take some hundred
 * bytes a member each, and give all of it back. */
/* ranks: 2 4 8 */
/* nodes: one, because processes of several nodes have no team */
/* timeout: 200 */
#include "../tool/tool.h"

enum { MANY = 5000, KEPT = 64, BEFORE = 6 /* collectives until a communicator has its team */ };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle sends, blocks, pages;
static MPI_Comm comms[MANY];

static long allreduce(MPI_Comm c, long value)
{
    long sum = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, c);
    return sum;
}

static unsigned long long watched(MPI_T_pvar_handle h)
{
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned long long n = tool_read(session, h);
    MPI_Barrier(MPI_COMM_WORLD);
    return n;
}

static void expect_sum(int k, int round)
{
    long p = check_size, got = allreduce(comms[k], check_rank + k * 10L + round);
    CHECK_EQ(got, p * (p - 1) / 2 + p * (k * 10L + round), "sum %d in communicator %d", round, k);
}

/* Once it has its team a communicator sends no message, and its sums are its own. */
static void use_all(void)
{
    for (int k = 0; k < MANY; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
        for (int i = 0; i < BEFORE; i++)
            MPI_Barrier(comms[k]);
    }
    unsigned long long before = tool_read(session, sends);
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < MANY; k++) {
            expect_sum(k, round);
            MPI_Barrier(comms[k]);
        }
    CHECK_EQ(tool_read(session, sends) - before, 0, "messages of collectives at %d teams", MANY);
}

/* In some of them also what takes more memory. */
static void use_more(void)
{
    enum { LONG = 5000 };
    static int a[LONG], sum[LONG];
    for (int k = 0; k < KEPT; k++) {
        for (int i = 0; i < LONG; i++)
            a[i] = check_rank == k % check_size ? i + k : -1;
        MPI_Bcast(a, LONG, MPI_INT, k % check_size, comms[k]);
        MPI_Allreduce(a, sum, k % 2 ? 100 : LONG, MPI_INT, MPI_SUM, comms[k]);
        for (int i = 0; i < (k % 2 ? 100 : LONG); i++)
            if (a[i] != i + k || sum[i] != check_size * (i + k)) {
                CHECK_EQ(sum[i], check_size * (i + k), "element %d in communicator %d", i, k);
                break;
            }
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    tool_begin();
    MPI_T_pvar_session_create(&session);
    sends = tool_watch(session, "keel_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    blocks = tool_watch(session, "keel_shared_blocks", MPI_T_PVAR_CLASS_LEVEL);
    pages = tool_watch(session, "keel_shared_pages", MPI_T_PVAR_CLASS_LEVEL);
    MPI_Comm unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &unused);
    /* Addresses of devices are there already, if peers need any. */
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned long long blocks_before = watched(blocks), pages_before = watched(pages);
    CHECK(blocks_before <= 256ull * (unsigned)check_size,
          "%llu bytes before, with a communicator that is not used", blocks_before);
    use_all();
    unsigned long long each = (watched(blocks) - blocks_before) / MANY;
    CHECK(each >= 128 && each <= 512ull * (unsigned)check_size + 512, "a team in use takes %llu bytes", each);
    CHECK(watched(pages) < pages_before + (each + 512) * MANY + (1 << 20), "%llu bytes of memory",
          watched(pages));
    use_more();
    CHECK(watched(blocks) > each * MANY, "more is in use");
    for (int k = 0; k < MANY; k++)
        MPI_Comm_free(&comms[(k * 7 + 3) % MANY]);
    MPI_Comm_free(&unused);
    CHECK_EQ(watched(blocks), blocks_before, "bytes of blocks after");
    CHECK(watched(pages) <= (blocks_before > 0 ? 1u << 20 : 0),
          "%llu bytes of memory after; %llu before: a piece stays that has a block", watched(pages),
          pages_before);
    MPI_T_pvar_handle_free(session, &sends);
    MPI_T_pvar_handle_free(session, &blocks);
    MPI_T_pvar_handle_free(session, &pages);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
