/* SPDX-License-Identifier: BSD-3-Clause */
/* While many long messages are on their way to a process they are written past its caches, the last ones into
 * them; one after the other, or all to the same memory, go into them.  What is on its way is known, also when
 * receives fail. */
/* ranks: 2 3 */
/* nodes: one, because it is about packets within a node */
/* env: KEEL_LONG_MESSAGES=1 */
/* env: KEEL_PAST_CACHE=1048576 */
#include "../tool/tool.h"
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

enum { N = 8, SIZE = 256 << 10, PAST_CACHE = 1 << 20, LAST = PAST_CACHE / SIZE - 1, TAG = 3, ALL_SENT = 4 };
enum { EACH = 77, ONE = 177 /* seeds, of the first message */ };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle coming, past;
static unsigned char mine[N][SIZE];
static sigset_t go;

static void send_all(bool from_one, uint64_t seed)
{
    MPI_Request request[N];
    for (int i = 0; i < N; i++) {
        unsigned char *from = mine[from_one ? 0 : i];
        if (!from_one || i == 0)
            check_fill(from, SIZE, seed + (uint64_t)i);
        MPI_Isend(from, SIZE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request[i]);
    }
    int64_t me = getpid();
    int sig;
    MPI_Send(&me, 1, MPI_INT64_T, 1, ALL_SENT, MPI_COMM_WORLD);
    sigwait(&go, &sig);
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
}

/* All have been announced when the first receive begins, and nothing of them comes before the last one has. */
static void receive_begun(bool into_one, int room, MPI_Request request[N])
{
    int64_t sender;
    MPI_Recv(&sender, 1, MPI_INT64_T, 0, ALL_SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        MPI_Irecv(mine[into_one ? 0 : i], room, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &request[i]);
    CHECK_EQ(tool_read(session, coming), (unsigned long long)N * (unsigned)room);
    CHECK_EQ(kill((pid_t)sender, SIGUSR1), 0);
}

/* Of each, room for `room` bytes. */
static void receive_all(int room)
{
    MPI_Request request[N];
    unsigned long long before = tool_read(session, past), passed,
                       most = (N - LAST) * (unsigned long long)SIZE;
    receive_begun(false, room, request);
    for (int i = 0; i < N; i++) {
        CHECK_ERR(MPI_Wait(&request[i], MPI_STATUS_IGNORE), room < SIZE ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK_BYTES(mine[i], (size_t)room, EACH + (uint64_t)i);
    }
    CHECK_EQ(tool_read(session, coming), 0);
    passed = tool_read(session, past) - before;
    CHECK(passed <= most, "%llu bytes went past the cache, of at most %llu", passed, most);
    if (getenv("KEEL_DEVICES") == NULL && room == SIZE) /* over ch_tcp they are read into their places */
        CHECK(passed > SIZE / 2, "%llu bytes went past the cache", passed);
}

/* What goes to the same memory stays in the cache, though as much is on its way as above. */
static void receive_into_one(int round)
{
    MPI_Request request[N];
    unsigned long long before = tool_read(session, past);
    receive_begun(true, SIZE, request);
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    CHECK_BYTES(mine[0], SIZE, ONE + (uint64_t)round);
    CHECK_EQ(tool_read(session, past), before, "all into the same memory");
}

static void one_by_one(void)
{
    unsigned long long before = tool_read(session, past);
    for (int i = 0; i < N; i++)
        if (check_rank == 0)
            MPI_Send(mine[i], SIZE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
        else if (check_rank == 1) {
            MPI_Recv(mine[i], SIZE, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(tool_read(session, coming), 0);
        }
    CHECK_EQ(tool_read(session, past), before, "one after the other");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    sigemptyset(&go);
    sigaddset(&go, SIGUSR1);
    sigprocmask(SIG_BLOCK, &go, NULL);
    tool_begin();
    OK(MPI_T_pvar_session_create(&session));
    coming = tool_watch(session, "keel_bytes_coming", MPI_T_PVAR_CLASS_LEVEL);
    past = tool_watch(session, "keel_bytes_past_cache", MPI_T_PVAR_CLASS_AGGREGATE);
    for (int round = 0; round < 3; round++) {
        if (check_rank == 0) {
            send_all(false, EACH);
            send_all(false, EACH);
            send_all(true, ONE + (uint64_t)round);
        } else if (check_rank == 1) {
            receive_all(SIZE);
            receive_all(SIZE / 2);
            receive_into_one(round);
        }
        one_by_one();
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return check_done();
}
