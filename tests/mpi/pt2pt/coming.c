/* While many long messages are on their way to a process they are written past its caches, the last ones into them; one after the
 * other, or all to the same memory, go into them.  What is on its way is known, also when receives fail. */
/* ranks: 2 3 */
/* nodes: one, because it is about packets within a node */
/* env: KEEL_LONG_MESSAGES=1 */
/* env: KEEL_PAST_CACHE=1048576 */
#include "../tool/tool.h"

enum { N = 8, SIZE = 256 << 10, PAST_CACHE = 1 << 20, LAST = PAST_CACHE / SIZE - 1, TAG = 3, ALL_SENT = 4 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle coming, past;
static unsigned char mine[N][SIZE];

static uint64_t seed_of(int i)
{
    return 77 + (uint64_t)i;
}

static void send_all(void)
{
    MPI_Request request[N];
    for (int i = 0; i < N; i++) {
        check_fill(mine[i], SIZE, seed_of(i));
        MPI_Isend(mine[i], SIZE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request[i]);
    }
    MPI_Send(NULL, 0, MPI_CHAR, 1, ALL_SENT, MPI_COMM_WORLD);
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
}

/* All have been announced when the first receive begins; of each, room for `room` bytes. */
static void receive_all(int room)
{
    MPI_Request request[N];
    unsigned long long before = tool_read(session, past), begun, passed,
                       most = (N - LAST) * (unsigned long long)SIZE;
    MPI_Recv(NULL, 0, MPI_CHAR, 0, ALL_SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        MPI_Irecv(mine[i], room, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &request[i]);
    begun = tool_read(session, coming); /* some may be whole already, not the last */
    CHECK(begun >= (unsigned)room && begun <= (unsigned long long)N * (unsigned)room, "%llu bytes", begun);
    for (int i = 0; i < N; i++) {
        CHECK_ERR(MPI_Wait(&request[i], MPI_STATUS_IGNORE), room < SIZE ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK_BYTES(mine[i], (size_t)room, seed_of(i));
    }
    CHECK_EQ(tool_read(session, coming), 0);
    passed = tool_read(session, past) - before;
    CHECK(passed <= most, "%llu bytes went past the cache, of at most %llu", passed, most);
    if (getenv("KEEL_DEVICES") == NULL && room == SIZE) /* over ch_tcp they are read into their places */
        CHECK(passed > SIZE / 2, "%llu bytes went past the cache", passed);
}

/* What goes to the same memory again and again stays in the cache. */
static void into_one(void)
{
    MPI_Request request[N];
    unsigned long long before = tool_read(session, past);
    if (check_rank == 0)
        check_fill(mine[0], SIZE, seed_of(0));
    for (int i = 0; i < N; i++)
        if (check_rank == 0)
            MPI_Isend(mine[0], SIZE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request[i]);
        else if (check_rank == 1)
            MPI_Irecv(mine[0], SIZE, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &request[i]);
    if (check_rank > 1)
        return;
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    CHECK_BYTES(mine[0], SIZE, seed_of(0));
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
    tool_begin();
    OK(MPI_T_pvar_session_create(&session));
    coming = tool_watch(session, "keel_bytes_coming", MPI_T_PVAR_CLASS_LEVEL);
    past = tool_watch(session, "keel_bytes_past_cache", MPI_T_PVAR_CLASS_AGGREGATE);
    for (int round = 0; round < 3; round++) {
        if (check_rank == 0) {
            send_all();
            send_all();
        } else if (check_rank == 1) {
            receive_all(SIZE);
            receive_all(SIZE / 2);
        }
        into_one();
        one_by_one();
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return check_done();
}
