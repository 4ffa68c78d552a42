/* SPDX-License-Identifier: BSD-3-Clause */
/* epoch_tsan.c: meetings over lines with members as threads, for ThreadSanitizer.  usage: epoch_tsan [seconds]
 *
 * Each shows what follows from its number and the meeting's.  After a while one leaves a meeting that it has come
 * to, and then all must agree on which was the last.  Time and again in places that are made anew. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/clock.h"
#include "util/epoch.h"

enum { MEMBERS = 4, MEETINGS = 400 };

static struct ku_epoch_head head;
static struct ku_epoch_lines lines[MEMBERS];
static uint64_t last[MEMBERS];
static _Atomic int wrong;

/* A fence, in a form that ThreadSanitizer knows. */
static void fence(void)
{
    static _Thread_local _Atomic int word;
    atomic_exchange(&word, 1);
}

/* In words: ThreadSanitizer does not see what a compiler makes of memset, and forgets single bytes. */
static void show(struct ku_epoch_line *line, int32_t member, uint64_t n)
{
    uint64_t *data = (uint64_t *)line->data;
    for (size_t i = 0; i < KU_EPOCH_DATA / sizeof *data; i++)
        data[i] = (uint64_t)member << 32 | n;
}

static bool shown(const struct ku_epoch_line *line, int32_t member, uint64_t n)
{
    const uint64_t *data = (const uint64_t *)line->data;
    for (size_t i = 0; i < KU_EPOCH_DATA / sizeof *data; i++)
        if (data[i] != ((uint64_t)member << 32 | n))
            return false;
    return true;
}

/* One meeting; false: the meetings have ended without it. */
static bool meet(const struct ku_epochs *e, uint64_t n, bool leave)
{
    uint64_t word = ku_epoch_word(n, 5);
    if (ku_epoch_end(e) != KU_EPOCH_FREE)
        return false;
    show(ku_epoch_line(e, e->me, n), e->me, n);
    ku_epoch_say(e, n, 5);
    fence(); /* no membarrier here: all fence */
    if (leave && !ku_epoch_leave(e, n))
        return false;
    for (int looks = 0; !ku_epoch_over(e, n, word); looks++) {
        if (ku_epoch_end(e) != KU_EPOCH_FREE) {
            if (!ku_epoch_verdict(e, n))
                return false;
            break;
        }
        if (looks % 16 == 15)
            sched_yield();
    }
    for (int32_t i = 0; i < MEMBERS; i++)
        if (!shown(ku_epoch_line(e, i, n), i, n))
            wrong = 1;
    return true;
}

static void *member(void *arg)
{
    int32_t me = (int32_t)(uintptr_t)arg;
    struct ku_epochs e = { .head = &head,
                           .lines = (char *)lines,
                           .stride = sizeof *lines,
                           .members = MEMBERS,
                           .me = me,
                           .show_stores = fence };
    uint64_t n = 0;
    while (meet(&e, n, n >= MEETINGS && me == (int32_t)(n % MEMBERS)))
        n++;
    last[me] = n;
    return NULL;
}

static bool one_place(void)
{
    pthread_t t[MEMBERS];
    memset(&head, 0, sizeof head);
    memset(lines, 0, sizeof lines);
    for (int32_t i = 0; i < MEMBERS; i++)
        pthread_create(&t[i], NULL, member, (void *)(uintptr_t)i);
    for (int32_t i = 0; i < MEMBERS; i++)
        pthread_join(t[i], NULL);
    for (int32_t i = 1; i < MEMBERS; i++)
        if (last[i] != last[0]) {
            printf("member %d met %llu times, member 0 %llu times\n", (int)i, (unsigned long long)last[i],
                   (unsigned long long)last[0]);
            return false;
        }
    if (wrong)
        printf("somebody saw what was not shown in that meeting\n");
    return !wrong && last[0] >= MEETINGS;
}

int main(int argc, char **argv)
{
    uint64_t until = ku_clock_ns() + (argc > 1 ? (uint64_t)atoi(argv[1]) : 2) * 1000000000u;
    int places = 0;
    do {
        if (!one_place())
            return 1;
        places++;
    } while (ku_clock_ns() < until);
    printf("%d places, %d members\n", places, (int)MEMBERS);
    return 0;
}
