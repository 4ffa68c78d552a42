/* A program that uses nothing but pmi.h, for tests of mpiexec and of the wire: does what its arguments say, in order.
 *   init  finalized  fini  print  place  message TEXT  abort CODE TEXT  exit CODE  signal NUMBER  sleep SECONDS
 *   only RANK (the next action is done by this rank alone)   closefds (as a careless daemon does) */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/pmi.h"
#include "util/err.h"

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

static const struct action {
    const char *name;
    int args;
    void (*run)(char **arg);
} actions[] = { { "init", 0, do_init },   { "finalized", 0, do_finalized }, { "fini", 0, do_fini },
                { "print", 0, do_print }, { "place", 0, do_place },         { "message", 1, do_message },
                { "abort", 2, do_abort }, { "exit", 1, do_exit },           { "signal", 1, do_signal },
                { "sleep", 1, do_sleep }, { "closefds", 0, do_closefds } };

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
