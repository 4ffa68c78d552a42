/* SPDX-License-Identifier: BSD-3-Clause */
/* Segment: made, mapped by another, and refused when something about it is wrong.  Cores by cgroup quota. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util/cpus.h"
#include "util/err.h"
#include "util/segment.h"

static struct ku_segment make(uint32_t size, uint32_t nlocal, uint32_t nnodes)
{
    struct ku_segment s;
    ck_assert_int_eq(ku_segment_create(&s, size, nlocal, 0, nnodes), 0);
    return s;
}

START_TEST(layout)
{
    struct ku_segment s = make(5, 5, 1);
    struct ku_seg_head *h = s.head;
    ck_assert_uint_eq(h->size, 5);
    ck_assert_uint_ge(h->cpus, 1);
    ck_assert_uint_ne(h->job_id, 0);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq((uintptr_t)ku_segment_rank(&s, i) % 64, 0);
        ck_assert_int_eq(ku_segment_grank_of(&s)[i], (int)i);
        ck_assert_uint_eq((uintptr_t)ku_segment_dev(&s, i) % 4096, 0);
        memset(ku_segment_dev(&s, i), (int)i + 1, 4096);
    }
    ck_assert((char *)ku_segment_rank(&s, 5) <= (char *)ku_segment_grank_of(&s));
    ck_assert((char *)(ku_segment_grank_of(&s) + 5) <= (char *)ku_segment_dev(&s, 0));
    ck_assert((char *)ku_segment_dev(&s, 5) <= (char *)h + s.bytes);
    ck_assert_int_eq(*((char *)ku_segment_dev(&s, 4) - 1), 0);
    ku_segment_detach(&s);
    ck_assert_int_eq(s.fd, -1);
}
END_TEST

START_TEST(nodes_map)
{
    struct ku_segment s = make(1000, 3, 4);
    ku_segment_grank_of(&s)[3 + 999] = 3;
    ck_assert_int_eq(ku_segment_node_of(&s, 999), 3);
    ck_assert((char *)(ku_segment_grank_of(&s) + 3 + 1000) <= (char *)ku_segment_gone(&s));
    ku_segment_gone(&s)[999] = 1;
    ck_assert((char *)(ku_segment_gone(&s) + 1000) <= (char *)ku_segment_dev(&s, 0));
    ku_segment_detach(&s);
}
END_TEST

START_TEST(nodes_join)
{
    static const int32_t node_of[] = { 0, 1, 1, 0, 1 };
    struct ku_segment a, b;
    ck_assert_int_eq(ku_segment_create(&a, 5, 2, 0, 2), 0);
    ck_assert_int_eq(ku_segment_create(&b, 5, 3, 1, 2), 0);
    static const uint8_t secret[KU_SECRET_BYTES] = "a secret";
    ku_segment_join(&a, 7, secret, node_of);
    ku_segment_join(&b, 7, secret, node_of);
    ck_assert_uint_eq(a.head->job_id, 7);
    ck_assert_uint_eq(b.head->job_id, 7);
    ck_assert_int_eq(memcmp(b.head->secret, secret, KU_SECRET_BYTES), 0);
    ck_assert_int_eq(memcmp(ku_segment_grank_of(&a), (int32_t[]){ 0, 3 }, 8), 0);
    ck_assert_int_eq(memcmp(ku_segment_grank_of(&b), (int32_t[]){ 1, 2, 4 }, 12), 0);
    for (int32_t r = 0; r < 5; r++)
        ck_assert_int_eq(ku_segment_node_of(&b, r), node_of[r]);
    ku_segment_mark_gone(&b, 4, KU_GONE);
    ck_assert_uint_eq(ku_segment_rank(&b, 2)->state, KU_RANK_DEAD);
    ck_assert_uint_eq(ku_segment_gone(&b)[4], 1);
    ck_assert_uint_eq(b.head->failed, 1);
    ku_segment_mark_gone(&b, 4, KU_GONE); /* said again */
    ck_assert_uint_eq(b.head->failed, 1);
    for (uint32_t r = 0; r < 4; r++)
        ku_segment_mark_gone(&b, 3 - r, KU_GONE);
    ck_assert_uint_eq(b.head->failed, 5);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_int_eq(ku_segment_dead(&b, i), 4 - (int32_t)i);
    ku_segment_mark_gone(&a, 4, KU_GONE); /* of another node */
    ck_assert_uint_eq(ku_segment_gone(&a)[4], 1);
    ck_assert_uint_eq(ku_segment_rank(&a, 0)->state, KU_RANK_STARTED);
    ku_segment_detach(&a);
    ku_segment_detach(&b);
}
END_TEST

START_TEST(attach_sees_the_same)
{
    struct ku_segment a = make(2, 2, 1), b;
    ck_assert_int_eq(ku_segment_attach(&b, dup(a.fd)), 0);
    *(int *)ku_segment_dev(&a, 1) = 4711;
    ck_assert_int_eq(*(int *)ku_segment_dev(&b, 1), 4711);
    ck_assert_uint_eq(a.head->job_id, b.head->job_id);
    ku_segment_detach(&a);
    ck_assert_int_eq(*(int *)ku_segment_dev(&b, 1), 4711);
    ku_segment_detach(&b);
}
END_TEST

START_TEST(grows_but_never_shrinks)
{
    struct ku_segment a = make(1, 1, 1), b;
    ck_assert_int_ne(ftruncate(a.fd, 4096), 0);
    ck_assert_int_eq(ftruncate(a.fd, (off_t)a.bytes + 65536), 0);
    ck_assert_int_eq(ku_segment_attach(&b, dup(a.fd)), 0);
    ck_assert_uint_eq(b.bytes, a.bytes); /* what is behind the fixed part is mapped as it is used */
    ku_segment_detach(&b);
    ku_segment_detach(&a);
}
END_TEST

START_TEST(untouched_costs_nothing)
{
    struct ku_segment s = make(256, 256, 1);
    struct stat st;
    ck_assert_int_eq(fstat(s.fd, &st), 0);
    ck_assert_int_gt(st.st_size, 256 << 20);
    ck_assert_int_lt(st.st_blocks * 512, 1 << 20);
    ku_segment_detach(&s);
}
END_TEST

static void refused(struct ku_segment *s, const char *why)
{
    struct ku_segment b;
    ck_assert_int_ne(ku_segment_attach(&b, s->fd), 0);
    ck_assert_msg(strstr(ku_err_last()->text, why) != NULL, "\"%s\" has no \"%s\"", ku_err_last()->text, why);
    ku_segment_detach(s);
}

START_TEST(foreign_files)
{
    struct ku_segment b, s = make(1, 1, 1);
    int null = open("/dev/null", O_RDWR), empty = memfd_create("empty", 0);
    ck_assert_int_ne(ku_segment_attach(&b, null), 0);
    ck_assert_int_ne(ku_segment_attach(&b, empty), 0);
    ck_assert_int_ne(ku_segment_attach(&b, 9999), 0);
    close(null);
    close(empty);
    s.head->magic++;
    refused(&s, "not a Keel job's");
    s = make(1, 1, 1);
    s.head->version++;
    refused(&s, "another version");
    s = make(1, 1, 1);
    s.head->word_bytes = 4;
    refused(&s, "word size");
}
END_TEST

/* Every number in the head that leads somewhere, with a value that would lead outside. */
START_TEST(sizes_that_do_not_fit)
{
    static const struct {
        size_t at;
        int bytes;
        uint64_t value;
    } bad[] = { { offsetof(struct ku_seg_head, nlocal), 4, 0 },
                { offsetof(struct ku_seg_head, nlocal), 4, 5 },
                { offsetof(struct ku_seg_head, node), 4, 1 },
                { offsetof(struct ku_seg_head, nnodes), 4, 0 },
                { offsetof(struct ku_seg_head, total), 8, 1ull << 40 },
                { offsetof(struct ku_seg_head, rank_off), 8, 0 },
                { offsetof(struct ku_seg_head, rank_off), 8, 4097 },
                { offsetof(struct ku_seg_head, place_off), 8, 4096 },
                { offsetof(struct ku_seg_head, place_off), 8, 1ull << 50 },
                { offsetof(struct ku_seg_head, map_off), 8, 4096 },
                { offsetof(struct ku_seg_head, gone_off), 8, 4096 },
                { offsetof(struct ku_seg_head, dead_off), 8, 4096 },
                { offsetof(struct ku_seg_head, dead_off), 8, 1ull << 50 },
                { offsetof(struct ku_seg_head, card_off), 8, 4096 },
                { offsetof(struct ku_seg_head, card_off), 8, 1ull << 50 },
                { offsetof(struct ku_seg_head, dev_off), 8, 4096 },
                { offsetof(struct ku_seg_head, dev_off), 8, 1ull << 50 },
                { offsetof(struct ku_seg_head, dev_bytes), 8, 1ull << 62 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ku_segment s = make(4, 4, 1);
        memcpy((char *)s.head + bad[i].at, &bad[i].value, (size_t)bad[i].bytes);
        refused(&s, "do not fit");
    }
}
END_TEST

/* local_of says what grank_of says, with a rule and without. */
static void dealt(const int32_t *node_of, uint32_t size, uint32_t node, uint32_t nlocal, uint32_t stride,
                  uint32_t deal)
{
    struct ku_segment s = { .fd = -1 };
    uint32_t local = 0;
    ck_assert_int_eq(ku_segment_create(&s, size, nlocal, node, 3), 0);
    ku_segment_join(&s, 7, s.head->secret, node_of);
    int32_t list[16], at = 0;
    ck_assert_uint_eq(s.head->stride, stride);
    ck_assert_uint_eq(s.head->deal, deal);
    for (int32_t k = 0; k < 3; k++, at = 0) {
        int32_t n = ku_segment_ranks_of(&s, k, list);
        ck_assert_int_eq(n, ku_segment_ranks_of(&s, k, NULL));
        for (int32_t r = 0; r < (int32_t)size; r++)
            if (node_of[r] == k)
                ck_assert_int_eq(list[at++], r);
        ck_assert_int_eq(n, at);
    }
    for (int32_t r = 0; r < (int32_t)size; r++)
        ck_assert_int_eq(ku_segment_node_of(&s, r), node_of[r]);
    for (uint32_t r = 0; r < size; r++)
        ck_assert_int_eq(ku_segment_local_of(&s, (int32_t)r),
                         node_of[r] == (int32_t)node ? (int32_t)local++ : -1);
    ck_assert_uint_eq(local, nlocal);
    ck_assert_int_eq(ku_segment_local_of(&s, -1), -1);
    ck_assert_int_eq(ku_segment_local_of(&s, (int32_t)size), -1);
    ck_assert_int_eq(ku_segment_local_of(&s, INT32_MAX), -1);
    ku_segment_detach(&s);
}

START_TEST(local_ranks_by_rule_or_by_search)
{
    enum { N = 9 };
    const int32_t uneven[N] = { 0, 0, 0, 1, 1, 1, 1, 2, 2 }, dealt_out[N] = { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
                  odd[N] = { 2, 0, 1, 1, 0, 2, 0, 1, 0 }, block[N] = { 0, 0, 0, 0, 1, 1, 1, 1, 2 },
                  pairs[N] = { 0, 0, 1, 1, 2, 2, 0, 0, 1 };
    dealt(uneven, N, 0, 3, 1, 0);
    dealt(uneven, N, 1, 4, 1, 0);
    dealt(uneven, N, 2, 2, 1, 0);
    for (uint32_t node = 0; node < 3; node++) {
        dealt(dealt_out, N, node, 3, 3, 1);
        dealt(block, N, node, node < 2 ? 4 : 1, 1, 4);
    }
    dealt(odd, N, 0, 4, 0, 0);
    dealt(odd, N, 1, 3, 0, 0);
    dealt(odd, N, 2, 2, 5, 0);
    dealt(pairs, N, 0, 4, 0, 2);
    dealt(pairs, N, 1, 3, 0, 2);
    dealt(pairs, N, 2, 2, 1, 2);
}
END_TEST

START_TEST(no_address_space)
{
    struct ku_segment s;
    struct rlimit r = { 1 << 20, 1 << 20 };
#ifdef __SANITIZE_ADDRESS__
    return; /* the sanitizer itself cannot live in so little */
#endif
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &r), 0);
    ck_assert_int_ne(ku_segment_create(&s, 64, 64, 0, 1), 0);
    ck_assert(strstr(ku_err_last()->text, "ulimit -v") != NULL);
}
END_TEST

static char root[] = "/tmp/keel-quota-XXXXXX";

static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *f = fopen(full, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static uint32_t quota(uint32_t limit)
{
    char file[256];
    snprintf(file, sizeof file, "%s/self", root);
    return ku_cpus_quota(file, root, limit);
}

START_TEST(cores_by_quota)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(quota(8), 8); /* no cgroups at all */
    put("self", "0::/a/b\n");
    ck_assert_uint_eq(quota(8), 8);
    put("a/b/cpu.max", "max 100000\n");
    ck_assert_uint_eq(quota(8), 8);
    put("a/b/cpu.max", "250000 100000\n");
    ck_assert_uint_eq(quota(8), 3);
    ck_assert_uint_eq(quota(2), 2);
    put("a/cpu.max", "50000 100000\n"); /* the level above is tighter */
    ck_assert_uint_eq(quota(8), 1);
    put("self", "4:cpuset:/\n3:cpu,cpuacct:/x\n1:name=systemd:/\n0::/\n");
    ck_assert_uint_eq(quota(8), 8);
    put("cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n");
    put("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota(8), 4);
    put("cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    ck_assert_uint_eq(quota(8), 8);
    ck_assert_uint_ge(ku_cpus(), 1);
    char cmd[300];
    snprintf(cmd, sizeof cmd, "rm -r %s", root);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

/* Processes on the first two cpus that this one may use. */
START_TEST(spread)
{
    cpu_set_t may;
    int32_t a, b;
    ck_assert_int_eq(sched_getaffinity(0, sizeof may, &may), 0);
    for (a = 0; !CPU_ISSET(a, &may); a++)
        ;
    for (b = a + 1; b < CPU_SETSIZE && !CPU_ISSET(b, &may); b++)
        ;
    if (b == CPU_SETSIZE || CPU_COUNT(&may) > 2)
        return; /* one has nowhere to go, on more the answer is another */
    const int32_t three[] = { a, a, b, a }, two[] = { a, b, a, b }, none[] = { a, a, -1, a },
                  all[] = { b, b };
    ck_assert_int_eq(ku_cpus_spread(three, 4, 3), b);
    ck_assert_int_eq(ku_cpus_spread(three, 4, 0), -1);
    ck_assert_int_eq(ku_cpus_spread(three, 4, 2), -1);
    for (int32_t i = 0; i < 4; i++) {
        ck_assert_int_eq(ku_cpus_spread(two, 4, i), -1);
        ck_assert_int_eq(ku_cpus_spread(none, 4, i), -1);
    }
    ck_assert_int_eq(ku_cpus_spread(all, 2, 1), a);
    ck_assert_int_eq(ku_cpus_spread(all, 1, 0), -1);
    ku_cpus_move(b);
    cpu_set_t after;
    ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
    ck_assert(CPU_EQUAL(&may, &after));
}
END_TEST

/* ---- segments that no launcher looks after: who marks, and who goes on when that one ends ---- */

static pid_t child_of(void (*run)(struct ku_segment *s, void *arg), struct ku_segment *s, void *arg)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        run(s, arg);
        _exit(0);
    }
    return pid;
}

static int status_of(pid_t pid)
{
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static void try_to_mark(struct ku_segment *s, void *arg)
{
    (void)arg;
    _exit(ku_segment_mark_begin(s) ? 1 : 2);
}

START_TEST(one_marks_at_a_time)
{
    struct ku_segment s = make(4, 4, 1);
    ck_assert(ku_segment_mark_begin(&s));
    ck_assert_int_eq(WEXITSTATUS(status_of(child_of(try_to_mark, &s, NULL))), 2);
    ck_assert(!ku_segment_mark_begin(&s)); /* not even the same one twice */
    ku_segment_mark_end(&s);
    ck_assert_int_eq(WEXITSTATUS(status_of(child_of(try_to_mark, &s, NULL))),
                     1); /* and ends while it marks */
    ck_assert(ku_segment_mark_begin(&s));
    ku_segment_mark_end(&s);
    ck_assert_uint_eq(s.head->held, 0);
    ku_segment_detach(&s);
}
END_TEST

/* Where ku_segment_mark_gone can be cut off: what is left when it has done so much. */
enum { MARK_NOTHING, MARK_STATE, MARK_GONE, MARK_LISTED, MARK_ALL };

static void mark_and_die(struct ku_segment *s, void *arg)
{
    int steps = *(int *)arg;
    if (!ku_segment_mark_begin(s))
        _exit(2);
    if (steps == MARK_ALL)
        ku_segment_mark_gone(s, 2, KU_GONE);
    if (steps >= MARK_STATE)
        ku_segment_rank(s, 2)->state = KU_RANK_DEAD;
    if (steps >= MARK_GONE)
        ku_segment_gone(s)[2] = 1;
    if (steps == MARK_LISTED)
        ((int32_t *)((char *)s->head + s->head->dead_off))[s->head->failed] = 2;
    kill(getpid(), SIGKILL);
}

START_TEST(who_takes_over_completes_what_was_begun)
{
    for (int steps = MARK_NOTHING; steps <= MARK_ALL; steps++) {
        struct ku_segment s = make(4, 4, 1);
        pid_t pid = child_of(mark_and_die, &s, &steps);
        ck_assert_int_eq(WTERMSIG(status_of(pid)), SIGKILL);
        ck_assert_uint_eq(s.head->held, (uint32_t)pid);
        ck_assert_uint_eq(s.head->failed, steps == MARK_ALL);
        ck_assert(ku_segment_mark_begin(&s));
        ck_assert_uint_eq(s.head->held, (uint32_t)getpid());
        ku_segment_mark_gone(&s, 2, KU_GONE);
        ku_segment_mark_gone(&s, 2, KU_GONE);
        ku_segment_mark_gone(&s, 0, KU_GONE);
        ku_segment_mark_end(&s);
        ck_assert_uint_eq(s.head->failed, 2);
        ck_assert_int_eq(ku_segment_dead(&s, 0), 2);
        ck_assert_int_eq(ku_segment_dead(&s, 1), 0);
        ck_assert_int_eq(ku_segment_rank(&s, 2)->state, KU_RANK_DEAD);
        ck_assert_int_eq(ku_segment_rank(&s, 1)->state, KU_RANK_STARTED);
        ku_segment_detach(&s);
    }
}
END_TEST

enum { MARKERS = 6, MANY = 400 };
struct inside {
    _Atomic int32_t pid, clashes;
};

/* Who is in there must be alone: another one has left, or has ended. */
static void enter(struct inside *in)
{
    int32_t before = atomic_exchange(&in->pid, getpid());
    if (before != 0 && kill(before, 0) == 0)
        atomic_fetch_add(&in->clashes, 1);
}

static void mark_many(struct ku_segment *s, void *arg)
{
    struct inside *in = arg;
    srand((unsigned)getpid());
    while (atomic_load(&s->head->failed) < MANY) {
        if (!ku_segment_mark_begin(s))
            continue;
        enter(in);
        if (atomic_load(&s->head->failed) < MANY)
            ku_segment_mark_gone(s, (uint32_t)(rand() % MANY), KU_GONE);
        if (rand() % 8 == 0)
            raise(SIGKILL);
        atomic_store(&in->pid, 0);
        ku_segment_mark_end(s);
    }
}

/* Some mark at random and die at it now and then; a new one comes for each that does. */
START_TEST(many_mark_and_some_die)
{
    struct ku_segment s = make(MANY, 4, 1);
    struct inside *in = mmap(NULL, sizeof *in, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int alive = 0, killed = 0;
    bool seen[MANY] = { false };
    ck_assert_ptr_ne(in, MAP_FAILED);
    for (; alive < MARKERS; alive++)
        child_of(mark_many, &s, in);
    while (alive > 0) {
        int status;
        ck_assert_int_gt(waitpid(-1, &status, 0), 0);
        alive--;
        if (WIFEXITED(status))
            continue;
        killed++;
        child_of(mark_many, &s, in);
        alive++;
    }
    ck_assert_int_gt(killed, 10);
    ck_assert_int_eq(in->clashes, 0);
    ck_assert_uint_eq(s.head->failed, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        int32_t rank = ku_segment_dead(&s, i);
        ck_assert(rank >= 0 && rank < MANY && !seen[rank]);
        seen[rank] = true;
    }
    munmap(in, sizeof *in);
    ku_segment_detach(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("segment");
    TCase *t = tcase_create("all");
    tcase_add_test(t, layout);
    tcase_add_test(t, spread);
    tcase_add_test(t, nodes_map);
    tcase_add_test(t, nodes_join);
    tcase_add_test(t, attach_sees_the_same);
    tcase_add_test(t, grows_but_never_shrinks);
    tcase_add_test(t, untouched_costs_nothing);
    tcase_add_test(t, foreign_files);
    tcase_add_test(t, sizes_that_do_not_fit);
    tcase_add_test(t, cores_by_quota);
    tcase_add_test(t, one_marks_at_a_time);
    tcase_add_test(t, who_takes_over_completes_what_was_begun);
    tcase_add_test(t, many_mark_and_some_die);
    tcase_set_timeout(t, 30);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    tcase_add_test(t, local_ranks_by_rule_or_by_search);
    if (srunner_fork_status(r) == CK_FORK)
        tcase_add_test(t, no_address_space); /* it cannot be undone */
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
