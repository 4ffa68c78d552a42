/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are lost: by a signal in the middle of everything, seen through the segment; by the device's word.  What
 * named them fails with MPI_ERR_PROC_ABORTED and a text that names the rank; everything else goes on; nothing hangs. */
#define _GNU_SOURCE 1
#include "harness.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "mock.h"
#include "util/faults.h"

enum { CTX = 4, BIG = 1 << 20 };

static struct mock_shared *shared;
static int err;

static void expect_gone(int rank, const char *what)
{
    char text[40];
    snprintf(text, sizeof text, "rank %d has ended", rank);
    CHECK(err == MPI_ERR_PROC_ABORTED, "%s: error %d (%s), expected MPI_ERR_PROC_ABORTED", what, err,
          MPID_Error_text());
    CHECK(strstr(MPID_Error_text(), text) != NULL, "%s: \"%s\"", what, MPID_Error_text());
    err = 0;
}

static void init(void)
{
    MPID_Init(NULL, NULL, NULL, &err);
    CHECK(err == 0, "init: %s", MPID_Error_text());
}

/* Everything of the survivors that has to do with rank 2, and something that has not. */
static void survive(int me)
{
    static char big[BIG], in[BIG];
    struct MPIR_HANDLE send, sync, recv, any, other;
    int peer = 1 - me, v = me, got = -1, flag;
    MPIR_Status s;
    MPID_IsendContig(NULL, big, BIG, me, 1, CTX, 2, 0, &send, &err);
    MPID_IssendContig(NULL, big, 8, me, 1, CTX, 2, 0, &sync, &err);
    MPID_IrecvContig(NULL, in, BIG, 2, 1, CTX, &recv, &err);
    MPID_IrecvContig(NULL, &got, sizeof got, MPI_ANY_SOURCE, 2, CTX, &any, &err);
    MPID_IrecvContig(NULL, &got, sizeof got, peer, 3, CTX, &other, &err);
    CHECK(err == 0, "begin: %s", MPID_Error_text());
    MPID_SendContig(NULL, &v, sizeof v, me, 9, CTX, 2, 0, &err); /* rank 2 may go now */
    MPID_SendComplete(&send, &err);
    expect_gone(2, "a large send");
    MPID_SendComplete(&sync, &err);
    expect_gone(2, "a synchronous send");
    MPID_RecvComplete(&recv, &s, &err);
    expect_gone(2, "a receive");
    struct MPIR_COMMUNICATOR c = { .rank = me, .size = 3, .remote_size = 3, .context_id = 4700 };
    CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit: %s", MPID_Error_text());
    MPID_Lost_acked(&c, 1);
    CHECK(MPID_Gone_class() == MPI_ERR_PROC_ABORTED && !MPID_Survives(), "class %d", MPID_Gone_class());
    MPID_CommFree(&c);
    CHECK(any.errval == 0 && other.errval == 0, "a receive that rank %d may still serve has failed", peer);
    MPID_SendContig(NULL, &v, sizeof v, me, 1, CTX, 2, 0, &err);
    expect_gone(2, "a send to a rank known to be gone");
    MPID_RecvContig(NULL, in, 1, 2, 5, CTX, &s, &err);
    expect_gone(2, "a receive from a rank known to be gone");
    MPID_Probe(NULL, 5, CTX, 2, &err, &s);
    expect_gone(2, "a probe");
    MPID_Iprobe(NULL, 5, CTX, 2, &flag, &err, &s);
    expect_gone(2, "a nonblocking probe");
    MPID_SendContig(NULL, &v, sizeof v, me, 3, CTX, peer, 0, &err); /* the others go on */
    MPID_RecvComplete(&other, &s, &err);
    CHECK(err == 0 && got == peer, "from rank %d: %d, error %d", peer, got, err);
    MPID_SendContig(NULL, &v, sizeof v, me, 2, CTX, peer, 0, &err);
    MPID_RecvComplete(&any, &s, &err);
    CHECK(err == 0 && s.MPI_SOURCE == peer, "any source: %d, error %d", s.MPI_SOURCE, err);
}

static int killed_rank(int rank, void *arg)
{
    (void)arg;
    init();
    if (rank == 2) {
        for (int i = 0, v; i < 2; i++)
            MPID_RecvContig(NULL, &v, sizeof v, i, 9, CTX, NULL, &err);
        kill(getpid(), SIGKILL);
    }
    survive(rank);
    MPID_End();
    return 0;
}

/* In a job that goes on without ranks that fail, a receive from any source pends; one that has no place in a slab
 * fails. */
static int pending_rank(int rank, void *arg)
{
    struct MPIR_HANDLE any = { .obj = { .index = 0 } }, inner = { .obj = { .index = KEEL_NO_INDEX } };
    struct MPIR_COMMUNICATOR c = { .rank = rank, .size = 3, .remote_size = 3, .context_id = 4700 };
    int v = 7, got = -1;
    MPIR_Status s;
    (void)arg;
    init();
    CHECK(MPID_CommInit(NULL, &c) == 0, "CommInit: %s", MPID_Error_text());
    if (rank == 2) {
        for (int i = 0; i < 2; i++)
            MPID_RecvContig(NULL, &v, sizeof v, i, 9, CTX, NULL, &err);
        kill(getpid(), SIGKILL);
    }
    MPID_IrecvContig(&c, &got, sizeof got, MPI_ANY_SOURCE, 2, 4700, &any, &err);
    MPID_IrecvContig(&c, &got, sizeof got, MPI_ANY_SOURCE, 3, 4700, &inner, &err);
    CHECK(err == 0 && !MPID_Recv_pending(&any, &err), "nobody has failed: %d", err);
    MPID_SendContig(NULL, &v, sizeof v, rank, 9, CTX, 2, 0, &err); /* rank 2 may go now */
    MPID_RecvComplete(&inner, &s, &err);
    CHECK(err == MPID_ERR_PROC_FAILED && MPID_Gone_class() == err && MPID_Survives(), "error %d", err);
    err = 0;
    CHECK(MPID_Recv_pending(&any, &err) && err == MPID_ERR_PROC_FAILED_PENDING, "pending: %d", err);
    err = 0;
    MPID_SendContig(&c, &v, sizeof v, rank, 4, 4700, 1 - rank, 0, &err); /* both have looked */
    MPID_RecvContig(&c, &v, sizeof v, 1 - rank, 4, 4700, &s, &err);
    MPID_Lost_acked(&c, 1);
    CHECK(err == 0 && !MPID_Recv_pending(&any, &err) && any.errval == 0, "acknowledged: %d", err);
    MPID_SendContig(&c, &v, sizeof v, rank, 2, 4700, 1 - rank, 0, &err);
    MPID_RecvComplete(&any, &s, &err);
    CHECK(err == 0 && got == 7 && s.MPI_SOURCE == 1 - rank, "any source: %d, error %d", s.MPI_SOURCE, err);
    CHECK(!MPID_Ended(1 - rank) && !MPID_Ended(2), "nobody has ended in order");
    MPID_CommFree(&c);
    MPID_End();
    return 0;
}

/* Killed while it streams; what the other waits for must end. */
static int streaming_rank(int rank, void *arg)
{
    static char big[64 << 20];
    MPIR_Status s;
    init();
    if (rank == 1 && arg != NULL) /* the receiver dies */
        usleep(20000);
    if (rank == 1) {
        struct MPIR_HANDLE r;
        if (arg != NULL)
            MPID_IrecvContig(NULL, big, sizeof big, 0, 1, CTX, &r, &err);
        else
            MPID_IsendContig(NULL, big, sizeof big, 1, 1, CTX, 0, 0, &r, &err);
        for (int i = 0; i < 3000; i++)
            MPID_DeviceCheck(MPID_NOTBLOCKING);
        kill(getpid(), SIGKILL);
    }
    if (arg != NULL)
        MPID_SendContig(NULL, big, sizeof big, 0, 1, CTX, 1, 0, &err);
    else
        MPID_RecvContig(NULL, big, sizeof big, 1, 1, CTX, &s, &err);
    if (err != 0) /* on a crowded machine it may just have got through */
        expect_gone(1, "a stream");
    MPID_RecvContig(NULL, big, 1, MPI_ANY_SOURCE, 1, CTX, &s, &err);
    expect_gone(1, "any source, and all others are gone");
    MPID_End();
    return 0;
}

/* A rank that sends and then ends without MPID_End: what it sent is received before its loss is noticed. */
static int last_words_rank(int rank, void *arg)
{
    int v = 0;
    (void)arg;
    init();
    if (rank == 1) {
        for (int i = 0; i < 200; i++)
            MPID_SendContig(NULL, &i, sizeof i, 1, 1, CTX, 0, 0, &err);
        _exit(0);
    }
    usleep(100000);
    for (int i = 0; i < 200; i++) {
        MPID_RecvContig(NULL, &v, sizeof v, 1, 1, CTX, NULL, &err);
        CHECK(err == 0 && v == i, "last words: %d, expected %d, error %d", v, i, err);
    }
    MPID_RecvContig(NULL, &v, sizeof v, 1, 1, CTX, NULL, &err);
    expect_gone(1, "after the last words");
    MPID_End();
    return 0;
}

/* Four ranks die one by one, in this order.  Rank 0 receives from any source as long as somebody is left, and is
 * told by then that nobody is.  In the next epoch they are as dead as in this one. */
static int one_by_one_rank(int rank, void *arg)
{
    static const int order[] = { 3, 1, 4, 2 };
    int v = -1;
    (void)arg;
    init();
    for (int i = 0; i < 4; i++) {
        if (rank == order[i]) {
            MPID_RecvContig(NULL, &v, sizeof v, 0, 1, CTX, NULL, &err);
            MPID_SendContig(NULL, &rank, sizeof rank, rank, 1, CTX, 0, 0, &err);
            kill(getpid(), SIGKILL);
        }
        if (rank != 0)
            continue;
        MPID_SendContig(NULL, &v, sizeof v, 0, 1, CTX, order[i], 0, &err);
        MPID_RecvContig(NULL, &v, sizeof v, MPI_ANY_SOURCE, 1, CTX, NULL, &err);
        CHECK(err == 0 && v == order[i], "from any source %d, error %d; expected %d", v, err, order[i]);
        MPID_RecvContig(NULL, &v, sizeof v, order[i], 2, CTX, NULL, &err);
        expect_gone(order[i], "one more");
    }
    for (int again = 0; again < 2; again++) {
        MPID_RecvContig(NULL, &v, sizeof v, MPI_ANY_SOURCE, 1, CTX, NULL, &err);
        expect_gone(4, "any source, and nobody is left");
        MPID_End();
        init();
    }
    for (int i = 1; i < 5; i++) {
        while (MPID_SendContig(NULL, &v, sizeof v, 0, 1, CTX, i, 0, &err), err == 0)
            MPID_DeviceCheck(MPID_NOTBLOCKING); /* that it is dead is noticed in a wait */
        expect_gone(i, "in a later epoch");
    }
    MPID_End();
    return 0;
}

static unsigned found_gone(const struct job *j, int rank)
{
    const struct ku_segment *s = &j->segment[j->node_of[rank]];
    uint32_t local = 0;
    while (ku_segment_grank_of(s)[local] != rank)
        local++;
    return atomic_load(&ku_segment_rank(s, local)->found_gone);
}

/* MPID_Message, MPID_Message_places with the place of MPID_Caller, MPID_Message_fault, MPID_Fault_times,
 * MPID_Caller_at, MPID_Find_caller, MPID_Peer_failed, MPID_Trace_here and MPID_Abort reach the launcher. */
static int abort_rank(int rank, void *arg)
{
    char facility[] = "the test", why[] = "enough is enough";
    init();
    if (rank == 1) {
        if (found_gone(arg, 1) != 0)
            return 6;
        MPID_Peer_failed();
        if (found_gone(arg, 1) != 1)
            return 7;
        MPID_Message("a message for all to see");
        char place[60];
        snprintf(place, sizeof place, "it was at " MPID_PLACE, (unsigned long long)MPID_Caller());
        if (strtoull(place + strlen("it was at ") + 1, NULL, 16) == 0)
            return 8;
        MPID_Message_places(place);
        MPID_Message_fault(&(struct ku_fault){ .kind = KU_FAULT_OVERLAP,
                                               .number = 7,
                                               .call = "MPI_Send",
                                               .here = MPID_Caller(),
                                               .text = "a buffer that is in use" });
        MPID_Fault_times(7, 42);
        const char *procedure = NULL;
        if (MPID_Find_caller(&procedure) == 0)
            return 9;
        const uint64_t here = MPID_Caller();
        if (MPID_Caller_at((const void *)(uintptr_t)here) != here ||
            MPID_Caller_at((const void *)&MPID_Caller) != 0)
            return 10;
        MPID_Trace_here();
        MPID_Abort(NULL, 5, facility, why);
    }
    return 0;
}

static int abort_test(void)
{
    struct job j;
    int bad = 0;
    job_run_in(&j, 2, 20, abort_rank, &j);
    bad += j.result[1] != 5;
    bad += memmem(j.control, j.ncontrol, "a message for all to see", 24) == NULL;
    bad += memmem(j.control, j.ncontrol, "it was at \1", 11) == NULL;
    bad += memmem(j.control, j.ncontrol, "a buffer that is in use", 23) == NULL;
    bad += memmem(j.control, j.ncontrol, "7 42", 4) == NULL;
    bad += memmem(j.control, j.ncontrol, "the test: enough is enough", 26) == NULL;
    printf("%s: abort: exit code %d, %zu bytes to the launcher\n", bad ? "FAILED" : "ok", j.result[1],
           j.ncontrol);
    fflush(stdout);
    return bad;
}

/* The mock loses rank 2 after some packets, in both directions; its process goes on, and learns of it. */
static int lost_rank(int rank, void *arg)
{
    static char out[200000], in[200000];
    int failed = 0;
    struct MPIR_HANDLE r[2]; /* lives until MPID_End: a receive stays posted when its send is refused */
    (void)arg;
    init();
    for (int i = 0; i < 2000 && !failed; i++) {
        int to = rank == 2 ? i % 2 : 2;
        int64_t n = i % 3 == 0 ? 8 : i % 3 == 1 ? 3000 : 20000;
        if (rank != 2 && i % 2 != rank)
            continue;
        MPID_IrecvContig(NULL, in, sizeof in, to, 1, CTX, &r[0], &err);
        if (err == 0)
            MPID_IsendContig(NULL, out, n, rank, 1, CTX, to, 0, &r[1], &err);
        if (err != 0) { /* refused at once */
            failed = 1;
            break;
        }
        MPID_SendComplete(&r[1], &err);
        failed |= err != 0;
        MPID_RecvComplete(&r[0], NULL, &err);
        failed |= err != 0;
    }
    CHECK(failed && err == MPI_ERR_PROC_ABORTED, "rank 2 was lost and nothing failed (%d)", err);
    err = 0;
    if (rank < 2) {
        int v = rank, got = -1;
        MPID_SendContig(NULL, &v, sizeof v, rank, 2, CTX, 1 - rank, 0, &err);
        MPID_RecvContig(NULL, &got, sizeof got, 1 - rank, 2, CTX, NULL, &err);
        CHECK(err == 0 && got == 1 - rank, "the others: %d, error %d: %s", got, err, MPID_Error_text());
    }
    MPID_End();
    return 0;
}

static void use_mock(const char *devices, struct mock_how how)
{
    char where[32];
    int bell[MOCK_RANKS];
    for (int i = 0; i < MOCK_RANKS; i++) {
        if (shared->bell[i] > 0)
            close(shared->bell[i]);
        bell[i] = how.far ? eventfd(0, EFD_NONBLOCK) : 0;
    }
    memset(shared, 0, sizeof *shared);
    memcpy(shared->bell, bell, sizeof bell);
    shared->how = how;
    snprintf(where, sizeof where, "%llx", (unsigned long long)(uintptr_t)shared);
    setenv("KEEL_MOCK", where, 1);
    setenv("KEEL_PLUGINS", MOCK_PLUGIN, 1);
    setenv("KEEL_DEVICES", devices, 1);
}

static int lost_on_mock(uint32_t after, uint32_t seed)
{
    struct mock_how how = (struct mock_how){ .seed = seed,
                                             .lost = 2,
                                             .lost_after = after,
                                             .refuse = seed % 3 * 20,
                                             .delay = seed % 5 * 10,
                                             .queue = seed % 2 * 40,
                                             .no_reserve = seed % 2 };
    use_mock("mock", how);
    return job_run(3, 20, lost_rank, NULL);
}

/* All but the rank `dead`, and, if that is -1, all but those that were killed, must end with 0. */
static int run(const char *name, int n, int dead, int (*fn)(int, void *), void *arg)
{
    struct job j;
    int bad = 0;
    job_run_in(&j, n, 20, fn, arg);
    for (int i = 0; i < n; i++)
        bad += i != dead && j.result[i] != 0 && !(dead < 0 && j.result[i] == JOB_KILLED + SIGKILL);
    printf("%s: %s\n", bad ? "FAILED" : "ok", name);
    fflush(stdout);
    return bad;
}

/* Rank 2 is killed while the others put, get and update its memory; what is under way fails, and the two go on. */
static int memory_rank(int rank, void *arg)
{
    enum { BYTES = 100000, MANY = 64 };
    static unsigned char room[BYTES], out[BYTES];
    static uint64_t old[MANY];
    unsigned char key[MPID_KEY_MAX], mine[MPID_KEY_MAX];
    struct MPID_COMPLETION c = { 0 };
    MPIR_Status s = { 0 };
    int64_t len;
    (void)arg;
    init();
    MPID_Memory own = MPID_Mem_register(room, BYTES, &err);
    len = MPID_Mem_key(own, mine, sizeof mine);
    for (int to = 0; to < 2 && rank == 2; to++)
        MPID_SendContig(NULL, mine, len, rank, 4, CTX, to, 0, &err);
    while (rank == 2) {
        static int looks;
        MPID_DeviceCheck(MPID_NOTBLOCKING);
        if (++looks > 3000)
            kill(getpid(), SIGKILL);
    }
    MPID_RecvContig(NULL, key, sizeof key, 2, 4, CTX, &s, &err);
    MPID_Remote there = MPID_Mem_open(2, key, s.count, &err), by_packets = MPID_Mem_open(2, key, 32, &err);
    CHECK(err == 0, "open: %s", MPID_Error_text());
    while (err == 0) {
        for (int i = 0; i < MANY && err == 0; i++) {
            MPID_Remote r = i % 2 ? there : by_packets;
            if (i % 4 < 2)
                MPID_Put(r, 0, out, i % 3 ? 100 : BYTES, &c, &err);
            else
                MPID_Atomic(r, 8 * i, KEEL_ATOMIC_SUM, KEEL_UINT64, &old[i], NULL, &old[i], &c, &err);
            if (i % 16 == 0 && err == 0)
                MPID_Get(r, 0, out, BYTES, &c, &err);
        }
        if (err == 0)
            MPID_Mem_flush(there, &c, &err);
        MPID_Mem_wait(&c, &err);
    }
    CHECK(c.pending == 0, "%lld operations are still under way", (long long)c.pending);
    expect_gone(2, "memory");
    MPID_Get(there, 0, out, 8, &c, &err);
    expect_gone(2, "a get afterwards");
    MPID_Mem_close(there);
    MPID_Mem_close(by_packets);
    MPID_Mem_unregister(own);
    err = 0;
    MPID_SendContig(NULL, &rank, sizeof rank, rank, 5, CTX, 1 - rank, 0, &err);
    MPID_RecvContig(NULL, &rank, sizeof rank, 1 - rank, 5, CTX, NULL, &err);
    CHECK(err == 0, "the others: %s", MPID_Error_text());
    MPID_End();
    return 0;
}

/* From now on the system refuses this process to read and write others' memory. */
static void forbid(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
          "no filter: %s", strerror(errno));
}

/* ch_shmem has opened the other's memory when the calls that reach it begin to fail: packets do the same. */
static int forbidden_rank(int rank, void *arg)
{
    enum { BYTES = 100000 };
    static unsigned char room[BYTES], data[BYTES], back[BYTES];
    unsigned char key[MPID_KEY_MAX], mine[MPID_KEY_MAX];
    struct MPID_COMPLETION c = { 0 };
    MPIR_Status s = { 0 };
    struct MPIR_HANDLE r;
    (void)arg;
    init();
    MPID_Memory own = MPID_Mem_register(room, BYTES, &err);
    MPID_IsendContig(NULL, mine, MPID_Mem_key(own, mine, sizeof mine), rank, 4, CTX, 1 - rank, 0, &r, &err);
    MPID_RecvContig(NULL, key, sizeof key, 1 - rank, 4, CTX, &s, &err);
    MPID_SendComplete(&r, &err);
    MPID_Remote there = MPID_Mem_open(1 - rank, key, s.count, &err);
    for (int round = 0; round < 2; round++) {
        memset(data, 10 * rank + round + 1, BYTES);
        MPID_Put(there, 0, data, BYTES, &c, &err);
        MPID_Mem_flush(there, &c, &err);
        MPID_Mem_wait(&c, &err);
        MPID_Get(there, 0, back, BYTES, &c, &err);
        MPID_Mem_wait(&c, &err);
        CHECK(err == 0 && !memcmp(back, data, BYTES), "round %d: %s", round, MPID_Error_text());
        MPID_SendContig(NULL, &rank, sizeof rank, rank, 5, CTX, 1 - rank, 0, &err);
        MPID_RecvContig(NULL, back, sizeof rank, 1 - rank, 5, CTX, NULL, &err);
        CHECK(room[0] == 10 * (1 - rank) + round + 1 && room[BYTES - 1] == room[0], "round %d: %d", round,
              room[0]);
        MPID_SendContig(NULL, &rank, sizeof rank, rank, 6, CTX, 1 - rank, 0, &err);
        MPID_RecvContig(NULL, back, sizeof rank, 1 - rank, 6, CTX, NULL, &err);
        if (round == 0)
            forbid();
    }
    MPID_Mem_close(there);
    MPID_Mem_unregister(own);
    MPID_End();
    return 0;
}

/* Rank 0 sleeps in a receive from rank 1, or from any, when rank 1 is killed. */
static int sleeper_rank(int rank, void *arg)
{
    int v;
    init();
    if (rank == 1) {
        MPID_SendContig(NULL, &rank, sizeof rank, 1, 1, CTX, 0, 0, &err);
        usleep(5000);
        kill(getpid(), SIGKILL);
    }
    MPID_RecvContig(NULL, &v, sizeof v, 1, 1, CTX, NULL, &err);
    CHECK(err == 0, "before: %s", MPID_Error_text());
    MPID_RecvContig(NULL, &v, sizeof v, arg != NULL ? MPI_ANY_SOURCE : 1, 1, CTX, NULL, &err);
    expect_gone(1, "asleep");
    MPID_End();
    return 0;
}

static int sleepers(void)
{
    double t = job_now();
    int bad = 0;
    for (int i = 0; i < 50; i++) {
        struct job j;
        job_run_in(&j, 2, 20, sleeper_rank, i % 2 ? &bad : NULL);
        bad += j.result[0] != 0;
    }
    t = job_now() - t;
    bad += t > 15; /* a second each if nobody were woken */
    printf("%s: rank 0 sleeps when rank 1 is killed, 50 times in %.1f s\n", bad ? "FAILED" : "ok", t);
    fflush(stdout);
    return bad;
}

int main(void)
{
    static const char *const devices[] = { "shmem", "stub", "shmem,mock", "mock" };
    int bad = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int d = 0; d < 4; d++) {
        setenv("KEEL_DEVICES", devices[d], 1);
        if (d >= 2)
            use_mock(devices[d], (struct mock_how){ .far = 1, .delay = 10 });
        job_nodes = d < 2 ? 1 : 2;
        printf("%s, %d nodes\n", devices[d], job_nodes);
        bad += run("a rank is killed", 3, 2, killed_rank, NULL);
        setenv("KEEL_SURVIVE", "1", 1);
        bad += run("a rank is killed, and others go on", 3, 2, pending_rank, NULL);
        unsetenv("KEEL_SURVIVE");
        bad += run("a sender is killed as it streams", 2, 1, streaming_rank, NULL);
        bad += run("a receiver is killed as it streams", 2, 1, streaming_rank, &bad);
        bad += run("a rank is killed whose memory others use", 3, 2, memory_rank, NULL);
        if (d == 0)
            bad += run("system calls are refused", 2, -1, forbidden_rank, NULL);
        bad += run("last words", 2, 1, last_words_rank, NULL);
        bad += run("one by one", 5, -1, one_by_one_rank, NULL);
        bad += sleepers();
    }
    job_nodes = 1;
    for (uint32_t k = 0; k < 8; k++) {
        use_mock("mock", (struct mock_how){ .seed = k,
                                            .lost = 2,
                                            .lost_after = 5 + k * 17,
                                            .mem = 1,
                                            .refuse = k % 3 * 20,
                                            .queue = k % 2 * 40 });
        bad += run("mock loses a rank whose memory others use", 3, 2, memory_rank, NULL);
    }
    unsetenv("KEEL_PLUGINS");
    setenv("KEEL_DEVICES", "tcp", 1);
    bad += run("tcp: a rank is killed whose memory others use", 3, 2, memory_rank, NULL);
    bad += abort_test();
    for (uint32_t k = 0; k < 12; k++) {
        int b = lost_on_mock(1 + k * 13, k);
        printf("%s: mock loses rank 2 after %u packets\n", b ? "FAILED" : "ok", 1 + k * 13);
        fflush(stdout);
        bad += b;
    }
    return bad != 0;
}
