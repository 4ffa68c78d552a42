/* SPDX-License-Identifier: BSD-3-Clause */
/* port_fuzz.c: hostile port names, and hostile other groups at both ends of a port and in the meeting that follows.
 *
 *   port_fuzz [N [SEED]]    N attempts, a quarter of each kind: names, who is called, who calls, tables of
 *                           processes; all mutated
 *   port_fuzz - SEED        the one attempt of this seed, as a failure prints it
 *
 * What the other side says lies in the socket before it is asked for, and then it ends: so nothing can wait.
 * Nonces are known here, so that some of it is proven as it should be.  What must hold: a call succeeds, or fails
 * with an error class and a text; whoever is introduced is a process that can be; no descriptor is left.  Reads
 * and writes out of bounds are AddressSanitizer's (port_fuzz.test). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "bodies.h"
#include "mpi/spawn/spawn_link.h"
#include "mpi/spawn/meet.h"
#include "mpid.h"
#include "type.h"
#include "util/err.h"
#include "util/le.h"
#include "util/sock.h"

#define PROGRAM "port_fuzz"
#include "random.h"

enum { LONGEST = 1 << 15, CARD = 40, RECORD = 72, HERE = 5 };

static long taken[4], refused[4];
static uint8_t said[LONGEST];
static size_t len;

static void mutate(uint8_t *bytes, size_t *n, size_t room, const char *letters)
{
    size_t at = *n ? random_below((uint32_t)*n) : 0, many = random_below(20);
    switch (random_below(5)) {
    case 0:
        if (*n)
            bytes[at] = letters ? (uint8_t)letters[random_below((uint32_t)strlen(letters))]
                                : (uint8_t)random_below(256);
        break;
    case 1:
        if (*n)
            bytes[at] ^= (uint8_t)(1u << random_below(8));
        break;
    case 2:
        *n = at;
        break;
    case 3:
        many = many < *n - at ? many : *n - at;
        memmove(bytes + at, bytes + at + many, *n - at - many);
        *n -= many;
        break;
    default:
        many = many < *n - at ? many : *n - at;
        if (*n + many <= room) {
            memmove(bytes + at + many, bytes + at, *n - at);
            *n += many;
        }
    }
}

static void mutate_said(uint32_t times)
{
    for (; times > 0; times--)
        mutate(said, &len, sizeof said, NULL);
}

/* ---- what link.c and meet.c call ---- */

static int hostile_fd = -1; /* what a connection is; -1: none is made */

int __wrap_ku_sock_connect(const struct ku_sock_addr *to);
int __wrap_ku_sock_accept(int fd, struct ku_sock_addr *from);
bool __wrap_ku_auth_nonce(uint8_t nonce[KU_AUTH_NONCE]);

static int take_fd(void)
{
    int fd = hostile_fd;
    hostile_fd = -1;
    errno = ECONNREFUSED;
    return fd;
}

int __wrap_ku_sock_connect(const struct ku_sock_addr *to)
{
    if (to->family != 4 && to->family != 6)
        fail("an address of no family");
    return take_fd();
}

int __wrap_ku_sock_accept(int fd, struct ku_sock_addr *from)
{
    (void)fd, (void)from;
    return take_fd();
}

bool __wrap_ku_auth_nonce(uint8_t nonce[KU_AUTH_NONCE])
{
    memset(nonce, 7, KU_AUTH_NONCE);
    return true;
}

int MPID_DeviceCheck(MPID_BLOCKING_TYPE blocking)
{
    (void)blocking;
    return 0;
}

uint32_t MPID_Thread_suspend(void)
{
    return 0;
}

void MPID_Thread_resume(uint32_t depth)
{
    (void)depth;
}

int MPID_Others_begin(void)
{
    return 0;
}

void MPID_Others_part(void)
{
}

void MPID_Others_awaited(bool on)
{
    (void)on;
}

size_t MPID_Others_card(void *buf, size_t cap)
{
    if (buf)
        memset(buf, 1, cap < CARD ? cap : CARD);
    return CARD;
}

void MPID_Introduction_own(struct MPID_Introduction *i, const void *card, size_t n)
{
    *i = (struct MPID_Introduction){
        .who = { 1, 0 }, .job_size = 1, .epoch = 1, .card = card, .card_len = (uint32_t)n
    };
}

static int ties;

int32_t MPID_Introduce(const struct MPID_Introduction *i, int *error_code)
{
    const uint8_t *card = i->card;
    unsigned sum = 0;
    for (uint32_t k = 0; k < i->card_len; k++)
        sum += card[k];
    if (sum == 12345 || i->who.rank < 0 || i->who.rank >= i->job_size) {
        *error_code = ku_err_set(MPI_ERR_RANK, NULL, "no such rank");
        return -1;
    }
    ties++;
    return 1 + i->who.rank % 1000;
}

void MPID_Other_disconnect(int32_t grank)
{
    if (grank < 1)
        fail("nobody is disconnected");
    ties--;
}

struct MPID_JOINT {
    bool opened;
};
static struct MPID_JOINT joint;
static int joints; /* that are neither kept nor gone */

uint64_t MPID_Joint_where(void)
{
    return HERE;
}

bool MPID_Joint_has(int32_t grank)
{
    return grank > 0 && random_below(2);
}

int32_t MPID_Process_find(const struct MPID_Process *p)
{
    return p->rank < 3 ? p->rank : -1;
}

struct MPID_JOINT *MPID_Joint_make(int32_t places, struct MPID_Joint_name *name)
{
    if (places < 2)
        fail("a joint segment of too few places");
    *name = (struct MPID_Joint_name){ 0 };
    if (random_below(4) == 0)
        return NULL;
    *name = (struct MPID_Joint_name){ .id = 77, .where = HERE, .pid = 1, .fd = 3 };
    joints++;
    joint.opened = false;
    return &joint;
}

struct MPID_JOINT *MPID_Joint_open(struct MPID_JOINT *made, const struct MPID_Joint_name *name,
                                   int32_t places, int32_t me, int32_t first, const int32_t *others,
                                   int32_t n, enum MPID_JOINT_VOTE *vote)
{
    if (name->where != HERE || me < 0 || me >= places || first < 0 || n < 1 || first > places - n)
        fail("a place that is none");
    for (int32_t i = 0; i < n; i++)
        if (others[i] == 0 || others[i] < -1)
            fail("a place of nobody");
    *vote = random_below(2) ? MPID_JOINT_WANTED : MPID_JOINT_FAILED;
    joints += *vote == MPID_JOINT_WANTED ? made == NULL : -(made != NULL);
    joint.opened = true;
    return *vote == MPID_JOINT_WANTED ? &joint : NULL;
}

void MPID_Joint_settle(struct MPID_JOINT *j, bool keep)
{
    if (j && keep && !j->opened)
        fail("a joint segment is kept that is not open");
    joints -= j != NULL;
}

int MPIR_Agree_max(MPIR_Comm *comm, MPIR_Group *group, int which, int tag, int err, uint32_t *values,
                   int words)
{
    (void)comm, (void)group, (void)which, (void)tag, (void)err, (void)values, (void)words;
    return 0;
}

int MPIR_Bcast(void *buffer, MPI_Count count, MPIR_Datatype *datatype, int root, MPIR_Comm *comm)
{
    (void)buffer, (void)count, (void)datatype, (void)root, (void)comm;
    return 0;
}

int MPIR_Allgather(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, void *recvbuf,
                   MPI_Count recvcount, MPIR_Datatype *recvtype, MPIR_Comm *comm)
{
    (void)sendtype, (void)recvcount, (void)recvtype, (void)comm;
    memcpy(recvbuf, sendbuf, (size_t)sendcount);
    return 0;
}

int MPIR_Gather(const void *sendbuf, MPI_Count sendcount, MPIR_Datatype *sendtype, void *recvbuf,
                MPI_Count recvcount, MPIR_Datatype *recvtype, int root, MPIR_Comm *comm)
{
    (void)sendtype, (void)recvcount, (void)recvtype, (void)root, (void)comm;
    memcpy(recvbuf, sendbuf, (size_t)sendcount);
    return 0;
}

MPIR_Datatype *MPIR_Datatype_predefined(int32_t handle)
{
    (void)handle;
    return NULL;
}

int MPIR_Comm_from_two(MPIR_Comm *comm, int root, int err, int32_t other,
                       int (*swap)(void *arg, uint64_t mine, uint64_t *theirs), void *arg,
                       MPIR_Comm **newcomm)
{
    uint64_t theirs;
    (void)root;
    if (err)
        return err;
    if (other < 1)
        fail("the other root is nobody");
    err = swap(arg, 3, &theirs);
    *newcomm = err ? NULL : comm;
    return err;
}

/* ---- attempts ---- */

static bool is_well(int err, int kind)
{
    if (err && !*ku_err_last()->text)
        fail("an error without a text");
    (err ? refused : taken)[kind]++;
    return err == 0;
}

/* A socket in which `said` lies, and nothing follows. */
static int hostile(int *other)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 ||
        send(fds[1], said, len, MSG_DONTWAIT) != (ssize_t)len || shutdown(fds[1], SHUT_WR) != 0)
        fail("no socket");
    *other = fds[1];
    return fds[0];
}

static const char good_name[] =
    "keel:000102030405060708090a0b0c0d0e0f:4711:00000000075bcd15:10.1.2.3,fd00::7";

static void names(void)
{
    uint8_t name[2 * MPI_MAX_PORT_NAME];
    size_t n = sizeof good_name - 1;
    struct link l;
    memcpy(name, good_name, n);
    for (uint32_t i = random_below(6); i > 0; i--)
        mutate(name, &n, sizeof name - 1, "0123456789abcdefg:.,-; keel");
    name[n] = 0;
    char *exact = strdup((char *)name); /* its end is ASan's to watch */
    if (is_well(MPIR_Port_connect(exact, NULL, &l), 0))
        fail("nobody was called, but it is connected");
    taken[0] += strstr(ku_err_last()->text, "cannot be reached") != NULL; /* as a name it was one */
    free(exact);
}

static void secret_of(uint8_t secret[KU_SECRET_BYTES])
{
    static const char use[] = "keel port"; /* as link.c has it */
    uint8_t in_name[PORT_SECRET];
    for (int i = 0; i < PORT_SECRET; i++)
        in_name[i] = (uint8_t)i;
    ku_auth_hmac(in_name, sizeof in_name, use, sizeof use, secret);
}

static struct ku_auth facts(void)
{
    struct ku_auth a = { .purpose = "port wire" };
    memset(a.caller_nonce, 7, sizeof a.caller_nonce);
    memset(a.called_nonce, 7, sizeof a.called_nonce);
    return a;
}

static void add(const void *bytes, size_t n)
{
    memcpy(said + len, bytes, n);
    len += n;
}

/* Nonces and proofs as they should be, then rubbish. */
static void greet(enum ku_auth_role role)
{
    uint8_t secret[KU_SECRET_BYTES], nonce[KU_AUTH_NONCE], proof[KU_AUTH_PROOF];
    struct ku_auth a = facts();
    secret_of(secret);
    memset(nonce, 7, sizeof nonce);
    ku_auth_prove(secret, &a, role, proof);
    len = 0;
    if (role == KU_AUTH_CALLED)
        add("keelport", 8);
    add(nonce, sizeof nonce);
    add(proof, sizeof proof);
    add(proof, sizeof proof);
    mutate_said(random_below(3));
}

/* Something is sent and received once the other side is trusted. */
static void talk(struct link *l)
{
    uint8_t in[20];
    MPIR_Link_swap(l, said, 10, in, sizeof in);
    MPIR_Link_close(l);
}

static void called(void)
{
    struct link l;
    int other;
    greet(KU_AUTH_CALLED);
    hostile_fd = hostile(&other);
    if (is_well(MPIR_Port_connect(good_name, NULL, &l), 1))
        talk(&l);
    close(other);
}

static int gone(void *arg)
{
    return hostile_fd < 0 ? ku_err_set(*(int *)arg, NULL, "nobody else comes") : 0;
}

static void calling(void)
{
    int class = MPI_ERR_PORT, other;
    struct patience how = { .gone = gone, .arg = &class };
    struct port p = { .fd = eventfd(1, EFD_CLOEXEC) };
    struct link l;
    secret_of(p.secret);
    greet(KU_AUTH_CALLER);
    hostile_fd = hostile(&other);
    if (is_well(MPIR_Port_accept(&p, &how, &l), 2))
        talk(&l);
    MPIR_Port_close(&p);
    close(other);
}

static int reach(struct meeting *m, struct link *l)
{
    *l = (struct link){ .fd = *(int *)m->arg };
    return 0;
}

static void add32(uint32_t v)
{
    v = ku_le32(v);
    add(&v, sizeof v);
}

/* A table of `n` processes, and a context. */
static void tables(void)
{
    static MPIR_Comm comm = { .adi = { .size = 1 } };
    uint32_t n = 1 + random_below(5), job = random_below(2), shares = random_below(2);
    MPIR_Comm *newcomm = NULL;
    int other, fd;
    len = 0;
    add32(n);
    add32(RECORD + CARD);
    add32(random_below(n));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t rest[RECORD + CARD - 32] = { 0 };
        add32(9 * job);
        add32(0); /* the job */
        add32(random_below(4) ? HERE : 6);
        add32(0); /* where it is */
        add32(random_below(30) ? i : random_below(1 << 30) * 3);
        add32(random_below(30) ? n : random_below(1 << 30) * 3);
        add32(1);
        add32(random_below(20) ? CARD : random_below(200));
        add(rest, sizeof rest);
    }
    add32(shares && !job ? 78 : 0); /* its joint segment: of job 0 it comes first */
    add32(0);
    add32(random_below(4) ? HERE : 6);
    add32(0);
    add32(3);
    add32(1);
    if (random_below(3) == 0) { /* it goes on as for another node in common, with what it has made there */
        add32(random_below(5) != 0);
        add32(0);
        for (uint32_t i = 0; i < n && random_below(10); i++) {
            add32(random_below(3) ? HERE : 6);
            add32(0);
            add32(random_below(3) ? 79 : 0);
            add32(0);
            add32(1);
            add32(3);
        }
    }
    if (job || shares)
        add32(random_below(3)); /* its vote, or (without a segment) the context */
    if (job || shares)
        add32(0);
    add32(5);
    add32(0);
    mutate_said(random_below(3));
    if (random_below(20) == 0) { /* its head lies */
        uint32_t big = random_below(1 << 30);
        memcpy(said + 4 * random_below(3), &big, len >= 12 ? 4 : 0);
    }
    fd = hostile(&other);
    struct meeting m = { .reach = reach, .arg = &fd };
    is_well(MPIR_Meet(&comm, 0, 0, &m, &newcomm), 3);
    if (ties != 0)
        fail("somebody stays connected");
    if (joints != 0)
        fail("a joint segment is left");
    close(other);
}

static void attempt(void)
{
    static void (*const kinds[])(void) = { names, called, calling, tables };
    state = seed * 0x9e3779b97f4a7c15u;
    kinds[seed % 4]();
}

int main(int argc, char **argv)
{
    bool one = argc > 2 && strcmp(argv[1], "-") == 0;
    long n = one ? 1 : argc > 1 ? atol(argv[1]) : 40000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (ku_auth_ready())
        fail("there are no hashes (libnettle)");
    int before = dup(0);
    close(before);
    for (long i = 0; i < n; i++, seed++)
        attempt();
    int after = dup(0);
    close(after);
    if (after != before)
        fail("a descriptor is left");
    for (int k = 0; k < 4; k++) {
        printf("%s: %ld taken, %ld refused\n",
               ((const char *const[]){ "names", "called", "calling", "tables" })[k], taken[k], refused[k]);
        if (!one && n >= 1000 && (taken[k] == 0 || refused[k] == 0))
            fail("only one outcome");
    }
    return 0;
}
