/* SPDX-License-Identifier: BSD-3-Clause */
/* stress.h: ranks that spawn, connect, accept, merge, disconnect, wait and lose children, each at its own speed,
 * at any level of threads, and children that start slowly.  What is done when follows from a seed, so a run can be
 * had again.
 *     PROGRAM ROUNDS LEVEL DEATHS [SEED]
 * In a round each rank does some actions of its own (`alone`), then all do one together (`together`): who has come
 * early sleeps there while the others still need what it has for them.  DEATHS: 1: some children are killed while
 * their parent waits for them. */
#ifndef STRESS_H
#define STRESS_H

#include "../check.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ALONE = 4, MOST_CHILDREN = 2, SLOW_US = 8000, N = 3000 };

static char *program, level_text[4];
static uint64_t state;
static int round_now, deaths;

/* Of this process; xorshift. */
static unsigned draw(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

static void seed(uint64_t a, uint64_t b)
{
    state = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xc2b2ae3d27d4eb4fu;
    for (int i = 0; i < 8; i++)
        draw(2);
}

static void dawdle(void)
{
    if (draw(2))
        usleep(draw(SLOW_US));
}

/* ---- what both sides do with their intercommunicator ---- */

static void talk(MPI_Comm inter, int key)
{
    static int mine[N], theirs[N];
    int rank, others, sum = 0, word = 1;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, others);
    for (int i = 0; i < N; i++)
        mine[i] = key + i;
    if (rank == 0)
        MPI_Sendrecv(mine, N, MPI_INT, 0, 1, theirs, N, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    for (int i = 0; i < N && rank == 0; i += 97)
        CHECK_EQ(theirs[i], key + i, "at %d", i);
}

static void merge(MPI_Comm inter, int high)
{
    MPI_Comm all, twice;
    int n, one = 1, sum = 0;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_dup(all, &twice);
    MPI_Comm_size(all, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, twice);
    CHECK_EQ(sum, n);
    MPI_Comm_disconnect(&twice);
    MPI_Comm_disconnect(&all);
}

static void window(MPI_Comm inter, int high)
{
    MPI_Comm all;
    MPI_Win win;
    int *part, n, rank, one = 1, was;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_size(all, &n);
    MPI_Comm_rank(all, &rank);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, all, &part, &win);
    part[0] = part[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % n, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(part[0], (rank + n - 1) % n);
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < n; to++)
        MPI_Fetch_and_op(&one, &was, MPI_INT, to, 1, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(all);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK_EQ(part[1], n);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Comm_disconnect(&all);
}

static void file(MPI_Comm inter, int high)
{
    MPI_Comm all;
    MPI_File f;
    char name[200] = "";
    MPI_Offset at = -1;
    int rank, n, word = -1;
    const char *folder = getenv("TMPDIR");
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &n);
    if (rank == 0)
        snprintf(name, sizeof name, "%s/keel-stress-%d", folder != NULL ? folder : "/tmp", (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all);
    CHECK_ERR(MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    MPI_File_write_at_all(f, (MPI_Offset)(rank * (int)sizeof rank), &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(all);
    MPI_File_read_at_all(f, (MPI_Offset)((rank + 1) % n * (int)sizeof rank), &word, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    CHECK_EQ(word, (rank + 1) % n);
    MPI_Barrier(all); /* what follows overwrites it */
    for (int i = 0; i < 3; i++)
        MPI_File_write_shared(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(all);
    MPI_File_get_position_shared(f, &at);
    CHECK_EQ(at, 3 * n * (int)sizeof rank);
    MPI_File_close(&f);
    MPI_Comm_disconnect(&all);
}

/* ---- children ---- */

static MPI_Comm bear(MPI_Comm comm, const char *task, const char *port, int children)
{
    char level[4], number[16];
    char *args[] = { "child", level, number, (char *)task, (char *)port, NULL }, **both[] = { args, args };
    char *programs[] = { program, program };
    int each[] = { children, 1 }, rank;
    MPI_Info none[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    MPI_Comm inter;
    snprintf(level, sizeof level, "%u", draw(5)); /* 4: as its parent */
    if (level[0] == '4')
        strcpy(level, level_text);
    snprintf(number, sizeof number, "%u", draw(1000000));
    MPI_Comm_rank(comm, &rank);
    if (draw(3) == 0 && comm == MPI_COMM_SELF)
        CHECK_EQ(MPI_Comm_spawn_multiple(2, programs, both, each, none, 0, comm, &inter, MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Comm_spawn(program, args, children, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
    return inter;
}

static void with_children(const char *task, void (*use)(MPI_Comm inter, int high))
{
    MPI_Comm inter = bear(MPI_COMM_SELF, task, "", 1 + (int)draw(MOST_CHILDREN));
    dawdle();
    if (use != NULL)
        use(inter, 0);
    else
        talk(inter, 7);
    dawdle();
    MPI_Comm_disconnect(&inter);
}

static void spawns(void)
{
    with_children("talk", NULL);
}

static void merges(void)
{
    with_children("merge", merge);
}

static void makes_window(void)
{
    with_children("window", window);
}

static void opens_file(void)
{
    with_children("file", file);
}

/* A child parts with its parent, and comes again by a port, or by its published name. */
static void accepts(const char *task, int publishes)
{
    char port[MPI_MAX_PORT_NAME], name[64];
    MPI_Comm inter, again;
    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(name, sizeof name, "stress-%d-%u", (int)getpid(), draw(1000000));
    if (publishes)
        CHECK_EQ(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    inter = bear(MPI_COMM_SELF, task, publishes ? name : port, 1);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    dawdle();
    CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &again), MPI_SUCCESS);
    talk(again, 9);
    MPI_Comm_disconnect(&again);
    if (publishes)
        CHECK_EQ(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Close_port(port);
}

static void accepts_by_port(void)
{
    accepts("port", 0);
}

static void accepts_by_name(void)
{
    accepts("name", 1);
}

/* Killed while its parent waits for a message of it. */
static void loses(void)
{
    int word = 0;
    if (!deaths || draw(4)) {
        spawns();
        return;
    }
    MPI_Comm inter = bear(MPI_COMM_SELF, "die", "", 1);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Recv(&word, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    MPI_Comm_free(&inter);
}

static void waits(void)
{
    int flag;
    for (int i = 0; i < 20; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        usleep(draw(200));
    }
}

static void (*const alone[])(void) = { spawns,          merges,          makes_window, opens_file,
                                       accepts_by_port, accepts_by_name, loses,        waits };

/* ---- together ---- */

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void spawn_together(void)
{
    MPI_Comm inter = bear(MPI_COMM_WORLD, "merge", "", 2);
    merge(inter, 0);
    MPI_Comm_disconnect(&inter);
}

/* The upper half comes to the lower one. */
static void halves(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    int upper = check_rank >= check_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
    if (check_rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    dawdle();
    if (upper)
        CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter), MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter), MPI_SUCCESS);
    talk(inter, 11);
    MPI_Comm_disconnect(&inter);
    if (check_rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

/* Each to the next, as messages that nobody waits for at once. */
static void ring(void)
{
    int word = -1, mine = check_rank + round_now;
    MPI_Request r;
    int before = (check_rank + check_size - 1) % check_size;
    MPI_Irecv(&word, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &r);
    MPI_Send(&mine, 1, MPI_INT, (check_rank + 1) % check_size, 2, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(word, before + round_now);
}

static void (*const together[])(void) = { barrier, ring, barrier, spawn_together, ring, halves };

/* ---- both mains ---- */

static void come_again(const char *where, int is_name)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    snprintf(port, sizeof port, "%s", where);
    if (is_name && check_rank == 0)
        CHECK_EQ(MPI_Lookup_name(where, MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    talk(inter, 9);
    MPI_Comm_disconnect(&inter);
}

static void child(MPI_Comm parent, const char *task, const char *where)
{
    int comes_again = strcmp(task, "port") == 0 || strcmp(task, "name") == 0;
    dawdle();
    if (strcmp(task, "die") == 0)
        raise(SIGKILL);
    if (strcmp(task, "talk") == 0)
        talk(parent, 7);
    else if (strcmp(task, "merge") == 0)
        merge(parent, 1);
    else if (strcmp(task, "window") == 0)
        window(parent, 1);
    else if (strcmp(task, "file") == 0)
        file(parent, 1);
    else
        MPI_Barrier(parent);
    dawdle();
    MPI_Comm_disconnect(&parent);
    if (comes_again)
        come_again(where, task[0] == 'n');
}

static void parents(int rounds, uint64_t from)
{
    for (round_now = 0; round_now < rounds; round_now++) {
        seed(from + (uint64_t)round_now, (uint64_t)check_rank);
        for (unsigned i = draw(MOST_ALONE + 1); i > 0; i--)
            alone[draw(sizeof alone / sizeof *alone)]();
        seed(from + (uint64_t)round_now, 1000);
        together[draw(sizeof together / sizeof *together)]();
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int is_child = strcmp(argv[1], "child") == 0, level = atoi(argv[2]), got;
    program = argv[0];
    snprintf(level_text, sizeof level_text, "%d", level % 10);
    uint64_t from = argc > 4 && !is_child ? strtoull(argv[4], NULL, 10) : 1;
    seed(is_child ? strtoull(argv[3], NULL, 10) : from, (uint64_t)getpid());
    if (is_child)
        dawdle();
    static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                  MPI_THREAD_MULTIPLE };
    MPI_Init_thread(&argc, &argv, levels[level % 4], &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Comm_get_parent(&parent);
    deaths = !is_child && atoi(argv[3]);
    if (is_child)
        child(parent, argv[4], argc > 5 ? argv[5] : "");
    else
        parents(atoi(argv[1]), from);
    return check_done();
}

#endif
