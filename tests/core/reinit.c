/* SPDX-License-Identifier: BSD-3-Clause */
/* MPID_Init and MPID_End, again and again in one process, with messages in each epoch that must not reach another. */
#include "harness.h"
#include <sys/eventfd.h>
#include <sys/mman.h>
#include "mock.h"

enum { CTX = 0, EPOCHS = 30 };

static int err;

static void epoch(int k)
{
    int n = MPID_MyWorldSize, me = MPID_MyWorldRank, v = -1;
    static char big[200000];
    MPIR_Status s;
    for (int i = 0; i < 5; i++) { /* at once, however far the others are */
        int x = k * 100 + i;
        MPID_SendContig(NULL, &x, sizeof x, me, 0, CTX, (me + 1) % n, 0, &err);
    }
    if (k % 3 == me % 3)
        usleep(3000);
    for (int i = 0; i < 5; i++) {
        MPID_RecvContig(NULL, &v, sizeof v, MPI_ANY_SOURCE, MPI_ANY_TAG, CTX, &s, &err);
        CHECK(err == 0 && v == k * 100 + i, "epoch %d: %d, expected %d, error %d", k, v, k * 100 + i, err);
    }
    struct MPIR_HANDLE r;
    MPID_IrecvContig(NULL, big, sizeof big, (me + n - 1) % n, 1, CTX, &r, &err);
    MPID_SendContig(NULL, big, sizeof big, me, 1, CTX, (me + 1) % n, 0, &err);
    MPID_RecvComplete(&r, &s, &err);
    CHECK(err == 0 && s.count == sizeof big, "epoch %d: large: %s", k, MPID_Error_text());
}

static int rank_main(int rank, void *arg)
{
    (void)arg;
    for (int k = 0; k < EPOCHS; k++) {
        MPID_Init(NULL, NULL, NULL, &err);
        CHECK(err == 0 && MPID_MyWorldRank == rank, "epoch %d: %s", k, MPID_Error_text());
        epoch(k);
        MPID_End();
        MPID_SendContig(NULL, &k, sizeof k, 0, 0, CTX, 0, 0, &err);
        CHECK(err != 0, "a send after MPID_End is taken");
        err = 0;
        MPID_End(); /* twice: nothing happens */
        CHECK(MPID_DeviceCheck(MPID_NOTBLOCKING) == 0, "devices after MPID_End");
    }
    return 0;
}

/* Without a barrier at the end of some epochs: who leaves takes nothing with him that he has sent. */
static int leaver(int rank, void *arg)
{
    (void)arg;
    for (int k = 0; k < EPOCHS; k++) {
        MPID_Init(NULL, NULL, NULL, &err);
        CHECK(err == 0 && MPID_MyWorldRank == rank, "epoch %d: %s", k, MPID_Error_text());
        epoch(k);
        MPID_Flush();
        MPID_Rest();
        if (k % 2)
            usleep(1000 * (unsigned)rank);
        MPID_Resume();
        epoch(k + 1000);
        if (k % 3 == 2)
            MPID_End();
        else
            MPID_Leave();
    }
    MPID_Leave(); /* twice: nothing happens */
    return 0;
}

/* On two nodes: near ones by shmem, far ones by the mock, whose addresses belong to an epoch. */
static int far(void)
{
    struct mock_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char where[32];
    int bad = 0;
    snprintf(where, sizeof where, "%llx", (unsigned long long)(uintptr_t)shared);
    setenv("KEEL_MOCK", where, 1);
    setenv("KEEL_PLUGINS", MOCK_PLUGIN, 1);
    setenv("KEEL_DEVICES", "shmem,mock", 1);
    shared->how = (struct mock_how){ .far = 1 };
    job_nodes = 2;
    for (int i = 0; i < MOCK_RANKS; i++)
        shared->bell[i] = eventfd(0, EFD_NONBLOCK);
    for (int n = 2; n <= MOCK_RANKS; n++) {
        int b = job_run(n, 30, rank_main, NULL);
        printf("%s: two nodes, %d ranks\n", b ? "FAILED" : "ok", n);
        fflush(stdout);
        bad += b;
    }
    unsetenv("KEEL_PLUGINS");
    return bad;
}

static int alone(void)
{
    unsetenv("KEEL_JOB");
    return rank_main(0, NULL);
}

int main(void)
{
    static const char *const devices[] = { "shmem", "stub" };
    int bad = 0;
    for (int d = 0; d < 2; d++) {
        setenv("KEEL_DEVICES", devices[d], 1);
        for (int n = 1; n <= 4; n++) {
            int b = job_run(n, 30, rank_main, NULL);
            b += job_run(n, 30, leaver, NULL);
            printf("%s: %s, %d ranks\n", b ? "FAILED" : "ok", devices[d], n);
            fflush(stdout);
            bad += b;
        }
    }
    bad += far() + alone();
    return bad != 0;
}
