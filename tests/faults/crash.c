/* SPDX-License-Identifier: BSD-3-Clause */
/* crash.c: ranks that die of their own mistakes, in functions that the report should name.  crash WAY [RANKS that
 * do it]. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))
static volatile int zero;
static volatile void *keep;

OWN static void write_at(volatile int *p)
{
    *p = 1; /* here: write */
}

OWN static int divide(int a)
{
    return a / zero; /* here: divide */
}

OWN static void undefined(void)
{
    __builtin_trap(); /* here: undefined */
}

OWN static void beyond_file(void)
{
    char name[] = "/tmp/crashXXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    (void)*p; /* here: beyond */
}

OWN static void give_up(void)
{
    abort(); /* here: abort */
}

OWN static int deep(int n)
{
    volatile char some[1000];
    some[n % 1000] = (char)n;
    return deep(n + 1) + some[n % 1000]; /* here: deep */
}

OWN static void bad_copy(void)
{
    char from[40] = "0123456789012345678901234567890123456";
    void *to = (void *)(size_t)(16 + zero);
    memcpy(to, from, (size_t)(32 + zero)); /* here: copy */
}

OWN static void bad_send(void)
{
    int x = 0;
    MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD); /* here: send */
}

OWN static void bad_buffer(void)
{
    void *in = (void *)(size_t)64, *out = (void *)(size_t)128;
    MPI_Allreduce(in, out, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* here: buffer */
}

static void own_handler(int sig)
{
    (void)sig;
    fputs("own handler\n", stderr);
    _exit(5);
}

static void do_it(const char *way)
{
    if (strcmp(way, "write") == 0)
        write_at((int *)(size_t)(8 + zero));
    else if (strcmp(way, "heap") == 0)
        write_at((int *)((size_t)&keep + 0x10000000000u * (size_t)(1 + zero)));
    else if (strcmp(way, "divide") == 0)
        zero = divide(1);
    else if (strcmp(way, "undefined") == 0)
        undefined();
    else if (strcmp(way, "beyond") == 0)
        beyond_file();
    else if (strcmp(way, "abort") == 0)
        give_up();
    else if (strcmp(way, "deep") == 0)
        zero = deep(1);
    else if (strcmp(way, "copy") == 0)
        bad_copy();
    else if (strcmp(way, "send") == 0)
        bad_send();
    else if (strcmp(way, "buffer") == 0)
        bad_buffer();
    else if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGSEGV);
    else if (strcmp(way, "handler") == 0)
        signal(SIGSEGV, own_handler), write_at(NULL);
    else if (strcmp(way, "fork") == 0 && fork() == 0)
        write_at((int *)(size_t)(8 + zero));
    sleep(way[0] == 'f' ? 1 : 0);
}

static void handlers(const char *when)
{
    int n = 0, which[] = { SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL };
    for (int i = 0; i < 5; i++) {
        struct sigaction a;
        sigaction(which[i], NULL, &a);
        n += a.sa_handler != SIG_DFL;
    }
    printf("%s: %d handlers\n", when, n);
}

int main(int argc, char **argv)
{
    int rank;
    const char *way = argv[1];
    if (strcmp(way, "before") == 0)
        signal(SIGSEGV, own_handler);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(way, "count") == 0) {
        handlers("between");
        MPI_Finalize();
        handlers("after");
        return 0;
    }
    if (argc < 3 || rank < atoi(argv[2]))
        do_it(strcmp(way, "before") == 0 ? "write" : way); /* here: main */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
