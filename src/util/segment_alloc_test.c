/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap in the segment: blocks do not overlap, are zero, and give their memory back; threads, processes, killed
 * holders, want of memory. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "util/err.h"
#include "util/segment.h"

enum { RANKS = 4, MB = 1 << 20 };

static struct ku_segment seg;
static struct ku_heap heap;

/* ---- The system's answers to requests for pages ---- */

static _Atomic int refusals;             /* requests for pages to refuse; -1: all */
static _Atomic int *kill_at;             /* shared: the request at which this process kills itself */
static _Atomic uint64_t largest_request; /* bytes of pages in one call */

int __real_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len)
{
    if (kill_at != NULL && atomic_fetch_sub(kill_at, 1) == 1)
        raise(SIGKILL);
    if (mode == 0 && (uint64_t)len > largest_request)
        largest_request = (uint64_t)len;
    if (mode == 0 && refusals != 0) {
        if (refusals > 0)
            refusals--;
        errno = ENOSPC;
        return -1;
    }
    return __real_fallocate(fd, mode, offset, len);
}

static void set_up(void)
{
    refusals = 0;
    kill_at = NULL;
    ck_assert_int_eq(ku_segment_create(&seg, RANKS, RANKS, 0, 1), 0);
    ku_heap_open(&heap, &seg, 0, 1);
}

static void tear_down(void)
{
    ku_heap_close(&heap);
    ku_segment_detach(&seg);
}

static struct ku_heap_head *head(void)
{
    return (struct ku_heap_head *)((char *)seg.head + seg.head->heap_off);
}

static uint64_t file_pages(void)
{
    struct stat st;
    ck_assert_int_eq(fstat(seg.fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static bool zero(const char *p, size_t n)
{
    return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* A block, checked to be zero and then filled. */
static ku_block filled(struct ku_heap *h, size_t bytes, int with)
{
    ku_block b = ku_heap_alloc(h, bytes);
    char *p = b ? ku_heap_map(h, b) : NULL;
    ck_assert_msg(p != NULL, "%zu bytes: %s", bytes, ku_err_last()->text);
    ck_assert_uint_eq((uintptr_t)p % KU_HEAP_GRAIN, 0);
    ck_assert_msg(zero(p, bytes), "block of %zu bytes is zero", bytes);
    memset(p, with, bytes);
    ku_heap_unmap(h, b);
    return b;
}

static void check_filled(struct ku_heap *h, ku_block b, size_t bytes, int with)
{
    char *p = ku_heap_map(h, b);
    ck_assert(p != NULL);
    bool same = p[0] == (char)with && memcmp(p, p + 1, bytes - 1) == 0;
    ck_assert_msg(same, "a block of %zu bytes has its bytes, %d", bytes, with);
    ku_heap_unmap(h, b);
}

/* ---- One process ---- */

START_TEST(sizes)
{
    static const size_t sizes[] = { 1, 127, 128, 129, 3000, 65536, KU_HEAP_SMALL, KU_HEAP_SMALL + 1, 5 * MB };
    enum { N = sizeof sizes / sizeof *sizes, ROUNDS = 3 };
    uint64_t before = file_pages();
    for (int round = 0; round < ROUNDS; round++) {
        ku_block b[N];
        for (int i = 0; i < N; i++)
            b[i] = filled(&heap, sizes[i], i + 1);
        ck_assert_uint_ge(ku_heap_use(&heap).blocks, 5 * MB + 3 * KU_HEAP_SMALL / 2);
        ck_assert_uint_ge(ku_heap_use(&heap).pages, ku_heap_use(&heap).blocks);
        for (int i = 0; i < N; i++) {
            check_filled(&heap, b[i], sizes[i], i + 1);
            ku_heap_free(&heap, b[i]);
            ck_assert(ku_heap_map(&heap, b[i]) == NULL || sizes[i] <= KU_HEAP_SMALL);
        }
        ck_assert_uint_eq(ku_heap_use(&heap).blocks, 0);
        ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
    }
    ck_assert_uint_le(file_pages(), before + 2 * 4096);  /* of the heap's own head */
    ck_assert_uint_le(head()->end, seg.bytes + 16 * MB); /* ranges of the file are used again */
}
END_TEST

START_TEST(many_small)
{
    enum { N = 8000, BYTES = 700 };
    ku_block *b = calloc(N, sizeof *b);
    for (int i = 0; i < N; i++)
        b[i] = filled(&heap, BYTES, i);
    ck_assert_uint_lt(ku_heap_use(&heap).pages, (uint64_t)N * BYTES * 5 / 4);
    for (int i = 0; i < N; i += 2)
        ku_heap_free(&heap, b[i]);
    for (int i = 0; i < N; i += 2)
        b[i] = filled(&heap, BYTES, i);
    for (int i = 0; i < N; i++) {
        check_filled(&heap, b[i], BYTES, i);
        ck_assert_uint_eq(ku_block_of(ku_block_number(b[i])), b[i]);
        ku_heap_free(&heap, b[i]);
    }
    ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
    free(b);
}
END_TEST

START_TEST(nonsense)
{
    ku_block small = filled(&heap, 100, 1), large = filled(&heap, MB, 2);
    ck_assert_ptr_null(ku_heap_map(&heap, 0));
    ck_assert_ptr_null(ku_heap_map(&heap, large + 128));
    ck_assert_ptr_null(ku_heap_map(&heap, UINT64_MAX));
    ck_assert_str_eq(ku_err_last()->text, "shared memory: there is no block 0xffffffffffffffff");
    ku_heap_free(&heap, 0);
    ku_heap_free(&heap, large + 128);
    ku_heap_free(&heap, small + 128);
    check_filled(&heap, small, 100, 1);
    check_filled(&heap, large, MB, 2);
    ku_heap_free(&heap, small);
    ku_heap_free(&heap, small);
    ku_heap_free(&heap, large);
    ku_heap_free(&heap, large);
    ck_assert_uint_eq(ku_heap_use(&heap).blocks, 0);
    ck_assert_uint_eq(ku_block_number(large), ku_block_number(large));
    ck_assert_uint_eq(ku_heap_alloc(&heap, UINT64_MAX), 0);
    ck_assert_ptr_nonnull(strstr(ku_err_last()->text, "it is too large"));
}
END_TEST

/* Nothing is mapped in advance, and a large block no longer than it is used. */
#ifndef __SANITIZE_ADDRESS__
START_TEST(address_space)
{
    struct rlimit most, was;
    ku_block b = ku_heap_alloc(&heap, 64 * MB);
    ck_assert(b != 0);
    getrlimit(RLIMIT_AS, &was);
    most = was;
    most.rlim_cur = 16 * MB;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &most), 0);
    ck_assert_ptr_null(ku_heap_map(&heap, b));
    ck_assert_msg(strstr(ku_err_last()->text, "ulimit -v") != NULL, "%s", ku_err_last()->text);
    setrlimit(RLIMIT_AS, &was);
    char *p = ku_heap_map(&heap, b), *q = ku_heap_map(&heap, b);
    ck_assert(p != NULL && p == q);
    ku_heap_unmap(&heap, b);
    p[64 * MB - 1] = 1;
    ku_heap_unmap(&heap, b);
    ck_assert_int_ne(msync(p, 4096, MS_ASYNC), 0); /* not mapped any more */
    ku_heap_free(&heap, b);
}
END_TEST
#endif

START_TEST(size_of_files)
{
    struct rlimit most, was;
    getrlimit(RLIMIT_FSIZE, &was);
    most = was;
    most.rlim_cur = head()->end + 4 * MB;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
    ck_assert_uint_eq(ku_heap_alloc(&heap, 8 * MB), 0); /* and no SIGXFSZ */
    ck_assert_msg(strstr(ku_err_last()->text, "ulimit -f") != NULL, "%s", ku_err_last()->text);
    setrlimit(RLIMIT_FSIZE, &was);
    ku_heap_free(&heap, filled(&heap, 8 * MB, 1));
}
END_TEST

START_TEST(no_memory)
{
    ku_block kept = filled(&heap, 1000, 7);
    uint64_t pages = ku_heap_use(&heap).pages;
    static const size_t sizes[] = { 70000, KU_HEAP_SMALL, 40 * MB };
    for (int i = 0; i < 3; i++) {
        refusals = -1;
        ck_assert_uint_eq(ku_heap_alloc(&heap, sizes[i]), 0);
        ck_assert_int_eq(ku_err_last()->code, ENOSPC);
        ck_assert_msg(strstr(ku_err_last()->text, "no memory") != NULL, "%s", ku_err_last()->text);
        ck_assert_uint_eq(ku_heap_use(&heap).pages, pages);
        refusals = 0;
        ku_heap_free(&heap, filled(&heap, sizes[i], 1));
        pages = ku_heap_use(&heap).pages; /* parts of the chunk stay */
    }
    ck_assert_uint_le(largest_request, 16 * MB);
    check_filled(&heap, kept, 1000, 7);
    ku_heap_free(&heap, kept);
    ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
}
END_TEST

START_TEST(epochs)
{
    filled(&heap, 1000, 1);
    filled(&heap, 5 * MB, 1);
    ku_heap_close(&heap);
    ku_heap_open(&heap, &seg, 0, 2);
    ck_assert_uint_eq(ku_heap_use(&heap).blocks, 0);
    ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
    ku_block b = filled(&heap, 1000, 1);
    ku_heap_free(&heap, b);
}
END_TEST

/* ---- Threads and processes ---- */

enum { ACTORS = 4, KEPT = 40, STEPS = 3000 };
static const size_t some_sizes[] = { 50, 128, 600, 5000, 40000, 200000, 3 * MB };

/* Allots and frees at random; what it has stays as it filled it. */
static void act(struct ku_heap *h, unsigned seed, int steps)
{
    ku_block b[KEPT] = { 0 };
    size_t bytes[KEPT] = { 0 };
    for (int i = 0; i < steps + KEPT; i++) {
        int k = i < steps ? rand_r(&seed) % KEPT : i - steps;
        if (b[k]) {
            check_filled(h, b[k], bytes[k], k + 1);
            ku_heap_free(h, b[k]);
            b[k] = 0;
        } else if (i < steps) {
            bytes[k] = some_sizes[rand_r(&seed) % (rand_r(&seed) % 50 ? 5 : 7)];
            b[k] = filled(h, bytes[k], k + 1);
        }
    }
}

static void *actor(void *seed)
{
    act(&heap, (unsigned)(uintptr_t)seed, STEPS);
    return NULL;
}

START_TEST(threads)
{
    pthread_t t[ACTORS];
    for (uintptr_t i = 0; i < ACTORS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, actor, (void *)(i + 1)), 0);
    for (int i = 0; i < ACTORS; i++)
        pthread_join(t[i], NULL);
    ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
}
END_TEST

/* A process of its own mapping (as a rank has), or one that only forked. */
static void in_process(uint32_t lrank, bool attaches, unsigned seed)
{
    struct ku_segment mine;
    static struct ku_heap h;
    if (attaches) {
        ck_assert_int_eq(ku_segment_attach(&mine, dup(seg.fd)), 0);
        ku_heap_open(&h, &mine, lrank, 1);
    }
    act(attaches ? &h : &heap, seed, STEPS);
    _exit(0);
}

START_TEST(processes)
{
    ku_block shared = filled(&heap, 3 * MB, 9);
    pid_t p[ACTORS];
    for (unsigned i = 0; i < ACTORS; i++)
        if ((p[i] = fork()) == 0)
            in_process(i, i % 2, i + 1);
    act(&heap, 99, STEPS);
    for (int i = 0; i < ACTORS; i++) {
        int status;
        ck_assert_int_eq(waitpid(p[i], &status, 0), p[i]);
        ck_assert_int_eq(status, 0);
    }
    check_filled(&heap, shared, 3 * MB, 9);
    ku_heap_free(&heap, shared);
    ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
}
END_TEST

/* ---- Killed processes ---- */

static void wait_killed(pid_t p)
{
    int status;
    ck_assert_int_eq(waitpid(p, &status, 0), p);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* What a killed process had allotted is its own; all else must be as it was. */
static void check_whole(ku_block kept, ku_block large)
{
    check_filled(&heap, kept, 1000, 7);
    check_filled(&heap, large, MB, 8);
    act(&heap, 5, 80);
}

/* At each request to the system for pages or their return, also those under the lock. */
START_TEST(killed_in_requests)
{
    kill_at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int held = 0;
    for (int at = 1; at <= 12; at++) {
        ku_block kept = filled(&heap, 1000, 7), large = filled(&heap, MB, 8);
        uint32_t before = head()->recoveries;
        pid_t p = fork();
        ck_assert_int_ge(p, 0);
        if (p == 0) {
            ku_heap_open(&heap, &seg, 1, 1);
            *kill_at = at;
            for (int i = 0; i < 20; i++) {
                ku_heap_free(&heap, filled(&heap, 4 * MB, 1));
                ku_heap_free(&heap, filled(&heap, KU_HEAP_SMALL, 1));
                filled(&heap, KU_HEAP_SMALL, 1);
            }
            _exit(1);
        }
        wait_killed(p);
        *kill_at = 0;
        ku_segment_mark_gone(&seg, 1, KU_GONE); /* as the launcher does */
        check_whole(kept, large);
        held += head()->recoveries != before;
        ku_heap_free(&heap, kept);
        ku_heap_free(&heap, large);
        for (uint32_t i = 0; i < head()->n; i++) /* what it was making is not lost */
            ck_assert_uint_ne(head()->extent[i].state, 1);
        ku_heap_open(&heap, &seg, 0, head()->epoch + 1); /* what it had is */
        ck_assert_uint_le(ku_heap_use(&heap).pages, KU_HEAP_KEPT);
        ku_heap_open(&heap, &seg, 0, head()->epoch);
        head()->epoch = 1;
        ku_heap_open(&heap, &seg, 0, 1);
    }
    ck_assert_int_ge(held, 2); /* some were killed with the lock */
}
END_TEST

/* At any instruction: others go on, and see what they had. */
START_TEST(killed_anywhere)
{
    ku_block kept = filled(&heap, 1000, 7), large = filled(&heap, MB, 8);
    for (unsigned i = 0; i < 20; i++) {
        pid_t p = fork();
        ck_assert_int_ge(p, 0);
        if (p == 0)
            for (unsigned seed = i + 1;; seed++) {
                ku_block b[30];
                for (int k = 0; k < 30; k++)
                    b[k] = ku_heap_alloc(&heap, 100 + 300 * (seed + (unsigned)k) % 5000);
                for (int k = 0; k < 30; k++)
                    ku_heap_free(&heap, b[k]);
            }
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 + 37000 * (long)i }, NULL);
        kill(p, SIGKILL);
        wait_killed(p);
        check_whole(kept, large);
    }
    ck_assert_uint_lt(ku_heap_use(&heap).blocks, 20 * 30 * 5100 + 2 * MB);
    ku_heap_free(&heap, kept);
    ku_heap_free(&heap, large);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("segment_alloc");
    TCase *c = tcase_create("heap");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, sizes);
    tcase_add_test(c, many_small);
    tcase_add_test(c, nonsense);
#ifndef __SANITIZE_ADDRESS__ /* which could not map either */
    tcase_add_test(c, address_space);
#endif
    tcase_add_test(c, size_of_files);
    tcase_add_test(c, no_memory);
    tcase_add_test(c, epochs);
    tcase_add_test(c, killed_in_requests);
    tcase_add_test(c, killed_anywhere);
    TCase *several = tcase_create("several"); /* tests/core/heap_tsan.test runs these alone */
    tcase_set_timeout(several, 120);
    tcase_add_checked_fixture(several, set_up, tear_down);
    tcase_add_test(several, threads);
    tcase_add_test(several, processes);
    suite_add_tcase(s, c);
    suite_add_tcase(s, several);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
