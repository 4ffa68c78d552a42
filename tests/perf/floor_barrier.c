/* SPDX-License-Identifier: BSD-3-Clause */
/* floor_barrier: the least that a barrier of N processes costs where they share cores: one counter, one word,
 * sched_yield and,
 * after TURNS of them, a sleep on the word.  Prints a line as bench does.   usage: floor_barrier N [rounds] */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 10 };

struct meeting {
    _Alignas(64) _Atomic uint32_t here;
    _Alignas(64) _Atomic uint32_t past; /* meetings that are over */
    _Alignas(64) _Atomic uint32_t asleep;
};

static void meet(struct meeting *m, uint32_t n, uint32_t number)
{
    if (atomic_fetch_add(&m->here, 1) + 1 == n) {
        atomic_store(&m->here, 0);
        atomic_store(&m->past, number + 1);
        if (atomic_load(&m->asleep))
            syscall(SYS_futex, &m->past, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        return;
    }
    for (int turn = 0; atomic_load(&m->past) == number; turn++) {
        if (turn < TURNS) {
            sched_yield();
            continue;
        }
        atomic_fetch_add(&m->asleep, 1);
        syscall(SYS_futex, &m->past, FUTEX_WAIT, number, NULL, NULL, 0);
        atomic_fetch_sub(&m->asleep, 1);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 8, rounds = argc > 2 ? (uint32_t)atoi(argv[2]) : 2000;
    struct meeting *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        return 1;
    for (uint32_t i = 1; i < n; i++)
        if (fork() == 0) {
            for (uint32_t r = 0; r <= rounds; r++)
                meet(m, n, r);
            _exit(0);
        }
    meet(m, n, 0); /* all are there */
    double start = seconds();
    for (uint32_t r = 1; r <= rounds; r++)
        meet(m, n, r);
    printf("barrier_0@%u %.6g us\n", n, (seconds() - start) / rounds * 1e6);
    while (wait(NULL) > 0)
        ;
    return 0;
}
