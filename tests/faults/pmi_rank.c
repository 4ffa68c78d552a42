/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses nothing but pmi.h, for tests of mpiexec and of the wire: does what its arguments say, in order.
 *   init  finalized  fini  print  place  message TEXT  abort CODE TEXT  exit CODE  signal NUMBER  sleep SECONDS
 *   card BYTES (this rank's)  look RANK BYTES (wait for that rank's card, of so many bytes)  looks (at those of
 *   all others)  cards
 *   only RANK (the next action is done by this rank alone)   closefds (as a careless daemon does) */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/pmi.h"
#include "util/card.h"
#include "util/err.h"
#include "util/wait.h"

static struct pmi_job job;

static void do_init(char **arg)
{
    (void)arg;
    if (pmi_init(&job) != 0) {
        fprintf(stderr, "pmi_rank: %s\n", ku_err_last()->text);
        exit(9);
    }
}

static void do_finalized(char **arg)
{
    (void)arg;
    pmi_finalized(&job);
}

static void do_fini(char **arg)
{
    (void)arg;
    pmi_fini(&job);
}

static void do_print(char **arg)
{
    (void)arg;
    if (printf("%s: rank %d of %d, local %d of %d, section %d, universe %d\n", job.wire, job.rank, job.size,
               job.local_rank, job.local_size, job.appnum, job.universe_size) < 0) {
        perror("pmi_rank: printf");
        exit(7);
    }
}

/* Where the launcher says it may run, and the census. */
static void do_place(char **arg)
{
    const struct ku_seg_head *h = job.segment.head;
    const struct ku_seg_place *p = ku_segment_place(&job.segment, (uint32_t)job.local_rank);
    (void)arg;
    printf("rank %d flags %u cpus %u cores %u l3 %d numa %d package %d set %llx:%llx machine %u %u %u %u %u "
           "census %u\n",
           job.rank, p->flags, p->cpus, p->cores, (int16_t)p->l3, (int16_t)p->numa, (int16_t)p->package,
           (unsigned long long)p->set[1], (unsigned long long)p->set[0], h->machine.cpus, h->machine.cores,
           h->machine.l3s, h->machine.numas, h->machine.packages, h->cpus);
}

static void do_message(char **arg)
{
    pmi_message(&job, arg[0]);
}

static void do_abort(char **arg)
{
    pmi_abort(&job, atoi(arg[0]), arg[1]);
}

static void do_exit(char **arg)
{
    exit(atoi(arg[0]));
}

static void do_signal(char **arg)
{
    raise(atoi(arg[0]));
}

static void do_sleep(char **arg)
{
    usleep((useconds_t)(atof(arg[0]) * 1e6));
}

static void do_closefds(char **arg)
{
    (void)arg;
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

static struct ku_heap heap;

static struct ku_heap *opened(void)
{
    if (heap.segment == NULL)
        ku_heap_open(&heap, &job.segment, (uint32_t)job.local_rank, job.epoch);
    return &heap;
}

static uint8_t byte_of(int rank, int i)
{
    return (uint8_t)(rank * 31 + i * 7 + i / 256);
}

static void do_card(char **arg)
{
    int len = atoi(arg[0]);
    uint8_t *bytes = malloc((size_t)len + 1);
    for (int i = 0; i < len; i++)
        bytes[i] = byte_of(job.rank, i);
    if (pmi_card(&job, opened(), bytes, (uint32_t)len) != 0) {
        fprintf(stderr, "pmi_rank: %s\n", ku_err_last()->text);
        exit(9);
    }
    free(bytes);
}

/* Asleep until the card is there or its owner has died, as a device's wait is. */
static enum ku_card_state wait_for(int rank, struct ku_card *c)
{
    enum { AT_MOST_MS = 20000 };
    _Atomic uint32_t *sleeping = &ku_segment_rank(&job.segment, (uint32_t)job.local_rank)->sleeping;
    for (;;) {
        ku_wait_prepare(sleeping, true);
        enum ku_card_state is = pmi_card_of(&job, opened(), rank, c);
        if (is != KU_CARD_NONE || ku_segment_gone(&job.segment)[rank]) {
            ku_wait_cancel(sleeping);
            return is;
        }
        ku_wait_sleep(sleeping, AT_MOST_MS);
    }
}

static void look(int rank, int len)
{
    struct ku_card c;
    enum ku_card_state is = wait_for(rank, &c);
    if (is != KU_CARD_THERE) {
        printf("rank %d: no card of rank %d: %s\n", job.rank, rank,
               is == KU_CARD_NONE    ? "it is gone"
               : is == KU_CARD_EMPTY ? "it is empty"
                                     : "no memory");
        return;
    }
    int right = 0;
    while (right < (int)c.len && c.bytes[right] == byte_of(rank, right))
        right++;
    if ((int)c.len != len || right != len) {
        printf("rank %d: the card of rank %d has %u bytes, %d right; expected %d\n", job.rank, rank, c.len,
               right, len);
        exit(10);
    }
    ku_card_done(&heap, &c);
}

static void do_look(char **arg)
{
    look(atoi(arg[0]), atoi(arg[1]));
}

static void do_looks(char **arg)
{
    for (int i = 1; i < job.size; i++)
        look((job.rank + i) % job.size, atoi(arg[0]));
}

/* How many cards of other nodes this one has. */
static void do_cards(char **arg)
{
    (void)arg;
    printf("node %u has %u cards\n", job.segment.head->node, job.segment.head->cards);
}

static const struct action {
    const char *name;
    int args;
    void (*run)(char **arg);
} actions[] = { { "init", 0, do_init },   { "finalized", 0, do_finalized }, { "fini", 0, do_fini },
                { "print", 0, do_print }, { "place", 0, do_place },         { "message", 1, do_message },
                { "abort", 2, do_abort }, { "exit", 1, do_exit },           { "signal", 1, do_signal },
                { "sleep", 1, do_sleep }, { "closefds", 0, do_closefds },   { "card", 1, do_card },
                { "look", 2, do_look },   { "looks", 1, do_looks },         { "cards", 0, do_cards } };

int main(int argc, char **argv)
{
    const char *me = getenv("KEEL_RANK");
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        bool skip = false;
        if (strcmp(argv[i], "only") == 0 && i + 2 < argc) {
            skip = !me || strcmp(me, argv[i + 1]) != 0;
            i += 2;
        }
        const struct action *a = NULL;
        for (size_t k = 0; k < sizeof actions / sizeof *actions; k++)
            if (strcmp(actions[k].name, argv[i]) == 0)
                a = &actions[k];
        if (!a || i + a->args >= argc) {
            fprintf(stderr, "pmi_rank: what is %s?\n", argv[i]);
            return 8;
        }
        if (!skip)
            a->run(argv + i + 1);
        i += a->args;
    }
    return 0;
}
