/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* timeout: 120 */
/* Long messages, often enough for each way that a library may have for them to be taken: early and late, synchronous,
 * truncated, derived types on either side, matched probes, odd addresses, cancelled. */
#include "../check.h"
#ifdef REFUSED
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef COUNTED
#include "../tool/tool.h"
#endif

#include <stdbool.h>

enum { MOST = 3 << 20, TAG = 5, ROUNDS = 12 };
static const int sizes[] = { 40000, 65537, 200000, (1 << 20) + 3, MOST };
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char *out, *in;
static int next, before;

static void refuse(void)
{
#ifdef REFUSED
    struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REFUSED, 1, 0),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM) };
    struct sock_fprog prog = { sizeof code / sizeof *code, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
#endif
}

static uint64_t seed_of(int rank, int n, int round)
{
    return (uint64_t)rank * 1000003 + (uint64_t)n * 17 + (uint64_t)round;
}

/* The message that `before` has sent. */
static void verify(const unsigned char *buf, int n, int whole, int round)
{
    uint64_t seed = seed_of(before, whole, round);
    int wrong = 0;
    for (int i = 0; i < n && !wrong; i += i < 100 || i > n - 200 ? 1 : 61)
        wrong = buf[i] != check_byte(seed, (uint64_t)i);
    CHECK(!wrong, "%d bytes, round %d", n, round);
}

static void fill(unsigned char *buf, int n, int round)
{
    for (int i = 0; i < n; i++)
        buf[i] = check_byte(seed_of(check_rank, n, round), (uint64_t)i);
}

enum kind { EARLY, LATE, SYNC, MPROBE, ODD, KINDS };

static void once(int n, int round, enum kind kind)
{
    MPI_Request q[2];
    MPI_Message m;
    unsigned char *from = out + (kind == ODD ? 1 + round % 7 : 0), *to = in + (kind == ODD ? round % 5 : 0);
    int got = -1;
    MPI_Status st[2];
    fill(from, n, round);
    memset(to, 0, (size_t)n + 1);
    if (kind == EARLY)
        MPI_Irecv(to, n + 1, MPI_BYTE, before, TAG, MPI_COMM_WORLD, &q[1]);
    if (kind == SYNC)
        MPI_Issend(from, n, MPI_BYTE, next, TAG, MPI_COMM_WORLD, &q[0]);
    else
        MPI_Isend(from, n, MPI_BYTE, next, TAG, MPI_COMM_WORLD, &q[0]);
    if (kind == LATE)
        MPI_Barrier(MPI_COMM_WORLD);
    if (kind == MPROBE) {
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &m, &st[1]);
        MPI_Get_count(&st[1], MPI_BYTE, &got);
        CHECK_EQ(got, n);
        MPI_Imrecv(to, n, MPI_BYTE, &m, &q[1]);
    } else if (kind != EARLY) {
        MPI_Irecv(to, n + 1, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &q[1]);
    }
    MPI_Waitall(2, q, st);
    MPI_Get_count(&st[1], MPI_BYTE, &got);
    CHECK_EQ(got, n);
    verify(to, n, n, round);
    CHECK_EQ(to[n], 0, "behind the message");
}

static void truncated(int n, int round)
{
    MPI_Request q;
    int most = n - 1 - round * 100;
    fill(out, n, round);
    memset(in, 0, (size_t)n);
    MPI_Isend(out, n, MPI_BYTE, next, TAG, MPI_COMM_WORLD, &q);
    CHECK_ERR(MPI_Recv(in, most, MPI_BYTE, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    verify(in, most, n, round);
    CHECK_EQ(in[most], 0, "behind the receive");
}

/* Every other byte of the buffer. */
static void typed(int n, int round, int sender, int receiver)
{
    MPI_Datatype every_other;
    MPI_Request q;
    int gap = 0;
    n /= 2;
    fill(in, n, round);
    for (int i = 0; i < n; i++)
        out[sender ? 2 * i : i] = in[i];
    memset(in, 0, 2 * (size_t)n);
    MPI_Type_vector(n, 1, 2, MPI_BYTE, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Isend(out, sender ? 1 : n, sender ? every_other : MPI_BYTE, next, TAG, MPI_COMM_WORLD, &q);
    MPI_Recv(in, receiver ? 1 : n, receiver ? every_other : MPI_BYTE, before, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Type_free(&every_other);
    for (int i = 0; receiver && i < n; i++) {
        gap |= i > 0 ? in[2 * i - 1] : 0;
        out[i] = in[2 * i];
    }
    CHECK_EQ(gap, 0, "the gaps");
    verify(receiver ? out : in, n, n, round);
}

/* Cancelled before the receiver can have matched it, or not: then it is received. */
static void cancelled(int n, int round)
{
    MPI_Request q, told;
    MPI_Status st;
    int mine = 0, theirs = 0;
    fill(out, n, round);
    MPI_Isend(out, n, MPI_BYTE, next, TAG + 1, MPI_COMM_WORLD, &q);
    MPI_Cancel(&q);
    MPI_Irecv(&theirs, 1, MPI_INT, before, TAG + 2, MPI_COMM_WORLD, &told);
    MPI_Wait(&q, &st);
    MPI_Test_cancelled(&st, &mine);
    MPI_Send(&mine, 1, MPI_INT, next, TAG + 2, MPI_COMM_WORLD);
    MPI_Wait(&told, MPI_STATUS_IGNORE);
    if (!theirs) {
        MPI_Recv(in, n, MPI_BYTE, before, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        verify(in, n, n, round);
    }
}

/* Many at once, waited for in the reverse order. */
static void window(int n, int round)
{
    enum { W = 6 };
    MPI_Request q[2 * W];
    n = n < MOST / W ? n : MOST / W;
    for (int i = 0; i < W; i++) {
        fill(out + i * n, n, round + i);
        MPI_Irecv(in + i * n, n, MPI_BYTE, before, TAG + 10 + i, MPI_COMM_WORLD, &q[2 * i]);
    }
    for (int i = W; i-- > 0;)
        MPI_Isend(out + i * n, n, MPI_BYTE, next, TAG + 10 + i, MPI_COMM_WORLD, &q[2 * i + 1]);
    MPI_Waitall(2 * W, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < W; i++)
        verify(in + i * n, n, n, round + i);
}

/* Were messages fetched by the device? */
static void count(bool begin)
{
#ifdef COUNTED
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle counted;
    const char *which = getenv("TEST_COUNTED");
    uint64_t n = 0;
    if (which == NULL)
        return;
    if (begin) {
        tool_begin();
        OK(MPI_T_pvar_session_create(&session));
        counted = tool_watch(session, which, MPI_T_PVAR_CLASS_COUNTER);
        return;
    }
    OK(MPI_T_pvar_read(session, counted, &n));
    CHECK(n >= 20, "%s is %d", which, (int)n);
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
#else
    (void)begin;
#endif
}

int main(int argc, char **argv)
{
    refuse();
    check_init(&argc, &argv);
    check_errors_return();
    count(true);
    out = malloc(MOST + 16);
    in = malloc(MOST + 16);
    next = (check_rank + 1) % check_size;
    before = (check_rank + check_size - 1) % check_size;
    for (int s = 0; s < SIZES; s++)
        for (int round = 0; round < ROUNDS; round++) {
            once(sizes[s], round, (enum kind)(round % KINDS));
            once(sizes[s], round, (enum kind)((round + s) % KINDS));
            if (round % 4 == s % 4) {
                truncated(sizes[s], round);
                typed(sizes[s], round, round / 4 & 1, !(round / 4 & 1));
                typed(sizes[s], round, 1, 1);
                if (check_size > 1)
                    cancelled(sizes[s], round);
            }
            window(sizes[s], round);
        }
    free(out);
    free(in);
    count(false);
    return check_done();
}
