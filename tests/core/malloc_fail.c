/* SPDX-License-Identifier: BSD-3-Clause */
/* The N-th allocation fails, for all N: each run either does all that it should, or ends with an error code and words;
 * never a crash, never a hang.  A run is two ranks over the ADI; the failure is in one of them, and the other must
 * end as well: with what it was to do, or with an error. */
#include "harness.h"

enum { CTX = 2, ENOUGH = 100000 };

/* ---- The allocator that fails ---- */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static int count, fail_at; /* 0: never */
static bool forever;       /* all later ones fail, too */

static bool fails(void)
{
    if (fail_at == 0)
        return false;
    count++;
    return count == fail_at || (forever && count > fail_at);
}

void *malloc(size_t n)
{
    errno = ENOMEM;
    return fails() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
    errno = ENOMEM;
    return fails() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
    errno = ENOMEM;
    return fails() ? NULL : __libc_realloc(p, n);
}

/* ---- The program ---- */

static int err, ranks;
static struct MPIR_HANDLE many[200];
static char big[100000], in[100000], small[4096];
static int values[200];

/* An error must be one of these and have words. */
static int give_up(const char *where)
{
    const char *text = MPID_Error_text();
    if ((err == MPI_ERR_NO_MEM || err == MPI_ERR_OTHER || err == MPI_ERR_PROC_ABORTED) && text[0] != 0)
        _exit(7); /* an error that is told: the rank ends */
    fprintf(stderr, "allocation %d: %s: error %d with the words \"%s\"\n", fail_at, where, err, text);
    _exit(1);
}

#define DO(call) \
    do { \
        call; \
        if (err != 0) \
            give_up(#call); \
    } while (0)

static void unexpected(int peer)
{
    int me = MPID_MyWorldRank;
    for (int i = 0; i < 200; i++) { /* more than the spare chunk; hashes are built */
        values[i] = i;
        DO(MPID_IsendContig(NULL, i % 3 ? (void *)&values[i] : small, i % 3 ? 4 : 4096, me, i, CTX, peer, 0,
                            &many[i], &err));
    }
    for (int i = 0; i < 200; i++)
        DO(MPID_SendComplete(&many[i], &err));
    for (int i = 200; i-- > 0;) {
        int v = -1;
        MPIR_Status s;
        DO(MPID_RecvContig(NULL, i % 3 ? (void *)&v : in, i % 3 ? 4 : 4096, i % 5 ? peer : MPI_ANY_SOURCE, i,
                           CTX, &s, &err));
        CHECK(i % 3 == 0 || v == i, "tag %d brought %d", i, v);
    }
}

static void posted(int peer)
{
    static int got[100];
    for (int i = 0; i < 100; i++)
        DO(MPID_IrecvContig(NULL, &got[i], 4, peer, 99 - i, CTX, &many[i], &err));
    for (int i = 0; i < 100; i++)
        DO(MPID_SendContig(NULL, &i, 4, MPID_MyWorldRank, i, CTX, peer, 0, &err));
    for (int i = 0; i < 100; i++) {
        DO(MPID_RecvComplete(&many[i], NULL, &err));
        CHECK(got[i] == 99 - i, "receive %d got %d", i, got[i]);
    }
}

static void large(int peer)
{
    struct MPIR_HANDLE s, t, r;
    struct MPIR_COMMUNICATOR c = {
        .rank = MPID_MyWorldRank, .size = ranks, .remote_size = ranks, .context_id = 64
    };
    err = MPID_CommInit(NULL, &c);
    if (err != 0)
        give_up("MPID_CommInit");
    memset(big, 1 + MPID_MyWorldRank, sizeof big);
    DO(MPID_IrecvContig(&c, in, sizeof in, peer, 1, 64, &r, &err));
    DO(MPID_IsendContig(&c, big, sizeof big, MPID_MyWorldRank, 1, 64, peer, 0, &s, &err));
    DO(MPID_SendComplete(&s, &err));
    DO(MPID_RecvComplete(&r, NULL, &err));
    CHECK(in[0] == 1 + peer && in[sizeof in - 1] == 1 + peer, "a large message");
    DO(MPID_IssendContig(&c, big, 8, MPID_MyWorldRank, 2, 64, peer, 0, &s, &err));
    DO(MPID_IsendContig(&c, big, 1000, MPID_MyWorldRank, 3, 64, MPID_MyWorldRank, 0, &t, &err));
    DO(MPID_RecvContig(&c, in, 8, peer, 2, 64, NULL, &err));
    DO(MPID_RecvContig(&c, in, 1000, MPID_MyWorldRank, 3, 64, NULL, &err));
    DO(MPID_SendComplete(&s, &err));
    DO(MPID_SendComplete(&t, &err));
    DO(MPID_CommFree(&c));
}

static void typed(int peer)
{
    struct MPIR_DATATYPE byte, t;
    struct MPIR_HANDLE r;
    memset(&byte, 0, sizeof byte);
    memset(&t, 0, sizeof t);
    t.obj.refs = 1;
    err = MPID_Type_basic(&byte, 1, 1, 1);
    if (err == 0)
        err = MPID_Type_hvector(&t, 40000, 1, 2, &byte);
    if (err != 0)
        give_up("MPID_Type_hvector");
    DO(MPID_IrecvDatatype(NULL, in, 1, &t, peer, 5, CTX, &r, &err));
    DO(MPID_SendDatatype(NULL, big, 1, &t, MPID_MyWorldRank, 5, CTX, peer, &err));
    DO(MPID_RecvComplete(&r, NULL, &err));
    MPID_Type_fini(&t);
}

static int program(int rank, void *arg)
{
    int *plan = arg; /* which allocation fails, in which rank, and whether all later ones do */
    int peer = ranks == 1 ? 0 : 1 - rank;
    if (rank == plan[1]) {
        fail_at = plan[0];
        forever = plan[2] != 0;
    }
    DO(MPID_Init(NULL, NULL, NULL, &err));
    unexpected(peer);
    posted(peer);
    large(peer);
    typed(peer);
    MPID_End();
    fail_at = 0;
    return count < plan[0] && rank == plan[1] ? 9 : 0; /* 9: there are not that many allocations */
}

/* One run: a rank ends with 0, 9 or 7; nothing else, in time.  True when fail_at was beyond the last allocation. */
static bool one(int *plan, int *bad)
{
    struct job j;
    bool beyond = false;
    job_run_in(&j, ranks, 10, program, plan);
    for (int i = 0; i < ranks; i++) {
        if (j.result[i] != 0 && j.result[i] != 7 && j.result[i] != 9 && j.result[i] != MPI_ERR_INTERN) {
            fprintf(stderr, "allocation %d of rank %d%s: rank %d ended with %d\n", plan[0], plan[1],
                    plan[2] ? " and all later ones" : "", i, j.result[i]);
            ++*bad;
        }
        beyond |= j.result[i] == 9;
    }
    return beyond;
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
    puts("AddressSanitizer has its own malloc");
    return 77;
#endif
    static const char *const devices[] = { "shmem", "stub" };
    int bad = 0, runs = 0;
    for (int k = 0; k < 8; k++) {
        int later = k & 1, plan[3] = { 1, 0, later };
        ranks = 1 + (k >> 1 & 1);
        plan[1] = ranks - 1;
        setenv("KEEL_DEVICES", devices[k >> 2], 1);
        while (plan[0] < ENOUGH && bad < 5 && !one(plan, &bad)) {
            plan[0]++;
            runs++;
        }
        printf("%s, %d rank%s%s: %d allocations\n", devices[k >> 2], ranks, ranks > 1 ? "s" : "",
               later ? ", all later ones fail" : "", plan[0] - 1);
        fflush(stdout);
    }
    printf("%d runs, %d bad\n", runs, bad);
    return bad != 0 || runs < 20;
}
