/* SPDX-License-Identifier: BSD-3-Clause */
/* floor: what this machine can do between two processes on two cores, with no library at all.
 *
 *   floor [line] [stream] [copy] [pingpong] [exchange] [store] [update]    none: all; prints rows of CSV as
 *                                                                          mpi_bench does
 * line: a 64-byte line one way: each of the two writes one and reads the other's, as messages do. line_both: one
 * line that both write in turns (processors may treat it better). stream: lines through a ring, in M/s. copy: two
 * copies through a shared ring of chunks, both cores copying, by size of message (MB/s). pingpong: half a round
 * trip of a message that goes the same way, pipelined below the message (us). exchange: 64 blocks of 1 MB copied
 * by two cores, from and to more memory than the caches hold (us). store: 8 bytes stored in shared memory, and a
 * fence (us); update: 8 bytes added to, as one step (us); nobody else touches them.
 *
 * copy and pingpong try rings and chunks of several sizes, with and without cleaning (clwb) the lines that have
 * been read, which makes it cheap for the writer to write them again, and keep the best: the floor must not be
 * that of one bad choice. */
#define _GNU_SOURCE
#include <immintrin.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RING = 4 << 20, MOST_MESSAGE = 4 << 20, TRIES = 3 };
typedef struct {
    _Alignas(128) _Atomic uint64_t v;
} line;

/* What the two processes share. */
static struct shared {
    line a, b, go, done, ahead[2], back[2];
    double took[2];
    _Alignas(4096) char ring[2][MOST_RING];
} * S;
static char *mine; /* a message */
static int me;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void wait_for(line *l, uint64_t x)
{
    while (atomic_load_explicit(&l->v, memory_order_acquire) < x)
        ;
}
static void say(line *l, uint64_t x)
{
    atomic_store_explicit(&l->v, x, memory_order_release);
}
static void together(void)
{
    static uint64_t n;
    n++;
    say(me == 0 ? &S->go : &S->done, n);
    wait_for(me == 0 ? &S->done : &S->go, n);
}
static void report(const char *name, const char *by, long n, double value, const char *unit)
{
    if (me == 0)
        printf("%s,floor,2,%s,%ld,%.6g,%s,%s,%.6g,%.6g,1\n", name, by, n, value, unit,
               unit[0] == 'M' ? "more" : "less", value, value);
    fflush(stdout);
}

/* ---- Lines ---- */

static double one_line(long n)
{
    if (me == 0)
        say(&S->a, 0);
    together();
    double start = now();
    for (long i = 0; i < n; i++) {
        wait_for(&S->a, (uint64_t)(2 * i + me));
        say(&S->a, (uint64_t)(2 * i + me + 1));
    }
    together();
    return (now() - start) / (double)n / 2;
}
static double two_lines(long n)
{
    say(me == 0 ? &S->a : &S->b, 0);
    together();
    double start = now();
    for (long i = 1; i <= n; i++) {
        if (me == 0)
            say(&S->a, (uint64_t)i);
        wait_for(me == 0 ? &S->b : &S->a, (uint64_t)i);
        if (me == 1)
            say(&S->b, (uint64_t)i);
    }
    together();
    return (now() - start) / (double)n / 2;
}
static void line_time(const char *name, double (*try)(long n))
{
    enum { N = 20000 };
    double best = 1;
    try(N / 10);
    for (int i = 0; i < TRIES; i++) {
        double x = try(N);
        best = x < best ? x : best;
    }
    report(name, "none", 0, best * 1e6, "us");
}
static void lines(void)
{
    line_time("line", two_lines);
    line_time("line_both", one_line);
}

/* Each line carries its number; the reader says every 64 lines how far it is. */
static double stream_of(long n, long slots)
{
    typedef struct {
        _Atomic uint64_t number;
        uint64_t data[7];
    } slot;
    slot *ring = (slot *)S->ring[0];
    uint64_t seen = 0, sum = 0;
    if (me == 0) {
        memset(ring, 0, sizeof *ring * (size_t)slots);
        say(&S->b, 0);
    }
    together();
    double start = now();
    for (long i = 1; i <= n; i++) {
        slot *s = &ring[i & (slots - 1)];
        if (me == 0) {
            while ((uint64_t)i - seen > (uint64_t)slots)
                seen = atomic_load_explicit(&S->b.v, memory_order_acquire);
            s->data[0] = (uint64_t)i;
            atomic_store_explicit(&s->number, (uint64_t)i, memory_order_release);
        } else {
            while (atomic_load_explicit(&s->number, memory_order_acquire) != (uint64_t)i)
                ;
            sum += s->data[0];
            if ((i & 63) == 0)
                say(&S->b, (uint64_t)i);
        }
    }
    together();
    mine[0] = (char)sum;
    return (double)n / (now() - start);
}
static void stream(void)
{
    double best = 0;
    for (long slots = 256; slots <= 16384; slots *= 8)
        for (int i = 0; i < TRIES; i++) {
            double x = stream_of(1000000, slots);
            best = x > best ? x : best;
        }
    report("stream", "none", 0, best / 1e6, "M/s");
}

/* ---- Copies ---- */

#define WIDE __attribute__((target("avx512f")))
#define CLEAN __attribute__((target("avx512f,clwb")))
static int wide, can_clean;

/* Of 64 bytes each; all lengths here are multiples. */
WIDE static void copy_wide(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += 256) {
        __m512i w = _mm512_loadu_si512(from + i), x = _mm512_loadu_si512(from + i + 64),
                y = _mm512_loadu_si512(from + i + 128), z = _mm512_loadu_si512(from + i + 192);
        _mm512_storeu_si512(to + i, w);
        _mm512_storeu_si512(to + i + 64, x);
        _mm512_storeu_si512(to + i + 128, y);
        _mm512_storeu_si512(to + i + 192, z);
    }
}
CLEAN static void clean(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i += 64)
        _mm_clwb((char *)(uintptr_t)(p + i));
}
static void copy(char *to, const char *from, size_t n)
{
    if (wide)
        copy_wide(to, from, n);
    else
        memcpy(to, from, n);
}

enum cleaning { NEVER, AT_ONCE, LATER, WAYS };
/* How a message goes: the best is looked for. */
struct way {
    size_t ring, chunk;
    enum cleaning cleaning;
};

static void copy_out(char *to, const char *from, size_t n, enum cleaning cleaning)
{
    enum { PIECE = 512 };
    if (cleaning != AT_ONCE) {
        copy(to, from, n);
        return;
    }
    for (size_t i = 0; i < n; i += PIECE) {
        size_t piece = n - i < PIECE ? n - i : PIECE;
        copy(to + i, from + i, piece);
        clean(from + i, piece);
    }
}

/* One direction: how many bytes were written into the ring and read from it. */
struct lane {
    char *ring;
    line *ahead, *back;
    uint64_t at, room_to;
};

static void put_message(struct lane *l, const struct way *w, size_t n)
{
    for (size_t i = 0; i < n; i += w->chunk) {
        size_t len = n - i < w->chunk ? n - i : w->chunk;
        while (l->at + len > l->room_to)
            l->room_to = atomic_load_explicit(&l->back->v, memory_order_acquire) + w->ring;
        copy(l->ring + l->at % w->ring, mine + i, len);
        l->at += len;
        say(l->ahead, l->at);
    }
}
static void get_message(struct lane *l, const struct way *w, size_t n)
{
    for (size_t i = 0; i < n; i += w->chunk) {
        size_t len = n - i < w->chunk ? n - i : w->chunk;
        wait_for(l->ahead, l->at + len);
        copy_out(mine + i, l->ring + l->at % w->ring, len, w->cleaning);
        l->at += len;
        if (w->cleaning != LATER)
            say(l->back, l->at);
    }
}
/* Off the way of the message that has come: while its answer is on its way. */
static void clean_later(struct lane *l, const struct way *w, size_t n)
{
    size_t len = n < w->ring ? n : w->ring, from = (l->at - len) % w->ring, first = w->ring - from;
    if (w->cleaning != LATER)
        return;
    first = first < len ? first : len;
    clean(l->ring + from, first);
    clean(l->ring, len - first);
    say(l->back, l->at);
}

static struct lane lane_from(int from)
{
    struct lane l = { S->ring[from], &S->ahead[from], &S->back[from], 0, 0 };
    return l;
}
static void reset(void)
{
    for (int i = 0; i < 2 && me == 0; i++) {
        say(&S->ahead[i], 0);
        say(&S->back[i], 0);
    }
    together();
}

/* Seconds a message. */
static double pipelined(const struct way *w, size_t n, long messages)
{
    reset();
    struct lane l = lane_from(0);
    double start = now();
    for (long i = 0; i < messages; i++)
        if (me == 0)
            put_message(&l, w, n);
        else
            get_message(&l, w, n);
    together();
    return (now() - start) / (double)messages;
}
/* Seconds of half a round trip. */
static double ping_pong(const struct way *w, size_t n, long messages)
{
    reset();
    struct lane there = lane_from(me), here = lane_from(1 - me);
    double start = now();
    for (long i = 0; i < messages; i++) {
        if (me == 1)
            get_message(&here, w, n);
        put_message(&there, w, n);
        if (me == 1)
            clean_later(&here, w, n);
        if (me == 0) {
            get_message(&here, w, n);
            clean_later(&here, w, n);
        }
    }
    together();
    return (now() - start) / (double)messages / 2;
}

typedef double trial(const struct way *w, size_t n, long messages);

/* Both processes must try the same: the parent's clock decides. */
static double agreed(double seconds)
{
    S->took[me] = seconds;
    together();
    seconds = S->took[0];
    together();
    return seconds;
}

/* The seconds of the best way; each way gets a millisecond or two, the best ones more. */
static double best_way(trial *try, size_t n, int later, struct way *best)
{
    enum { KEEP = 4 };
    struct way ways[KEEP];
    double took[KEEP] = { 1, 1, 1, 1 }, least = 1;
    long few = (long)((16 << 20) / n / 8) + 2, many = (long)((512 << 20) / n / 8) + 2;
    for (size_t ring = 16 << 10; ring <= MOST_RING; ring *= 4)
        for (size_t chunk = n < 1024 ? n : 1024; chunk <= 65536 && chunk <= n && chunk <= ring / 2;
             chunk *= 2)
            for (int cleaning = NEVER; cleaning < (can_clean ? WAYS : AT_ONCE); cleaning++) {
                struct way w = { ring, chunk, (enum cleaning)cleaning };
                if (cleaning == LATER && (!later || n > ring))
                    continue;
                try(&w, n, few / 4 + 1);
                double s = agreed(try(&w, n, few));
                for (int i = 0; i < KEEP; i++)
                    if (s < took[i]) {
                        memmove(&took[i + 1], &took[i], sizeof took[0] * (size_t)(KEEP - 1 - i));
                        memmove(&ways[i + 1], &ways[i], sizeof ways[0] * (size_t)(KEEP - 1 - i));
                        took[i] = s;
                        ways[i] = w;
                        break;
                    }
            }
    for (int i = 0; i < KEEP; i++)
        for (int t = 0; t < TRIES; t++) {
            double s = agreed(try(&ways[i], n, many));
            if (s < least) {
                least = s;
                *best = ways[i];
            }
        }
    return least;
}

static void explain(const char *what, size_t n, const struct way *w)
{
    static const char *const cleaning[] = { "no cleaning", "cleaned at once", "cleaned later" };
    if (me == 0 && getenv("FLOOR_VERBOSE"))
        fprintf(stderr, "%s %zu: ring %zu, chunks %zu, %s\n", what, n, w->ring, w->chunk,
                cleaning[w->cleaning]);
}
static void copies(void)
{
    struct way w;
    for (size_t n = 1 << 10; n <= MOST_MESSAGE; n *= 4) {
        report("copy", "bytes", (long)n, (double)n / best_way(pipelined, n, 0, &w) / 1e6, "MB/s");
        explain("copy", n, &w);
    }
}
static void pingpongs(void)
{
    struct way w;
    static const size_t sizes[] = { 256, 1 << 10, 4 << 10, 64 << 10, 256 << 10, 1 << 20 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        report("pingpong", "bytes", (long)sizes[i], best_way(ping_pong, sizes[i], 1, &w) * 1e6, "us");
        explain("pingpong", sizes[i], &w);
    }
}

/* ---- More than the caches hold ---- */

/* Stores that pass the caches. */
WIDE static void copy_past(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += 64)
        _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512(from + i));
    _mm_sfence();
}

/* What an exchange of blocks of n bytes among 8 ranks moves, each block once: half of the 64 by each process, in us. */
static void exchanges(void)
{
    enum { RANKS = 8, BLOCKS = RANKS * RANKS };
    size_t n = 1 << 20;
    char *from = mmap(NULL, BLOCKS * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *to = mmap(NULL, BLOCKS * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double least = 1;
    if (from == MAP_FAILED || to == MAP_FAILED)
        return;
    memset(from, 1, BLOCKS * n);
    memset(to, 1, BLOCKS * n);
    for (int past = 0; past <= (wide != 0); past++)
        for (int t = 0; t < 2 * TRIES; t++) {
            together();
            double start = now();
            for (int i = 0; i < BLOCKS / 2; i++) {
                size_t block = (size_t)(me * BLOCKS / 2 + i);
                (past ? copy_past : copy)(to + (block % RANKS * RANKS + block / RANKS) * n, from + block * n,
                                          n);
            }
            together();
            double s = agreed(now() - start);
            least = s < least ? s : least;
        }
    report("exchange", "bytes", (long)n, least * 1e6, "us");
}

/* ---- One side alone ---- */

/* By no call: a fence writes the stack, and a return that reads it at once would wait. */
static double stores(long n)
{
    double start = now();
    for (long i = 0; i < n; i++) {
        atomic_store_explicit(&S->a.v, 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return now() - start;
}
static double updates(long n)
{
    double start = now();
    for (long i = 0; i < n; i++)
        atomic_fetch_add(&S->a.v, 1);
    return now() - start;
}
static void one_sided(const char *name, double (*access)(long n))
{
    enum { N = 100000 };
    double least = 1;
    for (int t = 0; t < 10 * TRIES && me == 0; t++) {
        double s = access(N) / N;
        least = s < least ? s : least;
    }
    together();
    report(name, "bytes", 8, least * 1e6, "us");
}

/* To the first or the second of the processors there are. */
static void pin(int which)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof all, &all);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &all) && which-- == 0)
            CPU_SET(c, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static int wants(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return 1;
    return argc == 1;
}

int main(int argc, char **argv)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) {
        fprintf(stderr, "floor: needs two processors\n");
        return 77;
    }
    S = mmap(NULL, sizeof *S, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (S == MAP_FAILED)
        return 1;
    memset(S, 0, sizeof *S);
    wide = __builtin_cpu_supports("avx512f");
    unsigned eax, ebx = 0, ecx, edx;
    __asm__ volatile("cpuid" : "=a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx) : "a"(7), "c"(0));
    can_clean = wide && (ebx >> 24 & 1);
    puts("test,group,ranks,by,n,value,unit,better,least,most,blocks");
    fflush(stdout);
    pid_t child = fork();
    me = child == 0;
    if (me == 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* or it would wait for ever for one that is gone */
    pin(me);
    mine = aligned_alloc(4096, MOST_MESSAGE);
    memset(mine, me + 1, MOST_MESSAGE);
    if (wants(argc, argv, "line"))
        lines();
    if (wants(argc, argv, "stream"))
        stream();
    if (wants(argc, argv, "copy"))
        copies();
    if (wants(argc, argv, "pingpong"))
        pingpongs();
    if (wants(argc, argv, "exchange"))
        exchanges();
    if (wants(argc, argv, "store"))
        one_sided("store", stores);
    if (wants(argc, argv, "update"))
        one_sided("update", updates);
    if (me == 0)
        waitpid(child, NULL, 0);
    return 0;
}
