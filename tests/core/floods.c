/* SPDX-License-Identifier: BSD-3-Clause */
/* Floods: a million unexpected messages of 8 bytes, a hundred thousand of 4 KB, to a rank that computes first or
 * receives in reverse order of tags; both ways at once; and with a limit that makes the receiver say stop. Order
 * is kept, memory stays within what doc/adi2.md promises, no message is lost. */
#include "harness.h"
#include <sys/resource.h>

enum { CTX = 3, WINDOW = 500 };

struct flood {
    const char *name;
    int n, bytes;
    bool reverse, both, nonblocking;
    const char *limit_mb;
    long peak_kb; /* the receiver's resident memory at most */
};

static long peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void send_all(const struct flood *f, int to)
{
    int64_t *buf = calloc(WINDOW, (size_t)f->bytes);
    struct MPIR_HANDLE r[WINDOW];
    int err = 0;
    for (int i = 0; i < f->n; i++) {
        int64_t *p = buf + (f->nonblocking ? i % WINDOW * f->bytes / 8 : 0);
        p[0] = i;
        p[f->bytes / 8 - 1] = i;
        if (f->nonblocking)
            MPID_IsendContig(NULL, p, f->bytes, MPID_MyWorldRank, f->reverse ? i : i % 3, CTX, to, 0,
                             &r[i % WINDOW], &err);
        else
            MPID_SendContig(NULL, p, f->bytes, MPID_MyWorldRank, f->reverse ? i : i % 3, CTX, to, 0, &err);
        CHECK(err == 0, "send %d: %s", i, MPID_Error_text());
        if (f->nonblocking && i % WINDOW == WINDOW - 1)
            for (int k = 0; k < WINDOW; k++)
                MPID_SendComplete(&r[k], &err);
    }
    free(buf);
}

static void receive_all(const struct flood *f, int from)
{
    int64_t *p = calloc(1, (size_t)f->bytes);
    int err = 0;
    for (int i = 0; i < f->n; i++) {
        MPIR_Status s;
        int k = f->reverse ? f->n - 1 - i : i;
        MPID_RecvContig(NULL, p, f->bytes, from, f->reverse ? k : i % 2 ? MPI_ANY_TAG : k % 3, CTX, &s, &err);
        CHECK(err == 0, "recv %d: %s", i, MPID_Error_text());
        CHECK(p[0] == k && p[f->bytes / 8 - 1] == k && s.count == f->bytes &&
                  s.MPI_TAG == (f->reverse ? k : k % 3),
              "message %d: got %lld with tag %d", k, (long long)p[0], s.MPI_TAG);
    }
    free(p);
}

/* Rank 1 takes in nothing until told: it "computes", then looks at its inbox. */
static int flood_rank(int rank, void *arg)
{
    const struct flood *f = arg;
    int err = 0;
    double t = job_now();
    MPID_Init(NULL, NULL, NULL, &err);
    CHECK(err == 0, "init: %s", MPID_Error_text());
    if (rank == 0 || f->both)
        send_all(f, 1 - rank);
    else {
        usleep(200000);
        if (!f->reverse) /* let all come that will, before the first receive */
            for (double end = job_now() + 0.1; job_now() < end;)
                if (MPID_DeviceCheck(MPID_NOTBLOCKING) > 0)
                    end = job_now() + 0.1;
    }
    if (rank == 1 || f->both)
        receive_all(f, 1 - rank);
    if (rank == 1) {
        long kb = peak_kb();
        printf("%-40s %8d x %6d bytes %6.2f s  peak %ld KB\n", f->name, f->n, f->bytes, job_now() - t, kb);
        fflush(stdout);
        CHECK(kb <= f->peak_kb, "%s: %ld KB resident, at most %ld promised", f->name, kb, f->peak_kb);
    }
    MPID_End();
    return 0;
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
    puts("AddressSanitizer's own memory would be counted");
    return 77;
#endif
    /* doc/adi2.md: at most 168 bytes a message and its payload, 16 MB besides; above the limit 136 bytes a message */
    static struct flood floods[] = {
        { .name = "small, receiver computes", .n = 1000000, .bytes = 8, .peak_kb = 184 * 1024 },
        { .name = "small, reverse order", .n = 1000000, .bytes = 8, .reverse = true, .peak_kb = 184 * 1024 },
        { .name = "4 KB, receiver computes", .n = 100000, .bytes = 4096, .peak_kb = 440 * 1024 },
        { .name = "4 KB, reverse order", .n = 100000, .bytes = 4096, .reverse = true, .peak_kb = 440 * 1024 },
        { .name = "small, both ways", .n = 300000, .bytes = 8, .both = true, .peak_kb = 80 * 1024 },
        { .name = "4 KB, both ways", .n = 20000, .bytes = 4096, .both = true, .peak_kb = 120 * 1024 },
        { .name = "4 KB, limit 8 MB", .n = 20000, .bytes = 4096, .limit_mb = "8", .peak_kb = 40 * 1024 },
        { .name = "4 KB nonblocking, limit 8 MB",
          .n = 20000,
          .bytes = 4096,
          .limit_mb = "8",
          .nonblocking = true,
          .peak_kb = 40 * 1024 },
    };
    int bad = 0;
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        if (floods[i].limit_mb)
            setenv("KEEL_UNEXPECTED_MB", floods[i].limit_mb, 1);
        else
            unsetenv("KEEL_UNEXPECTED_MB");
        bad += job_run(2, 120, flood_rank, &floods[i]) != 0;
    }
    return bad != 0;
}
