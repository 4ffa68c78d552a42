/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite over each built-in device and over the mock device in its moods.
 *   suite_run [device or mood [test [ranks]]] */
#include "suite.h"
#include <sys/eventfd.h>
#include <sys/mman.h>
#include "mock.h"

static struct mock_shared *shared;

struct mood {
    const char *name, *devices, *eager, *hooks;
    bool mock, instances;
    const char *plugin; /* besides; only where its mood is asked for */
    int nodes;          /* 0: one */
    const char *longs;  /* KEEL_LONG_MESSAGES */
    struct mock_how how;
};

static const struct mood moods[] = {
    { .name = "shmem", .devices = "shmem" },
    { .name = "shmem, 100 bytes eager", .devices = "shmem", .eager = "100" },
    { .name = "stub", .devices = "stub" },
    { .name = "tcp", .devices = "tcp" },
    { .name = "tcp, 100 bytes eager", .devices = "tcp", .eager = "100" },
    { .name = "shmem, in one process", .devices = "shmem", .instances = true },
    { .name = "tcp, in one process", .devices = "tcp", .instances = true },
    { .name = "two nodes: mock alone, in one process",
      .mock = true,
      .instances = true,
      .nodes = 2,
      .how = { .seed = 16, .far = 1 } },
    { .name = "shmem, delayed", .devices = "shmem", .hooks = "delay:us=20" },
    { .name = "shmem with whims",
      .devices = "shmem",
      .hooks = "refuse:percent=20,queue:percent=30,late:percent=10" },
    { .name = "tcp with whims",
      .devices = "tcp",
      .hooks = "refuse:percent=20,queue:percent=30,late:percent=10" },
    { .name = "mock", .mock = true },
    { .name = "mock with memory of peers", .mock = true, .how = { .seed = 10, .mem = 1 } },
    { .name = "mock with memory of peers, all at once",
      .mock = true,
      .how = { .seed = 11, .mem = 1, .queue = 30, .delay = 30, .refuse = 30 } },
    { .name = "mock refuses", .mock = true, .how = { .seed = 1, .refuse = 50 } },
    { .name = "mock delays", .mock = true, .how = { .seed = 2, .delay = 70 } },
    { .name = "mock queues", .mock = true, .how = { .seed = 3, .queue = 60 } },
    { .name = "mock has no room", .mock = true, .how = { .seed = 4, .no_reserve = 1, .queue = 30 } },
    { .name = "mock, all at once",
      .mock = true,
      .how = { .seed = 5, .no_reserve = 1, .queue = 30, .delay = 30, .refuse = 30 } },
    { .name = "two nodes: shmem and mock",
      .devices = "shmem,mock",
      .mock = true,
      .nodes = 2,
      .how = { .seed = 6, .far = 1 } },
    { .name = "two nodes: mock alone", .mock = true, .nodes = 2, .how = { .seed = 7, .far = 1 } },
    { .name = "two nodes: mock alone, to be armed",
      .mock = true,
      .nodes = 2,
      .how = { .seed = 9, .far = 1, .arms = 1, .delay = 20 } },
    { .name = "four nodes, all at once",
      .devices = "mock,shmem",
      .mock = true,
      .nodes = 4,
      .how = { .seed = 8, .far = 1, .no_reserve = 1, .queue = 30, .delay = 30, .refuse = 30 } },
    { .name = "two nodes: mock alone, long messages fetched",
      .mock = true,
      .nodes = 2,
      .longs = "2",
      .how = { .seed = 12, .far = 1, .mem = 2 } },
    { .name = "four nodes, long messages fetched, all at once",
      .mock = true,
      .nodes = 4,
      .how = { .seed = 13, .far = 1, .mem = 2, .queue = 30, .delay = 30, .refuse = 30 } },
    { .name = "two nodes: mock alone, long messages put",
      .mock = true,
      .nodes = 2,
      .longs = "4",
      .how = { .seed = 14, .far = 1, .mem = 2 } },
    { .name = "four nodes, long messages put, all at once",
      .mock = true,
      .nodes = 4,
      .longs = "4",
      .how = { .seed = 15, .far = 1, .mem = 2, .queue = 30, .delay = 30, .refuse = 30 } },
};

static const struct mood libraries[] = {
    { .name = "ofi", .devices = "ofi", .plugin = OFI_PLUGIN },
    { .name = "ucx", .devices = "ucx", .plugin = UCX_PLUGIN },
    { .name = "ofi, long messages fetched", .devices = "ofi", .plugin = OFI_PLUGIN, .longs = "2" },
    { .name = "ucx, long messages fetched", .devices = "ucx", .plugin = UCX_PLUGIN, .longs = "2" },
    { .name = "ofi, long messages put", .devices = "ofi", .plugin = OFI_PLUGIN, .longs = "4" },
    { .name = "ucx, long messages put", .devices = "ucx", .plugin = UCX_PLUGIN, .longs = "4" },
};
enum { MOODS = sizeof moods / sizeof *moods, LIBRARIES = sizeof libraries / sizeof *libraries };

static void set_mood(const struct mood *m)
{
    char where[32];
    int bell[MOCK_RANKS];
    setenv("KEEL_DEVICES", m->devices ? m->devices : "mock", 1);
    job_nodes = m->nodes ? m->nodes : 1;
    job_as_instances = m->instances;
    setenv("KEEL_SHMEM_CMA", m->instances ? "0" : "1",
           1); /* by address another instance's variables are not there */
    setenv("KEEL_EAGER_MAX", m->eager ? m->eager : "0", 1);
    setenv("KEEL_LONG_MESSAGES", m->longs ? m->longs : "0", 1);
    setenv("KEEL_HOOKS", m->hooks ? m->hooks : "", 1);
    if (m->plugin) {
        setenv("KEEL_PLUGIN_DIR", "", 1); /* where another one is installed */
        setenv("KEEL_PLUGINS", m->plugin, 1);
    }
    if (!m->mock) {
        if (!m->plugin)
            unsetenv("KEEL_PLUGINS");
        return;
    }
    for (int i = 0; i < MOCK_RANKS; i++) {
        if (shared->bell[i] > 0)
            close(shared->bell[i]);
        bell[i] = m->how.far ? eventfd(0, EFD_NONBLOCK) : 0;
    }
    memset(shared, 0, sizeof *shared);
    shared->how = m->how;
    memcpy(shared->bell, bell, sizeof bell);
    snprintf(where, sizeof where, "%llx", (unsigned long long)(uintptr_t)shared);
    setenv("KEEL_MOCK", where, 1);
    setenv("KEEL_PLUGINS", MOCK_PLUGIN, 1);
}

/* Failures. */
static int run_mood(const struct mood *m, int ranks, char *test)
{
    double t = job_now();
    set_mood(m);
    int n = job_run(ranks, m->instances ? 120 : 30, suite_rank, test); /* instances have one core together */
    if (n == 0 && m->mock && ranks > 1 && atomic_load(&shared->sent[0]) < 100) {
        fprintf(stderr, "the mock device was not used\n");
        n = 1;
    }
    if (n == 0 && m->how.arms && ranks > 1 && atomic_load(&shared->arm_calls) == 0) {
        fprintf(stderr, "the mock device was never armed\n");
        n = 1;
    }
    if (n == 0 && m->how.mem && ranks > 1 && atomic_load(&shared->mem_calls) == 0) {
        fprintf(stderr, "the mock device has put nothing\n");
        n = 1;
    }
    if (n == 0 && m->how.mem == 2 && ranks > 1 && test == NULL &&
        atomic_load(&shared->far_gets) + atomic_load(&shared->far_refused) == 0) {
        fprintf(stderr, "the mock device has got nothing from ordinary memory\n");
        n = 1;
    }
    printf("%s on %s, %d ranks: %.1f s\n", n == 0 ? "ok" : "FAILED", m->name, ranks, job_now() - t);
    fflush(stdout);
    return n;
}

int main(int argc, char **argv)
{
    static const int ranks[] = { 1, 2, 3, 5 };
    int bad = 0, runs = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 99;
    for (int i = 0; i < MOODS + LIBRARIES; i++)
        for (int k = 0; k < 4; k++) {
            const struct mood *m = i < MOODS ? &moods[i] : &libraries[i - MOODS];
            if ((argc > 1 ? strcmp(argv[1], m->name) != 0 && *argv[1] : m->plugin != NULL) ||
                (argc > 3 && atoi(argv[3]) != ranks[k]) || (m->instances && !KU_INSTANCES))
                continue;
            bad += run_mood(m, ranks[k], argc > 2 && *argv[2] ? argv[2] : NULL) != 0;
            runs++;
        }
    printf("%d of %d runs passed\n", runs - bad, runs);
    return bad != 0 || runs == 0;
}
