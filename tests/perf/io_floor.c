/* SPDX-License-Identifier: BSD-3-Clause */
/* io_floor.c: what the system does without MPI, by as many processes: io_floor PROCESSES FILE: a line "what value
 * unit" each, the best of some times.
 *   pieces_4096_pwrite, _pread   pieces of 4096 bytes of the processes lie between each other: a call for each
 *   pieces_4096_store, _load     the same through mappings of 4 MiB, as the library makes them
 *   append                       records of 1 KiB behind each other by a common atomic offset, in an empty file
 *   append_in_turn               the same with a lock around each, so that the system's own lock is always free
 *   append_alone                 the same records by one process while the others wait
 *   overlap                      part of a write of 32 MiB by a thread that computing beside it hides; process 0 alone
 *   open_close                   microseconds, by all at once */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 4096,
    VIEW = 4 << 20,
    WINDOW = 4 << 20,
    RECORD = 1024,
    RECORDS = 1000,
    LONG = 32 << 20,
    TIMES = 10,
    MOST = 64
};
static struct all {
    _Atomic int come, turn; /* of a barrier */
    _Atomic long offset;
    _Atomic int locked;
    double seconds[MOST];
} * all;
static int me, size, fd;
static const char *name;
static char *buf;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    kill(0, SIGTERM); /* the others wait for this one */
    exit(1);
}

static void meet(void)
{
    int turn = all->turn;
    if (atomic_fetch_add(&all->come, 1) == size - 1) {
        all->come = 0;
        all->turn++;
    }
    for (int n = 0; all->turn == turn; n++)
        if (n > 1000)
            sched_yield();
}

static double latest(double seconds)
{
    double most = 0;
    all->seconds[me] = seconds;
    meet();
    for (int i = 0; i < size; i++)
        most = all->seconds[i] > most ? all->seconds[i] : most;
    meet();
    return most;
}

static void pwrite_pieces(void)
{
    for (long i = 0; i < VIEW / PIECE; i++)
        must(pwrite(fd, buf + i * PIECE, PIECE, (i * size + me) * PIECE) == PIECE, "pwrite");
}

static void pread_pieces(void)
{
    for (long i = 0; i < VIEW / PIECE; i++)
        must(pread(fd, buf + i * PIECE, PIECE, (i * size + me) * PIECE) == PIECE, "pread");
}

static void mapped_pieces(bool write)
{
    long i = 0;
    for (long at = 0; at < (long)VIEW * size; at += WINDOW) {
        must(!write || fallocate(fd, 0, at, WINDOW) == 0, "fallocate");
        char *m = mmap(NULL, WINDOW, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, at);
        must(m != MAP_FAILED, "mmap");
        if (write)
            madvise(m, WINDOW, MADV_HUGEPAGE);
        for (; (i * size + me) * PIECE < at + WINDOW; i++)
            if (write)
                memcpy(m + (i * size + me) * PIECE - at, buf + i * PIECE, PIECE);
            else
                memcpy(buf + i * PIECE, m + (i * size + me) * PIECE - at, PIECE);
        munmap(m, WINDOW);
    }
}

static void store_pieces(void)
{
    mapped_pieces(true);
}

static void load_pieces(void)
{
    mapped_pieces(false);
}

static void record(void)
{
    must(pwrite(fd, buf, RECORD, atomic_fetch_add(&all->offset, RECORD)) == RECORD, "pwrite");
}

static void append(void)
{
    for (int i = 0; i < RECORDS; i++)
        record();
}

static void append_in_turn(void)
{
    for (int i = 0; i < RECORDS; i++) {
        for (int n = 1; atomic_exchange(&all->locked, 1); n++)
            if (n % 10000 == 0)
                sched_yield();
        record();
        all->locked = 0;
    }
}

static void append_alone(void)
{
    for (int i = 0; me == 0 && i < RECORDS * size; i++)
        record();
}

static void open_close(void)
{
    close(open(name, O_RDWR | O_CREAT, 0666));
}

/* The shortest time that fn takes for all, each time with the file as it is, or empty. */
static double shortest(void (*fn)(void), bool empty)
{
    double best = 1e9;
    for (int k = 0; k < TIMES; k++) {
        meet();
        if (me == 0 && empty)
            must(ftruncate(fd, 0) == 0, "ftruncate");
        all->offset = 0;
        meet();
        double t = now();
        fn();
        t = latest(now() - t);
        best = t < best ? t : best;
    }
    return best;
}

static void show(const char *what, double value, const char *unit)
{
    if (me == 0)
        printf("%s %.3f %s\n", what, value, unit);
}

static void *write_long(void *ignored)
{
    must(pwrite(fd, buf, LONG, 0) == LONG, "pwrite");
    return ignored;
}

static void write_beside(long work)
{
    pthread_t t;
    volatile double x = 1;
    must(pthread_create(&t, NULL, write_long, NULL) == 0, "pthread_create");
    for (long i = 0; i < work; i++)
        x = x * 1.0000001 + 1e-9;
    pthread_join(t, NULL);
}

static double compute(long work)
{
    volatile double x = 1;
    double t = now();
    for (long i = 0; i < work; i++)
        x = x * 1.0000001 + 1e-9;
    return now() - t;
}

static double overlap(void)
{
    double write = 1e9, work = 1e9, both = 1e9, t;
    for (int k = 0; k < 2 * TIMES; k++) {
        t = now();
        write_beside(0);
        t = now() - t;
        write = t < write ? t : write;
    }
    long n = (long)(1e6 * write / compute(1000000));
    for (int k = 0; k < 2 * TIMES; k++) {
        t = compute(n);
        work = t < work ? t : work;
        t = now();
        write_beside(n);
        t = now() - t;
        both = t < both ? t : both;
    }
    return (write + work - both) / (write < work ? write : work);
}

int main(int argc, char **argv)
{
    size = argc > 2 ? atoi(argv[1]) : 0;
    if (size < 1 || size > MOST) {
        fprintf(stderr, "usage: io_floor PROCESSES FILE (1 to %d processes)\n", MOST);
        return 2;
    }
    name = argv[2];
    setpgid(0, 0);
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    buf = malloc(LONG);
    must(all != MAP_FAILED && buf != NULL, "memory");
    memset(buf, 1, LONG);
    fd = open(name, O_RDWR | O_CREAT, 0666);
    must(fd >= 0, name);
    for (long at = 0; at < (long)VIEW * size;
         at += 1 << 20) /* in large calls, as tests/perf/io.c leaves it */
        must(pwrite(fd, buf, 1 << 20, at) == 1 << 20, "pwrite");
    for (int i = 1; i < size && me == 0; i++)
        if (fork() == 0)
            me = i;
    double mb = (double)VIEW * size / 1e6;
    show("pieces_4096_store", mb / shortest(store_pieces, false), "MB/s");
    show("pieces_4096_load", mb / shortest(load_pieces, false), "MB/s");
    show("pieces_4096_pwrite", mb / shortest(pwrite_pieces, false), "MB/s");
    show("pieces_4096_pread", mb / shortest(pread_pieces, false), "MB/s");
    show("append", RECORDS * size / shortest(append, true), "1/s");
    show("append_in_turn", RECORDS * size / shortest(append_in_turn, true), "1/s");
    show("append_alone", RECORDS * size / shortest(append_alone, true), "1/s");
    show("open_close", shortest(open_close, false) * 1e6, "us");
    if (me)
        return 0;
    while (wait(NULL) > 0)
        ;
    show("overlap", overlap(), "part");
    unlink(name);
    return 0;
}
