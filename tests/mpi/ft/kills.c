/* SPDX-License-Identifier: BSD-3-Clause */
/* Round after round some members, one to all but one, die in calls of a chapter, before, within or between them;
 * those that live agree, shrink, count themselves, compute a checked result, and go on, until one is left.
 * Arguments: a seed, and perhaps the name of the one work to do. */
/* ranks: 4 8 16 */
/* mpiexec: -with-ft ulfm */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "ft.h"
#include <stdbool.h>
#include <sys/time.h>

enum { MANY = 4000, MOST = 64, TAG = 3 };

/* ---- Who dies when, the same in all members ---- */

static uint64_t seed;

static unsigned any(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static MPI_Comm comm;
static int rank, size;
static bool dies;   /* this process, in this round */
static int dies_at; /* at this step, unless something ends it before */
static int steps;

/* A place between two calls. */
static void step(void)
{
    if (dies && steps++ == dies_at)
        ft_die();
}

static void now_it_dies(int sig)
{
    (void)sig;
    kill(getpid(), SIGKILL);
}

/* One that dies after so many microseconds, whatever it does then. */
static void die_in(unsigned us)
{
    signal(SIGALRM, now_it_dies);
    setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, (int)us + 1 } }, NULL);
}

/* ---- Works: each ends with 0, or with an error after which it has tidied up ---- */

static int longs[MANY * 2], more[MANY * 2];

/* Whoever has met an error ends the waiting of all, itself included. */
static int failed(int err)
{
    if (err)
        MPIX_Comm_revoke(comm);
    return err;
}

#define DO(call) \
    do { \
        step(); \
        if (!err) \
            err = failed(call); \
    } while (0)

/* What some have made others may not have: all learn whether they have it.  An error, if not. */
static int made_by_all(int err)
{
    int flag = err == 0;
    step();
    MPIX_Comm_agree(comm, &flag);
    return flag || err ? err : failed(MPI_ERR_OTHER);
}

static void wait_for(int n, MPI_Request *r)
{
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
}

static int blocking(unsigned kind)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, n = kind & 1 ? MANY : 1, err = 0;
    MPI_Status s;
    MPI_Message m;
    if (size == 1)
        return 0;
    DO(MPI_Sendrecv(longs, n, MPI_INT, next, TAG, more, n, MPI_INT, before, TAG, comm, &s));
    DO(MPI_Sendrecv_replace(longs, n, MPI_INT, next, TAG, before, TAG, comm, &s));
    if (rank == 0)
        DO(kind & 2 ? MPI_Ssend(longs, n, MPI_INT, next, TAG, comm)
                    : MPI_Send(longs, n, MPI_INT, next, TAG, comm));
    if (kind & 4) {
        DO(MPI_Probe(before, TAG, comm, &s));
        DO(MPI_Recv(more, n, MPI_INT, before, TAG, comm, &s));
    } else {
        DO(MPI_Mprobe(before, TAG, comm, &m, &s));
        DO(MPI_Mrecv(more, n, MPI_INT, &m, &s));
    }
    if (rank != 0)
        DO(MPI_Send(longs, n, MPI_INT, next, TAG, comm));
    if (rank == 0)
        for (int i = 1; i < size && !err; i++)
            DO(MPI_Recv(more, n, MPI_INT, MPI_ANY_SOURCE, TAG + 1, comm, &s));
    else
        DO(MPI_Send(longs, n, MPI_INT, 0, TAG + 1, comm));
    return err;
}

static int nonblocking(unsigned kind)
{
    MPI_Request r[2 * MOST];
    int n = 0, err = 0, len = kind & 1 ? MANY / 64 : 1, flag = 0, out, index[2 * MOST];
    for (int i = 0; i < size && i < MOST && !err; i++) {
        r[n] = r[n + 1] = MPI_REQUEST_NULL;
        DO(MPI_Irecv(more + i * len, len, MPI_INT, kind & 2 ? MPI_ANY_SOURCE : i, TAG, comm, &r[n]));
        n++;
        DO(MPI_Isend(longs, len, MPI_INT, i, TAG, comm, &r[n]));
        n++;
    }
    for (int i = 0; i < n && !err; i++)
        switch (kind >> 2 & 3) {
        case 0:
            DO(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
            i = n;
            break;
        case 1:
            DO(MPI_Waitany(n, r, &out, MPI_STATUS_IGNORE));
            break;
        case 2:
            DO(MPI_Waitsome(n, r, &out, index, MPI_STATUSES_IGNORE));
            break;
        default:
            while (!flag && !err)
                DO(MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE));
        }
    wait_for(n, r);
    return err;
}

static int persistent(unsigned kind)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, n = kind & 1 ? MANY / 4 : 4, err = 0;
    MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    if (kind & 2) {
        DO(MPI_Psend_init(longs, 4, n / 4, MPI_INT, next, TAG, comm, MPI_INFO_NULL, &r[0]));
        DO(MPI_Precv_init(more, 2, n / 2, MPI_INT, before, TAG, comm, MPI_INFO_NULL, &r[1]));
    } else {
        DO(MPI_Send_init(longs, n, MPI_INT, next, TAG, comm, &r[0]));
        DO(MPI_Recv_init(more, n, MPI_INT, before, TAG, comm, &r[1]));
    }
    for (int i = 0; i < 3 && !err; i++) {
        DO(MPI_Startall(2, r));
        for (int p = 0; kind & 2 && p < 4 && !err; p++)
            DO(MPI_Pready(p, r[0]));
        if (err && kind & 2)
            for (int p = 0; p < 4; p++)
                MPI_Pready(p, r[0]);
        DO(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 2; i++)
        if (r[i] != MPI_REQUEST_NULL) {
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            MPI_Request_free(&r[i]);
        }
    return err;
}

/* Of all collectives one form: blocking (r NULL), nonblocking, persistent. */
static int collective(unsigned what, int n, MPI_Request *r, bool again)
{
    static int counts[MOST], displs[MOST];
    static MPI_Datatype types[MOST];
    int root = (int)(what / 16) % size;
    for (int i = 0; i < size; i++) {
        counts[i] = n;
        displs[i] = i * n;
        types[i] = MPI_INT;
    }
#define FORM(name, ...) \
    (!r      ? MPI_##name(__VA_ARGS__) \
     : again ? MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r) \
             : MPI_I##name(__VA_ARGS__, r))
#define FORM_OF(upper, lower, ...) \
    (!r      ? MPI_##upper(__VA_ARGS__) \
     : again ? MPI_##upper##_init(__VA_ARGS__, MPI_INFO_NULL, r) \
             : MPI_I##lower(__VA_ARGS__, r))
    switch (what % 16) {
    case 0:
        return FORM_OF(Barrier, barrier, comm);
    case 1:
        return FORM_OF(Bcast, bcast, longs, n, MPI_INT, root, comm);
    case 2:
        return FORM_OF(Reduce, reduce, longs, more, n, MPI_INT, MPI_SUM, root, comm);
    case 3:
        return FORM_OF(Allreduce, allreduce, longs, more, n, MPI_INT, MPI_SUM, comm);
    case 4:
        return FORM_OF(Gather, gather, longs, n, MPI_INT, more, n, MPI_INT, root, comm);
    case 5:
        return FORM_OF(Gatherv, gatherv, longs, n, MPI_INT, more, counts, displs, MPI_INT, root, comm);
    case 6:
        return FORM_OF(Scatter, scatter, longs, n, MPI_INT, more, n, MPI_INT, root, comm);
    case 7:
        return FORM_OF(Scatterv, scatterv, longs, counts, displs, MPI_INT, more, n, MPI_INT, root, comm);
    case 8:
        return FORM_OF(Allgather, allgather, longs, n, MPI_INT, more, n, MPI_INT, comm);
    case 9:
        return FORM_OF(Allgatherv, allgatherv, longs, n, MPI_INT, more, counts, displs, MPI_INT, comm);
    case 10:
        return FORM_OF(Alltoall, alltoall, longs, n, MPI_INT, more, n, MPI_INT, comm);
    case 11:
        return FORM_OF(Alltoallv, alltoallv, longs, counts, displs, MPI_INT, more, counts, displs, MPI_INT,
                       comm);
    case 12:
        for (int i = 0; i < size; i++)
            displs[i] *= (int)sizeof(int);
        return FORM_OF(Alltoallw, alltoallw, longs, counts, displs, types, more, counts, displs, types, comm);
    case 13:
        return FORM_OF(Scan, scan, longs, more, n, MPI_INT, MPI_MAX, comm);
    case 14:
        return FORM_OF(Exscan, exscan, longs, more, n, MPI_INT, MPI_MAX, comm);
    default:
        return FORM_OF(Reduce_scatter_block, reduce_scatter_block, longs, more, n, MPI_INT, MPI_SUM, comm);
    }
}

static int collectives(unsigned kind)
{
    int err = 0, n = kind & 1 ? MANY / MOST : 1;
    MPI_Request r = MPI_REQUEST_NULL;
    for (unsigned i = 0; i < 6 && !err; i++) {
        unsigned what = kind / 8 + i * 5;
        switch (kind >> 1 & 3) {
        case 0:
        case 1:
            DO(collective(what, n, NULL, false));
            break;
        case 2:
            DO(collective(what, n, &r, false));
            DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
            wait_for(1, &r);
            break;
        default:
            DO(collective(what, n, &r, true));
            DO(MPI_Start(&r));
            DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
            if (r != MPI_REQUEST_NULL) {
                MPI_Wait(&r, MPI_STATUS_IGNORE);
                MPI_Request_free(&r);
            }
        }
    }
    return err;
}

static int long_collectives(unsigned kind)
{
    int err = 0;
    for (int i = 0; i < 3 && !err; i++) {
        DO(MPI_Allreduce(longs, more, MANY, MPI_INT, MPI_SUM, comm));
        DO(MPI_Bcast(longs, MANY * 2, MPI_INT, (int)kind % size, comm));
        DO(MPI_Reduce(longs, more, MANY * 2, MPI_INT, MPI_SUM, (int)kind % size, comm));
    }
    return err;
}

static int neighbors(unsigned kind)
{
    int err = 0, dims[1] = { size }, periods[1] = { 1 };
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    DO(MPI_Cart_create(comm, 1, dims, periods, 0, &cart));
    err = made_by_all(err);
    if (cart == MPI_COMM_NULL)
        return err;
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3 && !err; i++)
        if (kind & 1) {
            DO(MPI_Neighbor_alltoall(longs, 8, MPI_INT, more, 8, MPI_INT, cart));
        } else {
            DO(MPI_Ineighbor_allgather(longs, 8, MPI_INT, more, 8, MPI_INT, cart, &r));
            DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
    if (err)
        MPIX_Comm_revoke(cart);
    wait_for(1, &r);
    MPI_Comm_free(&cart);
    return err;
}

static int communicators(unsigned kind)
{
    int err = 0;
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL, c = MPI_COMM_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Group g;
    switch (kind % 6) {
    case 0:
        DO(MPI_Comm_dup(comm, &a));
        break;
    case 1:
        DO(MPI_Comm_split(comm, rank % 2, rank, &a));
        break;
    case 2:
        DO(MPI_Comm_idup(comm, &a, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (r != MPI_REQUEST_NULL)
            wait_for(1, &r);
        if (err)
            a = MPI_COMM_NULL; /* it is none */
        break;
    case 3:
        MPI_Comm_group(comm, &g);
        DO(MPI_Comm_create(comm, g, &a));
        MPI_Group_free(&g);
        break;
    case 4:
        MPI_Comm_group(comm, &g);
        DO(MPI_Comm_create_group(comm, g, 5, &a));
        MPI_Group_free(&g);
        break;
    default:
        DO(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &a));
    }
    err = made_by_all(err);
    if (!err && a != MPI_COMM_NULL && kind & 64 && kind % 6 == 1 && size > 1) {
        MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
        DO(MPI_Intercomm_create(a, 0, comm, rank % 2 ? 0 : 1, TAG, &b));
        if (err)
            MPIX_Comm_revoke(a); /* others may wait there */
        err = made_by_all(err);
        if (!err) {
            MPI_Comm_set_errhandler(b, MPI_ERRORS_RETURN);
            DO(MPI_Barrier(b));
            DO(MPI_Intercomm_merge(b, rank % 2, &c));
        }
    }
    if (!err && a != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
        DO(MPI_Allreduce(longs, more, 8, MPI_INT, MPI_SUM, a));
    }
    MPI_Comm *made[3] = { &c, &b, &a };
    for (int i = 0; i < 3; i++)
        if (*made[i] != MPI_COMM_NULL) {
            if (err)
                MPIX_Comm_revoke(*made[i]);
            MPI_Comm_free(made[i]);
        }
    return err;
}

static int windows(unsigned kind)
{
    int err = 0, *part = NULL, to = (rank + 1) % size, old = 0;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Group world, g;
    MPI_Request r = MPI_REQUEST_NULL;
    if (kind & 1)
        DO(MPI_Win_allocate(64 * sizeof *part, sizeof *part, MPI_INFO_NULL, comm, &part, &win));
    else
        DO(MPI_Win_create(more, 64 * sizeof *more, sizeof *more, MPI_INFO_NULL, comm, &win));
    err = made_by_all(err);
    if (win == MPI_WIN_NULL)
        return err;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3 && !err; i++)
        switch (kind >> 1 & 3) {
        case 0:
            DO(MPI_Win_fence(0, win));
            DO(MPI_Put(longs, 8, MPI_INT, to, 0, 8, MPI_INT, win));
            DO(MPI_Accumulate(longs, 8, MPI_INT, to, 8, 8, MPI_INT, MPI_SUM, win));
            DO(MPI_Win_fence(0, win));
            break;
        case 1:
            DO(MPI_Win_lock(kind & 8 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win));
            DO(MPI_Get(longs, 8, MPI_INT, to, 0, 8, MPI_INT, win));
            DO(MPI_Win_flush(to, win));
            DO(MPI_Fetch_and_op(longs, &old, MPI_INT, to, 3, MPI_SUM, win));
            DO(MPI_Win_unlock(to, win));
            break;
        case 2:
            DO(MPI_Win_lock_all(0, win));
            DO(MPI_Rput(longs, 8, MPI_INT, to, 0, 8, MPI_INT, win, &r));
            DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
            DO(MPI_Compare_and_swap(longs, longs + 1, &old, MPI_INT, to, 4, win));
            DO(MPI_Win_unlock_all(win));
            break;
        default:
            MPI_Comm_group(comm, &world);
            MPI_Group_incl(world, 1, (int[]){ (rank + size - 1) % size }, &g);
            DO(MPI_Win_post(g, 0, win));
            MPI_Group_free(&g);
            MPI_Group_incl(world, 1, &to, &g);
            DO(MPI_Win_start(g, 0, win));
            MPI_Group_free(&g);
            MPI_Group_free(&world);
            DO(MPI_Put(longs, 8, MPI_INT, to, 0, 8, MPI_INT, win));
            DO(MPI_Win_complete(win));
            DO(MPI_Win_wait(win));
        }
    if (err)
        MPIX_Win_revoke(win);
    wait_for(1, &r);
    step();
    int end = MPI_Win_free(&win);
    return err ? err : failed(end);
}

static int files(unsigned kind)
{
    static char name[100];
    int err = 0;
    MPI_File f = MPI_FILE_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    snprintf(name, sizeof name, "ft_kills.%d.%llu", check_size, (unsigned long long)seed);
    DO(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &f));
    err = made_by_all(err);
    if (f == MPI_FILE_NULL)
        goto gone;
    MPI_File_set_errhandler(f, MPI_ERRORS_RETURN);
    DO(MPI_File_write_at_all(f, rank * 64, longs, 16, MPI_INT, MPI_STATUS_IGNORE));
    switch (kind & 3) {
    case 0:
        DO(MPI_File_read_at_all(f, rank * 64, more, 16, MPI_INT, MPI_STATUS_IGNORE));
        DO(MPI_File_set_size(f, 1000));
        break;
    case 1:
        DO(MPI_File_write_shared(f, longs, 4, MPI_INT, MPI_STATUS_IGNORE));
        DO(MPI_File_write_ordered(f, longs, 4, MPI_INT, MPI_STATUS_IGNORE));
        break;
    case 2:
        DO(MPI_File_set_view(f, rank * 64, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        DO(MPI_File_iwrite_all(f, longs, 8, MPI_INT, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        break;
    default:
        DO(MPI_File_write_at_all_begin(f, rank * 64, longs, 8, MPI_INT));
        if (!err)
            DO(MPI_File_write_at_all_end(f, longs, MPI_STATUS_IGNORE));
        DO(MPI_File_sync(f));
    }
    if (err)
        MPIX_File_revoke(f);
    wait_for(1, &r);
    int end = MPI_File_close(&f);
    err = err ? err : failed(end);
gone:
    if (err)
        unlink(name); /* who has made it may be dead */
    return err;
}

/* A communicator of a group, without a parent: members of a name that no other round has. */
static int sessions(unsigned kind)
{
    int err = 0;
    char tag[60];
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group g;
    MPI_Comm made = MPI_COMM_NULL;
    step();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Comm_group(comm, &g);
    snprintf(tag, sizeof tag, "kills.%u.%llu", kind, (unsigned long long)seed);
    DO(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    MPI_Group_free(&g);
    err = made_by_all(err);
    if (made != MPI_COMM_NULL) {
        if (!err)
            DO(MPI_Allreduce(longs, more, 8, MPI_INT, MPI_SUM, made));
        if (err)
            MPIX_Comm_revoke(made);
        MPI_Comm_free(&made);
    }
    MPI_Session_finalize(&session);
    return err;
}

static const struct work {
    const char *name;
    int (*do_it)(unsigned kind);
} works[] = {
    { "blocking", blocking },           { "nonblocking", nonblocking }, { "persistent", persistent },
    { "collectives", collectives },     { "long", long_collectives },   { "neighbors", neighbors },
    { "communicators", communicators }, { "windows", windows },         { "files", files },
    { "sessions", sessions },
};
enum { WORKS = sizeof works / sizeof *works };

/* ---- Rounds ---- */

/* Who is left counts, and each has said so once. */
static void check_left(MPI_Comm left, uint64_t living)
{
    uint64_t mine = 1ull << check_rank % MOST, all = 0;
    int n = 0, me = check_rank + 1, sum = 0, expected = 0;
    CHECK_ERR(MPI_Comm_size(left, &n), MPI_SUCCESS);
    CHECK_ERR(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, left), MPI_SUCCESS);
    CHECK(all == living, "those that live are %llx, expected %llx", (unsigned long long)all,
          (unsigned long long)living);
    CHECK_ERR(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, left), MPI_SUCCESS);
    for (int i = 0; i < check_size; i++)
        expected += living >> i & 1 ? i + 1 : 0;
    CHECK_EQ(sum, expected, "the sum of ranks");
    CHECK_EQ(n, __builtin_popcountll(living), "the number");
    int flag = 1; /* nobody goes on to where an error would end this for others */
    CHECK_ERR(MPIX_Comm_agree(left, &flag), MPI_SUCCESS);
}

/* The members of comm that die in this round, as bits of ranks in MPI_COMM_WORLD. */
static uint64_t choose(uint64_t living)
{
    int victims = any(4) ? 1 : 1 + (int)any((unsigned)size - 1);
    uint64_t dead = 0;
    while (victims > 0) {
        int i = (int)any((unsigned)check_size);
        if (living >> i & 1 && !(dead >> i & 1)) {
            dead |= 1ull << i;
            victims--;
        }
    }
    return dead;
}

static void round_of(const struct work *w, uint64_t *living)
{
    uint64_t dead = choose(*living);
    unsigned kind = any(1 << 16), how = any(8), us = any(3000), at = any(14);
    uint64_t after = seed;
    dies = dead >> check_rank & 1;
    dies_at = how < 4 ? (int)at : 1 << 30;
    steps = 0;
    seed = after + (uint64_t)check_rank; /* victims of one round differ in when */
    if (dies && how >= 4 && how < 7)
        die_in((us + any(500)) % 3000);
    seed = after;
    int flag = failed(w->do_it(kind)) == 0;
    if (dies && how < 7)
        ft_die();
    if (dies)
        die_in(any(1000));
    MPIX_Comm_agree(comm, &flag);
    if (dies)
        ft_die();
    seed = after;
    *living &= ~dead;
    MPI_Comm left = MPI_COMM_NULL;
    CHECK_ERR(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    if (left == MPI_COMM_NULL)
        _exit(1);
    comm = left;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check_left(comm, *living);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    seed = argc > 1 ? (uint64_t)atoi(argv[1]) * 2654435761u : 1;
    comm = MPI_COMM_WORLD;
    rank = check_rank;
    size = check_size < MOST ? check_size : MOST;
    uint64_t living = size == MOST ? ~0ull : (1ull << size) - 1;
    while (size > 1) {
        const struct work *w = &works[any(WORKS)];
        for (int i = 0; argc > 2 && i < WORKS; i++)
            if (strcmp(works[i].name, argv[2]) == 0)
                w = &works[i];
        round_of(w, &living);
    }
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    return check_done();
}
